/* A small random generator (splitmix64), and operands with many special values. */
#ifndef RF_COMPARE_RANDOM_H
#define RF_COMPARE_RANDOM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "rf_regs.h"

static inline uint64_t random_next(uint64_t *state)
{
	return rf_rng_word(state);
}

/* 0 .. n-1. */
static inline uint32_t random_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((random_next(state) >> 32) * n >> 32);
}

/* True once in n. */
static inline bool random_once(uint64_t *state, uint32_t n)
{
	return random_below(state, n) == 0;
}

static inline uint32_t random_word(uint64_t *state, unsigned int dtype)
{
	static const uint32_t corners[] = {
		0x00000000, 0x80000000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000,
		0x3f800001, 0x33800000, 0xb3800000, 0x7f7fffff, 0xff7fffff, 0x73000000, 0x7f800000,
		0xff800000, 0x7fc00000, 0xffc00001, 0x7f800001, 0x00000002, 0x7fffffff,
	};
	static const uint16_t half[] = {0x0000, 0x8000, 0x0001, 0x83ff, 0x0400, 0x3c00, 0xbc00,
					0x3c01, 0x1000, 0x7bff, 0xfbff, 0x4c00, 0x7c00, 0xfc00,
					0x7e00, 0x7c01, 0xfe01, 0x4bff, 0x3f80, 0x7f7f, 0x7f80};
	uint64_t r = random_next(state);

	if (dtype == RF_DTYPE_BF16 || dtype == RF_DTYPE_FP16) {
		uint32_t low = r & 1 ? half[(r >> 8) % 21] : (uint32_t)(r >> 16) & 0xffff;
		uint32_t high = r & 2 ? half[(r >> 32) % 21] : (uint32_t)(r >> 40) & 0xffff;

		return low | high << 16;
	}
	if (r & 3)
		return (uint32_t)(r >> 32);
	return corners[(r >> 8) % 20] + ((uint32_t)(r >> 32) & 3) - 1;
}

/* The same for a binary64. */
static inline uint64_t random_fp64(uint64_t *state)
{
	static const uint64_t corners[] = {
		0x0000000000000000, 0x8000000000000000, 0x800fffffffffffff, 0x0010000000000000,
		0x3ff0000000000000, 0xbff0000000000000, 0x3ca0000000000000, 0x7fefffffffffffff,
		0x7c90000000000000, 0x7ff0000000000000, 0xfff0000000000000, 0x7ff0000000000001,
	};
	uint64_t r = random_next(state);

	return r & 3 ? random_next(state) : corners[(r >> 8) % 12] + (r >> 32 & 3) - 1;
}

static inline void random_payload(uint64_t *state, unsigned int dtype, uint8_t *p, size_t len)
{
	size_t k = 0;

	for (; dtype == RF_DTYPE_FP64 && k + 8 <= len; k += 8) {
		uint64_t x = random_fp64(state);

		rf_put_le32(p + k, (uint32_t)x);
		rf_put_le32(p + k + 4, (uint32_t)(x >> 32));
	}
	for (; k + 4 <= len; k += 4)
		rf_put_le32(p + k, random_word(state, dtype));
	for (; k < len; k++)
		p[k] = (uint8_t)random_next(state);
}

#endif
