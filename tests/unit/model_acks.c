/*
 * ACKs on a group's connections: one test for each of the lines 37 to 44 of docs/box.md, by the
 * name of its counter.
 */
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

static uint32_t conn_reg(struct bench *b, const struct bench_conn *c, uint32_t reg)
{
	return bench_conn_read(b, c->cid, reg);
}

static void line_37_ack_state(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	assert_true(bench_entry(&b, 1, c->src_ip, c->ack_qpn, c->cid, RF_STATE_TOMBSTONE));
	common_ack(&b, c, 1, RF_CNT_TOMBSTONE);
	assert_true(bench_entry(&b, 1, c->src_ip, c->ack_qpn, c->cid, RF_STATE_JOINING));
	common_ack(&b, c, 1, RF_CNT_JOINING);
	assert_int_equal(b.outs, 0);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 0);
	bench_close(&b);
}

static void line_38_39_40_ack(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	bench_ack(c, &p, 1);
	p.icrc_xor = 1;
	common_packet(&b, c->peer_port, &p, RF_CNT_ICRC);
	p.icrc_xor = 0;
	common_packet(&b, c->port, &p, RF_CNT_WRONG_SOURCE);
	p.src_ip++;
	common_packet(&b, c->peer_port, &p, RF_CNT_WRONG_SOURCE);
	p.src_ip--;
	assert_int_equal(conn_reg(&b, c, RF_CONN_SEEN), RF_CONN_SEEN_DATA_MASK);
	p.payload_len = 4;
	common_packet(&b, c->peer_port, &p, RF_CNT_ACK_MALFORMED);
	assert_int_equal(conn_reg(&b, c, RF_CONN_SEEN),
			 RF_CONN_SEEN_DATA_MASK | RF_CONN_SEEN_ACK_MASK);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 0);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_41_ack_full(void **unused)
{
	struct rf_model_bounds bounds = {.ack_depth = 2};
	uint8_t frame[PACKET_MAX];
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;
	size_t len;
	unsigned int k;

	(void)unused;
	if (!common_is_model())
		skip();
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	rf_model_set_bounds(b.e, &bounds);
	bench_ack(c, &p, 1);
	len = packet_build(&p, frame);
	b.stall[c->peer_port] = b.ops->cycle(b.e) + 1000;
	for (k = 0; k < 5; k++)
		bench_feed(&b, c->peer_port, frame, len, false);
	assert_true(bench_settle(&b));
	assert_int_equal(bench_counter(&b, c->peer_port, RF_CNT_ACK_FULL), 3);
	assert_int_equal(bench_counter(&b, c->peer_port, RF_CNT_TX_ACK), 2);
	bench_close(&b);
}

static void line_42_ack_beyond(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];

	(void)unused;
	common_group(&b, &g);
	common_ack(&b, c, 1, RF_CNT_ACK_BEYOND);
	common_data(&b, c, 0, 1, RF_CNT_ACCEPTED); /* stored is not sent */
	common_ack(&b, c, 1, RF_CNT_ACK_BEYOND);
	common_ack(&b, c, 0x700000, RF_CNT_ACK_BEYOND);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 0);
	assert_int_equal(conn_reg(&b, c, RF_CONN_MSN), 0);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

/* A NAK that ends the connection names an index in [una, sent). A NAK of an earlier use of the QPN,
 * or of a host that guesses the PSN, does not. */
static void line_42_fatal_nak(void **unused)
{
	static const uint32_t at[] = {0, 4, 0xffffff, 0x900000, 0x400000};
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;
	unsigned int k, s;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, false);
	common_round(&b, &g, 2, false);
	bench_clear(&b);
	for (k = 0; k < sizeof(at) / sizeof(at[0]); k++) {
		for (s = 0x61; s < 0x64; s++) {
			bench_ack(c, &p, at[k] + 1);
			p.syndrome = (uint8_t)s;
			common_packet(&b, c->peer_port, &p, RF_CNT_ACK_BEYOND);
		}
	}
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 1);
	assert_int_equal(b.outs, 0);
	/* An RNR NAK for an acknowledged index is an old one, and passes. */
	bench_ack(c, &p, 1);
	p.syndrome = 0x21;
	common_packet(&b, c->peer_port, &p, RF_CNT_ACK_FORWARDED);
	bench_ack(c, &p, 2);
	p.syndrome = 0x61;
	common_packet(&b, c->peer_port, &p, RF_CNT_ACK_FORWARDED);
	common_error(&b, c, RF_ERROR_NAK, 1);
	bench_close(&b);
}

/* A CNP is checked like an ACK, and passes unchanged. */
static void line_39a_cnp(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	uint8_t frame[PACKET_MAX], zeros[16] = {0};
	struct packet p;
	uint64_t mac;
	size_t len;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	bench_ack(c, &p, 1);
	p.opcode = OP_CNP;
	p.psn = 0;
	p.payload = zeros;
	p.payload_len = sizeof(zeros);
	p.bth4 = 0x40;
	common_packet(&b, c->port, &p, RF_CNT_WRONG_SOURCE);
	p.src_ip++;
	common_packet(&b, c->peer_port, &p, RF_CNT_WRONG_SOURCE);
	p.src_ip--;
	p.icrc_xor = 1;
	common_packet(&b, c->peer_port, &p, RF_CNT_ICRC);
	p.icrc_xor = 0;
	assert_int_equal(b.outs, 0);
	common_packet(&b, c->peer_port, &p, RF_CNT_FOREIGN);
	mac = p.src_mac;
	p.src_mac = BENCH_MAC + c->peer_port;
	len = packet_build(&p, frame);
	p.src_mac = mac;
	assert_int_equal(common_only(&b, c->peer_port)->len, len);
	assert_memory_equal(common_only(&b, c->peer_port)->bytes, frame, len);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 0);
	assert_int_equal(conn_reg(&b, c, RF_CONN_SEEN), RF_CONN_SEEN_DATA_MASK);
	/* To the QPN of a receiver, to which no ACK of the group goes: foreign. */
	p.dst_ip = c->dst_ip;
	p.qpn = c->data_qpn;
	p.src_ip++;
	common_packet(&b, 0, &p, RF_CNT_FOREIGN);
	bench_clear(&b);
	assert_true(bench_entry(&b, 1, c->src_ip, c->ack_qpn, c->cid, RF_STATE_TOMBSTONE));
	bench_ack(c, &p, 1);
	p.opcode = OP_CNP;
	common_packet(&b, c->peer_port, &p, RF_CNT_TOMBSTONE);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_43_ack_malformed(void **unused)
{
	static const uint8_t syndromes[] = {0x40, 0x5f, 0x64, 0x7f, 0x80, 0xa0, 0xe0, 0xff};
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	struct packet p;
	unsigned int k;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	bench_ack(c, &p, 9); /* also beyond sent: the syndrome is checked first */
	for (k = 0; k < sizeof(syndromes); k++) {
		p.syndrome = syndromes[k];
		common_packet(&b, c->peer_port, &p, RF_CNT_ACK_MALFORMED);
	}
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

static void line_44_forwarded(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[1];
	uint8_t frame[PACKET_MAX], want[PACKET_MAX];
	const struct bench_out *o;
	struct packet p;
	size_t len;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	common_round(&b, &g, 1, false);
	bench_clear(&b);
	bench_ack(c, &p, 1);
	p.udp_checksum = 0x5555;
	p.tos = 3;
	p.syndrome = 0x0a;
	p.msn = 0xabcdef;
	len = packet_build(&p, frame);
	common_frame(&b, c->peer_port, frame, len, false, RF_CNT_ACK_FORWARDED);
	o = common_only(&b, c->peer_port);
	p.src_mac = BENCH_MAC + c->peer_port;
	p.psn = c->start;
	p.udp_checksum = 0;
	packet_build(&p, want);
	assert_int_equal(o->len, len);
	assert_memory_equal(o->bytes, want, len);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 1);
	assert_int_equal(conn_reg(&b, c, RF_CONN_MSN), 0xabcdef);
	assert_int_equal(bench_counter(&b, c->peer_port, RF_CNT_TX_ACK), 1);
	/* NAK and RNR NAK acknowledge everything below their PSN; una never decreases. */
	bench_ack(c, &p, 3);
	p.syndrome = 0x60;
	common_packet(&b, c->peer_port, &p, RF_CNT_ACK_FORWARDED);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 2);
	bench_ack(c, &p, 1);
	p.syndrome = 0x21;
	common_packet(&b, c->peer_port, &p, RF_CNT_ACK_FORWARDED);
	assert_int_equal(conn_reg(&b, c, RF_CONN_UNA), 2);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	bench_close(&b);
}

static void line_44_nak(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[2];
	struct packet p;
	unsigned int syndrome;

	(void)unused;
	for (syndrome = 0x61; syndrome < 0x64; syndrome++) {
		common_group(&b, &g);
		common_round(&b, &g, 0, true);
		common_round(&b, &g, 1, false);
		bench_ack(c, &p, 2);
		p.syndrome = (uint8_t)syndrome;
		common_packet(&b, c->peer_port, &p, RF_CNT_ACK_FORWARDED);
		common_error(&b, c, RF_ERROR_NAK, 1);
		common_data(&b, c, 2, 1, RF_CNT_GROUP_FAILED);
		bench_close(&b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(line_37_ack_state),     cmocka_unit_test(line_38_39_40_ack),
		cmocka_unit_test(line_41_ack_full),      cmocka_unit_test(line_42_ack_beyond),
		cmocka_unit_test(line_43_ack_malformed), cmocka_unit_test(line_44_forwarded),
		cmocka_unit_test(line_44_nak),           cmocka_unit_test(line_42_fatal_nak),
		cmocka_unit_test(line_39a_cnp),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
