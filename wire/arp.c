#include "wire/arp.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_inet.h"

static const uint8_t broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

size_t rf_arp_parse(const uint8_t *frame, size_t len, struct rf_arp *a)
{
	uint16_t type;
	size_t at;

	if (len < RF_INET_ETH_BYTES + RF_ARP_BYTES)
		return 0;
	memset(a, 0, sizeof(*a));
	at = rf_inet_eth_get(frame, len, &a->has_vlan, &a->vlan_tci, &type);
	if (len < at + RF_ARP_BYTES || type != RF_INET_TYPE_ARP)
		return 0;
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
	size_t at;

	if (room < RF_ARP_FRAME_MAX)
		return 0;
	memset(frame, 0, RF_ARP_FRAME_MAX);
	at = rf_inet_eth_put(frame, a->op == RF_ARP_REQUEST ? broadcast : a->target_mac,
			     a->sender_mac, a->has_vlan, a->vlan_tci, RF_INET_TYPE_ARP);
	rf_put_be32(frame + at, 0x00010800u);
	rf_put_be16(frame + at + 4, 0x0604u);
	rf_put_be16(frame + at + 6, a->op);
	memcpy(frame + at + 8, a->sender_mac, 6);
	rf_put_be32(frame + at + 14, a->sender_ip);
	if (a->op != RF_ARP_REQUEST)
		memcpy(frame + at + 18, a->target_mac, 6);
	rf_put_be32(frame + at + 24, a->target_ip);
	return RF_INET_FRAME_MIN + (a->has_vlan ? RF_INET_VLAN_BYTES : 0);
}
