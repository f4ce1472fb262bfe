/*
 * Who waits in which call. Ranks that block in calls of different communicators wait for each other
 * until the timeout; to name the cause, each must know where the others are. So a process says it
 * through the store when a call has not moved for half of its timeout. Without a box ranks that are
 * in different calls of one communicator may await messages that nobody sends: there it is said
 * earlier, with the call's number and immediate, and a rank that has made another call under that
 * number ends the communicator.
 */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How early at the latest without a box. */
#define EARLY_NS (1000 * RF_NS_PER_MS)
/* If the others have not come to the end of a communicator by then, they are told of it. */
#define LEFT_NS (200 * RF_NS_PER_MS)
/* Ranks that are named in a text. */
#define NAMED 8u

const char *rf_comm_text(const struct rf_comm *comm, char text[RF_COMM_TEXT])
{
	bool named = comm->name[0];

	snprintf(text, RF_COMM_TEXT, "communicator%s%s%s",
		 named           ? " \""
		 : comm->lane[0] ? " number "
				 : "",
		 named ? comm->name : comm->lane, named ? "\"" : "");
	return text;
}

static uint64_t timeout_of(const struct rf_group *g)
{
	return g->comm->timeout_ms * RF_NS_PER_MS;
}

static uint64_t silence_of(const struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	uint64_t ns = timeout_of(g) / 2;

	if (g->schedule == RF_SCHEDULE_RING)
		ns = timeout_of(g) / 8 < EARLY_NS ? timeout_of(g) / 8 : EARLY_NS;
	return rf_member_puzzled(g->member) ? 0 : ns;
}

/* Without a box: "#GROUP NUMBER IMMEDIATE ", before the text. */
static void say(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	char text[RF_STORE_TEXT_MAX], call[128], head[64] = "", comm[RF_COMM_TEXT];
	uint64_t number;
	uint32_t immediate;

	if (rf_member_waits(g->member, &number, &immediate))
		snprintf(head, sizeof(head), "#%u %llu %u ", g->number, (unsigned long long)number,
			 immediate);
	rf_member_call_text(g->member, call, sizeof(call));
	snprintf(text, sizeof(text), "%s%s, %s", head, rf_comm_text(g->comm, comm),
		 call[0] ? call : "a call");
	rf_store_announce(ctx->job.store, RF_IN_PROGRESS, text);
}

/* "!GROUP CALLS": this rank makes no more calls on the group, after so many. */
static bool say_left(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	char text[64];

	snprintf(text, sizeof(text), "!%u %llu", g->number,
		 (unsigned long long)rf_member_started(g->member));
	return rf_store_announce(g->comm->ctx->job.store, RF_IN_PROGRESS, text) != RF_ERR_BUSY;
}

void rf_waits_say(struct rf_context *ctx, uint64_t now)
{
	for (struct rf_group *g = ctx->groups; g; g = g->next) {
		uint64_t moved = rf_member_moved_at(g->member);

		if (g->comm->destroyed_at && !g->said_left && !g->status && g->comm->ranks > 1 &&
		    now >= g->comm->destroyed_at + LEFT_NS)
			g->said_left = say_left(g);
		if (!g->outstanding || g->status || g->comm->ranks == 1 || g->said_at == moved ||
		    now < moved + silence_of(g))
			continue;
		g->said_at = moved;
		say(g);
	}
}

/* The group with a number in which a process is the rank *r; NULL: there is none. */
static struct rf_group *group_of(struct rf_context *ctx, unsigned int process, uint64_t number,
				 unsigned int *r) RF_REQUIRES(rf_context_class)
{
	for (struct rf_group *g = ctx->groups; g; g = g->next) {
		if (g->number != number || g->status)
			continue;
		for (*r = 0; *r < g->comm->ranks; ++*r)
			if (g->comm->member[*r] == process)
				return g;
	}
	return NULL;
}

/* What a rank says that makes no more calls. */
static void heard_left(struct rf_context *ctx, unsigned int process, const char *text)
	RF_REQUIRES(rf_context_class)
{
	uint64_t number, calls;
	unsigned int r;
	struct rf_group *g;
	char *end;

	number = strtoull(text + 1, &end, 10);
	if (end == text + 1 || *end != ' ')
		return;
	text = end + 1;
	calls = strtoull(text, &end, 10);
	g = end == text || *end ? NULL : group_of(ctx, process, number, &r);
	if (!g)
		return;
	rf_member_left_there(g->member, r, calls, rf_now());
}

/*
 * What a rank of a group without a box says of its call: compares it with the own one. Returns the
 * text after the numbers; without numbers, all of it.
 */
static const char *compare(struct rf_context *ctx, unsigned int process, const char *text)
	RF_REQUIRES(rf_context_class)
{
	uint64_t value[3];
	const char *at = text + 1;
	struct rf_group *g;
	unsigned int r;
	char *end;

	if (text[0] != '#')
		return text;
	for (unsigned int k = 0; k < 3; k++, at = end + 1) {
		value[k] = strtoull(at, &end, 10);
		if (end == at || *end != ' ')
			return text;
	}
	g = group_of(ctx, process, value[0], &r);
	if (g)
		rf_member_waits_there(g->member, r, value[1], (uint32_t)value[2], rf_now());
	return at;
}

void rf_waits_heard(struct rf_context *ctx, unsigned int process, const char *text)
{
	struct rf_waits *w = &ctx->waits[process];

	if (process >= RF_RANKS_MAX)
		return;
	if (text[0] == '!') {
		heard_left(ctx, process, text);
		return;
	}
	w->at = rf_now();
	text = compare(ctx, process, text);
	snprintf(w->text, sizeof(w->text), "%s", text);
}

void rf_waits_text(const struct rf_group *g, char *text, size_t room)
{
	const struct rf_comm *comm = g->comm;
	unsigned int named = 0, more = 0;
	uint64_t now = rf_now();
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int r = 0; r < comm->ranks; r++) {
		const struct rf_waits *w = &comm->ctx->waits[comm->member[r]];

		if (r == comm->rank || !w->at || now - w->at > timeout_of(g) || used >= room)
			continue;
		if (named == NAMED) {
			more++;
			continue;
		}
		used += (size_t)snprintf(text + used, room - used, "; rank %u waits in %s", r,
					 w->text);
		named++;
	}
	if (more && used < room)
		snprintf(text + used, room - used, "; and %u more rank%s", more,
			 more > 1 ? "s" : "");
}
