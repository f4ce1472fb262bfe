/*
 * A box with an uplink, line by line: docs/box.md, "Groups with an uplink". The frames of the
 * parent are made here. tests/sim/model_tree.c has whole trees.
 */
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "tests/unit/model_extra.h"

#define UP_PORT 3u
#define PARENT_IP 0x0a030001u
#define PARENT_MAC 0x020304050607u
#define UP_QPN 0x123456u
#define UP_START 0xfffff0u /* the PSN wraps */
#define WINDOW 12u
#define SPORT 0xe123u
#define ONE 0x3f800000u
#define SUM_CODE EXTRA_CODE(RF_OP_SUM, RF_DTYPE_FP32)

struct leaf {
	struct bench b;
	struct bench_group g;
	unsigned int cid;
};

/* Ranks at ports 0 to 2 in each of `lanes` lanes; the uplink at port 3, lane 0. */
static void open_leaf(struct leaf *l, unsigned int lanes, unsigned int mtu_log2)
{
	struct rf_model_uplink up = {.port = UP_PORT, .window = WINDOW, .sport = SPORT, .dscp = 10};
	uint32_t base;
	unsigned int k;

	common_open(&l->b, 4, lanes);
	bench_group_init(&l->g, 0, 4, lanes);
	for (k = 0; k < lanes; k++)
		l->g.members[k] = 7;
	l->g.mtu_log2 = mtu_log2;
	l->g.mirror = UINT64_MAX;
	l->g.directed = true;
	l->g.dtype = RF_DTYPE_FP32;
	l->cid = UP_PORT;
	base = RF_CONN_BASE + l->cid * RF_CONN_STRIDE;
	bench_write(&l->b, base + RF_CONN_START, UP_START);
	bench_write(&l->b, base + RF_CONN_SRC_IP, PARENT_IP);
	bench_write(&l->b, base + RF_CONN_QPN, UP_QPN);
	bench_write(&l->b, base + RF_CONN_PEER_MAC_HI,
		    RF_CONN_PEER_MAC_HI_MIRROR_MASK | (uint32_t)(PARENT_MAC >> 32));
	bench_write(&l->b, base + RF_CONN_PEER_MAC_LO, (uint32_t)PARENT_MAC);
	bench_write(&l->b, base + RF_CONN_INIT, 1);
	bench_write(&l->b, RF_PORT_IP0 + 4 * UP_PORT, BENCH_PORT_IP(UP_PORT));
	assert_true(bench_entry(&l->b, 2, PARENT_IP, UP_QPN, l->cid, RF_STATE_LIVE));
	rf_model_set_uplink(l->b.e, 0, &up);
	assert_true(bench_group_start(&l->b, &l->g));
}

static uint32_t count_of(struct leaf *l, enum rf_model_up_counter counter)
{
	return rf_model_up_counter(l->b.e, UP_PORT, counter);
}

static void state_is(struct leaf *l, uint32_t up, uint32_t got)
{
	struct rf_model_up_state s;

	rf_model_up_state(l->b.e, 0, &s);
	assert_int_equal(s.up, up);
	assert_int_equal(s.got, got);
}

/* One rank sends an index: n bytes of 1.0. */
static void rank_sends(struct leaf *l, unsigned int r, uint32_t index, size_t n)
{
	uint8_t payload[4096];
	struct packet p;
	size_t k;

	for (k = 0; k < n; k += 4)
		rf_put_le32(payload + k, ONE);
	extra_directed(&l->g.conn[r], &p, index, SUM_CODE | EXTRA_GIVES | EXTRA_WANTS, payload, n);
	bench_send(&l->b, l->g.conn[r].port, &p);
}

static void all_send(struct leaf *l, uint32_t index, size_t n)
{
	unsigned int r;

	for (r = 0; r < l->g.ranks; r++)
		rank_sends(l, r, index, n);
}

static void from_parent(struct packet *p, uint32_t index)
{
	memset(p, 0, sizeof(*p));
	p->dst_mac = BENCH_MAC + UP_PORT;
	p->src_mac = PARENT_MAC;
	p->ttl = 64;
	p->ip_flags = 0x4000;
	p->src_ip = PARENT_IP;
	p->dst_ip = BENCH_PORT_IP(UP_PORT);
	p->sport = SPORT;
	p->dport = 4791;
	p->pkey = 0xffff;
	p->bth_flags = 0x40;
	p->opcode = OP_SEND_ONLY_IMM;
	p->qpn = UP_QPN;
	p->psn = (UP_START + index) & 0xffffff;
	p->imm = SUM_CODE | EXTRA_GIVES | EXTRA_WANTS | (index & 15);
}

/* A result of 64 bytes of `value`; the box is not run. */
static void result(struct leaf *l, uint32_t index, uint32_t value, bool asks)
{
	uint8_t payload[64];
	struct packet p;
	unsigned int k;

	for (k = 0; k < sizeof(payload); k += 4)
		rf_put_le32(payload + k, value);
	from_parent(&p, index);
	p.bth8 = asks ? 0x80 : 0;
	p.payload = payload;
	p.payload_len = sizeof(payload);
	bench_send(&l->b, UP_PORT, &p);
}

/* The frame that left by the uplink's port, the n-th since bench_clear(); NULL if there is none. */
static const struct bench_out *went_up(const struct leaf *l, unsigned int n)
{
	size_t k;

	for (k = 0; k < l->b.outs; k++) {
		if (l->b.out[k].port == UP_PORT && n-- == 0)
			return &l->b.out[k];
	}
	return NULL;
}

static uint32_t index_of(const struct bench_out *o)
{
	return (rf_get_be24(o->bytes + 51) - UP_START) & 0xffffff;
}

static void settle(struct leaf *l)
{
	assert_true(bench_settle(&l->b));
}

static void tick(struct leaf *l)
{
	bench_write(&l->b, RF_TICK, 1);
	settle(l);
}

/* The only frame that went up is data of this index, or an ACK of it; -1: nothing went up. */
static void only_up(struct leaf *l, bool ack, int64_t index)
{
	const struct bench_out *o;

	settle(l);
	o = went_up(l, 0);
	if (index < 0) {
		assert_null(o);
	} else {
		assert_non_null(o);
		assert_int_equal(index_of(o), index);
		assert_int_equal(o->bytes[42] == OP_ACK, ack);
		assert_null(went_up(l, 1));
	}
	bench_clear(&l->b);
}

/* Opens a leaf that has sent `n` indexes up. */
static void open_sent(struct leaf *l, unsigned int n)
{
	uint32_t i;

	open_leaf(l, 1, 10);
	for (i = 0; i < n; i++)
		all_send(l, i, 64);
	settle(l);
	state_is(l, n < WINDOW ? n : WINDOW, 0);
	bench_clear(&l->b);
}

/* Every byte of a packet that goes up and of an ACK; the sum; the immediate. */
static void frames(void **unused)
{
	uint8_t want[PACKET_MAX], payload[64];
	const struct bench_out *o;
	struct packet p;
	struct leaf l;
	size_t len;
	unsigned int k;

	(void)unused;
	open_leaf(&l, 1, 10);
	all_send(&l, 0, 64);
	settle(&l);
	for (k = 0; k < 64; k += 4)
		rf_put_le32(payload + k, 0x40400000); /* 3.0 */
	from_parent(&p, 0);
	p.dst_mac = PARENT_MAC;
	p.src_mac = BENCH_MAC + UP_PORT;
	p.src_ip = BENCH_PORT_IP(UP_PORT);
	p.dst_ip = PARENT_IP;
	p.tos = 10 << 2 | 2;
	p.payload = payload;
	p.payload_len = 64;
	len = packet_build(&p, want);
	o = went_up(&l, 0);
	assert_non_null(o);
	assert_int_equal(o->len, len);
	assert_memory_equal(o->bytes, want, len);
	assert_int_equal(l.b.outs, 1); /* `up-one` */
	bench_clear(&l.b);

	result(&l, 0, ONE, true);
	settle(&l);
	p.opcode = OP_ACK;
	p.payload_len = 0;
	p.syndrome = 0x1f;
	p.msn = 1;
	len = packet_build(&p, want);
	o = went_up(&l, 0);
	assert_non_null(o);
	assert_int_equal(o->len, len);
	assert_memory_equal(o->bytes, want, len);
	/* `pass-on`: what came is what leaves. */
	assert_int_equal(l.b.outs, 4);
	for (k = 0; k < 4; k++) {
		if (l.b.out[k].port != UP_PORT)
			assert_int_equal(rf_get_le32(l.b.out[k].bytes + 58), ONE);
	}
	bench_close(&l.b);
}

/* Packets without an immediate go up without one; who gives and wants is joined. */
static void statements(void **unused)
{
	static const uint8_t data[64];
	const uint32_t code = EXTRA_CODE(RF_OP_COPY, RF_DTYPE_FP32) | 0x5abc3000;
	const struct bench_out *o;
	struct packet p;
	struct leaf l;
	unsigned int r;

	(void)unused;
	open_leaf(&l, 1, 10);
	for (r = 0; r < 3; r++) {
		bench_data(&l.g.conn[r], &p, 0, OP_SEND_ONLY, data, 64);
		bench_send(&l.b, r, &p);
	}
	settle(&l);
	o = went_up(&l, 0);
	assert_non_null(o);
	assert_int_equal(o->bytes[42], OP_SEND_ONLY);
	assert_int_equal(o->len, 58 + 64);
	bench_clear(&l.b);
	for (r = 0; r < 3; r++) { /* one wants, nobody gives */
		extra_directed(&l.g.conn[r], &p, 1, code | (r == 1 ? EXTRA_WANTS : 0), NULL, 0);
		bench_send(&l.b, r, &p);
	}
	settle(&l);
	o = went_up(&l, 0);
	assert_non_null(o);
	assert_int_equal(o->len, 62);
	assert_int_equal(rf_get_be32(o->bytes + 54), code | EXTRA_WANTS | 1);
	bench_clear(&l.b);
	for (r = 0; r < 3; r++) { /* two give to a copy */
		extra_directed(&l.g.conn[r], &p, 2, code | (r ? EXTRA_GIVES : 0), data, r ? 64 : 0);
		bench_send(&l.b, r, &p);
	}
	only_up(&l, false, -1);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_ERROR) >> 16 & 15, RF_ERROR_DISAGREE);
	bench_close(&l.b);
}

/* u9 to u12, `ack-got`, `ack-none`, `up-window`. */
static void results(void **unused)
{
	struct leaf l;

	(void)unused;
	open_sent(&l, 16);
	result(&l, WINDOW, ONE, true); /* `result-unsent` */
	only_up(&l, false, -1);
	assert_int_equal(count_of(&l, RF_MODEL_UP_RESULT_UNSENT), 1);
	result(&l, 2, ONE, true); /* ahead: 0 and 1 are sent again, and there is no ACK */
	settle(&l);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_ACK), 0);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 2);
	assert_int_equal(index_of(went_up(&l, 0)), 0);
	assert_int_equal(index_of(went_up(&l, 1)), 1);
	state_is(&l, WINDOW, 0);
	bench_clear(&l.b);
	result(&l, 2, ONE, true);
	only_up(&l, false, -1);
	assert_int_equal(count_of(&l, RF_MODEL_UP_RESULT_OLD), 1);
	result(&l, 0, ONE, true); /* `fills-next` */
	settle(&l);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_ACK), 1);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 3);
	state_is(&l, WINDOW + 1, 1);
	bench_clear(&l.b);
	result(&l, 1, ONE, false);
	settle(&l);
	state_is(&l, WINDOW + 3, 3);
	bench_clear(&l.b);
	result(&l, 1, ONE, false); /* old: an ACK, though it does not ask */
	only_up(&l, true, 2);
	bench_close(&l.b);
}

static void nak(struct leaf *l, uint32_t index, uint8_t syndrome)
{
	struct packet p;

	from_parent(&p, index);
	p.opcode = OP_ACK;
	p.syndrome = syndrome;
	bench_send(&l->b, UP_PORT, &p);
	bench_run(&l->b, 40);
}

/* u2 to u5, `nak-run`. */
static void naks(void **unused)
{
	struct leaf l;
	uint32_t n;

	(void)unused;
	open_sent(&l, 10);
	nak(&l, 2, 0x60);
	only_up(&l, false, 2);
	nak(&l, 3, 0x60);
	settle(&l);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 5);
	nak(&l, 7, 0x60); /* 16, but only up to 9 was sent */
	settle(&l);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 8);
	nak(&l, 2, 0x60);
	settle(&l);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 9);
	n = count_of(&l, RF_MODEL_UP_OTHER);
	nak(&l, 10, 0x60); /* not sent */
	nak(&l, 3, 0x1f);  /* an ACK */
	nak(&l, 3, 0x21);  /* RNR */
	assert_int_equal(count_of(&l, RF_MODEL_UP_OTHER), n + 3);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_AGAIN), 9);
	nak(&l, 3, 0x45);
	assert_int_equal(bench_counter(&l.b, UP_PORT, RF_CNT_ACK_MALFORMED), 1);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_ERROR), 0);
	nak(&l, 3, 0x62);
	common_error(&l.b, &(struct bench_conn){.port = UP_PORT}, RF_ERROR_NAK, 3);
	bench_close(&l.b);
}

/* u6 to u8 and lines 23 to 26. */
static void malformed(void **unused)
{
	static const uint8_t data[64];
	static const struct {
		uint8_t opcode;
		size_t len;
		uint32_t imm;
		unsigned int counter, cause;
	} cases[] = {
		{OP_SEND_FIRST, 64, 0, RF_CNT_OPCODE, RF_ERROR_OPCODE},
		{OP_SEND_ONLY, 0, 0, RF_CNT_LENGTH, RF_ERROR_LENGTH},
		{OP_SEND_ONLY_IMM, 64, 1, RF_CNT_ORDER, RF_ERROR_ORDER},
	};
	struct packet p;
	struct leaf l;
	unsigned int k, awaited;

	(void)unused;
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		open_sent(&l, 3);
		for (awaited = 0; awaited < 2; awaited++) {
			from_parent(&p, awaited ? 1 : 3);
			p.opcode = cases[k].opcode;
			p.imm ^= cases[k].imm;
			p.payload = data;
			p.payload_len = cases[k].len;
			extra_packet(&l.b, UP_PORT, &p, cases[k].counter);
			assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_ERROR) >> 16 & 15,
					 awaited ? cases[k].cause : 0);
		}
		from_parent(&p, 0);
		extra_packet(&l.b, UP_PORT, &p, RF_CNT_GROUP_FAILED);
		bench_close(&l.b);
	}
	open_sent(&l, 3);
	from_parent(&p, 0);
	p.src_mac++;
	extra_packet(&l.b, UP_PORT, &p, RF_CNT_WRONG_SOURCE);
	from_parent(&p, 0);
	p.icrc_xor = 1;
	extra_packet(&l.b, UP_PORT, &p, RF_CNT_ICRC);
	from_parent(&p, 0);
	p.src_ip++;
	extra_packet(&l.b, UP_PORT, &p, RF_CNT_UNKNOWN);
	state_is(&l, 3, 0);
	bench_close(&l.b);
}

/* `tick-ack`, `tick-probe`, `tick-one`: when, and what. */
static void ticks(void **unused)
{
	unsigned int k, next = 1, gap = 2;
	struct leaf l;

	(void)unused;
	open_sent(&l, 5);
	for (k = 1; k <= 64; k++) {
		tick(&l);
		if (k == next) {
			next += gap;
			gap = gap < 16 ? 2 * gap : 16;
			only_up(&l, false, 0); /* nothing has come back: no ACK */
		} else {
			only_up(&l, false, -1);
		}
	}
	result(&l, 0, ONE, false);
	only_up(&l, false, -1);
	tick(&l); /* got has moved: the ACK alone */
	only_up(&l, true, 0);
	tick(&l);
	assert_true(went_up(&l, 0)->bytes[42] == OP_ACK && index_of(went_up(&l, 0)) == 0);
	assert_true(went_up(&l, 1)->bytes[42] != OP_ACK && index_of(went_up(&l, 1)) == 1);
	assert_null(went_up(&l, 2));
	for (k = 1; k < 5; k++)
		result(&l, k, ONE, k == 4);
	settle(&l);
	bench_clear(&l.b);
	for (k = 0; k < 40; k++)
		tick(&l);
	only_up(&l, false, -1); /* nothing is awaited */
	bench_close(&l.b);
}

/* A mark on a result goes to the ranks that give. */
static void marks(void **unused)
{
	static const uint8_t data[64];
	struct packet p;
	struct leaf l;
	unsigned int k;

	(void)unused;
	open_leaf(&l, 1, 10);
	for (k = 0; k < 3; k++) {
		extra_directed(&l.g.conn[k], &p, 0, SUM_CODE | EXTRA_GIVES | EXTRA_WANTS, data, 64);
		p.tos = 2;
		bench_send(&l.b, k, &p);
	}
	settle(&l);
	bench_clear(&l.b);
	from_parent(&p, 0);
	p.tos = 3;
	p.payload = data;
	p.payload_len = 64;
	bench_send(&l.b, UP_PORT, &p);
	settle(&l);
	assert_int_equal(l.b.outs, 3);
	for (k = 0; k < 3; k++)
		assert_int_equal(l.b.out[k].bytes[15] & 3, 3);
	bench_close(&l.b);
}

static void ranks_acknowledge(struct leaf *l, uint32_t una)
{
	struct packet p;
	unsigned int r;

	for (r = 0; r < l->g.ranks; r++) {
		bench_ack(&l->g.conn[r], &p, una);
		bench_send(&l->b, l->g.conn[r].port, &p);
	}
}

/*
 * `pass-holds`: a resend is being read when its result comes, is acknowledged, and a rank sends
 * what belongs into the same slot.
 */
static void pass_holds(void **unused)
{
	struct leaf l;
	uint32_t i;

	(void)unused;
	open_leaf(&l, 4, 12);
	for (i = 0; i < 16; i++)
		all_send(&l, i, i ? 64 : 4096);
	settle(&l);
	bench_write(&l.b, RF_TICK, 1);
	bench_run(&l.b, 2); /* the probe of index 0 has been issued */
	result(&l, 0, ONE, false);
	bench_run(&l.b, 20);
	ranks_acknowledge(&l, 1);
	rank_sends(&l, 0, 16, 64);
	bench_run(&l.b, 40);
	assert_int_equal(bench_conn_read(&l.b, l.g.conn[1].cid, RF_CONN_UNA), 1);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_TAIL), 0);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_PROBE), 0); /* it has not left */
	settle(&l);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_ERROR), 0);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_TAIL), 1);
	assert_int_equal(count_of(&l, RF_MODEL_UP_TX_PROBE), 1);
	bench_close(&l.b);
}

/* `again-look`: resends wait, because the port is stopped, until their slots hold other operands.
 */
static void again_look(void **unused)
{
	struct leaf l;
	uint32_t i;

	(void)unused;
	open_leaf(&l, 1, 10);
	for (i = 0; i < 16; i++)
		all_send(&l, i, 64);
	settle(&l);
	bench_clear(&l.b);
	l.b.stall[UP_PORT] = l.b.ops->cycle(l.b.e) + 4000;
	for (i = 0; i < 6; i++) { /* twice 0, 1 to 4, 5 to 11: more than the port's queue takes */
		static const uint32_t named[] = {0, 1, 5};

		nak(&l, named[i % 3], 0x60);
	}
	for (i = 0; i < WINDOW; i++)
		result(&l, i, ONE, false);
	bench_run(&l.b, 300);
	ranks_acknowledge(&l, WINDOW);
	bench_run(&l.b, 100);
	for (i = 16; i < 16 + WINDOW; i++)
		rank_sends(&l, 0, i, 128);
	bench_run(&l.b, 300);
	settle(&l);
	assert_int_equal(bench_group_read(&l.b, 0, RF_GROUP_ERROR), 0);
	assert_true(count_of(&l, RF_MODEL_UP_STALE) > 0);
	bench_close(&l.b);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames),     cmocka_unit_test(statements),
		cmocka_unit_test(results),    cmocka_unit_test(naks),
		cmocka_unit_test(malformed),  cmocka_unit_test(ticks),
		cmocka_unit_test(marks),      cmocka_unit_test(pass_holds),
		cmocka_unit_test(again_look),
	};

	common_start(argc, argv);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
