/* What metrics and status read of a box. */
#ifndef RF_SERVICE_READ_H
#define RF_SERVICE_READ_H

#include "base/clock.h"
#include "firmware/core/internal.h"
#include "service/view.h"

#define RF_VIEW_HOSTS 72u /* devices of a simulated box, at most */

static inline unsigned rf_view_ports(const struct rf_view *v)
{
	return v->fw ? v->fw->ports : v->ports;
}

/* Milliseconds since the start. */
static inline uint64_t rf_view_uptime_ms(const struct rf_view *v)
{
	return (rf_now_ns() - v->started_ns) / 1000000u;
}

/* Counter n of RF_COUNTERS at a port. */
static inline uint32_t rf_view_port_counter(const struct rf_view *v, uint32_t port, uint32_t n)
{
	return rf_hal_read(v->hal, RF_PORT_BASE + port * RF_PORT_STRIDE + 4u * n);
}

/* Counter n of page FIRMWARE. */
static inline uint32_t rf_view_fw_counter(const struct rf_view *v, unsigned n)
{
	return v->counter ? v->counter(v->arg, n) : rf_fw_counter(v->fw, n);
}

/* How often the lag of a group has been measured. */
static inline uint32_t rf_view_measurements(const struct rf_fw_group *g)
{
	uint32_t sum = 0;

	for (unsigned i = 0; i < RF_CTL_LAG_BINS; i++)
		sum += g->lag[i];
	return sum;
}

#endif
