#include "host/roce/qp_internal.h"

#define MESSAGE_MAX (1u << 31)

static const uint8_t zeroes[ROCE_MTU_MAX];

int roce_qp_post_send(struct roce_qp *qp, const struct roce_send_wr *wr)
{
	struct roce_requester *rq = &qp->rq;
	struct roce_send_slot *slot;

	if (wr->len > MESSAGE_MAX || (wr->len > 0 && !wr->buf) || wr->opcode > ROCE_WR_WRITE_IMM ||
	    (qp->cfg.single && wr->len > qp->cfg.mtu))
		return ROCE_E_INVALID;
	if (qp->state != ROCE_QP_RTS && qp->state != ROCE_QP_ERR)
		return ROCE_E_STATE;
	if (rq->q.posted - rq->q.polled >= rq->q.depth)
		return ROCE_E_AGAIN;
	slot = &rq->slots[rq->q.posted++ & rq->q.mask];
	slot->wr = *wr;
	slot->first = rq->end;
	slot->packets = roce_packets_of(qp, wr->len);
	slot->status = ROCE_WC_SUCCESS;
	rq->end += slot->packets;
	if (qp->state == ROCE_QP_ERR) {
		slot->status = ROCE_WC_FLUSHED;
		rq->q.done = rq->q.posted;
	}
	return ROCE_OK;
}

void roce_requester_rewind(struct roce_qp *qp)
{
	/* The first unacknowledged packet belongs to the oldest request that is not done. */
	qp->rq.nxt = qp->rq.una;
	qp->rq.cur = qp->rq.q.done;
}

void roce_requester_skip(struct roce_qp *qp)
{
	struct roce_requester *rq = &qp->rq;

	rq->nxt = rq->max;
	for (rq->cur = rq->q.done; rq->cur != rq->q.posted; rq->cur++) {
		const struct roce_send_slot *slot = &rq->slots[rq->cur & rq->q.mask];

		if (slot->first + slot->packets > rq->max)
			break;
	}
}

static uint8_t opcode_of(const struct roce_send_slot *slot, bool first, bool last)
{
	bool write = slot->wr.opcode == ROCE_WR_WRITE || slot->wr.opcode == ROCE_WR_WRITE_IMM;
	bool imm = slot->wr.opcode == ROCE_WR_SEND_IMM || slot->wr.opcode == ROCE_WR_WRITE_IMM;
	uint8_t base = write ? ROCE_OP_WRITE_FIRST : ROCE_OP_SEND_FIRST;

	if (first && last)
		return (uint8_t)(base + ROCE_OP_SEND_ONLY + imm);
	if (last)
		return (uint8_t)(base + ROCE_OP_SEND_LAST + imm);
	return (uint8_t)(base + (first ? ROCE_OP_SEND_FIRST : ROCE_OP_SEND_MIDDLE));
}

/*
 * An ACK is requested at the end of a message, often enough to keep the window open, at the packet
 * we stepped back to, and where recovery or congestion makes us stop and wait. If every packet is a
 * message: only at the last one that is posted.
 */
static bool wants_ack(const struct roce_qp *qp, uint64_t number, bool last)
{
	const struct roce_requester *rq = &qp->rq;

	return (qp->cfg.single ? number + 1 == rq->end : last) ||
	       number % rq->ack_every == rq->ack_every - 1 ||
	       (number < rq->max && (qp->cfg.selective || number == rq->una)) ||
	       (rq->limit < qp->cfg.window && number - rq->una + 1 == rq->limit);
}

/* Mirror: the result of a packet is here, so the box has the packet, and its bytes are not needed.
 */
static bool has_result(const struct roce_qp *qp, uint32_t psn)
{
	return roce_psn_distance(qp->rs.epsn, roce_psn_add(psn, 1)) < 1u << 23;
}

/* Builds packet `number` of the queue pair, which belongs to the request in `slot`. */
static void fill_packet(const struct roce_qp *qp, const struct roce_send_slot *slot,
			uint64_t number, struct roce_packet *p)
{
	const struct roce_requester *rq = &qp->rq;
	uint32_t k = (uint32_t)(number - slot->first);
	uint32_t offset = k * qp->cfg.mtu;
	uint32_t left = slot->wr.len - offset;
	bool first = k == 0;
	bool last = k + 1 == slot->packets;

	p->opcode = opcode_of(slot, first, last);
	p->se = last && slot->wr.solicited;
	p->psn = roce_psn_add(qp->cfg.sq_psn, number);
	p->ackreq = wants_ack(qp, number, last);
	p->va = slot->wr.remote_va;
	p->rkey = slot->wr.rkey;
	p->dma_length = slot->wr.len;
	p->imm = slot->wr.imm;
	p->payload_len = left < qp->cfg.mtu ? left : qp->cfg.mtu;
	p->payload = p->payload_len > 0 ? (const uint8_t *)slot->wr.buf + offset : NULL;
	if (number < rq->max && qp->cfg.mirror && has_result(qp, p->psn))
		p->payload = zeroes;
}

/* The open request that a packet in flight belongs to. */
static const struct roce_send_slot *slot_of(const struct roce_qp *qp, uint64_t number)
{
	const struct roce_requester *rq = &qp->rq;
	uint32_t k;

	if (qp->cfg.single)
		return &rq->slots[(rq->q.done + (uint32_t)(number - rq->una)) & rq->q.mask];
	for (k = rq->q.done; k != rq->q.posted; k++) {
		const struct roce_send_slot *slot = &rq->slots[k & rq->q.mask];

		if (number < slot->first + slot->packets)
			return slot;
	}
	return NULL;
}

/* Repeats a single packet. */
static size_t resend(struct roce_qp *qp, uint8_t *frame, size_t room)
{
	const struct roce_send_slot *slot;
	uint64_t number;
	size_t len;

	if (qp->rq.timer == ROCE_TIMER_RNR || !roce_selective_next(qp, &number))
		return 0;
	slot = slot_of(qp, number);
	if (!slot)
		return 0;
	fill_packet(qp, slot, number, &qp->header);
	len = roce_build(&qp->header, frame, room);
	if (len > 0) {
		qp->n.tx_packets++;
		qp->n.tx_bytes += qp->header.payload_len;
		qp->n.tx_retransmits++;
	}
	return len;
}

size_t roce_requester_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room)
{
	struct roce_requester *rq = &qp->rq;
	const struct roce_send_slot *slot;
	struct roce_packet *p = &qp->header;
	size_t len;

	if (qp->cfg.selective) {
		len = resend(qp, frame, room);
		if (len > 0)
			return len;
	}
	if (rq->timer == ROCE_TIMER_RNR || rq->nxt == rq->end || rq->nxt - rq->una >= rq->limit)
		return 0;
	slot = &rq->slots[rq->cur & rq->q.mask];
	fill_packet(qp, slot, rq->nxt, p);
	len = roce_build(p, frame, room);
	if (len == 0)
		return 0;
	qp->n.tx_packets++;
	qp->n.tx_bytes += p->payload_len;
	if (rq->nxt < rq->max)
		qp->n.tx_retransmits++;
	rq->nxt++;
	if (rq->nxt == slot->first + slot->packets)
		rq->cur++;
	if (rq->max < rq->nxt) {
		rq->max = rq->nxt;
		if (qp->cfg.selective)
			roce_selective_busy(qp, now);
	}
	if (rq->timer == ROCE_TIMER_IDLE)
		roce_timer_ack(rq, now);
	return len;
}
