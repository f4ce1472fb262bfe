/*
 * Rings. A ring consists of one path for each worker. Path r collects the chunk of worker r: it
 * starts at the worker after r and ends at r. Then it distributes the sum in a second round.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/mem.h"
#include "planner/racks.h"
#include "planner/router.h"
#include "planner/schemes.h"

#define ROOTS_ALL 1024 /* workers; with more, there are ROOTS_FEW paths, spread evenly */
#define ROOTS_FEW 256
#define EDGES_MOST 2e6 /* of all paths on the way up: beyond it there are fewer paths */
#define ORDERS_ALL 8   /* workers up to which every order is tried */

/* Nodes and the routes between neighbours. */
struct cycle {
	int n;
	int *node;
	int *first, *arcs; /* of the route to the next node */
	int *arc;
};

static struct cycle *cycle_new(struct router *r, const int *node, int n)
{
	struct cycle *c = mem_new(1, sizeof(*c));
	int used = 0;

	c->n = n;
	c->node = mem_new((size_t)n, sizeof(int));
	memcpy(c->node, node, (size_t)n * sizeof(int));
	c->first = mem_new((size_t)n, sizeof(int));
	c->arcs = mem_new((size_t)n, sizeof(int));
	for (int i = 0; i < n && n > 1; i++) {
		router_find(r, node[i], node[(i + 1) % n], 1);
		c->arc = mem_more(c->arc, (size_t)(used + r->arcs), sizeof(int));
		memcpy(c->arc + used, r->arc, (size_t)r->arcs * sizeof(int));
		c->first[i] = used;
		c->arcs[i] = r->arcs;
		used += r->arcs;
	}
	return c;
}

static void cycle_free(struct cycle *c)
{
	free(c->node);
	free(c->first);
	free(c->arcs);
	free(c->arc);
	free(c);
}

/* Adds the edge from member i to the next one or, with `against`, from that one to i. */
static void add_step(struct plan *p, const struct cycle *c, int i, bool down, bool against)
{
	int *arc = mem_new((size_t)c->arcs[i], sizeof(int));
	int a = c->node[i];
	int b = c->node[(i + 1) % c->n];

	for (int k = 0; k < c->arcs[i]; k++)
		arc[k] = against ? c->arc[c->first[i] + c->arcs[i] - 1 - k] ^ 1
				 : c->arc[c->first[i] + k];
	build_edge(p, down, against ? b : a, against ? a : b, arc, c->arcs[i]);
	free(arc);
}

/* Adds the path that ends at member r (up) or begins there (down). */
static void add_path(struct plan *p, const struct cycle *c, int r, bool down, bool against)
{
	for (int i = 1; i < c->n; i++) {
		int step = against ? r - i - (down ? 0 : 1) : r + i - (down ? 1 : 0);

		add_step(p, c, (step + 2 * c->n) % c->n, down, against);
	}
}

static void add_ring(struct plan *p, const struct cycle *c, double share, bool against)
{
	int roots = c->n <= ROOTS_ALL ? c->n : (int)fmax(1, fmin(ROOTS_FEW, EDGES_MOST / c->n));

	for (int k = 0; k < roots; k++) {
		int r = (int)((long)k * c->n / roots);

		build_tree(p, c->node[r], share / roots);
		add_path(p, c, r, false, against);
		add_path(p, c, r, true, against);
	}
}

/* Counts the rounds; every worker is a group of its own. */
static void set_rounds(const struct topology *t, struct plan *p)
{
	int *group = mem_new((size_t)t->nodes, sizeof(int));

	for (int i = 0; i < t->nodes; i++)
		group[i] = i;
	p->rounds = racks_rounds(t, p, group);
	free(group);
}

/* --- the order -------------------------------------------------------------------------------- */

/* Orders workers rack by rack, from each rack to the nearest of the remaining ones. */
static void order_racks(const struct topology *t, struct router *r, int *order)
{
	struct racks *k = racks_new(t);
	bool *done = mem_new((size_t)k->count, sizeof(bool));
	int at = 0;
	int n = 0;

	for (int left = k->count; left > 0; left--) {
		int best = -1;
		int least = 0;

		done[at] = true;
		for (int i = k->first[at]; i < k->first[at + 1]; i++)
			order[n++] = k->member[i];
		for (int i = 0; i < k->count; i++) {
			int hops;

			if (done[i])
				continue;
			hops = router_hops(r, k->member[k->first[i]], order[n - 1]);
			if (best < 0 || hops < least) {
				best = i;
				least = hops;
			}
		}
		at = best;
	}
	free(done);
	racks_free(k);
}

/* The rate of a ring in this order, limited by its most loaded link. */
static double judge_order(const struct topology *t, struct router *r, const int *order, bool both)
{
	double worst = 0;

	memset(r->load, 0, (size_t)t->links * 2 * sizeof(double));
	for (int i = 0; i < t->workers; i++)
		router_find(r, order[i], order[(i + 1) % t->workers], 1);
	for (int arc = 0; arc < 2 * t->links; arc++) {
		double load = both ? (r->load[arc] + r->load[arc ^ 1]) / 2 : r->load[arc];

		worst = fmax(worst, load / topo_arc_capacity(t, arc));
	}
	return 1 / worst;
}

static void exchange(int *a, int i, int j)
{
	int swap = a[i];

	a[i] = a[j];
	a[j] = swap;
}

/* Advances to the next permutation in lexicographic order. */
static bool next_order(int *a, int n)
{
	int i = n - 2;
	int j = n - 1;

	while (i >= 0 && a[i] > a[i + 1])
		i--;
	if (i < 0)
		return false;
	while (a[j] < a[i])
		j--;
	exchange(a, i, j);
	for (int x = i + 1, y = n - 1; x < y; x++, y--)
		exchange(a, x, y);
	return true;
}

static void find_order(const struct topology *t, struct router *r, bool both, int *order)
{
	int try[ORDERS_ALL];
	double best;

	order_racks(t, r, order);
	if (t->workers > ORDERS_ALL)
		return;
	best = judge_order(t, r, order, both);
	memcpy(try, t->worker, (size_t)t->workers * sizeof(int));
	while (next_order(try + 1, t->workers - 1)) {
		double rate = judge_order(t, r, try, both);

		if (rate <= best * (1 + 1e-9))
			continue;
		best = rate;
		memcpy(order, try, (size_t)t->workers * sizeof(int));
	}
}

static struct plan *make_ring(const struct topology *t, const char *name, bool both)
{
	struct plan *p = build_plan(name);
	struct router *r = router_new(t);
	int *order = mem_new((size_t)t->workers, sizeof(int));
	struct cycle *c;

	find_order(t, r, both, order);
	memset(r->load, 0, (size_t)t->links * 2 * sizeof(double));
	c = cycle_new(r, order, t->workers);
	add_ring(p, c, both ? 0.5 : 1, false);
	if (both)
		add_ring(p, c, 0.5, true);
	set_rounds(t, p);
	cycle_free(c);
	router_free(r);
	free(order);
	return p;
}

struct plan *scheme_ring(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e)
{
	(void)o;
	(void)e;
	return make_ring(t, "ring", false);
}

struct plan *scheme_ring_both(const struct topology *t, const struct scheme_options *o,
			      struct topo_error *e)
{
	(void)o;
	(void)e;
	return make_ring(t, "ring-both", true);
}

/* --- two levels ------------------------------------------------------------------------------- */

/*
 * Adds the tree of chunk (j, g): every rack collects it at its member j; the members j of all racks
 * collect it at that of rack g.
 */
static void add_two_levels(struct plan *p, const struct racks *k, struct cycle *const *within,
			   const struct cycle *across, int j, int g, double share)
{
	build_tree(p, across->node[g], share);
	for (int q = 0; q < k->count; q++)
		add_path(p, within[q], j % within[q]->n, false, false);
	add_path(p, across, g, false, false);
	add_path(p, across, g, true, false);
	for (int q = 0; q < k->count; q++)
		add_path(p, within[q], j % within[q]->n, true, false);
}

struct plan *scheme_hierarchical_ring(const struct topology *t, const struct scheme_options *o,
				      struct topo_error *e)
{
	struct plan *p = build_plan("hierarchical-ring");
	struct router *r = router_new(t);
	struct racks *k = racks_new(t);
	struct cycle **within = mem_new((size_t)k->count, sizeof(*within));
	int *node = mem_new((size_t)k->count, sizeof(int));
	int most = 0;
	long all, roots, stride, classes;

	(void)o;
	(void)e;
	for (int q = 0; q < k->count; q++) {
		int n = k->first[q + 1] - k->first[q];

		within[q] = cycle_new(r, k->member + k->first[q], n);
		most = n > most ? n : most;
	}
	all = (long)most * k->count;
	roots = (long)fmax(1, fmin(ROOTS_FEW, EDGES_MOST / t->workers));
	stride = t->workers > ROOTS_ALL ? (all + roots - 1) / roots : 1;
	classes = (all + stride - 1) / stride;
	for (int j = 0; j < most; j++) {
		struct cycle *across;

		for (int q = 0; q < k->count; q++)
			node[q] = within[q]->node[j % within[q]->n];
		across = cycle_new(r, node, k->count);
		for (int g = 0; g < k->count; g++)
			if (((long)j * k->count + g) % stride == 0)
				add_two_levels(p, k, within, across, j, g, 1.0 / (double)classes);
		cycle_free(across);
	}
	for (int q = 0; q < k->count; q++)
		cycle_free(within[q]);
	set_rounds(t, p);
	free(within);
	free(node);
	racks_free(k);
	router_free(r);
	return p;
}
