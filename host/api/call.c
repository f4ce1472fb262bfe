/* Starts a request and takes its result. */
#include "host/api/api.h"

#include <stdlib.h>
#include <string.h>

/* Who uses the buffers of a call: the NIC, the processor, or both. */
static unsigned int mem_how(const struct rf_group *g, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class)
{
	const struct rf_comm *comm = g->comm;
	unsigned int how = 0;

	if (comm->ctx->verbs && comm->ranks > 1 && !rf_fallback_takes(g->resume, g->status))
		how |= RF_MEM_NIC;
	if (!(how & RF_MEM_NIC) || g->schedule == RF_SCHEDULE_RING || g->resume || call->touched)
		how |= RF_MEM_TOUCHED;
	return how;
}

static int mem_take(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	const struct rf_comm_call *call = &r->call;
	const struct rf_buffers buffers = {call->c.send, call->send_bytes, call->c.recv,
					   call->recv_bytes};

	return rf_request_mem_take(r, &buffers, mem_how(r->group, call));
}

/* Copies the operand of an all-reduce, so that the group can continue without its box. */
static int request_keep(struct rf_group *g, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class)
{
	void **copy = &g->copies[rf_fallback_turn(g->resume)];
	void *more;

	if (call->c.kind != RF_SCHEDULE_ALL_REDUCE) {
		rf_fallback_keep(g->resume, NULL, &call->c);
		return RF_OK;
	}
	more = realloc(*copy, call->send_bytes);
	if (!more)
		return rf_fail(g->comm->ctx, RF_ERR_NO_MEMORY,
			       "no memory for the copy of the operand");
	*copy = more;
	rf_fallback_keep(g->resume, more, &call->c);
	return RF_OK;
}

/* Copies the counts, which the caller may change once the call has returned. */
static int request_counts(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	struct rf_comm *comm = r->group->comm;
	size_t bytes = comm->ranks * sizeof(*r->counts);

	if (!r->call.is_v)
		return RF_OK;
	r->counts = malloc(bytes);
	if (!r->counts)
		return rf_fail(comm->ctx, RF_ERR_NO_MEMORY, "no memory for the counts");
	if (r->call.c.counts)
		memcpy(r->counts, r->call.c.counts, bytes);
	else
		memset(r->counts, 0, bytes);
	r->call.c.counts = r->counts;
	return RF_OK;
}

static int request_post(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	struct rf_group *g = r->group;
	int ret = request_counts(r);

	if (ret)
		return ret;
	g->outstanding++;
	g->comm->ctx->outstanding++;
	/* without the box: carried out by the caller that waits for it */
	if (rf_fallback_takes(g->resume, g->status)) {
		if (rf_comm_call_is_empty(g->comm, &r->call))
			rf_request_done(r, RF_OK);
		else
			rf_request_tell(r);
		return RF_OK;
	}
	ret = rf_request_launch(r);
	if (!ret)
		return RF_OK;
	free(r->counts);
	g->outstanding--;
	g->comm->ctx->outstanding--;
	return ret;
}

/* Whether the group takes a call now. */
static int group_check(struct rf_group *g, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class)
{
	struct rf_context *ctx = g->comm->ctx;
	bool takes = rf_fallback_takes(g->resume, g->status);

	if (g->resume && g->outstanding)
		return rf_fail(ctx, RF_ERR_BUSY,
			       "a communicator with RF_FALLBACK carries out one call at a time");
	if (takes && call->c.kind == RF_SCHEDULE_ALL_REDUCE)
		return RF_OK;
	if (takes)
		rf_fallback_give_up(g->resume);
	if (g->status && g->reported)
		return rf_fail(ctx, RF_ERR_GROUP_FAILED, "the communicator has already failed: %s",
			       g->text);
	if (g->status) {
		/* the group failed between two calls */
		g->reported = true;
		return rf_fail(ctx, g->status, "%s", g->text);
	}
	if (g->used == UINT64_MAX)
		return rf_fail(ctx, RF_ERR_BUSY,
			       "%u requests are outstanding: wait for one of them first",
			       RF_REQUESTS_MAX);
	return RF_OK;
}

_Static_assert(RF_REQUESTS_MAX == 64, "struct rf_group.used has a bit for each");

/* The first free request, cleared; there is one. It stays free until request_used(). */
static struct rf_request *request_free(struct rf_group *g) RF_REQUIRES(rf_context_class)
{
	struct rf_request *r = &g->requests[__builtin_ctzll(~g->used)];

	memset(r, 0, sizeof(*r));
	r->group = g;
	return r;
}

static void request_used(struct rf_request *r) RF_REQUIRES(rf_context_class)
{
	r->group->used |= UINT64_C(1) << (r - r->group->requests);
}

int rf_request_start(struct rf_group *g, const struct rf_comm_call *call, struct rf_request **out)
{
	int ret = group_check(g, call);
	struct rf_request *r;

	if (ret)
		return ret;
	r = request_free(g);
	r->call = *call;
	ret = mem_take(r);
	if (!ret && g->resume && !rf_comm_call_is_empty(g->comm, call))
		ret = request_keep(g, call);
	if (!ret)
		ret = request_post(r);
	if (ret) {
		rf_request_mem_drop(r);
		return ret;
	}
	request_used(r);
	*out = r;
	return RF_OK;
}

int rf_comm_call_alone(struct rf_comm *comm, const struct rf_comm_call *call)
{
	const struct rf_buffers buffers = {call->c.send, call->send_bytes, call->c.recv,
					   call->recv_bytes};
	struct rf_group *g = comm->group;
	int ret = RF_OK;

	if (g->status)
		ret = group_check(g, call);
	if (!ret)
		ret = rf_mem_check(comm->ctx, &buffers);
	if (ret)
		return ret;
	rf_comm_call_copy(call);
	rf_comm_call_done(comm->ctx, call);
	return RF_OK;
}

int rf_request_alone(struct rf_comm *comm, const struct rf_comm_call *call, struct rf_request **out)
{
	struct rf_group *g = comm->group;
	int ret = g->used == UINT64_MAX ? group_check(g, call) : rf_comm_call_alone(comm, call);
	struct rf_request *r;

	if (ret)
		return ret;
	r = request_free(g);
	r->done = true;
	r->call.batch = call->batch;
	request_used(r);
	rf_request_tell(r);
	*out = r;
	return RF_OK;
}

int rf_request_take(struct rf_request *r)
{
	struct rf_group *g = r->group;
	struct rf_context *ctx = g->comm->ctx;
	int status = r->status;

	if (status) {
		g->reported = true;
		rf_fail(ctx, status, "%s", g->text);
	} else if (r->call.average || r->call.batch) {
		/* nobody else uses a request that is done */
		rf_unlock(ctx);
		rf_comm_call_finish(&r->call, g->comm->ranks);
		rf_lock(ctx);
	}
	rf_request_taken(r);
	return status;
}

void rf_kick(struct rf_context *ctx)
{
	if (ctx->io && !ctx->manual)
		ctx->io->ops->wake(ctx->io);
}
