/*
 * The linear program that adapts a plan to a failure. The kept trees are one column, whose weight
 * is the throughput; the trees of the pool together carry the rest of the vector at the same rate.
 */
#ifndef RF_PLANNER_REPLANNING_H
#define RF_PLANNER_REPLANNING_H

#include "planner/limits.h"
#include "planner/master.h"

struct replanning {
	const struct topology *t;
	struct plan *kept, *pool;
	struct lp *lp;
	int *row; /* of arcs and nodes; -1: no limit */
	int share_row;
	double unit;
	double rest; /* the part of the vector that needs new trees */
	double *scratch;
	struct tree_load load;
	int columns; /* trees of the pool that are columns */
	int *left;   /* by box: trees that it can still be a node of */
};

/* Creates the rows, and the kept trees as the first column. */
void replanning_begin(struct replanning *x);
/*
 * Adds cheaper trees to the pool, cut by f: trees that the search finds under the prices of the
 * program. The most that a tree may cost is the price of the row that adds up the shares.
 */
void replanning_search(struct replanning *x, struct limits_fit *f, const struct scheme_options *o);
/* Finds the best weights within the limits of boxes. Returns 0 or -1. */
int replanning_solve(struct replanning *x);
/*
 * Removes the trees with the least weight, as long as the loss of throughput is at most one part in
 * 10^4.
 */
void replanning_thin(struct replanning *x);
/* What the replacement of a kept tree would gain, at the prices of the solved program. */
double replanning_gain(struct replanning *x, int kept);
/* The weight of a tree of the pool. */
double replanning_weight(const struct replanning *x, int tree);

#endif
