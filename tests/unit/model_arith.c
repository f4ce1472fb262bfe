/*
 * The model's integer arithmetic compared with the compiler's floating point: corner cases, and
 * random values. Seed: first argument, printed on failure with the operands.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <fenv.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "rf_regs.h"
#include "sim/model/arith.h"

#define RANDOM_SUMS 20000000u
#define RANDOM_OTHER 4000000u

static uint64_t seed = 1;
static uint64_t state;

static uint64_t next_random(void)
{
	return rf_rng_word(&state);
}

static float to_float(uint32_t x)
{
	float f;

	memcpy(&f, &x, sizeof(f));
	return f;
}

static uint32_t to_bits(float f)
{
	uint32_t x;

	memcpy(&x, &f, sizeof(x));
	return isnan(f) ? ARITH_NAN32 : x;
}

static const uint32_t corners[] = {
	0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x007fffff, 0x807fffff,
	0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000, 0x01000001, 0x3f800000,
	0xbf800000, 0x3f800001, 0xbf800001, 0x3f7fffff, 0xbf7fffff, 0x33800000, 0xb3800000,
	0x33800001, 0xb3800001, 0x337fffff, 0x33000000, 0xb3000000, 0x34000000, 0x4b800000,
	0x4b800001, 0x4b7fffff, 0xcb7fffff, 0x4b000000, 0x7f7fffff, 0xff7fffff, 0x7f7ffffe,
	0x73000000, 0x73000001, 0x72ffffff, 0xf3000000, 0x7f000000, 0xff000000, 0x7f800000,
	0xff800000, 0x7fc00000, 0xffc00000, 0x7f800001, 0xff800001, 0x7fffffff, 0xffffffff,
	0x00400000, 0x80400000, 0x0c000000, 0x0bffffff, 0x3effffff, 0x7effffff,
};

#define CORNERS (sizeof(corners) / sizeof(corners[0]))

static void fault(const char *what, uint32_t a, uint32_t b, uint32_t got, uint32_t want)
{
	fail_msg("%s of %08x and %08x is %08x, not %08x; repeat: model_arith %llu", what, a, b, got,
		 want, (unsigned long long)seed);
}

static uint32_t want_min(uint32_t a, uint32_t b, bool max)
{
	float x = to_float(a), y = to_float(b);

	if (isnan(x) && isnan(y))
		return ARITH_NAN32;
	if (isnan(x))
		return b;
	if (isnan(y))
		return a;
	if (x == y) /* zeros may differ in sign */
		return (signbit(x) != 0) != max ? a : b;
	return (x < y) != max ? a : b;
}

static void check_pair(uint32_t a, uint32_t b)
{
	uint32_t want = to_bits(to_float(a) + to_float(b));
	uint32_t got = arith_fp32_add(a, b);

	if (got != want)
		fault("sum", a, b, got, want);
}

static void check_order(uint32_t a, uint32_t b)
{
	uint32_t got = arith_to_fp32(arith_fp32_min(a, b));
	uint32_t want = want_min(a, b, false);

	if (got != want)
		fault("minimum", a, b, got, want);
	got = arith_to_fp32(arith_fp32_max(a, b));
	want = want_min(a, b, true);
	if (got != want)
		fault("maximum", a, b, got, want);
}

/* Random operands of which many interact: equal or close exponents, few bits set, near
 * cancellation. */
static void random_pair(uint32_t *a, uint32_t *b)
{
	uint64_t r = next_random(), kind = next_random();
	uint32_t x = (uint32_t)r, y = (uint32_t)(r >> 32);

	switch (kind & 7) {
	case 0:
	case 1:
		break;
	case 2: /* exponents up to 31 apart */
		y = (x & 0x7f800000u) + (((uint32_t)(kind >> 8) & 31) << 23) + (y & 0x807fffffu);
		break;
	case 3: /* almost the negative */
		y = (x ^ 0x80000000u) + (uint32_t)(kind >> 8 & 7) - 3;
		break;
	case 4: /* subnormals and the smallest normal numbers */
		x &= 0x81ffffffu;
		y &= 0x80ffffffu;
		break;
	case 5: /* few bits: ties */
		x &= 0xff800000u | 1u << (kind >> 8 & 31) | 1u;
		y = (x & 0x7f800000u) - (((uint32_t)(kind >> 16) % 26) << 23) +
		    (y & (0x80000000u | 1u << (kind >> 24 & 15)));
		break;
	case 6: /* the upper end */
		x |= 0x7f000000u;
		y |= 0x72000000u;
		break;
	default:
		y = corners[(kind >> 8) % CORNERS];
		break;
	}
	if (kind >> 63) {
		*a = y;
		*b = x;
	} else {
		*a = x;
		*b = y;
	}
}

static void test_fp32_corners(void **unused)
{
	size_t i, k;

	(void)unused;
	for (i = 0; i < CORNERS; i++) {
		for (k = 0; k < CORNERS; k++) {
			check_pair(corners[i], corners[k]);
			check_order(corners[i], corners[k]);
		}
	}
}

static void test_fp32_random(void **unused)
{
	uint32_t a, b, k;

	(void)unused;
	for (k = 0; k < RANDOM_SUMS; k++) {
		random_pair(&a, &b);
		check_pair(a, b);
	}
	for (k = 0; k < RANDOM_OTHER; k++) {
		random_pair(&a, &b);
		check_order(a, b);
	}
}

/* The examples of docs/reduction.md. */
static void test_examples(void **unused)
{
	(void)unused;
	assert_int_equal(arith_to_fp32(0x7f800001), 0x7fc00000);
	assert_int_equal(arith_to_fp32(0x80000000), 0x80000000);
	assert_int_equal(arith_fp32_add(1, 1), 2);
	assert_int_equal(arith_fp32_add(0x3f800000, 0x33800000), 0x3f800000);
	assert_int_equal(arith_fp32_add(0x3f800001, 0x33800000), 0x3f800002);
	assert_int_equal(arith_fp32_add(0x7f7fffff, 0x73000000), 0x7f800000);
	assert_int_equal(arith_fp32_add(0x7f800000, 0xff800000), 0x7fc00000);
	assert_int_equal(arith_fp32_min(0, 0x80000000), 0x80000000);
	assert_int_equal(arith_fp32_max(0xffc00001, 0xff800000), 0xff800000);
	assert_int_equal(
		arith_to_fp16(arith_fp32_add(arith_from_fp16(0x7bff), arith_from_fp16(0x4c00))),
		0x7c00);
	assert_int_equal(
		arith_to_fp16(arith_fp32_add(arith_from_fp16(0x7bff), arith_from_fp16(0x4bff))),
		0x7bff);
	assert_int_equal(arith_to_fp16(arith_fp32_add(arith_from_fp16(1), arith_from_fp16(1))), 2);
	assert_int_equal(
		arith_to_bf16(arith_fp32_add(arith_from_bf16(0x3f80), arith_from_bf16(0x3b80))),
		0x3f80);
}

/* Value of a 16-bit pattern with that number of fraction bits, by its definition. */
static double value_of(uint16_t x, int fraction_bits, int bias)
{
	int exponent = (x & 0x7fff) >> fraction_bits;
	int fraction = x & ((1 << fraction_bits) - 1);
	double v;

	if (exponent == 0)
		v = ldexp(fraction, 1 - bias - fraction_bits);
	else
		v = ldexp((1 << fraction_bits) + fraction, exponent - bias - fraction_bits);
	return x & 0x8000 ? -v : v;
}

static void test_widening(void **unused)
{
	uint32_t x;

	(void)unused;
	for (x = 0; x < 0x10000; x++) {
		float half = to_float(arith_from_fp16((uint16_t)x));
		float brain = to_float(arith_from_bf16((uint16_t)x));

		if ((x & 0x7fff) > 0x7c00)
			assert_true(isnan(half));
		else if ((x & 0x7fff) == 0x7c00)
			assert_true(isinf(half) && !signbit(half) == !(x & 0x8000));
		else if ((double)half != value_of((uint16_t)x, 10, 15) ||
			 !signbit(half) != !(x & 0x8000))
			fail_msg("binary16 %04x became %a", x, (double)half);
		if ((x & 0x7fff) > 0x7f80)
			assert_true(isnan(brain));
		else if ((x & 0x7fff) == 0x7f80)
			assert_true(isinf(brain) && !signbit(brain) == !(x & 0x8000));
		else if ((double)brain != value_of((uint16_t)x, 7, 127) ||
			 !signbit(brain) != !(x & 0x8000))
			fail_msg("bfloat16 %04x became %a", x, (double)brain);
		/* A conversion and its inverse give the same value, except for NaN. */
		if (!isnan(half))
			assert_int_equal(arith_to_fp16(arith_from_fp16((uint16_t)x)), x);
		if (!isnan(brain))
			assert_int_equal(arith_to_bf16(arith_from_bf16((uint16_t)x)), x);
	}
}

/* x rounded to a multiple of the unit in its last place; infinity from `limit` up. */
static double rounded(double x, int fraction_bits, int least_exponent, double limit)
{
	int exponent;
	double y;

	if (x == 0 || isinf(x))
		return x;
	frexp(x, &exponent); /* 0.5 <= |x| / 2^exponent < 1 */
	exponent--;
	if (exponent < least_exponent)
		exponent = least_exponent;
	y = ldexp(nearbyint(ldexp(x, fraction_bits - exponent)), exponent - fraction_bits);
	return fabs(y) >= limit ? copysign(INFINITY, x) : y;
}

static void check_narrow(uint32_t x)
{
	double v = (double)to_float(x), want, got;

	if (isnan(v)) {
		assert_int_equal(arith_to_fp16(x), 0x7e00);
		assert_int_equal(arith_to_bf16(x), 0x7fc0);
		return;
	}
	want = rounded(v, 10, -14, 65536.0);
	got = (double)to_float(arith_from_fp16(arith_to_fp16(x)));
	if (got != want || !signbit(got) != !signbit(v))
		fail_msg("%08x to binary16 gave %a, not %a; repeat: model_arith %llu", x, got, want,
			 (unsigned long long)seed);
	want = rounded(v, 7, -126, ldexp(1, 128));
	got = (double)to_float(arith_from_bf16(arith_to_bf16(x)));
	if (got != want || !signbit(got) != !signbit(v))
		fail_msg("%08x to bfloat16 gave %a, not %a; repeat: model_arith %llu", x, got, want,
			 (unsigned long long)seed);
}

static void test_narrowing(void **unused)
{
	static const uint32_t lows[] = {0,      1,      0x0fff, 0x1000, 0x1001,
					0x1fff, 0x7fff, 0x8000, 0x8001};
	uint32_t x;
	size_t k;

	(void)unused;
	for (k = 0; k < CORNERS; k++)
		check_narrow(corners[k]);
	/* Around every tie of either type. */
	for (x = 0; x < 0x10000; x++) {
		for (k = 0; k < sizeof(lows) / sizeof(lows[0]); k++) {
			check_narrow(x << 16 | lows[k]);
			check_narrow(arith_from_fp16((uint16_t)x) + lows[k]);
			check_narrow(arith_from_fp16((uint16_t)x) - lows[k]);
		}
	}
	/* Subnormals of binary16, in which the rounding position varies. */
	for (x = 0x32000000; x < 0x39000000; x += 977)
		check_narrow(x | (x & 1) << 31);
	for (k = 0; k < RANDOM_OTHER; k++)
		check_narrow((uint32_t)next_random());
}

/* The pairs above distinguish the correct adder from ones that are almost correct. */
static void test_pairs_are_sharp(void **unused)
{
	unsigned int truncated = 0, flushed = 0;
	uint32_t a, b, k;

	(void)unused;
	for (k = 0; k < 20000; k++) {
		volatile float x, y; /* the sum is made here, in this rounding mode */
		uint32_t sum, least, half;

		random_pair(&a, &b);
		sum = arith_fp32_add(a, b);
		half = to_bits((float)((double)to_float(a) + (double)to_float(b)));
		fesetround(FE_TOWARDZERO);
		x = to_float(a);
		y = to_float(b);
		least = to_bits(x + y);
		fesetround(FE_TONEAREST);
		truncated += sum != least;
		if ((sum & 0x7f800000) == 0 && (sum & 0x7fffff))
			flushed++;
		assert_int_equal(sum, half); /* double is wide enough to be rounded twice */
	}
	assert_true(truncated > 100);
	assert_true(flushed > 100);
}

static void test_vectors(void **unused)
{
	static const uint8_t a[] = {0xff, 0xff, 0xff, 0x7f, 0, 0, 0, 0x80, 5, 0, 0, 0};
	static const uint8_t b[] = {1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xff, 0xff, 0xff};
	static const uint32_t want[3][3] = {{0x80000000, 0x7fffffff, 3},
					    {1, 0x80000000, 0xfffffffe},
					    {0x7fffffff, 0xffffffff, 5}};
	uint32_t va[3], vb[3];
	uint8_t out[12], again[12];
	unsigned int op, k;

	(void)unused;
	for (op = 0; op < 3; op++) {
		arith_load(RF_DTYPE_INT32, va, a, 3);
		arith_load(RF_DTYPE_INT32, vb, b, 3);
		arith_combine(RF_DTYPE_INT32, op, va, vb, 3);
		arith_store(RF_DTYPE_INT32, out, va, 3);
		for (k = 0; k < 3; k++)
			assert_int_equal(va[k], want[op][k]);
		arith_load(RF_DTYPE_INT32, vb, out, 3);
		arith_store(RF_DTYPE_INT32, again, vb, 3);
		assert_memory_equal(out, again, sizeof(out));
	}
	assert_int_equal(arith_element_size(RF_DTYPE_FP32), 4);
	assert_int_equal(arith_element_size(RF_DTYPE_INT32), 4);
	assert_int_equal(arith_element_size(RF_DTYPE_BF16), 2);
	assert_int_equal(arith_element_size(RF_DTYPE_FP16), 2);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_examples),    cmocka_unit_test(test_fp32_corners),
		cmocka_unit_test(test_fp32_random), cmocka_unit_test(test_widening),
		cmocka_unit_test(test_narrowing),   cmocka_unit_test(test_pairs_are_sharp),
		cmocka_unit_test(test_vectors),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	state = seed;
	printf("seed %llu\n", (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
