/* What must be true of each rank in every run, and which errors a plan explains. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_ctl.h"
#include "ringfold/ringfold.h"
#include "sim/fabric/plan.h"

/*
 * By this time after the last event, every rank that must fail has failed: the transport gives up
 * after 1.7 s, a JOIN's deadline is 3 s, and the box is asked for the cause for 2 s.
 */
#define DEADLINE (8 * RF_SEC)

/* When the consequences of the last event begin. */
static uint64_t last_event(const struct rf_plan *p)
{
	const struct rf_plan_event *e = &p->event[p->events - 1];

	return e->at + (e->kind == RF_PLAN_DO_PAUSE ? e->ns : 0);
}

struct judge {
	const struct rf_plan *p;
	struct rf_fabric *f;
	unsigned size;  /* ranks per group */
	unsigned first; /* first rank of the group */
	uint32_t misaddressed;
};

/* Number within the group of a plan's rank. */
static unsigned within(const struct judge *j, unsigned rank)
{
	return rank % j->size;
}

static bool of_group(const struct judge *j, unsigned rank)
{
	return rank - rank % j->size == j->first;
}

/*
 * Some rank of the group has sent data whose return address was damaged; the next one never gets
 * the results.
 */
static bool damaged_before(const struct judge *j, unsigned culprit)
{
	if (culprit >= j->size)
		return false;
	return j->misaddressed >> rf_fabric_neighbour(&j->p->cfg, j->first + culprit, false) & 1;
}

/* The box's reason for ending the group, for each kind of nonsense. */
static unsigned reason_of(enum rf_nonsense kind)
{
	switch (kind) {
	case RF_NONSENSE_OPCODE:
		return RF_CTL_R_OPCODE;
	case RF_NONSENSE_LENGTH:
		return RF_CTL_R_LENGTH;
	case RF_NONSENSE_ELEMENT:
		return RF_CTL_R_ELEMENT;
	case RF_NONSENSE_NAK:
		return RF_CTL_R_NAK;
	case RF_NONSENSE_ORDER:
		return RF_CTL_R_ORDER;
	case RF_NONSENSE_IMMEDIATE:
		return RF_CTL_R_IMMEDIATE;
	default:
		return RF_CTL_R_NONE;
	}
}

/* A NAK is attributed to the connection whose data it answers. */
static unsigned culprit_of(const struct judge *j, const struct rf_plan_event *e)
{
	return within(j, e->nonsense == RF_NONSENSE_NAK
				 ? rf_fabric_neighbour(&j->p->cfg, e->rank, false)
				 : e->rank);
}

/* Whether "ranks 0, 2, 5 come in by the same port" includes this one. */
static bool lists(const char *text, unsigned rank)
{
	const char *at = strstr(text, "ranks ");

	for (at = at ? at + 6 : ""; *at >= '0' && *at <= '9'; at += strspn(at, ", ")) {
		char *end;

		if (strtoul(at, &end, 10) == rank)
			return true;
		at = end;
	}
	return false;
}

/*
 * Errors of a rank whose packets bypass the box, or that misses another rank's packets. A rank that
 * is not asked for repeats is not acknowledged by the next one: both are named. Without the rule, a
 * JOIN arrives at another rank's port, and a repeated JOIN perhaps at a different one.
 */
static bool is_rule(const struct judge *j, unsigned self, const struct rf_rank *k, unsigned victim)
{
	if (k->reason == RF_CTL_R_NO_LANES)
		return lists(k->text, victim);
	/*
	 * All is delivered, the last ACK was lost, and no repeat of it is requested: only the rank
	 * itself knows.
	 */
	if (k->status == RF_ERR_TRANSPORT && k->culprit == RF_NOBODY)
		return self == victim && strstr(k->text, "switch's rule");
	if (k->status == RF_ERR_TRANSPORT)
		return k->culprit == victim ||
		       k->culprit == within(j, rf_fabric_neighbour(&j->p->cfg, j->p->victim, true));
	return k->culprit == victim &&
	       (k->status == RF_ERR_STEERING || k->reason == RF_CTL_R_LEASE);
}

/*
 * The cause itself, as seen by a rank that was not notified by others; not that another rank has
 * given up.
 */
static bool is_cause(const struct judge *j, unsigned self, const struct rf_rank *k)
{
	const struct rf_plan *p = j->p;
	unsigned victim = within(j, p->victim);
	const struct rf_plan_event *last = p->events ? &p->event[p->events - 1] : NULL;
	bool about = k->culprit == victim;

	switch (p->cause) {
	case RF_PLAN_BY_CRASH:
		return of_group(j, p->victim) && about &&
		       (k->status == RF_ERR_RANK_LOST || k->status == RF_ERR_RANK_MISSING ||
			k->status == RF_ERR_TRANSPORT);
	case RF_PLAN_BY_PAUSE:
		/* the rank itself finds that the others have gone on without it */
		return of_group(j, p->victim) &&
		       (self == victim || (about && (k->status == RF_ERR_RANK_LOST ||
						     k->status == RF_ERR_RANK_MISSING)));
	case RF_PLAN_BY_RULE:
		return of_group(j, p->victim) && is_rule(j, self, k, victim);
	case RF_PLAN_BY_RESET:
		return strstr(k->text, "reset") || k->reason == RF_CTL_R_RESET ||
		       k->reason == RF_CTL_R_GROUP_UNKNOWN || k->reason == RF_CTL_R_MISSING_RANKS;
	case RF_PLAN_BY_NONSENSE:
		return of_group(j, p->victim) && last && k->reason == reason_of(last->nonsense) &&
		       k->culprit == culprit_of(j, last);
	case RF_PLAN_BY_FLIPS:
		return k->status == RF_ERR_TRANSPORT && damaged_before(j, k->culprit);
	default:
		return false;
	}
}

/*
 * Another rank has ended the group, for a reason that the plan contains. That rank may have learnt
 * it from a third one.
 */
static bool is_reported(const struct judge *j, const struct rf_rank *k)
{
	for (unsigned hops = 0; hops < j->size; hops++) {
		unsigned who = k->culprit;

		if ((k->reason != RF_CTL_R_ABORTED && !k->announced) || who >= j->size)
			return false;
		k = rf_fabric_rank(j->f, j->first + who);
		if (k->state == RF_RANK_FAILED && is_cause(j, who, k))
			return true;
	}
	return false;
}

const char *rf_plan_judge(const struct rf_plan *p, struct rf_fabric *f, unsigned rank,
			  const struct rf_rank *k, uint32_t misaddressed)
{
	struct judge j = {.p = p, .f = f, .misaddressed = misaddressed};

	j.size = p->cfg.groups > 1 ? p->cfg.ranks / p->cfg.groups : p->cfg.ranks;
	j.first = rank - rank % j.size;
	if (k->wrong)
		return "wrong sums";
	if (k->raw)
		return "raw data came through";
	if (k->state == RF_RANK_CRASHED)
		return NULL;
	if (k->state < RF_RANK_DONE)
		return "still waits";
	if (k->on_ring && p->cause != RF_PLAN_BY_RESET)
		return "has left a healthy box";
	if (k->state == RF_RANK_DONE)
		return k->done < p->operations ? "done with fewer operations than requested" : NULL;
	if (strlen(k->text) < 10)
		return "failed without saying why";
	if (k->status == RF_ERR_BOX_SILENT)
		return "says that a healthy box is silent";
	if (p->cause == RF_PLAN_BY_NOTHING)
		return "failed, and nothing in the plan explains it";
	/* Started too late: the other ranks have already ended. */
	if (k->life == 1 && rank == p->victim)
		return NULL;
	if (p->events && k->failed_ns > last_event(p) + DEADLINE)
		return "failed, but long after the event";
	if (!is_cause(&j, rank % j.size, k) && !is_reported(&j, k))
		return "failed, but that is not the cause that the plan gives";
	return NULL;
}
