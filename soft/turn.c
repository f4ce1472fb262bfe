/* Which group sends next: docs/box.md, "First sendings, repeats, ACKs on behalf". */
#include "soft/internal.h"

#define QUEUED_SHARE 32u /* one packet in this many is a first sending, if one could leave */
#define PASSED_MAX 7u    /* packets of others that pass a group before room is kept for it */

enum outcome { NOTHING, NO_ROOM, SENT };

static struct soft_repeat *front(struct soft_port *p)
{
	return &p->repeats[p->repeat_at];
}

static bool first_waits(const struct soft_group *g)
{
	return soft_runs(g) && g->count && soft_less(g->issued, g->head);
}

/* Room for n results beside what is kept for a starved group. */
static bool room(const struct soft_box *b, unsigned int group, unsigned int port, unsigned int n)
{
	const struct soft_port *p = &b->ports[port];
	unsigned int kept = b->starved == group ? 0 : p->reserved;

	return soft_frames(&p->out[SOFT_RESULT]) + kept + n <= SOFT_RESULTS;
}

/* Room for every member's copy, or its place behind the repeats of its connection. */
static bool first_room(const struct soft_box *b, unsigned int group)
{
	const struct soft_group *g = &b->groups[group];
	unsigned int port;

	for (port = 0; port < b->cfg.ports; port++) {
		const struct soft_port *p = &b->ports[port];

		if (!g->per_port[port])
			continue;
		if (!room(b, group, port, g->per_port[port]))
			return false;
		if (g->queued && p->repeat_count + g->per_port[port] > SOFT_REPEATS)
			return false;
	}
	return true;
}

/* The entry at the front of a port's queue, which is the group's. */
static enum outcome try_front(struct soft_box *b, unsigned int group, unsigned int port)
{
	struct soft_group *g = &b->groups[group];
	struct soft_repeat r = *front(&b->ports[port]);
	const struct soft_conn *c = &b->conns[r.cid];

	if (!soft_runs(g)) {
		soft_repeat_pop(b, port);
		return SENT;
	}
	if (!r.first && (soft_less(r.index, c->una) || !soft_less(r.index, c->sent))) {
		soft_count(b, port, RF_CNT_REPEAT_STALE);
		soft_repeat_pop(b, port);
		return SENT;
	}
	if (!room(b, group, port, 1))
		return NO_ROOM;
	soft_again(b, &r);
	soft_repeat_pop(b, port);
	g->row = first_waits(g) ? (uint8_t)(g->row + 1) : 0;
	return SENT;
}

/* The fronts of the ports' queues in turn. */
static enum outcome try_fronts(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	enum outcome best = NOTHING;
	unsigned int k;

	for (k = 0; k < b->cfg.ports; k++) {
		unsigned int port = (g->port_turn + k) % b->cfg.ports;
		struct soft_port *p = &b->ports[port];

		if (!p->repeat_count || soft_cid_group(front(p)->cid) != group)
			continue;
		best = try_front(b, group, port);
		if (best == SENT) {
			g->port_turn = (uint8_t)((port + 1) % b->cfg.ports);
			return SENT;
		}
	}
	return best;
}

/* One packet of a group, of either kind. */
static enum outcome try_group(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	bool first = first_waits(g), fits = first && first_room(b, group);
	enum outcome queued = NOTHING;

	if (!first)
		g->row = 0;
	if (g->queued && !(fits && g->row >= QUEUED_SHARE - 1))
		queued = try_fronts(b, group);
	if (queued != NOTHING)
		return queued;
	if (!first)
		return NOTHING;
	if (!fits)
		return NO_ROOM;
	g->row = 0;
	soft_first(b, group);
	return SENT;
}

static void unreserve(struct soft_box *b)
{
	unsigned int port;

	b->starved = SOFT_NO_GROUP;
	for (port = 0; port < b->cfg.ports; port++)
		b->ports[port].reserved = 0;
}

/*
 * A packet of `group` has passed a group that waits for room at the same ports. After seven, the
 * room that it needs is kept at its ports. Others use the rest, so a port that has stopped holds
 * up nobody at another one.
 */
static void note_passed(struct soft_box *b, unsigned int group, unsigned int other)
{
	struct soft_group *o = &b->groups[other];
	unsigned int port;

	if (!(o->ports & b->groups[group].ports) || o->passed < PASSED_MAX) {
		o->passed = (uint8_t)(o->passed + ((o->ports & b->groups[group].ports) ? 1 : 0));
		return;
	}
	if (b->starved != SOFT_NO_GROUP)
		return;
	b->starved = other;
	for (port = 0; port < b->cfg.ports; port++)
		b->ports[port].reserved = o->per_port[port];
}

/* Every group with work once, beginning behind the one that was served last. True if one sent. */
static bool round_of_turns(struct soft_box *b)
{
	uint64_t blocked = 0, work = b->work;
	bool any = false;
	unsigned int k;

	for (k = 0; work && k < b->cfg.groups; k++) {
		unsigned int group = (b->turn + k) % b->cfg.groups, other;
		uint64_t bit = UINT64_C(1) << group;
		enum outcome got;

		if (!(work & bit))
			continue;
		work &= ~bit;
		b->work &= ~bit;
		got = try_group(b, group);
		if (got != NOTHING)
			b->work |= bit;
		if (got == NO_ROOM) {
			blocked |= bit;
			continue;
		}
		b->groups[group].passed = 0;
		if (b->starved == group)
			unreserve(b);
		if (got == NOTHING)
			continue;
		any = true;
		for (other = 0; blocked && other < b->cfg.groups; other++)
			if (blocked >> other & 1)
				note_passed(b, group, other);
	}
	b->turn = (b->turn + 1) % b->cfg.groups;
	return any;
}

void soft_pump(struct soft_box *b)
{
	while (b->work && round_of_turns(b))
		;
}
