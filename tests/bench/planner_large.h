/* Figures of large networks and of many random ones, for planner-bench. */
#ifndef RF_BENCH_PLANNER_LARGE_H
#define RF_BENCH_PLANNER_LARGE_H

#include <stdbool.h>

/* The type of planner-bench's figure(). */
typedef void large_figure(const char *name, double value, const char *unit, double limit, bool must,
			  bool ok);

/* Throughput and processor time of each large network whose name contains `only` (NULL: all). */
void large_networks(large_figure *put, const char *only);
/*
 * Random topologies of these seeds: on how many another scheme is better than best, and how many of
 * every hundredth get another plan on a busy machine.
 */
void large_drawn(large_figure *put, int from, int to);

#endif
