/* Topologies for tests and figures that want very different ones. */
#ifndef RF_TEST_PLANNER_DRAWN_H
#define RF_TEST_PLANNER_DRAWN_H

#include "planner/scheme.h"

/*
 * Of 4 to `most` hosts: shape, size, spread of the links, boxes, their processing, workers and
 * servers are drawn from the seed; now and then the options ask for chunk classes or for the way up
 * alone.
 */
struct topology *drawn_topology(uint64_t seed, int most, struct scheme_options *o);

#endif
