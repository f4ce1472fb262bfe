/*
 * Ethernet, IPv4, UDP and ARP headers: the bytes that the codec writes, and what it reads from
 * frames good and bad, are those of frozen vectors. They were made by four separate codecs before
 * proto/rf_inet.h replaced these. usage: headers_test; "headers_test print" writes the vectors.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "host/roce/wire.h"
#include "proto/rf_ctl.h"
#include "wire/arp.h"

#define KINDS 8u
#define FRAME_ROOM 512u
#define DAMAGED 20000u

/* A frame of each kind; returns its length. */
static size_t make(unsigned int kind, uint8_t *frame)
{
	static const uint8_t dst[6] = {0x02, 0x48, 1, 2, 3, 4}, src[6] = {0x02, 0x52, 5, 6, 7, 8};
	static const uint8_t data[11] = "hello, box";
	struct rf_ctl_addr addr = {.vlan = kind == 4 ? 0x6064 : RF_CTL_NO_VLAN,
				   .src_ip = 0x0a000001,
				   .dst_ip = 0x0a0000fe,
				   .src_port = 49152,
				   .dst_port = RF_CTL_UDP_PORT};
	struct roce_packet p = {.has_vlan = kind == 1,
				.vlan_tci = 0x8123,
				.tos = (uint8_t)(kind == 2 ? 0x6a : 0),
				.ttl = 64,
				.ip_id = 0xbeef,
				.ip_flags = 0x4000,
				.src_ip = 0x0a010203,
				.dst_ip = 0xc0a80102,
				.udp_sport = 0xc123,
				.udp_checksum = kind == 2 ? 0x1234 : 0,
				.opcode = kind == 2 ? ROCE_OP_ACK : ROCE_OP_SEND_ONLY,
				.pkey = 0xffff,
				.qpn = 0x123456,
				.psn = 0xfedcba,
				.payload = data,
				.payload_len = kind == 2   ? 0
					       : kind == 1 ? 11
							   : 8};
	struct roce_udp u = {.has_vlan = kind == 6,
			     .vlan_tci = 7,
			     .src_ip = 0x0a000001,
			     .dst_ip = 0x0a000002,
			     .sport = 1,
			     .dport = 65535,
			     .data = data,
			     .len = kind == 5 ? 0 : 11};
	struct rf_arp arp = {.op = RF_ARP_REPLY,
			     .has_vlan = true,
			     .vlan_tci = 0x6064,
			     .sender_ip = 0x0a0000fe,
			     .target_ip = 0x0a000001};

	memcpy(p.dst_mac, dst, 6);
	memcpy(p.src_mac, src, 6);
	memcpy(addr.dst_mac, dst, 6);
	memcpy(addr.src_mac, src, 6);
	memcpy(u.dst_mac, dst, 6);
	memcpy(u.src_mac, src, 6);
	memcpy(arp.sender_mac, src, 6);
	memcpy(arp.target_mac, dst, 6);
	if (kind < 3)
		return roce_build(&p, frame, FRAME_ROOM);
	if (kind < 5)
		return rf_ctl_frame_put(frame, FRAME_ROOM, &addr, data, kind == 3 ? 11 : 0);
	if (kind < 7)
		return roce_udp_build(&u, frame, FRAME_ROOM);
	return rf_arp_build(&arp, frame, FRAME_ROOM);
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
	return rf_rng_mix(sum ^ word) + RF_RNG_STEP;
}

static uint64_t mix_bytes(uint64_t sum, const uint8_t *p, size_t len)
{
	for (size_t k = 0; k < len; k++)
		sum = mix(sum, p[k]);
	return sum;
}

/* The results of all readers for a frame. */
static uint64_t read_all(uint64_t sum, const uint8_t *frame, size_t len)
{
	struct roce_packet p;
	struct roce_udp u = {0};
	struct rf_ctl_addr a = {0};
	struct rf_arp arp;
	const uint8_t *msg = NULL;
	size_t msg_len = 0;
	int ret = roce_parse(frame, len, &p);

	sum = mix(sum, (uint64_t)ret);
	sum = mix_bytes(mix_bytes(sum, p.dst_mac, 6), p.src_mac, 6);
	sum = mix(mix(mix(sum, p.has_vlan), p.vlan_tci), p.ethertype);
	sum = mix(mix(mix(mix(sum, p.tos), p.ttl), p.ip_proto), p.ip_id);
	sum = mix(mix(mix(sum, p.ip_flags), p.ip_length), p.ip_checksum_ok);
	sum = mix(mix(mix(sum, p.src_ip), p.dst_ip), p.udp_sport);
	sum = mix(mix(mix(sum, p.udp_dport), p.udp_length), p.udp_checksum);
	sum = mix(mix(mix(sum, p.ip_offset), p.payload_offset), p.icrc_offset);
	if (!ret)
		sum = mix(mix(sum, (uint64_t)roce_icrc_ok(frame, &p)),
			  (uint64_t)roce_udp_checksum_ok(frame, &p));
	ret = roce_udp_parse(frame, len, &u);
	sum = mix(sum, (uint64_t)ret);
	if (!ret) {
		sum = mix_bytes(mix_bytes(sum, u.dst_mac, 6), u.src_mac, 6);
		sum = mix(mix(mix(mix(sum, u.src_ip), u.dst_ip), u.sport), u.dport);
		sum = mix(mix(mix(sum, u.has_vlan), u.vlan_tci), (uint64_t)(u.data - frame));
		sum = mix(sum, u.len);
	}
	ret = rf_ctl_frame_get(frame, len, &a, &msg, &msg_len);
	sum = mix(sum, (uint64_t)ret);
	if (!ret) {
		sum = mix_bytes(mix_bytes(sum, a.dst_mac, 6), a.src_mac, 6);
		sum = mix(mix(mix(sum, a.vlan), a.src_ip), a.dst_ip);
		sum = mix(mix(mix(sum, a.src_port), a.dst_port), (uint64_t)(msg - frame));
		sum = mix(sum, msg_len);
	}
	return mix(sum, rf_arp_parse(frame, len, &arp));
}

/* Damages headers, lengths and tags of good frames. */
static uint64_t read_damaged(void)
{
	struct rf_rng rng = rf_rng_make(1, 1);
	uint64_t sum = 0;

	for (unsigned int n = 0; n < DAMAGED; n++) {
		uint8_t frame[FRAME_ROOM] = {0};
		size_t len = make(n % KINDS, frame);

		for (uint64_t k = rf_rng_below(&rng, 4); k > 0; k--)
			frame[rf_rng_below(&rng, 50)] ^= (uint8_t)(1u << rf_rng_below(&rng, 8));
		if (n % 7 == 3)
			frame[12 + n % 6] = (uint8_t[]){0x81, 0x88, 0xa8, 0x08, 0, 0x86}[n % 6];
		if (n % 5 == 4)
			len = rf_rng_below(&rng, len + 4);
		sum = read_all(sum, frame, len);
	}
	return sum;
}

#include "tests/unit/headers_vectors.h"

static void writes(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		uint8_t frame[FRAME_ROOM];

		assert_int_equal(make(kind, frame), vector[kind].len);
		assert_memory_equal(frame, vector[kind].bytes, vector[kind].len);
	}
}

static void reads(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < KINDS; kind++)
		assert_true(read_all(0, vector[kind].bytes, vector[kind].len) == vector[kind].read);
}

static void reads_damaged(void **state)
{
	(void)state;
	assert_true(read_damaged() == damaged);
}

/* The check can fail: each changed byte of a header is detected. */
static void is_seen(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		uint8_t frame[FRAME_ROOM];

		memcpy(frame, vector[kind].bytes, vector[kind].len);
		for (unsigned int at = 12; at < 14; at++) {
			frame[at] ^= 1;
			assert_true(read_all(0, frame, vector[kind].len) != vector[kind].read);
			frame[at] ^= 1;
		}
	}
}

/* The offset of the IPv4 header, of frames cut to every length. */
static void finds_ipv4(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		const uint8_t *f = vector[kind].bytes;
		bool tag = rf_get_be16(f + 12) == 0x8100;
		size_t at = tag ? 18 : 14;
		bool ipv4 = rf_get_be16(f + at - 2) == 0x0800;

		for (size_t len = 0; len <= vector[kind].len; len++)
			assert_int_equal(rf_inet_ipv4_at(f, len), ipv4 && len >= at + 20 ? at : 0);
	}
}

static void print(void)
{
	for (unsigned int kind = 0; kind < KINDS; kind++) {
		uint8_t frame[FRAME_ROOM];
		size_t len = make(kind, frame);

		printf("\t{%zu, 0x%016llx, {", len, (unsigned long long)read_all(0, frame, len));
		for (size_t k = 0; k < len; k++)
			printf("%u,%s", frame[k], k + 1 < len ? " " : "");
		printf("}},\n");
	}
	printf("};\n\nstatic const uint64_t damaged = 0x%016llx;\n",
	       (unsigned long long)read_damaged());
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(writes),        cmocka_unit_test(reads),
		cmocka_unit_test(reads_damaged), cmocka_unit_test(is_seen),
		cmocka_unit_test(finds_ipv4),
	};

	if (argc == 2 && strcmp(argv[1], "print") == 0) {
		print();
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
