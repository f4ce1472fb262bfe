/*
 * Selects trees if their number is limited: a linear program over a pool of trees in which every
 * limited quantity is a row (a tree counts with its weight divided by its own highest rate), and
 * branch and bound over trees that are taken or left out. On tiny networks the pool contains every
 * tree and the search runs to its end; otherwise it stops after a limited number of programs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/limits.h"
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/schemes.h"
#include "planner/search.h"

#define WORK_MOST 6e6 /* limit of the search: programs x rows x columns */
#define PROGRAMS_MOST 1500
#define TURNS 4            /* ways in which a tree is cut to the limits of boxes */
#define POOL_MOST 4000     /* trees */
#define ROUNDS_MOST 24     /* rounds of the search for cheaper trees */
#define ROUND_LINKS 1500   /* links up to which programs over many trees are made */
#define CLOCK_PART 0.5     /* of the remaining time */
#define PATIENCE 4         /* further steps may take this many times the time of cutting */
#define FEW_TREES 3        /* trees of a second search if more are allowed */
#define FEW_WORKERS 48     /* workers up to which the second search is not needed */
#define IN_RACK 2          /* arcs of an edge between hosts of one rack */
#define WEIGHED_MOST 64    /* limit of trees whose weights are recomputed on a larger network */
#define USED 1e-9          /* part of its own highest rate above which a tree belongs to the plan */
#define ROUTES_MOST 600000 /* limit of arcs of all trees in the pool together */
#define ALL_WORKERS 48     /* workers up to which all schemes run */
#define FOREST_WORKERS 1000
#define GAP 1e-9

enum verdict { OPEN, TAKEN, LEFT };

struct decision {
	int tree;
	bool second; /* the tree is now left out, after it was taken */
};

struct choice {
	const struct topology *t;
	struct plan *pool;
	struct lp *lp;
	int trees; /* limit of trees; 0: none */
	int columns;
	int *row;     /* of arcs and nodes; -1: no limit */
	int *box_row; /* row of the number of trees at each node; -1: no limit */
	int all_row;
	int rows;
	double unit;
	double *most; /* by tree: its own highest rate, in units */
	int **box;    /* by tree: limited boxes that are its nodes, ended by -1 */
	int room;     /* allocated length of the arrays of trees */
	enum verdict *verdict;
	double *scratch;
	struct tree_load load;
	struct decision *stack;
	int depth;
	double *weight, *best;
	double value;
	double work;
	struct reporter *reporter;
};

/* --- the program ------------------------------------------------------------------------------ */

static double limit_of(const struct topology *t, int row)
{
	return row < 2 * t->links ? topo_arc_capacity(t, row)
				  : t->node[row - 2 * t->links].processing;
}

static void begin(struct choice *c, const struct topology *t, int trees, const struct plan *p)
{
	size_t rows = (size_t)t->links * 2 + (size_t)t->nodes;

	memset(c, 0, sizeof(*c));
	c->t = t;
	c->trees = trees;
	c->pool = plan_like(p);
	c->lp = lp_new();
	c->row = mem_new(rows, sizeof(int));
	c->box_row = mem_new((size_t)t->nodes, sizeof(int));
	c->scratch = mem_new(rows, sizeof(double));
	c->unit = INFINITY;
	for (int i = 0; i < t->workers; i++)
		c->unit = fmin(c->unit, egress(t, t->worker[i]));
	for (int i = 0; i < (int)rows; i++) {
		int node = i - 2 * t->links;
		bool limited = node < 0 || (t->node[node].kind != TOPO_SWITCH &&
					    !isinf(t->node[node].processing));

		c->row[i] = limited ? lp_row(c->lp, -INFINITY, 1) : -1;
		c->rows += limited;
	}
	for (int i = 0; i < t->nodes; i++) {
		bool limited = t->node[i].kind == TOPO_BOX && limits_trees(t, i) < TOPO_UNLIMITED;

		c->box_row[i] = limited ? lp_row(c->lp, -INFINITY, limits_trees(t, i)) : -1;
		c->rows += limited;
	}
	c->all_row = trees > 0 ? lp_row(c->lp, -INFINITY, trees) : -1;
}

static void end(struct choice *c)
{
	for (int k = 0; k < c->columns; k++)
		free(c->box[k]);
	plan_free(c->pool);
	lp_free(c->lp);
	tree_load_free(&c->load);
	free(c->row);
	free(c->box_row);
	free(c->scratch);
	free(c->most);
	free(c->box);
	free(c->verdict);
	free(c->stack);
	free(c->weight);
	free(c->best);
}

/* Lists the limited boxes among the nodes of a tree. */
static int *find_boxes(struct choice *c, int tree)
{
	const struct plan_tree *k = &c->pool->tree[tree];
	int *list = mem_new((size_t)c->t->boxes + 1, sizeof(int));
	int n = 0;

	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &c->pool->edge[k->up_first + i];

		for (int end_of = 0; end_of < 2; end_of++) {
			int node = end_of ? e->to : e->from;
			int at = 0;

			while (at < n && list[at] != node)
				at++;
			if (c->box_row[node] >= 0 && at == n)
				list[n++] = node;
		}
	}
	list[n] = -1;
	return list;
}

static void make_room(struct choice *c)
{
	if (c->columns < c->room)
		return;
	c->room = c->room ? 2 * c->room : 256;
	c->most = mem_more(c->most, (size_t)c->room, sizeof(double));
	c->box = mem_more(c->box, (size_t)c->room, sizeof(*c->box));
	c->verdict = mem_more(c->verdict, (size_t)c->room, sizeof(*c->verdict));
	c->weight = mem_more(c->weight, (size_t)c->room, sizeof(double));
	c->best = mem_more(c->best, (size_t)c->room, sizeof(double));
	c->stack = mem_more(c->stack, (size_t)c->room, sizeof(*c->stack));
}

/* Adds the trees of the pool that are not yet columns. */
static void take_new(struct choice *c)
{
	const struct topology *t = c->t;
	int *row = mem_new((size_t)c->rows + (size_t)t->boxes + 1, sizeof(int));
	double *value = mem_new((size_t)c->rows + (size_t)t->boxes + 1, sizeof(double));

	for (; c->columns < c->pool->trees; c->columns++) {
		int k = c->columns;
		double least = INFINITY;
		int n = 0;

		make_room(c);
		tree_load_find(t, c->pool, k, c->scratch, &c->load);
		for (int i = 0; i < c->load.n; i++) {
			int at = c->load.row[i];

			if (c->row[at] < 0)
				continue;
			row[n] = c->row[at];
			value[n] = c->load.count[i] * c->unit / limit_of(t, at);
			least = fmin(least, 1 / value[n++]);
		}
		c->most[k] = least;
		c->box[k] = find_boxes(c, k);
		c->verdict[k] = OPEN;
		c->best[k] = 0;
		for (const int *b = c->box[k]; *b >= 0; b++) {
			row[n] = c->box_row[*b];
			value[n++] = 1 / least;
		}
		if (c->all_row >= 0) {
			row[n] = c->all_row;
			value[n++] = 1 / least;
		}
		lp_column(c->lp, 1, INFINITY, n, row, value);
	}
	free(row);
	free(value);
}

/* --- branch and bound ------------------------------------------------------------------------- */

/* Counts the trees taken at each node, and all of them at [nodes]. */
static void count_taken(const struct choice *c, int *taken)
{
	memset(taken, 0, ((size_t)c->t->nodes + 1) * sizeof(int));
	for (int k = 0; k < c->columns; k++) {
		if (c->verdict[k] != TAKEN)
			continue;
		taken[c->t->nodes]++;
		for (const int *b = c->box[k]; *b >= 0; b++)
			taken[*b]++;
	}
}

/* Whether the trees taken leave no place for another one. */
static bool is_shut_out(const struct choice *c, int tree, const int *taken)
{
	if (c->verdict[tree] != OPEN)
		return c->verdict[tree] == LEFT;
	if (c->trees > 0 && taken[c->t->nodes] >= c->trees)
		return true;
	for (const int *b = c->box[tree]; *b >= 0; b++)
		if (taken[*b] >= limits_trees(c->t, *b))
			return true;
	return false;
}

/*
 * Solves the program under the decisions so far; returns its value and sets the weights. -1: no
 * solution.
 */
static double relax(struct choice *c, int *taken)
{
	count_taken(c, taken);
	for (int k = 0; k < c->columns; k++)
		lp_limit(c->lp, k, is_shut_out(c, k, taken) ? 0 : INFINITY);
	c->work += (double)c->rows * c->columns;
	if (lp_solve(c->lp) != 0)
		return -1;
	for (int k = 0; k < c->columns; k++)
		c->weight[k] = lp_value(c->lp, k);
	return lp_objective(c->lp);
}

/* The open tree with the largest weight at a limit that is exceeded; -1: none is exceeded. */
static int find_branch(const struct choice *c, int *used)
{
	int nodes = c->t->nodes;
	int best = -1;

	memset(used, 0, ((size_t)nodes + 1) * sizeof(int));
	for (int k = 0; k < c->columns; k++) {
		if (c->verdict[k] != TAKEN && c->weight[k] <= USED * c->most[k])
			continue;
		used[nodes]++;
		for (const int *b = c->box[k]; *b >= 0; b++)
			used[*b]++;
	}
	for (int k = 0; k < c->columns; k++) {
		bool bad = c->trees > 0 && used[nodes] > c->trees;

		if (c->verdict[k] != OPEN || c->weight[k] <= USED * c->most[k])
			continue;
		for (const int *b = c->box[k]; *b >= 0 && !bad; b++)
			bad = used[*b] > limits_trees(c->t, *b);
		if (bad && (best < 0 || c->weight[k] > c->weight[best]))
			best = k;
	}
	return best;
}

/* Backtracks to the next set of decisions; false: the search is complete. */
static bool go_back(struct choice *c)
{
	while (c->depth > 0) {
		struct decision *d = &c->stack[c->depth - 1];

		if (!d->second) {
			d->second = true;
			c->verdict[d->tree] = LEFT;
			return true;
		}
		c->verdict[d->tree] = OPEN;
		c->depth--;
	}
	return false;
}

static void search_trees(struct choice *c)
{
	int *count = mem_new((size_t)c->t->nodes + 1, sizeof(int));
	bool found = c->value > 0;

	for (int programs = 0; programs < PROGRAMS_MOST; programs++) {
		double value = relax(c, count);
		struct work w = {.reporter = c->reporter};

		work_report(&w, "choice of trees", programs, c->value * c->unit, NAN);
		int branch = value > c->value * (1 + GAP) ? find_branch(c, count) : -1;

		if (value > c->value * (1 + GAP) && branch < 0) {
			c->value = value;
			memcpy(c->best, c->weight, (size_t)c->columns * sizeof(double));
			found = true;
		}
		if (branch >= 0) {
			c->verdict[branch] = TAKEN;
			c->stack[c->depth++] = (struct decision){branch, false};
			continue;
		}
		if ((found && c->work > WORK_MOST) || !go_back(c))
			break;
	}
	for (int k = 0; k < c->columns; k++)
		c->verdict[k] = OPEN;
	c->depth = 0;
	free(count);
}

/* --- the pool: trees of other schemes --------------------------------------------------------- */

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

	if (c->pool->trees >= POOL_MOST || c->pool->routes >= ROUTES_MOST)
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

static bool is_quick(const struct scheme *s, bool merging, int workers)
{
	if (s->make == scheme_ring || s->make == scheme_ring_both)
		return true;
	if (s->make == scheme_best || s->make == scheme_forestcoll)
		return false;
	if (s->make == scheme_forest)
		return merging && workers <= FOREST_WORKERS;
	return merging && (workers <= ALL_WORKERS || s->make == scheme_netreduce_rack ||
			   s->make == scheme_netreduce_spine || s->make == scheme_switchml ||
			   s->make == scheme_rina_switch || s->make == scheme_hierarchical_ring ||
			   s->make == scheme_ps);
}

/*
 * Adds the trees of quick schemes. Returns the best of their plans, which respect the limits, as
 * the starting value.
 */
static struct plan *run_others(struct choice *c, struct limits_fit *f,
			       const struct scheme_options *o, bool merging)
{
	struct scheme_options plain = *o;
	struct plan *best = NULL;

	plain.chunks = 0;
	for (const struct scheme *s = scheme_list; s->name; s++) {
		struct plan *other;

		if (!is_quick(s, merging, c->t->workers))
			continue;
		other = scheme_run_ordered(s, c->t, &plain, NULL);
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
			 .work = work_begin(o->work, o->seconds),
			 .enough = INFINITY};
	int *count = mem_new((size_t)t->nodes + 1, sizeof(int));
	struct search x;
	double before = 0;
	int seen = 0;

	pack_begin(&p);
	search_begin(&x, &p);
	search_first_prices(&x);
	for (int i = 0; i < ROUNDS_MOST && c->pool->trees < POOL_MOST; i++) {
		double value;

		take_new(c);
		value = relax(c, count);
		if (value < 0 || (i > 4 && value < before * (1 + GAP)))
			break;
		before = i % 4 == 0 ? value : before;
		for (int k = 0; k < 2 * t->links + t->nodes; k++) {
			double price = c->row[k] < 0 ? 0
						     : fmax(0, lp_price(c->lp, c->row[k])) *
							       c->unit / limit_of(t, k);

			if (k < 2 * t->links)
				x.arc[k] = price;
			else
				x.node[k - 2 * t->links] = price;
		}
		if (isinf(search_round(&x, false)))
			break;
		for (; seen < p.m->pool->trees; seen++)
			add_cuts(c, f, p.m->pool, seen);
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

		make_tree(q, tree->root, tree->share);
		for (int i = 0; i < tree->ups + tree->downs; i++) {
			const struct plan_edge *e = &p->edge[tree->up_first + i];

			if (e->arcs > IN_RACK)
				make_routed(q, r, i >= tree->ups, e->from, e->to, tree->share);
			else
				make_edge(q, i >= tree->ups, e->from, e->to, p->route + e->first,
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
	ring = scheme_run_ordered(scheme_find("ring"), t, &plain, NULL);
	if (!ring)
		return NULL;
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
static struct plan *fit(const struct topology *t, const struct plan *p, int trees)
{
	struct plan *fitted = plan_like(p);

	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(fitted, p, k, p->tree[k].share);
	limits_fit_plan(t, fitted, trees);
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
		struct plan *fitted = few <= WEIGHED_MOST ? fit(t, p, few) : NULL;

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
	struct plan *fitted = fit(t, p, o->trees);
	double took = clock_seconds() - w.begin;
	struct scheme_options rest = *o;

	w.reporter = o->reporter;
	if (fitted->trees <= WEIGHED_MOST && work_has_time(&w, 1, took))
		keep_better(t, &fitted, limits_weigh(t, fitted, NULL, &w));
	try_few(t, p, o, &w, PATIENCE * took, &fitted);
	if (!p->reduce_only && t->boxes > 0 && work_has_time(&w, 1, PATIENCE * took)) {
		rest.seconds = (w.end - clock_seconds()) * CLOCK_PART;
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
	struct limits_fit *f;
	struct work w = work_begin(o->work, o->seconds);
	struct plan *other, *fitted;
	struct choice c;

	f = limits_fit_new(t, p);
	begin(&c, t, o->trees, p);
	c.reporter = o->reporter;
	if (merging)
		limits_families(f, c.pool, o->trees, ROUTES_MOST);
	add_all(&c, f, p);
	other = run_others(&c, f, o, merging);
	if (!limits_every_tree(t, f, c.pool, merging))
		search_more(&c, f, o, merging);
	take_new(&c);
	/* Simple cutting and the best other scheme give the value that the search must exceed. */
	fitted = fit(t, p, o->trees);
	keep_better(t, &fitted, other);
	try_few(t, p, o, &w, 0, &fitted);
	if (merging && !fitted->reduce_only && t->boxes > 0)
		keep_better(t, &fitted, make_caterpillars(t, o));
	c.value = plan_rate(t, fitted) / c.unit;
	search_trees(&c);
	if (c.value * c.unit > plan_rate(t, fitted) * (1 + GAP)) {
		take_best(&c, p);
	} else {
		plan_take_trees(p, fitted);
		fitted = NULL;
	}
	plan_free(fitted);
	end(&c);
	limits_fit_free(f);
}

void limits_choose(const struct topology *t, struct plan *p, const struct scheme_options *o,
		   bool merging)
{
	struct scheme_options few = *o;
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
	choose_small(t, p, o, merging);
	few.trees = FEW_TREES;
	few.seconds = o->seconds / 2;
	choose_small(t, other, &few, merging);
	if (plan_rate(t, other) > plan_rate(t, p) * (1 + GAP)) {
		plan_take_trees(p, other);
		p->sequential = false;
		p->rounds = 0;
	} else {
		plan_free(other);
	}
}
