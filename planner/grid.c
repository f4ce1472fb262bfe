/*
 * GRID: the randomly rounded relaxation of its model (gria.c), and the model's other optima, as
 * plans for a network.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/draws.h"
#include "planner/gria.h"
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/racks.h"
#include "planner/router.h"
#include "planner/scheme.h"
#include "planner/schemes.h"
#include "planner/servers.h"
#include "planner/shape.h"

struct grid {
	const struct topology *t;
	struct gria *g;
	struct router *r;
	int server;
	int *at;
};

static bool grid_begin(struct grid *x, const struct topology *t, const char *name,
		       struct topo_error *e)
{
	if (t->boxes == 0) {
		topo_refuse(e, -1, -1, "%s needs a box", name);
		return false;
	}
	x->t = t;
	x->server = servers_choose(t);
	x->g = gria_new(t, x->server);
	x->r = router_new(t);
	x->at = mem_new((size_t)t->workers, sizeof(int));
	return true;
}

static void grid_end(struct grid *x)
{
	gria_free(x->g);
	router_free(x->r);
	free(x->at);
}

static struct plan *grid_plan(struct grid *x, const char *name)
{
	struct plan *p = build_plan(name);

	memset(x->r->load, 0, (size_t)x->t->links * 2 * sizeof(double));
	servers_merge_once(p, x->t, x->r, x->server, x->at, 1);
	return p;
}

/* Each worker draws its box, with the parts of the relaxation as probabilities. */
static void draw(struct grid *x, const double *part, uint64_t *random)
{
	int n = 0;

	for (int i = 0; i < x->t->workers; i++) {
		const double *own = part + n * (x->g->boxes + 1);
		double sum = 0;
		double u;

		x->at[i] = -1;
		if (x->t->worker[i] == x->server)
			continue;
		n++;
		for (int s = 0; s <= x->g->boxes; s++)
			sum += own[s];
		u = topo_uniform(random) * sum;
		for (int s = 0; s < x->g->boxes; s++) {
			u -= own[s];
			if (u < 0) {
				x->at[i] = x->g->box[s];
				break;
			}
		}
	}
}

/* Some workers draw again, from all boxes. */
static void draw_some(struct grid *x, uint64_t *random)
{
	for (int i = 0; i < x->t->workers; i++)
		if (draws_anew(random, x->t->workers))
			x->at[i] = draws_any(x->g->box, x->g->boxes, random);
}

/* Measures the hops from each worker to each box and to the server. */
static void measure_ways(struct grid *x)
{
	struct gria *g = x->g;
	int n = 0;

	g->distance = mem_new((size_t)g->workers * (size_t)(g->boxes + 1), sizeof(double));
	for (int i = 0; i < x->t->workers; i++) {
		int w = x->t->worker[i];
		double *distance = g->distance + n * (g->boxes + 1);

		if (w == x->server)
			continue;
		n++;
		for (int s = 0; s < g->boxes; s++)
			distance[s] = router_hops(x->r, w, g->box[s]);
		distance[g->boxes] = router_hops(x->r, w, x->server);
	}
}

struct plan *scheme_grid(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e)
{
	struct grid x;
	struct plan *best = NULL;
	double *part;
	double found = 0;
	double here = 0;
	uint64_t random = o->seed;
	int *at;

	if (!grid_begin(&x, t, "grid", e))
		return NULL;
	at = mem_new((size_t)t->workers, sizeof(int));
	if (!o->as_printed)
		measure_ways(&x);
	part = mem_new((size_t)x.g->workers * (size_t)(x.g->boxes + 1), sizeof(double));
	if (gria_relaxation(x.g, part) < 0)
		topo_refuse(e, -1, -1, "grid: the linear program has no solution");
	else
		for (int i = 0; i < draws_number(t, o); i++) {
			struct plan *p;
			double rate;

			if (draws_is_fresh(i, o)) {
				draw(&x, part, &random);
				here = 0;
			} else {
				memcpy(x.at, at, (size_t)t->workers * sizeof(int));
				draw_some(&x, &random);
			}
			p = grid_plan(&x, "grid");
			rate = plan_rate(t, p);
			if (rate >= here) {
				here = rate;
				memcpy(at, x.at, (size_t)t->workers * sizeof(int));
			}
			if (best && rate <= found) {
				plan_free(p);
				continue;
			}
			plan_free(best);
			best = p;
			found = rate;
		}
	free(at);
	free(part);
	grid_end(&x);
	return best;
}

/* The load of the most loaded arc of a route after one more stream. */
static double route_load(struct router *r, int from, int to)
{
	double worst = 0;

	router_find(r, from, to, 1);
	for (int i = 0; i < r->arcs; i++) {
		worst = fmax(worst, r->load[r->arc[i]] / topo_arc_capacity(r->t, r->arc[i]));
		r->load[r->arc[i]] -= 1;
	}
	return worst;
}

/* The box with a free slot to which the route is the least loaded, then the shortest. */
static int nearest_slot(struct grid *x, const int *slots, int worker)
{
	double least = INFINITY;
	int best = -1;

	for (int s = 0; s < x->g->boxes; s++) {
		int box = x->g->box[s];
		double cost;

		if (slots[s] <= 0)
			continue;
		cost = route_load(x->r, worker, box) +
		       1e-6 * router_hops(x->r, worker, box) / x->g->ingress;
		if (cost < least * (1 - 1e-9)) {
			least = cost;
			best = s;
		}
	}
	return best;
}

/* Assigns workers to slots: first those of the box's own rack, then by the load of routes. */
static void fill_slots(struct grid *x, int *slots)
{
	const struct topology *t = x->t;

	memset(x->r->load, 0, (size_t)t->links * 2 * sizeof(double));
	for (int i = 0; i < t->workers; i++) {
		int own = t->worker[i] == x->server ? -1
						    : racks_box_at(t, t->node[t->worker[i]].rack);

		x->at[i] = -1;
		for (int s = 0; s < x->g->boxes && own >= 0; s++)
			if (x->g->box[s] == own && slots[s] > 0) {
				slots[s]--;
				x->at[i] = own;
				router_find(x->r, t->worker[i], own, 1);
			}
	}
	for (int s = 0; s < x->g->boxes; s++)
		if (slots[s] > 0)
			router_find(x->r, x->g->box[s], x->server, 1);
	for (int i = 0; i < t->boxes; i++) {
		bool used = false;

		for (int w = 0; w < t->workers; w++)
			used = used || x->at[w] == t->box[i];
		for (int s = 0; s < x->g->boxes && used; s++)
			if (x->g->box[s] == t->box[i] && slots[s] <= 0)
				router_find(x->r, t->box[i], x->server, 1);
	}
	for (int i = 0; i < t->workers; i++) {
		int s;

		if (x->at[i] >= 0 || t->worker[i] == x->server)
			continue;
		s = nearest_slot(x, slots, t->worker[i]);
		if (s < 0)
			continue;
		slots[s]--;
		x->at[i] = x->g->box[s];
		router_find(x->r, t->worker[i], x->at[i], 1);
	}
}

struct plan *scheme_grid_exact(const struct topology *t, const struct scheme_options *o,
			       struct topo_error *e)
{
	struct grid x;
	struct plan *p;
	int *slots;

	(void)o;
	if (!grid_begin(&x, t, "grid-exact", e))
		return NULL;
	slots = mem_new((size_t)x.g->boxes, sizeof(int));
	gria_exact(x.g, slots);
	fill_slots(&x, slots);
	p = grid_plan(&x, "grid-exact");
	free(slots);
	grid_end(&x);
	return p;
}

/* --- chunk classes ---------------------------------------------------------------------------- */

static void copy_trees(struct plan *to, struct plan *from)
{
	for (int k = 0; from && k < from->trees; k++)
		plan_copy_tree(to, from, k, 1);
	plan_free(from);
}

/*
 * The pool: all workers at one box, for each box; all at their racks; no merging; and the trees of
 * grid and grid-exact.
 */
struct plan *scheme_grid_classes(const struct topology *t, const struct scheme_options *o,
				 struct topo_error *e)
{
	struct grid x;
	struct plan *p = NULL;
	struct master *m;
	struct scheme_options few = *o;
	struct work w = work_begin(o->work, o->seconds);

	if (!grid_begin(&x, t, "grid-classes", e))
		return NULL;
	m = master_new(t);
	for (int s = -1; s < gria_boxes_needed(x.g); s++) {
		for (int i = 0; i < t->workers; i++)
			x.at[i] = s < 0 ? -1 : x.g->box[s];
		copy_trees(m->pool, grid_plan(&x, "class"));
	}
	for (int i = 0; i < t->workers; i++)
		x.at[i] = racks_box_at(t, t->node[t->worker[i]].rack);
	copy_trees(m->pool, grid_plan(&x, "class"));
	few.roundings = few.roundings < 8 ? few.roundings : 8;
	copy_trees(m->pool, scheme_grid(t, &few, NULL));
	copy_trees(m->pool, scheme_grid_exact(t, o, NULL));
	m->pool->reduce_only = false;
	if (master_solve(m, &w, 1) == 0)
		p = master_plan(m, "grid-classes", 1e-9, &w, 1);
	if (!p)
		topo_refuse(e, -1, -1, "grid-classes: the linear program has no solution");
	master_free(m);
	grid_end(&x);
	return p;
}
