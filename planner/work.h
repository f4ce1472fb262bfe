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

/* Somebody who wants to know what goes on inside a scheme, every so many seconds. */
struct news {
	/* value: of the best so far; bound: what nothing can pass; NAN where not known. In the unit
	 * of the topology that scheme_run was given. */
	void (*tell)(const char *doing, int round, double value, double bound);
	double every; /* seconds */
	double last;  /* clock_seconds() of the latest line, or when it began */
	double scale; /* of the capacities that a scheme sees, by scheme_run */
};

struct work {
	double most, spent; /* units */
	double begin, end;  /* clock_seconds(); end is INFINITY where time does not matter */
	struct news *news;  /* NULL: nobody wants to know */
};

/* seconds: INFINITY for none. */
struct work work_begin(double most, double seconds);
/* Where it is time for a line: what goes on, in which round, value and bound. */
void work_tell(const struct work *w, const char *doing, int round, double value, double bound);
/* Whether less than this part of units and time is gone. */
bool work_is_left(const struct work *w, double part);
/* The part of units or time that is gone, whichever is more. */
double work_gone(const struct work *w);
/* Whether so many seconds still fit before that part of the time is gone; true without a limit. */
bool work_has_time(const struct work *w, double part, double seconds);

#endif
