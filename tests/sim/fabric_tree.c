/*
 * Boxes below one more, each with its real firmware and three ranks, in virtual time: JOIN,
 * all-reduces on the real transport with every bit compared, loss on every link, leaving, a box
 * that is reset, and the rate against that of the links.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "rf_regs.h"
#include "tests/sim/fabric_open.h"

static struct rf_fabric_cfg cfg_of(unsigned leaves, unsigned ranks)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.leaves = c.groups = leaves;
	c.ranks = leaves * ranks;
	c.ports = 4;
	c.lanes = 2;
	c.mirror = c.directed = true;
	c.slots = 64;
	c.mtu = 256;
	return c;
}

static void print_ranks(const struct rf_fabric *f, unsigned ranks)
{
	for (unsigned r = 0; r < ranks; r++)
		print_error("rank %u: state %d wrong %llu: %s\n", r,
			    (int)rf_fabric_rank(f, r)->state,
			    (unsigned long long)rf_fabric_rank(f, r)->wrong,
			    rf_fabric_rank(f, r)->text);
}

static struct rf_fabric_stats finish(struct rf_fabric *f, unsigned ranks)
{
	struct rf_fabric_stats s;

	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	if (rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		print_ranks(f, ranks);
		fail_msg("not good: %s", rf_fabric_why(f));
	}
	rf_fabric_stats(f, &s);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	if (rf_fabric_leak(f))
		fail_msg("%s", rf_fabric_leak(f));
	rf_fabric_destroy(f);
	return s;
}

/* Every type that adds, two and four boxes below. */
static void sums(void **state)
{
	(void)state;
	for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
		struct rf_fabric_cfg c = cfg_of(t % 2 ? 4 : 2, 3);
		struct rf_fabric *f;

		c.type = (enum rf_arith_type)t;
		c.seed = t + 1;
		c.selective = t % 3 == 0;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(
				rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 3 + 3000 * k),
				0);
		finish(f, c.ranks);
	}
}

/* One bit of one result is wrong: this must be seen. */
static void flipped(void **state)
{
	struct rf_fabric_cfg c = cfg_of(2, 3);
	struct rf_fabric *f;

	(void)state;
	c.flip = true;
	f = open_fabric(&c);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 3000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	assert_true(rf_fabric_rank(f, 0)->wrong == 1);
	assert_true(rf_fabric_rank(f, 5)->wrong == 0);
	rf_fabric_destroy(f);
}

static void with_loss(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 4; seed++) {
		struct rf_fabric_cfg c = cfg_of(2, 3);
		struct rf_fabric *f;

		c.selective = seed % 2;
		c.seed = seed;
		c.retry_cnt = 60;
		c.host_links.loss = c.box_links.loss = 0.005;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 4; k++)
			assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 6000),
					 0);
		assert_true(finish(f, c.ranks).repeats > 0);
	}
}

static bool under_way(void *f)
{
	return rf_fabric_rank(f, 0)->done > 0;
}

/* The box above, or one below, loses everything in the middle: all ranks hear that it was that box.
 */
static void reset_box(void **state)
{
	(void)state;
	for (unsigned box = 1; box < 3; box++) {
		struct rf_fabric_cfg c = cfg_of(2, 3);
		struct rf_fabric *f;
		char name[80];

		c.lease_ms = 1000;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 20; k++)
			assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 30000),
					 0);
		assert_int_equal(rf_fabric_run_until(f, 10 * RF_SEC, under_way, f), 0);
		rf_fabric_tree_reset(f, box);
		/* A box below is silent as a rank; the one above was reset. */
		snprintf(name, sizeof(name),
			 box == 2 ? "the box 10.0.%u.%u was reset" : ", at the box 10.0.%u.%u",
			 rf_fabric_tree_ip(2) >> 8 & 255u, rf_fabric_tree_ip(2) & 255u);
		if (rf_fabric_run(f, 100 * RF_SEC) != 1)
			fail_msg("%s", rf_fabric_why(f));
		for (unsigned r = 0; r < c.ranks; r++) {
			const struct rf_rank *k = rf_fabric_rank(f, r);

			if (k->state != RF_RANK_FAILED || k->wrong || k->raw ||
			    k->failed_ns > rf_fabric_now(f)) {
				print_ranks(f, c.ranks);
				fail();
			}
			/* Ranks of the box below that was reset hear it from itself. */
			if ((box == 2 || r < 3) && !strstr(k->text, name)) {
				print_ranks(f, c.ranks);
				fail();
			}
		}
		assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + 40 * RF_SEC), 0);
		if (rf_fabric_leak(f))
			print_message("%s\n", rf_fabric_leak(f));
		rf_fabric_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums),
		cmocka_unit_test(flipped),
		cmocka_unit_test(with_loss),
		cmocka_unit_test(reset_box),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
