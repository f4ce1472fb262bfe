/*
 * Simulates plans in two models of different granularity. The models are independent of each other
 * and ignore the throughput that a plan promises: they use only trees, shares, links and boxes.
 *
 * Amounts are in the topology's unit times a second: gigabits if capacities are in Gbps.
 */
#ifndef RF_PLANNER_SIM_H
#define RF_PLANNER_SIM_H

#include "plan/plan.h"

struct sim_options {
	double amount; /* size of the vector at each worker */
	/*
	 * Fluid run only: trees compete for links as equals, not in proportion to their shares.
	 * This is what happens if nothing paces the senders.
	 */
	bool even;
	int chunks; /* chunk run: number of chunks of the vector; each tree gets at least one */
	int window; /* chunk run: limit of chunks of a tree in flight; 0: no limit */
};

struct sim_result {
	double seconds;  /* until the last worker has the complete sum */
	double goodput;  /* amount / seconds */
	double first;    /* chunk run: seconds until the first chunk has reached all workers */
	uint64_t events; /* chunk run: packets that crossed a link; fluid run: changes of rates */
	int chunks;      /* chunk run: total number of chunks in all trees */
	double busiest;  /* the largest fraction of the time that an arc was busy */
	int busiest_arc;
};

/*
 * Fluid: a tree is one flow through all its links and boxes at once. Rates are max-min fair
 * (progressive filling: Bertsekas and Gallager, Data Networks, 6.5.2), weighted by the shares, and
 * are recomputed when a tree ends. Delays count once, at the end.
 *
 * Returns 0, or -1 with the reason: a plan that plan_measure refuses, or an amount that is not
 * positive.
 */
int sim_fluid(const struct topology *t, const struct plan *p, const struct sim_options *o,
	      struct sim_result *result, struct topo_error *e);

/* The rate of each tree while all of them run, for tests and tables. */
int sim_fluid_rates(const struct topology *t, const struct plan *p, bool even, double *rate,
		    struct topo_error *e);

/*
 * Chunks: a discrete-event simulation. A chunk is stored and forwarded at every link (first come,
 * first served). At a merge it waits for all its inputs, which a box with limited processing
 * receives one after the other. The root sends a chunk down as soon as it is complete.
 *
 * Returns 0, or -1 with the reason, for example if chunks x trees do not fit in memory.
 */
int sim_chunks(const struct topology *t, const struct plan *p, const struct sim_options *o,
	       struct sim_result *result, struct topo_error *e);

struct sim_options sim_options_default(void);

#endif
