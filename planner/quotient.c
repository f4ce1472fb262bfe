/*
 * Column generation over classes: see quotient.h.
 */
#include "planner/quotient.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"

#define GAP 1e-7         /* relative difference at which value and bound count as equal */
#define GAP_LARGE 1e-3   /* the same if the search cannot cover all trees */
#define WARM_FIRST 100   /* trees before the first program; twice as many before each further one */
#define WARM_ROUNDS 1000 /* total */
#define WARM_PART 0.3    /* of the work */
#define WARM_STEP 0.3    /* relative rise of the price of the most loaded row */
#define CHOICES_WORK 3e8 /* limit of the work of one search over all choices of merging nodes */
#define CLASSES_WORK 5e7 /* limit of the work of one search class by class */
#define TIE 1e-9 /* relative difference between prices of links of one class, to vary routes */
#define ROUNDS_MOST 10000
#define LOAD_WORK 4 /* units for each link and node */

/* --- loads ------------------------------------------------------------------------------------ */

static void load_node(const struct fold *f, int node, double times, double *load)
{
	if (f->row[f->c->links + node] >= 0)
		load[f->c->links + node] += times;
}

/*
 * The root is a worker, so one end at each merging node is its output, not an input. Nodes already
 * handled are negative until the end.
 */
static void take_outputs(const struct fold *f, const struct plan *pool, int tree, double *load)
{
	const struct plan_tree *k = &pool->tree[tree];
	double *node = load + f->c->links;

	for (int i = 0; i < 2 * k->ups; i++) {
		const struct plan_edge *e = &pool->edge[k->up_first + i / 2];
		int end = i % 2 ? e->to : e->from;

		if (node[end] > 0)
			node[end] = -(node[end] - 1);
	}
	for (int i = 0; i < 2 * k->ups; i++) {
		const struct plan_edge *e = &pool->edge[k->up_first + i / 2];
		int end = i % 2 ? e->to : e->from;

		node[end] = fabs(node[end]);
	}
}

void quotient_load(const struct fold *f, const struct plan *pool, int tree, double *load)
{
	const struct plan_tree *k = &pool->tree[tree];

	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &pool->edge[k->up_first + i];
		bool copies = i >= k->ups;
		double n = copies ? f->copies[e->from] : 1;

		for (int j = 0; j < e->arcs; j++)
			load[pool->route[e->first + j] >> 1] += n;
		if (e->arcs == 0) /* within the rack: an end at each of two workers */
			load[f->c->out[f->c->first[e->from]] >> 1] += 2 * n;
		else
			load_node(f, e->to, n, load);
		if (!copies)
			load_node(f, e->from, n, load);
	}
	take_outputs(f, pool, tree, load);
}

/*
 * Computes the rows of the latest tree of the pool, in q->row and q->count; the last row is that of
 * the least link.
 */
static void find_column(struct quotient *q)
{
	const struct fold *f = q->f;
	int all = f->c->links + f->c->nodes;
	double *sum = q->scratch + all;

	memset(q->scratch, 0, ((size_t)all + (size_t)f->rows + 1) * sizeof(double));
	quotient_load(f, q->pool, q->pool->trees - 1, q->scratch);
	for (int i = 0; i < all; i++)
		if (q->scratch[i] > 0 && f->row[i] >= 0)
			sum[f->row[i]] += q->scratch[i];
	q->counts = 0;
	for (int r = 0; r <= f->rows; r++) {
		if (r < f->rows ? sum[r] <= 0 : isinf(f->least))
			continue;
		q->row[q->counts] = r;
		q->count[q->counts++] = r < f->rows ? sum[r] : 1;
	}
	q->work->spent += LOAD_WORK * (double)all;
}

static double limit_of(const struct quotient *q, int row)
{
	return row < q->f->rows ? q->f->limit[row] : q->f->least;
}

static double cost_of_column(const struct quotient *q, const double *price)
{
	double cost = 0;

	for (int i = 0; i < q->counts; i++)
		cost += q->count[i] * price[q->row[i]];
	return cost;
}

static double budget(const struct quotient *q, const double *price)
{
	double sum = isinf(q->f->least) ? 0 : q->f->least * price[q->f->rows];

	for (int r = 0; r < q->f->rows; r++)
		sum += q->f->limit[r] * price[r];
	return sum;
}

/* Adds the column to the program, scaled by the limits of the rows as in struct master. */
static void take_column(struct quotient *q)
{
	for (int i = 0; i < q->counts; i++)
		q->scratch[i] = q->count[i] * q->unit / limit_of(q, q->row[i]);
	lp_column(q->lp, 1, INFINITY, q->counts, q->row, q->scratch);
}

/* --- search for a cheap tree ------------------------------------------------------------------ */

static void set_prices(struct quotient *q, const double *price)
{
	const struct fold *f = q->f;

	/* Vary the prices a little, so that racks take different routes of equal cost. */
	for (int i = 0; i < f->c->links; i++)
		q->link[i] = price[f->row[i]] *
			     (1 + TIE * topo_uniform(&q->random) * q->many[f->row[i]]);
	for (int i = 0; i < f->c->nodes; i++) {
		int row = f->row[f->c->links + i];

		q->node[i] = row < 0 ? 0 : price[row];
	}
}

static double span_pruned(struct quotient *q)
{
	double cost;

	do {
		cost = steiner_span(q->s);
	} while (steiner_prune(q->s));
	return cost;
}

static void take_all(struct quotient *q)
{
	for (int i = 0; i < q->s->options; i++)
		q->s->in[q->s->optional[i]] = true;
}

static bool is_option(const struct quotient *q, int node)
{
	return topo_is_optional(q->f->c, node);
}

/* Includes the first n nodes of a class; all twins of a class are options, or none is. */
static void set_class(struct quotient *q, int k, int n)
{
	const struct fold *f = q->f;

	for (int i = f->twin_first[k]; i < f->twin_first[k + 1]; i++)
		q->s->in[f->twin_member[i]] = i - f->twin_first[k] < n;
}

static bool is_class_of_options(const struct quotient *q, int k)
{
	return is_option(q, q->f->twin_member[q->f->twin_first[k]]);
}

static int class_size(const struct quotient *q, int k)
{
	return q->f->twin_first[k + 1] - q->f->twin_first[k];
}

static int class_count(const struct quotient *q, int k)
{
	int n = 0;

	for (int i = q->f->twin_first[k]; i < q->f->twin_first[k + 1]; i++)
		n += q->s->in[q->f->twin_member[i]];
	return n;
}

/*
 * Tries every number of merging nodes of every class, like an odometer: under prices of classes
 * this covers all trees.
 */
static double search_all(struct quotient *q)
{
	int *best_count = mem_new((size_t)q->f->twins, sizeof(int));
	int *count = mem_new((size_t)q->f->twins, sizeof(int));
	double best = INFINITY;
	int k;

	for (int i = 0; i < q->s->options; i++)
		q->s->in[q->s->optional[i]] = false;
	do {
		double cost = steiner_span(q->s);

		if (cost < best) {
			best = cost;
			memcpy(best_count, count, (size_t)q->f->twins * sizeof(int));
		}
		for (k = 0; k < q->f->twins; k++) {
			if (!is_class_of_options(q, k))
				continue;
			count[k] = count[k] == class_size(q, k) ? 0 : count[k] + 1;
			set_class(q, k, count[k]);
			if (count[k] > 0)
				break;
		}
	} while (k < q->f->twins);
	for (k = 0; k < q->f->twins; k++)
		if (is_class_of_options(q, k))
			set_class(q, k, best_count[k]);
	free(count);
	free(best_count);
	span_pruned(q);
	return best;
}

static double search_quick(struct quotient *q)
{
	take_all(q);
	return span_pruned(q);
}

/* Improves the quick result: for each class one more, one less, none, or all of it. */
static double search_local(struct quotient *q)
{
	double best = search_quick(q);

	for (int k = 0; k < q->f->twins; k++) {
		int size = class_size(q, k);
		int had = is_class_of_options(q, k) ? class_count(q, k) : -1;
		int try[4] = {had - 1, had + 1, 0, size};

		for (int i = 0; i < 4 && had >= 0; i++) {
			double cost;

			if (try[i] < 0 || try[i] > size || try[i] == had ||
			    (i >= 2 && (try[i] == had - 1 || try[i] == had + 1)))
				continue;
			set_class(q, k, try[i]);
			cost = steiner_span(q->s);
			if (cost < best * (1 - 1e-12)) {
				best = cost;
				had = try[i];
			}
		}
		if (had >= 0)
			set_class(q, k, had);
	}
	return span_pruned(q);
}

static void must(bool good)
{
	if (!good)
		mem_out(0);
}

/* Makes the latest spanning tree the latest tree of the pool and the column in q. */
static void keep_tree(struct quotient *q)
{
	const struct topology *c = q->f->c;
	int *arc = mem_new((size_t)c->nodes * 3, sizeof(int));

	must(plan_add_tree(q->pool, 0, 1) == 0);
	for (int i = 0; i < q->s->edges; i++) {
		int from, to;
		int n = steiner_edge_arcs(q->s, i, &from, &to, arc);

		must(plan_add_edge(q->pool, false, from, to, arc, n) == 0);
	}
	for (int i = 0; i < c->nodes; i++) {
		int head, n;

		if (q->f->copies[i] == 0)
			continue;
		head = topo_arc_to(c, c->out[c->first[i]]);
		arc[0] = c->out[c->first[i]];
		n = q->s->site[head] == i ? 0 : 1 + steiner_nearest_arcs(q->s, head, arc + 1);
		must(plan_add_edge(q->pool, true, i, q->s->site[head], arc, n) == 0);
	}
	free(arc);
	find_column(q);
}

/* Finds a tree under these prices; returns its cost, including the price of the least link. */
static double find_tree(struct quotient *q, const double *price, bool all, bool quick)
{
	double cost;

	set_prices(q, price);
	if (all)
		cost = search_all(q);
	else if (quick || q->large)
		cost = search_quick(q);
	else
		cost = search_local(q);
	q->work->spent += q->s->spent;
	q->s->spent = 0;
	if (isinf(cost))
		return cost;
	keep_tree(q);
	cost /= 1 + TIE;
	return isinf(q->f->least) ? cost : cost + price[q->f->rows];
}

double quotient_cheapest(struct quotient *q, const double *price)
{
	set_prices(q, price);
	return search_all(q) / (1 + TIE);
}

/* --- rounds ----------------------------------------------------------------------------------- */

void quotient_begin(struct quotient *q, const struct fold *f, struct work *w)
{
	size_t all = (size_t)f->c->links + (size_t)f->c->nodes + (size_t)f->rows + 2;
	size_t rows = (size_t)f->rows + 1;
	double choices = 1;
	double span;

	*q = (struct quotient){.f = f, .work = w, .enough = INFINITY, .bound = INFINITY};
	q->pool = plan_new("classes");
	must(q->pool != NULL);
	q->s = steiner_new(f->c, true);
	q->s->copies = f->copies;
	q->lp = lp_new();
	q->price = mem_new(rows, sizeof(double));
	q->now = mem_new(rows, sizeof(double));
	q->center = mem_new(rows, sizeof(double));
	q->link = mem_new((size_t)f->c->links, sizeof(double));
	q->node = mem_new((size_t)f->c->nodes, sizeof(double));
	q->scratch = mem_new(all, sizeof(double));
	q->row = mem_new(rows, sizeof(int));
	q->count = mem_new(rows, sizeof(double));
	q->many = mem_new(rows, sizeof(double));
	for (int i = 0; i < f->c->links; i++)
		q->many[f->row[i]] += 1.0 / f->c->links;
	q->random = 1;
	q->s->link = q->link;
	q->s->node = q->node;
	q->center_bound = INFINITY;
	q->unit = INFINITY;
	for (int i = 0; i < f->t->workers; i++)
		q->unit = fmin(q->unit, topo_egress(f->t, f->t->worker[i]));
	for (size_t r = 0; r < rows; r++)
		lp_row(q->lp, -INFINITY, 1);
	span = 20.0 * (f->c->links + f->c->nodes);
	for (int k = 0; k < f->twins; k++)
		if (is_class_of_options(q, k))
			choices *= class_size(q, k) + 1;
	q->affordable = choices * span <= CHOICES_WORK;
	for (int i = 0; i < f->c->nodes;
	     i++) /* if merging has a price, the cost depends on the root */
		q->affordable = q->affordable && f->row[f->c->links + i] < 0;
	q->large = 4.0 * f->twins * span > CLASSES_WORK;
}

void quotient_end(struct quotient *q)
{
	plan_free(q->pool);
	steiner_free(q->s);
	lp_free(q->lp);
	free(q->weight);
	free(q->price);
	free(q->many);
	free(q->now);
	free(q->center);
	free(q->link);
	free(q->node);
	free(q->scratch);
	free(q->row);
	free(q->count);
}

static void keep_center(struct quotient *q, const double *price, double cost)
{
	double bound = budget(q, price) / cost;

	if (bound >= q->center_bound)
		return;
	q->center_bound = bound;
	for (int r = 0; r <= q->f->rows; r++)
		q->center[r] = price[r] / cost;
}

static void keep_bound(struct quotient *q, const double *price, double cost)
{
	double bound = budget(q, price) / cost;

	q->exact = true;
	if (bound >= q->bound)
		return;
	q->bound = bound;
	for (int r = 0; r <= q->f->rows; r++)
		q->price[r] = price[r] / cost;
}

/* Raises the prices of what the latest tree uses (Garg and Koenemann). */
static void raise_prices(struct quotient *q, double *price)
{
	double least = INFINITY;
	double most = 0;

	for (int i = 0; i < q->counts; i++)
		least = fmin(least, limit_of(q, q->row[i]) / q->count[i]);
	for (int i = 0; i < q->counts; i++)
		price[q->row[i]] *= 1 + WARM_STEP * q->count[i] * least / limit_of(q, q->row[i]);
	for (int r = 0; r <= q->f->rows; r++)
		most = fmax(most, price[r]);
	for (int r = 0; r <= q->f->rows; r++)
		price[r] = fmax(price[r] / most, 1e-30);
}

static void add_trees(struct quotient *q, double *price, int trees, double part)
{
	for (int i = 0; i < trees && work_is_left(q->work, part); i++) {
		double cost = find_tree(q, price, false, true);

		work_report(q->work, "first trees of classes", q->pool->trees, q->value,
			    fmin(q->bound, q->enough));
		if (isinf(cost))
			return;
		take_column(q);
		keep_center(q, price, cost);
		raise_prices(q, price);
	}
}

static int solve(struct quotient *q, double part)
{
	int rc = lp_solve_within(q->lp, q->work, part);

	if (rc < 0 || (rc == 2 && !q->weight))
		return -1;
	if (rc == 0 || (rc == 1 && lp_gain(q->lp) * q->unit > q->value)) {
		q->value = lp_gain(q->lp) * q->unit;
		q->weight = mem_more(q->weight, (size_t)q->pool->trees, sizeof(double));
		q->weights = q->pool->trees;
		for (int k = 0; k < q->weights; k++)
			q->weight[k] = fmax(0, lp_value(q->lp, k));
	}
	for (int r = 0; r <= q->f->rows; r++)
		q->now[r] = isinf(limit_of(q, r))
				    ? 0
				    : fmax(0, lp_price(q->lp, r)) * q->unit / limit_of(q, r);
	return 0;
}

/*
 * Finds one tree under a mix of the latest prices and those of the best bound; returns whether it
 * improves the solution.
 */
static bool try_prices(struct quotient *q, double own, bool all)
{
	size_t rows = (size_t)q->f->rows + 1;
	double *price = mem_new(rows, sizeof(double));
	double cost;
	bool helps;

	for (size_t r = 0; r < rows; r++)
		price[r] = own * q->now[r] + (own < 1 ? (1 - own) * q->center[r] : 0);
	cost = find_tree(q, price, all, false);
	if (all)
		keep_bound(q, price, cost);
	keep_center(q, price, cost);
	helps = cost_of_column(q, q->now) < 1 - GAP;
	if (helps)
		take_column(q);
	else
		q->pool->trees--;
	free(price);
	return helps;
}

static bool is_done(const struct quotient *q)
{
	double bound = q->affordable ? q->bound : q->enough;

	return q->value >= bound * (1 - (q->affordable ? GAP : GAP_LARGE));
}

/* Adds many different trees under rising prices; solves the program from time to time. */
static int warm_up(struct quotient *q, double part)
{
	double until = work_gone(q->work);
	double *price = mem_new((size_t)q->f->rows + 1, sizeof(double));
	int most = q->f->rows < WARM_FIRST ? WARM_FIRST : WARM_ROUNDS;
	int rc = 0;

	until += (part - until) * WARM_PART;
	for (int r = 0; r <= q->f->rows; r++)
		price[r] = isinf(limit_of(q, r)) ? 0 : 1 / limit_of(q, r);
	for (int n = WARM_FIRST; rc == 0 && q->pool->trees < most; n *= 2) {
		add_trees(q, price, n, until);
		rc = q->pool->trees > 0 ? solve(q, part) : -1;
		if (is_done(q) || !work_is_left(q->work, until))
			break;
	}
	free(price);
	return rc;
}

static bool improve(struct quotient *q)
{
	if (isfinite(q->center_bound) && try_prices(q, 0.3, false))
		return true;
	if (try_prices(q, 0.7, false) || try_prices(q, 1, false))
		return true;
	return q->affordable && try_prices(q, 1, true);
}

int quotient_run(struct quotient *q, double part)
{
	int rc = warm_up(q, part);

	for (int round = 0; round < ROUNDS_MOST && rc == 0; round++) {
		work_report(q->work, "trees of classes", round, q->value,
			    fmin(q->bound, q->enough));
		if (is_done(q) || !work_is_left(q->work, part) || !improve(q))
			break;
		rc = solve(q, part);
	}
	return rc;
}
