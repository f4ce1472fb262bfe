/*
 * Schemes: functions from a topology to a plan, by name.
 */
#ifndef RF_PLANNER_SCHEME_H
#define RF_PLANNER_SCHEME_H

#include "plan/plan.h"
#include "planner/work.h"

struct scheme_options {
	uint64_t seed;    /* of the random choices of a scheme */
	int chunks;       /* number of chunk classes; 0: keep fractional shares */
	int roundings;    /* GRID, InArt: keep the best of this many roundings */
	double work;      /* units (work.h) after which a scheme that improves step by step stops */
	double seconds;   /* additional time limit of such a scheme; INFINITY: none */
	bool reduce_only; /* plan only the way up, to parameter servers */
	int trees;        /* largest number of trees; 0: any */
	/* Called when a scheme ends, including one that another scheme runs; NULL: not called. */
	void (*progress)(const char *scheme, double seconds);
	struct reporter *reporter; /* receives progress reports; NULL: none */
	bool as_printed; /* GRID, InArt: only `roundings` draws, from whatever vertex the solver
			    returns */
	/* inart-exact: shares of the servers in the order of the file; NULL: those of L-InArt. */
	const double *server_share;
	int server_shares;
};

struct scheme {
	const char *name;
	const char *text; /* one line for --help */
	/*
	 * Makes a plan for a topology in canonical order; scheme_run measures it. NULL with the
	 * reason. The caller frees.
	 */
	struct plan *(*make)(const struct topology *t, const struct scheme_options *o,
			     struct topo_error *e);
};

/* All schemes; the last entry has the name NULL. */
extern const struct scheme scheme_list[];
/* NULL: there is no scheme of that name. */
const struct scheme *scheme_find(const char *name);
struct scheme_options scheme_options_default(void);
/*
 * Runs a scheme on the canonical order of t. Sets the plan's throughput, steps, planning_seconds,
 * and its cut and degree bounds. NULL with the reason; the caller frees. The caller may add the
 * flow relaxation (bound_flow), which takes longer than many plans.
 */
struct plan *scheme_run(const struct scheme *s, const struct topology *t,
			const struct scheme_options *o, struct topo_error *e);

/*
 * B1, the cut bound: the least of the maximum flows between two workers, in both directions. No
 * scheme of any kind exceeds it. With reduce_only: the least flow from a worker to all servers
 * together.
 */
double bound_cut(const struct topology *t, bool reduce_only);
/*
 * The same for those pairs of workers that are examined before the clock (clock_seconds) passes
 * `until`: a valid but weaker bound.
 */
double bound_cut_until(const struct topology *t, bool reduce_only, double until);

/*
 * The degree bound: every tree has at least 2 (workers - 1) inputs that some node must receive (up:
 * every worker's data arrives at a worker, a server or a box that merges it; down: the sum arrives
 * at every worker). INFINITY if a box has no limit. Only for forests of trees.
 */
double bound_degree(const struct topology *t, bool reduce_only);

/*
 * The flow relaxation: between the cut bound and what trees can reach, correct to one part in 10^7
 * (it is raised by that much). NAN with the reason, a static text, if the network is too large.
 */
double bound_flow(const struct topology *t, bool reduce_only, const char **why);

#endif
