/*
 * The two simulators: runs that can be calculated by hand, and random forests on random topologies
 * in both, compared with each other and with the loads of the verifier.
 *
 *   planner_sim [SEED [PLANS]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "planner/sim.h"
#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;
static int plans = 60;

static struct sim_result fluid(const struct topology *t, const struct plan *p,
			       const struct sim_options *o)
{
	struct sim_result r;
	struct topo_error e = {.text = ""};

	if (sim_fluid(t, p, o, &r, &e) != 0)
		fail_msg("%s", e.text);
	return r;
}

static struct sim_result chunks(const struct topology *t, const struct plan *p,
				const struct sim_options *o)
{
	struct sim_result r;
	struct topo_error e = {.text = ""};

	if (sim_chunks(t, p, o, &r, &e) != 0)
		fail_msg("%s", e.text);
	return r;
}

/*
 * Four hosts at a box, links of 10, a vector of 10: one second, plus the delays and the way down of
 * the last chunk.
 */
static void star_by_hand(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct sim_options o = sim_options_default();
	struct sim_result r;
	struct topology *t;
	struct plan *p;

	(void)state;
	s.hosts = 4;
	s.host_link = 10;
	s.delay = 0.125;
	t = help_make(&s);
	p = forest_star(t, t->box[0]);
	o.amount = 10;
	o.chunks = 32;
	r = fluid(t, p, &o);
	help_near(r.seconds, 1.25);
	help_near(r.goodput, 8);
	r = chunks(t, p, &o);
	assert_int_equal(r.chunks, 32);
	assert_int_equal(r.events, 32 * 8);
	help_near(r.seconds, 1.25 + 1 / 32.0);
	help_near(r.first, 0.25 + 2 / 32.0);
	help_near(r.busiest, 1 / r.seconds);
	/* A box that can receive 20: four inputs, half the rate. */
	t->node[t->box[0]].processing = 20;
	help_near(fluid(t, p, &o).seconds, 2.25);
	help_near(chunks(t, p, &o).seconds, 2.25 + 2 / 32.0);
	/* One chunk in flight at a time: up, processing, down, 32 times. */
	o.window = 1;
	help_near(chunks(t, p, &o).seconds, 32 * 0.25 + 1 + 2 + 1);
	/* Up, and down when everything is up. */
	t->node[t->box[0]].processing = INFINITY;
	o.window = 0;
	p->sequential = true;
	help_near(fluid(t, p, &o).seconds, 2.25);
	help_near(chunks(t, p, &o).seconds, 2.25);
	plan_free(p);
	topo_free(t);
}

/* Three trees over one link: with equal weights they get the same rate, whatever their shares. */
static void max_min_by_hand(void **state)
{
	struct topology *t = topo_new("line");
	struct plan *p = plan_new("two");
	struct topo_error e = {.text = ""};
	struct sim_options o = sim_options_default();
	double rate[3];
	uint64_t random = 1;
	int a, b, x;

	(void)state;
	a = topo_add_node(t, TOPO_HOST, "a", INFINITY);
	b = topo_add_node(t, TOPO_HOST, "b", INFINITY);
	x = topo_add_node(t, TOPO_SWITCH, "x", 0);
	topo_add_link(t, a, x, 10, 0);
	topo_add_link(t, x, b, 4, 0);
	if (topo_finish(t, &e) != 0)
		fail_msg("%s", e.text);
	p->reduce_only = true;
	/* Trees 0 and 2: a sends to b, a quarter and a half; tree 1: b sends to a. */
	for (int i = 0; i < 3; i++) {
		assert_int_equal(plan_add_tree(p, i == 1 ? a : b, i == 2 ? 0.5 : 0.25), 0);
		assert_int_equal(forest_edge(t, p, false, i == 1 ? b : a, i == 1 ? a : b, &random),
				 0);
	}
	assert_int_equal(sim_fluid_rates(t, p, true, rate, &e), 0);
	help_near(rate[0], 2);
	help_near(rate[1], 4);
	help_near(rate[2], 2);
	assert_int_equal(sim_fluid_rates(t, p, false, rate, &e), 0);
	help_near(rate[0], 4 / 3.0);
	help_near(rate[1], 4);
	help_near(rate[2], 8 / 3.0);
	o.amount = 16;
	o.even = true;
	/* 4 and 8 of the vector over a link of 4: both ways of sharing end when 12 have passed. */
	help_near(fluid(t, p, &o).seconds, 3);
	o.even = false;
	help_near(fluid(t, p, &o).seconds, 3);
	plan_free(p);
	topo_free(t);
}

/*
 * On random forests, the fluid run has exactly the rate that the loads allow, and no chunk run is
 * faster. With many chunks the chunk run comes as close as possible for links that serve first
 * come, first served, while only a window holds the senders back. A run with other shares does not
 * come close: the comparison detects it.
 */
static void agree(void **state)
{
	struct sim_options o = {.amount = 1000, .chunks = 2000, .window = 128};
	uint64_t random = seed;
	double worst = 0;
	double sum = 0;
	int seen = 0;

	(void)state;
	for (int n = 0; n < plans; n++) {
		struct topology *t = help_any(&random, false);
		int trees = 1 + (int)(topo_random(&random) % 4);
		struct plan *p = forest_random(t, trees, n % 4 == 0, &random);
		struct plan_load load;
		struct sim_result f, c;
		double bound;

		assert_non_null(p);
		p->sequential = n % 8 == 1;
		assert_int_equal(plan_measure(t, p, &load, NULL), 0);
		bound = o.amount / load.throughput;
		f = fluid(t, p, &o);
		if (!p->sequential)
			help_near(f.seconds, bound + load.latency);
		c = chunks(t, p, &o);
		if (c.seconds < bound * (1 - 1e-9))
			fail_msg("plan %d: %g s, faster than its links: %g s", n, c.seconds, bound);
		worst = fmax(worst, c.seconds / f.seconds);
		sum += c.seconds / f.seconds;
		if (c.seconds > 1.35 * f.seconds)
			fail_msg("plan %d: chunks %g s, fluid %g s", n, c.seconds, f.seconds);
		plan_load_free(&load);
		if (trees > 1) {
			double moved = 0.5 * p->tree[0].share;
			double other;

			p->tree[0].share -= moved;
			p->tree[1].share += moved;
			other = fluid(t, p, &o).seconds;
			seen += c.seconds < other * (1 - 1e-9) || c.seconds > 1.35 * other;
		}
		plan_free(p);
		topo_free(t);
	}
	printf("chunks over fluid: %.4f on average, %.4f at most\n", sum / plans, worst);
	if (plans >= 30 && sum > 1.05 * plans)
		fail_msg("chunks are %g times slower on average", sum / plans);
	if (seen < plans / 20)
		fail_msg("other shares were noticed %d times only", seen);
}

static void ring(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct sim_options o = {.amount = 10, .chunks = 1600};
	struct topology *t;
	struct plan *p;
	struct sim_result c;

	(void)state;
	s.host_link = s.fabric_link = 10;
	s.delay = 0;
	t = help_make(&s);
	p = forest_ring(t);
	help_near(fluid(t, p, &o).goodput, 80 / 14.0);
	c = chunks(t, p, &o);
	assert_true(c.goodput <= 80 / 14.0);
	assert_true(c.goodput > 0.97 * 80 / 14.0);
	plan_free(p);
	topo_free(t);
}

/* 1,024 hosts on a fat-tree of 16 ports: both runs end within the time of a unit test. */
static void many_hosts(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_FAT_TREE);
	struct sim_options o = {.amount = 100, .chunks = 64};
	struct timespec begin, end;
	struct sim_result f, c;
	struct topology *t;
	struct plan *p;
	double took;

	(void)state;
	s.k = 16;
	s.boxes = TOPO_BOX_ALL;
	t = help_make(&s);
	assert_int_equal(t->workers, 1024);
	p = forest_shortest(t, t->box[0]);
	assert_non_null(p);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	f = fluid(t, p, &o);
	c = chunks(t, p, &o);
	clock_gettime(CLOCK_MONOTONIC, &end);
	took = (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
	/* A chunk crosses six links: five store-and-forward steps more than the fluid. */
	help_near(f.seconds, 1 + 6e-6);
	help_near(c.seconds, 1 + 6e-6 + 5 / 64.0);
	printf("1,024 hosts: %" PRIu64 " packets in %.3f s\n", c.events, took);
	assert_true(took < 10);
	plan_free(p);
	topo_free(t);
}

static void bad_options(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct topology *t = help_make(&s);
	struct plan *p = forest_star(t, t->box[0]);
	struct sim_options o = sim_options_default();
	struct topo_error e = {.text = ""};
	struct sim_result r = {.seconds = 7};

	(void)state;
	o.amount = 0;
	assert_int_equal(sim_fluid(t, p, &o, &r, &e), -1);
	assert_int_equal(sim_chunks(t, p, &o, &r, &e), -1);
	o.amount = NAN;
	assert_int_equal(sim_chunks(t, p, &o, &r, &e), -1);
	o.amount = 1;
	o.chunks = 0;
	assert_int_equal(sim_chunks(t, p, &o, &r, &e), -1);
	o.chunks = 1;
	p->tree[0].ups--;
	assert_int_equal(sim_fluid(t, p, &o, &r, &e), -1);
	assert_int_equal(sim_chunks(t, p, &o, &r, &e), -1);
	assert_true(r.seconds == 7);
	plan_free(p);
	topo_free(t);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(star_by_hand), cmocka_unit_test(max_min_by_hand),
		cmocka_unit_test(ring),         cmocka_unit_test(agree),
		cmocka_unit_test(many_hosts),   cmocka_unit_test(bad_options),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	if (argc > 2)
		plans = atoi(argv[2]);
	printf("seed %" PRIu64 ", again with: %s %" PRIu64 " %d\n", seed, argv[0], seed, plans);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
