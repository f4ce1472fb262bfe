/* What other ranks announce by the store, and what this rank has to announce. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>

/* An announcement is "<number of the group>|text", so that the right group is ended. */
static void announced(struct rf_context *ctx, const struct rf_store_event *e)
	RF_REQUIRES(rf_context_class)
{
	char *end;
	unsigned long number = strtoul(e->text, &end, 10);
	struct rf_group *g;
	unsigned int r;

	for (g = ctx->groups; g; g = g->next) {
		if (*end != '|' || g->number != number)
			continue;
		for (r = 0; r < g->comm->ranks && g->comm->member[r] != e->rank; r++)
			;
		if (r == g->comm->ranks)
			continue;
		rf_member_announced(g->member, r, e->status, end + 1, rf_now());
		rf_group_events(g);
	}
}

/* No group of a communicator can continue. */
static void lost(struct rf_comm *comm, const char *text) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g;

	if (comm->status || comm->ranks == 1)
		return;
	comm->status = RF_ERR_RANK_LOST;
	snprintf(comm->text, sizeof(comm->text), "%s", text);
	for (g = comm->ctx->groups; g; g = g->next)
		if (g->comm == comm)
			rf_group_fail(g, false, RF_ERR_RANK_LOST, "%s", text);
	pthread_cond_broadcast(&comm->ctx->cond);
}

/* The process of a rank of the job has ended: that concerns the communicators with it. */
static void lost_rank(struct rf_context *ctx, unsigned int rank) RF_REQUIRES(rf_context_class)
{
	char text[RF_TEXT_MAX];
	struct rf_comm *comm;

	for (comm = ctx->comms; comm; comm = comm->next)
		for (unsigned int r = 0; r < comm->ranks; r++) {
			if (comm->member[r] != rank)
				continue;
			rf_member_lost_text(r, text, sizeof(text));
			lost(comm, text);
		}
}

void rf_job_listen(struct rf_context *ctx)
{
	struct rf_store *store = ctx->job.store;
	struct rf_store_event e;
	struct rf_comm *comm;
	int ret;

	for (struct rf_group *g = ctx->groups; g; g = g->next)
		rf_group_announce(g);
	rf_waits_say(ctx, rf_now());
	while ((ret = rf_store_poll(store, &e)) != 0) {
		if (ret > 0 && e.status == RF_ERR_RANK_LOST && !e.text[0])
			lost_rank(ctx, e.rank);
		else if (ret > 0 && e.status == RF_IN_PROGRESS)
			rf_waits_heard(ctx, e.rank, e.text);
		else if (ret > 0)
			announced(ctx, &e);
		for (comm = ret < 0 ? ctx->comms : NULL; comm; comm = comm->next)
			lost(comm, "the connection to rank 0's store has ended: its process has "
				   "ended; see its output for the cause");
	}
}
