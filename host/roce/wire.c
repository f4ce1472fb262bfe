#include "host/roce/wire.h"

#include <string.h>

#include "host/roce/frame.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

struct opcode {
	const char *name;
	unsigned int flags;
};

#define SEND (ROCE_F_KNOWN | ROCE_F_SEND)
#define WRITE (ROCE_F_KNOWN | ROCE_F_WRITE)
#define READ (ROCE_F_KNOWN | ROCE_F_READ_RESPONSE)
#define START ROCE_F_START
#define END ROCE_F_END
#define RETH ROCE_F_RETH
#define AETH ROCE_F_AETH
#define IMM ROCE_F_IMM

static const struct opcode opcodes[] = {
	[ROCE_OP_SEND_FIRST] = {"SEND_FIRST", SEND | START},
	[ROCE_OP_SEND_MIDDLE] = {"SEND_MIDDLE", SEND},
	[ROCE_OP_SEND_LAST] = {"SEND_LAST", SEND | END},
	[ROCE_OP_SEND_LAST_IMM] = {"SEND_LAST_IMM", SEND | END | IMM},
	[ROCE_OP_SEND_ONLY] = {"SEND_ONLY", SEND | START | END},
	[ROCE_OP_SEND_ONLY_IMM] = {"SEND_ONLY_IMM", SEND | START | END | IMM},
	[ROCE_OP_WRITE_FIRST] = {"WRITE_FIRST", WRITE | START | RETH},
	[ROCE_OP_WRITE_MIDDLE] = {"WRITE_MIDDLE", WRITE},
	[ROCE_OP_WRITE_LAST] = {"WRITE_LAST", WRITE | END},
	[ROCE_OP_WRITE_LAST_IMM] = {"WRITE_LAST_IMM", WRITE | END | IMM},
	[ROCE_OP_WRITE_ONLY] = {"WRITE_ONLY", WRITE | START | END | RETH},
	[ROCE_OP_WRITE_ONLY_IMM] = {"WRITE_ONLY_IMM", WRITE | START | END | RETH | IMM},
	[ROCE_OP_READ_REQUEST] = {"READ_REQUEST",
				  ROCE_F_KNOWN | ROCE_F_READ_REQUEST | START | END | RETH},
	[ROCE_OP_READ_FIRST] = {"READ_FIRST", READ | START | AETH},
	[ROCE_OP_READ_MIDDLE] = {"READ_MIDDLE", READ},
	[ROCE_OP_READ_LAST] = {"READ_LAST", READ | END | AETH},
	[ROCE_OP_READ_ONLY] = {"READ_ONLY", READ | START | END | AETH},
	[ROCE_OP_ACK] = {"ACK", ROCE_F_KNOWN | ROCE_F_ACK | AETH},
};

#define OPCODES (sizeof(opcodes) / sizeof(opcodes[0]))

static const struct opcode cnp = {"CNP", ROCE_F_KNOWN};
static const struct opcode unknown = {"unknown", 0};

static const struct opcode *opcode_find(uint8_t opcode)
{
	if (opcode < OPCODES)
		return &opcodes[opcode];
	return opcode == ROCE_OP_CNP ? &cnp : &unknown;
}

unsigned int roce_opcode_flags(uint8_t opcode)
{
	return opcode_find(opcode)->flags;
}

const char *roce_opcode_name(uint8_t opcode)
{
	return opcode_find(opcode)->name;
}

const char *roce_wire_error_name(int error)
{
	static const char *const names[ROCE_WIRE_ERRORS] = {
		"ok",         "runt",       "two_tags",    "arp",       "ipv6",      "ethertype",
		"ip_version", "ip_options", "ip_fragment", "multicast", "ip_length", "not_udp",
		"udp_port",   "udp_length", "opcode",      "headers",   "payload",
	};

	if (error > 0 || error <= -ROCE_WIRE_ERRORS)
		return "unknown";
	return names[-error];
}

static void parse_bth(const uint8_t *bth, struct roce_packet *p)
{
	p->opcode = bth[0];
	p->se = bth[1] >> 7;
	p->migreq = bth[1] >> 6 & 1;
	p->pad = bth[1] >> 4 & 3;
	p->tver = bth[1] & 15;
	p->pkey = rf_get_be16(bth + 2);
	p->fecn = bth[4] >> 7;
	p->becn = bth[4] >> 6 & 1;
	p->reserved6 = bth[4] & 63;
	p->qpn = rf_get_be24(bth + 5);
	p->ackreq = bth[8] >> 7;
	p->reserved7 = bth[8] & 127;
	p->psn = rf_get_be24(bth + 9);
}

/* Headers after the BTH and payload: `len` bytes up to the ICRC. */
static int parse_extended(const uint8_t *at, size_t len, struct roce_packet *p)
{
	unsigned int flags = roce_opcode_flags(p->opcode);
	size_t need = (flags & RETH ? ROCE_RETH_BYTES : 0) + (flags & AETH ? ROCE_AETH_BYTES : 0) +
		      (flags & IMM ? ROCE_IMM_BYTES : 0);

	p->payload = at;
	p->payload_len = (uint32_t)len;
	if (!(flags & ROCE_F_KNOWN))
		return ROCE_WIRE_OPCODE;
	if (len < need)
		return ROCE_WIRE_HEADERS;
	if (flags & RETH) {
		p->va = rf_get_be64(at);
		p->rkey = rf_get_be32(at + 8);
		p->dma_length = rf_get_be32(at + 12);
		at += ROCE_RETH_BYTES;
	}
	if (flags & AETH) {
		p->syndrome = at[0];
		p->msn = rf_get_be24(at + 1);
		at += ROCE_AETH_BYTES;
	}
	if (flags & IMM) {
		p->imm = rf_get_be32(at);
		at += ROCE_IMM_BYTES;
	}
	len -= need;
	p->payload = at;
	p->payload_len = (uint32_t)len;
	p->payload_offset += (uint32_t)need;
	if (len % 4 != 0 || len < p->pad)
		return ROCE_WIRE_PAYLOAD;
	p->payload_len -= p->pad;
	return ROCE_WIRE_OK;
}

int roce_parse(const uint8_t *frame, size_t len, struct roce_packet *p)
{
	uint32_t bth;
	int error;

	memset(p, 0, sizeof(*p));
	error = roce_frame_parse_ip(frame, len, p);
	if (error)
		return error;
	/* The port is checked before the length: datagrams of other services do not concern us. */
	error = roce_frame_parse_udp(frame, p);
	if (error == ROCE_WIRE_NOT_UDP)
		return error;
	if (p->udp_dport != ROCE_UDP_PORT)
		return ROCE_WIRE_UDP_PORT;
	if (error)
		return error;
	if (p->udp_length < RF_INET_UDP_BYTES + ROCE_BTH_BYTES + ROCE_ICRC_BYTES)
		return ROCE_WIRE_UDP_LENGTH;
	bth = p->ip_offset + RF_INET_IP_BYTES + RF_INET_UDP_BYTES;
	p->icrc_offset = p->ip_offset + p->ip_length - ROCE_ICRC_BYTES;
	p->payload_offset = bth + ROCE_BTH_BYTES;
	parse_bth(frame + bth, p);
	return parse_extended(frame + p->payload_offset, p->icrc_offset - p->payload_offset, p);
}

static void put_bth(const struct roce_packet *p, unsigned int pad, uint8_t *bth)
{
	bth[0] = p->opcode;
	bth[1] = (uint8_t)((unsigned int)p->se << 7 | (unsigned int)p->migreq << 6 | pad << 4 |
			   (p->tver & 15u));
	rf_put_be16(bth + 2, p->pkey);
	bth[4] = (uint8_t)(p->fecn << 7 | p->becn << 6 | (p->reserved6 & 63));
	rf_put_be24(bth + 5, p->qpn);
	bth[8] = (uint8_t)(p->ackreq << 7 | (p->reserved7 & 127));
	rf_put_be24(bth + 9, p->psn);
}

static uint8_t *put_extended(const struct roce_packet *p, unsigned int flags, uint8_t *at)
{
	if (flags & RETH) {
		rf_put_be64(at, p->va);
		rf_put_be32(at + 8, p->rkey);
		rf_put_be32(at + 12, p->dma_length);
		at += ROCE_RETH_BYTES;
	}
	if (flags & AETH) {
		at[0] = p->syndrome;
		rf_put_be24(at + 1, p->msn);
		at += ROCE_AETH_BYTES;
	}
	if (flags & IMM) {
		rf_put_be32(at, p->imm);
		at += ROCE_IMM_BYTES;
	}
	return at;
}

static size_t put_ip_udp(const struct roce_packet *p, uint16_t udp_length, uint8_t *ip)
{
	struct rf_inet_ip h = {.tos = p->tos,
			       .length = (uint16_t)(RF_INET_IP_BYTES + udp_length),
			       .id = p->ip_id,
			       .flags = p->ip_flags,
			       .ttl = p->ttl,
			       .proto = RF_INET_PROTO_UDP,
			       .src = p->src_ip,
			       .dst = p->dst_ip};
	struct rf_inet_udp u = {.src = p->udp_sport,
				.dst = ROCE_UDP_PORT,
				.length = udp_length,
				.sum = p->udp_checksum};

	rf_inet_ip_put(ip, &h);
	rf_inet_udp_put(ip + RF_INET_IP_BYTES, &u);
	return RF_INET_IP_BYTES + RF_INET_UDP_BYTES;
}

size_t roce_build(const struct roce_packet *p, uint8_t *frame, size_t room)
{
	unsigned int flags = roce_opcode_flags(p->opcode);
	unsigned int pad = (0u - p->payload_len) & 3;
	size_t udp_data, total;
	uint8_t *at, *ip;

	if (p->payload_len > 1u << 14)
		return 0;
	udp_data = ROCE_BTH_BYTES + (flags & RETH ? ROCE_RETH_BYTES : 0) +
		   (flags & AETH ? ROCE_AETH_BYTES : 0) + (flags & IMM ? ROCE_IMM_BYTES : 0) +
		   p->payload_len + pad + ROCE_ICRC_BYTES;
	total = RF_INET_ETH_BYTES + (p->has_vlan ? RF_INET_VLAN_BYTES : 0) + RF_INET_IP_BYTES +
		RF_INET_UDP_BYTES + udp_data;
	if (room < total || room < RF_INET_FRAME_MIN)
		return 0;
	ip = frame + rf_inet_eth_put(frame, p->dst_mac, p->src_mac, p->has_vlan, p->vlan_tci,
				     RF_INET_TYPE_IPV4);
	at = ip + put_ip_udp(p, (uint16_t)(RF_INET_UDP_BYTES + udp_data), ip);
	put_bth(p, pad, at);
	at = put_extended(p, flags, at + ROCE_BTH_BYTES);
	if (p->payload_len > 0)
		memcpy(at, p->payload, p->payload_len);
	at += p->payload_len;
	memset(at, 0, pad);
	at += pad;
	rf_put_le32(at, roce_icrc(ip, (size_t)(at - ip)));
	return rf_inet_pad(frame, total);
}
