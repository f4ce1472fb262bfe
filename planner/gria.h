/*
 * GRID's model as its paper states it: no links inside the network, all workers alike, one merge of
 * each stream.
 */
#ifndef RF_PLANNER_GRIA_H
#define RF_PLANNER_GRIA_H

#include "plan/topology.h"

/* GRID's problem GRIA: the highest rate at which each of n workers can send. */
struct gria {
	int workers;
	double ingress;  /* B, of the parameter server */
	double rate_max; /* T, of a worker */
	int boxes;
	double *capacity; /* C, largest first */
	int *box;         /* the node of each */
	/*
	 * distance: length in links of the route from worker n to box s, or to the server for s =
	 * boxes. Among optima the relaxation takes one with short routes. NULL: it takes the vertex
	 * that the solver returns, as in the paper.
	 */
	double *distance;
};

/* The model of a topology: its workers except the server; T is the least egress of a worker. */
struct gria *gria_new(const struct topology *t, int server);
void gria_free(struct gria *g);
/*
 * The number of boxes that suffice for everything that the server can receive: more boxes change
 * nothing.
 */
int gria_boxes_needed(const struct gria *g);

/*
 * The optimum of the linear relaxation. part[n * (boxes + 1) + s], if part is not NULL: the rate of
 * worker n to box s, or without a box for s = boxes. -1: no optimum.
 */
double gria_relaxation(const struct gria *g, double *part);
/*
 * The optimum of the problem itself, with each worker entirely at one box. slots[s], if slots is
 * not NULL: how many workers box s takes.
 */
double gria_exact(const struct gria *g, int *slots);
/* The optimum if every chunk may choose its own box. */
double gria_classes(const struct gria *g);

#endif
