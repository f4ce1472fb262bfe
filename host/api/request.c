/*
 * Requests: test, wait; abort.
 */
#include "host/api/api.h"

#include <stdio.h>

int rf_test(struct rf_request *request)
{
	struct rf_context *ctx;
	int ret;

	if (!request)
		return rf_null("request");
	ctx = request->group->comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	if (!request->done && ctx->manual)
		rf_round(ctx);
	ret = RF_IN_PROGRESS;
	if (request->done || rf_fallback_takes(request->group->resume, request->group->status))
		ret = rf_request_wait(request, 0);
	rf_unlock(ctx);
	rf_deliver(ctx);
	return ret;
}

/* The group that carries a request, or will. */
static struct rf_group *carrier_of(const struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	return r->carrier ? r->carrier : r->group;
}

/*
 * Records which rank a call still waits for when rf_wait() times out, although this is not an
 * error.
 */
static int still_waiting(struct rf_group *g, unsigned int waited_ms) RF_REQUIRES(rf_context_class)
{
	uint64_t now = rf_now();
	char stragglers[300];

	rf_member_stragglers_text(g->member, now, stragglers, sizeof(stragglers));
	return rf_fail(g->comm->ctx, RF_IN_PROGRESS,
		       "not complete after %u ms; no progress at rank %u for %llu ms%s", waited_ms,
		       g->comm->rank,
		       (unsigned long long)((now - rf_member_moved_at(g->member)) / RF_NS_PER_MS),
		       stragglers);
}

int rf_wait(struct rf_request *request, unsigned int timeout_ms)
{
	struct rf_context *ctx;
	uint64_t until =
		timeout_ms == RF_WAIT_FOREVER ? RF_NEVER : rf_now() + timeout_ms * RF_NS_PER_MS;
	uint64_t half = rf_now() + timeout_ms * RF_NS_PER_MS / 2;
	int ret;

	if (!request)
		return rf_null("request");
	ctx = request->group->comm->ctx;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	ret = rf_request_wait(request, until == RF_NEVER ? until : half);
	if (ret == RF_IN_PROGRESS) {
		/* asked early, so that the answer has arrived when the timeout expires */
		if (timeout_ms && rf_member_ask_stragglers(carrier_of(request)->member, rf_now()))
			rf_kick(ctx);
		ret = rf_request_wait(request, until);
	}
	if (ret == RF_IN_PROGRESS)
		ret = still_waiting(carrier_of(request), timeout_ms);
	rf_unlock(ctx);
	rf_deliver(ctx);
	return ret;
}

int rf_comm_abort(struct rf_comm *comm)
{
	struct rf_context *ctx;
	struct rf_group *g;

	if (!comm)
		return rf_null("comm");
	ctx = comm->ctx;
	g = comm->group;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	rf_group_fail(g->ring ? g->ring : g, true, RF_ERR_ABORTED, "rf_comm_abort() was called");
	g->reported = true;
	/* the others must be notified even if this rank makes no further call */
	if (ctx->manual)
		rf_round(ctx);
	rf_unlock(ctx);
	rf_kick(ctx);
	return RF_OK;
}
