/*
 * Congestion marks. Reaction: that of TCP to ECN. A mark or CNP halves the packets in flight, at
 * most once per round trip (RFC 3168, 6.1.2; RFC 5681, equation 4); afterwards the window grows by
 * one packet per window acknowledged (RFC 5681, 3.1, congestion avoidance) up to cfg.window. A
 * mirror connection whose packets may be marked begins with slow start (RFC 5681, 3.1): a rank that
 * only receives would otherwise ask for a whole window before the first mark can come.
 * Notification: that of a DCQCN notification point (Zhu et al., SIGCOMM 2015): a CNP for a marked
 * packet, at most one per 50 us.
 */
#include "host/roce/qp_internal.h"

#define CNP_INTERVAL_NS 50000u
#define CNP_BYTES 16u    /* reserved, zero (annex A17.9.3) */
#define WINDOW_LEAST 2u  /* RFC 5681, equation 4 */
#define WINDOW_FIRST 64u /* more than a round trip at 100 Gb/s: slow start costs no rate there */
#define ECN_BITS 3u

static uint32_t ack_every(const struct roce_qp_cfg *cfg, uint32_t window)
{
	/* If holes are repaired one by one, the window is the limit: it opens in smaller steps. */
	uint32_t parts = cfg->selective ? 16 : 4;

	return window >= parts ? window / parts : 1;
}

static void set_window(struct roce_qp *qp, uint32_t window)
{
	struct roce_requester *rq = &qp->rq;

	rq->window = window;
	rq->ack_every = ack_every(&qp->cfg, window);
	if (!rq->recovering || rq->limit > window)
		rq->limit = window;
}

void roce_congestion_start(struct roce_qp *qp)
{
	const struct roce_qp_cfg *cfg = &qp->cfg;

	qp->rq.slow_start = cfg->mirror && (cfg->tos & ECN_BITS) != 0;
	set_window(qp,
		   qp->rq.slow_start && cfg->window > WINDOW_FIRST ? WINDOW_FIRST : cfg->window);
}

void roce_congestion_cut(struct roce_qp *qp)
{
	struct roce_requester *rq = &qp->rq;
	uint64_t half = (rq->max - rq->una) / 2;

	if (rq->una < rq->cut_end || rq->una == rq->max)
		return;
	rq->cut_end = rq->max;
	rq->slow_start = false;
	rq->grown = 0;
	if (half >= rq->window)
		return;
	qp->n.window_cuts++;
	set_window(qp, half > WINDOW_LEAST ? (uint32_t)half : WINDOW_LEAST);
}

void roce_congestion_grow(struct roce_qp *qp, uint64_t acked)
{
	struct roce_requester *rq = &qp->rq;
	uint64_t more = rq->window + acked;

	if (rq->slow_start) {
		set_window(qp, more < qp->cfg.window ? (uint32_t)more : qp->cfg.window);
		return;
	}
	rq->grown += (uint32_t)acked;
	if (rq->grown < rq->window)
		return;
	rq->grown -= rq->window;
	set_window(qp, rq->window + 1);
}

void roce_congestion_marked(struct roce_qp *qp, uint64_t now)
{
	qp->n.rx_marked++;
	if (now >= qp->cnp_after) {
		qp->cnp = true;
		qp->cnp_after = now + CNP_INTERVAL_NS;
	}
	/* The mark was made on the way to the box or on the way back: our packets were in both. */
	if (qp->cfg.mirror)
		roce_congestion_cut(qp);
}

size_t roce_congestion_tx(struct roce_qp *qp, uint8_t *frame, size_t room)
{
	static const uint8_t reserved[CNP_BYTES];
	struct roce_packet p = qp->header;
	size_t len;

	p.opcode = ROCE_OP_CNP;
	p.tos &= (uint8_t)~ECN_BITS;
	p.se = false;
	p.migreq = false;
	p.becn = true;
	p.ackreq = false;
	p.psn = 0;
	p.payload = reserved;
	p.payload_len = sizeof(reserved);
	len = roce_build(&p, frame, room);
	if (len > 0) {
		qp->cnp = false;
		qp->n.tx_cnps++;
	}
	return len;
}
