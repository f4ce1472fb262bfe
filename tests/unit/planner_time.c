/*
 * Planning time, in seconds of processor time: below 1 for 100 hosts on 30 switches, below 60 for
 * 1,000 hosts, within the limit for 10,240. And the number of trees where one tree is enough.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <time.h>

#include <cmocka.h>

#include "planner/work.h"
#include "planner/scheme.h"

/* The planner uses processor time here, so that other work on the machine does not count. */
static double processor_seconds(void)
{
	return (double)clock() / CLOCKS_PER_SEC;
}

static void plan(const char *what, const struct topo_spec *s, double most, int trees)
{
	struct scheme_options o = scheme_options_default();
	struct topo_error e;
	struct topology *t = topo_generate(s, &e);
	struct plan_load load;
	struct plan *p;
	double seconds;

	if (!t)
		fail_msg("%s: %s", what, e.text);
	o.seconds = most / 2;
	work_clock_use(processor_seconds);
	seconds = -processor_seconds();
	p = scheme_run(scheme_find("best"), t, &o, &e);
	seconds += processor_seconds();
	work_clock_use(NULL);
	if (!p)
		fail_msg("%s: %s", what, e.text);
	if (plan_verify(t, p, &load, &e) != 0)
		fail_msg("%s: %s", what, e.text);
	plan_load_free(&load);
	print_message("%s: %d hosts, %.3f s, %.1f %% of the cut bound, %d trees\n", what,
		      t->workers, seconds, 100 * p->throughput / p->certificate.cut, p->trees);
	assert_true(seconds < most);
	assert_true(p->throughput <= p->certificate.cut * (1 + 1e-9));
	assert_true(trees == 0 || p->trees == trees);
	plan_free(p);
	topo_free(t);
}

static struct topo_spec leaf_spine(int leaves, int spines, int hosts)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	s.leaves = leaves;
	s.spines = spines;
	s.hosts = hosts;
	return s;
}

static void test_hundred(void **state)
{
	struct topo_spec s = leaf_spine(20, 10, 5);

	(void)state;
	plan("leaf-spine", &s, 1, 1);
	s.spread = 0.5;
	plan("unequal links", &s, 1, 0);
	s.processing_min = 50;
	s.processing_max = 300;
	plan("limited boxes", &s, 1, 0);
	s = topo_spec_default(TOPO_RANDOM);
	s.hosts = 100;
	s.leaves = 30;
	plan("random", &s, 1, 0);
	s.processing_min = 50;
	s.processing_max = 1000;
	plan("random, limited boxes", &s, 1, 0);
}

static void test_thousand(void **state)
{
	struct topo_spec s = leaf_spine(40, 10, 25);

	(void)state;
	plan("leaf-spine", &s, 60, 1);
	s.spread = 0.5;
	plan("unequal links", &s, 60, 0);
	s = topo_spec_default(TOPO_FAT_TREE);
	s.k = 16;
	s.hosts = 8;
	plan("fat-tree", &s, 60, 1);
}

/* So large that the search covers little: the time limit still holds. */
static void test_ten_thousand(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);

	(void)state;
	s.k = 32;
	s.hosts = 20;
	s.boxes = TOPO_BOX_ALL;
	plan("fat-tree, all merge", &s, 8, 1);
	s.spread = 0.5;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.3;
	s.processing_min = 100;
	s.processing_max = 3200;
	plan("fat-tree, some merge", &s, 8, 0);
}

static void limited_scheme(const char *scheme, const char *what, const struct topo_spec *s,
			   double limit)
{
	struct scheme_options o = scheme_options_default();
	struct topo_error e;
	struct topology *t = topo_generate(s, &e);
	double begin, took;
	struct plan *p;

	if (!t)
		fail_msg("%s: %s", what, e.text);
	o.seconds = limit;
	work_clock_use(processor_seconds);
	begin = processor_seconds();
	p = scheme_run(scheme_find(scheme), t, &o, &e);
	took = processor_seconds() - begin;
	work_clock_use(NULL);
	if (!p)
		fail_msg("%s: %s", what, e.text);
	print_message("%s, %s: limit %g s, took %.2f s, %.6g\n", what, scheme, limit, took,
		      p->throughput);
	assert_true(took <= 1.1 * limit);
	plan_free(p);
	topo_free(t);
}

static void limited(const char *what, const struct topo_spec *s, double limit)
{
	limited_scheme("best", what, s, limit);
}

/* A time limit is exceeded by at most 10 %. */
static void test_limit_is_kept(void **state)
{
	static const double limit[] = {2, 4, 8};
	struct topo_spec leaves = leaf_spine(320, 32, 32);
	struct topo_spec small = leaf_spine(20, 10, 12);
	struct topo_spec tree = topo_spec_default(TOPO_FAT_TREE);
	struct topo_spec shipped;

	(void)state;
	tree.k = 32;
	tree.hosts = 20;
	leaves.boxes = tree.boxes = small.boxes = TOPO_BOX_FRACTION;
	leaves.box_share = tree.box_share = 0.2;
	small.box_share = 0.4;
	small.limits = topo_limits_shipped();
	shipped = tree;
	shipped.limits = topo_limits_shipped();
	for (int i = 0; i < 3; i++) {
		limited("leaf-spine of 10,240", &leaves, limit[i]);
		limited("fat-tree of 10,240", &tree, limit[i]);
		limited("fat-tree of 10,240, shipped boxes", &shipped, limit[i]);
		limited("leaf-spine of 240, shipped boxes", &small, limit[i] / 2);
	}
	limited_scheme("forest", "fat-tree of 10,240", &tree, 2);
	tree.spread = 0.5;
	tree.processing_min = 100;
	tree.processing_max = 3200;
	limited("fat-tree of 10,240, uneven", &tree, 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hundred),
		cmocka_unit_test(test_thousand),
		cmocka_unit_test(test_ten_thousand),
		cmocka_unit_test(test_limit_is_kept),
	};

	return cmocka_run_group_tests_name("planner_time", tests, NULL, NULL);
}
