/*
 * Searches for cheap trees. If every link has the same capacity in both directions and nothing
 * limits merging, links have one price and the search is for a spanning tree. Otherwise the way up
 * and the way down are searched separately, for every root.
 */
#include "planner/search.h"
#include "planner/mem.h"
#include "planner/work.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXHAUSTIVE 12  /* optional nodes up to which every subset is tried */
#define WORK_MOST 3e6  /* limit of steps of a search over all trees, up and down */
#define DENSE_MOST 160 /* terminals up to which arborescences are used */
#define WARM_STEP 0.3  /* relative rise of the price of the most loaded resource */
#define ROOTS_DENSE 6  /* roots for which arborescences are tried in one round */
#define BUNDLE 24      /* trees of one round if only spanning trees are affordable */
#define LOCAL_MOST 5e6 /* optional nodes x links up to which steiner_search is thorough */
#define GAP 1e-9 /* relative difference by which a tree must be cheaper to count as another one */

static bool has_one_price(const struct pack *p)
{
	const struct topology *t = p->t;

	if (p->reduce_only)
		return false;
	for (int i = 0; i < t->links; i++)
		if (t->link[i].capacity[0] != t->link[i].capacity[1])
			return false;
	for (int i = 0; i < t->nodes; i++) {
		bool may = t->node[i].worker || (p->merging && topo_is_optional(t, i));

		if (may && !isinf(t->node[i].processing))
			return false;
	}
	return true;
}

static void find_roots(struct search *x)
{
	const struct topology *t = x->t;

	x->root = mem_new((size_t)t->nodes, sizeof(int));
	x->roots = 0;
	if (x->p->reduce_only) {
		x->roots = topo_roots(t, x->root);
		return;
	}
	memcpy(x->root, t->worker, (size_t)t->workers * sizeof(int));
	memcpy(x->root + t->workers, x->s->optional, (size_t)x->s->options * sizeof(int));
	x->roots = t->workers + x->s->options;
}

void search_begin(struct search *x, struct pack *p)
{
	size_t arcs = (size_t)p->t->links * 2;
	size_t nodes = (size_t)p->t->nodes;
	double n, all;

	*x = (struct search){.p = p, .m = p->m, .t = p->t};
	x->s = steiner_new(p->t, p->merging);
	x->symmetric = has_one_price(p);
	x->link = mem_new((size_t)p->t->links, sizeof(double));
	x->arc = mem_new(arcs, sizeof(double));
	x->node = mem_new(nodes, sizeof(double));
	x->center_arc = mem_new(arcs, sizeof(double));
	x->center_node = mem_new(nodes, sizeof(double));
	x->center = INFINITY;
	x->in_up = mem_new(nodes, sizeof(bool));
	x->in_down = mem_new(nodes, sizeof(bool));
	x->s->quick = (double)x->s->options * p->t->links > LOCAL_MOST;
	find_roots(x);
	x->turns = (x->roots + ROOTS_DENSE - 1) / ROOTS_DENSE;
	n = p->t->workers + x->s->options;
	all = ldexp(1, x->s->options) * (x->symmetric ? p->t->links * 8.0 : x->roots * n * n * 2);
	x->affordable = x->s->options <= EXHAUSTIVE && all <= WORK_MOST * (x->symmetric ? 10 : 1);
	if (!x->symmetric && n <= DENSE_MOST)
		x->a = arbor_new(p->t, x->s->optional, x->s->options);
	x->affordable = x->affordable && (x->symmetric || x->a);
}

void search_end(struct search *x)
{
	search_spend(x);
	steiner_free(x->s);
	arbor_free(x->a);
	free(x->link);
	free(x->arc);
	free(x->node);
	free(x->center_arc);
	free(x->center_node);
	free(x->root);
	free(x->in_up);
	free(x->in_down);
}

void search_spend(struct search *x)
{
	x->p->work.spent += x->s->spent;
	x->s->spent = 0;
	if (x->a)
		x->p->work.spent += x->a->spent;
	if (x->a)
		x->a->spent = 0;
}

bool search_may_go_on(struct search *x, double part)
{
	search_spend(x);
	return work_is_left(&x->p->work, part);
}

/* --- links with one price --------------------------------------------------------------------- */

static void emit_both(struct search *x)
{
	int root = x->t->worker[0];

	if (plan_add_tree(x->m->pool, root, 1) != 0)
		mem_out(0);
	steiner_emit(x->s, x->m->pool, root, false);
	if (plan_mirror(x->m->pool) != 0)
		mem_out(0);
}

static double search_links(struct search *x, bool all)
{
	double cost;

	for (int i = 0; i < x->t->links; i++)
		x->link[i] = x->arc[2 * i] + x->arc[2 * i + 1];
	x->s->link = x->link;
	x->s->node = NULL;
	cost = steiner_search(x->s, all ? EXHAUSTIVE : 0);
	if (!isinf(cost))
		emit_both(x);
	return cost;
}

/* --- separate ways up and down ---------------------------------------------------------------- */

/*
 * Chooses the optional nodes to use, under the mean prices of both directions; leaves the spanning
 * tree in x->s.
 */
static void guess(struct search *x, const double *node, bool *in)
{
	for (int i = 0; i < x->t->links; i++)
		x->link[i] = x->arc[2 * i] + x->arc[2 * i + 1];
	x->s->link = x->link;
	x->s->node = node;
	steiner_search(x->s, 0);
	memcpy(in, x->s->in, (size_t)x->t->nodes * sizeof(bool));
}

static void add_pair(struct search *x, int root, const bool *up, const bool *down)
{
	if (plan_add_tree(x->m->pool, root, 1) != 0)
		mem_out(0);
	arbor_find(x->a, root, up, false);
	arbor_emit(x->a, x->m->pool, false);
	if (!x->p->reduce_only) {
		arbor_find(x->a, root, down, true);
		arbor_emit(x->a, x->m->pool, true);
	}
}

static void set_options(const struct search *x, unsigned int set, bool *in)
{
	for (int i = 0; i < x->s->options; i++)
		in[x->s->optional[i]] = set >> i & 1;
}

/* The cheapest way up or down for a root; leaves the choice of merging nodes in `in`. */
static double search_subsets(struct search *x, int root, bool down, bool *in)
{
	double best = INFINITY;
	unsigned int chosen = 0;

	for (unsigned int set = 0; set < 1u << x->s->options; set++) {
		double cost;

		set_options(x, set, in);
		cost = arbor_find(x->a, root, in, down);
		if (cost < best) {
			best = cost;
			chosen = set;
		}
	}
	set_options(x, chosen, in);
	return best;
}

/* Tries every root and every choice of merging nodes. */
static double search_every_pair(struct search *x)
{
	double best = INFINITY;

	arbor_price(x->a, x->arc, x->node);
	for (int i = 0; i < x->roots; i++) {
		double cost = search_subsets(x, x->root[i], false, x->in_up);

		if (!x->p->reduce_only)
			cost += search_subsets(x, x->root[i], true, x->in_down);
		if (cost < best * (1 - GAP)) {
			best = cost;
			add_pair(x, x->root[i], x->in_up, x->in_down);
		}
	}
	return best;
}

/* Tries some roots in turn, with the merging nodes that guess() chooses. */
static double search_some_pairs(struct search *x)
{
	double best = INFINITY;
	int tries = x->roots < ROOTS_DENSE ? x->roots : ROOTS_DENSE;

	guess(x, x->node, x->in_up);
	if (!x->p->reduce_only)
		guess(x, NULL, x->in_down);
	arbor_price(x->a, x->arc, x->node);
	for (int i = 0; i < tries; i++) {
		int root = x->root[x->turn++ % x->roots];
		double cost = arbor_find(x->a, root, x->in_up, false);

		if (!x->p->reduce_only)
			cost += arbor_find(x->a, root, x->in_down, true);
		if (cost < best || cost < 1 - GAP)
			add_pair(x, root, x->in_up, x->in_down);
		best = fmin(best, cost);
	}
	return best;
}

/* Adds a spanning tree that includes the root, as edges of the pool's latest tree. */
static void add_span(struct search *x, const double *node, int root, bool down)
{
	bool *in = down ? x->in_down : x->in_up;

	x->s->link = x->link;
	x->s->node = node;
	memcpy(x->s->in, in, (size_t)x->t->nodes * sizeof(bool));
	x->s->in[root] = true;
	steiner_span(x->s);
	steiner_emit(x->s, x->m->pool, root, down);
	x->s->in[root] = in[root];
}

/*
 * For networks too large for arborescences, or for quick trees: spanning trees under mean prices,
 * for some roots.
 */
static double search_sparse(struct search *x, int most)
{
	double best = INFINITY;
	int tries = x->roots < most ? x->roots : most;
	struct plan *pool = x->m->pool;

	guess(x, x->node, x->in_up);
	if (!x->p->reduce_only)
		guess(x, NULL, x->in_down);
	for (int i = 0; i < tries; i++) {
		int root = x->root[x->turn++ % x->roots];

		if (plan_add_tree(pool, root, 1) != 0)
			mem_out(0);
		add_span(x, x->node, root, false);
		if (!x->p->reduce_only)
			add_span(x, NULL, root, true);
		best = fmin(best, master_cost(x->m, pool->trees - 1, x->arc, x->node));
	}
	return best;
}

/*
 * An upper bound by spanning trees, regardless of directions. The prices of the two directions are
 * made equal. Then no way up is cheaper than the cheapest tree with merging paid, and no way down
 * is cheaper than the one without.
 */
void search_bound_by_spanning(struct search *x)
{
	struct pack *p = x->p;
	double cost, bound;
	double *arc;

	if (p->reduce_only || x->s->options > EXHAUSTIVE)
		return;
	for (int i = 0; i < x->t->links; i++)
		x->link[i] = (x->m->arc[2 * i] + x->m->arc[2 * i + 1]) / 2;
	x->s->link = x->link;
	x->s->node = x->m->node;
	cost = steiner_search(x->s, EXHAUSTIVE);
	x->s->node = NULL;
	cost += steiner_search(x->s, EXHAUSTIVE);
	arc = mem_new((size_t)x->t->links * 2, sizeof(double));
	for (int i = 0; i < 2 * x->t->links; i++)
		arc[i] = x->link[i >> 1];
	bound = master_budget(x->m, arc, x->m->node) / cost;
	p->bound = fmin(p->bound, bound);
	free(arc);
}

void search_first_prices(struct search *x)
{
	for (int i = 0; i < 2 * x->t->links; i++)
		x->arc[i] = 1 / topo_arc_capacity(x->t, i);
	for (int i = 0; i < x->t->nodes; i++)
		x->node[i] = x->t->node[i].kind == TOPO_SWITCH || isinf(x->t->node[i].processing)
				     ? 0
				     : 1 / x->t->node[i].processing;
}

static double limit_of(const struct topology *t, int row)
{
	return row < 2 * t->links ? topo_arc_capacity(t, row)
				  : t->node[row - 2 * t->links].processing;
}

void search_raise_prices(struct search *x)
{
	struct master *m = x->m;
	int arcs = 2 * x->t->links;
	double least = INFINITY;
	double most = 0;

	tree_load_find(x->t, m->pool, m->pool->trees - 1, m->scratch, &m->load);
	for (int k = 0; k < m->load.n; k++)
		least = fmin(least, limit_of(x->t, m->load.row[k]) / m->load.count[k]);
	for (int k = 0; k < m->load.n; k++) {
		int row = m->load.row[k];
		double *price = row < arcs ? &x->arc[row] : &x->node[row - arcs];

		*price *= 1 + WARM_STEP * m->load.count[k] * least / limit_of(x->t, row);
		most = fmax(most, *price);
	}
	for (int k = 0; k < arcs && most > 1e100; k++)
		x->arc[k] /= most;
	for (int k = 0; k < x->t->nodes && most > 1e100; k++)
		x->node[k] /= most;
}

/*
 * For many terminals: one spanning tree under the current prices, then more of them while the
 * prices of their links rise. The first tree alone would gain little, because the prices of the
 * links of hundreds of hosts change at once.
 */
static double search_bundle(struct search *x)
{
	size_t arcs = 2 * (size_t)x->t->links;
	size_t nodes = (size_t)x->t->nodes;
	double *arc = mem_new(arcs, sizeof(double));
	double *node = mem_new(nodes, sizeof(double));
	double cost = search_sparse(x, 1);

	memcpy(arc, x->arc, arcs * sizeof(double));
	memcpy(node, x->node, nodes * sizeof(double));
	for (int i = 1; i < BUNDLE && search_may_go_on(x, PACK_PART); i++) {
		search_raise_prices(x);
		search_sparse(x, 1);
	}
	memcpy(x->arc, arc, arcs * sizeof(double));
	memcpy(x->node, node, nodes * sizeof(double));
	free(arc);
	free(node);
	return cost;
}

double search_quick(struct search *x)
{
	bool before = x->s->quick;
	double cost;

	/* If arborescences follow, the quality of the trees matters more than speed. */
	x->s->quick = before || (!x->symmetric && !x->a);
	cost = x->symmetric ? search_links(x, false) : search_sparse(x, 1);
	x->s->quick = before;
	return cost;
}

double search_round(struct search *x, bool all)
{
	if (x->symmetric)
		return search_links(x, all);
	if (all)
		return search_every_pair(x);
	return x->a ? search_some_pairs(x) : search_bundle(x);
}
