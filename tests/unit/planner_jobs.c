/*
 * Machines with GPUs and several jobs on one network: small cases compared with an exhaustive
 * search over all trees.
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
#include "planner/master.h"
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
	t = help_machines(3, 2);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(machines_are_exact),       cmocka_unit_test(machine_files),
		cmocka_unit_test(jobs_share_a_network),     cmocka_unit_test(groups_are_shared),
		cmocka_unit_test(jobs_keep_to_their_hosts), cmocka_unit_test(job_files),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	print_message("repeat: RINGFOLD_SEED=%llu build/tests/planner_jobs\n",
		      (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
