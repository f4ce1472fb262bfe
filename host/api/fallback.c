/*
 * What a group does when its box has failed and RF_FALLBACK is set. All ranks meet at the store,
 * agree on the last completed call, and continue over a ring group.
 *
 * With a fallback only one call is outstanding at a time, and the operands of the last two calls
 * are kept. This is sufficient: a completed result contains every rank's operand, so every rank has
 * started that call and finished the one before. Hence ranks differ by at most one call.
 */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"

#define CARD 8u
/* Bytes of each rank's operand gathered at a time. */
#define BLOCK (256u * 1024u)

static const char *const names[] = {"default", "none", "exact", "ring"};

int rf_fallback_parse(enum rf_fallback wanted, const char *text, enum rf_fallback *out)
{
	unsigned int k;

	for (k = RF_FALLBACK_NONE; k <= RF_FALLBACK_RING; k++)
		if (wanted == (enum rf_fallback)k || (!wanted && strcmp(text, names[k]) == 0)) {
			*out = (enum rf_fallback)k;
			return RF_OK;
		}
	return RF_ERR_INVALID;
}

bool rf_fallback_takes(const struct rf_group *g, int status)
{
	return g->up && g->fallback > RF_FALLBACK_NONE && g->schedule == RF_SCHEDULE_BOX &&
	       (status == RF_ERR_BOX_SILENT || status == RF_ERR_BOX_REFUSED);
}

int rf_fallback_keep(struct rf_group *g, const void *send, void *recv, size_t count)
{
	struct rf_kept *k = &g->kept[g->n_done & 1];
	size_t bytes = count * rf_type_size(g->type);
	void *copy = realloc(k->copy, bytes);

	if (!copy)
		return RF_ERR_NO_MEMORY;
	k->copy = copy;
	k->recv = recv;
	k->count = count;
	memcpy(copy, send, bytes);
	return RF_OK;
}

/*
 * Gathers all operands on all ranks (a sum with zeroes, on integers, so exact), then adds them in
 * the box's order.
 */
static int exact_block(struct rf_group *g, const char *operand, char *recv, size_t count,
		       uint32_t *room)
{
	const void *inputs[RF_RANKS_MAX];
	size_t bytes = count * rf_type_size(g->type);
	size_t words = (bytes + 3) / 4;
	unsigned int ranks = g->comm->ranks, r;
	int ret;

	memset(room, 0, words * 4 * ranks);
	memcpy(room + words * g->comm->rank, operand, bytes);
	ret = rf_allreduce(g->ring, room, room, words * ranks);
	for (r = 0; r < ranks; r++)
		inputs[r] = room + words * r;
	return ret ? ret : rf_order_apply(&g->order, g->type, g->op, inputs, recv, count);
}

static int exact(struct rf_group *g, const struct rf_kept *k, void *recv)
{
	size_t size = rf_type_size(g->type), at, step = BLOCK / size;
	uint32_t *room = malloc((size_t)BLOCK * g->comm->ranks);
	int ret = room ? RF_OK : RF_ERR_NO_MEMORY;

	for (at = 0; at < k->count && !ret; at += step)
		ret = exact_block(g, (const char *)k->copy + at * size, (char *)recv + at * size,
				  k->count - at < step ? k->count - at : step, room);
	free(room);
	return ret;
}

/* recv NULL: only the other ranks need this call. */
static int carry_out(struct rf_group *g, const struct rf_kept *k, void *recv)
{
	void *to = recv ? recv : malloc(k->count * rf_type_size(g->type));
	int ret = RF_ERR_NO_MEMORY;

	if (to && g->fallback == RF_FALLBACK_EXACT)
		ret = exact(g, k, to);
	else if (to)
		ret = rf_allreduce(g->ring, k->copy, to, k->count);
	if (!recv)
		free(to);
	return ret;
}

/* Meets the other ranks. need: this rank has an unfinished call. Without the lock. */
static int fallback_begin(struct rf_group *g, bool need)
{
	struct rf_comm *comm = g->comm;
	uint8_t cards[RF_RANKS_MAX * CARD], card[CARD];
	struct rf_group_config config = RF_GROUP_CONFIG_INIT;
	char name[RF_STORE_KEY_MAX];
	uint32_t least = g->n_done;
	unsigned int r, who = comm->ranks;
	int ret;

	rf_put_be32(card, g->n_done);
	rf_put_be32(card + 4, need);
	snprintf(name, sizeof(name), "the end of group %u or of its box", g->number);
	ret = rf_comm_gather(comm, name, card, CARD, cards,
			     (unsigned int)(g->timeout_ns / NS_PER_MS) + 5000);
	if (ret)
		return ret;
	for (r = comm->ranks; r-- > 0;) {
		if (rf_get_be32(cards + r * CARD + 4))
			who = r;
		if ((int32_t)(rf_get_be32(cards + r * CARD) - least) < 0)
			least = rf_get_be32(cards + r * CARD);
	}
	if (who == comm->ranks)
		return RF_OK;
	fprintf(stderr,
		"ringfold: rank %u: group %u continues without its box, over the ring "
		"(RF_FALLBACK=%s: "
		"%s): %s\n",
		comm->rank, g->number, names[g->fallback],
		g->fallback == RF_FALLBACK_EXACT ? "slower, the same bits"
						 : "another order of additions, other bits",
		g->status ? g->text : "another rank reported it");
	if (g->n_done - least > 1)
		return rf_fail_unlocked(comm->ctx, RF_ERR_INTERNAL,
					"ranks are more than one call apart");
	config.schedule = RF_SCHEDULE_RING;
	config.fallback = RF_FALLBACK_NONE;
	config.timeout_ms = (unsigned int)(g->timeout_ns / NS_PER_MS);
	ret = rf_group_create(comm, g->fallback == RF_FALLBACK_EXACT ? RF_INT32 : g->type,
			      g->fallback == RF_FALLBACK_EXACT ? RF_SUM : g->op, &config, &g->ring);
	if (!ret && g->n_done != least)
		ret = carry_out(g, &g->kept[least & 1], NULL);
	return ret;
}

void rf_fallback_run(struct rf_group *g, struct rf_request *r)
{
	struct rf_context *ctx = g->comm->ctx;
	const struct rf_kept *k = &g->kept[g->n_done & 1];
	char text[RF_TEXT_MAX];
	int ret = RF_OK;

	rf_unlock(ctx);
	if (!g->ring)
		ret = fallback_begin(g, true);
	if (!ret)
		ret = carry_out(g, k, k->recv);
	rf_lock(ctx);
	if (ret) {
		snprintf(text, sizeof(text),
			 "%.200s; fallback failed as well (RF_FALLBACK=%s): %.250s", g->text,
			 names[g->fallback], ctx->error);
		snprintf(g->text, sizeof(g->text), "%s", text);
		g->status = ret;
		g->up = false;
	} else if (g->fallback == RF_FALLBACK_RING) {
		g->order.schedule = RF_SCHEDULE_RING;
	}
	rf_request_done(r, ret);
}

void rf_fallback_end(struct rf_group *g)
{
	if (g->fallback > RF_FALLBACK_NONE && g->up && !g->ring && g->comm->ranks > 1 &&
	    (!g->status || rf_fallback_takes(g, g->status)))
		fallback_begin(g, false);
	rf_group_destroy(g->ring);
	g->ring = NULL;
	free(g->kept[0].copy);
	free(g->kept[1].copy);
	memset(g->kept, 0, sizeof(g->kept));
}
