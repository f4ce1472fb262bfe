/*
 * A plan: a weighted forest of aggregation trees. Each tree carries a share of the vector: its up
 * edges carry every worker's data to the root and merge it on the way; its down edges carry the sum
 * back.
 *
 * Rates and throughput are in the topology's unit: bytes of vector per second at every worker,
 * which is the allreduce goodput. A plan with reduce_only models the way up alone, as the papers on
 * GRID and InArt do; its throughput is the sending rate of each worker.
 */
#ifndef RF_PLANNER_PLAN_H
#define RF_PLANNER_PLAN_H

#include "plan/topology.h"

#define PLAN_NAME_MAX 32
#define PLAN_FORMAT "ringfold-plan" /* "format" of plan files */

/* One edge of a tree: `from` sends packets to `to`, over the arcs of the route. */
struct plan_edge {
	int from, to; /* nodes */
	int first;    /* the route is plan.route[first] .. plan.route[first + arcs - 1] */
	int arcs;
};

/*
 * Up: every node except the root has at most one outgoing edge; a node that receives several inputs
 * merges them, and a worker adds its own data. Down: every node receives at most once.
 */
struct plan_tree {
	double share; /* of the vector; all shares add up to 1 */
	int chunks;   /* how many of plan.chunks use this tree; 0 if the plan is not quantised */
	int root;
	int up_first, ups;     /* plan.edge[up_first] .. */
	int down_first, downs; /* downs is 0 if the plan is reduce_only */
};

/*
 * Upper bounds of the throughput. NAN: not computed. INFINITY: no limit (a plan with reduce_only
 * whose workers are servers themselves).
 */
struct plan_certificate {
	double cut;    /* B1: least of the maximum flows between two workers */
	double degree; /* receive capacity of workers and boxes / inputs that every tree has */
	double dual;   /* sum of capacity x price / cheapest tree: needs exact pricing */
	double flow;   /* flow relaxation */
	bool exact;    /* the pricing that gave `dual` covered every tree */
	/*
	 * The dual bound that a file states as proven. It only serves to find a file that
	 * contradicts itself.
	 */
	double stated;
	const char *no_flow; /* why flow was not computed; static */
	/*
	 * The prices of the dual bound, so that others can verify it: of arcs (2 x links values)
	 * and of boxes (nodes values). NULL: none.
	 */
	double *arc_price, *node_price;
};

struct plan {
	char scheme[PLAN_NAME_MAX];
	bool reduce_only;
	bool sequential; /* the way down begins when the whole sum is complete */
	double throughput;
	int chunks; /* classes that the vector is divided into; 0: shares are not quantised */
	int steps;  /* dependent hops: up and down the deepest tree */
	int rounds; /* of a ring: how often a chunk is passed to the next worker or group; 0: not a
		       ring */
	double planning_seconds;
	/* The hosts of a job, whose data is summed. hosts is 0: all workers of the topology. */
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
 * Building: plan_add_tree begins a tree, plan_add_edge adds an edge to the latest tree. All up
 * edges of a tree come before its down edges. An edge needs a route of at least one arc. Returns 0,
 * or -1 if memory runs out.
 */
int plan_add_tree(struct plan *p, int root, double share);
int plan_add_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs);
/* Adds down edges to the latest tree that mirror its up edges over the same links. */
int plan_mirror(struct plan *p);
/*
 * Divides the plan into `chunks` classes: every tree gets a whole number of them (largest remainder
 * method), and its share is set to match. Trees without a class are dropped. A plan without trees
 * stays as it is. Returns 0, or -1 if memory runs out.
 */
int plan_quantise(struct plan *p, int chunks);

/* --- files: plan/plan_json.c and plan/plan_write.c -------------------------------------------- */

/*
 * Reads JSON (docs/planner.md); the names of nodes are those of the topology. NULL with "FILE:LINE:
 * reason" in *e.
 */
struct plan *plan_read(const char *path, const struct topology *t, struct topo_error *e);
struct plan *plan_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e);
/*
 * The plan as JSON, to be freed with free(). JSON has no infinite numbers: an unknown or unlimited
 * value is null, with the reason beside it. NULL if memory runs out.
 */
char *plan_format(const struct plan *p, const struct topology *t);

/* --- bounds: plan/plan.c; verification: planner/verify.c -------------------------------------- */

/*
 * The least of the bounds of a certificate, and its name in *which ("cut", "degree", "flow",
 * "dual"; "none" with NAN). The dual value is a bound only if `exact` is set.
 */
double plan_bound(const struct plan_certificate *c, const char **which);
/*
 * The same for a plan. The dual bound of "forest" covers only trees of hosts, and other trees may
 * exceed it, so it does not count.
 */
double plan_limit(const struct plan *p, const char **which);

struct plan_load {
	double *arc;       /* 2 x links: load per unit of throughput */
	double *down;      /* the part of it that the way down contributes */
	double *node;      /* nodes: what boxes and parameter servers receive to merge, per unit of
			      throughput */
	double throughput; /* the most that these loads allow */
	int worst_arc;     /* the arc with the highest load / capacity; -1: none */
	int worst_node;    /* the same among nodes with a limit */
	int steps;         /* edges on the longest way up plus the longest way down, worst tree */
	double latency;    /* seconds: delays of the links on those ways, worst tree */
};

/*
 * Recomputes everything from the trees alone and fills *load (free it with plan_load_free). Returns
 * -1 with the reason for any of these errors:
 * - a tree does not carry each worker's data to its root exactly once, or the sum to each worker
 *   exactly once;
 * - there is a cycle;
 * - a route does not lead from the start of its edge to the end;
 * - a plain switch merges;
 * - a share is not positive, or the shares do not add up to one;
 * - the chunk counts do not match the shares;
 * - a limit of a box is exceeded;
 * - the throughput exceeds what links and boxes allow by more than one part in 10^9.
 */
int plan_verify(const struct topology *t, const struct plan *p, struct plan_load *load,
		struct topo_error *e);
/*
 * Computes the loads alone, for a plan whose trees are valid but whose throughput is not known yet.
 */
int plan_measure(const struct topology *t, const struct plan *p, struct plan_load *load,
		 struct topo_error *e);
void plan_load_free(struct plan_load *load);

#endif
