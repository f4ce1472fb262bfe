/*
 * Limits of boxes: groups, ranks, fan-in, slots, ports (docs/planner.md, "What a box can hold"). If
 * a box is a node of a tree, the tree is one group there; a route that only passes through the box
 * does not count.
 */
#ifndef RF_PLANNER_LIMITS_H
#define RF_PLANNER_LIMITS_H

#include "planner/scheme.h"
#include "planner/shape.h"
#include "planner/work.h"

/* Whether any box has a limit. */
bool limits_any(const struct topology *t);
/* The number of trees that can have a box as a node: its groups, or its slots if they are fewer. */
int limits_trees(const struct topology *t, int node);

/* Returns 0, or -1 with the box and the limit that a plan exceeds. */
int limits_check(const struct topology *t, const struct plan *p, struct topo_error *e);

/*
 * Holds the ports that a plan uses of boxes: links that the plan uses are held at the box, and the
 * box's ports become those that are left for other links.
 */
void limits_hold_ports(struct topology *left, const struct plan *p);

/* The number of groups that a plan uses at each node: an array of t->nodes, to be freed. */
int *limits_groups(const struct topology *t, const struct plan *p);

/*
 * Cuts trees to the limits of boxes. If a box has too many children, some are attached to its other
 * children instead, in chains. A box that cannot be a node at all hands over all its children.
 */
struct limits_fit {
	const struct topology *t;
	struct router *r;
	struct shape *s;
	bool **port; /* of boxes with limited ports: the links that they use, by position in t->out
		      */
	bool *allowed; /* boxes that may be a node of the next tree */
	int turn;      /* rotates which children stay if not all of them can */
};

/* p: a plan whose trees determine the most useful ports. */
struct limits_fit *limits_fit_new(const struct topology *t, const struct plan *p);
void limits_fit_free(struct limits_fit *f);
/*
 * Whether a tree respects the limits of a single tree, and uses only allowed boxes, at their chosen
 * ports.
 */
bool limits_fits(const struct limits_fit *f, const struct plan *p, int tree);
/* Adds a tree of p to q: unchanged if limits_fits(), otherwise cut and mirrored. */
void limits_fit_tree(struct limits_fit *f, const struct plan *p, int tree, struct plan *q,
		     double share);

/*
 * Cuts a whole plan: at most `trees` trees (0: any number); the largest trees get the boxes. If the
 * time of w ends first, the plan has only the trees cut so far, at least one.
 */
void limits_fit_plan(const struct topology *t, struct plan *p, int trees, const struct work *w);

/*
 * Adds all trees of a network to pool, each cut to the limits. Returns false and adds none if there
 * are too many. merging: boxes may be nodes.
 */
bool limits_every_tree(const struct topology *t, struct limits_fit *f, struct plan *pool,
		       bool merging);

/* The least number of trees that any limit allows; most: limit of all trees (0: none). */
int limits_fewest(const struct topology *t, int most);
/*
 * Adds trees for racks with and without boxes to pool, each cut to the limits, while the pool has
 * fewer arcs than `routes` and the time is not yet needed for other steps; trees: limit of all
 * trees (0: none).
 */
void limits_families(struct limits_fit *f, struct plan *pool, int trees, int routes,
		     const struct work *w);

/*
 * For boxes with tight limits: trees whose boxes have as many neighbours as possible, with
 * different hosts in each tree (caterpillar.c), together with the trees of the base, which use no
 * box. At most `trees` trees (0: any number). NULL: no result; the caller frees.
 */
struct plan *limits_caterpillars(const struct topology *t, const struct plan *base, int trees,
				 struct work *w);

/*
 * The plan with the best weights of the trees, and of all trees of a base together (NULL: none).
 * NULL: no result; the caller frees.
 */
struct plan *limits_weigh(const struct topology *t, const struct plan *trees,
			  const struct plan *base, struct work *w);

/*
 * The best forest of at most o->trees trees (0: any number) that respects the limits: from p's own
 * trees, those of quick schemes, and on tiny networks all trees. p is replaced if the result is
 * better. merging: boxes may be nodes.
 */
void limits_choose(const struct topology *t, struct plan *p, const struct scheme_options *o,
		   bool merging);

#endif
