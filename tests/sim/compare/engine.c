#include "tests/sim/compare/engine.h"

#include <stdio.h>
#include <string.h>

#include "sim/cosim/load.h"

enum rf_model_mutant engine_mutant(const char *name)
{
	unsigned int k;

	if (strncmp(name, "model:", 6) != 0)
		return RF_MODEL_SOUND;
	for (k = 0; k < RF_MODEL_MUTANTS; k++) {
		if (strcmp(name + 6, rf_model_mutant_name(k)) == 0)
			return (enum rf_model_mutant)k;
	}
	return RF_MODEL_MUTANTS;
}

const struct rf_engine_ops *engine_named(const char *name, const struct rf_engine_cfg *cfg)
{
	const struct rf_engine_ops *ops;
	char why[256];

	if (strncmp(name, "model:", 6) == 0) {
		if (engine_mutant(name) != RF_MODEL_MUTANTS)
			return rf_model_engine();
		fprintf(stderr, "%s: no such mutant\n", name);
		return NULL;
	}
	if (strcmp(name, "rtl-plain") == 0
		    ? rf_engine_load_plain(cfg->ports, cfg->lanes, cfg->width, &ops, why,
					   sizeof(why)) == 0
		    : rf_engine_by_name(name, cfg->ports, cfg->lanes, cfg->width, false, &ops, why,
					sizeof(why)) == 0)
		return ops;
	fprintf(stderr, "%s\n", why);
	return NULL;
}
