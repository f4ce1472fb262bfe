/*
 * Routes in a topology. They run through switches and boxes; through a host only if there is no
 * other way.
 */
#ifndef RF_PLANNER_ROUTER_H
#define RF_PLANNER_ROUTER_H

#include "plan/topology.h"

/* Among the routes with the fewest hops, the one whose most loaded arc has the least load. */
struct router {
	const struct topology *t;
	double *load; /* of arcs: load of the routes so far */
	int *place;   /* of nodes: index among `places`; -1: a host with one link, which uses its
			 switch */
	int places;
	int *first, *out; /* arcs between those nodes, as in the topology */
	int **hops;       /* hops[to][node] by place, computed when first needed */
	/*
	 * Arcs that lead nearer to near_to, the target of the latest route: nears[node] of them
	 * from near[first[node]] on, valid if near_mark[node] == near_round.
	 */
	int near_to, near_round;
	int *near, *nears, *near_mark;
	int *arc; /* the latest route */
	int arcs;
	/*
	 * State of one search: the best route to a node, valid if mark[node] is the mark of the
	 * search.
	 */
	struct router_way {
		int mark, via;     /* the arc that leads here */
		double worst, sum; /* load / capacity: largest value and sum on the route */
	} * way;
	int *queue;
	int mark;
};

struct router *router_new(const struct topology *t);
void router_free(struct router *r);
/* Finds a route, stores it in r->arc and r->arcs, and adds weight to the load of its arcs. */
void router_find(struct router *r, int from, int to, double weight);
/* The number of hops from one node to another. */
int router_hops(struct router *r, int from, int to);

#endif
