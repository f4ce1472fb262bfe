/*
 * Collectives on the transport itself, through the box (reference model) in virtual time: each
 * kind, type and operation, by mirror and by ring, with one rank and with several at each port,
 * over a router, with loss. Every result is compared in full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/fabric/world.h"

#define BYTES UINT64_C(16777216)

static void open_world(struct rf_world **w, const struct rf_world_cfg *c)
{
	char why[200] = "";

	if (rf_world_create(c, w, why, sizeof(why)) != 0)
		fail_msg("%s", why);
}

/* Runs, and requires that every result is right. */
static struct rf_world_result close_world(struct rf_world *w, const char *what)
{
	struct rf_world_result r;
	int ended = rf_world_run(w, 10 * RF_WORLD_SEC);

	rf_world_result(w, &r);
	if (!ended || !r.done)
		fail_msg("%s: not done: %s at rank %u, ERROR %08x", what,
			 r.failure ? r.failure : "time", r.failed_rank, rf_world_error(w));
	assert_true(r.wrong == 0);
	assert_int_equal(rf_world_error(w), 0);
	rf_world_destroy(w);
	return r;
}

/* All kinds, with all operations of a type. */
static void all_calls(struct rf_world *w, enum rf_arith_type type, unsigned ranks, unsigned turn)
{
	for (unsigned kind = 1; kind <= RF_SCHEDULE_BARRIER; kind++) {
		struct rf_world_call call = {.kind = (enum rf_collective_kind)kind, .type = type};
		unsigned ops = rf_schedule_reduces(call.kind) ? RF_ARITH_COPY : 1;

		for (unsigned op = 0; op < ops; op++, turn++) {
			call.op = (enum rf_arith_op)op;
			call.root = turn % ranks;
			call.count = 1 + turn * 37 % 1500;
			call.spread = turn % 3 == 0;
			call.in_place = turn % 2;
			if (rf_arith_has(type, call.op))
				assert_int_equal(rf_world_call(w, &call), 0);
		}
	}
}

static void everything(bool mirror)
{
	static const struct {
		unsigned ranks, ports;
	} groups[] = {{2, 2}, {3, 4}, {4, 4}, {8, 8}, {6, 2}};

	for (unsigned g = 0; g < 5; g++) {
		for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
			struct rf_world_cfg c;
			struct rf_world *w;

			rf_world_cfg_init(&c);
			c.ranks = groups[g].ranks;
			c.ports = groups[g].ports;
			c.mirror = mirror;
			c.selective = (t + g) % 2;
			c.mtu = 256u << (t + g) % 5;
			c.slots = 64;
			c.router = mirror && t % 3 == 1;
			c.seed = 10 * g + t + 1;
			c.type = (enum rf_arith_type)t;
			c.message_packets = !c.selective && t % 4 == 1 ? 8 : 0;
			open_world(&w, &c);
			all_calls(w, (enum rf_arith_type)t, c.ranks, t + g);
			(void)close_world(w, mirror ? "mirror" : "ring");
		}
	}
}

static void everything_by_mirror(void **state)
{
	(void)state;
	everything(true);
}

static void everything_by_ring(void **state)
{
	(void)state;
	everything(false);
}

static void with_loss(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 8; seed++) {
		struct rf_world_cfg c;
		struct rf_world_result r;
		struct rf_world *w;

		rf_world_cfg_init(&c);
		c.ranks = 3 + seed % 4;
		c.mirror = seed % 2;
		c.selective = seed % 4 < 2;
		c.mtu = 1024;
		c.slots = 64;
		c.loss = 0.02;
		c.seed = seed;
		open_world(&w, &c);
		all_calls(w, (enum rf_arith_type)seed, c.ranks, seed);
		r = close_world(w, "loss");
		assert_true(r.frames_lost > 0 && r.repeats > 0);
	}
}

/* Time of a reduce-scatter and an all-gather of 4 MB each, one or both of them. */
static uint64_t side_by_side(unsigned ranks, bool scatter, bool gather)
{
	struct rf_world_call call = {.type = RF_ARITH_FP32, .count = (1u << 20) / ranks};
	struct rf_world_result r;
	struct rf_world_cfg c;
	struct rf_world *w;
	uint64_t most = 0;

	rf_world_cfg_init(&c);
	c.ranks = c.ports = ranks;
	c.groups = 2;
	open_world(&w, &c);
	call.kind = RF_SCHEDULE_REDUCE_SCATTER;
	if (scatter)
		assert_int_equal(rf_world_call(w, &call), 0);
	call.kind = RF_SCHEDULE_ALL_GATHER;
	call.group = 1;
	if (gather)
		assert_int_equal(rf_world_call(w, &call), 0);
	r = close_world(w, "side by side");
	for (unsigned k = 0; k < 2; k++)
		most = r.call_ns[k] > most ? r.call_ns[k] : most;
	return most;
}

/*
 * The sum of what both send is more than a link carries at a time, and the box makes one pass for
 * each index of either: together they take longer than the slower one, but less than one after the
 * other.
 */
static void two_communicators_share_the_links(void **state)
{
	(void)state;
	for (unsigned ranks = 4; ranks <= 8; ranks += 4) {
		uint64_t a = side_by_side(ranks, true, false), b = side_by_side(ranks, false, true);
		uint64_t both = side_by_side(ranks, true, true);

		if (10 * both > 9 * (a + b))
			fail_msg("%u ranks: %llu ns together, %llu and %llu ns alone", ranks,
				 (unsigned long long)both, (unsigned long long)a,
				 (unsigned long long)b);
	}
}

/* A broadcast of 16 MB; the last rank's link has a quarter of the rate. */
static struct rf_world_result slow_receiver(unsigned ranks, uint64_t mark_bytes)
{
	struct rf_world_call call = {
		.kind = RF_SCHEDULE_BROADCAST, .type = RF_ARITH_UINT8, .count = BYTES};
	struct rf_world_cfg c;
	struct rf_world *w;

	rf_world_cfg_init(&c);
	c.ranks = c.ports = ranks;
	c.rate_of_rank[ranks - 1] = c.rate / 4;
	c.mark_bytes = mark_bytes;
	open_world(&w, &c);
	assert_int_equal(rf_world_call(w, &call), 0);
	return close_world(w, "slow receiver");
}

/* Bytes of the vector against what its link could have carried, with all headers, in percent. */
static uint64_t goodput(const struct rf_world_result *r)
{
	return BYTES * 8 * 100 / (r->call_ns[0] * 25);
}

static void marks_keep_the_queue_short(void **state)
{
	static const uint64_t marks[] = {50000, 100000, 200000};
	struct rf_world_result r;

	(void)state;
	for (unsigned k = 0; k < 4; k++) {
		unsigned ranks = k < 3 ? 4 : 8;

		r = slow_receiver(ranks, marks[k % 3]);
		assert_true(goodput(&r) >= 90);
		/* W = S / 2 = 256 packets. */
		assert_true(r.queue_max[ranks - 1] < 256 * 4096 / 2);
		assert_true(r.marked > 0 && r.cnps > 0 && r.cuts > 0);
		assert_int_equal(r.switch_dropped, 0);
		assert_int_equal(r.timeouts, 0);
		assert_int_equal(r.repeats, 0);
	}
	/* Without marks the whole window waits there: the limit can be missed. */
	r = slow_receiver(4, 0);
	assert_true(r.queue_max[3] > 256 * 4096 / 2);
	assert_int_equal(r.marked, 0);
}

/* The comparison finds one bit. */
static void a_flipped_bit_is_reported(void **state)
{
	(void)state;
	for (unsigned kind = 1; kind < RF_SCHEDULE_BARRIER; kind++) {
		struct rf_world_call call = {.kind = (enum rf_collective_kind)kind,
					     .type = RF_ARITH_FP16,
					     .root = 1,
					     .count = 1000};
		struct rf_world_cfg c;
		struct rf_world_result r;
		struct rf_world *w;

		rf_world_cfg_init(&c);
		c.flip = true;
		open_world(&w, &c);
		assert_int_equal(rf_world_call(w, &call), 0);
		assert_int_equal(rf_world_run(w, RF_WORLD_SEC), 1);
		rf_world_result(w, &r);
		assert_true(r.done);
		assert_int_equal(r.wrong, 1);
		rf_world_destroy(w);
	}
}

static void refuse(struct rf_world_cfg c, const char *what)
{
	struct rf_world *w = NULL;
	char why[200] = "";

	assert_int_equal(rf_world_create(&c, &w, why, sizeof(why)), -1);
	assert_null(w);
	if (!strstr(why, what))
		fail_msg("%s, not %s", why, what);
}

static void refused(void **state)
{
	struct rf_world_call call = {.kind = RF_SCHEDULE_ALL_REDUCE,
				     .type = RF_ARITH_FP32,
				     .op = RF_ARITH_PRODUCT,
				     .count = 8};
	struct rf_world_cfg c, good;
	struct rf_world_result r;
	struct rf_world *w;

	(void)state;
	rf_world_cfg_init(&good);
	refuse((c = good, c.ranks = 1, c), "ranks");
	refuse((c = good, c.ports = 9, c), "ports");
	refuse((c = good, c.mtu = 1000, c), "MTU");
	refuse((c = good, c.slots = 100, c), "slots");
	refuse((c = good, c.router = true, c.mirror = false, c), "router");
	refuse((c = good, c.message_packets = 64, c), "selective");
	open_world(&w, &good);
	assert_int_equal(rf_world_call(w, &call), 0);
	assert_int_equal(rf_world_run(w, RF_WORLD_SEC), 1);
	rf_world_result(w, &r);
	assert_false(r.done);
	assert_non_null(strstr(r.failure, "no product"));
	rf_world_destroy(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything_by_mirror),
		cmocka_unit_test(everything_by_ring),
		cmocka_unit_test(with_loss),
		cmocka_unit_test(two_communicators_share_the_links),
		cmocka_unit_test(marks_keep_the_queue_short),
		cmocka_unit_test(a_flipped_bit_is_reported),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
