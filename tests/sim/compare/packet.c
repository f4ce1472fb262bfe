#include "tests/sim/compare/packet.h"

#include <string.h>

#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"

static void put_mac(uint8_t *p, uint64_t mac)
{
	rf_put_be16(p, (uint16_t)(mac >> 32));
	rf_put_be32(p + 2, (uint32_t)mac);
}

/* Bytes of extension headers of an opcode. */
static size_t packet_extension(uint8_t opcode)
{
	static const uint8_t bytes[] = {
		[OP_SEND_LAST_IMM] = 4,
		[OP_SEND_ONLY_IMM] = 4,
		[OP_WRITE_FIRST] = 16,
		[OP_WRITE_LAST_IMM] = 4,
		[OP_WRITE_ONLY] = 16,
		[OP_WRITE_ONLY_IMM] = 20,
		[OP_READ_REQUEST] = 16,
		[0x0d] = 4,
		[0x0f] = 4,
		[0x10] = 4,
		[OP_ACK] = 4,
	};

	return opcode < sizeof(bytes) ? bytes[opcode] : 0;
}

size_t packet_l2(const uint8_t *frame)
{
	return rf_get_be16(frame + 12) == 0x8100 ? 18 : 14;
}

size_t packet_payload_at(const uint8_t *frame)
{
	size_t l2 = packet_l2(frame);

	return l2 + 40 + packet_extension(frame[l2 + 28]);
}

/*
 * CRC from the IP header to the byte before the ICRC, bytes that may change in transit as ff; one
 * byte at a time.
 */
static uint32_t icrc(const uint8_t *ip, size_t len)
{
	static const uint8_t ff = 0xff;
	uint32_t crc = RF_CRC32_INIT;
	size_t k;

	for (k = 0; k < 8; k++)
		crc = rf_crc32_update(crc, &ff, 1);
	for (k = 0; k < len; k++) {
		bool masked =
			k == 1 || k == 8 || k == 10 || k == 11 || k == 26 || k == 27 || k == 32;

		if (k >= 40) {
			crc = rf_crc32_update(crc, ip + k, len - k);
			break;
		}
		crc = rf_crc32_update(crc, masked ? &ff : ip + k, 1);
	}
	return rf_crc32_final(crc);
}

void packet_seal(uint8_t *frame)
{
	uint8_t *ip = frame + packet_l2(frame);
	size_t len = rf_get_be16(ip + 2);

	rf_put_le32(ip + len - 4, icrc(ip, len - 4));
}

bool packet_sealed(const uint8_t *frame, size_t len)
{
	const uint8_t *ip = frame + packet_l2(frame);
	size_t ip_len = rf_get_be16(ip + 2);

	return ip_len >= 44 && (size_t)(ip - frame) + ip_len <= len &&
	       rf_get_le32(ip + ip_len - 4) == icrc(ip, ip_len - 4);
}

static void put_extension(const struct packet *p, uint8_t *x)
{
	bool reth = p->opcode == OP_WRITE_FIRST || p->opcode == OP_WRITE_ONLY ||
		    p->opcode == OP_WRITE_ONLY_IMM || p->opcode == OP_READ_REQUEST;

	if (reth) {
		rf_put_be64(x, p->va);
		rf_put_be32(x + 8, p->rkey);
		rf_put_be32(x + 12, p->dma_len);
		x += 16;
	}
	if (p->opcode >= 0x0d && p->opcode <= OP_ACK) {
		if (packet_extension(p->opcode)) {
			x[0] = p->syndrome;
			rf_put_be24(x + 1, p->msn);
		}
	} else if (packet_extension(p->opcode) % 16) {
		rf_put_be32(x, p->imm);
	}
}

static void put_checksum(uint8_t *ip)
{
	uint32_t sum = 0;
	size_t k;

	rf_put_be16(ip + 10, 0);
	for (k = 0; k < 20; k += 2)
		sum += rf_get_be16(ip + k);
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	rf_put_be16(ip + 10, (uint16_t)~sum);
}

void packet_checksum(uint8_t *frame)
{
	put_checksum(frame + packet_l2(frame));
}

static void put_ip(const struct packet *p, uint8_t *ip, size_t ip_len)
{
	ip[0] = 0x45;
	ip[1] = p->tos;
	rf_put_be16(ip + 2, (uint16_t)((int)ip_len + p->ip_length_off));
	rf_put_be16(ip + 4, p->ip_id);
	rf_put_be16(ip + 6, p->ip_flags);
	ip[8] = p->ttl;
	ip[9] = p->ip_proto ? p->ip_proto : 17;
	rf_put_be32(ip + 12, p->src_ip);
	rf_put_be32(ip + 16, p->dst_ip);
	put_checksum(ip);
	rf_put_be16(ip + 20, p->sport);
	rf_put_be16(ip + 22, p->dport);
	rf_put_be16(ip + 24, (uint16_t)((int)ip_len - 20 + p->udp_length_off));
	rf_put_be16(ip + 26, p->udp_checksum);
}

size_t packet_build(const struct packet *p, uint8_t *frame)
{
	size_t l2 = p->tagged ? 18 : 14, x = packet_extension(p->opcode);
	size_t ip_len = 40 + x + p->payload_len + 4;
	uint8_t *ip = frame + l2, *bth = ip + 28;

	memset(frame, 0, l2 + 40 + x);
	put_mac(frame, p->dst_mac);
	put_mac(frame + 6, p->src_mac);
	if (p->tagged) {
		rf_put_be16(frame + 12, 0x8100);
		rf_put_be16(frame + 14, p->tci);
	}
	rf_put_be16(frame + l2 - 2, 0x0800);
	put_ip(p, ip, ip_len);
	bth[0] = p->opcode;
	bth[1] = (uint8_t)((p->bth_flags & 0xc0) | (p->pad & 3) << 4 | (p->tver & 15));
	rf_put_be16(bth + 2, p->pkey);
	bth[4] = p->bth4;
	rf_put_be24(bth + 5, p->qpn);
	bth[8] = p->bth8;
	rf_put_be24(bth + 9, p->psn);
	put_extension(p, bth + 12);
	if (p->payload)
		memcpy(bth + 12 + x, p->payload, p->payload_len);
	else
		memset(bth + 12 + x, 0, p->payload_len);
	rf_put_le32(ip + ip_len - 4, icrc(ip, ip_len - 4) ^ p->icrc_xor);
	if (l2 + ip_len >= 60)
		return l2 + ip_len;
	memset(ip + ip_len, 0, 60 - l2 - ip_len);
	return 60;
}

size_t packet_arp(uint8_t *frame, uint32_t sender_ip, uint32_t target_ip, bool tagged)
{
	static const uint8_t fixed[] = {0, 1, 8, 0, 6, 4, 0, 1};
	size_t l2 = tagged ? 18 : 14;

	memset(frame, 0, 64);
	memset(frame, 0xff, 6);
	put_mac(frame + 6, 0x020000000077);
	if (tagged)
		rf_put_be16(frame + 12, 0x8100);
	rf_put_be16(frame + l2 - 2, 0x0806);
	memcpy(frame + l2, fixed, sizeof(fixed));
	put_mac(frame + l2 + 8, 0x020000000077);
	rf_put_be32(frame + l2 + 14, sender_ip);
	rf_put_be32(frame + l2 + 24, target_ip);
	return tagged ? 64 : 60;
}
