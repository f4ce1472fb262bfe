#include "tests/bench/planner_large.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "tests/bench/planner_cases.h"
#include "tests/unit/planner_drawn.h"

#define HOSTS_MOST 300

/* Leaf-spine, with k a fat-tree, with neither leaves nor k a star; a fifth of the switches merge.
 */
static const struct large {
	const char *name, *scheme;
	int leaves, spines, hosts, k;
	double spread, processing[2];
	double least;   /* throughput */
	double ring;    /* or so many times the ring's */
	double seconds; /* of the processor */
} larges[] = {
	{"leaf-spine of 1,000", "best", 40, 20, 25, 0, 0, {0}, 62.7, 0, 5},
	{"leaf-spine of 4,096", "best", 128, 32, 32, 0, 0, {0}, 69, 0, 10},
	{"leaf-spine of 10,240", "best", 320, 32, 32, 0, 0, {0}, 70, 0, 20},
	{"fat-tree of 1,024", "best", 0, 0, 8, 16, 0, {0}, 88, 0, 60},
	{"fat-tree of 10,240", "best", 0, 0, 20, 32, 0, {0}, 78, 0, 120},
	{"fat-tree of 10,240, uneven", "best", 0, 0, 20, 32, 0.5, {100, 3200}, 0, 1.5, 120},
	{"star of 100,000", "ring", 0, 0, 100000, 0, 0, {0}, 0, 0, 5},
	{"star of 100,000", "best", 0, 0, 100000, 0, 0, {0}, 0, 1, 60},
	{"leaf-spine of 1,000,000", "netreduce-spine", 1000, 16, 1000, 0, 0, {0}, 0, 0, 120},
};

static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct topology *make(const struct large *g)
{
	struct topo_spec s = topo_spec_default(g->k        ? TOPO_FAT_TREE
					       : g->leaves ? TOPO_LEAF_SPINE
							   : TOPO_STAR);

	s.leaves = g->leaves ? g->leaves : s.leaves;
	s.spines = g->spines ? g->spines : s.spines;
	s.k = g->k ? g->k : s.k;
	s.hosts = g->hosts;
	s.spread = g->spread;
	if (s.shape != TOPO_STAR)
		s.boxes = TOPO_BOX_FRACTION;
	if (g->processing[0] > 0) {
		s.processing_min = g->processing[0];
		s.processing_max = g->processing[1];
	}
	return case_generate(&s, "Gbps");
}

/* 0 where there is no plan, or one that the verifier refuses. */
static double run(const struct topology *t, const char *scheme, const struct scheme_options *o)
{
	struct topo_error e = {.text = ""};
	struct plan *p = scheme_run(scheme_find(scheme), t, o, &e);
	struct plan_load load;
	double rate = 0;

	if (p && plan_verify(t, p, &load, &e) == 0) {
		rate = p->throughput;
		plan_load_free(&load);
	}
	plan_free(p);
	return rate;
}

static void large_network(large_figure *put, const struct large *g)
{
	struct scheme_options o = scheme_options_default();
	struct topology *t = make(g);
	double begin = processor_seconds();
	double rate = run(t, g->scheme, &o);
	double took = processor_seconds() - begin;
	double least = g->ring > 0 ? g->ring * run(t, "ring", &o) : g->least;
	char name[160];

	snprintf(name, sizeof(name), "%s, %s", g->name, g->scheme);
	put(name, rate, "Gbps", least, true, rate > 0 && rate >= least);
	snprintf(name, sizeof(name), "%s, %s: processor time", g->name, g->scheme);
	put(name, took, "s", g->seconds, true, took < g->seconds);
	topo_free(t);
}

void large_networks(large_figure *put, const char *only)
{
	for (size_t i = 0; i < sizeof(larges) / sizeof(larges[0]); i++)
		if (!only || strstr(larges[i].name, only))
			large_network(put, &larges[i]);
}

void large_drawn(large_figure *put, int count)
{
	int below = 0;

	for (int seed = 1; seed <= count; seed++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = drawn_topology((uint64_t)seed, HOSTS_MOST, &o);
		double best = run(t, "best", &o);
		bool any = best <= 0;

		for (const struct scheme *s = scheme_list; s->name; s++)
			any = any || run(t, s->name, &o) > best * (1 + 1e-9);
		if (any)
			fprintf(stderr, "planner-bench: drawn topology %d: best is not the best\n",
				seed);
		below += any;
		topo_free(t);
	}
	put("drawn topologies of 4 to 300 hosts on which another scheme is better", below,
	    "of them", 0, true, below == 0);
}
