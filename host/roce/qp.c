#include "host/roce/qp.h"

#include <stdlib.h>
#include <string.h>

#include "host/roce/qp_internal.h"

#define DEPTH_MAX (1u << 20)
#define WINDOW_MAX (1u << 22)
#define ECN_CE 3u

const char *roce_wc_status_name(enum roce_wc_status status)
{
	static const char *const names[ROCE_WC_STATUSES] = {
		[ROCE_WC_SUCCESS] = "success",
		[ROCE_WC_LOC_LEN_ERR] = "message longer than the receive buffer",
		[ROCE_WC_LOC_PROT_ERR] = "peer's write is outside every region",
		[ROCE_WC_LOC_QP_ERR] = "packets of the peer violate the protocol",
		[ROCE_WC_FLUSHED] = "flushed: the queue pair had ended",
		[ROCE_WC_REM_INV_REQ_ERR] = "peer refused: invalid request",
		[ROCE_WC_REM_ACCESS_ERR] = "peer refused: remote access error",
		[ROCE_WC_REM_OP_ERR] = "peer refused: remote operational error",
		[ROCE_WC_RETRY_EXC_ERR] = "retry count exceeded: no acknowledgement",
		[ROCE_WC_RNR_RETRY_EXC_ERR] = "receiver-not-ready retry count exceeded",
	};

	if ((unsigned int)status >= ROCE_WC_STATUSES)
		return "unknown";
	return names[status];
}

void roce_qp_cfg_init(struct roce_qp_cfg *cfg)
{
	memset(cfg, 0, sizeof(*cfg));
	cfg->mtu = 1024;
	cfg->window = 256;
	cfg->sq_depth = 64;
	cfg->rq_depth = 64;
	cfg->ack_timeout = 4 * 1000 * 1000;
	cfg->ack_timeout_max = 256 * 1000 * 1000;
	cfg->retry_cnt = 7;
	cfg->rnr_retry = ROCE_RNR_FOREVER;
	cfg->min_rnr_timer = 1;
}

static int cfg_check(const struct roce_qp_cfg *c)
{
	if (c->mtu < ROCE_MTU_MIN || c->mtu > ROCE_MTU_MAX || (c->mtu & (c->mtu - 1)) != 0)
		return ROCE_E_INVALID;
	if (c->qpn < 2 || c->qpn > ROCE_PSN_MASK || c->sq_psn > ROCE_PSN_MASK ||
	    c->rq_psn > ROCE_PSN_MASK)
		return ROCE_E_INVALID;
	if (c->window < 1 || c->window > WINDOW_MAX || c->sq_depth > DEPTH_MAX ||
	    c->rq_depth > DEPTH_MAX)
		return ROCE_E_INVALID;
	if (c->ack_timeout == 0 || c->ack_timeout_max < c->ack_timeout ||
	    c->ack_timeout_max > INT64_MAX)
		return ROCE_E_INVALID;
	if (c->rnr_retry > ROCE_RNR_FOREVER || c->min_rnr_timer > 31 ||
	    (c->selective && c->window > ROCE_SELECTIVE_REACH))
		return ROCE_E_INVALID;
	if ((c->region_count > 0 && !c->regions) || (c->mirror && c->sq_psn != c->rq_psn))
		return ROCE_E_INVALID;
	return ROCE_OK;
}

int roce_qp_create(const struct roce_qp_cfg *cfg, struct roce_qp **out)
{
	size_t sq, rq;
	struct roce_qp *qp;

	if (cfg_check(cfg) != ROCE_OK)
		return ROCE_E_INVALID;
	sq = roce_queue_slots(cfg->sq_depth) * sizeof(struct roce_send_slot);
	rq = roce_queue_slots(cfg->rq_depth) * sizeof(struct roce_recv_slot);
	qp = calloc(1, sizeof(*qp) + sq + rq);
	if (!qp)
		return ROCE_E_NO_MEMORY;
	qp->cfg = *cfg;
	if (qp->cfg.udp_sport == 0)
		qp->cfg.udp_sport = (uint16_t)(0xc000u | ((cfg->qpn ^ cfg->qpn >> 14) & 0x3fffu));
	qp->state = ROCE_QP_INIT;
	roce_queue_init(&qp->rq.q, cfg->sq_depth);
	roce_queue_init(&qp->rs.q, cfg->rq_depth);
	/* Both slot types consist of 64-bit members first, so their arrays may follow one another.
	 */
	qp->rq.slots = (struct roce_send_slot *)(void *)(qp + 1);
	qp->rs.slots = (struct roce_recv_slot *)(void *)((char *)(qp + 1) + sq);
	roce_congestion_start(qp);
	qp->rq.timeout = cfg->ack_timeout;
	roce_timer_stop(&qp->rq);
	qp->rs.epsn = cfg->rq_psn;
	qp->sel.asked = UINT64_MAX;
	qp->sel.due = UINT64_MAX;
	qp->sel.probe = UINT64_MAX;
	*out = qp;
	return ROCE_OK;
}

void roce_qp_destroy(struct roce_qp *qp)
{
	free(qp);
}

int roce_qp_to_rtr(struct roce_qp *qp, const struct roce_qp_peer *peer)
{
	struct roce_packet *h = &qp->header;

	if (qp->state != ROCE_QP_INIT)
		return ROCE_E_STATE;
	if (peer->qpn > ROCE_PSN_MASK || (peer->mac[0] & 1) ||
	    (qp->cfg.mirror && peer->qpn != qp->cfg.qpn))
		return ROCE_E_INVALID;
	qp->peer = *peer;
	memcpy(h->dst_mac, peer->mac, 6);
	memcpy(h->src_mac, qp->cfg.mac, 6);
	h->has_vlan = qp->cfg.has_vlan;
	h->vlan_tci = qp->cfg.vlan_tci;
	h->tos = qp->cfg.tos;
	h->ttl = 64;
	h->ip_flags = 0x4000; /* never a fragment; so the identification may stay 0 (RFC 6864) */
	h->src_ip = qp->cfg.ip;
	h->dst_ip = peer->ip;
	h->udp_sport = qp->cfg.udp_sport;
	h->migreq = true;
	h->pkey = 0xffff;
	h->qpn = peer->qpn;
	qp->state = ROCE_QP_RTR;
	return ROCE_OK;
}

int roce_qp_to_rts(struct roce_qp *qp)
{
	if (qp->state != ROCE_QP_RTR)
		return ROCE_E_STATE;
	qp->state = ROCE_QP_RTS;
	return ROCE_OK;
}

void roce_qp_to_err(struct roce_qp *qp)
{
	roce_qp_fail(qp, ROCE_WC_FLUSHED, ROCE_WC_FLUSHED);
}

void roce_qp_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p)
{
	unsigned int flags = roce_opcode_flags(p->opcode);

	qp->n.rx_packets++;
	if (qp->state == ROCE_QP_INIT || flags & ROCE_F_READ_RESPONSE || !(flags & ROCE_F_KNOWN)) {
		qp->n.rx_ignored++;
	} else if (p->opcode == ROCE_OP_CNP) {
		qp->n.rx_cnps++;
		roce_congestion_cut(qp);
	} else if (flags & ROCE_F_ACK) {
		if (qp->state == ROCE_QP_RTS)
			roce_completer_rx(qp, now, p);
		else
			qp->n.rx_ignored++;
	} else {
		if ((p->tos & ECN_CE) == ECN_CE)
			roce_congestion_marked(qp, now);
		roce_responder_rx(qp, now, p);
	}
}

size_t roce_qp_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room)
{
	if (room < ROCE_FRAME_MAX)
		return 0;
	if (qp->rs.response != ROCE_RESPONSE_NONE ||
	    ((qp->sel.again || now >= qp->sel.due) && qp->state != ROCE_QP_ERR)) {
		size_t len = roce_responder_tx(qp, now, frame, room);

		if (len > 0)
			return len;
	}
	if (qp->cnp && qp->state != ROCE_QP_ERR)
		return roce_congestion_tx(qp, frame, room);
	if (qp->state != ROCE_QP_RTS)
		return 0;
	if (now >= qp->rq.deadline) {
		roce_timeout(qp, now);
		if (qp->state != ROCE_QP_RTS)
			return 0;
	}
	if (now >= qp->sel.probe)
		roce_selective_quiet(qp);
	return roce_requester_tx(qp, now, frame, room);
}

static void poll_recv(struct roce_qp *qp, struct roce_cqe *cqe)
{
	const struct roce_recv_slot *slot = &qp->rs.slots[qp->rs.q.polled++ & qp->rs.q.mask];

	cqe->wr_id = slot->wr.wr_id;
	cqe->opcode = slot->opcode;
	cqe->status = slot->status;
	cqe->len = slot->len;
	cqe->has_imm = slot->has_imm;
	cqe->imm = slot->imm;
}

static void poll_send(struct roce_qp *qp, struct roce_cqe *cqe)
{
	const struct roce_send_slot *slot = &qp->rq.slots[qp->rq.q.polled++ & qp->rq.q.mask];

	cqe->wr_id = slot->wr.wr_id;
	cqe->opcode = ROCE_WC_SEND;
	cqe->status = slot->status;
	cqe->len = slot->status == ROCE_WC_SUCCESS ? slot->wr.len : 0;
	cqe->has_imm = false;
	cqe->imm = 0;
}

int roce_qp_poll(struct roce_qp *qp, struct roce_cqe *cqe)
{
	if (qp->rs.q.polled != qp->rs.q.done)
		poll_recv(qp, cqe);
	else if (qp->rq.q.polled != qp->rq.q.done)
		poll_send(qp, cqe);
	else
		return 0;
	return 1;
}

enum roce_qp_state roce_qp_state(const struct roce_qp *qp)
{
	return qp->state;
}

enum roce_wc_status roce_qp_error(const struct roce_qp *qp)
{
	return qp->error;
}

const struct roce_qp_counters *roce_qp_counters(const struct roce_qp *qp)
{
	return &qp->n;
}

uint32_t roce_qp_qpn(const struct roce_qp *qp)
{
	return qp->cfg.qpn;
}

const struct roce_qp_peer *roce_qp_peer(const struct roce_qp *qp)
{
	return &qp->peer;
}

uint32_t roce_qp_in_flight(const struct roce_qp *qp)
{
	return qp->state == ROCE_QP_ERR ? 0 : (uint32_t)(qp->rq.max - qp->rq.una);
}

uint32_t roce_qp_window(const struct roce_qp *qp)
{
	return qp->rq.window;
}

int roce_qp_send_idle(const struct roce_qp *qp)
{
	return qp->rq.q.done == qp->rq.q.posted;
}
