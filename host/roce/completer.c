#include "host/roce/qp_internal.h"

/* Steps back and repeats everything unacknowledged: the receiver has dropped it. */
static void go_back(struct roce_qp *qp)
{
	qp->rq.recovering = false;
	qp->rq.limit = qp->rq.window;
	roce_requester_rewind(qp);
}

/*
 * A timeout does not prove that anything was lost: the receiver, or the box, may have waited for
 * another rank, and repeating a whole window would send a window of duplicates. So only the oldest
 * packet is sent, then as many as were acknowledged. An acknowledgement of packets not repeated yet
 * ends this: their first copies had arrived.
 */
static void recover(struct roce_qp *qp, uint64_t una, uint64_t before)
{
	struct roce_requester *rq = &qp->rq;
	uint64_t limit = rq->limit + (una - before);

	if (una > rq->nxt)
		roce_requester_skip(qp);
	rq->recovering = rq->nxt < rq->max;
	rq->limit = rq->recovering && limit < rq->window ? (uint32_t)limit : rq->window;
}

/* Everything below packet number `una` has been acknowledged. */
static void advance(struct roce_qp *qp, uint64_t now, uint64_t una)
{
	struct roce_requester *rq = &qp->rq;
	uint64_t before = rq->una;

	if (una == before)
		return;
	rq->una = una;
	while (rq->q.done != rq->q.posted) {
		const struct roce_send_slot *slot = &rq->slots[rq->q.done & rq->q.mask];

		if (slot->first + slot->packets > una)
			break;
		rq->q.done++;
	}
	if (rq->recovering)
		recover(qp, una, before);
	else if (rq->nxt < una) /* stepped back, but these packets had arrived after all */
		roce_requester_rewind(qp);
	if (rq->window < qp->cfg.window)
		roce_congestion_grow(qp, una - before);
	rq->retries = 0;
	rq->rnr_retries = 0;
	rq->nak_obeyed = false;
	rq->timeout = qp->cfg.ack_timeout;
	roce_timer_ack(rq, now);
	if (qp->cfg.selective)
		roce_selective_busy(qp, now);
}

static void sequence_nak(struct roce_qp *qp, uint64_t now)
{
	struct roce_requester *rq = &qp->rq;

	qp->n.rx_naks++;
	/*
	 * Do this once per advance: the same gap may be reported more than once, and each time a
	 * whole window would be sent again. If the repeat is lost too, the timer repairs it.
	 */
	if (rq->nak_obeyed || rq->timer == ROCE_TIMER_RNR) {
		qp->n.rx_naks_ignored++;
		return;
	}
	rq->nak_obeyed = true;
	go_back(qp);
	roce_timer_ack(rq, now);
}

static void rnr_nak(struct roce_qp *qp, uint64_t now, uint8_t code)
{
	struct roce_requester *rq = &qp->rq;

	qp->n.rx_rnr_naks++;
	if (rq->timer == ROCE_TIMER_RNR)
		return; /* already waiting */
	if (qp->cfg.rnr_retry != ROCE_RNR_FOREVER && rq->rnr_retries >= qp->cfg.rnr_retry) {
		roce_qp_fail(qp, ROCE_WC_RNR_RETRY_EXC_ERR, ROCE_WC_SUCCESS);
		return;
	}
	rq->rnr_retries++;
	/* The receiver is alive: clear the transport timer's retries while it makes us wait. */
	rq->retries = 0;
	rq->timeout = qp->cfg.ack_timeout;
	go_back(qp);
	roce_timer_start(rq, ROCE_TIMER_RNR, now + roce_rnr_timer_ns(code));
}

static void fatal_nak(struct roce_qp *qp, uint8_t syndrome)
{
	enum roce_wc_status status = ROCE_WC_REM_OP_ERR;

	qp->n.rx_fatal_naks++;
	if (syndrome == ROCE_SYN_NAK_INVALID_REQUEST)
		status = ROCE_WC_REM_INV_REQ_ERR;
	else if (syndrome == ROCE_SYN_NAK_REMOTE_ACCESS)
		status = ROCE_WC_REM_ACCESS_ERR;
	roce_qp_fail(qp, status, ROCE_WC_SUCCESS);
}

void roce_completer_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p)
{
	struct roce_requester *rq = &qp->rq;
	uint64_t in_flight = rq->max - rq->una;
	/* Distance of a packet from the oldest one in flight, which is 0. */
	uint32_t k = roce_psn_distance(p->psn, roce_psn_add(qp->cfg.sq_psn, rq->una));
	uint8_t kind = p->syndrome & 0xe0;

	if (k >= in_flight || (kind == 0x60 && p->syndrome > ROCE_SYN_NAK_REMOTE_OPERATION) ||
	    (kind != 0 && kind != ROCE_SYN_RNR && kind != 0x60)) {
		qp->n.rx_acks_stale++;
		return;
	}
	if (kind == 0) {
		/*
		 * Acknowledges the named packet and all before it, whether or not we requested the
		 * ACK.
		 */
		qp->n.rx_acks++;
		advance(qp, now, rq->una + k + 1);
		return;
	}
	if (qp->cfg.selective && p->syndrome == ROCE_SYN_NAK_SEQUENCE) {
		/*
		 * One packet is missing; the NAK does not acknowledge any other. This is not
		 * progress, so the timer keeps running: if a packet is requested again and again in
		 * vain, the connection must end.
		 */
		qp->n.rx_naks++;
		roce_selective_asked(qp, now, rq->una + k);
		return;
	}
	/* A NAK acknowledges what lies before the packet that it names (IBTA 9.7.5.1.2). */
	advance(qp, now, rq->una + k);
	if (kind == ROCE_SYN_RNR)
		rnr_nak(qp, now, p->syndrome & 0x1f);
	else if (p->syndrome == ROCE_SYN_NAK_SEQUENCE)
		sequence_nak(qp, now);
	else
		fatal_nak(qp, p->syndrome);
}
