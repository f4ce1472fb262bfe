/*
 * rf_fp_vec with rf_fp_alu: every operation against the reference, bit-exact, and the latency of exactly 5 cycles.
 *
 *   Vrf_fp_vec [--seed N] [--cycles N]
 *
 * Every type and operation: all pairs of corner values, then random pairs. At the end one bit of one result is flipped:
 * the check must see it.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <verilated.h>
#include "Vrf_fp_vec.h"
#include "tests/rtl/fp_ref.h"

enum { LATENCY = 5, WORDS = 16, ALL = 2 * WORDS };

struct beat {
	bool valid;
	bool half;
	int type;
	int what;
	bool a_on, b_on;
	uint32_t a[ALL], b[ALL];
};

static void expected(const struct beat *e, uint32_t *y, int n)
{
	if (e->a_on && e->b_on)
		ref::vector(e->type, e->what, e->a, e->b, y, n);
	else
		memcpy(y, e->b_on ? e->b : e->a, sizeof(e->a));
}

struct bench {
	Vrf_fp_vec top;
	struct beat line[LATENCY + 1];
	long results;
	long wrong;
	/* The result of this number gets a flipped bit; -1: none. */
	long flip;

	explicit bench(long flip_at) : line(), results(0), wrong(0), flip(flip_at)
	{
		top.rst = 1;
		for (int i = 0; i < 4; i++)
			clock();
		top.rst = 0;
	}
	void clock()
	{
		top.clk = 0;
		top.eval();
		top.clk = 1;
		top.eval();
	}
	/* One cycle with `in`; checks the output for the beat given LATENCY cycles before. */
	void step(const struct beat *in)
	{
		top.in_valid = in->valid;
		/* Elements of 16 bits arrive as fp32. */
		top.in_dtype = (uint8_t)(in->half ? ref::BF16 : in->type);
		top.in_op = (uint8_t)in->what;
		top.in_a_on = in->a_on;
		top.in_b_on = in->b_on;
		if (in->valid) {
			memcpy(&top.in_a[0], in->a, sizeof(in->a));
			memcpy(&top.in_b[0], in->b, sizeof(in->b));
		}
		memmove(&line[1], &line[0], LATENCY * sizeof(line[0]));
		line[0] = *in;
		clock();
		check(&line[LATENCY - 1]);
	}
	void check(const struct beat *e)
	{
		if (top.out_valid != e->valid) {
			wrong++;
			if (wrong < 10)
				printf("out_valid is %d, not %d\n", top.out_valid, e->valid);
			return;
		}
		if (!e->valid)
			return;
		uint32_t wants[ALL];

		expected(e, wants, e->half ? ALL : WORDS);
		for (int i = 0; i < (e->half ? ALL : WORDS); i++) {
			uint32_t y = top.out_data[i];
			uint32_t want = wants[i];

			if (results == flip)
				y ^= 1u << (results % 32);
			results++;
			if (y == want)
				continue;
			wrong++;
			if (wrong < 10 && flip < 0)
				printf("type %d op %d a %08x (%d) b %08x (%d): %08x, not %08x\n", e->type, e->what,
				       e->a[i], e->a_on, e->b[i], e->b_on, y, want);
		}
	}
	void drain()
	{
		struct beat idle = {};

		for (int i = 0; i < LATENCY; i++)
			step(&idle);
	}
};

static void put64(uint32_t *at, uint64_t x)
{
	at[0] = (uint32_t)x;
	at[1] = (uint32_t)(x >> 32);
}

/* The next pairs of corner values of 64 bits. */
static void corners64(struct beat *in, uint32_t *k)
{
	for (int i = 0; i < WORDS; i += 2, ++*k) {
		put64(in->a + i, ref::corners64[*k / ref::n_corners64 % ref::n_corners64]);
		put64(in->b + i, ref::corners64[*k % ref::n_corners64]);
	}
}

static void corners(struct bench *b)
{
	struct beat in = {};
	uint32_t k = 0;

	in.valid = in.a_on = in.b_on = true;
	for (in.type = 0; in.type < ref::TYPES_ALL; in.type++) {
		if (ref::is_half(in.type))
			continue;
		in.half = in.type == ref::FP32;
		for (in.what = 0; ref::allowed(in.type, in.what); in.what++)
			for (k = 0; k < (ref::is_wide(in.type) ? ref::n_corners64 * ref::n_corners64 :
								 ref::n_corners * ref::n_corners);) {
				if (ref::is_wide(in.type))
					corners64(&in, &k);
				for (int i = 0; i < ALL && !ref::is_wide(in.type); i++, k++) {
					in.a[i] = ref::corners[k / ref::n_corners % ref::n_corners];
					in.b[i] = ref::corners[k % ref::n_corners];
				}
				b->step(&in);
			}
	}
	b->drain();
}

static void random_cycles(struct bench *b, uint64_t seed, long cycles)
{
	ref::rng r(seed);
	struct beat in = {};

	for (long n = 0; n < cycles; n++) {
		uint32_t c = r.next();

		in.valid = (c & 15) != 0;
		/* Sums of floats are the harder half. */
		in.type = (c >> 4 & 1) ? ref::FP32 : (c >> 5 & 1) ? ref::FP64 : ref::INT32 + (int)r.below(7);
		in.half = in.type == ref::FP32 && (c >> 7 & 1);
		in.what = (c >> 8 & 1) ? ref::SUM : (int)r.below(ref::is_float(in.type) ? 3 : 6);
		in.a_on = (c >> 28 & 7) != 0;
		in.b_on = !in.a_on || (c >> 25 & 7) != 0;
		for (int i = 0; in.valid && ref::is_wide(in.type) && i < WORDS; i += 2) {
			uint64_t x, y;

			ref::pair64(r, &x, &y);
			put64(in.a + i, x);
			put64(in.b + i, y);
		}
		for (int i = 0; in.valid && !ref::is_wide(in.type) && i < (in.half ? ALL : WORDS); i++)
			ref::pair(r, &in.a[i], &in.b[i]);
		b->step(&in);
	}
	b->drain();
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	long cycles = 2000000;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--cycles"))
			cycles = strtol(argv[i + 1], NULL, 0);
	}
	printf("repeat with: %s --seed %llu --cycles %ld\n", argv[0], (unsigned long long)seed, cycles);

	static struct bench b(-1);
	corners(&b);
	random_cycles(&b, seed, cycles);
	printf("%ld results, %ld wrong\n", b.results, b.wrong);

	static struct bench flipped(12345);
	random_cycles(&flipped, seed, 1000);
	if (flipped.wrong != 1) {
		printf("a flipped bit was not seen\n");
		return 1;
	}
	return b.wrong != 0 || b.results < cycles * WORDS / 2;
}
