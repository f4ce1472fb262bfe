/*
 * All trees of a tiny network, and the throughput that a selection of them reaches: an independent
 * check of the planner's results.
 */
#ifndef TESTS_PLANNER_EVERY_H
#define TESTS_PLANNER_EVERY_H

#include "plan/plan.h"

/*
 * All trees over the workers and any other nodes that may merge, with both ways over the same
 * links, that respect the limits of single trees.
 */
struct plan *all_trees(const struct topology *t);
/* The highest throughput of the trees for which `in` is true. */
double pack_trees(const struct topology *t, struct plan *pool, const bool *in);

#endif
