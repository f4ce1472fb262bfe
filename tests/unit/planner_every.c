#include "tests/unit/planner_every.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <stdlib.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/master.h"

#define NODES 8
#define TREES 40000
#define ARCS 4
#define WAYS 8

struct every {
	const struct topology *t;
	struct plan *pool;
	int node[NODES];
	int n;
};

/*
 * Whether the parents (by position, for all except position 0) lead to position 0, every box has
 * two children, and every host without data has one.
 */
static bool is_tree(const struct every *x, const int *parent)
{
	int children[NODES] = {0};

	for (int i = 1; i < x->n; i++) {
		int at = i;

		children[parent[i]]++;
		for (int steps = 0; at != 0; steps++, at = parent[at])
			if (steps > x->n)
				return false;
	}
	for (int i = 0; i < x->n; i++) {
		const struct topo_node *n = &x->t->node[x->node[i]];

		if (!n->worker && children[i] < (n->kind == TOPO_BOX ? 2 : 1))
			return false;
	}
	return true;
}

/* A route of at most ARCS arcs. */
struct way {
	int arc[ARCS];
	int arcs;
};

/* Lists all routes between two nodes that pass no host and no node twice; returns their number. */
static int list_ways(const struct topology *t, int from, int to, struct way *list)
{
	int next[ARCS + 1] = {0};
	struct way way = {.arcs = 0};
	int n = 0;

	while (way.arcs >= 0) {
		int at = way.arcs ? topo_arc_to(t, way.arc[way.arcs - 1]) : from;
		int k = t->first[at] + next[way.arcs]++;
		bool back = false;
		int node;

		if (k >= t->first[at + 1] || way.arcs == ARCS) {
			next[way.arcs--] = 0;
			continue;
		}
		node = topo_arc_to(t, t->out[k]);
		back = node == from;
		for (int i = 0; i < way.arcs; i++)
			back = back || topo_arc_to(t, way.arc[i]) == node;
		if (back || (node != to && t->node[node].kind == TOPO_HOST))
			continue;
		way.arc[way.arcs++] = t->out[k];
		if (node != to)
			continue;
		assert_true(n < WAYS);
		list[n++] = way;
		way.arcs--;
	}
	return n;
}

/* Whether the verifier accepts a plan of this one tree. */
static bool is_allowed(const struct topology *t, const struct plan *one)
{
	struct plan_load load;

	if (limits_check(t, one, NULL) != 0 || plan_measure(t, one, &load, NULL) != 0)
		return false;
	plan_load_free(&load);
	return true;
}

/* Adds the tree of these parents over all combinations of routes. */
static void add_routes(struct every *x, const int *parent)
{
	struct way way[NODES][WAYS];
	int ways[NODES], at[NODES] = {0};
	int i;

	for (i = 1; i < x->n; i++) {
		ways[i] = list_ways(x->t, x->node[i], x->node[parent[i]], way[i]);
		/* An edge that could only pass through hosts does not exist. */
		if (ways[i] == 0)
			return;
	}
	do {
		struct plan *one = plan_new("one");

		assert_int_equal(plan_add_tree(one, x->node[0], 1), 0);
		for (i = 1; i < x->n; i++)
			assert_int_equal(plan_add_edge(one, false, x->node[i], x->node[parent[i]],
						       way[i][at[i]].arc, way[i][at[i]].arcs),
					 0);
		assert_int_equal(plan_mirror(one), 0);
		if (is_allowed(x->t, one))
			plan_copy_tree(x->pool, one, 0, 1);
		plan_free(one);
		for (i = 1; i < x->n && ++at[i] == ways[i]; i++)
			at[i] = 0;
	} while (i < x->n);
}

static void add_trees(struct every *x)
{
	int parent[NODES] = {0};
	int at;

	do {
		if (is_tree(x, parent))
			add_routes(x, parent);
		for (at = 1; at < x->n; at++) {
			parent[at] += 1 + (parent[at] + 1 == at);
			if (parent[at] < x->n)
				break;
			parent[at] = 0;
		}
	} while (at < x->n);
	assert_true(x->pool->trees < TREES);
}

struct plan *all_trees(const struct topology *t)
{
	struct every x = {.t = t, .pool = plan_new("all")};
	int other[NODES];
	int others = 0;

	/* Every node that is not a plain switch: the verifier decides which of them may merge. */
	for (int i = 0; i < t->nodes; i++) {
		if (t->node[i].kind == TOPO_SWITCH || t->node[i].worker)
			continue;
		assert_true(t->workers + others < NODES);
		other[others++] = i;
	}
	for (int set = 0; set < 1 << others; set++) {
		x.n = 0;
		for (int i = 0; i < t->workers; i++)
			x.node[x.n++] = t->worker[i];
		for (int i = 0; i < others; i++)
			if (set >> i & 1)
				x.node[x.n++] = other[i];
		add_trees(&x);
	}
	return x.pool;
}

double pack_trees(const struct topology *t, struct plan *pool, const bool *in)
{
	struct work w = work_begin(1e12, INFINITY);
	struct master *m = master_new(t);
	double value;

	for (int k = 0; k < pool->trees; k++)
		if (in[k])
			plan_copy_tree(m->pool, pool, k, 1);
	assert_int_equal(master_solve(m, &w, 1), 0);
	value = m->value;
	master_free(m);
	return value;
}
