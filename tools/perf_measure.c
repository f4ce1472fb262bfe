#include "tools/perf_measure.h"

#include "base/clock.h"

/* Most calls between two agreements about the end, and how fast their number may grow. */
#define ROUND_MOST 1000000u
#define ROUND_GROWTH 8u

/* Some calls: what the statistics say, and how long all took, pauses between rounds excluded. */
struct part {
	struct perf_stats stats;
	uint64_t ns;
};

static int round_of(const struct perf_measure *m, const struct perf_call *c,
		    const struct perf_buffers *b, unsigned int n, struct perf_stats *one,
		    struct perf_stats *two)
{
	struct rf_request *requests[RF_REQUESTS_MAX];
	uint64_t begun[RF_REQUESTS_MAX];
	unsigned int started = 0, done = 0;

	while (done < n) {
		unsigned int at = done % RF_REQUESTS_MAX;
		uint64_t took;
		int ret;

		while (started < n && started - done < m->outstanding) {
			unsigned int k = started % RF_REQUESTS_MAX;

			begun[k] = rf_now_ns();
			ret = perf_start(m->comm, c, b, &requests[k]);
			if (ret)
				return ret;
			started++;
		}
		ret = rf_wait(requests[at], (unsigned int)-1);
		if (ret)
			return ret;
		took = rf_now_ns() - begun[at];
		if (one)
			perf_stats_add(one, took);
		if (two)
			perf_stats_add(two, took);
		done++;
	}
	return RF_OK;
}

int perf_measure_warm(const struct perf_measure *m, const struct perf_call *c,
		      const struct perf_buffers *b, unsigned int n)
{
	return round_of(m, c, b, n, NULL, NULL);
}

static void times_of(struct part *p, uint64_t end_ns, struct perf_out_times *t)
{
	struct perf_stats *s = &p->stats;

	perf_stats_sort(s);
	*t = (struct perf_out_times){
		.end = 1e-9 * (double)end_ns,
		.calls = s->calls,
		.time = s->calls ? 1e-3 * (double)p->ns / (double)s->calls : 0,
		.min = s->calls ? 1e-3 * (double)s->min : 0,
		.avg = 1e-3 * perf_stats_mean(s),
		.p50 = 1e-3 * (double)perf_stats_percentile(s, 50),
		.p99 = 1e-3 * (double)perf_stats_percentile(s, 99),
		.max = 1e-3 * (double)s->max,
	};
}

/* Every rank has its own times. The slowest one counts. */
static int slowest(struct rf_comm *comm, struct perf_out_times *t)
{
	double *const all[] = {&t->time, &t->min, &t->avg, &t->p50, &t->p99, &t->max};
	float own[6], most[6];
	int ret;

	for (unsigned int k = 0; k < 6; k++)
		own[k] = (float)*all[k];
	ret = rf_allreduce(comm, own, most, 6, RF_FP32, RF_MAX);
	for (unsigned int k = 0; !ret && k < 6; k++)
		*all[k] = (double)most[k];
	return ret;
}

/* How many calls fit until the next interval or the end; 0: the end has come. */
static unsigned int fit(const struct perf_measure *m, uint64_t now, uint64_t next, uint64_t calls,
			unsigned int last)
{
	uint64_t until = m->duration_ns ? m->duration_ns : UINT64_MAX;
	uint64_t each = calls ? now / calls + 1 : now + 1;
	uint64_t most = (uint64_t)last * ROUND_GROWTH;
	uint64_t n;

	if (m->duration_ns ? now + each / 2 >= until : calls >= m->iters)
		return 0;
	if (m->interval_ns && next < until)
		until = next;
	n = until == UINT64_MAX ? ROUND_MOST : until > now ? (until - now) / each : 1;
	if (!m->duration_ns && n > m->iters - calls)
		n = m->iters - calls;
	if (n > most)
		n = most;
	return n < 1 ? 1 : n > ROUND_MOST ? ROUND_MOST : (unsigned int)n;
}

/* All ranks learn rank 0's number. */
static int agree(const struct perf_measure *m, bool root, unsigned int *n)
{
	int32_t own = root ? (int32_t)*n : 0, all;
	int ret = rf_allreduce(m->comm, &own, &all, 1, RF_INT32, RF_MAX);

	if (!ret)
		*n = (unsigned int)all;
	return ret;
}

static void report(const struct perf_measure *m, struct part *part, uint64_t end_ns)
{
	struct perf_out_times t;

	if (part->stats.calls) {
		times_of(part, end_ns, &t);
		m->interval(m->arg, &t);
	}
	part->ns = 0;
	perf_stats_reset(&part->stats, m->kept_part);
}

/* Rounds, each as long as rank 0 estimates, until it says that the time is over. */
static int rounds(const struct perf_measure *m, const struct perf_call *c,
		  const struct perf_buffers *b, struct part *all, uint64_t *end_ns)
{
	bool root = rf_comm_rank(m->comm) == 0;
	uint64_t begun = rf_now_ns(), next = m->interval_ns;
	unsigned int n = 1;
	struct part part = {.ns = 0};

	perf_stats_reset(&part.stats, m->kept_part);
	for (;;) {
		uint64_t start = rf_now_ns(), now, each;
		int ret = round_of(m, c, b, n, &all->stats, &part.stats);

		if (ret)
			return ret;
		now = rf_now_ns();
		all->ns += now - start;
		part.ns += now - start;
		now -= begun;
		each = now / all->stats.calls;
		if (root && m->interval_ns && now + each / 2 >= next) {
			report(m, &part, now);
			while (next <= now + each / 2)
				next += m->interval_ns;
		}
		*end_ns = now;
		n = fit(m, now, next, all->stats.calls, n);
		ret = agree(m, root, &n);
		if (ret)
			return ret;
		if (!n)
			break;
	}
	if (root && m->interval_ns)
		report(m, &part, *end_ns);
	return RF_OK;
}

int perf_measure(const struct perf_measure *m, const struct perf_call *c,
		 const struct perf_buffers *b, struct perf_out_times *times)
{
	struct part all = {.ns = 0};
	int ret = perf_measure_warm(m, c, b, m->warmup);

	perf_stats_reset(&all.stats, m->kept);
	if (!ret)
		ret = rf_barrier(m->comm);
	if (ret)
		return ret;
	if (m->duration_ns || m->interval_ns) {
		uint64_t end = 0;

		ret = rounds(m, c, b, &all, &end);
		times_of(&all, end, times);
	} else {
		uint64_t start = rf_now_ns();

		ret = round_of(m, c, b, m->iters, &all.stats, NULL);
		all.ns = rf_now_ns() - start;
		times_of(&all, all.ns, times);
	}
	return ret ? ret : slowest(m->comm, times);
}
