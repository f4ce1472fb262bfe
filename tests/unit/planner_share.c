/*
 * What jobs leave each other of a box: ports and processing.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/jobs.h"
#include "planner/limits.h"
#include "tests/unit/planner_help.h"

#define JOBS_MOST 3

static uint64_t seed = 1;
static int count = 30;

/*
 * Plans one job after the other with a scheme and verifies them together; fails if a job cannot be
 * planned. The plans are to be freed.
 */
static void plan_all(const struct topology *t, const struct job *job, int jobs, const char *scheme,
		     int number, struct plan **plan)
{
	struct scheme_options o = scheme_options_default();

	for (int k = 0; k < jobs; k++) {
		struct topo_error e = {.text = ""};

		plan[k] = jobs_plan(t, plan, k, &job[k], scheme_find(scheme), &o, &e);
		if (!plan[k])
			fail_msg("%s, network %d of seed %llu, job %d: %s", scheme, number,
				 (unsigned long long)seed, k, e.text);
	}
	for (int k = 1; k <= jobs; k++) {
		struct topo_error e = {.text = ""};

		if (jobs_verify(t, plan, k, &e) != 0)
			fail_msg("%s, network %d of seed %llu, %d jobs: %s", scheme, number,
				 (unsigned long long)seed, k, e.text);
	}
}

static void free_all(struct plan **plan, int jobs)
{
	for (int k = 0; k < jobs; k++)
		plan_free(plan[k]);
}

static void near_to(double found, double wanted, const char *what)
{
	if (!(fabs(found - wanted) <= 3 * JOBS_RESERVE * wanted))
		fail_msg("%s: %.9g instead of %.9g", what, found, wanted);
}

/*
 * Two leaves that merge, with four ports and six links each. The first job uses all four; the
 * second one has the ports of the links to the spines, or plans without the boxes.
 */
static void ports_are_shared(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct job job[2] = {{.name = "x", .hosts = 4, .rate = 20},
			     {.name = "y", .hosts = 4, .rate = 20}};
	struct plan *plan[2] = {NULL};
	struct topology *t;
	int host[2][4];

	(void)state;
	s.leaves = 2;
	s.spines = 2;
	s.hosts = 4;
	s.boxes = TOPO_BOX_LEAVES;
	s.limits = topo_limits_shipped();
	t = help_make(&s);
	for (int k = 0; k < 2; k++) {
		for (int i = 0; i < 4; i++)
			host[k][i] = t->worker[(i & 1) + 2 * k + (i & 2) * 2];
		job[k].host = host[k];
	}
	plan_all(t, job, 2, "best", 0, plan);
	near_to(plan[0]->throughput, 20, "the first job");
	near_to(plan[1]->throughput, 20, "the second job");
	free_all(plan, 2);
	topo_free(t);
}

/*
 * Two racks and a box that joins them with two ports: its links, and so its ports, are those of
 * both jobs. The second job gets what it would get from a box with any number of ports.
 */
static void a_port_serves_two_jobs(void **state)
{
	struct job job[2] = {{.name = "x", .hosts = 4, .rate = 20},
			     {.name = "y", .hosts = 4, .rate = INFINITY}};
	int host[2][4] = {{3, 4, 7, 8}, {5, 6, 9, 10}};
	struct topology *t = topo_new("joined");
	struct plan *plan[2] = {NULL};

	(void)state;
	topo_add_node(t, TOPO_BOX, "b", INFINITY);
	topo_add_node(t, TOPO_SWITCH, "s0", 0);
	topo_add_node(t, TOPO_SWITCH, "s1", 0);
	for (int i = 0; i < 8; i++) {
		char name[8];

		snprintf(name, sizeof(name), "h%d", i);
		topo_add_node(t, TOPO_HOST, name, INFINITY);
		topo_add_link(t, 3 + i, 1 + i / 4, 100, 0);
	}
	topo_add_link(t, 0, 1, 400, 0);
	topo_add_link(t, 0, 2, 400, 0);
	t->node[0].limits.ports = 2;
	t->node[0].limits.groups = 2;
	help_finish(t);
	for (int k = 0; k < 2; k++)
		job[k].host = host[k];
	plan_all(t, job, 2, "best", 0, plan);
	near_to(plan[1]->throughput, 100, "the second job");
	assert_int_equal(plan[1]->trees, 1);
	assert_int_equal(plan[1]->tree[0].root, 0);
	free_all(plan, 2);
	topo_free(t);
}

/* The first job uses all that a box can receive: the second one is planned without the box. */
static void processing_is_used_up(void **state)
{
	static const double processing[2] = {1, 300}; /* no more than three hosts use up */
	struct job job[2] = {{.name = "x", .hosts = 3, .rate = INFINITY},
			     {.name = "y", .hosts = 3, .rate = INFINITY}};

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct topo_spec s = topo_spec_default(TOPO_STAR);
		struct plan *plan[2] = {NULL};
		struct topology *t;
		int host[2][3];

		s.hosts = 6;
		t = help_make(&s);
		t->node[t->box[0]].processing = processing[i];
		help_finish(t);
		for (int k = 0; k < 3; k++) {
			host[0][k] = t->worker[k];
			host[1][k] = t->worker[3 + k];
		}
		job[0].host = host[0];
		job[1].host = host[1];
		plan_all(t, job, 2, "best", i, plan);
		near_to(plan[1]->throughput, 75, "a ring of three");
		free_all(plan, 2);
		topo_free(t);
	}
}

/* Drawn networks, limits and schemes: every job is planned, and the plans exceed nothing. */
static void drawn_jobs(void **state)
{
	static const char *const schemes[] = {"best", "ring", "best", "forest"};
	uint64_t random = seed;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct topo_spec s =
			topo_spec_default(i % 3 == 2 ? TOPO_FAT_TREE : TOPO_LEAF_SPINE);
		struct job job[JOBS_MOST] = {{.hosts = 0}};
		struct plan *plan[JOBS_MOST] = {NULL};
		struct topology *t;

		s.seed = topo_random(&random);
		s.leaves = 2 + (int)(topo_random(&random) % 3);
		s.spines = 1 + (int)(topo_random(&random) % 3);
		s.hosts = 4 + (int)(topo_random(&random) % 3);
		s.boxes = i % 2 ? TOPO_BOX_ALL : TOPO_BOX_LEAVES;
		s.spread = i % 4 == 1 ? 0.3 : 0;
		s.limits.ports = 2 + (int)(topo_random(&random) % 5);
		s.limits.groups = 1 + (int)(topo_random(&random) % 4);
		s.limits.ranks = 3 + (int)(topo_random(&random) % 6);
		if (i % 5 == 4)
			s.processing_min = s.processing_max = 60;
		t = help_make(&s);
		for (int k = 0; k < JOBS_MOST; k++) {
			job[k].host = calloc((size_t)t->workers, sizeof(int));
			assert_non_null(job[k].host);
			for (int w = k; w < t->workers; w += JOBS_MOST)
				job[k].host[job[k].hosts++] = t->worker[w];
			/* Jobs without a rate would leave nothing of a link to the next one. */
			job[k].rate = k == 2 ? INFINITY : 10;
			snprintf(job[k].name, sizeof(job[k].name), "job%d", k);
		}
		plan_all(t, job, JOBS_MOST, schemes[i % 4], i, plan);
		free_all(plan, JOBS_MOST);
		for (int k = 0; k < JOBS_MOST; k++)
			free(job[k].host);
		topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ports_are_shared),
		cmocka_unit_test(a_port_serves_two_jobs),
		cmocka_unit_test(processing_is_used_up),
		cmocka_unit_test(drawn_jobs),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	if (getenv("RINGFOLD_COUNT"))
		count = atoi(getenv("RINGFOLD_COUNT"));
	print_message("repeat: RINGFOLD_SEED=%llu RINGFOLD_COUNT=%d build/tests/planner_share\n",
		      (unsigned long long)seed, count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
