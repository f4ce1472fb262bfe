/*
 * Plans for tests that do not come from a scheme: random forests and rings, with shortest routes.
 */
#ifndef TESTS_PLANNER_FOREST_H
#define TESTS_PLANNER_FOREST_H

#include "plan/plan.h"

/* Adds the edge over a random one of the routes with the fewest links. Returns 0 or -1. */
int forest_edge(const struct topology *t, struct plan *p, bool down, int from, int to,
		uint64_t *random);
/*
 * `trees` trees with random shares. Each covers all workers and some random boxes; its root is a
 * worker or a box; its way down is either the mirror of its way up or random. The throughput is
 * what plan_measure allows. NULL: something failed.
 */
struct plan *forest_random(const struct topology *t, int trees, bool reduce_only, uint64_t *random);
/* The ring over all workers in their order: one tree for each of them as root. */
struct plan *forest_ring(const struct topology *t);
/* One tree: from every worker to the node, and back. */
struct plan *forest_star(const struct topology *t, int root);
/* One tree along the shortest routes to the root, merging at every box on them. */
struct plan *forest_shortest(const struct topology *t, int root);
/* A copy of a plan in which nothing is shared with the original. */
struct plan *forest_copy(const struct plan *p);

#endif
