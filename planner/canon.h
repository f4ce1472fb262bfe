/*
 * Puts a topology into an order that depends only on its structure: kinds, capacities, delays and
 * links, but not names or the order of a file. Schemes run on this order, so that the same network
 * gives the same plan however the file lists it, and in whatever unit.
 */
#ifndef RF_PLANNER_CANON_H
#define RF_PLANNER_CANON_H

#include "plan/plan.h"

struct canon {
	struct topology *t; /* the reordered network; owned */
	int *node;          /* original node, by reordered node */
	int *arc;           /* original arc, by reordered arc */
	double scale;       /* a power of two that brings the largest capacity to 64 .. 128 */
};

/*
 * Racks follow each other in the order of a walk that always goes to the nearest remaining rack;
 * workers of a rack are adjacent. Some nodes cannot be told apart by colour refinement (Weisfeiler
 * and Leman, with individualisation and a look-ahead for each choice). They keep the order in which
 * they came. Usually a symmetry of the network exchanges such nodes, so their order does not
 * matter. In regular networks of many switches, where the look-ahead would take too long, other
 * nodes may keep that order as well.
 *
 * The process ends if memory runs out (memory.h).
 */
struct canon *canon_new(const struct topology *t);
void canon_free(struct canon *c);
/* Converts a plan and its certificate for c->t to the original topology. */
void canon_back(const struct canon *c, struct plan *p);

#endif
