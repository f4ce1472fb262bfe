/* UDP datagrams that are not RoCE, and ARP. */
#include <string.h>

#include "host/roce/frame.h"
#include "proto/rf_bytes.h"

#define ARP_BYTES 28u

size_t roce_udp_build(const struct roce_udp *u, uint8_t *frame, size_t room)
{
	struct roce_packet p = {
		.has_vlan = u->has_vlan,
		.vlan_tci = u->vlan_tci,
		.ttl = 64,
		.ip_flags = 0x4000,
		.src_ip = u->src_ip,
		.dst_ip = u->dst_ip,
		.udp_sport = u->sport,
	};
	size_t at;

	if (u->len > 0xffffu - ROCE_IP_BYTES - ROCE_UDP_BYTES || room < ROCE_FRAME_MIN ||
	    room < ROCE_ETH_BYTES + ROCE_VLAN_BYTES + ROCE_IP_BYTES + ROCE_UDP_BYTES +
			    (size_t)u->len)
		return 0;
	memcpy(p.dst_mac, u->dst_mac, 6);
	memcpy(p.src_mac, u->src_mac, 6);
	at = roce_frame_put_eth(&p, ROCE_ETHERTYPE_IPV4, frame);
	at += roce_frame_put_ip_udp(&p, u->len, u->dport, frame + at);
	if (u->len > 0)
		memcpy(frame + at, u->data, u->len);
	return roce_frame_pad(frame, at + u->len);
}

int roce_udp_parse(const uint8_t *frame, size_t len, struct roce_udp *u)
{
	struct roce_packet p;
	int error;

	memset(&p, 0, sizeof(p));
	error = roce_frame_parse_ip(frame, len, &p);
	if (error)
		return error;
	if (!p.ip_checksum_ok)
		return ROCE_WIRE_IP_LENGTH;
	error = roce_frame_parse_udp(frame, &p);
	if (error)
		return error;
	if (!roce_udp_checksum_ok(frame, &p))
		return ROCE_WIRE_UDP_LENGTH;
	memcpy(u->dst_mac, p.dst_mac, 6);
	memcpy(u->src_mac, p.src_mac, 6);
	u->has_vlan = p.has_vlan;
	u->vlan_tci = p.vlan_tci;
	u->src_ip = p.src_ip;
	u->dst_ip = p.dst_ip;
	u->sport = p.udp_sport;
	u->dport = p.udp_dport;
	u->data = frame + p.ip_offset + ROCE_IP_BYTES + ROCE_UDP_BYTES;
	u->len = p.udp_length - ROCE_UDP_BYTES;
	return ROCE_WIRE_OK;
}

int roce_arp_parse(const uint8_t *frame, size_t len, struct roce_arp *a)
{
	size_t at = 12;

	if (len < ROCE_FRAME_MIN)
		return ROCE_WIRE_RUNT;
	memset(a, 0, sizeof(*a));
	if (rf_get_be16(frame + at) == ROCE_ETHERTYPE_VLAN) {
		a->has_vlan = true;
		a->vlan_tci = rf_get_be16(frame + at + 2);
		at += ROCE_VLAN_BYTES;
	}
	if (rf_get_be16(frame + at) != ROCE_ETHERTYPE_ARP)
		return ROCE_WIRE_ETHERTYPE;
	at += 2;
	/* Hardware Ethernet (1), protocol IPv4, address lengths 6 and 4. */
	if (rf_get_be32(frame + at) != 0x00010800u || rf_get_be16(frame + at + 4) != 0x0604u)
		return ROCE_WIRE_ETHERTYPE;
	a->op = rf_get_be16(frame + at + 6);
	memcpy(a->sender_mac, frame + at + 8, 6);
	a->sender_ip = rf_get_be32(frame + at + 14);
	memcpy(a->target_mac, frame + at + 18, 6);
	a->target_ip = rf_get_be32(frame + at + 24);
	return ROCE_WIRE_OK;
}

size_t roce_arp_build(const struct roce_arp *a, uint8_t *frame, size_t room)
{
	struct roce_packet p = {.has_vlan = a->has_vlan, .vlan_tci = a->vlan_tci};
	size_t at;

	if (room < ROCE_FRAME_MIN + ROCE_VLAN_BYTES)
		return 0;
	memset(frame, 0, ROCE_FRAME_MIN + ROCE_VLAN_BYTES);
	if (a->op == 1)
		memset(p.dst_mac, 0xff, 6);
	else
		memcpy(p.dst_mac, a->target_mac, 6);
	memcpy(p.src_mac, a->sender_mac, 6);
	at = roce_frame_put_eth(&p, ROCE_ETHERTYPE_ARP, frame);
	rf_put_be32(frame + at, 0x00010800u);
	rf_put_be16(frame + at + 4, 0x0604u);
	rf_put_be16(frame + at + 6, a->op);
	memcpy(frame + at + 8, a->sender_mac, 6);
	rf_put_be32(frame + at + 14, a->sender_ip);
	if (a->op != 1)
		memcpy(frame + at + 18, a->target_mac, 6);
	rf_put_be32(frame + at + 24, a->target_ip);
	return ROCE_FRAME_MIN + (a->has_vlan ? ROCE_VLAN_BYTES : 0);
}
