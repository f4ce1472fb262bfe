/* Requester, completer and timers of the reliable connection. */
#include <stdlib.h>

#include "tests/unit/fail_calloc.h"
#include "tests/unit/roce_pair.h"

#define MS UINT64_C(1000000)

static uint8_t data[1 << 16];

static int fill_data(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(data); i++)
		data[i] = (uint8_t)(i * 7 + (i >> 8));
	return 0;
}

static void every_length_and_operation(void **state)
{
	static const uint32_t lengths[] = {0, 1, 3, 4, 255, 256, 257, 512, 1000, 4095, 4096, 5000};
	static uint8_t target[8192], scratch[8192];
	struct roce_region region = {
		.rkey = 7, .va = 0x10000, .addr = target, .len = sizeof(target)};

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		for (unsigned int op = ROCE_WR_SEND; op <= ROCE_WR_WRITE_IMM; op++) {
			struct roce_qp_cfg ca = pair_cfg(true), cb = pair_cfg(false);
			struct roce_send_wr wr = {.wr_id = 5, .opcode = (enum roce_wr_opcode)op};
			bool write = op == ROCE_WR_WRITE || op == ROCE_WR_WRITE_IMM;
			struct roce_cqe cqe;
			struct pair p;

			cb.regions = &region;
			cb.region_count = 1;
			p = (struct pair){pair_qp(&ca, true), pair_qp(&cb, false), 0};
			memset(target, 0, sizeof(target));
			memset(scratch, 0, sizeof(scratch));
			wr.buf = data;
			wr.len = lengths[i];
			wr.imm = 0xabcd0123;
			wr.remote_va = 0x10000 + 64;
			wr.rkey = 7;
			assert_int_equal(pair_recv(p.b, 9, scratch, sizeof(scratch)), ROCE_OK);
			assert_int_equal(roce_qp_post_send(p.a, &wr), ROCE_OK);
			pair_settle(&p);
			assert_int_equal(roce_qp_poll(p.a, &cqe), 1);
			assert_int_equal(cqe.status, ROCE_WC_SUCCESS);
			assert_int_equal(cqe.opcode, ROCE_WC_SEND);
			assert_int_equal(cqe.len, lengths[i]);
			assert_memory_equal(write ? target + 64 : scratch, data, lengths[i]);
			assert_int_equal((write ? target + 64 : scratch)[lengths[i]], 0);
			if (op != ROCE_WR_WRITE) {
				assert_int_equal(roce_qp_poll(p.b, &cqe), 1);
				assert_int_equal(cqe.wr_id, 9);
				assert_int_equal(cqe.opcode,
						 write ? ROCE_WC_RECV_WRITE : ROCE_WC_RECV);
				assert_int_equal(cqe.len, lengths[i]);
				assert_int_equal(cqe.has_imm, op != ROCE_WR_SEND);
				if (cqe.has_imm)
					assert_int_equal(cqe.imm, 0xabcd0123);
			}
			pair_expect_none(p.b);
			assert_int_equal(roce_qp_next_timeout(p.a), UINT64_MAX);
			assert_int_equal(roce_qp_counters(p.a)->tx_retransmits, 0);
			pair_end(&p);
		}
	}
}

static void packets_of_a_message(void **state)
{
	static const uint8_t want[] = {ROCE_OP_SEND_FIRST, ROCE_OP_SEND_MIDDLE, ROCE_OP_SEND_MIDDLE,
				       ROCE_OP_SEND_LAST_IMM};
	struct pair p = pair_start();
	struct roce_send_wr wr = {
		.opcode = ROCE_WR_SEND_IMM, .buf = data, .len = 256 * 3 + 2, .solicited = true};
	struct roce_packet k;

	(void)state;
	assert_int_equal(roce_qp_post_send(p.a, &wr), ROCE_OK);
	for (uint32_t i = 0; i < 4; i++) {
		assert_true(pair_take(p.a, 0, &k));
		assert_int_equal(k.opcode, want[i]);
		assert_int_equal(k.psn, PAIR_PSN_A + i);
		assert_int_equal(k.qpn, PAIR_QPN_B);
		assert_int_equal(k.payload_len, i == 3 ? 2 : 256);
		assert_int_equal(k.pad, i == 3 ? 2 : 0);
		/* A quarter of the window of 16, and the end of the message. */
		assert_int_equal(k.ackreq, i == 3);
		assert_int_equal(k.se, i == 3);
		assert_memory_equal(k.payload, data + 256 * i, k.payload_len);
	}
	pair_expect_silence(p.a, 0);
	pair_end(&p);
}

static void psn_wraps(void **state)
{
	static uint8_t in[256 * 200];
	struct roce_qp_cfg a = pair_cfg(true), b = pair_cfg(false);
	struct pair p;

	(void)state;
	a.sq_psn = b.rq_psn = 0xffffc0;
	p = (struct pair){pair_qp(&a, true), pair_qp(&b, false), 0};
	assert_int_equal(pair_recv(p.b, 1, in, sizeof(in)), ROCE_OK);
	assert_int_equal(pair_send(p.a, 2, data, sizeof(in)), ROCE_OK);
	pair_settle(&p);
	pair_expect(p.a, 2, ROCE_WC_SUCCESS);
	pair_expect(p.b, 1, ROCE_WC_SUCCESS);
	assert_memory_equal(in, data, sizeof(in));
	pair_end(&p);
}

static void window_and_ackreq(void **state)
{
	struct pair p = pair_start();
	struct roce_packet k;
	unsigned int asked = 0;

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 256 * 40), ROCE_OK);
	for (unsigned int i = 0; i < 16; i++) {
		assert_true(pair_take(p.a, 0, &k));
		asked += k.ackreq;
		assert_int_equal(k.ackreq, i % 4 == 3);
	}
	assert_int_equal(asked, 4);
	pair_expect_silence(p.a, 0);
	assert_int_equal(roce_qp_in_flight(p.a), 16);
	/* An acknowledgement of packet 2 makes room for three. */
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A + 2);
	assert_int_equal(pair_lose(p.a, 0), 3);
	assert_int_equal(roce_qp_in_flight(p.a), 16);
	pair_end(&p);
}

static void acks_that_say_nothing(void **state)
{
	struct pair p = pair_start();

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 256 * 4), ROCE_OK);
	assert_int_equal(pair_send(p.a, 2, data, 256 * 4), ROCE_OK);
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A); /* nothing was sent yet */
	assert_int_equal(pair_lose(p.a, 0), 8);
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A - 1); /* below */
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A + 8); /* never sent */
	pair_ack(p.a, 0, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 8);
	pair_ack(p.a, 0, ROCE_SYN_RNR | 1, PAIR_PSN_A - 1);
	pair_ack(p.a, 0, 0x64, PAIR_PSN_A); /* reserved syndromes */
	pair_ack(p.a, 0, 0x40, PAIR_PSN_A);
	pair_ack(p.a, 0, 0x80, PAIR_PSN_A);
	pair_expect_none(p.a);
	assert_int_equal(roce_qp_counters(p.a)->rx_acks_stale, 8);
	assert_int_equal(roce_qp_in_flight(p.a), 8);
	/* Any credit count, requested or not; one ACK for both messages. */
	pair_ack(p.a, 0, 0x03, PAIR_PSN_A + 2);
	pair_expect_none(p.a);
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A + 7);
	pair_expect(p.a, 1, ROCE_WC_SUCCESS);
	pair_expect(p.a, 2, ROCE_WC_SUCCESS);
	pair_expect_none(p.a);
	assert_true(roce_qp_send_idle(p.a));
	assert_int_equal(roce_qp_next_timeout(p.a), UINT64_MAX);
	pair_end(&p);
}

static void sequence_nak_once_per_advance(void **state)
{
	struct pair p = pair_start();
	struct roce_packet k;

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 256 * 8), ROCE_OK);
	assert_int_equal(pair_lose(p.a, 0), 8);
	pair_ack(p.a, 0, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 3);
	assert_int_equal(roce_qp_in_flight(p.a), 5);
	assert_true(pair_take(p.a, 0, &k));
	assert_int_equal(k.psn, PAIR_PSN_A + 3);
	assert_int_equal(k.opcode, ROCE_OP_SEND_MIDDLE);
	assert_true(k.ackreq);
	assert_memory_equal(k.payload, data + 3 * 256, 256);
	assert_int_equal(pair_lose(p.a, 0), 4);
	assert_int_equal(roce_qp_counters(p.a)->tx_retransmits, 5);
	/* The same gap again: ignored. */
	pair_ack(p.a, 0, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 3);
	pair_expect_silence(p.a, 0);
	assert_int_equal(roce_qp_counters(p.a)->rx_naks_ignored, 1);
	/* After progress the next one counts. */
	pair_ack(p.a, 0, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 5);
	assert_int_equal(pair_lose(p.a, 0), 3);
	pair_end(&p);
}

/* The sender has gone back, and then an ACK shows that the packets had arrived: they are not sent
 * again. */
static void ack_overtakes_the_step_back(void **state)
{
	struct pair p = pair_start();
	struct roce_packet k;

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 256 * 4), ROCE_OK);
	assert_int_equal(pair_send(p.a, 2, data, 256 * 6), ROCE_OK);
	assert_int_equal(pair_lose(p.a, 0), 10);
	pair_ack(p.a, 0, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 1);
	assert_true(pair_take(p.a, 0, &k));
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A + 6);
	pair_expect(p.a, 1, ROCE_WC_SUCCESS);
	assert_true(pair_take(p.a, 0, &k));
	assert_int_equal(k.psn, PAIR_PSN_A + 7);
	assert_memory_equal(k.payload, data + 3 * 256, 256);
	assert_int_equal(pair_lose(p.a, 0), 2);
	pair_ack(p.a, 0, ROCE_SYN_ACK, PAIR_PSN_A + 9);
	pair_expect(p.a, 2, ROCE_WC_SUCCESS);
	pair_end(&p);
}

static void timeouts_double_and_end(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	uint64_t now = 5, wait = 10;
	struct roce_qp *qp;
	struct roce_packet k;

	(void)state;
	cfg.ack_timeout = 10;
	cfg.ack_timeout_max = 50;
	cfg.retry_cnt = 4;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256 * 8), ROCE_OK);
	assert_int_equal(pair_send(qp, 2, data, 256), ROCE_OK);
	assert_int_equal(roce_qp_next_timeout(qp), UINT64_MAX);
	assert_int_equal(pair_lose(qp, now), 9);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(roce_qp_next_timeout(qp), now + wait);
		pair_expect_silence(qp, now + wait - 1);
		now += wait;
		/* One packet alone, which requests an answer. */
		assert_true(pair_take(qp, now, &k));
		assert_int_equal(k.psn, PAIR_PSN_A);
		assert_true(k.ackreq);
		pair_expect_silence(qp, now);
		wait = 2 * wait > 50 ? 50 : 2 * wait;
	}
	now = roce_qp_next_timeout(qp);
	pair_expect_silence(qp, now);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	assert_int_equal(roce_qp_error(qp), ROCE_WC_RETRY_EXC_ERR);
	assert_int_equal(roce_qp_counters(qp)->timeouts, 5);
	assert_int_equal(roce_qp_next_timeout(qp), UINT64_MAX);
	pair_expect(qp, 1, ROCE_WC_RETRY_EXC_ERR);
	pair_expect(qp, 2, ROCE_WC_FLUSHED);
	pair_expect_none(qp);
	roce_qp_destroy(qp);
}

static void progress_resets_the_timer(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp *qp;

	(void)state;
	cfg.ack_timeout = 10;
	cfg.ack_timeout_max = 1000;
	cfg.retry_cnt = 2;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256 * 8), ROCE_OK);
	assert_int_equal(pair_lose(qp, 0), 8);
	assert_int_equal(pair_lose(qp, 10), 1);
	assert_int_equal(pair_lose(qp, 30), 1);
	assert_int_equal(roce_qp_next_timeout(qp), 70);
	pair_ack(qp, 40, ROCE_SYN_ACK, PAIR_PSN_A);
	assert_int_equal(roce_qp_next_timeout(qp), 50);
	assert_int_equal(pair_lose(qp, 40), 2);
	assert_int_equal(pair_lose(qp, 50), 1);
	assert_int_equal(pair_lose(qp, 70), 1);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	assert_int_equal(pair_lose(qp, 110), 0);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	roce_qp_destroy(qp);
}

/* After a timeout: 1, 2, 4, ... packets; the last of each requests an answer. */
static void recovery_doubles(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	uint32_t una = 0, next = 0;
	struct roce_packet k;
	struct roce_qp *qp;

	(void)state;
	cfg.ack_timeout = 10;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256 * 40), ROCE_OK);
	assert_int_equal(pair_lose(qp, 0), 16);
	for (uint32_t burst = 1; burst <= 4; burst *= 2) {
		for (uint32_t i = 0; i < burst; i++) {
			assert_true(pair_take(qp, 10, &k));
			assert_int_equal(k.psn, PAIR_PSN_A + next++);
			if (i + 1 == burst)
				assert_true(k.ackreq);
		}
		pair_expect_silence(qp, 10);
		una = next;
		pair_ack(qp, 10, ROCE_SYN_ACK, PAIR_PSN_A + una - 1);
	}
	/* 7 are acknowledged; 8 more, then the last two of the old window; the rest is new. */
	for (unsigned int i = 0; i < 8; i++)
		assert_true(pair_take(qp, 10, &k));
	pair_expect_silence(qp, 10);
	pair_ack(qp, 10, ROCE_SYN_ACK, PAIR_PSN_A + 14);
	assert_int_equal(pair_lose(qp, 10), 16);
	assert_int_equal(roce_qp_counters(qp)->tx_retransmits, 16);
	assert_int_equal(roce_qp_counters(qp)->tx_packets, 16 + 16 + 15);
	roce_qp_destroy(qp);
}

/* The first copies had arrived: nothing more is sent twice. */
static void recovery_ends_when_not_needed(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_packet k;
	struct roce_qp *qp;

	(void)state;
	cfg.ack_timeout = 10;
	qp = pair_qp(&cfg, true);
	for (uint64_t i = 0; i < 10; i++)
		assert_int_equal(pair_send(qp, i, data + 1024 * i, 1024), ROCE_OK);
	assert_int_equal(pair_lose(qp, 0), 16);
	assert_int_equal(pair_lose(qp, 10), 1);
	pair_ack(qp, 11, ROCE_SYN_ACK, PAIR_PSN_A + 5);
	assert_true(pair_take(qp, 11, &k));
	assert_int_equal(k.psn, PAIR_PSN_A + 16);
	assert_int_equal(k.opcode, ROCE_OP_SEND_FIRST);
	assert_memory_equal(k.payload, data + 4096, 256);
	assert_int_equal(pair_lose(qp, 11), 5);
	assert_int_equal(roce_qp_counters(qp)->tx_retransmits, 1);
	/* Also in the middle of a message, and if everything posted had been sent. */
	assert_int_equal(pair_lose(qp, 21), 1);
	pair_ack(qp, 22, ROCE_SYN_ACK, PAIR_PSN_A + 21 - 8);
	assert_int_equal(pair_lose(qp, 22), 8);
	assert_int_equal(pair_lose(qp, 32), 1);
	pair_ack(qp, 33, ROCE_SYN_ACK, PAIR_PSN_A + 29);
	assert_int_equal(pair_lose(qp, 33), 10);
	assert_int_equal(pair_lose(qp, 43), 1);
	pair_ack(qp, 44, ROCE_SYN_ACK, PAIR_PSN_A + 35);
	pair_expect_silence(qp, 44);
	assert_int_equal(roce_qp_counters(qp)->tx_retransmits, 4);
	pair_ack(qp, 45, ROCE_SYN_ACK, PAIR_PSN_A + 39);
	for (uint64_t i = 0; i < 10; i++)
		pair_expect(qp, i, ROCE_WC_SUCCESS);
	roce_qp_destroy(qp);
}

/* A sequence NAK reports a loss: then the whole window is sent again. */
static void nak_ends_the_recovery(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp *qp;

	(void)state;
	cfg.ack_timeout = 10;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256 * 40), ROCE_OK);
	assert_int_equal(pair_lose(qp, 0), 16);
	assert_int_equal(pair_lose(qp, 10), 1);
	pair_ack(qp, 10, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 3);
	assert_int_equal(pair_lose(qp, 10), 16);
	roce_qp_destroy(qp);
}

static void retry_forever(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp *qp;

	(void)state;
	cfg.retry_cnt = ROCE_RETRY_FOREVER;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256), ROCE_OK);
	for (unsigned int i = 0; i < 1000; i++)
		(void)pair_lose(
			qp, roce_qp_next_timeout(qp) == UINT64_MAX ? 0 : roce_qp_next_timeout(qp));
	assert_int_equal(roce_qp_state(qp), ROCE_QP_RTS);
	assert_int_equal(roce_qp_counters(qp)->timeouts, 999);
	roce_qp_destroy(qp);
}

static void rnr_waits_and_counts(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp *qp;

	(void)state;
	cfg.rnr_retry = 2;
	qp = pair_qp(&cfg, true);
	assert_int_equal(pair_send(qp, 1, data, 256 * 4), ROCE_OK);
	assert_int_equal(pair_lose(qp, 0), 4);
	pair_ack(qp, 100, ROCE_SYN_RNR | 14, PAIR_PSN_A + 1); /* 1.28 ms */
	assert_int_equal(roce_qp_next_timeout(qp), 100 + 1280000);
	assert_int_equal(pair_lose(qp, 100 + 1279999), 0);
	/* A second one during the wait does not count, and a sequence NAK does not shorten the
	 * wait. */
	pair_ack(qp, 200, ROCE_SYN_RNR | 1, PAIR_PSN_A + 1);
	pair_ack(qp, 200, ROCE_SYN_NAK_SEQUENCE, PAIR_PSN_A + 1);
	assert_int_equal(roce_qp_next_timeout(qp), 100 + 1280000);
	assert_int_equal(pair_lose(qp, 100 + 1280000), 3);
	pair_ack(qp, 2 * MS, ROCE_SYN_RNR | 1, PAIR_PSN_A + 1);
	assert_int_equal(pair_lose(qp, 2 * MS + 10000), 3);
	/* Progress resets the count: two more are tolerated, the third ends the connection. */
	pair_ack(qp, 3 * MS, ROCE_SYN_RNR | 1, PAIR_PSN_A + 2);
	assert_int_equal(pair_lose(qp, 3 * MS + 10000), 2);
	pair_ack(qp, 4 * MS, ROCE_SYN_RNR | 1, PAIR_PSN_A + 2);
	assert_int_equal(pair_lose(qp, 4 * MS + 10000), 2);
	pair_ack(qp, 5 * MS, ROCE_SYN_RNR | 1, PAIR_PSN_A + 2);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_ERR);
	pair_expect(qp, 1, ROCE_WC_RNR_RETRY_EXC_ERR);
	roce_qp_destroy(qp);
}

static void ack_ends_the_rnr_wait(void **state)
{
	struct pair p = pair_start();

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 256 * 4), ROCE_OK);
	assert_int_equal(pair_lose(p.a, 0), 4);
	pair_ack(p.a, 100, ROCE_SYN_RNR | 0, PAIR_PSN_A + 1);
	pair_ack(p.a, 200, ROCE_SYN_ACK, PAIR_PSN_A + 2);
	assert_int_equal(pair_lose(p.a, 200), 1);
	/* Retries are really unlimited. */
	for (unsigned int i = 0; i < 100; i++) {
		pair_ack(p.a, 0, ROCE_SYN_RNR | 1, PAIR_PSN_A + 3);
		assert_int_equal(pair_lose(p.a, roce_qp_next_timeout(p.a)), 1);
	}
	assert_int_equal(roce_qp_state(p.a), ROCE_QP_RTS);
	pair_end(&p);
}

static void rnr_timer_table(void **state)
{
	(void)state;
	assert_int_equal(roce_rnr_timer_ns(0), 655360000);
	assert_int_equal(roce_rnr_timer_ns(1), 10000);
	assert_int_equal(roce_rnr_timer_ns(12), 640000);
	assert_int_equal(roce_rnr_timer_ns(30), 327680000);
	assert_int_equal(roce_rnr_timer_ns(31), 491520000);
	for (uint8_t i = 2; i < 32; i++)
		assert_true(roce_rnr_timer_ns(i) > roce_rnr_timer_ns((uint8_t)(i - 1)));
}

static void naks_that_end_it(void **state)
{
	static const enum roce_wc_status want[] = {ROCE_WC_REM_INV_REQ_ERR, ROCE_WC_REM_ACCESS_ERR,
						   ROCE_WC_REM_OP_ERR};

	(void)state;
	for (uint8_t i = 0; i < 3; i++) {
		struct pair p = pair_start();
		uint8_t in[8];

		assert_int_equal(pair_recv(p.a, 7, in, sizeof(in)), ROCE_OK);
		assert_int_equal(pair_send(p.a, 1, data, 256), ROCE_OK);
		assert_int_equal(pair_send(p.a, 2, data, 256 * 2), ROCE_OK);
		assert_int_equal(pair_send(p.a, 3, data, 256), ROCE_OK);
		assert_int_equal(pair_lose(p.a, 0), 4);
		pair_ack(p.a, 0, (uint8_t)(ROCE_SYN_NAK_INVALID_REQUEST + i), PAIR_PSN_A + 2);
		assert_int_equal(roce_qp_state(p.a), ROCE_QP_ERR);
		assert_int_equal(roce_qp_error(p.a), want[i]);
		pair_expect(p.a, 7, ROCE_WC_FLUSHED);
		pair_expect(p.a, 1, ROCE_WC_SUCCESS);
		pair_expect(p.a, 2, want[i]);
		pair_expect(p.a, 3, ROCE_WC_FLUSHED);
		pair_expect_none(p.a);
		pair_expect_silence(p.a, 100 * MS);
		/* A request posted after this is flushed at once. */
		assert_int_equal(pair_send(p.a, 4, data, 1), ROCE_OK);
		assert_int_equal(pair_recv(p.a, 5, in, 8), ROCE_OK);
		pair_expect(p.a, 5, ROCE_WC_FLUSHED);
		pair_expect(p.a, 4, ROCE_WC_FLUSHED);
		pair_end(&p);
	}
}

static void states_and_queues(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, 9}, .ip = 1, .qpn = 9};
	struct roce_qp *qp;
	uint8_t in[4];

	(void)state;
	cfg.sq_depth = 3;
	cfg.rq_depth = 2;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_state(qp), ROCE_QP_INIT);
	assert_int_equal(pair_send(qp, 1, data, 1), ROCE_E_STATE);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_E_STATE);
	assert_int_equal(pair_recv(qp, 1, in, 4), ROCE_OK);
	assert_int_equal(pair_recv(qp, 2, in, 4), ROCE_OK);
	assert_int_equal(pair_recv(qp, 3, in, 4), ROCE_E_AGAIN);
	assert_int_equal(pair_recv(qp, 3, NULL, 4), ROCE_E_INVALID);
	peer.qpn = 1u << 24;
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_E_INVALID);
	peer.qpn = 9;
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_E_STATE);
	assert_int_equal(pair_send(qp, 1, data, 1), ROCE_E_STATE);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_OK);
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(pair_send(qp, i, data, 1), ROCE_OK);
	assert_int_equal(pair_send(qp, 3, data, 1), ROCE_E_AGAIN);
	assert_int_equal(pair_send(qp, 3, NULL, 1), ROCE_E_INVALID);
	assert_int_equal(pair_send(qp, 3, data, (1u << 31) + 1), ROCE_E_INVALID);
	assert_int_equal(pair_lose(qp, 0), 3);
	pair_ack(qp, 0, ROCE_SYN_ACK, PAIR_PSN_A);
	/* Acknowledged, but the slot is free only after polling. */
	assert_int_equal(pair_send(qp, 3, data, 1), ROCE_E_AGAIN);
	pair_expect(qp, 0, ROCE_WC_SUCCESS);
	assert_int_equal(pair_send(qp, 3, data, 1), ROCE_OK);
	roce_qp_to_err(qp);
	roce_qp_to_err(qp);
	assert_int_equal(roce_qp_error(qp), ROCE_WC_FLUSHED);
	pair_expect(qp, 1, ROCE_WC_FLUSHED);
	pair_expect(qp, 2, ROCE_WC_FLUSHED);
	for (uint64_t i = 1; i < 4; i++)
		pair_expect(qp, i, ROCE_WC_FLUSHED);
	pair_expect_none(qp);
	pair_expect_silence(qp, 0);
	roce_qp_destroy(qp);
	roce_qp_destroy(NULL);
}

static void room_is_checked(void **state)
{
	struct pair p = pair_start();
	uint8_t frame[ROCE_FRAME_MAX];

	(void)state;
	assert_int_equal(pair_send(p.a, 1, data, 1), ROCE_OK);
	assert_int_equal(roce_qp_tx(p.a, 0, frame, ROCE_FRAME_MAX - 1), 0);
	assert_true(roce_qp_tx(p.a, 0, frame, ROCE_FRAME_MAX) > 0);
	pair_end(&p);
}

static void refused_settings(void **state)
{
	struct roce_qp *qp = NULL;
	struct roce_qp_cfg c;

	(void)state;
#define REFUSE(change)                                                                             \
	do {                                                                                       \
		c = pair_cfg(true);                                                                \
		change;                                                                            \
		assert_int_equal(roce_qp_create(&c, &qp), ROCE_E_INVALID);                         \
		assert_null(qp);                                                                   \
	} while (0)
	REFUSE(c.mtu = 128);
	REFUSE(c.mtu = 8192);
	REFUSE(c.mtu = 1500);
	REFUSE(c.qpn = 1);
	REFUSE(c.qpn = 1u << 24);
	REFUSE(c.sq_psn = 1u << 24);
	REFUSE(c.rq_psn = 1u << 24);
	REFUSE(c.window = 0);
	REFUSE(c.window = (1u << 22) + 1);
	REFUSE(c.sq_depth = (1u << 20) + 1);
	REFUSE(c.rq_depth = (1u << 20) + 1);
	REFUSE(c.ack_timeout = 0);
	REFUSE(c.ack_timeout_max = c.ack_timeout - 1);
	REFUSE(c.ack_timeout_max = UINT64_MAX);
	REFUSE(c.rnr_retry = 8);
	REFUSE(c.min_rnr_timer = 32);
	REFUSE(c.selective = true; c.window = 4097);
	REFUSE(c.region_count = 1);
#undef REFUSE
}

static void no_memory(void **state)
{
	struct roce_qp_cfg cfg = pair_cfg(true);
	struct roce_qp *qp = NULL;

	(void)state;
	fail_at = 1;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_E_NO_MEMORY);
	assert_null(qp);
	/* There is no second allocation. */
	fail_at = 2;
	assert_int_equal(roce_qp_create(&cfg, &qp), ROCE_OK);
	assert_int_equal(fail_at, 1);
	fail_at = 0;
	roce_qp_destroy(qp);
}

static void status_names(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < ROCE_WC_STATUSES; i++)
		assert_string_not_equal(roce_wc_status_name((enum roce_wc_status)i), "unknown");
	assert_string_equal(roce_wc_status_name(ROCE_WC_STATUSES), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_length_and_operation),
		cmocka_unit_test(packets_of_a_message),
		cmocka_unit_test(psn_wraps),
		cmocka_unit_test(window_and_ackreq),
		cmocka_unit_test(acks_that_say_nothing),
		cmocka_unit_test(sequence_nak_once_per_advance),
		cmocka_unit_test(ack_overtakes_the_step_back),
		cmocka_unit_test(timeouts_double_and_end),
		cmocka_unit_test(progress_resets_the_timer),
		cmocka_unit_test(recovery_doubles),
		cmocka_unit_test(recovery_ends_when_not_needed),
		cmocka_unit_test(nak_ends_the_recovery),
		cmocka_unit_test(retry_forever),
		cmocka_unit_test(rnr_waits_and_counts),
		cmocka_unit_test(ack_ends_the_rnr_wait),
		cmocka_unit_test(rnr_timer_table),
		cmocka_unit_test(naks_that_end_it),
		cmocka_unit_test(states_and_queues),
		cmocka_unit_test(room_is_checked),
		cmocka_unit_test(refused_settings),
		cmocka_unit_test(no_memory),
		cmocka_unit_test(status_names),
	};

	return cmocka_run_group_tests(tests, fill_data, NULL);
}
