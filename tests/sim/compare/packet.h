/*
 * RoCEv2 frames for tests, valid or with any kind of damage. Shares only the CRC with the
 * transport's codec and with the model.
 */
#ifndef RF_COMPARE_PACKET_H
#define RF_COMPARE_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PACKET_MAX 10240u

#define OP_SEND_FIRST 0x00
#define OP_SEND_MIDDLE 0x01
#define OP_SEND_LAST 0x02
#define OP_SEND_LAST_IMM 0x03
#define OP_SEND_ONLY 0x04
#define OP_SEND_ONLY_IMM 0x05
#define OP_WRITE_FIRST 0x06
#define OP_WRITE_MIDDLE 0x07
#define OP_WRITE_LAST_IMM 0x09
#define OP_WRITE_ONLY 0x0a
#define OP_WRITE_ONLY_IMM 0x0b
#define OP_READ_REQUEST 0x0c
#define OP_ACK 0x11
#define OP_CNP 0x81

struct packet {
	uint64_t dst_mac, src_mac;
	bool tagged;
	uint16_t tci;
	uint8_t tos, ttl;
	uint16_t ip_id, ip_flags;
	uint32_t src_ip, dst_ip;
	uint16_t sport, dport, udp_checksum;
	uint8_t opcode, pad, bth_flags; /* bth_flags: SE and MigReq, upper two bits */
	uint8_t tver, bth4, bth8;       /* bth8: AckReq and reserved */
	uint16_t pkey;
	uint32_t qpn, psn;
	uint64_t va;
	uint32_t rkey, dma_len, imm;
	uint8_t syndrome;
	uint32_t msn;
	const uint8_t *payload; /* with pad; NULL: zeroes */
	size_t payload_len;     /* with pad */
	/* Damage. */
	int ip_length_off, udp_length_off; /* added to the correct lengths; the ICRC is computed for
					      the result */
	uint32_t icrc_xor;
	uint8_t ip_proto; /* 0: UDP */
};

/* Offset of the IP header of a frame: 14 or 18. */
size_t packet_l2(const uint8_t *frame);
/* Offset of the payload of a frame made by packet_build(). */
size_t packet_payload_at(const uint8_t *frame);
/* Writes a frame, padded to 60 bytes; frame has PACKET_MAX bytes. Returns its length. */
size_t packet_build(const struct packet *p, uint8_t *frame);
/* Recomputes the ICRC of a frame after a change. The lengths in the frame must be correct. */
void packet_seal(uint8_t *frame);
/* Recomputes the IP header checksum of a frame whose bytes were changed. */
void packet_checksum(uint8_t *frame);
/* Whether the ICRC is correct. */
bool packet_sealed(const uint8_t *frame, size_t len);
/* An ARP request for target_ip, 60 bytes (64 with a tag). */
size_t packet_arp(uint8_t *frame, uint32_t sender_ip, uint32_t target_ip, bool tagged);

#endif
