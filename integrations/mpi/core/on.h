/* Whether this process is in a job; apart, because the inline question of rf_mpi.h needs it. */
#ifndef RF_MPI_CORE_ON_H
#define RF_MPI_CORE_ON_H

#include <stdbool.h>

extern bool rf_mpi_on;

#endif
