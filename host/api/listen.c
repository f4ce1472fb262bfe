/* What other ranks announce by the store, and what this rank has to announce. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>

/* An announcement is "<number of the group>|text", so that the right group is ended. */
static void announced(struct rf_comm *comm, const struct rf_store_event *e)
	RF_REQUIRES(rf_context_class)
{
	char *end;
	unsigned long number = strtoul(e->text, &end, 10);
	struct rf_group *g;

	for (g = comm->groups; g; g = g->next)
		if (*end == '|' && g->number == number) {
			rf_member_announced(g->member, e->rank, e->status, end + 1, rf_now());
			rf_group_events(g);
		}
}

static void lost(struct rf_comm *comm, const char *text) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g;

	if (comm->status)
		return;
	comm->status = RF_ERR_RANK_LOST;
	snprintf(comm->text, sizeof(comm->text), "%s", text);
	for (g = comm->groups; g; g = g->next)
		rf_group_fail(g, false, RF_ERR_RANK_LOST, "%s", text);
	pthread_cond_broadcast(&comm->ctx->cond);
}

void rf_comm_listen(struct rf_comm *comm)
{
	struct rf_store_event e;
	unsigned int k;
	char text[RF_TEXT_MAX];
	int ret;

	for (k = 0; k < comm->n_announces; k++)
		rf_store_announce(comm->store, comm->announces[k].status, comm->announces[k].text);
	comm->n_announces = 0;
	while ((ret = rf_store_poll(comm->store, &e)) != 0) {
		if (ret < 0)
			lost(comm,
			     "the connection to rank 0's store has ended: its process has ended; "
			     "see its output for the cause");
		else if (e.status == RF_ERR_RANK_LOST && !e.text[0]) {
			rf_member_lost_text(e.rank, text, sizeof(text));
			lost(comm, text);
		} else
			announced(comm, &e);
	}
}
