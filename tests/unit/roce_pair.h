/* Two connected queue pairs without endpoints, and packets made by the test. */
#ifndef ROCE_PAIR_H
#define ROCE_PAIR_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "host/roce/qp.h"

#define PAIR_QPN_A 0x11
#define PAIR_QPN_B 0x22
#define PAIR_PSN_A 0x000100u
#define PAIR_PSN_B 0xffff00u

struct pair {
	struct roce_qp *a;
	struct roce_qp *b;
	uint64_t now;
};

static inline struct roce_qp_cfg pair_cfg(bool is_a)
{
	struct roce_qp_cfg cfg;

	roce_qp_cfg_init(&cfg);
	cfg.mac[0] = 2;
	cfg.mac[5] = is_a ? 1 : 2;
	cfg.ip = is_a ? 0x0a000001 : 0x0a000002;
	cfg.qpn = is_a ? PAIR_QPN_A : PAIR_QPN_B;
	cfg.sq_psn = is_a ? PAIR_PSN_A : PAIR_PSN_B;
	cfg.rq_psn = is_a ? PAIR_PSN_B : PAIR_PSN_A;
	cfg.mtu = 256;
	cfg.window = 16;
	return cfg;
}

static inline struct roce_qp *pair_qp(const struct roce_qp_cfg *cfg, bool is_a)
{
	struct roce_qp_peer peer = {.mac = {2, 0, 0, 0, 0, 0}};
	struct roce_qp *qp = NULL;

	peer.mac[5] = is_a ? 2 : 1;
	peer.ip = is_a ? 0x0a000002 : 0x0a000001;
	peer.qpn = is_a ? PAIR_QPN_B : PAIR_QPN_A;
	assert_int_equal(roce_qp_create(cfg, &qp), ROCE_OK);
	assert_int_equal(roce_qp_to_rtr(qp, &peer), ROCE_OK);
	assert_int_equal(roce_qp_to_rts(qp), ROCE_OK);
	return qp;
}

static inline struct pair pair_start(void)
{
	struct roce_qp_cfg a = pair_cfg(true);
	struct roce_qp_cfg b = pair_cfg(false);
	struct pair p = {pair_qp(&a, true), pair_qp(&b, false), 1000};

	return p;
}

static inline void pair_end(struct pair *p)
{
	roce_qp_destroy(p->a);
	roce_qp_destroy(p->b);
}

/* One frame of `qp`, parsed; false if it has none. The packet's payload is valid until the next
 * call. */
static inline bool pair_take(struct roce_qp *qp, uint64_t now, struct roce_packet *p)
{
	static uint8_t frame[ROCE_FRAME_MAX];
	size_t len = roce_qp_tx(qp, now, frame, sizeof(frame));

	if (len == 0)
		return false;
	assert_int_equal(roce_parse(frame, len, p), ROCE_WIRE_OK);
	assert_true(roce_icrc_ok(frame, p));
	return true;
}

/* Delivers all frames from one to the other; returns their number. */
static inline unsigned int pair_move(struct roce_qp *from, struct roce_qp *to, uint64_t now)
{
	struct roce_packet p;
	unsigned int n = 0;

	while (pair_take(from, now, &p)) {
		roce_qp_rx(to, now, &p);
		n++;
	}
	return n;
}

/* Discards all frames that one has to send. */
static inline unsigned int pair_lose(struct roce_qp *from, uint64_t now)
{
	struct roce_packet p;
	unsigned int n = 0;

	while (pair_take(from, now, &p))
		n++;
	return n;
}

static inline void pair_settle(struct pair *p)
{
	while (pair_move(p->a, p->b, p->now) + pair_move(p->b, p->a, p->now) > 0)
		;
}

/* A response to `to`, made by the test. */
static inline void pair_ack(struct roce_qp *to, uint64_t now, uint8_t syndrome, uint32_t psn)
{
	struct roce_packet p;

	memset(&p, 0, sizeof(p));
	p.opcode = ROCE_OP_ACK;
	p.syndrome = syndrome;
	p.psn = psn & ROCE_PSN_MASK;
	roce_qp_rx(to, now, &p);
}

/* A request to `to`, made by the test. */
static inline void pair_request(struct roce_qp *to, uint8_t opcode, uint32_t psn, const void *data,
				uint32_t len)
{
	struct roce_packet p;

	memset(&p, 0, sizeof(p));
	p.opcode = opcode;
	p.psn = psn & ROCE_PSN_MASK;
	p.payload = data;
	p.payload_len = len;
	p.dma_length = len;
	roce_qp_rx(to, 0, &p);
}

static inline int pair_send(struct roce_qp *qp, uint64_t id, const void *buf, uint32_t len)
{
	struct roce_send_wr wr = {.wr_id = id, .opcode = ROCE_WR_SEND, .buf = buf, .len = len};

	return roce_qp_post_send(qp, &wr);
}

static inline int pair_recv(struct roce_qp *qp, uint64_t id, void *buf, uint32_t len)
{
	struct roce_recv_wr wr = {.wr_id = id, .buf = buf, .len = len};

	return roce_qp_post_recv(qp, &wr);
}

static inline void pair_expect(struct roce_qp *qp, uint64_t id, enum roce_wc_status status)
{
	struct roce_cqe cqe;

	assert_int_equal(roce_qp_poll(qp, &cqe), 1);
	assert_int_equal(cqe.wr_id, id);
	assert_int_equal(cqe.status, status);
}

static inline void pair_expect_none(struct roce_qp *qp)
{
	struct roce_cqe cqe;

	assert_int_equal(roce_qp_poll(qp, &cqe), 0);
}

/* The next frame of `qp` is a response with this syndrome and PSN. */
static inline void pair_expect_response(struct roce_qp *qp, uint8_t syndrome, uint32_t psn)
{
	struct roce_packet p;

	assert_true(pair_take(qp, 0, &p));
	assert_int_equal(p.opcode, ROCE_OP_ACK);
	assert_int_equal(p.syndrome, syndrome);
	assert_int_equal(p.psn, psn & ROCE_PSN_MASK);
}

static inline void pair_expect_silence(struct roce_qp *qp, uint64_t now)
{
	struct roce_packet p;

	assert_false(pair_take(qp, now, &p));
}

#endif
