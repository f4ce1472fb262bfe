/*
 * Rank and number of ranks from the environment.
 */
#include "host/config/env.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "host/config/settings.h"
#include "ringfold/ringfold.h"

static const char *const pairs[][2] = {
	{"RF_RANK", "RF_SIZE"},
	{"RANK", "WORLD_SIZE"},
	{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
	{"PMI_RANK", "PMI_SIZE"},
	{"SLURM_PROCID", "SLURM_NTASKS"},
};

static const char *env_get(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

int rf_env_read(struct rf_env *env, char *why, size_t room)
{
	const char *rank = NULL;
	const char *ranks = NULL;
	uint64_t r = 0;
	uint64_t n = 1;
	size_t k;
	int ret;

	env->source = "";
	/* alone it would be ignored, and every process a job of its own */
	if (env_get(pairs[0][1]) && !env_get(pairs[0][0])) {
		snprintf(why, room, "%s is set but %s is not: set both", pairs[0][1], pairs[0][0]);
		return RF_ERR_INVALID;
	}
	for (k = 0; k < sizeof(pairs) / sizeof(pairs[0]) && !rank; k++) {
		rank = env_get(pairs[k][0]);
		ranks = env_get(pairs[k][1]);
		if (!rank)
			continue;
		if (!ranks) {
			snprintf(why, room, "%s is set but %s is not: set both", pairs[k][0],
				 pairs[k][1]);
			return RF_ERR_INVALID;
		}
		ret = rf_number_parse(pairs[k][1], ranks, 1, RF_RANKS_MAX, &n, why, room);
		if (ret)
			return ret;
		ret = rf_number_parse(pairs[k][0], rank, 0, n - 1, &r, why, room);
		if (ret)
			return ret;
		env->source = pairs[k][0];
	}
	env->rank = (unsigned int)r;
	env->ranks = (unsigned int)n;
	env->root = env_get("RF_ROOT");
	if (!env->root)
		env->root = env_get("MASTER_ADDR");
	if (!env->root)
		env->root = rf_setting_text("RF_ROOT");
	return RF_OK;
}
