/*
 * The Verilated box in the fabric: fabric_rtl PORTS LANES WIDTH. Skipped (77) if that shape is not
 * built. The whole path is compared with the reference order: transport, switch, MAC, Verilog,
 * firmware.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/sim/fabric_help.h"

static unsigned ports, lanes, width, ranks;
static const struct rf_engine_ops *rtl;

static struct rf_fabric_cfg rtl_cfg(void)
{
	struct rf_fabric_cfg c = test_cfg(ranks, ports, lanes);

	c.width = width;
	c.engine = rtl;
	/* A narrow box cannot handle 100 Gb/s: 64 bits are 16 Gb/s. */
	if (width < 512)
		c.rate = (uint64_t)width * UINT64_C(150000000);
	return c;
}

static void test_types(void **state)
{
	static const uint64_t counts[] = {1, 4097, 600};

	(void)state;
	for (unsigned type = 0; type < 4; type++) {
		for (unsigned op = 0; op < 3; op++) {
			struct rf_fabric_cfg c = rtl_cfg();

			c.type = (enum rf_arith_type)type;
			c.op = (enum rf_arith_op)op;
			c.seed += 100 * type + op;
			c.vlan = op == 1;
			test_run(&c, counts, COUNT_OF(counts), 10 * RF_SEC);
		}
	}
}

static void test_large(void **state)
{
	static const uint64_t counts[] = {1 << 18};
	struct rf_fabric_cfg c = rtl_cfg();

	(void)state;
	test_run(&c, counts, 1, 10 * RF_SEC);
}

static void test_few_ranks(void **state)
{
	static const uint64_t counts[] = {3000};

	(void)state;
	for (unsigned n = 2; n < ranks; n++) {
		struct rf_fabric_cfg c = rtl_cfg();

		c.ranks = n;
		c.mtu = 256u << (n % 5);
		test_run(&c, counts, 1, 10 * RF_SEC);
	}
}

static void test_bad_network(void **state)
{
	static const uint64_t counts[] = {20000, 17};
	static const struct rf_faults t[] = {
		{.loss = 0.01},
		{.duplicate = 0.02, .reorder = 0.005, .jitter_ns = 500},
		{.corrupt = 0.005, .bad_fcs = 0.005, .loss = 0.003},
	};

	(void)state;
	for (unsigned i = 0; i < COUNT_OF(t); i++) {
		struct rf_fabric_cfg c = rtl_cfg();

		c.seed += i;
		c.host_links = t[i];
		c.box_links = t[i];
		c.host_links.reorder_ns = c.box_links.reorder_ns = 5000;
		c.ack_timeout_ns = 100 * RF_USEC;
		c.ack_timeout_max_ns = 4 * RF_MSEC;
		c.retry_cnt = 30;
		test_run(&c, counts, COUNT_OF(counts), 100 * RF_SEC);
	}
}

/* The digest of a short run: every frame at every port with its time. */
static uint64_t digest_of(const struct rf_fabric_cfg *c)
{
	struct rf_fabric *f = test_create(c);
	struct rf_fabric_stats s;

	assert_int_equal(rf_fabric_allreduce(f, 5000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_WAIT, 0), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_COMPUTE, 300 * RF_USEC), 0);
	assert_int_equal(rf_fabric_allreduce(f, 300), 0);
	test_good(f, c, 10 * RF_SEC);
	rf_fabric_stats(f, &s);
	rf_fabric_destroy(f);
	return s.digest;
}

/* Neither skipping quiescent clocks nor the register contents before reset make any difference. */
static void test_same(void **state)
{
	struct rf_fabric_cfg c = rtl_cfg();
	uint64_t digest = digest_of(&c);

	(void)state;
	assert_true(digest == digest_of(&c));
	c.no_jump = true;
	assert_true(digest == digest_of(&c));
	c.no_jump = false;
	c.reset_seed = 1000;
	assert_true(digest == digest_of(&c));
}

/* The model delivers the same bits for the same job. */
static void test_model(void **state)
{
	static const uint64_t counts[] = {12345};
	struct rf_fabric_cfg c = rtl_cfg();
	uint64_t digest = test_run(&c, counts, 1, 10 * RF_SEC);

	(void)state;
	c.engine = rf_model_engine();
	assert_true(digest == test_run(&c, counts, 1, 10 * RF_SEC));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types),     cmocka_unit_test(test_large),
		cmocka_unit_test(test_few_ranks), cmocka_unit_test(test_bad_network),
		cmocka_unit_test(test_same),      cmocka_unit_test(test_model),
	};
	char why[300];

	if (argc != 4) {
		fprintf(stderr, "usage: fabric_rtl PORTS LANES WIDTH\n");
		return 2;
	}
	ports = (unsigned)atoi(argv[1]);
	lanes = (unsigned)atoi(argv[2]);
	width = (unsigned)atoi(argv[3]);
	ranks = ports * lanes;
	if (rf_engine_load(ports, lanes, width, false, &rtl, why, sizeof(why)) != 0) {
		printf("skipped: %s\n", why);
		return 77;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
