/* The job of this process: what the files of the core share. */
#ifndef RF_MPI_CORE_JOB_H
#define RF_MPI_CORE_JOB_H

#include <pthread.h>

#include "base/guard.h"
#include "host/config/log.h"
#include "integrations/mpi/core/rf_mpi.h"

RF_LOCK_CLASS(rf_mpi_class);

struct rf_mpi_job {
	struct rf_mpi_settings settings;
	struct rf_log log;
	struct rf_context *ctx;
	unsigned int rank;
	unsigned int ranks;
	void (*progress)(void);
	atomic_uint serial; /* of the groups that this process has named */
	pthread_mutex_t lock;
	struct rf_mpi_comm *comms RF_GUARDED_BY(rf_mpi_class);
	struct {
		atomic_ullong calls[RF_MPI_REASONS];
		atomic_ullong bytes; /* of those taken */
		atomic_ullong failed;
	} count[RF_MPI_KINDS];
};

extern struct rf_mpi_job rf_mpi_job;

/*
 * Makes the group of a communicator, on all its ranks: TAKEN or NOT_SERVED afterwards. first: the
 * one of MPI_COMM_WORLD, with which the processes meet.
 */
int rf_mpi_comm_make(struct rf_mpi_comm *c, const struct rf_mpi_hooks *hooks, bool first);

#endif
