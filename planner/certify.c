/*
 * Dual bounds of networks that are too large for arborescences, by weak duality: for any prices,
 * the throughput is at most capacity x price / the cheapest tree. A lower bound on the cost of the
 * cheapest tree may be used instead. Nothing relies on how the prices were made.
 *
 * If both directions of each link have the same price and merging has none, no tree is cheaper than
 * the cheapest spanning tree over the workers and some of the nodes without data that may merge
 * (topo_is_optional; docs/planner.md, "Pricing"). If there are too many of these, the network is
 * folded. Every link then gets the least price of its class, which makes no tree more expensive,
 * and under prices of classes only the number of merging nodes of each class matters.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/exact.h"
#include "planner/mem.h"
#include "planner/work.h"
#include "planner/quotient.h"
#include "planner/steiner.h"

#define OPTIONS_MOST 12
#define CHOICES_WORK 3e8 /* choices x links */
#define ALIKE 1e-12

/* Prices of both directions together, by link; NULL if they differ or merging has a price. */
static double *link_prices(const struct topology *t, const struct plan_certificate *c)
{
	double *price = mem_new((size_t)t->links, sizeof(double));
	bool good = true;

	for (int i = 0; i < t->links; i++) {
		double a = c->arc_price[2 * i];
		double b = c->arc_price[2 * i + 1];

		good = good && a >= 0 && b >= 0 && fabs(a - b) <= ALIKE * fmax(a, b);
		price[i] = 2 * fmin(a, b);
	}
	for (int i = 0; i < t->nodes; i++)
		good = good && (t->node[i].kind == TOPO_SWITCH || isinf(t->node[i].processing) ||
				c->node_price[i] <= 0);
	if (good)
		return price;
	free(price);
	return NULL;
}

static double budget(const struct topology *t, const struct plan_certificate *c)
{
	double sum = 0;

	for (int arc = 0; arc < 2 * t->links; arc++)
		sum += topo_arc_capacity(t, arc) * c->arc_price[arc];
	return sum;
}

/* The cheapest spanning tree over every choice of merging nodes; NAN: too many choices. */
static double cheapest_span(const struct topology *t, const double *price, bool merging)
{
	struct steiner *s = steiner_new(t, merging);
	double cost = NAN;

	s->link = price;
	if (s->options <= OPTIONS_MOST && ldexp(1, s->options) * t->links <= CHOICES_WORK)
		cost = steiner_search(s, OPTIONS_MOST);
	steiner_free(s);
	return cost;
}

/* The least price of each class of links. */
static void find_least(const struct fold *f, const double *price, double *least)
{
	const struct topology *t = f->t;

	for (int r = 0; r <= f->rows; r++)
		least[r] = INFINITY;
	for (int i = 0; i < f->c->links; i++)
		least[f->row[i]] = fmin(least[f->row[i]], price[f->arc[2 * i] >> 1]);
	for (int i = 0; i < f->c->nodes; i++) {
		int row = f->row[f->c->out[f->c->first[i]] >> 1];

		for (int k = f->first[i]; k < f->first[i + 1] && f->copies[i] > 0; k++)
			least[row] = fmin(least[row], price[t->out[t->first[f->member[k]]] >> 1]);
	}
	for (int r = 0; r <= f->rows; r++)
		least[r] = isinf(least[r]) ? 0 : least[r];
}

/*
 * The cost of the workers' own links above that least price: every tree has an end at each of them.
 */
static double beyond_least(const struct fold *f, const double *price, const double *least)
{
	const struct topology *t = f->t;
	double sum = 0;

	for (int i = 0; i < f->c->nodes; i++) {
		int row = f->row[f->c->out[f->c->first[i]] >> 1];

		for (int k = f->first[i]; k < f->first[i + 1] && f->copies[i] > 0; k++)
			sum += price[t->out[t->first[f->member[k]]] >> 1] - least[row];
	}
	return sum;
}

/*
 * The cheapest tree over every number of merging nodes of each class; NAN: too many, or the network
 * cannot be folded.
 */
static double cheapest_of_classes(const struct topology *t, const double *price)
{
	struct fold *f = fold_new(t);
	struct work w = work_begin(INFINITY, INFINITY);
	double cost = NAN;
	struct quotient q;
	double *least;

	if (!f)
		return NAN;
	least = mem_new((size_t)f->rows + 1, sizeof(double));
	quotient_begin(&q, f, &w);
	if (q.affordable) {
		find_least(f, price, least);
		cost = quotient_cheapest(&q, least) + beyond_least(f, price, least);
	}
	quotient_end(&q);
	fold_free(f);
	free(least);
	return cost;
}

double exact_by_spanning(const struct topology *t, const struct plan *p, bool merging)
{
	double *price = p->reduce_only ? NULL : link_prices(t, &p->certificate);
	double cost;

	if (!price)
		return NAN;
	cost = cheapest_span(t, price, merging);
	if (isnan(cost) && merging)
		cost = cheapest_of_classes(t, price);
	free(price);
	if (isnan(cost))
		return NAN;
	return cost > 0 ? budget(t, &p->certificate) / cost : INFINITY;
}
