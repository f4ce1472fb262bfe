/* Two boxes, one frame at a time, everything compared. */
#ifndef RF_COMPARE_LOCKSTEP_H
#define RF_COMPARE_LOCKSTEP_H

#include "tests/sim/compare/bench.h"

/*
 * So many steps of random traffic; registers are compared every `every` steps, `mutate`
 * percent of the frames are changed at random. True if all is equal, false with an account on
 * stdout. b[1] may be of another kind than b[0].
 */
bool lockstep_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int every,
		  unsigned int mutate, bool verbose);

#endif
