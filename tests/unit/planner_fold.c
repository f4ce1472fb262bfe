/*
 * Folded networks. The tests check that twins can be exchanged, that the program over classes has
 * the same optimum as column generation over all trees, and that plans made from it are valid and
 * nearly as good.
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
#include "planner/fold.h"
#include "planner/rails.h"
#include "planner/scheme.h"
#include "planner/unfold.h"

/* --- twins ------------------------------------------------------------------------------------ */

struct plain_link {
	int a, b;
	double capacity;
};

static int by_ends(const void *a, const void *b)
{
	const struct plain_link *x = a;
	const struct plain_link *y = b;

	if (x->a != y->a)
		return x->a - y->a;
	if (x->b != y->b)
		return x->b - y->b;
	return (x->capacity > y->capacity) - (x->capacity < y->capacity);
}

/*
 * All links of the network after two nodes, and the workers that stand for their racks, are
 * exchanged.
 */
static struct plain_link *links_with(const struct fold *f, int a, int b)
{
	const struct topology *c = f->c;
	struct plain_link *list = calloc((size_t)c->links, sizeof(*list));

	assert_non_null(list);
	for (int i = 0; i < c->links; i++) {
		int end[2] = {c->link[i].a, c->link[i].b};

		for (int k = 0; k < 2; k++) {
			if (end[k] == a || end[k] == b)
				end[k] = a + b - end[k];
			else if (f->rack[a] >= 0 && (end[k] == f->rack[a] || end[k] == f->rack[b]))
				end[k] = f->rack[a] + f->rack[b] - end[k];
		}
		list[i] = (struct plain_link){end[0] < end[1] ? end[0] : end[1],
					      end[0] < end[1] ? end[1] : end[0], f->own[i]};
	}
	qsort(list, (size_t)c->links, sizeof(*list), by_ends);
	return list;
}

/* Whether the network is unchanged if two nodes are exchanged. */
static bool is_same_exchanged(const struct fold *f, int a, int b)
{
	struct plain_link *was = links_with(f, a, a);
	struct plain_link *is = links_with(f, a, b);
	bool same = (f->rack[a] < 0) == (f->rack[b] < 0) &&
		    f->c->node[a].kind == f->c->node[b].kind &&
		    f->c->node[a].processing == f->c->node[b].processing;

	for (int i = 0; i < f->c->links; i++)
		same = same && by_ends(&was[i], &is[i]) == 0;
	if (same && f->rack[a] >= 0)
		same = f->copies[f->rack[a]] == f->copies[f->rack[b]];
	free(was);
	free(is);
	return same;
}

static struct topology *make(struct topo_spec *s)
{
	struct topo_error e = {.text = ""};
	struct topology *t = topo_generate(s, &e);

	if (!t)
		fail_msg("%s", e.text);
	return t;
}

static void check_twins(const struct topology *t, int *classes)
{
	struct fold *f = fold_new(t);

	assert_non_null(f);
	for (int a = 0; a < f->c->nodes; a++)
		for (int b = a + 1; b < f->c->nodes; b++) {
			if (f->twin[a] < 0 || f->twin[b] < 0)
				continue;
			assert_int_equal(f->twin[a] == f->twin[b], is_same_exchanged(f, a, b));
			assert_int_equal(f->twin[a] == f->twin[b], fold_is_twin(f, a, b));
		}
	*classes = f->twins;
	fold_free(f);
}

static void test_twins(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct topology *t;
	int before, after;

	(void)state;
	s.leaves = 6;
	s.spines = 4;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.4;
	t = make(&s);
	check_twins(t, &before);
	assert_in_range(before, 2, 4);
	/* One link differs: its ends have no twins any more. */
	t->link[t->links - 1].capacity[0] = 50;
	t->link[t->links - 1].capacity[1] = 50;
	check_twins(t, &after);
	assert_true(after > before);
	topo_free(t);
	s = topo_spec_default(TOPO_FAT_TREE);
	s.boxes = TOPO_BOX_FRACTION;
	t = make(&s);
	check_twins(t, &after);
	topo_free(t);
	s = topo_spec_default(TOPO_RAIL);
	s.boxes = TOPO_BOX_LEAVES;
	t = make(&s);
	check_twins(t, &after);
	assert_int_equal(after, 3);
	topo_free(t);
}

/* Links with unequal directions, and workers with a limit. */
static void test_not_foldable(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct topology *t = make(&s);

	(void)state;
	t->link[3].capacity[1] = 7;
	assert_null(fold_new(t));
	t->link[3].capacity[1] = t->link[3].capacity[0];
	t->node[t->worker[2]].processing = 3;
	assert_null(fold_new(t));
	topo_free(t);
}

/* --- optima ----------------------------------------------------------------------------------- */

/*
 * Compares the program over classes with column generation over all trees, and with a plan of its
 * images.
 */
static void check_optimum(const char *what, struct topo_spec *s)
{
	struct scheme_options o = scheme_options_default();
	struct topo_error e = {.text = ""};
	struct topology *t = make(s);
	struct plan *best = scheme_run(scheme_find("best"), t, &o, &e);
	struct fold *f = fold_new(t);
	struct work w = work_begin(1e9, INFINITY);
	struct quotient q;
	struct plan_load load;
	struct plan *p;

	assert_non_null(f);
	assert_non_null(best);
	assert_true(best->certificate.exact);
	quotient_begin(&q, f, &w);
	assert_int_equal(quotient_run(&q, 0.5), 0);
	assert_true(q.exact);
	print_message("%s: %.7g by classes, %.7g by trees\n", what, q.value, best->throughput);
	if (fabs(q.value - best->throughput) > 1e-6 * q.value ||
	    fabs(q.bound - best->certificate.dual) > 1e-6 * q.bound)
		fail_msg("%s: %.9g (bound %.9g) by classes, %.9g (bound %.9g) by trees", what,
			 q.value, q.bound, best->throughput, best->certificate.dual);
	p = unfold(&q, "folded", 256, SCHEME_GAP, 1, 1);
	assert_non_null(p);
	if (plan_measure(t, p, &load, &e) != 0)
		fail_msg("%s: %s", what, e.text);
	print_message("  %.7g with %d trees\n", load.throughput, p->trees);
	assert_true(load.throughput <= q.bound * (1 + 1e-9));
	assert_true(load.throughput >= q.value * 0.98);
	plan_load_free(&load);
	plan_free(p);
	quotient_end(&q);
	fold_free(f);
	plan_free(best);
	topo_free(t);
}

static void test_optima(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	(void)state;
	s.leaves = 3;
	s.spines = 2;
	s.hosts = 3;
	check_optimum("leaves merge", &s);
	s.boxes = TOPO_BOX_SPINES;
	check_optimum("spines merge", &s);
	s.boxes = TOPO_BOX_NONE;
	check_optimum("nothing merges", &s);
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.5;
	for (s.seed = 1; s.seed <= 6; s.seed++)
		check_optimum("some merge", &s);
	s.spread = 0.5; /* workers of a rack have different links */
	for (s.seed = 1; s.seed <= 6; s.seed++)
		check_optimum("uneven links", &s);
	s = topo_spec_default(TOPO_RAIL);
	s.hosts = 5;
	s.leaves = 3;
	check_optimum("rails", &s);
	s = topo_spec_default(TOPO_STAR);
	check_optimum("star", &s);
	s.boxes = TOPO_BOX_NONE;
	check_optimum("star, no box", &s);
	s = topo_spec_default(TOPO_RANDOM);
	for (s.seed = 1; s.seed <= 6; s.seed++)
		check_optimum("random", &s);
}

/* Limited boxes: the plan is valid and not above the bounds. */
static void test_processing(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	(void)state;
	s.leaves = 6;
	s.spines = 3;
	s.hosts = 6;
	s.processing_min = 100;
	s.processing_max = 900;
	s.boxes = TOPO_BOX_ALL;
	for (s.seed = 1; s.seed <= 6; s.seed++) {
		struct topo_error e = {.text = ""};
		struct topology *t = make(&s);
		struct fold *f = fold_new(t);
		struct work w = work_begin(1e9, INFINITY);
		struct quotient q;
		struct plan_load load;
		struct plan *p;

		quotient_begin(&q, f, &w);
		assert_int_equal(quotient_run(&q, 0.5), 0);
		p = unfold(&q, "folded", 256, SCHEME_GAP, 1, 1);
		if (plan_measure(t, p, &load, &e) != 0)
			fail_msg("seed %d: %s", (int)s.seed, e.text);
		print_message("limited boxes: %.7g of %.7g by classes\n", load.throughput, q.value);
		assert_true(load.throughput >= q.value * 0.98);
		assert_true(load.throughput <= bound_cut(t, false) * (1 + 1e-9));
		assert_true(load.throughput <= bound_degree(t, false) * (1 + 1e-9));
		plan_load_free(&load);
		plan_free(p);
		quotient_end(&q);
		fold_free(f);
		topo_free(t);
	}
}

/*
 * A certificate can be checked independently: it gives the same bound, and other prices give valid
 * bounds as well.
 */
static void test_certificates(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	(void)state;
	s.leaves = 16;
	s.spines = 8;
	s.hosts = 9;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.7;
	for (s.seed = 1; s.seed <= 3; s.seed++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = make(&s);
		struct plan *p = scheme_run(scheme_find("best"), t, &o, NULL);
		struct plan_certificate *c = &p->certificate;
		uint64_t random = s.seed;
		double bound = exact_by_prices(t, p, true);

		print_message("%d boxes, exact %d\n", t->boxes, c->exact);
		assert_true(t->boxes > 12 && c->exact);
		print_message("certificate: %.9g, checked %.9g\n", c->dual, bound);
		assert_true(fabs(bound / c->dual - 1) < 1e-6);
		for (int n = 0; n < 20; n++) {
			int link = (int)(topo_random(&random) % (uint64_t)t->links);
			double factor = 2 * topo_uniform(&random);

			c->arc_price[2 * link] *= factor;
			c->arc_price[2 * link + 1] *= factor;
			bound = exact_by_prices(t, p, true);
			assert_true(bound >= p->throughput * (1 - 1e-9));
		}
		/* Prices of one direction alone prove nothing. */
		c->arc_price[0] += 1;
		assert_true(isnan(exact_by_prices(t, p, true)));
		plan_free(p);
		topo_free(t);
	}
}

static int reports;
static double most_reported;

static void count_report(const char *doing, int round, double value, double bound)
{
	assert_non_null(doing);
	assert_true(round >= 0);
	if (value > 0 && !isnan(bound))
		assert_true(value <= bound * (1 + 1e-6));
	most_reported = fmax(most_reported, value);
	reports++;
}

/* Progress reports use the file's unit and come no more often than requested. */
static void test_reports(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct scheme_options o = scheme_options_default();
	struct work_reporter reporter = {.report = count_report};
	struct topology *t;
	struct plan *p;

	(void)state;
	s.leaves = 16;
	s.spines = 8;
	s.hosts = 9;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.4;
	s.host_link = s.fabric_link = 1000;
	t = make(&s);
	o.reporter = &reporter;
	p = scheme_run(scheme_find("best"), t, &o, NULL);
	print_message("reports: %d lines, up to %.6g of %.6g\n", reports, most_reported,
		      p->throughput);
	assert_true(reports > 10);
	assert_true(fabs(most_reported / p->throughput - 1) < 0.05);
	plan_free(p);
	reports = 0;
	reporter.every = 1e6;
	reporter.last = work_clock();
	plan_free(scheme_run(scheme_find("best"), t, &o, NULL));
	assert_int_equal(reports, 0);
	topo_free(t);
}

static struct topo_spec rails(int workers, int number, enum topo_boxes boxes)
{
	struct topo_spec s = topo_spec_default(TOPO_RAIL);

	s.hosts = workers;
	s.leaves = number;
	s.spines = 2;
	s.boxes = boxes;
	return s;
}

/* Rings use all of each rail's links, large double binary trees nearly, stars at boxes all. */
static void test_rails(void **state)
{
	static const struct {
		int workers, rails;
		bool paths;
	} cases[] = {{3, 2, true},     {4, 3, true},     {7, 4, true},    {40, 8, true},
		     {1001, 2, false}, {1002, 2, false}, {1024, 2, false}};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int n = cases[i].workers;
		double ring = cases[i].paths ? n / (2.0 * (n - 1)) : 0.5;

		for (int boxes = 0; boxes < 2; boxes++) {
			struct topo_spec s =
				rails(n, cases[i].rails, boxes ? TOPO_BOX_LEAVES : TOPO_BOX_NONE);
			struct topology *t = make(&s);
			struct plan *p = rails_plan(t, true, false);
			double rate = 100 * cases[i].rails * (boxes ? 1 : ring);
			struct topo_error e = {.text = ""};
			struct plan_load load;

			assert_non_null(p);
			if (plan_verify(t, p, &load, &e) != 0)
				fail_msg("%d workers: %s", n, e.text);
			plan_load_free(&load);
			if (fabs(p->throughput / rate - 1) > 1e-9)
				fail_msg("%d workers: %g instead of %g", n, p->throughput, rate);
			plan_free(p);
			topo_free(t);
		}
	}
}

/* If the boxes have too little room, the plan is a ring; racks are not rails. */
static void test_rails_with_limits(void **state)
{
	struct topo_spec s = rails(6, 2, TOPO_BOX_LEAVES);
	struct topology *t;
	struct plan *p;

	(void)state;
	s.limits.ranks = 5;
	t = make(&s);
	p = rails_plan(t, true, false);
	assert_true(fabs(p->throughput - 200 * 6 / 10.0) < 1e-6);
	plan_free(p);
	topo_free(t);
	s = topo_spec_default(TOPO_LEAF_SPINE);
	t = make(&s);
	assert_null(rails_plan(t, true, false));
	topo_free(t);
}

/* The rate of an exact plan for rails, which must be valid. */
static double exact_rate(const struct topology *t)
{
	struct plan *p = rails_plan(t, true, true);
	struct topo_error e = {.text = ""};
	struct plan_load load;
	double rate;

	assert_non_null(p);
	if (plan_verify(t, p, &load, &e) != 0)
		fail_msg("%d workers: %s", t->workers, e.text);
	plan_load_free(&load);
	rate = p->throughput;
	plan_free(p);
	return rate;
}

/* Exact plans for rails: equal to column generation on small fabrics, to the formula on large. */
static void test_exact_rails(void **state)
{
	static const int large[] = {3, 4, 7, 40, 1001, 1002};
	static const enum topo_boxes where[] = {TOPO_BOX_NONE, TOPO_BOX_LEAVES, TOPO_BOX_SPINES,
						TOPO_BOX_ALL, TOPO_BOX_FRACTION};

	(void)state;
	for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
		int n = large[i];
		struct topo_spec s = rails(n, 2, TOPO_BOX_NONE);
		struct topology *t = make(&s);

		assert_true(fabs(exact_rate(t) / (100.0 * n / (n - 1)) - 1) < 1e-9);
		topo_free(t);
	}
	for (int n = 3; n <= 7; n++)
		for (size_t i = 0; i < sizeof(where) / sizeof(where[0]); i++) {
			struct topo_spec s = rails(n, 3, where[i]);
			struct scheme_options o = scheme_options_default();
			struct topology *t;
			struct plan *best;
			double rate;

			s.box_share = 0.5;
			s.seed = (uint64_t)n;
			t = make(&s);
			best = scheme_run(scheme_find("best"), t, &o, NULL);
			rate = exact_rate(t);
			if (!best->certificate.exact ||
			    fabs(rate / best->certificate.dual - 1) > 1e-6)
				fail_msg("%d workers, boxes %d: %.9g, optimum %.9g", n, where[i],
					 rate, best->certificate.dual);
			plan_free(best);
			topo_free(t);
		}
}

/* With a small gap the plan of a large network equals what its classes prove. */
static void test_small_gap(void **state)
{
	struct topo_spec spec[2] = {rails(410, 8, TOPO_BOX_FRACTION),
				    topo_spec_default(TOPO_LEAF_SPINE)};
	static const double near[2] = {1e-7, 2e-5};

	(void)state;
	spec[0].spines = 4;
	spec[0].box_share = 0.5;
	spec[1].leaves = 24;
	spec[1].spines = 10;
	spec[1].hosts = 60;
	spec[1].boxes = TOPO_BOX_FRACTION;
	spec[1].box_share = 0.2;
	for (int i = 0; i < 2; i++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t = make(&spec[i]);
		struct plan *p;

		o.gap = 1e-5;
		p = scheme_run(scheme_find("best"), t, &o, NULL);
		print_message("small gap: %.9g of %.9g, %d trees\n", p->throughput,
			      p->certificate.dual, p->trees);
		assert_true(p->certificate.exact);
		assert_true(p->throughput >= p->certificate.dual * (1 - near[i]));
		plan_free(p);
		topo_free(t);
	}
}

/* Of a large rail fabric best is within 1.5 % of what is proven, and quick. */
static void test_best_of_rails(void **state)
{
	struct topo_spec s = rails(410, 8, TOPO_BOX_FRACTION);

	(void)state;
	s.spines = 4;
	for (int half = 0; half < 2; half++) {
		struct scheme_options o = scheme_options_default();
		struct topology *t;
		struct plan *p, *other;

		s.box_share = half ? 0.5 : 0.2;
		t = make(&s);
		p = scheme_run(scheme_find("best"), t, &o, NULL);
		print_message("rails: %.9g, bounds %.9g and %.9g\n", p->throughput,
			      p->certificate.degree, p->certificate.dual);
		assert_true(p->throughput >=
			    0.985 * fmin(p->certificate.degree,
					 p->certificate.exact ? p->certificate.dual : INFINITY));
		other = scheme_run(scheme_find("forest"), t, &o, NULL);
		assert_true(other->throughput <= p->throughput * (1 + 1e-9));
		plan_free(other);
		plan_free(p);
		topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_twins),
		cmocka_unit_test(test_not_foldable),
		cmocka_unit_test(test_optima),
		cmocka_unit_test(test_processing),
		cmocka_unit_test(test_certificates),
		cmocka_unit_test(test_rails),
		cmocka_unit_test(test_rails_with_limits),
		cmocka_unit_test(test_exact_rails),
		cmocka_unit_test(test_small_gap),
		cmocka_unit_test(test_best_of_rails),
		cmocka_unit_test(test_reports),
	};

	return cmocka_run_group_tests_name("planner_fold", tests, NULL, NULL);
}
