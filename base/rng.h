/* Random numbers that are equal on every machine: splitmix64 (Steele, Lea, Flood, 2014). */
#ifndef RF_BASE_RNG_H
#define RF_BASE_RNG_H

#include <stdbool.h>
#include <stdint.h>

#define RF_RNG_STEP UINT64_C(0x9e3779b97f4a7c15)

/* The output function: maps every x to a different word. */
static inline uint64_t rf_rng_mix(uint64_t x)
{
	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

/* Advances a state (every value is a good seed) and returns the next word. */
static inline uint64_t rf_rng_word(uint64_t *state)
{
	return rf_rng_mix(*state += RF_RNG_STEP);
}

struct rf_rng {
	uint64_t state;
};

static inline uint64_t rf_rng_next(struct rf_rng *r)
{
	return rf_rng_word(&r->state);
}

/*
 * A separate generator for each use, so that an additional draw in one place changes nothing
 * elsewhere.
 */
static inline struct rf_rng rf_rng_make(uint64_t seed, uint64_t stream)
{
	struct rf_rng r = {seed};

	r.state = rf_rng_next(&r) ^ (stream * UINT64_C(0xd1342543de82ef95));
	(void)rf_rng_next(&r);
	return r;
}

/* 0 .. n-1; n not 0. */
static inline uint64_t rf_rng_below(struct rf_rng *r, uint64_t n)
{
	return rf_rng_next(r) % n;
}

/*
 * True with probability p. Draws nothing if p is 0, so that a disabled fault does not affect the
 * others.
 */
static inline bool rf_rng_chance(struct rf_rng *r, double p)
{
	return p > 0 && (double)(rf_rng_next(r) >> 11) * 0x1p-53 < p;
}

#endif
