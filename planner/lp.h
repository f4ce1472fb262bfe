/*
 * Linear programs: maximise, by the simplex method of COIN CLP. What comes out is a vertex, with
 * the prices of the rows.
 *
 * A memory shortage ends the process, here as inside CLP.
 */
#ifndef RF_PLANNER_LP_H
#define RF_PLANNER_LP_H

#include <stddef.h>

#include "planner/work.h"

struct lp;

struct lp *lp_new(void);
void lp_free(struct lp *lp);

/* low <= row <= high, INFINITY or -INFINITY for none. All rows come before the first column.
 * Returns the row's index. */
int lp_row(struct lp *lp, double low, double high);
/* 0 <= column <= high with n coefficients in distinct rows. Returns the column's index. */
int lp_column(struct lp *lp, double gain, double high, int n, const int *row, const double *value);
/* 0, or -1 where there is no optimum. Columns may be added and it may be solved again. */
int lp_solve(struct lp *lp);
/* lp_solve gives up after so many pivots. */
void lp_most_pivots(struct lp *lp, int pivots);
/*
 * For programs in which all columns may be 0: solves until the optimum, or until that part of the
 * work is done. 0: optimum; 1: stopped at values that keep all rows, whose sum lp_gain is; prices
 * of rows are then a guess; 2: stopped elsewhere; -1 as lp_solve.
 */
int lp_solve_within(struct lp *lp, struct work *w, double part);
/* From here on a column may not be above high (0 removes it). */
void lp_limit(struct lp *lp, int column, double high);

double lp_objective(const struct lp *lp);
/* The objective, summed up from the values. */
double lp_gain(const struct lp *lp);
double lp_value(const struct lp *lp, int column);
/* What one unit more of the row's limit would gain; 0 or more for a row that has only a high. */
double lp_price(const struct lp *lp, int row);

/* Seconds of a clock that only goes forward: real time, unless clock_use gave another. */
double clock_seconds(void);
/* For tests on machines that do other things as well; NULL: real time again. */
void clock_use(double (*now)(void));
/* n zeroed elements; never NULL. */
void *room(size_t n, size_t size);
/* The same elements with room for n of them. */
void *more_room(void *p, size_t n, size_t size);

#endif
