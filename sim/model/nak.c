/* NAKs and RNR NAKs that the box makes; who is last: docs/box.md, the sections of these names. */
#include "sim/model/internal.h"

#define SYNDROME_NAK 0x60u
#define SYNDROME_RNR 0x20u
#define RNR_SHORT 1u /* timer code of the second order */

/* `counter`, or the counter used instead if a NAK was made too. */
static unsigned int with_nak(unsigned int counter, bool rnr)
{
	switch (counter) {
	case RF_CNT_PENDING:
		return rnr ? RF_CNT_PENDING_RNR : RF_CNT_PENDING_NAK;
	case RF_CNT_AHEAD:
		return RF_CNT_AHEAD_NAK;
	default:
		return rnr ? RF_CNT_GAP_RNR : RF_CNT_GAP_NAK;
	}
}

static uint32_t slots_of(const struct model_group *g)
{
	return 1u << MODEL_GROUP_FIELD(g, S_LOG2);
}

/*
 * Checks a packet of lines 31 to 36 that would be counted as `counter`; next has not advanced yet.
 * Returns the counter to use.
 */
unsigned int model_nak(struct rf_engine *e, unsigned int cid, const uint8_t *frame,
		       const struct model_parsed *p, uint32_t i, unsigned int counter)
{
	struct model_conn *c = &e->conns[cid];
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	bool selective = model_selective(e, cid);
	bool back = !model_serial_less(c->last, i);
	bool loss = !model_serial_less(c->last, c->next);
	bool was = c->asked;
	bool room = e->ports[model_cid_port(cid)].out[MODEL_SRC_ACK].frames < e->bounds.ack_depth;
	bool full = c->next == model_serial_add(g->tail, slots_of(g));
	uint32_t psn = c->una;
	uint32_t last = c->last;
	bool skipped;

	skipped = model_serial_less(model_serial_add(last, 1), i);
	if (!selective || !back)
		c->last = i;
	if (!selective && (back || counter == RF_CNT_ACCEPTED))
		c->asked = false;
	if (e->mutant == RF_MODEL_MUTANT_NAK_ROOM)
		full = false;
	if (e->mutant == RF_MODEL_MUTANT_NAK_NEXT)
		psn = c->next;
	if (!room || (g->cfg & (RF_GROUP_CFG_TRANSPARENT_MASK | RF_GROUP_CFG_OPEN_LOOP_MASK)))
		return counter;
	if (selective) {
		if (!model_serial_less(c->next, i) || full)
			return counter;
		if (!skipped && c->asked && !back &&
		    model_serial_less(i, model_serial_add(c->mark, slots_of(g) / 8)))
			return counter;
		model_send_made(e, cid, frame, p, skipped ? model_serial_add(last, 1) : c->next,
				SYNDROME_NAK);
		c->mark = c->last;
	} else if (counter == RF_CNT_GAP) {
		if (c->asked || full)
			return counter;
		model_send_made(e, cid, frame, p, psn,
				c->twice ? SYNDROME_RNR + RNR_SHORT : SYNDROME_NAK);
		counter = with_nak(counter, c->twice);
		c->twice = true;
		c->asked = true;
		return counter;
	} else {
		if (counter != RF_CNT_PENDING || !model_serial_less(i, c->next) ||
		    g->straggler == 0 || !back || loss || was)
			return counter;
		model_send_made(e, cid, frame, p, c->una, (uint8_t)(SYNDROME_RNR + g->straggler));
		c->asked = true;
		return with_nak(counter, true);
	}
	c->asked = true;
	return with_nak(counter, false);
}

void model_nak_tick(struct rf_engine *e)
{
	unsigned int k;

	for (k = 0; k < MODEL_CONNS; k++)
		e->conns[k].asked = false;
}

void model_lag_arm(struct rf_engine *e, unsigned int group)
{
	e->lag.state = MODEL_LAG_ARMED;
	e->lag.group = group;
}

/* A packet of a group has been stored. */
void model_lag_stored(struct rf_engine *e, unsigned int cid, uint32_t index)
{
	struct model_lag *l = &e->lag;

	if (l->group != model_cid_group(cid))
		return;
	if (l->state == MODEL_LAG_ARMED) {
		l->state = MODEL_LAG_CHOSEN;
		l->index = model_serial_add(index, slots_of(&e->groups[l->group]));
	} else if (l->state == MODEL_LAG_CHOSEN && index == l->index) {
		l->state = MODEL_LAG_RUNNING;
		l->since = e->now;
	}
}

/* A packet of `cid` has advanced the head of its group. */
void model_lag_head(struct rf_engine *e, unsigned int cid)
{
	struct model_lag *l = &e->lag;

	if (l->state != MODEL_LAG_RUNNING || l->group != model_cid_group(cid) ||
	    !model_serial_less(l->index, e->groups[l->group].head))
		return;
	l->state = MODEL_LAG_DONE;
	l->last = cid;
	l->cycles = e->now - l->since < UINT32_MAX ? (uint32_t)(e->now - l->since) : UINT32_MAX;
}
