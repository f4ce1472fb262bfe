/* Calls that have been taken: started, tested, waited for. */
#include "integrations/mpi/core/job.h"

#include <string.h>

void rf_mpi_failed(enum rf_mpi_kind kind, const char *text)
{
	atomic_fetch_add_explicit(&rf_mpi_job.count[kind].failed, 1, memory_order_relaxed);
	rf_log_line(&rf_mpi_job.log, RF_LOG_WARN, "MPI %s: %s", rf_mpi_kind_name(kind), text);
}

static int start(struct rf_comm *comm, const struct rf_mpi_call *call, struct rf_request **request)
{
	switch (call->kind) {
	case RF_MPI_ALLREDUCE:
		return rf_iallreduce(comm, call->send, call->recv, call->count, call->type,
				     call->op, request);
	case RF_MPI_REDUCE:
		return rf_ireduce(comm, call->send, call->recv, call->count, call->type, call->op,
				  call->root, request);
	case RF_MPI_BCAST:
		return rf_ibroadcast(comm, call->send, call->recv, call->count, call->type,
				     call->root, request);
	case RF_MPI_BARRIER:
		return rf_ibarrier(comm, request);
	case RF_MPI_ALLGATHER:
		return rf_iall_gather(comm, call->send, call->recv, call->count, call->type,
				      request);
	case RF_MPI_ALLGATHERV:
		return rf_iall_gatherv(comm, call->send, call->recv, call->counts, call->type,
				       request);
	case RF_MPI_REDUCE_SCATTER:
		return rf_ireduce_scatterv(comm, call->send, call->recv, call->counts, call->type,
					   call->op, request);
	case RF_MPI_REDUCE_SCATTER_BLOCK:
		return rf_ireduce_scatter(comm, call->send, call->recv, call->count, call->type,
					  call->op, request);
	case RF_MPI_GATHER:
		return rf_igather(comm, call->send, call->recv, call->count, call->type, call->root,
				  request);
	case RF_MPI_SCATTER:
		return rf_iscatter(comm, call->send, call->recv, call->count, call->type,
				   call->root, request);
	case RF_MPI_KINDS:
		break;
	}
	return RF_ERR_INTERNAL;
}

int rf_mpi_start(struct rf_mpi_comm *c, const struct rf_mpi_call *call, struct rf_request **request)
{
	int ret;

	/*
	 * With too many outstanding calls this one waits for room, because the other ranks may have
	 * room, and passing it on is a choice that all would have to make.
	 */
	while ((ret = start(c->comm, call, request)) == RF_ERR_BUSY && rf_mpi_job.progress)
		rf_mpi_job.progress();
	if (ret)
		rf_mpi_failed(call->kind, rf_last_error_text(NULL));
	return ret;
}

int rf_mpi_test(enum rf_mpi_kind kind, struct rf_request *request)
{
	int ret = rf_test(request);

	if (ret < 0)
		rf_mpi_failed(kind, rf_last_error_text(NULL));
	return ret;
}

int rf_mpi_run(struct rf_mpi_comm *c, const struct rf_mpi_call *call)
{
	struct rf_request *request;
	unsigned int index;
	int ret = rf_mpi_start(c, call, &request);

	if (ret)
		return ret;
	/*
	 * Another rank may reach this call only when it has got a message that MPI still has to
	 * send here. The library's own deadline bounds the loop.
	 */
	while ((ret = rf_wait_any(&request, 1, 1, &index)) == RF_IN_PROGRESS) {
		if (rf_mpi_job.progress)
			rf_mpi_job.progress();
	}
	if (ret < 0)
		rf_mpi_failed(call->kind, rf_last_error_text(NULL));
	return ret;
}
