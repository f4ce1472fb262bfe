/*
 * Schemes: functions from a topology to a plan, by name.
 */
#ifndef RF_PLANNER_SCHEME_H
#define RF_PLANNER_SCHEME_H

#include "plan/plan.h"
#include "planner/work.h"

#define SCHEME_GAP 0.004

struct scheme;

struct scheme_options {
	uint64_t seed;    /* of the random choices of a scheme */
	int chunks;       /* number of chunk classes; 0: keep fractional shares */
	int roundings;    /* GRID, InArt: keep the best of this many roundings */
	double work;      /* units (work.h) after which a scheme that improves step by step stops */
	double seconds;   /* additional time limit of such a scheme; INFINITY: none */
	bool reduce_only; /* plan only the way up, to parameter servers */
	int trees;        /* largest number of trees; 0: any */
	/*
	 * Large networks: the part of the throughput that is given up for fewer trees; a smaller
	 * one than SCHEME_GAP takes more trees and more time.
	 */
	double gap;
	/* Called when a scheme ends, including one that another scheme runs; NULL: not called. */
	void (*progress)(const char *scheme, double seconds);
	struct work_reporter *reporter; /* receives progress reports; NULL: none */
	bool as_printed; /* GRID, InArt: only `roundings` draws, from whatever vertex the solver
			    returns */
	/* inart-exact: shares of the servers in the order of the file; NULL: those of L-InArt. */
	const double *server_share;
	int server_shares;
	/* The schemes that `best` and `forest` may run; the last entry has the name NULL. */
	const struct scheme *schemes;
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
	/*
	 * Makes a plan respect the limits of boxes and of the number of trees; NULL: its trees are
	 * cut (limits_fit_plan).
	 */
	void (*fit)(const struct topology *t, struct plan *p, const struct scheme_options *o);
};

/* All schemes; the last entry has the name NULL. */
extern const struct scheme scheme_list[];
/* The scheme of that name in scheme_list; NULL: there is none. */
const struct scheme *scheme_find(const char *name);
/* The same in any list. */
const struct scheme *scheme_find_in(const struct scheme *list, const char *name);
/* Whether the scheme's name is among the names, which NULL ends. */
bool scheme_is_among(const struct scheme *s, const char *const *names);
struct scheme_options scheme_options_default(void);
/*
 * Runs a scheme on the canonical order of t. Sets the plan's throughput, steps, planning_seconds,
 * and its cut and degree bounds. NULL with the reason; the caller frees. The caller may add the
 * flow relaxation (bound_flow), which takes longer than many plans.
 */
struct plan *scheme_run(const struct scheme *s, const struct topology *t,
			const struct scheme_options *o, struct topo_error *e);

/*
 * scheme_run for a topology that is already in canonical order, without the cut and degree bounds.
 */
struct plan *scheme_run_ordered(const struct scheme *s, const struct topology *t,
				const struct scheme_options *o, struct topo_error *e);

#endif
