/* The limit on what a box takes in: docs/box.md, "A limit on what is taken in". */
#include "sim/model/internal.h"
#include "sim/model/rf_model.h"

#define DEPTH 65536u /* bytes that the bucket holds */
/* Of a single packet with immediate on the wire, beside its payload. */
#define HEADERS 86u

/*
 * Tokens are bits, times the cycles of a second: a cycle adds the rate in bits per second, and all
 * numbers are whole.
 */
static int64_t tokens_of(const struct rf_engine *e, uint64_t bytes)
{
	return (int64_t)(bytes * 8 * e->cfg.clock_khz * 1000);
}

static int64_t tokens_now(const struct rf_engine *e)
{
	const struct model_limit *l = &e->limit;
	int64_t most = tokens_of(e, DEPTH);
	uint64_t cycles = e->now - l->at;

	if (cycles >= (uint64_t)(most - l->tokens) / l->rate + 1)
		return most;
	return l->tokens + (int64_t)(cycles * l->rate);
}

void rf_model_set_processing(struct rf_engine *e, uint64_t rate)
{
	e->limit = (struct model_limit){.rate = rate, .tokens = tokens_of(e, DEPTH), .at = e->now};
}

bool model_limit_allows(struct rf_engine *e)
{
	int64_t have;

	if (!e->limit.rate)
		return true;
	have = tokens_now(e);
	if (have >= 0)
		return true;
	model_schedule_soon(e, e->now + (uint64_t)-have / e->limit.rate + 1);
	return false;
}

void model_limit_take(struct rf_engine *e, unsigned int group, uint32_t index)
{
	const struct model_group *g = &e->groups[group];
	uint64_t bytes = 0;

	if (!e->limit.rate)
		return;
	for (unsigned int lane = 0; lane < e->cfg.lanes; lane++)
		for (unsigned int port = 0; port < e->cfg.ports; port++)
			if (model_member(e, g, lane, port))
				bytes += HEADERS +
					 model_slot_at(e, model_cid_make(group, lane, port), index)
						 ->plen;
	e->limit.tokens = tokens_now(e) - tokens_of(e, bytes);
	e->limit.at = e->now;
}
