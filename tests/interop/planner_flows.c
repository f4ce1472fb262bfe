/*
 * Random forests as flows over links, with the times that the planner's fluid simulation computes.
 * Another simulator can repeat them.
 *
 *   planner-flows SEED CASES
 *
 * Lines: "R id capacity" a link or a box's processing; "F case amount n id ... " a tree: its
 * amount of data, and the resources that it uses, each as often as it uses it; "S case seconds" the
 * computed time if all trees of the case begin together and share the links equally.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/sim.h"
#include "tests/unit/planner_forest.h"

#define AMOUNT 1000.0

/* Prints the tree's uses of resources from base on; only counts them if f is NULL. */
static int put_uses(FILE *f, const struct topology *t, const struct plan *p,
		    const struct plan_tree *tree, int base)
{
	int n = 0;

	for (int k = 0; k < tree->ups + tree->downs; k++) {
		const struct plan_edge *e =
			&p->edge[k < tree->ups ? tree->up_first + k
					       : tree->down_first + k - tree->ups];
		int inputs = 0;

		for (int i = 0; i < e->arcs; i++, n++)
			if (f)
				fprintf(f, " %d", base + p->route[e->first + i]);
		if (k >= tree->ups || isinf(t->node[e->to].processing))
			continue;
		for (int i = 0; i < tree->ups; i++)
			inputs += p->edge[tree->up_first + i].to == e->to;
		if (inputs < 2 && t->node[e->to].kind == TOPO_BOX)
			continue;
		n++;
		if (f)
			fprintf(f, " %d", base + 2 * t->links + e->to);
	}
	return n;
}

static int put_case(int number, int base, uint64_t *random)
{
	struct topo_spec s =
		topo_spec_default((enum topo_shape)(topo_random(random) % (TOPO_RANDOM + 1)));
	struct sim_options o = {.amount = AMOUNT, .even = true, .chunks = 1};
	struct sim_result r;
	struct topology *t;
	struct plan *p;
	int next;

	s.spread = 0.5;
	s.delay = 0;
	s.seed = topo_random(random);
	s.processing_min = 50;
	s.processing_max = 400;
	t = topo_generate(&s, NULL);
	p = t ? forest_random(t, 2 + (int)(topo_random(random) % 5), false, random) : NULL;
	if (!p || sim_fluid(t, p, &o, &r, NULL) != 0)
		return -1;
	for (int i = 0; i < 2 * t->links; i++)
		printf("R %d %.17g\n", base + i, topo_arc_capacity(t, i));
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_BOX)
			printf("R %d %.17g\n", base + 2 * t->links + i, t->node[i].processing);
	for (int i = 0; i < p->trees; i++) {
		printf("F %d %.17g %d", number, AMOUNT * p->tree[i].share,
		       put_uses(NULL, t, p, &p->tree[i], base));
		put_uses(stdout, t, p, &p->tree[i], base);
		printf("\n");
	}
	printf("S %d %.17g\n", number, r.seconds);
	next = base + 2 * t->links + t->nodes;
	plan_free(p);
	topo_free(t);
	return next;
}

int main(int argc, char **argv)
{
	uint64_t random;
	int base = 0;

	if (argc != 3) {
		fprintf(stderr, "usage: %s SEED CASES\n", argv[0]);
		return 2;
	}
	random = strtoull(argv[1], NULL, 0);
	for (int i = 0; i < atoi(argv[2]); i++) {
		base = put_case(i, base, &random);
		if (base < 0)
			return 1;
	}
	return 0;
}
