/* Types and operations beyond fp32, bf16, fp16, int32 with sum, min, max: docs/reduction.md. */
#include "proto/rf_bytes.h"
#include "sim/model/arith.h"
#include "sim/model/rf_model.h"

#define SIGN (1ull << 63)
#define MAGNITUDE (SIGN - 1)
#define INFINITY64 0x7ff0000000000000ull
#define HIDDEN (1ull << 52)
#define FRACTION (HIDDEN - 1)

static bool is_nan(uint64_t x)
{
	return (x & MAGNITUDE) > INFINITY64;
}

/* Shift right; a one that is shifted out sets bit 0 (sticky). */
static uint64_t shift_sticky(uint64_t x, uint64_t by)
{
	if (by == 0)
		return x;
	if (by > 63)
		return x != 0;
	return x >> by | ((x << (64 - by)) != 0);
}

/* Sign, exponent and a significand with guard, round and sticky bits below its last place. */
static uint64_t round_pack(uint64_t sign, uint64_t exponent, uint64_t significand)
{
	uint64_t low = significand & 7, kept = significand >> 3;
	uint64_t bits = ((exponent - 1) << 52) + kept; /* the hidden bit adds 1 to the field */

	if (low > 4 || (low == 4 && (kept & 1)))
		bits++;
	return sign | (bits < INFINITY64 ? bits : INFINITY64);
}

/* The sum of finite numbers, |a| >= |b|. */
static uint64_t add_finite(uint64_t a, uint64_t b)
{
	uint64_t sign = a & SIGN;
	uint64_t ea = a >> 52 & 0x7ff, eb = b >> 52 & 0x7ff;
	uint64_t ma = (a & FRACTION) | (ea ? HIDDEN : 0);
	uint64_t mb = (b & FRACTION) | (eb ? HIDDEN : 0);
	uint64_t up;

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
		return ma ? round_pack(sign, ea, ma) : sign;
	}
	ma -= mb;
	if (ma == 0)
		return 0; /* exact zero of a difference is +0 */
	up = (uint64_t)__builtin_clzll(ma) - 8;
	if (up >= ea)
		up = ea - 1; /* the result is subnormal */
	return round_pack(sign, ea - up, ma << up);
}

uint64_t arith_fp64_add(uint64_t a, uint64_t b)
{
	if ((a & MAGNITUDE) < (b & MAGNITUDE)) {
		uint64_t t = a;

		a = b;
		b = t;
	}
	if ((a & MAGNITUDE) < INFINITY64)
		return add_finite(a, b);
	if (is_nan(a))
		return ARITH_NAN64;
	return b == (a ^ SIGN) ? ARITH_NAN64 : a;
}

/* Maps floats to unsigned integers with the same order, -0 below +0. */
static uint64_t order_key(uint64_t x)
{
	return x & SIGN ? ~x : x | SIGN;
}

uint64_t arith_fp64_min(uint64_t a, uint64_t b)
{
	if (is_nan(a))
		return is_nan(b) ? ARITH_NAN64 : b;
	if (is_nan(b))
		return a;
	return order_key(b) < order_key(a) ? b : a;
}

uint64_t arith_fp64_max(uint64_t a, uint64_t b)
{
	if (is_nan(a))
		return is_nan(b) ? ARITH_NAN64 : b;
	if (is_nan(b))
		return a;
	return order_key(b) > order_key(a) ? b : a;
}

static uint64_t fp64(unsigned int op, uint64_t a, uint64_t b)
{
	if (op == RF_OP_SUM)
		return arith_fp64_add(a, b);
	return op == RF_OP_MIN ? arith_fp64_min(a, b) : arith_fp64_max(a, b);
}

/* `top` is the sign bit of a signed type, 0 for an unsigned one: inverted, order is unsigned. */
static uint64_t integer(unsigned int op, uint64_t a, uint64_t b, uint64_t top)
{
	bool less = (a ^ top) < (b ^ top);

	switch (op) {
	case RF_OP_SUM:
		return a + b;
	case RF_OP_MIN:
		return less ? a : b;
	case RF_OP_MAX:
		return less ? b : a;
	case RF_OP_AND:
		return a & b;
	case RF_OP_OR:
		return a | b;
	default:
		return a ^ b;
	}
}

/* The sign bit of an integer type; 0: unsigned. */
static uint64_t sign_bit(unsigned int type)
{
	switch (type) {
	case RF_DTYPE_INT32:
		return 1ull << 31;
	case RF_DTYPE_INT64:
		return 1ull << 63;
	case RF_DTYPE_INT8:
		return 1ull << 7;
	default:
		return 0;
	}
}

static bool is_byte(unsigned int type)
{
	return type == RF_DTYPE_INT8 || type == RF_DTYPE_UINT8;
}

/* Elements of 64 bits. */
static bool is_wide(unsigned int type)
{
	return type == RF_DTYPE_INT64 || type == RF_DTYPE_UINT64 || type == RF_DTYPE_FP64;
}

void arith_wide_combine(unsigned int type, unsigned int op, uint32_t *acc, const uint32_t *b,
			size_t words)
{
	uint64_t top = sign_bit(type), r;
	uint32_t mask = is_byte(type) ? 0xff : 0xffffffffu;
	size_t k;

	if (!is_wide(type)) {
		for (k = 0; k < words; k++)
			acc[k] = (uint32_t)integer(op, acc[k], b[k], top) & mask;
		return;
	}
	for (k = 0; k + 1 < words; k += 2) {
		uint64_t x = acc[k] | (uint64_t)acc[k + 1] << 32;
		uint64_t y = b[k] | (uint64_t)b[k + 1] << 32;

		r = type == RF_DTYPE_FP64 ? fp64(op, x, y) : integer(op, x, y, top);
		acc[k] = (uint32_t)r;
		acc[k + 1] = (uint32_t)(r >> 32);
	}
}

void arith_wide_load(unsigned int type, uint32_t *v, const uint8_t *p, size_t words)
{
	size_t k;

	for (k = 0; k < words; k++)
		v[k] = is_byte(type) ? p[k] : rf_get_le32(p + 4 * k);
}

void arith_wide_store(unsigned int type, uint8_t *p, const uint32_t *v, size_t words)
{
	size_t k;

	for (k = 0; k < words; k++) {
		if (is_byte(type))
			p[k] = (uint8_t)v[k];
		else
			rf_put_le32(p + 4 * k, v[k]);
	}
	for (k = 0; type == RF_DTYPE_FP64 && k + 1 < words; k += 2) {
		if (!is_nan(v[k] | (uint64_t)v[k + 1] << 32))
			continue;
		rf_put_le32(p + 4 * k, (uint32_t)ARITH_NAN64);
		rf_put_le32(p + 4 * k + 4, (uint32_t)(ARITH_NAN64 >> 32));
	}
}
