/*
 * The flow relaxation: a bound between the cut and the packing of trees. Every worker's data is a
 * separate flow to a root, and flows of one root share what merging would let them share: a hop
 * between two merging nodes carries as much as the largest flow over it. The relaxation drops the
 * condition that all flows of a tree merge in one place. Ordinary flows route the hops over plain
 * switches.
 *
 * If links are alike in both directions and nothing limits processing, the way down mirrors the way
 * up and the root does not matter (its links can be reversed along any unit of flow): one root and
 * one way are enough. Otherwise every root has a way up and a way down.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/lp.h"

#define COLUMNS_MOST 20000
#define PIVOTS_MOST 20000
#define TOLERANCE 1e-7 /* CLP's tolerance; the bound is raised by this fraction */

struct hop {
	int from, to; /* indexes in merger[] */
};

struct relaxation {
	const struct topology *t;
	struct lp *lp;
	bool reduce_only, mirrored;
	double unit;
	int *merger; /* nodes that merge: workers first, then boxes and hosts without data */
	int *number; /* by node: its index in merger[], -1: none */
	int mergers;
	bool *inside; /* nodes that a hop may pass */
	struct hop *hop;
	int hops;
	int *root; /* indexes in merger[] */
	int roots;
	/*
	 * First rows of each kind, in this order: capacity of arcs (or links, if mirrored);
	 * merging; routes (merger, node); flows (root, way, worker, merger); use of hops (root,
	 * way, worker, hop).
	 */
	int merge_row, route_row, flow_row, use_row, ways;
};

static bool is_free(const struct relaxation *x, int node)
{
	return x->number[node] >= 0 && isinf(x->t->node[node].processing);
}

static void find_mergers(struct relaxation *x)
{
	const struct topology *t = x->t;

	for (int i = 0; i < t->workers; i++)
		x->merger[x->mergers++] = t->worker[i];
	for (int i = 0; i < t->nodes; i++)
		if (topo_is_optional(t, i))
			x->merger[x->mergers++] = i;
	for (int i = 0; i < t->nodes; i++)
		x->number[i] = -1;
	for (int i = 0; i < x->mergers; i++)
		x->number[x->merger[i]] = i;
	/* A hop over a node that merges without a limit is split into two hops. */
	for (int i = 0; i < t->nodes; i++)
		x->inside[i] = !is_free(x, i);
}

/* Finds the hops from every merging node to those reached over other nodes only. */
static void find_hops(struct relaxation *x)
{
	const struct topology *t = x->t;
	bool *seen = mem_new((size_t)t->nodes, sizeof(bool));
	int *queue = mem_new((size_t)t->nodes, sizeof(int));

	x->hop = mem_new((size_t)x->mergers * (size_t)x->mergers, sizeof(*x->hop));
	for (int m = 0; m < x->mergers; m++) {
		int tail = 0;

		memset(seen, 0, (size_t)t->nodes * sizeof(bool));
		seen[x->merger[m]] = true;
		queue[tail++] = x->merger[m];
		for (int head = 0; head < tail; head++) {
			int at = queue[head];

			if (head > 0 && x->number[at] >= 0)
				x->hop[x->hops++] = (struct hop){m, x->number[at]};
			if (head > 0 && !x->inside[at])
				continue;
			for (int i = t->first[at]; i < t->first[at + 1]; i++) {
				int to = topo_arc_to(t, t->out[i]);

				if (seen[to])
					continue;
				seen[to] = true;
				queue[tail++] = to;
			}
		}
	}
	free(seen);
	free(queue);
}

static void find_roots(struct relaxation *x)
{
	const struct topology *t = x->t;
	int *list = mem_new((size_t)t->nodes, sizeof(int));

	x->root = mem_new((size_t)x->mergers, sizeof(int));
	if (x->mirrored) {
		x->roots = 1;
	} else if (x->reduce_only) {
		x->roots = topo_roots(t, list);
		for (int i = 0; i < x->roots; i++)
			x->root[i] = x->number[list[i]];
	} else {
		x->roots = x->mergers;
		for (int i = 0; i < x->roots; i++)
			x->root[i] = i;
	}
	free(list);
}

static bool is_mirrored(const struct relaxation *x)
{
	const struct topology *t = x->t;
	bool same = !x->reduce_only;

	for (int i = 0; i < t->links; i++)
		same = same && t->link[i].capacity[0] == t->link[i].capacity[1];
	for (int i = 0; i < x->mergers; i++)
		same = same && isinf(t->node[x->merger[i]].processing);
	return same;
}

static void begin(struct relaxation *x)
{
	const struct topology *t = x->t;
	size_t nodes = (size_t)t->nodes;

	x->merger = mem_new(nodes, sizeof(int));
	x->number = mem_new(nodes, sizeof(int));
	x->inside = mem_new(nodes, sizeof(bool));
	find_mergers(x);
	find_hops(x);
	x->mirrored = is_mirrored(x);
	find_roots(x);
	x->ways = x->mirrored || x->reduce_only ? 1 : 2;
	x->unit = INFINITY;
	for (int i = 0; i < t->workers; i++)
		x->unit = fmin(x->unit, topo_egress(t, t->worker[i]));
}

static void end(struct relaxation *x)
{
	lp_free(x->lp);
	free(x->merger);
	free(x->number);
	free(x->inside);
	free(x->hop);
	free(x->root);
}

static double count_columns(const struct relaxation *x)
{
	double each = (double)x->hops * (x->t->workers + 1);

	return x->roots * (1 + x->ways * each) + (double)x->mergers * x->t->links * 2;
}

/* --- rows ------------------------------------------------------------------------------------- */

static int flow_at(const struct relaxation *x, int root, int way, int worker, int merger)
{
	return x->flow_row + ((root * x->ways + way) * x->t->workers + worker) * x->mergers +
	       merger;
}

static int use_at(const struct relaxation *x, int root, int way, int worker, int hop)
{
	return x->use_row + ((root * x->ways + way) * x->t->workers + worker) * x->hops + hop;
}

static void add_rows(struct relaxation *x)
{
	const struct topology *t = x->t;
	int lists = x->roots * x->ways * t->workers;
	int n = 0;

	x->lp = lp_new();
	for (int i = 0; i < (x->mirrored ? 1 : 2) * t->links; i++)
		n = 1 + lp_row(x->lp, -INFINITY, 1);
	x->merge_row = n;
	for (int i = 0; i < x->mergers; i++)
		lp_row(x->lp, -INFINITY, isinf(t->node[x->merger[i]].processing) ? INFINITY : 1);
	x->route_row = n + x->mergers;
	for (int i = 0; i < x->mergers * t->nodes; i++)
		lp_row(x->lp, i % t->nodes == x->merger[i / t->nodes] ? -INFINITY : 0,
		       i % t->nodes == x->merger[i / t->nodes] ? INFINITY : 0);
	x->flow_row = x->route_row + x->mergers * t->nodes;
	for (int i = 0; i < lists * x->mergers; i++)
		lp_row(x->lp, 0, 0);
	x->use_row = x->flow_row + lists * x->mergers;
	for (int i = 0; i < lists * x->hops; i++)
		lp_row(x->lp, -INFINITY, 0);
}

/* --- columns ---------------------------------------------------------------------------------- */

/* The rate of each root: that much leaves every worker (way 0) or reaches it (way 1). */
static void add_rates(struct relaxation *x)
{
	int *row = mem_new((size_t)x->t->workers * 2, sizeof(int));
	double *value = mem_new((size_t)x->t->workers * 2, sizeof(double));

	for (int r = 0; r < x->roots; r++) {
		int n = 0;

		for (int way = 0; way < x->ways; way++)
			for (int k = 0; k < x->t->workers; k++) {
				if (k == x->root[r])
					continue;
				row[n] = flow_at(x, r, way, k, k);
				value[n++] = way ? 1 : -1;
			}
		lp_column(x->lp, 1, INFINITY, n, row, value);
	}
	free(row);
	free(value);
}

/*
 * A worker's flow over a hop leaves one merging node and reaches another; the root absorbs what
 * reaches it.
 */
static void add_flows(struct relaxation *x, int r, int way)
{
	for (int k = 0; k < x->t->workers; k++) {
		for (int h = 0; h < x->hops && k != x->root[r]; h++) {
			int from = x->hop[h].from;
			int to = x->hop[h].to;
			int row[3];
			double value[3] = {1, 1, -1};
			int n = 0;

			if (from == (way ? k : x->root[r]) || to == (way ? x->root[r] : k))
				continue;
			row[n++] = use_at(x, r, way, k, h);
			if (from != x->root[r])
				row[n++] = flow_at(x, r, way, k, from);
			if (to != x->root[r]) {
				value[n] = -1;
				row[n++] = flow_at(x, r, way, k, to);
			}
			lp_column(x->lp, 0, INFINITY, n, row, value);
		}
	}
}

/* What a hop carries for a root: at least each worker's flow over it. */
static void add_uses(struct relaxation *x, int r, int way)
{
	const struct topology *t = x->t;
	int *row = mem_new((size_t)t->workers + 2, sizeof(int));
	double *value = mem_new((size_t)t->workers + 2, sizeof(double));

	for (int h = 0; h < x->hops; h++) {
		int to = x->merger[x->hop[h].to];
		int n = 0;

		for (int k = 0; k < t->workers; k++) {
			row[n] = use_at(x, r, way, k, h);
			value[n++] = -1;
		}
		row[n] = x->route_row + x->hop[h].from * t->nodes + to;
		value[n++] = -1;
		if (way == 0 && !isinf(t->node[to].processing)) {
			row[n] = x->merge_row + x->hop[h].to;
			value[n++] = x->unit / t->node[to].processing;
		}
		lp_column(x->lp, 0, INFINITY, n, row, value);
	}
	free(row);
	free(value);
}

/* Routes of what a merging node sends: an ordinary flow, arc by arc. */
static void add_routes(struct relaxation *x, int m)
{
	const struct topology *t = x->t;

	for (int arc = 0; arc < 2 * t->links; arc++) {
		int from = topo_arc_from(t, arc);
		int to = topo_arc_to(t, arc);
		int row[3] = {x->mirrored ? arc >> 1 : arc};
		double value[3] = {x->unit / topo_arc_capacity(t, arc)};
		int n = 1;

		if (to == x->merger[m] || (from != x->merger[m] && !x->inside[from]))
			continue;
		row[n] = x->route_row + m * t->nodes + to;
		value[n++] = 1;
		if (from != x->merger[m]) {
			row[n] = x->route_row + m * t->nodes + from;
			value[n++] = -1;
		}
		lp_column(x->lp, 0, INFINITY, n, row, value);
	}
}

/*
 * Whether there are too many columns even if every node had only one hop. Checked before anything
 * of quadratic size is allocated.
 */
static bool is_too_large(const struct topology *t)
{
	double mergers = t->workers;

	for (int i = 0; i < t->nodes; i++)
		mergers += topo_is_optional(t, i);
	return mergers * (t->workers + 1.0) + mergers * t->links * 2.0 > COLUMNS_MOST;
}

double bound_flow(const struct topology *t, bool reduce_only, const char **why)
{
	struct relaxation x = {.t = t, .reduce_only = reduce_only};
	double bound = NAN;

	*why = "there is nothing to sum";
	if (t->workers < 2)
		return bound;
	*why = "the network is too large for this linear program";
	if (is_too_large(t))
		return bound;
	begin(&x);
	if (count_columns(&x) > COLUMNS_MOST) {
		end(&x);
		return bound;
	}
	*why = NULL;
	add_rows(&x);
	add_rates(&x);
	for (int r = 0; r < x.roots; r++)
		for (int way = 0; way < x.ways; way++) {
			add_flows(&x, r, way);
			add_uses(&x, r, way);
		}
	for (int m = 0; m < x.mergers; m++)
		add_routes(&x, m);
	lp_most_pivots(x.lp, PIVOTS_MOST);
	if (lp_solve(x.lp) == 0)
		bound = lp_objective(x.lp) * x.unit * (1 + TOLERANCE);
	else
		*why = "the linear program took too long";
	end(&x);
	return bound;
}
