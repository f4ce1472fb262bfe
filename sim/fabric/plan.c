#include "sim/fabric/plan.h"

#include <stdio.h>
#include <string.h>

#include "sim/fabric/rng.h"

#define MOST_LOSS 0.02

/* Mostly nothing; else between 1e-5 and `most`, small ones as often as large ones. */
static double draw_fault(struct rf_rng *r, double most)
{
	double p = most;

	if (rf_rng_below(r, 2) == 0)
		return 0;
	for (uint64_t k = rf_rng_below(r, 11); k > 0; k--)
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
	f->jitter_ns = rf_rng_below(r, 3) == 0 ? rf_rng_below(r, 3000) : 0;
}

static uint32_t draw_psn(struct rf_rng *r)
{
	static const uint32_t near[] = {0xffff80, 0x3fff80, 0x7fff80, 0};

	if (rf_rng_below(r, 2) == 0)
		return RF_FABRIC_RANDOM_PSN;
	return (near[rf_rng_below(r, 4)] + (uint32_t)rf_rng_below(r, 256)) & 0xffffff;
}

static void draw_group(struct rf_rng *r, struct rf_fabric_cfg *c)
{
	static const unsigned slots[] = {16, 64, 512};

	c->type = (enum rf_arith_type)rf_rng_below(r, 4);
	c->op = rf_rng_below(r, 2) ? RF_ARITH_SUM : (enum rf_arith_op)rf_rng_below(r, 3);
	c->mtu = 256u << 2 * rf_rng_below(r, 3);
	c->slots = slots[rf_rng_below(r, 3)];
	while (c->slots * c->mtu > 512u << 10)
		c->slots /= 2;
	c->message_bytes = rf_rng_below(r, 2) ? 0 : c->mtu * (1 + (unsigned)rf_rng_below(r, 9));
	c->max_ops = 1 + (unsigned)rf_rng_below(r, 4);
	c->start_psn = draw_psn(r);
	c->selective = rf_rng_below(r, 4) == 0;
	c->transparent = rf_rng_below(r, 5) == 0;
	c->straggler = rf_rng_below(r, 4) == 0 ? 22 + (unsigned)rf_rng_below(r, 10) : 0;
	c->vlan = rf_rng_below(r, 4) == 0;
	c->in_place = rf_rng_below(r, 3) == 0;
}

static void add(struct rf_plan *p, enum rf_plan_kind kind, uint64_t at, unsigned rank, uint64_t ns)
{
	if (p->events < RF_PLAN_EVENTS)
		p->event[p->events++] =
			(struct rf_plan_event){.kind = kind, .at = at, .rank = rank, .ns = ns};
}

/* At most one thing after which ranks may fail. Events are in the order of their times. */
static void draw_events(struct rf_plan *p, struct rf_rng *r)
{
	unsigned rank = (unsigned)rf_rng_below(r, p->cfg.ranks);
	uint64_t at = rf_rng_below(r, 3 * RF_MSEC), ns = rf_rng_below(r, 50 * RF_MSEC);

	p->straggler = p->cfg.ranks;
	switch (rf_rng_below(r, 12)) {
	case 0:
		p->straggler = rank;
		/* Leases are renewed meanwhile: a rank that computes is no dead rank. */
		p->straggler_ns = rf_rng_below(r, 4) ? ns : rf_rng_below(r, 60 * RF_SEC);
		p->limit += p->operations * p->straggler_ns;
		break;
	case 1:
		add(p, RF_PLAN_FREEZE, at, rank, ns);
		break;
	case 2:
		add(p, RF_PLAN_CABLE_OUT, at, rank, 0);
		add(p, RF_PLAN_CABLE_IN, at + ns, rank, 0);
		break;
	case 3:
		add(p, RF_PLAN_CRASH, at, rank, 0);
		p->may_fail = true;
		break;
	case 4:
		add(p, RF_PLAN_NO_RULE, at, rank, 0);
		p->may_fail = true;
		break;
	case 5:
		add(p, RF_PLAN_RESET, at, rank, 0);
		p->may_fail = true;
		break;
	default:
		break;
	}
	/* Where nothing is ever acknowledged again (a dead successor in a group that drains, no
	 * rule) the transport has to give up. */
	if (p->may_fail)
		p->cfg.retry_cnt = 12;
}

void rf_plan_make(struct rf_plan *p, uint64_t seed, const struct rf_engine_ops *engine,
		  unsigned ports)
{
	struct rf_rng r = rf_rng_make(seed, 1);
	struct rf_fabric_cfg *c = &p->cfg;

	memset(p, 0, sizeof(*p));
	rf_fabric_cfg_init(c);
	c->engine = engine;
	c->ports = ports;
	c->ranks = 2 + (unsigned)rf_rng_below(&r, ports - 1);
	c->seed = seed;
	c->rate = UINT64_C(10000000000) << 2 * rf_rng_below(&r, 3) / 2 * 3;
	c->delay_ns = 100 + rf_rng_below(&r, 3000);
	c->lease_ms = 300;
	c->join_deadline_ms = 3000;
	c->ack_timeout_ns = 100 * RF_USEC << rf_rng_below(&r, 5);
	c->ack_timeout_max_ns = 16 * c->ack_timeout_ns;
	c->retry_cnt = 255;
	draw_group(&r, c);
	if (rf_rng_below(&r, 4)) {
		draw_links(&r, &c->host_links);
		draw_links(&r, &c->box_links);
		c->host_links.reorder_ns = c->box_links.reorder_ns = rf_rng_below(&r, 8000);
	}
	p->operations = 1 + (unsigned)rf_rng_below(&r, 4);
	for (unsigned k = 0; k < p->operations; k++)
		p->counts[k] = 1 + rf_rng_below(&r, rf_rng_below(&r, 3) ? 4000 : 100000);
	p->limit = 60 * RF_SEC;
	draw_events(p, &r);
}

void rf_plan_text(const struct rf_plan *p, char *text, size_t room)
{
	static const char *const kinds[] = {"crash",    "freeze",  "cable out",
					    "cable in", "no rule", "box reset"};
	const struct rf_fabric_cfg *c = &p->cfg;
	int n = snprintf(text, room,
			 "%u ranks, %u operations, type %d op %d, MTU %u, S %u%s%s, straggler code "
			 "%u, loss %.2g and %.2g",
			 c->ranks, p->operations, (int)c->type, (int)c->op, c->mtu, c->slots,
			 c->selective ? ", selective" : "", c->transparent ? ", transparent" : "",
			 c->straggler, c->host_links.loss, c->box_links.loss);

	if (p->straggler < c->ranks && n > 0 && (size_t)n < room)
		n += snprintf(text + n, room - (size_t)n, "; rank %u is late by %.3f ms",
			      p->straggler, (double)p->straggler_ns * 1e-6);
	for (unsigned k = 0; k < p->events && n > 0 && (size_t)n < room; k++)
		n += snprintf(text + n, room - (size_t)n, "; %s of rank %u at %.3f ms",
			      kinds[p->event[k].kind], p->event[k].rank,
			      (double)p->event[k].at * 1e-6);
}

static void happen(struct rf_fabric *f, const struct rf_plan *p, const struct rf_plan_event *e)
{
	struct rf_faults cut = {.loss = 1};

	switch (e->kind) {
	case RF_PLAN_CRASH:
		rf_fabric_crash(f, e->rank);
		break;
	case RF_PLAN_FREEZE:
		rf_fabric_freeze(f, e->rank, e->ns);
		break;
	case RF_PLAN_CABLE_OUT:
		rf_fabric_host_faults(f, e->rank, &cut, &cut);
		break;
	case RF_PLAN_CABLE_IN:
		rf_fabric_host_faults(f, e->rank, &p->cfg.host_links, &p->cfg.host_links);
		break;
	case RF_PLAN_NO_RULE:
		rf_fabric_rule(f, e->rank, false);
		break;
	case RF_PLAN_RESET:
		rf_fabric_box_reset(f);
		break;
	}
}

/* Programs of all ranks. */
static int program(struct rf_fabric *f, const struct rf_plan *p)
{
	int rc = 0;

	for (unsigned k = 0; k < p->operations; k++) {
		if (p->straggler < p->cfg.ranks)
			rc |= rf_fabric_step(f, p->straggler, RF_STEP_COMPUTE, p->straggler_ns);
		rc |= rf_fabric_allreduce(f, p->counts[k]);
	}
	return rc | rf_fabric_all(f, RF_STEP_LEAVE, 0);
}

/* What must be true of one rank whatever happened. */
static const char *judge(const struct rf_fabric *f, const struct rf_plan *p, unsigned rank)
{
	const struct rf_rank *k = rf_fabric_rank(f, rank);

	if (k->wrong)
		return "wrong sums";
	if (k->raw)
		return "raw data came through";
	if (k->state == RF_RANK_CRASHED)
		return NULL;
	if (k->state == RF_RANK_FAILED && !p->may_fail)
		return "failed, and nothing in the plan explains it";
	if (k->state == RF_RANK_FAILED && strlen(k->text) < 10)
		return "failed without saying why";
	if (k->state == RF_RANK_DONE && k->done < p->operations)
		return "done with fewer operations than it was told";
	if (k->state < RF_RANK_DONE)
		return "still waits";
	return NULL;
}

const char *rf_plan_run(const struct rf_plan *p, char *text, size_t room)
{
	const char *wrong = NULL;
	struct rf_fabric *f;
	int ended = 0;

	if (rf_fabric_create(&p->cfg, &f, text, room) != 0)
		return text;
	if (program(f, p) != 0)
		wrong = "no memory";
	for (unsigned k = 0; !wrong && k < p->events; k++) {
		ended = rf_fabric_run(f, p->event[k].at);
		happen(f, p, &p->event[k]);
	}
	if (!wrong)
		ended = rf_fabric_run(f, p->limit);
	if (!wrong && ended < 0)
		wrong = rf_fabric_why(f);
	for (unsigned r = p->cfg.ranks; r-- > 0;) {
		const char *what = wrong ? NULL : judge(f, p, r);

		if (!what)
			continue;
		snprintf(text, room, "rank %u: %s, state %d, %u operations done (%s)", r, what,
			 (int)rf_fabric_rank(f, r)->state, rf_fabric_rank(f, r)->done,
			 rf_fabric_rank(f, r)->text);
		wrong = text;
	}
	rf_fabric_destroy(f);
	return wrong;
}
