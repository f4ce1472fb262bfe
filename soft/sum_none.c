/*
 * The kernels of sum.h with the instructions of the build. sum_avx2.c and sum_avx512.c include this
 * file for theirs; they define SOFT_SUM_TARGET, an attribute that chooses the instructions,
 * SOFT_SUM_TABLE, the name of the table, and SOFT_SUM_NAME, its text.
 *
 * Everything is portable C that the compiler turns into vectors. The floating point is the
 * processor's: round to nearest, subnormals kept (no fast-math, no FTZ or DAZ), no contraction.
 */
#include <string.h>

#include "rf_regs.h"
#include "soft/sum.h"

#ifndef SOFT_SUM_TABLE
#define SOFT_SUM_TARGET
#define SOFT_SUM_TABLE soft_sum_none
#define SOFT_SUM_NAME "none"
#endif

#define FN SOFT_SUM_TARGET static void

static inline float float_of(uint32_t bits)
{
	float x;

	memcpy(&x, &bits, sizeof(x));
	return x;
}

static inline uint32_t bits_of(float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

static inline uint32_t add32(uint32_t a, uint32_t b)
{
	return bits_of(float_of(a) + float_of(b));
}

static inline uint64_t add64(uint64_t a, uint64_t b)
{
	double x, y;
	uint64_t bits;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	x += y;
	memcpy(&bits, &x, sizeof(bits));
	return bits;
}

/* The order of IEEE 754 totalOrder as integers: -0 before +0. */
static inline int32_t key32(uint32_t x)
{
	return (int32_t)(x ^ (uint32_t)((int32_t)x >> 31) >> 1);
}

static inline int64_t key64(uint64_t x)
{
	return (int64_t)(x ^ (uint64_t)((int64_t)x >> 63) >> 1);
}

static inline uint32_t nan32(uint32_t x)
{
	return (x & 0x7fffffffu) > 0x7f800000u;
}

static inline uint64_t nan64(uint64_t x)
{
	return (x & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

/* A NaN counts as missing; two give one of them. */
static inline uint32_t min32(uint32_t a, uint32_t b)
{
	uint32_t r = key32(a) < key32(b) ? a : b;

	r = nan32(a) ? b : r;
	return nan32(b) ? a : r;
}

static inline uint32_t max32(uint32_t a, uint32_t b)
{
	uint32_t r = key32(a) > key32(b) ? a : b;

	r = nan32(a) ? b : r;
	return nan32(b) ? a : r;
}

static inline uint64_t min64(uint64_t a, uint64_t b)
{
	uint64_t r = key64(a) < key64(b) ? a : b;

	r = nan64(a) ? b : r;
	return nan64(b) ? a : r;
}

static inline uint64_t max64(uint64_t a, uint64_t b)
{
	uint64_t r = key64(a) > key64(b) ? a : b;

	r = nan64(a) ? b : r;
	return nan64(b) ? a : r;
}

/* One kernel: elements of type T, `shrink` bytes of payload for each. */
#define KERNEL(name, T, shrink, expression)                                                        \
	FN name(uint8_t *restrict out, const uint8_t *restrict pa, const uint8_t *restrict pb,     \
		size_t bytes)                                                                      \
	{                                                                                          \
		size_t n = bytes / (shrink), k;                                                    \
                                                                                                   \
		for (k = 0; k < n; k++) {                                                          \
			T a, b, r;                                                                 \
                                                                                                   \
			memcpy(&a, pa + k * sizeof(T), sizeof(T));                                 \
			memcpy(&b, pb + k * sizeof(T), sizeof(T));                                 \
			r = (T)(expression);                                                       \
			memcpy(out + k * sizeof(T), &r, sizeof(T));                                \
		}                                                                                  \
	}

#define INTEGER(name, T, shrink)                                                                   \
	KERNEL(name##_sum, T, shrink, a + b)                                                       \
	KERNEL(name##_and, T, shrink, a &b)                                                        \
	KERNEL(name##_or, T, shrink, a | b)                                                        \
	KERNEL(name##_xor, T, shrink, a ^ b)

#define ORDER(name, T, shrink)                                                                     \
	KERNEL(name##_min, T, shrink, a < b ? a : b)                                               \
	KERNEL(name##_max, T, shrink, a > b ? a : b)

KERNEL(fp32_sum, uint32_t, 4, add32(a, b))
KERNEL(fp32_min, uint32_t, 4, min32(a, b))
KERNEL(fp32_max, uint32_t, 4, max32(a, b))
KERNEL(half_sum, uint32_t, 2, add32(a, b))
KERNEL(half_min, uint32_t, 2, min32(a, b))
KERNEL(half_max, uint32_t, 2, max32(a, b))
KERNEL(fp64_sum, uint64_t, 8, add64(a, b))
KERNEL(fp64_min, uint64_t, 8, min64(a, b))
KERNEL(fp64_max, uint64_t, 8, max64(a, b))
INTEGER(int32, uint32_t, 4)
INTEGER(int64, uint64_t, 8)
INTEGER(int8, uint8_t, 1)
ORDER(int32, int32_t, 4)
ORDER(int64, int64_t, 8)
ORDER(int8, int8_t, 1)
ORDER(uint32, uint32_t, 4)
ORDER(uint64, uint64_t, 8)
ORDER(uint8, uint8_t, 1)

#define CONVERT(name, IN, OUT, shrink, expression)                                                 \
	FN name(uint8_t *restrict out, const uint8_t *restrict in, size_t bytes)                   \
	{                                                                                          \
		size_t n = bytes / (shrink), k;                                                    \
                                                                                                   \
		for (k = 0; k < n; k++) {                                                          \
			IN x;                                                                      \
			OUT r;                                                                     \
                                                                                                   \
			memcpy(&x, in + k * sizeof(x), sizeof(x));                                 \
			r = (OUT)(expression);                                                     \
			memcpy(out + k * sizeof(r), &r, sizeof(r));                                \
		}                                                                                  \
	}

/*
 * binary16 to binary32: the exponent moves by 112, which a multiplication does exactly, for
 * subnormals too. Infinity and NaN get the largest exponent.
 */
static inline uint32_t from_fp16(uint16_t x)
{
	uint32_t bits = (x & 0x7fffu) << 13;
	uint32_t scaled = bits_of(float_of(bits) * 0x1p112f);

	scaled = bits >= 0x0f800000u ? bits | 0x7f800000u : scaled;
	return scaled | (x & 0x8000u) << 16;
}

/*
 * binary32 to binary16, one rounding to nearest even. Below 2^-14 the addition of 0.5 rounds to a
 * multiple of 2^-24; above, the bits that go are rounded by hand, and the carry may reach the
 * exponent. From 65520 up that gives infinity.
 */
static inline uint16_t to_fp16(uint32_t x)
{
	uint32_t mag = x & 0x7fffffffu;
	uint32_t small = bits_of(float_of(mag) + 0.5f) - 0x3f000000u;
	uint32_t normal = (mag - 0x38000000u + 0xfffu + (mag >> 13 & 1u)) >> 13;
	uint32_t r = mag < 0x38800000u ? small : normal;

	r = mag >= 0x477ff000u ? 0x7c00u : r;
	r |= x >> 16 & 0x8000u;
	return (uint16_t)(nan32(x) ? 0x7e00u : r);
}

static inline uint16_t to_bf16(uint32_t x)
{
	return (uint16_t)(nan32(x) ? 0x7fc0u : (x + 0x7fffu + (x >> 16 & 1u)) >> 16);
}

CONVERT(bf16_load, uint16_t, uint32_t, 2, (uint32_t)x << 16)
CONVERT(fp16_load, uint16_t, uint32_t, 2, from_fp16(x))
CONVERT(bf16_store, uint32_t, uint16_t, 2, to_bf16(x))
CONVERT(fp16_store, uint32_t, uint16_t, 2, to_fp16(x))
CONVERT(fp32_store, uint32_t, uint32_t, 4, nan32(x) ? 0x7fc00000u : x)
CONVERT(fp64_store, uint64_t, uint64_t, 8, nan64(x) ? 0x7ff8000000000000ull : x)

/* Sum, min, max, and, or, xor. */
#define FLOATS(name)                                                                               \
	{                                                                                          \
		name##_sum, name##_min, name##_max, NULL, NULL, NULL                               \
	}
#define INTEGERS(bits, order)                                                                      \
	{                                                                                          \
		bits##_sum, order##_min, order##_max, bits##_and, bits##_or, bits##_xor            \
	}

const struct soft_sum SOFT_SUM_TABLE = {
	.name = SOFT_SUM_NAME,
	.combine =
		{
			[RF_DTYPE_FP32] = FLOATS(fp32),
			[RF_DTYPE_BF16] = FLOATS(half),
			[RF_DTYPE_FP16] = FLOATS(half),
			[RF_DTYPE_INT32] = INTEGERS(int32, int32),
			[RF_DTYPE_UINT32] = INTEGERS(int32, uint32),
			[RF_DTYPE_INT64] = INTEGERS(int64, int64),
			[RF_DTYPE_UINT64] = INTEGERS(int64, uint64),
			[RF_DTYPE_FP64] = FLOATS(fp64),
			[RF_DTYPE_INT8] = INTEGERS(int8, int8),
			[RF_DTYPE_UINT8] = INTEGERS(int8, uint8),
		},
	.load = {[RF_DTYPE_BF16] = bf16_load, [RF_DTYPE_FP16] = fp16_load},
	.store =
		{
			[RF_DTYPE_FP32] = fp32_store,
			[RF_DTYPE_BF16] = bf16_store,
			[RF_DTYPE_FP16] = fp16_store,
			[RF_DTYPE_FP64] = fp64_store,
		},
};
