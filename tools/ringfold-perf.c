/*
 * ringfold perf: measures the speed of all-reduces and checks every bit of the results. Prints a
 * table like nccl-tests.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/opt.h"
#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

struct perf {
	uint64_t min, max;
	unsigned int factor, iters, warmup, outstanding, slots;
	uint64_t seed;
	const char *type_text, *op_text, *schedule_text;
	bool json, in_place, no_check, flip;
	struct rf_context *ctx;
	struct rf_comm *comm;
	unsigned int rank, ranks;
	uint8_t *inputs[RF_RANKS_MAX];
	uint8_t *want, *recv;
	json_t *results;
	uint64_t wrong; /* over all ranks and rows */
};

static int failed(struct perf *p, const char *what, int status)
{
	fprintf(stderr, "ringfold perf: %s: %s: %s\n", what, rf_strerror(status),
		rf_last_error_text(p->ctx));
	return RF_EXIT_FAILED;
}

static double now(void)
{
	return 1e-9 * (double)rf_now_ns();
}

/*
 * One element. Most floats lie between 2^-8 and 2^8 with random fractions, so that every sum
 * rounds. One in 64 has a random bit pattern: infinities, NaN, subnormals.
 */
static uint32_t element(enum rf_type type, uint64_t random)
{
	uint32_t r = (uint32_t)random;
	bool wild = (random >> 58) == 0;
	uint32_t exponent = (uint32_t)(random >> 32) & 15;

	switch (type) {
	case RF_FP32:
		return wild ? r : (r & 0x807fffff) | (119 + exponent) << 23;
	case RF_BF16:
		return wild ? r & 0xffff : (r & 0x807f) | (119 + exponent) << 7;
	case RF_FP16:
		return wild ? r & 0xffff : (r & 0x83ff) | (7 + exponent) << 10;
	default:
		break;
	}
	return r;
}

static void fill(struct perf *p, enum rf_type type, size_t count, unsigned int rank)
{
	uint64_t start = rf_rng_mix(RF_RNG_STEP + p->seed * 131 + rank) + count;
	size_t k;

	for (k = 0; k < count; k++) {
		uint32_t v = element(type, rf_rng_mix(RF_RNG_STEP + start + k));

		if (rf_type_size(type) == 4)
			rf_put_le32(p->inputs[rank] + 4 * k, v);
		else
			rf_put_le16(p->inputs[rank] + 2 * k, (uint16_t)v);
	}
}

/* Number of elements of the result that differ in any bit. */
static uint64_t compare(struct perf *p, enum rf_type type, size_t count)
{
	size_t size = rf_type_size(type);
	uint64_t wrong = 0;
	size_t k;

	if (memcmp(p->recv, p->want, count * size) == 0)
		return 0;
	for (k = 0; k < count; k++) {
		if (memcmp(p->recv + k * size, p->want + k * size, size) == 0)
			continue;
		if (wrong++ == 0)
			fprintf(stderr,
				"ringfold perf: rank %u: element %zu of %zu (%s) is %0*" PRIx32
				", must be %0*" PRIx32 "\n",
				p->rank, k, count, rf_type_name(type), (int)(2 * size),
				size == 4 ? rf_get_le32(p->recv + 4 * k)
					  : rf_get_le16(p->recv + 2 * k),
				(int)(2 * size),
				size == 4 ? rf_get_le32(p->want + 4 * k)
					  : rf_get_le16(p->want + 2 * k));
	}
	return wrong;
}

/* Runs `n` all-reduces, p->outstanding at a time, and waits for all. */
static int run_many(struct perf *p, enum rf_type type, enum rf_op op, size_t count, unsigned int n)
{
	struct rf_request *requests[RF_REQUESTS_MAX];
	unsigned int started = 0, done = 0;
	const void *send = p->in_place ? p->recv : p->inputs[p->rank];

	while (done < n) {
		int ret;

		while (started < n && started - done < p->outstanding) {
			ret = rf_iallreduce(p->comm, send, p->recv, count, type, op,
					    &requests[started % RF_REQUESTS_MAX]);
			if (ret)
				return ret;
			started++;
		}
		ret = rf_wait(requests[done % RF_REQUESTS_MAX], (unsigned int)-1);
		if (ret)
			return ret;
		done++;
	}
	return RF_OK;
}

/* Runs one all-reduce and compares all of it; *wrong is over all ranks. */
static int run_checked(struct perf *p, const struct rf_order *order, enum rf_type type,
		       enum rf_op op, size_t count, uint64_t *wrong)
{
	size_t bytes = count * rf_type_size(type);
	const void *send = p->inputs[p->rank];
	const void *inputs[RF_RANKS_MAX];
	int32_t mine, all;
	unsigned int r;
	int ret;

	*wrong = 0;
	for (r = 0; r < p->ranks; r++) {
		inputs[r] = p->inputs[r];
		fill(p, type, count, r);
	}
	if (p->in_place) {
		memcpy(p->recv, send, bytes);
		send = p->recv;
	} else {
		memset(p->recv, 0xee, bytes);
	}
	ret = rf_allreduce(p->comm, send, p->recv, count, type, op);
	if (ret || p->no_check)
		return ret;
	ret = rf_order_apply(order, type, op, inputs, p->want, count);
	if (ret)
		return ret;
	if (p->flip && p->rank == 0)
		p->recv[bytes / 2] ^= 1;
	mine = (int32_t)compare(p, type, count);
	ret = rf_allreduce(p->comm, &mine, &all, 1, RF_INT32, RF_SUM);
	*wrong = (uint32_t)all;
	return ret;
}

static void row(struct perf *p, enum rf_type type, enum rf_op op, size_t count, double seconds,
		uint64_t wrong)
{
	size_t bytes = count * rf_type_size(type);
	double bandwidth = seconds > 0 ? (double)bytes / seconds * 1e-9 : 0;
	char text[24];

	if (p->rank)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, wrong);
	if (p->json) {
		json_array_append_new(
			p->results,
			json_pack("{s:I, s:I, s:s, s:s, s:f, s:f, s:o}", "bytes", (json_int_t)bytes,
				  "count", (json_int_t)count, "type", rf_type_name(type), "op",
				  rf_op_name(op), "time_us", seconds * 1e6, "algbw_GBps", bandwidth,
				  "wrong",
				  p->no_check ? json_null() : json_integer((json_int_t)wrong)));
		return;
	}
	printf("%12zu %12zu %6s %4s %12.1f %10.4f %8s\n", bytes, count, rf_type_name(type),
	       rf_op_name(op), seconds * 1e6, bandwidth, p->no_check ? "-" : text);
	fflush(stdout);
}

static int sizes(struct perf *p, enum rf_type type, enum rf_op op)
{
	struct rf_order order = RF_ORDER_INIT;
	uint64_t bytes;
	int ret;

	rf_comm_order(p->comm, &order);
	for (bytes = p->min; bytes <= p->max; bytes *= p->factor) {
		size_t count = (size_t)bytes / rf_type_size(type);
		uint64_t wrong;
		double start;

		ret = run_checked(p, &order, type, op, count, &wrong);
		if (!ret)
			ret = run_many(p, type, op, count, p->warmup);
		if (!ret)
			ret = rf_barrier(p->comm);
		start = now();
		if (!ret)
			ret = run_many(p, type, op, count, p->iters);
		if (ret)
			return failed(p, "all-reduce", ret);
		row(p, type, op, count, (now() - start) / p->iters, wrong);
		p->wrong += wrong;
	}
	return RF_EXIT_GOOD;
}

static void header(struct perf *p)
{
	struct rf_order order = RF_ORDER_INIT;
	unsigned int r;

	rf_comm_order(p->comm, &order);
	if (p->rank || p->json)
		return;
	printf("# ringfold %s  ranks %u  schedule %s  mtu %u  seed %" PRIu64 "\n", rf_version(),
	       p->ranks, order.schedule == RF_SCHEDULE_RING ? "ring" : "box", order.mtu, p->seed);
	if (order.schedule == RF_SCHEDULE_BOX && p->ranks > 1) {
		printf("# places (port.lane)");
		for (r = 0; r < p->ranks; r++)
			printf(" %u:%u.%u", r, order.place[r].port, order.place[r].lane);
		putchar('\n');
	}
	printf("%12s %12s %6s %4s %12s %10s %8s\n", "size (B)", "count", "type", "op", "time (us)",
	       "algbw GB/s", "wrong");
}

static const enum rf_type types[] = {RF_FP32, RF_BF16, RF_FP16, RF_INT32};

static bool wanted(const struct perf *p, enum rf_type type)
{
	return strcmp(p->type_text, "all") == 0 || strcmp(p->type_text, rf_type_name(type)) == 0;
}

static int calls(struct perf *p)
{
	static const enum rf_op ops[] = {RF_SUM, RF_MIN, RF_MAX};
	size_t t, o;

	header(p);
	for (t = 0; t < 4; t++) {
		if (!wanted(p, types[t]))
			continue;
		for (o = 0; o < 3; o++) {
			int ret;

			if (strcmp(p->op_text, "all") != 0 &&
			    strcmp(p->op_text, rf_op_name(ops[o])) != 0)
				continue;
			ret = sizes(p, types[t], ops[o]);
			if (ret)
				return ret;
		}
	}
	return RF_EXIT_GOOD;
}

static int prepare(struct perf *p)
{
	struct rf_comm_config comm = RF_COMM_CONFIG_INIT;
	size_t room = (p->max + 67) & ~(size_t)63;
	unsigned int r;
	int ret = rf_context_create(NULL, &p->ctx);

	if (ret)
		return failed(p, "device", ret);
	if (strcmp(p->schedule_text, "default") != 0)
		comm.schedule =
			strcmp(p->schedule_text, "ring") == 0 ? RF_SCHEDULE_RING : RF_SCHEDULE_BOX;
	comm.slots = p->slots;
	ret = rf_comm_create(p->ctx, &comm, &p->comm);
	if (ret)
		return failed(p, "communicator", ret);
	p->rank = rf_comm_rank(p->comm);
	p->ranks = rf_comm_ranks(p->comm);
	p->want = aligned_alloc(64, room);
	p->recv = aligned_alloc(64, room);
	for (r = 0; r < p->ranks; r++)
		if (!(p->inputs[r] = aligned_alloc(64, room)))
			break;
	if (r == p->ranks && p->want && p->recv)
		return RF_EXIT_GOOD;
	fprintf(stderr, "ringfold perf: no memory for buffers of %" PRIu64 " bytes\n", p->max);
	return RF_EXIT_FAILED;
}

static void footer(struct perf *p)
{
	json_t *all;

	if (p->rank)
		return;
	if (!p->json) {
		printf("# wrong elements: %" PRIu64 "\n", p->wrong);
		return;
	}
	all = json_pack("{s:s, s:i, s:O, s:I}", "version", rf_version(), "ranks", (int)p->ranks,
			"results", p->results, "wrong", (json_int_t)p->wrong);
	json_dumpf(all, stdout, JSON_INDENT(2));
	putchar('\n');
	json_decref(all);
}

static void leave(struct perf *p)
{
	unsigned int r;

	rf_comm_destroy(p->comm);
	rf_context_destroy(p->ctx);
	for (r = 0; r < p->ranks; r++)
		free(p->inputs[r]);
	free(p->want);
	free(p->recv);
	json_decref(p->results);
}

static int parse(struct perf *p, int argc, char **argv)
{
	const struct rf_opt table[] = {
		{RF_OPT_SIZE, "min", 0, &p->min, "BYTES", "smallest vector", NULL},
		{RF_OPT_SIZE, "max", 0, &p->max, "BYTES", "largest vector", NULL},
		{RF_OPT_UINT, "factor", 'f', &p->factor, "N", "factor from one size to the next",
		 NULL},
		{RF_OPT_UINT, "iters", 0, &p->iters, "N", "timed calls per size", NULL},
		{RF_OPT_UINT, "warmup", 0, &p->warmup, "N", "warm-up calls", NULL},
		{RF_OPT_UINT, "outstanding", 0, &p->outstanding, "N", "outstanding calls", NULL},
		{RF_OPT_UINT, "slots", 0, &p->slots, "N",
		 "slots requested from the box", NULL},
		{RF_OPT_CHOICE, "type", 0, &p->type_text, "fp32|bf16|fp16|int32|all", "data type",
		 NULL},
		{RF_OPT_CHOICE, "op", 0, &p->op_text, "sum|min|max|all", "operation", NULL},
		{RF_OPT_CHOICE, "schedule", 0, &p->schedule_text, "default|box|ring",
		 "who adds; default: RF_SCHEDULE, else the box", NULL},
		{RF_OPT_U64, "seed", 0, &p->seed, "N", "seed of the data", NULL},
		{RF_OPT_FLAG, "in-place", 0, &p->in_place, NULL, "send buffer = receive buffer",
		 NULL},
		{RF_OPT_FLAG, "no-check", 0, &p->no_check, NULL, "do not check the results", NULL},
		{RF_OPT_FLAG, "flip", 0, &p->flip, NULL,
		 "flip one bit before the comparison: exit code must be 3", NULL},
		{RF_OPT_FLAG, "json", 'j', &p->json, NULL,
		 "print one JSON object instead of the table", NULL},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {
		"ringfold perf [options]",
		"Times all-reduces of growing size, and compares one of each size, bit for bit, "
		"with\n"
		"the result computed in the communicator's order of additions. Run it once for each rank; "
		"rank 0 prints. "
		"Rank,\n"
		"device and box come from the environment: see docs/api.md.\n"
		"\n"
		"algbw: bytes of the vector / time. wrong: elements that differ, over all ranks.",
		"  RF_RANK=0 RF_SIZE=2 RF_DEVICE=net_af_packet0,iface=eth1 ringfold perf\n"
		"  mpirun -x RF_DEVICE -x RF_ROOT ringfold perf --max 16M --type all\n"
		"\n"
		"exit codes: 0 good, 1 failed, 2 usage, 3 wrong data",
		table,
	};
	int n = rf_opt_parse(&page, argc, argv);

	if (n < 0)
		return n;
	if (n < argc) {
		fprintf(stderr, "ringfold perf takes no argument \"%s\"\n", argv[n]);
		return -2;
	}
	if (p->min > p->max || p->factor < 2 || !p->outstanding || !p->iters ||
	    p->outstanding > RF_REQUESTS_MAX || p->max > UINT64_C(1) << 32) {
		fprintf(stderr,
			"ringfold perf: --min <= --max <= 4G, --factor >= 2, --iters >= 1, 1 <= "
			"--outstanding <= %u\n",
			RF_REQUESTS_MAX);
		return -2;
	}
	for (size_t t = 0; t < 4; t++) {
		if (!wanted(p, types[t]) || p->min >= rf_type_size(types[t]))
			continue;
		fprintf(stderr,
			"ringfold perf: --min %" PRIu64 ": an element of %s has %zu bytes\n",
			p->min, rf_type_name(types[t]), rf_type_size(types[t]));
		return -2;
	}
	return 0;
}

int main(int argc, char **argv)
{
	struct perf p = {
		.min = 4,
		.max = 1 << 20,
		.factor = 4,
		.iters = 20,
		.warmup = 3,
		.outstanding = 1,
		.slots = 256,
		.seed = 1,
		.type_text = "fp32",
		.op_text = "sum",
		.schedule_text = "default",
	};
	int ret = parse(&p, argc, argv);

	if (ret)
		return ret == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	p.results = json_array();
	ret = prepare(&p);
	if (!ret)
		ret = calls(&p);
	if (!ret)
		footer(&p);
	leave(&p);
	return ret ? ret : p.wrong ? RF_EXIT_WRONG_DATA : RF_EXIT_GOOD;
}
