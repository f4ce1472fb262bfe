#include "host/collective/arith.h"

#include <string.h>

#include "host/collective/block.h"

#define NAN_FP32 0x7fc00000u
#define NAN_BF16 0x7fc0u
#define NAN_FP16 0x7e00u
#define INF_FP32 0x7f800000u
#define INF_FP16 0x7c00u
#define MAGNITUDE 0x7fffffffu
#define NAN_FP64 UINT64_C(0x7ff8000000000000)
#define INF_FP64 UINT64_C(0x7ff0000000000000)
#define MAGNITUDE64 UINT64_C(0x7fffffffffffffff)

static uint32_t bits_of(float v)
{
	uint32_t u;

	memcpy(&u, &v, sizeof(u));
	return u;
}

static float float_of(uint32_t u)
{
	float v;

	memcpy(&v, &u, sizeof(v));
	return v;
}

size_t rf_arith_size(enum rf_arith_type type)
{
	switch (type) {
	case RF_ARITH_FP32:
	case RF_ARITH_INT32:
	case RF_ARITH_UINT32:
		return 4;
	case RF_ARITH_BF16:
	case RF_ARITH_FP16:
		return 2;
	case RF_ARITH_INT64:
	case RF_ARITH_UINT64:
	case RF_ARITH_FP64:
		return 8;
	case RF_ARITH_INT8:
	case RF_ARITH_UINT8:
		return 1;
	}
	return 0;
}

static bool is_floating(enum rf_arith_type type)
{
	return type <= RF_ARITH_FP16 || type == RF_ARITH_FP64;
}

bool rf_arith_has(enum rf_arith_type type, enum rf_arith_op op)
{
	if (rf_arith_size(type) == 0 || (unsigned int)op >= RF_ARITH_OPS)
		return false;
	return !is_floating(type) || op <= RF_ARITH_MAX || op == RF_ARITH_COPY;
}

float rf_bf16_to_float(uint16_t v)
{
	return float_of((uint32_t)v << 16);
}

uint16_t rf_bf16_from_float(float v)
{
	uint32_t u = bits_of(v);

	if ((u & MAGNITUDE) > INF_FP32)
		return NAN_BF16;
	/*
	 * Adds half of the last place, less one if the last bit is even: a tie then rounds to even.
	 */
	return (uint16_t)((u + 0x7fffu + (u >> 16 & 1)) >> 16);
}

float rf_fp16_to_float(uint16_t v)
{
	uint32_t sign = (uint32_t)(v & 0x8000u) << 16;
	uint32_t rest = v & 0x7fffu;

	if (rest >= INF_FP16)
		return float_of(sign | INF_FP32 | (rest & 0x3ffu) << 13);
	if (rest < 0x400u) {
		/* Subnormal: a whole number of 2^-24, exact in binary32. */
		float m = (float)rest * 0x1p-24f;

		return sign ? -m : m;
	}
	return float_of(sign | ((rest << 13) + (112u << 23)));
}

/* A magnitude below 2^-14, in units of 2^-24, rounded to nearest even. */
static uint32_t fp16_subnormal(uint32_t magnitude)
{
	uint32_t exponent = magnitude >> 23;
	uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
	uint32_t shift = 126 - exponent;
	uint32_t whole, rest, half;

	/* Everything up to and including 2^-25 (a tie) rounds to zero. */
	if (exponent < 102)
		return 0;
	whole = significand >> shift;
	rest = significand & ((1u << shift) - 1);
	half = 1u << (shift - 1);
	return whole + (rest > half || (rest == half && (whole & 1)));
}

uint16_t rf_fp16_from_float(float v)
{
	uint32_t u = bits_of(v);
	uint32_t sign = u >> 16 & 0x8000u;
	uint32_t magnitude = u & MAGNITUDE;

	if (magnitude > INF_FP32)
		return NAN_FP16;
	if (magnitude >= 0x477ff000u) /* 65520: half way to 2^16 */
		return (uint16_t)(sign | INF_FP16);
	if (magnitude < 0x38800000u) /* 2^-14 */
		return (uint16_t)(sign | fp16_subnormal(magnitude));
	magnitude -= 112u << 23;
	return (uint16_t)(sign | (magnitude + 0xfffu + (magnitude >> 13 & 1)) >> 13);
}

void rf_block_load(enum rf_arith_type type, union rf_block *b, const void *from, size_t n)
{
	const uint16_t *h = from;
	const uint8_t *c = from;

	switch (type) {
	case RF_ARITH_FP32:
	case RF_ARITH_INT32:
	case RF_ARITH_UINT32:
		memcpy(b->u, from, 4 * n);
		break;
	case RF_ARITH_FP64:
	case RF_ARITH_INT64:
	case RF_ARITH_UINT64:
		memcpy(b->u64, from, 8 * n);
		break;
	case RF_ARITH_INT8:
		for (size_t k = 0; k < n; k++)
			b->i[k] = (int8_t)c[k];
		break;
	case RF_ARITH_UINT8:
		for (size_t k = 0; k < n; k++)
			b->u[k] = c[k];
		break;
	case RF_ARITH_BF16:
		for (size_t k = 0; k < n; k++)
			b->u[k] = (uint32_t)h[k] << 16;
		break;
	case RF_ARITH_FP16:
		for (size_t k = 0; k < n; k++)
			b->f[k] = rf_fp16_to_float(h[k]);
		break;
	}
}

void rf_block_store(enum rf_arith_type type, void *to, const union rf_block *b, size_t n)
{
	uint32_t *w = to;
	uint16_t *h = to;
	uint64_t *d = to;
	uint8_t *c = to;

	switch (type) {
	case RF_ARITH_FP32:
		for (size_t k = 0; k < n; k++)
			w[k] = (b->u[k] & MAGNITUDE) > INF_FP32 ? NAN_FP32 : b->u[k];
		break;
	case RF_ARITH_INT32:
	case RF_ARITH_UINT32:
		memcpy(to, b->u, 4 * n);
		break;
	case RF_ARITH_FP64:
		for (size_t k = 0; k < n; k++)
			d[k] = (b->u64[k] & MAGNITUDE64) > INF_FP64 ? NAN_FP64 : b->u64[k];
		break;
	case RF_ARITH_INT64:
	case RF_ARITH_UINT64:
		memcpy(to, b->u64, 8 * n);
		break;
	case RF_ARITH_INT8:
	case RF_ARITH_UINT8:
		for (size_t k = 0; k < n; k++)
			c[k] = (uint8_t)b->u[k];
		break;
	case RF_ARITH_BF16:
		for (size_t k = 0; k < n; k++)
			h[k] = rf_bf16_from_float(b->f[k]);
		break;
	case RF_ARITH_FP16:
		for (size_t k = 0; k < n; k++)
			h[k] = rf_fp16_from_float(b->f[k]);
		break;
	}
}

/* Maps numbers to signed integers of the same order: -0 just below +0. */
static int32_t key_of(uint32_t u)
{
	return (int32_t)(u >> 31 ? u ^ MAGNITUDE : u);
}

static int is_nan(uint32_t u)
{
	return (u & MAGNITUDE) > INF_FP32;
}

static void float_min(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		int take_b = is_nan(a[k]) || (!is_nan(b[k]) && key_of(b[k]) < key_of(a[k]));

		out[k] = take_b ? b[k] : a[k];
	}
}

static void float_max(uint32_t *out, const uint32_t *a, const uint32_t *b, size_t n)
{
	for (size_t k = 0; k < n; k++) {
		int take_b = is_nan(a[k]) || (!is_nan(b[k]) && key_of(b[k]) > key_of(a[k]));

		out[k] = take_b ? b[k] : a[k];
	}
}

static int is_nan64(uint64_t u)
{
	return (u & MAGNITUDE64) > INF_FP64;
}

static int64_t key_of64(uint64_t u)
{
	return (int64_t)(u >> 63 ? u ^ MAGNITUDE64 : u);
}

static void double_op(enum rf_arith_op op, union rf_block *out, const union rf_block *x,
		      const union rf_block *y, size_t n)
{
	const uint64_t *a = x->u64, *b = y->u64;

	if (op == RF_ARITH_SUM) {
		for (size_t k = 0; k < n; k++)
			out->f64[k] = x->f64[k] + y->f64[k];
		return;
	}
	for (size_t k = 0; k < n; k++) {
		int64_t ka = key_of64(a[k]), kb = key_of64(b[k]);
		int before = op == RF_ARITH_MIN ? kb < ka : kb > ka;

		out->u64[k] = is_nan64(a[k]) || (!is_nan64(b[k]) && before) ? b[k] : a[k];
	}
}

void rf_block_op(enum rf_arith_type type, enum rf_arith_op op, union rf_block *out,
		 const union rf_block *a, const union rf_block *b, size_t n)
{
	if (!is_floating(type))
		rf_block_int(type, op, out, a, b, n);
	else if (type == RF_ARITH_FP64)
		double_op(op, out, a, b, n);
	else if (op == RF_ARITH_SUM)
		for (size_t k = 0; k < n; k++)
			out->f[k] = a->f[k] + b->f[k];
	else if (op == RF_ARITH_MIN)
		float_min(out->u, a->u, b->u, n);
	else
		float_max(out->u, a->u, b->u, n);
}

void rf_arith_reduce(enum rf_arith_type type, enum rf_arith_op op, void *out, const void *a,
		     const void *b, size_t count)
{
	size_t size = rf_arith_size(type);
	union rf_block x, y;

	for (size_t at = 0; at < count; at += RF_BLOCK) {
		size_t n = count - at < RF_BLOCK ? count - at : RF_BLOCK;

		rf_block_load(type, &x, (const char *)a + at * size, n);
		rf_block_load(type, &y, (const char *)b + at * size, n);
		rf_block_op(type, op, &x, &x, &y, n);
		rf_block_store(type, (char *)out + at * size, &x, n);
	}
}
