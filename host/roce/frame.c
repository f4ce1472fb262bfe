#include "host/roce/frame.h"

#include <string.h>

#include "proto/rf_bytes.h"

static int parse_eth(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	uint16_t type;

	if (len < ROCE_ETH_BYTES)
		return ROCE_WIRE_RUNT;
	memcpy(p->dst_mac, frame, 6);
	memcpy(p->src_mac, frame + 6, 6);
	type = rf_get_be16(frame + 12);
	p->ip_offset = ROCE_ETH_BYTES;
	p->ethertype = type;
	if (len < ROCE_FRAME_MIN)
		return ROCE_WIRE_RUNT;
	if (type == ROCE_ETHERTYPE_VLAN) {
		p->has_vlan = true;
		p->vlan_tci = rf_get_be16(frame + 14);
		p->ip_offset += ROCE_VLAN_BYTES;
		type = rf_get_be16(frame + 16);
		p->ethertype = type;
		if (type == ROCE_ETHERTYPE_VLAN)
			return ROCE_WIRE_TWO_TAGS;
	}
	switch (type) {
	case ROCE_ETHERTYPE_IPV4:
		return ROCE_WIRE_OK;
	case ROCE_ETHERTYPE_QINQ:
		return ROCE_WIRE_TWO_TAGS;
	case ROCE_ETHERTYPE_ARP:
		return ROCE_WIRE_ARP;
	case ROCE_ETHERTYPE_IPV6:
		return ROCE_WIRE_IPV6;
	default:
		return ROCE_WIRE_ETHERTYPE;
	}
}

int roce_frame_parse_ip(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	int error = parse_eth(frame, len, p);
	const uint8_t *ip = frame + p->ip_offset;
	size_t end;

	if (error)
		return error;
	if (ip[0] >> 4 != 4)
		return ROCE_WIRE_IP_VERSION;
	if ((ip[0] & 0xf) != 5)
		return ROCE_WIRE_IP_OPTIONS;
	p->tos = ip[1];
	p->ip_length = rf_get_be16(ip + 2);
	p->ip_id = rf_get_be16(ip + 4);
	p->ip_flags = rf_get_be16(ip + 6);
	p->ttl = ip[8];
	p->ip_proto = ip[9];
	p->ip_checksum_ok = roce_inet_final(roce_inet_sum(0, ip, ROCE_IP_BYTES)) == 0;
	p->src_ip = rf_get_be32(ip + 12);
	p->dst_ip = rf_get_be32(ip + 16);
	if (p->ip_flags & 0x3fff)
		return ROCE_WIRE_IP_FRAGMENT;
	if (p->dst_mac[0] & 1)
		return ROCE_WIRE_MULTICAST;
	/* 28 leaves room for a UDP or ICMP header whatever the protocol is. */
	end = p->ip_offset + (size_t)p->ip_length;
	if (p->ip_length < ROCE_IP_BYTES + ROCE_UDP_BYTES || end > len)
		return ROCE_WIRE_IP_LENGTH;
	/* A switch may put a tag into a padded frame. */
	if (end < len && len > ROCE_FRAME_MIN + (p->has_vlan ? ROCE_VLAN_BYTES : 0))
		return ROCE_WIRE_IP_LENGTH;
	return ROCE_WIRE_OK;
}

int roce_frame_parse_udp(const uint8_t *frame, struct roce_packet *p)
{
	const uint8_t *udp = frame + p->ip_offset + ROCE_IP_BYTES;

	if (p->ip_proto != ROCE_IPPROTO_UDP)
		return ROCE_WIRE_NOT_UDP;
	p->udp_sport = rf_get_be16(udp);
	p->udp_dport = rf_get_be16(udp + 2);
	p->udp_length = rf_get_be16(udp + 4);
	p->udp_checksum = rf_get_be16(udp + 6);
	if (p->udp_length != p->ip_length - ROCE_IP_BYTES)
		return ROCE_WIRE_UDP_LENGTH;
	return ROCE_WIRE_OK;
}

size_t roce_frame_put_eth(const struct roce_packet *p, uint16_t ethertype, uint8_t *frame)
{
	uint8_t *at = frame + 12;

	memcpy(frame, p->dst_mac, 6);
	memcpy(frame + 6, p->src_mac, 6);
	if (p->has_vlan) {
		rf_put_be16(at, ROCE_ETHERTYPE_VLAN);
		rf_put_be16(at + 2, p->vlan_tci);
		at += ROCE_VLAN_BYTES;
	}
	rf_put_be16(at, ethertype);
	return (size_t)(at + 2 - frame);
}

size_t roce_frame_put_ip_udp(const struct roce_packet *p, size_t udp_data_len, uint16_t dport,
			     uint8_t *ip)
{
	uint8_t *udp = ip + ROCE_IP_BYTES;

	ip[0] = 0x45;
	ip[1] = p->tos;
	rf_put_be16(ip + 2, (uint16_t)(ROCE_IP_BYTES + ROCE_UDP_BYTES + udp_data_len));
	rf_put_be16(ip + 4, p->ip_id);
	rf_put_be16(ip + 6, p->ip_flags);
	ip[8] = p->ttl;
	ip[9] = ROCE_IPPROTO_UDP;
	rf_put_be16(ip + 10, 0);
	rf_put_be32(ip + 12, p->src_ip);
	rf_put_be32(ip + 16, p->dst_ip);
	rf_put_be16(ip + 10, roce_inet_final(roce_inet_sum(0, ip, ROCE_IP_BYTES)));
	rf_put_be16(udp, p->udp_sport);
	rf_put_be16(udp + 2, dport);
	rf_put_be16(udp + 4, (uint16_t)(ROCE_UDP_BYTES + udp_data_len));
	rf_put_be16(udp + 6, p->udp_checksum);
	return ROCE_IP_BYTES + ROCE_UDP_BYTES;
}

size_t roce_frame_pad(uint8_t *frame, size_t len)
{
	if (len >= ROCE_FRAME_MIN)
		return len;
	memset(frame + len, 0, ROCE_FRAME_MIN - len);
	return ROCE_FRAME_MIN;
}
