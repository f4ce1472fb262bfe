/*
 * Passes: which slot is read when. Groups take turns; a turn is one packet. In its turn a group
 * sends its entries in the queues of the ports. It sends its next first sending if there is no
 * entry, or if a first sending is due.
 */
#include "sim/model/internal.h"

/* Line 32: a repeat is requested. False if the port's queue has no room. */
bool model_repeat_ask(struct rf_engine *e, unsigned int cid, uint32_t index)
{
	struct model_port *p = &e->ports[model_cid_port(cid)];
	struct model_repeat *r;

	if (p->repeat_count >= e->bounds.repeat_depth)
		return false;
	r = &p->repeats[(p->repeat_head + p->repeat_count++) % MODEL_REPEATS];
	r->cid = (uint16_t)cid;
	r->first = false;
	r->index = index;
	e->conns[cid].queued++;
	model_schedule_soon(e, e->now);
	return true;
}

static void repeat_pop(struct rf_engine *e, struct model_port *p)
{
	e->conns[p->repeats[p->repeat_head].cid].queued--;
	p->repeat_head = (p->repeat_head + 1) % MODEL_REPEATS;
	p->repeat_count--;
}

/* The ranks of the next index disagree: it is skipped and nothing is sent. */
static void first_disagrees(struct rf_engine *e, unsigned int group, unsigned int wrong,
			    const struct model_difference *d)
{
	struct model_group *g = &e->groups[group];
	unsigned int lane, port;

	model_group_error_of(e, wrong, RF_ERROR_DISAGREE, g->issued, d->what, d->got, d->want);
	for (lane = 0; lane < e->cfg.lanes; lane++) {
		for (port = 0; port < e->cfg.ports; port++) {
			unsigned int cid = model_cid_make(group, lane, port);

			if (model_member(e, g, lane, port) && e->conns[cid].queued == 0)
				model_conn_sent(e, cid);
		}
	}
	g->issued = model_serial_add(g->issued, 1);
}

/* There is room for every member's copy of a first sending. */
static bool first_has_room(const struct rf_engine *e, unsigned int group)
{
	const struct model_group *g = &e->groups[group];
	unsigned int lane, port;

	for (port = 0; port < e->cfg.ports; port++) {
		unsigned int results = 0, joins = 0;

		for (lane = 0; lane < e->cfg.lanes; lane++) {
			if (!model_member(e, g, lane, port))
				continue;
			if (e->conns[model_cid_make(group, lane, port)].queued)
				joins++;
			else
				results++;
		}
		if (results && !model_result_room(e, port, g, results))
			return false;
		if (e->ports[port].repeat_count + joins > MODEL_REPEATS)
			return false;
	}
	return true;
}

/* The copy of one member is sent, or joins its connection's repeats. True if it is sent with the
 * group's mark. */
static bool first_deliver(struct rf_engine *e, unsigned int cid, const struct model_pass *pass,
			  bool mark, uint64_t ready)
{
	struct model_port *p = &e->ports[model_cid_port(cid)];
	const struct model_group *g = &e->groups[model_cid_group(cid)];
	struct model_repeat r = {.cid = (uint16_t)cid, .first = true, .index = g->issued};

	if (e->conns[cid].queued == 0) {
		mark = mark && model_slot_at(e, cid, r.index)->gives;
		model_send_result(e, &r, pass, mark, ready);
		model_conn_sent(e, cid);
		return mark;
	}
	p->repeats[(p->repeat_head + p->repeat_count++) % MODEL_REPEATS] = r;
	e->conns[cid].queued++;
	return false;
}

/* A group had its turn: it now has the lowest priority. */
static void turn_over(struct rf_engine *e, unsigned int group)
{
	unsigned int k, at = 0;

	while (e->order[at] != group)
		at++;
	for (k = at; k + 1 < e->cfg.groups; k++)
		e->order[k] = e->order[k + 1];
	e->order[k] = (uint8_t)group;
}

/* What a pass for ranks finds: their packets, or the result of the parent. */
static int prepare(struct rf_engine *e, unsigned int group, uint32_t index, struct model_pass *pass,
		   struct model_difference *d)
{
	if (!e->uplinks[group].on)
		return model_compare(e, group, index, pass, d);
	model_uplink_result(e, group, index, pass);
	return -1;
}

/* Fills in the payload. Returns the cycle of the first beat. */
static uint64_t fill(struct rf_engine *e, unsigned int group, uint32_t index,
		     struct model_pass *pass)
{
	uint64_t when, read;

	if (e->uplinks[group].on)
		return model_uplink_take(e, group, pass->plen);
	when = model_block_take(e, group, pass->plen, &read);
	model_reduce(e, group, index, pass);
	return when;
}

/* Issues the pass of a group's next index, which is complete; its block is free and there is room.
 */
static void do_first(struct rf_engine *e, unsigned int group)
{
	struct model_group *g = &e->groups[group];
	struct model_difference d;
	struct model_pass pass;
	unsigned int lane, port;
	bool marked = false;
	uint64_t when;
	int wrong;

	g->row = 0;
	wrong = prepare(e, group, g->issued, &pass, &d);
	if (wrong >= 0 && e->mutant != RF_MODEL_MUTANT_DISAGREE) {
		first_disagrees(e, group, (unsigned int)wrong, &d);
		return;
	}
	if (!e->uplinks[group].on)
		model_limit_take(e, group, g->issued);
	when = fill(e, group, g->issued, &pass);
	for (lane = 0; lane < e->cfg.lanes; lane++) {
		for (port = 0; port < e->cfg.ports; port++) {
			if (model_member(e, g, lane, port) &&
			    first_deliver(e, model_cid_make(group, lane, port), &pass, g->marked,
					  when))
				marked = true;
		}
	}
	g->marked = g->marked && !marked;
	g->issued = model_serial_add(g->issued, 1);
}

static bool first_waits(const struct rf_engine *e, unsigned int group)
{
	const struct model_group *g = &e->groups[group];

	return model_group_runs(g) && model_serial_less(g->issued, model_complete(e, group));
}

/* The entry at the front of a port's queue belongs to the group. */
static bool front_is(const struct rf_engine *e, unsigned int port, unsigned int group)
{
	const struct model_port *p = &e->ports[port];

	return p->repeat_count > 0 && model_cid_group(p->repeats[p->repeat_head].cid) == group;
}

static bool front_waits(const struct rf_engine *e, unsigned int group)
{
	unsigned int port;

	for (port = 0; port < e->cfg.ports; port++) {
		if (front_is(e, port, group))
			return true;
	}
	return false;
}

/* The front of a port's queue: issues its pass or discards it. False if the port has no room. */
static bool try_front(struct rf_engine *e, unsigned int port, bool *began)
{
	struct model_port *p = &e->ports[port];
	struct model_repeat r = p->repeats[p->repeat_head];
	const struct model_conn *c = &e->conns[r.cid];
	struct model_group *g = &e->groups[model_cid_group(r.cid)];
	struct model_difference d;
	struct model_pass pass;
	uint64_t when;

	if (!model_group_runs(g)) {
		repeat_pop(e, p);
		return true;
	}
	if (!r.first &&
	    (model_serial_less(r.index, c->una) || !model_serial_less(r.index, c->sent)) &&
	    e->mutant != RF_MODEL_MUTANT_STALE) {
		model_count(e, port, RF_CNT_REPEAT_STALE);
		repeat_pop(e, p);
		return true;
	}
	if (!model_result_room(e, port, g, 1))
		return false;
	prepare(e, model_cid_group(r.cid), r.index, &pass, &d);
	when = fill(e, model_cid_group(r.cid), r.index, &pass);
	model_send_result(e, &r, &pass, false, when);
	if (r.first)
		model_conn_sent(e, r.cid);
	repeat_pop(e, p);
	g->row = first_waits(e, model_cid_group(r.cid)) ? g->row + 1 : 0;
	*began = true;
	return true;
}

/* One of a group's entries at the front of a queue, round-robin over the ports. */
static bool try_fronts(struct rf_engine *e, unsigned int group, bool *began)
{
	struct model_group *g = &e->groups[group];
	unsigned int k;

	for (k = 0; k < e->cfg.ports; k++) {
		unsigned int port = (g->port_turn + k) % e->cfg.ports;

		if (front_is(e, port, group) && try_front(e, port, began)) {
			g->port_turn = (port + 1) % e->cfg.ports;
			return true;
		}
	}
	return false;
}

/* First cycle in which a pass for ranks may be chosen. */
static uint64_t ranks_free(const struct rf_engine *e, unsigned int group)
{
	const struct model_uplink *u = &e->uplinks[group];
	uint64_t when;

	if (!u->on)
		return model_block_free(e, &e->groups[group]);
	when = e->ports[model_cid_port(u->cid)].down_free;
	return when > e->now ? when : e->now;
}

/* One packet for the ranks of a group, or one entry discarded. True if either happened. */
static bool try_ranks(struct rf_engine *e, unsigned int group, bool *began)
{
	struct model_group *g = &e->groups[group];
	bool first = first_waits(e, group);
	bool front = front_waits(e, group);
	uint64_t when;

	if (!first)
		g->row = 0;
	if (!first && !front)
		return false;
	when = ranks_free(e, group);
	if (when > e->now) {
		model_schedule_soon(e, when);
		return false;
	}
	first = first && first_has_room(e, group) &&
		(e->uplinks[group].on || model_limit_allows(e));
	if (front && !(first && g->row >= MODEL_QUEUED_SHARE - 1))
		return try_fronts(e, group, began);
	if (first)
		do_first(e, group);
	*began = *began || first;
	return first;
}

/* What comes down does not take turns with what goes up. */
static bool try_group(struct rf_engine *e, unsigned int group, bool *began)
{
	bool up = e->uplinks[group].on && model_uplink_try(e, group, began);

	return try_ranks(e, group, began) || up;
}

/* Something of the group could be sent if its ports were free. */
static bool group_waits(const struct rf_engine *e, unsigned int group)
{
	return first_waits(e, group) || front_waits(e, group) || model_uplink_waits(e, group);
}

static bool overlap(const struct rf_engine *e, unsigned int a, unsigned int b)
{
	unsigned int a_first, a_end, b_first, b_end;

	model_block_of(e, &e->groups[a], &a_first, &a_end);
	model_block_of(e, &e->groups[b], &b_first, &b_end);
	return a_first < b_end && b_first < a_end;
}

/* A packet of a group began: each group that waits for its ports was passed once more. */
static void pass_others(struct rf_engine *e, unsigned int group)
{
	unsigned int k;

	for (k = 0; k < e->cfg.groups; k++) {
		struct model_group *o = &e->groups[k];

		if (k == group || !group_waits(e, k))
			o->passed = 0;
		else if (overlap(e, k, group))
			o->passed++;
	}
}

/* A starved group: it was passed too often, and has room; the number of groups if there is none. */
static unsigned int starved_group(const struct rf_engine *e)
{
	unsigned int k, port;

	for (k = 0; k < e->cfg.groups; k++) {
		const struct model_group *g = &e->groups[k];

		if (g->passed < MODEL_PASSED_MAX)
			continue;
		if (first_waits(e, k) && first_has_room(e, k))
			return k;
		if (model_uplink_waits(e, k) &&
		    model_result_room(e, model_cid_port(e->uplinks[k].cid), g, 1))
			return k;
		for (port = 0; port < e->cfg.ports; port++) {
			if (front_is(e, port, k) && model_result_room(e, port, g, 1))
				return k;
		}
	}
	return e->cfg.groups;
}

/* The least recently checked group that may start. */
static bool try_groups(struct rf_engine *e)
{
	unsigned int starved = starved_group(e);
	unsigned int k;

	for (k = 0; k < e->cfg.groups; k++) {
		unsigned int group = e->order[k];
		bool began = false;

		if (starved < e->cfg.groups && starved != group && overlap(e, starved, group))
			continue;
		if (try_group(e, group, &began)) {
			turn_over(e, group);
			if (began)
				pass_others(e, group);
			return true;
		}
	}
	return false;
}

/* Issues every pass that may begin in this cycle. */
void model_schedule(struct rf_engine *e)
{
	while (try_groups(e))
		;
}
