/*
 * Finds the cheapest tree under prices of links, both directions together, and of merging nodes.
 *
 * For given merging nodes it is a minimum spanning tree of the workers and those nodes in the
 * metric of the prices. One shortest-path run from all of them at once finds it on the network
 * itself (Mehlhorn, Information Processing Letters 27, 1988). The price of a node counts for every
 * input that it merges, which is one less than its edges if the root is elsewhere. The search
 * therefore adds a detour of that length in front of the node and subtracts the price once.
 */
#ifndef RF_PLANNER_STEINER_H
#define RF_PLANNER_STEINER_H

#include "planner/heap.h"
#include "planner/router.h"
#include "plan/plan.h"

struct steiner {
	const struct topology *t;
	const double *link; /* prices of links */
	const double *node; /* prices of merging nodes; NULL: none */
	const int *copies;  /* by worker with one link: number of other workers at its switch; NULL:
			       none */
	int *optional;      /* nodes that may merge: boxes, hosts without data */
	int options;
	bool quick; /* steiner_search does not drop and add nodes one by one */
	bool *in;   /* nodes that the tree spans: all workers, some of the optional nodes */
	/* The latest tree: edges between terminals, over a link or at a node. */
	struct steiner_edge {
		double weight;
		int link; /* -1: from `node` to the terminal of that node */
		int node;
	} * candidate, *edge;
	int edges;
	double cost;
	double *distance;
	int *site, *from_arc, *parent;
	struct heap heap;
	double spent; /* work units so far: see work.h */
};

struct steiner *steiner_new(const struct topology *t, bool merging);
void steiner_free(struct steiner *s);

/*
 * Finds the tree over s->in and returns its cost. Copies of a worker are attached to the terminal
 * nearest to their switch, which may be that worker. Their cost and their inputs at a merging node
 * count, but their edges are not in the tree.
 */
double steiner_span(struct steiner *s);
/*
 * Chooses s->in: tries all subsets of the optional nodes if there are at most `exhaustive`,
 * otherwise drops and adds nodes one by one. Leaves the best tree and returns its cost.
 */
double steiner_search(struct steiner *s, int exhaustive);
/*
 * Removes nodes that neither merge nor relay from s->in; returns whether there were any. Call it
 * after steiner_span.
 */
bool steiner_prune(struct steiner *s);
/*
 * The terminals of edge i of the latest tree, and the arcs from the first to the second. Returns
 * the number of arcs.
 */
int steiner_edge_arcs(const struct steiner *s, int i, int *from, int *to, int *arc);
/* The arcs from a node to the terminal nearest to it. Returns their number. */
int steiner_nearest_arcs(const struct steiner *s, int node, int *arc);
/*
 * Adds the tree's way up to the root, or down from it, as edges of the pool's latest tree. Optional
 * nodes that neither merge nor relay are left out.
 */
void steiner_emit(struct steiner *s, struct plan *pool, int root, bool down);

#endif
