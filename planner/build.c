/*
 * Construction of plans.
 */
#include "planner/build.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"

/* --- construction ----------------------------------------------------------------------------- */

static void must(bool good)
{
	if (!good)
		mem_out(0);
}

struct plan *build_plan(const char *name)
{
	struct plan *p = plan_new(name);

	must(p != NULL);
	return p;
}

void build_tree(struct plan *p, int root, double share)
{
	must(plan_add_tree(p, root, share) == 0);
}

void build_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs)
{
	must(plan_add_edge(p, down, from, to, arc, arcs) == 0);
}

void build_routed(struct plan *p, struct router *r, bool down, int from, int to, double weight)
{
	router_find(r, from, to, weight);
	build_edge(p, down, from, to, r->arc, r->arcs);
}

void build_mirror(struct plan *p)
{
	must(plan_mirror(p) == 0);
}

void plan_copy_tree(struct plan *to, const struct plan *from, int tree, double share)
{
	const struct plan_tree *k = &from->tree[tree];
	int bad = plan_add_tree(to, k->root, share);

	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &from->edge[k->up_first + i];

		bad |= plan_add_edge(to, i >= k->ups, e->from, e->to, from->route + e->first,
				     e->arcs);
	}
	if (bad)
		mem_out(0);
}

/* --- whole plans ------------------------------------------------------------------------------ */

struct plan *plan_like(const struct plan *p)
{
	struct plan *q = build_plan(p->scheme);

	q->reduce_only = p->reduce_only;
	q->sequential = p->sequential;
	q->rounds = p->rounds;
	return q;
}

void plan_take_trees(struct plan *p, struct plan *from)
{
	struct plan old = *p;

	p->tree = from->tree;
	p->edge = from->edge;
	p->route = from->route;
	p->trees = from->trees;
	p->edges = from->edges;
	p->routes = from->routes;
	p->tree_room = from->tree_room;
	p->edge_room = from->edge_room;
	p->route_room = from->route_room;
	from->tree = old.tree;
	from->edge = old.edge;
	from->route = old.route;
	plan_free(from);
}
