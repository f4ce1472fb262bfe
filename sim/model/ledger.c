/* State of connections and groups: next, sent, una; head, tail; errors. */
#include "sim/model/internal.h"

bool model_member(const struct rf_engine *e, const struct model_group *g, unsigned int lane,
		  unsigned int port)
{
	return port < e->cfg.ports && lane < MODEL_GROUP_FIELD(g, LANES) && lane < e->cfg.lanes &&
	       (g->members[lane / 4] >> (8 * (lane % 4) + port) & 1);
}

unsigned int model_type(const struct model_group *g)
{
	return MODEL_GROUP_FIELD(g, DTYPE);
}

unsigned int model_op(const struct model_group *g)
{
	return MODEL_GROUP_FIELD(g, OP);
}

/* Passes may be issued. */
bool model_group_runs(const struct model_group *g)
{
	return (g->cfg & RF_GROUP_CFG_LIVE_MASK) && !(g->error & RF_GROUP_ERROR_VALID_MASK);
}

/* The smallest next (una = false) or una of the members; `none` if there are none. */
static uint32_t smallest(const struct rf_engine *e, unsigned int group, bool una, uint32_t none)
{
	const struct model_group *g = &e->groups[group];
	unsigned int lane, port;
	uint32_t least = none;
	bool any = false;

	for (lane = 0; lane < e->cfg.lanes; lane++) {
		for (port = 0; port < e->cfg.ports; port++) {
			const struct model_conn *c = &e->conns[model_cid_make(group, lane, port)];
			uint32_t value = una ? c->una : c->next;

			if (!model_member(e, g, lane, port))
				continue;
			if (!any || model_serial_less(value, least))
				least = value;
			any = true;
		}
	}
	return least;
}

/* head and tail only advance: they are counters, and do not change while a group is not live. */
void model_group_head(struct rf_engine *e, unsigned int group)
{
	struct model_group *g = &e->groups[group];
	uint32_t head = smallest(e, group, false, g->head);

	if (!(g->cfg & RF_GROUP_CFG_LIVE_MASK) || !model_serial_less(g->head, head))
		return;
	g->head = head;
	model_schedule_soon(e, e->now);
}

bool model_selective(const struct rf_engine *e, unsigned int cid)
{
	return e->conns[cid].selective ||
	       (e->groups[model_cid_group(cid)].cfg & RF_GROUP_CFG_SELECTIVE_MASK);
}

/* The lowest index that a pass up still has to read; `none` if there is none. */
static uint32_t held_by_passes(const struct rf_engine *e, unsigned int group, uint32_t none)
{
	const struct model_uplink *u = &e->uplinks[group];
	unsigned int k;

	for (k = 0; k < u->flight_count && e->mutant != RF_MODEL_MUTANT_PASS_HOLDS; k++) {
		uint32_t index = u->flights[(u->flight_head + k) % MODEL_FLIGHTS].index;

		if (model_serial_less(index, none))
			none = index;
	}
	return none;
}

void model_group_tail(struct rf_engine *e, unsigned int group)
{
	struct model_group *g = &e->groups[group];
	uint32_t tail = smallest(e, group, true, g->tail);

	tail = held_by_passes(e, group, tail);
	if ((g->cfg & RF_GROUP_CFG_LIVE_MASK) && model_serial_less(g->tail, tail))
		g->tail = tail;
}

void model_group_error(struct rf_engine *e, unsigned int cid, unsigned int cause, uint32_t index)
{
	model_group_error_of(e, cid, cause, index, 0, 0, 0);
}

/* Only the first error of a group is stored. */
void model_group_error_of(struct rf_engine *e, unsigned int cid, unsigned int cause, uint32_t index,
			  unsigned int what, uint32_t got, uint32_t want)
{
	struct model_group *g = &e->groups[model_cid_group(cid)];

	if (g->error & RF_GROUP_ERROR_VALID_MASK)
		return;
	g->error = RF_GROUP_ERROR_VALID_MASK | cause << RF_GROUP_ERROR_CAUSE_LSB |
		   what << RF_GROUP_ERROR_WHAT_LSB |
		   model_cid_lane(cid) << RF_GROUP_ERROR_LANE_LSB |
		   model_cid_port(cid) << RF_GROUP_ERROR_PORT_LSB;
	g->error_index = index;
	g->error_got = got;
	g->error_want = want;
	model_schedule_soon(e, e->now); /* its queued repeats must be discarded */
}

/* una advances to a value that was checked to be not beyond sent; it never decreases. */
void model_conn_una(struct rf_engine *e, unsigned int cid, uint32_t una)
{
	struct model_conn *c = &e->conns[cid];
	struct model_group *g = &e->groups[model_cid_group(cid)];

	if (!model_serial_less(c->una, una))
		return;
	/* From here on an old index may look like one before the start: the flag stays set. */
	if (una >= 0x400000u)
		c->far = true;
	if (!model_selective(e, cid))
		c->asked = false;
	c->twice = false;
	if (c->una == g->tail) {
		c->una = una;
		model_group_tail(e, model_cid_group(cid));
	} else {
		c->una = una;
	}
}

/* One more index of a connection has been sent for the first time. */
void model_conn_sent(struct rf_engine *e, unsigned int cid)
{
	struct model_conn *c = &e->conns[cid];

	c->sent = model_serial_add(c->sent, 1);
	if (e->groups[model_cid_group(cid)].cfg & RF_GROUP_CFG_OPEN_LOOP_MASK)
		model_conn_una(e, cid, c->sent);
}

void model_conn_init(struct rf_engine *e, unsigned int cid)
{
	struct model_conn *c = &e->conns[cid];

	c->next = 0;
	c->sent = 0;
	c->una = 0;
	c->msn = 0;
	c->seen = 0;
	c->far = false;
	c->last = MODEL_SERIAL_MASK;
	c->mark = 0;
	c->asked = false;
	c->twice = false;
	c->silent = false;
}

void rf_model_move(struct rf_engine *e, unsigned int group, uint32_t index)
{
	struct model_group *g = &e->groups[group];
	unsigned int cid;

	for (cid = model_cid_make(group, 0, 0); cid < model_cid_make(group + 1, 0, 0); cid++) {
		struct model_conn *c = &e->conns[cid];

		c->next = c->sent = c->una = index & MODEL_SERIAL_MASK;
		c->last = c->mark = model_serial_sub(index, 1);
		c->asked = c->twice = false;
		c->far = c->far || c->una >= 0x400000u;
	}
	g->head = g->tail = g->issued = index & MODEL_SERIAL_MASK;
	e->uplinks[group].up = e->uplinks[group].got = g->head;
	e->uplinks[group].seen = e->uplinks[group].acked = g->head;
	e->uplinks[group].then = g->head;
}
