/* The banks and adders of a block of ports: which pass may begin when. docs/model.md, "Time". */
#include "sim/model/internal.h"

/* Ports whose banks and adders a pass of the group uses: its aligned block. */
void model_block_of(const struct rf_engine *e, const struct model_group *g, unsigned int *first,
		    unsigned int *end)
{
	unsigned int size = 1u << MODEL_GROUP_FIELD(g, LEVEL);

	*first = MODEL_GROUP_FIELD(g, BASE_PORT) & ~(size - 1);
	*end = *first + size;
	if (*end > e->cfg.ports)
		*end = e->cfg.ports;
}

/*
 * First cycle in which a pass of the group may be chosen: each port prepares one while it reads
 * another, so it is chosen when the one before it begins.
 */
uint64_t model_block_free(const struct rf_engine *e, const struct model_group *g)
{
	unsigned int p, end;
	uint64_t when = e->now;

	for (model_block_of(e, g, &p, &end); p < end; p++) {
		if (e->ports[p].prep_free > when)
			when = e->ports[p].prep_free;
	}
	return when;
}

/* The pass reads the bank of this port: it has members there, or nothing else needs the bank. */
static bool reads_bank(const struct rf_engine *e, unsigned int group, unsigned int port)
{
	const struct model_group *g = &e->groups[group];
	unsigned int lane;

	if (!e->uplinks[group].on)
		return true;
	for (lane = 0; lane < e->cfg.lanes; lane++) {
		if (model_member(e, g, lane, port))
			return true;
	}
	return false;
}

uint64_t model_block_take(struct rf_engine *e, unsigned int group, unsigned int plen,
			  uint64_t *read)
{
	const struct model_group *g = &e->groups[group];
	unsigned int beats = model_beats(e, plen);
	unsigned int lanes = MODEL_GROUP_FIELD(g, LANES);
	unsigned int p, end, levels;
	uint64_t taken, start = e->now;

	if (lanes > 1 && beats > 0 && beats < MODEL_PASS_MIN)
		beats = MODEL_PASS_MIN;
	taken = (uint64_t)beats * lanes;
	if (taken < MODEL_PASS_GAP)
		taken = MODEL_PASS_GAP;
	for (model_block_of(e, g, &p, &end); p < end; p++) {
		if (e->ports[p].tree_free > start)
			start = e->ports[p].tree_free;
		if (reads_bank(e, group, p) && e->ports[p].bank_free > start)
			start = e->ports[p].bank_free;
	}
	for (model_block_of(e, g, &p, &end); p < end; p++) {
		e->ports[p].prep_free =
			start > e->now + MODEL_PASS_GAP ? start : e->now + MODEL_PASS_GAP;
		e->ports[p].tree_free = start + taken;
		if (reads_bank(e, group, p))
			e->ports[p].bank_free = start + taken;
	}
	*read = start + taken;
	levels = e->cfg.ports > 4 ? 3 : e->cfg.ports > 2 ? 2 : 1;
	return start + MODEL_RESULT_DELAY + MODEL_LEVEL_DELAY * levels - 2 * MODEL_LEVEL_DELAY +
	       (lanes > 1 ? MODEL_LANES_DELAY : 0) + (uint64_t)beats * (lanes - 1);
}

uint64_t model_uplink_take(struct rf_engine *e, unsigned int group, unsigned int plen)
{
	struct model_port *p = &e->ports[model_cid_port(e->uplinks[group].cid)];
	uint64_t start = p->bank_free > e->now ? p->bank_free : e->now;
	unsigned int beats = model_beats(e, plen);

	p->down_free = start > e->now + MODEL_PASS_GAP ? start : e->now + MODEL_PASS_GAP;
	p->bank_free = start + (beats > MODEL_PASS_GAP ? beats : MODEL_PASS_GAP);
	return start + MODEL_RESULT_DELAY;
}
