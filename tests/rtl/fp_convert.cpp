/*
 * rf_fp_unpack and rf_fp_pack against the reference, bit-exact: every 16-bit value widened; corners, neighbours of ties
 * and random values narrowed; 1 and 2 cycles of latency.
 *
 *   Vfp_convert [--seed N] [--cycles N]
 *
 * At the end one bit of one result is flipped: the check must see it.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <verilated.h>
#include "Vfp_convert.h"
#include "tests/rtl/fp_ref.h"

struct job {
	bool valid;
	int type;
	/* The word is the lower half of an fp64 that is a NaN. */
	bool nan64;
	uint32_t low, high;
};

struct bench {
	Vfp_convert top;
	/* The inputs of one and two cycles ago. */
	struct job line[2];
	long results, wrong, flip;

	explicit bench(long flip_at) : line(), results(0), wrong(0), flip(flip_at)
	{
		top.rst = 1;
		clock();
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
	void set_type(int type)
	{
		top.in_half = type == ref::BF16 || type == ref::FP16;
		top.in_fp16 = type == ref::FP16;
		top.in_fp32 = type == ref::FP32;
	}
	void compare(const char *what, int type, uint32_t x, uint32_t y, uint32_t want)
	{
		if (results++ == flip)
			y ^= 1;
		if (y != want && wrong++ < 10 && flip < 0)
			printf("%s type %d of %08x: %08x, not %08x\n", what, type, x, y, want);
	}
	void widen(int type, uint32_t word)
	{
		set_type(type);
		top.in_word = word;
		top.in_en = 0;
		clock();
		if (!top.in_half) {
			compare("widen", type, word, top.out_low, word);
			return;
		}
		compare("widen low", type, word, top.out_low, ref::widen(type, (uint16_t)word));
		compare("widen high", type, word, top.out_high, ref::widen(type, (uint16_t)(word >> 16)));
	}
	void narrow(const struct job *in, int source)
	{
		uint64_t x = (uint64_t)in->high << 32 | in->low;

		set_type(in->type);
		top.in_nan64 = in->nan64;
		top.in_en = in->valid ? (uint8_t)source : 0;
		top.in_a = source == 1 ? x : ~x;
		top.in_b = source == 2 ? x : ~x;
		line[1] = line[0];
		line[0] = *in;
		clock();

		const struct job *e = &line[1];

		if (!e->valid)
			return;
		if (!ref::is_half(e->type)) {
			uint32_t want = e->type == ref::FP32 ? ref::canonical(e->low) : e->nan64 ? 0 : e->low;

			compare("finish", e->type, e->low, top.out_word, want);
			return;
		}
		compare("narrow low", e->type, e->low, top.out_word & 0xffff, ref::narrow(e->type, e->low));
		compare("narrow high", e->type, e->high, top.out_word >> 16, ref::narrow(e->type, e->high));
	}
};

/* A value near where the rounding of a type changes. */
static uint32_t tricky(ref::rng &r, int type)
{
	uint32_t k = r.next();
	uint32_t x = r.next();

	switch (k & 3) {
	case 0:
		return x;
	case 1:
		return ref::corners[(k >> 2) % ref::n_corners];
	case 2:
		/* A representable value or the middle between two, and its neighbours. */
		x = ref::widen(type, (uint16_t)x);
		x += (k >> 2 & 1) ? (type == ref::BF16 ? 0x8000u : 0x1000u) : 0;
		return x + (k >> 3) % 3 - 1;
	default:
		/* Around the subnormals and the top of fp16. */
		return (x & 0x807fffffu & (0xffffffffu << (k >> 8) % 24)) | ((100 + (k >> 2) % 46) << 23);
	}
}

static void run(struct bench *b, uint64_t seed, long cycles)
{
	ref::rng r(seed);
	struct job in = {};

	for (uint32_t x = 0; x < 65536; x++)
		for (int type = ref::BF16; type <= ref::FP16; type++)
			b->widen(type, x << 16 | (x ^ 0x5555));
	for (long n = 0; n < cycles; n++) {
		in.valid = r.below(8) != 0;
		in.type = (int)r.below(ref::TYPES_ALL);
		in.nan64 = in.type == ref::FP64 && r.below(4) == 0;
		in.low = tricky(r, in.type == ref::BF16 ? ref::BF16 : ref::FP16);
		in.high = tricky(r, in.type == ref::BF16 ? ref::BF16 : ref::FP16);
		b->narrow(&in, 1 + (int)r.below(2));
	}
}

int main(int argc, char **argv)
{
	uint64_t seed = 1;
	long cycles = 5000000;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (!strcmp(argv[i], "--seed"))
			seed = strtoull(argv[i + 1], NULL, 0);
		else if (!strcmp(argv[i], "--cycles"))
			cycles = strtol(argv[i + 1], NULL, 0);
	}
	printf("repeat with: %s --seed %llu --cycles %ld\n", argv[0], (unsigned long long)seed, cycles);

	static struct bench b(-1);
	run(&b, seed, cycles);
	printf("%ld results, %ld wrong\n", b.results, b.wrong);

	static struct bench flipped(200000);
	run(&flipped, seed, 1000);
	if (flipped.wrong != 1) {
		printf("a flipped bit was not seen\n");
		return 1;
	}
	return b.wrong != 0 || b.results < cycles;
}
