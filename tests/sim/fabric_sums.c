/*
 * All-reduces over the reference model: every type and operation, 2 to 8 ranks, sizes that are not
 * multiples of anything, detection of wrong data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/fabric_help.h"

static void test_types(void **state)
{
	static const uint64_t counts[] = {1, 256, 20000, 4097};
	static const unsigned ranks[] = {2, 4, 8};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(ranks); i++) {
		for (unsigned type = 0; type < 4; type++) {
			for (unsigned op = 0; op < 3; op++) {
				struct rf_fabric_cfg c = test_cfg(ranks[i], ranks[i], 1);

				c.type = (enum rf_arith_type)type;
				c.op = (enum rf_arith_op)op;
				c.seed += 100 * type + op;
				test_run(&c, counts, COUNT_OF(counts), 10 * RF_SEC);
			}
		}
	}
}

static void test_shapes(void **state)
{
	static const uint64_t counts[] = {3, 9000};
	static const struct {
		unsigned ranks, ports, lanes, width, mtu, slots;
		bool vlan, in_place;
	} t[] = {
		{2, 8, 1, 512, 1024, 512, false, false}, {3, 4, 1, 512, 256, 64, true, false},
		{5, 2, 3, 64, 1024, 512, false, true},   {7, 3, 4, 128, 2048, 16, true, true},
		{6, 4, 2, 256, 4096, 32, false, false},  {16, 8, 2, 512, 512, 128, false, false},
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(t); i++) {
		struct rf_fabric_cfg c = test_cfg(t[i].ranks, t[i].ports, t[i].lanes);

		c.width = t[i].width;
		c.engine = test_engine(c.ports, c.lanes, c.width);
		c.mtu = t[i].mtu;
		c.slots = t[i].slots;
		c.vlan = t[i].vlan;
		c.in_place = t[i].in_place;
		test_run(&c, counts, COUNT_OF(counts), 10 * RF_SEC);
	}
}

/* 8 ranks on 4 ports get the same bits in whatever order they join. */
static void test_join_orders(void **state)
{
	static const uint64_t counts[] = {5000};
	uint64_t digest = 0;
	uint64_t x = 88172645463325252u;

	(void)state;
	for (unsigned round = 0; round < 40; round++) {
		struct rf_fabric_cfg c = test_cfg(8, 4, 2);
		unsigned order[8] = {0, 1, 2, 3, 4, 5, 6, 7};
		uint64_t d;

		for (unsigned i = 7; round > 0 && i > 0; i--) {
			unsigned k;
			unsigned t = order[i];

			x ^= x << 13;
			x ^= x >> 7;
			x ^= x << 17;
			k = round == 1 ? 7 - i : (unsigned)(x % (i + 1));
			if (round == 1 && k >= i)
				continue;
			order[i] = order[k];
			order[k] = t;
		}
		for (unsigned i = 0; i < 8; i++)
			c.join_at[order[i]] = 50 * RF_USEC * i;
		d = test_run(&c, counts, 1, 10 * RF_SEC);
		if (round == 0)
			digest = d;
		assert_true(d == digest);
	}
}

/* The comparison itself: a flipped bit is found on the right rank, and nowhere else. */
static void test_flip(void **state)
{
	struct rf_fabric_cfg c = test_cfg(4, 4, 1);
	struct rf_fabric *f;

	(void)state;
	c.flip = true;
	f = test_create(&c);
	assert_int_equal(rf_fabric_allreduce(f, 5000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 10 * RF_SEC), 1);
	assert_false(rf_fabric_good(f));
	for (unsigned r = 0; r < 4; r++) {
		assert_int_equal(rf_fabric_rank(f, r)->checked, 5000);
		assert_int_equal(rf_fabric_rank(f, r)->wrong, r == 0);
	}
	rf_fabric_destroy(f);
}

/*
 * Two runs are the same to the picosecond; so are runs with and without skipping of quiescent
 * clocks.
 */
static void test_same(void **state)
{
	uint64_t digest[3];

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct rf_fabric_cfg c = test_cfg(4, 4, 1);
		struct rf_fabric_stats s;
		struct rf_fabric *f;

		c.no_jump = i == 2;
		c.host_links.loss = 0.01;
		c.ack_timeout_ns = 100 * RF_USEC;
		f = test_create(&c);
		assert_int_equal(rf_fabric_allreduce(f, 30000), 0);
		assert_int_equal(rf_fabric_all(f, RF_STEP_COMPUTE, 3 * RF_MSEC), 0);
		assert_int_equal(rf_fabric_allreduce(f, 100), 0);
		assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
		test_good(f, &c, 10 * RF_SEC);
		rf_fabric_stats(f, &s);
		digest[i] = s.digest;
		rf_fabric_destroy(f);
	}
	assert_true(digest[0] == digest[1]);
	assert_true(digest[0] == digest[2]);
}

static void test_ring(void **state)
{
	static const uint64_t counts[] = {1, 7, 10000};
	static const enum rf_schedule_kind kinds[] = {RF_RUN_RING, RF_RUN_RING_THROUGH};

	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		for (unsigned ranks = 2; ranks <= 8; ranks += 3) {
			for (unsigned type = 0; type < 4; type++) {
				struct rf_fabric_cfg c = test_cfg(ranks, 4, 2);

				c.schedule = kinds[k];
				c.type = (enum rf_arith_type)type;
				test_run(&c, counts, COUNT_OF(counts), 10 * RF_SEC);
			}
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),       cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_join_orders), cmocka_unit_test(test_flip),
		cmocka_unit_test(test_same),        cmocka_unit_test(test_ring),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
