/* Which build of the kernels the processor can run. */
#include "soft/sum.h"

#include <string.h>

/* Widest first. */
static const struct soft_sum *const all[] = {&soft_sum_avx512, &soft_sum_avx2, &soft_sum_none};

bool soft_sum_runs(const struct soft_sum *s)
{
	if (s == &soft_sum_none)
		return true;
#ifdef __x86_64__
	__builtin_cpu_init();
	if (s == &soft_sum_avx2)
		return __builtin_cpu_supports("avx2");
	return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	       __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
#else
	return false;
#endif
}

const struct soft_sum *soft_sum_named(const char *name)
{
	bool any = !name || !*name;
	size_t k;

	for (k = 0; k < sizeof(all) / sizeof(all[0]); k++)
		if ((any || strcmp(name, all[k]->name) == 0) && soft_sum_runs(all[k]))
			return all[k];
	return NULL;
}
