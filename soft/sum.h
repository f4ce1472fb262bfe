/*
 * The sums of docs/reduction.md on vectors, in three builds of one source (sum_none.c): portable
 * C, the same for AVX2, the same for AVX-512.
 *
 * A vector is an array of elements as they are added: binary32 for bf16 and fp16, otherwise as in
 * the payload. No alignment is assumed. Lengths are bytes of the payload, whole elements.
 */
#ifndef RF_SOFT_SUM_H
#define RF_SOFT_SUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SOFT_TYPES 10u
#define SOFT_OPS 6u /* those that combine; copy does not */

typedef void soft_sum_combine(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t bytes);
typedef void soft_sum_convert(uint8_t *out, const uint8_t *in, size_t bytes);

struct soft_sum {
	const char *name;
	/* out = a op b; the three do not overlap. NULL: this type does not have the operation. */
	soft_sum_combine *combine[SOFT_TYPES][SOFT_OPS];
	/* From the payload to a vector; NULL: it is one already. */
	soft_sum_convert *load[SOFT_TYPES];
	/* The output step, from a vector to the payload; NULL: none. */
	soft_sum_convert *store[SOFT_TYPES];
};

extern const struct soft_sum soft_sum_none;
extern const struct soft_sum soft_sum_avx2;
extern const struct soft_sum soft_sum_avx512;

/* Bytes of an element of a type (RF_DTYPE_*). */
static inline unsigned int soft_sum_element(unsigned int type)
{
	static const uint8_t size[SOFT_TYPES] = {4, 2, 2, 4, 4, 8, 8, 8, 1, 1};

	return size[type];
}

/* Whether the processor can run it. */
bool soft_sum_runs(const struct soft_sum *s);
/* By name; NULL or "": the widest that the processor has. NULL: unknown, or it cannot run. */
const struct soft_sum *soft_sum_named(const char *name);

#endif
