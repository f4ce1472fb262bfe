/*
 * Colours of the nodes of a topology, by refinement: hashes of the properties of a node and of the
 * colours around it. Nodes with one link ("leaves" here) are first folded into their neighbour. The
 * remaining nodes, the core, are few even if there are many hosts.
 */
#ifndef RF_PLANNER_COLOURING_H
#define RF_PLANNER_COLOURING_H

#include "plan/topology.h"

struct colouring {
	const struct topology *t;
	uint64_t *colour, *next;
	uint64_t *sorted; /* scratch: sorted colours of the core */
	int *core;        /* nodes of the core */
	int cores;
	bool *is_leaf;
	double *value; /* capacities and processing rates, ascending */
	int values;
	uint64_t *arc_hash; /* of arcs, from arc_colour() */
	int colours;        /* number of different colours in the core */
	long visited;
};

/*
 * Computes colours that depend on the structure alone; nodes that refinement cannot tell apart
 * share a colour.
 */
void colouring_begin(struct colouring *x, const struct topology *t);
/* Continues until every core node has its own colour; canon.h describes how ties are resolved. */
void colouring_split(struct colouring *x);
void colouring_end(struct colouring *x);

#endif
