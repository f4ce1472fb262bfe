#include "host/roce/frame.h"

#include <string.h>

#include "proto/rf_bytes.h"

static int parse_eth(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	if (len < RF_INET_ETH_BYTES)
		return ROCE_WIRE_RUNT;
	memcpy(p->dst_mac, frame, 6);
	memcpy(p->src_mac, frame + 6, 6);
	p->ip_offset = RF_INET_ETH_BYTES;
	p->ethertype = rf_get_be16(frame + 12);
	if (len < RF_INET_FRAME_MIN)
		return ROCE_WIRE_RUNT;
	p->ip_offset =
		(uint32_t)rf_inet_eth_get(frame, len, &p->has_vlan, &p->vlan_tci, &p->ethertype);
	switch (p->ethertype) {
	case RF_INET_TYPE_IPV4:
		return ROCE_WIRE_OK;
	case RF_INET_TYPE_VLAN: /* after a first one */
	case RF_INET_TYPE_QINQ:
		return ROCE_WIRE_TWO_TAGS;
	case RF_INET_TYPE_ARP:
		return ROCE_WIRE_ARP;
	case RF_INET_TYPE_IPV6:
		return ROCE_WIRE_IPV6;
	default:
		return ROCE_WIRE_ETHERTYPE;
	}
}

int roce_frame_parse_ip(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	int error = parse_eth(frame, len, p);
	const uint8_t *ip = frame + p->ip_offset;
	struct rf_inet_ip h;
	size_t end;

	if (error)
		return error;
	if (ip[0] >> 4 != 4)
		return ROCE_WIRE_IP_VERSION;
	if ((ip[0] & 0xf) != 5)
		return ROCE_WIRE_IP_OPTIONS;
	rf_inet_ip_get(ip, &h);
	p->tos = h.tos;
	p->ip_length = h.length;
	p->ip_id = h.id;
	p->ip_flags = h.flags;
	p->ttl = h.ttl;
	p->ip_proto = h.proto;
	p->ip_checksum_ok = rf_inet_ip_sum_ok(ip);
	p->src_ip = h.src;
	p->dst_ip = h.dst;
	if (p->ip_flags & RF_INET_FRAGMENT)
		return ROCE_WIRE_IP_FRAGMENT;
	if (p->dst_mac[0] & 1)
		return ROCE_WIRE_MULTICAST;
	/* 28 leaves room for a UDP or ICMP header whatever the protocol is. */
	end = p->ip_offset + (size_t)p->ip_length;
	if (p->ip_length < RF_INET_IP_BYTES + RF_INET_UDP_BYTES || end > len)
		return ROCE_WIRE_IP_LENGTH;
	/* A switch may put a tag into a padded frame. */
	if (end < len && len > RF_INET_FRAME_MIN + (p->has_vlan ? RF_INET_VLAN_BYTES : 0))
		return ROCE_WIRE_IP_LENGTH;
	return ROCE_WIRE_OK;
}

int roce_frame_parse_udp(const uint8_t *frame, struct roce_packet *p)
{
	struct rf_inet_udp h;

	if (p->ip_proto != RF_INET_PROTO_UDP)
		return ROCE_WIRE_NOT_UDP;
	rf_inet_udp_get(frame + p->ip_offset + RF_INET_IP_BYTES, &h);
	p->udp_sport = h.src;
	p->udp_dport = h.dst;
	p->udp_length = h.length;
	p->udp_checksum = h.sum;
	if (p->udp_length != p->ip_length - RF_INET_IP_BYTES)
		return ROCE_WIRE_UDP_LENGTH;
	return ROCE_WIRE_OK;
}
