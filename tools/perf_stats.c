#include "tools/perf_stats.h"

#include <stdlib.h>

#include "base/rng.h"

void perf_stats_reset(struct perf_stats *s, uint64_t *kept)
{
	*s = (struct perf_stats){.min = UINT64_MAX, .state = 1, .kept = kept};
}

void perf_stats_add(struct perf_stats *s, uint64_t ns)
{
	uint64_t at = s->calls++;

	s->sum += ns;
	s->min = ns < s->min ? ns : s->min;
	s->max = ns > s->max ? ns : s->max;
	if (at >= PERF_STATS_KEPT)
		at = rf_rng_word(&s->state) % s->calls;
	if (at < PERF_STATS_KEPT)
		s->kept[at] = ns;
}

double perf_stats_mean(const struct perf_stats *s)
{
	return s->calls ? (double)s->sum / (double)s->calls : 0;
}

static uint64_t kept(const struct perf_stats *s)
{
	return s->calls < PERF_STATS_KEPT ? s->calls : PERF_STATS_KEPT;
}

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

void perf_stats_sort(struct perf_stats *s)
{
	qsort(s->kept, kept(s), sizeof(*s->kept), compare);
}

uint64_t perf_stats_percentile(const struct perf_stats *s, unsigned int percent)
{
	uint64_t n = kept(s);

	return n ? s->kept[(n * percent + 99) / 100 - 1] : 0;
}
