/* Figures of large networks and of many random ones, for planner-bench. */
#ifndef RF_BENCH_PLANNER_LARGE_H
#define RF_BENCH_PLANNER_LARGE_H

/* Throughput and processor time of each large network whose name contains `only` (NULL: all). */
void large_networks(const char *only);
/*
 * Random topologies of these seeds: on how many another scheme is better than best, and how many of
 * every hundredth get another plan on a busy machine.
 */
void large_drawn(int from, int to);

#endif
