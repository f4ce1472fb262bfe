/* One collective call of MPI, from its arguments to its result. */
#ifndef RF_MPI_CALLS_SERVE_H
#define RF_MPI_CALLS_SERVE_H

#include "integrations/mpi/calls/translate.h"

/* The call is not ringfold's: the seam passes it on unchanged. */
#define RF_MPI_PASS -1

/* A nonblocking call that has been started. */
struct rf_mpi_pending {
	enum rf_mpi_kind kind;
	struct rf_request *request;
	struct rf_mpi_stage stage;
};

/* A blocking call: RF_MPI_PASS, MPI_SUCCESS, or the class of the error. */
int rf_mpi_serve(struct rf_mpi_comm *c, MPI_Comm comm, const struct rf_mpi_args *a,
		 const struct rf_mpi_hooks *hooks);
/* Starts a call: RF_MPI_PASS, MPI_SUCCESS with *pending started, or the class of the error. */
int rf_mpi_serve_start(struct rf_mpi_comm *c, MPI_Comm comm, const struct rf_mpi_args *a,
		       const struct rf_mpi_hooks *hooks, struct rf_mpi_pending *pending);
/* Whether it has completed; then *error is MPI_SUCCESS or the class of its error. Never waits. */
bool rf_mpi_pending_done(struct rf_mpi_pending *pending, int *error);

#endif
