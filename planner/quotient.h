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
	double enough; /* a known bound */
	/*
	 * Trees of the folded network. Their up edges join two terminals each, in no order. Each
	 * down edge says where the copies of a worker are attached: from the worker to a terminal,
	 * or, without arcs, to the worker itself.
	 */
	struct plan *pool;
	double *weight; /* weights of the pool's first trees, from quotient_run; the others have
			   none */
	int weights;
	double value; /* throughput */
	double bound; /* if exact: no plan exceeds it; otherwise INFINITY */
	bool exact;
	double *price; /* prices of rows that give the bound; the last one is that of the least link
			*/
	/* Internal state. */
	struct steiner *s;
	struct lp *lp;
	double unit;
	double *many; /* by row: its fraction of all links */
	uint64_t random;
	double *now, *center, *link, *node, *scratch;
	double center_bound;
	bool affordable; /* a search over all choices of merging nodes, up to exchanges, is
			    affordable */
	bool large;      /* too large to try one class after the other */
	int *row;        /* buffer for a column */
	double *count;
	int counts;
};

/* Runs rounds until no tree is cheaper, or that part of the work is used up. Returns 0 or -1. */
int quotient_run(struct quotient *q, double part);
void quotient_begin(struct quotient *q, const struct fold *f, struct work *w);
void quotient_end(struct quotient *q);
/* The cost of the cheapest tree of the network under prices of rows; only if q->affordable. */
double quotient_cheapest(struct quotient *q, const double *price);

/*
 * Adds the load of a tree of the pool on the links, and then on the nodes, of the folded network;
 * load must be all 0 before.
 */
void quotient_load(const struct fold *f, const struct plan *pool, int tree, double *load);

#endif
