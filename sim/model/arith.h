/*
 * The arithmetic of docs/reduction.md on single elements and on vectors, by integer operations
 * only. It does not depend on the floating point of the compiler or the processor.
 *
 * Values inside the tree are 32 bits wide: binary32 for the floating types, an integer for int32.
 */
#ifndef RF_MODEL_ARITH_H
#define RF_MODEL_ARITH_H

#include <stddef.h>
#include <stdint.h>

#define ARITH_NAN32 0x7fc00000u
#define ARITH_NAN_BF16 0x7fc0u
#define ARITH_NAN_FP16 0x7e00u

/* IEEE 754 binary32 addition, round to nearest even, subnormals kept; NaN is canonical. */
uint32_t arith_fp32_add(uint32_t a, uint32_t b);
/* minimumNumber and maximumNumber of IEEE 754-2019; two NaNs give the canonical one. */
uint32_t arith_fp32_min(uint32_t a, uint32_t b);
uint32_t arith_fp32_max(uint32_t a, uint32_t b);

/* Exact conversions to binary32. A NaN stays a NaN; its payload does not matter. */
uint32_t arith_from_bf16(uint16_t x);
uint32_t arith_from_fp16(uint16_t x);

/* The output step: one rounding to nearest even, NaN made canonical. */
uint32_t arith_to_fp32(uint32_t x);
uint16_t arith_to_bf16(uint32_t x);
uint16_t arith_to_fp16(uint32_t x);

/* Bytes of an element of a type (RF_DTYPE_*). */
unsigned int arith_element_size(unsigned int dtype);

/* acc[k] = acc[k] op b[k] for n values of a type (RF_DTYPE_*) and operation (RF_OP_*). */
void arith_combine(unsigned int dtype, unsigned int op, uint32_t *acc, const uint32_t *b, size_t n);

/* Converts n elements in memory, little-endian, to values and back (with the output step). */
void arith_load(unsigned int dtype, uint32_t *v, const uint8_t *p, size_t n);
void arith_store(unsigned int dtype, uint8_t *p, const uint32_t *v, size_t n);

#endif
