/*
 * The public interface over the ring, ranks in threads: results, semantics, errors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>
#include <unistd.h>

#include "tests/unit/api_ranks.h"

static uint32_t value(unsigned int rank, unsigned int k)
{
	return (rank + 1) * 1000003u + k * 7919u + (k << 20);
}

/* The sum that everyone must get. */
static uint32_t total(unsigned int ranks, unsigned int k)
{
	uint32_t sum = 0;
	unsigned int r;

	for (r = 0; r < ranks; r++)
		sum += value(r, k);
	return sum;
}

static int sums(struct rank *r)
{
	static const unsigned int counts[] = {1, 2, 255, 256, 257, 5000, 40000, 3};
	unsigned int n = r->all->n;
	uint32_t *send = malloc(40000 * 4), *recv = malloc(40000 * 4);
	struct rf_stats stats = {.size = sizeof(stats)};
	size_t c;
	unsigned int k, bad = 0;

	for (c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
		for (k = 0; k < counts[c]; k++)
			send[k] = value(r->rank, k);
		memset(recv, 0xcc, 40000 * 4);
		EXPECT(r, rf_allreduce(r->comm, send, recv, counts[c], RF_INT32, RF_SUM) == RF_OK);
		for (k = 0; k < counts[c]; k++)
			bad += recv[k] != total(n, k) || send[k] != value(r->rank, k);
		bad += k < 40000 && recv[k] != 0xcccccccc;
		/* the same in place */
		EXPECT(r, rf_allreduce(r->comm, send, send, counts[c], RF_INT32, RF_SUM) == RF_OK);
		for (k = 0; k < counts[c]; k++)
			bad += send[k] != total(n, k);
	}
	EXPECT(r, bad == 0);
	EXPECT(r, rf_stats(r->ctx, &stats) == RF_OK);
	EXPECT(r, stats.calls == 2 * c);
	EXPECT(r, stats.tx_frames > 0 && stats.rx_data > 0 && stats.rx_bad_icrc == 0);
	free(send);
	free(recv);
	return 0;
}

static void run_all(unsigned int n, int (*run)(struct rank *), bool manual)
{
	struct ranks all;

	ranks_init(&all, n, run);
	all.manual = manual;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

static void two_ranks(void **state)
{
	(void)state;
	run_all(2, sums, false);
}

static void five_ranks(void **state)
{
	(void)state;
	run_all(5, sums, false);
}

static void manual_progress(void **state)
{
	(void)state;
	run_all(3, sums, true);
}

/* Twenty different vectors outstanding at once; the waits are in another order than the calls. */
static int outstanding(struct rank *r)
{
	enum { N = 20, MOST = 3000 };
	struct rf_request *req[N];
	uint32_t *buf = malloc(N * MOST * 4);
	unsigned int i, k, bad = 0;

	for (i = 0; i < N; i++) {
		unsigned int count = 1 + i * 149;

		for (k = 0; k < count; k++)
			buf[i * MOST + k] = value(r->rank, k + i);
		EXPECT(r, rf_iallreduce(r->comm, buf + i * MOST, buf + i * MOST, count, RF_INT32,
					RF_SUM, &req[i]) == RF_OK);
	}
	for (i = 0; i < N; i++) {
		unsigned int at = (i * 7) % N;
		unsigned int count = 1 + at * 149;
		int ret;

		if (i & 1)
			while ((ret = rf_test(req[at])) == RF_IN_PROGRESS)
				rf_progress(r->ctx, 100);
		else
			while ((ret = rf_wait(req[at], 1)) == RF_IN_PROGRESS)
				;
		EXPECT(r, ret == RF_OK);
		for (k = 0; k < count; k++)
			bad += buf[at * MOST + k] != total(r->all->n, k + at);
	}
	EXPECT(r, bad == 0);
	free(buf);
	return 0;
}

static void many_outstanding(void **state)
{
	(void)state;
	run_all(4, outstanding, false);
	run_all(2, outstanding, true);
}

static bool has(enum rf_type type, enum rf_op op)
{
	bool floating = type == RF_FP32 || type == RF_BF16 || type == RF_FP16 || type == RF_FP64;

	return op <= RF_MAX || (op == RF_AVERAGE ? floating : op <= RF_XOR && !floating);
}

/* Every type and operation, with values that round and overflow: equal to the order of additions.
 */
static int all_types(struct rank *r)
{
	enum { COUNT = 1777 };
	struct rf_order order = RF_ORDER_INIT;
	uint8_t *in[RANKS], *want = malloc(COUNT * 8), *got = malloc(COUNT * 8);
	unsigned int type, op, k, i;

	for (k = 0; k < r->all->n; k++)
		in[k] = malloc(COUNT * 8);
	for (type = RF_FP32; type <= RF_UINT8; type++) {
		for (op = RF_SUM; op <= RF_AVERAGE; op++) {
			size_t bytes = COUNT * rf_type_size((enum rf_type)type);

			if (!has((enum rf_type)type, (enum rf_op)op))
				continue;
			for (k = 0; k < r->all->n; k++) {
				uint64_t x = 88172645463325252u + k * 977 + type * 31 + op;

				for (i = 0; i < bytes; i++) {
					x ^= x << 13;
					x ^= x >> 7;
					x ^= x << 17;
					in[k][i] = (uint8_t)x;
				}
			}
			EXPECT(r, rf_allreduce(r->comm, in[r->rank], got, COUNT, (enum rf_type)type,
					       (enum rf_op)op) == RF_OK);
			EXPECT(r, rf_comm_order(r->comm, &order) == RF_OK);
			EXPECT(r, order.schedule == r->all->schedule);
			EXPECT(r, rf_order_apply(&order, (enum rf_type)type, (enum rf_op)op,
						 (const void *const *)in, want, COUNT) == RF_OK);
			EXPECT(r, memcmp(want, got, bytes) == 0);
		}
	}
	for (k = 0; k < r->all->n; k++)
		free(in[k]);
	free(want);
	free(got);
	return 0;
}

static void types_and_operations(void **state)
{
	(void)state;
	run_all(4, all_types, false);
	run_all(3, all_types, false);
}

/* Loses, repeats and swaps frames; deterministic for one order of transmission. */
static void lossy(void *arg, unsigned int from, const uint8_t *frame, uint32_t len)
{
	static uint64_t x = 88172645463325252u;
	struct rf_io_hub *hub = arg;
	int to = rf_io_hub_find(hub, frame);

	(void)from;
	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	if (to < 0 || x % 100 < 4)
		return;
	rf_io_hub_deliver(hub, (unsigned int)to, frame, len);
	if (x % 100 > 96)
		rf_io_hub_deliver(hub, (unsigned int)to, frame, len);
}

static void lost_frames(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 3, sums);
	rf_io_hub_set_box(all.hub, lossy, all.hub);
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* One rank alone: a copy, with neither device nor store. */
static void one_rank(void **state)
{
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	struct rf_request *req;
	uint32_t a[3] = {0x7f800001, 2, 3}, b[3] = {0};
	struct rf_stats stats = {.size = sizeof(stats)};

	(void)state;
	assert_int_equal(rf_context_create(NULL, &ctx), RF_OK);
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), RF_OK);
	assert_int_equal(rf_comm_ranks(comm), 1);
	assert_int_equal(rf_allreduce(comm, a, b, 3, RF_FP32, RF_SUM), RF_OK);
	assert_memory_equal(a, b, 12);
	assert_int_equal(rf_allreduce(comm, a, a, 3, RF_FP32, RF_SUM), RF_OK);
	assert_int_equal(rf_iallreduce(comm, a, b, 3, RF_FP32, RF_SUM, &req), RF_OK);
	assert_int_equal(rf_test(req), RF_OK);
	assert_int_equal(rf_allreduce(comm, a, b, 0, RF_FP32, RF_SUM), RF_OK);
	assert_int_equal(rf_barrier(comm), RF_OK);
	assert_int_equal(rf_progress(ctx, 1000), RF_IN_PROGRESS);
	assert_int_equal(rf_stats(ctx, &stats), RF_OK);
	assert_int_equal(stats.calls, 5);
	assert_int_equal(stats.call_bytes, 36);
	assert_int_equal(rf_comm_abort(comm), RF_OK);
	assert_int_equal(rf_allreduce(comm, a, b, 3, RF_FP32, RF_SUM), RF_ERR_GROUP_FAILED);
	assert_int_equal(rf_comm_destroy(comm), RF_OK);
	assert_int_equal(rf_context_destroy(ctx), RF_OK);
	assert_int_equal(rf_context_destroy(NULL), RF_OK);
}

/* An order states how much of it the caller has: nothing beyond is written or read. */
static void order_size(void)
{
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	struct rf_order order = RF_ORDER_INIT;
	const size_t least = offsetof(struct rf_order, place) + sizeof(order.place[0]);
	const uint32_t a = 5;
	const void *inputs[2] = {&a, &a};
	uint32_t sum = 0;

	assert_int_equal(rf_context_create(NULL, &ctx), RF_OK);
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), RF_OK);
	order.size = least;
	order.place[1].lane = 99;
	assert_int_equal(rf_comm_order(comm, &order), RF_OK);
	assert_int_equal(order.size, least);
	assert_int_equal(order.ranks, 1);
	assert_int_equal(order.place[1].lane, 99);
	order.size = least - 1;
	assert_int_equal(rf_comm_order(comm, &order), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(ctx), "order.size"));
	assert_int_equal(rf_comm_order(comm, NULL), RF_ERR_INVALID);
	order.size = least;
	order.schedule = RF_SCHEDULE_RING;
	order.ranks = 2;
	assert_int_equal(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &sum, 1), RF_ERR_INVALID);
	order.size = sizeof(order);
	assert_int_equal(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &sum, 1), RF_OK);
	assert_int_equal(sum, 10);
	order.size = 0;
	assert_int_equal(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &sum, 1), RF_ERR_INVALID);
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
}

/* A caller built with an older header: its shorter structs are accepted. */
static void older_caller(void **state)
{
	struct rf_context *ctx = NULL;
	struct {
		size_t size;
		uint64_t calls;
		uint64_t guard;
	} old = {.size = 16, .calls = 77, .guard = 99};
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;

	(void)state;
	config.size = offsetof(struct rf_context_config, dpdk_args);
	config.mtu = 7; /* beyond the size that the caller states: ignored */
	assert_int_equal(rf_context_create(&config, &ctx), RF_OK);
	assert_int_equal(rf_stats(ctx, (struct rf_stats *)&old), RF_OK);
	assert_int_equal(old.size, 16);
	assert_int_equal(old.calls, 0);
	assert_int_equal(old.guard, 99);
	rf_context_destroy(ctx);
	order_size();
	config.size = sizeof(config);
	assert_int_equal(rf_context_create(&config, &ctx), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(NULL), "MTU 7"));
}

/* Idle ranks use almost no processor time. */
static int idles(struct rank *r)
{
	struct rf_stats before = {.size = sizeof(before)}, after = {.size = sizeof(after)};

	usleep(50000);
	rf_stats(r->ctx, &before);
	usleep(500000);
	rf_stats(r->ctx, &after);
	/* the store is read fifty times a second; the loop device interrupts */
	EXPECT(r, after.sleeps - before.sleeps < 100);
	EXPECT(r, rank_meet(r) == RF_OK);
	return 0;
}

static void sleeps_when_idle(void **state)
{
	(void)state;
	run_all(2, idles, false);
}

static void texts(void **state)
{
	int s;

	(void)state;
	for (s = RF_ERR_INTERNAL; s <= RF_IN_PROGRESS; s++)
		assert_string_not_equal(rf_strerror(s), "unknown status");
	assert_string_equal(rf_strerror(RF_ERR_INTERNAL - 1), "unknown status");
	assert_string_equal(rf_version(), "0.2.0");
	assert_string_equal(rf_type_name(RF_BF16), "bf16");
	assert_string_equal(rf_type_name(RF_UINT8), "uint8");
	assert_string_equal(rf_type_name((enum rf_type)10), "unknown");
	assert_string_equal(rf_op_name(RF_MAX), "max");
	assert_string_equal(rf_op_name(RF_AVERAGE), "average");
	assert_string_equal(rf_op_name((enum rf_op)6), "unknown");
	assert_int_equal(rf_type_size(RF_FP16), 2);
	assert_int_equal(rf_type_size(RF_FP64), 8);
	assert_int_equal(rf_type_size((enum rf_type)10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts),
		cmocka_unit_test(one_rank),
		cmocka_unit_test(older_caller),
		cmocka_unit_test(two_ranks),
		cmocka_unit_test(five_ranks),
		cmocka_unit_test(manual_progress),
		cmocka_unit_test(many_outstanding),
		cmocka_unit_test(types_and_operations),
		cmocka_unit_test(lost_frames),
		cmocka_unit_test(sleeps_when_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
