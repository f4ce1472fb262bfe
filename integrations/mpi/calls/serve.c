/* A call: asked about, staged, carried out, copied back. */
#include "integrations/mpi/calls/serve.h"

/* Asks the core. RF_MPI_PASS, MPI_SUCCESS for a call that is taken, or the class of an error. */
static int taken(struct rf_mpi_comm *c, const struct rf_mpi_args *a,
		 const struct rf_mpi_hooks *hooks, bool blocking)
{
	struct rf_mpi_ask ask;
	int ret;

	if (!rf_mpi_is_on() || !rf_mpi_args_ask(a, c->rank, c->ranks, &ask))
		return RF_MPI_PASS;
	ask.blocking = blocking;
	ret = rf_mpi_take(c, &ask, hooks);
	if (ret > 0)
		return RF_MPI_PASS;
	return rf_mpi_error_class(ret);
}

int rf_mpi_serve(struct rf_mpi_comm *c, MPI_Comm comm, const struct rf_mpi_args *a,
		 const struct rf_mpi_hooks *hooks)
{
	struct rf_mpi_stage stage;
	struct rf_mpi_call call;
	int ret = taken(c, a, hooks, true), end;

	if (ret != MPI_SUCCESS)
		return ret;
	ret = rf_mpi_stage_begin(&stage, a, c->rank, c->ranks, comm, false, &call);
	if (ret) {
		rf_mpi_failed(a->kind, "no memory for a copy of a buffer with gaps");
		return rf_mpi_error_class(ret);
	}
	ret = rf_mpi_run(c, &call);
	end = rf_mpi_stage_end(&stage, ret == RF_OK);
	return rf_mpi_error_class(ret ? ret : end);
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
