/* UDP datagrams that are not RoCE. */
#include <string.h>

#include "host/roce/frame.h"
#include "proto/rf_bytes.h"

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
