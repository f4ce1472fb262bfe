/*
 * The larger group of a communicator, for its large calls. A thread makes it when a large call has
 * been started, and gives it back when there has been none for a while. The calls never wait for
 * that: the first group carries them meanwhile. docs/collective.md explains how the ranks agree.
 */
#include "host/api/api.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "proto/rf_bytes.h"

/* How long no large call must have been outstanding until the group is given back. */
#define IDLE_NS (1000 * RF_NS_PER_MS)
#define LOOK_US 10000u
/* After k refusals in a row 2^k large calls go by, at most this many, until the next attempt. */
#define SKIP_MAX 256u
/* What a rank tells the others: whether it agrees, and how many large calls it has started. */
#define VOTE 5u

/* ---- how the ranks agree ---- */

struct votes {
	bool all;           /* agree */
	bool equal;         /* have started equally many calls */
	uint32_t most;      /* that a rank has started */
	unsigned int first; /* rank that does not agree */
};

static struct votes count(const struct rf_comm *comm, const uint8_t *all)
{
	struct votes v = {.all = true, .equal = true, .most = rf_get_be32(all + 1)};

	for (unsigned int r = comm->ranks; r-- > 0;) {
		uint32_t started = rf_get_be32(all + r * VOTE + 1);

		if (started != v.most)
			v.equal = false;
		if ((int32_t)(started - v.most) > 0)
			v.most = started;
		if (all[r * VOTE])
			continue;
		v.all = false;
		v.first = r;
	}
	return v;
}

/*
 * A vote of all ranks. hold: the next calls wait until the caller has called rf_comm_release(), so
 * that no rank starts one that the others do not know of. On error the text is recorded.
 */
static int vote(struct rf_comm *comm, const char *name, bool agree, bool hold,
		unsigned int timeout_ms, struct votes *v)
{
	uint8_t own[VOTE], all[RF_RANKS_MAX * VOTE];
	char lane[RF_STORE_LANE_MAX];
	int ret;

	rf_lock(comm->ctx);
	comm->large.holding = hold;
	own[0] = agree;
	rf_put_be32(own + 1, comm->large.started);
	rf_unlock(comm->ctx);
	snprintf(lane, sizeof(lane), "%s/votes", comm->lane);
	ret = rf_comm_gather(comm, lane, name, own, sizeof(own), all, timeout_ms);
	if (!ret)
		*v = count(comm, all);
	return ret;
}

/* A vote that every rank takes part in at once did not take place: the ranks know no more. */
static void disagree(struct rf_comm *comm, int status) RF_REQUIRES(rf_context_class)
{
	if (!rf_cancelled())
		rf_group_fail(comm->group, true, status, "%s", rf_error_text);
	rf_comm_release(comm);
}

/* ---- begin ---- */

static bool same_places(const struct rf_order *a, const struct rf_order *b)
{
	for (unsigned int r = 0; r < a->ranks; r++)
		if (a->place[r].port != b->place[r].port || a->place[r].lane != b->place[r].lane)
			return false;
	return true;
}

/* Makes the group. NULL: there is none, and why. */
static struct rf_group *make(struct rf_comm *comm, char *why, size_t room)
{
	struct rf_group *first = comm->group, *g = NULL;
	struct rf_group_want want = {.schedule = RF_SCHEDULE_BOX,
				     .lane = "large",
				     .slots = comm->large.slots,
				     .least = 4 * rf_member_window(first->member),
				     .like = first};
	int ret;

	/* the box may have given the first group fewer slots than it wants */
	if (want.least > want.slots)
		want.least = want.slots;
	ret = rf_group_make(comm, &want, &g);
	if (ret) {
		snprintf(why, room, "%.400s", rf_error_text);
		return NULL;
	}
	if (same_places(rf_member_order(g->member), rf_member_order(first->member)))
		return g;
	/* results would have other bits than rf_comm_order() says: all ranks see the same places */
	snprintf(why, room, "the box gave the ranks other places than before");
	rf_group_end(g, true);
	return NULL;
}

/* The ranks do without. Attempts become rarer. */
static void refused(struct rf_comm *comm, uint32_t most, const char *why)
	RF_REQUIRES(rf_context_class)
{
	struct rf_large *l = &comm->large;
	uint32_t skip = SKIP_MAX;
	char text[RF_COMM_TEXT];

	if (!l->refused)
		rf_log_line(&comm->ctx->log, RF_LOG_INFO,
			    "%s: no second group for large calls, which go on through "
			    "the first one: %s",
			    rf_comm_text(comm, text), why);
	l->refused++;
	if (l->refused < 8)
		skip = 1u << l->refused;
	l->state = RF_LARGE_NONE;
	l->from = most + skip;
}

static void used(struct rf_comm *comm, struct rf_group *g, uint32_t most)
	RF_REQUIRES(rf_context_class)
{
	struct rf_large *l = &comm->large;
	char text[RF_COMM_TEXT];

	rf_log_line(&comm->ctx->log, RF_LOG_INFO,
		    "%s: a second group of the box, with %u slots, carries large "
		    "calls after number %u",
		    rf_comm_text(comm, text), 2 * rf_member_window(g->member), most);
	l->state = RF_LARGE_USED;
	l->group = g;
	l->from = most + 1;
	l->refused = 0;
	l->used_at = rf_now();
}

/* Makes the group, and agrees with the other ranks from which call on it is used. */
static bool begin(struct rf_comm *comm)
{
	struct rf_context *ctx = comm->ctx;
	char why[RF_TEXT_MAX] = "";
	struct rf_group *g = make(comm, why, sizeof(why));
	struct votes v = {0};
	int ret = vote(comm, "the first call of a larger group", g != NULL, true, comm->timeout_ms,
		       &v);
	bool good = !ret && v.all;

	if (!ret && g && !good)
		snprintf(why, sizeof(why), "rank %u has failed to make it", v.first);
	rf_lock(ctx);
	if (ret)
		disagree(comm, ret);
	else if (good)
		used(comm, g, v.most);
	else
		refused(comm, v.most, why);
	if (!ret)
		rf_comm_release(comm);
	rf_unlock(ctx);
	if (g && !good)
		rf_group_end(g, false);
	return good;
}

/* ---- end ---- */

/*
 * Whether this rank can do without the group now. A large call that the first group still carries
 * counts, too: if it takes long, the next one comes late.
 */
static bool is_idle(struct rf_comm *comm)
{
	struct rf_large *l = &comm->large;
	bool idle;

	rf_lock(comm->ctx);
	idle = !l->outstanding && (l->ending || rf_now() - l->used_at >= IDLE_NS);
	rf_unlock(comm->ctx);
	return idle;
}

/*
 * Two votes: the first one waits, without holding a call, until every rank has been idle. Only if
 * none has started a large call since it voted does the second one, in which all take part at once,
 * find all ranks at the same call.
 */
static bool give_back(struct rf_comm *comm)
{
	struct rf_context *ctx = comm->ctx;
	struct rf_large *l = &comm->large;
	char text[RF_COMM_TEXT];
	struct rf_group *g;
	struct votes v, w;
	int ret;

	while (!is_idle(comm) && !rf_cancelled())
		usleep(LOOK_US);
	if (rf_cancelled() ||
	    vote(comm, "the idleness of a larger group", true, false, UINT_MAX, &v))
		return true;
	if (!v.equal)
		return false;
	ret = vote(comm, "the last call of a larger group", true, true, comm->timeout_ms, &w);
	rf_lock(ctx);
	g = l->group;
	if (ret) {
		disagree(comm, ret);
		rf_unlock(ctx);
		return true;
	}
	if (!w.equal || w.most != v.most) {
		rf_comm_release(comm);
		rf_unlock(ctx);
		return false;
	}
	l->state = RF_LARGE_NONE;
	l->group = NULL;
	l->from = w.most + 1;
	rf_comm_release(comm);
	rf_log_line(&ctx->log, RF_LOG_INFO, "%s: the second group is given back",
		    rf_comm_text(comm, text));
	rf_unlock(ctx);
	rf_group_end(g, true);
	return true;
}

/* ---- the thread ---- */

static void *body(void *arg)
{
	struct rf_comm *comm = arg;
	struct rf_large *l = &comm->large;

	rf_cancel = &l->cancel;
	if (begin(comm))
		while (!give_back(comm))
			;
	rf_cancel = NULL;
	rf_lock(comm->ctx);
	l->thread_over = true;
	pthread_cond_broadcast(&comm->ctx->cond);
	rf_unlock(comm->ctx);
	return NULL;
}

void rf_large_wanted(struct rf_comm *comm)
{
	struct rf_large *l = &comm->large;
	sigset_t all, old;

	if (l->state != RF_LARGE_NONE || !l->started || (int32_t)(l->started - l->from) < 0 ||
	    comm->group->status)
		return;
	if (l->thread_on && !l->thread_over)
		return;
	if (l->thread_on)
		pthread_join(l->thread, NULL);
	l->state = RF_LARGE_MAKING;
	l->thread_over = false;
	/* the application's signals must not arrive on this thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	l->thread_on = pthread_create(&l->thread, NULL, body, comm) == 0;
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	/* the others wait for this rank */
	if (!l->thread_on)
		rf_group_fail(comm->group, true, RF_ERR_SYSTEM,
			      "cannot start a thread for the second group of a communicator");
}

void rf_large_end(struct rf_comm *comm)
{
	struct rf_context *ctx = comm->ctx;
	struct rf_large *l = &comm->large;
	struct rf_group *group;
	uint64_t until;

	rf_lock(ctx);
	if (!l->thread_on) {
		rf_unlock(ctx);
		return;
	}
	l->ending = true;
	if (comm->group->outstanding)
		rf_group_fail(comm->group, true, RF_ERR_ABORTED,
			      "the communicator was destroyed with calls outstanding");
	if (l->group)
		rf_group_events(l->group);
	until = rf_now() + (comm->troubled ? 0 : comm->timeout_ms * RF_NS_PER_MS);
	while (!l->thread_over && rf_sleep(ctx, until))
		;
	atomic_store(&l->cancel, true);
	while (!l->thread_over)
		rf_sleep(ctx, RF_NEVER);
	group = l->group;
	rf_unlock(ctx);
	pthread_join(l->thread, NULL);
	if (group)
		rf_group_end(group, true);
}
