/*
 * The packing of trees as a linear program (the restricted master problem). Rows are arcs
 * (capacity) and nodes with limited processing. Columns are trees, which are kept as the trees of a
 * plan.
 *
 * Rows are scaled by their own limits, and weights are in units of what the slowest worker can
 * send. CLP's tolerances then mean the same for a slow link as for a fast one.
 */
#ifndef RF_PLANNER_MASTER_H
#define RF_PLANNER_MASTER_H

#include "planner/lp.h"
#include "planner/tree_load.h"
#include "plan/plan.h"

struct master {
	const struct topology *t;
	struct plan *pool; /* its trees are the columns, in the same order */
	struct lp *lp;
	double unit;     /* of weights: the least egress capacity of a worker */
	int columns;     /* trees of the pool that are columns of the LP */
	double *scratch; /* by arc and node, all 0 between calls */
	struct tree_load load;
	int *row; /* row of the LP by arc and node; -1: no limit */
	/* Of the latest solution, or of the one before if the latest was stopped too early. */
	double value;   /* throughput */
	double *weight; /* of the columns, in units */
	int weights;
	double *arc, *node; /* prices: a tree improves the solution if it costs less than 1 */
};

struct master *master_new(const struct topology *t);
void master_free(struct master *m);

/*
 * Solves to the optimum, or as far as that part of the work allows. Returns 0, or -1: CLP failed.
 */
int master_solve(struct master *m, struct work *w, double part);
/* The cost of a tree under prices. */
double master_cost(struct master *m, int tree, const double *arc, const double *node);
/* Sum of capacity x price. */
double master_budget(const struct master *m, const double *arc, const double *node);

/*
 * The plan of the latest solution: its trees with a positive weight, and as few of them as
 * possible. A tree is removed if the others reach (1 - tolerance) of the throughput without it; the
 * search for such trees ends with that part of the work. NULL: memory ran out.
 */
struct plan *master_plan(struct master *m, const char *name, double tolerance, struct work *w,
			 double part);

#endif
