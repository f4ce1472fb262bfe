/*
 * Selects trees if their number is limited: collects trees of other schemes and cheap trees, lets
 * branch and bound choose among them (choice.c), and compares the result with simpler methods. On
 * tiny networks the pool contains every tree and the search runs to its end; otherwise it stops
 * after a limited number of programs.
 */
#include <math.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/choice.h"
#include "planner/limits.h"
#include "planner/search.h"

#define TURNS 4            /* ways in which a tree is cut to the limits of boxes */
#define POOL_MOST 4000     /* trees */
#define ROUNDS_MOST 24     /* rounds of the search for cheaper trees */
#define ROUND_LINKS 1500   /* links up to which programs over many trees are made */
#define CLOCK_PART 0.5     /* of the remaining time */
#define FIRST_PART 0.6     /* of the time, for the first of two searches */
#define SECOND_PART 0.85   /* of the time: there is no second search after it */
#define OTHER_PART 0.2     /* the same, for each other scheme */
#define POOL_PART 0.6      /* of the time, for collecting trees */
#define PATIENCE 4         /* further steps may take this many times the time of cutting */
#define FEW_TREES 3        /* trees of a second search if more are allowed */
#define FEW_WORKERS 48     /* workers up to which the second search is not needed */
#define IN_RACK 2          /* arcs of an edge between hosts of one rack */
#define WEIGHED_MOST 64    /* limit of trees whose weights are recomputed on a larger network */
#define USED 1e-9          /* part of its own highest rate above which a tree belongs to the plan */
#define ROUTES_MOST 600000 /* limit of arcs of all trees in the pool together */
#define ALL_WORKERS 48     /* workers up to which all schemes run */
#define FOREST_WORKERS 1000
#define LEAST_SECONDS 1e-3
#define GAP 1e-9

static bool uses_box(const struct topology *t, const struct plan *p, int tree)
{
	const struct plan_tree *k = &p->tree[tree];

	for (int i = 0; i < k->ups; i++)
		if (t->node[p->edge[k->up_first + i].to].kind == TOPO_BOX)
			return true;
	return false;
}

/* Adds a tree, cut in several ways and without any limited box. */
static void add_cuts(struct choice *c, struct limits_fit *f, const struct plan *p, int tree)
{
	const struct topology *t = c->t;
	bool whole = limits_fits(f, p, tree);

	if (c->pool->trees >= POOL_MOST || c->pool->routes >= ROUTES_MOST ||
	    !work_has_time(c->limit, POOL_PART, 0))
		return;
	for (f->turn = 0; f->turn < (whole ? 1 : TURNS); f->turn++)
		limits_fit_tree(f, p, tree, c->pool, 1);
	f->turn = 0;
	if (!uses_box(t, p, tree))
		return;
	for (int i = 0; i < t->boxes; i++)
		f->allowed[t->box[i]] = limits_trees(t, t->box[i]) == TOPO_UNLIMITED;
	limits_fit_tree(f, p, tree, c->pool, 1);
	for (int i = 0; i < t->boxes; i++)
		f->allowed[t->box[i]] = limits_trees(t, t->box[i]) > 0;
}

static void add_all(struct choice *c, struct limits_fit *f, const struct plan *p)
{
	for (int k = 0; k < p->trees; k++)
		add_cuts(c, f, p, k);
}

/* Schemes whose trees are added; merging: those that merge at boxes as well. */
static bool is_quick(const struct scheme *s, bool merging, int workers)
{
	static const char *const rings[] = {"ring", "ring-both", NULL};
	static const char *const never[] = {"best", "forestcoll", NULL};
	static const char *const forest[] = {"forest", NULL};
	static const char *const large[] = {"netreduce-rack",
					    "netreduce-spine",
					    "switchml",
					    "rina-switch",
					    "hierarchical-ring",
					    "ps",
					    NULL};

	if (scheme_is_among(s, rings))
		return true;
	if (!merging || scheme_is_among(s, never))
		return false;
	if (scheme_is_among(s, forest))
		return workers <= FOREST_WORKERS;
	return workers <= ALL_WORKERS || scheme_is_among(s, large);
}

/* The part of the remaining time as a limit; INFINITY: there is none. */
static double part_of_rest(const struct work *w, double part)
{
	return isinf(w->end) ? INFINITY : fmax((w->end - work_clock()) * part, LEAST_SECONDS);
}

/*
 * Adds the trees of quick schemes. Returns the best of their plans, which respect the limits, as
 * the starting value. NULL: there was no time.
 */
static struct plan *run_others(struct choice *c, struct limits_fit *f,
			       const struct scheme_options *o, bool merging)
{
	struct scheme_options plain = *o;
	struct plan *best = NULL;
	double slowest = 0; /* seconds */

	plain.chunks = 0;
	for (const struct scheme *s = o->schemes; s->name; s++) {
		double begin = work_clock();
		struct plan *other;

		if (!is_quick(s, merging, c->t->workers) ||
		    !work_has_time(c->limit, POOL_PART, slowest))
			continue;
		plain.seconds = part_of_rest(c->limit, OTHER_PART);
		other = scheme_run_ordered(s, c->t, &plain, NULL);
		slowest = fmax(slowest, work_clock() - begin);
		if (!other)
			continue;
		add_all(c, f, other);
		if (other->sequential || (best && other->throughput <= best->throughput)) {
			plan_free(other);
			continue;
		}
		plan_free(best);
		best = other;
	}
	return best;
}

/* Adds trees that the search finds under the prices of the program. */
static void search_more(struct choice *c, struct limits_fit *f, const struct scheme_options *o,
			bool merging)
{
	const struct topology *t = c->t;
	struct pack p = {.t = t,
			 .merging = merging,
			 .reduce_only = c->pool->reduce_only,
			 .work = work_begin(o->work, part_of_rest(c->limit, CLOCK_PART)),
			 .enough = INFINITY};
	int *count = mem_new((size_t)t->nodes + 1, sizeof(int));
	struct search x;
	double before = 0;
	double slowest = 0; /* seconds */
	int seen = 0;

	pack_begin(&p);
	search_begin(&x, &p);
	search_first_prices(&x);
	for (int i = 0; i < ROUNDS_MOST && c->pool->trees < POOL_MOST &&
			work_has_time(c->limit, POOL_PART, slowest);
	     i++) {
		double begin = work_clock();
		double value;

		choice_take_new(c);
		value = choice_relax(c, count);
		if (value < 0 || (i > 4 && value < before * (1 + GAP)))
			break;
		before = i % 4 == 0 ? value : before;
		for (int k = 0; k < 2 * t->links + t->nodes; k++) {
			double price = c->row[k] < 0 ? 0
						     : fmax(0, lp_price(c->lp, c->row[k])) *
							       c->unit / tree_load_limit(t, k);

			if (k < 2 * t->links)
				x.arc[k] = price;
			else
				x.node[k - 2 * t->links] = price;
		}
		if (isinf(search_round(&x, false)))
			break;
		for (; seen < p.m->pool->trees; seen++)
			add_cuts(c, f, p.m->pool, seen);
		slowest = fmax(slowest, work_clock() - begin);
	}
	search_end(&x);
	pack_end(&p);
	free(count);
}

/* Keeps the better of two plans in *a; either may be NULL. */
static void keep_better(const struct topology *t, struct plan **a, struct plan *b)
{
	if (*a && (!b || plan_rate(t, b) <= plan_rate(t, *a))) {
		plan_free(b);
		return;
	}
	plan_free(*a);
	*a = b;
}

/*
 * The same edges, but those between racks over the least loaded routes. A ring uses the same route
 * in each of its trees and fills links between racks that others then cannot use.
 */
static struct plan *spread_out(const struct topology *t, const struct plan *p)
{
	struct router *r = router_new(t);
	struct plan *q = plan_like(p);

	for (int k = 0; k < p->trees; k++) {
		const struct plan_tree *tree = &p->tree[k];

		build_tree(q, tree->root, tree->share);
		for (int i = 0; i < tree->ups + tree->downs; i++) {
			const struct plan_edge *e = &p->edge[tree->up_first + i];

			if (e->arcs > IN_RACK)
				build_routed(q, r, i >= tree->ups, e->from, e->to, tree->share);
			else
				build_edge(q, i >= tree->ups, e->from, e->to, p->route + e->first,
					   e->arcs);
		}
	}
	router_free(r);
	return q;
}

/* Trees for boxes with tight limits, together with a ring. NULL: none. */
static struct plan *make_caterpillars(const struct topology *t, const struct scheme_options *o)
{
	struct work w = work_begin(o->work, o->seconds);
	struct scheme_options plain = *o;
	struct plan *ring, *spread, *p;

	plain.chunks = 0;
	plain.trees = 0;
	w.reporter = o->reporter;
	ring = scheme_run_ordered(scheme_find_in(o->schemes, "ring"), t, &plain, NULL);
	/* The next steps take longer than the ring. */
	if (!ring || !work_has_time(&w, 1, PATIENCE / 2 * (work_clock() - w.begin))) {
		plan_free(ring);
		return NULL;
	}
	spread = spread_out(t, ring);
	if (plan_rate(t, spread) >= plan_rate(t, ring) * (1 - GAP)) {
		struct plan *old = ring;

		ring = spread;
		spread = old;
	}
	plan_free(spread);
	p = limits_caterpillars(t, ring, o->trees, &w);
	plan_free(ring);
	return p;
}

/* Replaces the plan's trees by the best selection. */
static void take_best(struct choice *c, struct plan *p)
{
	struct plan *q = plan_like(p);
	double sum = 0;

	for (int k = 0; k < c->columns; k++)
		sum += c->best[k] > USED * c->most[k] ? c->best[k] : 0;
	for (int k = 0; k < c->columns; k++)
		if (c->best[k] > USED * c->most[k])
			plan_copy_tree(q, c->pool, k, c->best[k] / sum);
	plan_take_trees(p, q);
	p->sequential = false;
	p->rounds = 0;
}

/* The largest of the plan's own trees, cut to the limits. */
static struct plan *fit(const struct topology *t, const struct plan *p, int trees,
			const struct work *w)
{
	struct plan *fitted = plan_like(p);

	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(fitted, p, k, p->tree[k].share);
	limits_fit_plan(t, fitted, trees, w);
	return fitted;
}

/*
 * Tries fewer trees: boxes can then be nodes of more of them, which is often better. patience:
 * seconds that each try may take.
 */
static void try_few(const struct topology *t, const struct plan *p, const struct scheme_options *o,
		    struct work *w, double patience, struct plan **best)
{
	for (int few = limits_fewest(t, o->trees); few > 0 && work_has_time(w, 1, patience);
	     few -= few > 4 ? few - few / 2 : 1) {
		struct plan *fitted = few <= WEIGHED_MOST ? fit(t, p, few, w) : NULL;

		if (fitted)
			keep_better(t, best, limits_weigh(t, fitted, NULL, w));
		plan_free(fitted);
	}
}

/*
 * For networks too large for programs over many trees: the plan's own trees are cut and weighed
 * again, or trees for boxes with tight limits are made.
 */
static void choose_large(const struct topology *t, struct plan *p, const struct scheme_options *o)
{
	struct work w = work_begin(o->work, o->seconds);
	struct plan *fitted = fit(t, p, o->trees, &w);
	double took = work_clock() - w.begin;
	struct scheme_options rest = *o;

	w.reporter = o->reporter;
	if (fitted->trees <= WEIGHED_MOST && work_has_time(&w, 1, took))
		keep_better(t, &fitted, limits_weigh(t, fitted, NULL, &w));
	try_few(t, p, o, &w, PATIENCE * took, &fitted);
	if (!p->reduce_only && t->boxes > 0 && work_has_time(&w, 1, PATIENCE * took)) {
		rest.seconds = (w.end - work_clock()) * CLOCK_PART;
		keep_better(t, &fitted, make_caterpillars(t, &rest));
	}
	plan_take_trees(p, fitted);
	p->sequential = false;
	p->rounds = 0;
}

/* For smaller networks: selects from a pool of many trees. */
static void choose_small(const struct topology *t, struct plan *p, const struct scheme_options *o,
			 bool merging)
{
	struct work w = work_begin(o->work, o->seconds);
	struct scheme_options rest = *o;
	struct plan *other, *fitted;
	struct limits_fit *f;
	struct choice c;

	w.reporter = o->reporter;
	/* Simple cutting and the best other scheme give the value that the search must exceed. */
	fitted = fit(t, p, o->trees, &w);
	f = limits_fit_new(t, p);
	choice_begin(&c, t, o->trees, p, &w);
	if (merging)
		limits_families(f, c.pool, o->trees, ROUTES_MOST, &w);
	add_all(&c, f, p);
	other = run_others(&c, f, o, merging);
	if (!limits_every_tree(t, f, c.pool, merging))
		search_more(&c, f, o, merging);
	choice_take_new(&c);
	keep_better(t, &fitted, other);
	try_few(t, p, o, &w, 0, &fitted);
	rest.seconds = part_of_rest(&w, CLOCK_PART);
	if (merging && !fitted->reduce_only && t->boxes > 0 && work_has_time(&w, 1, 0))
		keep_better(t, &fitted, make_caterpillars(t, &rest));
	c.value = plan_rate(t, fitted) / c.unit;
	choice_search(&c);
	if (c.value * c.unit > plan_rate(t, fitted) * (1 + GAP)) {
		take_best(&c, p);
	} else {
		plan_take_trees(p, fitted);
		fitted = NULL;
	}
	plan_free(fitted);
	choice_end(&c);
	limits_fit_free(f);
}

void limits_choose(const struct topology *t, struct plan *p, const struct scheme_options *o,
		   bool merging)
{
	struct work w = work_begin(o->work, o->seconds);
	struct scheme_options part = *o;
	struct plan *other;

	if (merging && t->links > ROUND_LINKS) {
		choose_large(t, p, o);
		return;
	}
	if (!merging || t->workers <= FEW_WORKERS || (o->trees > 0 && o->trees <= FEW_TREES)) {
		choose_small(t, p, o, merging);
		return;
	}
	/* With fewer trees the search covers more, and may find a better result. */
	other = plan_like(p);
	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(other, p, k, p->tree[k].share);
	part.seconds = part_of_rest(&w, FIRST_PART);
	choose_small(t, p, &part, merging);
	if (!work_has_time(&w, SECOND_PART, 0)) {
		plan_free(other);
		return;
	}
	part.trees = FEW_TREES;
	part.seconds = part_of_rest(&w, 1);
	choose_small(t, other, &part, merging);
	if (plan_rate(t, other) > plan_rate(t, p) * (1 + GAP)) {
		plan_take_trees(p, other);
		p->sequential = false;
		p->rounds = 0;
	} else {
		plan_free(other);
	}
}
