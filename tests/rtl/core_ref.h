// Expected results of a reduction, element by element, for the types that this bench compares:
// int32, fp32 and bf16. Written from docs/reduction.md; the arithmetic itself is tested with
// rf_reduce.
#ifndef CORE_REF_H
#define CORE_REF_H

#include "tests/rtl/core_bench.h"

enum { FP32 = 0, BF16 = 1, FP16_TYPE = 2, INT32 = 3 };
enum { SUM = 0, MIN = 1, MAX = 2 };

static inline uint32_t combine(unsigned dtype, unsigned op, uint32_t a, uint32_t b)
{
	if (dtype == INT32) {
		int32_t x = static_cast<int32_t>(a), y = static_cast<int32_t>(b);
		return op == SUM ? a + b
				 : static_cast<uint32_t>(op == MIN ? (x < y ? x : y)
							 : x > y   ? x
								   : y);
	}
	float x, y;
	memcpy(&x, &a, 4);
	memcpy(&y, &b, 4);
	float z = op == SUM ? x + y : op == MIN ? (x < y ? x : y) : x > y ? x : y;
	memcpy(&a, &z, 4);
	return a;
}

// 32-bit elements of one index from all ranks, in the order of Group::ranks.
static inline uint32_t reduce_wide(const Group &g, const std::vector<uint32_t> &v)
{
	bool any = false;
	uint32_t acc = 0;

	for (unsigned l = 0; l < g.lanes; l++) {
		bool have[8] = {};
		uint32_t t[8] = {};
		for (unsigned k = 0; k < g.ranks.size(); k++)
			if (g.ranks[k].lane == l) {
				have[g.ranks[k].port] = true;
				t[g.ranks[k].port] = v[k];
			}
		for (unsigned n = 8; n > 1; n /= 2)
			for (unsigned b = 0; b < n / 2; b++) {
				if (have[2 * b] && have[2 * b + 1])
					t[b] = combine(g.dtype, g.op, t[2 * b], t[2 * b + 1]);
				else if (have[2 * b + 1])
					t[b] = t[2 * b + 1];
				else
					t[b] = t[2 * b];
				have[b] = have[2 * b] || have[2 * b + 1];
			}
		if (!have[0])
			continue;
		acc = any ? combine(g.dtype, g.op, acc, t[0]) : t[0];
		any = true;
	}
	return acc;
}

// The words of one index: one wide element each, or two bf16, added in fp32 and rounded once, to
// even.
static inline uint32_t reduce_word(const Group &g, const std::vector<uint32_t> &v)
{
	if (g.dtype != BF16)
		return reduce_wide(g, v);
	uint32_t word = 0;
	for (unsigned half = 0; half < 2; half++) {
		std::vector<uint32_t> wide(v.size());
		for (size_t k = 0; k < v.size(); k++)
			wide[k] = v[k] >> 16 * half << 16;
		uint32_t s = reduce_wide(g, wide);
		word |= (s + 0x7fff + (s >> 16 & 1)) >> 16 << 16 * half;
	}
	return word;
}

// Payloads are a function of (seed, rank, index), so nothing needs to be stored.
static inline uint32_t operand(uint32_t seed, unsigned dtype, unsigned rank, uint32_t index,
			       unsigned word)
{
	uint32_t x = seed * 2654435761u ^ (rank + 1) * 2246822519u ^ (index + 1) * 3266489917u ^
		     (word + 1) * 668265263u;

	x = (x ^ x >> 15) * 2246822519u;
	x = (x ^ x >> 13) * 3266489917u;
	x ^= x >> 16;
	if (dtype == INT32)
		return x;
	// Floats of moderate size: no NaN, no infinity, but every rounding case.
	if (dtype == BF16)
		return (x & 0x807f807f) | (118 + (x >> 23) % 16) << 23 | (118 + (x >> 7) % 16) << 7;
	return (x & 0x807fffff) | (118 + (x >> 23) % 16) << 23;
}

static inline Bytes payload_of(const Group &g, uint32_t seed, unsigned rank, uint32_t index,
			       unsigned bytes, unsigned pad = 0)
{
	Bytes b;

	for (unsigned w = 0; w < bytes / 4; w++) {
		uint32_t v = operand(seed, g.dtype, rank, index, w);
		for (unsigned k = 0; k < 4; k++)
			b.push_back(static_cast<uint8_t>(v >> (8 * k)));
	}
	(void)pad;
	return b;
}

static inline Bytes expected(const Group &g, uint32_t seed, uint32_t index, unsigned bytes)
{
	Bytes b;
	std::vector<uint32_t> v(g.ranks.size());

	for (unsigned w = 0; w < bytes / 4; w++) {
		for (unsigned k = 0; k < v.size(); k++)
			v[k] = operand(seed, g.dtype, k, index, w);
		uint32_t s = reduce_word(g, v);
		for (unsigned k = 0; k < 4; k++)
			b.push_back(static_cast<uint8_t>(s >> (8 * k)));
	}
	return b;
}

#endif
