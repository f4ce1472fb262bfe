/*
 * ringfold perf: measures the speed of collective calls, by the box and without one, and checks
 * every bit of the results. Prints a table like nccl-tests, CSV or JSON.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "tools/perf_tool.h"

static int failed(struct perf *p, const char *what, int status)
{
	fprintf(stderr, "ringfold perf: %s: %s: %s\n", what, rf_strerror(status),
		rf_last_error_text(p->ctx));
	return RF_EXIT_FAILED;
}

/* ---- rows ---- */

static void on_interval(void *arg, const struct perf_out_times *times)
{
	struct perf *p = arg;

	perf_out_interval(&p->out, &p->row, p->row_in_place, times);
}

/* One call, all of whose result is compared; *wrong is over all ranks. */
static int check_call(struct perf *p, const struct perf_carrier *by, const struct perf_call *c,
		      struct perf_buffers *b, uint64_t *wrong)
{
	int ret = perf_measure_warm(&p->measure, c, b, 1);
	int32_t mine, all;

	*wrong = 0;
	if (ret || p->no_check)
		return ret;
	if (b->results) {
		/* RF_ERR_INVALID would mean that the communicator refused the call */
		if (perf_want(&p->data, c, &by->order))
			return RF_ERR_INTERNAL;
		if (p->flip && p->data.rank == 0)
			b->result[b->results * rf_type_size(c->type) / 2] ^= 1;
	}
	mine = (int32_t)perf_compare(&p->data, c, b);
	ret = rf_allreduce(by->comm, &mine, &all, 1, RF_INT32, RF_SUM);
	*wrong = (uint32_t)all;
	return ret;
}

/* The calls that are not in place leave the same result each time: the last one is compared too. */
static int check_last(struct perf *p, const struct perf_carrier *by, const struct perf_call *c,
		      const struct perf_buffers *b, uint64_t *wrong)
{
	int32_t mine, all;
	int ret;

	if (p->no_check || c->in_place)
		return RF_OK;
	mine = (int32_t)perf_compare(&p->data, c, b);
	ret = rf_allreduce(by->comm, &mine, &all, 1, RF_INT32, RF_SUM);
	if (!ret && *wrong == 0)
		*wrong = (uint32_t)all;
	return ret;
}

/* A row's half. RF_ERR_INVALID: this communicator does not have the call; nothing was started. */
static int side(struct perf *p, const struct perf_carrier *by, struct perf_call *c,
		struct perf_out_side *s)
{
	struct perf_buffers b;
	int ret;

	p->measure.comm = by->comm;
	p->row_in_place = c->in_place;
	perf_buffers(&p->data, c, &b);
	ret = check_call(p, by, c, &b, &s->wrong);
	if (!ret)
		ret = perf_measure(&p->measure, c, &b, &s->times);
	if (!ret)
		ret = check_last(p, by, c, &b, &s->wrong);
	s->run = !ret;
	s->checked = !p->no_check && c->kind != PERF_BARRIER;
	p->wrong += ret ? 0 : s->wrong;
	return ret;
}

static int row(struct perf *p, const struct perf_carrier *by, struct perf_call *c)
{
	const struct perf_about *about = perf_about(c->kind);
	bool barrier = c->kind == PERF_BARRIER;
	char reason[512];
	int ret = RF_OK;

	p->row = (struct perf_out_row){
		.collective = about->name,
		.by = by->by,
		.type = barrier ? "none" : rf_type_name(c->type),
		.op = about->reduces ? rf_op_name(c->op) : "none",
		.root = about->rooted ? (int)c->root : -1,
		.bytes = perf_total(c, p->data.ranks) * rf_type_size(c->type),
		.count = c->count,
		.factor = perf_bus_factor(c->kind, p->data.ranks),
	};
	c->in_place = false;
	if (!p->in_place || barrier)
		ret = side(p, by, c, &p->row.out);
	c->in_place = true;
	if (!ret && !p->out_of_place && !barrier)
		ret = side(p, by, c, &p->row.in);
	if (ret == RF_ERR_INVALID) {
		snprintf(reason, sizeof(reason), "%s", rf_last_error_text(p->ctx));
		p->row.reason = reason;
		p->missing++;
	} else if (ret) {
		return failed(p, about->name, ret);
	} else {
		p->done++;
	}
	if (p->data.rank == 0)
		perf_out_row(&p->out, &p->row);
	p->row.reason = NULL;
	return 0;
}

/* Elements of a call whose vector, or all blocks, have at most so many bytes: one at least. */
static size_t count_of(const struct perf_call *c, uint64_t bytes, unsigned int ranks)
{
	struct perf_call one = {.kind = c->kind, .count = 1};
	size_t count = (size_t)bytes / (rf_type_size(c->type) * perf_total(&one, ranks));

	return count ? count : 1;
}

static int rows(struct perf *p, struct perf_call *c, bool first)
{
	if (first && p->data.rank == 0)
		perf_out_title(&p->out, perf_about(c->kind)->name);
	c->count = 0;
	for (uint64_t bytes = p->min; bytes <= p->max; bytes *= p->factor) {
		size_t count = c->kind == PERF_BARRIER ? 0 : count_of(c, bytes, p->data.ranks);

		if (bytes != p->min && count == c->count)
			continue;
		c->count = count;
		perf_fill(&p->data, c);
		for (unsigned int k = 0; k < p->n_carriers; k++) {
			int ret = row(p, &p->carriers[k], c);

			if (ret)
				return ret;
		}
	}
	return 0;
}

/* Counts what rows() would measure, for --total-seconds. */
static int count_sides(struct perf *p, struct perf_call *c, bool first)
{
	unsigned int each = p->in_place || p->out_of_place || c->kind == PERF_BARRIER ? 1 : 2;
	size_t last = 0;

	(void)first;
	for (uint64_t bytes = p->min; bytes <= p->max; bytes *= p->factor) {
		size_t count = c->kind == PERF_BARRIER ? 0 : count_of(c, bytes, p->data.ranks);

		if (bytes == p->min || count != last)
			p->sides += each * p->n_carriers;
		last = count;
	}
	return 0;
}

/* ---- the run ---- */

static int connect_all(struct perf *p)
{
	static const enum rf_schedule all[] = {RF_SCHEDULE_BOX, RF_SCHEDULE_RING};
	unsigned int k = 0;

	do {
		struct rf_comm_config config = RF_COMM_CONFIG_INIT;
		struct perf_carrier *c = &p->carriers[p->n_carriers];
		struct rf_order order = RF_ORDER_INIT;
		int ret;

		if (p->schedules.mask && !perf_wanted(&p->schedules, k))
			continue;
		if (p->schedules.mask)
			config.schedule = all[k];
		config.slots = p->slots;
		ret = rf_comm_create(p->ctx, &config, &c->comm);
		if (ret)
			return failed(p, "communicator", ret);
		p->n_carriers++;
		rf_comm_order(c->comm, &order);
		c->order = order;
		c->by = order.schedule == RF_SCHEDULE_RING ? "ring" : "box";
	} while (++k < 2 && p->schedules.mask);
	return 0;
}

static int prepare(struct perf *p)
{
	int ret = rf_context_create(NULL, &p->ctx);
	uint64_t room;

	if (ret)
		return failed(p, "device", ret);
	ret = connect_all(p);
	if (ret)
		return ret;
	p->data.rank = rf_comm_rank(p->carriers[0].comm);
	p->data.ranks = p->out.ranks = rf_comm_ranks(p->carriers[0].comm);
	if (p->root != PERF_ALL_ROOTS && p->root >= p->data.ranks) {
		fprintf(stderr, "ringfold perf: --root %u: the last rank is %u\n", p->root,
			p->data.ranks - 1);
		return RF_EXIT_USAGE;
	}
	/* one element for each rank, even if that is more than the largest size */
	room = p->max < 8 * p->data.ranks ? 8 * p->data.ranks : p->max;
	p->data.check = !p->no_check;
	p->measure.kept = malloc(PERF_STATS_KEPT * sizeof(uint64_t));
	p->measure.kept_part = malloc(PERF_STATS_KEPT * sizeof(uint64_t));
	if (perf_data_create(&p->data, (size_t)room) == 0 && p->measure.kept &&
	    p->measure.kept_part)
		return 0;
	fprintf(stderr, "ringfold perf: no memory for buffers of %" PRIu64 " bytes\n", room);
	return RF_EXIT_FAILED;
}

static void begin(struct perf *p)
{
	const struct rf_order *order = &p->carriers[0].order;
	char places[RF_RANKS_MAX * 16];
	size_t n = 0;

	if (p->data.rank)
		return;
	places[0] = '\0';
	for (unsigned int r = 0; order->schedule == RF_SCHEDULE_BOX && r < p->data.ranks; r++)
		n += (size_t)snprintf(places + n, sizeof(places) - n, "%s%u:%u.%u", r ? " " : "", r,
				      order->place[r].port & 255, order->place[r].lane & 255);
	perf_out_begin(&p->out, p->n_carriers > 1 ? "box, ring" : p->carriers[0].by, order->mtu,
		       p->data.seed, n && p->data.ranks > 1 ? places : NULL);
}

static int run(struct perf *p)
{
	int ret = prepare(p);

	if (ret)
		return ret;
	p->measure.duration_ns = p->seconds;
	if (p->total_seconds) {
		perf_visit(p, count_sides);
		p->measure.duration_ns = p->total_seconds / p->sides + 1;
	}
	p->measure.interval = on_interval;
	p->measure.arg = p;
	begin(p);
	ret = perf_visit(p, rows);
	if (ret)
		return ret;
	if (p->data.rank == 0)
		perf_out_end(&p->out, p->wrong, p->missing);
	if (p->wrong)
		return RF_EXIT_WRONG_DATA;
	return p->done ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}

static void leave(struct perf *p)
{
	while (p->n_carriers)
		rf_comm_destroy(p->carriers[--p->n_carriers].comm);
	rf_context_destroy(p->ctx);
	/* of a run that failed */
	json_decref(p->out.head);
	json_decref(p->out.results);
	json_decref(p->out.intervals[0]);
	json_decref(p->out.intervals[1]);
	perf_data_free(&p->data);
	free(p->measure.kept);
	free(p->measure.kept_part);
}

int main(int argc, char **argv)
{
	static struct perf p = {
		.min = 8,
		.max = 1 << 20,
		.factor = 4,
		.root_text = "0",
		.kinds = {.option = "collective", .text = "all-reduce"},
		.types = {.option = "type", .text = "fp32"},
		.ops = {.option = "op", .text = "sum"},
		.schedules = {.option = "schedule"},
		.measure = {.iters = 20, .warmup = 3, .outstanding = 1},
		.data = {.seed = 1},
	};
	int ret = perf_parse(&p, argc, argv);

	if (ret)
		return ret == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	p.out.file = stdout;
	p.out.form = p.json ? PERF_OUT_JSON : p.csv ? PERF_OUT_CSV : PERF_OUT_TABLE;
	ret = run(&p);
	leave(&p);
	return ret;
}
