/* The verdict on a frame: lines 20 to 26 and 37 to 44 of docs/box.md. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "soft/internal.h"

#define CNP_UDP_LENGTH 40u
#define CNP_RESERVED 16u
#define NOT_COUNTED RF_CNT_COUNT

/* Unchanged except for the source MAC. */
static unsigned int foreign(struct soft_box *b, unsigned int port, const struct soft_head *h)
{
	uint8_t *frame;

	if (!soft_foreign_room(b, port, h->len))
		return RF_CNT_FOREIGN_FULL;
	frame = soft_put(b, port, SOFT_FOREIGN, h->len, RF_CNT_TX_FOREIGN);
	memcpy(frame, h->bytes, 6);
	memcpy(frame + 12, h->bytes + 12, h->len - 12);
	return RF_CNT_FOREIGN;
}

/* Lines 21 and 21m, no entry. */
static unsigned int unknown(struct soft_box *b, unsigned int port, struct soft_head *h)
{
	bool hold = (b->ctrl & RF_CTRL_HOLD_MASK) || (b->hold_ports >> port & 1);

	if (h->to_port)
		return RF_CNT_UNKNOWN;
	if (!hold || h->opcode > SOFT_OP_DATA)
		return foreign(b, port, h);
	if (soft_icrc_right(h))
		soft_hold(b, port, h);
	return RF_CNT_HOLD;
}

/* Lines 24 and 39. */
static bool right_source(const struct soft_conn *c, const struct soft_head *h, uint32_t ip)
{
	return h->src_ip == ip && (!c->mirror || soft_get_mac(h->bytes + 6) == c->mac);
}

/* An ACK or CNP goes on, or back on a mirror connection. */
static void pass_on(struct soft_box *b, unsigned int port, unsigned int cid,
		    const struct soft_head *h, uint32_t psn)
{
	size_t len = h->l2 + (size_t)h->ip_length;
	uint8_t *frame = soft_put(b, port, SOFT_ACK, len, RF_CNT_TX_ACK);

	memcpy(frame, h->bytes, 6);
	memcpy(frame + 12, h->bytes + 12, len - 12);
	rf_put_be24(frame + h->l2 + 37, psn);
	if (b->conns[cid].mirror)
		soft_turn_back(&b->conns[cid], frame, h->l2);
	soft_seal(frame + h->l2, h->ip_length);
}

/* Lines 39a to 39d. */
static unsigned int cnp(struct soft_box *b, unsigned int port, unsigned int cid,
			struct soft_head *h)
{
	const struct soft_conn *c = &b->conns[cid];

	if (c->mirror && h->udp_length != CNP_UDP_LENGTH)
		return RF_CNT_ACK_MALFORMED;
	if (c->silent) {
		soft_group_of(b, cid)->marked = true;
		return RF_CNT_CNP_MARK;
	}
	if (!c->mirror)
		return foreign(b, port, h);
	if (!soft_ack_room(b, port))
		return RF_CNT_ACK_FULL;
	memset(h->bytes + h->hlen, 0, CNP_RESERVED);
	pass_on(b, port, cid, h, h->psn);
	return RF_CNT_CNP_BACK;
}

/* Lines 40 to 44. */
static unsigned int ack(struct soft_box *b, unsigned int port, unsigned int cid,
			struct soft_head *h)
{
	struct soft_conn *c = &b->conns[cid];
	const uint8_t *aeth = h->bytes + h->l2 + 40;
	uint32_t psn = soft_add(h->psn, c->shift), u = soft_sub(psn, c->start);
	unsigned int syndrome = aeth[0];
	bool fatal = syndrome >= 0x61;

	c->seen |= RF_CONN_SEEN_ACK_MASK;
	if (h->udp_length != 28 || (syndrome >= 0x40 && syndrome < 0x60) || syndrome > 0x63)
		return RF_CNT_ACK_MALFORMED;
	if (syndrome < 0x20)
		u = soft_add(u, 1);
	if (!soft_ack_room(b, port))
		return RF_CNT_ACK_FULL;
	if (soft_less(c->sent, u) || (fatal && soft_less(u, c->una)))
		return RF_CNT_ACK_BEYOND;
	c->msn = rf_get_be24(aeth + 1);
	/* The NAK of a selective receiver names one packet and acknowledges nothing. */
	if (syndrome != 0x60 || !soft_is_selective(b, cid))
		soft_una(b, cid, u);
	if (fatal)
		soft_error(b, cid, RF_ERROR_NAK, u, 0, 0, 0);
	pass_on(b, port, cid, h, psn);
	return RF_CNT_ACK_FORWARDED;
}

/* Lines 23 to 26, and 38 to 44. */
static unsigned int connection(struct soft_box *b, unsigned int port, unsigned int cid,
			       struct soft_head *h)
{
	struct soft_conn *c = &b->conns[cid];
	const struct soft_group *g = soft_group_of(b, cid);

	if (!soft_icrc_right(h))
		return RF_CNT_ICRC;
	if (h->opcode == SOFT_OP_ACK || h->opcode == SOFT_OP_CNP) {
		if (port != c->peer_port || !right_source(c, h, c->peer_ip))
			return RF_CNT_WRONG_SOURCE;
		return h->opcode == SOFT_OP_ACK ? ack(b, port, cid, h) : cnp(b, port, cid, h);
	}
	if (port != soft_cid_port(cid) || !right_source(c, h, c->src_ip))
		return RF_CNT_WRONG_SOURCE;
	if (!g->live)
		return RF_CNT_JOINING;
	if (g->error & RF_GROUP_ERROR_VALID_MASK)
		return RF_CNT_GROUP_FAILED;
	c->seen |= RF_CONN_SEEN_DATA_MASK;
	return soft_data(b, cid, h);
}

static unsigned int judge_roce(struct soft_box *b, unsigned int port, struct soft_head *h)
{
	unsigned int cid = h->value & RF_HASH_VALUE_CID_MASK;

	if (!(b->ctrl & RF_CTRL_ENABLE_MASK))
		return RF_CNT_DISABLED;
	switch ((h->value & RF_HASH_VALUE_STATE_MASK) >> RF_HASH_VALUE_STATE_LSB) {
	case RF_STATE_EMPTY:
		return unknown(b, port, h);
	case RF_STATE_TOMBSTONE:
		soft_tomb_frame(b, port, h);
		return RF_CNT_TOMBSTONE;
	case RF_STATE_JOINING:
		if (cid == RF_HASH_VALUE_CID_MASK && !h->to_port)
			return foreign(b, port, h);
		return RF_CNT_JOINING;
	default:
		return soft_exists(b, cid) ? connection(b, port, cid, h) : RF_CNT_JOINING;
	}
}

void soft_judge(struct soft_box *b, unsigned int port, struct soft_head *h)
{
	unsigned int counter = h->cause;

	soft_count(b, port, RF_CNT_RX_FRAMES);
	if (h->verdict == SOFT_ROCE) {
		counter = judge_roce(b, port, h);
	} else if (h->verdict == SOFT_PUNT) {
		soft_punt(b, port, h);
		counter = NOT_COUNTED;
	}
	if (counter != NOT_COUNTED)
		soft_count(b, port, counter);
}
