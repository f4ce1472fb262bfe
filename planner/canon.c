/*
 * Canonical order by colour refinement. Colours are hashes of what a node is and of the colours
 * around it. Nodes with one link ("leaves" here) are folded into their neighbour first: the rest,
 * the core, is small even where there are many hosts.
 */
#include "planner/canon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/lp.h"

#define AHEAD_MOST 3000000L /* arcs that looking ahead may visit in all */

struct painter {
	const struct topology *t;
	uint64_t *colour, *next;
	uint64_t *sorted; /* scratch: colours of the core */
	int *core;        /* nodes of the core */
	int cores;
	bool *is_leaf;
	double *value; /* capacities and processing, ascending */
	int values;
	uint64_t *look; /* of arcs, as arc_colour has it */
	int colours;    /* different ones in the core */
	long visited;
};

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

/* Capacities count by their order and not by their value: in another unit they are the same. */
static uint64_t place_of(const struct painter *x, double value)
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

/* What an arc looks like from the node that it leaves. */
static uint64_t arc_colour(const struct painter *x, int arc)
{
	const struct topology *t = x->t;
	uint64_t h = mix(place_of(x, topo_arc_capacity(t, arc)));

	h = mix(h ^ place_of(x, topo_arc_capacity(t, arc ^ 1)));
	h = mix_double(h, topo_arc_delay(t, arc));
	return mix_double(h, topo_arc_delay(t, arc ^ 1));
}

static uint64_t node_colour(const struct painter *x, const struct topo_node *n)
{
	uint64_t h = mix((uint64_t)n->kind * 4 + (uint64_t)n->worker * 2 + (uint64_t)n->server);

	return n->kind == TOPO_SWITCH ? h : mix(h ^ place_of(x, n->processing));
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

static void sort_values(struct painter *x)
{
	const struct topology *t = x->t;

	x->value = room((size_t)t->links * 2 + (size_t)t->nodes, sizeof(double));
	for (int arc = 0; arc < 2 * t->links; arc++)
		x->value[x->values++] = topo_arc_capacity(t, arc);
	for (int i = 0; i < t->nodes; i++)
		x->value[x->values++] = t->node[i].processing;
	qsort(x->value, (size_t)x->values, sizeof(double), by_value);
}

static int count_colours(struct painter *x)
{
	int n = 0;

	for (int i = 0; i < x->cores; i++)
		x->sorted[i] = x->colour[x->core[i]];
	qsort(x->sorted, (size_t)x->cores, sizeof(uint64_t), by_number);
	for (int i = 0; i < x->cores; i++)
		n += i == 0 || x->sorted[i] != x->sorted[i - 1];
	return n;
}

/* Until no colour of the core splits any more. */
static void refine(struct painter *x)
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
					sum += mix(x->look[t->out[k]] ^ x->colour[to]);
			}
			x->next[node] = mix(mix(x->colour[node]) + sum);
			x->visited += degree(t, node);
		}
		for (int i = 0; i < x->cores; i++)
			x->colour[x->core[i]] = x->next[x->core[i]];
		x->colours = count_colours(x);
	} while (x->colours > before && x->colours < x->cores);
}

static void painter_begin(struct painter *x, const struct topology *t)
{
	size_t nodes = (size_t)t->nodes;

	*x = (struct painter){.t = t};
	x->colour = room(nodes, sizeof(uint64_t));
	x->next = room(nodes, sizeof(uint64_t));
	x->sorted = room(nodes, sizeof(uint64_t));
	x->core = room(nodes, sizeof(int));
	x->is_leaf = room(nodes, sizeof(bool));
	sort_values(x);
	x->look = room((size_t)t->links * 2, sizeof(uint64_t));
	for (int arc = 0; arc < 2 * t->links; arc++)
		x->look[arc] = arc_colour(x, arc);
	for (int i = 0; i < t->nodes; i++) {
		x->is_leaf[i] =
			degree(t, i) == 1 && degree(t, topo_arc_to(t, t->out[t->first[i]])) > 1;
		if (!x->is_leaf[i])
			x->core[x->cores++] = i;
		x->colour[i] = node_colour(x, &t->node[i]);
	}
	for (int i = 0; i < t->nodes; i++)
		if (x->is_leaf[i])
			x->colour[i] = mix(x->look[t->out[t->first[i]]] ^ x->colour[i]);
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

static void painter_end(struct painter *x)
{
	free(x->value);
	free(x->look);
	free(x->colour);
	free(x->next);
	free(x->sorted);
	free(x->core);
	free(x->is_leaf);
}

/* --- splitting what looks alike -----------------------------------------------------------------
 */

/* What a node is linked to, the core's nodes by themselves. */
static uint64_t neighbours(const struct painter *x, int node)
{
	const struct topology *t = x->t;
	uint64_t sum = 0;

	for (int k = t->first[node]; k < t->first[node + 1]; k++) {
		int to = topo_arc_to(t, t->out[k]);

		if (!x->is_leaf[to])
			sum += mix(x->look[t->out[k]] ^ (uint64_t)to);
	}
	return sum;
}

static uint64_t mark(uint64_t colour, int number)
{
	return mix(colour + mix((uint64_t)number + 1));
}

/* The members of the least colour that several nodes have. */
static int find_cell(struct painter *x, int *cell)
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

/* What the whole would look like with this node marked. */
static uint64_t look_ahead(struct painter *x, int node, uint64_t *saved)
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

static int choose(struct painter *x, const int *cell, int n, uint64_t *saved)
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

/* Until every node of the core has a colour of its own. */
static void split(struct painter *x)
{
	int *cell = room((size_t)x->cores, sizeof(int));
	uint64_t *saved = room((size_t)x->cores, sizeof(uint64_t));
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

/* --- the order ----------------------------------------------------------------------------------
 */

struct ranked {
	uint64_t colour;
	int node;
};

static int by_colour(const void *a, const void *b)
{
	const struct ranked *x = a;
	const struct ranked *y = b;

	if (x->colour != y->colour)
		return x->colour < y->colour ? -1 : 1;
	return x->node - y->node;
}

static bool is_worker(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST && t->node[node].worker;
}

/* A rack: a node of the core with workers at it, or one that is a worker. */
static bool is_place(const struct painter *x, int node)
{
	const struct topology *t = x->t;
	bool any = is_worker(t, node);

	for (int k = t->first[node]; k < t->first[node + 1]; k++) {
		int to = topo_arc_to(t, t->out[k]);

		any = any || (x->is_leaf[to] && is_worker(t, to));
	}
	return any;
}

/* A node of the core and its leaves, by colour. */
static int put(const struct painter *x, int node, struct ranked *list, int *order, int n)
{
	const struct topology *t = x->t;
	int leaves = 0;

	order[n++] = node;
	for (int k = t->first[node]; k < t->first[node + 1]; k++) {
		int to = topo_arc_to(t, t->out[k]);

		if (x->is_leaf[to])
			list[leaves++] = (struct ranked){x->colour[to], to};
	}
	qsort(list, (size_t)leaves, sizeof(*list), by_colour);
	for (int i = 0; i < leaves; i++)
		order[n++] = list[i].node;
	return n;
}

/* The rack of least rank among the nearest of those that are left; -1: none is. */
static int nearest(const struct painter *x, int from, const int *left, const int *rank, int *far,
		   int *queue)
{
	const struct topology *t = x->t;
	int best = -1;
	int tail = 0;

	for (int i = 0; i < t->nodes; i++)
		far[i] = -1;
	far[from] = 0;
	queue[tail++] = from;
	for (int head = 0; head < tail; head++) {
		int at = queue[head];

		if (best >= 0 && far[at] > far[best])
			break;
		if (left[at] && (best < 0 || rank[at] < rank[best]))
			best = at;
		for (int k = t->first[at]; k < t->first[at + 1]; k++) {
			int to = topo_arc_to(t, t->out[k]);

			if (x->is_leaf[to] || far[to] >= 0)
				continue;
			far[to] = far[at] + 1;
			queue[tail++] = to;
		}
	}
	return best;
}

static void find_order(const struct painter *x, int *order)
{
	size_t nodes = (size_t)x->t->nodes;
	struct ranked *list = room(nodes, sizeof(*list));
	struct ranked *leaves = room(nodes, sizeof(*leaves));
	int *rank = room(nodes, sizeof(int));
	int *left = room(nodes, sizeof(int));
	int *far = room(nodes, sizeof(int));
	int *queue = room(nodes, sizeof(int));
	int at = -1;
	int n = 0;

	for (int i = 0; i < x->cores; i++)
		list[i] = (struct ranked){x->colour[x->core[i]], x->core[i]};
	qsort(list, (size_t)x->cores, sizeof(*list), by_colour);
	for (int i = 0; i < x->cores; i++) {
		rank[list[i].node] = i;
		left[list[i].node] = is_place(x, list[i].node);
		if (at < 0 && left[list[i].node])
			at = list[i].node;
	}
	while (at >= 0) {
		left[at] = 0;
		rank[at] = -1;
		n = put(x, at, leaves, order, n);
		at = nearest(x, at, left, rank, far, queue);
	}
	for (int i = 0; i < x->cores; i++)
		if (rank[list[i].node] >= 0)
			n = put(x, list[i].node, leaves, order, n);
	free(list);
	free(leaves);
	free(rank);
	free(left);
	free(far);
	free(queue);
}

/* --- the reordered topology ---------------------------------------------------------------------
 */

struct sorted_link {
	struct topo_link l; /* ends by new numbers, a the lower */
	int arc;            /* of the original, from a to b */
};

static int by_ends(const void *a, const void *b)
{
	const struct sorted_link *x = a;
	const struct sorted_link *y = b;

	if (x->l.a != y->l.a)
		return x->l.a - y->l.a;
	if (x->l.b != y->l.b)
		return x->l.b - y->l.b;
	for (int d = 0; d < 2; d++) {
		if (x->l.capacity[d] != y->l.capacity[d])
			return x->l.capacity[d] < y->l.capacity[d] ? 1 : -1;
		if (x->l.delay[d] != y->l.delay[d])
			return x->l.delay[d] < y->l.delay[d] ? -1 : 1;
	}
	return x->arc - y->arc;
}

static void must(bool good)
{
	if (!good)
		more_room(NULL, SIZE_MAX, 1);
}

static void add_links(struct canon *c, const struct topology *t, const int *place)
{
	struct sorted_link *list = room((size_t)t->links, sizeof(*list));

	for (int i = 0; i < t->links; i++) {
		struct topo_link l = t->link[i];
		int turned = place[l.a] > place[l.b];

		list[i].arc = 2 * i + turned;
		list[i].l.a = place[turned ? l.b : l.a];
		list[i].l.b = place[turned ? l.a : l.b];
		for (int d = 0; d < 2; d++) {
			list[i].l.capacity[d] = l.capacity[d ^ turned] * c->scale;
			list[i].l.delay[d] = l.delay[d ^ turned];
		}
	}
	qsort(list, (size_t)t->links, sizeof(*list), by_ends);
	for (int i = 0; i < t->links; i++) {
		must(topo_add_link(c->t, list[i].l.a, list[i].l.b, 1, 0) == i);
		c->t->link[i] = list[i].l;
		c->arc[2 * i] = list[i].arc;
		c->arc[2 * i + 1] = list[i].arc ^ 1;
	}
	free(list);
}

struct canon *canon_new(const struct topology *t)
{
	struct canon *c = room(1, sizeof(*c));
	int *place = room((size_t)t->nodes, sizeof(int));
	struct painter x;
	double most = 0;
	int power;

	c->t = topo_new(t->name);
	must(c->t != NULL);
	memcpy(c->t->unit, t->unit, sizeof(t->unit));
	for (int arc = 0; arc < 2 * t->links; arc++)
		most = fmax(most, topo_arc_capacity(t, arc));
	frexp(most, &power);
	c->scale = ldexp(1, 7 - power);
	c->node = room((size_t)t->nodes, sizeof(int));
	c->arc = room((size_t)t->links * 2, sizeof(int));
	painter_begin(&x, t);
	split(&x);
	find_order(&x, c->node);
	painter_end(&x);
	for (int i = 0; i < t->nodes; i++) {
		const struct topo_node *n = &t->node[c->node[i]];

		place[c->node[i]] = i;
		must(topo_add_node(c->t, n->kind, n->name, n->processing * c->scale) == i);
		c->t->node[i].worker = n->worker;
		c->t->node[i].server = n->server;
	}
	add_links(c, t, place);
	free(place);
	must(topo_finish(c->t, NULL) == 0);
	return c;
}

void canon_free(struct canon *c)
{
	if (!c)
		return;
	topo_free(c->t);
	free(c->node);
	free(c->arc);
	free(c);
}

/* Values by reordered index to values by original index; NULL stays NULL. */
static double *put_back(double *value, const int *index, size_t n)
{
	double *back;

	if (!value)
		return NULL;
	back = room(n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		back[index[i]] = value[i];
	free(value);
	return back;
}

void canon_back(const struct canon *c, struct plan *p)
{
	p->throughput /= c->scale;
	p->certificate.cut /= c->scale;
	p->certificate.dual /= c->scale;
	p->certificate.flow /= c->scale;
	for (int i = 0; i < p->trees; i++)
		p->tree[i].root = c->node[p->tree[i].root];
	for (int i = 0; i < p->edges; i++) {
		p->edge[i].from = c->node[p->edge[i].from];
		p->edge[i].to = c->node[p->edge[i].to];
	}
	for (int i = 0; i < p->routes; i++)
		p->route[i] = c->arc[p->route[i]];
	p->certificate.arc_price =
		put_back(p->certificate.arc_price, c->arc, (size_t)c->t->links * 2);
	p->certificate.node_price =
		put_back(p->certificate.node_price, c->node, (size_t)c->t->nodes);
}
