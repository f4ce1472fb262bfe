/*
 * Arithmetic: every 16-bit value, the examples of docs/reduction.md, and fp32 compared with the C
 * compiler's float. The order of a reduction compared with one calculated by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/collective/arith.h"
#include "tests/unit/roce_random.h"

static uint32_t bits(float f)
{
	uint32_t u;

	memcpy(&u, &f, 4);
	return u;
}

static float number(uint32_t u)
{
	float f;

	memcpy(&f, &u, 4);
	return f;
}

/* Value of a binary16 by its definition. */
static double fp16_value(uint16_t h)
{
	int e = h >> 10 & 31;
	double m = h & 1023;
	double v = e == 31  ? (m != 0 ? NAN : INFINITY)
		   : e == 0 ? ldexp(m, -24)
			    : ldexp(1024 + m, e - 25);

	return h & 0x8000 ? -v : v;
}

static void widening(void **state)
{
	(void)state;
	for (uint32_t h = 0; h < 0x10000; h++) {
		double want = fp16_value((uint16_t)h);
		float got = rf_fp16_to_float((uint16_t)h);

		if (isnan(want))
			assert_true(isnan(got));
		else
			assert_true((double)got == want && !signbit(got) == !(h & 0x8000));
		assert_int_equal(bits(rf_bf16_to_float((uint16_t)h)), h << 16);
	}
}

/*
 * Rounding to 16 bits, compared with the definition: the nearer of the two neighbours, and the
 * even one of a tie. `values` are all non-negative finite values in ascending order; `limit` is
 * the value that would follow.
 */
static uint16_t nearest(double magnitude, double (*value)(uint16_t), uint16_t inf)
{
	uint16_t low = 0;
	uint16_t high = inf;
	double below, above;

	while (high - low > 1) {
		uint16_t mid = (uint16_t)((low + high) / 2);

		if (value(mid) <= magnitude)
			low = mid;
		else
			high = mid;
	}
	below = value(low);
	/* Beyond the largest value: as if the range continued with the same spacing. */
	above = high == inf ? 2 * below - value((uint16_t)(low - 1)) : value(high);
	if (magnitude - below < above - magnitude)
		return low;
	if (magnitude - below > above - magnitude)
		return high;
	return low & 1 ? high : low;
}

static double bf16_value(uint16_t h)
{
	return (double)number((uint32_t)h << 16);
}

static void check_narrowing(uint32_t u)
{
	float f = number(u);
	uint16_t sign = (uint16_t)(u >> 16 & 0x8000);

	if (isnan(f)) {
		assert_int_equal(rf_fp16_from_float(f), 0x7e00);
		assert_int_equal(rf_bf16_from_float(f), 0x7fc0);
	} else if (isinf(f)) {
		assert_int_equal(rf_fp16_from_float(f), sign | 0x7c00);
		assert_int_equal(rf_bf16_from_float(f), sign | 0x7f80);
	} else {
		double m = fabs((double)f);

		assert_int_equal(rf_fp16_from_float(f),
				 sign | (m >= 65536 ? 0x7c00 : nearest(m, fp16_value, 0x7c00)));
		assert_int_equal(rf_bf16_from_float(f), sign | nearest(m, bf16_value, 0x7f80));
	}
}

static void narrowing(void **state)
{
	struct roce_random rng = roce_random_start("collective_arith_test");

	(void)state;
	/* Every 16-bit value, half way to the next, and the neighbours of both. */
	for (uint32_t h = 0; h < 0x10000; h++) {
		uint32_t f16 = bits(rf_fp16_to_float((uint16_t)h));

		for (int d = -1; d <= 1; d++) {
			check_narrowing(f16 + (uint32_t)d);
			check_narrowing(f16 + 0x1000u + (uint32_t)d);
			check_narrowing((h << 16) + (uint32_t)d);
			check_narrowing((h << 16) + 0x8000u + (uint32_t)d);
		}
	}
	/* The subnormal range of binary16 in small steps; then random values. */
	for (unsigned int i = 0; i < 200000; i++) {
		check_narrowing((101u << 23) + roce_random_below(&rng, 13u << 23));
		check_narrowing(roce_random(&rng));
	}
}

struct example {
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint32_t a, b, want;
};

/* From docs/reduction.md, and corners of min and max. */
static const struct example examples[] = {
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x00000001, 0x00000001, 0x00000002},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x3f800000, 0x33800000, 0x3f800000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x3f800001, 0x33800000, 0x3f800002},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x7f7fffff, 0x73000000, 0x7f800000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x7f800000, 0xff800000, 0x7fc00000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0xff800001, 0x3f800000, 0x7fc00000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x00000000, 0x80000000, 0x00000000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x80000000, 0x80000000, 0x80000000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x3f800000, 0xbf800000, 0x00000000},
	{RF_ARITH_FP32, RF_ARITH_SUM, 0x00800000, 0x80000001, 0x007fffff},
	{RF_ARITH_FP32, RF_ARITH_MIN, 0x00000000, 0x80000000, 0x80000000},
	{RF_ARITH_FP32, RF_ARITH_MIN, 0x80000000, 0x00000000, 0x80000000},
	{RF_ARITH_FP32, RF_ARITH_MAX, 0x80000000, 0x00000000, 0x00000000},
	{RF_ARITH_FP32, RF_ARITH_MAX, 0xffc00001, 0xff800000, 0xff800000},
	{RF_ARITH_FP32, RF_ARITH_MAX, 0xff800000, 0x7f800001, 0xff800000},
	{RF_ARITH_FP32, RF_ARITH_MIN, 0x7f800000, 0x7fffffff, 0x7f800000},
	{RF_ARITH_FP32, RF_ARITH_MIN, 0xffc00001, 0x7f800001, 0x7fc00000},
	{RF_ARITH_FP32, RF_ARITH_MIN, 0xbf800000, 0xc0000000, 0xc0000000},
	{RF_ARITH_FP32, RF_ARITH_MAX, 0xbf800000, 0xc0000000, 0xbf800000},
	{RF_ARITH_FP32, RF_ARITH_MAX, 0x80000001, 0x80000002, 0x80000001},
	{RF_ARITH_FP16, RF_ARITH_SUM, 0x7bff, 0x4c00, 0x7c00},
	{RF_ARITH_FP16, RF_ARITH_SUM, 0x7bff, 0x4bff, 0x7bff},
	{RF_ARITH_FP16, RF_ARITH_SUM, 0x0001, 0x0001, 0x0002},
	{RF_ARITH_FP16, RF_ARITH_SUM, 0x7c00, 0xfc00, 0x7e00},
	{RF_ARITH_FP16, RF_ARITH_MAX, 0xfe01, 0x8001, 0x8001},
	{RF_ARITH_FP16, RF_ARITH_MIN, 0x0000, 0x8000, 0x8000},
	{RF_ARITH_FP16, RF_ARITH_MIN, 0x7c01, 0xfe00, 0x7e00},
	{RF_ARITH_BF16, RF_ARITH_SUM, 0x3f80, 0x3b80, 0x3f80},
	{RF_ARITH_BF16, RF_ARITH_SUM, 0x3f81, 0x3b80, 0x3f82},
	{RF_ARITH_BF16, RF_ARITH_SUM, 0x0001, 0x0001, 0x0002},
	{RF_ARITH_BF16, RF_ARITH_SUM, 0x7f7f, 0x7b00, 0x7f80},
	{RF_ARITH_BF16, RF_ARITH_MAX, 0x7fc1, 0xff80, 0xff80},
	{RF_ARITH_BF16, RF_ARITH_MIN, 0xffc1, 0x7f81, 0x7fc0},
	{RF_ARITH_INT32, RF_ARITH_SUM, 0x7fffffff, 0x00000001, 0x80000000},
	{RF_ARITH_INT32, RF_ARITH_MIN, 0x80000000, 0x7fffffff, 0x80000000},
	{RF_ARITH_INT32, RF_ARITH_MAX, 0xffffffff, 0x00000000, 0x00000000},
};

static void examples_hold(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *x = &examples[i];
		const void *pair[2] = {&x->a, &x->b}, *swapped[2] = {&x->b, &x->a};
		static const struct rf_place places[2] = {{0, 0}, {1, 0}};
		uint32_t out[3] = {0};

		rf_arith_reduce(x->type, x->op, &out[0], &x->a, &x->b, 1);
		assert_int_equal(rf_order_reduce(x->type, x->op, 2, places, pair, &out[1], 1), 0);
		assert_int_equal(rf_order_reduce(x->type, x->op, 2, places, swapped, &out[2], 1),
				 0);
		for (int k = 0; k < 3; k++)
			if (out[k] != x->want)
				fail_msg("example %zu way %d: %08x op %08x = %08x, not %08x", i, k,
					 x->a, x->b, out[k], x->want);
	}
}

static void single_operand_passes(void **state)
{
	static const struct {
		enum rf_arith_type type;
		uint32_t in, out;
	} cases[] = {
		{RF_ARITH_FP32, 0x7f800001, 0x7fc00000},  {RF_ARITH_FP32, 0x80000000, 0x80000000},
		{RF_ARITH_FP32, 0xff800000, 0xff800000},  {RF_ARITH_FP16, 0xfc01, 0x7e00},
		{RF_ARITH_FP16, 0x8000, 0x8000},          {RF_ARITH_FP16, 0x8001, 0x8001},
		{RF_ARITH_BF16, 0xff81, 0x7fc0},          {RF_ARITH_BF16, 0x8001, 0x8001},
		{RF_ARITH_INT32, 0x7f800001, 0x7f800001},
	};
	static const struct rf_place place = {5, 9};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		for (unsigned int op = RF_ARITH_SUM; op <= RF_ARITH_MAX; op++) {
			const void *operand = &cases[i].in;
			uint32_t out = 0;

			assert_int_equal(rf_order_reduce(cases[i].type, (enum rf_arith_op)op, 1,
							 &place, &operand, &out, 1),
					 0);
			assert_int_equal(out, cases[i].out);
		}
	}
}

static uint32_t any_float(struct roce_random *rng)
{
	static const uint32_t corners[] = {0,          0x80000000, 1,          0x80000001,
					   0x007fffff, 0x00800000, 0x7f7fffff, 0xff7fffff,
					   0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
					   0x7f800001, 0x3f800000, 0xbf800000, 0x34000000};
	uint32_t u = roce_random(rng);

	switch (roce_random_below(rng, 4)) {
	case 0:
		return corners[roce_random_below(rng, 16)];
	case 1: /* near 1, so that rounding matters */
		return (u & 0x80ffffff) | 0x3f000000;
	default:
		return u;
	}
}

static void fp32_is_the_compilers(void **state)
{
	struct roce_random rng = roce_random_start("collective_arith_test");
	uint32_t a[700], b[700], out[700];

	(void)state;
	for (unsigned int run = 0; run < 300; run++) {
		size_t n = roce_random_below(&rng, 700) + 1;

		for (size_t i = 0; i < n; i++) {
			a[i] = any_float(&rng);
			b[i] = any_float(&rng);
		}
		rf_arith_reduce(RF_ARITH_FP32, RF_ARITH_SUM, out, a, b, n);
		for (size_t i = 0; i < n; i++) {
			volatile float sum = number(a[i]) + number(b[i]);

			assert_int_equal(out[i], isnan(sum) ? 0x7fc00000u : bits(sum));
		}
		rf_arith_reduce(RF_ARITH_FP32, RF_ARITH_MIN, out, a, b, n);
		for (size_t i = 0; i < n; i++) {
			float x = number(a[i]), y = number(b[i]);

			if (!isnan(x) && !isnan(y) && x != y)
				assert_int_equal(out[i], x < y ? a[i] : b[i]);
		}
		/* In place. */
		rf_arith_reduce(RF_ARITH_FP32, RF_ARITH_MAX, a, a, b, n);
		rf_arith_reduce(RF_ARITH_FP32, RF_ARITH_MAX, out, a, b, n);
		assert_memory_equal(a, out, 4 * n);
	}
}

/* Six ranks on ports 0, 2, 3 of lane 0, ports 1, 6 of lane 1, port 7 of lane 2, added by hand. */
static void order_by_hand(void **state)
{
	struct roce_random rng = roce_random_start("collective_arith_test");
	static const struct rf_place places[6] = {{2, 0}, {7, 2}, {0, 0}, {6, 1}, {3, 0}, {1, 1}};
	float in[6][1000], out[1000];
	const void *operands[6];
	int other_order = 0;

	(void)state;
	for (uint32_t r = 0; r < 6; r++) {
		operands[r] = in[r];
		for (size_t i = 0; i < 1000; i++)
			in[r][i] = number((roce_random(&rng) & 0x81ffffff) | 0x3e000000);
	}
	assert_int_equal(
		rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 6, places, operands, out, 1000), 0);
	for (size_t i = 0; i < 1000; i++) {
		volatile float p23 = in[0][i] + in[4][i];
		volatile float lane0 = in[2][i] + p23;
		volatile float lane1 = in[5][i] + in[3][i];
		volatile float acc = lane0 + lane1;
		volatile float want = acc + in[1][i];
		volatile float wrong = in[0][i];

		assert_int_equal(bits(out[i]), bits(want));
		for (uint32_t r = 1; r < 6; r++)
			wrong = wrong + in[r][i];
		other_order += bits(out[i]) != bits(wrong);
	}
	/* The order matters: adding by rank gives other bits for some element. */
	assert_true(other_order > 0);
	/* The result may overwrite an operand. */
	assert_int_equal(
		rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 6, places, operands, in[3], 1000), 0);
	assert_memory_equal(in[3], out, sizeof(out));
}

/* 16-bit sums are rounded once at the end, not at every node. */
static void one_rounding(void **state)
{
	static const struct rf_place places[3] = {{0, 0}, {1, 0}, {0, 1}};
	static const uint16_t in[3] = {0x3f80, 0x3b80, 0x3b80}; /* 1 + 2^-8 + 2^-8 */
	const void *operands[3] = {&in[0], &in[1], &in[2]};
	uint16_t out, twice;

	(void)state;
	assert_int_equal(rf_order_reduce(RF_ARITH_BF16, RF_ARITH_SUM, 3, places, operands, &out, 1),
			 0);
	assert_int_equal(out, 0x3f81);
	rf_arith_reduce(RF_ARITH_BF16, RF_ARITH_SUM, &twice, &in[0], &in[1], 1);
	rf_arith_reduce(RF_ARITH_BF16, RF_ARITH_SUM, &twice, &twice, &in[2], 1);
	assert_int_equal(twice, 0x3f80);
}

static void refused(void **state)
{
	static const struct rf_place same[2] = {{1, 1}, {1, 1}}, port[1] = {{8, 0}},
				     lane[1] = {{0, 16}};
	static const struct rf_place good[2] = {{0, 0}, {1, 0}};
	uint32_t v = 0;
	const void *operands[2] = {&v, &v}, *missing[2] = {&v, NULL};
	uint32_t out = 0;

	(void)state;
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 0, good, operands, &out, 1),
			 -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 2, same, operands, &out, 1),
			 -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 1, port, operands, &out, 1),
			 -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 1, lane, operands, &out, 1),
			 -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_SUM, 2, good, missing, &out, 1),
			 -1);
	assert_int_equal(
		rf_order_reduce((enum rf_arith_type)10, RF_ARITH_SUM, 2, good, operands, &out, 1),
		-1);
	assert_int_equal(
		rf_order_reduce(RF_ARITH_INT32, RF_ARITH_PRODUCT, 2, good, operands, &out, 1), -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_AND, 2, good, operands, &out, 1),
			 -1);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP32, RF_ARITH_COPY, 2, good, operands, &out, 1),
			 -1);
	assert_int_equal(rf_arith_size((enum rf_arith_type)10), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(widening),
		cmocka_unit_test(narrowing),
		cmocka_unit_test(examples_hold),
		cmocka_unit_test(single_operand_passes),
		cmocka_unit_test(fp32_is_the_compilers),
		cmocka_unit_test(order_by_hand),
		cmocka_unit_test(one_rounding),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
