/*
 * All collectives of a directed group: each type and operation, 1 to 8 ranks, mirror and ring,
 * single packets and long messages, over perfect and bad wires. Every bit is compared.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/directed_net.h"

#define SECOND UINT64_C(1000000000)

static struct directed net;

static struct directed_cfg cfg_of(uint32_t ranks, unsigned int way)
{
	struct directed_cfg c = {.ranks = ranks, .mtu = 256};

	c.mirror = way < 3;
	c.selective = way == 0;
	c.message_packets = way == 2 || way == 4 ? 5 : 0;
	return c;
}

#define WAYS 5u /* mirror selective, mirror plain, mirror long, ring single, ring long */

static void finish(struct directed *d, const char *what)
{
	if (!directed_run(d, 60 * SECOND))
		fail_msg("%s: not done", what);
	if (d->error)
		fail_msg("%s: the box says %s", what, d->error);
	for (uint32_t r = 0; r < d->cfg.ranks; r++) {
		assert_int_equal(d->status[r], RF_COLL_OK);
		assert_int_equal(d->done[r], d->works);
	}
	assert_int_equal(directed_wrong(d), 0);
	directed_end(d);
}

static void every_call(uint32_t ranks, enum rf_arith_type type, unsigned int way,
		       struct roce_random *rng)
{
	struct directed_cfg c = cfg_of(ranks, way);

	c.type = type;
	directed_start(&net, &c, roce_random_seed(roce_random(rng)));
	for (unsigned int kind = 1; kind <= RF_SCHEDULE_BARRIER; kind++) {
		enum rf_collective_kind k = (enum rf_collective_kind)kind;
		unsigned int ops = rf_schedule_reduces(k) ? RF_ARITH_COPY : 1;

		for (unsigned int op = 0; op < ops; op++) {
			uint32_t root = roce_random_below(rng, ranks);
			uint32_t count = roce_random_below(rng, 700);

			if (rf_arith_has(type, (enum rf_arith_op)op))
				directed_add(&net, k, type, (enum rf_arith_op)op, root, count,
					     roce_random_below(rng, 3) == 0,
					     roce_random_below(rng, 2));
		}
	}
	finish(&net, "every call");
}

/* Every kind, type and operation, in groups of 1 to 8 ranks, each way. */
static void everything(void **state)
{
	struct roce_random rng = roce_random_start("directed_test");

	(void)state;
	for (uint32_t ranks = 1; ranks <= 8; ranks++)
		for (unsigned int t = 0; t < RF_ARITH_TYPES; t++)
			for (unsigned int way = 0; way < WAYS; way++)
				every_call(ranks, (enum rf_arith_type)t, way, &rng);
}

/* Each way over wires that lose, double and delay. */
static void bad_wires(void **state)
{
	struct roce_random rng = roce_random_start("directed_test");

	(void)state;
	for (unsigned int way = 0; way < WAYS; way++) {
		for (unsigned int run = 0; run < 6; run++) {
			struct directed_cfg c = cfg_of(2 + roce_random_below(&rng, 4), way);

			c.max_ops = 1 + run % 3;
			c.first_index = run == 0 ? 0 : 0xfffff0 + run;
			directed_start(&net, &c, roce_random_seed(roce_random(&rng)));
			net.net.loss = run % 2 ? 30 : 100;
			net.net.duplicate = run % 3 ? 20 : 0;
			net.net.reorder = run % 3 == 1 ? 50 : 0;
			for (unsigned int k = 0; k < 16; k++)
				directed_add(&net, (enum rf_collective_kind)(1 + k % 8),
					     RF_ARITH_INT32, RF_ARITH_SUM,
					     roce_random_below(&rng, c.ranks),
					     roce_random_below(&rng, 2000), k > 7, run % 2);
			finish(&net, "bad wires");
		}
	}
}

/* Some ranks use long messages, the others single packets. The transport cannot tell. */
static void lengths_may_be_mixed(void **state)
{
	struct directed_cfg c = cfg_of(3, 2);
	struct rf_directed_cfg single = {.rank = 1, .ranks = 3, .next = 1, .prev = 1, .mtu = 256};

	(void)state;
	directed_start(&net, &c, roce_random_seed(7));
	rf_directed_destroy(net.group[1]);
	single.to_next = rf_msg_qp(net.to_next[1]);
	single.from_prev = rf_msg_qp(net.from_prev[1]);
	assert_int_equal(rf_directed_create(&single, &net.group[1]), RF_COLL_OK);
	directed_add(&net, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP32, RF_ARITH_SUM, 0, 3000, false,
		     false);
	finish(&net, "mixed");
}

/* One packet for each index, a result for each that wants it, an empty one for each other. */
static void packets_are_counted(void **state)
{
	static const struct {
		enum rf_collective_kind kind;
		uint64_t results, empties; /* for blocks of 4 packets */
	} rows[] = {
		{RF_SCHEDULE_ALL_REDUCE, 16, 0},  {RF_SCHEDULE_REDUCE, 4, 12},
		{RF_SCHEDULE_BROADCAST, 12, 4},   {RF_SCHEDULE_REDUCE_SCATTER, 16, 48},
		{RF_SCHEDULE_ALL_GATHER, 48, 16}, {RF_SCHEDULE_GATHER, 12, 36},
		{RF_SCHEDULE_SCATTER, 12, 36},    {RF_SCHEDULE_BARRIER, 0, 4},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct directed_cfg c = cfg_of(4, 0);

		directed_start(&net, &c, roce_random_seed(k));
		directed_add(&net, rows[k].kind, RF_ARITH_INT8, RF_ARITH_MAX, 2, 1024, false,
			     false);
		assert_int_equal(directed_run(&net, SECOND), 1);
		assert_int_equal(net.results, rows[k].results);
		assert_int_equal(net.empties, rows[k].empties);
		finish(&net, rf_schedule_name(rows[k].kind));
	}
}

static void a_wrong_bit_is_counted(void **state)
{
	struct directed_cfg c = cfg_of(2, 0);

	(void)state;
	directed_start(&net, &c, roce_random_seed(1));
	directed_add(&net, RF_SCHEDULE_SCATTER, RF_ARITH_INT8, RF_ARITH_SUM, 0, 300, false, false);
	assert_int_equal(directed_run(&net, SECOND), 1);
	((uint8_t *)net.work[0].recv[1])[299] ^= 1;
	assert_int_equal(directed_wrong(&net), 1);
	directed_end(&net);
}

/* On a mirror connection a call is done although no ACK has come back; in a ring it is not. */
static void results_suffice(void **state)
{
	(void)state;
	for (unsigned int way = 0; way < 4; way += 3) {
		struct directed_cfg c = cfg_of(3, way);

		directed_start(&net, &c, roce_random_seed(way));
		net.drop_acks = true;
		/* Half a window: more needs ACKs. */
		directed_add(&net, RF_SCHEDULE_BROADCAST, RF_ARITH_UINT8, RF_ARITH_SUM, 1, 8 * 256,
			     false, false);
		assert_int_equal(directed_run(&net, SECOND / 100), way == 0);
		assert_int_equal(directed_wrong(&net), 0);
		if (way == 0)
			assert_int_equal(roce_qp_send_idle(net.to_next[0]), 0);
		net.drop_acks = false;
		finish(&net, "results suffice");
	}
}

/* A wrong bit in what comes back: another call's, or another rank's wish. */
static void a_wrong_immediate_is_found(void **state)
{
	(void)state;
	for (unsigned int bit = 0; bit < 32; bit++) {
		struct directed_cfg c = cfg_of(3, bit % 2 ? 0 : 3);
		struct rf_directed_failure f;
		unsigned int failed = 0;

		directed_start(&net, &c, roce_random_seed(bit));
		net.flip = 1u << bit;
		directed_add(&net, RF_SCHEDULE_REDUCE, RF_ARITH_INT64, RF_ARITH_XOR, 1, 40, false,
			     false);
		assert_int_equal(directed_run(&net, SECOND), 1);
		for (uint32_t r = 0; r < 3; r++) {
			if (net.status[r] != RF_COLL_E_IMMEDIATE)
				continue;
			rf_directed_failure(net.group[r], &f);
			assert_int_equal(f.got ^ f.want, 1u << bit);
			assert_int_equal(f.index, 0);
			assert_int_equal(f.channel, 1);
			failed++;
		}
		assert_int_equal(failed, 1);
		directed_end(&net);
	}
}

/* Ranks that make different calls: the box finds them by the hash, the kind or the length. */
static void different_calls_are_found(void **state)
{
	static const struct {
		struct rf_directed_call other;
		const char *says;
	} rows[] = {
		{{RF_SCHEDULE_ALL_REDUCE, RF_ARITH_INT32, RF_ARITH_SUM, 0, 64, NULL, NULL, NULL, 0},
		 NULL},
		{{RF_SCHEDULE_ALL_REDUCE, RF_ARITH_INT32, RF_ARITH_MIN, 0, 64, NULL, NULL, NULL, 0},
		 "disagree: type or operation"},
		{{RF_SCHEDULE_ALL_REDUCE, RF_ARITH_UINT32, RF_ARITH_SUM, 0, 64, NULL, NULL, NULL,
		  0},
		 "disagree: type or operation"},
		{{RF_SCHEDULE_ALL_REDUCE, RF_ARITH_INT32, RF_ARITH_SUM, 0, 60, NULL, NULL, NULL, 0},
		 "disagree: tag"},
		{{RF_SCHEDULE_REDUCE, RF_ARITH_INT32, RF_ARITH_SUM, 0, 64, NULL, NULL, NULL, 0},
		 "disagree: tag"},
		{{RF_SCHEDULE_ALL_REDUCE, RF_ARITH_INT32, RF_ARITH_SUM, 0, 64, NULL, NULL, NULL, 1},
		 "disagree: tag"},
	};
	static int32_t send[64], recv[64];

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct directed_cfg c = cfg_of(3, 0);
		struct rf_directed_call call = rows[0].other;

		directed_start(&net, &c, roce_random_seed(k));
		call.send = send;
		call.recv = recv;
		for (uint32_t r = 0; r < 3; r++) {
			if (r == 1) {
				call = rows[k].other;
				call.send = send;
				call.recv = recv;
			}
			assert_int_equal(rf_directed_start(net.group[r], 0, &call), RF_COLL_OK);
			call = rows[0].other;
			call.send = send;
			call.recv = recv;
		}
		/* As if the calls were in the list: done() waits for them. */
		net.net.done = NULL;
		(void)roce_net_run(&net.net, SECOND / 1000);
		if (rows[k].says)
			assert_string_equal(net.error, rows[k].says);
		else
			assert_null(net.error);
		directed_end(&net);
	}
}

static void the_hash_is_of_the_page(void **state)
{
	/* CRC-32 of 48 bytes: number 5, root 2, count 1000, fp64 (7), copy (6), form 0. */
	static const uint64_t count = 1000;
	struct rf_schedule_call call = {5, 2, &count, 1, RF_ARITH_FP64, RF_ARITH_COPY, 0};
	uint32_t hash = rf_schedule_hash(&call), imm;

	(void)state;
	assert_int_equal(hash, 0xc7c);
	/* the lowest bit of the form always shows, whatever the rest is */
	for (call.number = 0; call.number < 20000; call.number++) {
		call.form = 0;
		imm = rf_schedule_hash(&call);
		call.form = 1;
		assert_int_equal(rf_schedule_hash(&call) ^ imm, 0x09e);
	}
	call.number = 5;
	call.form = 0;
	imm = rf_schedule_immediate(RF_SCHEDULE_BROADCAST, &call);
	assert_int_equal(imm >> 28, 3);
	assert_int_equal(imm >> 26 & 3, 5 % 4);
	assert_int_equal(imm >> 16 & 0x3ff, hash >> 2);
	assert_int_equal(imm >> 12 & 3, hash & 3);
	assert_int_equal(imm >> 8 & 15, 6);
	assert_int_equal(imm >> 4 & 15, 7);
	assert_int_equal(imm & (RF_IMM_GIVES | RF_IMM_WANTS | RF_IMM_INDEX), 0);
}

static int start(struct rf_directed *g, enum rf_collective_kind kind, enum rf_arith_type type,
		 enum rf_arith_op op, uint32_t root, uint64_t count, const void *send, void *recv)
{
	struct rf_directed_call call = {.kind = kind,
					.type = type,
					.op = op,
					.root = root,
					.count = count,
					.send = send,
					.recv = recv};

	return rf_directed_start(g, 0, &call);
}

static void refused(void **state)
{
	struct directed_cfg c = cfg_of(3, 0);
	static double a[96], b[96];
	struct rf_directed *g;

	(void)state;
	directed_start(&net, &c, roce_random_seed(1));
	g = net.group[0];
	assert_int_equal(
		start(g, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP64, RF_ARITH_PRODUCT, 0, 8, a, b),
		RF_COLL_E_PRODUCT);
	assert_non_null(strstr(rf_coll_error_name(RF_COLL_E_PRODUCT), "no product"));
	assert_int_equal(start(g, RF_SCHEDULE_REDUCE, RF_ARITH_FP64, RF_ARITH_AND, 0, 8, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_REDUCE, RF_ARITH_FP64, RF_ARITH_COPY, 0, 8, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(
		start(g, RF_SCHEDULE_REDUCE, (enum rf_arith_type)10, RF_ARITH_SUM, 0, 8, a, b),
		RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_BROADCAST, RF_ARITH_FP64, RF_ARITH_SUM, 3, 8, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_BATCH, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_OWN, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP64, RF_ARITH_SUM, 0,
			       UINT64_MAX / 4, a, b),
			 RF_COLL_E_INVALID);
	assert_int_equal(
		start(g, RF_SCHEDULE_ALL_GATHER, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8, NULL, b),
		RF_COLL_E_INVALID);
	assert_int_equal(start(g, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8,
			       (char *)a + 4, b),
			 RF_COLL_E_ALIGNMENT);
	assert_int_equal(
		start(g, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8, a, a + 4),
		RF_COLL_E_OVERLAP);
	/* Rank 0's block of three is the first. */
	assert_int_equal(
		start(g, RF_SCHEDULE_ALL_GATHER, RF_ARITH_FP64, RF_ARITH_SUM, 0, 8, b + 8, b),
		RF_COLL_E_OVERLAP);
	/* A buffer that the rank does not need may be missing. */
	assert_int_equal(
		start(g, RF_SCHEDULE_BROADCAST, RF_ARITH_FP64, RF_ARITH_SUM, 1, 8, NULL, b),
		RF_COLL_OK);
	assert_int_equal(start(g, RF_SCHEDULE_REDUCE, RF_ARITH_FP64, RF_ARITH_SUM, 1, 8, a, NULL),
			 RF_COLL_OK);
	assert_int_equal(
		start(g, RF_SCHEDULE_BARRIER, RF_ARITH_FP32, RF_ARITH_SUM, 0, 0, NULL, NULL),
		RF_COLL_OK);
	assert_int_equal(rf_directed_outstanding(g), 3);
	directed_end(&net);
}

static void configurations(void **state)
{
	struct directed_cfg c = cfg_of(3, 3);
	struct rf_directed_cfg good = {
		.rank = 1, .ranks = 3, .next = 2, .mtu = 256, .await_sends = true};
	struct rf_msg_ops none = {NULL, NULL, NULL, NULL};
	struct rf_directed_cfg bad;
	struct rf_directed *g = NULL;

	(void)state;
	directed_start(&net, &c, roce_random_seed(1));
	good.to_next = rf_msg_qp(net.to_next[1]);
	good.from_prev = rf_msg_qp(net.from_prev[1]);
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		bad = good;                                                                        \
		change;                                                                            \
		assert_int_equal(rf_directed_create(&bad, &g), RF_COLL_E_INVALID);                 \
		assert_null(g);                                                                    \
	} while (0)
	REFUSED(bad.rank = 3);
	REFUSED(bad.next = 3);
	REFUSED(bad.prev = 3);
	REFUSED(bad.ranks = 0);
	REFUSED(bad.ranks = RF_DIRECTED_RANKS_MAX + 1);
	REFUSED(bad.mtu = 300);
	REFUSED(bad.max_ops = 1025);
	REFUSED(bad.message_packets = 5000);
	REFUSED(bad.op = RF_ARITH_PRODUCT);
	REFUSED(bad.await_sends = false);
	REFUSED(bad.to_next.ops = &none);
	REFUSED((bad.message_packets = 64, bad.window_packets = 32));
	assert_int_equal(rf_directed_create(&good, &g), RF_COLL_OK);
	rf_directed_destroy(g);
	directed_end(&net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(bad_wires),
		cmocka_unit_test(lengths_may_be_mixed),
		cmocka_unit_test(packets_are_counted),
		cmocka_unit_test(a_wrong_bit_is_counted),
		cmocka_unit_test(results_suffice),
		cmocka_unit_test(a_wrong_immediate_is_found),
		cmocka_unit_test(different_calls_are_found),
		cmocka_unit_test(the_hash_is_of_the_page),
		cmocka_unit_test(refused),
		cmocka_unit_test(configurations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
