/* What the member of a group reports, and what ends with it: requests, and the group. */
#include "host/api/api.h"

#include <stdarg.h>
#include <stdio.h>

void rf_group_announce(struct rf_group *g)
{
	struct rf_store *store = g->comm->ctx->job.store;
	char text[RF_STORE_TEXT_MAX];

	if (!g->announce || !store)
		return;
	snprintf(text, sizeof(text), "%u|%.380s", g->number,
		 rf_member_announcement(g->member, g->announce));
	if (rf_store_announce(store, g->announce, text) != RF_ERR_BUSY)
		g->announce = 0;
}

/* A call of the member has ended. */
static void request_ended(struct rf_group *g, struct rf_request *r, int status)
	RF_REQUIRES(rf_context_class)
{
	/* nothing was kept for it, and nothing is missing */
	bool empty = g->resume && rf_comm_call_is_empty(g->comm, &r->call);

	if (rf_fallback_takes(g->resume, status)) {
		if (empty) {
			rf_request_done(r, RF_OK);
			return;
		}
		if (r->call.c.kind == RF_SCHEDULE_ALL_REDUCE) {
			/* its caller carries it out */
			rf_request_tell(r);
			return;
		}
		rf_fallback_give_up(g->resume);
	}
	if (r->stage == RF_STAGE_COUNTS) {
		rf_request_counted(r, status);
		return;
	}
	if (g->resume && !status && !empty)
		rf_fallback_succeeded(g->resume);
	rf_request_done(r, status);
}

/* With one of its groups a communicator fails, unless the group is not used yet. */
static void spread(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = g->comm;
	struct rf_group *larger = comm->large.group;

	if (g->owner != g && g != larger)
		return;
	comm->troubled = true;
	atomic_store(&comm->large.cancel, true);
	if (g == larger)
		rf_member_fail(g->owner->member, true, g->status, rf_now(), "%s",
			       rf_member_text(g->member));
	else if (larger && g == comm->group)
		rf_member_fail(larger->member, true, g->status, rf_now(), "%s",
			       rf_member_text(g->member));
	if (g == comm->group)
		rf_comm_drop_held(comm);
}

/* The member has failed. */
static void note_failure(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	char waits[RF_WAITS_TEXT] = "", comm[RF_COMM_TEXT] = "";

	if (!rf_member_status(g->member) || g->status)
		return;
	g->status = rf_member_status(g->member);
	if (g->status == RF_ERR_TIMEOUT)
		rf_waits_text(g, waits, sizeof(waits));
	/* others may wait in another one, whether it has a name or not */
	if (g->comm->name[0] || g->status == RF_ERR_TIMEOUT)
		rf_comm_text(g->comm, comm);
	snprintf(g->text, sizeof(g->text), "%s%s%.511s%s", comm, comm[0] ? ": " : "",
		 rf_member_text(g->member), waits);
	spread(g);
	rf_log_line(&g->comm->ctx->log, RF_LOG_INFO, "group %u failed: %s", g->number, g->text);
}

void rf_group_events(struct rf_group *g)
{
	struct rf_member_event e;

	note_failure(g);
	while (rf_member_poll(g->member, &e)) {
		/* what an event starts can fail, too */
		note_failure(g);
		if (e.kind == RF_MEMBER_ANNOUNCE) {
			g->announce = g->comm->ranks > 1 ? e.status : 0;
			rf_group_announce(g);
		} else {
			request_ended(g, &g->owner->requests[e.id], e.status);
		}
	}
	note_failure(g);
	/* a failure ends those, too, of which the member knows nothing yet */
	if (g->status)
		rf_group_pump(g);
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
