/* The layers below the BTH, shared by the sources of this folder. Offsets are those on the wire. */
#ifndef ROCE_FRAME_H
#define ROCE_FRAME_H

#include "host/roce/wire.h"

#define ROCE_ETH_BYTES 14u
#define ROCE_VLAN_BYTES 4u
#define ROCE_IP_BYTES 20u
#define ROCE_UDP_BYTES 8u
#define ROCE_BTH_BYTES 12u
#define ROCE_RETH_BYTES 16u
#define ROCE_AETH_BYTES 4u
#define ROCE_IMM_BYTES 4u
#define ROCE_ICRC_BYTES 4u

/* Parses Ethernet and IPv4 up to the first cause for rejection; see roce_parse(). */
int roce_frame_parse_ip(const uint8_t *frame, size_t len, struct roce_packet *p);
/* Then UDP: ROCE_WIRE_NOT_UDP or ROCE_WIRE_UDP_LENGTH (not the IP length less 20). */
int roce_frame_parse_udp(const uint8_t *frame, struct roce_packet *p);

/* Writes the Ethernet header with its tag; returns its length. */
size_t roce_frame_put_eth(const struct roce_packet *p, uint16_t ethertype, uint8_t *frame);
/* Writes an IPv4 header and a UDP header in front of `udp_data_len` bytes; returns 28. */
size_t roce_frame_put_ip_udp(const struct roce_packet *p, size_t udp_data_len, uint16_t dport,
			     uint8_t *ip);
/* Appends zeroes to a short frame; returns the length handed to the MAC. */
size_t roce_frame_pad(uint8_t *frame, size_t len);

#endif
