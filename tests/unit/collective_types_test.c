/*
 * All types and operations: the examples of docs/reduction.md, every pair of bytes, and random
 * elements compared with the arithmetic of the reference model, which is written without floating
 * point and shares no code with this one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/collective/arith.h"
#include "sim/model/arith.h"
#include "tests/unit/roce_random.h"

#define COUNT 600u
#define RANKS 5u

struct example {
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint64_t a, b, want;
};

static const struct example examples[] = {
	{RF_ARITH_UINT32, RF_ARITH_MAX, 0x7fffffff, 0x80000000, 0x80000000},
	{RF_ARITH_UINT32, RF_ARITH_SUM, 0xffffffff, 2, 1},
	{RF_ARITH_INT32, RF_ARITH_XOR, 0xffff0000, 0xff00ff00, 0x00ffff00},
	{RF_ARITH_INT64, RF_ARITH_SUM, INT64_MAX, 1, UINT64_C(1) << 63},
	{RF_ARITH_INT64, RF_ARITH_MIN, UINT64_MAX, 0, UINT64_MAX},
	{RF_ARITH_UINT64, RF_ARITH_MIN, UINT64_MAX, 0, 0},
	{RF_ARITH_UINT64, RF_ARITH_OR, 0xf0, UINT64_C(1) << 63, (UINT64_C(1) << 63) | 0xf0},
	{RF_ARITH_INT8, RF_ARITH_SUM, 0x80, 0xff, 0x7f},
	{RF_ARITH_INT8, RF_ARITH_MIN, 0x80, 0x7f, 0x80},
	{RF_ARITH_UINT8, RF_ARITH_MIN, 0x80, 0x7f, 0x7f},
	{RF_ARITH_UINT8, RF_ARITH_AND, 0x8f, 0x7e, 0x0e},
	{RF_ARITH_FP64, RF_ARITH_SUM, 0x3ff0000000000000, 0x3ca0000000000000, 0x3ff0000000000000},
	{RF_ARITH_FP64, RF_ARITH_SUM, 0x7fefffffffffffff, 0x7c90000000000000, 0x7ff0000000000000},
	{RF_ARITH_FP64, RF_ARITH_SUM, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000},
	{RF_ARITH_FP64, RF_ARITH_SUM, 1, 1, 2},
	{RF_ARITH_FP64, RF_ARITH_MIN, 0, UINT64_C(1) << 63, UINT64_C(1) << 63},
	{RF_ARITH_FP64, RF_ARITH_MAX, 0x7ff0000000000001, 0xfff0000000000000, 0xfff0000000000000},
	{RF_ARITH_FP64, RF_ARITH_MAX, 0xfff8000000000001, 0x7ff0000000000001, 0x7ff8000000000000},
};

static void examples_hold(void **state)
{
	static const struct rf_place places[2] = {{3, 0}, {0, 1}};

	(void)state;
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++) {
		const struct example *x = &examples[i];
		const void *pair[2] = {&x->a, &x->b}, *swapped[2] = {&x->b, &x->a};
		uint64_t out[3] = {0};

		rf_arith_reduce(x->type, x->op, &out[0], &x->a, &x->b, 1);
		assert_int_equal(rf_order_reduce(x->type, x->op, 2, places, pair, &out[1], 1), 0);
		assert_int_equal(rf_order_reduce(x->type, x->op, 2, places, swapped, &out[2], 1),
				 0);
		for (int k = 0; k < 3; k++)
			if (out[k] != x->want)
				fail_msg("example %zu way %d: %016llx, not %016llx", i, k,
					 (unsigned long long)out[k], (unsigned long long)x->want);
	}
}

/* A signed or unsigned byte as a number. */
static int number(bool is_signed, unsigned int byte)
{
	return is_signed && byte > 127 ? (int)byte - 256 : (int)byte;
}

static unsigned int byte_result(bool is_signed, enum rf_arith_op op, unsigned int a, unsigned int b)
{
	bool a_less = number(is_signed, a) < number(is_signed, b);

	switch (op) {
	case RF_ARITH_SUM:
		return (a + b) & 255;
	case RF_ARITH_MIN:
		return a_less ? a : b;
	case RF_ARITH_MAX:
		return a_less ? b : a;
	case RF_ARITH_AND:
		return a & b;
	case RF_ARITH_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

static void every_pair_of_bytes(void **state)
{
	static uint8_t a[65536], b[65536], out[65536];

	(void)state;
	for (unsigned int k = 0; k < 65536; k++) {
		a[k] = (uint8_t)k;
		b[k] = (uint8_t)(k >> 8);
	}
	for (unsigned int op = 0; op < RF_ARITH_COPY; op++) {
		for (unsigned int s = 0; s < 2; s++) {
			rf_arith_reduce(s ? RF_ARITH_INT8 : RF_ARITH_UINT8, (enum rf_arith_op)op,
					out, a, b, 65536);
			for (unsigned int k = 0; k < 65536; k++)
				assert_int_equal(out[k],
						 byte_result(s, (enum rf_arith_op)op, a[k], b[k]));
		}
	}
}

/* Random elements; of floating types, many are near one another, zero, infinite or NaN. */
static uint64_t element(enum rf_arith_type type, struct roce_random *rng)
{
	uint64_t v = (uint64_t)roce_random(rng) << 32 | roce_random(rng);
	size_t bits = 8 * rf_arith_size(type);
	unsigned int exponent = type == RF_ARITH_FP64 ? 11 : type == RF_ARITH_FP16 ? 5 : 8;
	uint64_t mantissa = (UINT64_C(1) << (bits - 1 - exponent)) - 1;
	uint64_t all = ((UINT64_C(1) << exponent) - 1) << (bits - 1 - exponent);

	if (type != RF_ARITH_FP64 && type > RF_ARITH_FP16)
		return roce_random_below(rng, 4) ? v : v & 3;
	switch (roce_random_below(rng, 8)) {
	case 0:
		return v & ~all; /* subnormal */
	case 1:
		return v | all; /* NaN */
	case 2:
		return (v & ~mantissa) | all; /* infinite */
	case 3:
		return v & ~(mantissa | all); /* zero */
	case 4:
		return v;
	default: /* near 1, so that rounding matters */
		return (v & ~all) | (all / 2 + ((v >> 62) << (bits - 1 - exponent)));
	}
}

/* What the model computes, along the same tree: ports 0 and 1, 2; then the next lane. */
static void model_result(enum rf_arith_type type, enum rf_arith_op op, uint8_t in[RANKS][8 * COUNT],
			 uint8_t *out)
{
	static uint32_t v[RANKS][2 * COUNT];
	size_t words = arith_words(type, COUNT * rf_arith_size(type));

	for (unsigned int r = 0; r < RANKS; r++)
		arith_load(type, v[r], in[r], words);
	arith_combine(type, op, v[0], v[1], words);
	arith_combine(type, op, v[0], v[2], words);
	arith_combine(type, op, v[3], v[4], words);
	arith_combine(type, op, v[0], v[3], words);
	arith_store(type, out, v[0], words);
}

static void as_the_model(void **state)
{
	static const struct rf_place places[RANKS] = {{0, 0}, {1, 0}, {2, 0}, {4, 3}, {5, 3}};
	static uint8_t in[RANKS][8 * COUNT], want[8 * COUNT + 8];
	static uint64_t got[COUNT + 1];
	struct roce_random rng = roce_random_start("collective_types_test");

	(void)state;
	for (unsigned int t = 0; t < RF_ARITH_TYPES; t++) {
		enum rf_arith_type type = (enum rf_arith_type)t;
		size_t size = rf_arith_size(type), bytes = COUNT * size;

		for (unsigned int o = 0; o < 40 * RF_ARITH_COPY; o++) {
			enum rf_arith_op op = (enum rf_arith_op)(o % RF_ARITH_COPY);
			const void *operands[RANKS];

			for (unsigned int r = 0; r < RANKS; r++) {
				operands[r] = in[r];
				for (size_t k = 0; k < COUNT; k++) {
					uint64_t e = element(type, &rng);

					memcpy(in[r] + k * size, &e, size);
				}
			}
			if (!rf_arith_has(type, op)) {
				assert_int_equal(rf_order_reduce(type, op, RANKS, places, operands,
								 got, COUNT),
						 -1);
				continue;
			}
			model_result(type, op, in, want);
			assert_int_equal(
				rf_order_reduce(type, op, RANKS, places, operands, got, COUNT), 0);
			if (memcmp(got, want, bytes) != 0)
				fail_msg("type %u operation %u differs", t, (unsigned int)op);
			/* The comparison sees one bit. */
			((uint8_t *)got)[o % bytes] ^= 1;
			assert_memory_not_equal(got, want, bytes);
		}
	}
}

static void copy_keeps_every_bit(void **state)
{
	static const struct rf_place place = {2, 1};
	const uint64_t signalling = 0x7ff0000000000001;
	const void *operand = &signalling;
	uint64_t out = 0;

	(void)state;
	assert_int_equal(
		rf_order_reduce(RF_ARITH_FP64, RF_ARITH_COPY, 1, &place, &operand, &out, 1), 0);
	assert_true(out == signalling);
	assert_int_equal(rf_order_reduce(RF_ARITH_FP64, RF_ARITH_SUM, 1, &place, &operand, &out, 1),
			 0);
	assert_true(out == 0x7ff8000000000000);
}

static void which_type_has_what(void **state)
{
	static const unsigned int bits = 1u << RF_ARITH_INT32 | 1u << RF_ARITH_UINT32 |
					 1u << RF_ARITH_INT64 | 1u << RF_ARITH_UINT64 |
					 1u << RF_ARITH_INT8 | 1u << RF_ARITH_UINT8;

	(void)state;
	for (unsigned int t = 0; t < 12; t++) {
		for (unsigned int o = 0; o < 9; o++) {
			bool bit = o >= RF_ARITH_AND && o <= RF_ARITH_XOR;
			bool want = t < 10 && o < 7 && (!bit || bits >> t & 1);

			assert_int_equal(rf_arith_has((enum rf_arith_type)t, (enum rf_arith_op)o),
					 want);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples_hold),       cmocka_unit_test(every_pair_of_bytes),
		cmocka_unit_test(as_the_model),        cmocka_unit_test(copy_keeps_every_bit),
		cmocka_unit_test(which_type_has_what),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
