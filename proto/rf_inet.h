/*
 * The headers of Ethernet (IEEE 802.3, 802.1Q), IPv4 (RFC 791) and UDP (RFC 768) and the Internet
 * checksum (RFC 1071): the one codec of host, firmware, tools and simulator. Freestanding. Lengths
 * are for the caller to check. The model (sim/model/parse.c) and the frame checkers have their own,
 * because they check this one.
 */
#ifndef RF_INET_H
#define RF_INET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "proto/rf_bytes.h"

#define RF_INET_ETH_BYTES 14u
#define RF_INET_VLAN_BYTES 4u
#define RF_INET_IP_BYTES 20u /* without options */
#define RF_INET_UDP_BYTES 8u
/* Shortest frame that a MAC sends. */
#define RF_INET_FRAME_MIN 60u

#define RF_INET_TYPE_IPV4 0x0800u
#define RF_INET_TYPE_ARP 0x0806u
#define RF_INET_TYPE_VLAN 0x8100u
#define RF_INET_TYPE_QINQ 0x88a8u
#define RF_INET_TYPE_IPV6 0x86ddu
#define RF_INET_PROTO_ICMP 1u
#define RF_INET_PROTO_UDP 17u
#define RF_INET_VERSION_LENGTH 0x45u /* first byte: IPv4, no options */
#define RF_INET_DONT_FRAGMENT 0x4000u
/* Bits of `flags` that are set in a fragment. */
#define RF_INET_FRAGMENT 0x3fffu

/* ---- checksum ---- */

/*
 * The one's complement sum of `sum` and len bytes, at most 65535, in 16 bits. A buffer that
 * contains its own checksum sums up to 0xffff.
 */
static inline uint32_t rf_inet_sum(uint32_t sum, const uint8_t *p, size_t len)
{
	size_t i;

	for (i = 0; i + 1u < len; i += 2u)
		sum += rf_get_be16(p + i);
	if (i < len)
		sum += (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffffu) + (sum >> 16);
	return sum;
}

/* The checksum field for these bytes, in which that field is 0. */
static inline uint16_t rf_inet_checksum(uint32_t sum, const uint8_t *p, size_t len)
{
	return (uint16_t)~rf_inet_sum(sum, p, len);
}

static inline bool rf_inet_ip_sum_ok(const uint8_t *ip)
{
	return rf_inet_sum(0, ip, RF_INET_IP_BYTES) == 0xffffu;
}

/* The checksum of a UDP datagram is correct or absent. length: that of the UDP header. */
static inline bool rf_inet_udp_sum_ok(const uint8_t *ip, uint16_t length)
{
	const uint8_t *udp = ip + RF_INET_IP_BYTES;
	uint32_t sum;

	if (rf_get_be16(udp + 6) == 0)
		return true;
	/* pseudo header: addresses, protocol, length */
	sum = rf_inet_sum(RF_INET_PROTO_UDP + (uint32_t)length, ip + 12, 8);
	return rf_inet_sum(sum, udp, length) == 0xffffu;
}

/* ---- Ethernet ---- */

/* Writes the header, with a tag if has_vlan; returns its length. */
static inline size_t rf_inet_eth_put(uint8_t *frame, const uint8_t dst[6], const uint8_t src[6],
				     bool has_vlan, uint16_t vlan_tci, uint16_t type)
{
	uint8_t *at = frame + 12;

	memcpy(frame, dst, 6);
	memcpy(frame + 6, src, 6);
	if (has_vlan) {
		rf_put_be16(at, RF_INET_TYPE_VLAN);
		rf_put_be16(at + 2, vlan_tci);
		at += RF_INET_VLAN_BYTES;
	}
	rf_put_be16(at, type);
	return (size_t)(at + 2 - frame);
}

/*
 * Reads the type, after one tag if there is one. len: at least 14. Returns the offset of what
 * follows the type, 14 or 18; 0 if the frame ends within the tag.
 */
static inline size_t rf_inet_eth_get(const uint8_t *frame, size_t len, bool *has_vlan,
				     uint16_t *vlan_tci, uint16_t *type)
{
	*type = rf_get_be16(frame + 12);
	*has_vlan = *type == RF_INET_TYPE_VLAN;
	*vlan_tci = 0;
	if (!*has_vlan)
		return RF_INET_ETH_BYTES;
	if (len < RF_INET_ETH_BYTES + RF_INET_VLAN_BYTES)
		return 0;
	*vlan_tci = rf_get_be16(frame + 14);
	*type = rf_get_be16(frame + 16);
	return RF_INET_ETH_BYTES + RF_INET_VLAN_BYTES;
}

/* The offset of the IPv4 header, 14 or 18; 0 if the frame is not IPv4 or ends within that header.
 */
static inline size_t rf_inet_ipv4_at(const uint8_t *frame, size_t len)
{
	uint16_t tci, type;
	bool has_vlan;
	size_t at;

	if (len < RF_INET_ETH_BYTES)
		return 0;
	at = rf_inet_eth_get(frame, len, &has_vlan, &tci, &type);
	return at && type == RF_INET_TYPE_IPV4 && len >= at + RF_INET_IP_BYTES ? at : 0;
}

/* Appends zeroes to a short frame; returns the length handed to the MAC. */
static inline size_t rf_inet_pad(uint8_t *frame, size_t len)
{
	if (len >= RF_INET_FRAME_MIN)
		return len;
	memset(frame + len, 0, RF_INET_FRAME_MIN - len);
	return RF_INET_FRAME_MIN;
}

/* ---- IPv4 without options ---- */

struct rf_inet_ip {
	uint8_t tos, ttl, proto;
	uint16_t length; /* of header and data */
	uint16_t id;
	uint16_t flags; /* and the fragment's offset, as on the wire */
	uint32_t src, dst;
};

/* Writes the header with its checksum. */
static inline void rf_inet_ip_put(uint8_t *ip, const struct rf_inet_ip *h)
{
	ip[0] = RF_INET_VERSION_LENGTH;
	ip[1] = h->tos;
	rf_put_be16(ip + 2, h->length);
	rf_put_be16(ip + 4, h->id);
	rf_put_be16(ip + 6, h->flags);
	ip[8] = h->ttl;
	ip[9] = h->proto;
	rf_put_be16(ip + 10, 0);
	rf_put_be32(ip + 12, h->src);
	rf_put_be32(ip + 16, h->dst);
	rf_put_be16(ip + 10, rf_inet_checksum(0, ip, RF_INET_IP_BYTES));
}

/* Reads the members, whatever version, header length and checksum are. */
static inline void rf_inet_ip_get(const uint8_t *ip, struct rf_inet_ip *h)
{
	h->tos = ip[1];
	h->length = rf_get_be16(ip + 2);
	h->id = rf_get_be16(ip + 4);
	h->flags = rf_get_be16(ip + 6);
	h->ttl = ip[8];
	h->proto = ip[9];
	h->src = rf_get_be32(ip + 12);
	h->dst = rf_get_be32(ip + 16);
}

/* ---- UDP ---- */

struct rf_inet_udp {
	uint16_t src, dst;
	uint16_t length; /* of header and data */
	uint16_t sum;    /* 0: none */
};

static inline void rf_inet_udp_put(uint8_t *udp, const struct rf_inet_udp *h)
{
	rf_put_be16(udp, h->src);
	rf_put_be16(udp + 2, h->dst);
	rf_put_be16(udp + 4, h->length);
	rf_put_be16(udp + 6, h->sum);
}

static inline void rf_inet_udp_get(const uint8_t *udp, struct rf_inet_udp *h)
{
	h->src = rf_get_be16(udp);
	h->dst = rf_get_be16(udp + 2);
	h->length = rf_get_be16(udp + 4);
	h->sum = rf_get_be16(udp + 6);
}

#endif
