#include "tests/unit/planner_drawn.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/scheme.h"

/* Work units for each scheme, some two seconds; hard topologies stop at this limit. */
#define WORK 2e8

static int draw(uint64_t *state, int low, int high)
{
	return low + (int)(topo_random(state) % (uint64_t)(high - low + 1));
}

static bool chance(uint64_t *state, double p)
{
	return topo_uniform(state) < p;
}

static void draw_size(struct topo_spec *s, uint64_t *state, int most)
{
	/* Small networks are as likely as large ones. */
	int hosts = (int)(4 * pow(most / 4.0, topo_uniform(state)));

	switch (s->shape) {
	case TOPO_LEAF_SPINE:
		s->leaves = draw(state, 2, hosts / 2 < 24 ? hosts / 2 : 24);
		s->spines = draw(state, 1, 8);
		s->hosts = hosts / s->leaves;
		break;
	case TOPO_FAT_TREE:
		s->k = hosts < 64 ? 4 : 6;
		s->hosts = 1 + hosts / (s->k * s->k / 2);
		break;
	case TOPO_RAIL:
		s->leaves = draw(state, 2, 4);
		s->spines = draw(state, 0, 2);
		s->hosts = hosts;
		break;
	case TOPO_RANDOM:
		s->leaves = draw(state, 2, 2 + hosts / 3);
		s->degree = draw(state, 2, 5);
		s->hosts = hosts;
		break;
	default:
		s->hosts = hosts;
	}
}

static void draw_rest(struct topo_spec *s, uint64_t *state)
{
	s->boxes = (enum topo_boxes)draw(state, TOPO_BOX_NONE, TOPO_BOX_FRACTION);
	if (s->shape == TOPO_STAR && s->boxes == TOPO_BOX_SPINES)
		s->boxes = TOPO_BOX_LEAVES;
	s->box_share = topo_uniform(state);
	s->spread = chance(state, 0.5) ? 0.8 * topo_uniform(state) : 0;
	s->fabric_link = chance(state, 0.3) ? 400 : 100;
	s->attached = chance(state, 0.2);
	if (chance(state, 0.4)) {
		s->processing_min = 50;
		s->processing_max = 50 + 3000 * topo_uniform(state);
	}
	s->servers = chance(state, 0.2) ? draw(state, 1, 3) : 0;
	s->seed = topo_random(state);
}

/* A topology with a box that cannot merge is refused: it is generated again without boxes. */
struct topology *drawn_topology(uint64_t seed, int most, struct scheme_options *o)
{
	uint64_t state = seed;
	struct topo_error e = {.text = ""};
	struct topo_spec s;
	struct topology *t;

	s = topo_spec_default((enum topo_shape)draw(&state, TOPO_STAR, TOPO_RANDOM));
	draw_size(&s, &state, most);
	draw_rest(&s, &state);
	t = topo_generate(&s, &e);
	if (!t) {
		s.boxes = TOPO_BOX_NONE;
		s.servers = 0;
		t = topo_generate(&s, &e);
	}
	if (!t) {
		fprintf(stderr, "drawn_topology: seed %lu: %s\n", (unsigned long)seed, e.text);
		abort();
	}
	o->work = WORK;
	o->chunks = chance(&state, 0.2) ? 256 : 0;
	o->reduce_only = s.servers > 0 && chance(&state, 0.4);
	return t;
}
