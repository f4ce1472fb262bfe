/*
 * Seeded random numbers for tests. The seed is RF_SEED or 1; it is printed with the command that
 * repeats the run.
 */
#ifndef ROCE_RANDOM_H
#define ROCE_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct roce_random {
	uint64_t state;
};

static inline struct roce_random roce_random_seed(uint64_t seed)
{
	struct roce_random r = {seed * 0x9e3779b97f4a7c15u + 0x1234567u};

	return r;
}

static inline struct roce_random roce_random_start(const char *test)
{
	const char *text = getenv("RF_SEED");
	uint64_t seed = text ? strtoull(text, NULL, 0) : 1;

	fprintf(stderr, "seed %llu: RF_SEED=%llu build/tests/%s\n", (unsigned long long)seed,
		(unsigned long long)seed, test);
	return roce_random_seed(seed);
}

static inline uint32_t roce_random(struct roce_random *r)
{
	uint64_t x = r->state;

	/* splitmix64's output function over a counter */
	r->state += 0x9e3779b97f4a7c15u;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return (uint32_t)((x ^ x >> 31) >> 16);
}

/* 0 .. n-1; n > 0. */
static inline uint32_t roce_random_below(struct roce_random *r, uint32_t n)
{
	return (uint32_t)((uint64_t)roce_random(r) * n >> 32);
}

#endif
