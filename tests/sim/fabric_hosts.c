/*
 * All collectives among hosts, without a box, in virtual time: members exchange the numbers of all
 * their connections, and every result is compared with the order of additions in
 * docs/collective.md.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/sim/fabric_open.h"

static struct rf_fabric_cfg cfg_of(unsigned ranks, bool store)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.schedule = RF_RUN_RING;
	c.ranks = ranks;
	c.directed = true;
	c.store = store;
	c.slots = 64;
	c.mtu = 256;
	return c;
}

static struct rf_fabric_stats finish(struct rf_fabric *f)
{
	struct rf_fabric_stats s;

	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	if (rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		for (unsigned r = 0; rf_fabric_rank(f, 0) && r < 2; r++)
			print_error("rank %u: state %d wrong %llu: %s\n", r,
				    (int)rf_fabric_rank(f, r)->state,
				    (unsigned long long)rf_fabric_rank(f, r)->wrong,
				    rf_fabric_rank(f, r)->text);
		fail_msg("not good: %s", rf_fabric_why(f));
	}
	rf_fabric_stats(f, &s);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	if (rf_fabric_leak(f))
		fail_msg("%s", rf_fabric_leak(f));
	rf_fabric_destroy(f);
	return s;
}

/* Small vectors, and some beyond the limit of small ones. */
static void every_collective(void **state)
{
	static const unsigned groups[] = {1, 2, 3, 4, 7, 8};

	(void)state;
	for (unsigned g = 0; g < 6; g++) {
		for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
			struct rf_fabric_cfg c = cfg_of(groups[g], t % 2);
			struct rf_fabric *f;

			c.type = (enum rf_arith_type)t;
			c.op = (enum rf_arith_op)(t % 6);
			if (!rf_arith_has(c.type, c.op))
				c.op = RF_ARITH_SUM;
			c.seed = 10 * g + t + 1;
			f = open_fabric(&c);
			for (unsigned k = 0; k < 16; k++)
				assert_int_equal(rf_fabric_collective(
							 f, (enum rf_collective_kind)(1 + k % 8),
							 k % c.ranks,
							 168u * c.ranks * (k < 8 ? k : 40 * t)),
						 0);
			(void)finish(f);
		}
	}
}

/* As many connections as a rank can have. */
static void all_ranks(void **state)
{
	struct rf_fabric_cfg c = cfg_of(RF_FABRIC_GROUP_RANKS, true);
	struct rf_fabric *f = open_fabric(&c);

	(void)state;
	for (unsigned k = 1; k <= RF_SCHEDULE_BARRIER; k++)
		assert_int_equal(rf_fabric_collective(f, (enum rf_collective_kind)k, 77,
						      RF_FABRIC_GROUP_RANKS * 10),
				 0);
	(void)finish(f);
}

static void with_loss(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct rf_fabric_cfg c = cfg_of(2 + seed, seed % 2);
		struct rf_fabric *f;

		c.seed = seed;
		c.retry_cnt = 60;
		c.max_ops = 1 + seed;
		c.host_links.loss = 0.01;
		c.host_links.duplicate = 0.01;
		c.host_links.reorder = seed % 3 ? 0.01 : 0;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 16; k++)
			assert_int_equal(
				rf_fabric_collective(f, (enum rf_collective_kind)(1 + k % 8),
						     k % c.ranks, (k < 8 ? 200 : 3000) * c.ranks),
				0);
		assert_true(finish(f).repeats > 0);
	}
}

/* A vector many times as long as the scratch: no rank waits for slots that others hold. */
static void long_vectors(void **state)
{
	(void)state;
	for (unsigned ranks = 2; ranks <= 3; ranks++) {
		struct rf_fabric_cfg c = cfg_of(ranks, false);
		struct rf_fabric *f;

		c.message_bytes = 1024;
		f = open_fabric(&c);
		for (unsigned k = 1; k < RF_SCHEDULE_BARRIER; k++)
			assert_int_equal(rf_fabric_collective(f, (enum rf_collective_kind)k, 1,
							      ranks * 60000),
					 0);
		(void)finish(f);
	}
}

/* A wrong bit is found. */
static void a_wrong_bit_is_found(void **state)
{
	struct rf_fabric_cfg c = cfg_of(4, false);
	struct rf_fabric *f;

	(void)state;
	c.flip = true;
	f = open_fabric(&c);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 4000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	assert_false(rf_fabric_good(f));
	assert_int_equal(rf_fabric_rank(f, 0)->wrong, 1);
	rf_fabric_destroy(f);
}

/* Rank 2 of 4 makes another call: all ranks learn of it. */
static void different_calls_are_found(void **state)
{
	static const struct {
		enum rf_collective_kind kind;
		uint64_t count;
		int status;
	} rows[] = {
		{RF_SCHEDULE_REDUCE, 4000, RF_ERR_MISMATCH},
		{RF_SCHEDULE_ALL_REDUCE, 3996, RF_ERR_MISMATCH},
		{RF_SCHEDULE_ALL_REDUCE, 4004, RF_ERR_MISMATCH},
		{RF_SCHEDULE_ALL_REDUCE, 40000, RF_ERR_MISMATCH},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct rf_fabric_cfg c = cfg_of(4, true);
		struct rf_fabric *f = open_fabric(&c);

		for (unsigned r = 0; r < 4; r++)
			assert_int_equal(rf_fabric_collective_of(f, r,
								 r == 2 ? rows[k].kind
									: RF_SCHEDULE_ALL_REDUCE,
								 2, r == 2 ? rows[k].count : 4000),
					 0);
		assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
		for (unsigned r = 0; r < 4; r++) {
			assert_int_equal(rf_fabric_rank(f, r)->state, RF_RANK_FAILED);
			if (rf_fabric_rank(f, r)->status != rows[k].status)
				fail_msg("row %zu, rank %u: %s", k, r, rf_fabric_rank(f, r)->text);
		}
		rf_fabric_destroy(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_collective),
		cmocka_unit_test(all_ranks),
		cmocka_unit_test(with_loss),
		cmocka_unit_test(long_vectors),
		cmocka_unit_test(a_wrong_bit_is_found),
		cmocka_unit_test(different_calls_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
