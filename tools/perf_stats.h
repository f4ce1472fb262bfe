/*
 * How long calls took: number, mean, extremes and percentiles. Of more calls than PERF_STATS_KEPT a
 * random sample stands for all, each call with equal chance (algorithm R: Vitter, "Random Sampling
 * with a Reservoir", 1985); number, mean and extremes are always exact.
 */
#ifndef RF_TOOLS_PERF_STATS_H
#define RF_TOOLS_PERF_STATS_H

#include <stdint.h>

#define PERF_STATS_KEPT 65536u

struct perf_stats {
	uint64_t calls;
	uint64_t sum, min, max; /* nanoseconds */
	uint64_t state;         /* of the random numbers */
	uint64_t *kept;         /* PERF_STATS_KEPT of them; the caller's */
};

/* Forgets everything. kept: room for PERF_STATS_KEPT values, which the caller owns. */
void perf_stats_reset(struct perf_stats *s, uint64_t *kept);

void perf_stats_add(struct perf_stats *s, uint64_t ns);

/* 0 if there are no calls. */
double perf_stats_mean(const struct perf_stats *s);

/* Sorts what is kept, for perf_stats_percentile(). No call may be added afterwards. */
void perf_stats_sort(struct perf_stats *s);

/*
 * The least value that is not below `percent` of all: the nearest rank, so always one that was
 * measured. 0 if there are no calls. percent: 1 to 100.
 */
uint64_t perf_stats_percentile(const struct perf_stats *s, unsigned int percent);

#endif
