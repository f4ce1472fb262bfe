/* A tree of boxes in `ringfold sim`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/sim.h"

#define NUMBERS 4u     /* of a shape: up to three of boxes, then ranks */
#define LEAF_RANKS 64u /* ranks of one group in the firmware */

/* Reads "2x2x3". Returns how many numbers it has; 0: it is not a shape. */
static unsigned read_shape(const char *text, unsigned n[NUMBERS])
{
	for (unsigned k = 0; k < NUMBERS; k++) {
		char *end;
		unsigned long v = *text >= '0' && *text <= '9' ? strtoul(text, &end, 10) : 0;

		if (v < 1 || v > RF_FABRIC_GROUP_RANKS)
			return 0;
		n[k] = (unsigned)v;
		if (*end == '\0')
			return k + 1;
		if (*end != 'x')
			return 0;
		text = end + 1;
	}
	return 0;
}

/* The leaves, and the levels above them from below. False: too many, or a level with one box. */
static bool take_shape(struct rf_fabric_cfg *c, const unsigned *n, unsigned levels)
{
	unsigned boxes = 1, level[NUMBERS];

	for (unsigned k = 0; k < levels; k++) {
		boxes *= n[k];
		level[k] = boxes;
		if (n[k] < 2 || boxes > RF_FABRIC_LEAVES)
			return false;
	}
	c->leaves = boxes;
	c->ranks = boxes * n[levels];
	for (unsigned k = 0; k + 1 < levels; k++)
		c->middle[k] = level[levels - 2 - k];
	return n[levels] <= LEAF_RANKS && c->ranks <= RF_FABRIC_GROUP_RANKS;
}

/* NULL, or an option that a tree does not have. */
static const char *not_here(const struct sim_settings *s)
{
	if (strcmp(s->schedule, "box") != 0)
		return "--schedule";
	if (strcmp(s->firmware, "native") != 0)
		return "--firmware";
	if (s->collective.router)
		return "--router";
	if (sim_collective_needs_world(&s->collective))
		return s->collective.mark ? "--mark" : "--slow";
	if (s->pcapng)
		return "--pcapng";
	if (s->cfg.timeline)
		return "--timeline";
	if (s->wave)
		return "--wave";
	return NULL;
}

int sim_tree_settle(struct sim_settings *s)
{
	unsigned n[NUMBERS], count = read_shape(s->tree, n), asked = s->cfg.ranks;
	struct rf_fabric_cfg def;

	if (count < 2) {
		fprintf(stderr,
			"--tree: \"%s\": expected two to four numbers, as 2x3 or 2x2x3: the boxes "
			"below each box, level by level, then the ranks of each box at the "
			"bottom\n",
			s->tree);
		return -1;
	}
	if (!take_shape(&s->cfg, n, count - 1)) {
		fprintf(stderr,
			"--tree: \"%s\": expected at least 2 boxes below each, at most %u at the "
			"bottom, at most %u ranks at each of those and %u together\n",
			s->tree, RF_FABRIC_LEAVES, LEAF_RANKS, RF_FABRIC_GROUP_RANKS);
		return -1;
	}
	rf_fabric_cfg_init(&def);
	if (asked != def.ranks && asked != s->cfg.ranks) {
		fprintf(stderr, "--ranks: --tree %s has %u\n", s->tree, s->cfg.ranks);
		return -1;
	}
	if (not_here(s)) {
		fprintf(stderr, "--tree: not with %s\n", not_here(s));
		return -1;
	}
	s->collective.steering = "mirror";
	if (!s->collective.name)
		s->collective.name = rf_schedule_name(RF_SCHEDULE_ALL_REDUCE);
	return 0;
}

unsigned sim_tree_places(const struct rf_fabric_cfg *c)
{
	unsigned boxes = rf_fabric_boxes(c), most = c->ranks / c->leaves + 1;

	for (unsigned b = c->leaves; b < boxes; b++) {
		unsigned n = b + 1 < boxes ? 1 : 0;

		for (unsigned below = 0; below < b; below++)
			n += rf_fabric_parent(c, below) == b;
		most = n > most ? n : most;
	}
	return most;
}
