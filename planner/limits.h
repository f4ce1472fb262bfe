/*
 * What boxes hold: groups, ranks, fan-in, slots, ports (docs/planner.md, "What a box can hold").
 * A tree of which a box is a node is one group there; a route that only passes the box is none.
 */
#ifndef RF_PLANNER_LIMITS_H
#define RF_PLANNER_LIMITS_H

#include "planner/scheme.h"
#include "planner/shape.h"
#include "planner/work.h"

/* Whether any box has a limit. */
bool limits_any(const struct topology *t);
/* Trees that a box can be a node of: its groups, or slots where they are fewer. */
int limits_trees(const struct topology *t, int node);

/* 0, or -1 with the box and the limit that a plan does not keep. */
int limits_check(const struct topology *t, const struct plan *p, struct topo_error *e);

/* Groups that the trees of a plan take of each node: an array of t->nodes, to be freed. */
int *limits_groups(const struct topology *t, const struct plan *p);

/*
 * Cutting trees to what boxes hold. Of a box with too many children some hang on their fellows
 * instead, in chains; a box that cannot be a node at all hands all its children on.
 */
struct limits_fit {
	const struct topology *t;
	struct router *r;
	struct shape *s;
	bool **port;   /* of boxes with limited ports: which of their links, by place in t->out */
	bool *allowed; /* boxes that may be a node of the next tree */
	int turn;      /* which children stay where not all can: others at each turn */
};

/* p: the trees that say which ports are worth most. */
struct limits_fit *limits_fit_new(const struct topology *t, const struct plan *p);
void limits_fit_free(struct limits_fit *f);
/* Whether a tree keeps the limits of one tree, has only boxes that are allowed, and those only at
 * their ports. */
bool limits_fits(const struct limits_fit *f, const struct plan *p, int tree);
/* Adds a tree of p to q, as it is where it keeps the limits of a single tree and where all its
 * boxes are allowed, else cut and mirrored. */
void limits_fit_tree(struct limits_fit *f, const struct plan *p, int tree, struct plan *q,
		     double share);

/* The whole plan: at most `trees` trees (0: any number), boxes in the largest of them. */
void limits_fit_plan(const struct topology *t, struct plan *p, int trees);

/* Adds every tree there is to pool, each cut to the limits; false, and none, where there are too
 * many. merging: boxes may be nodes. */
bool limits_every_tree(const struct topology *t, struct limits_fit *f, struct plan *pool,
		       bool merging);

/* The least number of trees that any limit leaves; most: of all (0: none). */
int limits_fewest(const struct topology *t, int most);
/* Adds trees of racks with and without boxes to pool, each cut to the limits, while it has fewer
 * arcs than `routes`; trees: limit of all (0: none). */
void limits_families(struct limits_fit *f, struct plan *pool, int trees, int routes);

/*
 * For boxes that hold little: trees whose boxes have as many neighbours as they can, other hosts
 * at each tree (caterpillar.c), beside the trees of the base, which use no box. At most `trees` of
 * all (0: any number). NULL where nothing comes of it; the caller frees.
 */
struct plan *limits_caterpillars(const struct topology *t, const struct plan *base, int trees,
				 struct work *w);

/* The trees, and all of a base together (NULL: none), with the weights that give most. NULL: there
 * are none; the caller frees. */
struct plan *limits_weigh(const struct topology *t, const struct plan *trees,
			  const struct plan *base, struct work *w);

/*
 * The best forest of at most `trees` trees (0: any number) that keeps the limits: p's own trees,
 * those of quick schemes, and on tiny networks all there are. p is replaced where that is better.
 * merging: boxes may be nodes.
 */
void limits_choose(const struct topology *t, struct plan *p, const struct scheme_options *o,
		   bool merging);

#endif
