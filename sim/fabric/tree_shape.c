/* The shape of a tree of boxes, from the configuration. */
#include <string.h>

#include "sim/fabric/internal.h"

/* Boxes of a level; 0: the leaves. 1: the top. */
static unsigned level_boxes(const struct rf_fabric_cfg *c, unsigned level)
{
	if (level == 0)
		return c->leaves ? c->leaves : 1;
	return level <= RF_FABRIC_MIDDLE && c->middle[level - 1] ? c->middle[level - 1] : 1;
}

unsigned rf_fabric_boxes(const struct rf_fabric_cfg *c)
{
	unsigned n = c->leaves;

	for (unsigned i = 0; i < RF_FABRIC_MIDDLE && c->leaves; i++)
		n += c->middle[i];
	return n + 1;
}

unsigned rf_fabric_box_ports(const struct rf_fabric *f)
{
	return f->cfg.ports * rf_fabric_boxes(&f->cfg);
}

unsigned rf_fabric_parent(const struct rf_fabric_cfg *c, unsigned box)
{
	unsigned first = 0, level = 0;

	if (box + 1 >= rf_fabric_boxes(c))
		return RF_NOBODY;
	while (box - first >= level_boxes(c, level))
		first += level_boxes(c, level++);
	return first + level_boxes(c, level) +
	       (box - first) / (level_boxes(c, level) / level_boxes(c, level + 1));
}

const char *rf_tree_refuse(const struct rf_fabric_cfg *c)
{
	if (!c->leaves)
		return NULL;
	if (c->leaves > RF_FABRIC_LEAVES)
		return "a tree of boxes: expected at most 16 leaves";
	for (unsigned i = 0; i < RF_FABRIC_MIDDLE; i++)
		if (c->middle[i] &&
		    ((i && !c->middle[i - 1]) || c->middle[i] >= level_boxes(c, i) ||
		     level_boxes(c, i) % c->middle[i] != 0))
			return "a tree of boxes: expected fewer boxes at each level, each with as "
			       "many below it";
	if (c->ranks % c->leaves != 0 || c->groups > 1 || !c->mirror || !c->directed || c->store ||
	    c->router || c->pcapng_dir || c->timeline || c->start_index)
		return "a tree of boxes: expected one group with as many ranks at each leaf, "
		       "mirror connections, directed groups, no store, no router, no captures";
	return NULL;
}

unsigned rf_tree_number(const struct rf_fabric_cfg *c, unsigned box)
{
	return rf_fabric_boxes(c) - 1 - box;
}

void rf_tree_describe(const struct rf_fabric_cfg *c, struct rf_member_tree *t)
{
	unsigned ranks = c->ranks / c->leaves;

	memset(t, 0, sizeof(*t));
	t->boxes = rf_fabric_boxes(c);
	for (unsigned b = 0; b < t->boxes; b++) {
		unsigned k = rf_tree_number(c, b), above = rf_fabric_parent(c, b);

		t->box[k].ip = rf_fabric_tree_ip(b);
		if (b < c->leaves)
			t->box[k].ranks = (uint16_t)ranks;
		if (above == RF_NOBODY)
			continue;
		t->box[k].parent = rf_tree_number(c, above);
		t->box[k].rank = t->box[t->box[k].parent].ranks++;
	}
	for (unsigned r = 0; r < c->ranks; r++) {
		t->box_of[r] = (unsigned char)rf_tree_number(c, r / ranks);
		t->rank_of[r] = (uint16_t)(r % ranks);
	}
}
