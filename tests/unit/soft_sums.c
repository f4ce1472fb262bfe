/*
 * The kernels of the software box, each build of them that the processor can run, compared with the
 * model's integer arithmetic: every type and operation, corner cases against each other, random
 * values, lengths that fill no vector. Seed: first argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "rf_regs.h"
#include "sim/model/arith.h"
#include "soft/sum.h"

#define BYTES 4096u
#define ROUNDS 200u

static uint64_t seed = 1;
static uint64_t state;

/* Corner cases as they lie in memory: binary32, bf16, binary16 and binary64 among them. */
static const uint64_t corners[] = {
	0x0000000000000000, 0x8000000080000000, 0x0000000100000001, 0x8000000180000001,
	0x007fffff00800000, 0x3f8000003f800001, 0x3380000033800001, 0x7f7fffff73000000,
	0x7f800000ff800000, 0x7fc00000ffc00000, 0x7f80000172ffffff, 0x7fffffffffffffff,
	0x3c007c007bff4c00, 0x0001000203ff0400, 0x7e007dff7c01fc00, 0x80018000fbff8400,
	0x7bff4bff7bff4bff, 0x7f7f3b803f803b81, 0x7f7f7b007f7f7aff, 0xff80ff817f807fc1,
	0x3ff0000000000000, 0x3ca0000000000000, 0x7fefffffffffffff, 0x7c90000000000000,
	0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001, 0x8000000000000000,
	0x0010000000000000, 0x000fffffffffffff, 0x3ff0000000000001, 0x7fffffff80000000,
};

#define CORNERS (sizeof(corners) / sizeof(corners[0]))

static void random_operand(uint8_t *p, unsigned int round)
{
	unsigned int k;

	for (k = 0; k < BYTES; k += 8) {
		uint64_t x = rf_rng_word(&state), y = corners[rf_rng_word(&state) % CORNERS];

		/* Near exponents, so that sums round. */
		if (round % 3 == 1)
			x &= 0x83ff83ff83ff83ff;
		if (round % 3 == 1)
			x |= 0x3c003c003c003c00;
		x = rf_rng_word(&state) % 4 ? x : y;
		memcpy(p + k, &x, 8);
	}
}

static void fault(const struct soft_sum *s, unsigned int type, unsigned int op, size_t at)
{
	fail_msg("%s: type %u op %u differs at byte %zu; seed %llu", s->name, type, op, at,
		 (unsigned long long)seed);
}

/* One sum of two operands, and the output step, as the model computes it. */
static void by_model(unsigned int type, unsigned int op, uint8_t *out, const uint8_t *a,
		     const uint8_t *b, size_t bytes)
{
	static uint32_t x[BYTES], y[BYTES];
	size_t n = arith_words(type, bytes);

	arith_load(type, x, a, n);
	arith_load(type, y, b, n);
	arith_combine(type, op, x, y, n);
	arith_store(type, out, x, n);
}

static void by_soft(const struct soft_sum *s, unsigned int type, unsigned int op, uint8_t *out,
		    const uint8_t *a, const uint8_t *b, size_t bytes)
{
	static uint8_t x[2 * BYTES], y[2 * BYTES], z[2 * BYTES];

	if (s->load[type]) {
		s->load[type](x, a, bytes);
		s->load[type](y, b, bytes);
		a = x;
		b = y;
	}
	s->combine[type][op](z, a, b, bytes);
	if (s->store[type])
		s->store[type](out, z, bytes);
	else
		memcpy(out, z, bytes);
}

static void compare(const struct soft_sum *s, unsigned int type, unsigned int op, const uint8_t *a,
		    const uint8_t *b, size_t bytes)
{
	static uint8_t want[BYTES], got[BYTES];
	size_t k;

	by_model(type, op, want, a, b, bytes);
	by_soft(s, type, op, got, a, b, bytes);
	for (k = 0; k < bytes; k++)
		if (want[k] != got[k])
			fault(s, type, op, k);
}

static void each(const struct soft_sum *s)
{
	static uint8_t a[BYTES], b[BYTES];
	unsigned int type, op, k, round;

	state = seed;
	for (type = 0; type < SOFT_TYPES; type++) {
		for (op = 0; op < SOFT_OPS; op++) {
			if (!s->combine[type][op])
				continue;
			for (k = 0; k < CORNERS; k++) { /* each against each */
				unsigned int n;

				for (n = 0; n < CORNERS; n++) {
					memcpy(a + 8 * n, &corners[n], 8);
					memcpy(b + 8 * n, &corners[(n + k) % CORNERS], 8);
				}
				compare(s, type, op, a, b, 8 * CORNERS);
			}
			for (round = 0; round < ROUNDS; round++) {
				size_t bytes = round % 4 ? BYTES : 8 * (1 + round);

				random_operand(a, round);
				random_operand(b, round);
				compare(s, type, op, a, b, bytes);
			}
		}
	}
}

static void run(const char *name)
{
	const struct soft_sum *s = soft_sum_named(name);

	if (!s) {
		printf("the processor does not have %s\n", name);
		skip();
		return;
	}
	assert_string_equal(s->name, name);
	each(s);
}

static void none(void **unused)
{
	(void)unused;
	run("none");
}

static void avx2(void **unused)
{
	(void)unused;
	run("avx2");
}

static void avx512(void **unused)
{
	(void)unused;
	run("avx512");
}

/* Every value of the 16-bit types through load and store, and every binary32 near their ends. */
static void conversions(void **unused)
{
	static const char *const name[] = {"none", "avx2", "avx512"};
	static uint8_t in[BYTES], wide[2 * BYTES], back[BYTES], want[BYTES];
	static uint32_t words[BYTES];
	unsigned int k, type;
	uint32_t n, x;

	(void)unused;
	for (k = 0; k < 3; k++) {
		const struct soft_sum *s = soft_sum_named(name[k]);

		for (type = RF_DTYPE_BF16; s && type <= RF_DTYPE_FP16; type++) {
			for (n = 0; n < 0x10000; n += BYTES / 2) {
				for (x = 0; x < BYTES / 2; x++) {
					in[2 * x] = (uint8_t)(n + x);
					in[2 * x + 1] = (uint8_t)((n + x) >> 8);
				}
				s->load[type](wide, in, BYTES);
				s->store[type](back, wide, BYTES);
				arith_load(type, words, in, BYTES / 2);
				arith_store(type, want, words, BYTES / 2);
				assert_memory_equal(back, want, BYTES);
			}
			/* All sign bits, exponents and roundings of the upper 20 bits. */
			for (n = 0; n < 0x100000; n += BYTES / 2) {
				for (x = 0; x < BYTES / 2; x++)
					words[x] = (n + x) << 12 |
						   ((n + x) * 0x9e3779b1u >> 31) * 0xfffu;
				memcpy(wide, words, 2 * BYTES);
				s->store[type](back, wide, BYTES);
				arith_store(type, want, words, BYTES / 2);
				assert_memory_equal(back, want, BYTES);
			}
		}
	}
}

/* A name that is not one, and the widest by default. */
static void names(void **unused)
{
	(void)unused;
	assert_null(soft_sum_named("sse"));
	assert_non_null(soft_sum_named(NULL));
	assert_ptr_equal(soft_sum_named(""), soft_sum_named(NULL));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(none),        cmocka_unit_test(avx2),  cmocka_unit_test(avx512),
		cmocka_unit_test(conversions), cmocka_unit_test(names),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	printf("seed %llu; repeat: soft_sums %llu\n", (unsigned long long)seed,
	       (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
