#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/unit/planner_help.h"

#include "planner/scheme.h"

static unsigned long long latest; /* seed of the latest random topology */

struct topology *help_make(const struct topo_spec *s)
{
	struct topo_error e = {.text = ""};
	struct topology *t = topo_generate(s, &e);

	if (!t)
		fail_msg("%s", e.text);
	return t;
}

struct topology *help_machines(int hosts, int gpus)
{
	struct topo_spec s = topo_spec_default(TOPO_MACHINES);

	s.hosts = hosts;
	s.gpus = gpus;
	s.leaves = gpus;
	s.spines = 0;
	s.boxes = TOPO_BOX_ALL;
	return help_make(&s);
}

struct topology *help_finish(struct topology *t)
{
	struct topo_error e = {.text = ""};

	if (topo_finish(t, &e) != 0)
		fail_msg("%s", e.text);
	return t;
}

void help_near(double a, double b)
{
	if (!(fabs(a - b) < 1e-9 * fmax(1, fabs(b))))
		fail_msg("%.12g instead of %.12g", a, b);
}

static struct topo_spec draw_spec(uint64_t seed)
{
	struct topo_spec s = topo_spec_default((enum topo_shape)(seed % 5));

	s.seed = seed;
	s.spread = seed % 3 ? 0.5 : 0;
	s.boxes = TOPO_BOX_FRACTION;
	s.box_share = 0.4;
	s.hosts = s.shape == TOPO_RANDOM || s.shape == TOPO_STAR ? 5 + (int)(seed % 5) : 2;
	if (s.shape == TOPO_RAIL)
		s.hosts = 4;
	s.leaves = s.shape == TOPO_RANDOM ? 5 : 3;
	s.k = 4;
	s.hosts = s.shape == TOPO_FAT_TREE ? 1 : s.hosts;
	s.servers = seed % 2 ? 1 : 0;
	if (seed % 4 < 2) {
		s.processing_min = 30;
		s.processing_max = 300;
	}
	return s;
}

/* Rounds capacities to multiples of 2^-10, so that plans and bounds can be checked exactly. */
static void round_up(struct topology *t, uint64_t seed, bool wide)
{
	uint64_t random = seed * 31;

	for (int i = 0; i < t->links; i++) {
		double factor = wide ? exp2(floor(22 * topo_uniform(&random))) : 1;

		for (int d = 0; d < 2; d++)
			t->link[i].capacity[d] = ceil(factor * t->link[i].capacity[d] *
						      (seed % 7 == 3 && d ? 0.7 : 1) * 1024) /
						 1024;
	}
	for (int i = 0; i < t->nodes; i++) {
		double factor = wide ? exp2(floor(22 * topo_uniform(&random))) : 1;

		if (!isinf(t->node[i].processing))
			t->node[i].processing = ceil(factor * t->node[i].processing * 1024) / 1024;
	}
}

struct topology *help_drawn(uint64_t seed, bool wide)
{
	struct topo_spec s = draw_spec(seed);
	uint64_t random = seed * 77;
	struct topo_error e;
	struct topology *t = topo_generate(&s, &e);

	latest = seed;
	for (int again = 0; !t && again < 50; again++) {
		s.seed = topo_random(&random);
		t = topo_generate(&s, &e);
	}
	if (!t) {
		s.boxes = TOPO_BOX_LEAVES;
		t = help_make(&s);
	}
	round_up(t, seed, wide);
	return help_finish(t);
}

struct topology *help_any(uint64_t *random, bool limited)
{
	struct topo_spec s =
		topo_spec_default((enum topo_shape)(topo_random(random) % (TOPO_RANDOM + 1)));

	s.spread = 0.5;
	s.seed = topo_random(random);
	s.attached = topo_random(random) & 1;
	if (limited || topo_random(random) & 1) {
		s.processing_min = 50;
		s.processing_max = 400;
	}
	if (s.shape == TOPO_RANDOM)
		s.hosts = 6 + (int)(topo_random(random) % 10);
	return help_make(&s);
}

struct plan *help_plan(const struct topology *t, const char *scheme)
{
	struct scheme_options o = scheme_options_default();
	struct plan_load load;
	struct topo_error e;
	struct plan *p;

	o.roundings = 4;
	o.seconds = 10;
	assert_non_null(scheme_find(scheme));
	p = scheme_run(scheme_find(scheme), t, &o, &e);
	if (!p)
		return NULL;
	if (plan_verify(t, p, &load, &e) != 0)
		fail_msg("topology %llu, %s: %s", latest, scheme, e.text);
	if (!(fabs(p->throughput - load.throughput) <= 1e-9 * load.throughput))
		fail_msg("topology %llu, %s: %.12g, the verifier computes %.12g", latest, scheme,
			 p->throughput, load.throughput);
	plan_load_free(&load);
	return p;
}

/* The same network with its nodes and links in another order and with other names. */
struct topology *help_shuffled(const struct topology *t, uint64_t seed)
{
	struct topology *s = topo_new("shuffled");
	int *place = calloc((size_t)t->nodes, sizeof(int));
	int *from = calloc((size_t)t->nodes, sizeof(int));
	uint64_t random = seed;

	assert_true(s && place && from);
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
	free(place);
	free(from);
	return help_finish(s);
}
