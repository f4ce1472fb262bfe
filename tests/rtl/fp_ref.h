/*
 * Reference arithmetic for the benches: written from docs/reduction.md with the compiler's float
 * and double, not from the Verilog. Compile without -ffast-math; the rounding mode is the default
 * one.
 */
#ifndef RF_TESTS_FP_REF_H
#define RF_TESTS_FP_REF_H

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ref
{
enum { FP32, BF16, FP16, INT32 };
enum { SUM, MIN, MAX };

static const uint32_t NAN32 = 0x7fc00000u;

static inline float to_float(uint32_t bits)
{
	float f;
	memcpy(&f, &bits, 4);
	return f;
}

static inline uint32_t to_bits(float f)
{
	uint32_t bits;
	memcpy(&bits, &f, 4);
	return bits;
}

static inline bool is_nan(uint32_t x)
{
	return (x & 0x7fffffffu) > 0x7f800000u;
}

static inline uint32_t canonical(uint32_t x)
{
	return is_nan(x) ? NAN32 : x;
}

/* One operation on two elements that are both present; 16-bit types have been widened before. */
static inline uint32_t op(int type, int what, uint32_t a, uint32_t b)
{
	if (type == INT32) {
		int32_t x = (int32_t)a, y = (int32_t)b;

		if (what == SUM)
			return a + b;
		return (uint32_t)(what == MIN ? (x < y ? x : y) : (x > y ? x : y));
	}
	if (what == SUM)
		return canonical(to_bits(to_float(a) + to_float(b)));
	if (is_nan(a) && is_nan(b))
		return NAN32;
	if (is_nan(a) || is_nan(b))
		return is_nan(a) ? b : a;

	float x = to_float(a), y = to_float(b);
	bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));

	return (what == MIN) == a_less ? a : b;
}

/* 16-bit types: the value, exactly. */
static inline uint32_t widen(int type, uint16_t x)
{
	if (type == BF16)
		return canonical((uint32_t)x << 16);

	int exp = (x >> 10) & 31, frac = x & 1023;
	double v = exp == 0 ? std::ldexp(frac, -24) : std::ldexp(1024 + frac, exp - 25);

	if (exp == 31)
		v = INFINITY;
	if (exp == 31 && frac != 0)
		return NAN32;
	return to_bits((float)((x & 0x8000) ? -v : v));
}

/* Rounded to a significand of `digits` bits with the smallest exponent `least`; the default mode is
 * nearest, ties to even. */
static inline double rounded(double v, int digits, int least)
{
	int e = v == 0 ? least : std::ilogb(v);

	e = (e < least ? least : e) - (digits - 1);
	return std::ldexp(std::nearbyint(std::ldexp(v, -e)), e);
}

static inline uint16_t narrow(int type, uint32_t x)
{
	uint16_t sign = (uint16_t)(x >> 31 << 15);

	if (is_nan(x))
		return type == BF16 ? 0x7fc0 : 0x7e00;

	double v = std::fabs((double)to_float(x));

	if (type == BF16) {
		if (std::isinf(v))
			return (uint16_t)(sign | 0x7f80);
		/* Above the greatest float the conversion gives infinity. */
		v = rounded(v, 8, -126);
		return (uint16_t)(sign |
				  (v >= std::ldexp(1, 128) ? 0x7f80 : to_bits((float)v) >> 16));
	}
	if (std::isinf(v))
		return (uint16_t)(sign | 0x7c00);
	v = rounded(v, 11, -14);
	if (v >= 65536)
		return (uint16_t)(sign | 0x7c00);
	if (v < std::ldexp(1, -14))
		return (uint16_t)(sign | (int)std::ldexp(v, 24));
	int e = std::ilogb(v);

	return (uint16_t)(sign | ((e + 15) << 10) | ((int)std::ldexp(v, 10 - e) - 1024));
}

/* The final form of a 32-bit result. */
static inline uint32_t finish(int type, uint32_t x)
{
	return type == INT32 ? x : canonical(x);
}

/* xorshift64*: fast, and the same on every machine. */
struct rng {
	uint64_t s;

	explicit rng(uint64_t seed) : s(seed * 0x9e3779b97f4a7c15ull + 1)
	{
		next();
		next();
	}
	uint32_t next()
	{
		s ^= s >> 12;
		s ^= s << 25;
		s ^= s >> 27;
		return (uint32_t)((s * 0x2545f4914f6cdd1dull) >> 32);
	}
	uint32_t below(uint32_t n)
	{
		return (uint32_t)(((uint64_t)next() * n) >> 32);
	}
};

/* Values at which the behaviour changes. */
static const uint32_t corners[] = {
	0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x007fffff, 0x807fffff,
	0x00800000, 0x80800000, 0x00800001, 0x00ffffff, 0x01000000, 0x81000000, 0x33000000,
	0x33800000, 0x33800001, 0xb3800000, 0x34000000, 0x34400000, 0x38800000, 0x387fc000,
	0x387fe000, 0x387fffff, 0x33000001, 0x3f7fffff, 0x3f800000, 0xbf800000, 0x3f800001,
	0x3f808000, 0x3f818000, 0x40000000, 0x4b000000, 0x4b800000, 0xcb800000, 0x4b7fffff,
	0x4c000000, 0x477fe000, 0x477fefff, 0x477ff000, 0x47800000, 0x7effffff, 0x7f000000,
	0x7f7f7fff, 0x7f7f8000, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001,
	0x7fbfffff, 0xff800001, 0x7fc00000, 0xffc00000, 0x7fc00001, 0xffffffff, 0x7fffffff,
};
static const uint32_t n_corners = sizeof(corners) / sizeof(corners[0]);

/* A pair of floats with likely interactions: near exponents, cancellation, subnormals, corners.
 */
static inline void pair(rng &r, uint32_t *a, uint32_t *b)
{
	uint32_t kind = r.next();
	uint32_t exp;

	*a = r.next();
	*b = r.next();
	switch (kind & 7) {
	case 0:
		break;
	case 1:
		*b = (*a ^ 0x80000000u) + (kind >> 8) % 7 - 3;
		break;
	case 2:
		*a = corners[(kind >> 3) % n_corners];
		break;
	case 3:
		*a = corners[(kind >> 3) % n_corners];
		*b = corners[(kind >> 16) % n_corners];
		break;
	case 4:
		/* Near the bottom. */
		*a = (*a & 0x807fffffu) | (((kind >> 8) % 30) << 23);
		*b = (*b & 0x807fffffu) | (((kind >> 16) % 30) << 23);
		break;
	case 5:
		/* Near the top. */
		*a = (*a & 0x807fffffu) | ((254 - (kind >> 8) % 3) << 23);
		*b = (*b & 0x807fffffu) | ((254 - (kind >> 16) % 28) << 23);
		break;
	default:
		/* Exponents at most 31 apart; often trailing zeros, for ties. */
		exp = (*a >> 23) & 255;
		exp += (kind >> 8) % 63 - 31;
		*b = (*b & 0x807fffffu) | ((exp & 255) << 23);
		if (kind & 0x10000)
			*a &= 0xffffffffu << ((kind >> 17) % 24);
		if (kind & 0x20000)
			*b &= 0xffffffffu << ((kind >> 22) % 24);
	}
}
} // namespace ref

#endif
