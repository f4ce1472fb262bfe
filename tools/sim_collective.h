/*
 * Collectives of a directed group in `ringfold sim`, and the networks that only rf_world has: a
 * switch that marks, a slow receiver.
 */
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

bool sim_collective_mirror(const struct sim_collective *o);
/* The collective; the all-reduce if none is named. */
enum rf_collective_kind sim_collective_kind(const struct sim_collective *o);
/* Checks root and size. Returns 0, or -1 with a message. */
int sim_collective_check(const struct sim_collective *o, const struct sim_collective_run *run);
/* Whether the options need rf_world: no firmware, and few other options. */
bool sim_collective_needs_world(const struct sim_collective *o);
/* Runs there. Returns the exit code. Messages go to stderr. */
int sim_collective(const struct sim_collective *o, const struct sim_collective_run *run);

#endif
