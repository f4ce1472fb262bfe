/*
 * What a pass finds in the slots of an index before it adds: whether the ranks agree, and which of
 * them give. docs/box.md, "First sendings" and, for directed groups, "The pass".
 */
#include "sim/model/internal.h"

#define FIELDS_KIND 0x00000ff0u /* type and operation */
#define FIELDS_TAG 0xffff3000u  /* kind, call, hash */

/* The members to which the others are compared. */
struct references {
	const struct model_slot *first;  /* the first member */
	const struct model_slot *tagged; /* the first one with an immediate */
	const struct model_slot *giver;  /* the first one that gives */
};

static bool same_length(const struct model_slot *a, const struct model_slot *b)
{
	return a->plen == b->plen && a->pad == b->pad;
}

/* Whether a member of a directed group differs from the references so far. */
static bool differs(const struct rf_engine *e, const struct model_slot *s,
		    const struct references *r, struct model_difference *d)
{
	uint32_t tag = e->mutant == RF_MODEL_MUTANT_TAG ? 0 : FIELDS_TAG;

	*d = (struct model_difference){RF_WHAT_TAG, s->imm, r->first->imm};
	if ((s->imm ^ r->first->imm) & FIELDS_KIND)
		return true;
	if (s->has_imm && r->tagged && ((s->imm ^ r->tagged->imm) & tag)) {
		d->want = r->tagged->imm;
		return true;
	}
	if (!s->gives || !r->giver)
		return false;
	if ((s->imm >> 8 & 15) == RF_OP_COPY) {
		*d = (struct model_difference){RF_WHAT_COPIES, s->imm, r->giver->imm};
		return true;
	}
	*d = (struct model_difference){RF_WHAT_LENGTH, (uint32_t)s->plen - s->pad,
				       (uint32_t)r->giver->plen - r->giver->pad};
	return !same_length(s, r->giver);
}

/* Adds a member to the references. */
static void refer(const struct model_slot *s, struct references *r)
{
	if (!r->first)
		r->first = s;
	if (!r->tagged && s->has_imm)
		r->tagged = s;
	if (!r->giver && s->gives)
		r->giver = s;
}

static void settle(const struct model_group *g, const struct references *r, struct model_pass *pass)
{
	bool directed = g->cfg & RF_GROUP_CFG_DIRECTED_MASK;

	pass->type = directed ? r->first->imm >> 4 & 15 : model_type(g);
	pass->op = directed ? r->first->imm >> 8 & 15 : model_op(g);
	pass->plen = r->giver ? r->giver->plen : 0;
	pass->pad = r->giver ? r->giver->pad : 0;
}

int model_compare(const struct rf_engine *e, unsigned int group, uint32_t index,
		  struct model_pass *pass, struct model_difference *d)
{
	const struct model_group *g = &e->groups[group];
	bool directed = g->cfg & RF_GROUP_CFG_DIRECTED_MASK;
	struct references r = {0};
	unsigned int lane, port;
	int wrong = -1;

	for (lane = 0; lane < e->cfg.lanes; lane++) {
		for (port = 0; port < e->cfg.ports; port++) {
			unsigned int cid = model_cid_make(group, lane, port);
			const struct model_slot *s;
			bool other = false;

			if (wrong >= 0 || !model_member(e, g, lane, port))
				continue;
			s = model_slot_at(e, cid, index);
			if (r.first && directed)
				other = differs(e, s, &r, d);
			else if (r.first)
				other = s->opcode != r.first->opcode || !same_length(s, r.first);
			if (other)
				wrong = (int)cid;
			refer(s, &r);
		}
	}
	settle(g, &r, pass);
	if (wrong < 0 || !directed)
		*d = (struct model_difference){0};
	return wrong;
}
