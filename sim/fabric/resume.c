/*
 * A host whose group continues over a ring when its box has failed: drives host/member/fallback.h
 * in virtual time, as host/api/fallback.c does in real time. The ring is a second member.
 */
#include <stdlib.h>

#include "sim/fabric/host.h"

/* The ring is the job's second group. */
#define RING_NUMBER 1u
/* Distance of its queue pair numbers from those of the first. */
#define RING_QPN 0x800u

static void no_memory(struct rf_host *h)
{
	rf_fabric_fail(h->f, "no memory for a fallback");
}

void rf_host_fallback_create(struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_fallback_cfg c = {.kind = cfg->fallback,
				    .rank = h->rank - rf_fabric_first(cfg, h->rank),
				    .ranks = rf_fabric_size(cfg),
				    .timeout_ns = cfg->timeout_ns,
				    .order = *rf_member_order(h->member)};

	if (rf_fallback_create(&c, &h->fallback) != RF_OK)
		no_memory(h);
}

void rf_host_resume(struct rf_host *h, unsigned op)
{
	h->resumed = op;
	rf_fallback_resume(h->fallback, rf_member_text(h->member));
}

/* ---- the machine's actions ---- */

/* True once the ring exists or has failed. */
static bool create_ring(struct rf_host *h)
{
	struct rf_member_cfg cfg;

	if (!h->ring) {
		cfg = rf_host_member_cfg(h);
		cfg.number = RING_NUMBER;
		cfg.schedule = RF_SCHEDULE_RING;
		cfg.flags = 0;
		cfg.window = 0;
		cfg.own.send_qpn += RING_QPN;
		cfg.own.recv_qpn += RING_QPN;
		rf_host_pair_init(h, &h->ring_pair, &cfg.own);
		if (rf_member_create(&cfg, &h->ring_pair.base, &h->ring) != RF_OK) {
			no_memory(h);
			return false;
		}
		rf_member_start(h->ring, rf_host_ns(h));
	}
	if (rf_member_phase(h->ring) == RF_MEMBER_RUNNING)
		rf_fallback_created(h->fallback, RF_OK, NULL);
	else if (rf_member_phase(h->ring) == RF_MEMBER_FAILED)
		rf_fallback_created(h->fallback, rf_member_status(h->ring),
				    rf_member_text(h->ring));
	else
		return false;
	return true;
}

/* False if the call has been started before. */
static bool call_ring(struct rf_host *h)
{
	const struct rf_fallback_call *call = rf_fallback_call(h->fallback);
	int ret;

	if (h->ring_call)
		return false;
	ret = rf_member_collective(
		h->ring, 0,
		&(struct rf_directed_call){.kind = RF_SCHEDULE_ALL_REDUCE,
					   .type = (enum rf_arith_type)call->type,
					   .op = (enum rf_arith_op)call->op,
					   .count = call->count,
					   .send = call->send,
					   .recv = call->recv},
		rf_host_ns(h));
	if (ret)
		rf_fallback_called(h->fallback, ret, "the ring refuses the call");
	else
		h->ring_call = true;
	return true;
}

/* True if it did something. */
static bool act(struct rf_host *h)
{
	switch (rf_fallback_action(h->fallback)) {
	case RF_FALLBACK_CREATE:
		return create_ring(h);
	case RF_FALLBACK_CALL:
		return call_ring(h);
	case RF_FALLBACK_ADD:
		rf_fallback_add(h->fallback);
		return true;
	case RF_FALLBACK_GATHER: /* store.c */
	case RF_FALLBACK_OVER:
		break;
	}
	return false;
}

static void take_ring_events(struct rf_host *h)
{
	struct rf_member_event e;

	while (rf_member_poll(h->ring, &e)) {
		if (e.kind == RF_MEMBER_ANNOUNCE) {
			rf_host_announce(h, RING_NUMBER, e.status,
					 rf_member_announcement(h->ring, e.status));
			continue;
		}
		h->ring_call = false;
		if (!rf_host_ended(h))
			rf_fallback_called(h->fallback, e.status, rf_member_text(h->ring));
	}
}

void rf_host_look_at_fallback(struct rf_host *h)
{
	unsigned op = h->resumed;

	if (!h->fallback)
		return;
	do {
		if (h->ring) {
			rf_member_progress(h->ring, rf_host_ns(h));
			take_ring_events(h);
		}
	} while (!rf_host_ended(h) && act(h));
	if (rf_host_ended(h))
		return;
	if (rf_fallback_notice(h->fallback))
		h->pub.on_ring = true;
	if (op == RF_NO_OP || rf_fallback_action(h->fallback) != RF_FALLBACK_OVER)
		return;
	if (rf_fallback_status(h->fallback)) {
		rf_host_fail(h, rf_fallback_status(h->fallback), rf_fallback_text(h->fallback));
		return;
	}
	h->resumed = RF_NO_OP;
	rf_host_op_done(h, op);
}

/* ---- the end ---- */

bool rf_host_leave(struct rf_host *h)
{
	if (h->fallback) {
		if (!h->leaving)
			rf_fallback_finish(h->fallback, rf_member_status(h->member),
					   rf_member_text(h->member));
		h->leaving = true;
		rf_host_look_at_fallback(h);
		if (rf_fallback_action(h->fallback) != RF_FALLBACK_OVER)
			return false;
	}
	h->leaving = true;
	return rf_host_leave_members(h);
}
