/*
 * A topology in an order that depends on nothing but its structure: kinds, capacities, delays and
 * what is linked to what, not names and not the order of a file. Schemes run on it, so that the
 * same network gives the same plan however it is written down, and in whatever unit.
 */
#ifndef RF_PLANNER_CANON_H
#define RF_PLANNER_CANON_H

#include "plan/plan.h"

struct canon {
	struct topology *t; /* the same network, reordered; owned */
	int *node;          /* of the original, by the reordered node */
	int *arc;           /* likewise, arcs */
	double scale;       /* a power of two that brings the largest capacity to 64 .. 128 */
};

/*
 * Racks stand in the order of a walk that goes on to the nearest rack each time, workers of a rack
 * side by side. Nodes that refinement of colours (Weisfeiler and Leman, with individualisation and
 * a look at what each choice would lead to) cannot tell apart keep the order in which they came:
 * nodes that a symmetry of the network exchanges, which changes nothing; and in regular networks
 * of many switches, where looking ahead would take too long, perhaps others.
 *
 * A memory shortage ends the process.
 */
struct canon *canon_new(const struct topology *t);
void canon_free(struct canon *c);
/* A plan and its certificate for c->t become one for the original. */
void canon_back(const struct canon *c, struct plan *p);

#endif
