#include "host/roce/crc.h"

#include "proto/rf_crc32.h"

#if defined(__x86_64__)

#include <immintrin.h>

/*
 * A block of 128 bits is a polynomial over GF(2) whose highest power stands in bit 0. It may be
 * moved D bits towards the end of the message by multiplying with x^D modulo the CRC's polynomial:
 * the two halves with x^(D+32) and x^(D-32), because a product of two mirrored 64-bit factors is
 * 127 bits long and the constants are mirrored in 32 bits, shifted up by one. (V. Gopal et al.,
 * "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ Instruction", 2009.)
 */
#define X_544 0x154442bd4 /* D = 512: four blocks */
#define X_480 0x1c6e41596
#define X_160 0x1751997d0 /* D = 128: one block */
#define X_96 0x0ccaa009e

#define FAST __attribute__((target("pclmul,sse2")))

FAST static inline __m128i load(const uint8_t *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* The block, moved by the distance of `k`, plus the block at that place. */
FAST static inline __m128i fold(__m128i block, __m128i k, __m128i there)
{
	__m128i a = _mm_clmulepi64_si128(block, k, 0x00);
	__m128i b = _mm_clmulepi64_si128(block, k, 0x11);

	return _mm_xor_si128(_mm_xor_si128(a, b), there);
}

/* At least 64 bytes. */
FAST static uint32_t update_fast(uint32_t state, const uint8_t *p, size_t len)
{
	const __m128i far = _mm_set_epi64x(X_480, X_544);
	const __m128i near = _mm_set_epi64x(X_96, X_160);
	__m128i x0 = _mm_xor_si128(load(p), _mm_cvtsi32_si128((int)state));
	__m128i x1 = load(p + 16);
	__m128i x2 = load(p + 32);
	__m128i x3 = load(p + 48);
	uint8_t last[16];

	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		x0 = fold(x0, far, load(p));
		x1 = fold(x1, far, load(p + 16));
		x2 = fold(x2, far, load(p + 32));
		x3 = fold(x3, far, load(p + 48));
	}
	x0 = fold(x0, near, x1);
	x0 = fold(x0, near, x2);
	x0 = fold(x0, near, x3);
	for (; len >= 16; p += 16, len -= 16)
		x0 = fold(x0, near, load(p));
	/* One block remains that is congruent to the whole input: the tables do the rest. */
	_mm_storeu_si128((__m128i *)(void *)last, x0);
	return rf_crc32_update(rf_crc32_update(0, last, sizeof(last)), p, len);
}

uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len)
{
	if (len >= 64 && __builtin_cpu_supports("pclmul"))
		return update_fast(state, data, len);
	return rf_crc32_update(state, data, len);
}

#else

uint32_t roce_crc32_update(uint32_t state, const void *data, size_t len)
{
	return rf_crc32_update(state, data, len);
}

#endif
