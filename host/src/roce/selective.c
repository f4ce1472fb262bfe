/*
 * Selective retransmission: both ends take packets in any order, and a NAK 60 names one packet that
 * is missing and acknowledges nothing (docs/transport.md). The packets on the wire are those of RC.
 *
 * Each message fills its receive buffer: that tells to which message a packet belongs whose
 * predecessors are missing. Callers of selective queue pairs keep to it.
 */
#include <string.h>

#include "host/src/roce/qp_internal.h"

#define SAME_NAK_NS 1000u /* two NAKs for one packet within this time are one */
#define PRESENT_WORD(n) (((n) % ROCE_SELECTIVE_REACH) / 64)
#define PRESENT_BIT(n) (UINT64_C(1) << ((n) % 64))

static bool list_push(struct roce_packet_list *l, uint64_t n)
{
	uint32_t k;

	for (k = 0; k < l->count; k++) {
		if (l->number[(l->head + k) % ROCE_SELECTIVE_LIST] == n)
			return true;
	}
	if (l->count == ROCE_SELECTIVE_LIST)
		return false;
	l->number[(l->head + l->count++) % ROCE_SELECTIVE_LIST] = n;
	return true;
}

static uint64_t list_pop(struct roce_packet_list *l)
{
	uint64_t n = l->number[l->head];

	l->head = (l->head + 1) % ROCE_SELECTIVE_LIST;
	l->count--;
	return n;
}

/* ---- requester ---- */

static void resend(struct roce_qp *qp, uint64_t n)
{
	/* No room: the one that asked will ask again, or the timer. */
	(void)list_push(&qp->sel.resend, n);
}

/* Packet n is missing, says the box or the receiver, who may say it twice. */
void roce_selective_asked(struct roce_qp *qp, uint64_t now, uint64_t n)
{
	struct roce_selective *s = &qp->sel;

	if (n == s->asked && now - s->asked_at < SAME_NAK_NS)
		return;
	s->asked = n;
	s->asked_at = now;
	resend(qp, n);
}

/*
 * Nobody has said anything: the oldest packet, for its result or the ACK may be lost; and the
 * newest, that shows the box which ones before it are missing.
 */
void roce_selective_timeout(struct roce_qp *qp)
{
	resend(qp, qp->rq.una);
	resend(qp, qp->rq.max - 1);
}

bool roce_selective_next(struct roce_qp *qp, uint64_t *n)
{
	struct roce_packet_list *l = &qp->sel.resend;
	const struct roce_requester *rq = &qp->rq;

	while (l->count > 0) {
		*n = list_pop(l);
		if (*n < rq->una || *n >= rq->max)
			continue;
		/* Nothing follows that would show whether this one arrived. */
		if (l->count == 0 && *n + 1 != rq->max &&
		    (rq->nxt == rq->end || rq->nxt - rq->una >= rq->limit))
			resend(qp, rq->max - 1);
		return true;
	}
	return false;
}

/* ---- responder ---- */

static bool present(const struct roce_selective *s, uint64_t n)
{
	return s->present[PRESENT_WORD(n)] & PRESENT_BIT(n);
}

static uint32_t packets_of(const struct roce_qp *qp, uint32_t len)
{
	return len == 0 ? 1 : (len - 1) / qp->cfg.mtu + 1;
}

/* The receive that packet n belongs to and its place there; NULL: none is posted. */
static struct roce_recv_slot *locate(struct roce_qp *qp, uint64_t n, uint32_t *place)
{
	struct roce_responder *rs = &qp->rs;
	uint64_t first = qp->sel.first;
	uint32_t k;

	for (k = rs->q.done; k != rs->q.posted; k++) {
		struct roce_recv_slot *slot = &rs->slots[k & rs->q.mask];
		uint32_t packets = packets_of(qp, slot->wr.len);

		if (n < first + packets) {
			*place = (uint32_t)(n - first);
			return slot;
		}
		first += packets;
	}
	return NULL;
}

/* Bytes of a packet at a place of a message. */
static uint32_t bytes_at(const struct roce_qp *qp, const struct roce_recv_slot *slot,
			 uint32_t place)
{
	uint32_t offset = place * qp->cfg.mtu;

	return slot->wr.len - offset < qp->cfg.mtu ? slot->wr.len - offset : qp->cfg.mtu;
}

static bool fits(const struct roce_qp *qp, const struct roce_packet *p, unsigned int flags,
		 const struct roce_recv_slot *slot, uint32_t place)
{
	bool first = place == 0, last = place + 1 == packets_of(qp, slot->wr.len);

	return !!(flags & ROCE_F_START) == first && !!(flags & ROCE_F_END) == last &&
	       p->payload_len == bytes_at(qp, slot, place);
}

/* Goes on over all that is there. True if a message has ended. */
static bool run(struct roce_qp *qp)
{
	struct roce_responder *rs = &qp->rs;
	struct roce_selective *s = &qp->sel;
	bool ended = false;

	while (present(s, s->next)) {
		struct roce_recv_slot *slot = &rs->slots[rs->q.done & rs->q.mask];
		uint32_t place = (uint32_t)(s->next - s->first);

		if (place == 0)
			rs->offset = 0;
		rs->offset += bytes_at(qp, slot, place);
		rs->in_message = true;
		rs->is_write = false;
		s->present[PRESENT_WORD(s->next)] &= ~PRESENT_BIT(s->next);
		s->next++;
		rs->epsn = roce_psn_add(rs->epsn, 1);
		if (place + 1 < packets_of(qp, slot->wr.len))
			continue;
		slot->opcode = ROCE_WC_RECV;
		slot->len = slot->wr.len;
		slot->has_imm = false;
		rs->msn = (rs->msn + 1) & ROCE_PSN_MASK;
		rs->in_message = false;
		rs->q.done++;
		s->first = s->next;
		ended = true;
	}
	return ended;
}

/* Asks for what is missing: each hole when it appears, the first one again after a while. */
static void ask(struct roce_qp *qp, uint64_t n, bool moved)
{
	struct roce_selective *s = &qp->sel;
	bool fresh = n >= s->highest;
	uint64_t k;

	if (fresh) {
		for (k = s->highest; k < n; k++)
			(void)list_push(&s->naks, k);
		if (n > s->highest)
			s->mark = n;
		s->highest = n + 1;
	}
	if (moved) {
		s->mark = s->highest;
	} else if (n > s->next && (!fresh || n >= s->mark + qp->cfg.window / 2)) {
		(void)list_push(&s->naks, s->next);
		s->mark = s->highest;
	}
}

enum roce_selective_verdict roce_selective_rx(struct roce_qp *qp, const struct roce_packet *p,
					      uint32_t ahead)
{
	struct roce_selective *s = &qp->sel;
	unsigned int flags = roce_opcode_flags(p->opcode);
	uint64_t n = s->next + ahead, before = s->next;
	struct roce_recv_slot *slot;
	uint32_t place;
	bool ended;

	if (ahead >= qp->cfg.window || ahead >= ROCE_SELECTIVE_REACH) {
		qp->n.rx_gaps++;
		return ROCE_SELECTIVE_SILENT;
	}
	if (!(flags & ROCE_F_SEND) || flags & ROCE_F_IMM)
		return ROCE_SELECTIVE_REFUSE;
	slot = locate(qp, n, &place);
	if (!slot)
		return ahead == 0 ? ROCE_SELECTIVE_NOT_READY : ROCE_SELECTIVE_SILENT;
	if (!fits(qp, p, flags, slot, place))
		return ROCE_SELECTIVE_REFUSE;
	if (present(s, n)) {
		qp->n.rx_duplicates++;
	} else {
		qp->n.rx_gaps += ahead > 0;
		if (p->payload_len > 0)
			memcpy((uint8_t *)slot->wr.buf + (size_t)place * qp->cfg.mtu, p->payload,
			       p->payload_len);
		qp->n.rx_bytes += p->payload_len;
		s->present[PRESENT_WORD(n)] |= PRESENT_BIT(n);
	}
	ended = run(qp);
	ask(qp, n, s->next != before);
	return p->ackreq || ended ? ROCE_SELECTIVE_ACK : ROCE_SELECTIVE_SILENT;
}

bool roce_selective_nak(struct roce_qp *qp, uint32_t *psn)
{
	struct roce_selective *s = &qp->sel;

	while (s->again || s->naks.count > 0) {
		uint64_t n = s->again ? s->named : list_pop(&s->naks);
		bool first = !s->again;

		s->again = false;
		if (n < s->next || present(s, n))
			continue;
		*psn = roce_psn_add(qp->rs.epsn, n - s->next);
		/* Twice: it is small, and waiting for a lost one is long. */
		s->named = n;
		s->again = first;
		return true;
	}
	return false;
}
