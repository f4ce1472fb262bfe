/*
 * ForestColl (arXiv 2402.06787): reduce-scatter, then all-gather. All-gather is a packing of trees
 * of hosts in which every host is the root of the same share; reduce-scatter is such a packing in
 * the opposite direction. The paper splits switches off and grows the trees by flows. Here column
 * generation finds the same optimum, with one cheapest arborescence for each root and round.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/arbor.h"
#include "planner/build.h"
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/schemes.h"
#include "planner/tree_load.h"

#define WORKERS_MOST 200
#define GAP 1e-7

/* One phase: trees down from every root (all-gather), or up to it (reduce-scatter). */
struct phase {
	const struct topology *t;
	bool down;
	struct plan *pool; /* its trees have only up or only down edges */
	struct lp *lp;
	struct arbor *a;
	double unit;
	double *price, *scratch;
	int *node_row; /* of workers with limited processing, on the way up; -1: none */
	double *node_price;
	bool *none;
	struct tree_load load;
	struct work work;
};

/*
 * Rows: the capacity of arcs; for each root, that its trees carry at least the rate; on the way up,
 * the processing of limited workers.
 */
static void phase_begin(struct phase *x, const struct topology *t, bool down)
{
	int *row = mem_new((size_t)t->workers, sizeof(int));
	double *value = mem_new((size_t)t->workers, sizeof(double));

	x->t = t;
	x->down = down;
	x->pool = build_plan("phase");
	x->lp = lp_new();
	x->a = arbor_new(t, NULL, 0);
	x->price = mem_new((size_t)t->links * 2, sizeof(double));
	x->scratch = mem_new((size_t)t->links * 2 + (size_t)t->nodes, sizeof(double));
	x->none = mem_new((size_t)t->nodes, sizeof(bool));
	for (int arc = 0; arc < 2 * t->links; arc++)
		x->unit = fmax(x->unit, topo_arc_capacity(t, arc));
	for (int arc = 0; arc < 2 * t->links; arc++)
		lp_row(x->lp, -INFINITY, topo_arc_capacity(t, arc) / x->unit);
	for (int i = 0; i < t->workers; i++) {
		row[i] = lp_row(x->lp, -INFINITY, 0);
		value[i] = 1;
	}
	x->node_row = mem_new((size_t)t->nodes, sizeof(int));
	x->node_price = mem_new((size_t)t->nodes, sizeof(double));
	for (int i = 0; i < t->nodes; i++) {
		const struct topo_node *n = &t->node[i];
		bool limited = n->kind == TOPO_HOST && n->worker && !isinf(n->processing);

		x->node_row[i] =
			limited && !down ? lp_row(x->lp, -INFINITY, n->processing / x->unit) : -1;
	}
	lp_column(x->lp, 1, INFINITY, t->workers, row, value);
	free(row);
	free(value);
}

static void phase_end(struct phase *x)
{
	plan_free(x->pool);
	lp_free(x->lp);
	arbor_free(x->a);
	free(x->price);
	free(x->node_row);
	free(x->node_price);
	free(x->scratch);
	free(x->none);
	tree_load_free(&x->load);
}

/* Adds the latest tree of the pool as a column; its root is worker number i. */
static void take(struct phase *x, int i)
{
	int *row = mem_new((size_t)x->t->links * 2 + (size_t)x->t->nodes + 1, sizeof(int));
	int n = 0;

	tree_load_find(x->t, x->pool, x->pool->trees - 1, x->scratch, &x->load);
	for (int k = 0; k < x->load.n; k++) {
		int arcs = 2 * x->t->links;
		int at =
			x->load.row[k] < arcs ? x->load.row[k] : x->node_row[x->load.row[k] - arcs];

		if (at < 0)
			continue;
		x->load.count[n] = x->load.count[k];
		row[n++] = at;
	}
	if (n == x->load.room)
		x->load.count = mem_more(x->load.count, (size_t)n + 1, sizeof(double));
	row[n] = 2 * x->t->links + i;
	x->load.count[n++] = -1;
	lp_column(x->lp, 0, INFINITY, n, row, x->load.count);
	free(row);
}

/*
 * Adds a cheapest tree for each root if it improves the program; returns the number of trees added.
 */
static int price_roots(struct phase *x, bool first)
{
	const struct topology *t = x->t;
	int n = 0;

	x->work.spent += x->a->spent;
	x->a->spent = 0;
	arbor_price(x->a, x->price, x->node_price);
	for (int i = 0; i < t->workers; i++) {
		double worth = first ? INFINITY : lp_price(x->lp, 2 * t->links + i);
		double cost = arbor_find(x->a, t->worker[i], x->none, x->down);

		if (cost >= worth * (1 - GAP) - 1e-12)
			continue;
		build_tree(x->pool, t->worker[i], 1);
		arbor_emit(x->a, x->pool, x->down);
		take(x, i);
		n++;
	}
	return n;
}

/* Returns 0, or -1 if there is no solution. */
static int phase_run(struct phase *x)
{
	int round = 0;

	for (int arc = 0; arc < 2 * x->t->links; arc++)
		x->price[arc] = 1 / topo_arc_capacity(x->t, arc);
	price_roots(x, true);
	do {
		if (lp_solve_within(x->lp, &x->work, 1) < 0)
			return -1;
		work_report(&x->work, "trees of each root", round++, NAN, NAN);
		for (int arc = 0; arc < 2 * x->t->links; arc++)
			x->price[arc] = fmax(0, lp_price(x->lp, arc)) + 1e-13;
		for (int i = 0; i < x->t->nodes; i++)
			if (x->node_row[i] >= 0)
				x->node_price[i] = fmax(0, lp_price(x->lp, x->node_row[i]));
	} while (work_is_left(&x->work, 1) && price_roots(x, false) > 0);
	return lp_solve_within(x->lp, &x->work, 2) == 0 ? 0 : -1;
}

/* --- both phases ------------------------------------------------------------------------------ */

static void copy_edges(struct plan *p, const struct phase *x, int tree, bool down)
{
	const struct plan_tree *k = &x->pool->tree[tree];
	int first = x->down ? k->down_first : k->up_first;

	for (int i = 0; i < (x->down ? k->downs : k->ups); i++) {
		const struct plan_edge *e = &x->pool->edge[first + i];

		build_edge(p, down, e->from, e->to, x->pool->route + e->first, e->arcs);
	}
}

/* Moves *tree to the next tree of a root with a positive weight, starting at *tree itself. */
static bool next_tree(const struct phase *x, int root, int *tree)
{
	while (*tree < x->pool->trees &&
	       (x->pool->tree[*tree].root != root || lp_value(x->lp, 1 + *tree) <= 1e-11))
		++*tree;
	return *tree < x->pool->trees;
}

/*
 * Pairs the trees up to a root with the trees down from it. Each pair carries the smaller of the
 * remaining shares.
 */
static void pair_trees(struct plan *p, const struct phase *up, const struct phase *down, int root)
{
	double sum[2] = {0, 0};
	double left[2] = {0, 0};
	const struct phase *phase[2] = {up, down};
	int at[2] = {-1, -1};
	double done = 0;

	for (int i = 0; i < 2; i++)
		for (int k = 0; next_tree(phase[i], root, &k); k++)
			sum[i] += lp_value(phase[i]->lp, 1 + k);
	while (done < 1 - 1e-10) {
		double width;

		for (int i = 0; i < 2; i++) {
			if (left[i] > 1e-10)
				continue;
			at[i]++;
			if (!next_tree(phase[i], root, &at[i]))
				return;
			left[i] = lp_value(phase[i]->lp, 1 + at[i]) / sum[i];
		}
		width = fmin(left[0], left[1]);
		build_tree(p, root, width);
		copy_edges(p, up, at[0], false);
		copy_edges(p, down, at[1], true);
		left[0] -= width;
		left[1] -= width;
		done += width;
	}
}

/*
 * Uses the trees of one phase for both: if links are alike in both directions, they are as good as
 * separate ones.
 */
static void mirror_phase(struct plan *p, const struct phase *x, int root)
{
	double sum = 0;

	for (int k = 0; next_tree(x, root, &k); k++)
		sum += lp_value(x->lp, 1 + k);
	for (int k = 0; next_tree(x, root, &k); k++) {
		build_tree(p, root, lp_value(x->lp, 1 + k) / sum);
		copy_edges(p, x, k, false);
		build_mirror(p);
	}
}

static void make_shares(struct plan *p)
{
	double sum = 0;

	for (int k = 0; k < p->trees; k++)
		sum += p->tree[k].share;
	for (int k = 0; k < p->trees; k++)
		p->tree[k].share /= sum;
}

struct plan *scheme_forestcoll(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e)
{
	struct phase up = {.work = work_begin(o->work / 2, o->seconds / 2)};
	struct phase down = {0};
	struct plan *p = NULL;
	bool same = true;
	int rc;

	up.work.reporter = o->reporter;
	if (t->workers > WORKERS_MOST) {
		topo_refuse(e, -1, -1, "forestcoll supports at most %d workers", WORKERS_MOST);
		return NULL;
	}
	for (int i = 0; i < t->links; i++)
		same = same && t->link[i].capacity[0] == t->link[i].capacity[1];
	for (int i = 0; i < t->workers; i++)
		same = same && isinf(t->node[t->worker[i]].processing);
	phase_begin(&up, t, false);
	phase_begin(&down, t, true);
	rc = phase_run(&up);
	down.work = work_begin(o->work / 2, o->seconds / 2);
	down.work.reporter = o->reporter;
	if (rc == 0 && !same)
		rc = phase_run(&down);
	if (rc == 0) {
		p = build_plan("forestcoll");
		p->sequential = true;
		for (int i = 0; i < t->workers; i++) {
			if (same)
				mirror_phase(p, &up, t->worker[i]);
			else
				pair_trees(p, &up, &down, t->worker[i]);
		}
		make_shares(p);
	} else {
		topo_refuse(e, -1, -1, "forestcoll: the linear program has no solution");
	}
	if (p && p->trees == 0) {
		topo_refuse(e, -1, -1,
			    "forestcoll: hosts with data reach each other only over hosts without "
			    "data, which its trees do not use; best and ring use them");
		plan_free(p);
		p = NULL;
	}
	phase_end(&up);
	phase_end(&down);
	return p;
}
