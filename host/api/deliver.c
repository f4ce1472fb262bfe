/* Calls the callbacks of completed requests, without the lock, one at a time, in their order. */
#include "host/api/api.h"

#include <stdlib.h>
#include <string.h>

/* This thread is in a callback. */
static _Thread_local bool delivering;

/* Takes the first one off the list. Its request is free afterwards. */
static bool next(struct rf_context *ctx, struct rf_callback *c) RF_REQUIRES(rf_context_class)
{
	struct rf_request *r = ctx->called;

	if (!r)
		return false;
	ctx->called = r->next;
	if (!ctx->called)
		ctx->called_end = &ctx->called;
	atomic_fetch_sub(&ctx->n_called, 1);
	c->done = r->callback;
	c->arg = r->callback_arg;
	c->status = r->status;
	memcpy(c->text, r->status ? r->group->text : "", r->status ? sizeof(c->text) : 1);
	if (r->status)
		r->group->reported = true;
	c->call = r->call;
	r->call.batch = NULL;
	c->ranks = r->group->comm->ranks;
	r->group->used &= ~(UINT64_C(1) << (r - r->group->requests));
	return true;
}

void rf_deliver(struct rf_context *ctx)
{
	struct rf_callback c;

	/* the common case costs no lock; and what a callback starts is delivered after it */
	if (delivering || !atomic_load(&ctx->n_called))
		return;
	rf_lock(ctx);
	if (ctx->delivering) {
		rf_unlock(ctx);
		return;
	}
	ctx->delivering = true;
	while (next(ctx, &c)) {
		rf_unlock(ctx);
		delivering = true;
		if (!c.status)
			rf_comm_call_finish(&c.call, c.ranks);
		free(c.call.batch);
		c.done(c.arg, c.status, c.text);
		delivering = false;
		rf_lock(ctx);
	}
	ctx->delivering = false;
	pthread_cond_broadcast(&ctx->cond);
	rf_unlock(ctx);
}

void rf_deliver_all(struct rf_context *ctx)
{
	rf_deliver(ctx);
	rf_lock(ctx);
	while (ctx->delivering && !delivering)
		rf_sleep(ctx, rf_now() + RF_STORE_POLL_NS);
	rf_unlock(ctx);
}

int rf_on_completion(struct rf_request *request,
		     void (*done)(void *arg, int status, const char *text), void *arg)
{
	struct rf_context *ctx;
	struct rf_batch *batch;
	struct rf_group *g;
	int ret = RF_OK;

	if (!request)
		return rf_null("request");
	g = request->group;
	ctx = g->comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!done)
		return rf_fail(ctx, RF_ERR_INVALID, "the callback is NULL");
	rf_lock(ctx);
	if (g->resume) {
		ret = rf_fail(ctx, RF_ERR_INVALID,
			      "a communicator with RF_FALLBACK completes only calls that a thread "
			      "waits for");
	} else {
		if (request->done) {
			/* from the descriptor's point of view; the result is still to be delivered
			 */
			batch = request->call.batch;
			request->call.batch = NULL;
			rf_request_taken(request);
			request->call.batch = batch;
			g->used |= UINT64_C(1) << (request - g->requests);
		}
		request->callback = done;
		request->callback_arg = arg;
		if (request->done)
			rf_request_tell(request);
	}
	rf_unlock(ctx);
	rf_deliver(ctx);
	return ret;
}
