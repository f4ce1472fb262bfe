/*
 * The linear program over trees (the restricted master problem).
 */
#include "planner/master.h"

#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/mem.h"
#include "planner/tree_load.h"

struct master *master_new(const struct topology *t)
{
	struct master *m = mem_new(1, sizeof(*m));
	size_t arcs = (size_t)t->links * 2;
	size_t nodes = (size_t)t->nodes;

	m->t = t;
	m->pool = plan_new("pool");
	m->lp = lp_new();
	m->scratch = mem_new(arcs + nodes, sizeof(double));
	m->row = mem_new(arcs + nodes, sizeof(int));
	m->arc = mem_new(arcs, sizeof(double));
	m->node = mem_new(nodes, sizeof(double));
	m->unit = INFINITY;
	for (int i = 0; i < t->workers; i++)
		m->unit = fmin(m->unit, topo_egress(t, t->worker[i]));
	for (int arc = 0; arc < 2 * t->links; arc++)
		m->row[arc] = lp_row(m->lp, -INFINITY, 1);
	for (int i = 0; i < t->nodes; i++)
		m->row[arcs + (size_t)i] =
			t->node[i].kind == TOPO_SWITCH || isinf(t->node[i].processing)
				? -1
				: lp_row(m->lp, -INFINITY, 1);
	return m;
}

void master_free(struct master *m)
{
	if (!m)
		return;
	plan_free(m->pool);
	lp_free(m->lp);
	free(m->scratch);
	free(m->row);
	free(m->arc);
	free(m->node);
	free(m->weight);
	tree_load_free(&m->load);
	free(m);
}

/* The fraction of an arc's or a node's limit that one unit of weight uses. */
static double part_of(const struct master *m, int row)
{
	return m->unit / (row < 2 * m->t->links ? topo_arc_capacity(m->t, row)
						: m->t->node[row - 2 * m->t->links].processing);
}

/* Adds the trees of the pool that are new since the last call as columns. */
static void master_take(struct master *m)
{
	int *row = mem_new((size_t)m->t->links * 2 + (size_t)m->t->nodes, sizeof(int));

	for (; m->columns < m->pool->trees; m->columns++) {
		int n = 0;

		tree_load_find(m->t, m->pool, m->columns, m->scratch, &m->load);
		for (int i = 0; i < m->load.n; i++) {
			int r = m->row[m->load.row[i]];

			if (r < 0)
				continue;
			row[n] = r;
			m->load.count[n++] = m->load.count[i] * part_of(m, m->load.row[i]);
		}
		lp_column(m->lp, 1, INFINITY, n, row, m->load.count);
	}
	free(row);
}

int master_solve(struct master *m, struct work *w, double part)
{
	int rc;

	master_take(m);
	rc = lp_solve_within(m->lp, w, part);
	if (rc < 0 || (rc == 2 && m->weights == 0))
		return -1;
	if (rc == 0 || (rc == 1 && lp_gain(m->lp) * m->unit > m->value)) {
		m->value = lp_gain(m->lp) * m->unit;
		m->weight = mem_more(m->weight, (size_t)m->columns, sizeof(double));
		m->weights = m->columns;
		for (int k = 0; k < m->columns; k++)
			m->weight[k] = fmax(0, lp_value(m->lp, k));
	}
	for (int arc = 0; arc < 2 * m->t->links; arc++)
		m->arc[arc] = fmax(0, lp_price(m->lp, m->row[arc])) * part_of(m, arc);
	for (int i = 0; i < m->t->nodes; i++) {
		int row = m->row[2 * m->t->links + i];

		m->node[i] =
			row < 0 ? 0
				: fmax(0, lp_price(m->lp, row)) * part_of(m, 2 * m->t->links + i);
	}
	return 0;
}

double master_cost(struct master *m, int tree, const double *arc, const double *node)
{
	double cost = 0;

	tree_load_find(m->t, m->pool, tree, m->scratch, &m->load);
	for (int i = 0; i < m->load.n; i++) {
		int row = m->load.row[i];

		cost += m->load.count[i] *
			(row < 2 * m->t->links ? arc[row] : node[row - 2 * m->t->links]);
	}
	return cost;
}

double master_budget(const struct master *m, const double *arc, const double *node)
{
	double sum = 0;

	for (int i = 0; i < 2 * m->t->links; i++)
		sum += topo_arc_capacity(m->t, i) * arc[i];
	for (int i = 0; i < m->t->nodes; i++)
		if (node[i] > 0)
			sum += m->t->node[i].processing * node[i];
	return sum;
}

/* --- few trees -------------------------------------------------------------------------------- */

static bool is_enough(struct master *m, int tree, double wanted)
{
	double worst = 0;

	tree_load_find(m->t, m->pool, tree, m->scratch, &m->load);
	for (int i = 0; i < m->load.n; i++) {
		int row = m->load.row[i];
		double limit = row < 2 * m->t->links ? topo_arc_capacity(m->t, row)
						     : m->t->node[row - 2 * m->t->links].processing;

		worst = fmax(worst, m->load.count[i] / limit);
	}
	return worst * wanted <= 1;
}

static int count_steps(const struct master *m, int tree)
{
	struct plan *p = build_plan("one");
	struct plan_load load;
	int steps = INT_MAX;

	p->reduce_only = m->pool->reduce_only;
	plan_copy_tree(p, m->pool, tree, 1);
	if (plan_measure(m->t, p, &load, NULL) == 0) {
		steps = load.steps;
		plan_load_free(&load);
	}
	plan_free(p);
	return steps;
}

#define SINGLES_MOST 40 /* candidates, of which the shallowest is taken */

/* The shallowest tree that reaches the wanted throughput alone; -1: none. */
static int find_single(struct master *m, double wanted)
{
	int least = INT_MAX;
	int best = -1;
	int seen = 0;

	for (int k = m->columns - 1; k >= 0 && seen < SINGLES_MOST; k--) {
		int steps;

		if (!is_enough(m, k, wanted))
			continue;
		seen++;
		steps = count_steps(m, k);
		if (best >= 0 && steps > least)
			continue;
		best = k;
		least = steps;
	}
	return best;
}

#define TRIES_MOST 100
#define FAILED_MOST 12 /* after this many trees that cannot be removed, no more are tried */

static int lightest(const double *weight, const bool *keep, int n, double above)
{
	int best = -1;

	for (int k = 0; k < n; k++)
		if (weight[k] > above && !keep[k] && (best < 0 || weight[k] < weight[best]))
			best = k;
	return best;
}

/*
 * Removes trees one by one, the one with the least weight first, as long as the rest reaches the
 * wanted throughput.
 */
static void thin_out(struct master *m, double wanted, struct work *w, double part, double *weight)
{
	bool *keep = mem_new((size_t)m->columns, sizeof(bool));
	int k, rc;

	for (int i = 0; i < m->columns; i++) {
		weight[i] = i < m->weights ? m->weight[i] : 0;
		if (weight[i] <= 1e-12)
			lp_limit(m->lp, i, 0);
	}
	for (int tries = 0, failed = 0; tries < TRIES_MOST && failed < FAILED_MOST; tries++) {
		k = lightest(weight, keep, m->columns, 1e-12);
		if (k < 0 || !work_is_left(w, part))
			break;
		work_report(w, "fewer trees", tries, wanted, NAN);
		lp_limit(m->lp, k, 0);
		rc = lp_solve_within(m->lp, w, 1);
		if ((rc == 0 || rc == 1) && lp_gain(m->lp) * m->unit >= wanted) {
			for (int i = 0; i < m->columns; i++)
				weight[i] = lp_value(m->lp, i);
			continue;
		}
		keep[k] = true;
		failed++;
		lp_limit(m->lp, k, INFINITY);
	}
	free(keep);
}

struct plan *master_plan(struct master *m, const char *name, double tolerance, struct work *w,
			 double part)
{
	double wanted = m->value * (1 - tolerance);
	double *weight = mem_new((size_t)m->columns, sizeof(double));
	struct plan *p = NULL;
	double sum = 0;
	int one = find_single(m, wanted);

	if (one >= 0)
		weight[one] = 1;
	else
		thin_out(m, wanted, w, part, weight);
	p = plan_new(name);
	if (!p)
		goto out;
	for (int k = 0; k < m->columns; k++)
		sum += weight[k] > 1e-12 ? weight[k] : 0;
	for (int k = 0; k < m->columns; k++)
		if (weight[k] > 1e-12)
			plan_copy_tree(p, m->pool, k, weight[k] / sum);
	p->reduce_only = m->pool->reduce_only;
out:
	free(weight);
	return p;
}
