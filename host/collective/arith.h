/*
 * Element-wise arithmetic, bit-exact: the rules are those of the box (docs/reduction.md).
 *
 * fp32 is IEEE 754 binary32, round to nearest even, with subnormals; every NaN result is 0x7fc00000
 * (bf16 0x7fc0, fp16 0x7e00). min and max are minimumNumber and maximumNumber of IEEE 754-2019: a
 * number beats a NaN, -0 < +0. fp64 is IEEE 754 binary64 in the same way (0x7ff8000000000000).
 * Integer sums wrap. and, or, xor are for integers only. Elements are little-endian, as in host
 * memory; buffers need no alignment beyond their element's.
 */
#ifndef RF_ARITH_H
#define RF_ARITH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The values are those of the box's registers and of the immediate (docs/box.md). */
enum rf_arith_type {
	RF_ARITH_FP32 = 0,
	RF_ARITH_BF16 = 1,
	RF_ARITH_FP16 = 2,
	RF_ARITH_INT32 = 3,
	RF_ARITH_UINT32 = 4,
	RF_ARITH_INT64 = 5,
	RF_ARITH_UINT64 = 6,
	RF_ARITH_FP64 = 7,
	RF_ARITH_INT8 = 8,
	RF_ARITH_UINT8 = 9,
};

#define RF_ARITH_TYPES 10u
#define RF_ARITH_SIZE_MAX 8u /* of an element, bytes */

enum rf_arith_op {
	RF_ARITH_SUM = 0,
	RF_ARITH_MIN = 1,
	RF_ARITH_MAX = 2,
	RF_ARITH_AND = 3,
	RF_ARITH_OR = 4,
	RF_ARITH_XOR = 5,
	RF_ARITH_COPY = 6, /* of one operand: its bytes are the result */
	/* No box has a product, and its order of roundings is nowhere defined: always refused. */
	RF_ARITH_PRODUCT = 7,
};

#define RF_ARITH_OPS 7u /* without the product */

/* Bytes of an element; 0 for an unknown type. */
size_t rf_arith_size(enum rf_arith_type type);

/* Whether the type has the operation: and, or, xor not for floating types, product never. */
bool rf_arith_has(enum rf_arith_type type, enum rf_arith_op op);

/*
 * out[i] = a[i] op b[i], in the element type (16-bit sums are added in fp32 and rounded). The type
 * has the operation, and it is not copy. `out` may be `a` or `b`, but must not otherwise overlap
 * them.
 */
void rf_arith_reduce(enum rf_arith_type type, enum rf_arith_op op, void *out, const void *a,
		     const void *b, size_t count);

/* Conversions; to 16 bits: round to nearest even, canonical NaN. */
float rf_bf16_to_float(uint16_t v);
uint16_t rf_bf16_from_float(float v);
float rf_fp16_to_float(uint16_t v);
uint16_t rf_fp16_from_float(float v);

/* The place of a rank at the box: assigned by READY, reported by the API. */
struct rf_place {
	uint8_t port; /* 0..7 */
	uint8_t lane; /* 0..15 */
};

/*
 * Computes what the box computes from `ranks` operands: per lane a balanced binary tree over the
 * ports (((0,1),(2,3)),((4,5),(6,7))), empty places are skipped; then the lanes one after another,
 * lowest first. 16-bit sums are kept in fp32 throughout and rounded once at the end. places[r] and
 * operands[r] belong to rank r. `out` may be one of the operands. copy has one operand. If not all
 * ranks of a group give, only those that do are named here. Returns 0, or -1 if two ranks sit in
 * one place, a place is out of range, `ranks` is 0 (copy: not 1), or the type does not have the
 * operation.
 */
int rf_order_reduce(enum rf_arith_type type, enum rf_arith_op op, uint32_t ranks,
		    const struct rf_place *places, const void *const *operands, void *out,
		    size_t count);

#endif
