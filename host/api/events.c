/* What the member of a group reports, and what ends with it: requests, and the group. */
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>

void rf_request_done(struct rf_request *r, int status)
{
	struct rf_context *ctx = r->group->comm->ctx;

	rf_request_mem_drop(r);
	r->done = true;
	r->status = status;
	r->group->outstanding--;
	ctx->outstanding--;
	if (status == RF_OK) {
		ctx->reductions++;
		ctx->bytes_reduced += r->bytes;
	}
	rf_request_tell(r);
	pthread_cond_broadcast(&ctx->cond);
}

static void group_announce(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	struct rf_announce *a;

	if (g->comm->ranks == 1 || ctx->n_announces == sizeof(ctx->announces) / sizeof(*a))
		return;
	a = &ctx->announces[ctx->n_announces++];
	a->status = rf_member_status(g->member);
	snprintf(a->text, sizeof(a->text), "%u|%.380s", g->number, rf_member_text(g->member));
}

void rf_group_events(struct rf_group *g)
{
	struct rf_member_event e;

	if (rf_member_status(g->member) && !g->status) {
		g->status = rf_member_status(g->member);
		snprintf(g->text, sizeof(g->text), "%s", rf_member_text(g->member));
		g->comm->troubled = true;
		rf_log_line(&g->comm->ctx->log, RF_LOG_INFO, "group %u failed: %s", g->number,
			    g->text);
	}
	while (rf_member_poll(g->member, &e)) {
		if (e.kind == RF_MEMBER_ANNOUNCE)
			group_announce(g);
		else if (!rf_fallback_takes(g->resume, e.status)) {
			if (g->resume && !e.status)
				rf_fallback_succeeded(g->resume);
			rf_request_done(&g->requests[e.id], e.status);
		} else {
			/* its caller carries it out */
			rf_request_tell(&g->requests[e.id]);
		}
	}
	if (g->changes == rf_member_changes(g->member))
		return;
	g->changes = rf_member_changes(g->member);
	pthread_cond_broadcast(&g->comm->ctx->cond);
}

void rf_group_fail(struct rf_group *g, bool announce, int status, const char *format, ...)
{
	char text[RF_TEXT_MAX];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	rf_member_fail(g->member, announce, status, rf_now(), "%s", text);
	rf_group_events(g);
}

unsigned int rf_group_progress(struct rf_group *g, uint64_t now)
{
	unsigned int count = rf_member_progress(g->member, now);

	rf_group_events(g);
	return count;
}
