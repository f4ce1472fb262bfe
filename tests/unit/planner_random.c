/*
 * Properties of plans on random topologies. RINGFOLD_SEED and RINGFOLD_COUNT repeat and lengthen a
 * run:
 *
 *     RINGFOLD_SEED=7 RINGFOLD_COUNT=200 build/tests/planner_random
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/arbor.h"
#include "planner/bounds.h"
#include "planner/exact.h"
#include "planner/scheme.h"
#include "planner/shape.h"
#include "tests/unit/planner_help.h"

static uint64_t seed = 1;
static int count = 24;

static void repeat(uint64_t one)
{
	print_message("repeat: RINGFOLD_SEED=%llu RINGFOLD_COUNT=1 build/tests/planner_random\n",
		      (unsigned long long)one);
}

#define CHECK(condition, one, ...)                                                                 \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			repeat(one);                                                               \
			fail_msg(__VA_ARGS__);                                                     \
		}                                                                                  \
	} while (0)

/*
 * No plan is above the cut bound or the certificate's bound, none is better than best, and the
 * verifier accepts all of them.
 */
static void test_bounds(void **state)
{
	int exact = 0;
	int flows = 0;

	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = help_drawn(one, false);
		struct plan *best = help_plan(t, "best");
		double cut = bound_cut(t, false);
		const char *why;
		double flow;

		CHECK(best, one, "no plan");
		CHECK(best->throughput <= cut * (1 + 1e-9), one, "best %g above the cut %g",
		      best->throughput, cut);
		CHECK(!best->certificate.exact ||
			      (best->throughput <= best->certificate.dual * (1 + 1e-9) &&
			       best->throughput >= 0.99 * best->certificate.dual),
		      one, "best %.9g, dual bound %.9g", best->throughput, best->certificate.dual);
		CHECK(best->throughput <= best->certificate.degree * (1 + 1e-9), one,
		      "best %.9g above the degree bound %.9g", best->throughput,
		      best->certificate.degree);
		flow = bound_flow(t, false, &why);
		CHECK(isnan(flow) || (best->throughput <= flow && flow <= cut * (1 + 1e-6)), one,
		      "best %.9g, flow relaxation %.9g, cut %.9g", best->throughput, flow, cut);
		exact += best->certificate.exact;
		flows += !isnan(flow);
		for (const struct scheme *s = scheme_list; s->name; s++) {
			struct plan *p = help_plan(t, s->name);

			if (!p)
				continue;
			CHECK(p->throughput <= best->throughput * (1 + 1e-6), one,
			      "%s has %.9g, best %.9g", s->name, p->throughput, best->throughput);
			plan_free(p);
		}
		plan_free(best);
		topo_free(t);
	}
	print_message("%d topologies, exact pricing on %d, flow relaxation of %d\n", count, exact,
		      flows);
	assert_true(exact * 2 > count);
	assert_true(flows * 3 > count);
}

/* near: allowed loss by rounding the shares to 2^-30. */
static void check_exactly(const struct topology *t, const char *name, uint64_t one, double near,
			  int *checked)
{
	struct plan *p = help_plan(t, name);
	bool merging = strcmp(name, "best") == 0;
	struct exact_fraction plan, bound;

	CHECK(p, one, "%s: no plan", name);
	CHECK(exact_throughput(t, p, &plan) == 0, one, "%s: no exact throughput", name);
	CHECK(fabs(exact_value(plan) - p->throughput) < near * p->throughput, one,
	      "%s: %.9g, exactly %.9g", name, p->throughput, exact_value(plan));
	if (p->certificate.exact && exact_bound(t, p, merging, &bound) == 0) {
		struct exact_fraction less = {bound.num - bound.num / 100, bound.den};

		CHECK(exact_at_most(plan, bound), one, "%s: plan %.12g above bound %.12g", name,
		      exact_value(plan), exact_value(bound));
		CHECK(exact_at_most(less, plan), one, "%s: plan %.9g, bound %.9g", name,
		      exact_value(plan), exact_value(bound));
		/* The checker detects a plan that claims too much. */
		plan.num = bound.num * 2;
		plan.den = bound.den;
		CHECK(!exact_at_most(plan, bound), one, "the check passes anything");
		++*checked;
	}
	plan_free(p);
}

static void test_certificate(void **state)
{
	int checked = 0;

	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = help_drawn(one, false);

		check_exactly(t, "best", one, 1e-6, &checked);
		if (one % 4 >= 2)
			check_exactly(t, "forest", one, 1e-6, &checked);
		topo_free(t);
	}
	print_message("%d certificates checked in whole numbers\n", checked);
	assert_true(checked * 2 > count);
}

static void test_names(void **state)
{
	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = help_drawn(one, false);
		struct topology *s = help_shuffled(t, one);

		CHECK(fabs(bound_cut(t, false) - bound_cut(s, false)) < 1e-9 * bound_cut(t, false),
		      one, "the cut bound depends on the order");
		for (const struct scheme *k = scheme_list; k->name; k++) {
			struct plan *a = help_plan(t, k->name);
			struct plan *b = help_plan(s, k->name);

			CHECK(!a == !b, one, "%s: a plan in one order only", k->name);
			CHECK(!a || fabs(a->throughput - b->throughput) <= 1e-9 * a->throughput,
			      one, "%s: %.12g and in another order %.12g", k->name, a->throughput,
			      b->throughput);
			plan_free(a);
			plan_free(b);
		}
		topo_free(t);
		topo_free(s);
	}
}

/* Capacities that differ by factors up to 5 x 10^8 in one network: rounding loses nothing. */
static void test_far_apart(void **state)
{
	int checked = 0;

	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = help_drawn(one, true);
		double cut = bound_cut(t, false);
		struct plan *p = help_plan(t, "best");

		CHECK(p, one, "no plan");
		CHECK(p->throughput <= cut * (1 + 1e-9), one, "best %.12g above the cut %.12g",
		      p->throughput, cut);
		plan_free(p);
		check_exactly(t, "best", one, 1e-3, &checked);
		topo_free(t);
	}
	print_message("%d certificates checked in whole numbers\n", checked);
	assert_true(checked * 2 > count);
}

/*
 * Another unit only changes the numbers. If the new numbers differ from the old ones in any bit, a
 * linear program may return another of its optima, which gives other roundings.
 */
static void test_units(void **state)
{
	static const double factor[] = {0x1p30, 0x1p-40, 1e9};

	(void)state;
	for (int k = 0; k < 3; k++) {
		struct topology *t = help_drawn(seed + (uint64_t)k, false);
		struct topology *s = help_drawn(seed + (uint64_t)k, false);

		for (int i = 0; i < 2 * s->links; i++)
			s->link[i >> 1].capacity[i & 1] *= factor[k];
		for (int i = 0; i < s->nodes; i++)
			s->node[i].processing *= factor[k];
		for (const struct scheme *c = scheme_list; c->name; c++) {
			bool whole = k < 2 || strcmp(c->name, "best") == 0;
			struct plan *a = whole ? help_plan(t, c->name) : NULL;
			struct plan *b = whole ? help_plan(s, c->name) : NULL;
			double scaled = a ? a->throughput * factor[k] : 0;

			CHECK(!a == !b, seed, "%s: a plan in one unit only", c->name);
			CHECK(!a || fabs(b->throughput - scaled) <= 1e-9 * scaled, seed,
			      "%s: %.12g, in another unit %.12g", c->name, scaled, b->throughput);
			plan_free(a);
			plan_free(b);
		}
		topo_free(t);
		topo_free(s);
	}
}

/* Whole chunk classes cost little, and no more than rounding each share separately. */
static void test_chunks(void **state)
{
	struct scheme_options o = scheme_options_default();
	double sum = 0;

	(void)state;
	o.chunks = 256;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = help_drawn(one, false);
		struct plan *p = help_plan(t, "best");
		struct plan_load load;
		struct topo_error e;
		struct plan *q = scheme_run(scheme_find("best"), t, &o, &e);
		double kept;

		CHECK(q && p, one, "no plan");
		CHECK(plan_verify(t, q, &load, &e) == 0, one, "%s", e.text);
		plan_load_free(&load);
		kept = q->throughput / p->throughput;
		CHECK(kept > 0.9 && kept < 1 + 1e-9, one, "%d classes leave %g", o.chunks, kept);
		assert_int_equal(plan_quantise(p, o.chunks), 0);
		CHECK(q->throughput >= 0.99 * plan_rate(t, p), one,
		      "%g, each share rounded by itself %g", q->throughput, plan_rate(t, p));
		sum += kept;
		plan_free(p);
		plan_free(q);
		topo_free(t);
	}
	print_message("256 classes leave %.4f of the throughput on average\n", sum / count);
}

/* Compares cheapest arborescences with an exhaustive search over parents. */
static void test_arborescence(void **state)
{
	uint64_t random = seed;

	(void)state;
	for (int i = 0; i < 300; i++) {
		struct topology *t = topo_new("complete");
		double arc[40];
		double node[5];
		bool in[5] = {false};
		struct topo_error e;
		struct arbor *a;
		bool down = i % 2;
		double best = INFINITY;

		for (int k = 0; k < 5; k++) {
			char name[2] = {(char)('a' + k), 0};

			topo_add_node(t, TOPO_HOST, name, INFINITY);
			node[k] = floor(4 * topo_uniform(&random));
			for (int l = 0; l < k; l++)
				topo_add_link(t, l, k, 1, 0);
		}
		assert_int_equal(topo_finish(t, &e), 0);
		for (int k = 0; k < 2 * t->links; k++)
			arc[k] = floor(10 + 10 * topo_uniform(&random));
		a = arbor_new(t, NULL, 0);
		arbor_price(a, arc, node);
		for (int code = 0; code < 625; code++) {
			int parent[5] = {0};
			double cost = 0;
			bool tree = true;

			for (int k = 1, rest = code; k < 5; k++, rest /= 5) {
				size_t up = (size_t)(k * 5 + rest % 5);
				size_t back = (size_t)(rest % 5 * 5 + k);

				parent[k] = rest % 5;
				cost += down ? a->distance[back] : a->distance[up] + node[rest % 5];
			}
			for (int k = 1; k < 5; k++) {
				int at = k;

				for (int hop = 0; hop < 5 && at; hop++)
					at = parent[at];
				tree = tree && at == 0;
			}
			if (tree)
				best = fmin(best, cost);
		}
		assert_true(arbor_find(a, 0, in, down) == best);
		arbor_free(a);
		topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arborescence), cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_certificate),  cmocka_unit_test(test_names),
		cmocka_unit_test(test_far_apart),    cmocka_unit_test(test_units),
		cmocka_unit_test(test_chunks),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	if (getenv("RINGFOLD_COUNT"))
		count = atoi(getenv("RINGFOLD_COUNT"));
	print_message("seed %llu, %d topologies\n", (unsigned long long)seed, count);
	return cmocka_run_group_tests_name("planner_random", tests, NULL, NULL);
}
