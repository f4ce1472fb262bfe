/*
 * The box with many small groups: 64 of 8 ranks, 16 slots each, with the real firmware. They are
 * made in turn, used in turn and all at once, ended, and made again. Every element of every result
 * is compared with an independent sum.
 *
 *	fabric_wide [rtl]    rtl: the Verilated box of two ports, four lanes and 64 bits
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "sim/cosim/load.h"
#include "tests/sim/fabric_open.h"

#define GROUPS 64u
#define SIZE 8u
#define TURN_NS (200 * RF_USEC)
#define FIRST_NS (100 * RF_MSEC) /* all ranks have joined before the first group's turn */

/* The box, and how many elements the calls have. */
static struct {
	const struct rf_engine_ops *engine;
	unsigned ports, lanes, width;
	unsigned in_turn, many;
} box = {NULL, SIZE, 1, 512, 1000, 8000};

static struct rf_fabric *open_wide(bool mirror, bool flip)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.engine = box.engine;
	c.wide = true;
	c.ports = box.ports;
	c.lanes = box.lanes;
	c.width = box.width;
	c.groups = GROUPS;
	c.ranks = GROUPS * SIZE;
	c.flip = flip;
	c.slots = 16;
	c.mtu = 1024;
	c.type = RF_ARITH_FP32;
	c.mirror = c.directed = c.store = mirror;
	return open_fabric(&c);
}

/* Each group in its turn, then all at once. */
static void work(struct rf_fabric *f, bool in_turn)
{
	for (unsigned r = 0; in_turn && r < GROUPS * SIZE; r++) {
		uint64_t turn = FIRST_NS + r / SIZE * TURN_NS;

		assert_int_equal(rf_fabric_step(f, r, RF_STEP_COMPUTE, turn), 0);
		assert_int_equal(rf_fabric_step(f, r, RF_STEP_ALLREDUCE, box.in_turn + r / SIZE),
				 0);
		assert_int_equal(rf_fabric_step(f, r, RF_STEP_WAIT, 0), 0);
	}
	assert_int_equal(rf_fabric_all(f, RF_STEP_BARRIER, 0), 0);
	assert_int_equal(rf_fabric_allreduce(f, box.many), 0);
	assert_int_equal(rf_fabric_allreduce(f, 333), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
}

static void finish(struct rf_fabric *f)
{
	if (rf_fabric_run(f, rf_fabric_now(f) + 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		for (unsigned r = 0; r < GROUPS * SIZE; r++)
			if (rf_fabric_rank(f, r)->text[0])
				print_error("rank %u: %s\n", r, rf_fabric_rank(f, r)->text);
		fail_msg("not good: %s", rf_fabric_why(f));
	}
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + 10 * RF_SEC), 0);
	if (rf_fabric_leak(f))
		fail_msg("%s", rf_fabric_leak(f));
}

static void all_groups(bool mirror)
{
	struct rf_fabric *f = open_wide(mirror, false);

	work(f, true);
	finish(f);
	for (unsigned r = 0; r < GROUPS * SIZE; r++)
		assert_int_equal(rf_fabric_restart(f, r, 1), 0);
	work(f, false);
	finish(f);
	rf_fabric_destroy(f);
}

static void ring_ranks(void **state)
{
	(void)state;
	all_groups(false);
}

static void mirror_ranks(void **state)
{
	(void)state;
	all_groups(true);
}

static void a_wrong_bit_is_found(void **state)
{
	struct rf_fabric *f = open_wide(true, true);

	(void)state;
	assert_int_equal(rf_fabric_allreduce(f, 333), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	assert_false(rf_fabric_good(f));
	rf_fabric_destroy(f);
}

/* The Verilog is slower: fewer elements. */
static int use_rtl(void)
{
	char why[300];

	box.ports = 2;
	box.lanes = 4;
	box.width = 64;
	box.in_turn = 20;
	box.many = 600;
	if (rf_engine_load_wide(box.ports, box.lanes, box.width, &box.engine, why, sizeof(why)) ==
	    0)
		return 0;
	print_error("%s\n", why);
	return -1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ring_ranks),
		cmocka_unit_test(mirror_ranks),
		cmocka_unit_test(a_wrong_bit_is_found),
	};

	box.engine = rf_model_engine();
	if (argc > 1 && (strcmp(argv[1], "rtl") != 0 || use_rtl() != 0))
		return 2;

	return cmocka_run_group_tests(tests, NULL, NULL);
}
