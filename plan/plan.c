/*
 * Plans in memory: construction, mirroring, bounds, division into chunk classes.
 */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plan *plan_new(const char *scheme)
{
	struct plan *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	snprintf(p->scheme, sizeof(p->scheme), "%s", scheme);
	p->certificate.cut = NAN;
	p->certificate.degree = NAN;
	p->certificate.dual = NAN;
	p->certificate.stated = NAN;
	p->certificate.flow = NAN;
	return p;
}

void plan_free(struct plan *p)
{
	if (!p)
		return;
	free(p->host);
	free(p->tree);
	free(p->edge);
	free(p->route);
	free(p->certificate.arc_price);
	free(p->certificate.node_price);
	free(p);
}

/* Enlarges an array to at least `need` elements. Returns 0, or -1 if memory runs out. */
static int grow(void **array, int *room, int need, size_t size)
{
	int wanted = *room ? *room : 64;
	void *more;

	if (need <= *room)
		return 0;
	while (wanted < need)
		wanted *= 2;
	more = realloc(*array, (size_t)wanted * size);
	if (!more)
		return -1;
	*array = more;
	*room = wanted;
	return 0;
}

int plan_add_tree(struct plan *p, int root, double share)
{
	void *array = p->tree;

	if (grow(&array, &p->tree_room, p->trees + 1, sizeof(*p->tree)) != 0)
		return -1;
	p->tree = array;
	p->tree[p->trees++] = (struct plan_tree){
		.share = share, .root = root, .up_first = p->edges, .down_first = p->edges};
	return 0;
}

int plan_add_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs)
{
	struct plan_tree *tree = &p->tree[p->trees - 1];
	void *edges = p->edge;
	void *routes = p->route;

	if (grow(&edges, &p->edge_room, p->edges + 1, sizeof(*p->edge)) != 0)
		return -1;
	p->edge = edges;
	if (grow(&routes, &p->route_room, p->routes + arcs, sizeof(*p->route)) != 0)
		return -1;
	p->route = routes;
	p->edge[p->edges++] = (struct plan_edge){from, to, p->routes, arcs};
	memcpy(p->route + p->routes, arc, (size_t)arcs * sizeof(int));
	p->routes += arcs;
	if (down) {
		tree->downs++;
	} else {
		tree->ups++;
		tree->down_first = p->edges;
	}
	return 0;
}

int plan_mirror(struct plan *p)
{
	struct plan_tree tree = p->tree[p->trees - 1];

	for (int i = 0; i < tree.ups; i++) {
		struct plan_edge e = p->edge[tree.up_first + i];
		struct plan_edge *down;
		void *routes = p->route;

		if (grow(&routes, &p->route_room, p->routes + e.arcs, sizeof(*p->route)) != 0)
			return -1;
		p->route = routes;
		if (plan_add_edge(p, true, e.to, e.from, p->route, 0) != 0)
			return -1;
		down = &p->edge[p->edges - 1];
		for (int k = e.arcs - 1; k >= 0; k--)
			p->route[p->routes++] = p->route[e.first + k] ^ 1;
		down->arcs = e.arcs;
	}
	return 0;
}

double plan_bound(const struct plan_certificate *c, const char **which)
{
	const double value[4] = {c->cut, c->degree, c->flow, c->exact ? c->dual : NAN};
	static const char *const names[4] = {"cut", "degree", "flow", "dual"};
	double least = NAN;

	*which = "none";
	for (int i = 0; i < 4; i++) {
		if (isnan(value[i]) || value[i] >= least)
			continue;
		least = value[i];
		*which = names[i];
	}
	return least;
}

double plan_limit(const struct plan *p, const char **which)
{
	struct plan_certificate c = p->certificate;

	c.exact = c.exact && strcmp(p->scheme, "forest") != 0;
	return plan_bound(&c, which);
}

/* --- chunk classes ---------------------------------------------------------------------------- */

struct rest {
	double fraction;
	int tree;
};

static int by_fraction(const void *a, const void *b)
{
	const struct rest *x = a;
	const struct rest *y = b;

	if (x->fraction != y->fraction)
		return x->fraction < y->fraction ? 1 : -1;
	return x->tree - y->tree;
}

int plan_quantise(struct plan *p, int chunks)
{
	struct rest *rest;
	int left = chunks;
	int kept = 0;

	if (p->trees == 0)
		return 0;
	rest = malloc((size_t)p->trees * sizeof(*rest));
	if (!rest)
		return -1;
	for (int i = 0; i < p->trees; i++) {
		double exact = p->tree[i].share * chunks;

		p->tree[i].chunks = (int)floor(exact + 1e-9);
		rest[i] = (struct rest){exact - p->tree[i].chunks, i};
		left -= p->tree[i].chunks;
	}
	qsort(rest, (size_t)p->trees, sizeof(*rest), by_fraction);
	for (int i = 0; i < left; i++)
		p->tree[rest[i % p->trees].tree].chunks++;
	free(rest);
	for (int i = 0; i < p->trees; i++) {
		if (p->tree[i].chunks <= 0)
			continue;
		p->tree[kept] = p->tree[i];
		p->tree[kept].share = (double)p->tree[i].chunks / chunks;
		kept++;
	}
	p->trees = kept;
	p->chunks = chunks;
	return 0;
}
