/*
 * A router between the hosts' subnet and the box's: it stands where the switch is, answers ARP for
 * its address, and gives the packets that it is sent other MAC addresses and a lower TTL.
 */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"
#include "sim/fabric/host.h"
#include "wire/arp.h"

#define TTL_AT 8u
#define SUM_AT 10u
#define TARGET_AT 16u

uint32_t rf_fabric_router_ip(void)
{
	return 0x0a00fffdu;
}

/* A second router may take over: the same address, and another MAC. */
static void router_mac(const struct rf_fabric *f, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){0x02, 0x52, 0x54, 0x10, 0, 0x51}, 6);
	mac[5] ^= (uint8_t)(f->routers * 0x3cu);
}

static void port_mac(unsigned port, uint8_t mac[6])
{
	memcpy(mac, rf_fabric_box_mac, 6);
	mac[5] = (uint8_t)(mac[5] + port);
}

void rf_fabric_router_change(struct rf_fabric *f)
{
	f->routers++;
}

/*
 * A router knows its neighbours. Here the switch learns where they are, as from a frame of each:
 * the frames that it sees have the router's MAC as their source.
 */
void rf_router_start(struct rf_fabric *f)
{
	uint16_t ports[RF_SWITCH_PORTS];
	uint8_t frame[60] = {0};

	for (unsigned k = 0; k < f->cfg.ranks + f->cfg.ports; k++) {
		if (k < f->cfg.ranks)
			rf_host_mac(k, frame + 6);
		else
			port_mac(k - f->cfg.ranks, frame + 6);
		memcpy(frame, frame + 6, 6);
		(void)rf_switch_frame(&f->sw, 0, k, frame, sizeof(frame), ports);
	}
}

/* Answers a request for the router's address on the port on which it came. */
static bool answer_arp(struct rf_fabric *f, unsigned in, const struct rf_frame *frame)
{
	uint8_t reply[RF_INET_FRAME_MIN + RF_INET_VLAN_BYTES];
	bool box = in >= f->cfg.ranks;
	struct rf_link *back = rf_link_get(f, box, box ? in - f->cfg.ranks : in, false);
	struct rf_frame *out;
	struct rf_arp arp;

	if (rf_arp_parse(frame->data, frame->len, &arp) == 0 ||
	    arp.target_ip != rf_fabric_router_ip() || arp.op != RF_ARP_REQUEST)
		return false;
	arp.op = RF_ARP_REPLY;
	arp.target_ip = arp.sender_ip;
	memcpy(arp.target_mac, arp.sender_mac, 6);
	arp.sender_ip = rf_fabric_router_ip();
	router_mac(f, arp.sender_mac);
	out = rf_frame_new(f, reply, rf_arp_build(&arp, reply, sizeof(reply)));
	if (out)
		rf_link_send(f, back, f->now, out);
	return true;
}

/* The MAC of an address: a port's, the box's (by the port of the host that asks), or a host's. */
static void next_hop(const struct rf_fabric *f, unsigned in, uint32_t ip, uint8_t mac[6])
{
	uint32_t port = ip - rf_fabric_box_ip() - 1;

	if (ip == rf_fabric_box_ip())
		port = in < f->cfg.ranks ? f->cfg.port_of_rank[in] : 0;
	if (ip >= rf_fabric_box_ip() && port < f->cfg.ports) {
		port_mac(port, mac);
		return;
	}
	for (unsigned r = 0; r < f->cfg.ranks; r++)
		if (rf_fabric_ip(r) == ip)
			rf_host_mac(r, mac);
}

/* Whether a frame is for the router, by any MAC that it has had. */
static bool is_for_it(const struct rf_fabric *f, const uint8_t *frame)
{
	struct rf_fabric then = {.routers = 0};
	uint8_t mac[6];

	for (; then.routers <= f->routers; then.routers++) {
		router_mac(&then, mac);
		if (memcmp(frame, mac, 6) == 0)
			return true;
	}
	return false;
}

bool rf_router_frame(struct rf_fabric *f, unsigned in, struct rf_frame *frame)
{
	size_t ip = rf_inet_ipv4_at(frame->data, frame->len);

	if (frame->bad)
		return false;
	if (answer_arp(f, in, frame))
		return true;
	if (!ip || !is_for_it(f, frame->data))
		return false;
	next_hop(f, in, rf_get_be32(frame->data + ip + TARGET_AT), frame->data);
	router_mac(f, frame->data + 6);
	frame->data[ip + TTL_AT]--;
	rf_put_be16(frame->data + ip + SUM_AT, 0);
	rf_put_be16(frame->data + ip + SUM_AT,
		    rf_inet_checksum(0, frame->data + ip, RF_INET_IP_BYTES));
	return false;
}
