#include "host/roce/qp_internal.h"

#include <string.h>

int roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr)
{
	struct roce_responder *rs = &qp->rs;
	struct roce_recv_slot *slot;

	if (wr->len > 0 && !wr->buf)
		return ROCE_E_INVALID;
	if (rs->q.posted - rs->q.polled >= rs->q.depth)
		return ROCE_E_AGAIN;
	slot = &rs->slots[rs->q.posted++ & rs->q.mask];
	memset(slot, 0, sizeof(*slot));
	slot->wr = *wr;
	slot->opcode = ROCE_WC_RECV;
	if (qp->state == ROCE_QP_ERR) {
		slot->status = ROCE_WC_FLUSHED;
		rs->q.done = rs->q.posted;
	}
	return ROCE_OK;
}

int roce_qp_recv_progress(const struct roce_qp *qp, uint64_t *wr_id, uint32_t *bytes)
{
	const struct roce_responder *rs = &qp->rs;

	if (!rs->in_message || rs->is_write || rs->q.done == rs->q.posted)
		return 0;
	*wr_id = rs->slots[rs->q.done & rs->q.mask].wr.wr_id;
	*bytes = rs->offset;
	return 1;
}

static void respond(struct roce_responder *rs, uint8_t syndrome)
{
	rs->response = syndrome < ROCE_SYN_RNR ? ROCE_RESPONSE_ACK : ROCE_RESPONSE_NAK;
	rs->syndrome = syndrome;
}

/* The peer violated the protocol: send a NAK and end the connection. */
static void refuse(struct roce_qp *qp, uint8_t syndrome, enum roce_wc_status status)
{
	qp->n.rx_errors++;
	qp->rs.fatal = syndrome;
	respond(&qp->rs, syndrome);
	roce_qp_fail(qp, ROCE_WC_SUCCESS, status);
}

static uint8_t *resolve(const struct roce_qp *qp, const struct roce_packet *p)
{
	for (uint32_t i = 0; i < qp->cfg.region_count; i++) {
		const struct roce_region *r = &qp->cfg.regions[i];
		uint64_t at = p->va - r->va;

		if (r->rkey == p->rkey && p->va >= r->va && at <= r->len &&
		    p->dma_length <= r->len - at)
			return (uint8_t *)r->addr + at;
	}
	return NULL;
}

/* Returns 0 if the expected packet fits into the message under way and has the required length. */
static int check_order(const struct roce_qp *qp, const struct roce_packet *p, unsigned int flags)
{
	const struct roce_responder *rs = &qp->rs;
	bool start = flags & ROCE_F_START;

	if (!(flags & (ROCE_F_SEND | ROCE_F_WRITE)))
		return -1;
	if (start == rs->in_message)
		return -1;
	if (!start && rs->is_write != !!(flags & ROCE_F_WRITE))
		return -1;
	if (!(flags & ROCE_F_END))
		return p->payload_len == qp->cfg.mtu ? 0 : -1;
	if (p->payload_len > qp->cfg.mtu || (!start && p->payload_len == 0))
		return -1;
	return 0;
}

/* Returns 0, or the NAK for the packet. Opens the message if the packet is its first. */
static uint8_t open_message(struct roce_qp *qp, const struct roce_packet *p, unsigned int flags)
{
	struct roce_responder *rs = &qp->rs;

	if (flags & ROCE_F_START) {
		rs->is_write = flags & ROCE_F_WRITE;
		rs->offset = 0;
		if (rs->is_write) {
			rs->dst = resolve(qp, p);
			rs->room = p->dma_length;
			if (!rs->dst && p->dma_length > 0)
				return ROCE_SYN_NAK_REMOTE_ACCESS;
		} else {
			const struct roce_recv_slot *slot = &rs->slots[rs->q.done & rs->q.mask];

			rs->dst = slot->wr.buf;
			rs->room = slot->wr.len;
		}
	}
	if (p->payload_len > rs->room - rs->offset)
		return ROCE_SYN_NAK_INVALID_REQUEST;
	/* A WRITE must have the length announced in its RETH. */
	if (rs->is_write && flags & ROCE_F_END && p->payload_len != rs->room - rs->offset)
		return ROCE_SYN_NAK_INVALID_REQUEST;
	return 0;
}

static void close_message(struct roce_responder *rs, const struct roce_packet *p,
			  unsigned int flags)
{
	rs->msn = (rs->msn + 1) & ROCE_PSN_MASK;
	rs->in_message = false;
	if (!rs->is_write || flags & ROCE_F_IMM) {
		struct roce_recv_slot *slot = &rs->slots[rs->q.done & rs->q.mask];

		slot->opcode = rs->is_write ? ROCE_WC_RECV_WRITE : ROCE_WC_RECV;
		slot->len = rs->offset;
		slot->has_imm = flags & ROCE_F_IMM;
		slot->imm = p->imm;
		rs->q.done++;
	}
}

static void take_expected(struct roce_qp *qp, const struct roce_packet *p, unsigned int flags)
{
	struct roce_responder *rs = &qp->rs;
	bool needs_buffer = (flags & ROCE_F_SEND && flags & ROCE_F_START) ||
			    (flags & ROCE_F_WRITE && flags & ROCE_F_IMM);
	uint8_t nak;

	if (check_order(qp, p, flags) != 0) {
		refuse(qp, ROCE_SYN_NAK_INVALID_REQUEST, ROCE_WC_LOC_QP_ERR);
		return;
	}
	if (needs_buffer && rs->q.done == rs->q.posted) {
		rs->nak_sent = true;
		respond(rs, (uint8_t)(ROCE_SYN_RNR | qp->cfg.min_rnr_timer));
		return;
	}
	nak = open_message(qp, p, flags);
	if (nak != 0) {
		refuse(qp, nak,
		       nak == ROCE_SYN_NAK_REMOTE_ACCESS ? ROCE_WC_LOC_PROT_ERR
							 : ROCE_WC_LOC_LEN_ERR);
		return;
	}
	if (p->payload_len > 0)
		memcpy(rs->dst + rs->offset, p->payload, p->payload_len);
	rs->offset += p->payload_len;
	rs->in_message = true;
	rs->nak_sent = false;
	rs->epsn = roce_psn_add(rs->epsn, 1);
	qp->n.rx_bytes += p->payload_len;
	if (flags & ROCE_F_END)
		close_message(rs, p, flags);
	if (p->ackreq || (flags & ROCE_F_END && !qp->cfg.single) ||
	    rs->response == ROCE_RESPONSE_NAK)
		respond(rs, ROCE_SYN_ACK);
}

/* Selective: accepts packets in any order. */
static void take_any(struct roce_qp *qp, uint64_t now, const struct roce_packet *p, uint32_t ahead)
{
	struct roce_responder *rs = &qp->rs;

	switch (roce_selective_rx(qp, now, p, ahead)) {
	case ROCE_SELECTIVE_SILENT:
		break;
	case ROCE_SELECTIVE_ACK:
		respond(rs, ROCE_SYN_ACK);
		break;
	case ROCE_SELECTIVE_NOT_READY:
		respond(rs, (uint8_t)(ROCE_SYN_RNR | qp->cfg.min_rnr_timer));
		break;
	case ROCE_SELECTIVE_REFUSE:
		refuse(qp, ROCE_SYN_NAK_INVALID_REQUEST, ROCE_WC_LOC_QP_ERR);
		break;
	}
}

void roce_responder_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p)
{
	struct roce_responder *rs = &qp->rs;
	uint32_t ahead = roce_psn_distance(p->psn, rs->epsn);

	if (qp->state == ROCE_QP_ERR) {
		/* The NAK that ended the connection may have been lost. */
		if (rs->fatal)
			respond(rs, rs->fatal);
		return;
	}
	if (qp->cfg.selective && ahead < 1u << 23) {
		take_any(qp, now, p, ahead);
	} else if (ahead == 0) {
		take_expected(qp, p, roce_opcode_flags(p->opcode));
	} else if (ahead < 1u << 23) {
		qp->n.rx_gaps++;
		if (!rs->nak_sent) {
			rs->nak_sent = true;
			respond(rs, ROCE_SYN_NAK_SEQUENCE);
		}
	} else {
		/*
		 * Accepted long ago, but its acknowledgement was lost. A pending NAK acknowledges
		 * it as well.
		 */
		qp->n.rx_duplicates++;
		if (rs->response != ROCE_RESPONSE_NAK)
			respond(rs, ROCE_SYN_ACK);
	}
}

size_t roce_responder_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room)
{
	struct roce_responder *rs = &qp->rs;
	struct roce_packet *p = &qp->header;
	uint32_t missing;
	bool named = false;
	size_t len;

	if (rs->response == ROCE_RESPONSE_NONE) {
		if (!roce_selective_nak(qp, now, &missing))
			return 0;
		named = true;
		rs->response = ROCE_RESPONSE_NAK;
		rs->syndrome = ROCE_SYN_NAK_SEQUENCE;
	}
	p->opcode = ROCE_OP_ACK;
	p->se = false;
	p->ackreq = false;
	p->syndrome = rs->syndrome;
	p->msn = rs->msn;
	p->payload = NULL;
	p->payload_len = 0;
	/* An ACK names the last packet accepted, a NAK the one that was expected. */
	p->psn = rs->response == ROCE_RESPONSE_ACK ? roce_psn_add(rs->epsn, ROCE_PSN_MASK)
						   : rs->epsn;
	if (named)
		p->psn = missing;
	len = roce_build(p, frame, room);
	if (len == 0)
		return 0;
	if (rs->response == ROCE_RESPONSE_ACK)
		qp->n.tx_acks++;
	else if (rs->syndrome < ROCE_SYN_NAK_SEQUENCE)
		qp->n.tx_rnr_naks++;
	else
		qp->n.tx_naks++;
	rs->response = ROCE_RESPONSE_NONE;
	return len;
}
