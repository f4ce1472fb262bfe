/* What both texts of ringfoldd, the metrics and the status, read from the firmware. */
#ifndef RF_RINGFOLDD_READ_H
#define RF_RINGFOLDD_READ_H

#include "firmware/core/internal.h"

/* Counter n of RF_COUNTERS at a port. */
static inline uint32_t rfd_port_counter(struct rf_fw *fw, uint32_t port, uint32_t n)
{
	return rf_fw_read(fw, RF_PORT_BASE + port * RF_PORT_STRIDE + 4u * n);
}

/* How often the lag of a group has been measured. */
static inline uint32_t rfd_measurements(const struct rf_fw_group *g)
{
	uint32_t sum = 0;

	for (unsigned int i = 0; i < RF_CTL_LAG_BINS; i++)
		sum += g->lag[i];
	return sum;
}

#endif
