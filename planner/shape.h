/*
 * One way of one tree as parents: every node but the root has a parent and a route to it. The way
 * down is kept as if it led up, its routes against their direction. For what changes trees: a plan
 * keeps edges, which nobody can hang elsewhere.
 */
#ifndef RF_PLANNER_SHAPE_H
#define RF_PLANNER_SHAPE_H

#include "planner/graph.h"
#include "plan/plan.h"

struct shape {
	const struct topology *t;
	int root;
	int *parent; /* of nodes; -1: the root, or not in the tree */
	int **route; /* arcs to the parent */
	int *arcs;
	bool *in;
	int *list; /* nodes of the tree in the order in which they came; the root is one of them */
	int count;
};

struct shape *shape_new(const struct topology *t);
void shape_free(struct shape *s);
/* Forgets the tree; then the root alone. */
void shape_begin(struct shape *s, int root);
/* One way of a tree of a plan. */
void shape_load(struct shape *s, const struct plan *p, int tree, bool down);
/* Hangs a node below a parent, over a route of arcs from the node on; both are then in the tree. */
void shape_hang(struct shape *s, int node, int parent, const int *arc, int arcs);
/* The same over the router's least loaded route, to whose load weight is added. */
void shape_route(struct shape *s, struct router *r, int node, int parent, double weight);
/* Takes a node without children out. */
void shape_drop(struct shape *s, int node);
/* Whether every node leads to the root. */
bool shape_is_tree(const struct shape *s);
/* Adds its edges to the latest tree of a plan. */
void shape_emit(const struct shape *s, struct plan *p, bool down);

/*
 * A host passes nothing on as a switch would: what comes to it ends there, and the host sends of
 * its own. Edges whose routes pass through hosts are cut at each of them. Where the pieces are no
 * tree the way follows shortest routes to the root instead. Whether anything was cut.
 */
bool plan_split_hosts(const struct topology *t, struct plan *p);

/* A plan of the same head with no trees, and the trees of another in its place. */
struct plan *plan_like(const struct plan *p);
void plan_take_trees(struct plan *p, struct plan *from);

#endif
