/* Two boxes under full load, one after the other; what does not depend on order is compared. */
#ifndef RF_COMPARE_BURST_H
#define RF_COMPARE_BURST_H

#include "tests/sim/compare/bench.h"

/*
 * Several groups send `count` indexes each, with loss, duplicates, stalls and foreign frames
 * between, and after `mutate` percent of the frames a copy that was changed at random and whose
 * ICRC is wrong: nothing may come of it. True if each engine brought the work to its end, kept its
 * own rules, and both sent the same packets on each connection.
 */
bool burst_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int mutate,
	       bool verbose);

#endif
