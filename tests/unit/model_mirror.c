/*
 * Mirror connections: one test for each row of docs/box.md, the section of this name, and what
 * leaves for them.
 */
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/model/rf_model.h"
#include "tests/unit/model_extra.h"

#define ONE 0x3f800000u
#define FOUR 0x40800000u

/* Four mirror ranks, one at each port. */
static void open_group(struct bench *b, struct bench_group *g)
{
	bench_group_init(g, 0, 4, 1);
	g->mirror = 15;
	extra_start(b, g, 1);
}

static void fill(uint8_t *payload, size_t len, uint32_t value)
{
	size_t k;

	for (k = 0; k < len; k += 4)
		rf_put_le32(payload + k, value);
}

static void row_7_arp(void **unused)
{
	struct bench b;
	struct bench_group g;
	uint8_t frame[PACKET_MAX];

	(void)unused;
	open_group(&b, &g);
	extra_frame(&b, 1, frame, packet_arp(frame, 0x0a010001, BENCH_PORT_IP(1), false),
		    RF_CNT_PUNTED);
	bench_write(&b, RF_PUNT_POP, 1);
	/* Every port of one switch gets the request for a port's address. */
	extra_frame(&b, 2, frame, packet_arp(frame, 0x0a010001, BENCH_PORT_IP(1), true),
		    RF_CNT_ARP_OTHER);
	/* Another host claims the port's address; at another port that does not matter. */
	extra_frame(&b, 2, frame, packet_arp(frame, BENCH_PORT_IP(2), 0, true), RF_CNT_PUNTED);
	bench_write(&b, RF_PUNT_POP, 1);
	extra_frame(&b, 3, frame, packet_arp(frame, BENCH_PORT_IP(2), 0, false), RF_CNT_ARP_OTHER);
	/* A port without an address does not take 0.0.0.0 for its own. */
	bench_write(&b, RF_PORT_IP3, 0);
	extra_frame(&b, 3, frame, packet_arp(frame, 0, 0, false), RF_CNT_ARP_OTHER);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void row_14a_wrong_port(void **unused)
{
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[1];
	uint8_t magic[16] = {0x52, 0x46, 0x43, 0x54};
	struct packet p;

	(void)unused;
	open_group(&b, &g);
	bench_data(c, &p, 0, OP_SEND_ONLY, NULL, 64);
	extra_packet(&b, 0, &p, RF_CNT_WRONG_PORT); /* flooded */
	p.dst_mac = BENCH_MAC;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_PORT);
	p.ip_proto = 1;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_PORT);
	p.ip_proto = 0;
	p.payload = magic;
	p.payload_len = sizeof(magic);
	extra_packet(&b, 1, &p, RF_CNT_WRONG_PORT);
	assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_NEXT), 0);
	assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_SEEN), 0);
	assert_int_equal(b.outs, 0);
	/* Frames for other addresses are not affected by the MAC. */
	p.dst_ip = 0x0a020001;
	extra_packet(&b, 1, &p, RF_CNT_FOREIGN);
	bench_close(&b);
}

static void row_15_18_punt(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint8_t frame[PACKET_MAX];
	size_t len;

	(void)unused;
	open_group(&b, &g);
	bench_data(&g.conn[1], &p, 0, OP_SEND_ONLY, NULL, 64);
	p.ip_proto = 1;
	extra_packet(&b, 1, &p, RF_CNT_PUNTED);
	bench_write(&b, RF_PUNT_POP, 1);
	p.ip_proto = 0;
	len = packet_build(&p, frame);
	rf_put_be32(frame + 14 + 28, 0x52464354);
	extra_frame(&b, 1, frame, len, RF_CNT_PUNTED);
	bench_write(&b, RF_PUNT_POP, 1);
	rf_put_be32(frame + 14 + 28, 0x52464355);
	extra_frame(&b, 1, frame, len, RF_CNT_ICRC); /* not the magic: a frame of RC */
	/* Three bytes after UDP are not the magic. */
	p.payload_len = 0;
	p.udp_length_off = p.ip_length_off = -13;
	len = packet_build(&p, frame);
	rf_put_be32(frame + 14 + 28, 0x52464354);
	packet_checksum(frame);
	extra_frame(&b, 1, frame, len, RF_CNT_UDP_LENGTH);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void row_21m_unknown(void **unused)
{
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[1];
	struct packet p;

	(void)unused;
	open_group(&b, &g);
	bench_write(&b, RF_CTRL, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
	bench_data(c, &p, 0, OP_SEND_ONLY, NULL, 64);
	p.qpn++;
	extra_packet(&b, 1, &p, RF_CNT_UNKNOWN);
	p.qpn--;
	p.src_ip += 0x100;
	extra_packet(&b, 1, &p, RF_CNT_UNKNOWN);
	bench_ack(c, &p, 1);
	p.qpn++;
	extra_packet(&b, 1, &p, RF_CNT_UNKNOWN);
	p.opcode = OP_CNP;
	extra_packet(&b, 1, &p, RF_CNT_UNKNOWN);
	assert_int_equal(bench_read(&b, RF_HELD_KEY) & RF_HELD_KEY_VALID_MASK, 0);
	/* The entry is found by frames to the port alone: to another host this is foreign. */
	bench_write(&b, RF_CTRL, RF_CTRL_ENABLE_MASK);
	bench_data(c, &p, 0, OP_SEND_ONLY, NULL, 64);
	p.dst_ip = 0x0a020001;
	assert_int_equal(b.outs, 0);
	extra_packet(&b, 1, &p, RF_CNT_FOREIGN);
	assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_SEEN), 0);
	bench_close(&b);
}

static void row_24_39_source_mac(void **unused)
{
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[1];
	struct packet p;

	(void)unused;
	open_group(&b, &g);
	extra_round(&b, &g, 0, false);
	bench_clear(&b);
	bench_data(c, &p, 1, OP_SEND_ONLY, NULL, 64);
	p.src_mac++;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_SOURCE);
	bench_ack(c, &p, 1);
	p.src_mac++;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_SOURCE);
	p.opcode = OP_CNP;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_SOURCE);
	assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_UNA), 0);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void row_27_opcode(void **unused)
{
	static const uint8_t ends[] = {0x0c, 0x13, 0x14};
	static const uint8_t ignored[] = {0x0d, 0x10, 0x12, 0x15, 0x16, 0x17, 0x64, 0xff};
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[2];
	struct packet p;
	unsigned int k;

	(void)unused;
	open_group(&b, &g);
	for (k = 0; k < sizeof(ignored); k++) {
		bench_data(c, &p, 0, ignored[k], NULL, 64);
		extra_packet(&b, 2, &p, RF_CNT_OPCODE);
		assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	}
	bench_close(&b);
	for (k = 0; k < sizeof(ends); k++) {
		open_group(&b, &g);
		bench_data(c, &p, 17, ends[k], NULL, 64); /* beyond the window */
		extra_packet(&b, 2, &p, RF_CNT_OPCODE);
		assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
		p.psn = c->start + 3;
		extra_packet(&b, 2, &p, RF_CNT_OPCODE);
		common_error(&b, c, RF_ERROR_OPCODE, 3);
		bench_close(&b);
	}
}

/* The whole frame of every rank's result, with and without a tag. */
static void result(bool tagged)
{
	struct bench b;
	struct bench_group g;
	struct packet p[4];
	uint8_t operand[256], sum[256];
	unsigned int r;

	bench_group_init(&g, 0, 4, 1);
	g.mirror = 15;
	g.tagged = tagged;
	extra_start(&b, &g, 1);
	fill(operand, sizeof(operand), ONE);
	fill(sum, sizeof(sum), FOUR);
	for (r = 0; r < 4; r++) {
		bench_data(&g.conn[r], &p[r], 0, OP_SEND_ONLY_IMM, operand, sizeof(operand));
		p[r].tos = (uint8_t)(0x68 + r); /* each value of ECN stays */
		p[r].ttl = 17;
		p[r].udp_checksum = 0x1234;
		extra_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
	}
	for (r = 0; r < 4; r++)
		extra_returned(&b, r, &p[r], sum, sizeof(sum), 0x80);
	bench_close(&b);
}

static void leaves_result(void **unused)
{
	(void)unused;
	result(false);
	result(true);
}

static void leaves_ack(void **unused)
{
	static const uint8_t syndromes[] = {0x1f, 0x60, 0x21};
	struct bench b;
	struct bench_group g;
	const struct bench_conn *c = &g.conn[3];
	struct packet p;
	unsigned int k;

	(void)unused;
	open_group(&b, &g);
	for (k = 0; k < 3; k++) {
		extra_round(&b, &g, k, false);
		bench_clear(&b);
		bench_ack(c, &p, k + 1);
		p.syndrome = syndromes[k];
		p.msn = 0x777 + k;
		p.ttl = 9;
		p.tos = 2;
		extra_packet(&b, 3, &p, RF_CNT_ACK_FORWARDED);
		extra_returned(&b, 3, &p, NULL, 0, 0);
		assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_UNA), k ? k : 1);
		assert_int_equal(bench_conn_read(&b, c->cid, RF_CONN_MSN), 0x777 + k);
		/* All others acknowledge, and this one does not go beyond what was sent. */
		bench_ack(c, &p, k + 2);
		extra_packet(&b, 3, &p, RF_CNT_ACK_BEYOND);
	}
	bench_close(&b);
}

static void leaves_cnp(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint8_t zeros[16] = {0}, reserved[16];

	(void)unused;
	open_group(&b, &g);
	memset(reserved, 0x33, sizeof(reserved));
	bench_ack(&g.conn[0], &p, 1);
	p.opcode = OP_CNP;
	p.psn = 0;
	p.bth4 = 0x40;
	p.payload = reserved;
	p.payload_len = sizeof(zeros);
	extra_packet(&b, 0, &p, RF_CNT_CNP_BACK);
	extra_returned(&b, 0, &p, zeros, sizeof(zeros), 0);
	assert_int_equal(bench_conn_read(&b, g.conn[0].cid, RF_CONN_SEEN), 0);
	bench_clear(&b);
	p.payload_len = 12;
	extra_packet(&b, 0, &p, RF_CNT_ACK_MALFORMED);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

/* ACK on behalf, repeat, NAK: all go back to the rank. A repeat follows a changed MAC. */
static void leaves_made(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p, ack;
	uint8_t operand[64], sum[64];
	uint64_t mac;

	(void)unused;
	open_group(&b, &g);
	fill(operand, sizeof(operand), ONE);
	fill(sum, sizeof(sum), FOUR);
	extra_round(&b, &g, 0, true);
	extra_round(&b, &g, 1, false);
	bench_clear(&b);
	extra_data(&b, c, 0, ONE, RF_CNT_BEHALF);
	bench_data(c, &p, 0, OP_SEND_ONLY, NULL, 0);
	p.opcode = OP_ACK;
	p.syndrome = 0x1f;
	p.msn = 1;
	extra_returned(&b, 1, &p, NULL, 0, 0);
	bench_clear(&b);
	extra_data(&b, c, 3, ONE, RF_CNT_GAP_NAK);
	bench_data(c, &p, 3, OP_SEND_ONLY, NULL, 0);
	p.opcode = OP_ACK;
	p.syndrome = 0x60;
	p.msn = 1;
	p.psn = c->start + 1;
	extra_returned(&b, 1, &p, NULL, 0, 0);
	bench_clear(&b);
	/* The router's MAC changes; a signed request has told it. */
	mac = c->src_mac;
	c->src_mac = 0x02aabbccddee;
	bench_conn_mac(&b, c);
	bench_data(c, &p, 1, OP_SEND_ONLY, operand, sizeof(operand));
	extra_packet(&b, 1, &p, RF_CNT_REPEAT);
	extra_returned(&b, 1, &p, sum, sizeof(sum), 0x80);
	p.src_mac = mac;
	extra_packet(&b, 1, &p, RF_CNT_WRONG_SOURCE);
	bench_ack(c, &ack, 2);
	extra_packet(&b, 1, &ack, RF_CNT_ACK_FORWARDED);
	bench_close(&b);
}

/* Ring and mirror ranks in one group: each gets the sum in its own way. */
static void mixed_group(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p[4];
	uint8_t operand[64], sum[64];
	const struct bench_out *o;
	unsigned int r;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.mirror = 5;
	extra_start(&b, &g, 1);
	assert_int_equal(g.conn[1].dst_ip, g.conn[3].src_ip);
	fill(operand, sizeof(operand), ONE);
	fill(sum, sizeof(sum), FOUR);
	for (r = 0; r < 4; r++) {
		bench_data(&g.conn[r], &p[r], 0, OP_SEND_ONLY, operand, sizeof(operand));
		extra_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
	}
	for (r = 0; r < 4; r += 2)
		extra_returned(&b, r, &p[r], sum, sizeof(sum), 0x80);
	for (r = 1; r < 4; r += 2) {
		o = extra_of_port(&b, r);
		assert_int_equal(common_psn(o), (g.conn[r].start - g.conn[r].shift) & 0xffffff);
		assert_int_equal(common_element(o, 15), FOUR);
		assert_int_equal(rf_get_be32(o->bytes + 30), g.conn[r].dst_ip);
	}
	for (r = 0; r < 4; r++) {
		bench_ack(&g.conn[r], &p[r], 1);
		extra_packet(&b, g.conn[r].peer_port, &p[r], RF_CNT_ACK_FORWARDED);
	}
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 1);
	bench_close(&b);
}

/* One rank alone; eight ranks of one address, two at each port. */
static void few_and_many(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	uint8_t operand[64];
	unsigned int r;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.mirror = 1;
	g.members[0] = 4;
	extra_start(&b, &g, 1);
	assert_int_equal(g.ranks, 1);
	fill(operand, sizeof(operand), ONE);
	bench_data(&g.conn[0], &p, 0, OP_SEND_ONLY, operand, sizeof(operand));
	extra_packet(&b, 2, &p, RF_CNT_ACCEPTED);
	extra_returned(&b, 2, &p, operand, sizeof(operand), 0x80);
	bench_close(&b);

	bench_group_init(&g, 0, 4, 2);
	g.mirror = 255;
	g.one_address = true;
	extra_start(&b, &g, 2);
	assert_int_equal(g.conn[7].src_ip, g.conn[0].src_ip);
	for (r = 0; r < 3; r++)
		extra_round(&b, &g, r, true);
	for (r = 0; r < b.outs; r++) {
		if (b.out[r].len > 62)
			assert_int_equal(common_element(&b.out[r], 0), 0x41000000);
	}
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 3);
	bench_close(&b);
}

#define PAUSED_PACKETS 10u

static unsigned int pause_us = 100000;

/*
 * A port whose results wait for 100 ms: its data and ACKs are judged all the same, and the results
 * of the others leave. With the Verilog that takes minutes, and is part of `make soak`; otherwise
 * it is there a little more than the millisecond after which a port counts as down.
 */
static void paused_results(void **unused)
{
	uint64_t pause;
	struct bench b;
	struct bench_group g;
	struct packet p;
	unsigned int r, k;

	(void)unused;
	bench_group_init(&g, 0, 4, 1);
	g.mirror = 15;
	extra_start(&b, &g, 2); /* the narrow box, which is faster */
	pause = (uint64_t)pause_us * b.cfg.clock_khz / 1000;
	extra_round(&b, &g, 0, false);
	b.stall[1] = b.ops->cycle(b.e) + pause;
	for (k = 1; k <= PAUSED_PACKETS; k++) {
		for (r = 0; r < 4; r++) {
			bench_data(&g.conn[r], &p, k, OP_SEND_ONLY, NULL, 64);
			bench_send(&b, r, &p);
		}
		bench_run(&b, pause / (PAUSED_PACKETS + 1));
		bench_ack(&g.conn[1], &p, k);
		bench_send(&b, 1, &p);
		bench_run(&b, 1000);
		assert_true(b.ops->cycle(b.e) < b.stall[1]);
		assert_int_equal(bench_conn_read(&b, g.conn[1].cid, RF_CONN_UNA), k);
		assert_int_equal(bench_conn_read(&b, g.conn[1].cid, RF_CONN_NEXT), k + 1);
		assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_FIRST), k + 1);
	}
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_FRAMES), 1);
	b.stall[1] = 0;
	assert_true(bench_settle(&b));
	bench_close(&b);
}

/* model_mirror [ENGINE [MS]]: with a number only the port whose results wait, for so long. */
int main(int argc, char **argv)
{
	const struct CMUnitTest soak[] = {cmocka_unit_test(paused_results)};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(row_7_arp),      cmocka_unit_test(row_14a_wrong_port),
		cmocka_unit_test(row_15_18_punt), cmocka_unit_test(row_21m_unknown),
		cmocka_unit_test(row_27_opcode),  cmocka_unit_test(row_24_39_source_mac),
		cmocka_unit_test(leaves_result),  cmocka_unit_test(leaves_ack),
		cmocka_unit_test(leaves_cnp),     cmocka_unit_test(leaves_made),
		cmocka_unit_test(mixed_group),    cmocka_unit_test(few_and_many),
		cmocka_unit_test(paused_results),
	};

	common_start(argc, argv);
	if (!common_is_model())
		pause_us = 1080;
	if (argc > 2) {
		pause_us = 1000 * (unsigned int)strtoul(argv[2], NULL, 10);
		return cmocka_run_group_tests(soak, NULL, NULL);
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
