/*
 * Cheapest trees, calculated by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "planner/steiner.h"
#include "tests/unit/planner_help.h"

/*
 * root -- via -- box: the worker `via` is expensive, and the box costs nothing and is nearer to
 * `via` than `via` itself. Still `via` remains its own terminal: the box would reach the root
 * through a host, which does not forward. The box has one edge and is removed; the link between the
 * hosts remains.
 */
static void host_keeps_its_place(void **state)
{
	struct topology *t = topo_new("line");
	struct plan *p = plan_new("by hand");
	const double link[] = {2, 1};
	double node[] = {0, 10, 0};
	struct steiner *s;
	int root, via, box;

	(void)state;
	root = topo_add_node(t, TOPO_HOST, "root", INFINITY);
	via = topo_add_node(t, TOPO_HOST, "via", INFINITY);
	box = topo_add_node(t, TOPO_BOX, "box", INFINITY);
	assert_int_equal(topo_add_link(t, root, via, 10, 0), 0);
	assert_int_equal(topo_add_link(t, via, box, 10, 0), 1);
	help_finish(t);

	s = steiner_new(t, true);
	s->link = link;
	s->node = node;
	s->in[box] = true;
	steiner_span(s);
	assert_int_equal(s->edges, 2);
	assert_int_equal(s->site[via], via);

	assert_int_equal(plan_add_tree(p, root, 1), 0);
	steiner_emit(s, p, root, false);
	assert_int_equal(p->edges, 1);
	assert_int_equal(p->edge[0].from, via);
	assert_int_equal(p->edge[0].to, root);
	assert_int_equal(p->edge[0].arcs, 1);
	assert_int_equal(p->route[p->edge[0].first], 1); /* link 0 from its second end */
	steiner_free(s);
	plan_free(p);
	topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(host_keeps_its_place),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
