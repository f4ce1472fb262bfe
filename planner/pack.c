/*
 * Packs trees by column generation: rounds of the linear program and of the search for trees that
 * are cheaper under its prices. docs/planner.md shows why mirrored trees are optimal if links are
 * alike in both directions.
 */
#include "planner/pack.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"
#include "planner/work.h"
#include "planner/search.h"

#define GAP 1e-9       /* relative difference at which value and bound count as equal */
#define GAP_LARGE 1e-4 /* the same if the search cannot cover all trees anyway */
#define PROVE_LINKS 60 /* links up to which the dual bound is always computed */
#define WARM_ROUNDS 200
#define WARM_MANY 1000 /* the same if trees are cheap to find */
#define WARM_PART 0.2  /* of the work */

void pack_begin(struct pack *p)
{
	p->m = master_new(p->t);
	p->m->pool->reduce_only = p->reduce_only;
	p->value = 0;
	p->bound = INFINITY;
	p->exact = false;
	p->arc_price = NULL;
	p->node_price = NULL;
}

void pack_end(struct pack *p)
{
	master_free(p->m);
	free(p->arc_price);
	free(p->node_price);
}

/* --- rounds ----------------------------------------------------------------------------------- */

/* Keeps the bound that the prices and the cost of the cheapest tree give, if it is better. */
static void keep_bound(struct search *x, double cost)
{
	struct pack *p = x->p;
	size_t arcs = (size_t)x->t->links * 2;
	size_t nodes = (size_t)x->t->nodes;
	double bound = master_budget(x->m, x->arc, x->node) / cost;

	if (p->exact && bound >= p->bound)
		return;
	if (!p->arc_price) {
		p->arc_price = mem_new(arcs, sizeof(double));
		p->node_price = mem_new(nodes, sizeof(double));
	}
	p->bound = bound;
	p->exact = true;
	for (size_t i = 0; i < arcs; i++)
		p->arc_price[i] = x->symmetric ? (x->arc[i] + x->arc[i ^ 1]) / 2 : x->arc[i];
	memcpy(p->node_price, x->node, nodes * sizeof(double));
}

/*
 * Mixes the prices of the latest solution with those of the best bound so far, which makes them
 * change less from round to round (stabilisation).
 */
static void mix(struct search *x, double own)
{
	for (int i = 0; i < 2 * x->t->links; i++)
		x->arc[i] = own * x->m->arc[i] + (1 - own) * x->center_arc[i];
	for (int i = 0; i < x->t->nodes; i++)
		x->node[i] = own * x->m->node[i] + (1 - own) * x->center_node[i];
}

static void keep_center(struct search *x, double cost)
{
	double bound = master_budget(x->m, x->arc, x->node) / cost;

	if (bound >= x->center)
		return;
	x->center = bound;
	for (int i = 0; i < 2 * x->t->links; i++)
		x->center_arc[i] = x->arc[i] / cost;
	for (int i = 0; i < x->t->nodes; i++)
		x->center_node[i] = x->node[i] / cost;
}

/* Whether one of the trees since `from` improves the latest solution under its own prices. */
static bool helps(struct search *x, int from)
{
	for (int k = from; k < x->m->pool->trees; k++)
		if (master_cost(x->m, k, x->m->arc, x->m->node) < 1 - GAP)
			return true;
	return false;
}

/*
 * Whether the value is close enough to the bound. In small networks, where the search covers all
 * trees quickly, the dual prices must prove it even if the cut bound already does.
 */
static bool close_enough(const struct search *x)
{
	bool small = x->affordable && x->t->links <= PROVE_LINKS;
	double bound = small ? x->p->bound : fmin(x->p->bound, x->p->enough);

	return x->p->value >= bound * (1 - (x->affordable ? GAP : GAP_LARGE));
}

/* Searches under one mix of prices, as often as needed to try every root. */
static bool try_prices(struct search *x, double own)
{
	int tries = x->symmetric ? 1 : x->turns;

	mix(x, own);
	for (int i = 0; i < (own < 1 ? 1 : tries); i++) {
		int from = x->m->pool->trees;

		keep_center(x, search_round(x, false));
		if (helps(x, from))
			return true;
		if (!search_may_go_on(x, PACK_PART))
			return false;
	}
	return false;
}

/* One round; false if no tree improves the solution. */
static bool improve(struct search *x)
{
	int from;

	if (x->center < INFINITY && try_prices(x, 0.5))
		return true;
	if (try_prices(x, 1))
		return true;
	if (!x->affordable)
		return false;
	from = x->m->pool->trees;
	mix(x, 1);
	keep_bound(x, search_round(x, true));
	return helps(x, from);
}

/*
 * Adds many different trees before the first rounds, since the linear programs take most of the
 * time.
 */
static void warm_up(struct search *x)
{
	double part = PACK_PART * (WARM_PART + work_gone(&x->p->work));
	int most = x->symmetric || x->a ? WARM_ROUNDS : WARM_MANY;

	for (int i = 0; i < most && search_may_go_on(x, part); i++) {
		double cost = search_quick(x);

		work_report(&x->p->work, "first trees", i, x->p->value,
			    fmin(x->p->bound, x->p->enough));
		if (isinf(cost))
			break;
		keep_center(x, cost);
		search_raise_prices(x);
	}
}

int pack_first_tree(struct pack *p)
{
	struct search x;
	int rc = -1;

	search_begin(&x, p);
	search_first_prices(&x);
	if (!isinf(search_quick(&x)))
		rc = master_solve(p->m, &p->work, PACK_PART);
	p->value = rc == 0 ? p->m->value : 0;
	search_end(&x);
	return rc;
}

int pack_run(struct pack *p)
{
	struct search x;
	int rc = -1;

	search_begin(&x, p);
	search_first_prices(&x);
	if (isinf(search_round(&x, false)))
		goto out;
	if (p->t->links > PROVE_LINKS && master_solve(p->m, &p->work, PACK_PART) == 0 &&
	    p->m->value < p->enough * (1 - GAP))
		warm_up(&x);
	for (int round = 0; round < 100000; round++) {
		rc = master_solve(p->m, &p->work, PACK_PART);
		if (rc != 0)
			goto out;
		p->value = p->m->value;
		work_report(&p->work, "trees", round, p->value, fmin(p->bound, p->enough));
		if (close_enough(&x) || !search_may_go_on(&x, PACK_PART) || !improve(&x))
			break;
	}
	rc = master_solve(p->m, &p->work, 1);
	if (rc != 0)
		goto out;
	p->value = p->m->value;
	if (!p->exact && x.affordable) {
		mix(&x, 1);
		keep_bound(&x, search_round(&x, true));
		rc = master_solve(p->m, &p->work, 1);
		p->value = p->m->value;
	} else if (!x.symmetric && !p->exact) {
		search_bound_by_spanning(&x);
	}
out:
	search_end(&x);
	return rc;
}
