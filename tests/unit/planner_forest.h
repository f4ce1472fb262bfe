/*
 * Plans for tests that no scheme has made: random forests and rings, with shortest routes.
 */
#ifndef TESTS_PLANNER_FOREST_H
#define TESTS_PLANNER_FOREST_H

#include "plan/plan.h"

/* Adds the edge over a route of fewest links that is drawn among the shortest; 0, or -1. */
int forest_edge(const struct topology *t, struct plan *p, bool down, int from, int to,
		uint64_t *random);
/*
 * `trees` trees with drawn shares; each on all workers and some drawn boxes, root a worker or a
 * box, down either the mirror of up or drawn by itself. Its throughput is what plan_measure
 * allows. NULL where something failed.
 */
struct plan *forest_random(const struct topology *t, int trees, bool reduce_only, uint64_t *random);
/* The ring over all workers in their order: a tree for each of them as root. */
struct plan *forest_ring(const struct topology *t);
/* One tree: every worker to the node, and back. */
struct plan *forest_star(const struct topology *t, int root);
/* One tree along the shortest ways to the root, merging at every box on them. */
struct plan *forest_shortest(const struct topology *t, int root);
/* Everything again by itself, in a plan that is equal. */
struct plan *forest_copy(const struct plan *p);

#endif
