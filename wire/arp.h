/*
 * ARP for IPv4 over Ethernet (RFC 826), for host and tools. The firmware answers with its own code
 * (firmware/core/net.c), and the frame checkers read ARP with theirs, because they check this one.
 */
#ifndef RF_WIRE_ARP_H
#define RF_WIRE_ARP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_ARP_REQUEST 1u
#define RF_ARP_REPLY 2u
#define RF_ARP_BYTES 28u     /* after the Ethernet header */
#define RF_ARP_FRAME_MAX 64u /* with a tag */

struct rf_arp {
	uint16_t op;
	bool has_vlan;
	uint16_t vlan_tci;
	uint8_t sender_mac[6];
	uint32_t sender_ip;
	uint8_t target_mac[6];
	uint32_t target_ip;
};

/*
 * Returns the offset of the first byte after the ARP data, or 0 if the frame is too short or not
 * ARP for IPv4 over Ethernet.
 */
size_t rf_arp_parse(const uint8_t *frame, size_t len, struct rf_arp *a);

/*
 * Writes a frame of 60 bytes, 64 with a tag: a request is broadcast, a reply goes to target_mac.
 * Returns its length, or 0 if room is less than RF_ARP_FRAME_MAX.
 */
size_t rf_arp_build(const struct rf_arp *a, uint8_t *frame, size_t room);

#endif
