/*
 * Ratios with their spread; jobs and failures on a leaf-spine of 1,000 hosts.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "planner/jobs.h"
#include "planner/replan.h"
#include "tests/bench/planner_cases.h"
#include "tests/bench/planner_figure.h"

#define REPRODUCED 0.15
#define JOBS 4
#define WORK 1e8 /* work units for each plan: one or a few seconds */

static double cpu(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

/* --- ratios ----------------------------------------------------------------------------------- */

static double rate_of(const struct one_case *c, const struct topology *t, const char *scheme,
		      uint64_t seed, bool as_printed)
{
	struct scheme_options o = scheme_options_default();
	struct plan *p;
	double rate;

	o.seed = seed;
	o.reduce_only = c->reduce_only;
	o.roundings = c->roundings ? c->roundings : o.roundings;
	o.as_printed = as_printed;
	p = scheme_run(scheme_find(scheme), t, &o, NULL);
	rate = p ? p->throughput : 0;
	plan_free(p);
	return rate;
}

void ratio_spread(const struct one_case *c, const char *a, const char *b, double paper,
		  bool as_printed, const char *why)
{
	double sum_a = 0, sum_b = 0, least = INFINITY, most = 0;
	const char *how = as_printed ? "as printed" : "with more draws";
	char name[200];
	bool same;

	for (uint64_t seed = 1; seed <= SPREAD_DRAWS; seed++) {
		struct topology *t = c->make(c, seed);
		double x = rate_of(c, t, a, seed, as_printed);
		double y = rate_of(c, t, b, seed, as_printed);

		topo_free(t);
		if (!(x > 0) || !(y > 0))
			continue;
		sum_a += x;
		sum_b += y;
		least = fmin(least, x / y);
		most = fmax(most, x / y);
	}
	same = isnan(paper) || fabs(sum_a / sum_b / paper - 1) <= REPRODUCED;
	snprintf(name, sizeof(name), "%s: %s over %s, %s, limit: paper", c->name, a, b, how);
	figure_put(name, sum_a / sum_b, "ratio", paper, false, same);
	snprintf(name, sizeof(name), "%s: %s over %s, %s, least of %d draws", c->name, a, b, how,
		 SPREAD_DRAWS);
	figure_put(name, least, "ratio", NAN, false, true);
	snprintf(name, sizeof(name), "%s: %s over %s, %s, most of %d draws", c->name, a, b, how,
		 SPREAD_DRAWS);
	figure_put(name, most, "ratio", NAN, false, true);
	if (!same)
		fprintf(stderr, "planner-bench: %s: %.3g (%.3g to %.3g), paper %.3g: %s\n", name,
			sum_a / sum_b, least, most, paper, why);
}

/* --- jobs and failures ------------------------------------------------------------------------ */

static struct topology *thousand(void)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	s.leaves = 40;
	s.spines = 20;
	s.hosts = 25;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.2;
	return case_generate(&s, "Gbps");
}

/*
 * Four jobs, each on every fourth host. Each gets what it would get alone on the remaining network.
 */
static void four_jobs(const struct topology *t)
{
	const struct scheme *best = scheme_find("best");
	struct scheme_options o = scheme_options_default();
	struct plan *plan[JOBS] = {NULL};
	struct job job[JOBS];
	struct topo_error e = {.text = ""};
	double begin = cpu();
	double least = INFINITY;
	double spent;

	o.work = WORK;
	for (int i = 0; i < JOBS; i++) {
		job[i] = (struct job){.rate = 20};
		snprintf(job[i].name, sizeof(job[i].name), "job%d", i);
		job[i].host = calloc((size_t)t->workers, sizeof(int));
		for (int k = i; k < t->workers && job[i].host; k += JOBS)
			job[i].host[job[i].hosts++] = t->worker[k];
		plan[i] = jobs_plan(t, plan, i, &job[i], best, &o, &e);
		if (!plan[i]) {
			fprintf(stderr, "planner-bench: %s\n", e.text);
			exit(1);
		}
	}
	spent = cpu() - begin;
	for (int i = 0; i < JOBS; i++) {
		struct topology *left = jobs_rest(t, plan, i, &job[i], &e);
		struct plan *alone = scheme_run(best, left, &o, &e);

		least = fmin(least, plan[i]->throughput / fmin(alone->throughput, job[i].rate));
		plan_free(alone);
		topo_free(left);
	}
	figure_put("4 jobs on 1,000 hosts: least of a job over its plan alone on what is left",
		   least, "ratio", 1, true, least >= 1 - 1e-9);
	figure_put("4 jobs on 1,000 hosts: no limit of a link or box exceeded",
		   jobs_verify(t, plan, JOBS, &e) == 0, "plans", 1, true,
		   jobs_verify(t, plan, JOBS, &e) == 0);
	figure_put("4 jobs on 1,000 hosts: planning", spent, "CPU s", NAN, false, true);
	for (int i = 0; i < JOBS; i++) {
		plan_free(plan[i]);
		free(job[i].host);
	}
}

/* Trees of the first text that are in the second, byte for byte. */
static int lines_kept(const char *a, const char *b)
{
	int n = 0;

	for (const char *line = strstr(a, "\n  {"); line; line = strstr(line + 1, "\n  {")) {
		const char *end = strchr(line + 1, '\n');
		char *copy = strndup(line, (size_t)(end - line) - (end[-1] == ','));

		n += copy && strstr(b, copy);
		free(copy);
	}
	return n;
}

/* The first link between a leaf and a spine fails. */
static void one_failure(const struct topology *t)
{
	struct scheme_options o = scheme_options_default();
	struct replan_failure f = {.link = calloc((size_t)t->links, 1),
				   .node = calloc((size_t)t->nodes, 1)};
	struct plan *old, *p;
	struct topology *left;
	struct replan what;
	struct topo_error e = {.text = ""};
	int *node_of, *arc_of;
	char *before, *after;
	double begin;
	int kept;

	o.work = WORK;
	old = scheme_run(scheme_find("best"), t, &o, NULL);
	for (int i = 0; i < t->links; i++)
		if (t->node[t->link[i].a].kind != TOPO_HOST &&
		    t->node[t->link[i].b].kind != TOPO_HOST) {
			f.link[i] = true;
			break;
		}
	left = replan_rest(t, &f, &node_of, &arc_of, &e);
	begin = cpu();
	p = left ? replan(left, old, node_of, arc_of, &o, REPLAN_LEAST, &what, &e) : NULL;
	if (!p) {
		fprintf(stderr, "planner-bench: %s\n", e.text);
		exit(1);
	}
	figure_put("a link of 1,000 hosts fails: planning", cpu() - begin, "CPU s", NAN, false,
		   true);
	figure_put("a link of 1,000 hosts fails: over a fresh plan", p->throughput / what.fresh,
		   "ratio", 0.95, true, p->throughput >= 0.95 * what.fresh);
	before = plan_format(old, t);
	after = plan_format(p, left);
	kept = lines_kept(before, after);
	figure_put("a link of 1,000 hosts fails: trees that do not use it, byte-equal", kept,
		   "trees", what.kept + what.more, true, kept >= what.kept + what.more);
	figure_put("a link of 1,000 hosts fails: trees that used it", what.gone - what.more,
		   "trees", NAN, false, true);
	free(before);
	free(after);
	free(node_of);
	free(arc_of);
	free(f.link);
	free(f.node);
	plan_free(old);
	plan_free(p);
	topo_free(left);
}

void cluster_figures(void)
{
	struct topology *t = thousand();

	four_jobs(t);
	one_failure(t);
	topo_free(t);
}
