/*
 * Upper bounds of the throughput that need no plan.
 */
#ifndef RF_PLANNER_BOUNDS_H
#define RF_PLANNER_BOUNDS_H

#include "plan/topology.h"

/*
 * B1, the cut bound: the least of the maximum flows between two workers, in both directions. No
 * scheme of any kind exceeds it. With reduce_only: the least flow from a worker to all servers
 * together.
 */
double bound_cut(const struct topology *t, bool reduce_only);
/*
 * The same for those pairs of workers that are examined before the clock (work_clock) passes
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
