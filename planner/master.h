/*
 * The packing of trees as a linear program: rows are arcs (capacity) and nodes that have a limit
 * of processing; columns are trees, which are kept as the trees of a plan.
 *
 * A row counts parts of its own limit, and weights are in units of what the slowest worker can
 * send: CLP's tolerances mean the same for a slow link as for a fast one.
 */
#ifndef RF_PLANNER_MASTER_H
#define RF_PLANNER_MASTER_H

#include "planner/lp.h"
#include "plan/plan.h"

/* What one unit of one tree puts on arcs and nodes: sparse, ascending. */
struct tree_load {
	int *row;      /* arc, or 2 x links + node */
	double *count; /* times */
	int n, room;
};

struct master {
	const struct topology *t;
	struct plan *pool; /* its trees are the columns, in the order of the LP's */
	struct lp *lp;
	double unit;     /* of weights: the least egress of a worker */
	int columns;     /* trees of the pool that the LP knows */
	double *scratch; /* of arcs and nodes, all 0 between calls */
	struct tree_load load;
	int *row; /* of the LP, for arcs and nodes; -1: no limit */
	/* Of the latest solution, or where that was stopped too early the one before. */
	double value;   /* throughput */
	double *weight; /* of the columns, in units */
	int weights;
	double *arc, *node; /* prices: a tree is worth adding if it costs less than 1 */
};

struct master *master_new(const struct topology *t);
void master_free(struct master *m);

/* The load of a tree of a plan, in load; scratch: 2 x links + nodes zeros, and again after. */
void tree_load_find(const struct topology *t, const struct plan *p, int tree, double *scratch,
		    struct tree_load *load);
void tree_load_free(struct tree_load *load);

/* To the optimum, or as far as that part of the work goes. 0, or -1: CLP gave up. */
int master_solve(struct master *m, struct work *w, double part);
/* The cost of a tree under prices. */
double master_cost(struct master *m, int tree, const double *arc, const double *node);
/* Sum of capacity x price. */
double master_budget(const struct master *m, const double *arc, const double *node);

/*
 * The plan of the latest solution: trees of positive weight. Few of them: a tree goes if the
 * others reach (1 - tolerance) of the throughput without it; the search for such trees ends with
 * that part of the work. NULL: CLP gave up.
 */
struct plan *master_plan(struct master *m, const char *name, double tolerance, struct work *w,
			 double part);

/* Copies a tree of one plan to the end of another. */
void plan_copy_tree(struct plan *to, const struct plan *from, int tree, double share);

#endif
