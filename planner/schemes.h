/*
 * What the schemes share. Each scheme is a function of scheme.h's type; scheme_run adds what is
 * common to all of them.
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

/* scheme_run on a topology that is in canonical order already, without a cut bound. */
struct plan *scheme_run_ordered(const struct scheme *s, const struct topology *t,
				const struct scheme_options *o, struct topo_error *e);

/* plan_new, plan_add_tree, plan_add_edge that end the process where memory is short. */
struct plan *make_plan(const char *name);
void make_tree(struct plan *p, int root, double share);
void make_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs);
/* An edge over the router's least loaded route, to whose load weight is added. */
void make_routed(struct plan *p, struct router *r, bool down, int from, int to, double weight);
void make_mirror(struct plan *p);

/* How often the data of a ring's deepest chain goes on from group to group, up and down; group: of
 * every node. Edges of the trees have to stand in the order in which the data takes them. */
int count_rounds(const struct topology *t, const struct plan *p, const int *group);

/* Workers in racks: those that hang on one switch or box. A host with several links is a rack of
 * its own. Racks in the order of their first worker, workers in their order. */
struct racks {
	int count;
	int *first;  /* of member, count + 1 */
	int *member; /* nodes */
	int *head;   /* the switch or box, -1: none */
	int *box;    /* where the rack can merge: the head, or a box beside it; -1: none */
};

struct racks *racks_new(const struct topology *t);
void racks_free(struct racks *r);
/* The box at a switch: itself, or one that hangs on it alone; -1. */
int box_at(const struct topology *t, int node);

/* Sums of the capacities of the arcs that end at a node, that begin there. */
double ingress(const struct topology *t, int node);
double egress(const struct topology *t, int node);
/* The server of a scheme that has one: the one with the largest ingress, or where there is none
 * the worker with the largest. */
int choose_server(const struct topology *t);

/* Makes every share a multiple of 1 / chunks, some of them 0; plan_quantise does the rest. */
void quantise_shares(const struct topology *t, struct plan *p, int chunks);

/* How often GRID and InArt draw: as often as asked, more often on small networks unless the
 * algorithm as printed is wanted. */
int more_draws(const struct topology *t, const struct scheme_options *o);
/*
 * Draws beyond those that were asked for: a vertex has few places for each stream, and all draws
 * from it may be alike. So a few streams leave the relaxation and merge anywhere, the others stay
 * where the best draw so far had them; every now and then all draw from the relaxation again.
 */
bool is_fresh(int number, const struct scheme_options *o);
bool draws_anew(uint64_t *random, int streams);
int draw_any(const int *box, int boxes, uint64_t *random);

/* Throughput of a plan whose trees are right; 0 where they are not. */
double plan_rate(const struct topology *t, const struct plan *p);

#endif
