/* The end of a request, and who learns of it: a descriptor that becomes readable, a callback. */
#include "host/api/api.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

/* The descriptor is readable exactly while a completed request waits to be taken. */
static void fd_update(struct rf_context *ctx) RF_REQUIRES(rf_context_class)
{
	bool want = ctx->n_told > 0;
	uint64_t value = 1;
	ssize_t n;

	if (ctx->event_fd < 0 || want == ctx->event_set)
		return;
	n = want ? write(ctx->event_fd, &value, sizeof(value))
		 : read(ctx->event_fd, &value, sizeof(value));
	/* a program that has read it itself finds it empty: no harm */
	if (n == (ssize_t)sizeof(value) || errno == EAGAIN)
		ctx->event_set = want;
}

void rf_request_tell(struct rf_request *r)
{
	struct rf_context *ctx = r->group->comm->ctx;

	if (r->told)
		return;
	r->told = true;
	if (!r->callback) {
		ctx->n_told++;
		fd_update(ctx);
		return;
	}
	r->next = NULL;
	*ctx->called_end = r;
	ctx->called_end = &r->next;
	atomic_fetch_add(&ctx->n_called, 1);
}

void rf_request_taken(struct rf_request *r)
{
	struct rf_context *ctx = r->group->comm->ctx;

	r->group->used &= ~(UINT64_C(1) << (r - r->group->requests));
	free(r->call.batch);
	r->call.batch = NULL;
	if (!r->told)
		return;
	r->told = false;
	ctx->n_told--;
	fd_update(ctx);
}

void rf_comm_call_done(struct rf_context *ctx, const struct rf_comm_call *call)
{
	ctx->calls++;
	ctx->call_bytes +=
		call->send_bytes > call->recv_bytes ? call->send_bytes : call->recv_bytes;
}

void rf_request_done(struct rf_request *r, int status)
{
	struct rf_context *ctx = r->group->comm->ctx;

	rf_request_mem_drop(r);
	free(r->counts);
	r->counts = NULL;
	r->done = true;
	r->status = status;
	r->group->outstanding--;
	ctx->outstanding--;
	if (r->carrier && r->carrier != r->group)
		r->carrier->outstanding--;
	if (r->large) {
		r->group->comm->large.outstanding--;
		r->group->comm->large.used_at = rf_now();
	}
	if (status == RF_OK)
		rf_comm_call_done(ctx, &r->call);
	rf_request_tell(r);
	pthread_cond_broadcast(&ctx->cond);
}

int rf_completion_fd(struct rf_context *ctx, int *fd)
{
	int ret = RF_OK;

	if (rf_usable(ctx))
		return RF_ERR_INVALID;
	if (!fd)
		return rf_fail(ctx, RF_ERR_INVALID, "fd is NULL");
	rf_lock(ctx);
	if (ctx->event_fd < 0)
		ctx->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (ctx->event_fd < 0)
		ret = rf_fail(ctx, RF_ERR_SYSTEM, "no descriptor: %s", strerror(errno));
	else
		*fd = ctx->event_fd;
	fd_update(ctx);
	rf_unlock(ctx);
	return ret;
}
