/* The kernels for AVX2; without it only a copy of the portable ones, which is never chosen. */
#ifdef __x86_64__
#define SOFT_SUM_TARGET __attribute__((target("avx2")))
#else
#define SOFT_SUM_TARGET
#endif
#define SOFT_SUM_TABLE soft_sum_avx2
#define SOFT_SUM_NAME "avx2"
#include "soft/sum_none.c"
