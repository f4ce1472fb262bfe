/* Data packets of a live connection: lines 27 to 36 of docs/box.md. */
#include <string.h>

#include "soft/internal.h"

#define OP_ONLY_IMM 0x05u
#define OP_LAST_IMM 0x03u
#define OP_LAST_SEND 0x05u
#define IMM_WANTS 0x8000u
#define IMM_GIVES 0x4000u
#define WELL_FORMED RF_CNT_COUNT

/* Bits by opcode: those that are always full, those with an immediate. */
#define FULL_OPCODES (1u << 0x00 | 1u << 0x01 | 1u << 0x06 | 1u << 0x07)
#define IMM_OPCODES (1u << OP_LAST_IMM | 1u << OP_ONLY_IMM)
#define FLOAT_TYPES                                                                                \
	(1u << RF_DTYPE_FP32 | 1u << RF_DTYPE_BF16 | 1u << RF_DTYPE_FP16 | 1u << RF_DTYPE_FP64)
#define BIT_OPS (1u << RF_OP_AND | 1u << RF_OP_OR | 1u << RF_OP_XOR)

/* next <= i < tail + S, and not there yet. */
static bool storable(struct soft_box *b, unsigned int cid, uint32_t i)
{
	const struct soft_group *g = soft_group_of(b, cid);

	if (soft_less(i, b->conns[cid].next) || !soft_less(i, soft_add(g->tail, g->slots)))
		return false;
	return !soft_is_selective(b, cid) || !*soft_present(b, cid, i);
}

/* Line 27: whether such an opcode ends a group. Of a mirror rank only requests to a memory do. */
static bool opcode_ends(const struct soft_conn *c, unsigned int opcode)
{
	return !c->mirror || opcode <= SOFT_OP_DATA || opcode == 0x0c || opcode == 0x13 ||
	       opcode == 0x14;
}

/* Line 28. */
static bool length_wrong(const struct soft_group *g, const struct soft_head *h)
{
	bool full = FULL_OPCODES >> h->opcode & 1;
	int32_t least = g->directed && h->opcode == OP_ONLY_IMM ? 0 : 1;

	if (h->plen < least || h->plen % 4 != 0 || h->plen > (int32_t)g->mtu)
		return true;
	if (h->pad && h->pad > h->plen - 1)
		return true;
	return full && (h->plen != (int32_t)g->mtu || h->pad);
}

/* Line 28b. */
static bool immediate_wrong(const struct soft_head *h)
{
	unsigned int op = h->imm >> 8 & 15, type = h->imm >> 4 & 15;
	bool gives = h->imm & IMM_GIVES, wants = h->imm & IMM_WANTS;

	if (op > SOFT_OPS || type >= SOFT_TYPES)
		return true;
	if ((BIT_OPS >> op & 1) && (FLOAT_TYPES >> type & 1))
		return true;
	return gives != (h->plen > 0) || (h->opcode == OP_LAST_IMM && !(gives && wants));
}

/* Lines 27 to 29: the counter, and the cause of an error (RF_ERROR_NONE: none). */
static unsigned int form(const struct soft_box *b, unsigned int cid, const struct soft_head *h,
			 uint32_t i, unsigned int *cause)
{
	const struct soft_group *g = soft_group_of(b, cid);
	unsigned int type = g->type, op = g->op;

	if (h->opcode > (g->directed ? OP_LAST_SEND : SOFT_OP_DATA)) {
		*cause = opcode_ends(&b->conns[cid], h->opcode) ? RF_ERROR_OPCODE : RF_ERROR_NONE;
		return RF_CNT_OPCODE;
	}
	*cause = RF_ERROR_LENGTH;
	if (length_wrong(g, h))
		return RF_CNT_LENGTH;
	if (g->directed && (IMM_OPCODES >> h->opcode & 1)) {
		*cause = RF_ERROR_ORDER;
		if ((h->imm ^ i) & 15)
			return RF_CNT_ORDER;
		*cause = RF_ERROR_IMMEDIATE;
		if (immediate_wrong(h))
			return RF_CNT_IMMEDIATE;
		type = h->imm >> 4 & 15;
		op = h->imm >> 8 & 15;
	}
	*cause = RF_ERROR_ELEMENT;
	if (op != RF_OP_COPY && ((uint32_t)h->plen - h->pad) & (soft_sum_element(type) - 1))
		return RF_CNT_ELEMENT;
	return WELL_FORMED;
}

static void store(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t i)
{
	const struct soft_group *g = soft_group_of(b, cid);
	struct soft_slot *s = soft_slot_of(b, cid, i);

	soft_copy(soft_data_of(b, cid, i), h->bytes + h->hlen, (size_t)h->plen);
	memcpy(s->bytes, h->bytes, SOFT_HEADER); /* of one length: a few wide moves */
	s->psn = h->psn;
	s->plen = (uint16_t)h->plen;
	s->opcode = h->opcode;
	s->pad = h->pad;
	s->hlen = (uint8_t)h->hlen;
	s->l2 = h->l2;
	s->has_imm = g->directed && (IMM_OPCODES >> h->opcode & 1);
	s->imm = s->has_imm ? h->imm
			    : IMM_WANTS | IMM_GIVES | (uint32_t)g->op << 8 |
				      (uint32_t)g->type << 4 | (i & 15);
	s->gives = s->imm & IMM_GIVES;
	s->wants = s->imm & IMM_WANTS;
	b->conns[cid].silent = !s->gives;
	soft_lag_stored(b, cid, i);
}

/* Line 34. */
static void accept(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t i)
{
	struct soft_conn *c = &b->conns[cid];

	store(b, cid, h, i);
	c->next = soft_add(i, 1);
	if (soft_is_selective(b, cid)) {
		bool *there;

		/* At most S of them: each mark is cleared as it is passed. */
		while (*(there = soft_present(b, cid, c->next))) {
			*there = false;
			c->next = soft_add(c->next, 1);
		}
	}
	soft_rose(b, cid, i);
}

/* Line 30. */
static unsigned int before_start(struct soft_box *b, unsigned int cid, uint32_t i)
{
	struct soft_conn *c = &b->conns[cid];

	if (soft_group_of(b, cid)->strict && !soft_is_selective(b, cid) && c->next == 0) {
		if (i == c->last || i == soft_add(c->last, 1))
			soft_error(b, cid, RF_ERROR_BEFORE_START, i, 0, 0, 0);
		c->last = i;
	}
	return RF_CNT_BEFORE_START;
}

/* Lines 30 and 31. */
static unsigned int old(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t i)
{
	const struct soft_conn *c = &b->conns[cid];
	unsigned int counter = RF_CNT_BEHALF;

	if (i >= 0x800000u && !c->far)
		return before_start(b, cid, i);
	if (soft_group_of(b, cid)->open_loop)
		counter = RF_CNT_PENDING;
	else if (!soft_ack_room(b, soft_cid_port(cid)))
		counter = RF_CNT_BEHALF_FULL;
	else
		soft_made(b, cid, h, soft_sub(c->una, 1), 0x1f);
	return soft_nak(b, cid, h, i, counter);
}

/* Lines 36a to 36c. */
static unsigned int beyond(struct soft_box *b, unsigned int cid, const struct soft_head *h,
			   uint32_t i)
{
	const struct soft_group *g = soft_group_of(b, cid);
	unsigned int counter = RF_CNT_GAP;

	if (soft_is_selective(b, cid) && soft_less(i, soft_add(g->tail, g->slots))) {
		bool *there = soft_present(b, cid, i);

		counter = *there ? RF_CNT_PENDING : RF_CNT_AHEAD;
		if (!*there)
			store(b, cid, h, i);
		*there = true;
	}
	return soft_nak(b, cid, h, i, counter);
}

unsigned int soft_data(struct soft_box *b, unsigned int cid, struct soft_head *h)
{
	struct soft_conn *c = &b->conns[cid];
	const struct soft_group *g = soft_group_of(b, cid);
	uint32_t i = soft_sub(h->psn, c->start);
	unsigned int cause, counter = form(b, cid, h, i, &cause);

	if (counter != WELL_FORMED) {
		if (cause != RF_ERROR_NONE && storable(b, cid, i))
			soft_error(b, cid, cause, i, 0, cause >= RF_ERROR_IMMEDIATE ? h->imm : 0,
				   0);
		return counter;
	}
	if (i == c->next) {
		bool room = soft_less(i, soft_add(g->tail, g->slots));

		counter = soft_nak(b, cid, h, i, room ? RF_CNT_ACCEPTED : RF_CNT_NO_ROOM);
		if (room)
			accept(b, cid, h, i);
		return counter;
	}
	if (soft_less(i, c->una))
		return old(b, cid, h, i);
	if (soft_less(i, c->sent)) {
		counter = g->open_loop          ? RF_CNT_PENDING
			  : soft_ask(b, cid, i) ? RF_CNT_REPEAT
						: RF_CNT_REPEAT_FULL;
		return soft_nak(b, cid, h, i, counter);
	}
	if (soft_less(i, c->next))
		return soft_nak(b, cid, h, i, RF_CNT_PENDING);
	return beyond(b, cid, h, i);
}
