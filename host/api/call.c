/* Starts a request and takes its result. */
#include "host/api/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct rf_request *request_free(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	unsigned int k;

	for (k = 0; k < RF_REQUESTS_MAX; k++)
		if (!g->requests[k].used)
			return &g->requests[k];
	return NULL;
}

/* Who uses the buffers of a group's call: the NIC, the processor, or both. */
static unsigned int mem_how(const struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	const struct rf_comm *comm = g->comm;
	unsigned int how = 0;

	if (comm->ctx->verbs && comm->ranks > 1 && !rf_fallback_takes(g->resume, g->status))
		how |= RF_MEM_NIC;
	if (!(how & RF_MEM_NIC) || g->schedule == RF_SCHEDULE_RING || g->resume)
		how |= RF_MEM_TOUCHED;
	return how;
}

static int mem_take(struct rf_request *r, const void *send, void *recv)
	RF_REQUIRES(rf_context_class)
{
	const struct rf_buffers buffers = {send, r->bytes, recv, r->bytes};

	return rf_request_mem_take(r, &buffers, mem_how(r->group));
}

/* Returns what is wrong with the arguments, or NULL. */
static const char *request_check(const struct rf_group *g, const void *send, const void *recv,
				 size_t count)
{
	size_t size = rf_type_size(g->type);
	uintptr_t a = (uintptr_t)send;
	uintptr_t b = (uintptr_t)recv;

	if (!count)
		return "count is 0: every rank reduces at least one element";
	if (!send || !recv)
		return "a buffer is NULL";
	if (count > SIZE_MAX / 2 / size)
		return "count is larger than the address space";
	if (a % size || b % size)
		return "a buffer is not aligned to its element";
	if (a != b && a < b + count * size && b < a + count * size)
		return "send and receive buffer overlap without being the same";
	return NULL;
}

/* Starts the request. One rank alone has finished at once. */
static int request_post(struct rf_group *g, struct rf_request *r, const void *send, void *recv,
			size_t count) RF_REQUIRES(rf_context_class)
{
	int ret;

	g->outstanding++;
	g->comm->ctx->outstanding++;
	/* without the box: carried out by the caller that waits for it */
	if (rf_fallback_takes(g->resume, g->status)) {
		rf_request_tell(r);
		return RF_OK;
	}
	ret = rf_member_call(g->member, (unsigned int)(r - g->requests), send, recv, count,
			     rf_now());
	if (ret) {
		rf_fail(g->comm->ctx, ret, "the group does not accept the call");
		g->outstanding--;
		g->comm->ctx->outstanding--;
	} else if (g->comm->ranks == 1) {
		rf_group_progress(g, rf_now());
	}
	return ret;
}

/* Copies the operand, so that the group can continue without its box. */
static int request_keep(struct rf_group *g, const void *send, void *recv, size_t count)
	RF_REQUIRES(rf_context_class)
{
	void **copy = &g->copies[rf_fallback_turn(g->resume)];
	void *more = realloc(*copy, count * rf_type_size(g->type));

	if (!more)
		return rf_fail(g->comm->ctx, RF_ERR_NO_MEMORY,
			       "no memory for the copy of the operand");
	*copy = more;
	rf_fallback_keep(g->resume, more, send, recv, count);
	return RF_OK;
}

int rf_request_start(struct rf_group *g, const void *send, void *recv, size_t count,
		     struct rf_request **out)
{
	struct rf_context *ctx = g->comm->ctx;
	const char *wrong = request_check(g, send, recv, count);
	struct rf_request *r;
	int ret;

	if (wrong)
		return rf_fail(ctx, RF_ERR_INVALID, "%s", wrong);
	if (g->fallback > RF_FALLBACK_NONE && g->outstanding)
		return rf_fail(ctx, RF_ERR_BUSY,
			       "a group with RF_FALLBACK carries out one call at a time");
	if (rf_fallback_takes(g->resume, g->status))
		;
	else if (g->status && g->reported)
		return rf_fail(ctx, RF_ERR_GROUP_FAILED, "the group has already failed: %s",
			       g->text);
	else if (g->status) {
		/* the group failed between two calls */
		g->reported = true;
		return rf_fail(ctx, g->status, "%s", g->text);
	}
	r = request_free(g);
	if (!r)
		return rf_fail(ctx, RF_ERR_BUSY,
			       "%u requests are outstanding: wait for one of them first",
			       RF_REQUESTS_MAX);
	memset(r, 0, sizeof(*r));
	r->group = g;
	r->bytes = count * rf_type_size(g->type);
	ret = mem_take(r, send, recv);
	if (!ret && g->resume)
		ret = request_keep(g, send, recv, count);
	r->used = !ret;
	if (!ret)
		ret = request_post(g, r, send, recv, count);
	if (ret) {
		rf_request_mem_drop(r);
		r->used = false;
		return ret;
	}
	*out = r;
	return RF_OK;
}

int rf_request_take(struct rf_request *r)
{
	struct rf_group *g = r->group;
	int status = r->status;

	if (status) {
		g->reported = true;
		rf_fail(g->comm->ctx, status, "%s", g->text);
	}
	rf_request_taken(r);
	return status;
}

void rf_kick(struct rf_context *ctx)
{
	if (ctx->io && !ctx->manual)
		ctx->io->ops->wake(ctx->io);
}
