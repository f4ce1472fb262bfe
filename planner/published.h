/*
 * The models of GRID and InArt, as their papers state them: no links inside the network, workers
 * all alike, one merge of each stream.
 */
#ifndef RF_PLANNER_PUBLISHED_H
#define RF_PLANNER_PUBLISHED_H

#include "planner/servers.h"

/* GRID's problem GRIA: how fast each of n workers can send. */
struct gria {
	int workers;
	double ingress;  /* B, of the parameter server */
	double rate_max; /* T, of a worker */
	int boxes;
	double *capacity; /* C, largest first */
	int *box;         /* the node of each */
	/* Ways from worker n to box s, or with s = boxes to the server, in links: among optima the
	 * relaxation takes one of short ways. NULL: the vertex that comes, as printed. */
	double *far;
};

/* The model of a topology: workers other than the server, T the least egress of a worker. */
struct gria *gria_new(const struct topology *t, int server);
void gria_free(struct gria *g);

/* Optimum of the linear relaxation; part[n * (boxes + 1) + s], s = boxes for none, if not NULL:
 * what of the rate of worker n goes to box s. -1: no optimum. */
double gria_relaxation(const struct gria *g, double *part);
/* Optimum of the problem itself: each worker wholly at one box. slots[s], if not NULL: how many
 * workers box s takes. */
double gria_exact(const struct gria *g, int *slots);
/* Optimum where every chunk may choose its own box. */
double gria_classes(const struct gria *g);

/*
 * L-InArt: shares of the servers when links have no limit. Returns the rate of all shares
 * together; rate_max: of a worker. Among equals the shares are as even as can be.
 */
double inart_shares(const struct topology *t, const int *server, int servers, double rate_max,
		    double *share);
/*
 * The best assignment of whole streams for given shares, both ways or the way up alone, whose trees
 * are added to the plan. Returns the rate; -1: there are too many assignments to try them all.
 */
double inart_exact(const struct topology *t, const int *server, int servers, const double *share,
		   bool reduce_only, struct plan *p);
/* R-InArt's choice by a number u in [0, 1) among parts that add up to 1: the first whose sum with
 * those before it exceeds u. */
int inart_pick(const double *part, int n, double u);

#endif
