/* The data that the ranks of a group exchange through the store during its creation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/api/api.h"
#include "proto/rf_bytes.h"

/* Bytes that a rank publishes before a group is created. */
#define CARD 28u
/* Bytes of a rank's report about a step that all must complete: status and text. */
#define VERDICT 260u

/* Reads the connection endpoints of all ranks; the rest of the cards must be equal. */
int rf_group_meet(struct rf_group *g, struct rf_peer_end *ends)
{
	struct rf_comm *comm = g->comm;
	uint8_t cards[RF_RANKS_MAX * CARD];
	uint8_t card[CARD] = {0};
	char name[RF_STORE_KEY_MAX];
	unsigned int r;
	int ret;

	rf_put_be32(card, g->recv_qpn);
	rf_put_be32(card + 4, g->start_psn);
	rf_put_be32(card + 8, g->send_qpn);
	card[12] = (uint8_t)g->type;
	card[13] = (uint8_t)g->op;
	card[14] = (uint8_t)g->schedule;
	card[15] = (uint8_t)g->fallback;
	rf_put_be32(card + 16, g->slots);
	rf_put_be16(card + 20, g->flags);
	snprintf(name, sizeof(name), "the start of group %u", g->number);
	ret = rf_comm_gather(comm, name, card, sizeof(card), cards, comm->timeout_ms);
	for (r = 0; r < comm->ranks && !ret; r++) {
		const uint8_t *c = cards + r * CARD;
		char text[RF_TEXT_MAX];

		ends[r].qpn = rf_get_be32(c);
		ends[r].start_psn = rf_get_be32(c + 4);
		ends[r].send_qpn = rf_get_be32(c + 8);
		if (memcmp(c + 12, cards + 12, CARD - 12) == 0)
			continue;
		if (c[15] != cards[15]) {
			snprintf(text, sizeof(text),
				 "rank %u and rank 0 differ in RF_FALLBACK: set it to the same "
				 "value on all ranks",
				 r);
			ret = rf_fail_unlocked(comm->ctx, RF_ERR_MISMATCH, text);
			continue;
		}
		if (memcmp(c + 12, cards + 12, 8) == 0) {
			snprintf(text, sizeof(text),
				 "rank %u and rank 0 differ in RF_TRANSPARENT, RF_SELECTIVE or "
				 "RF_STRAGGLER (JOIN flags 0x%x and 0x%x): set them to the same "
				 "values on all ranks",
				 r, rf_get_be16(c + 20), rf_get_be16(cards + 20));
			ret = rf_fail_unlocked(comm->ctx, RF_ERR_MISMATCH, text);
			continue;
		}
		snprintf(text, sizeof(text),
			 "rank %u makes a group of %s %s by the %s with %u slots, rank 0 one of %s "
			 "%s by the %s with %u slots",
			 r, rf_type_name((enum rf_type)c[12]), rf_op_name((enum rf_op)c[13]),
			 c[14] == RF_SCHEDULE_RING ? "ring" : "box", rf_get_be32(c + 16),
			 rf_type_name((enum rf_type)cards[12]), rf_op_name((enum rf_op)cards[13]),
			 cards[14] == RF_SCHEDULE_RING ? "ring" : "box", rf_get_be32(cards + 16));
		ret = rf_fail_unlocked(comm->ctx, RF_ERR_MISMATCH, text);
	}
	return ret;
}

/* Failures that follow from another rank's failure, which is more specific. */
static bool secondary(int status)
{
	return status == RF_ERR_TIMEOUT || status == RF_ERR_ABORTED;
}

/*
 * Every rank reports how a step went. All get the first rank's failure that is a cause, else the
 * first failure.
 */
int rf_group_verdict(struct rf_group *g, const char *step, int status)
{
	struct rf_comm *comm = g->comm;
	uint8_t *all = calloc(comm->ranks, VERDICT);
	uint8_t own[VERDICT] = {0};
	char name[RF_STORE_KEY_MAX], text[VERDICT + 32];
	unsigned int r;
	int worst = RF_OK;
	int ret;

	if (!all)
		return RF_ERR_NO_MEMORY;
	rf_put_be32(own, (uint32_t)status);
	rf_lock(comm->ctx);
	if (status)
		snprintf((char *)own + 4, VERDICT - 4, "%.250s", comm->ctx->error);
	rf_unlock(comm->ctx);
	snprintf(name, sizeof(name), "group %u, %s", g->number, step);
	/* other ranks may still be in a step that ends at its own deadline */
	ret = rf_comm_gather(comm, name, own, VERDICT, all,
			     (unsigned int)(g->timeout_ns / NS_PER_MS) + 5000);
	for (r = 0; r < comm->ranks && !ret; r++) {
		const uint8_t *v = all + r * VERDICT;
		int s = (int)rf_get_be32(v);

		if (!s || (s > 0 && worst) || (worst < 0 && (!secondary(worst) || secondary(s))))
			continue;
		worst = s;
		if (r == comm->rank)
			snprintf(text, sizeof(text), "%.250s", (const char *)v + 4);
		else
			snprintf(text, sizeof(text), "rank %u: %.250s", r, (const char *)v + 4);
	}
	free(all);
	if (status && (ret || !worst)) {
		/* no other rank answers any more: report our own failure */
		return rf_fail_unlocked(comm->ctx, status, (const char *)own + 4);
	}
	if (worst)
		return rf_fail_unlocked(comm->ctx, worst, text);
	return ret;
}

/*
 * All ranks ask for the requested number of slots. If they are not available, all ask for the
 * number that is.
 */
int rf_group_join_all(struct rf_group *g, const struct rf_peer_end *ends)
{
	struct rf_context *ctx = g->comm->ctx;
	int ret;

	rf_lock(ctx);
	ret = rf_group_join(g, ends, g->slots);
	rf_unlock(ctx);
	ret = rf_group_verdict(g, "JOIN", ret);
	if (ret != RF_IN_PROGRESS)
		return ret;
	rf_lock(ctx);
	ret = rf_group_join(g, ends, 16);
	rf_unlock(ctx);
	ret = rf_group_verdict(g, "JOIN with fewer slots", ret);
	return ret == RF_IN_PROGRESS ? RF_ERR_BOX_REFUSED : ret;
}
