/*
 * Walks through a topology: routes, shortest paths under prices, flows.
 *
 * Routes run through switches and boxes; through a host only where nothing else leads on.
 */
#ifndef RF_PLANNER_GRAPH_H
#define RF_PLANNER_GRAPH_H

#include "plan/topology.h"

/* Of the routes with the fewest hops the one whose most loaded arc is loaded least. */
struct router {
	const struct topology *t;
	double *load; /* of arcs, what routes so far have put on them */
	int *place;   /* of nodes other than hosts of one link, which are at their switch: -1 */
	int places;
	int *first, *out; /* arcs between those nodes, as in the topology */
	int **hops;       /* hops[to][node] by place, made when first asked for */
	int *arc;         /* the latest route */
	int arcs;
	/* One search: what the best way to a node has, valid where mark[node] is the search's. */
	struct router_way {
		int mark, via;     /* the arc that leads here */
		double worst, sum; /* loads over capacities on the way */
	} * way;
	int *queue;
	int mark;
};

struct router *router_new(const struct topology *t);
void router_free(struct router *r);
/* Leaves the route in r->arc, r->arcs and adds weight to its load. */
void router_find(struct router *r, int from, int to, double weight);
/* Hops from one node to another. */
int router_hops(struct router *r, int from, int to);

/* Nodes by key, least first; a node may be in it several times. */
struct heap {
	struct heap_entry {
		double key;
		int node;
	} * entry;
	int count, room;
};

void heap_push(struct heap *h, double key, int node);
struct heap_entry heap_pop(struct heap *h);

/* Maximal flow between two nodes by arcs' capacities; stops at `enough`. */
struct flow {
	const struct topology *t;
	double *rest, *capacity; /* of arcs */
	int *level, *next, *queue, *path;
};

/* The nodes where a plan that only reduces may end: servers, or where there are none all workers.
 * Returns their number; list has room for t->nodes. */
int plan_roots(const struct topology *t, int *list);

#endif
