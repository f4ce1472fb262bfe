/*
 * Interactions of packets: repeats and what becomes of them, ACKs on behalf late in a connection's
 * life, disagreement, open loop, windows, PSNs that wrap.
 */
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_common.h"

#define ONE 0x3f800000u
#define FOUR 0x40800000u

static uint32_t conn_reg(struct bench *b, const struct bench_conn *c, uint32_t reg)
{
	return bench_conn_read(b, c->cid, reg);
}

/* Feeds a packet without waiting. */
static void feed_data(struct bench *b, const struct bench_conn *c, uint32_t index, uint32_t value)
{
	struct packet p;
	uint8_t payload[64];
	unsigned int k;

	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, value);
	bench_data(c, &p, index, OP_SEND_ONLY, payload, sizeof(payload));
	bench_send(b, c->port, &p);
}

static void feed_ack(struct bench *b, const struct bench_conn *c, uint32_t una)
{
	struct packet p;

	bench_ack(c, &p, una);
	bench_send(b, c->peer_port, &p);
}

/* A repeat that is queued when its ACK arrives is dropped: its slot may hold another index by then.
 */
static void stale_repeat(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[0];
	uint64_t until;
	unsigned int k, repeats;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	/* The port sends nothing: repeats fill its results, the rest wait in the queue. */
	until = b.ops->cycle(b.e) + 3000;
	b.stall[0] = until;
	for (k = 0; k < 40; k++)
		feed_data(&b, c, 0, ONE);
	bench_run(&b, 500);
	feed_ack(&b, c, 1);
	assert_true(bench_settle(&b));
	assert_int_equal(bench_counter(&b, 0, RF_CNT_REPEAT), 40);
	repeats = bench_counter(&b, 0, RF_CNT_TX_REPEAT);
	assert_true(repeats < 40);
	assert_int_equal(repeats + bench_counter(&b, 0, RF_CNT_REPEAT_STALE), 40);
	bench_close(&b);
}

/* More than 32 of them are in the queue when a first sending is complete. */
#define REPEATS 76u

/* The repeats of a connection go before the group's first sendings, except for one packet in 32.
 * That one waits until after the repeats if it belongs to the same connection.
 */
static void first_joins_queue(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct bench_conn *c = &g.conn[0];
	unsigned int k, r, repeats = 0, firsts = 0, others = 0;
	uint32_t psn;
	size_t n;

	(void)unused;
	common_group(&b, &g);
	for (k = 0; k < 4; k++)
		common_round(&b, &g, k, false);
	bench_clear(&b);
	b.stall[0] = b.ops->cycle(b.e) + 3000;
	for (k = 0; k < REPEATS; k++) {
		feed_data(&b, c, 3, ONE);
		if (k == REPEATS / 2) /* what port 0 has room for has left the queue */
			bench_run(&b, 900);
	}
	bench_run(&b, 500);
	for (k = 4; k < 8; k++) {
		for (r = 0; r < 4; r++)
			feed_data(&b, &g.conn[r], k, ONE);
	}
	bench_run(&b, 500);
	assert_int_equal(conn_reg(&b, c, RF_CONN_SENT), 4);
	assert_int_equal(conn_reg(&b, &g.conn[1], RF_CONN_SENT), 4);
	assert_true(bench_settle(&b));
	assert_int_equal(conn_reg(&b, c, RF_CONN_SENT), 8);
	for (n = 0; n < b.outs; n++) {
		if (b.out[n].port != 0) {
			others += b.out[n].port == 1 && repeats < REPEATS;
			continue;
		}
		psn = (common_psn(&b.out[n]) - c->start + c->shift) & 0xffffff;
		assert_int_equal(common_element(&b.out[n], 0), FOUR);
		if (psn == 3) {
			assert_int_equal(firsts, 0);
			repeats++;
			continue;
		}
		assert_int_equal(psn, 4 + firsts);
		firsts++;
	}
	assert_int_equal(firsts, 4);
	assert_true(others >= 1);
	assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_FIRST), 8);
	assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_REPEAT), REPEATS);
	bench_close(&b);
}

/* Two ranks differ: nothing leaves, and the error names the first rank that differs from the first
 * member. */
static void disagree(void **unused)
{
	static const struct packet wrong[] = {
		{.opcode = OP_SEND_LAST, .payload_len = 64},
		{.opcode = OP_SEND_ONLY, .payload_len = 68},
		{.opcode = OP_SEND_ONLY, .payload_len = 64, .pad = 2},
		{.opcode = OP_WRITE_ONLY, .payload_len = 64},
	};
	struct bench b;
	struct bench_group g;
	struct packet p;
	unsigned int k, r;

	(void)unused;
	for (k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
		common_open(&b, 4, 1);
		bench_group_init(&g, 0, 4, 1);
		g.dtype = RF_DTYPE_BF16;
		assert_true(bench_group_start(&b, &g));
		common_round(&b, &g, 0, true);
		bench_clear(&b);
		for (r = 0; r < 4; r++) {
			const struct packet *w = &wrong[k];
			bool odd = r == 2 || r == 3;

			bench_data(&g.conn[r], &p, 1, odd ? w->opcode : OP_SEND_ONLY, NULL,
				   odd ? w->payload_len : 64);
			p.pad = odd ? w->pad : 0;
			common_packet(&b, r, &p, RF_CNT_ACCEPTED);
		}
		common_error(&b, &g.conn[2], RF_ERROR_DISAGREE, 1);
		assert_int_equal(b.outs, 0);
		common_data(&b, &g.conn[0], 2, ONE, RF_CNT_GROUP_FAILED);
		bench_close(&b);
	}
}

/* Headers may differ between ranks (a tag, TOS, RETH, immediate); each rank gets its own header
 * back. */
static void own_headers(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p[4];
	uint8_t want[PACKET_MAX], payload[128];
	const struct bench_out *o;
	unsigned int r, k;

	(void)unused;
	common_group(&b, &g);
	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, ONE);
	for (r = 0; r < 4; r++) {
		bench_data(&g.conn[r], &p[r], 0, OP_WRITE_ONLY_IMM, payload, sizeof(payload));
		p[r].tagged = r & 1;
		p[r].tos = (uint8_t)(r * 3);
		p[r].ttl = (uint8_t)(9 + r);
		p[r].udp_checksum = 0x7777;
		p[r].bth_flags = (uint8_t)(r << 6);
		p[r].bth4 = (uint8_t)(r << 6);
		p[r].bth8 = (uint8_t)(r & 1 ? 0x80 : 0x05);
		common_packet(&b, r, &p[r], RF_CNT_ACCEPTED);
	}
	assert_int_equal(b.outs, 4);
	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, FOUR);
	for (k = 0; k < 4; k++) {
		o = &b.out[k];
		r = o->port;
		p[r].src_mac = BENCH_MAC + r;
		p[r].psn = (p[r].psn - g.shift) & 0xffffff;
		p[r].udp_checksum = 0;
		p[r].bth8 |= 0x80; /* index 0 is a multiple of S/8 */
		assert_int_equal(o->len, packet_build(&p[r], want));
		assert_memory_equal(o->bytes, want, o->len);
	}
	bench_close(&b);
}

/* AckReq is set on every index that is a multiple of S/8, and unchanged on the others. */
static void ack_request(void **unused)
{
	struct bench b;
	struct bench_group g;
	unsigned int i, r;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.s_log2 = 5;
	assert_true(bench_group_start(&b, &g));
	for (i = 0; i < 9; i++) {
		bench_clear(&b);
		common_round(&b, &g, i, true);
		for (r = 0; r < 4; r++)
			assert_int_equal(b.out[r].bytes[50], i % 4 ? 0 : 0x80);
	}
	bench_close(&b);
}

static void open_loop(void **unused)
{
	struct bench b;
	struct bench_group g;
	unsigned int i;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.open_loop = true;
	assert_true(bench_group_start(&b, &g));
	for (i = 0; i < 40; i++) /* no ACK, but more than S packets */
		common_round(&b, &g, i, false);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_UNA), 40);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), 40);
	bench_clear(&b);
	common_data(&b, &g.conn[0], 39, ONE, RF_CNT_PENDING);
	common_data(&b, &g.conn[0], 5, ONE, RF_CNT_PENDING);
	for (i = 40; i < 56; i++)
		common_data(&b, &g.conn[0], i, ONE, RF_CNT_ACCEPTED);
	common_data(&b, &g.conn[0], 56, ONE, RF_CNT_NO_ROOM);
	assert_int_equal(b.outs, 0);
	bench_close(&b);
}

/* Sends and acknowledges indexes, eight at a time. */
static void run_to(struct bench *b, struct bench_group *g, uint32_t from, uint32_t to)
{
	uint32_t i;
	unsigned int r;

	for (i = from; i != to; i = (i + 1) & 0xffffff) {
		for (r = 0; r < g->ranks; r++)
			feed_data(b, &g->conn[r], i, ONE);
		bench_settle(b);
		if ((i & 7) != 7 && ((i + 1) & 0xffffff) != to)
			continue;
		for (r = 0; r < g->ranks; r++)
			feed_ack(b, &g->conn[r], (i + 1) & 0xffffff);
		bench_settle(b);
		bench_clear(b);
	}
}

/* PSNs wrap while indexes do not. */
static void psn_wrap(void **unused)
{
	struct bench b;
	struct bench_group g;
	unsigned int i, r;

	(void)unused;
	common_open(&b, 4, 1);
	bench_group_init(&g, 0, 4, 1);
	g.start = 0xfffff0 - 1000; /* rank 1 wraps after 16, others elsewhere */
	assert_true(bench_group_start(&b, &g));
	for (i = 0; i < 40; i++) {
		bench_clear(&b);
		common_round(&b, &g, i, true);
		for (r = 0; r < 4; r++)
			assert_int_equal(common_psn(&b.out[r]),
					 (g.conn[b.out[r].port].start + i - g.shift) & 0xffffff);
	}
	common_data(&b, &g.conn[1], 20, ONE, RF_CNT_BEHALF);
	bench_close(&b);
}

/*
 * The whole circle of indexes, two ranks. Below 2^22, packets before the start are not
 * acknowledged; beyond it, their index is valid. 2^23 and 2^24 are not borders.
 */
static void far_indexes(void **unused)
{
	static const uint32_t stops[] = {0x3ffffe, 0x400000, 0x7ffffc,
					 0x800004, 0xfffffc, 0x000004};
	struct bench b;
	struct bench_group g;
	uint32_t at;
	unsigned int k;

	(void)unused;
	if (!common_is_model())
		skip(); /* 16 million indexes would have to be sent */
	common_open(&b, 2, 1);
	bench_group_init(&g, 0, 2, 1);
	g.s_log2 = 9;
	assert_true(bench_group_start(&b, &g));
	for (k = 0; k < sizeof(stops) / sizeof(stops[0]); k++) {
		/* A jump to just before the border, then one index at a time across it. */
		rf_model_move(b.e, 0, stops[k] - 700);
		run_to(&b, &g, (stops[k] - 700) & 0xffffff, stops[k]);
		at = stops[k];
		assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_UNA), at);
		assert_int_equal(bench_group_read(&b, 0, RF_GROUP_TAIL), at);
		common_data(&b, &g.conn[0], at - 1, ONE, RF_CNT_BEHALF);
		common_data(&b, &g.conn[0], at - 0x300000, ONE, RF_CNT_BEHALF);
		if (k == 0) /* before the start */
			common_data(&b, &g.conn[0], 0xfffff0, ONE, RF_CNT_BEFORE_START);
		common_data(&b, &g.conn[0], at + 1, ONE, RF_CNT_GAP_NAK);
		if (k > 0)
			common_data(&b, &g.conn[0], at - 0x7fffff, ONE, RF_CNT_BEHALF);
		common_ack(&b, &g.conn[0], at + 1, RF_CNT_ACK_BEYOND);
	}
	assert_false(b.stuck);
	bench_close(&b);
}

/* The ACK of the last packet is lost: the sender repeats for ever, and is answered every time. */
static void lost_last_ack(void **unused)
{
	struct bench b;
	struct bench_group g;
	unsigned int k;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	bench_clear(&b);
	for (k = 0; k < 100; k++)
		common_data(&b, &g.conn[2], 0, ONE, RF_CNT_BEHALF);
	assert_int_equal(b.outs, 100);
	bench_close(&b);
}

/* An error cancels what was requested: queued repeats of the group are dropped. */
static void error_drops_repeats(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;
	unsigned int k;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, false);
	bench_clear(&b);
	b.stall[0] = b.ops->cycle(b.e) + 3000;
	for (k = 0; k < 40; k++)
		feed_data(&b, &g.conn[0], 0, ONE);
	bench_run(&b, 500);
	bench_data(&g.conn[1], &p, 1, OP_READ_REQUEST, NULL, 0);
	bench_send(&b, 1, &p);
	assert_true(bench_settle(&b));
	assert_int_equal(bench_counter(&b, 0, RF_CNT_REPEAT), 40);
	assert_true(b.outs < 40);
	bench_close(&b);
}

/* A group that is set live again begins at index 0, and its old error is gone. */
static void second_life(void **unused)
{
	struct bench b;
	struct bench_group g;
	struct packet p;

	(void)unused;
	common_group(&b, &g);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, false);
	bench_data(&g.conn[1], &p, 2, OP_READ_REQUEST, NULL, 0);
	common_packet(&b, 1, &p, RF_CNT_OPCODE);
	assert_true(bench_group_start(&b, &g));
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(bench_group_read(&b, 0, RF_GROUP_HEAD), 0);
	assert_int_equal(conn_reg(&b, &g.conn[0], RF_CONN_NEXT), 0);
	bench_clear(&b);
	common_round(&b, &g, 0, true);
	common_round(&b, &g, 1, true);
	bench_close(&b);
}

static void inject(void **unused)
{
	uint8_t frame[PACKET_MAX];
	struct bench b;
	const struct bench_out *o;
	unsigned int k, port;

	(void)unused;
	common_open(&b, 4, 1);
	for (port = 0; port < 4; port++) {
		size_t len = 60 + 321 * port; /* 60 .. 1023 */

		bench_clear(&b);
		for (k = 0; k < 1024; k += 4) {
			rf_put_le32(frame + k, 0x01020304 * (k + port + 1));
			bench_write(&b, RF_INJECT_DATA + k, rf_get_le32(frame + k));
		}
		bench_write(&b, RF_INJECT, (uint32_t)len | port << RF_INJECT_PORT_LSB);
		assert_true(bench_settle(&b));
		assert_int_equal(bench_read(&b, RF_INJECT_STATUS), 0);
		o = common_only(&b, port);
		rf_put_be16(frame + 6, (uint16_t)(BENCH_MAC >> 32));
		rf_put_be32(frame + 8, (uint32_t)BENCH_MAC + port);
		assert_int_equal(o->len, len);
		assert_memory_equal(o->bytes, frame, len);
		assert_int_equal(bench_counter(&b, port, RF_CNT_TX_INJECT), 1);
	}
	bench_close(&b);
}

/* Has the firmware send a frame that names a port by its bytes. */
static void inject_long(struct bench *b, unsigned int port, unsigned int len)
{
	for (unsigned int k = 0; k < len; k += 4)
		bench_write(b, RF_INJECT_DATA + k, 0x01010101 * port);
	bench_write(b, RF_INJECT, len | port << RF_INJECT_PORT_LSB);
	bench_run(b, 300);
}

static void inject_short(struct bench *b, unsigned int port)
{
	inject_long(b, port, 60);
}

/* One port takes nothing: what the firmware sends by the others leaves, and its own frame stays. */
static void inject_beside_a_paused_port(void **unused)
{
	static const unsigned int ports[] = {0, 2, 3, 0, 2, 3};
	struct bench b;
	unsigned int n, held = 0;

	(void)unused;
	common_open(&b, 4, 1);
	b.stall[1] = UINT64_MAX;
	/* The beginning of a frame is in the port's output, so the buffer is free again. */
	do {
		inject_short(&b, 1);
		held++;
	} while (bench_read(&b, RF_INJECT_STATUS) == 0 && held < 256);
	assert_int_equal(bench_read(&b, RF_INJECT_STATUS), 1u << 1);
	for (n = 0; n < sizeof(ports) / sizeof(ports[0]); n++) {
		bench_clear(&b);
		inject_short(&b, ports[n]);
		assert_int_equal(bench_read(&b, RF_INJECT_STATUS), 1u << 1);
		assert_int_equal(common_only(&b, ports[n])->bytes[30], ports[n]);
	}
	b.stall[1] = 0;
	bench_clear(&b);
	assert_true(bench_settle(&b));
	assert_int_equal(b.outs, held);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_INJECT), held);
	assert_int_equal(bench_read(&b, RF_INJECT_STATUS), 0);
	bench_close(&b);
}

/*
 * One port sends nothing for a millisecond: from then on its frames are discarded, and the others
 * continue. The beat that was offered stays. It leaves in the end if it is a whole frame.
 * The software box hands over whole frames, so it discards that one too.
 */
static void down(unsigned int ports, unsigned int first)
{
	struct bench b;
	bool single = first == 60 && !common_is_soft();
	unsigned int n;

	common_open(&b, ports, 1);
	b.stall[1] = UINT64_MAX;
	inject_long(&b, 1, first);
	bench_run(&b, b.cfg.clock_khz - 2000);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_DOWN), 0);
	bench_run(&b, 2000);
	for (n = 0; n < 3; n++)
		inject_short(&b, 1);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_DOWN), single ? 3 : 4);
	assert_int_equal(bench_read(&b, RF_INJECT_STATUS), 0);
	bench_clear(&b);
	inject_short(&b, 0);
	assert_int_equal(common_only(&b, 0)->bytes[30], 0);

	b.stall[1] = 0;
	bench_clear(&b);
	assert_true(bench_settle(&b));
	assert_int_equal(b.outs, single ? 1 : 0);
	bench_clear(&b);
	inject_short(&b, 1);
	assert_int_equal(common_only(&b, 1)->len, 60);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_INJECT), 5);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_DOWN), single ? 3 : 4);
	assert_int_equal(bench_counter(&b, 1, RF_CNT_TX_FRAMES), single ? 2 : 1);
	assert_int_equal(bench_counter(&b, 0, RF_CNT_TX_DOWN), 0);
	bench_close(&b);
}

static void link_down(void **unused)
{
	(void)unused;
	down(4, 60);
	down(2, 600);
}

static void registers(void **unused)
{
	struct bench b;
	uint64_t before;

	(void)unused;
	common_open(&b, 4, 1);
	assert_int_equal(bench_read(&b, RF_ID), 0x52464258);
	assert_int_equal(bench_read(&b, RF_VERSION), 1);
	/* Bit 30: the model alone has uplinks. */
	assert_int_equal(bench_read(&b, RF_SHAPE),
			 4 | 1 << 8 | 8 << 16 | 8 << 20 | (common_is_model() ? 62u : 30u) << 25);
	assert_int_equal(bench_read(&b, RF_SHAPE2), 8 | 13 << 8 | 9 << 16 | 12 << 24);
	assert_int_equal(bench_read(&b, RF_CLOCK_KHZ), 250000);
	assert_int_equal(bench_read(&b, RF_IP), BENCH_IP);
	assert_int_equal(bench_read(&b, RF_MAC_HI), (uint32_t)(BENCH_MAC >> 32));
	assert_int_equal(bench_read(&b, RF_MAC_LO), (uint32_t)BENCH_MAC);
	assert_int_equal(bench_read(&b, 0x01fffc), 0);
	assert_int_equal(bench_read(&b, 0x1ffffc), 0);
	/* Time continues after a jump. */
	assert_true(bench_settle(&b));
	before = b.ops->cycle(b.e);
	b.ops->jump(b.e, before + ((uint64_t)3 << 32));
	assert_true(bench_read(&b, RF_CYCLE_LO) >= (uint32_t)before);
	assert_int_equal(bench_read(&b, RF_CYCLE_HI), 3);
	bench_close(&b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stale_repeat),
		cmocka_unit_test(first_joins_queue),
		cmocka_unit_test(disagree),
		cmocka_unit_test(own_headers),
		cmocka_unit_test(ack_request),
		cmocka_unit_test(open_loop),
		cmocka_unit_test(psn_wrap),
		cmocka_unit_test(far_indexes),
		cmocka_unit_test(lost_last_ack),
		cmocka_unit_test(error_drops_repeats),
		cmocka_unit_test(second_life),
		cmocka_unit_test(inject),
		cmocka_unit_test(inject_beside_a_paused_port),
		cmocka_unit_test(link_down),
		cmocka_unit_test(registers),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
