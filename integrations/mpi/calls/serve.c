/* A call: asked about, staged, carried out, copied back. */
#include "integrations/mpi/calls/serve.h"

#include <limits.h>

#include "integrations/mpi/calls/types.h"

static bool sum_of(const int *counts, unsigned int ranks, size_t *sum)
{
	*sum = 0;
	if (!counts)
		return false;
	for (unsigned int r = 0; r < ranks; r++) {
		if (counts[r] < 0)
			return false;
		*sum += (size_t)counts[r];
	}
	return true;
}

static inline bool ask_reduction(const struct rf_mpi_args *a, unsigned int ranks,
				 struct rf_mpi_ask *ask)
{
	size_t count = (size_t)a->recv_count, size = 0;

	ask->op = rf_mpi_op_look(a->op);
	if (a->kind == RF_MPI_REDUCE_SCATTER) {
		if (!sum_of(a->counts, ranks, &count))
			return false;
	} else if (a->recv_count < 0) {
		return false;
	} else if (a->kind == RF_MPI_REDUCE_SCATTER_BLOCK) {
		count *= ranks;
	}
	if (!rf_mpi_type_look(a->recv_type, &size, &ask->type)) {
		ask->type = RF_MPI_NONE;
		size = 1;
	}
	ask->bytes = count * size;
	/* MPI allows MPI_BYTE bit by bit only */
	if (a->recv_type == MPI_BYTE && ask->op < RF_AND)
		ask->op = RF_MPI_NONE;
	return true;
}

/*
 * What is asked of the core. False: the arguments are not such that the core can judge them, and
 * MPI says what is wrong with them.
 */
static inline __attribute__((always_inline)) bool
args_ask(const struct rf_mpi_args *a, unsigned int rank, unsigned int ranks, struct rf_mpi_ask *ask)
{
	bool is_root = (int)rank == a->root;
	MPI_Datatype type = a->recv_type;
	int count = a->recv_count;
	size_t size, total;

	ask->kind = a->kind;
	ask->bytes = 0;
	ask->type = ask->op = RF_MPI_NONE;
	if (a->root < 0 || a->root >= (int)ranks)
		return false;
	switch (a->kind) {
	case RF_MPI_BARRIER:
		return true;
	case RF_MPI_ALLREDUCE:
	case RF_MPI_REDUCE:
	case RF_MPI_REDUCE_SCATTER:
	case RF_MPI_REDUCE_SCATTER_BLOCK:
		return ask_reduction(a, ranks, ask);
	case RF_MPI_ALLGATHERV:
		if (!rf_mpi_size_of(type, &size) || !sum_of(a->counts, ranks, &total) || !a->displs)
			return false;
		ask->bytes = total * size;
		return ask->bytes <= INT_MAX;
	case RF_MPI_SCATTER:
		if (is_root) {
			type = a->send_type;
			count = a->send_count;
		}
		break;
	case RF_MPI_GATHER:
		if (!is_root) {
			type = a->send_type;
			count = a->send_count;
		}
		break;
	default:
		break;
	}
	if (count < 0 || !rf_mpi_size_of(type, &size))
		return false;
	ask->bytes = (size_t)count * size * (a->kind == RF_MPI_BCAST ? 1 : ranks);
	return ask->bytes <= INT_MAX;
}

/* Asks the core. RF_MPI_PASS, MPI_SUCCESS for a call that is taken, or the class of an error. */
static inline __attribute__((always_inline)) int taken(struct rf_mpi_comm *c,
						       const struct rf_mpi_args *a,
						       const struct rf_mpi_hooks *hooks,
						       bool blocking)
{
	struct rf_mpi_ask ask;
	int ret;

	if (!args_ask(a, c->rank, c->ranks, &ask))
		return RF_MPI_PASS;
	ask.blocking = blocking;
	ret = rf_mpi_take(c, &ask, hooks);
	if (ret > 0)
		return RF_MPI_PASS;
	return rf_mpi_error_class(ret);
}

/* Apart from the question, so that calls that are passed on do not pay for its room. */
static __attribute__((noinline)) int serve_taken(struct rf_mpi_comm *c, MPI_Comm comm,
						 const struct rf_mpi_args *a)
{
	struct rf_mpi_stage stage;
	struct rf_mpi_call call;
	int ret = rf_mpi_stage_begin(&stage, a, c->rank, c->ranks, comm, false, &call), end;

	if (ret) {
		rf_mpi_failed(a->kind, "no memory for a copy of a buffer with gaps");
		return rf_mpi_error_class(ret);
	}
	ret = rf_mpi_run(c, &call);
	end = rf_mpi_stage_end(&stage, ret == RF_OK);
	return rf_mpi_error_class(ret ? ret : end);
}

int rf_mpi_serve(struct rf_mpi_comm *c, MPI_Comm comm, const struct rf_mpi_args *a,
		 const struct rf_mpi_hooks *hooks)
{
	int ret = taken(c, a, hooks, true);

	return ret != MPI_SUCCESS ? ret : serve_taken(c, comm, a);
}

int rf_mpi_serve_start(struct rf_mpi_comm *c, MPI_Comm comm, const struct rf_mpi_args *a,
		       const struct rf_mpi_hooks *hooks, struct rf_mpi_pending *pending)
{
	struct rf_mpi_call call;
	int ret = taken(c, a, hooks, false);

	if (ret != MPI_SUCCESS)
		return ret;
	ret = rf_mpi_stage_begin(&pending->stage, a, c->rank, c->ranks, comm, true, &call);
	if (ret) {
		rf_mpi_failed(a->kind, "no memory for a copy of a buffer with gaps");
		return rf_mpi_error_class(ret);
	}
	pending->kind = a->kind;
	ret = rf_mpi_start(c, &call, &pending->request);
	if (ret)
		rf_mpi_stage_end(&pending->stage, false);
	return rf_mpi_error_class(ret);
}

bool rf_mpi_pending_done(struct rf_mpi_pending *pending, int *error)
{
	int ret = rf_mpi_test(pending->kind, pending->request), end;

	if (ret == RF_IN_PROGRESS)
		return false;
	end = rf_mpi_stage_end(&pending->stage, ret == RF_OK);
	*error = rf_mpi_error_class(ret ? ret : end);
	return true;
}
