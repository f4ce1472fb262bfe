// The parts of the core bench.
#ifndef CORE_TESTS_H
#define CORE_TESTS_H

#include "tests/rtl/core_bench.h"

// Addresses and CTRL.enable, without hold.
static inline void setup(Box &box, uint64_t mac)
{
	box.wr(RF_MAC_HI, static_cast<uint32_t>(mac >> 32));
	box.wr(RF_MAC_LO, static_cast<uint32_t>(mac));
	box.wr(RF_IP, 0x0a0000fe);
	box.wr(RF_CTRL, 1);
}

void cases(uint32_t seed);
// As part of the cases: marks the counters that have counted.
void naks(uint32_t seed, std::vector<bool> &all);
void link_down(uint32_t seed, std::vector<bool> &seen);
void mirror(uint32_t seed, std::vector<bool> &seen);
void stress(uint32_t seed);
void speed(const char *json);
void simulation(unsigned packets);

#endif
