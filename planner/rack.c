/*
 * Schemes with one tree, and with rings of racks: NetReduce and Rina.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/mem.h"
#include "planner/racks.h"
#include "planner/router.h"
#include "planner/schemes.h"
#include "planner/shape.h"

#define BOXES_TRIED 48
#define ROUTES_TRIED 5e4 /* limit of routes over all boxes tried; at least one box is tried */
#define EDGES_MOST 4e5   /* of all trees: beyond it only some of the groups own chunks */

/* --- NetReduce -------------------------------------------------------------------------------- */

/*
 * One tree with a box as its root. Every worker sends to that box, or, if racks merge, to the box
 * of its rack.
 */
static struct plan *netreduce_at(const struct topology *t, const char *name, int root,
				 const struct racks *k, bool racks)
{
	struct plan *p = build_plan(name);
	struct router *r = router_new(t);

	build_tree(p, root, 1);
	for (int q = 0; q < k->count; q++) {
		bool merges = racks && k->box[q] >= 0 && k->box[q] != root &&
			      k->first[q + 1] - k->first[q] > 1;

		for (int i = k->first[q]; i < k->first[q + 1]; i++)
			build_routed(p, r, false, k->member[i], merges ? k->box[q] : root, 1);
		if (merges)
			build_routed(p, r, false, k->box[q], root, 1);
	}
	build_mirror(p);
	router_free(r);
	return p;
}

static struct plan *netreduce(const struct topology *t, const char *name, bool racks,
			      struct topo_error *e)
{
	struct racks *k = racks_new(t);
	struct plan *best = NULL;
	double rate = 0;
	int tried = (int)fmin(BOXES_TRIED, fmax(1, ROUTES_TRIED / t->workers));
	int step = 1 + (t->boxes - 1) / tried;

	if (t->boxes == 0)
		topo_refuse(e, -1, -1, "%s needs a box", name);
	for (int i = 0; i < t->boxes; i += step) {
		struct plan *p = netreduce_at(t, name, t->box[i], k, racks);
		double one = plan_rate(t, p);

		if (!best || one > rate * (1 + 1e-9)) {
			plan_free(best);
			best = p;
			rate = one;
		} else {
			plan_free(p);
		}
	}
	racks_free(k);
	return best;
}

struct plan *scheme_netreduce_rack(const struct topology *t, const struct scheme_options *o,
				   struct topo_error *e)
{
	(void)o;
	return netreduce(t, "netreduce-rack", false, e);
}

struct plan *scheme_netreduce_spine(const struct topology *t, const struct scheme_options *o,
				    struct topo_error *e)
{
	(void)o;
	return netreduce(t, "netreduce-spine", true, e);
}

/* --- Rina ------------------------------------------------------------------------------------- */

/* A rack that merges, or a single worker. */
struct group {
	const int *member;
	int n;
	int box; /* -1: a single worker */
};

struct rina {
	const struct topology *t;
	struct router *r;
	struct plan *p;
	struct group *group;
	int groups;
	bool agent; /* partial sums visit the agent, the first worker of the rack */
	double share;
};

static int up_in(const struct rina *x, int g)
{
	const struct group *k = &x->group[g];

	return k->box < 0 || x->agent ? k->member[0] : k->box;
}

static int hub(const struct rina *x, int g)
{
	const struct group *k = &x->group[g];

	return k->box < 0 ? k->member[0] : k->box;
}

/*
 * The tree of the chunk of group `owner`: up through groups owner + 1, owner + 2 ... to the owner,
 * down through the groups in the same order. The owner's switch holds the sum and multicasts it
 * directly; the agent does not receive it and send it back.
 */
static void rina_chunk(struct rina *x, int owner)
{
	build_tree(x->p, hub(x, owner), x->share);
	for (int step = 1; step <= x->groups; step++) {
		int g = (owner + step) % x->groups;
		const struct group *k = &x->group[g];

		for (int i = 0; i < k->n && k->box >= 0; i++)
			build_routed(x->p, x->r, false, k->member[i], k->box, x->share);
		if (g != owner)
			build_routed(x->p, x->r, false, hub(x, g), up_in(x, (g + 1) % x->groups),
				     x->share);
	}
	for (int step = 0; step < x->groups; step++) {
		int g = (owner + step) % x->groups;
		const struct group *k = &x->group[g];

		for (int i = 0; i < k->n && k->box >= 0; i++)
			build_routed(x->p, x->r, true, k->box, k->member[i], x->share);
		if (step + 1 < x->groups)
			build_routed(x->p, x->r, true, hub(x, g), hub(x, (g + 1) % x->groups),
				     x->share);
	}
}

/* Rina's number of steps: transfers inside a rack belong to the step that ends or begins there. */
static int rina_rounds(const struct rina *x)
{
	int *group = mem_new((size_t)x->t->nodes, sizeof(int));
	int rounds;

	for (int g = 0; g < x->groups; g++) {
		for (int i = 0; i < x->group[g].n; i++)
			group[x->group[g].member[i]] = g;
		if (x->group[g].box >= 0)
			group[x->group[g].box] = g;
	}
	rounds = racks_rounds(x->t, x->p, group);
	free(group);
	return rounds;
}

static struct plan *rina(const struct topology *t, const char *name, bool agent)
{
	struct rina x = {.t = t, .agent = agent};
	struct racks *k = racks_new(t);
	int owners;

	x.group = mem_new((size_t)t->workers, sizeof(*x.group));
	for (int q = 0; q < k->count; q++) {
		int n = k->first[q + 1] - k->first[q];

		if (n > 1 && k->box[q] >= 0) {
			x.group[x.groups++] = (struct group){k->member + k->first[q], n, k->box[q]};
			continue;
		}
		for (int i = k->first[q]; i < k->first[q + 1]; i++)
			x.group[x.groups++] = (struct group){k->member + i, 1, -1};
	}
	owners = (int)fmin(x.groups, fmax(1, EDGES_MOST / t->workers));
	x.share = 1.0 / owners;
	x.p = build_plan(name);
	x.r = router_new(t);
	for (int g = 0; g < owners; g++)
		rina_chunk(&x, (int)((long)g * x.groups / owners));
	x.p->rounds = rina_rounds(&x);
	router_free(x.r);
	racks_free(k);
	free(x.group);
	return x.p;
}

struct plan *scheme_rina_agent(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e)
{
	(void)o;
	(void)e;
	return rina(t, "rina-agent", true);
}

struct plan *scheme_rina_switch(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e)
{
	(void)o;
	(void)e;
	return rina(t, "rina-switch", false);
}
