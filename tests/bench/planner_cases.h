/*
 * Topologies of the published evaluations, for the planner's figures.
 */
#ifndef TESTS_BENCH_PLANNER_CASES_H
#define TESTS_BENCH_PLANNER_CASES_H

#include "planner/scheme.h"

struct one_case {
	const char *name;
	struct topology *(*make)(const struct one_case *c, uint64_t seed);
	int workers; /* this and the following numbers are arguments of make() */
	int part;
	double spread;
	bool reduce_only;
	double seconds; /* limit of schemes that improve step by step */
	int roundings;  /* 0: the default */
};

/* Ratio of two schemes over SPREAD_DRAWS seeds of a case: mean, least and most of the seeds. */
#define SPREAD_DRAWS 30
void ratio_spread(const struct one_case *c, const char *a, const char *b, double paper,
		  bool as_printed, const char *why);

/* Several jobs on one network, and a plan after a failure. */
void cluster_figures(void);

/* A generated topology in that unit; an invalid specification ends the program. */
struct topology *case_generate(const struct topo_spec *s, const char *unit);

/* The functions for one_case.make. */
struct topology *case_grid_tree(const struct one_case *c, uint64_t seed);
struct topology *case_grid_packed(const struct one_case *c, uint64_t seed);
struct topology *case_grid_leaf(const struct one_case *c, uint64_t seed);
struct topology *case_inart(const struct one_case *c, uint64_t seed);
struct topology *case_rina(const struct one_case *c, uint64_t seed);
struct topology *case_mesh(const struct one_case *c, uint64_t seed);

#endif
