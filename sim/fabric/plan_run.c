/* Runs a plan and judges the result. */
#include <stdio.h>
#include <string.h>

#include "rf_regs.h"
#include "sim/fabric/plan.h"

/* Time after the end in which leases of crashed ranks expire, slots are freed and frames arrive. */
#define SETTLE (4 * RF_SEC)
#define AGAIN_LIFE 2u
#define AGAIN_LIMIT (60 * RF_SEC)
#define AGAIN_COUNT 5000u

struct run {
	const struct rf_plan *p;
	struct rf_fabric *f;
	enum rf_plan_mutant mutant;
	struct rf_plan_result *result;
	bool bad;
};

static void seen(struct run *u, enum rf_plan_ingredient what)
{
	u->result->seen |= UINT64_C(1) << what;
}

static void complain(struct run *u, const char *what)
{
	if (!u->bad)
		snprintf(u->result->text, sizeof(u->result->text), "%s", what);
	u->bad = true;
}

static void complain_of(struct run *u, unsigned rank, const struct rf_rank *k, const char *what)
{
	char text[800];

	snprintf(text, sizeof(text),
		 "rank %u: %s; state %d, %u of %u operations done, culprit %d (%s)", rank, what,
		 (int)k->state, k->done, u->p->operations, (int)k->culprit, k->text);
	complain(u, text);
}

static int call(struct rf_fabric *f, const struct rf_plan *p, unsigned rank, unsigned k)
{
	return rf_fabric_is_directed(&p->cfg, rank)
		       ? rf_fabric_call(f, rank, &p->call[k])
		       : rf_fabric_step(f, rank, RF_STEP_ALLREDUCE,
					p->call[k].count ? p->call[k].count : 1);
}

static void happen(struct run *u, const struct rf_plan_event *e)
{
	const struct rf_plan *p = u->p;
	const struct rf_rank *k = rf_fabric_rank(u->f, e->rank);
	struct rf_faults cut = {.loss = 1};

	switch (e->kind) {
	case RF_PLAN_DO_CRASH:
		rf_fabric_crash(u->f, e->rank);
		seen(u, RF_PLAN_CRASH);
		break;
	case RF_PLAN_DO_RESTART:
		/* A rank that had never been in the group could still join it. */
		if (k->state != RF_RANK_CRASHED || k->ready_ns == 0)
			break;
		if (rf_fabric_restart(u->f, e->rank, 1) != 0 || call(u->f, p, e->rank, 0) != 0)
			complain(u, "cannot restart a host");
		seen(u, RF_PLAN_RESTART);
		break;
	case RF_PLAN_DO_FREEZE:
		rf_fabric_freeze(u->f, e->rank, e->ns);
		seen(u, RF_PLAN_FREEZE);
		break;
	case RF_PLAN_DO_PAUSE:
		rf_fabric_freeze(u->f, e->rank, e->ns);
		seen(u, RF_PLAN_PAUSE);
		if (k->state <= RF_RANK_JOINING)
			seen(u, RF_PLAN_PAUSE_EARLY);
		if (p->cause == RF_PLAN_BY_PAUSE)
			seen(u, RF_PLAN_PAUSE_LEASE);
		break;
	case RF_PLAN_DO_CABLE_OUT:
		rf_fabric_host_faults(u->f, e->rank, &cut, &cut);
		seen(u, RF_PLAN_CABLE);
		break;
	case RF_PLAN_DO_CABLE_IN:
		rf_fabric_host_faults(u->f, e->rank, &p->cfg.host_links, &p->cfg.host_links);
		break;
	case RF_PLAN_DO_NO_RULE:
		rf_fabric_rule(u->f, e->rank, false);
		seen(u, RF_PLAN_NO_RULE);
		break;
	case RF_PLAN_DO_RESET:
		rf_fabric_box_reset(u->f);
		seen(u, RF_PLAN_RESET);
		break;
	case RF_PLAN_DO_NONSENSE:
		if (!rf_fabric_nonsense(u->f, e->speaker, e->rank, e->nonsense, e->spoof,
					p->cfg.seed + e->at))
			break;
		seen(u, e->speaker != e->rank            ? RF_PLAN_NONSENSE_STRANGER
			: rf_nonsense_fatal(e->nonsense) ? RF_PLAN_NONSENSE_FATAL
							 : RF_PLAN_NONSENSE);
		break;
	}
}

static int program(struct rf_fabric *f, const struct rf_plan *p)
{
	int rc = 0;

	for (unsigned k = 0; k < p->operations; k++) {
		/*
		 * The long wait happens only once: it is the same for the box, and simulation is
		 * expensive.
		 */
		if (p->straggler < p->cfg.ranks && (k == 0 || p->straggler_ns < RF_SEC))
			rc |= rf_fabric_step(f, p->straggler, RF_STEP_COMPUTE, p->straggler_ns);
		for (unsigned r = 0; r < p->cfg.ranks; r++)
			rc |= call(f, p, r, k);
	}
	return rc | rf_fabric_all(f, RF_STEP_LEAVE, 0);
}

static void judge(struct run *u)
{
	struct rf_plan as = *u->p;
	struct rf_fabric_stats s;

	rf_fabric_stats(u->f, &s);
	if (u->mutant == RF_PLAN_MUTANT_cause)
		as.victim = (as.victim + 1) % as.cfg.ranks;
	if (u->mutant == RF_PLAN_MUTANT_fewer)
		as.operations++;
	for (unsigned r = 0; r < u->p->cfg.ranks; r++) {
		struct rf_rank k = *rf_fabric_rank(u->f, r);
		const char *what;

		if (u->mutant == RF_PLAN_MUTANT_late)
			k.failed_ns += 10 * RF_SEC;
		if (u->mutant == RF_PLAN_MUTANT_text)
			k.text[0] = '\0';
		if (u->mutant == RF_PLAN_MUTANT_ring)
			k.on_ring = true;
		what = rf_plan_judge(&as, u->f, r, &k, s.misaddressed_ranks);
		if (what)
			complain_of(u, r, &k, what);
		if (k.state == RF_RANK_FAILED)
			seen(u, RF_PLAN_FAILED);
		if (k.on_ring && k.state == RF_RANK_DONE)
			seen(u, RF_PLAN_FALLBACK);
	}
}

/* The same ranks again, without faults: whatever happened before, the job must succeed. */
static void start_again(struct run *u)
{
	struct rf_faults host = u->p->cfg.host_links, box = u->p->cfg.box_links;
	unsigned ranks = u->p->cfg.ranks;
	int rc = 0;

	/* First, leases of crashed ranks must expire. */
	if (rf_fabric_settle(u->f, rf_fabric_now(u->f) + SETTLE) != 0)
		complain(u, rf_fabric_why(u->f));
	host.corrupt_any = box.corrupt_any = 0;
	rf_fabric_links(u->f, &host, &box);
	for (unsigned r = 0; r < ranks; r++) {
		rf_fabric_rule(u->f, r, u->mutant != RF_PLAN_MUTANT_again || r != 0);
		rc |= rf_fabric_restart(u->f, r, AGAIN_LIFE);
	}
	rc |= rf_fabric_allreduce(u->f, AGAIN_COUNT) | rf_fabric_allreduce(u->f, 1);
	rc |= rf_fabric_all(u->f, RF_STEP_LEAVE, 0);
	if (rc != 0) {
		complain(u, "cannot restart the ranks");
		return;
	}
	if (rf_fabric_run(u->f, rf_fabric_now(u->f) + AGAIN_LIMIT) < 0)
		complain(u, rf_fabric_why(u->f));
	for (unsigned r = 0; r < ranks; r++) {
		const struct rf_rank *k = rf_fabric_rank(u->f, r);

		if (k->state != RF_RANK_DONE || k->wrong || k->done != 2)
			complain_of(u, r, k, "started again, it does not do its work");
	}
	seen(u, RF_PLAN_AGAIN);
}

/* After all programs have ended: everything must have been freed. */
static void look_for_leaks(struct run *u)
{
	static const enum rf_spoil spoil[RF_PLAN_MUTANT_COUNT] = {
		[RF_PLAN_MUTANT_frame] = RF_SPOIL_FRAME,
		[RF_PLAN_MUTANT_nic] = RF_SPOIL_NIC,
		[RF_PLAN_MUTANT_qp] = RF_SPOIL_QP,
		[RF_PLAN_MUTANT_vector] = RF_SPOIL_VECTOR,
		[RF_PLAN_MUTANT_timer] = RF_SPOIL_TIMER,
		[RF_PLAN_MUTANT_box] = RF_SPOIL_BOX,
		[RF_PLAN_MUTANT_slots] = RF_SPOIL_SLOTS,
		[RF_PLAN_MUTANT_table] = RF_SPOIL_TABLE,
		[RF_PLAN_MUTANT_member] = RF_SPOIL_MEMBER,
	};
	const char *what;

	if (rf_fabric_settle(u->f, rf_fabric_now(u->f) + SETTLE) != 0)
		complain(u, rf_fabric_why(u->f));
	rf_fabric_spoil(u->f, spoil[u->mutant]);
	what = rf_fabric_leak(u->f);
	if (what)
		complain(u, what);
}

static bool shares_port(const struct rf_fabric_cfg *c)
{
	unsigned size = c->ranks / c->groups;

	for (unsigned a = 0; a < c->ranks; a++)
		for (unsigned b = a + 1; b < a - a % size + size; b++)
			if (c->port_of_rank[a] == c->port_of_rank[b])
				return true;
	return false;
}

/* What ranks that have done all their work have sent. */
static void look_at_form(struct run *u)
{
	const struct rf_plan *p = u->p;
	const struct rf_fabric_cfg *c = &p->cfg;
	bool directed = false, ordinary = false;

	for (unsigned r = 0; r < c->ranks; r++) {
		if (rf_fabric_rank(u->f, r)->done != p->operations)
			continue;
		if (rf_fabric_is_mirror(c, r))
			seen(u, c->router ? RF_PLAN_ROUTER : RF_PLAN_MIRROR);
		if (rf_fabric_is_mixed(c, r))
			seen(u, RF_PLAN_BOTH);
		directed |= rf_fabric_is_directed(c, r);
		ordinary |= !rf_fabric_is_directed(c, r);
		if (!rf_fabric_is_directed(c, r))
			continue;
		for (unsigned k = 0; k < p->operations; k++) {
			const struct rf_fabric_call *l = &p->call[k];

			seen(u, RF_PLAN_ALL_REDUCE + (l->kind - RF_SCHEDULE_ALL_REDUCE));
			if (l->kind != RF_SCHEDULE_BARRIER)
				seen(u, RF_PLAN_FP32 + l->type);
			if (rf_schedule_reduces(l->kind) && l->op >= RF_ARITH_AND)
				seen(u, RF_PLAN_BITS);
			if (rf_plan_is_long(p, r, l))
				seen(u, RF_PLAN_LONG);
			if (rf_plan_is_long(p, r, l) &&
			    c->message_packets[r] != c->message_packets[r ? r - 1 : r + 1])
				seen(u, RF_PLAN_LENGTHS);
		}
	}
	if (directed)
		seen(u, ordinary ? RF_PLAN_BESIDE : RF_PLAN_DIRECTED);
}

/* Ingredients that follow from the run's statistics; evaluated before the job is restarted. */
static void look_at_figures(struct run *u)
{
	const struct rf_plan *p = u->p;
	const struct rf_fabric_cfg *c = &p->cfg;
	struct rf_fabric_stats *s = &u->result->stats;
	bool whole = false;
	uint64_t rnr = 0;

	if (c->mirror || c->directed)
		look_at_form(u);

	rf_fabric_stats(u->f, s);
	for (unsigned r = 0; r < c->ranks; r++)
		whole |= rf_fabric_rank(u->f, r)->done == p->operations &&
			 rf_fabric_rank(u->f, r)->life == 0;
	for (unsigned port = 0; port < c->ports; port++)
		rnr += rf_fabric_counter(u->f, port, RF_CNT_PENDING_RNR);
	const struct {
		enum rf_plan_ingredient what;
		bool is;
	} all[] = {
		{RF_PLAN_GROUPS, c->groups > 1},
		{RF_PLAN_LANES, shares_port(c)},
		{RF_PLAN_LOSS, c->host_links.loss + c->box_links.loss > 0 && s->frames_lost},
		{RF_PLAN_DUPLICATE, s->frames_duplicated},
		{RF_PLAN_REORDER, s->frames_reordered},
		{RF_PLAN_DELAY, c->host_links.jitter_ns || c->box_links.jitter_ns},
		{RF_PLAN_FLIP_FCS, s->frames_bad_fcs},
		{RF_PLAN_FLIP_ICRC, s->frames_corrupted},
		{RF_PLAN_FLIP_ANY, s->frames_corrupted_any},
		{RF_PLAN_MISADDRESSED, s->misaddressed_ranks},
		{RF_PLAN_STRAGGLER,
		 whole && p->straggler < c->ranks && p->straggler_ns < 50 * RF_MSEC},
		{RF_PLAN_STRAGGLER_LONG,
		 whole && p->straggler < c->ranks && p->straggler_ns >= RF_SEC},
		{RF_PLAN_PSN_WRAP, whole && p->psn_wraps},
		{RF_PLAN_INDEX_22, whole && s->groups_moved && p->limit_index == 1u << 22},
		{RF_PLAN_INDEX_23, whole && s->groups_moved && p->limit_index == 1u << 23},
		{RF_PLAN_INDEX_24, whole && s->groups_moved && p->limit_index == 1u << 24},
		{RF_PLAN_ACKS_LATE, s->acks_late},
		{RF_PLAN_ACKS_COALESCED, s->acks_coalesced},
		{RF_PLAN_WINDOW, s->window_exceeded},
		{RF_PLAN_SELECTIVE, whole && c->selective},
		{RF_PLAN_TRANSPARENT, whole && c->transparent},
		{RF_PLAN_RNR, rnr},
		{RF_PLAN_STORE, whole && c->store},
	};
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].is)
			seen(u, all[i].what);
}

static void go(struct run *u)
{
	const struct rf_plan *p = u->p;
	int ended = 0;

	if (program(u->f, p) != 0)
		complain(u, "no memory");
	for (unsigned k = 0; k < p->events; k++) {
		ended = rf_fabric_run(u->f, p->event[k].at);
		/* Every target of the event has already ended. */
		if (ended == 0)
			happen(u, &p->event[k]);
		else if (ended > 0 && p->event[k].kind == RF_PLAN_DO_CABLE_IN)
			happen(u, &p->event[k]);
	}
	if (u->mutant == RF_PLAN_MUTANT_error && rf_fabric_run(u->f, RF_MSEC) == 0)
		rf_fabric_quit(u->f, 0);
	if (u->mutant == RF_PLAN_MUTANT_wait && rf_fabric_run(u->f, RF_MSEC) == 0)
		rf_fabric_freeze(u->f, 0, 2 * p->limit);
	ended = rf_fabric_run(u->f, p->limit);
	if (ended < 0)
		complain(u, rf_fabric_why(u->f));
	judge(u);
	look_at_figures(u);
	if (ended > 0 && p->again)
		start_again(u);
	if (ended > 0)
		look_for_leaks(u);
}

bool rf_plan_run(const struct rf_plan *p, enum rf_plan_mutant mutant, struct rf_plan_result *result)
{
	struct run u = {.p = p, .mutant = mutant, .result = result};
	struct rf_fabric_cfg cfg = p->cfg;

	*result = (struct rf_plan_result){.seen = 0};
	cfg.flip = mutant == RF_PLAN_MUTANT_bits;
	cfg.flip_raw = mutant == RF_PLAN_MUTANT_raw;
	cfg.hasty = mutant == RF_PLAN_MUTANT_hasty;
	if (rf_fabric_create(&cfg, &u.f, result->text, sizeof(result->text)) != 0)
		return false;
	go(&u);
	if (!rf_fabric_captured(u.f))
		complain(&u, "a capture file is not complete");
	rf_fabric_destroy(u.f);
	return !u.bad;
}
