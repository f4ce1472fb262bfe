/*
 * Builds plans. Functions here end the process if memory runs out (mem.h).
 */
#ifndef RF_PLANNER_BUILD_H
#define RF_PLANNER_BUILD_H

#include "plan/plan.h"
#include "planner/router.h"

/* plan_new, plan_add_tree, plan_add_edge that end the process if memory runs out. */
struct plan *build_plan(const char *name);
void build_tree(struct plan *p, int root, double share);
void build_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs);
/* Adds an edge over the router's least loaded route and adds weight to the load of that route. */
void build_routed(struct plan *p, struct router *r, bool down, int from, int to, double weight);
void build_mirror(struct plan *p);

/* Appends a copy of a tree to another plan, with that share. */
void plan_copy_tree(struct plan *to, const struct plan *from, int tree, double share);

/*
 * plan_like: a plan with the same properties and no trees. plan_take_trees: replaces p's trees by
 * those of `from`, which is freed.
 */
struct plan *plan_like(const struct plan *p);
void plan_take_trees(struct plan *p, struct plan *from);

#endif
