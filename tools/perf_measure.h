/* How long calls take: for a number of calls, or for a time. */
#ifndef RF_TOOLS_PERF_MEASURE_H
#define RF_TOOLS_PERF_MEASURE_H

#include "tools/perf.h"
#include "tools/perf_out.h"
#include "tools/perf_stats.h"

struct perf_measure {
	struct rf_comm *comm;
	unsigned int iters, warmup, outstanding;
	uint64_t duration_ns; /* not 0: measure for so long, instead of `iters` calls */
	uint64_t interval_ns; /* not 0: report so often */
	/* Called on rank 0 alone. */
	void (*interval)(void *arg, const struct perf_out_times *times);
	void *arg;
	/* Memory of the statistics: PERF_STATS_KEPT values each, the caller's. */
	uint64_t *kept, *kept_part;
};

/* The same call n times, without measuring. Returns its status. */
int perf_measure_warm(const struct perf_measure *m, const struct perf_call *c,
		      const struct perf_buffers *b, unsigned int n);

/*
 * Measures on all ranks. Each of *times is the largest among the ranks, as the call is over when it
 * is over everywhere; intervals are those of rank 0. Returns the status of the first failure.
 */
int perf_measure(const struct perf_measure *m, const struct perf_call *c,
		 const struct perf_buffers *b, struct perf_out_times *times);

#endif
