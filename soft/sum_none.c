/* The kernels with the instructions of the build. */
#define SOFT_SUM_TARGET
#define SOFT_SUM_TABLE soft_sum_none
#define SOFT_SUM_NAME "none"
#include "soft/sum_kernels.h"
