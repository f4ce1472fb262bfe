/* A tree of boxes, as the ranks of a group know it: docs/member.md, "A tree of boxes". */
#ifndef RF_MEMBER_TREE_H
#define RF_MEMBER_TREE_H

#include <stdbool.h>
#include <stdint.h>

#include "proto/rf_ctl.h"
#include "ringfold/ringfold.h"

#define RF_MEMBER_NOBODY UINT32_MAX

/* Numbers of boxes are those of struct rf_order: box 0 is the root, a parent comes before. */
struct rf_member_tree {
	unsigned int boxes;
	struct {
		uint32_t ip;
		unsigned int parent; /* that of box 0 is unused */
		uint16_t rank;       /* at the parent */
		uint16_t ranks;      /* at this box: those of the group, and boxes below */
	} box[RF_BOXES_MAX];
	/* of each rank of the group: its box, and its number among the ranks there */
	unsigned char box_of[RF_RANKS_MAX];
	uint16_t rank_of[RF_RANKS_MAX];
};

/* Whether a tree has a place for each of so many ranks, and no more than four levels. */
bool rf_member_tree_sound(const struct rf_member_tree *t, unsigned int ranks);
/* The chain of the JOIN of a box's ranks. Returns the number of boxes above. */
unsigned int rf_member_tree_chain(const struct rf_member_tree *t, unsigned int box,
				  struct rf_ctl_uplink up[RF_CTL_ABOVE_MAX]);
/* The rank of the group that has this number at a box; RF_MEMBER_NOBODY: none, or a box below. */
unsigned int rf_member_tree_rank(const struct rf_member_tree *t, unsigned int ranks,
				 unsigned int box, unsigned int number);
/* The box with an address; RF_MEMBER_NOBODY: none. */
unsigned int rf_member_tree_box(const struct rf_member_tree *t, uint32_t ip);

#endif
