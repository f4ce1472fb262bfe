/*
 * A run that follows from one seed: topology, sizes, group flags, faults of the links, and a few
 * things that happen on the way. What the plan allows to go wrong is known, so a run can be judged.
 */
#ifndef RF_SIM_FABRIC_PLAN_H
#define RF_SIM_FABRIC_PLAN_H

#include "sim/fabric/fabric.h"

#define RF_PLAN_EVENTS 4u

enum rf_plan_kind {
	RF_PLAN_CRASH,     /* a host ends without a word */
	RF_PLAN_FREEZE,    /* a host does nothing for `ns` */
	RF_PLAN_CABLE_OUT, /* a host's link loses everything ... */
	RF_PLAN_CABLE_IN,  /* ... until then */
	RF_PLAN_NO_RULE,   /* the switch sends a host's packets past the box from now on */
	RF_PLAN_RESET,     /* the box is reset */
};

struct rf_plan_event {
	enum rf_plan_kind kind;
	uint64_t at;
	unsigned rank;
	uint64_t ns;
};

struct rf_plan {
	struct rf_fabric_cfg cfg;
	unsigned operations;
	uint64_t counts[8]; /* elements of each */
	unsigned straggler; /* rank that computes before each operation; >= ranks: none */
	uint64_t straggler_ns;
	struct rf_plan_event event[RF_PLAN_EVENTS];
	unsigned events;
	bool may_fail;  /* something happens after which ranks may fail, with a cause */
	uint64_t limit; /* ns: everything has ended by then */
};

/* engine: rf_model_engine() or one loaded; its shape must be 4 or 8 ports, 1 lane, 512 bits. */
void rf_plan_make(struct rf_plan *p, uint64_t seed, const struct rf_engine_ops *engine,
		  unsigned ports);
/* One line. */
void rf_plan_text(const struct rf_plan *p, char *text, size_t room);
/* Runs it. NULL, or what is wrong (in text). */
const char *rf_plan_run(const struct rf_plan *p, char *text, size_t room);

#endif
