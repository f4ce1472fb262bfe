/*
 * The arithmetic of docs/reduction.md on single elements and on vectors, by integer operations
 * only. It does not depend on the floating point of the compiler or the processor.
 *
 * A vector consists of 32-bit words: one for each element (binary32 for the floating types up to 32
 * bits, an integer otherwise), two for each of 64 bits, the low one first.
 */
#ifndef RF_MODEL_ARITH_H
#define RF_MODEL_ARITH_H

#include <stddef.h>
#include <stdint.h>

#define ARITH_NAN32 0x7fc00000u
#define ARITH_NAN_BF16 0x7fc0u
#define ARITH_NAN_FP16 0x7e00u
#define ARITH_NAN64 0x7ff8000000000000ull

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

/* The same for binary64; sums are canonical. */
uint64_t arith_fp64_add(uint64_t a, uint64_t b);
uint64_t arith_fp64_min(uint64_t a, uint64_t b);
uint64_t arith_fp64_max(uint64_t a, uint64_t b);

/* Bytes of an element of a type (RF_DTYPE_*, RF_MODEL_TYPE_*). */
unsigned int arith_element_size(unsigned int dtype);
/* Words of a vector that holds `bytes` bytes of elements. */
size_t arith_words(unsigned int dtype, size_t bytes);

/*
 * acc[k] = acc[k] op b[k] for n words of a type (RF_DTYPE_*, RF_MODEL_TYPE_*) and operation
 * (RF_OP_*, RF_MODEL_OP_*; not copy, and the bit operations only for integers).
 */
void arith_combine(unsigned int dtype, unsigned int op, uint32_t *acc, const uint32_t *b, size_t n);

/* Converts elements in memory, little-endian, to n words and back (with the output step). */
void arith_load(unsigned int dtype, uint32_t *v, const uint8_t *p, size_t n);
void arith_store(unsigned int dtype, uint8_t *p, const uint32_t *v, size_t n);

/* The same for the types and operations of arith_wide.c: those that the ones above hand on. */
void arith_wide_combine(unsigned int type, unsigned int op, uint32_t *acc, const uint32_t *b,
			size_t words);
void arith_wide_load(unsigned int type, uint32_t *v, const uint8_t *p, size_t words);
void arith_wide_store(unsigned int type, uint8_t *p, const uint32_t *v, size_t words);

#endif
