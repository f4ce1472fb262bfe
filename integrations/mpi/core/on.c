/* Whether this process is in a job. */
#include "integrations/mpi/core/on.h"

bool rf_mpi_on;
