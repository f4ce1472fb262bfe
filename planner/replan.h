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
	/* Set by replan_rest: the number of nodes that it adds, and the first of them. */
	int cut_off, first_cut_off;
};

/*
 * The network without the failed parts; the workers of t are the hosts whose data the plan sums.
 * arc_of: the new arc of each old arc, or -1; node_of: the same for nodes, and -1 for a host
 * without data that has too few links left to merge or relay, and for a box that can only forward
 * and is a switch now; both to be freed. Nodes without a path to a worker are added to f. NULL with
 * the reason: workers are disconnected, or one has failed.
 */
struct topology *replan_rest(const struct topology *t, struct replan_failure *f, int **node_of,
			     int **arc_of, struct topo_error *e);

#define REPLAN_LEAST 0.95 /* the default of `least` below */

struct replan {
	int kept, gone, made; /* trees */
	double fresh;         /* throughput of a new plan */
	double all_kept;      /* with all trees kept that used no failed part; 0: impossible */
	int more;             /* trees removed that used no failed part, to reach the rate */
	bool whole;           /* the result is the new plan, because no tree could be kept */
};

/*
 * Makes a plan for t, the network without the failed parts, from a plan for the network before the
 * failure. Trees that used no failed part stay as they are, with their shares; the others are
 * replaced. A plan with a replaced tree is not sequential. `least` (0 to 1) is the part of the new
 * plan's throughput, or of the old plan's if that is lower, that the result must reach. If it does
 * not, further trees are replaced: as few as possible, those that gain most. NULL with the reason.
 */
struct plan *replan(const struct topology *t, const struct plan *before, const int *node_of,
		    const int *arc_of, const struct scheme_options *o, double least,
		    struct replan *what, struct topo_error *e);

#endif
