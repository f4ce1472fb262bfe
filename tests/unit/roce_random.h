/*
 * Seeded random numbers for tests. The seed is RF_SEED or 1; it is printed with the command that
 * repeats the run.
 */
#ifndef ROCE_RANDOM_H
#define ROCE_RANDOM_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/rng.h"

struct roce_random {
	uint64_t state;
};

static inline struct roce_random roce_random_seed(uint64_t seed)
{
	struct roce_random r = {seed * RF_RNG_STEP + 0x1234567u};

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

	r->state += RF_RNG_STEP;
	return (uint32_t)(rf_rng_mix(x) >> 16);
}

/* 0 .. n-1; n > 0. */
static inline uint32_t roce_random_below(struct roce_random *r, uint32_t n)
{
	return (uint32_t)((uint64_t)roce_random(r) * n >> 32);
}

#endif
