/*
 * Looking for cheap trees under prices of arcs and of merging: what column generation asks for in
 * each round. Found trees go into the pool of the packing.
 */
#ifndef RF_PLANNER_SEARCH_H
#define RF_PLANNER_SEARCH_H

#include "planner/arbor.h"
#include "planner/pack.h"
#include "planner/steiner.h"

struct search {
	struct pack *p;
	struct master *m;
	const struct topology *t;
	struct steiner *s;
	struct arbor *a; /* NULL: one price of a link is enough, or the topology is too large */
	double *link;
	bool symmetric;
	bool affordable;    /* looking at every tree */
	double *arc, *node; /* prices of this round */
	double *center_arc, *center_node;
	double center; /* the bound that they give, as far as the search went */
	int *root;
	int roots;
	int turn;
	int turns; /* calls until every root has been tried */
	bool *in_up, *in_down;
};

/* For a packing whose master is there. */
void search_begin(struct search *x, struct pack *p);
void search_end(struct search *x);
/* Adds what searching took to the packing's work. */
void search_spend(struct search *x);
/* The same; whether that part of the work is still to be done. */
bool search_may_go_on(struct search *x, double part);

/* Prices to begin with: what a link has not, it is dear for. */
void search_first_prices(struct search *x);
/*
 * The prices of what the latest tree of the pool used rise, most where it left least (Garg and
 * Koenemann): the next tree will be another one.
 */
void search_raise_prices(struct search *x);

/* Adds at least one tree to the pool, of all trees (where that is affordable) or of some; the cost
 * of the cheapest one found, INFINITY where nothing connects the workers. */
double search_look(struct search *x, bool all);
/* The same with one tree that is found fast. */
double search_quick(struct search *x);
/* Lowers the packing's bound where a spanning tree gives a better one: see there. */
void search_bound_by_spanning(struct search *x);

#endif
