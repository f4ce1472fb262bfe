/* Random numbers of generated traffic. */
#include "base/rng.h"
#include "tools/traffic.h"

uint64_t traffic_random(uint64_t *state)
{
	return rf_rng_word(state);
}

/* A state that depends on all three numbers, so that each rank and position has its own stream. */
uint64_t traffic_hash(const struct traffic_plan *plan, uint64_t what, uint64_t place)
{
	uint64_t state = plan->seed;

	state ^= traffic_random(&state) + what;
	state ^= traffic_random(&state) + place;
	return traffic_random(&state);
}
