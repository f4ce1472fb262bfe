/* What happens when a timer expires, and when the next one does. */
#include "host/roce/qp_internal.h"

void roce_timeout(struct roce_qp *qp, uint64_t now)
{
	struct roce_requester *rq = &qp->rq;

	if (rq->timer == ROCE_TIMER_RNR) {
		roce_timer_ack(rq, now);
		return;
	}
	qp->n.timeouts++;
	if (qp->cfg.retry_cnt != ROCE_RETRY_FOREVER && rq->retries >= qp->cfg.retry_cnt) {
		roce_qp_fail(qp, ROCE_WC_RETRY_EXC_ERR, ROCE_WC_SUCCESS);
		return;
	}
	rq->retries++;
	if (qp->cfg.selective) {
		roce_selective_timeout(qp);
	} else {
		roce_requester_rewind(qp);
		rq->recovering = true;
		rq->limit = 1;
	}
	if (rq->timeout < qp->cfg.ack_timeout_max / 2)
		rq->timeout *= 2;
	else
		rq->timeout = qp->cfg.ack_timeout_max;
	roce_timer_ack(rq, now);
}

uint64_t roce_qp_next_timeout(const struct roce_qp *qp)
{
	uint64_t due = qp->state == ROCE_QP_ERR ? UINT64_MAX : qp->sel.due;

	if (qp->state != ROCE_QP_RTS)
		return due;
	if (qp->sel.probe < due)
		due = qp->sel.probe;
	return qp->rq.deadline < due ? qp->rq.deadline : due;
}
