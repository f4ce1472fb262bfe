/* The one job of this process: MPI has one MPI_COMM_WORLD. */
#include "integrations/mpi/core/job.h"

struct rf_mpi_job rf_mpi_job = {.lock = PTHREAD_MUTEX_INITIALIZER};
