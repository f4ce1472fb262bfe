/*
 * Colours of the nodes of a topology by refinement: hashes of what a node is and of the colours
 * around it. Nodes with one link ("leaves" here) are folded into their neighbour first: the rest,
 * the core, is small even where there are many hosts.
 */
#ifndef RF_PLANNER_COLOUR_H
#define RF_PLANNER_COLOUR_H

#include "plan/topology.h"

struct painter {
	const struct topology *t;
	uint64_t *colour, *next;
	uint64_t *sorted; /* scratch: colours of the core */
	int *core;        /* nodes of the core */
	int cores;
	bool *is_leaf;
	double *value; /* capacities and processing, ascending */
	int values;
	uint64_t *look; /* of arcs, as arc_colour has it */
	int colours;    /* different ones in the core */
	long visited;
};

/* Colours that depend on the structure alone; nodes that refinement cannot tell apart share one. */
void painter_begin(struct painter *x, const struct topology *t);
/* Until every node of the core has a colour of its own: see canon.h for what that takes. */
void painter_split(struct painter *x);
void painter_end(struct painter *x);

#endif
