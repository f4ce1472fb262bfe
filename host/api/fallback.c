/*
 * Drives the machine that continues a group over a ring (host/member/fallback.h): gathers, creates
 * the ring group and calls it, as the machine asks.
 */
#include "host/api/api.h"

#include <stdio.h>

/* These release the lock while they wait, and leave the text of an error in the context. */

static void fallback_gather(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_member_gather want = *rf_fallback_gather(g->resume);
	struct rf_context *ctx = g->comm->ctx;
	uint8_t values[RF_RANKS_MAX * 8];
	int ret = RF_ERR_INTERNAL;

	if (want.len * g->comm->ranks > sizeof(values)) {
		rf_fail(ctx, ret, "the ranks' messages are too long");
	} else {
		rf_unlock(ctx);
		ret = rf_comm_gather(g->comm, g->lane, want.name, want.value, want.len, values,
				     want.timeout_ms);
		rf_lock(ctx);
	}
	rf_fallback_gathered(g->resume, ret, rf_error_text, values);
}

static void fallback_create(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	struct rf_group *ring = NULL;
	int ret;

	rf_unlock(ctx);
	ret = rf_group_make(g->comm,
			    &(struct rf_group_want){.schedule = RF_SCHEDULE_RING, .lane = "ring"},
			    &ring);
	rf_lock(ctx);
	g->ring = ring;
	rf_fallback_created(g->resume, ret, rf_error_text);
}

static void fallback_call(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	const struct rf_fallback_call *want = rf_fallback_call(g->resume);
	size_t bytes = want->count * rf_type_size(want->type);
	struct rf_comm_call call = {.c = {.kind = RF_SCHEDULE_ALL_REDUCE,
					  .type = (enum rf_arith_type)want->type,
					  .op = (enum rf_arith_op)want->op,
					  .count = want->count,
					  .send = want->send,
					  .recv = want->recv},
				    .send_bytes = bytes,
				    .recv_bytes = bytes};
	struct rf_context *ctx = g->comm->ctx;
	struct rf_request *r;
	int ret = rf_request_start(g->ring, &call, &r);

	if (!ret) {
		rf_kick(ctx);
		while (!r->done)
			rf_sleep(ctx, RF_NEVER);
		ret = rf_request_take(r);
	}
	rf_fallback_called(g->resume, ret, rf_error_text);
}

static void fallback_drive(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_fallback_state *f = g->resume;
	enum rf_fallback_action action;
	const char *notice;

	while ((action = rf_fallback_action(f)) != RF_FALLBACK_OVER) {
		if (action == RF_FALLBACK_GATHER) {
			fallback_gather(g);
		} else if (action == RF_FALLBACK_CREATE) {
			fallback_create(g);
		} else if (action == RF_FALLBACK_CALL) {
			fallback_call(g);
		} else {
			/* only this thread carries out the call, and others see no change */
			rf_unlock(g->comm->ctx);
			rf_fallback_add(f);
			rf_lock(g->comm->ctx);
		}
		notice = rf_fallback_notice(f);
		if (notice)
			rf_log_line(&g->comm->ctx->log, RF_LOG_WARN, "%s", notice);
	}
}

void rf_group_resume(struct rf_group *g, struct rf_request *r)
{
	int ret;

	rf_fallback_resume(g->resume, g->text);
	fallback_drive(g);
	ret = rf_fallback_status(g->resume);
	if (ret) {
		snprintf(g->text, sizeof(g->text), "%s", rf_fallback_text(g->resume));
		g->status = ret;
	}
	g->order.schedule = rf_fallback_schedule(g->resume);
	rf_request_done(r, ret);
}

void rf_group_finish(struct rf_group *g)
{
	rf_fallback_finish(g->resume, g->status, g->text);
	fallback_drive(g);
}
