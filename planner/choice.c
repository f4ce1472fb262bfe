#include "planner/choice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/tree_load.h"

#define WORK_MOST 6e6 /* limit of the search: programs x rows x columns */
#define PROGRAMS_MOST 1500
#define USED 1e-9 /* part of its own highest rate above which a tree belongs to the plan */
#define GAP 1e-9

/* --- the program ------------------------------------------------------------------------------ */

void choice_begin(struct choice *c, const struct topology *t, int trees, const struct plan *p,
		  const struct work *limit)
{
	size_t rows = (size_t)t->links * 2 + (size_t)t->nodes;

	memset(c, 0, sizeof(*c));
	c->t = t;
	c->trees = trees;
	c->limit = limit;
	c->pool = plan_like(p);
	c->lp = lp_new();
	c->row = mem_new(rows, sizeof(int));
	c->box_row = mem_new((size_t)t->nodes, sizeof(int));
	c->scratch = mem_new(rows, sizeof(double));
	c->unit = INFINITY;
	for (int i = 0; i < t->workers; i++)
		c->unit = fmin(c->unit, topo_egress(t, t->worker[i]));
	for (int i = 0; i < (int)rows; i++) {
		int node = i - 2 * t->links;
		bool limited = node < 0 || (t->node[node].kind != TOPO_SWITCH &&
					    !isinf(t->node[node].processing));

		c->row[i] = limited ? lp_row(c->lp, -INFINITY, 1) : -1;
		c->rows += limited;
	}
	for (int i = 0; i < t->nodes; i++) {
		bool limited = t->node[i].kind == TOPO_BOX && limits_trees(t, i) < TOPO_UNLIMITED;

		c->box_row[i] = limited ? lp_row(c->lp, -INFINITY, limits_trees(t, i)) : -1;
		c->rows += limited;
	}
	c->all_row = trees > 0 ? lp_row(c->lp, -INFINITY, trees) : -1;
}

void choice_end(struct choice *c)
{
	for (int k = 0; k < c->columns; k++)
		free(c->box[k]);
	plan_free(c->pool);
	lp_free(c->lp);
	tree_load_free(&c->load);
	free(c->row);
	free(c->box_row);
	free(c->scratch);
	free(c->most);
	free(c->box);
	free(c->verdict);
	free(c->stack);
	free(c->weight);
	free(c->best);
}

/* Lists the limited boxes among the nodes of a tree. */
static int *find_boxes(struct choice *c, int tree)
{
	const struct plan_tree *k = &c->pool->tree[tree];
	int *list = mem_new((size_t)c->t->boxes + 1, sizeof(int));
	int n = 0;

	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &c->pool->edge[k->up_first + i];

		for (int end_of = 0; end_of < 2; end_of++) {
			int node = end_of ? e->to : e->from;
			int at = 0;

			while (at < n && list[at] != node)
				at++;
			if (c->box_row[node] >= 0 && at == n)
				list[n++] = node;
		}
	}
	list[n] = -1;
	return list;
}

static void make_room(struct choice *c)
{
	if (c->columns < c->room)
		return;
	c->room = c->room ? 2 * c->room : 256;
	c->most = mem_more(c->most, (size_t)c->room, sizeof(double));
	c->box = mem_more(c->box, (size_t)c->room, sizeof(*c->box));
	c->verdict = mem_more(c->verdict, (size_t)c->room, sizeof(*c->verdict));
	c->weight = mem_more(c->weight, (size_t)c->room, sizeof(double));
	c->best = mem_more(c->best, (size_t)c->room, sizeof(double));
	c->stack = mem_more(c->stack, (size_t)c->room, sizeof(*c->stack));
}

/* Adds the trees of the pool that are not yet columns. */
void choice_take_new(struct choice *c)
{
	const struct topology *t = c->t;
	int *row = mem_new((size_t)c->rows + (size_t)t->boxes + 1, sizeof(int));
	double *value = mem_new((size_t)c->rows + (size_t)t->boxes + 1, sizeof(double));

	for (; c->columns < c->pool->trees; c->columns++) {
		int k = c->columns;
		double least = INFINITY;
		int n = 0;

		make_room(c);
		tree_load_find(t, c->pool, k, c->scratch, &c->load);
		for (int i = 0; i < c->load.n; i++) {
			int at = c->load.row[i];

			if (c->row[at] < 0)
				continue;
			row[n] = c->row[at];
			value[n] = c->load.count[i] * c->unit / tree_load_limit(t, at);
			least = fmin(least, 1 / value[n++]);
		}
		c->most[k] = least;
		c->box[k] = find_boxes(c, k);
		c->verdict[k] = CHOICE_OPEN;
		c->best[k] = 0;
		for (const int *b = c->box[k]; *b >= 0; b++) {
			row[n] = c->box_row[*b];
			value[n++] = 1 / least;
		}
		if (c->all_row >= 0) {
			row[n] = c->all_row;
			value[n++] = 1 / least;
		}
		lp_column(c->lp, 1, INFINITY, n, row, value);
	}
	free(row);
	free(value);
}

/* --- branch and bound ------------------------------------------------------------------------- */

/* Counts the trees taken at each node, and all of them at [nodes]. */
static void count_taken(const struct choice *c, int *taken)
{
	memset(taken, 0, ((size_t)c->t->nodes + 1) * sizeof(int));
	for (int k = 0; k < c->columns; k++) {
		if (c->verdict[k] != CHOICE_TAKEN)
			continue;
		taken[c->t->nodes]++;
		for (const int *b = c->box[k]; *b >= 0; b++)
			taken[*b]++;
	}
}

/* Whether the trees taken leave no place for another one. */
static bool is_shut_out(const struct choice *c, int tree, const int *taken)
{
	if (c->verdict[tree] != CHOICE_OPEN)
		return c->verdict[tree] == CHOICE_LEFT;
	if (c->trees > 0 && taken[c->t->nodes] >= c->trees)
		return true;
	for (const int *b = c->box[tree]; *b >= 0; b++)
		if (taken[*b] >= limits_trees(c->t, *b))
			return true;
	return false;
}

/* Solves the program, or as far as the time allows. Returns its value, or -1. */
static double solve(struct choice *c)
{
	struct work w = *c->limit;
	int rc;

	if (isinf(w.end))
		return lp_solve(c->lp) == 0 ? lp_objective(c->lp) : -1;
	w.most = INFINITY;
	rc = lp_solve_within(c->lp, &w, 1);
	return rc == 0 || rc == 1 ? lp_gain(c->lp) : -1;
}

double choice_relax(struct choice *c, int *taken)
{
	double value;

	count_taken(c, taken);
	for (int k = 0; k < c->columns; k++)
		lp_limit(c->lp, k, is_shut_out(c, k, taken) ? 0 : INFINITY);
	c->work += (double)c->rows * c->columns;
	value = solve(c);
	for (int k = 0; k < c->columns; k++)
		c->weight[k] = lp_value(c->lp, k);
	return value;
}

/* The open tree with the largest weight at a limit that is exceeded; -1: none is exceeded. */
static int find_branch(const struct choice *c, int *used)
{
	int nodes = c->t->nodes;
	int best = -1;

	memset(used, 0, ((size_t)nodes + 1) * sizeof(int));
	for (int k = 0; k < c->columns; k++) {
		if (c->verdict[k] != CHOICE_TAKEN && c->weight[k] <= USED * c->most[k])
			continue;
		used[nodes]++;
		for (const int *b = c->box[k]; *b >= 0; b++)
			used[*b]++;
	}
	for (int k = 0; k < c->columns; k++) {
		bool bad = c->trees > 0 && used[nodes] > c->trees;

		if (c->verdict[k] != CHOICE_OPEN || c->weight[k] <= USED * c->most[k])
			continue;
		for (const int *b = c->box[k]; *b >= 0 && !bad; b++)
			bad = used[*b] > limits_trees(c->t, *b);
		if (bad && (best < 0 || c->weight[k] > c->weight[best]))
			best = k;
	}
	return best;
}

/* Backtracks to the next set of decisions; false: the search is complete. */
static bool go_back(struct choice *c)
{
	while (c->depth > 0) {
		struct choice_decision *d = &c->stack[c->depth - 1];

		if (!d->second) {
			d->second = true;
			c->verdict[d->tree] = CHOICE_LEFT;
			return true;
		}
		c->verdict[d->tree] = CHOICE_OPEN;
		c->depth--;
	}
	return false;
}

void choice_search(struct choice *c)
{
	int *count = mem_new((size_t)c->t->nodes + 1, sizeof(int));
	bool found = c->value > 0;

	for (int programs = 0; programs < PROGRAMS_MOST && work_has_time(c->limit, 1, 0);
	     programs++) {
		double value = choice_relax(c, count);
		int branch = value > c->value * (1 + GAP) ? find_branch(c, count) : -1;

		work_report(c->limit, "choice of trees", programs, c->value * c->unit, NAN);
		if (value > c->value * (1 + GAP) && branch < 0) {
			c->value = value;
			memcpy(c->best, c->weight, (size_t)c->columns * sizeof(double));
			found = true;
		}
		if (branch >= 0) {
			c->verdict[branch] = CHOICE_TAKEN;
			c->stack[c->depth++] = (struct choice_decision){branch, false};
			continue;
		}
		if ((found && c->work > WORK_MOST) || !go_back(c))
			break;
	}
	for (int k = 0; k < c->columns; k++)
		c->verdict[k] = CHOICE_OPEN;
	c->depth = 0;
	free(count);
}
