/*
 * The verifier: loads of plans that can be calculated by hand, and mutants of random plans, each of
 * which it must refuse.
 *
 *   planner_verify [SEED]
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
#include <string.h>

#include "tests/unit/planner_forest.h"
#include "tests/unit/planner_help.h"

#define PLANS 60

static uint64_t seed = 1;

/*
 * Leaf-spine with two leaves of four hosts, all links 10: one tree over the leaves gives 10, the
 * ring 10 x 8 / 14.
 */
static void by_hand(void **state)
{
	struct topo_spec s = topo_spec_default(TOPO_LEAF_SPINE);
	struct plan_load load;
	struct topology *t;
	struct plan *p;
	uint64_t random = 1;
	int leaf[2] = {-1, -1};

	(void)state;
	s.host_link = s.fabric_link = 10;
	t = help_make(&s);
	p = forest_ring(t);
	assert_non_null(p);
	help_near(p->throughput, 10 * 8 / 14.0);
	assert_int_equal(p->steps, 14);
	plan_free(p);

	for (int i = 0; i < t->boxes; i++)
		leaf[i] = t->box[i];
	p = plan_new("two leaves");
	assert_int_equal(plan_add_tree(p, leaf[0], 1), 0);
	assert_int_equal(forest_edge(t, p, false, leaf[1], leaf[0], &random), 0);
	for (int i = 0; i < t->workers; i++)
		assert_int_equal(
			forest_edge(t, p, false, t->worker[i], t->node[t->worker[i]].rack, &random),
			0);
	assert_int_equal(plan_mirror(p), 0);
	p->throughput = 10;
	assert_int_equal(plan_verify(t, p, &load, NULL), 0);
	help_near(load.throughput, 10);
	help_near(load.node[leaf[0]], 5);
	help_near(load.node[leaf[1]], 4);
	assert_int_equal(load.steps, 4);
	help_near(load.latency, 6e-6);
	plan_load_free(&load);
	/* Boxes that can receive 20: the root has five inputs. */
	t->node[leaf[0]].processing = t->node[leaf[1]].processing = 20;
	assert_int_equal(plan_measure(t, p, &load, NULL), 0);
	help_near(load.throughput, 4);
	assert_int_equal(load.worst_node, leaf[0]);
	plan_load_free(&load);
	assert_int_equal(plan_verify(t, p, &load, NULL), -1);
	plan_free(p);

	/* The way up alone ends at a server, and has no edges down. */
	p = forest_star(t, t->worker[0]);
	p->reduce_only = true;
	assert_int_equal(plan_verify(t, p, &load, NULL), -1);
	p->tree[0].downs = 0;
	assert_int_equal(plan_verify(t, p, &load, NULL), -1);
	t->node[t->worker[0]].server = true;
	assert_int_equal(plan_verify(t, p, &load, NULL), 0);
	plan_load_free(&load);
	plan_free(p);

	/* Everything merges at one host: seven streams over one link. */
	p = forest_star(t, t->worker[0]);
	help_near(p->throughput, 10 / 7.0);
	plan_free(p);
	topo_free(t);
}

/* --- mutants ---------------------------------------------------------------------------------- */

static int below(uint64_t *random, int n)
{
	return (int)(topo_random(random) % (uint64_t)n);
}

static struct plan_edge *any_edge(struct plan *p, uint64_t *random, bool down)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int n = down ? tree->downs : tree->ups;

	return n == 0 ? NULL
		      : &p->edge[(down ? tree->down_first : tree->up_first) + below(random, n)];
}

/* Replaces the edge's route by a random one to another node. */
static bool retarget(const struct topology *t, struct plan *p, struct plan_edge *e, int from,
		     int to, uint64_t *random)
{
	struct plan *spare = plan_new("");
	bool ok = from != to && spare && plan_add_tree(spare, to, 1) == 0 &&
		  forest_edge(t, spare, false, from, to, random) == 0;
	int first = p->routes;

	if (ok && p->routes + spare->routes > p->route_room) {
		int *more = realloc(p->route, (size_t)(p->routes + spare->routes) * sizeof(int));

		ok = more != NULL;
		if (ok) {
			p->route = more;
			p->route_room = p->routes + spare->routes;
		}
	}
	if (ok) {
		memcpy(p->route + first, spare->route, (size_t)spare->routes * sizeof(int));
		p->routes += spare->routes;
		*e = (struct plan_edge){from, to, first, spare->routes};
	}
	plan_free(spare);
	return ok;
}

static bool drop_up(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int dropped;

	(void)t;
	if (tree->ups == 0)
		return false;
	dropped = below(random, tree->ups--);
	p->edge[tree->up_first + dropped] = p->edge[tree->up_first + tree->ups];
	return true;
}

static bool drop_down(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int dropped;

	if (tree->downs == 0)
		return false;
	dropped = below(random, tree->downs);
	/* A box that receives the sum and sends it to no node is a waste, not an error. */
	if (t->node[p->edge[tree->down_first + dropped].to].kind != TOPO_HOST)
		return false;
	tree->downs--;
	p->edge[tree->down_first + dropped] = p->edge[tree->down_first + tree->downs];
	return true;
}

static bool double_up(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int a, b;

	(void)t;
	if (tree->ups < 2)
		return false;
	a = below(random, tree->ups);
	b = below(random, tree->ups);
	if (a == b)
		return false;
	p->edge[tree->up_first + a] = p->edge[tree->up_first + b];
	return true;
}

static bool double_down(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int a, b;

	(void)t;
	if (tree->downs < 2)
		return false;
	a = below(random, tree->downs);
	b = below(random, tree->downs);
	if (a == b)
		return false;
	p->edge[tree->down_first + a] = p->edge[tree->down_first + b];
	return true;
}

static bool share_grows(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	p->tree[below(random, p->trees)].share *= 1.001;
	return true;
}

static bool share_gone(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	p->tree[below(random, p->trees)].share *= topo_random(random) & 1 ? 0 : -1;
	return true;
}

static bool share_moves(const struct topology *t, struct plan *p, uint64_t *random)
{
	/* The shares add up to one, but one is negative. */
	(void)t;
	(void)random;
	if (p->trees < 2)
		return false;
	p->tree[0].share += 2 * p->tree[1].share;
	p->tree[1].share = -p->tree[1].share;
	return true;
}

static bool share_nan(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	p->tree[below(random, p->trees)].share = NAN;
	return true;
}

static bool other_root(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int root = below(random, t->nodes);

	if (root == tree->root)
		return false;
	tree->root = root;
	return true;
}

static bool too_fast(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	(void)random;
	p->throughput *= 1.000001;
	return true;
}

static bool no_rate(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	p->throughput = topo_random(random) & 1 ? 0 : NAN;
	return true;
}

static bool short_route(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_edge *e = any_edge(p, random, topo_random(random) & 1);

	(void)t;
	if (!e)
		return false;
	e->arcs--;
	return true;
}

static bool turned_arc(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_edge *e = any_edge(p, random, topo_random(random) & 1);

	(void)t;
	if (!e)
		return false;
	p->route[e->first + below(random, e->arcs)] ^= 1;
	return true;
}

static bool bad_arc(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_edge *e = any_edge(p, random, topo_random(random) & 1);

	if (!e)
		return false;
	p->route[e->first] = topo_random(random) & 1 ? -1 : 2 * t->links;
	return true;
}

static bool at_switch(const struct topology *t, struct plan *p, uint64_t *random)
{
	bool down = topo_random(random) & 1;
	struct plan_edge *e = any_edge(p, random, down);
	int s = below(random, t->nodes);

	if (!e || t->node[s].kind != TOPO_SWITCH)
		return false;
	return down ? retarget(t, p, e, s, e->to, random) : retarget(t, p, e, e->from, s, random);
}

/* A node of the tree sends to one of its children: nothing reaches the root. */
static bool cycle(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int k = tree->ups == 0 ? 0 : tree->up_first + below(random, tree->ups);
	int at;

	if (tree->ups < 2)
		return false;
	at = p->edge[k].to;
	if (at == tree->root)
		return false;
	for (int i = 0; i < tree->ups; i++) {
		struct plan_edge *e = &p->edge[tree->up_first + i];

		if (e->from == at)
			return retarget(t, p, e, at, p->edge[k].from, random);
	}
	return false;
}

static bool down_cycle(const struct topology *t, struct plan *p, uint64_t *random)
{
	struct plan_tree *tree = &p->tree[below(random, p->trees)];
	int k = tree->downs == 0 ? 0 : tree->down_first + below(random, tree->downs);
	int at;

	if (tree->downs < 2)
		return false;
	at = p->edge[k].from;
	if (at == tree->root)
		return false;
	for (int i = 0; i < tree->downs; i++) {
		struct plan_edge *e = &p->edge[tree->down_first + i];

		if (e->to == at)
			return retarget(t, p, e, p->edge[k].to, at, random);
	}
	return false;
}

static bool wrong_chunks(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	if (plan_quantise(p, 64) != 0)
		return false;
	p->tree[below(random, p->trees)].chunks++;
	return true;
}

static bool unquantised(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	(void)random;
	p->chunks = 64;
	return true;
}

static bool no_trees(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	(void)random;
	p->trees = 0;
	return true;
}

static bool half_plan(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	(void)random;
	p->reduce_only = !p->reduce_only;
	return true;
}

static bool tree_gone(const struct topology *t, struct plan *p, uint64_t *random)
{
	(void)t;
	(void)random;
	p->trees--;
	return p->trees > 0;
}

static const struct {
	const char *name;
	bool (*change)(const struct topology *t, struct plan *p, uint64_t *random);
} mutants[] = {
	{"an up edge is missing", drop_up},
	{"a down edge is missing", drop_down},
	{"an up edge is duplicated", double_up},
	{"a down edge is duplicated", double_down},
	{"a share grows", share_grows},
	{"a share is zero or negative", share_gone},
	{"a share is negative, but the sum is one", share_moves},
	{"a share is not a number", share_nan},
	{"another root", other_root},
	{"a rate above the possible one", too_fast},
	{"no rate", no_rate},
	{"a route is too short", short_route},
	{"an arc in the other direction", turned_arc},
	{"an arc that does not exist", bad_arc},
	{"a merge at a plain switch", at_switch},
	{"a cycle up", cycle},
	{"a cycle down", down_cycle},
	{"one chunk too many", wrong_chunks},
	{"shares that do not match chunks", unquantised},
	{"no trees", no_trees},
	{"one way only, or none", half_plan},
	{"a tree is missing", tree_gone},
};

static void mutants_die(void **state)
{
	int tried[sizeof(mutants) / sizeof(mutants[0])] = {0};
	uint64_t random = seed;

	(void)state;
	for (int n = 0; n < PLANS; n++) {
		struct topology *t = help_any(&random, true);
		struct plan *p = forest_random(t, 1 + below(&random, 4), n % 3 == 0, &random);
		struct topo_error e = {.text = ""};
		struct plan_load load;

		assert_non_null(p);
		for (int i = 0; i < p->trees; i++)
			t->node[p->tree[i].root].server |= p->reduce_only;
		if (plan_verify(t, p, &load, &e) != 0)
			fail_msg("plan %d: %s", n, e.text);
		plan_load_free(&load);
		for (size_t m = 0; m < sizeof(mutants) / sizeof(mutants[0]); m++) {
			struct plan *bad = forest_copy(p);

			assert_non_null(bad);
			if (mutants[m].change(t, bad, &random)) {
				tried[m]++;
				if (plan_verify(t, bad, &load, &e) == 0)
					fail_msg("plan %d: accepted although %s", n,
						 mutants[m].name);
			}
			plan_free(bad);
		}
		plan_free(p);
		topo_free(t);
	}
	for (size_t m = 0; m < sizeof(mutants) / sizeof(mutants[0]); m++)
		if (tried[m] < 3)
			fail_msg("\"%s\" was tried %d times", mutants[m].name, tried[m]);
}

/* --- chunk classes ---------------------------------------------------------------------------- */

static void quantised(void **state)
{
	uint64_t random = seed;

	(void)state;
	for (int n = 0; n < 20; n++) {
		struct topology *t = help_any(&random, true);
		struct plan *p = forest_random(t, 5, false, &random);
		struct plan_load load;
		double before = p->throughput;

		assert_int_equal(plan_quantise(p, 4096), 0);
		assert_int_equal(plan_measure(t, p, &load, NULL), 0);
		assert_true(fabs(load.throughput - before) < 0.02 * before);
		p->throughput = load.throughput;
		plan_load_free(&load);
		assert_int_equal(plan_verify(t, p, &load, NULL), 0);
		plan_load_free(&load);
		plan_free(p);
		topo_free(t);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_hand),
		cmocka_unit_test(mutants_die),
		cmocka_unit_test(quantised),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	printf("seed %" PRIu64 ", again with: %s %" PRIu64 "\n", seed, argv[0], seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
