/* What the box sends by itself: NAKs, RNR NAKs, ACKs on behalf. docs/box.md, "NAKs that the box
 * makes". */
#include <string.h>

#include "proto/rf_bytes.h"
#include "soft/internal.h"

#define NAK_SEQUENCE 0x60u
#define NAK_RNR 0x20u

bool soft_ack_room(const struct soft_box *b, unsigned int port)
{
	return soft_frames(&b->ports[port].out[SOFT_ACK]) < SOFT_ACKS;
}

/* Selective connections: each hole is asked for when it appears, and again in time. */
static unsigned int selective(struct soft_box *b, unsigned int cid, const struct soft_head *h,
			      uint32_t i, unsigned int counter, bool may)
{
	struct soft_conn *c = &b->conns[cid];
	const struct soft_group *g = soft_group_of(b, cid);
	bool back = !soft_less(c->last, i);
	uint32_t hole = soft_add(c->last, 1), missing = c->next;

	if (!back)
		c->last = i;
	if (!may || !soft_less(c->next, i))
		return counter;
	if (soft_less(hole, i))
		missing = hole;
	else if (c->asked && !back && soft_less(i, soft_add(c->mark, g->slots / 8)))
		return counter;
	soft_made(b, cid, h, missing, NAK_SEQUENCE);
	c->asked = true;
	c->mark = c->last;
	return counter == RF_CNT_PENDING ? RF_CNT_PENDING_NAK
	       : counter == RF_CNT_AHEAD ? RF_CNT_AHEAD_NAK
					 : RF_CNT_GAP_NAK;
}

unsigned int soft_nak(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t i,
		      unsigned int counter)
{
	struct soft_conn *c = &b->conns[cid];
	const struct soft_group *g = soft_group_of(b, cid);
	bool may = !g->transparent && !g->open_loop && soft_ack_room(b, soft_cid_port(cid));
	bool full = c->next == soft_add(g->tail, g->slots);
	bool back, was = c->asked, loss;

	if (soft_is_selective(b, cid))
		return selective(b, cid, h, i, counter, may && !full);
	back = !soft_less(c->last, i);
	loss = !soft_less(c->last, c->next);
	c->last = i;
	if (back || counter == RF_CNT_ACCEPTED)
		c->asked = false;
	if (!may)
		return counter;
	if (counter == RF_CNT_GAP && !c->asked && !full) {
		soft_made(b, cid, h, c->una, c->twice ? NAK_RNR + 1u : NAK_SEQUENCE);
		counter = c->twice ? RF_CNT_GAP_RNR : RF_CNT_GAP_NAK;
		c->twice = c->asked = true;
	} else if (counter == RF_CNT_PENDING && g->straggler && back && !loss && !was) {
		soft_made(b, cid, h, c->una, NAK_RNR + g->straggler);
		counter = RF_CNT_PENDING_RNR;
		c->asked = true;
	}
	return counter;
}

void soft_made(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t index,
	       unsigned int syndrome)
{
	const struct soft_conn *c = &b->conns[cid];
	uint8_t *frame = soft_put(b, soft_cid_port(cid), SOFT_ACK, h->l2 + 48u,
				  syndrome < NAK_RNR ? RF_CNT_TX_BEHALF : RF_CNT_TX_NAK);
	uint8_t *ip = frame + h->l2, *bth = ip + 28;

	/* The source MAC is set by soft_put(); a tag stays. */
	memcpy(frame, h->bytes + 6, 6);
	memcpy(frame + 12, h->bytes + 12, h->l2 + 48u - 12u);
	ip[1] &= 0xfc;
	rf_put_be16(ip + 2, 48);
	ip[8] = 64;
	rf_put_be32(ip + 12, h->dst_ip);
	rf_put_be32(ip + 16, h->src_ip);
	soft_ip_seal(ip);
	rf_put_be16(ip + 24, 28);
	bth[0] = SOFT_OP_ACK;
	bth[1] &= 0x40; /* MigReq */
	bth[4] = 0;
	rf_put_be24(bth + 5, c->qpn);
	bth[8] = 0;
	rf_put_be24(bth + 9, soft_add(c->start, index));
	bth[12] = (uint8_t)syndrome;
	rf_put_be24(bth + 13, c->msn);
	soft_seal(ip, 48);
}
