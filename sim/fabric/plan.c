/* A plan from its seed. */
#include "sim/fabric/plan.h"

#include <stdio.h>
#include <string.h>

#include "base/rng.h"

#define MOST_LOSS 0.02
#define SLOT_BYTES (512u << 10) /* total slot size of a lane */
#define SLOTS 512u
#define MOST_RANKS 16u
/*
 * For plans in which a connection may never be acknowledged again: the transport gives up, but not
 * before leases have expired.
 */
#define GIVE_UP 30u
#define GIVE_UP_MAX (64 * RF_MSEC)
#define PAUSE_LIMIT (130 * RF_SEC)
#define STORE_TIME (600 * RF_USEC)

static unsigned below(struct rf_rng *r, unsigned n)
{
	return (unsigned)rf_rng_below(r, n);
}

/* Usually 0; otherwise between 1e-5 and `most`, distributed logarithmically. */
static double draw_fault(struct rf_rng *r, double most)
{
	double p = most;

	if (below(r, 2) == 0)
		return 0;
	for (unsigned k = below(r, 11); k > 0; k--)
		p /= 2;
	return p;
}

static void draw_links(struct rf_rng *r, struct rf_faults *f)
{
	f->loss = draw_fault(r, MOST_LOSS);
	f->duplicate = draw_fault(r, MOST_LOSS);
	f->reorder = draw_fault(r, MOST_LOSS / 4);
	f->corrupt = draw_fault(r, MOST_LOSS / 4);
	f->bad_fcs = draw_fault(r, MOST_LOSS / 4);
	f->jitter_ns = below(r, 3) == 0 ? below(r, 3000) : 0;
	f->reorder_ns = below(r, 8000);
}

/* Assigns the ranks of each group to separate places: a place is a lane of a port. */
static void draw_places(struct rf_rng *r, struct rf_fabric_cfg *c, unsigned size)
{
	unsigned places = c->ports * c->lanes;
	uint8_t order[RF_FABRIC_PORTS * 16];

	for (unsigned first = 0; first < c->ranks; first += size) {
		for (unsigned i = 0; i < places; i++)
			order[i] = (uint8_t)(i % c->ports);
		for (unsigned i = 0; i < size; i++) {
			unsigned k = i + below(r, places - i);
			uint8_t port = order[k];

			order[k] = order[i];
			order[i] = port;
			c->port_of_rank[first + i] = port;
		}
	}
}

static void draw_topology(struct rf_rng *r, struct rf_fabric_cfg *c,
			  const struct rf_plan_shape *shape)
{
	static const unsigned percent[] = {4, 25, 100}; /* percent of the data path's capacity */
	unsigned places = shape->ports * shape->lanes;
	unsigned size = 2 + below(r, places < 8 ? places - 1 : 7);

	c->engine = shape->engine;
	c->ports = shape->ports;
	c->lanes = shape->lanes;
	c->width = shape->width;
	c->groups = below(r, 4) ? 1 : 2 + below(r, 3);
	while (c->groups * size > MOST_RANKS)
		c->groups--;
	c->ranks = c->groups * size;
	draw_places(r, c, size);
	for (unsigned k = 0; k < c->ranks; k++)
		c->join_at[k] = below(r, 200) * RF_USEC;
	c->rate = (uint64_t)shape->width * 2000000 * percent[below(r, 3)];
	c->delay_ns = 100 + below(r, 3000);
}

static void draw_group(struct rf_rng *r, struct rf_fabric_cfg *c)
{
	static const unsigned slots[] = {16, 64, 512};

	c->type = (enum rf_arith_type)below(r, 4);
	c->op = below(r, 2) ? RF_ARITH_SUM : (enum rf_arith_op)below(r, 3);
	c->mtu = 256u << 2 * below(r, 3);
	c->slots = slots[below(r, 3)];
	while (c->slots * c->mtu * c->groups > SLOT_BYTES || c->slots * c->groups > SLOTS)
		c->slots /= 2;
	c->message_bytes = below(r, 2) ? 0 : c->mtu * (1 + below(r, 9));
	c->max_ops = 1 + below(r, 4);
	c->selective = below(r, 4) == 0;
	c->transparent = below(r, 5) == 0;
	c->straggler = below(r, 4) == 0 ? 22 + below(r, 10) : 0;
	c->vlan = below(r, 4) == 0;
	c->in_place = below(r, 3) == 0;
}

/* First indexes and PSNs. */
static void draw_numbers(struct rf_plan *p, struct rf_rng *r)
{
	struct rf_fabric_cfg *c = &p->cfg;
	uint32_t packets = rf_plan_packets(p);
	uint32_t step;

	if (below(r, 4) == 0) {
		/* Groups begin 2 S below the limit: few slots, short runs. */
		if (c->slots > 64)
			c->slots = 64;
		step = 2 * c->slots;
		p->limit_index = 1u << (22 + below(r, 3));
		c->start_index = p->limit_index - step;
		if (packets < step + 8) {
			rf_plan_lengthen(p, step + 8);
			packets = rf_plan_packets(p);
		}
	}
	c->start_psn = RF_FABRIC_RANDOM_PSN;
	p->psn_wraps = packets > 2 && below(r, 3) == 0;
	if (p->psn_wraps)
		c->start_psn = (0u - c->start_index - 1 - below(r, packets - 1)) & 0xffffff;
	else if (below(r, 4) == 0)
		c->start_psn = ((below(r, 4) << 22) + 0xffff80u + below(r, 256)) & 0xffffff;
}

static struct rf_plan_event *add(struct rf_plan *p, enum rf_plan_kind kind, uint64_t at,
				 unsigned rank, uint64_t ns)
{
	struct rf_plan_event e = {.kind = kind, .at = at, .rank = rank, .ns = ns, .speaker = rank};
	unsigned i = p->events;

	if (i == RF_PLAN_EVENTS)
		return &p->event[i - 1];
	for (; i > 0 && p->event[i - 1].at > at; i--)
		p->event[i] = p->event[i - 1];
	p->event[i] = e;
	p->events++;
	return &p->event[i];
}

static void explain(struct rf_plan *p, enum rf_plan_cause cause, unsigned rank)
{
	p->cause = cause;
	p->victim = rank;
	p->again = true;
	p->cfg.retry_cnt = GIVE_UP;
	p->cfg.ack_timeout_max_ns = GIVE_UP_MAX;
}

/*
 * Several harmless frames, sent by the rank itself or another one; perhaps a harmful one at the
 * end.
 */
static void draw_nonsense(struct rf_plan *p, struct rf_rng *r, uint64_t at, unsigned rank,
			  bool stranger, bool fatal)
{
	const struct rf_fabric_cfg *c = &p->cfg;
	unsigned n = 1 + below(r, RF_PLAN_EVENTS - 2);

	for (unsigned k = 0; k < n; k++, at += below(r, 200) * RF_USEC) {
		struct rf_plan_event *e = add(p, RF_PLAN_DO_NONSENSE, at, rank, 0);

		e->nonsense = (enum rf_nonsense)below(r, RF_NONSENSE_OPCODE);
		if (stranger) {
			e->speaker = (rank + 1 + below(r, c->ranks - 1)) % c->ranks;
			e->nonsense = (enum rf_nonsense)below(r, RF_NONSENSE_KINDS);
			/*
			 * On the same port they cannot be told apart: docs/firmware.md, Isolation.
			 */
			e->spoof =
				c->port_of_rank[e->speaker] != c->port_of_rank[rank] && below(r, 2);
		}
	}
	if (!fatal)
		return;
	add(p, RF_PLAN_DO_NONSENSE, at, rank, 0)->nonsense = (enum rf_nonsense)(
		RF_NONSENSE_OPCODE + below(r, RF_NONSENSE_KINDS - RF_NONSENSE_OPCODE));
	explain(p, RF_PLAN_BY_NONSENSE, rank);
}

/* A time at which the ranks probably join or work. Agreeing through a store takes its time. */
static uint64_t draw_time(const struct rf_plan *p, struct rf_rng *r)
{
	uint64_t bits = (uint64_t)rf_plan_packets(p) * (p->cfg.mtu + 100) * 8 * p->cfg.lanes;
	uint64_t later = p->cfg.store && below(r, 4) ? STORE_TIME : 0;

	return 50 * RF_USEC + later + rf_rng_below(r, 400 * RF_USEC + bits * RF_SEC / p->cfg.rate);
}

/*
 * Processes that stand still. Within their lease it must have no consequence, whenever it happens;
 * beyond it the group ends and names the process.
 */
static void draw_pauses(struct rf_plan *p, struct rf_rng *r, unsigned rank)
{
	bool beyond = below(r, 3) == 0;
	unsigned n = beyond ? 1 : 1 + below(r, 3);

	p->cfg.ack_timeout_max_ns = 2 * RF_SEC;
	for (unsigned k = 0; k < n; k++) {
		uint64_t at = below(r, 2) ? rf_rng_below(r, 2 * RF_MSEC) : draw_time(p, r);
		uint64_t ns = RF_SEC + (rf_rng_below(r, 29 * RF_SEC) >> below(r, 4));

		add(p, RF_PLAN_DO_PAUSE, at, (rank + k) % p->cfg.ranks, ns);
		p->limit += 8 * ns;
	}
	p->limit += PAUSE_LIMIT;
	if (beyond) {
		p->cause = RF_PLAN_BY_PAUSE;
		p->victim = rank;
		p->again = true;
		return;
	}
	p->cfg.lease_ms = 60000;
	p->cfg.join_deadline_ms = 100000;
}

/* At most one event that allows ranks to fail. */
static void draw_events(struct rf_plan *p, struct rf_rng *r)
{
	unsigned rank = below(r, p->cfg.ranks);
	uint64_t at = draw_time(p, r), ns = rf_rng_below(r, 50 * RF_MSEC);
	unsigned what = below(r, 22);

	switch (what) {
	case 0:
	case 1:
		p->straggler = rank;
		/* Leases are renewed meanwhile: a computing rank is not dead. */
		p->straggler_ns =
			what ? RF_SEC + (rf_rng_below(r, 60 * RF_SEC) >> below(r, 5)) : ns;
		if (p->straggler_ns > 60 * RF_SEC)
			p->straggler_ns = 60 * RF_SEC;
		p->limit += p->operations * p->straggler_ns;
		if (what)
			p->cfg.ack_timeout_max_ns = 2 * RF_SEC;
		break;
	case 2:
		add(p, RF_PLAN_DO_FREEZE, at, rank, ns);
		break;
	case 3:
		add(p, RF_PLAN_DO_CABLE_OUT, at, rank, 0);
		add(p, RF_PLAN_DO_CABLE_IN, at + ns, rank, 0);
		break;
	case 4:
	case 5:
		add(p, RF_PLAN_DO_CRASH, at, rank, 0);
		if (what == 5) {
			add(p, RF_PLAN_DO_RESTART, at + 1 + 20 * ns, rank, 0);
			/* it must find its way to the box, where the store would stop it */
			p->cfg.store = false;
		}
		explain(p, RF_PLAN_BY_CRASH, rank);
		break;
	case 6:
		add(p, RF_PLAN_DO_NO_RULE, at, rank, 0);
		explain(p, RF_PLAN_BY_RULE, rank);
		break;
	case 7:
		add(p, RF_PLAN_DO_RESET, at, rank, 0);
		explain(p, RF_PLAN_BY_RESET, rank);
		break;
	case 8:
	case 9:
		draw_nonsense(p, r, at, rank, false, what == 9);
		break;
	case 10:
		draw_nonsense(p, r, at, rank, true, false);
		break;
	case 11:
	case 12:
		p->cfg.host_links.corrupt_any = p->cfg.box_links.corrupt_any = MOST_LOSS / 8;
		explain(p, RF_PLAN_BY_FLIPS, rank);
		break;
	case 13:
	case 14:
		draw_pauses(p, r, rank);
		break;
	default:
		break;
	}
}

/*
 * A fallback, in runs whose box loses its state while the ranks work, and in some that keep theirs.
 * Drawn separately, so that it changes no other run.
 */
static void draw_fallback(struct rf_plan *p)
{
	struct rf_fabric_cfg *c = &p->cfg;
	struct rf_rng r = rf_rng_make(c->seed, 2);
	bool exact = c->type != RF_ARITH_INT32 && c->op == RF_ARITH_SUM;
	uint64_t at = STORE_TIME + draw_time(p, &r);

	if (!c->store || c->mirror || c->directed ||
	    (p->cause != RF_PLAN_BY_RESET && p->cause != RF_PLAN_BY_NOTHING) ||
	    (p->cause == RF_PLAN_BY_NOTHING && below(&r, 4) == 0))
		return;
	if (p->cause == RF_PLAN_BY_NOTHING && p->events == 0 && p->straggler == c->ranks &&
	    below(&r, 4)) {
		add(p, RF_PLAN_DO_RESET, at, 0, 0);
		explain(p, RF_PLAN_BY_RESET, 0);
	}
	c->fallback = exact || below(&r, 2) ? RF_FALLBACK_EXACT : RF_FALLBACK_RING;
	c->max_ops = 1;
}

static void draw_quirks(struct rf_plan *p, struct rf_rng *r)
{
	struct rf_quirk *q = &p->cfg.quirk[below(r, p->cfg.ranks)];

	if (below(r, 5) == 0) {
		q->ack_late_ns = 100 + rf_rng_below(r, below(r, 4) ? 20 * RF_USEC : 2 * RF_MSEC);
		q->coalesce = below(r, 2);
	}
	q = &p->cfg.quirk[below(r, p->cfg.ranks)];
	if (below(r, 6) == 0)
		q->window = p->cfg.slots << below(r, 3);
}

void rf_plan_make(struct rf_plan *p, uint64_t seed, const struct rf_plan_shape *shape)
{
	struct rf_rng r = rf_rng_make(seed, 1);
	struct rf_fabric_cfg *c = &p->cfg;

	memset(p, 0, sizeof(*p));
	rf_fabric_cfg_init(c);
	c->seed = seed;
	draw_topology(&r, c, shape);
	c->lease_ms = 300;
	c->join_deadline_ms = 3000;
	c->ack_timeout_ns = 100 * RF_USEC << below(&r, 5);
	c->ack_timeout_max_ns = 16 * c->ack_timeout_ns;
	c->retry_cnt = 255;
	c->timeout_ns = 120 * RF_SEC;
	c->store = below(&r, 4) != 0;
	draw_group(&r, c);
	if (below(&r, 4)) {
		draw_links(&r, &c->host_links);
		draw_links(&r, &c->box_links);
	}
	p->operations = 1 + below(&r, 4);
	for (unsigned k = 0; k < p->operations; k++)
		p->call[k] = (struct rf_fabric_call){
			.kind = RF_SCHEDULE_ALL_REDUCE,
			.type = c->type,
			.op = c->op,
			.count = 1 + below(&r, below(&r, 3) ? 4000 : 60000) / c->groups};
	rf_plan_draw_form(p);
	draw_numbers(p, &r);
	p->straggler = c->ranks;
	p->again = below(&r, 8) == 0;
	p->limit = 60 * RF_SEC;
	draw_events(p, &r);
	rf_plan_fit_events(p);
	draw_quirks(p, &r);
	draw_fallback(p);
}

/* ---- text ---- */

const char *rf_plan_ingredient(unsigned number)
{
	static const char *const words[] = {
#define RF_PLAN_X(name, text) text,
		RF_PLAN_INGREDIENTS(RF_PLAN_X)
#undef RF_PLAN_X
	};

	return number < RF_PLAN_INGREDIENT_COUNT ? words[number] : NULL;
}

const char *rf_plan_mutant_name(unsigned mutant)
{
	static const char *const names[] = {"none",
#define RF_PLAN_X(name, complaint) #name,
					    RF_PLAN_MUTANTS(RF_PLAN_X)
#undef RF_PLAN_X
	};

	return mutant < RF_PLAN_MUTANT_COUNT ? names[mutant] : NULL;
}

const char *rf_plan_mutant_complaint(unsigned mutant)
{
	static const char *const words[] = {"",
#define RF_PLAN_X(name, complaint) complaint,
					    RF_PLAN_MUTANTS(RF_PLAN_X)
#undef RF_PLAN_X
	};

	return mutant < RF_PLAN_MUTANT_COUNT ? words[mutant] : NULL;
}

static const char *event_name(enum rf_plan_kind kind)
{
	static const char *const names[] = {"crash",   "restart",   "freeze",
					    "pause",   "cable out", "cable in",
					    "no rule", "box reset", "nonsense"};

	return names[kind];
}

void rf_plan_text(const struct rf_plan *p, char *text, size_t room)
{
	const struct rf_fabric_cfg *c = &p->cfg;
	int n = snprintf(text, room,
			 "%u ranks, %u groups, %u operations, type %d op %d, MTU %u, S %u%s%s, "
			 "RNR code %u, loss %.2g and %.2g, flips %.2g",
			 c->ranks, c->groups, p->operations, (int)c->type, (int)c->op, c->mtu,
			 c->slots, c->selective ? ", selective" : "",
			 c->transparent ? ", transparent" : "", c->straggler, c->host_links.loss,
			 c->box_links.loss,
			 c->host_links.corrupt + c->host_links.corrupt_any + c->host_links.bad_fcs +
				 c->box_links.corrupt + c->box_links.bad_fcs);

	if (n > 0 && (size_t)n < room) {
		rf_plan_form_text(p, text + n, room - (size_t)n);
		n += (int)strlen(text + n);
	}
	if (c->fallback > RF_FALLBACK_NONE && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, ", with a fallback");
	if (p->limit_index && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, ", index from %06x", c->start_index);
	for (unsigned k = 0; k < c->ranks && n > 0 && (size_t)n < room; k++)
		if (c->quirk[k].window || c->quirk[k].ack_late_ns)
			n += snprintf(text + n, room - (size_t)n,
				      "; rank %u: window %u, ACKs late by %.3f us%s", k,
				      c->quirk[k].window, (double)c->quirk[k].ack_late_ns * 1e-3,
				      c->quirk[k].coalesce ? ", one for many" : "");
	if (p->straggler < c->ranks && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, "; rank %u is late by %.3f ms",
			      p->straggler, (double)p->straggler_ns * 1e-6);
	for (unsigned k = 0; k < p->events && n > 0 && (size_t)n < room; k++) {
		const struct rf_plan_event *e = &p->event[k];

		if (e->kind == RF_PLAN_DO_NONSENSE)
			n += snprintf(text + n, room - (size_t)n, "; rank %u as %u: nonsense %d",
				      e->speaker, e->rank, (int)e->nonsense);
		else
			n += snprintf(text + n, room - (size_t)n, "; %s of rank %u",
				      event_name(e->kind), e->rank);
		if (n > 0 && (size_t)n < room)
			n += snprintf(text + n, room - (size_t)n, " at %.3f ms",
				      (double)e->at * 1e-6);
	}
}
