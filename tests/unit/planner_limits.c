/*
 * Limits of boxes, and of the number of trees: every scheme respects the limits, forged plans are
 * refused, and on tiny networks the best forest equals the result of an exhaustive search.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/bounds.h"
#include "planner/build.h"
#include "planner/limits.h"
#include "planner/master.h"
#include "planner/sim.h"
#include "tests/unit/planner_every.h"
#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;

static bool has_box(const struct plan *p, int tree, int box)
{
	for (int i = 0; i < p->tree[tree].ups; i++)
		if (p->edge[p->tree[tree].up_first + i].to == box)
			return true;
	return false;
}

/* --- tests ------------------------------------------------------------------------------------ */

/*
 * Hosts at one or two boxes with random capacities; there is only one route between any two nodes.
 */
static struct topology *tiny(uint64_t *random, int hosts, int boxes)
{
	struct topology *t = topo_new("tiny");
	char name[16];

	for (int i = 0; i < boxes; i++) {
		snprintf(name, sizeof(name), "b%d", i);
		topo_add_node(t, TOPO_BOX, name, INFINITY);
	}
	if (boxes == 2)
		topo_add_link(t, 0, 1, 5 + (double)(topo_random(random) % 30), 1e-6);
	for (int i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), i % boxes,
			      5 + (double)(topo_random(random) % 20), 1e-6);
	}
	return help_finish(t);
}

static double best_of(const struct topology *t, int trees)
{
	struct scheme_options o = scheme_options_default();
	struct topo_error e = {.text = ""};
	struct plan_load load;
	struct plan *p;
	double rate;

	o.trees = trees;
	p = scheme_run(scheme_find("best"), t, &o, &e);
	if (!p || plan_verify(t, p, &load, &e) != 0)
		fail_msg("%s", e.text);
	assert_true(trees == 0 || p->trees <= trees);
	rate = p->throughput;
	plan_load_free(&load);
	plan_free(p);
	return rate;
}

static void same(double found, double wanted, const char *what, int number)
{
	if (!(fabs(found - wanted) <= 1e-6 * wanted))
		fail_msg("%s, network %d of seed %llu: %.9g, an exhaustive search finds %.9g", what,
			 number, (unsigned long long)seed, found, wanted);
}

static void few_trees_are_exact(void **state)
{
	uint64_t random = seed;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct topology *t = tiny(&random, 4, 1 + i % 2);
		struct plan *pool = all_trees(t);
		bool *in = calloc((size_t)pool->trees, sizeof(bool));
		double one = 0;
		double two = 0;

		for (int a = 0; a < pool->trees; a++) {
			in[a] = true;
			one = fmax(one, pack_trees(t, pool, in));
			for (int b = 0; b < a && i % 2 == 0; b++) {
				in[b] = true;
				two = fmax(two, pack_trees(t, pool, in));
				in[b] = false;
			}
			in[a] = false;
		}
		same(best_of(t, 1), one, "one tree", i);
		if (i % 2 == 0)
			same(best_of(t, 2), two, "two trees", i);
		free(in);
		plan_free(pool);
		topo_free(t);
	}
}

/*
 * One group at the first box, any number elsewhere: solves one program for each tree that may have
 * the group.
 */
static void few_groups_are_exact(void **state)
{
	uint64_t random = seed + 100;

	(void)state;
	for (int i = 0; i < 6; i++) {
		struct topology *t = tiny(&random, 4, 1 + i % 2);
		struct plan *pool;
		bool *in;
		double best = 0;

		t->node[0].limits.groups = 1;
		t->node[0].limits.fan_in = 2 + i / 2;
		pool = all_trees(t);
		in = calloc((size_t)pool->trees, sizeof(bool));
		for (int k = 0; k < pool->trees; k++)
			in[k] = !has_box(pool, k, 0);
		best = pack_trees(t, pool, in);
		for (int k = 0; k < pool->trees; k++) {
			if (!has_box(pool, k, 0))
				continue;
			in[k] = true;
			best = fmax(best, pack_trees(t, pool, in));
			in[k] = false;
		}
		same(best_of(t, 0), best, "one group", i);
		free(in);
		plan_free(pool);
		topo_free(t);
	}
}

/* Every scheme respects random limits, and none is better than best. */
static void every_scheme_keeps_them(void **state)
{
	uint64_t random = seed;
	int kept = 0;

	(void)state;
	for (int i = 0; i < 12; i++) {
		struct topology *t = help_any(&random, false);
		struct plan *best;

		for (int b = 0; b < t->boxes; b++)
			t->node[t->box[b]].limits =
				(struct topo_limits){.groups = 1 + (int)(topo_random(&random) % 4),
						     .ranks = 3 + (int)(topo_random(&random) % 4),
						     .fan_in = 2 + (int)(topo_random(&random) % 4),
						     .slots = 1 + (int)(topo_random(&random) % 4),
						     .ports = 1 + (int)(topo_random(&random) % 5)};
		best = help_plan(t, "best");
		assert_non_null(best);
		for (const struct scheme *s = scheme_list; s->name; s++) {
			struct plan *p = help_plan(t, s->name);

			if (!p)
				continue;
			kept++;
			assert_int_equal(limits_check(t, p, NULL), 0);
			if (p->throughput > best->throughput * (1 + 1e-6))
				fail_msg("network %d: %s has %g, best %g", i, s->name,
					 p->throughput, best->throughput);
			plan_free(p);
		}
		plan_free(best);
		topo_free(t);
	}
	assert_true(kept > 120);
}

/* A star of five hosts at a box: each limit in turn is lower than the plan needs. */
static void forged_plans_are_refused(void **state)
{
	static const struct {
		const char *name;
		struct topo_limits limits;
		const char *says;
	} cases[] = {
		{"groups", {1, 9, 9, 9, 9}, "the box \"s0\" has 1 groups, the plan has 2"},
		{"slots", {9, 9, 9, 1, 9}, "the box \"s0\" has 1 slots, the plan has 2"},
		{"ranks", {9, 4, 9, 9, 9}, "tree 0: the box \"s0\" has ranks for 4, here 5"},
		{"fan_in", {9, 9, 4, 9, 9}, "tree 0: the box \"s0\" has a fan_in of 4, here 5"},
		{"ports", {9, 9, 9, 9, 4}, "the box \"s0\" has 4 ports, the plan uses 5"},
	};
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct topology *t;
	struct plan *p, *two;
	struct plan_load load;
	struct topo_error e;

	(void)state;
	s.hosts = 5;
	t = help_make(&s);
	p = forest_star(t, t->box[0]);
	two = plan_new("forged");
	for (int k = 0; k < 2; k++)
		plan_copy_tree(two, p, 0, 0.5);
	two->throughput = 1;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		t->node[t->box[0]].limits = topo_limits_none();
		assert_int_equal(plan_verify(t, two, &load, &e), 0);
		plan_load_free(&load);
		t->node[t->box[0]].limits = cases[i].limits;
		assert_int_equal(plan_verify(t, two, &load, &e), -1);
		if (!strstr(e.text, cases[i].says))
			fail_msg("%s: \"%s\"", cases[i].name, e.text);
	}
	/* Each limit just high enough. */
	t->node[t->box[0]].limits = (struct topo_limits){2, 5, 5, 2, 5};
	assert_int_equal(plan_verify(t, two, &load, &e), 0);
	plan_load_free(&load);
	plan_free(p);
	plan_free(two);
	topo_free(t);
}

/* One tree through a box with long links: with one slot each chunk waits for the previous one. */
static void slots_are_the_window(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct sim_options o = sim_options_default();
	struct sim_result slow, fast;
	struct topology *t;
	struct plan *p;

	(void)state;
	s.hosts = 3;
	s.delay = 0.01;
	t = help_make(&s);
	p = forest_star(t, t->box[0]);
	o.amount = 100;
	o.chunks = 100;
	o.window = 0;
	assert_int_equal(sim_chunks(t, p, &o, &fast, NULL), 0);
	t->node[t->box[0]].limits.slots = 1;
	assert_int_equal(sim_chunks(t, p, &o, &slow, NULL), 0);
	/* Each chunk takes two hops of 0.01 s, and 0.01 s on each of two links. */
	help_near(slow.seconds, 100 * (0.02 + 0.02));
	assert_true(fast.seconds < 1.1);
	plan_free(p);
	topo_free(t);
}

static struct topology *parse(const char *boxes, const char *keys, struct topo_error *e)
{
	char text[1024];

	snprintf(text, sizeof(text),
		 "{\"format\": \"ringfold-topology\", \"version\": 1, \"name\": \"x\",\n%s"
		 " \"nodes\": [\n  {\"name\": \"h0\", \"kind\": \"host\"},\n"
		 "  {\"name\": \"h1\", \"kind\": \"host\"},\n"
		 "  {\"name\": \"s0\", \"kind\": \"box\"%s}],\n \"links\": [\n"
		 "  {\"a\": \"h0\", \"b\": \"s0\", \"capacity\": 1},\n"
		 "  {\"a\": \"h1\", \"b\": \"s0\", \"capacity\": 1}]}",
		 boxes, keys);
	return topo_parse(text, strlen(text), "t.json", e);
}

static void keys_of_a_file(void **state)
{
	static const char *const keys[] = {"groups", "ranks", "fan_in", "slots", "ports"};
	static const char *const bad[] = {"0", "-1", "1.5", "\"8\"", "1000001", "[]", "true"};
	struct topo_limits want = topo_limits_shipped();
	struct topo_error e;
	struct topology *t = parse("", "", &e);

	(void)state;
	assert_true(topo_limits_same(&t->node[2].limits, &want));
	topo_free(t);
	t = parse(" \"boxes\": {\"groups\": 3, \"ports\": null},",
		  ", \"groups\": null, \"slots\": 7", &e);
	assert_non_null(t);
	want = (struct topo_limits){TOPO_UNLIMITED, 64, 64, 7, TOPO_UNLIMITED};
	assert_true(topo_limits_same(&t->node[2].limits, &want));
	/* Writing and reading it again gives the same limits. */
	{
		char *text = topo_format(t);
		struct topology *again = topo_parse(text, strlen(text), "again", &e);

		assert_non_null(again);
		assert_true(topo_limits_same(&again->node[2].limits, &want));
		topo_free(again);
		free(text);
	}
	topo_free(t);
	for (int k = 0; k < 5; k++)
		for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
			char text[64];

			snprintf(text, sizeof(text), ", \"%s\": %s", keys[k], bad[i]);
			assert_null(parse("", text, &e));
			assert_non_null(strstr(e.text, "t.json:5: "));
			assert_non_null(strstr(e.text, keys[k]));
			snprintf(text, sizeof(text), " \"boxes\": {\"%s\": %s},", keys[k], bad[i]);
			assert_null(parse(text, "", &e));
			assert_non_null(strstr(e.text, "t.json:2: "));
		}
	assert_null(parse(" \"boxes\": {\"lanes\": 1},", "", &e));
	assert_non_null(strstr(e.text, "unknown key \"lanes\""));
	assert_null(parse(" \"boxes\": 8,", "", &e));
	assert_non_null(strstr(e.text, "\"boxes\" must be an object"));
}

static void only_boxes_have_them(void **state)
{
	static const char text[] =
		"{\"format\": \"ringfold-topology\", \"version\": 1, \"name\": \"x\", \"nodes\": "
		"[\n"
		"{\"name\": \"h0\", \"kind\": \"host\", \"groups\": 4}], \"links\": []}";
	struct topo_error e;

	(void)state;
	assert_null(topo_parse(text, strlen(text), "t.json", &e));
	assert_string_equal(e.text, "t.json:2: \"groups\" of \"h0\": only a box has this limit");
}

/*
 * Too large for programs over many trees: the plan is still better than any without a box, and
 * close to the bound.
 */
static void shipped_boxes_are_used(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct topo_error e = {.text = ""};
	struct topology *t;
	struct plan *best, *ring;

	(void)state;
	s.leaves = 40;
	s.spines = 20;
	s.hosts = 20;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.2;
	s.limits = topo_limits_shipped();
	t = topo_generate(&s, &e);
	assert_non_null(t);
	best = scheme_run(scheme_find("best"), t, &o, &e);
	ring = scheme_run(scheme_find("ring"), t, &o, &e);
	assert_non_null(best);
	assert_non_null(ring);
	assert_int_equal(limits_check(t, best, NULL), 0);
	print_message("shipped boxes: %.6g, ring %.6g, bound %.6g\n", best->throughput,
		      ring->throughput, bound_degree(t, false));
	assert_true(best->throughput > 1.01 * ring->throughput);
	assert_true(best->throughput > 0.97 * bound_degree(t, false));
	assert_true(best->throughput <= bound_degree(t, false) * (1 + 1e-9));
	plan_free(best);
	plan_free(ring);
	topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(few_trees_are_exact),
		cmocka_unit_test(few_groups_are_exact),
		cmocka_unit_test(every_scheme_keeps_them),
		cmocka_unit_test(forged_plans_are_refused),
		cmocka_unit_test(slots_are_the_window),
		cmocka_unit_test(keys_of_a_file),
		cmocka_unit_test(only_boxes_have_them),
		cmocka_unit_test(shipped_boxes_are_used),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	print_message("repeat: RINGFOLD_SEED=%llu build/tests/planner_limits\n",
		      (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
