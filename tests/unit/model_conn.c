/*
 * Data on a group's connections: one test for each of the lines 22 to 36 of docs/box.md, by the
 * name of its counter.
 */
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

static uint32_t conn_reg(struct bench *b, const struct bench_conn *c, uint32_t reg)
{
	return bench_conn_read(b, c->cid, reg);
}

static void line_22_state(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];

	(void)unused;
	common_group(&b, &g);
	assert_true(bench_entry(&b, 0, c->dst_ip, c->data_qpn, c->cid, RF_STATE_TOMBSTONE));
	common_data(&b, c, 0, 1, RF_CNT_TOMBSTONE);
	assert_true(bench_entry(&b, 0, c->dst_ip, c->data_qpn, c->cid, RF_STATE_JOINING));
	common_data(&b, c, 0, 1, RF_CNT_JOINING);
	assert_int_equal(b.outs, 0);
	/* An entry that was removed has no effect: the packet is foreign. */
	assert_true(bench_entry(&b, 0, c->dst_ip, c->data_qpn, c->cid, RF_STATE_EMPTY));
	common_data(&b, c, 0, 1, RF_CNT_FOREIGN);
	assert_int_equal(b.outs, 1);
	assert_int_equal(conn_reg(&b, c, RF_CONN_SEEN), 0);
	bench_close(&b);
}

static void line_23_icrc(void **unused)
{
	uint8_t frame[PACKET_MAX], payload[64] = {1};
	struct bench b;
	struct bench_group g;
	struct packet p;
	size_t len, k;

	(void)unused;
	common_group(&b, &g);
	bench_data(&g.conn[0], &p, 0, OP_SEND_ONLY, payload, sizeof(payload));
	p.icrc_xor = 0x80000000;
	common_packet(&b, 0, &p, RF_CNT_ICRC);
	p.icrc_xor = 0;
	/* One flipped bit anywhere in the covered part, and the packet is not accepted. */
	for (k = 54; k < 54 + 64; k++) {
		len = packet_build(&p, frame);
		frame[k] ^= (uint8_t)(1u << (k & 7));
		common_frame(&b, 0, frame, len, false, RF_CNT_ICRC);
	}
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_SEEN), 0);
	/* TOS, TTL, both checksums and the BTH's byte 4 are not covered. */
	len = packet_build(&p, frame);
	frame[15] ^= 0xff;
	frame[22] ^= 0xff;
	packet_checksum(frame);
	frame[40] ^= 0xff;
	frame[46] ^= 0xff;
	common_frame(&b, 0, frame, len, false, RF_CNT_ACCEPTED);
	bench_close(&b);
}

static void line_24_wrong_source(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;

	(void)unused;
	common_group(&b, &g);
	bench_data(&g.conn[0], &p, 0, OP_SEND_ONLY, NULL, 64);
	common_packet(&b, 1, &p, RF_CNT_WRONG_SOURCE);
	p.src_ip ^= 1;
	common_packet(&b, 0, &p, RF_CNT_WRONG_SOURCE);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_SEEN), 0);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_NEXT), 0);
	bench_close(&b);
}

static void line_25_not_live(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_group(&b, &g);
	bench_write(&b, RF_GROUP_BASE + RF_GROUP_CFG,
		    bench_group_read(&b, 0, RF_GROUP_CFG) & ~RF_GROUP_CFG_LIVE_MASK);
	common_data(&b, &g.conn[0], 0, 1, RF_CNT_JOINING);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_SEEN), 0);
	bench_close(&b);
}

static void line_26_group_failed(void **unused)
{
	struct bench b;
	struct bench_group g, other;
	struct packet p;

	(void)unused;
	common_group(&b, &g);
	bench_group_init(&other, 1, 4, 1);
	other.dbase = other.hbase = 256;
	assert_true(bench_group_start(&b, &other));
	bench_data(&g.conn[2], &p, 7, OP_READ_REQUEST, NULL, 0);
	common_packet(&b, 2, &p, RF_CNT_OPCODE);
	common_error(&b, &g.conn[2], RF_ERROR_OPCODE, 7);
	common_data(&b, &g.conn[0], 0, 1, RF_CNT_GROUP_FAILED);
	/* The first error stays, and the other group is not affected. */
	bench_data(&g.conn[3], &p, 9, OP_READ_REQUEST, NULL, 0);
	common_packet(&b, 3, &p, RF_CNT_GROUP_FAILED);
	common_error(&b, &g.conn[2], RF_ERROR_OPCODE, 7);
	common_round(&b, &other, 0, true);
	/* The firmware clears it. */
	bench_write(&b, RF_GROUP_BASE + RF_GROUP_ERROR, RF_GROUP_ERROR_VALID_MASK);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(bench_read(&b, RF_IRQ), 0);
	bench_close(&b);
}

/* One packet that makes a new group fail. */
static void fails(struct packet *p, const uint8_t *payload, unsigned int dtype,
		  unsigned int counter, unsigned int cause)
{
	struct bench b;
	struct bench_group g;
	struct packet q;

	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.dtype = dtype;
	assert_true(bench_group_start(&b, &g));
	bench_data(&g.conn[1], &q, 3, p->opcode, payload, p->payload_len);
	q.pad = p->pad;
	common_packet(&b, 1, &q, counter);
	common_error(&b, &g.conn[1], cause, 3);
	assert_int_equal(conn_reg(&b, &g.conn[1], RF_CONN_SEEN), RF_CONN_SEEN_DATA_MASK);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_27_opcode(void **unused)
{
	static const uint8_t opcodes[] = {0x0c, 0x0d, 0x10, 0x12, 0x13, 0x14, 0x17, 0x64, 0xff};
	struct packet p = {.payload_len = 64};
	unsigned int k;

	(void)unused;
	for (k = 0; k < sizeof(opcodes); k++) {
		p.opcode = opcodes[k];
		fails(&p, NULL, RF_DTYPE_FP32, RF_CNT_OPCODE, RF_ERROR_OPCODE);
	}
}

static void line_28_length(void **unused)
{
	static const struct packet wrong[] = {
		{.opcode = OP_SEND_ONLY, .payload_len = 0},
		{.opcode = OP_SEND_ONLY, .payload_len = 1028},
		{.opcode = OP_SEND_ONLY, .payload_len = 4096},
		{.opcode = OP_SEND_ONLY, .payload_len = 66},
		{.opcode = OP_SEND_LAST, .payload_len = 63},
		{.opcode = OP_SEND_FIRST, .payload_len = 1020},
		{.opcode = OP_SEND_MIDDLE, .payload_len = 64},
		{.opcode = OP_SEND_MIDDLE, .payload_len = 1024, .pad = 1},
		{.opcode = OP_SEND_FIRST, .payload_len = 1024, .pad = 2},
		{.opcode = OP_WRITE_FIRST, .payload_len = 512},
		{.opcode = OP_WRITE_MIDDLE, .payload_len = 1028},
		{.opcode = OP_WRITE_ONLY, .payload_len = 0},
		{.opcode = OP_WRITE_LAST_IMM, .payload_len = 1030},
	};
	struct bench b;
	struct bench_group g;
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t k;

	(void)unused;
	for (k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		p = wrong[k];
		fails(&p, NULL, RF_DTYPE_FP32, RF_CNT_LENGTH, RF_ERROR_LENGTH);
	}
	/* No room for the headers of the opcode: a negative length. */
	common_group(&b, &g);
	bench_data(&g.conn[1], &p, 3, OP_SEND_ONLY, NULL, 4);
	k = packet_build(&p, frame);
	frame[42] = OP_WRITE_ONLY;
	packet_seal(frame);
	common_frame(&b, 1, frame, k, false, RF_CNT_LENGTH);
	common_error(&b, &g.conn[1], RF_ERROR_LENGTH, 3);
	bench_close(&b);
}

static void line_29_element(void **unused)
{
	struct packet p = {.opcode = OP_SEND_ONLY, .payload_len = 64};
	unsigned int dtype;

	(void)unused;
	for (dtype = 0; dtype < 4; dtype++) {
		for (p.pad = 1; p.pad < 4; p.pad++) {
			if ((dtype == RF_DTYPE_BF16 || dtype == RF_DTYPE_FP16) && p.pad == 2)
				continue;
			fails(&p, NULL, dtype, RF_CNT_ELEMENT, RF_ERROR_ELEMENT);
		}
	}
}

static void line_30_before_start(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_group(&b, &g);
	common_data(&b, &g.conn[0], 0xffffff, 1, RF_CNT_BEFORE_START);
	common_round(&b, &g, 0, true);
	bench_clear(&b);
	common_data(&b, &g.conn[0], 0xffffff, 1, RF_CNT_BEFORE_START);
	common_data(&b, &g.conn[0], 0x900000, 1, RF_CNT_BEFORE_START);
	assert_int_equal(b.outs, 0); /* never acknowledged */
	bench_close(&b);
}

static void line_31_behalf(void **unused)
{
	struct bench b;
	struct bench_group g;
	const struct bench_out *o;
	struct bench_conn *c = &g.conn[1];

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, true);
	bench_clear(&b);
	common_data(&b, c, 0, 1, RF_CNT_BEHALF);
	o = common_only(&b, c->port);
	assert_int_equal(o->len, 62);
	assert_int_equal(common_psn(o), (c->start + 1) & 0xffffff);
	assert_int_equal(o->bytes[42], OP_ACK);
	assert_int_equal(rf_get_be24(o->bytes + 47), c->ack_qpn);
	assert_int_equal(o->bytes[54], 0x1f);
	assert_int_equal(rf_get_be24(o->bytes + 55), 2); /* the MSN read last */
	assert_true(packet_sealed(o->bytes, o->len));
	assert_int_equal(bench_counter(&b, c->port, RF_CNT_TX_BEHALF), 1);
	bench_close(&b);
}

/* The header of an ACK on behalf, field by field, for a packet with unusual values in every field.
 */
static void line_31_behalf_header(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[2];
	struct packet p;
	const struct bench_out *o;
	const uint8_t *ip;
	uint32_t sum = 0, k;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.tagged = true;
	assert_true(bench_group_start(&b, &g));
	common_round(&b, &g, 0, true);
	bench_clear(&b);
	bench_data(c, &p, 0, OP_WRITE_ONLY_IMM, NULL, 64);
	p.tos = 0x6b;
	p.ttl = 3;
	p.ip_id = 0xbeef;
	p.ip_flags = 0xc000;
	p.udp_checksum = 0x1234;
	p.bth_flags = 0xc0;
	p.pkey = 0x8001;
	p.bth4 = 0xc5;
	p.bth8 = 0xff;
	p.tver = 5;
	common_packet(&b, c->port, &p, RF_CNT_BEHALF);
	o = common_only(&b, c->port);
	ip = o->bytes + 18;
	assert_int_equal(o->len, 66);
	assert_int_equal(rf_get_be32(o->bytes + 2), (uint32_t)c->src_mac);
	assert_int_equal(rf_get_be32(o->bytes + 8), (uint32_t)BENCH_MAC + c->port);
	assert_int_equal(rf_get_be32(o->bytes + 12), 0x81002064);
	assert_int_equal(rf_get_be32(ip), 0x45680030);
	assert_int_equal(rf_get_be32(ip + 4), 0xbeefc000);
	assert_int_equal(rf_get_be16(ip + 8), 0x4011);
	assert_int_equal(rf_get_be32(ip + 12), c->dst_ip);
	assert_int_equal(rf_get_be32(ip + 16), c->src_ip);
	for (k = 0; k < 20; k += 2)
		sum += rf_get_be16(ip + k);
	assert_int_equal((sum & 0xffff) + (sum >> 16), 0xffff);
	assert_int_equal(rf_get_be16(ip + 20), p.sport);
	assert_int_equal(rf_get_be16(ip + 22), 4791);
	assert_int_equal(rf_get_be32(ip + 24), 28u << 16);
	assert_int_equal(rf_get_be32(ip + 28), 0x11408001);
	assert_int_equal(rf_get_be32(ip + 32), c->ack_qpn);
	assert_int_equal(rf_get_be32(ip + 36), c->start);
	assert_int_equal(rf_get_be32(ip + 40), 0x1f000001);
	assert_true(packet_sealed(o->bytes, o->len));
	bench_close(&b);
}

/* That number of copies of one packet while the port is stopped: copies for which the queue has no
 * room are counted, all others are answered. */
static void overfilled(struct bench *b, struct bench_group *g, unsigned int stall,
		       unsigned int copies, unsigned int answered, unsigned int full)
{
	uint8_t frame[PACKET_MAX];
	struct packet p;
	size_t len;
	unsigned int k;

	bench_clear(b);
	bench_data(&g->conn[0], &p, 0, OP_SEND_ONLY, NULL, 64);
	len = packet_build(&p, frame);
	b->stall[0] = b->ops->cycle(b->e) + stall;
	for (k = 0; k < copies; k++)
		bench_feed(b, 0, frame, len, false);
	assert_true(bench_settle(b));
	assert_true(bench_counter(b, 0, full) > 0);
	assert_int_equal(bench_counter(b, 0, answered) + bench_counter(b, 0, full), copies);
	assert_int_equal(bench_counter(b, 0, answered), b->outs);
}

static void line_31_behalf_full(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	overfilled(&b, &g, 4000, 160, RF_CNT_BEHALF, RF_CNT_BEHALF_FULL);
	bench_close(&b);
}

static void line_32_repeat(void **unused)
{
	struct bench b;
	struct bench_group g;
	const struct bench_out *o;
	struct bench_conn *c = &g.conn[3];

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, false);
	bench_clear(&b);
	common_data(&b, c, 1, 0xdeadbeef, RF_CNT_REPEAT); /* its present contents do not matter */
	o = common_only(&b, c->port);
	assert_int_equal(common_psn(o), (c->start - c->shift + 1) & 0xffffff);
	assert_int_equal(common_element(o, 0), 0x40800000);
	assert_int_equal(o->bytes[50] & 0x80, 0x80); /* AckReq */
	assert_true(packet_sealed(o->bytes, o->len));
	assert_int_equal(bench_counter(&b, c->port, RF_CNT_TX_REPEAT), 1);
	assert_int_equal(conn_reg(&b, c, RF_CONN_SENT), 2);
	bench_close(&b);
}

static void line_32_repeat_full(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	overfilled(&b, &g, 10000, 200, RF_CNT_REPEAT, RF_CNT_REPEAT_FULL);
	bench_close(&b);
}

static void line_33_pending(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_group(&b, &g);
	common_data(&b, &g.conn[0], 0, 1, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 0, 2, RF_CNT_PENDING);
	common_data(&b, &g.conn[0], 1, 1, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 0, 2, RF_CNT_PENDING);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_34_accepted(void **unused)
{
	struct bench b;
	struct bench_group g;
	unsigned int r;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	for (r = 0; r < 4; r++) {
		assert_int_equal(b.out[r].len, 14 + 20 + 8 + 12 + 64 + 4);
		assert_int_equal(common_element(&b.out[r], 15), 0x40800000);
		assert_true(packet_sealed(b.out[r].bytes, b.out[r].len));
		assert_int_equal(conn_reg(&b, &g.conn[r], RF_CONN_NEXT), 1);
		assert_int_equal(conn_reg(&b, &g.conn[r], RF_CONN_SENT), 1);
		assert_int_equal(conn_reg(&b, &g.conn[r], RF_CONN_UNA), 0);
		assert_int_equal(bench_counter(&b, r, RF_CNT_TX_FIRST), 1);
	}
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_HEAD), 1);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ISSUED), 1);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 0);
	bench_close(&b);
}

static void line_35_no_room(void **unused)
{
	struct bench b;
	struct bench_group g;
	uint32_t i;

	(void)unused;
	common_group(&b, &g);
	for (i = 0; i < 16; i++)
		common_data(&b, &g.conn[0], i, i, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 16, 16, RF_CNT_NO_ROOM);
	/* The tail counts, not the head: that of the slowest receiver. */
	for (i = 0; i < 3 * 16; i++)
		common_data(&b, &g.conn[1 + i % 3], i / 3, i, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 16, 16, RF_CNT_NO_ROOM);
	for (i = 0; i < 3; i++)
		common_ack(&b, &g.conn[i], 16, RF_CNT_ACK_FORWARDED);
	common_data(&b, &g.conn[0], 16, 16, RF_CNT_NO_ROOM);
	common_ack(&b, &g.conn[3], 1, RF_CNT_ACK_FORWARDED);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 1);
	common_data(&b, &g.conn[0], 16, 16, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 17, 16, RF_CNT_NO_ROOM);
	bench_close(&b);
}

static void line_36_gap(void **unused)
{
	struct bench b;
	struct bench_group g;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.transparent = true;
	assert_true(bench_group_start(&b, &g));
	common_data(&b, &g.conn[0], 1, 1, RF_CNT_GAP);
	common_data(&b, &g.conn[0], 15, 1, RF_CNT_GAP);
	common_data(&b, &g.conn[0], 16, 1, RF_CNT_GAP); /* index outside the window */
	common_data(&b, &g.conn[0], 0x7fffff, 1, RF_CNT_GAP);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_SEEN), RF_CONN_SEEN_DATA_MASK);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_22_state),         cmocka_unit_test(line_23_icrc),
		cmocka_unit_test(line_24_wrong_source),  cmocka_unit_test(line_25_not_live),
		cmocka_unit_test(line_26_group_failed),  cmocka_unit_test(line_27_opcode),
		cmocka_unit_test(line_28_length),        cmocka_unit_test(line_29_element),
		cmocka_unit_test(line_30_before_start),  cmocka_unit_test(line_31_behalf),
		cmocka_unit_test(line_31_behalf_header), cmocka_unit_test(line_31_behalf_full),
		cmocka_unit_test(line_32_repeat),        cmocka_unit_test(line_32_repeat_full),
		cmocka_unit_test(line_33_pending),       cmocka_unit_test(line_34_accepted),
		cmocka_unit_test(line_35_no_room),       cmocka_unit_test(line_36_gap),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
