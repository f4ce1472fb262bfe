/*
 * The interface to COIN CLP. Rows and columns are collected here and passed on together at the next
 * solve, because CLP copies its whole matrix at every addition.
 */
#include "planner/lp.h"

#include <Clp_C_Interface.h>
#include <dlfcn.h>
#include <float.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* Work between two checks of the clock, and the least number of pivots. */
#define SLICE_WORK 1e8
#define SLICE_LEAST 20
#define SLICE_TIME 2e6  /* work units per second of the limit, if time is limited */
#define SLICE_PART 0.05 /* of the limit, once the time of a pivot is known */
#define KEPT 1e-7       /* tolerance of rows, the same as CLP's */

struct lp {
	Clp_Simplex *clp;
	int rows, columns; /* total */
	double *low, *high;
	int row_room;
	/* Columns that CLP does not have yet. */
	int fresh, fresh_room;
	CoinBigIndex *start;
	double *gain, *zero, *limit;
	int *row;
	double *value;
	int elements, element_room;
	int solved; /* number of solves */
	const double *price, *primal;
};

static void end(void)
{
	mem_out(0);
}

/*
 * CLP is C++ and its exceptions end the process without a message, unless a handler is installed.
 * The function that installs one has no name in C: dlsym finds it, and the library links with CLP
 * alone.
 */
static void end_where_memory_is_short(void)
{
	static const char set_new_handler[] = "_ZSt15set_new_handlerPFvvE";
	void (*(*set)(void (*)(void)))(void);

	*(void **)&set = dlsym(RTLD_DEFAULT, set_new_handler);
	if (set)
		set(end);
}

struct lp *lp_new(void)
{
	struct lp *lp = mem_new(1, sizeof(*lp));

	end_where_memory_is_short();
	lp->clp = Clp_newModel();
	Clp_setLogLevel(lp->clp, 0);
	Clp_setOptimizationDirection(lp->clp, -1);
	lp->start = mem_new(1, sizeof(*lp->start));
	return lp;
}

void lp_free(struct lp *lp)
{
	if (!lp)
		return;
	Clp_deleteModel(lp->clp);
	free(lp->low);
	free(lp->high);
	free(lp->start);
	free(lp->gain);
	free(lp->zero);
	free(lp->limit);
	free(lp->row);
	free(lp->value);
	free(lp);
}

int lp_row(struct lp *lp, double low, double high)
{
	if (lp->rows == lp->row_room) {
		lp->row_room = lp->row_room ? 2 * lp->row_room : 64;
		lp->low = mem_more(lp->low, (size_t)lp->row_room, sizeof(double));
		lp->high = mem_more(lp->high, (size_t)lp->row_room, sizeof(double));
	}
	lp->low[lp->rows] = isinf(low) ? -DBL_MAX : low;
	lp->high[lp->rows] = isinf(high) ? DBL_MAX : high;
	return lp->rows++;
}

int lp_column(struct lp *lp, double gain, double high, int n, const int *row, const double *value)
{
	if (lp->fresh == lp->fresh_room) {
		size_t wanted = lp->fresh_room ? 2 * (size_t)lp->fresh_room : 64;

		lp->start = mem_more(lp->start, wanted + 1, sizeof(*lp->start));
		lp->gain = mem_more(lp->gain, wanted, sizeof(double));
		lp->zero = mem_more(lp->zero, wanted, sizeof(double));
		lp->limit = mem_more(lp->limit, wanted, sizeof(double));
		lp->fresh_room = (int)wanted;
	}
	if (lp->elements + n > lp->element_room) {
		size_t wanted = 2 * (size_t)(lp->elements + n) + 256;

		lp->row = mem_more(lp->row, wanted, sizeof(int));
		lp->value = mem_more(lp->value, wanted, sizeof(double));
		lp->element_room = (int)wanted;
	}
	for (int i = 0; i < n; i++) {
		lp->row[lp->elements] = row[i];
		lp->value[lp->elements++] = value[i];
	}
	lp->gain[lp->fresh] = gain;
	lp->zero[lp->fresh] = 0;
	lp->limit[lp->fresh] = isinf(high) ? DBL_MAX : high;
	lp->start[++lp->fresh] = lp->elements;
	return lp->columns++;
}

static void hand_over(struct lp *lp)
{
	if (Clp_numberRows(lp->clp) < lp->rows) {
		CoinBigIndex *none = mem_new((size_t)lp->rows + 1, sizeof(*none));
		int column = 0;
		double value = 0;

		Clp_addRows(lp->clp, lp->rows, lp->low, lp->high, none, &column, &value);
		free(none);
	}
	if (lp->fresh > 0)
		Clp_addColumns(lp->clp, lp->fresh, lp->zero, lp->limit, lp->gain, lp->start,
			       lp->row, lp->value);
	lp->fresh = 0;
	lp->elements = 0;
	lp->start[0] = 0;
}

int lp_solve(struct lp *lp)
{
	hand_over(lp);
	if (lp->solved++ == 0)
		Clp_initialSolve(lp->clp);
	else
		Clp_primal(lp->clp, 0);
	lp->price = Clp_getRowPrice(lp->clp);
	lp->primal = Clp_getColSolution(lp->clp);
	return Clp_status(lp->clp) == 0 ? 0 : -1;
}

void lp_most_pivots(struct lp *lp, int pivots)
{
	Clp_setMaximumIterations(lp->clp, pivots);
}

/* Work units of a pivot: a pass over the rows and over a part of the columns' elements. */
static double pivot_work(const struct lp *lp)
{
	return 8.0 * lp->rows + 4.0 * lp->columns + 0.5 * (double)Clp_getNumElements(lp->clp);
}

/* Whether the current values satisfy all rows: CLP may stop at an infeasible point. */
static bool is_kept(const struct lp *lp)
{
	const double *activity = Clp_primalRowSolution(lp->clp);

	for (int i = 0; i < lp->columns; i++)
		if (lp->primal[i] < -KEPT || lp->primal[i] > Clp_columnUpper(lp->clp)[i] + KEPT)
			return false;
	for (int i = 0; i < lp->rows; i++)
		if (activity[i] > lp->high[i] + KEPT || activity[i] < lp->low[i] - KEPT)
			return false;
	return true;
}

double lp_gain(const struct lp *lp)
{
	const double *gain = Clp_getObjCoefficients(lp->clp);
	double sum = 0;

	for (int i = 0; i < lp->columns; i++)
		sum += gain[i] * lp->primal[i];
	return sum;
}

/* Pivots until the next check of the clock. seconds: of a pivot so far; 0: not known. */
static double slice_of(const struct work *w, double part, double each, double seconds)
{
	double all = w->end - w->begin;
	double pivots = fmin(SLICE_WORK, isinf(all) ? SLICE_WORK : SLICE_TIME * all) / each;

	if (!isinf(all) && seconds > 0)
		pivots = fmin(SLICE_PART * all, w->begin + part * all - work_clock()) / seconds;
	return fmax(SLICE_LEAST, pivots);
}

int lp_solve_within(struct lp *lp, struct work *w, double part)
{
	double seconds = 0; /* of a pivot */
	int slices = 0;
	int status;

	hand_over(lp);
	do {
		double each = pivot_work(lp);
		double left = (part * w->most - w->spent) / each;
		double slice = slice_of(w, part, each, seconds);
		double begin = work_clock();

		Clp_setMaximumIterations(lp->clp, (int)fmax(1, fmin(left, slice)));
		Clp_primal(lp->clp, 0);
		w->spent += (Clp_numberIterations(lp->clp) + 2) * each;
		seconds = (work_clock() - begin) / (Clp_numberIterations(lp->clp) + 1);
		status = Clp_status(lp->clp);
		work_report(w, "linear program", ++slices, NAN, NAN);
	} while (status == 3 && work_is_left(w, part));
	Clp_setMaximumIterations(lp->clp, INT_MAX);
	lp->solved++;
	lp->price = Clp_getRowPrice(lp->clp);
	lp->primal = Clp_getColSolution(lp->clp);
	if (status == 3)
		return is_kept(lp) ? 1 : 2;
	return status == 0 ? 0 : -1;
}

void lp_limit(struct lp *lp, int column, double high)
{
	hand_over(lp);
	Clp_columnUpper(lp->clp)[column] = isinf(high) ? DBL_MAX : high;
}

double lp_objective(const struct lp *lp)
{
	return Clp_objectiveValue(lp->clp);
}

double lp_value(const struct lp *lp, int column)
{
	return lp->primal[column];
}

double lp_price(const struct lp *lp, int row)
{
	return lp->price[row];
}
