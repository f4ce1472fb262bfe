/*
 * What tests of the planner share. Failures are cmocka's.
 */
#ifndef TESTS_PLANNER_HELP_H
#define TESTS_PLANNER_HELP_H

#include "planner/scheme.h"

/* A generated topology; the test fails where there is none. */
struct topology *help_make(const struct topo_spec *s);
/* topo_finish, or the test fails. */
struct topology *help_finish(struct topology *t);
/* The same to one part in 10^9, or 10^9 where the numbers are below 1. */
void help_near(double a, double b);

/*
 * A small drawn topology of any shape, few enough hosts and boxes that every tree can be looked
 * at. Capacities are whole multiples of 2^-10; wide: they lie up to 5 x 10^8 apart.
 */
struct topology *help_drawn(uint64_t seed, bool wide);
/* A drawn topology of any shape, boxes beside their switches on some; limited: all boxes take in
 * 50 to 400, else those of every second topology. */
struct topology *help_any(uint64_t *random, bool limited);
/* The same network with its nodes and links in another order and under other names. */
struct topology *help_shuffled(const struct topology *t, uint64_t seed);
/* The plan of a scheme, verified, with the throughput that the verifier computes; NULL where the
 * scheme refuses the topology. Short limits. */
struct plan *help_plan(const struct topology *t, const char *scheme);

#endif
