/* Collectives of a directed group in `ringfold sim`: one call at a time on the transport itself. */
#ifndef SIM_COLLECTIVE_H
#define SIM_COLLECTIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/fabric/fabric.h"

#define SIM_COLLECTIVE_NAMES                                                                       \
	"all-reduce|reduce|broadcast|reduce-scatter|all-gather|gather|scatter|barrier"

/* The options that are its own. */
struct sim_collective {
	const char *name; /* NULL: none is asked for */
	const char *steering;
	unsigned root;
	uint64_t mark; /* bytes queued at the switch from which on it marks; 0: never */
	unsigned slow; /* the last rank's links have this part of the rate; 0, 1: all are equal */
	bool router;
};

/* What it shares with all-reduces. */
struct sim_collective_run {
	const struct rf_fabric_cfg *cfg;
	const char *type, *op; /* names */
	uint64_t size;         /* bytes of the vector, or of all blocks */
	unsigned iterations;
	uint64_t deadline;
	bool json;
};

/* Whether a directed group is to run. */
bool sim_collective_wanted(const struct sim_collective *o);
/* Returns the exit code. Messages go to stderr. */
int sim_collective(const struct sim_collective *o, const struct sim_collective_run *run);

#endif
