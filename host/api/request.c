/*
 * All-reduce: start, test, wait, abort.
 */
#include "host/api/api.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

static struct rf_request *request_free(struct rf_group *g)
{
	unsigned int k;

	for (k = 0; k < RF_REQUESTS_MAX; k++)
		if (!g->requests[k].used)
			return &g->requests[k];
	return NULL;
}

/* Deregisters a request's buffers from the NIC. */
static void mem_drop(struct rf_request *r)
{
	for (unsigned int k = 0; k < 2; k++) {
		if (r->mem[k])
			rf_verbs_mem_drop(r->group->comm->ctx->verbs, r->mem[k]);
		r->mem[k] = NULL;
	}
}

/* Registers a request's buffers: the NIC reads and writes there itself. */
static int mem_add(struct rf_request *r, const void *send, void *recv)
{
	struct rf_context *ctx = r->group->comm->ctx;

	if (!ctx->verbs || r->group->comm->ranks == 1)
		return RF_OK;
	r->mem[0] = rf_verbs_mem_add(ctx->verbs, recv, r->bytes, true, ctx->error, RF_TEXT_MAX);
	if (r->mem[0] && send != recv)
		r->mem[1] = rf_verbs_mem_add(ctx->verbs, send, r->bytes, false, ctx->error,
					     RF_TEXT_MAX);
	if (r->mem[0] && (r->mem[1] || send == recv))
		return RF_OK;
	mem_drop(r);
	return RF_ERR_NO_MEMORY;
}

void rf_request_done(struct rf_request *r, int status)
{
	struct rf_context *ctx = r->group->comm->ctx;

	mem_drop(r);
	r->done = true;
	r->status = status;
	r->group->outstanding--;
	ctx->outstanding--;
	if (status == RF_OK) {
		ctx->reductions++;
		ctx->bytes_reduced += r->bytes;
	}
	pthread_cond_broadcast(&ctx->cond);
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
			size_t count)
{
	int ret;

	g->outstanding++;
	g->comm->ctx->outstanding++;
	/* without the box: carried out by the caller that waits for it */
	if (rf_fallback_takes(g->resume, g->status))
		return RF_OK;
	ret = mem_add(r, send, recv);
	if (!ret) {
		ret = rf_member_call(g->member, (unsigned int)(r - g->requests), send, recv, count,
				     rf_now());
		if (ret)
			rf_fail(g->comm->ctx, ret, "the group does not accept the call");
	}
	if (ret) {
		mem_drop(r);
		g->outstanding--;
		g->comm->ctx->outstanding--;
	} else if (g->comm->ranks == 1) {
		rf_group_progress(g, rf_now());
	}
	return ret;
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
	if (g->resume && rf_fallback_keep(g->resume, send, recv, count))
		return rf_fail(ctx, RF_ERR_NO_MEMORY, "no memory for the copy of the operand");
	r->used = true;
	r->bytes = count * rf_type_size(g->type);
	ret = request_post(g, r, send, recv, count);
	if (ret) {
		r->used = false;
		return ret;
	}
	*out = r;
	return RF_OK;
}

/* Returns the result of a completed request and releases it. */
static int request_take(struct rf_request *r)
{
	struct rf_group *g = r->group;
	int status = r->status;

	if (status) {
		g->reported = true;
		rf_fail(g->comm->ctx, status, "%s", g->text);
	}
	r->used = false;
	return status;
}

int rf_request_wait(struct rf_request *r, uint64_t until)
{
	struct rf_context *ctx = r->group->comm->ctx;

	while (!r->done)
		if (rf_fallback_takes(r->group->resume, r->group->status))
			rf_group_resume(r->group, r);
		else if (!rf_sleep(ctx, until))
			return RF_IN_PROGRESS;
	return request_take(r);
}

static void kick(struct rf_context *ctx)
{
	if (ctx->io && !ctx->manual)
		ctx->io->ops->wake(ctx->io);
}

int rf_iallreduce(struct rf_group *group, const void *send, void *recv, size_t count,
		  struct rf_request **request)
{
	struct rf_context *ctx = group->comm->ctx;
	int ret;

	if (!request)
		return rf_fail_unlocked(ctx, RF_ERR_INVALID, "request is NULL");
	rf_lock(ctx);
	ret = rf_request_start(group, send, recv, count, request);
	if (!ret && ctx->manual)
		rf_round(ctx);
	rf_unlock(ctx);
	if (!ret)
		kick(ctx);
	return ret;
}

int rf_test(struct rf_request *request)
{
	struct rf_context *ctx = request->group->comm->ctx;
	int ret;

	rf_lock(ctx);
	if (!request->done && ctx->manual)
		rf_round(ctx);
	ret = RF_IN_PROGRESS;
	if (request->done || rf_fallback_takes(request->group->resume, request->group->status))
		ret = rf_request_wait(request, 0);
	rf_unlock(ctx);
	return ret;
}

/*
 * Records which rank a call still waits for when rf_wait() times out, although this is not an
 * error.
 */
static int still_waiting(struct rf_group *g, unsigned int waited_ms)
{
	uint64_t now = rf_now();
	char stragglers[300];

	rf_member_stragglers_text(g->member, now, stragglers, sizeof(stragglers));
	return rf_fail(g->comm->ctx, RF_IN_PROGRESS,
		       "not complete after %u ms; no progress at rank %u for %llu ms%s", waited_ms,
		       g->comm->rank,
		       (unsigned long long)((now - rf_member_moved_at(g->member)) / NS_PER_MS),
		       stragglers);
}

int rf_wait(struct rf_request *request, unsigned int timeout_ms)
{
	struct rf_context *ctx = request->group->comm->ctx;
	uint64_t until = timeout_ms == UINT_MAX ? RF_NEVER : rf_now() + timeout_ms * NS_PER_MS;
	uint64_t half = rf_now() + timeout_ms * NS_PER_MS / 2;
	int ret;

	rf_lock(ctx);
	ret = rf_request_wait(request, until == RF_NEVER ? until : half);
	if (ret == RF_IN_PROGRESS) {
		/* asked early, so that the answer has arrived when the timeout expires */
		if (timeout_ms && rf_member_ask_stragglers(request->group->member, rf_now()))
			kick(ctx);
		ret = rf_request_wait(request, until);
	}
	if (ret == RF_IN_PROGRESS)
		ret = still_waiting(request->group, timeout_ms);
	rf_unlock(ctx);
	return ret;
}

int rf_allreduce(struct rf_group *group, const void *send, void *recv, size_t count)
{
	struct rf_context *ctx = group->comm->ctx;
	struct rf_request *r;
	int ret;

	rf_lock(ctx);
	ret = rf_request_start(group, send, recv, count, &r);
	if (!ret) {
		kick(ctx);
		ret = rf_request_wait(r, RF_NEVER);
	}
	rf_unlock(ctx);
	return ret;
}

int rf_abort(struct rf_group *group)
{
	struct rf_context *ctx = group->comm->ctx;

	rf_lock(ctx);
	rf_group_fail(group->ring ? group->ring : group, true, RF_ERR_ABORTED,
		      "rf_abort() was called");
	group->reported = true;
	/* the others must be notified even if this rank makes no further call */
	if (ctx->manual)
		rf_round(ctx);
	rf_unlock(ctx);
	kick(ctx);
	return RF_OK;
}
