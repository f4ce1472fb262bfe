/* UDP datagrams that are not RoCE. */
#include <string.h>

#include "host/roce/frame.h"

size_t roce_udp_build(const struct roce_udp *u, uint8_t *frame, size_t room)
{
	struct rf_inet_ip ip = {.flags = RF_INET_DONT_FRAGMENT,
				.ttl = 64,
				.proto = RF_INET_PROTO_UDP,
				.src = u->src_ip,
				.dst = u->dst_ip};
	struct rf_inet_udp udp = {.src = u->sport, .dst = u->dport};
	size_t at;

	if (u->len > 0xffffu - RF_INET_IP_BYTES - RF_INET_UDP_BYTES || room < RF_INET_FRAME_MIN ||
	    room < RF_INET_ETH_BYTES + RF_INET_VLAN_BYTES + RF_INET_IP_BYTES + RF_INET_UDP_BYTES +
			    (size_t)u->len)
		return 0;
	udp.length = (uint16_t)(RF_INET_UDP_BYTES + u->len);
	ip.length = (uint16_t)(RF_INET_IP_BYTES + udp.length);
	at = rf_inet_eth_put(frame, u->dst_mac, u->src_mac, u->has_vlan, u->vlan_tci,
			     RF_INET_TYPE_IPV4);
	rf_inet_ip_put(frame + at, &ip);
	rf_inet_udp_put(frame + at + RF_INET_IP_BYTES, &udp);
	at += RF_INET_IP_BYTES + RF_INET_UDP_BYTES;
	if (u->len > 0)
		memcpy(frame + at, u->data, u->len);
	return rf_inet_pad(frame, at + u->len);
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
	u->data = frame + p.ip_offset + RF_INET_IP_BYTES + RF_INET_UDP_BYTES;
	u->len = p.udp_length - RF_INET_UDP_BYTES;
	return ROCE_WIRE_OK;
}
