/* The kernels for AVX-512; without it only a copy of the portable ones, which is never chosen. */
#if defined(__x86_64__) && defined(__clang__)
#define SOFT_SUM_TARGET __attribute__((target("avx512f,avx512bw,avx512dq,avx512vl")))
#elif defined(__x86_64__)
#define SOFT_SUM_TARGET                                                                            \
	__attribute__((target("avx512f,avx512bw,avx512dq,avx512vl,prefer-vector-width=512")))
#else
#define SOFT_SUM_TARGET
#endif
#define SOFT_SUM_TABLE soft_sum_avx512
#define SOFT_SUM_NAME "avx512"
#include "soft/sum_none.c"
