/*
 * What a process knows of the room at the box. A refusal is remembered, so that a program with many
 * communicators asks once; and only after a group of one of the ranks has ended is it worth
 * while to ask a full box again and again. The ranks agree on that: if one of them had given up at
 * once, another one, which asks when there is room, would wait for it in vain.
 */
#include "host/api/api.h"

#include <stdio.h>
#include <string.h>

/* The box knows a group by 16 bits, of which the member needs one. */
#define NUMBER_MASK 0x7fffu
#define COUNTER_GROUPS 0
/* How long a refusal is remembered at most: other jobs end groups, too. */
#define FULL_NS (10000 * RF_NS_PER_MS)
/* What a rank tells the others before they ask: a refusal that it remembers; that it has ended a
   group shortly before. */
#define SAYS_FULL 1u
#define SAYS_FREED 2u
/* How long after the end of a group the box may need to give its place back. */
#define SOON_NS (2000 * RF_NS_PER_MS)

/* Whether the box is known to have no room for this group. */
static bool is_full(const struct rf_context *ctx, const struct rf_group *g)
	RF_REQUIRES(rf_context_class)
{
	return g->schedule == RF_SCHEDULE_BOX && ctx->full_at && ctx->full_box == g->comm->box_ip &&
	       g->least >= ctx->full_slots && rf_now() - ctx->full_at < FULL_NS;
}

static int remembered(struct rf_group *g, unsigned int rank) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;

	if (rank != g->comm->rank)
		return rf_fail(ctx, RF_ERR_BOX_REFUSED,
			       "rank %u was refused a group by this box within the last %llu s, "
			       "and has ended none since; end a group first",
			       rank, (unsigned long long)(FULL_NS / RF_NS_PER_MS / 1000));
	return rf_fail(
		ctx, RF_ERR_BOX_REFUSED, "not asked again, %llu ms after this answer: %.400s",
		(unsigned long long)((rf_now() - ctx->full_at) / RF_NS_PER_MS), ctx->full_text);
}

static bool freed_lately(const struct rf_context *ctx) RF_REQUIRES(rf_context_class)
{
	return ctx->freed_at && rf_now() - ctx->freed_at < SOON_NS;
}

int rf_group_meet(struct rf_group *g)
{
	struct rf_comm *comm = g->comm;
	struct rf_context *ctx = comm->ctx;
	bool full = is_full(ctx, g);
	uint8_t own = (uint8_t)((full ? SAYS_FULL : 0) | (freed_lately(ctx) ? SAYS_FREED : 0));
	uint8_t all[RF_RANKS_MAX];
	uint32_t number = 0;
	struct rf_store_gather want = {.ranks = comm->set,
				       .lane = g->lane,
				       .name = "the start of a group",
				       .value = &own,
				       .len = 1,
				       .timeout_ms = comm->timeout_ms,
				       .number = &number,
				       .counter = COUNTER_GROUPS};
	int ret;

	if (comm->ranks == 1) {
		g->number = ctx->next_number++;
		return RF_OK;
	}
	rf_unlock(ctx);
	ret = rf_job_gather(ctx, &want, all);
	rf_lock(ctx);
	g->number = number & NUMBER_MASK;
	for (unsigned int k = 0; k < comm->ranks && !ret; k++)
		g->room_soon |= (all[k] & SAYS_FREED) != 0;
	/* what a rank remembers may be of the time before that */
	if (ret || g->room_soon)
		return ret;
	/* all ranks come to the same conclusion; their own memory first, because it has the reason
	 */
	if (full)
		return remembered(g, comm->rank);
	for (unsigned int k = 0; k < comm->ranks; k++)
		if (all[k] & SAYS_FULL)
			return remembered(g, rf_comm_rank_at(comm, k));
	return RF_OK;
}

void rf_room_refused(struct rf_group *g)
{
	struct rf_context *ctx = g->comm->ctx;

	switch (rf_member_reason(g->member)) {
	case RF_CTL_R_NO_SLOTS:
	case RF_CTL_R_NO_GROUPS:
	case RF_CTL_R_NO_CONNECTIONS:
	case RF_CTL_R_NO_PASSES:
	case RF_CTL_R_NO_RANKS:
		break;
	default:
		return;
	}
	if (rf_member_status(g->member) != RF_ERR_BOX_REFUSED)
		return;
	ctx->full_at = rf_now();
	ctx->full_box = g->comm->box_ip;
	ctx->full_slots = rf_member_reason(g->member) == RF_CTL_R_NO_SLOTS ? g->least : 0;
	snprintf(ctx->full_text, sizeof(ctx->full_text), "%s", rf_member_text(g->member));
}

void rf_room_freed(struct rf_group *g)
{
	if (!g->joined)
		return;
	g->comm->ctx->full_at = 0;
	g->comm->ctx->freed_at = rf_now();
}
