#include "tests/unit/fail_calloc.h"

#include <stddef.h>

int fail_at;
void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);

void *__wrap_calloc(size_t n, size_t size)
{
	if (fail_at > 0 && --fail_at == 0)
		return NULL;
	return __real_calloc(n, size);
}
