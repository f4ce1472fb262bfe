/*
 * Searches for cheap trees under prices of arcs and of merging: the pricing step of column
 * generation. The trees found go into the pool of the packing.
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
	struct arbor *a; /* NULL: links have one price, or the topology is too large */
	double *link;
	bool symmetric;
	bool affordable;    /* a search over all trees is affordable */
	double *arc, *node; /* prices of this round */
	double *center_arc, *center_node;
	double center; /* the bound that the center prices give, for the trees examined */
	int *root;
	int roots;
	int turn;
	int turns; /* calls until every root has been tried */
	bool *in_up, *in_down;
};

/* Begins a search for a packing; p->m must exist. */
void search_begin(struct search *x, struct pack *p);
void search_end(struct search *x);
/* Adds the work units of the search to the packing's work. */
void search_spend(struct search *x);
/* The same; returns whether that part of the work is left. */
bool search_may_go_on(struct search *x, double part);

/* Sets the first prices: the inverse of the capacity. */
void search_first_prices(struct search *x);
/*
 * Raises the prices of the resources that the latest tree of the pool uses, most where the least
 * capacity is left (Garg and Koenemann), so that the next tree differs.
 */
void search_raise_prices(struct search *x);

/*
 * Adds at least one tree to the pool, from a search over all trees (if that is affordable) or over
 * some. Returns the cost of the cheapest tree found, INFINITY if nothing connects the workers.
 */
double search_round(struct search *x, bool all);
/* The same with one tree that is found quickly. */
double search_quick(struct search *x);
/* Lowers the packing's bound if a spanning tree gives a better one: see the definition. */
void search_bound_by_spanning(struct search *x);

#endif
