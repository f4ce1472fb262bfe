/*
 * Machines with GPUs, several jobs on one network, plans after a failure: small cases compared with
 * an exhaustive search over all trees.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/build.h"
#include "planner/jobs.h"
#include "planner/limits.h"
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/replan.h"
#include "tests/unit/planner_every.h"
#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;

static void same(double found, double wanted, const char *what, int number)
{
	if (!(fabs(found - wanted) <= 3 * JOBS_RESERVE * wanted))
		fail_msg("%s, network %d of seed %llu: %.9g, an exhaustive search finds %.9g", what,
			 number, (unsigned long long)seed, found, wanted);
}

static double everything(const struct topology *t)
{
	struct plan *pool = all_trees(t);
	bool *in = mem_new((size_t)pool->trees, sizeof(bool));
	double best;

	memset(in, true, (size_t)pool->trees);
	best = pack_trees(t, pool, in);
	free(in);
	plan_free(pool);
	return best;
}

/* --- machines --------------------------------------------------------------------------------- */

static void machines_are_exact(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct topo_spec s = topo_spec_default(TOPO_MACHINES);
		struct topology *t;
		struct plan *p;

		s.hosts = 2;
		s.gpus = 2;
		s.leaves = i == 3 ? 1 : 2;
		s.spines = 0;
		s.nvlink = 300;
		s.boxes = i == 1 || i == 3 ? TOPO_BOX_ALL : TOPO_BOX_NONE;
		s.spread = i == 2 ? 0.4 : 0;
		t = help_make(&s);
		p = help_plan(t, "best");
		assert_non_null(p);
		same(p->throughput, everything(t), "machines", i);
		plan_free(p);
		topo_free(t);
	}
}

static void machine_files(void **state)
{
	static const struct {
		const char *nodes, *says;
	} bad[] = {
		{"{\"name\": \"g0\", \"kind\": \"gpu\"}",
		 "the gpu \"g0\" must name its \"machine\""},
		{"{\"name\": \"v0\", \"kind\": \"nvswitch\"}",
		 "the nvswitch \"v0\" must name its \"machine\""},
		{"{\"name\": \"g0\", \"kind\": \"gpu\", \"machine\": 3}", "\"machine\" must be a"},
		{"{\"name\": \"g0\", \"kind\": \"gpu\", \"machine\": \"m0\"},"
		 "{\"name\": \"g1\", \"kind\": \"gpu\", \"machine\": \"m1\"},"
		 "{\"name\": \"v0\", \"kind\": \"nvswitch\", \"machine\": \"m0\"}",
		 "the nvswitch \"v0\" of machine \"m0\" has a link to \"g1\", which is outside of "
		 "the machine"},
	};
	struct topo_spec s = topo_spec_default(TOPO_MACHINES);
	struct topology *t = help_make(&s), *again;
	struct topo_error e;
	char *text = topo_format(t);

	(void)state;
	again = topo_parse(text, strlen(text), "t.json", &e);
	assert_non_null(again);
	free(text);
	assert_int_equal(again->nodes, t->nodes);
	for (int i = 0; i < t->nodes; i++) {
		assert_int_equal(again->node[i].variant, t->node[i].variant);
		assert_string_equal(again->node[i].machine, t->node[i].machine);
	}
	topo_free(again);
	topo_free(t);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char file[1024];

		snprintf(file, sizeof(file),
			 "{\"format\": \"ringfold-topology\", \"version\": 1, \"name\": \"x\", "
			 "\"nodes\": [\n%s], \"links\": [%s]}",
			 bad[i].nodes,
			 i < 3 ? ""
			       : "{\"a\": \"g0\", \"b\": \"v0\", \"capacity\": 1},\n"
				 "{\"a\": \"g1\", \"b\": \"v0\", \"capacity\": 1}");
		assert_null(topo_parse(file, strlen(file), "t.json", &e));
		if (!strstr(e.text, bad[i].says) || strncmp(e.text, "t.json:", 7) != 0)
			fail_msg("\"%s\" instead of \"%s\"", e.text, bad[i].says);
	}
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* Divides the hosts of a topology at random into equal jobs. */
static struct job *draw_jobs(const struct topology *t, int jobs, uint64_t *random)
{
	struct job *job = mem_new((size_t)jobs, sizeof(*job));
	int *order = mem_new((size_t)t->workers, sizeof(int));

	memcpy(order, t->worker, (size_t)t->workers * sizeof(int));
	for (int i = t->workers - 1; i > 0; i--) {
		int k = (int)(topo_random(random) % (uint64_t)(i + 1));
		int swap = order[i];

		order[i] = order[k];
		order[k] = swap;
	}
	for (int i = 0; i < jobs; i++) {
		job[i].hosts = t->workers / jobs;
		job[i].host = mem_new((size_t)job[i].hosts, sizeof(int));
		job[i].rate = i == 0 ? 20 : INFINITY;
		snprintf(job[i].name, sizeof(job[i].name), "job%d", i);
		memcpy(job[i].host, order + i * job[i].hosts, (size_t)job[i].hosts * sizeof(int));
	}
	free(order);
	return job;
}

static void jobs_share_a_network(void **state)
{
	const struct scheme *best = scheme_find("best");
	struct scheme_options o = scheme_options_default();
	uint64_t random = seed;

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct topo_spec s = topo_spec_default(i % 2 ? TOPO_FAT_TREE : TOPO_LEAF_SPINE);
		struct plan *plan[3] = {NULL};
		struct topology *t;
		struct job *job;
		struct topo_error e = {.text = ""};

		s.boxes = TOPO_BOX_ALL;
		s.limits.groups = 2 + i;
		s.spread = 0.3;
		s.hosts = 6;
		t = help_make(&s);
		job = draw_jobs(t, 3, &random);
		for (int k = 0; k < 3; k++) {
			struct topology *left = jobs_rest(t, plan, k, &job[k], &e);
			struct plan *alone;

			assert_non_null(left);
			alone = scheme_run(best, left, &o, &e);
			plan[k] = jobs_plan(t, plan, k, &job[k], best, &o, &e);
			assert_non_null(alone);
			if (!plan[k])
				fail_msg("%s", e.text);
			/*
			 * The job's rate alone on the remaining network, or all that it asks for.
			 */
			same(plan[k]->throughput, fmin(alone->throughput, job[k].rate), "a job", i);
			plan_free(alone);
			topo_free(left);
		}
		if (jobs_verify(t, plan, 3, &e) != 0)
			fail_msg("%s", e.text);
		/* A job that takes too much is detected, although its plan alone is valid. */
		{
			struct plan_load load;

			assert_int_equal(plan_measure(t, plan[0], &load, &e), 0);
			plan[0]->throughput = load.throughput;
			plan_load_free(&load);
			plan[2]->throughput *= 1.01;
			assert_int_equal(jobs_verify(t, plan, 3, &e), -1);
		}
		for (int k = 0; k < 3; k++) {
			plan_free(plan[k]);
			free(job[k].host);
		}
		free(job);
		topo_free(t);
	}
}

/* Two jobs at one box with one group: the second plan must not use the box. */
static void groups_are_shared(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct scheme_options o = scheme_options_default();
	struct job job[2] = {{.hosts = 4, .rate = INFINITY}, {.hosts = 4, .rate = INFINITY}};
	struct plan *plan[2] = {NULL};
	struct topo_error e = {.text = ""};
	struct topology *t;

	(void)state;
	s.hosts = 8;
	s.limits.groups = 1;
	t = help_make(&s);
	for (int k = 0; k < 2; k++) {
		job[k].host = t->worker + 4 * k;
		plan[k] = jobs_plan(t, plan, k, &job[k], scheme_find("best"), &o, &e);
		assert_non_null(plan[k]);
	}
	same(plan[0]->throughput, 100, "with the group", 0);
	same(plan[1]->throughput, 100 * 4.0 / 6, "without", 0);
	assert_int_equal(jobs_verify(t, plan, 2, &e), 0);
	plan_free(plan[1]);
	plan[1] = jobs_plan(t, NULL, 0, &job[1], scheme_find("best"), &o, &e);
	assert_int_equal(jobs_verify(t, plan, 2, &e), -1);
	assert_non_null(strstr(e.text, "the box \"s0\" has 1 groups, the plan has 2"));
	plan_free(plan[0]);
	plan_free(plan[1]);
	topo_free(t);
}

/* Machines of several GPUs, with a NIC for each; a box for each rail, no spines. */
static struct topology *machines(int hosts, int gpus)
{
	struct topo_spec s = topo_spec_default(TOPO_MACHINES);

	s.hosts = hosts;
	s.gpus = gpus;
	s.leaves = gpus;
	s.spines = 0;
	s.boxes = TOPO_BOX_ALL;
	return help_make(&s);
}

/*
 * Two jobs that share a machine. A GPU of one job never sends for the other, whichever is planned
 * first; the verifier refuses plans in which it does. Nothing that a job takes in full makes the
 * topology invalid for the next one.
 */
static void jobs_keep_to_their_hosts(void **state)
{
	static const char file[] = "{\"format\": \"ringfold-jobs\", \"version\": 1, \"jobs\": ["
				   "{\"name\": \"a\", \"hosts\": [\"m0\", \"m1-gpu0\"]}, "
				   "{\"name\": \"b\", \"hosts\": [\"m1-gpu1\", \"m2\"]}]}";
	struct scheme_options o = scheme_options_default();
	struct plan *plan[2] = {NULL};
	struct topo_error e = {.text = ""};
	struct topology *t;
	struct jobs *j;

	(void)state;
	t = machines(3, 2);
	j = jobs_parse(file, strlen(file), "jobs.json", t, &e);
	assert_non_null(j);
	plan[0] = jobs_plan(t, NULL, 0, &j->job[0], scheme_find("best"), &o, &e);
	assert_non_null(plan[0]);
	same(plan[0]->throughput, 200, "alone, a GPU without a job helps", 0);
	jobs_take_hosts(t, j);
	assert_int_equal(plan_verify(t, plan[0], &(struct plan_load){0}, &e), -1);
	assert_non_null(strstr(e.text, "\"m1-gpu1\" is a host of another job"));
	plan_free(plan[0]);
	for (int k = 0; k < 2; k++) {
		struct topology *left = jobs_rest(t, plan, k, &j->job[k], &e);

		if (!left)
			fail_msg("%s", e.text);
		plan[k] = jobs_plan(t, plan, k, &j->job[k], scheme_find("best"), &o, &e);
		if (!plan[k])
			fail_msg("%s", e.text);
		same(plan[k]->throughput, 100, "a job", k);
		topo_free(left);
	}
	if (jobs_verify(t, plan, 2, &e) != 0)
		fail_msg("%s", e.text);
	for (int k = 0; k < 2; k++)
		plan_free(plan[k]);
	jobs_free(j);
	topo_free(t);
}

static void job_files(void **state)
{
	static const struct {
		const char *jobs, *says;
	} bad[] = {
		{"{\"name\": \"a\", \"hosts\": [\"h0\", \"x\"]}", "\"x\" is neither a host nor a"},
		{"{\"name\": \"a\", \"hosts\": [\"h0\", \"h0\"]}",
		 "\"h0\" already belongs to job \"a\""},
		{"{\"name\": \"a\", \"hosts\": [\"h0\"]}",
		 "job \"a\" has nothing to sum: it has 1 host"},
		{"{\"name\": \"a/b\", \"hosts\": [\"h0\", \"h1\"]}", "without a slash"},
		{"{\"name\": \"a\", \"hosts\": [\"h0\", \"h1\"], \"rate\": 0}", "must be positive"},
		{"{\"name\": \"a\", \"hosts\": [\"h0\", \"h1\"], \"speed\": 1}", "unknown key"},
		{"{\"name\": \"a\", \"hosts\": \"h0\"}", "must be a list of names"},
		{"{\"name\": \"a\", \"hosts\": [\"h0\", \"h1\"]},\n"
		 "{\"name\": \"a\", \"hosts\": [\"h2\", \"h3\"]}",
		 "t.json:2: the name \"a\" is used twice"},
		{"", "a list of 1 to"},
	};
	struct topo_spec s = topo_spec_default(TOPO_MACHINES);
	struct topology *t = help_make(&s), *plain;
	struct topo_error e;
	struct jobs *j;
	static const char good[] =
		"{\"format\": \"ringfold-jobs\", \"version\": 1, \"jobs\": [{\"name\": \"a\", "
		"\"hosts\": [\"m0\", \"m1-gpu2\"], \"rate\": 3}]}";

	(void)state;
	j = jobs_parse(good, strlen(good), "t.json", t, &e);
	assert_non_null(j);
	assert_int_equal(j->job[0].hosts, 5);
	assert_true(j->job[0].rate == 3);
	jobs_free(j);
	topo_free(t);
	s = topo_spec_default(TOPO_STAR);
	plain = help_make(&s);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char file[512];

		snprintf(file, sizeof(file),
			 "{\"format\": \"ringfold-jobs\", \"version\": 1, \"jobs\": [%s]}",
			 bad[i].jobs);
		assert_null(jobs_parse(file, strlen(file), "t.json", plain, &e));
		if (!strstr(e.text, bad[i].says) || strncmp(e.text, "t.json:", 7) != 0)
			fail_msg("\"%s\" instead of \"%s\"", e.text, bad[i].says);
	}
	topo_free(plain);
}

/* --- failures --------------------------------------------------------------------------------- */

/* The highest throughput with some trees kept, over all possible other trees. */
static double everything_beside(const struct topology *t, const struct plan *kept)
{
	struct plan *pool = all_trees(t);
	struct lp *lp = lp_new();
	double *scratch = mem_new((size_t)(2 * t->links + t->nodes), sizeof(double));
	double *full = mem_new((size_t)(2 * t->links + t->nodes), sizeof(double));
	int *row = mem_new((size_t)(2 * t->links) + 1, sizeof(int));
	double *value = mem_new((size_t)(2 * t->links) + 1, sizeof(double));
	struct tree_load load = {0};
	double rest = 1;
	double best;
	int share;

	for (int k = 0; k < 2 * t->links; k++)
		lp_row(lp, -INFINITY, topo_arc_capacity(t, k));
	share = lp_row(lp, 0, 0);
	for (int k = 0; k < kept->trees; k++) {
		tree_load_find(t, kept, k, scratch, &load);
		rest -= kept->tree[k].share;
		for (int i = 0; i < load.n; i++)
			full[load.row[i]] += load.count[i] * kept->tree[k].share;
	}
	for (int k = 0; k < 2 * t->links; k++) {
		row[k] = k;
		value[k] = full[k];
	}
	row[2 * t->links] = share;
	value[2 * t->links] = -rest;
	lp_column(lp, 1, INFINITY, 2 * t->links + 1, row, value);
	for (int k = 0; k < pool->trees; k++) {
		int n = 0;

		tree_load_find(t, pool, k, scratch, &load);
		for (int i = 0; i < load.n; i++)
			if (load.row[i] < 2 * t->links) {
				row[n] = load.row[i];
				value[n++] = load.count[i];
			}
		row[n] = share;
		value[n++] = 1;
		lp_column(lp, 0, INFINITY, n, row, value);
	}
	assert_int_equal(lp_solve(lp), 0);
	best = lp_objective(lp);
	lp_free(lp);
	tree_load_free(&load);
	free(scratch);
	free(full);
	free(row);
	free(value);
	plan_free(pool);
	return best;
}

/* How many trees of the first text are in the second, byte for byte. */
static int lines_kept(const char *a, const char *b)
{
	int n = 0;

	for (const char *line = strstr(a, "\n  {"); line; line = strstr(line + 1, "\n  {")) {
		const char *end = strchr(line + 1, '\n');
		size_t len = (size_t)(end - line);
		char *copy = strndup(line, end[-1] == ',' ? len - 1 : len);

		n += strstr(b, copy) != NULL;
		free(copy);
	}
	return n;
}

/* Hosts joined by direct links and by a box, so that most links can fail without a partition. */
static struct topology *mesh(uint64_t *random)
{
	struct topology *t = topo_new("mesh");
	char name[16];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_node(t, TOPO_HOST, name, INFINITY);
	}
	topo_add_node(t, TOPO_BOX, "b0", INFINITY);
	for (int i = 0; i < 4; i++) {
		topo_add_link(t, i, 4, 5 + (double)(topo_random(random) % 20), 1e-6);
		topo_add_link(t, i, (i + 1) % 4, 5 + (double)(topo_random(random) % 20), 1e-6);
	}
	return help_finish(t);
}

static void trees_stay_after_a_failure(void **state)
{
	struct scheme_options o = scheme_options_default();
	uint64_t random = seed;
	int stayed = 0;
	int stayed_of_sequential = 0;

	(void)state;
	for (int i = 0; i < 24; i++) {
		struct topology *t = mesh(&random), *left;
		struct plan *old, *new, *kept;
		struct replan_failure f = {mem_new((size_t)t->links, 1),
					   mem_new((size_t)t->nodes, 1)};
		int *node_of, *arc_of;
		struct replan what;
		struct plan_load load;
		struct topo_error e = {.text = ""};
		char *before, *after;

		o.chunks = i % 4 == 3 ? 64 : 0;
		old = scheme_run(scheme_find(i % 6 == 5 ? "forestcoll" : "best"), t, &o, &e);
		assert_non_null(old);
		if (i % 8 == 7)
			f.node[4] = true;
		else
			f.link[topo_random(&random) % 8] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		assert_non_null(left);
		new = replan(left, old, node_of, arc_of, &o, &what, &e);
		if (!new)
			fail_msg("network %d: %s", i, e.text);
		assert_int_equal(plan_verify(left, new, &load, &e), 0);
		plan_load_free(&load);
		assert_int_equal(what.kept + what.gone, old->trees);
		before = plan_format(old, t);
		after = plan_format(new, left);
		assert_true(lines_kept(before, after) >= what.kept);
		stayed += what.kept;
		stayed_of_sequential += old->sequential && what.gone > 0 ? what.kept : 0;
		kept = plan_new("kept");
		for (int k = 0; k < what.kept; k++)
			plan_copy_tree(kept, new, k, new->tree[k].share);
		if (o.chunks == 0)
			same(new->throughput, everything_beside(left, kept), "after a failure", i);
		free(before);
		free(after);
		free(node_of);
		free(arc_of);
		free(f.link);
		free(f.node);
		plan_free(kept);
		plan_free(old);
		plan_free(new);
		topo_free(left);
		topo_free(t);
	}
	assert_true(stayed > 12);
	assert_true(stayed_of_sequential > 2);
}

static void what_falls_apart(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct topology *t = help_make(&s);
	struct replan_failure f = {mem_new((size_t)t->links, 1), mem_new((size_t)t->nodes, 1)};
	int *node_of, *arc_of;
	struct topo_error e;

	(void)state;
	f.link[0] = true;
	assert_null(replan_rest(t, &f, &node_of, &arc_of, &e));
	assert_non_null(strstr(e.text, "has no link"));
	free(node_of);
	free(arc_of);
	/* Whether or not the plan lists its hosts: those with data are the workers. */
	f.link[0] = false;
	f.node[t->worker[2]] = true;
	assert_null(replan_rest(t, &f, &node_of, &arc_of, &e));
	if (!strstr(e.text, "the host \"h2\" has data in the plan"))
		fail_msg("%s", e.text);
	free(node_of);
	free(arc_of);
	free(f.link);
	free(f.node);
	topo_free(t);
}

/*
 * A machine whose GPUs without data send for the others, and one link after the other that fails.
 * Such a GPU with one link left is of no use. A new plan finds whatever the kept trees use, so it
 * is never below the changed plan.
 */
static void others_relay_after_a_failure(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topology *t;
	struct plan *old;
	int replaced = 0;

	(void)state;
	t = machines(2, 3);
	t->node[t->worker[t->workers - 1]].worker = false;
	help_finish(t);
	old = help_plan(t, "best");
	same(old->throughput, 300, "three rails", 0);
	for (int l = 0; l < t->links; l++) {
		struct replan_failure f = {mem_new((size_t)t->links, 1),
					   mem_new((size_t)t->nodes, 1)};
		struct topo_error e = {.text = ""};
		int *node_of, *arc_of;
		struct topology *left;
		struct replan what;
		struct plan_load load;
		struct plan *new;

		f.link[l] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		assert_non_null(left);
		new = replan(left, old, node_of, arc_of, &o, &what, &e);
		if (!new)
			fail_msg("link %d: %s", l, e.text);
		assert_int_equal(plan_verify(left, new, &load, &e), 0);
		plan_load_free(&load);
		if (new->throughput > (1 + 1e-6) * what.fresh)
			fail_msg("link %d: %.9g, a new plan %.9g", l, new->throughput, what.fresh);
		for (int i = 0; i < t->nodes; i++)
			replaced += node_of[i] < 0 && what.gone > 0;
		plan_free(new);
		topo_free(left);
		free(node_of);
		free(arc_of);
		free(f.link);
		free(f.node);
	}
	assert_int_equal(replaced, 2); /* the two links of that GPU */
	plan_free(old);
	topo_free(t);
}

/*
 * Leaves and spines that all merge, and one link after the other that fails. A spine with one link
 * left cannot merge anything: it only forwards, and trees that ended there are replaced.
 */
static void useless_boxes_forward(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	int forward = 0;
	int replaced = 0;

	(void)state;
	s.leaves = 2;
	s.spines = 2;
	s.hosts = 2;
	s.boxes = TOPO_BOX_ALL;
	for (int l = 4; l < 8; l++) {
		struct topology *t = help_make(&s), *left;
		struct replan_failure f = {mem_new((size_t)t->links, 1),
					   mem_new((size_t)t->nodes, 1)};
		struct plan *old = NULL, *new;
		struct topo_error e = {.text = ""};
		int *node_of, *arc_of;
		struct replan what;
		struct plan_load load;

		f.link[l] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		if (!left)
			fail_msg("link %d: %s", l, e.text);
		for (int spine = 0; spine < t->nodes; spine++) {
			if (t->node[spine].kind != TOPO_BOX)
				continue;
			/* Every leaf and every spine as the root. */
			old = forest_shortest(t, spine);
			assert_non_null(old);
			new = replan(left, old, node_of, arc_of, &o, &what, &e);
			if (!new)
				fail_msg("link %d, root %d: %s", l, spine, e.text);
			assert_int_equal(plan_verify(left, new, &load, &e), 0);
			plan_load_free(&load);
			assert_true(new->throughput <= what.fresh *(1 + 1e-6));
			replaced += node_of[spine] < 0 && what.gone > 0;
			plan_free(new);
			plan_free(old);
		}
		for (int i = 0; i < left->nodes; i++)
			forward += left->node[i].kind == TOPO_SWITCH;
		assert_int_equal(left->boxes, 3);
		topo_free(left);
		topo_free(t);
		free(node_of);
		free(arc_of);
		free(f.link);
		free(f.node);
	}
	assert_int_equal(forward, 4);
	assert_int_equal(replaced, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_exact),
		cmocka_unit_test(machine_files),
		cmocka_unit_test(jobs_share_a_network),
		cmocka_unit_test(groups_are_shared),
		cmocka_unit_test(jobs_keep_to_their_hosts),
		cmocka_unit_test(job_files),
		cmocka_unit_test(trees_stay_after_a_failure),
		cmocka_unit_test(what_falls_apart),
		cmocka_unit_test(others_relay_after_a_failure),
		cmocka_unit_test(useless_boxes_forward),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	print_message("repeat: RINGFOLD_SEED=%llu build/tests/planner_jobs\n",
		      (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
