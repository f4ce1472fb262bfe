/* next, sent, una, head and tail; errors of groups; who is last. */
#include <string.h>

#include "base/uplink_regs.h"
#include "soft/internal.h"

static unsigned int field(uint32_t cfg, uint32_t mask, unsigned int lsb)
{
	return (cfg & mask) >> lsb;
}

#define FIELD(cfg, name) field(cfg, RF_GROUP_CFG_##name##_MASK, RF_GROUP_CFG_##name##_LSB)

/* The members in their order. */
static void list_members(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	unsigned int lane, port;

	for (port = 0; port < SOFT_LANES * SOFT_PORTS; port++)
		b->conns[group << 7 | port].member = false;
	g->count = 0;
	g->ports = 0;
	memset(g->per_port, 0, sizeof(g->per_port));
	for (lane = 0; lane < g->lanes && lane < b->cfg.lanes; lane++) {
		unsigned int ports = g->members[lane / 4] >> (8 * (lane % 4)) & 0xffu;

		for (port = 0; port < b->cfg.ports; port++) {
			if (!(ports >> port & 1))
				continue;
			g->member[g->count++] = (uint16_t)(group << 7 | lane << 3 | port);
			b->conns[group << 7 | lane << 3 | port].member = true;
			g->ports |= (uint8_t)(1u << port);
			g->per_port[port]++;
		}
	}
}

/* The smallest next of the members, and how many have it; head if there are none. */
static uint32_t least_next(const struct soft_box *b, const struct soft_group *g, unsigned int *many)
{
	uint32_t least = g->head;
	unsigned int k;

	*many = 0;
	for (k = 0; k < g->count; k++) {
		uint32_t next = b->conns[g->member[k]].next;

		if (k == 0 || soft_less(next, least)) {
			least = next;
			*many = 0;
		}
		*many += next == least;
	}
	return least;
}

static uint32_t least_una(const struct soft_box *b, const struct soft_group *g, unsigned int *many)
{
	uint32_t least = g->tail;
	unsigned int k;

	*many = 0;
	for (k = 0; k < g->count; k++) {
		uint32_t una = b->conns[g->member[k]].una;

		if (k == 0 || soft_less(una, least)) {
			least = una;
			*many = 0;
		}
		*many += una == least;
	}
	return least;
}

/* head and tail only rise, and only while the group is live. */
static void settle(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	uint32_t head = least_next(b, g, &g->at_head), tail = least_una(b, g, &g->at_tail);

	if (!g->live)
		return;
	if (soft_less(g->head, head)) {
		g->head = head;
		soft_wake(b, group);
	}
	if (soft_less(g->tail, tail))
		g->tail = tail;
}

void soft_decode(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	uint32_t cfg = g->cfg;

	g->live = cfg & RF_GROUP_CFG_LIVE_MASK;
	g->open_loop = cfg & RF_GROUP_CFG_OPEN_LOOP_MASK;
	g->transparent = cfg & RF_GROUP_CFG_TRANSPARENT_MASK;
	g->selective = cfg & RF_GROUP_CFG_SELECTIVE_MASK;
	g->strict = cfg & RF_GROUP_CFG_STRICT_MASK;
	g->directed = cfg & RF_GROUP_CFG_DIRECTED_MASK;
	g->op = (uint8_t)FIELD(cfg, OP);
	g->type = (uint8_t)FIELD(cfg, DTYPE);
	g->lanes = (uint8_t)FIELD(cfg, LANES);
	g->s_log2 = (uint8_t)FIELD(cfg, S_LOG2);
	g->slots = 1u << g->s_log2;
	g->mtu = 1u << FIELD(cfg, MTU_LOG2);
	/* A group that cannot be: no packet is ever stored, so nothing is read beyond a slot. */
	if (g->mtu > b->cfg.mtu_max || g->mtu < b->beat || g->slots > b->hdr_mask + 1 ||
	    g->type >= SOFT_TYPES || (g->op < SOFT_OPS && !b->sum->combine[g->type][g->op]) ||
	    g->op >= SOFT_OPS + 1 || (g->op >= SOFT_OPS && !g->directed)) {
		g->live = false;
		g->type = RF_DTYPE_FP32;
		g->op = RF_OP_SUM;
		g->mtu = b->cfg.mtu_max;
	}
	list_members(b, group);
	settle(b, group);
}

void soft_live(struct soft_box *b, unsigned int group)
{
	struct soft_group *g = &b->groups[group];
	unsigned int port, lane;
	uint32_t slot;

	g->head = g->tail = g->issued = 0;
	g->error = g->error_index = g->error_got = g->error_want = 0;
	g->marked = false;
	for (port = 0; port < b->cfg.ports; port++)
		for (lane = 0; lane < b->cfg.lanes; lane++)
			for (slot = 0; slot < g->slots && slot <= b->hdr_mask; slot++)
				b->bank[port][lane].present[soft_hdr_at(b, g, slot)] = false;
	settle(b, group);
}

void soft_init(struct soft_box *b, unsigned int cid)
{
	struct soft_conn *c = &b->conns[cid];

	c->next = c->sent = c->una = c->msn = c->seen = c->mark = 0;
	c->far = c->asked = c->twice = c->silent = false;
	c->last = SOFT_SERIAL;
	settle(b, soft_cid_group(cid));
}

static void lag_head(struct soft_box *b, unsigned int cid)
{
	struct soft_lag *l = &b->lag;
	uint64_t cycles = b->now - l->since;

	if (l->state != SOFT_LAG_RUNS || l->group != soft_cid_group(cid) ||
	    !soft_less(l->index, b->groups[l->group].head))
		return;
	l->state = SOFT_LAG_DONE;
	l->last = cid;
	l->cycles = cycles < UINT32_MAX ? (uint32_t)cycles : UINT32_MAX;
}

void soft_lag_stored(struct soft_box *b, unsigned int cid, uint32_t index)
{
	struct soft_lag *l = &b->lag;

	if (l->group != soft_cid_group(cid))
		return;
	if (l->state == SOFT_LAG_ARMED) {
		l->state = SOFT_LAG_CHOSEN;
		l->index = soft_add(index, b->groups[l->group].slots);
	} else if (l->state == SOFT_LAG_CHOSEN && l->index == index) {
		l->state = SOFT_LAG_RUNS;
		l->since = b->now;
	}
}

void soft_rose(struct soft_box *b, unsigned int cid, uint32_t from)
{
	struct soft_group *g = soft_group_of(b, cid);

	if (!b->conns[cid].member || from != g->head || --g->at_head != 0)
		return;
	settle(b, soft_cid_group(cid));
	lag_head(b, cid);
}

void soft_una(struct soft_box *b, unsigned int cid, uint32_t una)
{
	struct soft_conn *c = &b->conns[cid];
	struct soft_group *g = soft_group_of(b, cid);
	uint32_t from = c->una;

	if (!soft_less(from, una))
		return;
	c->una = una;
	c->far |=
		una >= 0x400000u; /* from here on an old index may look like one before the start */
	c->twice = false;
	if (!soft_is_selective(b, cid))
		c->asked = false;
	if (c->member && from == g->tail && --g->at_tail == 0)
		settle(b, soft_cid_group(cid));
}

void soft_sent(struct soft_box *b, unsigned int cid)
{
	struct soft_conn *c = &b->conns[cid];

	c->sent = soft_add(c->sent, 1);
	if (soft_group_of(b, cid)->open_loop)
		soft_una(b, cid, c->sent);
}

void soft_error(struct soft_box *b, unsigned int cid, unsigned int cause, uint32_t index,
		unsigned int what, uint32_t got, uint32_t want)
{
	struct soft_group *g = soft_group_of(b, cid);

	if (g->error & RF_GROUP_ERROR_VALID_MASK)
		return;
	g->error = RF_GROUP_ERROR_VALID_MASK | cause << RF_GROUP_ERROR_CAUSE_LSB |
		   what << RF_GROUP_ERROR_WHAT_LSB | soft_cid_lane(cid) << RF_GROUP_ERROR_LANE_LSB |
		   soft_cid_port(cid) << RF_GROUP_ERROR_PORT_LSB;
	g->error_index = index;
	g->error_got = got;
	g->error_want = want;
	soft_wake(b, soft_cid_group(cid)); /* its repeats are dropped */
}

void soft_move(struct soft_box *b, unsigned int group, uint32_t index)
{
	struct soft_group *g = &b->groups[group];
	unsigned int cid;

	index &= SOFT_SERIAL;
	for (cid = group << 7; cid < (group + 1) << 7; cid++) {
		struct soft_conn *c = &b->conns[cid];

		c->next = c->sent = c->una = index;
		c->last = c->mark = soft_sub(index, 1);
		c->asked = c->twice = false;
		c->far |= index >= 0x400000u;
	}
	g->head = g->tail = g->issued = index;
	settle(b, group);
}
