/*
 * Every tree there is on a tiny network, and what a choice of them reaches: an independent answer
 * for what the planner finds.
 */
#ifndef TESTS_PLANNER_EVERY_H
#define TESTS_PLANNER_EVERY_H

#include "plan/plan.h"

/* All trees over the workers and any boxes, both ways over the same links, that keep what single
 * trees have to keep. */
struct plan *all_trees(const struct topology *t);
/* The most that the trees reach that are in. */
double pack_trees(const struct topology *t, struct plan *pool, const bool *in);

#endif
