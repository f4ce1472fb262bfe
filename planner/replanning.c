#include "planner/replanning.h"

#include <math.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/search.h"

#define ROUNDS_MOST 40 /* rounds of the search for cheaper trees */
#define THIN_TRIES 40
#define USED 1e-9
#define GAP 1e-9

/* Creates the rows, and the kept trees as the first column. */
void replanning_begin(struct replanning *x)
{
	const struct topology *t = x->t;
	int rows = 2 * t->links + t->nodes;
	double *full = mem_new((size_t)rows, sizeof(double));
	int *row = mem_new((size_t)rows + 1, sizeof(int));
	double *value = mem_new((size_t)rows + 1, sizeof(double));
	int n = 0;

	x->lp = lp_new();
	for (int k = 0; k < x->kept->trees; k++) {
		tree_load_find(t, x->kept, k, x->scratch, &x->load);
		for (int i = 0; i < x->load.n; i++)
			full[x->load.row[i]] += x->load.count[i] * x->kept->tree[k].share;
	}
	for (int i = 0; i < rows; i++) {
		bool limited = i < 2 * t->links || (t->node[i - 2 * t->links].kind != TOPO_SWITCH &&
						    !isinf(tree_load_limit(t, i)));

		x->row[i] = limited ? lp_row(x->lp, -INFINITY, 1) : -1;
		if (x->row[i] < 0 || full[i] <= 0)
			continue;
		row[n] = x->row[i];
		value[n++] = full[i] * x->unit / tree_load_limit(t, i);
	}
	x->share_row = lp_row(x->lp, 0, 0);
	row[n] = x->share_row;
	value[n++] = -x->rest;
	lp_column(x->lp, 1, INFINITY, n, row, value);
	free(full);
	free(row);
	free(value);
}

static void take_new(struct replanning *x)
{
	const struct topology *t = x->t;
	int *row = mem_new((size_t)(2 * t->links + t->nodes) + 1, sizeof(int));
	double *value = mem_new((size_t)(2 * t->links + t->nodes) + 1, sizeof(double));

	for (; x->columns < x->pool->trees; x->columns++) {
		int n = 0;

		tree_load_find(t, x->pool, x->columns, x->scratch, &x->load);
		for (int i = 0; i < x->load.n; i++) {
			int at = x->load.row[i];

			if (x->row[at] < 0)
				continue;
			row[n] = x->row[at];
			value[n++] = x->load.count[i] * x->unit / tree_load_limit(t, at);
		}
		row[n] = x->share_row;
		value[n++] = 1;
		lp_column(x->lp, 0, INFINITY, n, row, value);
	}
	free(row);
	free(value);
}

double replanning_weight(const struct replanning *x, int tree)
{
	return lp_value(x->lp, tree + 1);
}

double replanning_gain(struct replanning *x, int kept)
{
	/* The price of the shares is that of the cheapest tree, with the opposite sign. */
	double gain = lp_price(x->lp, x->share_row);

	tree_load_find(x->t, x->kept, kept, x->scratch, &x->load);
	for (int i = 0; i < x->load.n; i++) {
		int at = x->load.row[i];

		if (x->row[at] >= 0)
			gain += fmax(0, lp_price(x->lp, x->row[at])) * x->load.count[i] * x->unit /
				tree_load_limit(x->t, at);
	}
	return gain * x->kept->tree[kept].share;
}

/*
 * Searches for trees that the pool does not have, under the prices of the program. The most that a
 * tree may cost is the price of the row that adds up the shares.
 */
void replanning_search(struct replanning *x, struct limits_fit *f, const struct scheme_options *o)
{
	const struct topology *t = x->t;
	struct pack p = {.t = t,
			 .merging = true,
			 .reduce_only = x->pool->reduce_only,
			 .work = work_begin(o->work, o->seconds),
			 .enough = INFINITY};
	struct search s;
	int seen = 0;
	int idle = 0;

	pack_begin(&p);
	search_begin(&s, &p);
	search_first_prices(&s);
	for (int i = 0; i < ROUNDS_MOST && idle < 3; i++) {
		double before = i == 0 ? 0 : lp_objective(x->lp);

		take_new(x);
		if (lp_solve(x->lp) != 0)
			break;
		idle = lp_objective(x->lp) > before * (1 + GAP) ? 0 : idle + 1;
		for (int k = 0; k < 2 * t->links + t->nodes; k++) {
			double price = x->row[k] < 0 ? 0
						     : fmax(0, lp_price(x->lp, x->row[k])) *
							       x->unit / tree_load_limit(t, k);

			if (k < 2 * t->links)
				s.arc[k] = price;
			else
				s.node[k - 2 * t->links] = price;
		}
		if (isinf(search_round(&s, s.affordable)))
			break;
		for (; seen < p.m->pool->trees; seen++)
			limits_fit_tree(f, p.m->pool, seen, x->pool, 1);
	}
	search_end(&s);
	pack_end(&p);
}

/* The tree with the least weight at a box with too many trees; -1: there is none. */
static int find_excess(const struct replanning *x)
{
	int *used = mem_new((size_t)x->t->nodes, sizeof(int));
	int worst = -1;

	for (int pass = 0; pass < 2; pass++)
		for (int k = 0; k < x->columns; k++) {
			struct plan *one;
			int *groups;

			if (replanning_weight(x, k) <= USED)
				continue;
			one = plan_like(x->pool);
			plan_copy_tree(one, x->pool, k, 1);
			groups = limits_groups(x->t, one);
			for (int i = 0; i < x->t->boxes; i++) {
				int box = x->t->box[i];

				if (pass == 0)
					used[box] += groups[box];
				else if (groups[box] && used[box] > x->left[box] &&
					 (worst < 0 ||
					  replanning_weight(x, k) < replanning_weight(x, worst)))
					worst = k;
			}
			free(groups);
			plan_free(one);
		}
	free(used);
	return worst;
}

/* Finds the best weights that respect the limits of boxes. Returns 0 or -1. */
int replanning_solve(struct replanning *x)
{
	bool limited = limits_any(x->t);

	take_new(x);
	for (int i = 0; i <= x->columns; i++) {
		int k;

		if (lp_solve(x->lp) != 0)
			return -1;
		k = limited ? find_excess(x) : -1;
		if (k < 0)
			return lp_objective(x->lp) > 0 ? 0 : -1;
		lp_limit(x->lp, k + 1, 0);
	}
	return -1;
}

/*
 * Removes the trees with the least weight, as long as the loss of throughput is at most one part in
 * 10^4.
 */
void replanning_thin(struct replanning *x)
{
	double wanted = lp_objective(x->lp) * (1 - 1e-4);

	for (int tries = 0; tries < THIN_TRIES; tries++) {
		int least = -1;
		int used = 0;

		for (int k = 0; k < x->columns; k++) {
			if (replanning_weight(x, k) <= USED)
				continue;
			used++;
			if (least < 0 || replanning_weight(x, k) < replanning_weight(x, least))
				least = k;
		}
		if (used < 2)
			return;
		lp_limit(x->lp, least + 1, 0);
		if (lp_solve(x->lp) == 0 && lp_objective(x->lp) >= wanted &&
		    (!limits_any(x->t) || find_excess(x) < 0))
			continue;
		lp_limit(x->lp, least + 1, INFINITY);
		lp_solve(x->lp);
		return;
	}
}
