/* The collective calls of the public interface: each as a struct rf_comm_call. */
#include "host/api/api.h"

_Static_assert(sizeof(size_t) == sizeof(uint64_t), "counts are passed on as they are");

/* ---- the two forms ---- */

/* Checks a call. 0, or a status whose text is recorded. */
static inline int check(struct rf_comm *comm, struct rf_comm_call *call)
{
	char why[RF_TEXT_MAX];
	const char *wrong;

	if (!comm)
		return rf_null("comm");
	if (rf_usable(comm->ctx))
		return RF_ERR_INVALID;
	wrong = rf_comm_call_check(comm, call, why);
	return wrong ? rf_fail(comm->ctx, RF_ERR_INVALID, "%s", wrong) : RF_OK;
}

int rf_comm_run(struct rf_comm *comm, struct rf_comm_call *call)
{
	struct rf_context *ctx;
	struct rf_request *r;
	int ret = check(comm, call);

	if (ret)
		return ret;
	ctx = comm->ctx;
	rf_lock(ctx);
	if (comm->ranks == 1)
		ret = rf_comm_call_alone(comm, call);
	else
		ret = rf_request_start(comm->group, call, &r);
	if (!ret && comm->ranks > 1) {
		rf_large_wanted(comm);
		rf_kick(ctx);
		ret = rf_request_wait(r, RF_NEVER);
	}
	rf_unlock(ctx);
	if (atomic_load(&ctx->n_called))
		rf_deliver(ctx);
	return ret;
}

int rf_comm_start(struct rf_comm *comm, struct rf_comm_call *call, struct rf_request **request)
{
	struct rf_context *ctx;
	int ret = check(comm, call);

	if (ret)
		return ret;
	ctx = comm->ctx;
	if (!request)
		return rf_fail(ctx, RF_ERR_INVALID, "request is NULL");
	rf_lock(ctx);
	if (comm->ranks == 1)
		ret = rf_request_alone(comm, call, request);
	else
		ret = rf_request_start(comm->group, call, request);
	if (!ret)
		rf_large_wanted(comm);
	if (!ret && ctx->manual)
		rf_round(ctx);
	rf_unlock(ctx);
	if (!ret && comm->ranks > 1)
		rf_kick(ctx);
	if (atomic_load(&ctx->n_called))
		rf_deliver(ctx);
	return ret;
}

/* ---- calls ---- */

static struct rf_comm_call call_of(enum rf_collective_kind kind, const void *send, void *recv,
				   size_t count, enum rf_type type, unsigned int root)
{
	return (struct rf_comm_call){.c = {.kind = kind,
					   .type = (enum rf_arith_type)type,
					   .op = RF_ARITH_COPY,
					   .root = root,
					   .count = count,
					   .send = send,
					   .recv = recv}};
}

static struct rf_comm_call reducing(enum rf_collective_kind kind, const void *send, void *recv,
				    size_t count, enum rf_type type, enum rf_op op,
				    unsigned int root)
{
	struct rf_comm_call call = call_of(kind, send, recv, count, type, root);

	call.c.op = (enum rf_arith_op)op;
	call.average = op == RF_AVERAGE;
	return call;
}

static struct rf_comm_call with_counts(struct rf_comm_call call, const size_t *counts)
{
	call.is_v = true;
	call.c.counts = (const uint64_t *)(const void *)counts;
	return call;
}

/* The root sends the counts first. */
static struct rf_comm_call counts_first(struct rf_comm_call call, const size_t *counts, size_t own)
{
	call = with_counts(call, counts);
	call.counts_first = true;
	call.own = own;
	return call;
}

int rf_allreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		 enum rf_type type, enum rf_op op)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_ALL_REDUCE, send, recv, count, type, op, 0);

	return rf_comm_run(comm, &call);
}

int rf_iallreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, enum rf_op op, struct rf_request **request)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_ALL_REDUCE, send, recv, count, type, op, 0);

	return rf_comm_start(comm, &call, request);
}

int rf_reduce(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	      enum rf_op op, unsigned int root)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_REDUCE, send, recv, count, type, op, root);

	return rf_comm_run(comm, &call);
}

int rf_ireduce(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       enum rf_op op, unsigned int root, struct rf_request **request)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_REDUCE, send, recv, count, type, op, root);

	return rf_comm_start(comm, &call, request);
}

int rf_broadcast(struct rf_comm *comm, const void *send, void *recv, size_t count,
		 enum rf_type type, unsigned int root)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_BROADCAST, send, recv, count, type, root);

	return rf_comm_run(comm, &call);
}

int rf_ibroadcast(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, unsigned int root, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_BROADCAST, send, recv, count, type, root);

	return rf_comm_start(comm, &call, request);
}

int rf_reduce_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count,
		      enum rf_type type, enum rf_op op)
{
	struct rf_comm_call call =
		reducing(RF_SCHEDULE_REDUCE_SCATTER, send, recv, count, type, op, 0);

	return rf_comm_run(comm, &call);
}

int rf_ireduce_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count,
		       enum rf_type type, enum rf_op op, struct rf_request **request)
{
	struct rf_comm_call call =
		reducing(RF_SCHEDULE_REDUCE_SCATTER, send, recv, count, type, op, 0);

	return rf_comm_start(comm, &call, request);
}

int rf_reduce_scatterv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		       enum rf_type type, enum rf_op op)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_REDUCE_SCATTER, send, recv, 0, type, op, 0);

	call = with_counts(call, counts);
	return rf_comm_run(comm, &call);
}

int rf_ireduce_scatterv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
			enum rf_type type, enum rf_op op, struct rf_request **request)
{
	struct rf_comm_call call = reducing(RF_SCHEDULE_REDUCE_SCATTER, send, recv, 0, type, op, 0);

	call = with_counts(call, counts);
	return rf_comm_start(comm, &call, request);
}

int rf_all_gather(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_ALL_GATHER, send, recv, count, type, 0);

	return rf_comm_run(comm, &call);
}

int rf_iall_gather(struct rf_comm *comm, const void *send, void *recv, size_t count,
		   enum rf_type type, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_ALL_GATHER, send, recv, count, type, 0);

	return rf_comm_start(comm, &call, request);
}

int rf_all_gatherv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		   enum rf_type type)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_ALL_GATHER, send, recv, 0, type, 0);

	call = with_counts(call, counts);
	return rf_comm_run(comm, &call);
}

int rf_iall_gatherv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		    enum rf_type type, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_ALL_GATHER, send, recv, 0, type, 0);

	call = with_counts(call, counts);
	return rf_comm_start(comm, &call, request);
}

int rf_gather(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	      unsigned int root)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_GATHER, send, recv, count, type, root);

	return rf_comm_run(comm, &call);
}

int rf_igather(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       unsigned int root, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_GATHER, send, recv, count, type, root);

	return rf_comm_start(comm, &call, request);
}

int rf_gatherv(struct rf_comm *comm, const void *send, size_t own, void *recv, const size_t *counts,
	       enum rf_type type, unsigned int root)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_GATHER, send, recv, 0, type, root);

	call = counts_first(call, counts, own);
	return rf_comm_run(comm, &call);
}

int rf_igatherv(struct rf_comm *comm, const void *send, size_t own, void *recv,
		const size_t *counts, enum rf_type type, unsigned int root,
		struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_GATHER, send, recv, 0, type, root);

	call = counts_first(call, counts, own);
	return rf_comm_start(comm, &call, request);
}

int rf_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       unsigned int root)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_SCATTER, send, recv, count, type, root);

	return rf_comm_run(comm, &call);
}

int rf_iscatter(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
		unsigned int root, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_SCATTER, send, recv, count, type, root);

	return rf_comm_start(comm, &call, request);
}

int rf_scatterv(struct rf_comm *comm, const void *send, const size_t *counts, void *recv,
		size_t own, enum rf_type type, unsigned int root)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_SCATTER, send, recv, 0, type, root);

	call = counts_first(call, counts, own);
	return rf_comm_run(comm, &call);
}

int rf_iscatterv(struct rf_comm *comm, const void *send, const size_t *counts, void *recv,
		 size_t own, enum rf_type type, unsigned int root, struct rf_request **request)
{
	struct rf_comm_call call = call_of(RF_SCHEDULE_SCATTER, send, recv, 0, type, root);

	call = counts_first(call, counts, own);
	return rf_comm_start(comm, &call, request);
}

int rf_barrier(struct rf_comm *comm)
{
	struct rf_comm_call call = {.c = {.kind = RF_SCHEDULE_BARRIER}};

	return rf_comm_run(comm, &call);
}

int rf_ibarrier(struct rf_comm *comm, struct rf_request **request)
{
	struct rf_comm_call call = {.c = {.kind = RF_SCHEDULE_BARRIER}};

	return rf_comm_start(comm, &call, request);
}
