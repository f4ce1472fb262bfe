/*
 * One way of one tree, as parents: every node except the root has a parent and a route to it. The
 * way down is stored as if it led up, with its routes reversed. For code that changes trees: the
 * edges of a plan cannot be moved.
 */
#ifndef RF_PLANNER_SHAPE_H
#define RF_PLANNER_SHAPE_H

#include "planner/router.h"
#include "plan/plan.h"

struct shape {
	const struct topology *t;
	int root;
	int *parent; /* by node; -1: the root, or not in the tree */
	int **route; /* arcs to the parent */
	int *arcs;
	bool *in;
	int *list; /* nodes of the tree in the order of their insertion, including the root */
	int count;
};

struct shape *shape_new(const struct topology *t);
void shape_free(struct shape *s);
/* Clears the tree and starts a new one with the root alone. */
void shape_begin(struct shape *s, int root);
/* Loads one way of a tree of a plan. */
void shape_load(struct shape *s, const struct plan *p, int tree, bool down);
/*
 * Attaches a node to a parent, over a route of arcs that starts at the node; both are then in the
 * tree.
 */
void shape_attach(struct shape *s, int node, int parent, const int *arc, int arcs);
/* The same over the router's least loaded route, to whose load weight is added. */
void shape_route(struct shape *s, struct router *r, int node, int parent, double weight);
/* Removes a node without children. */
void shape_drop(struct shape *s, int node);
/* Whether a path of parents leads from every node to the root. */
bool shape_is_tree(const struct shape *s);
/* Adds the edges to the latest tree of a plan. */
void shape_emit(const struct shape *s, struct plan *p, bool down);

/*
 * Hosts do not forward as switches do: what a host receives ends there, and the host sends it
 * again. Splits edges whose routes pass through hosts at each of these hosts. If the pieces do not
 * form a tree, that way follows shortest routes to the root instead. Returns whether anything was
 * split.
 */
bool plan_split_hosts(const struct topology *t, struct plan *p);

/* The throughput of a plan; 0 if its trees are invalid. */
double plan_rate(const struct topology *t, const struct plan *p);

#endif
