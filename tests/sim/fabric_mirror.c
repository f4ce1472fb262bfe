/*
 * Mirror ranks and directed groups with the real firmware: JOIN, proof of the path, every
 * collective, leaving. The switch has no rule.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "sim/fabric/fabric.h"

static struct rf_fabric_cfg cfg_of(unsigned ranks, unsigned ports, bool mirror)
{
	struct rf_fabric_cfg c;

	rf_fabric_cfg_init(&c);
	c.engine = rf_model_engine();
	c.ranks = ranks;
	c.ports = ports;
	c.lanes = (ranks + ports - 1) / ports;
	c.mirror = mirror;
	c.directed = true;
	c.store = true;
	c.slots = 64;
	c.mtu = 256;
	return c;
}

static struct rf_fabric_stats finish(struct rf_fabric *f)
{
	struct rf_fabric_stats s;

	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	if (rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		for (unsigned r = 0; rf_fabric_rank(f, 0) && r < 8; r++)
			print_error("rank %u: state %d wrong %llu: %s\n", r,
				    (int)rf_fabric_rank(f, r)->state,
				    (unsigned long long)rf_fabric_rank(f, r)->wrong,
				    rf_fabric_rank(f, r)->text);
		fail_msg("not good: %s", rf_fabric_why(f));
	}
	rf_fabric_stats(f, &s);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	assert_null(rf_fabric_leak(f));
	rf_fabric_destroy(f);
	return s;
}

static struct rf_fabric *open_fabric(const struct rf_fabric_cfg *c)
{
	struct rf_fabric *f = NULL;
	char why[200];

	if (rf_fabric_create(c, &f, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	return f;
}

static void every_collective(void **state)
{
	static const struct {
		unsigned ranks, ports;
	} groups[] = {{2, 2}, {4, 4}, {6, 2}, {8, 8}};

	(void)state;
	for (unsigned g = 0; g < 4; g++) {
		for (unsigned t = 0; t < RF_ARITH_TYPES; t++) {
			struct rf_fabric_cfg c =
				cfg_of(groups[g].ranks, groups[g].ports, (t + g) % 4 > 0);
			struct rf_fabric_stats s;
			struct rf_fabric *f;

			c.type = (enum rf_arith_type)t;
			c.op = (enum rf_arith_op)(t % 6);
			if (!rf_arith_has(c.type, c.op))
				c.op = RF_ARITH_SUM;
			c.selective = t % 2;
			c.seed = 10 * g + t + 1;
			f = open_fabric(&c);
			for (unsigned k = 1; k <= RF_SCHEDULE_BARRIER; k++)
				assert_int_equal(rf_fabric_collective(f, (enum rf_collective_kind)k,
								      k % c.ranks, 240 * k),
						 0);
			s = finish(f);
			assert_int_equal(s.rule_hits > 0, !c.mirror);
		}
	}
}

static void with_loss(void **state)
{
	(void)state;
	for (unsigned seed = 1; seed <= 6; seed++) {
		struct rf_fabric_cfg c = cfg_of(4, 4, seed % 3 > 0);
		struct rf_fabric *f;

		c.selective = seed % 2;
		c.seed = seed;
		c.retry_cnt = 60;
		c.host_links.loss = 0.01;
		f = open_fabric(&c);
		for (unsigned k = 0; k < 16; k++)
			assert_int_equal(rf_fabric_collective(f,
							      (enum rf_collective_kind)(1 + k % 8),
							      k % 4, 2000),
					 0);
		assert_true(finish(f).repeats > 0);
	}
}

/* An ordinary group, with one type and operation, by mirror. */
static void one_operation_by_mirror(void **state)
{
	(void)state;
	for (unsigned selective = 0; selective < 2; selective++) {
		struct rf_fabric_cfg c = cfg_of(4, 4, true);
		struct rf_fabric *f;

		c.directed = false;
		c.selective = selective;
		c.op = RF_ARITH_MAX;
		f = open_fabric(&c);
		assert_int_equal(rf_fabric_allreduce(f, 5000), 0);
		assert_int_equal(rf_fabric_allreduce(f, 1), 0);
		assert_int_equal(finish(f).rule_hits, 0);
	}
}

static void a_flipped_bit_is_reported(void **state)
{
	struct rf_fabric_cfg c = cfg_of(4, 4, true);
	struct rf_fabric *f;

	(void)state;
	c.flip = true;
	f = open_fabric(&c);
	assert_int_equal(rf_fabric_collective(f, RF_SCHEDULE_BROADCAST, 1, 4000), 0);
	assert_int_equal(rf_fabric_run(f, 10 * RF_SEC), 1);
	assert_int_equal(rf_fabric_rank(f, 0)->wrong, 1);
	assert_int_equal(rf_fabric_rank(f, 2)->wrong, 0);
	rf_fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_collective),
		cmocka_unit_test(with_loss),
		cmocka_unit_test(one_operation_by_mirror),
		cmocka_unit_test(a_flipped_bit_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
