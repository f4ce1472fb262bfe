/* Lines 2 to 19 of docs/box.md: classifies a frame before any connection is looked up. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "sim/model/internal.h"

#define TYPE_IPV4 0x0800u
#define TYPE_ARP 0x0806u
#define TYPE_TAG 0x8100u
#define TYPE_IPV6 0x86ddu
#define TYPE_TAG2 0x88a8u
#define PROTO_ICMP 1u
#define PROTO_UDP 17u
#define UDP_PORT 4791u
#define CONTROL_MAGIC 0x52464354u

uint64_t model_get_mac(const uint8_t *bytes)
{
	return (uint64_t)rf_get_be16(bytes) << 32 | rf_get_be32(bytes + 2);
}

void model_set_mac(uint8_t *bytes, uint64_t mac)
{
	rf_put_be16(bytes, (uint16_t)(mac >> 32));
	rf_put_be32(bytes + 2, (uint32_t)mac);
}

uint32_t model_icrc(const uint8_t *frame, unsigned int l2, unsigned int ip_length)
{
	uint8_t head[40]; /* IPv4, UDP, BTH */
	uint32_t crc;

	memcpy(head, frame + l2, sizeof(head));
	head[1] = 0xff;             /* TOS */
	head[8] = 0xff;             /* TTL */
	memset(head + 10, 0xff, 2); /* header checksum */
	memset(head + 26, 0xff, 2); /* UDP checksum */
	head[32] = 0xff;            /* FECN, BECN, reserved */
	crc = rf_crc32_update(RF_CRC32_ICRC_INIT, head, sizeof(head));
	crc = rf_crc32_update(crc, frame + l2 + sizeof(head), ip_length - sizeof(head) - 4);
	return rf_crc32_final(crc);
}

bool model_icrc_ok(const uint8_t *frame, const struct model_parsed *p)
{
	return rf_get_le32(frame + p->l2 + p->ip_length - 4) ==
	       model_icrc(frame, p->l2, p->ip_length);
}

/* Bytes of RETH, AETH, ImmDt after the BTH. */
static unsigned int extension(uint8_t opcode)
{
	switch (opcode) {
	case 0x03: /* SEND LAST, ONLY with immediate */
	case 0x05:
	case 0x09: /* WRITE LAST with immediate */
	case 0x11: /* ACK */
		return 4;
	case 0x06: /* WRITE FIRST, ONLY */
	case 0x0a:
		return 16;
	case 0x0b: /* WRITE ONLY with immediate */
		return 20;
	default:
		return 0;
	}
}

static void drop(struct model_parsed *p, unsigned int cause)
{
	p->verdict = MODEL_DROP;
	p->cause = cause;
}

/* A control packet that came to the address of a port: the magic in place of a BTH. */
static bool is_control(const uint8_t *udp, const struct model_parsed *p)
{
	return p->udp_length >= 12 && rf_get_be32(udp + 8) == CONTROL_MAGIC;
}

static void parse_roce(const struct rf_engine *e, const uint8_t *udp, struct model_parsed *p)
{
	const uint8_t *bth = udp + 8;

	p->udp_length = rf_get_be16(udp + 4);
	if (p->udp_length != p->ip_length - 20) {
		drop(p, RF_CNT_UDP_LENGTH);
		return;
	}
	if (p->dst_ip == e->ip || (p->to_port && is_control(udp, p))) {
		p->verdict = MODEL_PUNT;
		return;
	}
	if (p->udp_length < 24) {
		drop(p, RF_CNT_UDP_LENGTH);
		return;
	}
	p->opcode = bth[0];
	p->pad = bth[1] >> 4 & 3;
	p->qpn = rf_get_be24(bth + 5);
	p->psn = rf_get_be24(bth + 9);
	p->hlen = p->l2 + 40 + extension(p->opcode);
	if (model_has_immediate(p->opcode))
		p->imm = rf_get_be32(bth + 12);
	p->plen = (int)(p->l2 + p->ip_length) - 4 - (int)p->hlen;
	p->verdict = MODEL_ROCE;
}

bool model_has_immediate(uint8_t opcode)
{
	return opcode == 0x03 || opcode == 0x05;
}

/* The address of the port itself. */
static bool is_port_ip(const struct rf_engine *e, unsigned int port, uint32_t ip)
{
	return e->port_ip[port] && e->port_ip[port] == ip;
}

static bool checksum_right(const uint8_t *ip)
{
	uint32_t sum = 0;
	unsigned int k;

	for (k = 0; k < 20; k += 2)
		sum += rf_get_be16(ip + k);
	sum = (sum & 0xffff) + (sum >> 16);
	return (sum & 0xffff) + (sum >> 16) == 0xffff;
}

uint16_t model_ip_checksum(const uint8_t *ip)
{
	uint32_t sum = 0;
	unsigned int k;

	for (k = 0; k < 20; k += 2)
		sum += k == 10 ? 0u : rf_get_be16(ip + k);
	sum = (sum & 0xffff) + (sum >> 16);
	sum += sum >> 16;
	return (uint16_t)~sum;
}

/* Line 14a: the frame is for an address of a port, and this is not that port or not its MAC. */
static bool wrong_port(const struct rf_engine *e, unsigned int port, const uint8_t *frame,
		       uint32_t dst_ip)
{
	unsigned int k;

	if (e->mutant == RF_MODEL_MUTANT_WRONG_PORT)
		return false;
	for (k = 0; k < e->cfg.ports; k++) {
		if (e->port_ip[k] && e->port_ip[k] == dst_ip)
			return k != port || model_get_mac(frame) != model_port_mac(e, k);
	}
	return false;
}

static void parse_ip(const struct rf_engine *e, unsigned int port, const uint8_t *frame, size_t len,
		     struct model_parsed *p)
{
	const uint8_t *ip = frame + p->l2;
	size_t end;

	if (ip[0] >> 4 != 4) {
		drop(p, RF_CNT_IP_VERSION);
		return;
	}
	if ((ip[0] & 15) != 5) {
		drop(p, RF_CNT_IP_OPTIONS);
		return;
	}
	if (!checksum_right(ip)) {
		drop(p, RF_CNT_IP_CHECKSUM);
		return;
	}
	if (rf_get_be16(ip + 6) & 0x3fff) {
		drop(p, RF_CNT_IP_FRAGMENT);
		return;
	}
	if (frame[0] & 1) {
		drop(p, RF_CNT_MULTICAST);
		return;
	}
	p->ip_length = rf_get_be16(ip + 2);
	end = p->l2 + p->ip_length;
	if (p->ip_length < 28 || end > len || (end < len && len > 46 + p->l2)) {
		drop(p, RF_CNT_IP_LENGTH);
		return;
	}
	p->src_ip = rf_get_be32(ip + 12);
	p->dst_ip = rf_get_be32(ip + 16);
	if (wrong_port(e, port, frame, p->dst_ip)) {
		drop(p, RF_CNT_WRONG_PORT);
		return;
	}
	p->to_port = is_port_ip(e, port, p->dst_ip);
	if ((p->dst_ip == e->ip || p->to_port) && ip[9] == PROTO_ICMP) {
		p->verdict = MODEL_PUNT;
		return;
	}
	if (ip[9] != PROTO_UDP || rf_get_be16(ip + 22) != UDP_PORT) {
		drop(p, RF_CNT_NOT_ROCE);
		return;
	}
	parse_roce(e, ip + 20, p);
}

/* Line 5: the source MAC is one of the box's. */
static bool own_source(const struct rf_engine *e, const uint8_t *frame)
{
	uint64_t k = (model_get_mac(frame + 6) - e->mac) & 0xffffffffffffu;

	return k < e->cfg.ports;
}

bool model_is_arp(const uint8_t *frame)
{
	unsigned int at = rf_get_be16(frame + 12) == TYPE_TAG ? 16 : 12;

	return rf_get_be16(frame + at) == TYPE_ARP;
}

/* Line 7. A claim of the port's address by another host must reach the firmware too. */
static bool arp_wanted(const struct rf_engine *e, unsigned int port, const uint8_t *arp)
{
	uint32_t sender = rf_get_be32(arp + 14), target = rf_get_be32(arp + 24);

	return target == e->ip || is_port_ip(e, port, target) || is_port_ip(e, port, sender);
}

void model_parse(const struct rf_engine *e, unsigned int port, const uint8_t *frame, size_t len,
		 struct model_parsed *p)
{
	unsigned int type, inner;

	memset(p, 0, sizeof(*p));
	if (len < 60) {
		drop(p, RF_CNT_RX_RUNT);
		return;
	}
	if (len > e->cfg.mtu_max + MODEL_AROUND_PAYLOAD) {
		drop(p, RF_CNT_RX_OVERSIZE);
		return;
	}
	if (own_source(e, frame)) {
		drop(p, RF_CNT_OWN_SOURCE);
		return;
	}
	p->l2 = 14;
	type = rf_get_be16(frame + 12);
	inner = rf_get_be16(frame + 16);
	if (type == TYPE_TAG2 || (type == TYPE_TAG && (inner == TYPE_TAG || inner == TYPE_TAG2))) {
		drop(p, RF_CNT_TWO_TAGS);
		return;
	}
	if (type == TYPE_TAG) {
		p->l2 = 18;
		type = inner;
	}
	if (type == TYPE_ARP) {
		if (arp_wanted(e, port, frame + p->l2))
			p->verdict = MODEL_PUNT;
		else
			drop(p, RF_CNT_ARP_OTHER);
	} else if (type == TYPE_IPV6) {
		drop(p, RF_CNT_IPV6);
	} else if (type != TYPE_IPV4) {
		drop(p, RF_CNT_ETHERTYPE);
	} else {
		parse_ip(e, port, frame, len, p);
	}
}
