#include "planner/mem.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

void mem_out(size_t bytes)
{
	fputs("planner: out of memory", stderr);
	if (bytes > 0)
		fprintf(stderr, " (%zu bytes requested)", bytes);
	fputs(": raise the memory limit, or use a scheme with one tree, such as netreduce-rack\n",
	      stderr);
	exit(1);
}

static size_t bytes_of(size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? SIZE_MAX : bytes;
}

void *mem_new(size_t n, size_t size)
{
	void *p = calloc(n ? n : 1, size);

	if (!p)
		mem_out(bytes_of(n, size));
	return p;
}

void *mem_more(void *p, size_t n, size_t size)
{
	void *q = reallocarray(p, n ? n : 1, size);

	if (!q)
		mem_out(bytes_of(n, size));
	return q;
}
