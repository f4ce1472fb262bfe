/*
 * Arithmetic works on blocks: elements of any type widened to 32 or 64 bits, a few hundred at a
 * time, so that they stay in the first cache and the compiler can use vectors. 16-bit types are
 * widened to binary32 (exactly) and rounded when a block is stored.
 */
#ifndef RF_BLOCK_H
#define RF_BLOCK_H

#include <stddef.h>
#include <stdint.h>

#include "host/collective/arith.h"

#define RF_BLOCK 256u

union rf_block {
	float f[RF_BLOCK];
	uint32_t u[RF_BLOCK];
	int32_t i[RF_BLOCK];
	double f64[RF_BLOCK];
	uint64_t u64[RF_BLOCK];
	int64_t i64[RF_BLOCK];
};

/* n elements, at most RF_BLOCK. */
void rf_block_load(enum rf_arith_type type, union rf_block *b, const void *from, size_t n);
/* The output step: one rounding, canonical NaN. */
void rf_block_store(enum rf_arith_type type, void *to, const union rf_block *b, size_t n);
/* out = a op b; out may be a or b. Intermediate NaNs are not canonical. */
void rf_block_op(enum rf_arith_type type, enum rf_arith_op op, union rf_block *out,
		 const union rf_block *a, const union rf_block *b, size_t n);

/* block_int.c: the operations on integers. */
void rf_block_int(enum rf_arith_type type, enum rf_arith_op op, union rf_block *out,
		  const union rf_block *a, const union rf_block *b, size_t n);

#endif
