/*
 * The load of one tree on arcs and nodes.
 */
#ifndef RF_PLANNER_TREE_LOAD_H
#define RF_PLANNER_TREE_LOAD_H

#include "plan/plan.h"

/* The load of one unit of a tree on arcs and nodes, as a sparse vector in ascending order. */
struct tree_load {
	int *row;      /* arc, or 2 x links + node */
	double *count; /* how often the tree uses it */
	int n, room;
};

/*
 * Computes the load of a tree of a plan. scratch: 2 x links + nodes zeros, which are zeros again
 * afterwards.
 */
void tree_load_find(const struct topology *t, const struct plan *p, int tree, double *scratch,
		    struct tree_load *load);
void tree_load_free(struct tree_load *load);
/* The limit of a row of a load: the capacity of an arc, or the processing of a node. */
static inline double tree_load_limit(const struct topology *t, int row)
{
	return row < 2 * t->links ? topo_arc_capacity(t, row)
				  : t->node[row - 2 * t->links].processing;
}

#endif
