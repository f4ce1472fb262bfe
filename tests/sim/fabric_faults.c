/*
 * Faults in the fabric: whatever is lost, late, duplicated or corrupted, the sums are correct. If
 * packets bypass the box, no raw data is delivered and the error explains it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"
#include "proto/rf_inet.h"
#include "ringfold/ringfold.h"
#include "tests/sim/fabric_help.h"

/* ---- the network is bad, the result is correct ---- */

static void run_with(const struct rf_faults *faults, unsigned ranks, unsigned ports, unsigned lanes,
		     uint64_t seed)
{
	static const uint64_t counts[] = {1000, 40000, 17};
	struct rf_fabric_cfg c = test_cfg(ranks, ports, lanes);

	c.seed += seed;
	c.host_links = *faults;
	c.box_links = *faults;
	c.host_links.reorder_ns = c.box_links.reorder_ns = 5000;
	c.ack_timeout_ns = 200 * RF_USEC;
	c.ack_timeout_max_ns = 4 * RF_MSEC;
	c.retry_cnt = 30;
	test_run(&c, counts, COUNT_OF(counts), 100 * RF_SEC);
}

static void test_bad_network(void **state)
{
	static const struct rf_faults t[] = {
		{.loss = 0.005}, /* on four links in each direction: 2 % on the path of a packet */
		{.duplicate = 0.05},
		{.reorder = 0.01},
		{.corrupt = 0.005},
		{.bad_fcs = 0.005},
		{.jitter_ns = 3000},
		{.loss = 0.003,
		 .duplicate = 0.02,
		 .reorder = 0.003,
		 .corrupt = 0.002,
		 .bad_fcs = 0.002,
		 .jitter_ns = 500},
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(t); i++) {
		run_with(&t[i], 4, 4, 1, i);
		run_with(&t[i], 6, 3, 2, 50 + i);
	}
}

static void test_loss(void **state)
{
	struct rf_fabric_cfg c = test_cfg(4, 4, 1);
	static const uint64_t counts[] = {1 << 18};

	(void)state;
	c.host_links.loss = 0.01;
	test_run(&c, counts, 1, 100 * RF_SEC);
}

static void test_psn_wrap(void **state)
{
	static const uint64_t counts[] = {1 << 18, 100};
	static const uint32_t starts[] = {0xffff00, 0xfffffe, 0, 0x3fff00, 0x400000};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(starts); i++) {
		struct rf_fabric_cfg c = test_cfg(3, 4, 1);

		c.start_psn = starts[i];
		c.host_links.loss = 0.002;
		c.ack_timeout_ns = 200 * RF_USEC;
		test_run(&c, counts, COUNT_OF(counts), 100 * RF_SEC);
	}
}

/* ---- a last ACK is lost, and the peer does nothing for a long time ---- */

struct last_ack {
	uint32_t dest_ip;
	bool armed;
	unsigned dropped;
};

/* Drops ACKs to one host on its own link. */
static bool drop_acks(void *arg, bool box, unsigned port, bool up, uint64_t ns,
		      const uint8_t *frame, size_t len)
{
	struct last_ack *a = arg;

	(void)ns;
	if (!a->armed || box || up || port != 0 || len < 46 || rf_get_be16(frame + 12) != 0x0800 ||
	    frame[23] != 17)
		return true;
	if (rf_get_be16(frame + 36) != 4791 || frame[42] != 0x11 ||
	    rf_get_be32(frame + 30) != a->dest_ip)
		return true;
	a->dropped++;
	a->armed = a->dropped < 3;
	return false;
}

static bool all_but_acks(void *arg)
{
	struct rf_fabric *f = arg;

	return rf_fabric_rank(f, 1)->done == 1;
}

static void test_last_ack(void **state)
{
	struct rf_fabric_cfg c = test_cfg(2, 2, 1);
	struct last_ack a = {.dest_ip = rf_fabric_ip(0), .armed = true};
	struct rf_fabric *f;

	(void)state;
	c.lease_ms = 60000;
	f = test_create(&c);
	rf_fabric_set_filter(f, drop_acks, &a);
	assert_int_equal(rf_fabric_allreduce(f, 100), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_WAIT, 0), 0);
	assert_int_equal(rf_fabric_step(f, 1, RF_STEP_COMPUTE, 20 * RF_SEC), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	/* The peer has its result and freezes: it will not answer for 20 s. */
	assert_int_equal(rf_fabric_run_until(f, RF_SEC, all_but_acks, f), 0);
	assert_int_equal(rf_fabric_rank(f, 1)->done, 1);
	assert_int_equal(rf_fabric_rank(f, 0)->done, 0);
	rf_fabric_freeze(f, 1, 20 * RF_SEC);
	test_good(f, &c, 30 * RF_SEC);
	assert_int_equal(a.dropped, 3);
	assert_true(rf_fabric_rank(f, 0)->last_done_ns < RF_SEC);
	rf_fabric_destroy(f);
}

/* ---- packets bypass the box: no raw data, an error that explains it ---- */

/* All ranks failed or crashed, nothing wrong or raw was delivered. */
static void expect_failure(struct rf_fabric *f, const struct rf_fabric_cfg *c, uint64_t deadline)
{
	int n = rf_fabric_run(f, deadline);

	for (unsigned r = 0; r < c->ranks; r++) {
		const struct rf_rank *k = rf_fabric_rank(f, r);

		if (n != 1 || k->state < RF_RANK_FAILED || k->wrong != 0 || k->raw != 0 ||
		    (k->state == RF_RANK_FAILED && strlen(k->text) < 10)) {
			test_show(f, c->ranks, c->seed);
			fail_msg("run gave %d, rank %u is not as expected", n, r);
		}
	}
}

static bool says(struct rf_fabric *f, const struct rf_fabric_cfg *c, const char *what)
{
	for (unsigned r = 0; r < c->ranks; r++)
		if (strstr(rf_fabric_rank(f, r)->text, what))
			return true;
	test_show(f, c->ranks, c->seed);
	return false;
}

/* The transport of these runs gives up after about 0.1 s. */
static struct rf_fabric_cfg short_cfg(unsigned ranks)
{
	struct rf_fabric_cfg c = test_cfg(ranks, 4, 1);

	c.ack_timeout_ns = RF_MSEC;
	c.ack_timeout_max_ns = 16 * RF_MSEC;
	return c;
}

static bool in_the_middle(void *arg)
{
	struct rf_fabric *f = arg;
	struct rf_fabric_stats s;

	rf_fabric_stats(f, &s);
	return s.data_packets > 2000;
}

static struct rf_fabric *half_way(const struct rf_fabric_cfg *c)
{
	struct rf_fabric *f = test_create(c);

	assert_int_equal(rf_fabric_allreduce(f, 1 << 19), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run_until(f, RF_SEC, in_the_middle, f), 0);
	assert_true(rf_fabric_now(f) < RF_SEC);
	return f;
}

/*
 * Without the rule control packets still reach the box by its MAC, perhaps all through one port. A
 * box without room for that number of ranks there refuses the group. One with room lets them join,
 * but then no data arrives.
 */
static void test_rule_absent(void **state)
{
	(void)state;
	for (unsigned lanes = 1; lanes <= 4; lanes += 3) {
		struct rf_fabric_cfg c = short_cfg(4);
		struct rf_fabric *f;

		c.lanes = lanes;
		f = test_create(&c);
		for (unsigned r = 0; r < 4; r++)
			rf_fabric_rule(f, r, false);
		assert_int_equal(rf_fabric_allreduce(f, 1 << 16), 0);
		assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
		expect_failure(f, &c, 60 * RF_SEC);
		/*
		 * A refused group is refused to all ranks; otherwise the rank that gives up first
		 * reports why.
		 */
		for (unsigned r = 0; r < 4 && lanes == 1; r++)
			assert_non_null(strstr(rf_fabric_rank(f, r)->text, "lacks the rule"));
		assert_true(says(f, &c, lanes == 1 ? "same port of the box" : "switch's rule"));
		rf_fabric_destroy(f);
	}
}

static void test_rule_lost(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);

	(void)state;
	for (unsigned mask = 1; mask < 16; mask += 7) {
		struct rf_fabric *f;

		f = half_way(&c);
		for (unsigned r = 0; r < 4; r++)
			if (mask >> r & 1)
				rf_fabric_rule(f, r, false);
		expect_failure(f, &c, 60 * RF_SEC);
		assert_true(says(f, &c, "retr"));
		assert_true(says(f, &c, "switch's rule"));
		rf_fabric_destroy(f);
	}
}

/*
 * The check for raw data can fail: without the shift a missing rule delivers a neighbour's data, as
 * described in docs/simulation.md, and the fabric detects it.
 */
static void test_raw_is_seen(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);
	struct rf_fabric *f;
	uint64_t bad = 0;

	(void)state;
	c.plain = true;
	f = half_way(&c);
	for (unsigned r = 0; r < 4; r++)
		rf_fabric_rule(f, r, false);
	rf_fabric_run(f, 60 * RF_SEC);
	for (unsigned r = 0; r < 4; r++)
		bad += rf_fabric_rank(f, r)->wrong + rf_fabric_rank(f, r)->raw;
	assert_true(bad > 0);
	rf_fabric_destroy(f);
}

static void test_box_reset(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);
	struct rf_fabric *f;

	(void)state;
	f = half_way(&c);
	rf_fabric_box_reset(f);
	expect_failure(f, &c, 60 * RF_SEC);
	assert_true(says(f, &c, "reset"));
	rf_fabric_destroy(f);
}

static void test_lease(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);
	struct rf_fabric *f;

	(void)state;
	c.lease_ms = 200;
	c.ack_timeout_max_ns = RF_SEC;
	f = half_way(&c);
	rf_fabric_freeze(f, 2, 5 * RF_SEC);
	expect_failure(f, &c, 60 * RF_SEC);
	assert_true(says(f, &c, "lease"));
	assert_int_equal(rf_fabric_rank(f, 0)->reason, RF_CTL_R_LEASE);
	rf_fabric_destroy(f);
}

static void test_crash(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);
	struct rf_fabric *f;

	(void)state;
	c.lease_ms = 200;
	c.ack_timeout_max_ns = RF_SEC; /* the box detects it before the transport gives up */
	f = half_way(&c);
	rf_fabric_crash(f, 1);
	expect_failure(f, &c, 60 * RF_SEC);
	/* the others are informed which rank fell silent */
	for (unsigned r = 0; r < 4; r++) {
		const char *text = rf_fabric_rank(f, r)->text;

		if (r != 1 && (!strstr(text, "lease") || !strstr(text, "rank 1")))
			fail_msg("rank %u: %s", r, text);
	}
	rf_fabric_destroy(f);
}

static void test_leave(void **state)
{
	struct rf_fabric_cfg c = short_cfg(4);
	struct rf_fabric *f = half_way(&c);

	(void)state;
	rf_fabric_quit(f, 3);
	expect_failure(f, &c, 60 * RF_SEC);
	assert_true(says(f, &c, "left"));
	rf_fabric_destroy(f);
}

/* A rank that freezes for less than its lease costs only time. */
static void test_straggler(void **state)
{
	struct rf_fabric_cfg c = test_cfg(4, 4, 1);
	struct rf_fabric *f = half_way(&c);

	(void)state;
	rf_fabric_freeze(f, 2, 300 * RF_MSEC);
	test_good(f, &c, 10 * RF_SEC);
	rf_fabric_destroy(f);
}

/*
 * A process stands still for longer than the box may take to answer, but not for longer than its
 * lease: in the middle of an all-reduce, and at several times while its group is created.
 */
static struct rf_fabric_cfg pause_cfg(void)
{
	struct rf_fabric_cfg c = test_cfg(4, 4, 1);

	c.store = true;
	c.timeout_ns = 30 * RF_SEC;
	c.ack_timeout_max_ns = RF_SEC;
	c.retry_cnt = 255;
	return c;
}

static void test_stands_still(void **state)
{
	struct rf_fabric_cfg c = pause_cfg();
	struct rf_fabric *f = half_way(&c);

	(void)state;
	rf_fabric_freeze(f, 2, 9 * RF_SEC);
	test_good(f, &c, 30 * RF_SEC);
	rf_fabric_destroy(f);
	for (uint64_t at = 50; at < 1500; at += 150) {
		f = test_create(&c);
		assert_int_equal(rf_fabric_allreduce(f, 1000), 0);
		assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
		assert_int_equal(rf_fabric_run(f, at * RF_USEC), 0);
		rf_fabric_freeze(f, 1, 9 * RF_SEC);
		test_good(f, &c, 30 * RF_SEC);
		rf_fabric_destroy(f);
	}
}

/* The check can fail: if a deadline is judged before anything is read, a healthy box is left. */
static void test_hasty(void **state)
{
	struct rf_fabric_cfg c = pause_cfg();
	struct rf_fabric *f;

	(void)state;
	c.hasty = true;
	f = half_way(&c);
	rf_fabric_freeze(f, 2, 9 * RF_SEC);
	expect_failure(f, &c, 30 * RF_SEC);
	assert_int_equal(rf_fabric_rank(f, 2)->status, RF_ERR_BOX_SILENT);
	assert_true(says(f, &c, "stopped answering"));
	rf_fabric_destroy(f);
}

/* Keeps the time of the last data packet that host 0 sends. */
static bool last_data(void *arg, bool box, unsigned port, bool up, uint64_t ns,
		      const uint8_t *frame, size_t len)
{
	size_t ip = rf_inet_ipv4_at(frame, len);

	/* control messages may be as long as data */
	if (!box && up && port == 0 && len > 500 && ip &&
	    rf_get_be32(frame + ip + 28) != RF_CTL_MAGIC)
		*(uint64_t *)arg = ns;
	return true;
}

#define LATE_RETRY (100 * RF_MSEC)

/* Rank 2 computes for this long; returns a fabric whose ranks have ended. */
static struct rf_fabric *late_rank(struct rf_fabric_cfg *c, uint64_t late, uint64_t *last)
{
	struct rf_fabric *f;

	*c = test_cfg(3, 4, 1);
	c->ack_timeout_ns = c->ack_timeout_max_ns = LATE_RETRY;
	c->retry_cnt = 25;
	f = test_create(c);
	rf_fabric_set_filter(f, last_data, last);
	assert_int_equal(rf_fabric_step(f, 2, RF_STEP_COMPUTE, late), 0);
	assert_int_equal(rf_fabric_allreduce(f, 1000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 60 * RF_SEC), 1);
	return f;
}

/*
 * A rank is so late that the connections of the others give up, and arrives at that very moment:
 * the box does not wait for it any more when it is asked, but the error still names it.
 */
static void test_late_arrival(void **state)
{
	struct rf_fabric_cfg c;
	uint64_t last, ready, end;
	struct rf_fabric *f = late_rank(&c, 30 * RF_SEC, &last);
	unsigned arrived = 0;

	(void)state;
	ready = rf_fabric_rank(f, 2)->ready_ns;
	end = last + LATE_RETRY - ready;
	rf_fabric_destroy(f);
	for (uint64_t late = end - 40000; late < end + 40000; late += 4000) {
		uint64_t ignored;

		f = late_rank(&c, late, &ignored);
		for (unsigned r = 0; r < 2; r++) {
			const struct rf_rank *k = rf_fabric_rank(f, r);

			if (k->status != RF_ERR_TRANSPORT)
				continue;
			arrived += strstr(k->text, "waited for rank 2") != NULL;
			if (k->culprit != 2 || !strstr(k->text, "for rank 2")) {
				test_show(f, 3, c.seed);
				fail_msg("rank %u, late by %llu ns: rank 2 is not named", r,
					 (unsigned long long)late);
			}
		}
		rf_fabric_destroy(f);
	}
	assert_true(arrived > 0);
}

/* Ranks that disagree about the count detect it. */
static void test_counts_differ(void **state)
{
	struct rf_fabric_cfg c = short_cfg(3);
	struct rf_fabric *f = test_create(&c);

	(void)state;
	for (unsigned r = 0; r < 3; r++)
		assert_int_equal(rf_fabric_step(f, r, RF_STEP_ALLREDUCE, r == 1 ? 2000 : 3000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 60 * RF_SEC), 1);
	for (unsigned r = 0; r < 3; r++)
		assert_int_equal(rf_fabric_rank(f, r)->state, RF_RANK_FAILED);
	assert_int_equal(rf_fabric_rank(f, 0)->done, 0);
	assert_int_equal(rf_fabric_rank(f, 0)->reason, RF_CTL_R_DISAGREE);
	assert_true(says(f, &c, "disagree"));
	rf_fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bad_network),   cmocka_unit_test(test_loss),
		cmocka_unit_test(test_psn_wrap),      cmocka_unit_test(test_last_ack),
		cmocka_unit_test(test_rule_absent),   cmocka_unit_test(test_rule_lost),
		cmocka_unit_test(test_raw_is_seen),   cmocka_unit_test(test_box_reset),
		cmocka_unit_test(test_lease),         cmocka_unit_test(test_crash),
		cmocka_unit_test(test_leave),         cmocka_unit_test(test_straggler),
		cmocka_unit_test(test_counts_differ), cmocka_unit_test(test_stands_still),
		cmocka_unit_test(test_hasty),         cmocka_unit_test(test_late_arrival),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
