/*
 * Who am I: rank and number of ranks from the environment of whichever launcher started the
 * process.
 */
#ifndef RF_BOOTSTRAP_ENV_H
#define RF_BOOTSTRAP_ENV_H

#include <stddef.h>

struct rf_env {
	unsigned int rank;
	unsigned int ranks;
	const char *source; /* name of the variable that gave the rank; "" for none. Static. */
	const char *root;   /* RF_ROOT, MASTER_ADDR or the default; of the environment */
};

/*
 * The first pair of which the rank is set decides: RF_RANK RF_SIZE, RANK WORLD_SIZE,
 * OMPI_COMM_WORLD_RANK _SIZE, PMI_RANK PMI_SIZE, SLURM_PROCID SLURM_NTASKS. Without any: 0 of 1.
 * 0, or RF_ERR_INVALID with a text in why[room]: no number, size missing, rank not below size.
 */
int rf_env_read(struct rf_env *env, char *why, size_t room);

#endif
