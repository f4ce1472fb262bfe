/* All-reduce at a box over the transport: perfect and lossy links, every bit compared. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/roce/qp.h"
#include "tests/unit/collective_ring.h"

#define SECOND UINT64_C(1000000000)

static struct roce_random rng;

static int start_random(void **state)
{
	(void)state;
	rng = roce_random_start("collective_test");
	return 0;
}

static struct ring_cfg base(uint32_t ranks)
{
	struct ring_cfg cfg = {.ranks = ranks, .mtu = 256, .message_packets = 4, .ports = 4};

	return cfg;
}

static void must_be_right(struct ring *r, const char *what)
{
	int in_time = ring_run(r, 20 * SECOND);
	size_t wrong = ring_wrong(r);

	for (uint32_t i = 0; i < r->cfg.ranks; i++)
		if (!in_time || r->status[i] != 0 || r->done[i] != r->op_count)
			fail_msg("%s: rank %u of %u: status %d, %u of %u done", what, i,
				 r->cfg.ranks, r->status[i], r->done[i], r->op_count);
	if (wrong)
		fail_msg("%s: %zu elements are wrong", what, wrong);
}

static const size_t counts[] = {1, 2, 3, 7, 8, 63, 64, 65, 255, 256, 257, 1000, 4097};

static void every_type_and_size(void **state)
{
	static const uint32_t ranks[] = {1, 2, 3, 4, 8};

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		for (unsigned int k = 0; k < 12; k++) {
			struct ring_cfg cfg = base(ranks[i]);
			struct ring r;

			cfg.type = (enum rf_arith_type)(k / 3);
			cfg.op = (enum rf_arith_op)(k % 3);
			cfg.late = k % 2;
			for (size_t c = 0; c < sizeof(counts) / sizeof(counts[0]); c++) {
				ring_start(&r, &cfg, roce_random_seed(roce_random(&rng)));
				ring_add(&r, counts[c], c % 2);
				must_be_right(&r, "every type and size");
				ring_end(&r);
			}
		}
	}
}

/* Several at once, in the order of the calls, over a link with all kinds of faults. */
static void bad_wire(void **state)
{
	static const uint32_t loss[] = {0, 5, 30, 100};
	unsigned int again = 0, repeats = 0, behalf = 0;

	(void)state;
	for (unsigned int run = 0; run < 40; run++) {
		struct ring_cfg cfg = base(2 + run % 7);
		struct ring r;

		cfg.type = (enum rf_arith_type)(run / 3 % 4);
		cfg.late = run % 3 == 0;
		cfg.max_ops = run % 2 ? 3 : 8;
		cfg.message_packets = run % 5 ? 4 : 16;
		cfg.ports = 1 + run % 5;
		ring_start(&r, &cfg, roce_random_seed(roce_random(&rng)));
		r.net.loss = loss[run % 4];
		/* The box stores in order, so it treats a swapped frame as a lost one. */
		r.net.duplicate = run % 4 ? 20 : 0;
		r.net.reorder = run % 4 > 1 ? 10 : 0;
		r.net.corrupt = run % 4 > 1 ? 10 : 0;
		for (unsigned int k = 0; k < 6; k++)
			ring_add(&r, 1 + roce_random_below(&rng, k % 2 ? 6000 : 20), k % 3 != 0);
		must_be_right(&r, "bad wire");
		for (uint32_t i = 0; i < cfg.ranks; i++)
			again += roce_qp_counters(r.next[i])->tx_retransmits > 0;
		repeats += r.box->repeats;
		behalf += r.box->behalf;
		ring_end(&r);
	}
	/* Otherwise nothing was tested. */
	assert_true(again > 20);
	assert_true(repeats > 100);
	assert_true(behalf > 100);
}

static void default_messages(void **state)
{
	struct ring_cfg cfg = base(4);
	struct ring r;

	(void)state;
	cfg.mtu = 1024;
	cfg.message_packets = 0;
	ring_start(&r, &cfg, roce_random_seed(5));
	ring_add(&r, 300000, true);
	must_be_right(&r, "default messages");
	/* The number of packets is exact: without loss nothing is sent twice. */
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(roce_qp_counters(r.next[i])->tx_retransmits, 0);
	assert_int_equal(r.box->repeats + r.box->behalf + r.box->no_room, 0);
	ring_end(&r);
}

/* One bit wrong in one result of one rank. */
static void a_forged_bit_is_seen(void **state)
{
	struct ring_cfg cfg = base(4);
	struct ring r;

	(void)state;
	ring_start(&r, &cfg, roce_random_seed(6));
	ring_add(&r, 1000, true);
	r.box->forge = 9;
	assert_int_equal(ring_run(&r, SECOND), 1);
	assert_int_equal(ring_wrong(&r), 1);
	ring_end(&r);
}

static int swallow(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	(void)frame;
	(void)len;
	return from == *(uint32_t *)ctx;
}

/* A rank falls silent: its neighbours' errors name it, and every operation ends. */
static void silent_peer(void **state)
{
	uint32_t silent = 1;
	struct ring_cfg cfg = base(3);
	struct ring r;
	int channel, status;

	(void)state;
	cfg.retry_cnt = 3;
	ring_start(&r, &cfg, roce_random_seed(8));
	r.net.hook = swallow;
	r.net.hook_ctx = &silent;
	ring_add(&r, 3000, true);
	ring_add(&r, 10, true);
	(void)ring_run(&r, SECOND);
	assert_int_equal(r.status[0], RF_COLL_E_CHANNEL);
	assert_int_equal(r.done[0], 2);
	rf_coll_failure(r.coll[0], &channel, &status);
	assert_int_equal(channel, 0);
	assert_int_equal(status, ROCE_WC_RETRY_EXC_ERR);
	assert_int_equal(rf_coll_outstanding(r.coll[0]), 0);
	assert_int_equal(rf_coll_start(r.coll[0], 9, r.ops[0].send[0], r.ops[0].recv[0], 1),
			 RF_COLL_E_CHANNEL);
	assert_int_equal(rf_coll_progress(r.coll[0]), RF_COLL_E_CHANNEL);
	ring_end(&r);
}

/* The last acknowledgement of a rank is lost and its peer computes: the peer still finishes. */
static int lose_acks_of_1(void *ctx, uint32_t from, uint8_t *frame, size_t len)
{
	struct ring *r = ctx;
	struct roce_packet p;

	if (from == 1 && r->net.now < 20 * SECOND && r->net.now > 0 &&
	    roce_parse(frame, len, &p) == 0 && p.opcode == ROCE_OP_ACK)
		return 1;
	return ring_box_hook(ctx, from, frame, len);
}

static void last_ack_is_lost(void **state)
{
	struct ring_cfg cfg = base(3);
	struct ring r;

	(void)state;
	ring_start(&r, &cfg, roce_random_seed(9));
	r.net.hook = lose_acks_of_1;
	ring_add(&r, 10, true);
	assert_int_equal(ring_run(&r, 30 * SECOND), 1);
	assert_int_equal(ring_wrong(&r), 0);
	/* Rank 0 is done only when its own packet has been acknowledged; the others are done long
	 * before. */
	assert_true(r.end[0] >= 20 * SECOND);
	assert_true(r.end[1] < SECOND);
	ring_end(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_and_size), cmocka_unit_test(bad_wire),
		cmocka_unit_test(default_messages),    cmocka_unit_test(a_forged_bit_is_seen),
		cmocka_unit_test(silent_peer),         cmocka_unit_test(last_ack_is_lost),
	};

	return cmocka_run_group_tests(tests, start_random, NULL);
}
