/*
 * The canonical order of a topology: by colour, rack after rack.
 */
#include "planner/canon.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/colouring.h"
#include "planner/mem.h"

/* --- the order -------------------------------------------------------------------------------- */

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

/* Whether a node is a rack: a core node that is a worker or has workers attached. */
static bool is_place(const struct colouring *x, int node)
{
	const struct topology *t = x->t;
	bool any = is_worker(t, node);

	for (int k = t->first[node]; k < t->first[node + 1]; k++) {
		int to = topo_arc_to(t, t->out[k]);

		any = any || (x->is_leaf[to] && is_worker(t, to));
	}
	return any;
}

/* Appends a core node and its leaves, sorted by colour, to the order. Returns the new length. */
static int put(const struct colouring *x, int node, struct ranked *list, int *order, int n)
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

/*
 * Among the remaining racks that are nearest to `from`, the one with the least rank; -1: none
 * remains.
 */
static int nearest(const struct colouring *x, int from, const int *left, const int *rank, int *far,
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

static void find_order(const struct colouring *x, int *order)
{
	size_t nodes = (size_t)x->t->nodes;
	struct ranked *list = mem_new(nodes, sizeof(*list));
	struct ranked *leaves = mem_new(nodes, sizeof(*leaves));
	int *rank = mem_new(nodes, sizeof(int));
	int *left = mem_new(nodes, sizeof(int));
	int *far = mem_new(nodes, sizeof(int));
	int *queue = mem_new(nodes, sizeof(int));
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

/* --- the reordered topology ------------------------------------------------------------------- */

struct sorted_link {
	struct topo_link l; /* ends by new index, a is the lower */
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
		if (x->l.held[d] != y->l.held[d])
			return x->l.held[d] ? -1 : 1;
	}
	return x->arc - y->arc;
}

static void must(bool good)
{
	if (!good)
		mem_out(0);
}

static void add_links(struct canon *c, const struct topology *t, const int *place)
{
	struct sorted_link *list = mem_new((size_t)t->links, sizeof(*list));

	for (int i = 0; i < t->links; i++) {
		struct topo_link l = t->link[i];
		int turned = place[l.a] > place[l.b];

		list[i].arc = 2 * i + turned;
		list[i].l.a = place[turned ? l.b : l.a];
		list[i].l.b = place[turned ? l.a : l.b];
		for (int d = 0; d < 2; d++) {
			list[i].l.capacity[d] = l.capacity[d ^ turned] * c->scale;
			list[i].l.delay[d] = l.delay[d ^ turned];
			list[i].l.held[d] = l.held[d ^ turned];
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
	struct canon *c = mem_new(1, sizeof(*c));
	int *place = mem_new((size_t)t->nodes, sizeof(int));
	struct colouring x;
	double most = 0;
	int power;

	c->t = topo_new(t->name);
	must(c->t != NULL);
	memcpy(c->t->unit, t->unit, sizeof(t->unit));
	for (int arc = 0; arc < 2 * t->links; arc++)
		most = fmax(most, topo_arc_capacity(t, arc));
	frexp(most, &power);
	c->scale = ldexp(1, 7 - power);
	c->node = mem_new((size_t)t->nodes, sizeof(int));
	c->arc = mem_new((size_t)t->links * 2, sizeof(int));
	colouring_begin(&x, t);
	colouring_split(&x);
	find_order(&x, c->node);
	colouring_end(&x);
	for (int i = 0; i < t->nodes; i++) {
		const struct topo_node *n = &t->node[c->node[i]];

		place[c->node[i]] = i;
		must(topo_add_node(c->t, n->kind, n->name, n->processing * c->scale) == i);
		c->t->node[i].worker = n->worker;
		c->t->node[i].server = n->server;
		c->t->node[i].taken = n->taken;
		c->t->node[i].limits = n->limits;
		c->t->node[i].order = n->order;
		c->t->node[i].variant = n->variant;
		memcpy(c->t->node[i].machine, n->machine, sizeof(n->machine));
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

/* Converts values by reordered index to values by original index; NULL stays NULL. */
static double *put_back(double *value, const int *index, size_t n)
{
	double *back;

	if (!value)
		return NULL;
	back = mem_new(n, sizeof(double));
	for (size_t i = 0; i < n; i++)
		back[index[i]] = value[i];
	free(value);
	return back;
}

void canon_back(const struct canon *c, struct plan *p)
{
	p->throughput /= c->scale;
	p->certificate.cut /= c->scale;
	p->certificate.degree /= c->scale;
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
