/* Queues of work requests, and how they end. */
#include "host/roce/qp_internal.h"

uint32_t roce_queue_slots(uint32_t depth)
{
	uint32_t n = 1;

	while (n < depth)
		n *= 2;
	return n;
}

void roce_queue_init(struct roce_queue *q, uint32_t depth)
{
	q->depth = depth;
	q->mask = roce_queue_slots(depth) - 1;
}

void roce_qp_fail(struct roce_qp *qp, enum roce_wc_status send, enum roce_wc_status recv)
{
	struct roce_queue *sq = &qp->rq.q;
	struct roce_queue *rq = &qp->rs.q;

	if (qp->state == ROCE_QP_ERR)
		return;
	qp->state = ROCE_QP_ERR;
	qp->error = send != ROCE_WC_SUCCESS ? send : recv;
	for (; sq->done != sq->posted; sq->done++) {
		qp->rq.slots[sq->done & sq->mask].status =
			send != ROCE_WC_SUCCESS ? send : ROCE_WC_FLUSHED;
		send = ROCE_WC_SUCCESS;
	}
	for (; rq->done != rq->posted; rq->done++) {
		qp->rs.slots[rq->done & rq->mask].status =
			recv != ROCE_WC_SUCCESS ? recv : ROCE_WC_FLUSHED;
		recv = ROCE_WC_SUCCESS;
	}
	qp->rs.in_message = false;
	/* Only the NAK that ends the connection is still to be sent. */
	if (!qp->rs.fatal)
		qp->rs.response = ROCE_RESPONSE_NONE;
	roce_timer_stop(&qp->rq);
}
