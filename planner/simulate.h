/*
 * Plans run in two models of different grain. Both know nothing of each other and nothing of the
 * rates that a scheme promised: only trees, shares, links and boxes.
 *
 * Amounts are in the topology's unit times a second: gigabits where capacities are Gbps.
 */
#ifndef RF_PLANNER_SIMULATE_H
#define RF_PLANNER_SIMULATE_H

#include "plan/plan.h"

struct sim_options {
	double amount; /* of the vector at each worker */
	/* Trees compete for links as equals, not in proportion to their shares: what happens where
	 * nothing paces the senders. Only of the fluid run. */
	bool even;
	int chunks; /* chunk run: the vector is cut into so many, each tree gets at least one */
	int window; /* chunk run: chunks of a tree under way at once; 0: no limit */
};

struct sim_result {
	double seconds;  /* until the last worker has the whole sum */
	double goodput;  /* amount / seconds */
	double first;    /* chunk run: seconds until the first chunk is everywhere */
	uint64_t events; /* chunk run: packets that crossed a link; fluid run: changes of rates */
	int chunks;      /* chunk run: how many there were in all trees */
	double busiest;  /* the largest part of the time that an arc was busy */
	int busiest_arc;
};

/*
 * Fluid: a tree is one flow through all its links and boxes at once; rates are max-min fair
 * (progressive filling: Bertsekas and Gallager, Data Networks, 6.5.2), weighted by the shares, and
 * are found anew when a tree is done. Delays count once, at the end.
 *
 * 0, or -1 with the reason: a plan that plan_measure refuses, an amount that is not positive.
 */
int sim_fluid(const struct topology *t, const struct plan *p, const struct sim_options *o,
	      struct sim_result *result, struct topo_error *e);

/*
 * Rates of the trees, one for each, while all of them run; for tests and tables.
 */
int sim_fluid_rates(const struct topology *t, const struct plan *p, bool even, double *rate,
		    struct topo_error *e);

/*
 * Chunks: discrete events. A chunk is stored and forwarded at every link (first come, first
 * served), waits at a merge for all its inputs, which a box with limited processing takes in one
 * after the other, and goes down from the root as soon as it is whole.
 *
 * 0, or -1 with the reason: also where chunks x trees do not fit in memory.
 */
int sim_chunks(const struct topology *t, const struct plan *p, const struct sim_options *o,
	       struct sim_result *result, struct topo_error *e);

struct sim_options sim_options_default(void);

#endif
