/* The average: a sum, divided on the host. */
#ifndef RF_AVERAGE_H
#define RF_AVERAGE_H

#include "host/collective/arith.h"

/* Whether the type has an average: floating types do. */
bool rf_average_has(enum rf_arith_type type);

/*
 * Divides `count` elements by n, in place. fp32 and fp64 are divided in their own format; 16-bit
 * elements in binary32, and then rounded to the element. NaN is canonical afterwards. The type has
 * an average; n is 1 to 2^24.
 */
void rf_average(enum rf_arith_type type, void *data, size_t count, unsigned int n);

#endif
