/*
 * Column generation: solves the linear program over the trees so far, searches for a tree that is
 * cheaper under its prices than what it would gain, and repeats until there is none.
 */
#ifndef RF_PLANNER_PACK_H
#define RF_PLANNER_PACK_H

#include "planner/master.h"

#define PACK_PART 0.85 /* of the work; the rest is for reducing the number of trees */

struct pack {
	const struct topology *t;
	bool merging;     /* boxes and servers may merge; otherwise only workers do */
	bool reduce_only; /* the way up alone, to servers */
	struct work work; /* limit of all runs together */
	double enough;    /* a known bound: stop when the value reaches it */
	struct master *m;
	/* Results of pack_run: */
	double value; /* throughput */
	double bound; /* no packing of such trees exceeds it; INFINITY: none is known */
	bool exact;   /* the bound comes from prices for which the search covered all trees */
	double *arc_price, *node_price; /* the prices that give the bound, if exact */
};

/* Creates m; trees may be added to m->pool before pack_run. */
void pack_begin(struct pack *p);
/*
 * Adds the first tree that a quick search finds and solves once; sets value. Returns 0 or -1, as
 * pack_run.
 */
int pack_first_tree(struct pack *p);
/* Returns 0, or -1: CLP failed, or nothing connects the workers. */
int pack_run(struct pack *p);
void pack_end(struct pack *p);

#endif
