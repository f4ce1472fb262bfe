/*
 * Fuzzing of the wire codec: frames that are read never lead out of their bytes, what was read can
 * be written again and is the same frame; what was written can be read and is the same packet.
 *
 * Input: {kind 1, bytes}. Kinds, modulo 3: 0 a frame as it is; 1 the members of a packet; 2 those
 * of a packet whose frame is then changed: {offset 2, xor 1} as often as the input says.
 */
#include "host/roce/wire.h"
#include "proto/rf_bytes.h"
#include "tests/unit/fuzz.h"
#include "wire/arp.h"

#define ROOM (ROCE_HEADERS_MAX + (1u << 14) + 8u)

static bool damage; /* makes the checker accept everything, which must be detected */

/* Bytes that are computed when a frame is written: they need not be what was read. */
static void forget_computed(uint8_t *frame, size_t len, const struct roce_packet *p)
{
	memset(frame + p->ip_offset + 10, 0, 2);
	memset(frame + p->icrc_offset - p->pad, 0, p->pad);
	memset(frame + p->icrc_offset, 0, len - p->icrc_offset);
}

static void check_again(const uint8_t *frame, size_t len, const struct roce_packet *p)
{
	uint8_t *was = malloc(len), *is = malloc(len);
	struct roce_packet q;

	FUZZ_MUST(was && is);
	memcpy(was, frame, len);
	FUZZ_MUST(roce_build(p, is, len - 1) == 0 || p->icrc_offset + 4u < len);
	FUZZ_MUST(roce_build(p, is, len) == len);
	if (damage)
		is[p->payload_offset - 1] ^= 1;
	FUZZ_MUST(roce_parse(is, len, &q) == ROCE_WIRE_OK);
	FUZZ_MUST(q.ip_checksum_ok && roce_icrc_ok(is, &q));
	FUZZ_MUST(q.icrc_offset == p->icrc_offset && q.payload_len == p->payload_len);
	forget_computed(was, len, p);
	forget_computed(is, len, &q);
	FUZZ_MUST(memcmp(was, is, len) == 0);
	free(was);
	free(is);
}

/* The frame is in a block of exactly its length, so that the sanitizer detects a read beyond it. */
static int read_frame(const uint8_t *bytes, size_t len)
{
	uint8_t *frame = malloc(len ? len : 1);
	struct roce_packet p;
	struct roce_udp u;
	struct rf_arp a;
	int error, plain;

	FUZZ_MUST(frame);
	if (len > 0)
		memcpy(frame, bytes, len);
	error = roce_parse(frame, len, &p);
	FUZZ_MUST(error <= 0 && error > -ROCE_WIRE_ERRORS);
	if (error == ROCE_WIRE_OK) {
		FUZZ_MUST(p.payload >= frame + 54 && p.payload + p.payload_len <= frame + len);
		FUZZ_MUST(p.icrc_offset + 4u <= len && p.pad < 4);
		FUZZ_MUST(p.payload == frame + p.payload_offset);
		(void)roce_icrc_ok(frame, &p);
		(void)roce_udp_checksum_ok(frame, &p);
		if (p.payload_len <= 1u << 14) /* the most that is written */
			check_again(frame, len, &p);
	}
	plain = roce_udp_parse(frame, len, &u);
	FUZZ_MUST(plain != 0 || (u.data >= frame && u.data + u.len <= frame + len));
	FUZZ_MUST(rf_arp_parse(frame, len, &a) <= len);
	free(frame);
	return error;
}

static void read_members(struct fuzz_input *in, struct roce_packet *p, uint8_t *payload)
{
	uint8_t flags = fuzz_u8(in);

	memset(p, 0, sizeof(*p));
	p->opcode = fuzz_u8(in);
	if (p->opcode > ROCE_OP_ACK)
		p->opcode = p->opcode & 1 ? ROCE_OP_CNP : p->opcode % (ROCE_OP_ACK + 1);
	p->has_vlan = flags & 1;
	p->se = flags >> 1 & 1;
	p->migreq = flags >> 2 & 1;
	p->fecn = flags >> 3 & 1;
	p->becn = flags >> 4 & 1;
	p->ackreq = flags >> 5 & 1;
	p->payload_len = fuzz_u16(in) & 0x3fff;
	fuzz_bytes(in, p->dst_mac, 6);
	p->dst_mac[0] &= 0xfe; /* a group address is an error of the frame */
	fuzz_bytes(in, p->src_mac, 6);
	p->vlan_tci = fuzz_u16(in);
	p->tos = fuzz_u8(in);
	p->ttl = fuzz_u8(in);
	p->ip_id = fuzz_u16(in);
	p->ip_flags = fuzz_u16(in) & 0xc000;
	p->src_ip = fuzz_u32(in);
	p->dst_ip = fuzz_u32(in);
	p->udp_sport = fuzz_u16(in);
	p->udp_checksum = fuzz_u16(in);
	p->tver = fuzz_u8(in) & 15;
	p->pkey = fuzz_u16(in);
	p->reserved6 = fuzz_u8(in) & 63;
	p->reserved7 = fuzz_u8(in) & 127;
	p->qpn = fuzz_u32(in) & ROCE_PSN_MASK;
	p->psn = fuzz_u32(in) & ROCE_PSN_MASK;
	p->va = (uint64_t)fuzz_u32(in) << 32 | fuzz_u32(in);
	p->rkey = fuzz_u32(in);
	p->dma_length = fuzz_u32(in);
	p->syndrome = fuzz_u8(in);
	p->msn = fuzz_u32(in) & ROCE_PSN_MASK;
	p->imm = fuzz_u32(in);
	fuzz_bytes(in, payload, p->payload_len < 64 ? p->payload_len : 64);
	p->payload = payload;
}

static void same_headers(const struct roce_packet *a, const struct roce_packet *b)
{
	unsigned int flags = roce_opcode_flags(a->opcode);

	FUZZ_MUST(memcmp(a->dst_mac, b->dst_mac, 6) == 0 && memcmp(a->src_mac, b->src_mac, 6) == 0);
	FUZZ_MUST(a->has_vlan == b->has_vlan && (!a->has_vlan || a->vlan_tci == b->vlan_tci));
	FUZZ_MUST(a->tos == b->tos && a->ttl == b->ttl && a->ip_id == b->ip_id);
	FUZZ_MUST(a->ip_flags == b->ip_flags && a->src_ip == b->src_ip && a->dst_ip == b->dst_ip);
	FUZZ_MUST(a->udp_sport == b->udp_sport && a->udp_checksum == b->udp_checksum);
	FUZZ_MUST(b->udp_dport == ROCE_UDP_PORT && b->ip_proto == RF_INET_PROTO_UDP);
	FUZZ_MUST(a->opcode == b->opcode && a->se == b->se && a->migreq == b->migreq);
	FUZZ_MUST(a->tver == b->tver && a->pkey == b->pkey && a->reserved6 == b->reserved6);
	FUZZ_MUST(a->fecn == b->fecn && a->becn == b->becn && a->reserved7 == b->reserved7);
	FUZZ_MUST(a->qpn == b->qpn && a->psn == b->psn && a->ackreq == b->ackreq);
	FUZZ_MUST(!(flags & ROCE_F_RETH) ||
		  (a->va == b->va && a->rkey == b->rkey && a->dma_length == b->dma_length));
	FUZZ_MUST(!(flags & ROCE_F_AETH) || (a->syndrome == b->syndrome && a->msn == b->msn));
	FUZZ_MUST(!(flags & ROCE_F_IMM) || a->imm == b->imm);
	FUZZ_MUST(a->payload_len == b->payload_len);
	FUZZ_MUST(memcmp(a->payload, b->payload, a->payload_len) == 0);
}

/* A packet that is written is read back as the same packet. Returns the length of its frame. */
static size_t write_packet(struct fuzz_input *in, uint8_t *frame)
{
	static uint8_t payload[1u << 14];
	struct roce_packet p, q;
	size_t len;
	uint8_t *exact;

	read_members(in, &p, payload);
	len = roce_build(&p, frame, ROOM);
	FUZZ_MUST(len >= RF_INET_FRAME_MIN && len <= ROOM);
	exact = malloc(len); /* no more bytes are written than announced */
	FUZZ_MUST(exact && roce_build(&p, exact, len) == len && memcmp(exact, frame, len) == 0);
	FUZZ_MUST(roce_build(&p, exact, len - 1) == 0);
	if (damage)
		exact[len - 5] ^= 1;
	FUZZ_MUST(roce_parse(exact, len, &q) == ROCE_WIRE_OK);
	FUZZ_MUST(q.ip_checksum_ok && (len == RF_INET_FRAME_MIN || roce_icrc_ok(exact, &q)));
	same_headers(&p, &q);
	free(exact);
	return len;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static uint8_t frame[ROOM];
	struct fuzz_input in = {data, size};
	unsigned int kind = fuzz_u8(&in) % 3;
	size_t len;

	damage = fuzz_fault() != NULL;
	if (kind == 0) {
		(void)read_frame(in.data, in.left < ROOM ? in.left : ROOM);
		return 0;
	}
	len = write_packet(&in, frame);
	if (kind == 2) {
		len -= fuzz_u8(&in) % 8 == 1 ? fuzz_u16(&in) % len : 0;
		for (unsigned int k = 0; k < 16 && in.left >= 3; k++) {
			size_t at = fuzz_u16(&in) % 96u; /* mostly the headers */

			frame[at < len ? at : len - 1] ^= fuzz_u8(&in);
		}
	}
	(void)read_frame(frame, len);
	return 0;
}
