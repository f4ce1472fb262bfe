/* Runs two boxes, one frame at a time, and compares everything. */
#ifndef RF_COMPARE_LOCKSTEP_H
#define RF_COMPARE_LOCKSTEP_H

#include "tests/sim/compare/bench.h"

/*
 * Runs this many steps of random traffic; registers are compared every `every` steps, and `mutate`
 * percent of the frames are changed at random. True if all is equal; otherwise false with a report
 * on stdout. b[1] may use a different engine than b[0].
 */
bool lockstep_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int every,
		  unsigned int mutate, bool verbose);

#endif
