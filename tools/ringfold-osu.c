/*
 * ringfold osu: the latency of one collective call, as a table in the form of the OSU
 * Micro-Benchmarks, for users and scripts that know that one. `ringfold perf` measures more.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/near.h"
#include "base/opt.h"
#include "tools/perf.h"

/* From this size on fewer calls are made, if nothing is said. */
#define LARGE_BYTES 8192u
#define SMALL_ITERATIONS 1000u
#define SMALL_WARMUP 200u
#define LARGE_ITERATIONS 100u
#define LARGE_WARMUP 10u
#define MOST_BYTES (UINT64_C(1) << 30)

struct osu {
	struct perf_call call;
	struct perf_data data;
	const char *title; /* as OSU writes it */
	const char *sizes, *type;
	uint64_t min, max;
	unsigned int iterations, warmup, root; /* 0: by the size */
	bool validate, full, flip;
	struct rf_context *ctx;
	struct rf_comm *comm;
	struct rf_order order;
	unsigned int failed; /* sizes with wrong elements */
};

/* By the names of MPI. */
static const char *const names[] = {"allreduce", "reduce", "bcast",   "reduce_scatter",
				    "allgather", "gather", "scatter", "barrier"};
static const char *const titles[] = {"Allreduce", "Reduce", "Broadcast", "Reduce_scatter",
				     "Allgather", "Gather", "Scatter",   "Barrier"};
#define NAMES (sizeof(names) / sizeof(names[0]))
_Static_assert(NAMES == PERF_KINDS, "a collective has no name");

static int failed(const struct osu *o, const char *what, int status)
{
	fprintf(stderr, "ringfold osu: %s: %s: %s\n", what, rf_strerror(status),
		rf_last_error_text(o->ctx));
	return RF_EXIT_FAILED;
}

/* ---- one size ---- */

static int call_once(const struct osu *o, const struct perf_buffers *b)
{
	struct rf_request *request;
	int ret = perf_start(o->comm, &o->call, b, &request);

	return ret ? ret : rf_wait(request, (unsigned int)-1);
}

/* Each call begins after a barrier. *us: of a call on this rank. */
static int measure(const struct osu *o, const struct perf_buffers *b, unsigned int warmup,
		   unsigned int iterations, double *us)
{
	uint64_t sum = 0;

	for (unsigned int k = 0; k < warmup + iterations; k++) {
		uint64_t begun = rf_now_ns();
		int ret = call_once(o, b);

		if (!ret && k >= warmup)
			sum += rf_now_ns() - begun;
		if (!ret)
			ret = rf_barrier(o->comm);
		if (ret)
			return ret;
	}
	*us = 1e-3 * (double)sum / iterations;
	return RF_OK;
}

/* Compares the result of the last call on all ranks. */
static int validate(struct osu *o, const struct perf_buffers *b, bool *good)
{
	int32_t wrong, all;
	int ret = RF_OK;

	if (b->results && perf_want(&o->data, &o->call, &o->order))
		return RF_ERR_INTERNAL;
	if (o->flip && o->data.rank == 0 && b->results)
		b->result[0] ^= 1;
	wrong = (int32_t)perf_compare(&o->data, &o->call, b);
	ret = rf_allreduce(o->comm, &wrong, &all, 1, RF_INT32, RF_SUM);
	*good = all == 0;
	o->failed += !*good;
	return ret;
}

static void row(const struct osu *o, uint64_t bytes, const double *times, unsigned int iterations,
		bool good)
{
	if (o->call.kind != PERF_BARRIER)
		printf("%-10" PRIu64, bytes);
	printf("%*.2f", o->call.kind == PERF_BARRIER ? 17 : 20, times[0]);
	if (o->full)
		printf("%20.2f%20.2f%12u", times[1], times[2], iterations);
	if (o->validate)
		printf("%20s", good ? "Pass" : "Fail");
	printf("\n");
	fflush(stdout);
}

static int size(struct osu *o, uint64_t bytes)
{
	bool large = bytes > LARGE_BYTES, good = true;
	unsigned int iterations = o->iterations, warmup = o->warmup;
	double own, times[3]; /* mean, least, most of the ranks */
	struct perf_buffers b;
	int ret;

	if (!iterations)
		iterations = large ? LARGE_ITERATIONS : SMALL_ITERATIONS;
	if (warmup == UINT32_MAX)
		warmup = large ? LARGE_WARMUP : SMALL_WARMUP;
	perf_fill(&o->data, &o->call);
	perf_buffers(&o->data, &o->call, &b);
	ret = measure(o, &b, warmup, iterations, &own);
	if (!ret && o->validate)
		ret = validate(o, &b, &good);
	if (!ret)
		ret = rf_allreduce(o->comm, &own, &times[0], 1, RF_FP64, RF_SUM);
	if (!ret)
		ret = rf_allreduce(o->comm, &own, &times[1], 1, RF_FP64, RF_MIN);
	if (!ret)
		ret = rf_allreduce(o->comm, &own, &times[2], 1, RF_FP64, RF_MAX);
	if (ret)
		return failed(o, o->title, ret);
	times[0] /= o->data.ranks;
	if (o->data.rank == 0)
		row(o, bytes, times, iterations, good);
	return 0;
}

/* Elements of the vector or of a block: OSU's size is that of a rank's block, except here. */
static size_t count_of(const struct osu *o, uint64_t bytes)
{
	size_t blocks = o->call.kind == PERF_REDUCE_SCATTER ? o->data.ranks : 1;

	return (size_t)bytes / (rf_type_size(o->call.type) * blocks);
}

static int sizes(struct osu *o)
{
	if (o->call.kind == PERF_BARRIER)
		return size(o, 0);
	for (uint64_t bytes = o->min; bytes <= o->max; bytes *= 2) {
		int ret;

		o->call.count = count_of(o, bytes);
		if (!o->call.count)
			continue;
		ret = size(o, bytes);
		if (ret)
			return ret;
	}
	return 0;
}

/* ---- the run ---- */

static void head(const struct osu *o)
{
	if (o->data.rank)
		return;
	printf("\n# ringfold %s Latency Test, %u rank%s, by %s\n", o->title, o->data.ranks,
	       o->data.ranks == 1 ? "" : "s",
	       o->order.schedule == RF_SCHEDULE_RING ? "the ring" : "the box");
	printf("%s",
	       o->call.kind == PERF_BARRIER ? "# Avg Latency(us)" : "# Size       Avg Latency(us)");
	if (o->full)
		printf("     Min Latency(us)     Max Latency(us)  Iterations");
	if (o->validate)
		printf("          Validation");
	printf("\n");
}

static int run(struct osu *o)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_order order = RF_ORDER_INIT;
	int ret = rf_context_create(NULL, &o->ctx);

	if (ret)
		return failed(o, "device", ret);
	ret = rf_comm_create(o->ctx, &config, &o->comm);
	if (ret)
		return failed(o, "communicator", ret);
	rf_comm_order(o->comm, &order);
	o->order = order;
	o->data.rank = rf_comm_rank(o->comm);
	o->data.ranks = rf_comm_ranks(o->comm);
	o->data.check = o->validate;
	o->data.seed = 1;
	if (o->root >= o->data.ranks) {
		fprintf(stderr, "ringfold osu: --root %u: the last rank is %u\n", o->root,
			o->data.ranks - 1);
		return RF_EXIT_USAGE;
	}
	o->call.root = o->root;
	if (perf_data_create(&o->data, (size_t)o->max * o->data.ranks)) {
		fprintf(stderr, "ringfold osu: no memory for %u buffers of %" PRIu64 " bytes\n",
			o->data.ranks, o->max);
		return RF_EXIT_FAILED;
	}
	head(o);
	ret = sizes(o);
	return ret ? ret : o->failed ? RF_EXIT_WRONG_DATA : RF_EXIT_GOOD;
}

/* ---- options ---- */

/* "MAX" or "MIN:MAX" */
static int read_sizes(struct osu *o)
{
	char first[32];
	size_t length = strcspn(o->sizes, ":");
	const char *last = o->sizes[length] ? o->sizes + length + 1 : o->sizes;

	o->min = rf_type_size(o->call.type);
	snprintf(first, sizeof(first), "%.*s", (int)(length < 31 ? length : 31), o->sizes);
	if (rf_opt_size(last, &o->max) == 0 &&
	    (!o->sizes[length] || rf_opt_size(first, &o->min) == 0) && o->min && o->min <= o->max &&
	    o->max <= MOST_BYTES)
		return 0;
	fprintf(stderr, "ringfold osu: --message-size: \"%s\" is not MAX or MIN:MAX, 1 to 1G\n",
		o->sizes);
	return -1;
}

static int read_call(struct osu *o, const char *word)
{
	static const enum rf_type types[] = {RF_INT8, RF_INT32, RF_FP32, RF_FP64};
	static const char *const words[] = {"mpi_char", "mpi_int", "mpi_float", "mpi_double"};
	const char *near;

	for (unsigned int k = 0; k < 4; k++) {
		if (strcmp(o->type, words[k]) == 0)
			o->call.type = types[k];
	}
	for (unsigned int k = 0; word && k < NAMES; k++) {
		if (strcmp(word, names[k]) == 0) {
			o->call.kind = (enum perf_kind)k;
			o->title = titles[k];
			return 0;
		}
	}
	near = word ? rf_near(word, names, NAMES) : NULL;
	fprintf(stderr,
		"ringfold osu: \"%s\" is none of allreduce, reduce, bcast, reduce_scatter, "
		"allgather, gather, scatter, barrier%s%s%s\n",
		word ? word : "", near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
	return -1;
}

static int parse(struct osu *o, int argc, char **argv)
{
	const struct rf_opt table[] = {
		{RF_OPT_STRING, "message-size", 'm', &o->sizes, "[MIN:]MAX",
		 "sizes, each twice the one before; of a block of\n"
		 "allgather, gather and scatter",
		 NULL},
		{RF_OPT_UINT, "iterations", 'i', &o->iterations, "N",
		 "timed calls of each size; 0: 1000, and 100 of\n"
		 "those above 8 KiB",
		 NULL},
		{RF_OPT_UINT, "warmup", 'x', &o->warmup, "N", "calls before; default: 200, and 10",
		 NULL},
		{RF_OPT_CHOICE, "type", 'T', &o->type, "mpi_char|mpi_int|mpi_float|mpi_double",
		 "of the elements", NULL},
		{RF_OPT_UINT, "root", 0, &o->root, "RANK", "of reduce, bcast, gather, scatter",
		 NULL},
		{RF_OPT_FLAG, "full", 'f', &o->full, NULL,
		 "also least and most of the ranks, and calls", NULL},
		{RF_OPT_FLAG, "validation", 'c', &o->validate, NULL,
		 "compare the results, bit for bit", NULL},
		{RF_OPT_FLAG, "flip", 0, &o->flip, NULL,
		 "flip one bit before the comparison: exit code\n"
		 "must be 3",
		 NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold osu COLLECTIVE [options]",
		"Prints the latency of a collective call (allreduce, reduce, bcast, "
		"reduce_scatter,\n"
		"allgather, gather, scatter, barrier) in the form of the OSU Micro-Benchmarks, "
		"with\n"
		"their letters of options. Run it once for each rank; rank 0 prints. A barrier "
		"comes\n"
		"after each call; the latency is the mean of the ranks.",
		"  ringfold run -n 4 -- ringfold osu allreduce -m 4:64K -i 100 -x 10\n"
		"  ringfold run -n 4 -- ringfold osu bcast -f -c\n"
		"\n"
		"exit codes: 0 good, 1 failed, 2 usage, 3 wrong data",
		table,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n < 0)
		return n;
	if (n + 1 < argc) {
		fprintf(stderr, "ringfold osu takes one argument, not \"%s\"\n", argv[n + 1]);
		return -2;
	}
	return read_call(o, n < argc ? argv[n] : NULL) || read_sizes(o) ? -2 : 0;
}

int main(int argc, char **argv)
{
	static struct osu o = {
		.sizes = "1M",
		.type = "mpi_char",
		.warmup = UINT32_MAX,
		.call = {.op = RF_SUM},
	};
	int ret = parse(&o, argc, argv);

	if (ret)
		return ret == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	ret = run(&o);
	perf_data_free(&o.data);
	rf_comm_destroy(o.comm);
	rf_context_destroy(o.ctx);
	return ret;
}
