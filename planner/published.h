/*
 * The models of GRID and InArt as their papers state them: no links inside the network, all workers
 * alike, one merge of each stream.
 */
#ifndef RF_PLANNER_PUBLISHED_H
#define RF_PLANNER_PUBLISHED_H

#include "planner/servers.h"

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

/*
 * L-InArt: shares of the servers if links have no limit. Returns the rate of all shares together;
 * rate_max: of a worker. Among equal optima the shares are as even as possible.
 */
double inart_shares(const struct topology *t, const int *server, int servers, double rate_max,
		    double *share);
/*
 * The best assignment of whole streams for given shares, for both ways or the way up alone. Adds
 * its trees to the plan. Returns the rate; -1: there are too many assignments to try them all.
 */
double inart_exact(const struct topology *t, const int *server, int servers, const double *share,
		   bool reduce_only, struct plan *p);
/*
 * R-InArt's choice by a number u in [0, 1) among parts that add up to 1: the first part for which
 * the sum up to and including it is at least u.
 */
int inart_pick(const double *part, int n, double u);

#endif
