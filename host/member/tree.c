/* A tree of boxes: what a rank's JOIN says of it, and who a rank of a box is in the group. */
#include "host/member/tree.h"

static unsigned int above(const struct rf_member_tree *t, unsigned int box)
{
	unsigned int n = 0;

	for (; box != 0; box = t->box[box].parent)
		n++;
	return n;
}

bool rf_member_tree_sound(const struct rf_member_tree *t, unsigned int ranks)
{
	if (t->boxes < 1 || t->boxes > RF_BOXES_MAX)
		return false;
	for (unsigned int b = 0; b < t->boxes; b++)
		if ((b &&
		     (t->box[b].parent >= b || t->box[b].rank >= t->box[t->box[b].parent].ranks)) ||
		    above(t, b) > RF_CTL_ABOVE_MAX)
			return false;
	for (unsigned int r = 0; r < ranks; r++)
		if (t->box_of[r] >= t->boxes || t->rank_of[r] >= t->box[t->box_of[r]].ranks)
			return false;
	return true;
}

unsigned int rf_member_tree_chain(const struct rf_member_tree *t, unsigned int box,
				  struct rf_ctl_uplink up[RF_CTL_ABOVE_MAX])
{
	unsigned int n = 0;

	for (; box != 0 && n < RF_CTL_ABOVE_MAX; box = t->box[box].parent) {
		unsigned int parent = t->box[box].parent;

		up[n++] = (struct rf_ctl_uplink){.ip = t->box[parent].ip,
						 .rank = t->box[box].rank,
						 .ranks = t->box[parent].ranks,
						 .port = RF_CTL_NO_PORT};
	}
	return n;
}

unsigned int rf_member_tree_rank(const struct rf_member_tree *t, unsigned int ranks,
				 unsigned int box, unsigned int number)
{
	for (unsigned int r = 0; r < ranks; r++)
		if (t->box_of[r] == box && t->rank_of[r] == number)
			return r;
	return RF_MEMBER_NOBODY;
}

unsigned int rf_member_tree_box(const struct rf_member_tree *t, uint32_t ip)
{
	for (unsigned int b = 0; b < t->boxes; b++)
		if (t->box[b].ip == ip)
			return b;
	return RF_MEMBER_NOBODY;
}
