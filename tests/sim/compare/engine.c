#include "tests/sim/compare/engine.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct rf_engine_ops *from_object(const char *path)
{
	void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL), *symbol;
	rf_engine_entry *entry;

	if (!object) {
		fprintf(stderr, "%s\n", dlerror());
		return NULL;
	}
	symbol = dlsym(object, RF_ENGINE_SYMBOL);
	if (!symbol) {
		fprintf(stderr, "%s: no symbol %s\n", path, RF_ENGINE_SYMBOL);
		return NULL;
	}
	memcpy(&entry, &symbol, sizeof(entry));
	if (entry()->abi != RF_ENGINE_ABI) {
		fprintf(stderr, "%s: interface version %u, not %u\n", path, entry()->abi,
			RF_ENGINE_ABI);
		return NULL;
	}
	return entry();
}

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
	const char *folder = getenv("RF_ENGINE_DIR");
	char path[PATH_MAX];

	if (strcmp(name, "model") == 0)
		return rf_model_engine();
	if (strncmp(name, "model:", 6) == 0) {
		if (engine_mutant(name) != RF_MODEL_MUTANTS)
			return rf_model_engine();
		fprintf(stderr, "%s: no such mutant\n", name);
		return NULL;
	}
	if (strcmp(name, "rtl") != 0)
		return from_object(name);
	snprintf(path, sizeof(path), "%s/box-p%u-l%u-w%u.so", folder ? folder : "build/vl",
		 cfg->ports, cfg->lanes, cfg->width);
	return from_object(path);
}
