/*
 * Topologies of the published evaluations, for the planner's figures.
 */
#ifndef TESTS_BENCH_PLANNER_CASES_H
#define TESTS_BENCH_PLANNER_CASES_H

#include "planner/scheme.h"

#define SCHEMES_MAX 40

struct one_case {
	const char *name;
	const char *unit;
	bool reduce_only;
	double seconds; /* limit of schemes that improve step by step */
	struct topology *(*make)(const struct one_case *c, uint64_t seed);
	int workers; /* and other numbers that make() reads */
	int part;
	int roundings; /* 0: the default */
	double spread;
	/* Filled by run_case: means over the seeds. */
	double mean[SCHEMES_MAX], bound, dual, flow;
	int made[SCHEMES_MAX], exact, flows;
	double least;     /* of best over the best of the others, on one seed */
	double least_due; /* of best over its own dual bound where that is exact */
};

/* A generated topology in that unit; a specification that gives none ends the program. */
struct topology *case_generate(const struct topo_spec *s, const char *unit);

/* The functions behind one_case.make. */
struct topology *case_grid_fat_tree(const struct one_case *c, uint64_t seed);
struct topology *case_grid_packed(const struct one_case *c, uint64_t seed);
struct topology *case_grid_leaf_spine(const struct one_case *c, uint64_t seed);
struct topology *case_inart_fat_tree(const struct one_case *c, uint64_t seed);
struct topology *case_rina_racks(const struct one_case *c, uint64_t seed);
struct topology *case_mesh(const struct one_case *c, uint64_t seed);

#endif
