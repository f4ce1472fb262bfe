/* The register bus: a UIO device of the kernel, or a file of the same layout in tests. */
#ifndef RF_RINGFOLDD_BUS_H
#define RF_RINGFOLDD_BUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/target/linux/hal.h"

struct rfd_bus {
	int fd;   /* readable when the device has interrupted, if uio */
	bool uio; /* a UIO device: interrupts can be requested */
	bool host_clock;
	uint32_t khz; /* of host_clock */
	uint32_t high;
	uint64_t start_ns;
	volatile uint32_t *map;
	size_t bytes;
	struct rf_hal hal;
};

/*
 * Locks and maps the device; writes nothing. Returns 0, or -1 with a reason, for example if another
 * process has locked it. Closed by rfd_bus_close().
 */
int rfd_bus_open(struct rfd_bus *b, const char *path, bool host_clock, char *why, size_t room);
void rfd_bus_close(struct rfd_bus *b);
/* Allows one more interrupt. */
void rfd_bus_arm(struct rfd_bus *b);
/* Consumes the interrupt that made fd readable. */
void rfd_bus_take(struct rfd_bus *b);
/* Current cycle of the clock used by the firmware. */
uint64_t rfd_bus_cycle(struct rfd_bus *b);

#endif
