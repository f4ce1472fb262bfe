/*
 * Schemes: functions from a topology to a plan, by name.
 */
#ifndef RF_PLANNER_SCHEME_H
#define RF_PLANNER_SCHEME_H

#include "plan/plan.h"
#include "planner/work.h"

struct scheme_options {
	uint64_t seed;    /* of what a scheme draws */
	int chunks;       /* quantise to so many classes; 0: leave the fractions */
	int roundings;    /* GRID, InArt: best of so many */
	double work;      /* units (work.h) after which a scheme that improves step by step stops */
	double seconds;   /* the same by the clock, on top; INFINITY: however long it takes */
	bool reduce_only; /* the way up alone, to parameter servers */
	int trees;        /* of the forest, at most; 0: any number */
	/* Called when a scheme ends, also one that another asks; NULL: nobody wants to know. */
	void (*progress)(const char *scheme, double seconds);
	struct news *news; /* told what goes on inside; NULL: nobody wants to know */
	bool as_printed;   /* GRID, InArt: no more draws than roundings, whatever vertex comes */
	/* inart-exact: shares of the servers in the order of the file; NULL: those of L-InArt. */
	const double *server_share;
	int server_shares;
};

struct scheme {
	const char *name;
	const char *text; /* one line for --help */
	/* A verified plan with its throughput; NULL with the reason. The caller frees. */
	struct plan *(*make)(const struct topology *t, const struct scheme_options *o,
			     struct topo_error *e);
};

/* All of them, ended by a name that is NULL. */
extern const struct scheme scheme_list[];
/* NULL where there is none of that name. */
const struct scheme *scheme_find(const char *name);
struct scheme_options scheme_options_default(void);
/* Runs one: measures planning_seconds, fills steps and the cut bound, verifies. The flow relaxation
 * is left to who wants it (bound_flow): it takes longer than many a plan. */
struct plan *scheme_run(const struct scheme *s, const struct topology *t,
			const struct scheme_options *o, struct topo_error *e);

/*
 * B1, the cut bound: the least of the maximal flows between two workers, both ways. No scheme of
 * any kind is above it. With reduce_only: the least flow from a worker to all servers together.
 */
double bound_cut(const struct topology *t, bool reduce_only);
/* The same of the pairs of workers that are looked at until the clock (clock_seconds) is past
 * `until`: a bound as well, a weaker one. */
double bound_cut_until(const struct topology *t, bool reduce_only, double until);

/*
 * The degree bound: every tree has at least 2 (workers - 1) inputs that somebody has to take in
 * (up: every worker's data arrives at a worker, a server or at a box that merges it; down: the sum
 * arrives at every worker). INFINITY where a box has no limit. Of forests of trees only.
 */
double bound_degree(const struct topology *t, bool reduce_only);

/*
 * The flow relaxation: between the cut bound and what trees can reach, right to one part in 10^7
 * (it is raised by that much). NAN with the reason, a static text, where the network is too large.
 */
double bound_flow(const struct topology *t, bool reduce_only, const char **why);

#endif
