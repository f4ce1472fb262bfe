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
enum { FP32, BF16, FP16, INT32, UINT32, INT64, UINT64, FP64, INT8, UINT8, TYPES_ALL };
enum { SUM, MIN, MAX, AND, OR, XOR, COPY };

static const uint32_t NAN32 = 0x7fc00000u;
static const uint64_t NAN64 = 0x7ff8000000000000ull;

static inline bool is_half(int type)
{
	return type == BF16 || type == FP16;
}

static inline bool is_wide(int type)
{
	return type == INT64 || type == UINT64 || type == FP64;
}

static inline bool is_float(int type)
{
	return type <= FP16 || type == FP64;
}

/* Integers have all operations but copy, floats only the first three. */
static inline bool allowed(int type, int what)
{
	return what <= MAX || (what <= XOR && !is_float(type));
}

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

/* Two integers: U is the unsigned type, T the type of the elements. */
template <typename U, typename T> static inline U integers(int what, U a, U b)
{
	switch (what) {
	case SUM:
		return (U)(a + b);
	case MIN:
		return (T)a < (T)b ? a : b;
	case MAX:
		return (T)a > (T)b ? a : b;
	case AND:
		return a & b;
	case OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* Four bytes. */
template <typename T> static inline uint32_t bytes(int what, uint32_t a, uint32_t b)
{
	uint32_t y = 0;

	for (int k = 0; k < 32; k += 8)
		y |= (uint32_t)integers<uint8_t, T>(what, (uint8_t)(a >> k), (uint8_t)(b >> k)) << k;
	return y;
}

static inline double to_double(uint64_t bits)
{
	double f;
	memcpy(&f, &bits, 8);
	return f;
}

static inline uint64_t to_bits64(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, 8);
	return bits;
}

static inline bool is_nan64(uint64_t x)
{
	return (x & 0x7fffffffffffffffull) > 0x7ff0000000000000ull;
}

static inline uint64_t canonical64(uint64_t x)
{
	return is_nan64(x) ? NAN64 : x;
}

/* One operation on two elements of 64 bits. */
static inline uint64_t op64(int type, int what, uint64_t a, uint64_t b)
{
	if (type == INT64)
		return integers<uint64_t, int64_t>(what, a, b);
	if (type == UINT64)
		return integers<uint64_t, uint64_t>(what, a, b);
	if (what == SUM)
		return canonical64(to_bits64(to_double(a) + to_double(b)));
	if (is_nan64(a) && is_nan64(b))
		return NAN64;
	if (is_nan64(a) || is_nan64(b))
		return is_nan64(a) ? b : a;

	double x = to_double(a), y = to_double(b);
	bool a_less = x < y || (x == y && std::signbit(x) && !std::signbit(y));

	return (what == MIN) == a_less ? a : b;
}

/* One operation on two words that are both present; 16-bit types have been widened before. */
static inline uint32_t op(int type, int what, uint32_t a, uint32_t b)
{
	switch (type) {
	case INT32:
		return integers<uint32_t, int32_t>(what, a, b);
	case UINT32:
		return integers<uint32_t, uint32_t>(what, a, b);
	case INT8:
		return bytes<int8_t>(what, a, b);
	case UINT8:
		return bytes<uint8_t>(what, a, b);
	default:
		break;
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

/* n words of a vector: a op b. Elements of 64 bits are two words, the low one first. */
static inline void vector(int type, int what, const uint32_t *a, const uint32_t *b, uint32_t *y, int n)
{
	for (int k = 0; k < n && !is_wide(type); k++)
		y[k] = op(type, what, a[k], b[k]);
	for (int k = 0; k + 1 < n && is_wide(type); k += 2) {
		uint64_t z = op64(type, what, (uint64_t)a[k + 1] << 32 | a[k],
				  (uint64_t)b[k + 1] << 32 | b[k]);

		y[k] = (uint32_t)z;
		y[k + 1] = (uint32_t)(z >> 32);
	}
}

/* The final form of n words of a result that is not of a 16-bit type. */
static inline void finish(int type, uint32_t *x, int n)
{
	for (int k = 0; k < n && type == FP32; k++)
		x[k] = canonical(x[k]);
	for (int k = 0; k + 1 < n && type == FP64; k += 2)
		if (is_nan64((uint64_t)x[k + 1] << 32 | x[k])) {
			x[k] = (uint32_t)NAN64;
			x[k + 1] = (uint32_t)(NAN64 >> 32);
		}
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

/* The same for 64 bits: zeros, subnormals, the smallest and greatest numbers, ties, infinities, NaNs; integers. */
static const uint64_t corners64[] = {
	0x0000000000000000, 0x8000000000000000, 0x0000000000000001, 0x8000000000000001, 0x0000000000000002,
	0x000fffffffffffff, 0x800fffffffffffff, 0x0010000000000000, 0x8010000000000000, 0x0010000000000001,
	0x001fffffffffffff, 0x0020000000000000, 0x8020000000000000, 0x0340000000000000, 0x0350000000000001,
	0x3c90000000000000, 0x3ca0000000000000, 0x3ca0000000000001, 0xbca0000000000000, 0x3cb0000000000000,
	0x3cb8000000000000, 0x3fefffffffffffff, 0x3ff0000000000000, 0xbff0000000000000, 0x3ff0000000000001,
	0x4000000000000000, 0x4330000000000000, 0x4340000000000000, 0xc340000000000000, 0x433fffffffffffff,
	0x4350000000000000, 0x7c90000000000000, 0x7c9fffffffffffff, 0x7c80000000000001, 0x7fdfffffffffffff,
	0x7fe0000000000000, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
	0x7ff0000000000001, 0x7ff0000100000000, 0xfff0000000000001, 0x7ff8000000000000, 0xfff8000000000000,
	0x7ff7ffffffffffff, 0x7fffffffffffffff, 0xffffffffffffffff, 0x00000000ffffffff, 0x00000000fffffffe,
	0x0000000100000000, 0x7fffffff80000000, 0x80808080807f7f7f, 0xffffffff00000000,
};
static const uint32_t n_corners64 = sizeof(corners64) / sizeof(corners64[0]);

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

/* The same for 64 bits. */
static inline void pair64(rng &r, uint64_t *a, uint64_t *b)
{
	const uint64_t fraction = 0x800fffffffffffffull;
	uint32_t kind = r.next();
	uint64_t exp;

	*a = (uint64_t)r.next() << 32 | r.next();
	*b = (uint64_t)r.next() << 32 | r.next();
	switch (kind & 7) {
	case 0:
		break;
	case 1:
		*b = (*a ^ 0x8000000000000000ull) + (kind >> 8) % 7 - 3;
		break;
	case 2:
		*a = corners64[(kind >> 3) % n_corners64];
		break;
	case 3:
		*a = corners64[(kind >> 3) % n_corners64];
		*b = corners64[(kind >> 16) % n_corners64];
		break;
	case 4:
		/* Near the bottom. */
		*a = (*a & fraction) | (uint64_t)((kind >> 8) % 60) << 52;
		*b = (*b & fraction) | (uint64_t)((kind >> 16) % 60) << 52;
		break;
	case 5:
		/* Near the top. */
		*a = (*a & fraction) | (uint64_t)(2046 - (kind >> 8) % 3) << 52;
		*b = (*b & fraction) | (uint64_t)(2046 - (kind >> 16) % 58) << 52;
		break;
	default:
		/* Exponents at most 63 apart; often trailing zeros, for ties. */
		exp = (*a >> 52 & 2047) + (kind >> 8) % 127 - 63;
		*b = (*b & fraction) | (exp & 2047) << 52;
		if (kind & 0x10000)
			*a &= 0xffffffffffffffffull << ((kind >> 17) % 53);
		if (kind & 0x20000)
			*b &= 0xffffffffffffffffull << ((kind >> 22) % 53);
	}
}
} // namespace ref

#endif
