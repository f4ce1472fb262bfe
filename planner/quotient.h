/*
 * Column generation over classes of links and nodes: a packing of trees of a folded network, in
 * which every tree stands for the mean of all its images.
 */
#ifndef RF_PLANNER_QUOTIENT_H
#define RF_PLANNER_QUOTIENT_H

#include "planner/fold.h"
#include "planner/lp.h"
#include "plan/plan.h"
#include "planner/steiner.h"

struct quotient {
	const struct fold *f;
	struct work *work;
	double enough; /* a bound that is known already */
	/*
	 * Trees of the folded network. Their edges up join two terminals each, in no order; each
	 * edge down says where the copies of a worker hang: from it to a terminal, or with no arcs
	 * to it itself.
	 */
	struct plan *pool;
	double *weight; /* of the pool's first trees, by quotient_run; the others have none */
	int weights;
	double value; /* throughput */
	double bound; /* no plan is above it, where exact; else INFINITY */
	bool exact;
	double *price; /* of rows, behind the bound; the last one is that of the least link */
	/* Inside. */
	struct steiner *s;
	struct lp *lp;
	double unit;
	double *many; /* of all links, how many are in a row */
	uint64_t random;
	double *now, *center, *link, *node, *scratch;
	double center_bound;
	bool affordable; /* every choice of merging nodes, up to exchanges */
	bool large;      /* too large to try one class after the other */
	int *row;        /* scratch of a column */
	double *count;
	int counts;
};

/* Rounds until nothing is cheaper, or that part of the work is done. 0 or -1. */
int quotient_run(struct quotient *q, double part);
void quotient_begin(struct quotient *q, const struct fold *f, struct work *w);
void quotient_end(struct quotient *q);
/* The cost of the cheapest tree of the network under prices of rows, where q->affordable. */
double quotient_cheapest(struct quotient *q, const double *price);

/* What a tree of the pool puts on links and then nodes of the folded network; load is all 0 before.
 */
void quotient_load(const struct fold *f, const struct plan *pool, int tree, double *load);

#endif
