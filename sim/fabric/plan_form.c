/* How the packets of a plan find the box, and what they say: ring and mirror ranks, ordinary and
 * directed groups, the calls. */
#include "base/packets.h"
#include "sim/fabric/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"

#define STREAM 3u /* of random numbers: what a plan draws otherwise stays the same */

static unsigned below(struct rf_rng *r, unsigned n)
{
	return (unsigned)rf_rng_below(r, n);
}

static unsigned size_of(const struct rf_plan *p)
{
	return p->cfg.ranks / p->cfg.groups;
}

/* Which ranks use the rule although there are mirror ranks. */
static void draw_ring(struct rf_plan *p, struct rf_rng *r)
{
	struct rf_fabric_cfg *c = &p->cfg;
	unsigned size = size_of(p), way = below(r, 4);

	for (unsigned first = 0; first < c->ranks; first += size) {
		bool ring = way == 0 && below(r, 2);

		for (unsigned i = 0; i < size; i++)
			c->by_rule[first + i] = ring;
		if (way != 1 || size < 3)
			continue;
		/* two, and perhaps more */
		for (unsigned i = 0; i < size; i++)
			c->by_rule[first + i] = below(r, 3) == 0;
		c->by_rule[first] = c->by_rule[first + 1 + below(r, size - 1)] = true;
		c->store = false;
	}
	c->router = way > 1 && below(r, 4) == 0;
}

static void draw_call(struct rf_plan *p, struct rf_rng *r, struct rf_fabric_call *call)
{
	unsigned size = size_of(p);

	call->kind = (enum rf_collective_kind)(1 + below(r, RF_SCHEDULE_BARRIER));
	/* half of them may be long messages */
	if (call->kind != RF_SCHEDULE_ALL_REDUCE || below(r, 2)) {
		call->type = (enum rf_arith_type)below(r, RF_ARITH_TYPES);
		call->op = (enum rf_arith_op)below(r, RF_ARITH_COPY);
	}
	if (!rf_arith_has(call->type, call->op))
		call->op = (enum rf_arith_op)below(r, 3);
	call->root = below(r, size);
	if (rf_schedule_has_blocks(call->kind))
		call->count += size - 1 - (call->count - 1) % size;
	if (call->kind == RF_SCHEDULE_BARRIER || below(r, 20) == 0)
		call->count = 0;
}

/* A rank on a mirror connection chooses for itself; those of a ring must do the same. */
static void draw_messages(struct rf_plan *p, struct rf_rng *r)
{
	struct rf_fabric_cfg *c = &p->cfg;
	unsigned same = 0;

	if (c->selective)
		return;
	for (unsigned k = 0; k < c->ranks; k++) {
		if (k % size_of(p) == 0)
			same = below(r, 2) ? 0 : 2 + below(r, 8);
		c->message_packets[k] = (uint8_t)same;
		if (rf_fabric_is_mirror(c, k))
			c->message_packets[k] = below(r, 2) ? 0 : (uint8_t)(2 + below(r, 8));
	}
}

void rf_plan_draw_form(struct rf_plan *p)
{
	struct rf_fabric_cfg *c = &p->cfg;
	struct rf_rng r = rf_rng_make(c->seed, STREAM);

	if (below(&r, 3) == 0)
		return;
	c->mirror = below(&r, 3) > 0;
	c->directed = !c->mirror || below(&r, 4) > 0;
	c->transparent = false;
	if (c->mirror)
		draw_ring(p, &r);
	if (!c->directed)
		return;
	for (unsigned k = 0; k < c->ranks; k++)
		c->ordinary[k] =
			k % size_of(p) ? c->ordinary[k - 1] : c->groups > 1 && below(&r, 3) == 0;
	for (unsigned k = 0; k < p->operations; k++)
		draw_call(p, &r, &p->call[k]);
	draw_messages(p, &r);
}

/* A fault of the switch's rule means nothing to a mirror rank; more nonsense is possible. */
void rf_plan_fit_events(struct rf_plan *p)
{
	const struct rf_fabric_cfg *c = &p->cfg;
	struct rf_plan_event *last = p->events ? &p->event[p->events - 1] : NULL;

	if (p->cause == RF_PLAN_BY_RULE && rf_fabric_is_mirror(c, p->victim))
		p->cause = RF_PLAN_BY_NOTHING;
	for (unsigned k = 0; k < p->events; k++)
		p->event[k].spoof &= !c->router; /* all have its MAC */
	if (p->cause == RF_PLAN_BY_NONSENSE && rf_fabric_is_directed(c, p->victim) && c->seed % 2)
		last->nonsense = c->seed % 4 == 1 ? RF_NONSENSE_ORDER : RF_NONSENSE_IMMEDIATE;
}

/* ---- packets ---- */

static uint32_t ordinary_packets(const struct rf_plan *p, const struct rf_fabric_call *call)
{
	return rf_packets_of((uint32_t)(call->count * rf_arith_size(p->cfg.type)), p->cfg.mtu);
}

static uint32_t directed_packets(const struct rf_plan *p, const struct rf_fabric_call *call)
{
	uint64_t bytes = call->count * rf_arith_size(call->type);
	unsigned size = size_of(p);
	uint32_t n = 0;

	if (call->kind == RF_SCHEDULE_BARRIER)
		return 1;
	if (!rf_schedule_has_blocks(call->kind))
		return rf_packets_of((uint32_t)bytes, p->cfg.mtu);
	for (unsigned b = 0; b < size; b++)
		if (rf_schedule_travels(call->kind, call->root, b))
			n += rf_packets_of((uint32_t)(bytes / size), p->cfg.mtu);
	return n;
}

uint32_t rf_plan_packets(const struct rf_plan *p)
{
	bool directed = false, ordinary = false;
	uint32_t a = 0, b = 0;

	for (unsigned r = 0; r < p->cfg.ranks; r++) {
		directed |= rf_fabric_is_directed(&p->cfg, r);
		ordinary |= !rf_fabric_is_directed(&p->cfg, r);
	}
	for (unsigned k = 0; k < p->operations; k++) {
		a += directed_packets(p, &p->call[k]);
		b += ordinary_packets(p, &p->call[k]);
	}
	if (directed && ordinary)
		return a < b ? a : b;
	return directed ? a : b;
}

void rf_plan_lengthen(struct rf_plan *p, uint32_t packets)
{
	struct rf_fabric_call *call = &p->call[0];
	size_t least = rf_arith_size(call->type);

	if (p->cfg.directed &&
	    (rf_schedule_has_blocks(call->kind) || call->kind == RF_SCHEDULE_BARRIER))
		call->kind = RF_SCHEDULE_ALL_REDUCE;
	if (least > rf_arith_size(p->cfg.type))
		least = rf_arith_size(p->cfg.type);
	call->count += (uint64_t)packets * p->cfg.mtu / least;
}

bool rf_plan_is_long(const struct rf_plan *p, unsigned rank, const struct rf_fabric_call *call)
{
	const struct rf_fabric_cfg *c = &p->cfg;

	return c->message_packets[rank] > 1 && rf_fabric_is_directed(c, rank) &&
	       call->kind == RF_SCHEDULE_ALL_REDUCE && call->type == c->type && call->op == c->op &&
	       call->count * rf_arith_size(call->type) > c->mtu;
}

/* ---- text ---- */

static bool add(char *text, size_t room, size_t *n, const char *more)
{
	int len = snprintf(text + *n, room - *n, "%s", more);

	if (len < 0 || (size_t)len >= room - *n)
		return false;
	*n += (size_t)len;
	return true;
}

void rf_plan_form_text(const struct rf_plan *p, char *text, size_t room)
{
	const struct rf_fabric_cfg *c = &p->cfg;
	bool ring = false, ordinary = false;
	char word[80];
	size_t n = 0;

	*text = '\0';
	for (unsigned r = 0; r < c->ranks; r++) {
		ring |= c->by_rule[r];
		ordinary |= c->ordinary[r];
	}
	if (c->mirror)
		add(text, room, &n, ring ? ", mirror and ring" : ", mirror");
	if (c->router)
		add(text, room, &n, ", router");
	if (!c->directed)
		return;
	add(text, room, &n, ordinary ? ", directed and ordinary:" : ", directed:");
	for (unsigned k = 0; k < p->operations; k++) {
		const struct rf_fabric_call *call = &p->call[k];

		snprintf(word, sizeof(word), " %s(type %d op %d root %u, %llu)",
			 rf_schedule_name(call->kind), (int)call->type, (int)call->op, call->root,
			 (unsigned long long)call->count);
		if (!add(text, room, &n, word))
			return;
	}
}
