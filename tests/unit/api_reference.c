#include "tests/unit/api_reference.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool is_floating(enum rf_type type)
{
	return type == RF_FP32 || type == RF_BF16 || type == RF_FP16 || type == RF_FP64;
}

static size_t bytes_of(enum rf_type type)
{
	static const size_t bytes[] = {4, 2, 2, 4, 4, 8, 8, 8, 1, 1};

	return bytes[type];
}

/* ---- floating types: every element is a double ---- */

static double decode(enum rf_type type, const uint8_t *p)
{
	uint32_t word = 0;
	uint16_t half;
	double d;
	float f;
	int e;

	if (type == RF_FP64) {
		memcpy(&d, p, 8);
		return d;
	}
	if (type != RF_FP16) {
		/* the upper half of a binary32 */
		memcpy((uint8_t *)&word + (type == RF_BF16 ? 2 : 0), p, bytes_of(type));
		memcpy(&f, &word, 4);
		return (double)f;
	}
	memcpy(&half, p, 2);
	e = half >> 10 & 31;
	if (e == 31)
		d = half & 1023 ? (double)NAN : (double)INFINITY;
	else
		d = e ? ldexp(1024 + (half & 1023), e - 25) : ldexp(half & 1023, -24);
	return half >> 15 ? -d : d;
}

/* To so many bits of significand; the smallest exponent of a normal number, and the largest one. */
static double rounded(double v, int bits, int least, int most)
{
	int e;
	double unit;

	if (v == 0 || isinf(v))
		return v;
	e = ilogb(v) < least ? least : ilogb(v);
	unit = ldexp(1, e - bits + 1);
	v = nearbyint(v / unit) * unit;
	return fabs(v) >= ldexp(1, most + 1) ? copysign((double)INFINITY, v) : v;
}

uint16_t reference_half(enum rf_type type, double v)
{
	uint32_t word;
	uint16_t sign = signbit(v) ? 0x8000 : 0;
	float f;
	int e;

	if (isnan(v))
		return type == RF_BF16 ? 0x7fc0 : 0x7e00;
	if (type == RF_BF16) {
		f = (float)rounded(v, 8, -126, 127);
		memcpy(&word, &f, 4);
		return (uint16_t)(word >> 16);
	}
	v = fabs(rounded(v, 11, -14, 15));
	if (isinf(v))
		return sign | 0x7c00;
	if (v < ldexp(1, -14))
		return sign | (uint16_t)ldexp(v, 24);
	e = ilogb(v);
	return sign | (uint16_t)((e + 15) << 10) | ((uint16_t)ldexp(v, 10 - e) & 1023);
}

static void encode(enum rf_type type, double v, uint8_t *p)
{
	static const uint64_t nan64 = UINT64_C(0x7ff8000000000000);
	static const uint32_t nan32 = 0x7fc00000;
	uint16_t half;
	float f = (float)v;

	if (type == RF_FP64) {
		memcpy(p, isnan(v) ? (const void *)&nan64 : &v, 8);
	} else if (type == RF_FP32) {
		memcpy(p, isnan(v) ? (const void *)&nan32 : &f, 4);
	} else {
		half = reference_half(type, v);
		memcpy(p, &half, 2);
	}
}

/* A sum is rounded to binary32 first; a double has bits enough that this is one rounding. */
static double floating(enum rf_type type, enum rf_op op, double a, double b)
{
	bool first;

	if (op == RF_SUM || op == RF_AVERAGE)
		return type == RF_FP64 ? a + b : (double)(float)(a + b);
	if (isnan(a) || isnan(b))
		return isnan(a) ? b : a;
	/* -0 is below +0 */
	first = a < b || (a == b && signbit(a));
	return first == (op == RF_MIN) ? a : b;
}

/* ---- integers: every element is a number of 64 bits ---- */

static uint64_t load(enum rf_type type, const uint8_t *p)
{
	bool is_signed = type == RF_INT8 || type == RF_INT32 || type == RF_INT64;
	size_t bytes = bytes_of(type);
	uint64_t v = 0;

	for (size_t k = 0; k < bytes; k++)
		v |= (uint64_t)p[k] << 8 * k;
	if (is_signed && bytes < 8 && v >> (8 * bytes - 1))
		v |= ~UINT64_C(0) << 8 * bytes;
	return v;
}

static uint64_t whole(enum rf_type type, enum rf_op op, uint64_t a, uint64_t b)
{
	bool is_signed = type == RF_INT8 || type == RF_INT32 || type == RF_INT64;
	uint64_t top = is_signed ? UINT64_C(1) << 63 : 0;
	bool less = (a ^ top) < (b ^ top);

	switch (op) {
	case RF_MIN:
		return less ? a : b;
	case RF_MAX:
		return less ? b : a;
	case RF_AND:
		return a & b;
	case RF_OR:
		return a | b;
	case RF_XOR:
		return a ^ b;
	default:
		return a + b;
	}
}

/* ---- elements and vectors ---- */

void reference_pair(enum rf_type type, enum rf_op op, const uint8_t *a, const uint8_t *b,
		    uint8_t *out)
{
	uint64_t v;

	if (is_floating(type)) {
		encode(type, floating(type, op, decode(type, a), decode(type, b)), out);
		return;
	}
	v = whole(type, op, load(type, a), load(type, b));
	for (size_t k = 0; k < bytes_of(type); k++)
		out[k] = (uint8_t)(v >> 8 * k);
}

void reference_divide(enum rf_type type, uint8_t *at, size_t count, unsigned int n)
{
	for (size_t k = 0; k < count; k++, at += bytes_of(type)) {
		double v = decode(type, at) / n;

		encode(type, type == RF_FP64 ? v : (double)(float)v, at);
	}
}

/* a op b, of whole vectors, to a */
static void add(enum rf_type type, enum rf_op op, uint8_t *a, const uint8_t *b, size_t count)
{
	for (size_t at = 0; at < count * bytes_of(type); at += bytes_of(type))
		reference_pair(type, op, a + at, b + at, a + at);
}

void reference_reduce(enum rf_type type, enum rf_op op, enum reference_order order,
		      unsigned int ranks, uint8_t *const v[], size_t count)
{
	unsigned int power = 1;

	for (unsigned int k = 1; order == REFERENCE_CHAIN && k < ranks; k++)
		add(type, op, v[0], v[k], count);
	if (order == REFERENCE_CHAIN)
		return;
	while (order == REFERENCE_DOUBLING && 2 * power <= ranks)
		power *= 2;
	for (unsigned int k = 0; order == REFERENCE_DOUBLING && k + power < ranks; k++)
		add(type, op, v[k], v[k + power], count);
	ranks = order == REFERENCE_DOUBLING ? power : ranks;
	for (unsigned int d = 1; d < ranks; d *= 2)
		for (unsigned int k = 0; k + d < ranks; k += 2 * d)
			add(type, op, v[k], v[k + d], count);
}
