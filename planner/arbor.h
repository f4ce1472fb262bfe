/*
 * The cheapest way up and the cheapest way down where the two directions of a link have prices of
 * their own, or merging has a price: minimum arborescences in the metric of the prices (Chu and
 * Liu; Edmonds).
 */
#ifndef RF_PLANNER_ARBOR_H
#define RF_PLANNER_ARBOR_H

#include "planner/graph.h"
#include "plan/plan.h"

struct arbor {
	const struct topology *t;
	int *optional;
	int options;
	/* Of all workers and optional nodes: distances under the prices, and the arc by which the
	 * shortest way from each of them enters a node. */
	int *node;
	int terminals;
	double *distance; /* [from][to] */
	int *from_arc;    /* [from][node of the topology] */
	double *price;    /* of merging, by terminal */
	struct heap heap;
	/* Of one problem. */
	int *member; /* terminals that take part */
	int members;
	double *cost; /* [member][its parent] */
	int *parent;  /* the answer: of each member, -1 for the root */
	double *work; /* of the contraction */
	int *work_parent, *cycle, *rank, *entry, *leave;
	double spent; /* work so far: see work.h */
};

struct arbor *arbor_new(const struct topology *t, const int *optional, int options);
void arbor_free(struct arbor *a);

/* Shortest ways under prices of arcs; node: prices of merging. */
void arbor_price(struct arbor *a, const double *arc, const double *node);
/*
 * The cheapest arborescence of workers, the root and the optional nodes that are `in` (by node of
 * the topology). down: from the root; else to it, merging paid at every parent. Returns its cost,
 * which counts a box of one input although that merges nothing.
 */
double arbor_find(struct arbor *a, int root, const bool *in, bool down);
/* Adds the latest answer to the latest tree of the pool. Optional nodes that would pass on one
 * stream are left out. */
void arbor_emit(struct arbor *a, struct plan *pool, bool down);

#endif
