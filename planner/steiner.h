/*
 * The cheapest tree under prices of links, both directions together, and of merging nodes.
 *
 * For given merging nodes it is a minimum spanning tree of the workers and those nodes in the
 * metric of the prices, found on the network itself with one shortest-path run from all of them at
 * once (Mehlhorn, Information Processing Letters 27, 1988). A node's price counts for every input
 * that it merges, one less than its edges where the root is elsewhere: it is a detour of that
 * length in front of the node, less the price once.
 */
#ifndef RF_PLANNER_STEINER_H
#define RF_PLANNER_STEINER_H

#include "planner/graph.h"
#include "plan/plan.h"

struct steiner {
	const struct topology *t;
	const double *link; /* prices of links */
	const double *node; /* prices of merging nodes; NULL: none */
	const int *copies;  /* by worker of one link: so many more are at its switch; NULL: none */
	int *optional;      /* nodes that may merge but need not: boxes, servers */
	int options;
	bool quick; /* steiner_search leaves out dropping and adding nodes one by one */
	bool *in;   /* what the tree spans: all workers, some of the optional */
	/* The latest tree: edges between terminals, over a link or at a node's own place. */
	struct steiner_edge {
		double weight;
		int link; /* -1: from node to whom the node belongs */
		int node;
	} * candidate, *edge;
	int edges;
	double cost;
	double *distance;
	int *site, *from_arc, *parent;
	struct heap heap;
	double spent; /* work so far: see work.h */
};

struct steiner *steiner_new(const struct topology *t, bool merging);
void steiner_free(struct steiner *s);

/*
 * The tree over s->in. Copies of a worker hang on the terminal that is nearest to their switch
 * (which may be that worker): their cost and what they bring to a merging node count, their edges
 * are not in the tree.
 */
double steiner_span(struct steiner *s);
/*
 * Chooses s->in: all subsets of the optional nodes if they are at most `exhaustive`, else
 * dropping and adding one by one. Leaves the best tree. Returns its cost.
 */
double steiner_search(struct steiner *s, int exhaustive);
/* Takes nodes that merge nothing from s->in; whether there were any. To be called after a span. */
bool steiner_prune(struct steiner *s);
/* The terminals of edge i of the latest tree, and the arcs from the first to the second. */
int steiner_edge_arcs(const struct steiner *s, int i, int *from, int *to, int *arc);
/* The arcs from a node to the terminal that is nearest to it. */
int steiner_nearest_arcs(const struct steiner *s, int node, int *arc);
/* The tree's way up to the root, or down from it, as edges of the pool's latest tree. Merging
 * nodes that merge nothing are left out. */
void steiner_emit(struct steiner *s, struct plan *pool, int root, bool down);

#endif
