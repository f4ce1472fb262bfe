/*
 * Who waits in which call. Ranks that block in calls of different communicators wait for each other
 * until the timeout; to name the cause, each must know where the others are. So a process says it
 * through the store when a call has not moved for half of its timeout.
 */
#include "host/api/api.h"

#include <stdio.h>
#include <string.h>

/* Ranks that are named in a text. */
#define NAMED 3u

static uint64_t timeout_of(const struct rf_group *g)
{
	return g->comm->timeout_ms * RF_NS_PER_MS;
}

static void say(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	char text[RF_STORE_TEXT_MAX], call[128];

	rf_member_call_text(g->member, call, sizeof(call));
	snprintf(text, sizeof(text), "communicator %s%s%s, %s", g->comm->name[0] ? "\"" : "number ",
		 g->comm->name[0] ? g->comm->name : g->comm->lane, g->comm->name[0] ? "\"" : "",
		 call[0] ? call : "a call");
	rf_store_announce(ctx->job.store, RF_IN_PROGRESS, text);
}

void rf_waits_say(struct rf_context *ctx, uint64_t now)
{
	for (struct rf_group *g = ctx->groups; g; g = g->next) {
		uint64_t moved = rf_member_moved_at(g->member);

		if (!g->outstanding || g->status || g->comm->ranks == 1 || g->said_at == moved ||
		    now < moved + timeout_of(g) / 2)
			continue;
		g->said_at = moved;
		say(g);
	}
}

void rf_waits_heard(struct rf_context *ctx, unsigned int process, const char *text)
{
	struct rf_waits *w = &ctx->waits[process];

	if (process >= RF_RANKS_MAX)
		return;
	w->at = rf_now();
	snprintf(w->text, sizeof(w->text), "%s", text);
}

void rf_waits_text(const struct rf_group *g, char *text, size_t room)
{
	const struct rf_comm *comm = g->comm;
	unsigned int named = 0;
	uint64_t now = rf_now();
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int r = 0; r < comm->ranks && named < NAMED; r++) {
		const struct rf_waits *w = &comm->ctx->waits[comm->member[r]];

		if (r == comm->rank || !w->at || now - w->at > timeout_of(g) || used >= room)
			continue;
		used += (size_t)snprintf(text + used, room - used, "; rank %u waits in %s", r,
					 w->text);
		named++;
	}
}
