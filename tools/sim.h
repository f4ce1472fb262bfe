/* What `ringfold sim` is asked to do, what came out, and how it is printed. */
#ifndef RF_TOOLS_SIM_H
#define RF_TOOLS_SIM_H

#include "sim/fabric/fabric.h"
#include "tools/sim_collective.h"

struct sim_settings {
	const char *engine;
	const char *firmware;
	const char *schedule;
	const char *dtype;
	const char *op;
	const char *pcapng;
	const char *wave;
	const char *tree; /* its shape, or NULL */
	unsigned ports;
	uint64_t size;
	unsigned iterations;
	struct rf_faults faults;
	uint64_t deadline;
	bool json;
	bool counters;
	bool flip;
	bool in_place;
	bool vlan;
	bool no_jump;
	struct sim_collective collective;
	struct rf_fabric_cfg cfg;
};

struct sim_result {
	double seconds; /* virtual time from first post to last completion, all completed iterations
			 */
	unsigned completed; /* iterations */
	double join;        /* time until the last rank was ready */
	double algbw;       /* bytes per second */
	double percent;     /* percentage of the line rate without framing */
	uint64_t checked;
	uint64_t wrong;
	unsigned failed;
	bool interrupted;
	struct rf_fabric_stats stats;
};

/* As rf_opt_parse(). */
int sim_parse(struct sim_settings *s, int argc, char **argv);

/*
 * Takes over the shape of a tree of boxes, and what follows from it. Returns 0, or -1 with a
 * message.
 */
int sim_tree_settle(struct sim_settings *s);
/* Places that the box with the most of them needs, its uplink included. */
unsigned sim_tree_places(const struct rf_fabric_cfg *c);

void sim_print_table(const struct sim_settings *s, const struct rf_fabric *f,
		     const struct sim_result *r);
/* The box's counters that are not 0, by port. */
void sim_print_counters(const struct sim_settings *s, struct rf_fabric *f);
void sim_print_json(const struct sim_settings *s, struct rf_fabric *f, const struct sim_result *r);

#endif
