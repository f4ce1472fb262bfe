/* Logarithms of whole numbers. Freestanding. */
#ifndef RF_BASE_LOG2_H
#define RF_BASE_LOG2_H

/* The largest k with 2^k <= n; 0 for n = 0. */
static inline unsigned int rf_log2(unsigned int n)
{
	unsigned int k = 0;

	while (n >>= 1)
		k++;
	return k;
}

#endif
