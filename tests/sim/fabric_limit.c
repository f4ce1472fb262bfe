/*
 * A box that limits what it takes in (model): the packets of all ranks together come at that rate,
 * not faster; a limit above what the links carry changes nothing. One box, and a tree in which the
 * leaves or the box above are the limit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "tests/sim/fabric_open.h"

#define RATE UINT64_C(100000000000)
#define MTU 1024u
#define FRAME (MTU + 86u) /* on the wire */
#define COUNT (UINT64_C(12) << 16)

static struct rf_fabric_cfg cfg_of(unsigned leaves, unsigned ranks, uint64_t processing)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.leaves = leaves;
	c.ranks = ranks;
	c.lanes = 2;
	c.mirror = c.directed = true;
	c.mtu = MTU;
	c.processing = processing;
	return c;
}

/* Time of an all-reduce, ns. */
static uint64_t run(const struct rf_fabric_cfg *c)
{
	struct rf_fabric *f = open_fabric(c);
	uint64_t ns;

	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, 1200), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_WAIT, 0), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_BARRIER, 0), 0);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_ALL_REDUCE, 0, COUNT), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	if (rf_fabric_run(f, 10 * RF_SEC) != 1 || !rf_fabric_good(f))
		fail_msg("%s %s", rf_fabric_why(f), rf_fabric_rank(f, 0)->text);
	ns = rf_fabric_op_ns(f, 1);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	assert_null(rf_fabric_leak(f));
	rf_fabric_destroy(f);
	return ns;
}

/* The rate at which the packets of n inputs came together, bits per second. */
static double taken(uint64_t ns, unsigned n)
{
	return (double)(COUNT * 4 / MTU) * FRAME * 8 * n / ((double)ns * 1e-9);
}

static bool keeps(double rate, double limit)
{
	print_message("%.2f Gb/s of %.2f\n", rate * 1e-9, limit * 1e-9);
	/* What the bucket holds at the start comes beside. */
	return rate > 0.97 * limit && rate < 1.005 * limit;
}

static void one_box(void **state)
{
	(void)state;
	for (unsigned part = 1; part < 4; part++) {
		uint64_t limit = part * RATE;
		struct rf_fabric_cfg c = cfg_of(0, 4, limit);

		assert_true(keeps(taken(run(&c), 4), (double)limit));
	}
}

static void no_limit(void **state)
{
	struct rf_fabric_cfg none = cfg_of(0, 4, 0), high = cfg_of(0, 4, 5 * RATE);
	uint64_t ns = run(&none);

	(void)state;
	assert_int_equal(run(&high), ns);
	/* What this rate would be under a limit that was not kept. */
	assert_false(keeps(taken(ns, 4), 2.0 * (double)RATE));
}

/* Two leaves of three ranks: every box has the limit, and the leaves take in more. */
static void tree(void **state)
{
	struct rf_fabric_cfg c = cfg_of(2, 6, 3 * RATE / 2);

	(void)state;
	assert_true(keeps(taken(run(&c), 3), 1.5 * (double)RATE));
	/* Four leaves of one rank: the box above has four inputs. */
	c = cfg_of(4, 4, RATE);
	assert_true(keeps(taken(run(&c), 4), (double)RATE));
}

static void refused(void **state)
{
	struct rf_fabric_cfg c = cfg_of(0, 4, RATE);
	struct rf_engine_ops other = *rf_model_engine();
	struct rf_fabric *f;
	char why[200];

	(void)state;
	other.name = "rtl";
	c.engine = &other;
	assert_int_equal(rf_fabric_create(&c, &f, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "model"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_box),
		cmocka_unit_test(no_limit),
		cmocka_unit_test(tree),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
