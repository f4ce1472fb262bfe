/*
 * The effort of a scheme: a limit in units of work, which is the same on every machine, and an
 * optional limit of the wall clock.
 *
 * A unit is one step of the innermost loops: an arc relaxed, a matrix entry read. One core does
 * some 10^8 units per second.
 */
#ifndef RF_PLANNER_WORK_H
#define RF_PLANNER_WORK_H

#include <stdbool.h>

/* Seconds of a monotonic clock: real time, unless work_clock_use has set another clock. */
double work_clock(void);
/* Sets the clock, for tests on busy machines; NULL: real time again. */
void work_clock_use(double (*now)(void));

/* A receiver of periodic progress reports. */
struct work_reporter {
	/*
	 * doing: the current step. value: throughput of the best plan so far. bound: an upper
	 * bound. NAN: not known. Both in the unit of the topology that scheme_run was given.
	 */
	void (*report)(const char *doing, int round, double value, double bound);
	double every; /* seconds */
	double last;  /* work_clock() of the latest report, or of the start */
	double scale; /* factor of the capacities that a scheme sees, set by scheme_run */
};

struct work {
	double most, spent; /* units */
	double begin, end;  /* work_clock(); end is INFINITY if there is no time limit */
	struct work_reporter *reporter; /* NULL: no reports */
};

/* seconds: time limit; INFINITY: none. */
struct work work_begin(double most, double seconds);
/* Reports progress if a report is due. */
void work_report(const struct work *w, const char *doing, int round, double value, double bound);
/* Whether less than this part of the units and of the time is used up. */
bool work_is_left(const struct work *w, double part);
/* The larger of the used parts of units and time. */
double work_gone(const struct work *w);
/*
 * Whether the clock will not pass that part of the time within the given seconds; true without a
 * limit.
 */
bool work_has_time(const struct work *w, double part, double seconds);

#endif
