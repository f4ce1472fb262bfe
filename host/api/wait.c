/* Callers that wait: for a change under the lock, and for the other ranks at the store. */
#include "host/api/api.h"

#include <string.h>
#include <time.h>

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

void rf_comm_idle(void *arg)
{
	struct rf_comm *comm = arg;

	rf_lock(comm->ctx);
	rf_comm_listen(comm);
	if (comm->ctx->manual)
		rf_round(comm->ctx);
	rf_unlock(comm->ctx);
}

int rf_comm_gather(struct rf_comm *comm, const char *name, const void *value, size_t len,
		   void *values, unsigned int timeout_ms)
{
	char text[RF_TEXT_MAX];
	int ret;

	if (!comm->store) {
		if (len)
			memcpy(values, value, len);
		return RF_OK;
	}
	rf_log_line(&comm->ctx->log, RF_LOG_TRACE, "meets the other ranks at \"%s\"", name);
	rf_mutex_lock(&comm->store_lock, rf_store_class);
	ret = rf_store_gather(comm->store, name, value, len, values, timeout_ms, text,
			      sizeof(text));
	rf_mutex_unlock(&comm->store_lock, rf_store_class);
	return ret ? rf_fail(comm->ctx, ret, "%s", text) : RF_OK;
}
