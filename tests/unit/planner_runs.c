/*
 * Plans must be executable: hosts do not forward as switches do, and plain switches do not merge.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "planner/scheme.h"
#include "planner/shape.h"
#include "tests/unit/planner_help.h"

/* h0 -- h1 -- ... -- hN-1, and back to h0 if it is a ring; capacities 10. */
static struct topology *make_line(int hosts, bool ring)
{
	struct topology *t = topo_new("line");
	char name[16];

	for (int i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "h%d", i);
		topo_add_node(t, TOPO_HOST, name, INFINITY);
	}
	for (int i = 0; i + 1 < hosts; i++)
		topo_add_link(t, i, i + 1, 10, 1e-6);
	if (ring)
		topo_add_link(t, hosts - 1, 0, 10, 1e-6);
	return help_finish(t);
}

static void forged_forwarding_is_refused(void **state)
{
	struct topology *t = make_line(3, false);
	struct plan *p = plan_new("forged");
	struct plan_load load;
	struct topo_error e;
	const int near[] = {2}, far[] = {0, 2};

	(void)state;
	plan_add_tree(p, 2, 1);
	plan_add_edge(p, false, 1, 2, near, 1);
	plan_add_edge(p, false, 0, 2, far, 2);
	plan_mirror(p);
	p->throughput = 1;
	assert_int_equal(plan_verify(t, p, &load, &e), -1);
	assert_non_null(strstr(e.text, "passes through the host \"h1\", which does not forward"));
	/* The same with the host as a node that receives and sends. */
	assert_true(plan_split_hosts(t, p));
	assert_int_equal(plan_verify(t, p, &load, &e), 0);
	help_near(load.throughput, 10);
	plan_load_free(&load);
	assert_false(plan_split_hosts(t, p));
	plan_free(p);
	topo_free(t);
}

/* A host without data relays as a node of the tree, too. */
static void idle_host_relays(void **state)
{
	struct topology *t = make_line(3, false);
	struct plan *p;

	(void)state;
	t->node[1].worker = false;
	help_finish(t);
	p = help_plan(t, "ring");
	assert_non_null(p);
	for (int i = 0; i < p->edges; i++)
		assert_int_equal(p->edge[i].arcs, 1);
	plan_free(p);
	topo_free(t);
}

/*
 * Every scheme on networks in which only hosts connect the others; help_plan verifies the plans. On
 * a line there is only one tree, which is the optimum. Around a ring each tree leaves one link out:
 * 10 n / (n - 1).
 */
static void schemes_relay_at_hosts(void **state)
{
	(void)state;
	for (int hosts = 3; hosts <= 6; hosts++)
		for (int ring = 0; ring < 2; ring++) {
			struct topology *t = make_line(hosts, ring);
			double limit = ring ? 10.0 * hosts / (hosts - 1) : 10;

			for (const struct scheme *s = scheme_list; s->name; s++) {
				struct plan *p = help_plan(t, s->name);

				if (p)
					assert_true(p->throughput <= limit * (1 + 1e-9));
				if (strcmp(s->name, "best") == 0 || strcmp(s->name, "forest") == 0)
					help_near(p->throughput, limit);
				plan_free(p);
			}
			topo_free(t);
		}
}

/*
 * Two workers that only a host without data joins, and the same as a part of a network of three:
 * schemes whose trees use no such hosts refuse them, also if they would have to divide the plan
 * into chunk classes; best plans them.
 */
static void some_schemes_find_no_tree(void **state)
{
	struct scheme_options o = scheme_options_default();

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct topology *t = make_line(3, false);
		bool larger = i >= 2;

		t->node[1].worker = false;
		if (larger) {
			topo_add_node(t, TOPO_SWITCH, "s0", 0);
			topo_add_node(t, TOPO_HOST, "h3", INFINITY);
			topo_add_link(t, 2, 3, 10, 0);
			topo_add_link(t, 4, 3, 10, 0);
		}
		help_finish(t);
		o.chunks = i % 2 ? 7 : 0;
		for (const struct scheme *s = scheme_list; s->name; s++) {
			struct topo_error e = {.text = ""};
			struct plan *p = scheme_run(s, t, &o, &e);
			bool best = strcmp(s->name, "best") == 0;

			if (strcmp(s->name, "forestcoll") == 0 &&
			    (p || !strstr(e.text, "forestcoll: hosts with data reach each other")))
				fail_msg("forestcoll: %s", p ? "a plan" : e.text);
			if (best && !p)
				fail_msg("best: %s", e.text);
			if (best)
				help_near(p->throughput, 10);
			if (!p)
				assert_true(e.text[0] != '\0');
			plan_free(p);
		}
		topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forged_forwarding_is_refused),
		cmocka_unit_test(idle_host_relays),
		cmocka_unit_test(schemes_relay_at_hosts),
		cmocka_unit_test(some_schemes_find_no_tree),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
