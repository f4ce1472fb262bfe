/*
 * Invalid input at the box, beside valid input: one test for each line of the tables in
 * docs/box.md (the number is in the name), each named after its counter.
 */
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

/* Lines 1 to 19 need no group. A valid packet of an unknown connection. */
static void sound(struct packet *p)
{
	struct bench_conn c = {.src_ip = 0x0a000001, .dst_ip = 0x0a000002, .data_qpn = 17};

	c.src_mac = 0x020000000001;
	c.dst_mac = 0x020000000002;
	bench_data(&c, p, 5, OP_SEND_ONLY, NULL, 256);
}

/* One frame into a new box: the counter increases, and nothing leaves. */
static void dropped(const uint8_t *frame, size_t len, bool bad, unsigned int counter)
{
	struct bench b;
	unsigned int port;

	common_open(&b, 4, 1);
	for (port = 0; port < 4; port++)
		common_frame(&b, port, frame, len, bad, counter);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void dropped_packet(const struct packet *p, unsigned int counter)
{
	uint8_t frame[PACKET_MAX];

	dropped(frame, packet_build(p, frame), false, counter);
}

static void line_01_rx_overflow(void **unused)
{
	struct rf_model_bounds bounds = {.ingress_bytes = 200};
	struct bench b;
	struct packet p;

	(void)unused;
	if (!common_is_model())
		skip();
	common_open(&b, 4, 1);
	rf_model_set_bounds(b.e, &bounds);
	sound(&p);
	common_packet(&b, 1, &p, RF_CNT_RX_OVERFLOW);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_02_rx_mac_error(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;

	(void)unused;
	sound(&p);
	len = packet_build(&p, frame);
	dropped(frame, len, true, RF_CNT_RX_MAC_ERROR);
	/* Truncated: the part that exists. */
	dropped(frame, 100, true, RF_CNT_RX_MAC_ERROR);
	dropped(frame, 20, true, RF_CNT_RX_MAC_ERROR);
	dropped(frame, 1, true, RF_CNT_RX_MAC_ERROR);
}

static void line_03_rx_runt(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;

	(void)unused;
	sound(&p);
	packet_build(&p, frame);
	dropped(frame, 59, false, RF_CNT_RX_RUNT);
	dropped(frame, 14, false, RF_CNT_RX_RUNT);
	dropped(frame, 1, false, RF_CNT_RX_RUNT);
}

static void line_04_rx_oversize(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;

	(void)unused;
	sound(&p);
	p.payload_len = 4096 + 86 - 58 + 1;
	dropped(frame, packet_build(&p, frame), false, RF_CNT_RX_OVERSIZE);
	p.payload_len = 9000;
	dropped(frame, packet_build(&p, frame), false, RF_CNT_RX_OVERSIZE);
}

static void line_05_own_source(void **unused)
{
	struct packet p;
	unsigned int k;

	(void)unused;
	for (k = 0; k < 4; k++) {
		sound(&p);
		p.src_mac = BENCH_MAC + k;
		dropped_packet(&p, RF_CNT_OWN_SOURCE);
	}
}

static void line_06_two_tags(void **unused)
{
	static const uint16_t types[3][2] = {{0x88a8, 0x0800}, {0x8100, 0x8100}, {0x8100, 0x88a8}};
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;
	unsigned int k;

	(void)unused;
	for (k = 0; k < 3; k++) {
		sound(&p);
		p.tagged = true;
		len = packet_build(&p, frame);
		rf_put_be16(frame + 12, types[k][0]);
		rf_put_be16(frame + 16, types[k][1]);
		dropped(frame, len, false, RF_CNT_TWO_TAGS);
	}
}

static void line_07_arp(void **unused)
{
	uint8_t frame[64];
	struct bench b;
	size_t len;
	unsigned int tag;

	(void)unused;
	for (tag = 0; tag < 2; tag++) {
		len = packet_arp(frame, 0x0a000001, BENCH_IP + 1, tag);
		dropped(frame, len, false, RF_CNT_ARP_OTHER);
		common_open(&b, 4, 1);
		len = packet_arp(frame, 0x0a000001, BENCH_IP, tag);
		common_frame(&b, 2, frame, len, false, RF_CNT_PUNTED);
		assert_int_equal(bench_read(&b, RF_PUNT_STATUS),
				 RF_PUNT_STATUS_VALID_MASK | 2u << RF_PUNT_STATUS_PORT_LSB | len);
		bench_close(&b);
	}
}

static void types_dropped(uint16_t type, unsigned int counter)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;

	sound(&p);
	len = packet_build(&p, frame);
	rf_put_be16(frame + 12, type);
	dropped(frame, len, false, counter);
	p.tagged = true;
	len = packet_build(&p, frame);
	rf_put_be16(frame + 16, type);
	dropped(frame, len, false, counter);
}

static void line_08_ipv6(void **unused)
{
	(void)unused;
	types_dropped(0x86dd, RF_CNT_IPV6);
}

static void line_09_ethertype(void **unused)
{
	(void)unused;
	types_dropped(0x8915, RF_CNT_ETHERTYPE);
	types_dropped(0x0040, RF_CNT_ETHERTYPE);
}

static void byte_dropped(unsigned int at, uint8_t value, unsigned int counter)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;
	unsigned int tag;

	for (tag = 0; tag < 2; tag++) {
		sound(&p);
		p.tagged = tag;
		len = packet_build(&p, frame);
		frame[(at < 14 ? at : at + 4 * tag)] = value;
		packet_checksum(frame);
		dropped(frame, len, false, counter);
	}
}

static void line_10_ip_version(void **unused)
{
	(void)unused;
	byte_dropped(14, 0x65, RF_CNT_IP_VERSION);
}

static void line_11_ip_options(void **unused)
{
	(void)unused;
	byte_dropped(14, 0x46, RF_CNT_IP_OPTIONS);
	byte_dropped(14, 0x44, RF_CNT_IP_OPTIONS);
}

static void line_11_ip_checksum(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;
	unsigned int tag, at;

	(void)unused;
	for (tag = 0; tag < 2; tag++)
		for (at = 1; at < 20; at++) {
			sound(&p);
			p.tagged = tag;
			len = packet_build(&p, frame);
			frame[14 + 4 * tag + at] ^= 0x10;
			dropped(frame, len, false, RF_CNT_IP_CHECKSUM);
		}
}

static void line_12_ip_fragment(void **unused)
{
	(void)unused;
	byte_dropped(20, 0x20, RF_CNT_IP_FRAGMENT);
	byte_dropped(20, 0x41, RF_CNT_IP_FRAGMENT);
	byte_dropped(21, 0x01, RF_CNT_IP_FRAGMENT);
}

static void line_13_multicast(void **unused)
{
	(void)unused;
	byte_dropped(0, 0x01, RF_CNT_MULTICAST);
	byte_dropped(0, 0xff, RF_CNT_MULTICAST);
}

static void line_14_ip_length(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;

	(void)unused;
	sound(&p);
	p.ip_length_off = 1; /* beyond the frame */
	dropped_packet(&p, RF_CNT_IP_LENGTH);
	p.ip_length_off = -4; /* bytes after the packet, in a frame longer than 60 */
	dropped_packet(&p, RF_CNT_IP_LENGTH);
	p.ip_length_off = 0;
	len = packet_build(&p, frame);
	rf_put_be16(frame + 16, 27);
	packet_checksum(frame);
	dropped(frame, len, false, RF_CNT_IP_LENGTH);
	dropped(frame, 60, false, RF_CNT_IP_LENGTH);
	rf_put_be16(frame + 16, 0xffff);
	packet_checksum(frame);
	dropped(frame, len, false, RF_CNT_IP_LENGTH);
}

static void line_15_icmp(void **unused)
{
	struct bench b;
	struct packet p;

	(void)unused;
	sound(&p);
	p.ip_proto = 1;
	p.dst_ip = BENCH_IP;
	common_open(&b, 4, 1);
	common_packet(&b, 3, &p, RF_CNT_PUNTED);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_16_not_roce(void **unused)
{
	struct packet p;

	(void)unused;
	sound(&p);
	p.ip_proto = 6;
	dropped_packet(&p, RF_CNT_NOT_ROCE);
	sound(&p);
	p.ip_proto = 1;
	dropped_packet(&p, RF_CNT_NOT_ROCE);
	sound(&p);
	p.dport = 4790;
	dropped_packet(&p, RF_CNT_NOT_ROCE);
	p.dst_ip = BENCH_IP;
	dropped_packet(&p, RF_CNT_NOT_ROCE);
}

static void line_17_udp_length(void **unused)
{
	struct packet p;

	(void)unused;
	sound(&p);
	p.udp_length_off = 1;
	dropped_packet(&p, RF_CNT_UDP_LENGTH);
	p.udp_length_off = -4;
	dropped_packet(&p, RF_CNT_UDP_LENGTH);
	p.dst_ip = BENCH_IP;
	dropped_packet(&p, RF_CNT_UDP_LENGTH);
}

static void line_18_control(void **unused)
{
	struct rf_model_bounds bounds = {.punt_depth = 1};
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;
	size_t len;
	unsigned int k;

	(void)unused;
	sound(&p);
	p.dst_ip = BENCH_IP;
	common_open(&b, 4, 1);
	bench_write(&b, RF_CTRL, 0); /* enabled or not */
	len = packet_build(&p, frame);
	common_frame(&b, 1, frame, len, false, RF_CNT_PUNTED);
	assert_true(b.ops->irq(b.e));
	assert_int_equal(bench_read(&b, RF_IRQ), RF_IRQ_PUNT_MASK);
	assert_int_equal(bench_read(&b, RF_PUNT_STATUS),
			 RF_PUNT_STATUS_VALID_MASK | 1u << RF_PUNT_STATUS_PORT_LSB | len);
	for (k = 0; k < len; k++)
		assert_int_equal(bench_read(&b, RF_PUNT_DATA + (k & ~3u)) >> 8 * (k & 3) & 0xff,
				 frame[k]);
	/* Longer than the frames of the buffer. */
	p.payload_len = 1024 - 58;
	common_packet(&b, 1, &p, RF_CNT_PUNTED);
	p.payload_len++;
	common_packet(&b, 1, &p, RF_CNT_PUNT_FULL);
	bench_write(&b, RF_PUNT_POP, 0);
	assert_int_equal(bench_read(&b, RF_PUNT_STATUS) & RF_PUNT_STATUS_LENGTH_MASK, 1024);
	bench_write(&b, RF_PUNT_POP, 0);
	assert_int_equal(bench_read(&b, RF_PUNT_STATUS), 0);
	assert_false(b.ops->irq(b.e));
	/* Four wait at a port, whatever waits at another port and whoever sent them. */
	p.payload_len = 16;
	for (k = 0; k < 4; k++) {
		p.src_mac = 0x020000000100 + k / 2;
		common_packet(&b, 0, &p, RF_CNT_PUNTED);
	}
	p.src_mac++;
	common_packet(&b, 0, &p, RF_CNT_PUNT_FULL);
	/* Two of one source at a port: the third is dropped, another source's is not. */
	for (k = 0; k < 3; k++)
		common_packet(&b, 1, &p, RF_CNT_PUNTED);
	p.src_mac++;
	common_packet(&b, 1, &p, RF_CNT_PUNTED);
	for (k = 0; k < 7; k++) {
		assert_true(bench_read(&b, RF_PUNT_STATUS) & RF_PUNT_STATUS_VALID_MASK);
		bench_write(&b, RF_PUNT_POP, 0);
	}
	assert_int_equal(bench_read(&b, RF_PUNT_STATUS), 0);
	if (common_is_model()) {
		rf_model_set_bounds(b.e, &bounds);
		common_packet(&b, 2, &p, RF_CNT_PUNTED);
		common_packet(&b, 2, &p, RF_CNT_PUNT_FULL);
	}
	bench_close(&b);
}

/* ARP gets one place of its port, so that a control packet still finds one; of one MAC two wait. */
static void line_07_arp_one_place(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;
	size_t len;
	unsigned int k;

	(void)unused;
	common_open(&b, 4, 1);
	for (k = 0; k < 8; k++) {
		len = packet_arp(frame, 0x0a030001 + k, BENCH_IP, k & 1);
		frame[7] = (uint8_t)k; /* the last 16 bits are all the same */
		common_frame(&b, 3, frame, len, false, k ? RF_CNT_PUNT_FULL : RF_CNT_PUNTED);
	}
	sound(&p);
	p.dst_ip = BENCH_IP;
	for (k = 0; k < 3; k++) {
		p.src_mac = 0x020000000007u + ((uint64_t)k << 40);
		common_packet(&b, 3, &p, RF_CNT_PUNTED);
	}
	common_packet(&b, 3, &p, RF_CNT_PUNT_FULL);
	/* The ARP frame is the oldest: when it has been read, another finds a place. */
	bench_write(&b, RF_PUNT_POP, 1);
	common_frame(&b, 3, frame, len, false, RF_CNT_PUNTED);
	for (k = 0; k < 4; k++) {
		assert_true(bench_read(&b, RF_PUNT_STATUS) & RF_PUNT_STATUS_VALID_MASK);
		bench_write(&b, RF_PUNT_POP, 1);
	}
	assert_int_equal(bench_read(&b, RF_PUNT_STATUS), 0);
	bench_close(&b);
}

static void line_19_udp_length(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;

	(void)unused;
	sound(&p);
	p.payload_len = 0;
	len = packet_build(&p, frame); /* 44 bytes of IP; now one less */
	assert_int_equal(len, 60);
	rf_put_be16(frame + 16, 43);
	packet_checksum(frame);
	rf_put_be16(frame + 38, 23);
	dropped(frame, len, false, RF_CNT_UDP_LENGTH);
}

static void line_20_disabled(void **unused)
{
	struct bench b;
	struct packet p;

	(void)unused;
	sound(&p);
	common_open(&b, 4, 1);
	bench_write(&b, RF_CTRL, 0);
	common_packet(&b, 0, &p, RF_CNT_DISABLED);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

/* A frame leaves as it came, except for the source MAC. */
static void passes(struct bench *b, unsigned int port, const uint8_t *frame, size_t len)
{
	uint8_t want[PACKET_MAX];
	const struct bench_out *o;

	bench_clear(b);
	common_frame(b, port, frame, len, false, RF_CNT_FOREIGN);
	o = common_only(b, port);
	memcpy(want, frame, len);
	rf_put_be16(want + 6, (uint16_t)(BENCH_MAC >> 32));
	rf_put_be32(want + 8, (uint32_t)BENCH_MAC + port);
	assert_int_equal(o->len, len);
	assert_memory_equal(o->bytes, want, len);
}

/* Extended reliable connection, with a tag, RETH and immediate data: 86 bytes around the payload.
 */
static void line_04_xrc(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;
	size_t len;

	(void)unused;
	common_open(&b, 4, 1);
	sound(&p);
	p.tagged = true;
	p.opcode = 0xab; /* XRC RDMA WRITE ONLY with immediate */
	p.payload_len = 4 + 16 + 4 + 4096;
	len = packet_build(&p, frame);
	assert_int_equal(len, 4096 + 86);
	passes(&b, 2, frame, len);
	bench_close(&b);
}

/* A padded frame to which a switch has added a tag: 64 bytes. */
static void line_14_padded_then_tagged(void **unused)
{
	static const uint8_t tag[4] = {0x81, 0x00, 0x60, 0x07};
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;

	(void)unused;
	common_open(&b, 4, 1);
	sound(&p);
	p.payload_len = 0; /* a BTH alone */
	assert_int_equal(packet_build(&p, frame), 60);
	memmove(frame + 16, frame + 12, 48);
	memcpy(frame + 12, tag, 4);
	frame[62] = 0xa5;
	frame[63] = 0x5a;
	passes(&b, 1, frame, 64);
	p.dst_ip = BENCH_IP;
	p.ip_proto = 1; /* a small ping */
	packet_build(&p, frame);
	memmove(frame + 16, frame + 12, 48);
	memcpy(frame + 12, tag, 4);
	rf_put_be16(frame + 20, 28);
	packet_checksum(frame);
	common_frame(&b, 1, frame, 64, false, RF_CNT_PUNTED);
	common_frame(&b, 1, frame, 60, false, RF_CNT_PUNTED);
	common_frame(&b, 1, frame, 65, false, RF_CNT_IP_LENGTH);
	bench_close(&b);
}

static void line_21_foreign(void **unused)
{
	static const uint8_t opcodes[] = {0x00, 0x04, 0x0b, 0x0c, 0x10, 0x11, 0x64, 0x81, 0xff};
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;
	unsigned int k, port;

	(void)unused;
	common_open(&b, 4, 1);
	for (k = 0; k < sizeof(opcodes); k++) {
		sound(&p);
		p.opcode = opcodes[k];
		p.tagged = k & 1;
		p.icrc_xor = k; /* not checked */
		p.payload_len = k ? 4 * k : 4096;
		for (port = 0; port < 4; port++)
			passes(&b, port, frame, packet_build(&p, frame));
		assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_FOREIGN), k + 1);
	}
	/* The shortest: a BTH alone. */
	sound(&p);
	p.payload_len = 0;
	passes(&b, 0, frame, packet_build(&p, frame));
	bench_close(&b);
}

static void line_21_hold(void **unused)
{
	struct bench b;
	struct packet p;

	(void)unused;
	common_open(&b, 4, 1);
	bench_write(&b, RF_CTRL, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
	sound(&p);
	common_packet(&b, 0, &p, RF_CNT_HOLD);
	p.opcode = OP_WRITE_ONLY_IMM;
	common_packet(&b, 0, &p, RF_CNT_HOLD);
	assert_int_equal(b.outs, 0);
	p.opcode = OP_READ_REQUEST;
	common_packet(&b, 0, &p, RF_CNT_FOREIGN);
	p.opcode = OP_ACK;
	common_packet(&b, 0, &p, RF_CNT_FOREIGN);
	p.opcode = OP_CNP;
	common_packet(&b, 0, &p, RF_CNT_FOREIGN);
	assert_int_equal(b.outs, 3);
	bench_close(&b);
}

static void line_21_hold_ports(void **unused)
{
	struct bench b;
	struct packet p;

	(void)unused;
	common_open(&b, 4, 1);
	bench_write(&b, RF_HOLD_PORTS, 1u << 2);
	sound(&p);
	common_packet(&b, 1, &p, RF_CNT_FOREIGN);
	common_packet(&b, 2, &p, RF_CNT_HOLD);
	assert_int_equal(bench_read(&b, RF_HELD_KEY),
			 RF_HELD_KEY_VALID_MASK | 2u << RF_HELD_KEY_PORT_LSB | p.qpn);
	bench_write(&b, RF_HELD_POP, 0);
	/* A foreign entry passes here and where nothing is held; an entry that joins does not. */
	assert_true(bench_entry(&b, 0, p.dst_ip, p.qpn, 0xffff, RF_STATE_JOINING));
	common_packet(&b, 2, &p, RF_CNT_FOREIGN);
	common_packet(&b, 1, &p, RF_CNT_FOREIGN);
	assert_true(bench_entry(&b, 0, p.dst_ip, p.qpn, 0xfffe, RF_STATE_JOINING));
	common_packet(&b, 2, &p, RF_CNT_JOINING);
	assert_true(bench_entry(&b, 0, p.dst_ip, p.qpn, 0, RF_STATE_EMPTY));
	p.opcode = OP_ACK;
	common_packet(&b, 2, &p, RF_CNT_FOREIGN);
	bench_write(&b, RF_HOLD_PORTS, 0xf0);
	assert_int_equal(bench_read(&b, RF_HOLD_PORTS), 0);
	bench_close(&b);
}

static void line_21_foreign_full(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct packet p;
	size_t len;
	unsigned int k;

	(void)unused;
	common_open(&b, 4, 1);
	sound(&p);
	p.payload_len = 4096;
	len = packet_build(&p, frame);
	b.stall[1] = b.ops->cycle(b.e) + 4000; /* the MAC accepts nothing for that long */
	for (k = 0; k < 20; k++)
		bench_feed(&b, 1, frame, len, false);
	assert_true(bench_settle(&b));
	assert_int_equal(bench_counter(&b, 1, RF_CNT_RX_FRAMES), 20);
	assert_true(bench_counter(&b, 1, RF_CNT_FOREIGN_FULL) > 0);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_FOREIGN) +
				 bench_counter(&b, 1, RF_CNT_FOREIGN_FULL) +
				 bench_counter(&b, 1, RF_CNT_RX_OVERFLOW),
			 20);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_FOREIGN), b.outs);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_FOREIGN), b.outs);
	/* Then it continues. */
	passes(&b, 1, frame, len);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_01_rx_overflow),
		cmocka_unit_test(line_02_rx_mac_error),
		cmocka_unit_test(line_03_rx_runt),
		cmocka_unit_test(line_04_rx_oversize),
		cmocka_unit_test(line_05_own_source),
		cmocka_unit_test(line_06_two_tags),
		cmocka_unit_test(line_07_arp),
		cmocka_unit_test(line_08_ipv6),
		cmocka_unit_test(line_09_ethertype),
		cmocka_unit_test(line_10_ip_version),
		cmocka_unit_test(line_11_ip_options),
		cmocka_unit_test(line_11_ip_checksum),
		cmocka_unit_test(line_12_ip_fragment),
		cmocka_unit_test(line_13_multicast),
		cmocka_unit_test(line_14_ip_length),
		cmocka_unit_test(line_14_padded_then_tagged),
		cmocka_unit_test(line_04_xrc),
		cmocka_unit_test(line_15_icmp),
		cmocka_unit_test(line_16_not_roce),
		cmocka_unit_test(line_17_udp_length),
		cmocka_unit_test(line_18_control),
		cmocka_unit_test(line_19_udp_length),
		cmocka_unit_test(line_07_arp_one_place),

		cmocka_unit_test(line_20_disabled),
		cmocka_unit_test(line_21_foreign),
		cmocka_unit_test(line_21_hold),
		cmocka_unit_test(line_21_hold_ports),
		cmocka_unit_test(line_21_foreign_full),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
