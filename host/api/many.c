/* Waits: for a request, for one of many, for all of them. */
#include "host/api/api.h"

#include <stdio.h>
#include <string.h>

/* Waits until a request is done; false if it is not in time. The request is not released. */
static bool finish(struct rf_request *r, uint64_t until) RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = r->group->comm->ctx;

	while (!r->done)
		if (rf_fallback_takes(r->group->resume, r->group->status))
			rf_group_resume(r->group, r);
		else if (!rf_sleep(ctx, until))
			return false;
	return true;
}

int rf_request_wait(struct rf_request *r, uint64_t until)
{
	return finish(r, until) ? rf_request_take(r) : RF_IN_PROGRESS;
}

/* Whether waiting for it ends at once, or the caller has to carry it out. */
static bool ready(const struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	return r->done || rf_fallback_takes(r->group->resume, r->group->status);
}

/* The context of the requests. Returns how many there are; 0 if they have several. */
static unsigned int count(struct rf_request **requests, unsigned int n, struct rf_context **ctx)
{
	unsigned int found = 0;

	*ctx = NULL;
	for (unsigned int k = 0; requests && k < n; k++) {
		if (!requests[k])
			continue;
		if (*ctx && requests[k]->group->comm->ctx != *ctx) {
			return 0;
		}
		*ctx = requests[k]->group->comm->ctx;
		found++;
	}
	return found;
}

/* ctx: NULL if there was no request, else they have several. */
static int none(const struct rf_context *ctx)
{
	snprintf(rf_error_text, RF_TEXT_MAX, "%s",
		 ctx ? "the requests have several contexts" : "there is no request to wait for");
	return RF_ERR_INVALID;
}

static uint64_t until_of(unsigned int timeout_ms)
{
	return timeout_ms == RF_WAIT_FOREVER ? RF_NEVER : rf_now() + timeout_ms * RF_NS_PER_MS;
}

int rf_wait_any(struct rf_request **requests, unsigned int n, unsigned int timeout_ms,
		unsigned int *index)
{
	uint64_t until = until_of(timeout_ms);
	struct rf_context *ctx;
	int ret = RF_IN_PROGRESS;
	unsigned int k;

	if (!count(requests, n, &ctx))
		return none(ctx);
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!index)
		return rf_fail(ctx, RF_ERR_INVALID, "index is NULL");
	rf_lock(ctx);
	if (ctx->manual)
		rf_round(ctx);
	do {
		for (k = 0; k < n && !(requests[k] && ready(requests[k])); k++)
			;
	} while (k == n && rf_sleep(ctx, until));
	if (k < n)
		ret = rf_request_wait(requests[k], RF_NEVER);
	else
		rf_fail(ctx, ret, "none of the requests is complete after %u ms", timeout_ms);
	rf_unlock(ctx);
	if (k < n) {
		requests[k] = NULL;
		*index = k;
	}
	rf_deliver(ctx);
	return ret;
}

int rf_wait_all(struct rf_request **requests, unsigned int n, unsigned int timeout_ms)
{
	uint64_t until = until_of(timeout_ms);
	char text[RF_TEXT_MAX] = "";
	struct rf_context *ctx;
	int failed = RF_OK;
	bool done = true;

	if (!count(requests, n, &ctx))
		return ctx ? none(ctx) : RF_OK;
	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	rf_lock(ctx);
	for (unsigned int k = 0; k < n && done; k++)
		done = !requests[k] || finish(requests[k], until);
	for (unsigned int k = 0; k < n && done; k++) {
		int ret = requests[k] ? rf_request_take(requests[k]) : RF_OK;

		requests[k] = NULL;
		if (!ret || failed)
			continue;
		failed = ret;
		memcpy(text, rf_error_text, sizeof(text));
	}
	if (!done)
		rf_fail(ctx, RF_IN_PROGRESS, "not all requests are complete after %u ms",
			timeout_ms);
	else if (failed)
		rf_fail(ctx, failed, "%s", text);
	rf_unlock(ctx);
	rf_deliver(ctx);
	return done ? failed : RF_IN_PROGRESS;
}
