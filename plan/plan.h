/*
 * A plan: a weighted forest of aggregation trees. Each tree carries a share of the vector: its
 * edges of the way up bring every worker's data to the root, merging on the way; the edges of the
 * way down bring the sum back.
 *
 * Rates and throughput are in the topology's unit: bytes of vector per second at every worker, in
 * other words the allreduce goodput. A plan with reduce_only models the way up alone, as the
 * papers of GRID and InArt do; its throughput is the sending rate of each worker.
 */
#ifndef RF_PLANNER_PLAN_H
#define RF_PLANNER_PLAN_H

#include "plan/topology.h"

#define PLAN_NAME_MAX 32
#define PLAN_FORMAT "ringfold-plan" /* of its files */

/* One hop of a tree: from sends a packet that to receives, over the arcs of the route. */
struct plan_edge {
	int from, to; /* nodes */
	int first;    /* the route is plan.route[first] .. plan.route[first + arcs - 1] */
	int arcs;
};

/*
 * Up: every node but the root has at most one edge that leaves it; a node that receives several
 * merges them, and a worker adds its own data. Down: every node receives at most once.
 */
struct plan_tree {
	double share; /* of the vector; all shares together are 1 */
	int chunks;   /* of plan.chunks that follow this tree, 0 where the plan is not quantised */
	int root;
	int up_first, ups;     /* plan.edge[up_first] .. */
	int down_first, downs; /* none of a plan that is reduce_only */
};

/* What nothing can pass, each by its own name; NAN where it was not computed, INFINITY where there
 * is no limit (a way up alone, of workers that are servers themselves). */
struct plan_certificate {
	double cut;          /* B1: least of the maximal flows between two workers */
	double degree;       /* what workers and boxes can take in / inputs that every tree has */
	double dual;         /* sum of capacity x price / cheapest tree: needs exact pricing */
	double flow;         /* flow relaxation */
	bool exact;          /* the pricing behind dual looked at every tree */
	const char *no_flow; /* why flow was not computed; static */
	/* The prices of the dual bound, so that others can check it: of arcs, of boxes. NULL or
	 * 2 x links and nodes values. */
	double *arc_price, *node_price;
};

struct plan {
	char scheme[PLAN_NAME_MAX];
	bool reduce_only;
	bool sequential; /* the way down begins when the whole sum is made */
	double throughput;
	int chunks; /* classes that the vector is cut into; 0: shares are not quantised */
	int steps;  /* hops that wait for each other: up and down of the deepest tree */
	int rounds; /* of a ring: how often a chunk goes on to the next worker or group; 0: no ring
		     */
	double planning_seconds;
	/* The hosts whose data it sums, where that is not every worker of the topology: a job. */
	int *host;
	int hosts;
	struct plan_tree *tree;
	struct plan_edge *edge;
	int *route;
	int trees, edges, routes;
	int tree_room, edge_room, route_room;
	struct plan_certificate certificate;
};

struct plan *plan_new(const char *scheme);
void plan_free(struct plan *p);

/*
 * Building: plan_add_tree begins a tree, plan_add_edge adds to the latest one; all up edges of a
 * tree come before its down edges. A route NULL with arcs 0 is not allowed: give the arcs. 0, or
 * -1 where memory is short.
 */
int plan_add_tree(struct plan *p, int root, double share);
int plan_add_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs);
/* Down edges of the latest tree that mirror its up edges over the same links. */
int plan_mirror(struct plan *p);
/* Sets chunks so that every tree has a whole number of `chunks` classes (largest remainder) and
 * the shares say the same; trees with none are dropped. */
int plan_quantise(struct plan *p, int chunks);

/* --- plan/plan.c: files ----------------------------------------------------------------------
 */

/* JSON (docs/planner.md); names of nodes are those of the topology. NULL with FILE:LINE: reason. */
struct plan *plan_read(const char *path, const struct topology *t, struct topo_error *e);
struct plan *plan_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e);
/*
 * To be freed with free(). JSON has no infinite numbers: what is not known or has no limit is null,
 * with the reason beside it.
 */
char *plan_format(const struct plan *p, const struct topology *t);

/* --- planner/verify.c ---------------------------------------------------------------------------
 */

/*
 * The least of the bounds of a certificate, and its name in *which ("cut", "degree", "flow",
 * "dual"; "none" with NAN). A dual value is a bound only where `exact` says so.
 */
double plan_bound(const struct plan_certificate *c, const char **which);
/* The same for a plan: the dual bound of "forest" is one of trees of hosts, which other trees may
 * pass, so it does not count. */
double plan_limit(const struct plan *p, const char **which);

struct plan_load {
	double *arc;       /* 2 x links: load for each unit of throughput */
	double *down;      /* what the way down has of it */
	double *node;      /* nodes: what boxes and parameter servers merge, likewise */
	double throughput; /* the most that these loads allow */
	int worst_arc;     /* most loaded by load / capacity; -1 where there is none */
	int worst_node;    /* likewise among nodes with a limit */
	int steps;         /* edges on the longest way up plus the longest way down, worst tree */
	double latency;    /* seconds: the same in delays of links */
};

/*
 * Recomputes everything from the trees alone and fills *load (free it with plan_load_free).
 * Refuses with -1 and the reason: a tree that does not carry each worker's data to its root
 * exactly once, or the sum to each worker exactly once; a cycle; a route that does not lead from
 * its edge's begin to its end; a merge at a plain switch; shares that are not positive or do not
 * add up to one; chunk counts that are not the shares; more than a box holds; a throughput above
 * what links and boxes allow (by more than one part in 10^9).
 */
int plan_verify(const struct topology *t, const struct plan *p, struct plan_load *load,
		struct topo_error *e);
/* The loads alone, of a plan whose trees are right but whose throughput is not known yet. */
int plan_measure(const struct topology *t, const struct plan *p, struct plan_load *load,
		 struct topo_error *e);
void plan_load_free(struct plan_load *load);

#endif
