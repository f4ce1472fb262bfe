/*
 * Plans several jobs on one network, each on some of its hosts, and changes plans after a failure.
 */
#ifndef RF_PLANNER_JOBS_H
#define RF_PLANNER_JOBS_H

#include "planner/scheme.h"

/* A job of a file. */
struct job {
	char name[TOPO_NAME_MAX];
	int *host;
	int hosts;
	double rate; /* the throughput that is sufficient; INFINITY: as much as possible */
};

struct jobs {
	struct job *job;
	int count;
};

/*
 * Reads a file of jobs; names are hosts or machines. NULL with "FILE:LINE: reason" in *e. The
 * caller frees with jobs_free.
 */
struct jobs *jobs_read(const char *path, const struct topology *t, struct topo_error *e);
struct jobs *jobs_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e);
void jobs_free(struct jobs *j);

/*
 * Marks the hosts of all jobs as taken: no job's trees then merge or relay at a host of another
 * job.
 */
void jobs_take_hosts(struct topology *t, const struct jobs *j);

/* The part of links and boxes that is reserved, so that rounding cannot exceed a limit. */
#define JOBS_RESERVE 1e-6

/*
 * The network that remains beside the given plans: capacities, processing, groups, slots and ports
 * of boxes; links whose ports the plans use remain usable. A box without a group or processing is a
 * plain switch. Only the job's hosts are workers. Node and link indexes stay the same. NULL with
 * the reason.
 */
struct topology *jobs_rest(const struct topology *t, struct plan *const *plan, int plans,
			   const struct job *job, struct topo_error *e);

/*
 * The job's plan by a scheme, on the network that the other plans leave. Its bounds are those of
 * the job alone on the whole network. NULL with the reason.
 */
struct plan *jobs_plan(const struct topology *t, struct plan *const *plan, int plans,
		       const struct job *job, const struct scheme *s,
		       const struct scheme_options *o, struct topo_error *e);

/*
 * Verifies plans that run at the same time: each alone, where hosts that a plan lists are taken for
 * the other plans; then the total load of links and boxes.
 * Returns 0, or -1 with the reason.
 */
int jobs_verify(const struct topology *t, struct plan *const *plan, int plans,
		struct topo_error *e);

#endif
