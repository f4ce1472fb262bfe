/*
 * How much a scheme may do: units of work, which are the same on every machine, and on top of them
 * a limit of the wall clock for whoever wants one.
 *
 * A unit is one step of the innermost loops: an arc relaxed, an entry of a matrix looked at. One
 * core does some 10^8 of them in a second.
 */
#ifndef RF_PLANNER_WORK_H
#define RF_PLANNER_WORK_H

#include <stdbool.h>

struct work {
	double most, spent; /* units */
	double begin, end;  /* clock_seconds(); end is INFINITY where time does not matter */
};

/* seconds: INFINITY for none. */
struct work work_begin(double most, double seconds);
/* Whether less than this part of units and time is gone. */
bool work_is_left(const struct work *w, double part);

#endif
