/*
 * Functions that tests of the planner share. Failures are reported by cmocka.
 */
#ifndef TESTS_PLANNER_HELP_H
#define TESTS_PLANNER_HELP_H

#include "planner/scheme.h"

/* A generated topology; the test fails if there is none. */
struct topology *help_make(const struct topo_spec *s);
/* Machines of several GPUs, with a NIC for each; a box for each rail, no spines. */
struct topology *help_machines(int hosts, int gpus);
/* Calls topo_finish; the test fails if that fails. */
struct topology *help_finish(struct topology *t);
/* Fails unless the values are equal to one part in 10^9, or, for values below 1, to 10^-9. */
void help_near(double a, double b);

/*
 * A small random topology of any shape, with few enough hosts and boxes for a search over all
 * trees. Capacities are multiples of 2^-10; wide: they differ by factors up to 5 x 10^8.
 */
struct topology *help_drawn(uint64_t seed, bool wide);
/*
 * A random topology of any shape, sometimes with boxes attached to switches. limited: all boxes can
 * receive 50 to 400; otherwise only those of every second topology.
 */
struct topology *help_any(uint64_t *random, bool limited);
/* The same network with its nodes and links in another order and with other names. */
struct topology *help_shuffled(const struct topology *t, uint64_t seed);
/*
 * The verified plan of a scheme, with the throughput that the verifier computes; NULL if the scheme
 * refuses the topology. Uses short limits.
 */
struct plan *help_plan(const struct topology *t, const char *scheme);

#endif
