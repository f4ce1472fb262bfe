#include "tests/bench/planner_large.h"

#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/bench/planner_cases.h"
#include "tests/bench/planner_figure.h"
#include "tests/unit/planner_drawn.h"

#include "planner/scheme.h"

#define HOSTS_MOST 300
#define REPEATED 100 /* one in this many random topologies is planned again on a busy machine */

/*
 * Leaf-spine; a fat-tree if k is not 0; a star if leaves and k are 0; a rail fabric if hosts are
 * servers with one link to each leaf. A fifth of the switches merge.
 */
static const struct large {
	const char *name, *scheme;
	int leaves, spines, hosts, k;
	double spread, processing[2];
	double least;   /* least throughput required */
	double ring;    /* or this multiple of the ring's */
	double seconds; /* limit of processor time */
	bool shipped;   /* boxes have the limits of the shipped box */
	bool rails;
	double gap; /* 0: the default; otherwise the plan is within twice the gap of its bound */
} larges[] = {
	{"leaf-spine of 1,000", "best", 40, 20, 25, .least = 62.7, .seconds = 5},
	{"leaf-spine of 1,000, gap 0.01 %", "best", 40, 20, 25, .gap = 1e-4, .seconds = 5},
	{"leaf-spine of 1,000, shipped boxes", "best", 40, 20, 25, .least = 51.2, .seconds = 10,
	 .shipped = true},
	{"leaf-spine of 4,096", "best", 128, 32, 32, .least = 69, .seconds = 10},
	{"leaf-spine of 4,096, gap 0.1 %", "best", 128, 32, 32, .gap = 1e-3, .seconds = 10},
	{"leaf-spine of 10,240", "best", 320, 32, 32, .least = 70, .seconds = 20},
	{"leaf-spine of 10,240, gap 0.1 %", "best", 320, 32, 32, .gap = 1e-3, .seconds = 20},
	{"rails of 1,000", "best", 8, 4, 1000, .least = 394, .seconds = 10, .rails = true},
	{"rails of 1,000, gap 0.0001 %", "best", 8, 4, 1000, .gap = 1e-6, .seconds = 10,
	 .rails = true},
	{"fat-tree of 1,024", "best", .hosts = 8, .k = 16, .least = 88, .seconds = 60},
	{"fat-tree of 10,240", "best", .hosts = 20, .k = 32, .least = 78, .seconds = 120},
	{"fat-tree of 10,240, uneven", "best", .hosts = 20, .k = 32, .spread = 0.5,
	 .processing = {100, 3200}, .ring = 1.5, .seconds = 120},
	{"star of 100,000", "ring", .hosts = 100000, .seconds = 5},
	{"star of 100,000", "best", .hosts = 100000, .ring = 1, .seconds = 60},
	{"leaf-spine of 1,000,000", "netreduce-spine", 1000, 16, 1000, .seconds = 120},
};

static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static struct topology *make(const struct large *g)
{
	struct topo_spec s = topo_spec_default(g->k        ? TOPO_FAT_TREE
					       : g->rails  ? TOPO_RAIL
					       : g->leaves ? TOPO_LEAF_SPINE
							   : TOPO_STAR);

	s.leaves = g->leaves ? g->leaves : s.leaves;
	s.spines = g->spines ? g->spines : s.spines;
	s.k = g->k ? g->k : s.k;
	s.hosts = g->hosts;
	s.spread = g->spread;
	s.limits = g->shipped ? topo_limits_shipped() : topo_limits_none();
	if (s.shape != TOPO_STAR)
		s.boxes = TOPO_BOX_FRACTION;
	if (g->processing[0] > 0) {
		s.processing_min = g->processing[0];
		s.processing_max = g->processing[1];
	}
	return case_generate(&s, "Gbps");
}

/*
 * The throughput of a scheme; 0 if there is no plan or the verifier refuses it. *bound, if not
 * NULL: the least of the plan's proven bounds.
 */
static double run(const struct topology *t, const char *scheme, const struct scheme_options *o,
		  double *bound)
{
	struct topo_error e = {.text = ""};
	struct plan *p = scheme_run(scheme_find(scheme), t, o, &e);
	struct plan_load load;
	double rate = 0;

	if (p && plan_verify(t, p, &load, &e) == 0) {
		rate = p->throughput;
		if (bound) {
			*bound = fmin(p->certificate.cut, p->certificate.degree);
			*bound = p->certificate.exact ? fmin(*bound, p->certificate.dual) : *bound;
		}
		plan_load_free(&load);
	}
	plan_free(p);
	return rate;
}

static void large_network(const struct large *g)
{
	struct scheme_options o = scheme_options_default();
	struct topology *t = make(g);
	double begin = processor_seconds();
	double bound = INFINITY;
	double rate, took, least;
	char name[160];

	o.gap = g->gap > 0 ? g->gap : o.gap;
	rate = run(t, g->scheme, &o, &bound);
	took = processor_seconds() - begin;
	least = g->gap > 0 ? bound * (1 - 2 * g->gap) : g->least;
	least = g->ring > 0 ? g->ring * run(t, "ring", &o, NULL) : least;

	snprintf(name, sizeof(name), "%s, %s", g->name, g->scheme);
	figure_put(name, rate, "Gbps", least, true, rate > 0 && rate >= least);
	snprintf(name, sizeof(name), "%s, %s: processor time", g->name, g->scheme);
	figure_put(name, took, "s", g->seconds, true, took < g->seconds);
	topo_free(t);
}

void large_networks(const char *only)
{
	for (size_t i = 0; i < sizeof(larges) / sizeof(larges[0]); i++)
		if (!only || strstr(larges[i].name, only))
			large_network(&larges[i]);
}

/* --- many random topologies ------------------------------------------------------------------- */

#define LOAD 3    /* number of processes that only count */
#define NEAR 1e-9 /* relative difference at which two throughputs count as equal */

static void begin_load(pid_t *child)
{
	for (int i = 0; i < LOAD; i++) {
		child[i] = fork();
		if (child[i] == 0)
			for (volatile unsigned int n = 0; getppid() != 1; n++)
				;
		if (child[i] < 0) {
			perror("planner-bench: fork");
			exit(1);
		}
	}
}

static void end_load(const pid_t *child)
{
	for (int i = 0; i < LOAD; i++) {
		kill(child[i], SIGKILL);
		waitpid(child[i], NULL, 0);
	}
}

/* The bytes of the plan by best; to be freed. */
static char *text_of(const struct topology *t, const struct scheme_options *o)
{
	struct plan *p = scheme_run(scheme_find("best"), t, o, NULL);
	char *text = p ? plan_format(p, t) : NULL;

	plan_free(p);
	return text;
}

static bool is_same_under_load(const struct topology *t, const struct scheme_options *o)
{
	char *alone = text_of(t, o);
	pid_t child[LOAD];
	char *busy;
	bool same;

	begin_load(child);
	busy = text_of(t, o);
	end_load(child);
	same = alone && busy && strcmp(alone, busy) == 0;
	free(alone);
	free(busy);
	return same;
}

/* *proven: the plan of best meets a bound, so no scheme can be better. */
static bool is_any_better(const struct topology *t, const struct scheme_options *o, int seed,
			  bool *proven)
{
	double bound = INFINITY;
	double best = run(t, "best", o, &bound);
	bool any = false; /* with one worker no scheme makes a plan, so none is better */

	*proven = best >= bound * (1 - NEAR);
	for (const struct scheme *s = scheme_list; s->name && !*proven; s++) {
		double rate = run(t, s->name, o, NULL);

		if (rate <= best * (1 + NEAR))
			continue;
		fprintf(stderr, "planner-bench: random topology %d: %s reaches %.10g, best %.10g\n",
			seed, s->name, rate, best);
		any = true;
	}
	return any;
}

void large_drawn(int from, int to)
{
	char name[160];
	int below = 0;
	int other = 0;
	int repeated = 0;
	int proven = 0; /* plans of best that meet a bound: the other schemes did not run */
	bool meets;

	for (int seed = from; seed <= to; seed++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = drawn_topology((uint64_t)seed, HOSTS_MOST, &o);

		below += is_any_better(t, &o, seed, &meets);
		proven += meets;
		if (seed % REPEATED == 0) {
			bool same = is_same_under_load(t, &o);

			if (!same)
				fprintf(stderr,
					"planner-bench: random topology %d: another plan on a busy "
					"machine\n",
					seed);
			repeated++;
			other += !same;
		}
		topo_free(t);
	}
	snprintf(name, sizeof(name),
		 "random topologies %d to %d, 4 to 300 hosts (%d meet a bound), on which another "
		 "scheme is better",
		 from, to, proven);
	figure_put(name, below, "of them", 0, true, below == 0);
	snprintf(name, sizeof(name),
		 "%d of them planned again on a loaded machine: plans that differ", repeated);
	figure_put(name, other, "of them", 0, true, other == 0);
}
