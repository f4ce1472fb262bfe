/*
 * Exact checks. All numbers are multiples of a fixed unit, and their sums stay far below 2^53.
 * Therefore the arborescences, which compute in doubles, are exact as well.
 */
#include "planner/exact.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/arbor.h"
#include "planner/master.h"
#include "planner/mem.h"
#include "planner/shape.h"
#include "planner/tree_load.h"

#define SHARE_UNIT 0x1p-30
#define CAPACITY_UNIT 0x1p-10
#define OPTIONS_MOST 10
/* Arborescences check prices up to this number of boxes and hosts without data, and of steps. */
#define PRICES_OPTIONS 12
#define PRICES_WORK 3e7

double exact_value(struct exact_fraction f)
{
	return (double)f.num / (double)f.den;
}

static __int128 product(__int128 a, __int128 b)
{
	__int128 c;

	if (__builtin_mul_overflow(a, b, &c))
		abort();
	return c;
}

bool exact_at_most(struct exact_fraction a, struct exact_fraction b)
{
	return product(a.num, b.den) <= product(b.num, a.den);
}

/*
 * Capacities of arcs, then processing rates of nodes, in units; 0: no limit. Returns -1 if one is
 * not a whole number of units, or too large.
 */
static int whole_capacities(const struct topology *t, int64_t *limit)
{
	for (int i = 0; i < 2 * t->links + t->nodes; i++) {
		bool arc = i < 2 * t->links;
		double c = arc ? topo_arc_capacity(t, i) : t->node[i - 2 * t->links].processing;
		double units = c / CAPACITY_UNIT;

		if (!arc && (t->node[i - 2 * t->links].kind == TOPO_SWITCH || isinf(c)))
			continue;
		if (units != floor(units) || units > 0x1p40)
			return -1;
		limit[i] = (int64_t)units;
	}
	return 0;
}

int exact_throughput(const struct topology *t, const struct plan *p, struct exact_fraction *value)
{
	size_t rows = (size_t)t->links * 2 + (size_t)t->nodes;
	int64_t *limit = mem_new(rows, sizeof(*limit));
	int64_t *sum = mem_new(rows, sizeof(*sum));
	double *scratch = mem_new(rows, sizeof(double));
	struct tree_load load = {0};
	__int128 all = 0;
	int rc = plan_rate(t, p) <= 0 || whole_capacities(t, limit) != 0 ? -1 : 0;
	bool any = false;

	for (int k = 0; k < p->trees && rc == 0; k++) {
		int64_t share = (int64_t)floor(p->tree[k].share / SHARE_UNIT + 0.5);

		all += share;
		tree_load_find(t, p, k, scratch, &load);
		for (int i = 0; i < load.n; i++)
			sum[load.row[i]] += share * (int64_t)load.count[i];
	}
	for (size_t i = 0; i < rows && rc == 0; i++) {
		struct exact_fraction f = {product(all, limit[i]),
					   product(sum[i], (__int128)(1 / CAPACITY_UNIT))};

		if (limit[i] == 0 || sum[i] == 0)
			continue;
		if (!any || !exact_at_most(*value, f))
			*value = f;
		any = true;
	}
	tree_load_free(&load);
	free(scratch);
	free(limit);
	free(sum);
	return any ? 0 : -1;
}

/* --- the bound -------------------------------------------------------------------------------- */

static int find_options(const struct topology *t, bool merging, int *option)
{
	int n = 0;

	for (int i = 0; i < t->nodes && merging; i++)
		if (topo_is_optional(t, i))
			option[n++] = i;
	return n;
}

/* The cheapest way up or down between a root and the workers, over all choices of merging nodes. */
static double cheapest_way(struct arbor *a, int root, bool down, bool *in)
{
	double best = INFINITY;

	for (unsigned int set = 0; set < 1u << a->options; set++) {
		for (int i = 0; i < a->options; i++)
			in[a->optional[i]] = set >> i & 1;
		best = fmin(best, arbor_find(a, root, in, down));
	}
	return best;
}

static double cheapest_tree(const struct topology *t, const struct plan *p, const int *option,
			    int options, const double *arc, const double *node)
{
	struct arbor *a = arbor_new(t, option, options);
	bool *in = mem_new((size_t)t->nodes, sizeof(bool));
	double best = INFINITY;

	arbor_price(a, arc, node);
	for (int i = 0; i < a->terminals; i++) {
		double cost;

		if (p->reduce_only && !t->node[a->node[i]].server)
			continue;
		cost = cheapest_way(a, a->node[i], false, in);
		if (!p->reduce_only)
			cost += cheapest_way(a, a->node[i], true, in);
		best = fmin(best, cost);
	}
	free(in);
	arbor_free(a);
	return best;
}

/* Whether the price of a node counts: one without a limit has none. */
static bool has_price(const struct topology *t, int node)
{
	return t->node[node].kind != TOPO_SWITCH && !isinf(t->node[node].processing);
}

/*
 * A copy of prices in which the largest that counts is from 0.5 to 1: capacities times prices, and
 * sums of prices, can then be neither too large for doubles nor so small that these lose digits.
 * The factor is a power of two.
 */
static struct plan_certificate scale_prices(const struct topology *t,
					    const struct plan_certificate *c)
{
	struct plan_certificate scaled = *c;
	double most = 0;
	int power;

	for (int arc = 0; arc < 2 * t->links; arc++)
		most = fmax(most, c->arc_price[arc]);
	for (int i = 0; i < t->nodes; i++)
		most = fmax(most, has_price(t, i) ? c->node_price[i] : 0);
	frexp(most, &power);
	scaled.arc_price = mem_new((size_t)t->links * 2, sizeof(double));
	scaled.node_price = mem_new((size_t)t->nodes, sizeof(double));
	for (int arc = 0; arc < 2 * t->links; arc++)
		scaled.arc_price[arc] = ldexp(c->arc_price[arc], -power);
	for (int i = 0; i < t->nodes; i++)
		scaled.node_price[i] = has_price(t, i) ? ldexp(c->node_price[i], -power) : 0;
	return scaled;
}

static double by_scaled_prices(const struct topology *t, const struct plan *p, bool merging)
{
	const struct plan_certificate *c = &p->certificate;
	int *option = mem_new((size_t)t->nodes, sizeof(int));
	int options = find_options(t, merging, option);
	double *node = mem_new((size_t)t->nodes, sizeof(double));
	double n = t->workers + options;
	double value = NAN;
	double budget = 0;
	double cost;

	if (options > PRICES_OPTIONS || ldexp(1, options) * n * n * n > PRICES_WORK) {
		value = exact_by_spanning(t, p, merging);
		goto out;
	}
	for (int arc = 0; arc < 2 * t->links; arc++)
		budget += topo_arc_capacity(t, arc) * c->arc_price[arc];
	for (int i = 0; i < t->nodes; i++) {
		if (!has_price(t, i))
			continue;
		node[i] = c->node_price[i];
		budget += t->node[i].processing * node[i];
	}
	cost = cheapest_tree(t, p, option, options, c->arc_price, node);
	value = cost > 0 ? budget / cost : INFINITY;
out:
	free(option);
	free(node);
	return value;
}

double exact_by_prices(const struct topology *t, const struct plan *p, bool merging)
{
	struct plan scaled = *p;
	double value;

	if (!p->certificate.arc_price || !p->certificate.node_price)
		return NAN;
	scaled.certificate = scale_prices(t, &p->certificate);
	value = by_scaled_prices(t, &scaled, merging);
	free(scaled.certificate.arc_price);
	free(scaled.certificate.node_price);
	return value;
}

int exact_bound(const struct topology *t, const struct plan *p, bool merging,
		struct exact_fraction *value)
{
	const struct plan_certificate *c = &p->certificate;
	int arcs = 2 * t->links;
	size_t rows = (size_t)arcs + (size_t)t->nodes;
	int64_t *limit = mem_new(rows, sizeof(*limit));
	double *price = mem_new(rows, sizeof(double));
	int *option = mem_new((size_t)t->nodes, sizeof(int));
	int options = find_options(t, merging, option);
	double most = 0;
	double cost;
	int rc = -1;

	if (!c->arc_price || !c->node_price || options > OPTIONS_MOST ||
	    whole_capacities(t, limit) != 0)
		goto out;
	for (size_t i = 0; i < rows; i++) {
		price[i] = i < (size_t)arcs ? c->arc_price[i] : c->node_price[i - (size_t)arcs];
		most = fmax(most, price[i]);
	}
	*value = (struct exact_fraction){0, 1};
	for (size_t i = 0; i < rows; i++) {
		price[i] = limit[i] ? floor(price[i] / most / SHARE_UNIT + 0.5) : 0;
		value->num += product(limit[i], (__int128)price[i]);
	}
	cost = cheapest_tree(t, p, option, options, price, price + arcs);
	if (cost > 0 && cost < 0x1p53) {
		value->den = product((__int128)cost, (__int128)(1 / CAPACITY_UNIT));
		rc = 0;
	}
out:
	free(limit);
	free(price);
	free(option);
	return rc;
}
