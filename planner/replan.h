/*
 * Changes plans after a failure.
 */
#ifndef RF_PLANNER_REPLAN_H
#define RF_PLANNER_REPLAN_H

#include "planner/scheme.h"

/* The links and nodes that have failed. */
struct replan_failure {
	bool *link; /* by link of the topology */
	bool *node;
};

/*
 * The network without the failed parts; the workers of t are the hosts whose data the plan sums.
 * arc_of: the new arc of each old arc, or -1; node_of: the same for nodes, and -1 for a host
 * without data that has too few links left to merge or relay, and for a box that can only forward
 * and is a switch now; both to be freed. NULL with the reason: the rest is disconnected, or a
 * worker has failed.
 */
struct topology *replan_rest(const struct topology *t, const struct replan_failure *f,
			     int **node_of, int **arc_of, struct topo_error *e);

struct replan {
	int kept, gone, made; /* trees */
	double fresh;         /* throughput of a new plan */
	bool whole;           /* the result is the new plan, because no tree could be kept */
};

/*
 * Makes a plan for t, the network without the failed parts, from a plan for the network before the
 * failure. Trees that used no failed part stay as they are, with their shares; others are replaced.
 * If any is, the plan is no longer sequential. NULL with the reason.
 */
struct plan *replan(const struct topology *t, const struct plan *before, const int *node_of,
		    const int *arc_of, const struct scheme_options *o, struct replan *what,
		    struct topo_error *e);

#endif
