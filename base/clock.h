/* Monotonic time, for programs that run in real time; simulators have their own clocks. */
#ifndef RF_BASE_CLOCK_H
#define RF_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

/* Nanoseconds of CLOCK_MONOTONIC: comparable within one machine since its last boot. */
static inline uint64_t rf_now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * UINT64_C(1000000000) + (uint64_t)ts.tv_nsec;
}

/* The same in milliseconds. */
static inline uint64_t rf_now_ms(void)
{
	return rf_now_ns() / 1000000u;
}

#endif
