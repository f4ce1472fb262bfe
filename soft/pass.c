/* One reading of a slot: what the ranks agree on, the sum, and each rank's copy. */
#include <string.h>

#include "proto/rf_bytes.h"
#include "soft/internal.h"

#define TAG_BITS 0xffff3000u  /* kind, call, hash */
#define KIND_BITS 0x00000ff0u /* type, operation */

/* ---- what the ranks say ---- */

/* The members that the next one is compared with. */
struct reference {
	const struct soft_slot *first, *tagged, *giver;
};

/* In what a member of a directed group differs: one of RF_WHAT_*, 0 for nothing. */
static uint32_t differs(const struct soft_slot *s, const struct reference *r, uint32_t *got,
			uint32_t *want)
{
	*got = s->imm;
	*want = r->first->imm;
	if ((s->imm ^ r->first->imm) & KIND_BITS)
		return RF_WHAT_TAG;
	if (s->has_imm && r->tagged) {
		*want = r->tagged->imm;
		if ((s->imm ^ r->tagged->imm) & TAG_BITS)
			return RF_WHAT_TAG;
	}
	if (!s->gives || !r->giver)
		return 0;
	*want = r->giver->imm;
	if ((s->imm >> 8 & 15) == RF_OP_COPY)
		return RF_WHAT_COPIES;
	*got = (uint32_t)s->plen - s->pad;
	*want = (uint32_t)r->giver->plen - r->giver->pad;
	return s->plen != r->giver->plen || s->pad != r->giver->pad ? RF_WHAT_LENGTH : 0;
}

static int compare_directed(struct soft_box *b, const struct soft_group *g, uint32_t index,
			    struct soft_pass *p, uint32_t *what, uint32_t *got, uint32_t *want)
{
	struct reference r = {NULL, NULL, NULL};
	unsigned int k;
	int wrong = -1;

	for (k = 0; k < g->count && wrong < 0; k++) {
		const struct soft_slot *s = soft_slot_of(b, g->member[k], index);

		*what = r.first ? differs(s, &r, got, want) : 0;
		if (*what)
			wrong = g->member[k];
		if (!r.first)
			r.first = s;
		if (!r.tagged && s->has_imm)
			r.tagged = s;
		if (!r.giver && s->gives)
			r.giver = s;
	}
	p->type = r.first->imm >> 4 & 15;
	p->op = r.first->imm >> 8 & 15;
	p->plen = r.giver ? r.giver->plen : 0;
	p->pad = r.giver ? r.giver->pad : 0;
	return wrong;
}

int soft_compare(struct soft_box *b, unsigned int group, uint32_t index, struct soft_pass *p,
		 uint32_t *what, uint32_t *got, uint32_t *want)
{
	const struct soft_group *g = &b->groups[group];
	const struct soft_slot *first = soft_slot_of(b, g->member[0], index);
	unsigned int k;

	if (g->directed)
		return compare_directed(b, g, index, p, what, got, want);
	*p = (struct soft_pass){g->type, g->op, first->plen, first->pad};
	*what = *got = *want = 0;
	for (k = 1; k < g->count; k++) {
		const struct soft_slot *s = soft_slot_of(b, g->member[k], index);

		if (s->opcode != first->opcode || s->plen != first->plen || s->pad != first->pad)
			return g->member[k];
	}
	return -1;
}

/* ---- the sum ---- */

/* Vectors of one pass: each goes into the next scratch buffer, so none is read and written. */
struct sum {
	struct soft_box *b;
	soft_sum_combine *combine;
	soft_sum_convert *load;
	size_t bytes;
	unsigned int used;
};

static const uint8_t *both(struct sum *s, const uint8_t *x, const uint8_t *y)
{
	uint8_t *out;

	if (!x || !y || !s->combine) /* a copy has one operand */
		return x ? x : y;
	out = s->b->scratch[s->used++];
	s->combine(out, x, y, s->bytes);
	return out;
}

/* The tree over the ports of one lane; the members of the lane begin at *at. NULL: nobody gives. */
static const uint8_t *sum_lane(struct sum *s, const struct soft_group *g, unsigned int *at,
			       uint32_t index)
{
	const uint8_t *v[SOFT_PORTS] = {NULL};
	unsigned int lane = soft_cid_lane(g->member[*at]);

	s->used = 0;
	for (; *at < g->count && soft_cid_lane(g->member[*at]) == lane; ++*at) {
		unsigned int cid = g->member[*at];
		const uint8_t *data = soft_data_of(s->b, cid, index);

		if (!soft_slot_of(s->b, cid, index)->gives)
			continue;
		if (s->load) {
			s->load(s->b->scratch[s->used], data, s->bytes);
			data = s->b->scratch[s->used++];
		}
		v[soft_cid_port(cid)] = data;
	}
	v[0] = both(s, v[0], v[1]);
	v[2] = both(s, v[2], v[3]);
	v[4] = both(s, v[4], v[5]);
	v[6] = both(s, v[6], v[7]);
	v[0] = both(s, v[0], v[2]);
	v[4] = both(s, v[4], v[6]);
	return both(s, v[0], v[4]);
}

/* The payload of a pass, with its pad bytes, in b->result or where a single operand lies. */
static const uint8_t *sum_up(struct soft_box *b, const struct soft_group *g, uint32_t index,
			     const struct soft_pass *p)
{
	bool copy = p->op == RF_OP_COPY;
	struct sum s = {b, copy ? NULL : b->sum->combine[p->type][p->op],
			copy ? NULL : b->sum->load[p->type], p->plen - p->pad, 0};
	soft_sum_convert *out = copy ? NULL : b->sum->store[p->type];
	const uint8_t *acc = NULL, *lane;
	unsigned int at = 0, turn = 0;

	if (p->plen == 0)
		return b->result;
	while (at < g->count) {
		lane = sum_lane(&s, g, &at, index);
		if (lane && at < g->count && !acc) {
			/* It must outlive the scratch buffers of the next lane. */
			memcpy(b->scratch[SOFT_SCRATCH - 2], lane, s.bytes * (s.load ? 2 : 1));
			acc = b->scratch[SOFT_SCRATCH - 2];
		} else if (lane && acc) {
			turn ^= 1;
			s.combine(b->scratch[SOFT_SCRATCH - 2 + turn], acc, lane, s.bytes);
			acc = b->scratch[SOFT_SCRATCH - 2 + turn];
		} else if (lane) {
			acc = lane;
		}
	}
	if (out)
		out(b->result, acc, s.bytes);
	else
		soft_copy(b->result, acc, s.bytes);
	memset(b->result + s.bytes, 0, p->pad);
	return b->result;
}

/* ---- what leaves ---- */

/* Lengths, pad and a mark in a directed group. */
static void fit(uint8_t *ip, size_t ip_length, unsigned int pad, bool mark)
{
	if (mark && (ip[1] & 3))
		ip[1] |= 3;
	rf_put_be16(ip + 2, (uint16_t)ip_length);
	rf_put_be16(ip + 24, (uint16_t)(ip_length - 20));
	ip[29] = (uint8_t)((ip[29] & 0xcf) | pad << 4);
	soft_ip_seal(ip);
}

static void send_copy(struct soft_box *b, unsigned int cid, uint32_t index, bool first,
		      const struct soft_pass *p, const uint8_t *payload, bool mark)
{
	const struct soft_slot *s = soft_slot_of(b, cid, index);
	const struct soft_group *g = soft_group_of(b, cid);
	const struct soft_conn *c = &b->conns[cid];
	unsigned int port = soft_cid_port(cid), plen = s->wants ? p->plen : 0;
	uint32_t eighth = g->slots / 8;
	size_t len = (size_t)s->hlen + plen + 4;
	uint8_t *frame =
		soft_put(b, port, SOFT_RESULT, len, first ? RF_CNT_TX_FIRST : RF_CNT_TX_REPEAT);
	uint8_t *ip = frame + s->l2, *bth = ip + 28;

	memcpy(frame, s->bytes, 6);
	memcpy(frame + 12, s->bytes + 12, s->hlen - 12u);
	soft_copy(frame + s->hlen, payload, plen);
	rf_put_be24(bth + 9, soft_sub(s->psn, c->shift));
	if (!first || eighth == 0 || (index & (eighth - 1)) == 0)
		bth[8] |= 0x80; /* AckReq */
	if (g->directed)
		fit(ip, len - s->l2, plen ? p->pad : 0, mark);
	if (c->mirror)
		soft_turn_back(c, frame, s->l2);
	soft_seal(ip, (unsigned int)len - s->l2);
}

/* The ranks differ: nothing is sent, and the index counts as sent. */
static void disagree(struct soft_box *b, struct soft_group *g)
{
	unsigned int k;

	for (k = 0; k < g->count; k++)
		if (b->conns[g->member[k]].queued == 0)
			soft_sent(b, g->member[k]);
	g->issued = soft_add(g->issued, 1);
}

void soft_first(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	uint32_t index = g->issued, what, got, want;
	const uint8_t *payload;
	struct soft_pass p;
	bool mark = g->marked;
	unsigned int k;
	int wrong = soft_compare(b, group, index, &p, &what, &got, &want);

	if (wrong >= 0) {
		soft_error(b, (unsigned int)wrong, RF_ERROR_DISAGREE, index, what, got, want);
		disagree(b, g);
		return;
	}
	payload = sum_up(b, g, index, &p);
	for (k = 0; k < g->count; k++) {
		unsigned int cid = g->member[k];
		bool gives = soft_slot_of(b, cid, index)->gives;

		if (b->conns[cid].queued) {
			soft_join(b, cid, index);
			continue;
		}
		send_copy(b, cid, index, true, &p, payload, mark && gives);
		if (gives)
			g->marked = false;
	}
	g->issued = soft_add(index, 1);
	/* una may follow sent, so this comes after everything that was read. */
	for (k = 0; k < g->count; k++)
		if (b->conns[g->member[k]].queued == 0)
			soft_sent(b, g->member[k]);
}

void soft_again(struct soft_box *b, const struct soft_repeat *r)
{
	unsigned int group = soft_cid_group(r->cid);
	uint32_t what, got, want;
	struct soft_pass p;

	soft_compare(b, group, r->index, &p, &what, &got, &want);
	send_copy(b, r->cid, r->index, r->first, &p, sum_up(b, &b->groups[group], r->index, &p),
		  false);
	if (r->first)
		soft_sent(b, r->cid);
}
