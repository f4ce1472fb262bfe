/*
 * Workers in racks, and what depends on racks alone.
 */
#ifndef RF_PLANNER_RACKS_H
#define RF_PLANNER_RACKS_H

#include "plan/plan.h"

/*
 * Workers in racks: those attached to one switch or box. A host with several links is a rack of its
 * own. Racks are in the order of their first worker, workers in their own order.
 */
struct racks {
	int count;
	int *first;  /* in member; count + 1 entries */
	int *member; /* nodes */
	int *head;   /* the switch or box, -1: none */
	int *box;    /* where the rack can merge: the head, or a box attached to it; -1: none */
};

struct racks *racks_new(const struct topology *t);
void racks_free(struct racks *r);
/* The box at a switch: itself, or one attached to it by its only link; -1: none. */
int racks_box_at(const struct topology *t, int node);

/*
 * The number of rounds of a ring: how often data is passed from group to group, up and down the
 * deepest chain; group: by node. The edges of a tree must be in the order in which data crosses
 * them.
 */
int racks_rounds(const struct topology *t, const struct plan *p, const int *group);

#endif
