/*
 * Linear programs: maximisation by the simplex method of COIN CLP. The result is a vertex, with the
 * prices of the rows.
 *
 * The process ends if memory runs out (memory.h), here as inside CLP.
 */
#ifndef RF_PLANNER_LP_H
#define RF_PLANNER_LP_H

#include "planner/mem.h"
#include "planner/work.h"

struct lp;

struct lp *lp_new(void);
void lp_free(struct lp *lp);

/*
 * Adds a row low <= row <= high; -INFINITY or INFINITY: no limit. All rows must be added before the
 * first column. Returns the row's index.
 */
int lp_row(struct lp *lp, double low, double high);
/*
 * Adds a column 0 <= column <= high with n coefficients in distinct rows. gain: its coefficient in
 * the objective. Returns the column's index.
 */
int lp_column(struct lp *lp, double gain, double high, int n, const int *row, const double *value);
/*
 * Returns 0, or -1 if there is no optimum. Columns may be added afterwards and the program solved
 * again.
 */
int lp_solve(struct lp *lp);
/* Limits the number of pivots of lp_solve. */
void lp_most_pivots(struct lp *lp, int pivots);
/*
 * For programs that are feasible with all columns 0: solves until the optimum, or until that part
 * of the work is used up. Returns 0: optimum; 1: stopped at a feasible point, whose objective is
 * lp_gain and whose prices are only estimates; 2: stopped at an infeasible point; -1: as lp_solve.
 */
int lp_solve_within(struct lp *lp, struct work *w, double part);
/* Changes the upper limit of a column (0 removes it). */
void lp_limit(struct lp *lp, int column, double high);

double lp_objective(const struct lp *lp);
/* The objective, computed from the values of the columns. */
double lp_gain(const struct lp *lp);
double lp_value(const struct lp *lp, int column);
/*
 * The dual price of a row: the gain from one more unit of its limit; 0 or more if the row has only
 * an upper limit.
 */
double lp_price(const struct lp *lp, int row);

#endif
