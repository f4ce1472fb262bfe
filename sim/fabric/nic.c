/*
 * A host's NIC: which frames it puts on the wire, and when. Real NICs acknowledge late, or several
 * packets with one ACK.
 */
#include <string.h>

#include "proto/rf_inet.h"
#include "sim/fabric/host.h"

/* Offset of the BTH in a RoCE ACK; 0 for every other frame, including NAKs. */
static size_t ack_at(const uint8_t *frame, size_t len)
{
	size_t ip = rf_inet_ipv4_at(frame, len);
	size_t bth = ip + 28;

	if (!ip || len < bth + 16 || frame[ip + 9] != RF_INET_PROTO_UDP ||
	    rf_get_be16(frame + ip + 22) != RF_CTL_UDP_PORT)
		return 0;
	return frame[bth] == 0x11 && frame[bth + 12] < 0x20 ? bth : 0;
}

/* True if the frame was taken: it leaves later, or a newer ACK of its connection replaces it. */
bool rf_nic_holds(struct rf_host *h, const uint8_t *data, size_t len)
{
	const struct rf_quirk *q = &h->f->cfg.quirk[h->rank];
	size_t bth;
	struct rf_frame *frame;

	if (q->ack_late_ns == 0 || (bth = ack_at(data, len)) == 0)
		return false;
	if (q->coalesce && h->held && h->held->len == len &&
	    memcmp(h->held->data + bth + 4, data + bth + 4, 4) == 0) {
		memcpy(h->held->data, data, len);
		h->f->stats.acks_coalesced++;
		return true;
	}
	frame = rf_frame_new(h->f, data, len);
	if (!frame)
		return true;
	h->f->stats.acks_late++;
	if (q->coalesce && !h->held) {
		h->held = frame;
		frame = NULL;
	}
	rf_fabric_event(h->f, h->f->now + q->ack_late_ns * RF_PS_PER_NS, RF_EV_LATE, h->rank,
			frame);
	return true;
}

void rf_host_late(struct rf_host *h, struct rf_frame *frame)
{
	if (!frame) {
		frame = h->held;
		h->held = NULL;
	}
	if (!frame)
		return;
	if (h->pub.state == RF_RANK_CRASHED) {
		rf_frame_free(h->f, frame);
		return;
	}
	rf_fabric_trace(h->f, h->f->now, false, h->rank, RF_PCAPNG_OUT, frame->data, frame->len);
	rf_link_send(h->f, h->up, h->f->now, frame);
}
