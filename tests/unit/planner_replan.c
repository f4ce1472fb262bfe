/*
 * Plans after a failure: small cases compared with an exhaustive search over all trees.
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
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/replan.h"
#include "tests/unit/planner_every.h"
#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

#define NEAR 1e-6

static uint64_t seed = 1;
static int count = 48;

static void same(double found, double wanted, const char *what, int number)
{
	if (!(fabs(found - wanted) <= NEAR * wanted))
		fail_msg("%s, network %d of seed %llu: %.9g instead of %.9g", what, number,
			 (unsigned long long)seed, found, wanted);
}

/* Nothing has failed yet; to be freed. */
static struct replan_failure no_failure(const struct topology *t)
{
	return (struct replan_failure){.link = mem_new((size_t)t->links, sizeof(bool)),
				       .node = mem_new((size_t)t->nodes, sizeof(bool))};
}

static void failure_free(struct replan_failure *f)
{
	free(f->link);
	free(f->node);
}

/* The changed plan, which `left` carries; `what` and `number` say of which network a complaint is.
 */
static struct plan *replanned(const struct topology *left, const struct plan *old,
			      const int *node_of, const int *arc_of, const struct scheme_options *o,
			      struct replan *done, const char *what, int number)
{
	struct topo_error e = {.text = ""};
	struct plan_load load;
	struct plan *new = replan(left, old, node_of, arc_of, o, 0, done, &e);

	if (!new)
		fail_msg("%s %d: %s", what, number, e.text);
	assert_int_equal(plan_verify(left, new, &load, &e), 0);
	plan_load_free(&load);
	return new;
}

/* The highest throughput with some trees kept, over all possible other trees. */
static double everything_beside(const struct topology *t, const struct plan *kept)
{
	struct plan *pool = all_trees(t);
	struct lp *lp = lp_new();
	double *scratch = mem_new((size_t)(2 * t->links + t->nodes), sizeof(double));
	double *full = mem_new((size_t)(2 * t->links + t->nodes), sizeof(double));
	int *row = mem_new((size_t)(2 * t->links) + 1, sizeof(int));
	double *value = mem_new((size_t)(2 * t->links) + 1, sizeof(double));
	struct tree_load load = {0};
	double rest = 1;
	double best;
	int share;

	for (int k = 0; k < 2 * t->links; k++)
		lp_row(lp, -INFINITY, topo_arc_capacity(t, k));
	share = lp_row(lp, 0, 0);
	for (int k = 0; k < kept->trees; k++) {
		tree_load_find(t, kept, k, scratch, &load);
		rest -= kept->tree[k].share;
		for (int i = 0; i < load.n; i++)
			full[load.row[i]] += load.count[i] * kept->tree[k].share;
	}
	for (int k = 0; k < 2 * t->links; k++) {
		row[k] = k;
		value[k] = full[k];
	}
	row[2 * t->links] = share;
	value[2 * t->links] = -rest;
	lp_column(lp, 1, INFINITY, 2 * t->links + 1, row, value);
	for (int k = 0; k < pool->trees; k++) {
		int n = 0;

		tree_load_find(t, pool, k, scratch, &load);
		for (int i = 0; i < load.n; i++)
			if (load.row[i] < 2 * t->links) {
				row[n] = load.row[i];
				value[n++] = load.count[i];
			}
		row[n] = share;
		value[n++] = 1;
		lp_column(lp, 0, INFINITY, n, row, value);
	}
	assert_int_equal(lp_solve(lp), 0);
	best = lp_objective(lp);
	lp_free(lp);
	tree_load_free(&load);
	free(scratch);
	free(full);
	free(row);
	free(value);
	plan_free(pool);
	return best;
}

/* How many trees of the first text are in the second, byte for byte. */
static int lines_kept(const char *a, const char *b)
{
	int n = 0;

	for (const char *line = strstr(a, "\n  {"); line; line = strstr(line + 1, "\n  {")) {
		const char *end = strchr(line + 1, '\n');
		size_t len = (size_t)(end - line);
		char *copy = strndup(line, end[-1] == ',' ? len - 1 : len);

		n += strstr(b, copy) != NULL;
		free(copy);
	}
	return n;
}

/* Hosts joined by direct links and by a box, so that most links can fail without a partition. */
static struct topology *mesh(uint64_t *random)
{
	struct topology *t = topo_new("mesh");
	char name[16];

	for (int i = 0; i < 4; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_node(t, TOPO_HOST, name, INFINITY);
	}
	topo_add_node(t, TOPO_BOX, "b0", INFINITY);
	for (int i = 0; i < 4; i++) {
		topo_add_link(t, i, 4, 5 + (double)(topo_random(random) % 20), 1e-6);
		topo_add_link(t, i, (i + 1) % 4, 5 + (double)(topo_random(random) % 20), 1e-6);
	}
	return help_finish(t);
}

static void trees_stay_after_a_failure(void **state)
{
	struct scheme_options o = scheme_options_default();
	uint64_t random = seed;
	int stayed = 0;
	int stayed_of_sequential = 0;

	(void)state;
	for (int i = 0; i < 24; i++) {
		struct topology *t = mesh(&random), *left;
		struct plan *old, *new, *kept;
		struct replan_failure f = no_failure(t);
		int *node_of, *arc_of;
		struct replan what;
		struct topo_error e = {.text = ""};
		char *before, *after;

		o.chunks = i % 4 == 3 ? 64 : 0;
		old = scheme_run(scheme_find(i % 6 == 5 ? "forestcoll" : "best"), t, &o, &e);
		assert_non_null(old);
		if (i % 8 == 7)
			f.node[4] = true;
		else
			f.link[topo_random(&random) % 8] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		assert_non_null(left);
		new = replanned(left, old, node_of, arc_of, &o, &what, "network", i);
		assert_int_equal(what.kept + what.gone, old->trees);
		before = plan_format(old, t);
		after = plan_format(new, left);
		assert_true(lines_kept(before, after) >= what.kept);
		stayed += what.kept;
		stayed_of_sequential += old->sequential && what.gone > 0 ? what.kept : 0;
		kept = plan_new("kept");
		for (int k = 0; k < what.kept; k++)
			plan_copy_tree(kept, new, k, new->tree[k].share);
		if (o.chunks == 0)
			same(new->throughput, everything_beside(left, kept), "after a failure", i);
		free(before);
		free(after);
		free(node_of);
		free(arc_of);
		failure_free(&f);
		plan_free(kept);
		plan_free(old);
		plan_free(new);
		topo_free(left);
		topo_free(t);
	}
	assert_true(stayed > 12);
	assert_true(stayed_of_sequential > 2);
}

static void what_falls_apart(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_STAR);
	struct topology *t = help_make(&s);
	struct replan_failure f = no_failure(t);
	int *node_of, *arc_of;
	struct topo_error e;

	(void)state;
	f.link[0] = true;
	assert_null(replan_rest(t, &f, &node_of, &arc_of, &e));
	assert_non_null(strstr(e.text, "has no link"));
	free(node_of);
	free(arc_of);
	/* Whether or not the plan lists its hosts: those with data are the workers. */
	f.link[0] = false;
	f.node[t->worker[2]] = true;
	assert_null(replan_rest(t, &f, &node_of, &arc_of, &e));
	if (!strstr(e.text, "the host \"h2\" has data in the plan"))
		fail_msg("%s", e.text);
	free(node_of);
	free(arc_of);
	failure_free(&f);
	topo_free(t);
}

/*
 * A machine whose GPUs without data send for the others, and one link after the other that fails.
 * Such a GPU with one link left is of no use. A new plan finds whatever the kept trees use, so it
 * is never below the changed plan.
 */
static void others_relay_after_a_failure(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topology *t;
	struct plan *old;
	int replaced = 0;

	(void)state;
	t = help_machines(2, 3);
	t->node[t->worker[t->workers - 1]].worker = false;
	help_finish(t);
	old = help_plan(t, "best");
	same(old->throughput, 300, "three rails", 0);
	for (int l = 0; l < t->links; l++) {
		struct replan_failure f = no_failure(t);
		struct topo_error e = {.text = ""};
		int *node_of, *arc_of;
		struct topology *left;
		struct replan what;
		struct plan *new;

		f.link[l] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		assert_non_null(left);
		new = replanned(left, old, node_of, arc_of, &o, &what, "link", l);
		if (new->throughput > (1 + 1e-6) * what.fresh)
			fail_msg("link %d: %.9g, a new plan %.9g", l, new->throughput, what.fresh);
		for (int i = 0; i < t->nodes; i++)
			replaced += node_of[i] < 0 && what.gone > 0;
		plan_free(new);
		topo_free(left);
		free(node_of);
		free(arc_of);
		failure_free(&f);
	}
	assert_int_equal(replaced, 2); /* the two links of that GPU */
	plan_free(old);
	topo_free(t);
}

/*
 * Leaves and spines that all merge, and one link after the other that fails. A spine with one link
 * left cannot merge anything: it only forwards, and trees that ended there are replaced.
 */
static void useless_boxes_forward(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	int forward = 0;
	int replaced = 0;

	(void)state;
	s.leaves = 2;
	s.spines = 2;
	s.hosts = 2;
	s.boxes = TOPO_BOX_ALL;
	for (int l = 4; l < 8; l++) {
		struct topology *t = help_make(&s), *left;
		struct replan_failure f = no_failure(t);
		struct plan *old = NULL, *new;
		struct topo_error e = {.text = ""};
		int *node_of, *arc_of;
		struct replan what;

		f.link[l] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		if (!left)
			fail_msg("link %d: %s", l, e.text);
		for (int spine = 0; spine < t->nodes; spine++) {
			if (t->node[spine].kind != TOPO_BOX)
				continue;
			/* Every leaf and every spine as the root. */
			old = forest_shortest(t, spine);
			assert_non_null(old);
			new = replanned(left, old, node_of, arc_of, &o, &what, "root", spine);
			assert_true(new->throughput <= what.fresh *(1 + 1e-6));
			replaced += node_of[spine] < 0 && what.gone > 0;
			plan_free(new);
			plan_free(old);
		}
		for (int i = 0; i < left->nodes; i++)
			forward += left->node[i].kind == TOPO_SWITCH;
		assert_int_equal(left->boxes, 3);
		topo_free(left);
		topo_free(t);
		free(node_of);
		free(arc_of);
		failure_free(&f);
	}
	assert_int_equal(forward, 4);
	assert_int_equal(replaced, 4);
}

/* --- the rate --------------------------------------------------------------------------------- */

/*
 * The fewest kept trees, the first `kept` of the plan p, whose replacement reaches the rate: over
 * all sets of them and all possible other trees.
 */
static int fewest_replaced(const struct topology *t, const struct plan *p, int kept, double rate)
{
	int fewest = kept;

	for (unsigned int set = 0; set < 1u << kept; set++) {
		int replaced = __builtin_popcount(set);
		struct plan *stay;

		if (replaced >= fewest)
			continue;
		stay = plan_new("stay");
		for (int k = 0; k < kept; k++)
			if (!(set >> k & 1))
				plan_copy_tree(stay, p, k, p->tree[k].share);
		if (everything_beside(t, stay) >= rate)
			fewest = replaced;
		plan_free(stay);
	}
	return fewest;
}

/*
 * All trees that used no failed part stay if the throughput is 95 % of a new plan's or of the old
 * one; otherwise as few others as possible are replaced.
 */
static void the_rate_is_reached(void **state)
{
	static const char *const scheme[] = {"forestcoll", "best", "forest"};
	struct scheme_options o = scheme_options_default();
	uint64_t random = seed;
	int short_of = 0;
	int more_than_needed = 0;

	(void)state;
	for (int i = 0; i < count; i++) {
		struct topology *t = mesh(&random), *left;
		struct plan *old, *all, *new;
		struct replan_failure f = no_failure(t);
		struct topo_error e = {.text = ""};
		struct replan keep, what;
		struct plan_load load;
		int *node_of, *arc_of;
		char *before, *after;
		double rate;

		old = scheme_run(scheme_find(scheme[i % 3]), t, &o, &e);
		assert_non_null(old);
		f.link[topo_random(&random) % 8] = true;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		assert_non_null(left);
		all = replan(left, old, node_of, arc_of, &o, 0, &keep, &e);
		new = replan(left, old, node_of, arc_of, &o, REPLAN_LEAST, &what, &e);
		if (!all || !new)
			fail_msg("network %d of seed %llu: %s", i, (unsigned long long)seed,
				 e.text);
		assert_int_equal(keep.more, 0);
		assert_int_equal(plan_verify(left, new, &load, &e), 0);
		plan_load_free(&load);
		rate = REPLAN_LEAST * fmin(what.fresh, old->throughput);
		if (new->throughput < rate *(1 - 1e-9) && what.gone > 0)
			fail_msg("network %d of seed %llu: %.9g is less than %.9g", i,
				 (unsigned long long)seed, new->throughput, rate);
		assert_int_equal(what.kept + what.more, keep.kept);
		assert_int_equal(what.kept + what.gone, old->trees);
		assert_true(keep.gone == 0 || (what.more > 0) == (all->throughput < rate));
		before = plan_format(old, t);
		after = plan_format(new, left);
		assert_true(lines_kept(before, after) >= what.kept);
		if (what.more > 0) {
			same(what.all_kept, all->throughput, "with all trees", i);
			short_of++;
			more_than_needed += what.more - fewest_replaced(left, all, keep.kept, rate);
		}
		free(before);
		free(after);
		free(node_of);
		free(arc_of);
		failure_free(&f);
		plan_free(old);
		plan_free(all);
		plan_free(new);
		topo_free(left);
		topo_free(t);
	}
	print_message("%d of %d plans below the rate, %d trees more than needed\n", short_of, count,
		      more_than_needed);
	assert_true(count < 24 || short_of > 0);
	assert_true(more_than_needed * 4 <= short_of);
}

/* --- what the failure cuts off ---------------------------------------------------------------- */

/*
 * A spine without links, a switch with a host without data: parts that no host with data reaches
 * any more are left out, and the plan is as good as a new one.
 */
static void cut_off_parts_are_left_out(void **state)
{
	struct scheme_options o = scheme_options_default();
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);

	(void)state;
	s.leaves = 2;
	s.spines = 2;
	s.hosts = 2;
	s.boxes = TOPO_BOX_ALL;
	for (int which = 0; which < 2; which++) {
		struct topology *t = help_make(&s), *left;
		int more = topo_add_node(t, TOPO_SWITCH, "more", 0);
		int idle = topo_add_node(t, TOPO_HOST, "idle", INFINITY);
		int spine = t->link[t->links - 1].a;
		struct replan_failure f;
		struct topo_error e = {.text = ""};
		struct plan *old, *new;
		struct replan what;
		int *node_of, *arc_of;

		if (t->node[spine].kind != TOPO_BOX ||
		    strncmp(t->node[spine].name, "spine", 5) != 0)
			spine = t->link[t->links - 1].b;
		assert_int_equal(strncmp(t->node[spine].name, "spine", 5), 0);
		topo_add_link(t, more, t->link[0].b, 100, 0);
		topo_add_link(t, more, idle, 100, 0);
		t->node[idle].worker = false;
		help_finish(t);
		f = no_failure(t);
		old = help_plan(t, "best");
		assert_non_null(old);
		for (int i = 0; i < t->links; i++)
			f.link[i] = which == 0 ? t->link[i].a == spine || t->link[i].b == spine
					       : i == t->links - 2;
		left = replan_rest(t, &f, &node_of, &arc_of, &e);
		if (!left)
			fail_msg("%s", e.text);
		assert_int_equal(f.cut_off, which == 0 ? 1 : 2);
		assert_int_equal(f.first_cut_off, which == 0 ? spine : more);
		assert_int_equal(left->nodes, t->nodes - f.cut_off);
		assert_int_equal(node_of[f.first_cut_off], -1);
		new = replan(left, old, node_of, arc_of, &o, REPLAN_LEAST, &what, &e);
		if (!new)
			fail_msg("%s", e.text);
		assert_true(new->throughput >= REPLAN_LEAST *what.fresh);
		assert_true(which == 0 || what.gone == 0);
		plan_free(old);
		plan_free(new);
		topo_free(left);
		topo_free(t);
		free(node_of);
		free(arc_of);
		failure_free(&f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(trees_stay_after_a_failure),
		cmocka_unit_test(what_falls_apart),
		cmocka_unit_test(others_relay_after_a_failure),
		cmocka_unit_test(useless_boxes_forward),
		cmocka_unit_test(the_rate_is_reached),
		cmocka_unit_test(cut_off_parts_are_left_out),
	};

	if (getenv("RINGFOLD_SEED"))
		seed = strtoull(getenv("RINGFOLD_SEED"), NULL, 0);
	if (getenv("RINGFOLD_COUNT"))
		count = atoi(getenv("RINGFOLD_COUNT"));
	print_message("repeat: RINGFOLD_SEED=%llu RINGFOLD_COUNT=%d build/tests/planner_replan\n",
		      (unsigned long long)seed, count);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
