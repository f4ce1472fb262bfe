/* When a host runs next, and the barriers for which hosts wait. */
#include <string.h>

#include "sim/fabric/host.h"

/*
 * The values differ in several bits: otherwise one flipped bit in a frame's source address would
 * make the switch move another host.
 */
void rf_host_mac(unsigned rank, uint8_t mac[6])
{
	unsigned spread = (rank + 1) * 0x9e37u;

	memcpy(mac, (const uint8_t[6]){0x02, 0x48, 0, 0, 0, 0}, 6);
	mac[2] = (uint8_t)(spread >> 8);
	mac[3] = (uint8_t)spread;
	mac[4] = (uint8_t)((rank + 1) >> 8);
	mac[5] = (uint8_t)(rank + 1);
}

void rf_host_set_active(struct rf_host *h, bool active)
{
	if (h->counted == active)
		return;
	h->counted = active;
	h->f->active += active ? 1 : (unsigned)-1;
}

void rf_host_wake_at(struct rf_host *h, uint64_t ps)
{
	if (ps >= h->wake || ps == UINT64_MAX)
		return;
	h->wake = ps;
	rf_fabric_event(h->f, ps, RF_EV_HOST, h->rank, NULL);
}

void rf_host_wake(struct rf_host *h)
{
	rf_host_wake_at(h, h->f->now);
}

bool rf_host_at_barrier(const struct rf_host *h, unsigned n)
{
	return rf_host_ended(h) || h->barriers >= n;
}

bool rf_fabric_barrier(struct rf_fabric *f, unsigned n)
{
	for (unsigned r = 0; r < f->cfg.ranks; r++)
		if (!rf_host_at_barrier(f->hosts[r], n))
			return false;
	if (n > f->barriers) {
		f->barriers = n;
		for (unsigned r = 0; r < f->cfg.ranks; r++)
			rf_host_wake(f->hosts[r]);
	}
	return true;
}
