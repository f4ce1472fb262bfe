/*
 * Finds all boxes of a group's tree from any one of them, by pages TREE and RANKS of STATUS: first
 * up to the topmost box, then down to all others.
 */
#ifndef RF_TOOLS_TREE_WALK_H
#define RF_TOOLS_TREE_WALK_H

#include "proto/rf_ctl.h"

/*
 * Asks the box at an address for a page of the group. The answer is valid until the next question;
 * NULL: none, or a refusal.
 */
typedef const struct rf_ctl_reply *tree_ask(void *arg, uint32_t box_ip, enum rf_ctl_page page,
					    uint16_t index);
/*
 * Called for each box, a box before those below it. depth: 0 for the topmost one. p: NULL if it
 * does not answer or does not know the group. A box below has the address of its port to the
 * parent.
 */
typedef void tree_visit(void *arg, unsigned int depth, uint32_t box_ip,
			const struct rf_ctl_tree_page *p);

/* Returns how many boxes have answered. arg: of both functions. */
unsigned int tree_walk(uint32_t start, tree_ask *ask, tree_visit *visit, void *arg);

#endif
