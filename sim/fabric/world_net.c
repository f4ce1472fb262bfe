/* Links, and the switch of a world: queues, marks, the router. */
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"
#include "sim/fabric/world_internal.h"

#define OVERHEAD 24u /* preamble 8, FCS 4, gap 12 */
#define PS_PER_SEC UINT64_C(1000000000000)
#define ECN_BITS 3u

uint64_t rf_world_wire(uint64_t rate, size_t len)
{
	uint64_t bits = (uint64_t)((len < 60 ? 60 : len) + OVERHEAD) * 8;

	return (bits * PS_PER_SEC + rate - 1) / rate;
}

/* With a router the hosts are in another subnet than the box. */
uint32_t rf_world_host_ip(const struct rf_world *w, unsigned rank)
{
	return (w->cfg.router ? 0x0a010000u : 0x0a000000u) + rank + 1;
}

void rf_world_host_mac(unsigned rank, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){0x02, 0x48, 0, 0, 0, (uint8_t)(rank + 1)}, 6);
}

uint32_t rf_world_port_ip(unsigned port)
{
	return 0x0a00ff01u + port;
}

void rf_world_port_mac(unsigned port, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){0x02, 0x52, 0x46, 0, 0, (uint8_t)(0x10 + port)}, 6);
}

void rf_world_router_mac(uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){0x02, 0x52, 0x54, 0, 0, 1}, 6);
}

struct rf_world_link *rf_world_link(struct rf_world *w, bool box, unsigned port, bool up)
{
	unsigned n = box ? w->cfg.ports : w->cfg.ranks;

	return &w->link[(box ? 2 * w->cfg.ranks : 0) + (up ? 0 : n) + port];
}

/* The switch knows all addresses from the start, so it never floods. */
static void introduce(struct rf_world *w, unsigned port, const uint8_t mac[6])
{
	uint8_t frame[60] = {0};
	uint16_t out[RF_SWITCH_PORTS];

	memcpy(frame, mac, 6);
	memcpy(frame + 6, mac, 6);
	(void)rf_switch_frame(&w->sw, 0, port, frame, sizeof(frame), out);
}

void rf_world_net_init(struct rf_world *w)
{
	uint8_t mac[6];

	(void)rf_switch_init(&w->sw, w->cfg.ranks, w->cfg.ports);
	for (unsigned r = 0; r < w->cfg.ranks; r++) {
		uint64_t rate = w->cfg.rate_of_rank[r] ? w->cfg.rate_of_rank[r] : w->cfg.rate;

		*rf_world_link(w, false, r, true) = (struct rf_world_link){
			.rate = rate, .loss = w->cfg.loss, .to = RF_WORLD_AT_SWITCH, .who = r};
		*rf_world_link(w, false, r, false) = (struct rf_world_link){
			.rate = rate, .loss = w->cfg.loss, .to = RF_WORLD_AT_HOST, .who = r};
		if (!w->cfg.mirror)
			rf_switch_rule(&w->sw, r, r % w->cfg.ports);
		rf_world_host_mac(r, mac);
		introduce(w, r, mac);
	}
	for (unsigned p = 0; p < w->cfg.ports; p++) {
		*rf_world_link(w, true, p, true) = (struct rf_world_link){
			.rate = w->cfg.rate, .to = RF_WORLD_AT_SWITCH, .who = w->cfg.ranks + p};
		*rf_world_link(w, true, p, false) = (struct rf_world_link){
			.rate = w->cfg.rate, .to = RF_WORLD_AT_BOX, .who = p};
		rf_world_port_mac(p, mac);
		introduce(w, w->cfg.ranks + p, mac);
	}
}

uint64_t rf_world_send(struct rf_world *w, struct rf_world_link *l, uint64_t start,
		       const uint8_t *data, size_t len)
{
	uint64_t begin = start > l->free_at ? start : l->free_at;
	struct rf_world_frame *f;

	l->free_at = begin + rf_world_wire(l->rate, len);
	if (rf_rng_chance(&w->rng, l->loss)) {
		w->r.frames_lost++;
		return l->free_at;
	}
	f = malloc(sizeof(*f) + len);
	if (f) {
		f->len = len;
		memcpy(f->data, data, len);
	}
	if (!f || rf_events_add(&w->events, l->free_at + w->cfg.delay_ns * RF_WORLD_PS, l->to,
				l->who, f) != 0) {
		free(f);
		w->failed = true;
	}
	return l->free_at;
}

static void ip_sum(uint8_t *ip)
{
	rf_put_be16(ip + 10, 0);
	rf_put_be16(ip + 10, rf_inet_checksum(0, ip, RF_INET_IP_BYTES));
}

/* A router between the hosts' subnet and the box's: other MAC addresses, TTL less one. */
static void route(const struct rf_world *w, uint8_t *data, size_t len)
{
	size_t at = rf_inet_ipv4_at(data, len);
	uint8_t mac[6];
	uint32_t to;

	rf_world_router_mac(mac);
	if (!at || memcmp(data, mac, 6) != 0)
		return;
	memcpy(data + 6, mac, 6);
	to = rf_get_be32(data + at + 16);
	if (to - rf_world_port_ip(0) < w->cfg.ports)
		rf_world_port_mac(to - rf_world_port_ip(0), data);
	else
		rf_world_host_mac(to - rf_world_host_ip(w, 0), data);
	data[at + 8]--;
	ip_sum(data + at);
}

/* Sets CE if the packet allows it. */
static void mark(struct rf_world *w, uint8_t *data, size_t len)
{
	size_t at = rf_inet_ipv4_at(data, len);

	if (!at || (data[at + 1] & ECN_BITS) == 0)
		return;
	data[at + 1] |= ECN_BITS;
	ip_sum(data + at);
	w->r.marked++;
}

static void leave(struct rf_world *w, unsigned out, uint64_t start, uint8_t *data, size_t len)
{
	bool box = out >= w->cfg.ranks;
	struct rf_world_link *l = rf_world_link(w, box, box ? out - w->cfg.ranks : out, false);
	uint64_t wait = l->free_at > start ? l->free_at - start : 0;
	uint64_t bytes = wait / 8 * (l->rate / 1000000) / 1000000;

	if (!box && bytes + len > w->r.queue_max[out])
		w->r.queue_max[out] = bytes + len;
	if (bytes + len > w->cfg.switch_buffer) {
		w->r.switch_dropped++;
		return;
	}
	if (w->cfg.mark_bytes > 0 && bytes > w->cfg.mark_bytes)
		mark(w, data, len);
	rf_world_send(w, l, start, data, len);
}

void rf_world_switch(struct rf_world *w, unsigned in, uint8_t *data, size_t len)
{
	uint64_t start = w->now + w->cfg.switch_ns * RF_WORLD_PS;
	uint16_t out[RF_SWITCH_PORTS];
	size_t n;

	if (w->cfg.router)
		route(w, data, len);
	n = rf_switch_frame(&w->sw, w->now / RF_WORLD_PS, in, data, len, out);
	for (size_t k = 0; k < n; k++)
		leave(w, out[k], start, data, len);
}
