/* Callers that wait: for a change under the lock, and for the other ranks at the store. */
#include "host/api/api.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Time between two looks at other work while a gather waits. */
#define GATHER_WAIT_MS 5u

_Thread_local const atomic_bool *rf_cancel;

bool rf_cancelled(void)
{
	return rf_cancel && atomic_load(rf_cancel);
}

bool rf_sleep(struct rf_context *ctx, uint64_t until)
{
	uint64_t now = rf_now();
	uint64_t next = rf_next_timeout(ctx);
	struct timespec ts;

	if (now >= until)
		return false;
	if (!ctx->manual) {
		ts.tv_sec = (time_t)(until / 1000000000u);
		ts.tv_nsec = (long)(until % 1000000000u);
		/* a far deadline is as good as none, and this bound fits every time_t */
		if (until - now > UINT64_C(1000000000) * 3600)
			ts.tv_sec = (time_t)(now / 1000000000u + 3600);
		pthread_cond_timedwait(&ctx->cond, &ctx->lock, &ts);
		return true;
	}
	if (rf_round(ctx) || !ctx->io)
		return true;
	next = next < until ? next : until;
	next = next > now ? (next - now) / 1000 + 1 : 0;
	next = next < 1000 ? next : 1000;
	if (ctx->io->polling && next > 20)
		next = 20;
	rf_unlock(ctx);
	if (next)
		ctx->io->ops->wait(ctx->io, (uint32_t)next);
	rf_lock(ctx);
	return true;
}

/* Work to do while a gather waits. */
static void idle(struct rf_context *ctx)
{
	rf_lock(ctx);
	if (ctx->job_state == RF_JOB_UP)
		rf_job_listen(ctx);
	if (ctx->manual)
		rf_round(ctx);
	rf_unlock(ctx);
}

int rf_job_gather(struct rf_context *ctx, const struct rf_store_gather *g, void *values)
{
	struct rf_store *store = ctx->job.store;
	struct rf_store_call *call;
	char text[RF_TEXT_MAX];
	int ret;

	rf_log_line(&ctx->log, RF_LOG_TRACE, "meets the other ranks at \"%s\"", g->name);
	ret = rf_store_start(store, g, &call, text, sizeof(text));
	if (ret)
		return rf_fail(ctx, ret, "%s", text);
	while ((ret = rf_store_test(store, call, values, text, sizeof(text))) == RF_IN_PROGRESS) {
		if (rf_cancelled()) {
			rf_store_cancel(store, call);
			return rf_fail(ctx, RF_ERR_ABORTED, "the creation was cancelled");
		}
		rf_store_wait(store, GATHER_WAIT_MS);
		idle(ctx);
	}
	return ret ? rf_fail(ctx, ret, "%s", text) : RF_OK;
}

unsigned int rf_comm_rank_at(const struct rf_comm *comm, unsigned int k)
{
	unsigned int r, before, other;

	for (r = 0; r < comm->ranks; r++) {
		before = 0;
		for (other = 0; other < comm->ranks; other++)
			before += comm->member[other] < comm->member[r];
		if (before == k)
			break;
	}
	return r;
}

int rf_comm_gather(struct rf_comm *comm, const char *lane, const char *name, const void *value,
		   size_t len, void *values, unsigned int timeout_ms)
{
	struct rf_store_gather g = {.ranks = comm->set,
				    .lane = lane,
				    .name = name,
				    .value = value,
				    .len = len,
				    .timeout_ms = timeout_ms};
	uint8_t *all;
	int ret;

	if (comm->ranks == 1) {
		if (len)
			memcpy(values, value, len);
		return RF_OK;
	}
	all = malloc(comm->ranks * len + 1);
	if (!all)
		return rf_fail(comm->ctx, RF_ERR_NO_MEMORY, "no memory for the ranks' messages");
	ret = rf_job_gather(comm->ctx, &g, all);
	if (!ret && len)
		for (unsigned int k = 0; k < comm->ranks; k++)
			memcpy((uint8_t *)values + rf_comm_rank_at(comm, k) * len, all + k * len,
			       len);
	free(all);
	return ret;
}
