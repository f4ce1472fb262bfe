/* Rank and number of ranks from the environment of whichever launcher started the process. */
#ifndef RF_BOOTSTRAP_ENV_H
#define RF_BOOTSTRAP_ENV_H

#include <stddef.h>

struct rf_env {
	unsigned int rank;
	unsigned int ranks;
	const char *source; /* name of the variable that set the rank; "" for none. Static. */
	const char *root;   /* RF_ROOT, MASTER_ADDR or the default; points into the environment */
};

/*
 * The first pair whose rank variable is set applies: RF_RANK RF_SIZE, RANK WORLD_SIZE,
 * OMPI_COMM_WORLD_RANK _SIZE, PMI_RANK PMI_SIZE, SLURM_PROCID SLURM_NTASKS. If none is set: 0 of 1.
 * Returns 0, or RF_ERR_INVALID with a text in why[room]: not a number, size missing, RF_SIZE without
 * RF_RANK, or rank not below size.
 */
int rf_env_read(struct rf_env *env, char *why, size_t room);

#endif
