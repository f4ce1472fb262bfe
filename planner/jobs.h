/*
 * Several jobs on one network, each on some of its hosts, and plans that go on after a failure.
 */
#ifndef RF_PLANNER_JOBS_H
#define RF_PLANNER_JOBS_H

#include "planner/scheme.h"

/* A job of a file. */
struct job {
	char name[TOPO_NAME_MAX];
	int *host;
	int hosts;
	double rate; /* the throughput that is enough for it; INFINITY: all it can get */
};

struct jobs {
	struct job *job;
	int count;
};

/* Reads a file of jobs; names are hosts or machines. NULL with "FILE:LINE: reason". */
struct jobs *jobs_read(const char *path, const struct topology *t, struct topo_error *e);
struct jobs *jobs_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e);
void jobs_free(struct jobs *j);

/* The part of links and boxes that is kept back so that rounding exceeds nothing. */
#define JOBS_RESERVE 1e-6

/*
 * What plans leave of a network: capacities, processing, groups and slots of boxes; a box without a
 * group is a plain switch. Only the job's hosts are workers. Node and link numbers stay the same.
 * NULL with the reason.
 */
struct topology *jobs_rest(const struct topology *t, struct plan *const *plan, int plans,
			   const struct job *job, struct topo_error *e);

/* The job's plan by a scheme on what the others leave. NULL with the reason. */
struct plan *jobs_plan(const struct topology *t, struct plan *const *plan, int plans,
		       const struct job *job, const struct scheme *s,
		       const struct scheme_options *o, struct topo_error *e);

/* Plans that run at the same time: each by itself, then what all of them together ask of links and
 * boxes. 0, or -1 with the reason. */
int jobs_verify(const struct topology *t, struct plan *const *plan, int plans,
		struct topo_error *e);

/* --- failures: planner/replan.c -----------------------------------------------------------------
 */

/* What is gone. */
struct failure {
	bool *link; /* of the topology's links */
	bool *node;
};

/*
 * The network without what is gone; arc_of: for each old arc the new one or -1, node_of likewise;
 * to be freed. NULL with the reason: it falls apart, or a host of the plan is gone.
 */
struct topology *replan_rest(const struct topology *t, const struct failure *f, int **node_of,
			     int **arc_of, struct topo_error *e);

struct replan {
	int kept, gone, made; /* trees */
	double fresh;         /* throughput of a plan from the beginning */
	bool whole;           /* the plan is that one: no tree could be kept */
};

/*
 * A plan for t, the network without what is gone, from one for the network before it: trees that
 * used nothing of that stay as they are, with their shares; others are replaced. NULL with the
 * reason.
 */
struct plan *replan(const struct topology *t, const struct plan *old, const int *node_of,
		    const int *arc_of, const struct scheme_options *o, struct replan *what,
		    struct topo_error *e);

#endif
