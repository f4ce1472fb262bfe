/* Random topologies of great variety, for tests and figures. */
#ifndef RF_TEST_PLANNER_DRAWN_H
#define RF_TEST_PLANNER_DRAWN_H

#include "planner/scheme.h"

/*
 * A topology with 4 to `most` hosts. The seed determines shape, size, spread of the links, boxes
 * and their processing, workers and servers. Some of the options ask for chunk classes or for the
 * way up alone.
 */
struct topology *drawn_topology(uint64_t seed, int most, struct scheme_options *o);

#endif
