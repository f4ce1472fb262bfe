/*
 * Known values: the worked examples of the papers, and small topologies whose optimum was computed
 * by other means.
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
#include "planner/gria.h"
#include "planner/inart.h"
#include "planner/scheme.h"
#include "tests/unit/planner_help.h"

#define NEAR 1e-7

static void near_to(double is, double expected, const char *what)
{
	if (fabs(is - expected) <= NEAR * fabs(expected))
		return;
	fail_msg("%s: %.10g instead of %.10g", what, is, expected);
}

/*
 * Runs a scheme; its plan must pass the verifier and have the throughput that the verifier
 * computes.
 */
static struct plan *run(const struct topology *t, const char *name)
{
	struct scheme_options o = scheme_options_default();
	const struct scheme *s = scheme_find(name);
	struct plan_load load;
	struct topo_error e;
	struct plan *p;

	assert_non_null(s);
	p = scheme_run(s, t, &o, &e);
	if (!p)
		fail_msg("%s: %s", name, e.text);
	if (plan_verify(t, p, &load, &e) != 0)
		fail_msg("%s: %s", name, e.text);
	near_to(p->throughput, load.throughput, name);
	plan_load_free(&load);
	return p;
}

/* The flow relaxation, which is raised by one part in 10^7. */
static void expect_flow(const struct topology *t, double value)
{
	const char *why;
	double flow = bound_flow(t, false, &why);

	if (!(flow >= value * (1 - NEAR) && flow <= value * (1 + 3 * NEAR)))
		fail_msg("flow relaxation: %.10g instead of %.10g", flow, value);
}

static void expect(const struct topology *t, const char *name, double value)
{
	struct plan *p = run(t, name);

	near_to(p->throughput, value, name);
	plan_free(p);
}

/* --- small graphs of hosts -------------------------------------------------------------------- */

struct hop {
	char a, b;
	double capacity;
};

static struct topology *hosts(int n, const struct hop *hop, int hops)
{
	struct topology *t = topo_new("hosts");
	char name[2] = "a";

	for (int i = 0; i < n; i++, name[0]++)
		topo_add_node(t, TOPO_HOST, name, INFINITY);
	for (int i = 0; i < hops; i++)
		topo_add_link(t, hop[i].a - 'a', hop[i].b - 'a', hop[i].capacity, 1e-6);
	return help_finish(t);
}

static void test_triangle(void **state)
{
	static const struct hop hop[] = {{'a', 'b', 2}, {'b', 'c', 1}, {'a', 'c', 1}};
	struct topology *t = hosts(3, hop, 3);

	(void)state;
	expect(t, "forest", 2);
	expect(t, "best", 2);
	expect(t, "forestcoll", 1.5);
	expect(t, "ring-both", 1.5);
	expect(t, "ring", 0.75);
	expect_flow(t, 2);
	near_to(bound_cut(t, false), 2, "cut");
	topo_free(t);
}

/*
 * A host with limited processing: equal roots make it receive a third of the rest of the sum, and
 * no more than that. Reduce-scatter at 0.3, all-gather at 300.
 */
static void test_slow_host(void **state)
{
	static const struct hop hop[] = {{'a', 'b', 100}, {'b', 'c', 100}, {'a', 'c', 100}};
	struct topology *t = hosts(3, hop, 3);

	(void)state;
	t->node[2].processing = 0.1;
	expect(help_finish(t), "forestcoll", 1 / (1 / 0.3 + 1 / 300.0));
	topo_free(t);
}

static void test_four_hosts(void **state)
{
	static const struct hop hop[] = {{'a', 'b', 4}, {'a', 'c', 2}, {'b', 'c', 1},
					 {'a', 'd', 1}, {'b', 'd', 2}, {'c', 'd', 4}};
	struct topology *t = hosts(4, hop, 6);

	(void)state;
	expect(t, "forest", 14.0 / 3);
	expect(t, "best", 14.0 / 3);
	expect(t, "forestcoll", 14.0 / 3);
	expect(t, "ring-both", 8.0 / 3);
	expect(t, "ring", 4.0 / 3);
	expect_flow(t, 14.0 / 3);
	near_to(bound_cut(t, false), 6, "cut");
	topo_free(t);
}

static void test_equal_links(void **state)
{
	static const struct hop hop[] = {{'a', 'b', 1}, {'a', 'c', 1}, {'b', 'c', 1},
					 {'a', 'd', 1}, {'b', 'd', 1}, {'c', 'd', 1}};
	struct topology *three = hosts(3, hop, 3);
	struct topology *four = hosts(4, hop, 6);

	(void)state;
	expect(three, "forest", 1.5);
	expect_flow(three, 1.5);
	near_to(bound_cut(three, false), 2, "cut");
	expect(four, "forest", 2);
	expect_flow(four, 2);
	near_to(bound_cut(four, false), 3, "cut");
	topo_free(three);
	topo_free(four);
}

/* --- stars ------------------------------------------------------------------------------------ */

static struct topology *star(bool box, int n, const double *capacity)
{
	struct topology *t = topo_new("star");
	char name[16];
	int s = topo_add_node(t, box ? TOPO_BOX : TOPO_SWITCH, "s", INFINITY);

	for (int i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), s,
			      capacity ? capacity[i] : 1, 1e-6);
	}
	return help_finish(t);
}

static void test_star(void **state)
{
	static const double unequal[] = {1, 2, 2, 2};
	struct topology *t;

	(void)state;
	t = star(true, 8, NULL);
	expect(t, "best", 1);
	expect(t, "netreduce-rack", 1);
	expect(t, "forest", 4.0 / 7);
	expect_flow(t, 1);
	topo_free(t);
	t = star(false, 8, NULL);
	expect(t, "best", 4.0 / 7); /* 0.571 */
	expect_flow(t, 4.0 / 7);
	expect(t, "ring", 4.0 / 7);
	topo_free(t);
	t = star(true, 4, NULL);
	expect(t, "best", 1);
	topo_free(t);
	t = star(false, 4, NULL);
	expect(t, "best", 2.0 / 3);
	topo_free(t);
	t = star(false, 4, unequal);
	expect(t, "forest", 1);
	expect(t, "forestcoll", 2.0 / 3);
	near_to(bound_cut(t, false), 1, "cut");
	topo_free(t);
}

/* --- leaf and spine --------------------------------------------------------------------------- */

enum { LEAF0 = 1, LEAF1 = 2, SPINE0 = 4, SPINE1 = 8 };

/*
 * Two leaves with four hosts each, two spines; boxes: a mask of switches that merge. server: one
 * more host, on leaf 1.
 */
static struct topology *leaf_spine(int boxes, double uplink, bool server)
{
	struct topology *t = topo_new("leaf-spine");
	char name[16];
	int sw[4];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), i < 2 ? "leaf%d" : "spine%d", i % 2);
		sw[i] = topo_add_node(t, boxes >> i & 1 ? TOPO_BOX : TOPO_SWITCH, name, INFINITY);
	}
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), sw[i / 4], 10, 1e-6);
	}
	if (server) {
		int ps = topo_add_node(t, TOPO_HOST, "ps", INFINITY);

		t->node[ps].worker = false;
		t->node[ps].server = true;
		topo_add_link(t, ps, sw[1], 10, 1e-6);
	}
	for (int l = 0; l < 2; l++)
		for (int s = 2; s < 4; s++)
			topo_add_link(t, sw[l], sw[s], uplink, 1e-6);
	return help_finish(t);
}

static void test_leaf_spine(void **state)
{
	static const struct {
		int boxes;
		double best;
	} row[] = {{15, 10},
		   {LEAF0 | LEAF1, 10},
		   {LEAF0, 7.5},
		   {SPINE0 | SPINE1, 7.5},
		   {SPINE0, 95.0 / 14},
		   {0, 40.0 / 7}};

	(void)state;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		struct topology *t = leaf_spine(row[i].boxes, 10, false);

		expect(t, "best", row[i].best);
		expect_flow(t, row[i].best);
		expect(t, "forest", 40.0 / 7);
		near_to(bound_cut(t, false), 10, "cut");
		topo_free(t);
		t = leaf_spine(row[i].boxes, 2.5, false);
		expect(t, "best", 5);
		topo_free(t);
	}
}

/* Steps of a ring as planner tables count them: 2 (G - 1) for G groups. */
static void expect_rounds(const struct topology *t, const char *name, int rounds)
{
	struct plan *p = run(t, name);

	assert_int_equal(p->rounds, rounds);
	plan_free(p);
}

/*
 * Rina's table: boxes at both leaves, at one leaf; the same for ATP with a server in the rack
 * without a box.
 */
static void test_rina(void **state)
{
	struct topology *t = leaf_spine(LEAF0 | LEAF1, 10, false);

	(void)state;
	expect(t, "ring", 40.0 / 7);
	expect(t, "forestcoll", 40.0 / 7);
	expect(t, "rina-agent", 20.0 / 3);
	expect(t, "rina-switch", 10);
	expect_rounds(t, "rina-agent", 2);
	expect_rounds(t, "rina-switch", 2);
	topo_free(t);

	t = leaf_spine(LEAF0, 10, false);
	expect(t, "rina-agent", 50.0 / 9);
	expect(t, "rina-switch", 6.25);
	expect_rounds(t, "rina-agent", 8);
	expect_rounds(t, "rina-switch", 8);
	expect_rounds(t, "ring", 14);
	topo_free(t);

	t = leaf_spine(LEAF0, 10, true);
	expect(t, "atp", 2);
	expect(t, "atp-whole", 2);
	expect(t, "atp-bom", 2);
	topo_free(t);
	t = leaf_spine(LEAF0 | LEAF1, 10, true);
	expect(t, "atp-bom", 10);
	topo_free(t);

	t = star(true, 4, NULL); /* one group */
	expect(t, "rina-agent", 1);
	expect(t, "rina-switch", 1);
	topo_free(t);
}

/* --- GRID's example --------------------------------------------------------------------------- */

/*
 * S1, S2, S3 in a triangle; boxes: a mask of those that merge. W1..W4 at S1, W5 W6 at S2, W7 W8 and
 * the server at S3.
 */
static struct topology *grid_example(int boxes, double capacity, bool server)
{
	static const int at[] = {0, 0, 0, 0, 1, 1, 2, 2};
	struct topology *t = topo_new("grid");
	char name[16];

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "S%d", i + 1);
		topo_add_node(t, boxes >> i & 1 ? TOPO_BOX : TOPO_SWITCH, name, capacity);
	}
	topo_add_link(t, 0, 2, 3, 1e-6);
	topo_add_link(t, 0, 1, 3, 1e-6);
	topo_add_link(t, 1, 2, 3, 1e-6);
	for (int i = 0; i < 8; i++) {
		snprintf(name, sizeof(name), "W%d", i + 1);
		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), at[i], 3, 1e-6);
	}
	if (server) {
		int ps = topo_add_node(t, TOPO_HOST, "PS", INFINITY);

		t->node[ps].worker = false;
		t->node[ps].server = true;
		topo_add_link(t, ps, 2, 9, 1e-6);
	}
	return help_finish(t);
}

static void test_grid_example(void **state)
{
	struct topology *t = grid_example(7, 9, true);
	struct gria *g = gria_new(t, 11);
	double part[8 * 4];

	(void)state;
	expect(t, "ps", 1);
	expect(t, "atp", 2.4375);
	expect(t, "grid-exact", 3);
	expect(t, "best", 3);

	assert_int_equal(g->workers, 8);
	near_to(g->ingress, 9, "ingress");
	near_to(g->rate_max, 3, "rate of a worker");
	near_to(gria_relaxation(g, part), 3, "relaxation, link of 3");
	near_to(gria_exact(g, NULL), 3, "exact, link of 3");
	near_to(gria_classes(g), 3, "classes, link of 3");
	g->rate_max = 9;
	near_to(gria_relaxation(g, NULL), 4.078125, "relaxation");
	near_to(gria_exact(g, NULL), 3, "exact");
	near_to(gria_classes(g), 4.078125, "classes");
	g->boxes = 0;
	near_to(gria_relaxation(g, NULL), 1.125, "relaxation, nothing merges");
	gria_free(g);
	topo_free(t);

	t = grid_example(7, INFINITY, false);
	expect(t, "best", 3);
	topo_free(t);
	t = grid_example(4, INFINITY, false);
	expect(t, "best", 2);
	expect_flow(t, 2);
	topo_free(t);
	t = grid_example(0, INFINITY, false);
	expect(t, "best", 12.0 / 7);
	expect(t, "forest", 12.0 / 7);
	topo_free(t);
}

/* The plan of a rounding is scaled down until it fits: never above the relaxation. */
static void test_grid_rounding(void **state)
{
	struct topology *t = grid_example(7, 9, true);
	struct scheme_options o = scheme_options_default();
	struct topo_error e;

	(void)state;
	for (o.seed = 1; o.seed <= 10; o.seed++) {
		struct plan *p = scheme_run(scheme_find("grid"), t, &o, &e);

		assert_non_null(p);
		near_to(p->throughput, 3, "grid on its own example");
		plan_free(p);
		/*
		 * The printed algorithm: the vertex that the solver returns, and only the requested
		 * draws.
		 */
		o.as_printed = true;
		p = scheme_run(scheme_find("grid"), t, &o, &e);
		assert_non_null(p);
		assert_true(p->throughput <= 3 * (1 + NEAR));
		assert_true(p->throughput > 0.3);
		plan_free(p);
		o.as_printed = false;
	}
	topo_free(t);
}

/* The best assignment of whole workers by exhaustive search; workers are alike. */
static double gria_by_hand(const struct gria *g)
{
	double best = 0;
	int all = 1;

	for (int s = 0; s < g->boxes; s++)
		all *= g->workers + 1;
	for (int code = 0; code < all; code++) {
		double rate = g->rate_max;
		int left = g->workers;
		int streams = 0;
		int rest = code;

		for (int s = 0; s < g->boxes; s++, rest /= g->workers + 1) {
			int n = rest % (g->workers + 1);

			left -= n;
			streams += n > 0;
			if (n > 0)
				rate = fmin(rate, g->capacity[s] / n);
		}
		if (left < 0)
			continue;
		best = fmax(best, fmin(rate, g->ingress / (left + streams)));
	}
	return best;
}

static void test_grid_exact(void **state)
{
	uint64_t random = 7;

	(void)state;
	for (int i = 0; i < 60; i++) {
		double capacity[3];
		int box[3] = {0, 1, 2};
		struct gria g = {
			.workers = 2 + i % 7, .boxes = 3, .capacity = capacity, .box = box};

		for (int s = 0; s < 3; s++)
			capacity[s] =
				(s ? capacity[s - 1] : 20) * (0.2 + 0.8 * topo_uniform(&random));
		g.ingress = 1 + 9 * topo_uniform(&random);
		g.rate_max = g.ingress;
		near_to(gria_exact(&g, NULL), gria_by_hand(&g), "whole assignment");
		near_to(gria_relaxation(&g, NULL), gria_classes(&g), "relaxation and classes");
		assert_true(gria_exact(&g, NULL) <= gria_classes(&g) * (1 + NEAR));
	}
}

/* --- InArt's example -------------------------------------------------------------------------- */

static struct topology *inart_example(double processing, double ingress)
{
	struct topology *t = topo_new("inart");
	char name[16];

	topo_add_node(t, TOPO_BOX, "V1", processing);
	topo_add_node(t, TOPO_BOX, "V2", processing);
	topo_add_link(t, 0, 1, 6, 1e-6);
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof(name), "W%d", i + 1);
		topo_add_link(t, topo_add_node(t, TOPO_HOST, name, INFINITY), i >= 4, 6, 1e-6);
	}
	for (int i = 0; i < 2; i++) {
		int ps;

		snprintf(name, sizeof(name), "S%d", i + 1);
		ps = topo_add_node(t, TOPO_HOST, name, INFINITY);
		t->node[ps].worker = false;
		t->node[ps].server = true;
		topo_add_link(t, ps, i, ingress, 1e-6);
	}
	return help_finish(t);
}

/* The scheme's best assignment of whole streams for given shares; verified. */
static double inart_whole(const struct topology *t, double first_share)
{
	static const int server[] = {8, 9};
	const double share[] = {first_share, 1 - first_share};
	struct plan *p = plan_new("inart-exact");
	struct topo_error e;
	struct plan_load load;

	p->throughput = inart_exact(t, server, 2, share, false, p);
	if (plan_verify(t, p, &load, &e) != 0)
		fail_msg("%s", e.text);
	near_to(p->throughput, load.throughput, "inart-exact");
	plan_load_free(&load);
	first_share = p->throughput;
	plan_free(p);
	return first_share;
}

static void test_inart_example(void **state)
{
	static const int server[] = {8, 9};
	struct topology *t = inart_example(6, 4);
	double share[2];
	struct plan *p;
	struct scheme_options o = scheme_options_default();
	const double printed[] = {0.6, 0.4};

	(void)state;
	expect(t, "ps", 4.0 / 3);
	expect(t, "atp-whole", 2);
	near_to(inart_whole(t, 0.6), 2.5, "whole streams at shares 0.6 and 0.4");
	near_to(inart_whole(t, 0.5), 8.0 / 3, "whole streams at equal shares");
	expect(t, "inart-exact", 8.0 / 3);
	assert_true(fabs(inart_shares(t, server, 2, 6, share) - 3.0) < 1e-6);
	assert_true(fabs(share[0] - 0.5) < 1e-6);
	/* Every seed reaches the value in the paper. */
	for (o.seed = 1; o.seed <= 10; o.seed++) {
		p = scheme_run(scheme_find("inart"), t, &o, NULL);
		assert_non_null(p);
		assert_true(p->throughput >= 2.5 * (1 - NEAR));
		assert_true(p->throughput <= 8.0 / 3 * (1 + NEAR));
		plan_free(p);
	}
	o.server_share = printed;
	o.server_shares = 2;
	p = scheme_run(scheme_find("inart-exact"), t, &o, NULL);
	assert_non_null(p);
	near_to(p->throughput, 2.5, "inart-exact with the paper's shares");
	plan_free(p);
	o.server_shares = 3;
	assert_null(scheme_run(scheme_find("inart-exact"), t, &o, NULL));
	p = run(t, "inart");
	assert_true(p->throughput <= 8.0 / 3 * (1 + NEAR));
	assert_true(p->throughput >= 2);
	plan_free(p);
	p = run(t, "best");
	assert_true(p->throughput >= 3 * (1 - NEAR));
	plan_free(p);
	/* W5 and W6 with their switch are one part; the link between the switches leads into it. */
	near_to(bound_degree(t, false), (4 * 6 + 6 + 4 + 6) / 8.0, "degree bound");
	near_to(bound_degree(t, true), (4 * 6 + 6 + 4 + 6) / 4.0, "degree bound, way up");
	topo_free(t);

	t = inart_example(INFINITY, 1000); /* only the hosts' links limit */
	assert_true(fabs(inart_shares(t, server, 2, 6, share) - 6.0) < 1e-6);
	topo_free(t);
}

/* Appendix B.3 of the paper. */
static void test_inart_pick(void **state)
{
	static const double part[] = {0.4, 0.5, 0.1};

	(void)state;
	assert_int_equal(inart_pick(part, 3, 0), 0);
	assert_int_equal(inart_pick(part, 3, 0.4), 0);
	assert_int_equal(inart_pick(part, 3, 0.41), 1);
	assert_int_equal(inart_pick(part, 3, 0.9), 1);
	assert_int_equal(inart_pick(part, 3, 0.91), 2);
	assert_int_equal(inart_pick(part, 3, 0.999), 2);
}

/*
 * InArt's model with chunk classes: trees that end at a server and merge once, in every pattern.
 * The linear program over them reaches the relaxation, 3, including links.
 */
static void test_reduce_only(void **state)
{
	struct topology *t = inart_example(6, 4);
	struct scheme_options o = scheme_options_default();
	struct topo_error e;
	struct plan *p;

	(void)state;
	o.reduce_only = true;
	p = scheme_run(scheme_find("best"), t, &o, &e);
	assert_non_null(p);
	assert_true(p->reduce_only);
	assert_true(p->throughput >= 3 * (1 - NEAR));
	assert_true(p->throughput <= bound_cut(t, true) * (1 + NEAR));
	plan_free(p);
	assert_null(scheme_run(scheme_find("ring"), t, &o, &e));
	assert_non_null(strstr(e.text, "not a parameter server"));
	topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slow_host),     cmocka_unit_test(test_triangle),
		cmocka_unit_test(test_four_hosts),    cmocka_unit_test(test_equal_links),
		cmocka_unit_test(test_star),          cmocka_unit_test(test_leaf_spine),
		cmocka_unit_test(test_rina),          cmocka_unit_test(test_grid_example),
		cmocka_unit_test(test_grid_rounding), cmocka_unit_test(test_grid_exact),
		cmocka_unit_test(test_inart_example), cmocka_unit_test(test_inart_pick),
		cmocka_unit_test(test_reduce_only),
	};

	return cmocka_run_group_tests_name("planner_values", tests, NULL, NULL);
}
