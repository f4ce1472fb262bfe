/* The responder: order, gaps, duplicates, missing buffers, refusals. */
#include "tests/unit/roce_pair.h"

#define E PAIR_PSN_A /* what b expects first */

static uint8_t data[4096];

static int fill_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 11 + 1);
	return 0;
}

static void acks_when_asked_and_at_the_end(void **state)
{
	struct pair p = pair_start();
	struct roce_packet k;
	uint8_t in[1024];

	(void)state;
	assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
	pair_request(p.b, ROCE_OP_SEND_FIRST, E, data, 256);
	pair_expect_silence(p.b, 0);
	memset(&k, 0, sizeof(k));
	k.opcode = ROCE_OP_SEND_MIDDLE;
	k.psn = E + 1;
	k.payload = data;
	k.payload_len = 256;
	k.ackreq = true;
	roce_qp_rx(p.b, 0, &k);
	/* Another packet arrives before the answer is sent: one ACK for both. */
	pair_request(p.b, ROCE_OP_SEND_LAST, E + 2, data, 100);
	assert_true(pair_take(p.b, 0, &k));
	assert_int_equal(k.opcode, ROCE_OP_ACK);
	assert_int_equal(k.syndrome, ROCE_SYN_ACK);
	assert_int_equal(k.psn, E + 2);
	assert_int_equal(k.msn, 1);
	assert_int_equal(k.qpn, PAIR_QPN_A);
	pair_expect_silence(p.b, 0);
	pair_expect(p.b, 1, ROCE_WC_SUCCESS);
	pair_end(&p);
}

static void one_nak_per_gap(void **state)
{
	struct pair p = pair_start();
	uint8_t in[2048];

	(void)state;
	assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
	pair_request(p.b, ROCE_OP_SEND_FIRST, E, data, 256);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 2, data, 256);
	pair_expect_response(p.b, ROCE_SYN_NAK_SEQUENCE, E + 1);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 3, data, 256);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 5, data, 256);
	pair_expect_silence(p.b, 0);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 1, data, 256);
	pair_expect_silence(p.b, 0);
	/* The next gap gets a NAK of its own. */
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 3, data, 256);
	pair_expect_response(p.b, ROCE_SYN_NAK_SEQUENCE, E + 2);
	assert_int_equal(roce_qp_counters(p.b)->rx_gaps, 4);
	assert_int_equal(roce_qp_counters(p.b)->tx_naks, 2);
	/* A NAK that is no longer correct before it leaves is not sent. */
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 2, data, 256);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 4, data, 256);
	pair_request(p.b, ROCE_OP_SEND_MIDDLE, E + 3, data, 256);
	pair_expect_response(p.b, ROCE_SYN_ACK, E + 3);
	pair_end(&p);
}

static void duplicates_are_acked_and_not_delivered(void **state)
{
	struct pair p = pair_start();
	uint8_t in[256], other[256] = {0}, next[256] = {0};

	(void)state;
	assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
	assert_int_equal(pair_recv(p.b, 2, next, sizeof(next)), ROCE_OK);
	pair_request(p.b, ROCE_OP_SEND_ONLY, E, data, 256);
	pair_expect_response(p.b, ROCE_SYN_ACK, E);
	pair_expect(p.b, 1, ROCE_WC_SUCCESS);
	for (unsigned int i = 0; i < 3; i++) {
		pair_request(p.b, ROCE_OP_SEND_ONLY, E, other, 256);
		pair_expect_response(p.b, ROCE_SYN_ACK, E);
	}
	/* Also one from before the connection began: its PSN is not in flight. */
	pair_request(p.b, ROCE_OP_SEND_ONLY, E - 5, other, 256);
	pair_expect_response(p.b, ROCE_SYN_ACK, E);
	assert_memory_equal(in, data, 256);
	pair_expect_none(p.b);
	assert_int_equal(roce_qp_counters(p.b)->rx_duplicates, 4);
	assert_int_equal(roce_qp_counters(p.b)->rx_bytes, 256);
	/* A duplicate does not replace a NAK that waits to be sent. */
	pair_request(p.b, ROCE_OP_SEND_ONLY, E + 2, data, 256);
	pair_request(p.b, ROCE_OP_SEND_ONLY, E, data, 256);
	pair_expect_response(p.b, ROCE_SYN_NAK_SEQUENCE, E + 1);
	pair_end(&p);
}

static void no_buffer(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(false);
	struct roce_qp *b;
	uint8_t in[256];

	(void)state;
	cfg.min_rnr_timer = 14;
	b = pair_qp(&cfg, false);
	pair_request(b, ROCE_OP_SEND_ONLY, E, data, 256);
	pair_expect_response(b, ROCE_SYN_RNR | 14, E);
	/* Packets that were already on their way after it are not a gap. */
	pair_request(b, ROCE_OP_SEND_ONLY, E + 1, data, 256);
	pair_expect_silence(b, 0);
	pair_request(b, ROCE_OP_SEND_ONLY, E, data, 256);
	pair_expect_response(b, ROCE_SYN_RNR | 14, E);
	assert_int_equal(pair_recv(b, 1, in, 256), ROCE_OK);
	pair_request(b, ROCE_OP_SEND_ONLY, E, data, 256);
	pair_expect_response(b, ROCE_SYN_ACK, E);
	pair_expect(b, 1, ROCE_WC_SUCCESS);
	assert_memory_equal(in, data, 256);
	assert_int_equal(roce_qp_counters(b)->tx_rnr_naks, 2);
	roce_qp_destroy(b);
}

static void rnr_between_both_ends(void **state)
{
	static uint8_t in[3][600];
	struct pair p = pair_start();

	(void)state;
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(pair_send(p.a, i, data, 600), ROCE_OK);
	pair_settle(&p);
	for (uint64_t i = 0; i < 3; i++) {
		pair_expect_none(p.a);
		assert_int_equal(pair_recv(p.b, i, in[i], 600), ROCE_OK);
		p.now = roce_qp_next_timeout(p.a);
		pair_settle(&p);
		pair_expect(p.a, i, ROCE_WC_SUCCESS);
		pair_expect(p.b, i, ROCE_WC_SUCCESS);
		assert_memory_equal(in[i], data, 600);
	}
	assert_int_equal(roce_qp_next_timeout(p.a), UINT64_MAX);
	pair_end(&p);
}

static void progress_is_readable(void **state)
{
	struct pair p = pair_start();
	uint8_t in[1024];
	uint64_t id = 0;
	uint32_t bytes = 0;

	(void)state;
	assert_int_equal(pair_recv(p.b, 77, in, sizeof(in)), ROCE_OK);
	assert_int_equal(roce_qp_recv_progress(p.b, &id, &bytes), 0);
	for (uint32_t i = 0; i < 3; i++) {
		pair_request(p.b, i ? ROCE_OP_SEND_MIDDLE : ROCE_OP_SEND_FIRST, E + i,
			     data + 256 * i, 256);
		assert_int_equal(roce_qp_recv_progress(p.b, &id, &bytes), 1);
		assert_int_equal(id, 77);
		assert_int_equal(bytes, 256 * (i + 1));
		assert_memory_equal(in, data, bytes);
	}
	pair_request(p.b, ROCE_OP_SEND_LAST, E + 3, data, 1);
	assert_int_equal(roce_qp_recv_progress(p.b, &id, &bytes), 0);
	pair_end(&p);
}

/* Packets that violate the protocol: what is sent first (0: nothing), the invalid one, NAK and
 * status. */
struct breach {
	const char *what;
	int first;
	uint8_t opcode;
	uint32_t len;
	uint8_t nak;
	enum roce_wc_status status;
};

static const struct breach breaches[] = {
	{"middle without first", -1, ROCE_OP_SEND_MIDDLE, 256, 0x61, ROCE_WC_LOC_QP_ERR},
	{"last without first", -1, ROCE_OP_SEND_LAST, 256, 0x61, ROCE_WC_LOC_QP_ERR},
	{"first within a message", ROCE_OP_SEND_FIRST, ROCE_OP_SEND_FIRST, 256, 0x61,
	 ROCE_WC_LOC_QP_ERR},
	{"only within a message", ROCE_OP_SEND_FIRST, ROCE_OP_SEND_ONLY, 256, 0x61,
	 ROCE_WC_LOC_QP_ERR},
	{"write within a send", ROCE_OP_SEND_FIRST, ROCE_OP_WRITE_LAST, 256, 0x61,
	 ROCE_WC_LOC_QP_ERR},
	{"first shorter than the MTU", -1, ROCE_OP_SEND_FIRST, 252, 0x61, ROCE_WC_LOC_QP_ERR},
	{"middle shorter than the MTU", ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE, 4, 0x61,
	 ROCE_WC_LOC_QP_ERR},
	{"first longer than the MTU", -1, ROCE_OP_SEND_FIRST, 260, 0x61, ROCE_WC_LOC_QP_ERR},
	{"only longer than the MTU", -1, ROCE_OP_SEND_ONLY, 257, 0x61, ROCE_WC_LOC_QP_ERR},
	{"last with nothing", ROCE_OP_SEND_FIRST, ROCE_OP_SEND_LAST, 0, 0x61, ROCE_WC_LOC_QP_ERR},
	{"read", -1, ROCE_OP_READ_REQUEST, 0, 0x61, ROCE_WC_LOC_QP_ERR},
	{"longer than the buffer", ROCE_OP_SEND_FIRST, ROCE_OP_SEND_LAST, 200, 0x61,
	 ROCE_WC_LOC_LEN_ERR},
	{"write to nowhere", -1, ROCE_OP_WRITE_ONLY, 8, 0x62, ROCE_WC_LOC_PROT_ERR},
};

static void breaches_end_the_connection(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(breaches) / sizeof(breaches[0]); i++) {
		const struct breach *x = &breaches[i];
		struct pair p = pair_start();
		uint8_t in[400];
		uint32_t psn = E;

		print_message("%s\n", x->what);
		assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
		assert_int_equal(pair_recv(p.b, 2, in, sizeof(in)), ROCE_OK);
		assert_int_equal(pair_send(p.b, 3, data, 10), ROCE_OK);
		if (x->first >= 0)
			pair_request(p.b, (uint8_t)x->first, psn++, data, 256);
		pair_request(p.b, x->opcode, psn, data, x->len);
		assert_int_equal(roce_qp_state(p.b), ROCE_QP_ERR);
		assert_int_equal(roce_qp_error(p.b), x->status);
		pair_expect_response(p.b, x->nak, psn);
		pair_expect_silence(p.b, 0);
		pair_expect(p.b, 1, x->status);
		pair_expect(p.b, 2, ROCE_WC_FLUSHED);
		pair_expect(p.b, 3, ROCE_WC_FLUSHED);
		/* The NAK was lost: the peer repeats, and gets the NAK again. */
		pair_request(p.b, x->opcode, psn, data, x->len);
		pair_expect_response(p.b, x->nak, psn);
		assert_int_equal(roce_qp_counters(p.b)->rx_errors, 1);
		pair_end(&p);
	}
}

static void writes_stay_in_their_region(void **state)
{
	uint8_t target[512];
	struct roce_region regions[2] = {
		{.rkey = 5, .va = 0xfffffffffffffe00u, .addr = target, .len = 256},
		{.rkey = 6, .va = 1000, .addr = target, .len = 512},
	};
	static const struct {
		uint32_t rkey;
		uint64_t va;
		uint32_t len;
		bool good;
	} cases[] = {
		{6, 1000, 512, true},
		{6, 1256, 256, true},
		{6, 1256, 257, false},
		{6, 999, 1, false},
		{6, 1512, 1, false},
		{6, 1512, 0, true},
		{7, 1000, 4, false},
		{5, 0xfffffffffffffe00u, 256, true},
		{5, 0xfffffffffffffe00u, 257, false},
		{5, 0xffffffffffffffffu, 2, false},
		{5, 0, 4, false},
		{6, 1000, 0x80000000u, false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct roce_qp_cfg ca = pair_cfg(true), cb = pair_cfg(false);
		struct roce_packet k;
		struct roce_qp *b;

		(void)ca;
		cb.regions = regions;
		cb.region_count = 2;
		b = pair_qp(&cb, false);
		memset(&k, 0, sizeof(k));
		k.opcode = cases[i].len > 256 ? ROCE_OP_WRITE_FIRST : ROCE_OP_WRITE_ONLY;
		k.psn = E;
		k.rkey = cases[i].rkey;
		k.va = cases[i].va;
		k.dma_length = cases[i].len;
		k.payload = data;
		k.payload_len = cases[i].len > 256 ? 256 : cases[i].len;
		roce_qp_rx(b, 0, &k);
		assert_int_equal(roce_qp_state(b) == ROCE_QP_RTS, cases[i].good);
		roce_qp_destroy(b);
	}
}

static void writes_are_as_long_as_they_say(void **state)
{
	uint8_t target[1024];
	struct roce_region region = {.rkey = 6, .va = 0, .addr = target, .len = 1024};

	(void)state;
	/* dma length 300: FIRST 256, then LAST with 43, 44 or 45. */
	for (uint32_t last = 43; last <= 45; last++) {
		struct roce_qp_cfg cb = pair_cfg(false);
		struct roce_packet k;
		struct roce_qp *b;

		cb.regions = &region;
		cb.region_count = 1;
		b = pair_qp(&cb, false);
		memset(&k, 0, sizeof(k));
		k.opcode = ROCE_OP_WRITE_FIRST;
		k.psn = E;
		k.rkey = 6;
		k.dma_length = 300;
		k.payload = data;
		k.payload_len = 256;
		roce_qp_rx(b, 0, &k);
		k.opcode = ROCE_OP_WRITE_LAST;
		k.psn = E + 1;
		k.payload_len = last;
		roce_qp_rx(b, 0, &k);
		assert_int_equal(roce_qp_state(b) == ROCE_QP_RTS, last == 44);
		pair_expect_response(b, last == 44 ? ROCE_SYN_ACK : ROCE_SYN_NAK_INVALID_REQUEST,
				     E + 1);
		roce_qp_destroy(b);
	}
}

static void write_with_immediate_needs_a_receive(void **state)
{
	uint8_t target[256] = {0};
	struct roce_region region = {.rkey = 6, .va = 0, .addr = target, .len = 256};
	struct roce_qp_cfg cb = pair_cfg(false);
	struct roce_packet k;
	struct roce_cqe cqe;
	struct roce_qp *b;

	(void)state;
	cb.regions = &region;
	cb.region_count = 1;
	b = pair_qp(&cb, false);
	memset(&k, 0, sizeof(k));
	k.opcode = ROCE_OP_WRITE_ONLY_IMM;
	k.psn = E;
	k.rkey = 6;
	k.dma_length = 256;
	k.imm = 99;
	k.payload = data;
	k.payload_len = 256;
	roce_qp_rx(b, 0, &k);
	pair_expect_response(b, ROCE_SYN_RNR | 1, E);
	assert_int_equal(target[1], 0);
	assert_int_equal(pair_recv(b, 4, NULL, 0), ROCE_OK);
	roce_qp_rx(b, 0, &k);
	pair_expect_response(b, ROCE_SYN_ACK, E);
	assert_int_equal(roce_qp_poll(b, &cqe), 1);
	assert_int_equal(cqe.opcode, ROCE_WC_RECV_WRITE);
	assert_int_equal(cqe.len, 256);
	assert_int_equal(cqe.imm, 99);
	assert_memory_equal(target, data, 256);
	roce_qp_destroy(b);
}

/* The other end gets the refusal as a status of its own. */
static void refusal_at_both_ends(void **state)
{
	struct pair p = pair_start();
	uint8_t in[100];

	(void)state;
	assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
	assert_int_equal(pair_send(p.a, 2, data, 101), ROCE_OK);
	pair_settle(&p);
	pair_expect(p.a, 2, ROCE_WC_REM_INV_REQ_ERR);
	pair_expect(p.b, 1, ROCE_WC_LOC_LEN_ERR);
	pair_end(&p);
}

static void what_nobody_asked_for(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(false);
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, 1}, .ip = 0x0a000001, .qpn = PAIR_QPN_A};
	struct roce_qp *qp;
	uint8_t in[256];

	(void)state;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	pair_request(qp, ROCE_OP_SEND_ONLY, E, data, 4); /* INIT: nothing is accepted */
	pair_expect_silence(qp, 0);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	pair_ack(qp, 0, ROCE_SYN_ACK,
		 PAIR_PSN_B); /* in RTR nothing is sent, so no ACK is expected */
	assert_int_equal(pair_recv(qp, 1, in, 256), ROCE_OK);
	pair_request(qp, ROCE_OP_SEND_ONLY, E, data, 4);
	pair_expect_response(qp, ROCE_SYN_ACK, E);
	pair_request(qp, ROCE_OP_READ_ONLY, E + 1, data, 4);
	pair_request(qp, 0x64, E + 1, data, 4);
	assert_int_equal(roce_qp_counters(qp)->rx_ignored, 4);
	pair_request(qp, ROCE_OP_CNP, 0, data, 16);
	assert_int_equal(roce_qp_counters(qp)->rx_cnps, 1);
	pair_expect_silence(qp, 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTR);
	roce_qp_destroy(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(acks_when_asked_and_at_the_end),
		cmocka_unit_test(one_nak_per_gap),
		cmocka_unit_test(duplicates_are_acked_and_not_delivered),
		cmocka_unit_test(no_buffer),
		cmocka_unit_test(rnr_between_both_ends),
		cmocka_unit_test(progress_is_readable),
		cmocka_unit_test(breaches_end_the_connection),
		cmocka_unit_test(writes_stay_in_their_region),
		cmocka_unit_test(writes_are_as_long_as_they_say),
		cmocka_unit_test(write_with_immediate_needs_a_receive),
		cmocka_unit_test(refusal_at_both_ends),
		cmocka_unit_test(what_nobody_asked_for),
	};

	return cmocka_run_group_tests(tests, fill_data, NULL);
}
