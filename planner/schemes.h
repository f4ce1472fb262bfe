/*
 * Functions that the schemes share. Each scheme is a function of scheme.h's type; scheme_run adds
 * the steps that are common to all of them.
 */
#ifndef RF_PLANNER_SCHEMES_H
#define RF_PLANNER_SCHEMES_H

#include "planner/graph.h"
#include "planner/scheme.h"

#define SCHEME(name)                                                                               \
	struct plan *scheme_##name(const struct topology *t, const struct scheme_options *o,       \
				   struct topo_error *e)

SCHEME(ring);
SCHEME(ring_both);
SCHEME(hierarchical_ring);
SCHEME(ps);
SCHEME(switchml);
SCHEME(atp);
SCHEME(atp_whole);
SCHEME(atp_bom);
SCHEME(netreduce_rack);
SCHEME(netreduce_spine);
SCHEME(rina_agent);
SCHEME(rina_switch);
SCHEME(grid);
SCHEME(grid_exact);
SCHEME(grid_classes);
SCHEME(inart);
SCHEME(inart_equal);
SCHEME(inart_exact);
SCHEME(forest);
SCHEME(forestcoll);
SCHEME(best);

/*
 * scheme_run for a topology that is already in canonical order, without the cut and degree bounds.
 */
struct plan *scheme_run_ordered(const struct scheme *s, const struct topology *t,
				const struct scheme_options *o, struct topo_error *e);

/* plan_new, plan_add_tree, plan_add_edge that end the process if memory runs out. */
struct plan *make_plan(const char *name);
void make_tree(struct plan *p, int root, double share);
void make_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs);
/* Adds an edge over the router's least loaded route and adds weight to the load of that route. */
void make_routed(struct plan *p, struct router *r, bool down, int from, int to, double weight);
void make_mirror(struct plan *p);

/*
 * The number of rounds of a ring: how often data is passed from group to group, up and down the
 * deepest chain; group: by node. The edges of a tree must be in the order in which data crosses
 * them.
 */
int count_rounds(const struct topology *t, const struct plan *p, const int *group);

/*
 * Workers in racks: those attached to one switch or box. A host with several links is a rack of its
 * own. Racks are in the order of their first worker, workers in their own order.
 */
struct racks {
	int count;
	int *first;  /* in member; count + 1 entries */
	int *member; /* nodes */
	int *head;   /* the switch or box, -1: none */
	int *box;    /* where the rack can merge: the head, or a box attached to it; -1: none */
};

struct racks *racks_new(const struct topology *t);
void racks_free(struct racks *r);
/* The box at a switch: itself, or one attached to it by its only link; -1: none. */
int box_at(const struct topology *t, int node);

/* Sums of the capacities of the arcs that end at a node (ingress) or begin there (egress). */
double ingress(const struct topology *t, int node);
double egress(const struct topology *t, int node);
/*
 * The server of a scheme with one server: the one with the largest ingress, or, if there is none,
 * the worker with the largest ingress.
 */
int choose_server(const struct topology *t);

/* Makes every share a multiple of 1 / chunks, some of them 0; plan_quantise does the rest. */
void quantise_shares(const struct topology *t, struct plan *p, int chunks);

/*
 * The number of draws of GRID and InArt: the requested number, or more on small networks unless the
 * algorithm as printed is requested.
 */
int more_draws(const struct topology *t, const struct scheme_options *o);
/*
 * Draws beyond the requested number. A vertex has few places for each stream, so all draws from it
 * may be alike. Therefore a few streams leave the relaxation and merge anywhere, while the others
 * keep their places of the best draw so far. From time to time all streams draw from the relaxation
 * again (is_fresh).
 */
bool is_fresh(int number, const struct scheme_options *o);
bool draws_anew(uint64_t *random, int streams);
int draw_any(const int *box, int boxes, uint64_t *random);

/* The throughput of a plan; 0 if its trees are invalid. */
double plan_rate(const struct topology *t, const struct plan *p);

#endif
