/*
 * Column generation: the linear program over the trees so far, a search for a tree that is cheaper
 * under its prices than what it would bring, and so on until there is none.
 */
#ifndef RF_PLANNER_PACK_H
#define RF_PLANNER_PACK_H

#include "planner/master.h"

#define PACK_PART 0.85 /* of the work; the rest is for choosing few trees */

struct pack {
	const struct topology *t;
	bool merging;     /* boxes and servers may merge; else trees of workers only */
	bool reduce_only; /* the way up alone, to servers */
	struct work work; /* at most, all runs together */
	double enough;    /* a bound that is known already: stop there */
	struct master *m;
	/* Found by pack_run: */
	double value; /* throughput */
	double bound; /* no packing of such trees is above it; INFINITY where none is known */
	bool exact;   /* the bound comes from prices under which every tree was looked at */
	double *arc_price, *node_price; /* the prices behind the bound, where exact */
};

/* Fills m; trees may be added to m->pool before pack_run. */
void pack_begin(struct pack *p);
/* Adds the first tree that the search finds: value is what it reaches. 0 or -1 as pack_run. */
int pack_glance(struct pack *p);
/* 0, or -1: CLP gave up, or nothing connects the workers. */
int pack_run(struct pack *p);
void pack_end(struct pack *p);

#endif
