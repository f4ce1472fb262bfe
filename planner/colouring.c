/*
 * Colour refinement (Weisfeiler and Leman).
 */
#include "planner/colouring.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"

#define AHEAD_MOST 3000000L /* limit of arcs that the look-ahead visits in total */

/* One round of SplitMix64's finisher: every bit of the result depends on every bit of v. */
static uint64_t mix(uint64_t v)
{
	uint64_t state = v;

	return topo_random(&state);
}

static uint64_t mix_double(uint64_t h, double v)
{
	uint64_t bits;

	memcpy(&bits, &v, sizeof(bits));
	return mix(h ^ bits);
}

/* Capacities enter by rank, not by value, so that the unit does not matter. */
static uint64_t place_of(const struct colouring *x, double value)
{
	int low = 0;
	int high = x->values;

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (x->value[mid] < value)
			low = mid + 1;
		else
			high = mid;
	}
	return (uint64_t)low;
}

/* Hash of an arc as seen from the node that it leaves. */
static uint64_t arc_colour(const struct colouring *x, int arc)
{
	const struct topology *t = x->t;
	uint64_t h = mix(place_of(x, topo_arc_capacity(t, arc)));

	h = mix(h ^ place_of(x, topo_arc_capacity(t, arc ^ 1)));
	h = mix_double(h, topo_arc_delay(t, arc));
	h = mix_double(h, topo_arc_delay(t, arc ^ 1));
	if (topo_arc_held(t, arc) || topo_arc_held(t, arc ^ 1))
		h = mix(h + 1 + topo_arc_held(t, arc));
	return h;
}

static uint64_t node_colour(const struct colouring *x, const struct topo_node *n)
{
	uint64_t h = mix((uint64_t)n->taken * 16 + (uint64_t)n->kind * 4 + (uint64_t)n->worker * 2 +
			 (uint64_t)n->server);

	if (n->kind == TOPO_SWITCH)
		return h;
	h = mix(h ^ place_of(x, n->processing));
	if (n->kind == TOPO_HOST)
		return h;
	h = mix(h ^ (uint64_t)n->limits.groups);
	h = mix(h ^ (uint64_t)n->limits.ranks);
	h = mix(h ^ (uint64_t)n->limits.fan_in);
	h = mix(h ^ (uint64_t)n->limits.slots);
	return mix(h ^ (uint64_t)n->limits.ports);
}

static int degree(const struct topology *t, int node)
{
	return t->first[node + 1] - t->first[node];
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a;
	uint64_t y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;

	return (x > y) - (x < y);
}

static void sort_values(struct colouring *x)
{
	const struct topology *t = x->t;

	x->value = mem_new((size_t)t->links * 2 + (size_t)t->nodes, sizeof(double));
	for (int arc = 0; arc < 2 * t->links; arc++)
		x->value[x->values++] = topo_arc_capacity(t, arc);
	for (int i = 0; i < t->nodes; i++)
		x->value[x->values++] = t->node[i].processing;
	qsort(x->value, (size_t)x->values, sizeof(double), by_value);
}

static int count_colours(struct colouring *x)
{
	int n = 0;

	for (int i = 0; i < x->cores; i++)
		x->sorted[i] = x->colour[x->core[i]];
	qsort(x->sorted, (size_t)x->cores, sizeof(uint64_t), by_number);
	for (int i = 0; i < x->cores; i++)
		n += i == 0 || x->sorted[i] != x->sorted[i - 1];
	return n;
}

/* Refines until no colour class of the core splits any more. */
static void refine(struct colouring *x)
{
	const struct topology *t = x->t;
	int before;

	x->colours = count_colours(x);
	do {
		before = x->colours;
		for (int i = 0; i < x->cores; i++) {
			int node = x->core[i];
			uint64_t sum = 0;

			for (int k = t->first[node]; k < t->first[node + 1]; k++) {
				int to = topo_arc_to(t, t->out[k]);

				if (!x->is_leaf[to])
					sum += mix(x->arc_hash[t->out[k]] ^ x->colour[to]);
			}
			x->next[node] = mix(mix(x->colour[node]) + sum);
			x->visited += degree(t, node);
		}
		for (int i = 0; i < x->cores; i++)
			x->colour[x->core[i]] = x->next[x->core[i]];
		x->colours = count_colours(x);
	} while (x->colours > before && x->colours < x->cores);
}

void colouring_begin(struct colouring *x, const struct topology *t)
{
	size_t nodes = (size_t)t->nodes;

	*x = (struct colouring){.t = t};
	x->colour = mem_new(nodes, sizeof(uint64_t));
	x->next = mem_new(nodes, sizeof(uint64_t));
	x->sorted = mem_new(nodes, sizeof(uint64_t));
	x->core = mem_new(nodes, sizeof(int));
	x->is_leaf = mem_new(nodes, sizeof(bool));
	sort_values(x);
	x->arc_hash = mem_new((size_t)t->links * 2, sizeof(uint64_t));
	for (int arc = 0; arc < 2 * t->links; arc++)
		x->arc_hash[arc] = arc_colour(x, arc);
	for (int i = 0; i < t->nodes; i++) {
		x->is_leaf[i] =
			degree(t, i) == 1 && degree(t, topo_arc_to(t, t->out[t->first[i]])) > 1;
		if (!x->is_leaf[i])
			x->core[x->cores++] = i;
		x->colour[i] = node_colour(x, &t->node[i]);
	}
	for (int i = 0; i < t->nodes; i++)
		if (x->is_leaf[i])
			x->colour[i] = mix(x->arc_hash[t->out[t->first[i]]] ^ x->colour[i]);
	for (int i = 0; i < x->cores; i++) {
		int node = x->core[i];

		for (int k = t->first[node]; k < t->first[node + 1]; k++)
			if (x->is_leaf[topo_arc_to(t, t->out[k])])
				x->next[node] += mix(x->colour[topo_arc_to(t, t->out[k])]);
	}
	for (int i = 0; i < x->cores; i++)
		x->colour[x->core[i]] = mix(x->colour[x->core[i]] + mix(x->next[x->core[i]]));
	refine(x);
}

void colouring_end(struct colouring *x)
{
	free(x->value);
	free(x->arc_hash);
	free(x->colour);
	free(x->next);
	free(x->sorted);
	free(x->core);
	free(x->is_leaf);
}

/* --- splitting nodes of the same colour ------------------------------------------------------- */

/* Hash of a node's links in the core, with the identity of the neighbours. */
static uint64_t neighbours(const struct colouring *x, int node)
{
	const struct topology *t = x->t;
	uint64_t sum = 0;

	for (int k = t->first[node]; k < t->first[node + 1]; k++) {
		int to = topo_arc_to(t, t->out[k]);

		if (!x->is_leaf[to])
			sum += mix(x->arc_hash[t->out[k]] ^ (uint64_t)to);
	}
	return sum;
}

static uint64_t mark(uint64_t colour, int number)
{
	return mix(colour + mix((uint64_t)number + 1));
}

/* The core nodes with the least colour that several of them have. */
static int find_cell(struct colouring *x, int *cell)
{
	uint64_t least = 0;
	bool any = false;
	int n = 0;

	count_colours(x);
	for (int i = 1; i < x->cores && !any; i++) {
		any = x->sorted[i] == x->sorted[i - 1];
		least = x->sorted[i];
	}
	for (int i = 0; i < x->cores && any; i++)
		if (x->colour[x->core[i]] == least)
			cell[n++] = x->core[i];
	return n;
}

/* Hash of all colours after this node alone is recoloured and the rest refined. */
static uint64_t look_ahead(struct colouring *x, int node, uint64_t *saved)
{
	uint64_t sum = 0;

	for (int i = 0; i < x->cores; i++)
		saved[i] = x->colour[x->core[i]];
	x->colour[node] = mark(x->colour[node], 0);
	refine(x);
	for (int i = 0; i < x->cores; i++) {
		sum += mix(x->colour[x->core[i]]);
		x->colour[x->core[i]] = saved[i];
	}
	return sum;
}

static int choose(struct colouring *x, const int *cell, int n, uint64_t *saved)
{
	long each = 8L * x->t->links; /* about four rounds */
	uint64_t least = 0;
	int best = cell[0];

	if (x->visited + each * n > AHEAD_MOST)
		return best;
	for (int i = 0; i < n; i++) {
		uint64_t sum = look_ahead(x, cell[i], saved);

		if (i > 0 && sum >= least)
			continue;
		least = sum;
		best = cell[i];
	}
	return best;
}

/* Individualises nodes until every core node has its own colour. */
void colouring_split(struct colouring *x)
{
	int *cell = mem_new((size_t)x->cores, sizeof(int));
	uint64_t *saved = mem_new((size_t)x->cores, sizeof(uint64_t));
	int n;

	while ((n = find_cell(x, cell)) > 0) {
		bool twins = true;

		for (int i = 1; i < n; i++)
			twins = twins && neighbours(x, cell[i]) == neighbours(x, cell[0]);
		if (twins) { /* exchanging any two of them changes nothing */
			for (int i = 0; i < n; i++)
				x->colour[cell[i]] = mark(x->colour[cell[i]], i);
		} else {
			int one = choose(x, cell, n, saved);

			x->colour[one] = mark(x->colour[one], 0);
		}
		refine(x);
	}
	free(cell);
	free(saved);
}
