/*
 * The cheapest way up and the cheapest way down if the two directions of a link have different
 * prices, or if merging has a price: minimum arborescences in the metric of the prices (Chu and
 * Liu; Edmonds).
 */
#ifndef RF_PLANNER_ARBOR_H
#define RF_PLANNER_ARBOR_H

#include "planner/heap.h"
#include "planner/router.h"
#include "planner/work.h"
#include "plan/plan.h"

struct arbor {
	const struct topology *t;
	int *optional;
	int options;
	/*
	 * The terminals are all workers and the optional nodes. For each: distances under the
	 * prices, and the arc by which the shortest path from it enters a node.
	 */
	int *node;
	int terminals;
	double *distance; /* [from][to] */
	int *from_arc;    /* [from][node of the topology] */
	double *price;    /* of merging, by terminal */
	struct heap heap;
	/* The current problem. */
	int *member; /* terminals that the arborescence spans */
	int members;
	double *cost; /* [member][its parent] */
	int *parent;  /* the result: parent of each member, -1 for the root */
	double *work; /* costs between vertices of the contraction */
	int *work_parent, *cycle, *rank, *entry, *leave;
	double spent; /* work units so far: see work.h */
};

struct arbor *arbor_new(const struct topology *t, const int *optional, int options);
void arbor_free(struct arbor *a);

/* Computes the shortest paths under prices of arcs; node: prices of merging. */
void arbor_price(struct arbor *a, const double *arc, const double *node);
/*
 * Finds the cheapest arborescence of the workers, the root and the optional nodes that are in `in`
 * (by node of the topology). down: directed away from the root; else towards it, with the price of
 * merging paid at every parent. Returns its cost, which includes boxes with one input, although
 * those do not merge.
 */
double arbor_find(struct arbor *a, int root, const bool *in, bool down);
/*
 * Adds the latest arborescence to the latest tree of the pool. Optional nodes that would only pass
 * on one stream are left out.
 */
void arbor_emit(struct arbor *a, struct plan *pool, bool down);

#endif
