/*
 * Properties on drawn topologies. RINGFOLD_SEED and RINGFOLD_COUNT repeat and lengthen a run:
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
#include "planner/exact.h"
#include "planner/scheme.h"
#include "planner/lp.h"
#include "planner/schemes.h"

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

/* Small: few enough hosts and boxes that every tree can be looked at. */
static struct topology *drawn(uint64_t one)
{
	struct topo_spec s = topo_spec_default((enum topo_shape)(one % 5));
	uint64_t random = one * 77;
	struct topo_error e;
	struct topology *t;

	s.seed = one;
	s.spread = one % 3 ? 0.5 : 0;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.4;
	s.hosts = s.shape == TOPO_RANDOM || s.shape == TOPO_STAR ? 5 + (int)(one % 5) : 2;
	if (s.shape == TOPO_RAIL)
		s.hosts = 4;
	s.leaves = s.shape == TOPO_RANDOM ? 5 : 3;
	s.k = 4;
	s.hosts = s.shape == TOPO_FAT_TREE ? 1 : s.hosts;
	s.servers = one % 2 ? 1 : 0;
	if (one % 4 < 2) {
		s.processing_min = 30;
		s.processing_max = 300;
	}
	t = topo_generate(&s, &e);
	for (int again = 0; !t && again < 50; again++) {
		s.seed = topo_random(&random);
		t = topo_generate(&s, &e);
	}
	if (!t) {
		s.boxes = TOPO_BOX_LEAVES;
		t = topo_generate(&s, &e);
	}
	CHECK(t, one, "%s", e.text);
	/* Whole numbers of 2^-10, so that plans and bounds can be checked exactly. */
	for (int i = 0; i < t->links; i++)
		for (int d = 0; d < 2; d++)
			t->link[i].capacity[d] = ceil(t->link[i].capacity[d] *
						      (one % 7 == 3 && d ? 0.7 : 1) * 1024) /
						 1024;
	for (int i = 0; i < t->nodes; i++)
		if (!isinf(t->node[i].processing))
			t->node[i].processing = ceil(t->node[i].processing * 1024) / 1024;
	return t;
}

static struct plan *run(const struct topology *t, const char *name, uint64_t one)
{
	struct scheme_options o = scheme_options_default();
	struct plan_load load;
	struct topo_error e;
	struct plan *p;

	o.roundings = 4;
	o.seconds = 10;
	p = scheme_run(scheme_find(name), t, &o, &e);
	if (!p)
		return NULL;
	CHECK(plan_verify(t, p, &load, &e) == 0, one, "%s: %s", name, e.text);
	CHECK(fabs(p->throughput - load.throughput) <= 1e-9 * load.throughput, one, "%s", name);
	plan_load_free(&load);
	return p;
}

/* No plan above the cut bound or the certificate's, none better than best; the verifier takes all
 * of them. */
static void test_bounds(void **state)
{
	int exact = 0;

	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = drawn(one);
		struct plan *best = run(t, "best", one);
		double cut = bound_cut(t, false);

		CHECK(best, one, "no plan");
		CHECK(best->throughput <= cut * (1 + 1e-9), one, "best %g above the cut %g",
		      best->throughput, cut);
		CHECK(!best->certificate.exact ||
			      (best->throughput <= best->certificate.dual * (1 + 1e-9) &&
			       best->throughput >= 0.99 * best->certificate.dual),
		      one, "best %.9g, dual bound %.9g", best->throughput, best->certificate.dual);
		exact += best->certificate.exact;
		for (const struct scheme *s = scheme_list; s->name; s++) {
			struct plan *p = run(t, s->name, one);

			if (!p)
				continue;
			CHECK(p->throughput <= best->throughput * (1 + 1e-6), one,
			      "%s has %.9g, best %.9g", s->name, p->throughput, best->throughput);
			plan_free(p);
		}
		plan_free(best);
		topo_free(t);
	}
	print_message("%d topologies, exact pricing on %d\n", count, exact);
	assert_true(exact * 2 > count);
}

static void check_exactly(const struct topology *t, const char *name, uint64_t one, int *checked)
{
	struct plan *p = run(t, name, one);
	bool merging = strcmp(name, "best") == 0;
	struct fraction plan, bound;

	CHECK(p, one, "%s: no plan", name);
	CHECK(exact_throughput(t, p, &plan) == 0, one, "%s: no exact throughput", name);
	CHECK(fabs(fraction_value(plan) - p->throughput) < 1e-6 * p->throughput, one,
	      "%s: %.9g, exactly %.9g", name, p->throughput, fraction_value(plan));
	if (p->certificate.exact && exact_bound(t, p, merging, &bound) == 0) {
		struct fraction less = {bound.num - bound.num / 100, bound.den};

		CHECK(fraction_at_most(plan, bound), one, "%s: plan %.12g above bound %.12g", name,
		      fraction_value(plan), fraction_value(bound));
		CHECK(fraction_at_most(less, plan), one, "%s: plan %.9g, bound %.9g", name,
		      fraction_value(plan), fraction_value(bound));
		/* The checker sees a plan that claims too much. */
		plan.num = bound.num * 2;
		plan.den = bound.den;
		CHECK(!fraction_at_most(plan, bound), one, "the check passes anything");
		++*checked;
	}
	plan_free(p);
}

static void test_certificate(void **state)
{
	int checked = 0;

	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = drawn(one);

		check_exactly(t, "best", one, &checked);
		if (one % 4 >= 2)
			check_exactly(t, "forest", one, &checked);
		topo_free(t);
	}
	print_message("%d certificates checked in whole numbers\n", checked);
	assert_true(checked * 2 > count);
}

/* The same network with its nodes and links in another order and under other names. */
static struct topology *shuffled(const struct topology *t, uint64_t random)
{
	struct topology *s = topo_new("shuffled");
	int *place = room((size_t)t->nodes, sizeof(int));
	int *from = room((size_t)t->nodes, sizeof(int));
	struct topo_error e;

	for (int i = 0; i < t->nodes; i++)
		from[i] = i;
	for (int i = t->nodes - 1; i > 0; i--) {
		int j = (int)(topo_random(&random) % (uint64_t)(i + 1));
		int swap = from[i];

		from[i] = from[j];
		from[j] = swap;
	}
	for (int i = 0; i < t->nodes; i++) {
		const struct topo_node *n = &t->node[from[i]];
		char name[TOPO_NAME_MAX];

		snprintf(name, sizeof(name), "x%llx", (unsigned long long)topo_random(&random));
		place[from[i]] = topo_add_node(s, n->kind, name, n->processing);
		s->node[i].worker = n->worker;
		s->node[i].server = n->server;
	}
	for (int i = t->links - 1; i >= 0; i--) {
		const struct topo_link *l = &t->link[i];
		int flip = (int)(topo_random(&random) & 1);
		int k = topo_add_link(s, place[flip ? l->b : l->a], place[flip ? l->a : l->b], 1,
				      l->delay[0]);

		s->link[k].capacity[flip] = l->capacity[0];
		s->link[k].capacity[1 - flip] = l->capacity[1];
	}
	assert_int_equal(topo_finish(s, &e), 0);
	free(place);
	free(from);
	return s;
}

static void test_names(void **state)
{
	(void)state;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = drawn(one);
		struct topology *s = shuffled(t, one);

		CHECK(fabs(bound_cut(t, false) - bound_cut(s, false)) < 1e-9 * bound_cut(t, false),
		      one, "the cut bound depends on the order");
		for (const struct scheme *k = scheme_list; k->name; k++) {
			struct plan *a = run(t, k->name, one);
			struct plan *b = run(s, k->name, one);

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

/* Whole chunk classes cost little, and no more than rounding each share by itself. */
static void test_chunks(void **state)
{
	struct scheme_options o = scheme_options_default();
	double sum = 0;

	(void)state;
	o.chunks = 256;
	for (uint64_t one = seed; one < seed + (uint64_t)count; one++) {
		struct topology *t = drawn(one);
		struct plan *p = run(t, "best", one);
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

/* Cheapest arborescences against trying every choice of parents. */
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
		cmocka_unit_test(test_chunks),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	if (getenv("RINGFOLD_COUNT"))
		count = atoi(getenv("RINGFOLD_COUNT"));
	print_message("seed %llu, %d topologies\n", (unsigned long long)seed, count);
	return cmocka_run_group_tests_name("planner_random", tests, NULL, NULL);
}
