#include "sim/model/arith.h"

#include <stdbool.h>

#include "proto/rf_bytes.h"
#include "rf_regs.h"
#include "sim/model/rf_model.h"

#define SIGN 0x80000000u
#define MAGNITUDE 0x7fffffffu
#define INFINITY32 0x7f800000u
#define HIDDEN 0x00800000u
#define FRACTION 0x007fffffu

static inline bool is_nan(uint32_t x)
{
	return (x & MAGNITUDE) > INFINITY32;
}

/* Shift right; a one that is shifted out sets bit 0 (sticky). */
static inline uint32_t shift_sticky(uint32_t x, uint32_t by)
{
	if (by == 0)
		return x;
	if (by > 31)
		return x != 0;
	return x >> by | ((x << (32 - by)) != 0);
}

/*
 * Packs sign, exponent and a significand with three bits below its last place (guard, round,
 * sticky). The hidden bit is bit 26, or lower if the exponent is 1 (a subnormal).
 */
static inline uint32_t round_pack(uint32_t sign, uint32_t exponent, uint32_t significand)
{
	uint32_t low = significand & 7;
	uint32_t kept = significand >> 3;
	uint32_t bits;

	/* Adding the significand with its hidden bit raises an exponent field of e - 1 to e. */
	bits = ((exponent - 1) << 23) + kept;
	if (low > 4 || (low == 4 && (kept & 1)))
		bits++;
	if (bits >= INFINITY32)
		bits = INFINITY32;
	return sign | bits;
}

static inline uint32_t fp32_add(uint32_t a, uint32_t b)
{
	uint32_t sign, ea, eb, ma, mb;

	if ((a & MAGNITUDE) < (b & MAGNITUDE)) {
		uint32_t t = a;

		a = b;
		b = t;
	}
	/* |a| >= |b| from here on. */
	if ((a & MAGNITUDE) >= INFINITY32) {
		if (is_nan(a))
			return ARITH_NAN32;
		/* b is not a NaN: its magnitude is at most that of an infinity. */
		return b == (a ^ SIGN) ? ARITH_NAN32 : a;
	}
	sign = a & SIGN;
	ea = a >> 23 & 0xff;
	eb = b >> 23 & 0xff;
	ma = (a & FRACTION) | (ea ? HIDDEN : 0);
	mb = (b & FRACTION) | (eb ? HIDDEN : 0);
	ea += ea == 0;
	eb += eb == 0;
	ma <<= 3;
	mb = shift_sticky(mb << 3, ea - eb);
	if (((a ^ b) & SIGN) == 0) {
		ma += mb;
		if (ma >= HIDDEN << 4) {
			ma = shift_sticky(ma, 1);
			ea++;
		}
	} else {
		uint32_t up;

		ma -= mb;
		if (ma == 0)
			return 0; /* exact zero of a difference is +0 */
		up = (uint32_t)__builtin_clz(ma) - 5;
		if (up >= ea)
			up = ea - 1; /* the result is subnormal */
		ma <<= up;
		ea -= up;
	}
	if (ma == 0)
		return sign; /* both were zeros of this sign */
	return round_pack(sign, ea, ma);
}

/* Maps floats to unsigned integers with the same order, -0 below +0. */
static inline uint32_t order_key(uint32_t x)
{
	return x & SIGN ? ~x : x | SIGN;
}

static inline uint32_t fp32_min(uint32_t a, uint32_t b)
{
	if (is_nan(a))
		return is_nan(b) ? ARITH_NAN32 : b;
	if (is_nan(b))
		return a;
	return order_key(b) < order_key(a) ? b : a;
}

static inline uint32_t fp32_max(uint32_t a, uint32_t b)
{
	if (is_nan(a))
		return is_nan(b) ? ARITH_NAN32 : b;
	if (is_nan(b))
		return a;
	return order_key(b) > order_key(a) ? b : a;
}

uint32_t arith_fp32_add(uint32_t a, uint32_t b)
{
	return fp32_add(a, b);
}

uint32_t arith_fp32_min(uint32_t a, uint32_t b)
{
	return fp32_min(a, b);
}

uint32_t arith_fp32_max(uint32_t a, uint32_t b)
{
	return fp32_max(a, b);
}

uint32_t arith_from_bf16(uint16_t x)
{
	return (uint32_t)x << 16;
}

uint32_t arith_from_fp16(uint16_t x)
{
	uint32_t sign = (uint32_t)(x & 0x8000u) << 16;
	uint32_t exponent = x >> 10 & 0x1fu;
	uint32_t fraction = x & 0x3ffu;

	if (exponent == 0x1f)
		return sign | INFINITY32 | fraction << 13;
	if (exponent == 0) {
		uint32_t up;

		if (fraction == 0)
			return sign;
		/* Shift the leading one to bit 10, the position of the hidden bit of a normal
		 * number. */
		up = (uint32_t)__builtin_clz(fraction) - 21;
		exponent = 1 - up; /* may wrap: the bias below corrects it */
		fraction = (fraction << up) & 0x3ffu;
	}
	return sign | (exponent + (127 - 15)) << 23 | fraction << 13;
}

uint32_t arith_to_fp32(uint32_t x)
{
	return is_nan(x) ? ARITH_NAN32 : x;
}

uint16_t arith_to_bf16(uint32_t x)
{
	if (is_nan(x))
		return ARITH_NAN_BF16;
	/* Carries propagate from the fraction into the exponent, up to infinity. */
	return (uint16_t)((x + 0x7fffu + (x >> 16 & 1)) >> 16);
}

uint16_t arith_to_fp16(uint32_t x)
{
	uint32_t sign = x >> 16 & 0x8000u;
	uint32_t magnitude = x & MAGNITUDE;
	uint32_t significand, drop, bits, rest, half;

	if (is_nan(x))
		return ARITH_NAN_FP16;
	if (magnitude >= (uint32_t)(127 + 16) << 23) /* 65536 and above */
		return (uint16_t)(sign | 0x7c00u);
	if (magnitude >= (uint32_t)(127 - 14) << 23) {
		/* Normal: move the bias, drop 13 bits. */
		significand = magnitude - ((uint32_t)(127 - 15) << 23);
		drop = 13;
	} else {
		uint32_t exponent = magnitude >> 23;

		if (exponent < 127 - 25)
			return (uint16_t)sign; /* below half of the smallest subnormal */
		significand = (magnitude & FRACTION) | HIDDEN;
		drop = 13 + (127 - 14) - exponent;
	}
	half = 1u << (drop - 1);
	rest = significand & ((1u << drop) - 1);
	bits = significand >> drop;
	if (rest > half || (rest == half && (bits & 1)))
		bits++;
	return (uint16_t)(sign | bits);
}

unsigned int arith_element_size(unsigned int dtype)
{
	static const uint8_t sizes[RF_MODEL_TYPES] = {4, 2, 2, 4, 4, 8, 8, 8, 1, 1};

	return dtype < RF_MODEL_TYPES ? sizes[dtype] : 4;
}

size_t arith_words(unsigned int dtype, size_t bytes)
{
	unsigned int size = arith_element_size(dtype);

	return bytes / size * (size == 8 ? 2 : 1);
}

static void combine_int32(unsigned int op, uint32_t *acc, const uint32_t *b, size_t n)
{
	size_t k;

	for (k = 0; k < n; k++) {
		/* With the sign bit inverted, unsigned order is signed order. */
		bool less = (acc[k] ^ SIGN) < (b[k] ^ SIGN);

		if (op == RF_OP_SUM)
			acc[k] += b[k];
		else if (op == RF_OP_MIN)
			acc[k] = less ? acc[k] : b[k];
		else
			acc[k] = less ? b[k] : acc[k];
	}
}

void arith_combine(unsigned int dtype, unsigned int op, uint32_t *acc, const uint32_t *b, size_t n)
{
	size_t k;

	if (dtype > RF_DTYPE_INT32 || op > RF_OP_MAX) {
		arith_wide_combine(dtype, op, acc, b, n);
	} else if (dtype == RF_DTYPE_INT32) {
		combine_int32(op, acc, b, n);
	} else if (op == RF_OP_SUM) {
		for (k = 0; k < n; k++)
			acc[k] = fp32_add(acc[k], b[k]);
	} else if (op == RF_OP_MIN) {
		for (k = 0; k < n; k++)
			acc[k] = fp32_min(acc[k], b[k]);
	} else {
		for (k = 0; k < n; k++)
			acc[k] = fp32_max(acc[k], b[k]);
	}
}

void arith_load(unsigned int dtype, uint32_t *v, const uint8_t *p, size_t n)
{
	size_t k;

	if (dtype > RF_DTYPE_INT32) {
		arith_wide_load(dtype, v, p, n);
	} else if (dtype == RF_DTYPE_BF16) {
		for (k = 0; k < n; k++)
			v[k] = arith_from_bf16(rf_get_le16(p + 2 * k));
	} else if (dtype == RF_DTYPE_FP16) {
		for (k = 0; k < n; k++)
			v[k] = arith_from_fp16(rf_get_le16(p + 2 * k));
	} else {
		for (k = 0; k < n; k++)
			v[k] = rf_get_le32(p + 4 * k);
	}
}

void arith_store(unsigned int dtype, uint8_t *p, const uint32_t *v, size_t n)
{
	size_t k;

	if (dtype > RF_DTYPE_INT32) {
		arith_wide_store(dtype, p, v, n);
		return;
	}
	for (k = 0; k < n; k++) {
		if (dtype == RF_DTYPE_BF16)
			rf_put_le16(p + 2 * k, arith_to_bf16(v[k]));
		else if (dtype == RF_DTYPE_FP16)
			rf_put_le16(p + 2 * k, arith_to_fp16(v[k]));
		else if (dtype == RF_DTYPE_FP32)
			rf_put_le32(p + 4 * k, arith_to_fp32(v[k]));
		else
			rf_put_le32(p + 4 * k, v[k]);
	}
}
