/*
 * Hosts without data merge and relay if they have several links. On small random networks with such
 * hosts the best forest equals an exhaustive search over all trees that the verifier accepts, and
 * no bound is below it.
 *
 *     RINGFOLD_SEED=7 RINGFOLD_COUNT=200 build/tests/planner_idle
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
#include "planner/exact.h"
#include "planner/mem.h"
#include "planner/scheme.h"
#include "tests/unit/planner_every.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;
static int count = 40;

static int draw(uint64_t *random, int low, int high)
{
	return low + (int)(topo_random(random) % (uint64_t)(high - low + 1));
}

static void add_link(struct topology *t, int a, int b, bool equal, uint64_t *random)
{
	int k = topo_add_link(t, a, b, draw(random, 5, 30), 1e-6);

	if (!equal)
		t->link[k].capacity[1] = draw(random, 5, 30);
}

/*
 * Two or three switches, some of them boxes, in a line; three workers and one or two hosts without
 * data, some of them servers. A host has one or two links. The switches at the ends need a worker.
 */
static struct topology *tiny(uint64_t *random, bool equal)
{
	struct topology *t = topo_new("tiny");
	int switches = draw(random, 2, 3);
	int idle = draw(random, 1, 2);
	char name[16];

	for (int i = 0; i < switches; i++) {
		snprintf(name, sizeof(name), "s%d", i);
		topo_add_node(t, draw(random, 0, 2) == 0 ? TOPO_BOX : TOPO_SWITCH, name, INFINITY);
		if (i > 0 && i != draw(random, 1, 6))
			add_link(t, i - 1, i, equal, random);
	}
	for (int i = 0; i < 3 + idle; i++) {
		int h, first = i < switches ? i : draw(random, 0, switches - 1);

		snprintf(name, sizeof(name), "h%d", i);
		h = topo_add_node(t, TOPO_HOST, name, INFINITY);
		t->node[h].worker = i < 3;
		t->node[h].server = i >= 3 && draw(random, 0, 3) == 0;
		add_link(t, h, first, equal, random);
		/* All switches are in reach, if only through a host. */
		if (i >= 3 || draw(random, 0, 3) == 0)
			add_link(t, h, (first + 1) % switches, equal, random);
	}
	return t;
}

/* A network that is connected and whose boxes can merge. */
static struct topology *drawn(uint64_t *random, bool equal)
{
	struct topology *t = tiny(random, equal);

	while (topo_finish(t, NULL) != 0) {
		topo_free(t);
		t = tiny(random, equal);
	}
	return t;
}

static double everything(const struct topology *t)
{
	struct plan *pool = all_trees(t);
	bool *in = mem_new((size_t)pool->trees, sizeof(bool));
	double best;

	memset(in, true, (size_t)pool->trees);
	best = pool->trees > 0 ? pack_trees(t, pool, in) : 0;
	free(in);
	plan_free(pool);
	return best;
}

#define CHECK(condition, ...)                                                                      \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			print_message("repeat: RINGFOLD_SEED=%llu RINGFOLD_COUNT=1 "               \
				      "build/tests/planner_idle\n",                                \
				      (unsigned long long)one);                                    \
			fail_msg(__VA_ARGS__);                                                     \
		}                                                                                  \
	} while (0)

/*
 * With equal directions the exhaustive search is the optimum. With others it covers only trees with
 * both ways over the same links: a plan may be better, but no bound may be below it.
 */
static void compare(bool equal)
{
	int proven = 0;
	int helped = 0;

	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		uint64_t random = one;
		struct topology *t = drawn(&random, equal);
		struct plan *p = help_plan(t, "best");
		double all = everything(t);
		const char *why;
		double flow = bound_flow(t, false, &why);
		double dual, alone;

		CHECK(p, "no plan");
		CHECK(p->throughput >= all * (1 - 1e-6), "best %.9g, an exhaustive search %.9g",
		      p->throughput, all);
		CHECK(!equal || p->throughput <= all * (1 + 1e-6),
		      "best %.9g, an exhaustive search %.9g", p->throughput, all);
		CHECK(!p->certificate.exact || p->throughput <= p->certificate.dual * (1 + 1e-6),
		      "best %.9g above the dual bound %.9g", p->throughput, p->certificate.dual);
		CHECK(p->throughput <= bound_cut(t, false) * (1 + 1e-6), "above the cut bound");
		CHECK(p->throughput <= bound_degree(t, false) * (1 + 1e-6), "above degree %.9g",
		      bound_degree(t, false));
		CHECK(isnan(flow) || p->throughput <= flow, "best %.9g above the flow bound %.9g",
		      p->throughput, flow);
		dual = exact_by_prices(t, p, true);
		CHECK(isnan(dual) || p->throughput <= dual * (1 + 1e-6),
		      "best %.9g, its prices prove %.9g", p->throughput, dual);
		proven += p->certificate.exact;
		plan_free(p);
		p = help_plan(t, "forest");
		alone = p ? p->throughput : 0;
		helped += alone < all * (1 - 1e-6);
		plan_free(p);
		topo_free(t);
	}
	print_message("%d networks, %d proven, in %d others than workers help\n", count, proven,
		      helped);
	assert_true(count < 20 || (proven * 2 > count && helped * 5 > count));
}

static void equals_an_exhaustive_search(void **state)
{
	(void)state;
	compare(true);
}

static void with_two_directions(void **state)
{
	(void)state;
	compare(false);
}

/* A host with one link is neither a root nor an inner node, unless it is a server. */
static void one_link(void **state)
{
	struct topology *t = topo_new("star");
	struct plan *p = plan_new("by hand");
	struct topo_error e;
	struct plan_load load;

	(void)state;
	topo_add_node(t, TOPO_SWITCH, "s", INFINITY);
	for (int i = 1; i <= 4; i++) {
		const char name[] = {'h', (char)('0' + i), 0};

		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), 0, 10, 0);
	}
	t->node[4].worker = false;
	help_finish(t);
	assert_int_equal(plan_add_tree(p, 4, 1), 0);
	for (int i = 1; i <= 3; i++) {
		const int arc[] = {2 * (i - 1), 7};

		assert_int_equal(plan_add_edge(p, false, i, 4, arc, 2), 0);
	}
	assert_int_equal(plan_mirror(p), 0);
	assert_int_equal(plan_measure(t, p, &load, &e), -1);
	assert_string_equal(e.text, "tree 0: \"h4\" has no data, one link only, and is not a "
				    "server: it cannot merge or copy");
	t->node[4].server = true;
	assert_int_equal(plan_measure(t, p, &load, &e), 0);
	plan_load_free(&load);
	plan_free(p);
	topo_free(t);
}

/*
 * Two workers with two ways between them, one of which leads over a host without data. Prices of
 * the other way alone prove nothing, since a tree over that host costs nothing.
 */
static void false_prices(void **state)
{
	static const char *const names[] = {"w0", "w1", "idle", "a", "b", "c"};
	static const int ends[5][2] = {{0, 3}, {3, 1}, {0, 4}, {4, 2}, {2, 5}};
	struct topology *t = topo_new("two ways");
	struct plan *p;

	(void)state;
	for (int i = 0; i < 6; i++)
		topo_add_node(t, i < 3 ? TOPO_HOST : TOPO_SWITCH, names[i], INFINITY);
	t->node[2].worker = false;
	for (int i = 0; i < 5; i++)
		topo_add_link(t, ends[i][0], ends[i][1], 10, 0);
	topo_add_link(t, 5, 1, 10, 0);
	help_finish(t);
	p = help_plan(t, "best");
	assert_true(p->certificate.exact);
	help_near(p->throughput, 20);
	help_near(p->certificate.dual, 20);
	help_near(exact_by_prices(t, p, true), 20);
	memset(p->certificate.arc_price, 0, 12 * sizeof(double));
	p->certificate.arc_price[0] = p->certificate.arc_price[1] = 0.5;
	assert_true(isinf(exact_by_prices(t, p, true)));
	assert_true(isinf(exact_by_spanning(t, p, true)));
	plan_free(p);
	topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_link),
		cmocka_unit_test(false_prices),
		cmocka_unit_test(equals_an_exhaustive_search),
		cmocka_unit_test(with_two_directions),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	if (getenv("RINGFOLD_COUNT"))
		count = atoi(getenv("RINGFOLD_COUNT"));
	print_message("repeat: RINGFOLD_SEED=%llu RINGFOLD_COUNT=%d build/tests/planner_idle\n",
		      (unsigned long long)seed, count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
