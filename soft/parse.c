/* Lines 2 to 19 of docs/box.md: what a frame is, before its connection is known. */
#include "proto/rf_bytes.h"
#include "soft/internal.h"

#define ETHER_IPV4 0x0800u
#define ETHER_ARP 0x0806u
#define ETHER_TAG 0x8100u
#define ETHER_IPV6 0x86ddu
#define ETHER_OUTER 0x88a8u
#define IP_ICMP 1u
#define IP_UDP 17u
#define ROCE_PORT 4791u
#define CONTROL_MAGIC 0x52464354u
#define NO_CAUSE RF_CNT_COUNT

/* Bytes between BTH and payload, by opcode; 0 for all others. */
static const uint8_t extension[32] = {
	[0x03] = 4, [0x05] = 4, [0x06] = 16, [0x09] = 4, [0x0a] = 16, [0x0b] = 20, [0x11] = 4,
};

bool soft_is_arp(const uint8_t *frame)
{
	unsigned int type = rf_get_be16(frame + 12);

	return (type == ETHER_TAG ? rf_get_be16(frame + 16) : type) == ETHER_ARP;
}

static bool is_port_ip(const struct soft_box *b, unsigned int port, uint32_t ip)
{
	return ip && b->port_ip[port] == ip;
}

/* Line 14a: an address of a port, but not this one's with its MAC. */
static bool other_port(const struct soft_box *b, unsigned int port, const struct soft_head *h)
{
	unsigned int k;

	for (k = 0; k < b->cfg.ports; k++)
		if (is_port_ip(b, k, h->dst_ip))
			return k != port ||
			       soft_get_mac(h->bytes) != ((b->mac + port) & SOFT_MAC_MASK);
	return false;
}

/* Lines 17 to 19, and the fields of the BTH. The verdict is ROCE or PUNT if there is no cause. */
static unsigned int roce(const struct soft_box *b, struct soft_head *h)
{
	const uint8_t *udp = h->bytes + h->l2 + 20, *bth = udp + 8;
	bool mine = h->dst_ip == b->ip;

	h->udp_length = rf_get_be16(udp + 4);
	if (h->udp_length + 20u != h->ip_length)
		return RF_CNT_UDP_LENGTH;
	if (mine || (h->to_port && h->udp_length >= 12 && rf_get_be32(bth) == CONTROL_MAGIC)) {
		h->verdict = SOFT_PUNT;
		return NO_CAUSE;
	}
	if (h->udp_length < 24)
		return RF_CNT_UDP_LENGTH;
	h->verdict = SOFT_ROCE;
	h->opcode = bth[0];
	h->pad = bth[1] >> 4 & 3;
	h->qpn = rf_get_be24(bth + 5);
	h->psn = rf_get_be24(bth + 9);
	h->imm = rf_get_be32(bth + 12);
	h->hlen = (uint16_t)(h->l2 + 40u + (h->opcode < 32 ? extension[h->opcode] : 0u));
	h->plen = (int32_t)(h->l2 + h->ip_length) - 4 - h->hlen;
	return NO_CAUSE;
}

/* Lines 10 to 16. */
static unsigned int ipv4(const struct soft_box *b, unsigned int port, struct soft_head *h)
{
	const uint8_t *ip = h->bytes + h->l2;
	uint32_t end;

	if (ip[0] >> 4 != 4)
		return RF_CNT_IP_VERSION;
	if ((ip[0] & 15u) != 5)
		return RF_CNT_IP_OPTIONS;
	if (soft_ip_sum(ip) != 0xffff)
		return RF_CNT_IP_CHECKSUM;
	if (rf_get_be16(ip + 6) & 0x3fff) /* MF, offset */
		return RF_CNT_IP_FRAGMENT;
	if (h->bytes[0] & 1)
		return RF_CNT_MULTICAST;
	h->ip_length = rf_get_be16(ip + 2);
	end = h->l2 + (uint32_t)h->ip_length;
	/* Only the shortest frame may have padding after the packet. */
	if (h->ip_length < 28 || end > h->len || (end < h->len && h->len > h->l2 + 46u))
		return RF_CNT_IP_LENGTH;
	h->src_ip = rf_get_be32(ip + 12);
	h->dst_ip = rf_get_be32(ip + 16);
	if (other_port(b, port, h))
		return RF_CNT_WRONG_PORT;
	h->to_port = is_port_ip(b, port, h->dst_ip);
	if (ip[9] == IP_ICMP && (h->to_port || h->dst_ip == b->ip)) {
		h->verdict = SOFT_PUNT;
		return NO_CAUSE;
	}
	if (ip[9] != IP_UDP || rf_get_be16(ip + 22) != ROCE_PORT)
		return RF_CNT_NOT_ROCE;
	return roce(b, h);
}

/* Line 7. */
static unsigned int arp(const struct soft_box *b, unsigned int port, struct soft_head *h)
{
	const uint8_t *p = h->bytes + h->l2;
	uint32_t sender = rf_get_be32(p + 14), target = rf_get_be32(p + 24);

	if (target != b->ip && !is_port_ip(b, port, target) && !is_port_ip(b, port, sender))
		return RF_CNT_ARP_OTHER;
	h->verdict = SOFT_PUNT;
	return NO_CAUSE;
}

static unsigned int classify(const struct soft_box *b, unsigned int port, struct soft_head *h)
{
	unsigned int type, inner;

	if (h->len < 60)
		return RF_CNT_RX_RUNT;
	if (h->len > b->cfg.mtu_max + SOFT_AROUND)
		return RF_CNT_RX_OVERSIZE;
	if (((soft_get_mac(h->bytes + 6) - b->mac) & SOFT_MAC_MASK) < b->cfg.ports)
		return RF_CNT_OWN_SOURCE;
	type = rf_get_be16(h->bytes + 12);
	inner = rf_get_be16(h->bytes + 16);
	h->l2 = 14;
	if (type == ETHER_TAG && inner != ETHER_TAG && inner != ETHER_OUTER) {
		type = inner;
		h->l2 = 18;
	}
	switch (type) {
	case ETHER_IPV4:
		return ipv4(b, port, h);
	case ETHER_ARP:
		return arp(b, port, h);
	case ETHER_TAG:
	case ETHER_OUTER:
		return h->l2 == 14 ? RF_CNT_TWO_TAGS : RF_CNT_ETHERTYPE;
	case ETHER_IPV6:
		return RF_CNT_IPV6;
	default:
		return RF_CNT_ETHERTYPE;
	}
}

void soft_parse(const struct soft_box *b, unsigned int port, const struct soft_frame *f,
		struct soft_head *h)
{
	unsigned int cause;

	*h = (struct soft_head){.bytes = f->bytes, .len = (uint32_t)f->len, .verdict = SOFT_DROP};
	cause = f->bad ? RF_CNT_RX_MAC_ERROR : classify(b, port, h);
	h->cause = (uint8_t)cause;
}
