/*
 * Plans for rail fabrics, in which every worker has a link to each of several switches.
 */
#ifndef RF_PLANNER_RAILS_H
#define RF_PLANNER_RAILS_H

#include "plan/plan.h"
#include "plan/topology.h"

/*
 * Trees that each stay within one rail. With merging, boxes that can hold all workers merge. If the
 * links of each rail are alike and no box above the rails merges, the throughput is within 1 /
 * workers of the optimum. exact: deeper trees, and trees at boxes above the rails; then it is the
 * optimum. NULL: fewer than two switches have a link to every worker. The caller frees.
 */
struct plan *rails_plan(const struct topology *t, bool merging, bool exact);

#endif
