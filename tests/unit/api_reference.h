/*
 * The arithmetic of docs/reduction.md and docs/collective.md without a line of the library: the
 * reference for calls among hosts, whose sums the library makes itself.
 */
#ifndef API_REFERENCE_H
#define API_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

#include "ringfold/ringfold.h"

/* A float as an element of a type of 16 bits: rounded to nearest, ties to even. */
uint16_t reference_half(enum rf_type type, double v);

/* One element: a op b, rounded to the type. RF_AVERAGE is the sum. Any of the three may be equal.
 */
void reference_pair(enum rf_type type, enum rf_op op, const uint8_t *a, const uint8_t *b,
		    uint8_t *out);

/* The average as the header defines it: n-th parts in binary32 or binary64, rounded to the type. */
void reference_divide(enum rf_type type, uint8_t *at, size_t count, unsigned int n);

/*
 * The result of so many ranks' operands v[] in the order of docs/collective.md, "Among hosts", at
 * v[0]. v[] is overwritten.
 */
enum reference_order {
	REFERENCE_CHAIN,   /* one after another */
	REFERENCE_TREE,    /* numbers 1, 2, 4, ... away */
	REFERENCE_DOUBLING /* those beyond the largest power of two first, then pairs */
};
void reference_reduce(enum rf_type type, enum rf_op op, enum reference_order order,
		      unsigned int ranks, uint8_t *const v[], size_t count);

#endif
