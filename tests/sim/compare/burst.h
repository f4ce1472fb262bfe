/*
 * Runs two boxes under full load, one after the other, and compares what does not depend on timing.
 */
#ifndef RF_COMPARE_BURST_H
#define RF_COMPARE_BURST_H

#include "tests/sim/compare/bench.h"

/*
 * Several groups send `count` indexes each, with loss, duplicates, stalls and foreign frames in
 * between. After `mutate` percent of the frames a randomly changed copy with a wrong ICRC is sent,
 * which must have no effect. True if each engine finished the work and kept its own rules, and if
 * both sent the same packets on each connection.
 */
bool burst_run(struct bench *b, uint64_t seed, unsigned long count, unsigned int mutate,
	       bool verbose);

#endif
