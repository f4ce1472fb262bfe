/* The RoCEv2 codec: packets of Linux endpoints, every cause of refusal, random packets both ways.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
#include <pcap/pcap.h>

#include "host/roce/wire.h"
#include "proto/rf_bytes.h"
#include "proto/rf_crc32.h"
#include "tests/unit/roce_random.h"
#include "wire/arp.h"

#define SAMPLE "tests/data/rxe-sample.pcap"
#define SAMPLE_PACKETS 123

static struct roce_packet example(void)
{
	static const uint8_t data[64] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct roce_packet p = {
		.dst_mac = {2, 0, 0, 0, 0, 2},
		.src_mac = {2, 0, 0, 0, 0, 1},
		.ttl = 64,
		.ip_flags = 0x4000,
		.src_ip = 0x0a000001,
		.dst_ip = 0x0a000002,
		.udp_sport = 0xc123,
		.opcode = ROCE_OP_SEND_ONLY,
		.pkey = 0xffff,
		.qpn = 17,
		.psn = 0xfffffe,
		.payload = data,
		.payload_len = 64,
	};

	return p;
}

/* Packets of Linux endpoints are parsed, their ICRC is correct, and writing them again gives the
 * same bytes. */
static void golden_file(void **state)
{
	char text[PCAP_ERRBUF_SIZE];
	pcap_t *pcap = pcap_open_offline(SAMPLE, text);
	struct pcap_pkthdr *header;
	const uint8_t *frame;
	unsigned int packets = 0;
	uint32_t opcodes = 0;

	(void)state;
	assert_non_null(pcap);
	while (pcap_next_ex(pcap, &header, &frame) == 1) {
		uint8_t again[ROCE_FRAME_MAX + 64];
		struct roce_packet p;

		assert_int_equal(header->caplen, header->len);
		assert_int_equal(roce_parse(frame, header->caplen, &p), ROCE_WIRE_OK);
		assert_true(roce_icrc_ok(frame, &p));
		assert_true(p.ip_checksum_ok);
		assert_true(roce_udp_checksum_ok(frame, &p));
		assert_int_equal(roce_build(&p, again, sizeof(again)), header->caplen);
		assert_memory_equal(again, frame, header->caplen);
		assert_in_range(p.opcode, 0, 31);
		opcodes |= 1u << p.opcode;
		packets++;
	}
	pcap_close(pcap);
	assert_int_equal(packets, SAMPLE_PACKETS);
	/* SEND, WRITE, READ and ACK all occur. */
	assert_true(opcodes & 1u << ROCE_OP_SEND_FIRST);
	assert_true(opcodes & 1u << ROCE_OP_WRITE_FIRST);
	assert_true(opcodes & 1u << ROCE_OP_READ_FIRST);
	assert_true(opcodes & 1u << ROCE_OP_ACK);
}

/* The ICRC detects a flipped bit, unless a network may change that bit. */
static void icrc_covers_what_it_should(void **state)
{
	static const unsigned int masked[] = {1, 8, 10, 11, 26, 27, 32};
	struct roce_packet p = example();
	uint8_t frame[256];
	size_t len = roce_build(&p, frame, sizeof(frame));
	struct roce_packet q;

	(void)state;
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	for (size_t bit = 0; bit < 8 * len; bit++) {
		size_t at = bit / 8;
		bool free_byte = at < 14;

		for (size_t i = 0; i < sizeof(masked) / sizeof(masked[0]); i++)
			free_byte = free_byte || at == 14 + masked[i];
		frame[at] ^= (uint8_t)(1u << bit % 8);
		assert_int_equal(roce_icrc_ok(frame, &q), free_byte);
		frame[at] ^= (uint8_t)(1u << bit % 8);
	}
	frame[60] ^= 1;
	roce_icrc_write(frame, &q);
	assert_true(roce_icrc_ok(frame, &q));
}

static void put_ip_checksum(uint8_t *ip)
{
	rf_put_be16(ip + 10, 0);
	rf_put_be16(ip + 10, rf_inet_checksum(0, ip, 20));
}

struct refusal {
	int want;
	size_t len; /* 0: the frame's own */
	struct {
		uint8_t at;
		uint8_t value;
	} set[3];
};

/* The frame is 14 + 20 + 8 + 12 + 64 + 4 = 122 bytes. */
static const struct refusal refusals[] = {
	{ROCE_WIRE_OK, 0, {{0, 2}}},
	{ROCE_WIRE_RUNT, 59, {{0, 2}}},
	{ROCE_WIRE_TWO_TAGS, 0, {{12, 0x88}, {13, 0xa8}}},
	{ROCE_WIRE_ARP, 0, {{12, 0x08}, {13, 0x06}}},
	{ROCE_WIRE_IPV6, 0, {{12, 0x86}, {13, 0xdd}}},
	{ROCE_WIRE_ETHERTYPE, 0, {{12, 0x08}, {13, 0x01}}},
	{ROCE_WIRE_IP_VERSION, 0, {{14, 0x65}}},
	{ROCE_WIRE_IP_OPTIONS, 0, {{14, 0x46}}},
	{ROCE_WIRE_IP_OPTIONS, 0, {{14, 0x44}}},
	{ROCE_WIRE_IP_FRAGMENT, 0, {{20, 0x20}}},
	{ROCE_WIRE_IP_FRAGMENT, 0, {{21, 0x01}}},
	{ROCE_WIRE_MULTICAST, 0, {{0, 1}}},
	{ROCE_WIRE_IP_LENGTH, 0, {{17, 27}}},
	{ROCE_WIRE_IP_LENGTH, 0, {{17, 109}}},
	{ROCE_WIRE_IP_LENGTH, 0, {{17, 107}}},
	{ROCE_WIRE_IP_LENGTH, 121, {{0, 2}}},
	{ROCE_WIRE_IP_LENGTH, 123, {{0, 2}}},
	{ROCE_WIRE_NOT_UDP, 0, {{23, 6}}},
	{ROCE_WIRE_UDP_PORT, 0, {{37, 0xb8}}},
	{ROCE_WIRE_UDP_LENGTH, 0, {{39, 87}}},
	{ROCE_WIRE_UDP_LENGTH, 0, {{39, 89}}},
	/* 60 bytes: IP length 43, UDP length 23, one byte too short for BTH and ICRC. */
	{ROCE_WIRE_UDP_LENGTH, 60, {{17, 43}, {39, 23}}},
	{ROCE_WIRE_OPCODE, 0, {{42, 0x12}}},
	{ROCE_WIRE_OPCODE, 0, {{42, 0x64}}},
	/* 60 bytes: an IP length of 44 has room for the BTH and the ICRC alone. */
	{ROCE_WIRE_HEADERS, 60, {{17, 44}, {39, 24}, {42, ROCE_OP_ACK}}},
	{ROCE_WIRE_HEADERS, 60, {{17, 44}, {39, 24}, {42, ROCE_OP_WRITE_ONLY}}},
	{ROCE_WIRE_PAYLOAD, 60, {{17, 45}, {39, 25}, {42, ROCE_OP_SEND_ONLY}}},
	{ROCE_WIRE_PAYLOAD, 60, {{17, 44}, {39, 24}, {43, 0x10}}},
	{ROCE_WIRE_OK, 60, {{17, 44}, {39, 24}}},
};

static void every_refusal(void **state)
{
	uint32_t seen = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(refusals) / sizeof(refusals[0]); i++) {
		const struct refusal *r = &refusals[i];
		struct roce_packet p = example();
		struct roce_packet q;
		uint8_t frame[128] = {0};
		size_t len = roce_build(&p, frame, sizeof(frame));

		assert_int_equal(len, 122);
		for (size_t k = 0; k < 3; k++)
			if (r->set[k].at || r->set[k].value)
				frame[r->set[k].at] = r->set[k].value;
		put_ip_checksum(frame + 14);
		if (roce_parse(frame, r->len ? r->len : len, &q) != r->want)
			fail_msg(
				"refusal %zu: %s", i,
				roce_wire_error_name(roce_parse(frame, r->len ? r->len : len, &q)));
		seen |= 1u << -r->want;
	}
	assert_int_equal(seen, (1u << ROCE_WIRE_ERRORS) - 1);
}

static void tags(void **state)
{
	struct roce_packet p = example();
	struct roce_packet q;
	uint8_t frame[128];
	size_t len;

	(void)state;
	p.has_vlan = true;
	p.vlan_tci = 0x6123;
	len = roce_build(&p, frame, sizeof(frame));
	assert_int_equal(len, 126);
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	assert_true(q.has_vlan);
	assert_int_equal(q.vlan_tci, 0x6123);
	rf_put_be16(frame + 16, RF_INET_TYPE_VLAN);
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_TWO_TAGS);
	rf_put_be16(frame + 16, RF_INET_TYPE_QINQ);
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_TWO_TAGS);
}

/* A switch adds a tag to a frame that its sender has padded to 60 bytes. */
static void padded_then_tagged(void **state)
{
	struct roce_packet p = example();
	struct roce_packet q;
	uint8_t frame[128] = {0};

	(void)state;
	p.opcode = ROCE_OP_SEND_ONLY;
	p.payload_len = 0;
	assert_int_equal(roce_build(&p, frame, sizeof(frame)), 60);
	memmove(frame + 16, frame + 12, 48);
	rf_put_be16(frame + 12, RF_INET_TYPE_VLAN);
	rf_put_be16(frame + 14, 0x6123);
	assert_int_equal(roce_parse(frame, 64, &q), ROCE_WIRE_OK);
	assert_int_equal(q.payload_len, 0);
	assert_true(roce_icrc_ok(frame, &q));
	assert_int_equal(roce_parse(frame, 65, &q), ROCE_WIRE_IP_LENGTH);
}

static void checksums(void **state)
{
	struct roce_packet p = example();
	struct roce_packet q;
	uint8_t frame[128];
	size_t len = roce_build(&p, frame, sizeof(frame));
	uint32_t sum;

	(void)state;
	frame[22]--; /* TTL without a new checksum: parsed, and reported */
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	assert_false(q.ip_checksum_ok);
	put_ip_checksum(frame + 14);
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	assert_true(q.ip_checksum_ok);
	assert_true(roce_icrc_ok(frame, &q));
	sum = rf_inet_sum(17 + 88, frame + 26, 8);
	rf_put_be16(frame + 40, rf_inet_checksum(sum, frame + 34, 88));
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	assert_true(roce_udp_checksum_ok(frame, &q));
	frame[40] ^= 1;
	assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
	assert_false(roce_udp_checksum_ok(frame, &q));
}

static void random_packet(struct roce_random *rng, struct roce_packet *p, const uint8_t *data)
{
	static const uint8_t extra[] = {ROCE_OP_CNP};

	memset(p, 0, sizeof(*p));
	for (unsigned int i = 0; i < 6; i++) {
		p->dst_mac[i] = (uint8_t)(roce_random(rng) & 0xfe);
		p->src_mac[i] = (uint8_t)roce_random(rng);
	}
	p->has_vlan = roce_random_below(rng, 2);
	if (p->has_vlan)
		p->vlan_tci = (uint16_t)roce_random(rng);
	p->tos = (uint8_t)roce_random(rng);
	p->ttl = (uint8_t)roce_random(rng);
	p->ip_id = (uint16_t)roce_random(rng);
	p->ip_flags = roce_random_below(rng, 2) ? 0x4000 : 0;
	p->src_ip = roce_random(rng);
	p->dst_ip = roce_random(rng);
	p->udp_sport = (uint16_t)roce_random(rng);
	p->opcode = (uint8_t)roce_random_below(rng, 0x13);
	if (p->opcode == 0x12)
		p->opcode = extra[0];
	p->se = roce_random_below(rng, 2);
	p->migreq = roce_random_below(rng, 2);
	p->tver = (uint8_t)roce_random_below(rng, 16);
	p->pkey = (uint16_t)roce_random(rng);
	p->fecn = roce_random_below(rng, 2);
	p->becn = roce_random_below(rng, 2);
	p->reserved6 = (uint8_t)roce_random_below(rng, 64);
	p->qpn = roce_random_below(rng, 1u << 24);
	p->ackreq = roce_random_below(rng, 2);
	p->reserved7 = (uint8_t)roce_random_below(rng, 128);
	p->psn = roce_random_below(rng, 1u << 24);
	if (roce_opcode_flags(p->opcode) & ROCE_F_RETH) {
		p->va = (uint64_t)roce_random(rng) << 32 | roce_random(rng);
		p->rkey = roce_random(rng);
		p->dma_length = roce_random(rng);
	}
	if (roce_opcode_flags(p->opcode) & ROCE_F_AETH) {
		p->syndrome = (uint8_t)roce_random(rng);
		p->msn = roce_random_below(rng, 1u << 24);
	}
	if (roce_opcode_flags(p->opcode) & ROCE_F_IMM)
		p->imm = roce_random(rng);
	p->payload = data;
	p->payload_len = roce_random_below(rng, roce_random_below(rng, 2) ? 16 : 4097);
}

static void random_packets_both_ways(void **state)
{
	struct roce_random rng = roce_random_start("roce_wire_test");
	uint8_t data[4096], frame[ROCE_FRAME_MAX], again[ROCE_FRAME_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)roce_random(&rng);
	for (unsigned int n = 0; n < 20000; n++) {
		struct roce_packet p, q;
		size_t len;

		random_packet(&rng, &p, data);
		len = roce_build(&p, frame, sizeof(frame));
		assert_true(len >= RF_INET_FRAME_MIN);
		assert_int_equal(roce_build(&p, again, len - 1), 0);
		assert_int_equal(roce_parse(frame, len, &q), ROCE_WIRE_OK);
		assert_true(roce_icrc_ok(frame, &q));
		assert_true(q.ip_checksum_ok);
		assert_int_equal(q.payload_len, p.payload_len);
		assert_memory_equal(q.payload, data, p.payload_len);
		assert_int_equal(roce_build(&q, again, sizeof(again)), len);
		assert_memory_equal(again, frame, len);
		/* Members that only parsing sets are left out of the comparison. */
		q.ethertype = 0;
		q.ip_proto = 0;
		q.ip_length = 0;
		q.ip_checksum_ok = false;
		q.udp_dport = 0;
		q.udp_length = 0;
		q.pad = 0;
		q.payload = p.payload;
		q.ip_offset = 0;
		q.payload_offset = 0;
		q.icrc_offset = 0;
		assert_memory_equal(&p, &q, sizeof(p));
	}
}

/* Untrusted bytes in blocks of exactly their length, so that valgrind or a sanitizer detects a read
 * beyond them. */
static void random_bytes(void **state)
{
	struct roce_random rng = roce_random_start("roce_wire_test");
	uint8_t data[64] = {0};
	uint32_t seen = 0;

	(void)state;
	for (unsigned int n = 0; n < 200000; n++) {
		struct roce_packet p, q;
		struct roce_udp u;
		struct rf_arp a;
		uint8_t frame[512];
		uint8_t *block;
		size_t len;
		int error;

		random_packet(&rng, &p, data);
		p.payload_len = roce_random_below(&rng, 65);
		len = roce_build(&p, frame, sizeof(frame));
		for (uint32_t k = roce_random_below(&rng, 4); k > 0; k--)
			frame[roce_random_below(&rng, 54)] = (uint8_t)roce_random(&rng);
		if (roce_random_below(&rng, 4) == 0)
			len = roce_random_below(&rng, (uint32_t)len + 1);
		block = malloc(len ? len : 1);
		assert_non_null(block);
		memcpy(block, frame, len);
		error = roce_parse(block, len, &q);
		assert_in_range(-error, 0, ROCE_WIRE_ERRORS - 1);
		if (error == ROCE_WIRE_OK || error <= ROCE_WIRE_OPCODE) {
			assert_true(q.icrc_offset + 4 <= len);
			assert_true((size_t)(q.payload - block) + q.payload_len <= q.icrc_offset);
			(void)roce_icrc_ok(block, &q);
			(void)roce_udp_checksum_ok(block, &q);
		}
		seen |= 1u << -error;
		if (roce_udp_parse(block, len, &u) == 0)
			assert_true((size_t)(u.data - block) + u.len <= len);
		(void)rf_arp_parse(block, len, &a);
		free(block);
	}
	/* The mutations reach most causes; otherwise this test would check nothing. */
	assert_true(__builtin_popcount(seen) >= 14);
}

static void udp_and_arp(void **state)
{
	static const uint8_t mac[2][6] = {{2, 0, 0, 0, 0, 1}, {2, 0, 0, 0, 0, 2}};
	struct roce_udp u = {.src_ip = 1, .dst_ip = 2, .sport = 3, .dport = 4791, .len = 5};
	struct roce_udp v;
	struct rf_arp a = {.op = 1, .sender_ip = 0x0a000001, .target_ip = 0x0a000002};
	struct rf_arp b;
	uint8_t frame[128];
	size_t len;

	(void)state;
	memcpy(u.dst_mac, mac[0], 6);
	memcpy(u.src_mac, mac[1], 6);
	u.data = (const uint8_t *)"hello";
	for (int tag = 0; tag < 2; tag++) {
		u.has_vlan = tag;
		u.vlan_tci = tag ? 77 : 0;
		len = roce_udp_build(&u, frame, sizeof(frame));
		assert_int_equal(len, 60);
		assert_int_equal(roce_udp_parse(frame, len, &v), 0);
		assert_int_equal(v.len, 5);
		assert_memory_equal(v.data, "hello", 5);
		assert_int_equal(v.vlan_tci, u.vlan_tci);
		assert_int_equal(v.dport, 4791);
		frame[u.has_vlan ? 24 : 20] ^= 1;
		assert_int_not_equal(roce_udp_parse(frame, len, &v), 0);

		a.has_vlan = tag;
		a.vlan_tci = tag ? 77 : 0;
		memcpy(a.sender_mac, mac[0], 6);
		memset(a.target_mac, 0, 6);
		a.op = 1;
		len = rf_arp_build(&a, frame, sizeof(frame));
		assert_int_equal(len, tag ? 64 : 60);
		assert_int_equal(frame[0], 0xff);
		assert_int_equal(rf_arp_parse(frame, len, &b), tag ? 46 : 42);
		assert_memory_equal(&a, &b, sizeof(a));
		a.op = 2;
		memcpy(a.target_mac, mac[1], 6);
		len = rf_arp_build(&a, frame, sizeof(frame));
		assert_memory_equal(frame, mac[1], 6);
		assert_int_equal(rf_arp_parse(frame, len, &b), tag ? 46 : 42);
		assert_memory_equal(&a, &b, sizeof(a));
		frame[tag ? 18 : 14] ^= 1;
		assert_int_equal(rf_arp_parse(frame, len, &b), 0);
	}
}

static void names(void **state)
{
	(void)state;
	for (int i = 0; i < ROCE_WIRE_ERRORS; i++)
		assert_string_not_equal(roce_wire_error_name(-i), "unknown");
	assert_string_equal(roce_wire_error_name(-ROCE_WIRE_ERRORS), "unknown");
	assert_string_equal(roce_wire_error_name(1), "unknown");
	assert_string_equal(roce_opcode_name(ROCE_OP_SEND_LAST_IMM), "SEND_LAST_IMM");
	assert_string_equal(roce_opcode_name(ROCE_OP_CNP), "CNP");
	assert_string_equal(roce_opcode_name(0x12), "unknown");
	for (unsigned int op = 0; op < 256; op++)
		assert_int_equal(!!(roce_opcode_flags((uint8_t)op) & ROCE_F_KNOWN),
				 op <= ROCE_OP_ACK || op == ROCE_OP_CNP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(golden_file),
		cmocka_unit_test(icrc_covers_what_it_should),
		cmocka_unit_test(every_refusal),
		cmocka_unit_test(tags),
		cmocka_unit_test(padded_then_tagged),
		cmocka_unit_test(checksums),
		cmocka_unit_test(random_packets_both_ways),
		cmocka_unit_test(random_bytes),
		cmocka_unit_test(udp_and_arp),
		cmocka_unit_test(names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
