/* Slots, and the sum over one slot: docs/reduction.md. */
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "sim/model/arith.h"
#include "sim/model/internal.h"

#define VECTOR MODEL_MTU /* words: one for each byte of an 8-bit type */

/* Beats of one lane of a bank begin at DBASE and are used as a ring, because the address wraps. */
static size_t slot_offset(const struct rf_engine *e, const struct model_group *g, uint32_t index)
{
	uint32_t slot = index & ((1u << MODEL_GROUP_FIELD(g, S_LOG2)) - 1);
	uint32_t beats = (1u << MODEL_GROUP_FIELD(g, MTU_LOG2)) / e->beat;
	uint32_t first = (g->dbase + slot * beats) & ((1u << e->cfg.bank_log2) - 1);

	return (size_t)first * e->beat;
}

static struct model_bank *bank_of(struct rf_engine *e, unsigned int port, unsigned int lane)
{
	struct model_bank *b = &e->banks[port][lane];

	if (!b->data) {
		/* One MTU more after the end: firmware must not configure a slot that wraps. */
		b->data = calloc(((size_t)1 << e->cfg.bank_log2) * e->beat + MODEL_MTU, 1);
		b->slots = calloc((size_t)1 << e->cfg.hdr_log2, sizeof(*b->slots));
		if (!b->data || !b->slots)
			abort();
	}
	return b;
}

static uint32_t header_slot(const struct rf_engine *e, const struct model_group *g, uint32_t index)
{
	uint32_t slot = index & ((1u << MODEL_GROUP_FIELD(g, S_LOG2)) - 1);

	return (g->hbase + slot) & ((1u << e->cfg.hdr_log2) - 1);
}

/* The header slot of an index; valid only if a packet was stored in that lane. */
struct model_slot *model_slot_at(const struct rf_engine *e, unsigned int cid, uint32_t index)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];

	return &e->banks[model_cid_port(cid)][model_cid_lane(cid)].slots[header_slot(e, g, index)];
}

bool model_slot_present(const struct rf_engine *e, unsigned int cid, uint32_t index)
{
	return e->banks[model_cid_port(cid)][model_cid_lane(cid)].slots &&
	       model_slot_at(e, cid, index)->present;
}

void model_slots_clear(struct rf_engine *e, unsigned int group)
{
	const struct model_group *g = &e->groups[group];
	uint32_t slot, slots = 1u << MODEL_GROUP_FIELD(g, S_LOG2);
	unsigned int lane, port;

	for (lane = 0; lane < MODEL_LANES; lane++) {
		for (port = 0; port < MODEL_PORTS; port++) {
			struct model_slot *s = e->banks[port][lane].slots;

			for (slot = 0; s && slot < slots; slot++)
				s[header_slot(e, g, slot)].present = false;
		}
	}
}

/* What the packet states; without an immediate, or in a group that is not directed, it gives and
 * wants. */
static void set_statement(struct rf_engine *e, unsigned int cid, uint32_t index,
			  struct model_slot *s, const struct model_parsed *p)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];

	s->has_imm = (g->cfg & RF_GROUP_CFG_DIRECTED_MASK) && model_has_immediate(p->opcode);
	s->imm = s->has_imm ? p->imm
			    : MODEL_IMM_WANTS | MODEL_IMM_GIVES | model_op(g) << 8 |
				      model_type(g) << 4 | (index & 15);
	s->gives = s->imm & MODEL_IMM_GIVES;
	s->wants = s->imm & MODEL_IMM_WANTS;
	e->conns[cid].silent = !s->gives;
}

void model_slot_store(struct rf_engine *e, unsigned int cid, uint32_t index, const uint8_t *frame,
		      const struct model_parsed *p)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	struct model_bank *b = bank_of(e, model_cid_port(cid), model_cid_lane(cid));
	struct model_slot *s = &b->slots[header_slot(e, g, index)];

	set_statement(e, cid, index, s, p);
	memcpy(s->bytes, frame, p->hlen);
	s->opcode = p->opcode;
	s->pad = p->pad;
	s->hlen = (uint8_t)p->hlen;
	s->plen = (uint16_t)p->plen;
	s->psn = p->psn;
	memcpy(b->data + slot_offset(e, g, index), frame + p->hlen, (size_t)p->plen);
}

const uint8_t *model_slot_data(struct rf_engine *e, unsigned int cid, uint32_t index)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];

	return bank_of(e, model_cid_port(cid), model_cid_lane(cid))->data +
	       slot_offset(e, g, index);
}

/* The operand of a member; zeros or nothing if it does not give. */
static uint32_t *operand(struct rf_engine *e, unsigned int cid, uint32_t index, unsigned int type,
			 size_t n)
{
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	unsigned int port = model_cid_port(cid);
	uint32_t *v = e->operands + port * VECTOR;

	if (model_slot_at(e, cid, index)->gives)
		arith_load(type, v,
			   bank_of(e, port, model_cid_lane(cid))->data + slot_offset(e, g, index),
			   n);
	else if (e->mutant == RF_MODEL_MUTANT_EMPTY)
		memset(v, 0, n * sizeof(*v));
	else
		return NULL;
	return v;
}

/* The value of one lane in v[0], NULL if no port has an operand there. */
static uint32_t *reduce_lane(struct rf_engine *e, unsigned int group, unsigned int lane,
			     uint32_t index, const struct model_pass *pass, size_t n)
{
	const struct model_group *g = &e->groups[group];
	unsigned int dtype = pass->type, op = pass->op;
	uint32_t *v[MODEL_PORTS];
	unsigned int p, step;

	for (p = 0; p < MODEL_PORTS; p++) {
		v[p] = NULL;
		if (model_member(e, g, lane, p))
			v[p] = operand(e, model_cid_make(group, lane, p), index, dtype, n);
	}
	if (e->mutant == RF_MODEL_MUTANT_TREE) {
		for (p = 1; p < MODEL_PORTS; p++) {
			if (v[0] && v[p])
				arith_combine(dtype, op, v[0], v[p], n);
			else if (v[p])
				v[0] = v[p];
		}
		return v[0];
	}
	for (step = 1; step < MODEL_PORTS; step *= 2) {
		for (p = 0; p < MODEL_PORTS; p += 2 * step) {
			if (v[p] && v[p + step])
				arith_combine(dtype, op, v[p], v[p + step], n);
			else if (v[p + step])
				v[p] = v[p + step];
		}
	}
	return v[0];
}

void model_reduce(struct rf_engine *e, unsigned int group, uint32_t index, struct model_pass *pass)
{
	const struct model_group *g = &e->groups[group];
	unsigned int bytes = pass->plen - pass->pad, lane, dtype;
	uint32_t *acc = e->operands + MODEL_PORTS * VECTOR;
	bool any = false;
	size_t n;

	if (pass->op == RF_OP_COPY && e->mutant != RF_MODEL_MUTANT_COPY)
		pass->type = RF_DTYPE_UINT8; /* one operand, bytes as they are */
	dtype = pass->type;
	n = arith_words(dtype, bytes);
	memset(acc, 0, n * sizeof(*acc));
	for (lane = 0; lane < MODEL_GROUP_FIELD(g, LANES); lane++) {
		const uint32_t *v = reduce_lane(e, group, lane, index, pass, n);

		if (!v)
			continue;
		if (any)
			arith_combine(dtype, pass->op, acc, v, n);
		else
			memcpy(acc, v, n * sizeof(*acc));
		any = true;
	}
	if (e->mutant == RF_MODEL_MUTANT_NAN && dtype == RF_DTYPE_FP32)
		dtype = RF_DTYPE_INT32;
	arith_store(dtype, pass->payload, acc, n);
	memset(pass->payload + bytes, e->mutant == RF_MODEL_MUTANT_PAD ? 0x5a : 0, pass->pad);
}
