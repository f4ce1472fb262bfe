#include "wire/arp.h"

#include <string.h>

#include "proto/rf_bytes.h"

#define TYPE_ARP 0x0806u
#define TYPE_VLAN 0x8100u
#define FRAME_MIN 60u
#define VLAN_BYTES 4u

size_t rf_arp_parse(const uint8_t *frame, size_t len, struct rf_arp *a)
{
	size_t at = 12;

	if (len < 14u + RF_ARP_BYTES)
		return 0;
	memset(a, 0, sizeof(*a));
	if (rf_get_be16(frame + at) == TYPE_VLAN) {
		a->has_vlan = true;
		a->vlan_tci = rf_get_be16(frame + at + 2);
		at += VLAN_BYTES;
	}
	if (len < at + 2u + RF_ARP_BYTES || rf_get_be16(frame + at) != TYPE_ARP)
		return 0;
	at += 2;
	/* Hardware Ethernet (1), protocol IPv4, address lengths 6 and 4. */
	if (rf_get_be32(frame + at) != 0x00010800u || rf_get_be16(frame + at + 4) != 0x0604u)
		return 0;
	a->op = rf_get_be16(frame + at + 6);
	memcpy(a->sender_mac, frame + at + 8, 6);
	a->sender_ip = rf_get_be32(frame + at + 14);
	memcpy(a->target_mac, frame + at + 18, 6);
	a->target_ip = rf_get_be32(frame + at + 24);
	return at + RF_ARP_BYTES;
}

size_t rf_arp_build(const struct rf_arp *a, uint8_t *frame, size_t room)
{
	size_t at = 12;

	if (room < RF_ARP_FRAME_MAX)
		return 0;
	memset(frame, 0, RF_ARP_FRAME_MAX);
	if (a->op == RF_ARP_REQUEST)
		memset(frame, 0xff, 6);
	else
		memcpy(frame, a->target_mac, 6);
	memcpy(frame + 6, a->sender_mac, 6);
	if (a->has_vlan) {
		rf_put_be16(frame + at, TYPE_VLAN);
		rf_put_be16(frame + at + 2, a->vlan_tci);
		at += VLAN_BYTES;
	}
	rf_put_be16(frame + at, TYPE_ARP);
	at += 2;
	rf_put_be32(frame + at, 0x00010800u);
	rf_put_be16(frame + at + 4, 0x0604u);
	rf_put_be16(frame + at + 6, a->op);
	memcpy(frame + at + 8, a->sender_mac, 6);
	rf_put_be32(frame + at + 14, a->sender_ip);
	if (a->op != RF_ARP_REQUEST)
		memcpy(frame + at + 18, a->target_mac, 6);
	rf_put_be32(frame + at + 24, a->target_ip);
	return FRAME_MIN + (a->has_vlan ? VLAN_BYTES : 0);
}
