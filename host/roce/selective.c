/*
 * Selective retransmission: both ends accept packets in any order, and a NAK 60 names one packet
 * that is missing and acknowledges nothing (docs/transport.md). The packets on the wire are those
 * of RC.
 *
 * Each message must fill its receive buffer. This determines which message a packet belongs to when
 * its predecessors are missing. If each message is one packet (`single`), it need not.
 */
#include <string.h>

#include "host/roce/qp_internal.h"

#define SAME_NAK_NS 1000u /* two NAKs for one packet within this time count as one */
#define RUN_MAX 64u       /* most packets repeated for one NAK */
#define RUN_GROWS 4u      /* growth of a continued run, relative to the previous one */
#define GUESS 4u   /* until measured, a round trip is assumed to be this fraction of the timeout */
#define PATIENT 3u /* NAKs for one packet before the time between them doubles */
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

uint32_t roce_selective_window(uint32_t window)
{
	window += window / 2 + window / 16;
	return window < ROCE_SELECTIVE_REACH ? window : ROCE_SELECTIVE_REACH;
}

/* ---- requester ---- */

static void resend(struct roce_qp *qp, uint64_t n)
{
	/*
	 * Drops the number if there is no room: the receiver will request it again, or the timer
	 * fires.
	 */
	(void)list_push(&qp->sel.resend, n);
}

/*
 * The box or the receiver reports packet n missing, perhaps twice. If the packet before it was the
 * last one repeated, a run of packets was lost or dropped: a larger run is sent than the time
 * before. A packet in the middle of the run was lost again: it and its successors are repeated.
 */
void roce_selective_asked(struct roce_qp *qp, uint64_t now, uint64_t n)
{
	struct roce_selective *s = &qp->sel;
	bool within = n >= s->asked && n < s->asked + s->run;
	uint64_t k;

	roce_selective_busy(qp, now);
	if (within && now - s->asked_at < SAME_NAK_NS)
		return;
	if (within)
		s->run -= n - s->asked;
	else if (s->run > 0 && n == s->asked + s->run)
		s->run = RUN_GROWS * s->run < RUN_MAX ? RUN_GROWS * s->run : RUN_MAX;
	else
		s->run = 1;
	s->asked = n;
	s->asked_at = now;
	for (k = n; k < n + s->run && k < qp->rq.max; k++)
		resend(qp, k);
}

/*
 * No response for long: repeats the oldest packet, because its result or ACK may be lost, and the
 * newest, which shows the box which earlier packets are missing.
 */
void roce_selective_timeout(struct roce_qp *qp)
{
	resend(qp, qp->rq.una);
	resend(qp, qp->rq.max - 1);
}

/*
 * Called when packets were sent for the first time, acknowledged or requested. If nothing more
 * happens for a quarter of the timeout, the newest packet is repeated: the box's request may have
 * been lost after our last packet, and only the next packet makes it request again. Done once;
 * after that the timer applies.
 */
void roce_selective_busy(struct roce_qp *qp, uint64_t now)
{
	bool in_flight = qp->rq.una < qp->rq.max;

	qp->sel.probe = in_flight ? now + qp->cfg.ack_timeout / GUESS : UINT64_MAX;
}

void roce_selective_quiet(struct roce_qp *qp)
{
	qp->sel.probe = UINT64_MAX;
	resend(qp, qp->rq.max - 1);
}

/*
 * Sends each packet twice: the second copy costs a packet, a loss costs a round trip of all ranks.
 */
bool roce_selective_next(struct roce_qp *qp, uint64_t *n)
{
	struct roce_packet_list *l = &qp->sel.resend;
	const struct roce_requester *rq = &qp->rq;

	while (l->count > 0) {
		*n = l->number[l->head];
		if (*n < rq->una || *n >= rq->max) {
			(void)list_pop(l);
			qp->sel.copy = false;
			continue;
		}
		qp->sel.copy = !qp->sel.copy;
		if (qp->sel.copy)
			return true;
		(void)list_pop(l);
		/* No later packet would show whether this one arrived. */
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

/* The receive that packet n belongs to and the packet's place in it; NULL: none is posted. */
static struct roce_recv_slot *locate(struct roce_qp *qp, uint64_t n, uint32_t *place)
{
	struct roce_responder *rs = &qp->rs;
	uint64_t first = qp->sel.first;
	uint32_t k;

	for (k = rs->q.done; k != rs->q.posted; k++) {
		struct roce_recv_slot *slot = &rs->slots[k & rs->q.mask];
		uint32_t packets = roce_packets_of(qp, slot->wr.len);

		if (n < first + packets) {
			*place = (uint32_t)(n - first);
			return slot;
		}
		first += packets;
	}
	return NULL;
}

/* Length of a packet at a place of a message. */
static uint32_t bytes_at(const struct roce_qp *qp, const struct roce_recv_slot *slot,
			 uint32_t place)
{
	uint32_t offset = place * qp->cfg.mtu;

	return slot->wr.len - offset < qp->cfg.mtu ? slot->wr.len - offset : qp->cfg.mtu;
}

static bool fits(const struct roce_qp *qp, const struct roce_packet *p, unsigned int flags,
		 const struct roce_recv_slot *slot, uint32_t place)
{
	bool first = place == 0, last = place + 1 == roce_packets_of(qp, slot->wr.len);

	if (qp->cfg.single)
		return flags & ROCE_F_START && flags & ROCE_F_END &&
		       p->payload_len <= slot->wr.len && p->payload_len <= qp->cfg.mtu;
	return !!(flags & ROCE_F_START) == first && !!(flags & ROCE_F_END) == last &&
	       p->payload_len == bytes_at(qp, slot, place);
}

/* `single`: packet n has a receive of its own. */
static struct roce_recv_slot *locate_single(struct roce_qp *qp, uint32_t ahead)
{
	struct roce_responder *rs = &qp->rs;

	return ahead < rs->q.posted - rs->q.done ? &rs->slots[(rs->q.done + ahead) & rs->q.mask]
						 : NULL;
}

/* Advances over all packets that have arrived, each a message of its own. */
static void run_single(struct roce_qp *qp)
{
	struct roce_responder *rs = &qp->rs;
	struct roce_selective *s = &qp->sel;

	while (present(s, s->next)) {
		s->present[PRESENT_WORD(s->next)] &= ~PRESENT_BIT(s->next);
		s->next++;
		rs->epsn = roce_psn_add(rs->epsn, 1);
		rs->msn = (rs->msn + 1) & ROCE_PSN_MASK;
		rs->q.done++;
	}
	s->first = s->next;
}

/* Advances over all packets that have arrived. True if a message has ended. */
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
		if (place + 1 < roce_packets_of(qp, slot->wr.len))
			continue;
		slot->opcode = ROCE_WC_RECV;
		slot->len = slot->wr.len;
		rs->msn = (rs->msn + 1) & ROCE_PSN_MASK;
		rs->in_message = false;
		rs->q.done++;
		s->first = s->next;
		ended = true;
	}
	return ended;
}

/* ---- responder: what is missing ---- */

static void due_at(struct roce_selective *s, uint64_t at)
{
	if (at < s->due)
		s->due = at;
}

static void hole_add(struct roce_selective *s, uint64_t now, uint64_t n)
{
	struct roce_hole *h = &s->holes[s->hole_count];

	/* Ignores the hole if there is no room: it is found again when others are filled. */
	if (s->hole_count == ROCE_SELECTIVE_LIST)
		return;
	s->hole_count++;
	h->number = n;
	h->due = now;
	h->times = 0;
	due_at(s, now);
}

/* Time from a NAK to the next one for the same packet. */
static uint64_t patience(const struct roce_qp *qp, uint32_t times)
{
	const struct roce_selective *s = &qp->sel;
	uint64_t most = qp->cfg.ack_timeout_max;
	uint64_t t = s->trip == 0 ? qp->cfg.ack_timeout / GUESS : s->trip + 2 * s->varies;
	uint32_t k;

	for (k = PATIENT; k < times && t < most; k++)
		t *= 2;
	return t < most ? t : most;
}

/*
 * Packet n has arrived: measures the time since the first NAK for it. After more than one NAK,
 * either they were needed or the estimate was too short and must grow. An outage must not make it
 * long, so a sample counts for at most twice the expected time.
 */
static void measure(struct roce_qp *qp, uint64_t now, uint64_t n)
{
	struct roce_selective *s = &qp->sel;
	uint64_t most = 2 * patience(qp, 0);
	const struct roce_hole *h;
	uint32_t k;
	uint64_t trip, off;

	for (k = 0; k < s->hole_count && s->holes[k].number < n; k++)
		;
	h = &s->holes[k];
	if (k == s->hole_count || h->number != n || h->times == 0)
		return;
	trip = now - h->first < most ? now - h->first : most;
	if (s->trip == 0) {
		s->trip = trip > 0 ? trip : 1;
		s->varies = trip / 2;
		return;
	}
	off = trip > s->trip ? trip - s->trip : s->trip - trip;
	s->trip += trip / 8 - s->trip / 8;
	s->varies += off / 4 - s->varies / 4;
}

/* Removes filled holes, and adds those for which there was no room. */
static void holes_sweep(struct roce_qp *qp, uint64_t now)
{
	struct roce_selective *s = &qp->sel;
	uint32_t k, left = 0;
	uint64_t n;

	s->due = UINT64_MAX;
	for (k = 0; k < s->hole_count; k++) {
		if (s->holes[k].number < s->next || present(s, s->holes[k].number))
			continue;
		s->holes[left++] = s->holes[k];
		due_at(s, s->holes[k].due);
	}
	s->hole_count = left;
	if (left > 0)
		return;
	for (n = s->next; n < s->highest; n++) {
		if (!present(s, n))
			hole_add(s, now, n);
	}
}

/* Copies a packet to its place. The last one of a message has the message's immediate. */
static void deliver(struct roce_qp *qp, const struct roce_packet *p, unsigned int flags,
		    struct roce_recv_slot *slot, uint32_t place)
{
	if (p->payload_len > 0)
		memcpy((uint8_t *)slot->wr.buf + (size_t)place * qp->cfg.mtu, p->payload,
		       p->payload_len);
	qp->n.rx_bytes += p->payload_len;
	if (!(flags & ROCE_F_END))
		return;
	slot->has_imm = flags & ROCE_F_IMM;
	slot->imm = p->imm;
	if (qp->cfg.single)
		slot->len = p->payload_len;
}

enum roce_selective_verdict roce_selective_rx(struct roce_qp *qp, uint64_t now,
					      const struct roce_packet *p, uint32_t ahead)
{
	struct roce_selective *s = &qp->sel;
	unsigned int flags = roce_opcode_flags(p->opcode);
	uint64_t n = s->next + ahead;
	struct roce_recv_slot *slot;
	uint32_t place = 0;
	bool ended;

	if (ahead >= qp->cfg.window || ahead >= ROCE_SELECTIVE_REACH) {
		qp->n.rx_gaps++;
		return ROCE_SELECTIVE_SILENT;
	}
	if (!(flags & ROCE_F_SEND))
		return ROCE_SELECTIVE_REFUSE;
	slot = qp->cfg.single ? locate_single(qp, ahead) : locate(qp, n, &place);
	if (!slot)
		return ahead == 0 ? ROCE_SELECTIVE_NOT_READY : ROCE_SELECTIVE_SILENT;
	if (!fits(qp, p, flags, slot, place))
		return ROCE_SELECTIVE_REFUSE;
	if (present(s, n)) {
		qp->n.rx_duplicates++;
	} else {
		qp->n.rx_gaps += ahead > 0;
		deliver(qp, p, flags, slot, place);
		s->present[PRESENT_WORD(n)] |= PRESENT_BIT(n);
		if (n < s->highest)
			measure(qp, now, n);
	}
	for (; s->highest < n; s->highest++)
		hole_add(s, now, s->highest);
	if (s->highest == n)
		s->highest = n + 1;
	if (qp->cfg.single) {
		run_single(qp);
		return p->ackreq ? ROCE_SELECTIVE_ACK : ROCE_SELECTIVE_SILENT;
	}
	ended = run(qp);
	return p->ackreq || ended ? ROCE_SELECTIVE_ACK : ROCE_SELECTIVE_SILENT;
}

bool roce_selective_nak(struct roce_qp *qp, uint64_t now, uint32_t *psn)
{
	struct roce_selective *s = &qp->sel;
	uint32_t k;

	if (s->again && s->named >= s->next && !present(s, s->named)) {
		s->again = false;
		*psn = roce_psn_add(qp->rs.epsn, s->named - s->next);
		return true;
	}
	s->again = false;
	if (now < s->due)
		return false;
	holes_sweep(qp, now);
	for (k = 0; k < s->hole_count; k++) {
		struct roce_hole *h = &s->holes[k];

		if (h->due > now)
			continue;
		h->asked = now;
		if (h->times == 0)
			h->first = now;
		h->due = now + patience(qp, ++h->times);
		*psn = roce_psn_add(qp->rs.epsn, h->number - s->next);
		/* Sent twice: the packet is small, and waiting for a lost one takes long. */
		s->named = h->number;
		s->again = true;
		return true;
	}
	return false;
}
