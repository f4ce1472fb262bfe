/*
 * Colours of the nodes of a topology, by refinement: hashes of the properties of a node and of the
 * colours around it. Nodes with one link ("leaves" here) are first folded into their neighbour. The
 * remaining nodes, the core, are few even if there are many hosts.
 */
#ifndef RF_PLANNER_COLOUR_H
#define RF_PLANNER_COLOUR_H

#include "plan/topology.h"

struct painter {
	const struct topology *t;
	uint64_t *colour, *next;
	uint64_t *sorted; /* scratch: sorted colours of the core */
	int *core;        /* nodes of the core */
	int cores;
	bool *is_leaf;
	double *value; /* capacities and processing rates, ascending */
	int values;
	uint64_t *look; /* of arcs, from arc_colour() */
	int colours;    /* number of different colours in the core */
	long visited;
};

/*
 * Computes colours that depend on the structure alone; nodes that refinement cannot tell apart
 * share a colour.
 */
void painter_begin(struct painter *x, const struct topology *t);
/* Continues until every core node has its own colour; canon.h describes how ties are resolved. */
void painter_split(struct painter *x);
void painter_end(struct painter *x);

#endif
