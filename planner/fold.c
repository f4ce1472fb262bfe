/*
 * Racks and twins: see fold.h.
 */
#include "planner/fold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"

static bool is_worker(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST && t->node[node].worker;
}

/* Whether a node is a host that no tree uses. */
static bool is_idle(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST && !topo_may_merge(t, node, is_worker(t, node));
}

/* Whether a node is a worker with one link, to a switch or box. */
static bool is_racked(const struct topology *t, int node)
{
	return is_worker(t, node) && t->node[node].rack >= 0;
}

static bool is_foldable(const struct topology *t)
{
	for (int i = 0; i < t->links; i++)
		if (t->link[i].capacity[0] != t->link[i].capacity[1])
			return false;
	for (int i = 0; i < t->workers; i++)
		if (!isinf(t->node[t->worker[i]].processing))
			return false;
	return t->workers >= 2;
}

static double capacity_of(const struct topology *t, int worker)
{
	return topo_arc_capacity(t, t->out[t->first[worker]]);
}

/* --- the folded network ----------------------------------------------------------------------- */

/*
 * Adds the nodes of c. place: node of c by node of t; all workers of a rack have the place of the
 * worker that stands for them; -1: left out.
 */
static int copy_nodes(struct fold *f, int *place)
{
	const struct topology *t = f->t;
	int *stands =
		mem_new((size_t)t->nodes,
			sizeof(int)); /* of a switch: 1 + node of c that stands for its rack */
	int rc = 0;

	for (int i = 0; i < t->nodes && rc == 0; i++) {
		const struct topo_node *n = &t->node[i];
		int c;

		place[i] = -1;
		if (is_idle(t, i) && n->rack >= 0)
			continue;
		if (is_racked(t, i) && stands[n->rack] > 0) {
			place[i] = stands[n->rack] - 1;
			f->copies[place[i]]++;
			continue;
		}
		c = topo_add_node(f->c, n->kind, n->name, n->processing);
		if (c < 0) {
			rc = -1;
			continue;
		}
		f->c->node[c].worker = n->worker;
		f->c->node[c].server = n->server;
		f->c->node[c].taken = n->taken;
		f->node[c] = i;
		place[i] = c;
		if (is_racked(t, i))
			stands[n->rack] = c + 1;
	}
	free(stands);
	return rc;
}

static int copy_links(struct fold *f, const int *place)
{
	const struct topology *t = f->t;

	for (int i = 0; i < t->links; i++) {
		const struct topo_link *l = &t->link[i];
		int a = place[l->a];
		int b = place[l->b];
		int k;

		if (a < 0 || b < 0 || (is_racked(t, l->a) && f->node[a] != l->a) ||
		    (is_racked(t, l->b) && f->node[b] != l->b))
			continue;
		k = topo_add_link(f->c, a, b, l->capacity[0], 0);
		if (k < 0)
			return -1;
		f->arc[2 * k] = 2 * i;
		f->arc[2 * k + 1] = 2 * i + 1;
	}
	return 0;
}

static void list_members(struct fold *f, const int *place)
{
	const struct topology *t = f->t;
	int *at = mem_new((size_t)f->c->nodes + 1, sizeof(int));

	for (int i = 0; i < f->c->nodes; i++) {
		f->first[i + 1] = f->first[i];
		if (is_racked(t, f->node[i]))
			f->first[i + 1] += 1 + f->copies[i];
		at[i] = f->first[i];
	}
	for (int i = 0; i < t->workers; i++) {
		int w = t->worker[i];

		if (!is_racked(t, w))
			continue;
		f->member[at[place[w]]++] = w;
		f->least = fmin(f->least, capacity_of(t, w));
	}
	free(at);
}

static int make_folded(struct fold *f)
{
	size_t nodes = (size_t)f->t->nodes;
	int *place = mem_new(nodes, sizeof(int));
	int rc = -1;

	f->c = topo_new(f->t->name);
	f->node = mem_new(nodes, sizeof(int));
	f->arc = mem_new((size_t)f->t->links * 2, sizeof(int));
	f->copies = mem_new(nodes, sizeof(int));
	f->first = mem_new(nodes + 1, sizeof(int));
	f->member = mem_new((size_t)f->t->workers, sizeof(int));
	f->least = INFINITY;
	if (f->c && copy_nodes(f, place) == 0 && copy_links(f, place) == 0 &&
	    topo_finish(f->c, NULL) == 0) {
		list_members(f, place);
		rc = 0;
	}
	free(place);
	return rc;
}

/* --- twins ------------------------------------------------------------------------------------ */

static int far_end(const struct topology *c, int link, int node)
{
	return c->link[link].a == node ? c->link[link].b : c->link[link].a;
}

struct order {
	const struct fold *f;
	int node;
};

static int by_neighbour(const void *a, const void *b, void *arg)
{
	const struct order *o = arg;
	const struct topology *c = o->f->c;
	int x = *(const int *)a;
	int y = *(const int *)b;
	int to_x = far_end(c, x, o->node);
	int to_y = far_end(c, y, o->node);

	if (to_x != to_y)
		return to_x - to_y;
	if (c->link[x].capacity[0] != c->link[y].capacity[0])
		return c->link[x].capacity[0] < c->link[y].capacity[0] ? -1 : 1;
	return x - y;
}

static bool stands_for_rack(const struct fold *f, int node)
{
	return f->first[node + 1] > f->first[node];
}

static void list_links(struct fold *f)
{
	const struct topology *c = f->c;
	int n = 0;

	f->link_first = mem_new((size_t)c->nodes + 1, sizeof(int));
	f->link = mem_new((size_t)c->links * 2, sizeof(int));
	f->rack = mem_new((size_t)c->nodes, sizeof(int));
	for (int i = 0; i < c->nodes; i++) {
		struct order o = {f, i};

		f->rack[i] = -1;
		f->link_first[i] = n;
		for (int k = c->first[i]; k < c->first[i + 1]; k++) {
			int to = topo_arc_to(c, c->out[k]);

			if (stands_for_rack(f, to))
				f->rack[i] = to;
			else
				f->link[n++] = c->out[k] >> 1;
		}
		qsort_r(f->link + f->link_first[i], (size_t)(n - f->link_first[i]), sizeof(int),
			by_neighbour, &o);
	}
	f->link_first[c->nodes] = n;
}

static int compare_doubles(double a, double b)
{
	return (a > b) - (a < b);
}

/* The sum of the capacities of a rack's links. */
static double rack_sum(const struct fold *f, int rack)
{
	double sum = 0;

	for (int i = f->first[rack]; i < f->first[rack + 1]; i++)
		sum += capacity_of(f->t, f->member[i]);
	return sum;
}

static int compare_racks(const struct fold *f, int a, int b)
{
	if (a < 0 || b < 0)
		return (a >= 0) - (b >= 0);
	if (f->copies[a] != f->copies[b])
		return f->copies[a] - f->copies[b];
	return compare_doubles(f->own[f->c->out[f->c->first[a]] >> 1],
			       f->own[f->c->out[f->c->first[b]] >> 1]);
}

/* A total order of nodes up to exchange; 0 for twins. */
static int compare_nodes(const struct fold *f, int a, int b)
{
	const struct topology *c = f->c;
	const struct topo_node *x = &c->node[a];
	const struct topo_node *y = &c->node[b];
	int n = f->link_first[a + 1] - f->link_first[a];
	int d = (int)x->kind - (int)y->kind;

	d = d ? d : x->worker - y->worker;
	d = d ? d : x->server - y->server;
	d = d ? d : x->taken - y->taken;
	d = d ? d : n - (f->link_first[b + 1] - f->link_first[b]);
	d = d ? d : compare_doubles(x->processing, y->processing);
	d = d ? d : memcmp(&x->limits, &y->limits, sizeof(x->limits));
	d = d ? d : compare_racks(f, f->rack[a], f->rack[b]);
	for (int i = 0; i < n && d == 0; i++) {
		int k = f->link[f->link_first[a] + i];
		int l = f->link[f->link_first[b] + i];

		d = far_end(c, k, a) - far_end(c, l, b);
		d = d ? d : compare_doubles(c->link[k].capacity[0], c->link[l].capacity[0]);
	}
	return d;
}

bool fold_is_twin(const struct fold *f, int a, int b)
{
	return compare_nodes(f, a, b) == 0;
}

static int by_twins(const void *a, const void *b, void *f)
{
	int x = *(const int *)a;
	int y = *(const int *)b;
	int d = compare_nodes(f, x, y);

	return d ? d : x - y;
}

static void find_twins(struct fold *f)
{
	const struct topology *c = f->c;
	size_t nodes = (size_t)c->nodes;
	int n = 0;

	f->twin = mem_new(nodes, sizeof(int));
	f->twin_first = mem_new(nodes + 1, sizeof(int));
	f->twin_member = mem_new(nodes, sizeof(int));
	for (int i = 0; i < c->nodes; i++) {
		f->twin[i] = -1;
		if (!stands_for_rack(f, i))
			f->twin_member[n++] = i;
	}
	qsort_r(f->twin_member, (size_t)n, sizeof(int), by_twins, f);
	for (int i = 0; i < n; i++) {
		if (i == 0 || compare_nodes(f, f->twin_member[i - 1], f->twin_member[i]) != 0)
			f->twin_first[f->twins++] = i;
		f->twin[f->twin_member[i]] = f->twins - 1;
	}
	f->twin_first[f->twins] = n;
}

/* --- rows ------------------------------------------------------------------------------------- */

/*
 * Key of a row: two classes and a capacity. A link to a rack has low -1; a node's limit has low -2
 * and its class as high.
 */
struct kind {
	int low, high;
	double own;
	int index;
};

static int by_kind(const void *a, const void *b)
{
	const struct kind *x = a;
	const struct kind *y = b;

	if (x->low != y->low)
		return x->low - y->low;
	if (x->high != y->high)
		return x->high - y->high;
	if (x->own != y->own)
		return x->own < y->own ? -1 : 1;
	return x->index - y->index;
}

static struct kind kind_of_link(const struct fold *f, int link)
{
	int a = f->twin[f->c->link[link].a];
	int b = f->twin[f->c->link[link].b];

	return (struct kind){a < b ? a : b, a < b ? b : a, f->own[link], link};
}

static void find_limits(struct fold *f)
{
	const struct topology *c = f->c;

	f->own = mem_new((size_t)c->links + (size_t)c->nodes, sizeof(double));
	for (int i = 0; i < c->links; i++)
		f->own[i] = c->link[i].capacity[0];
	for (int i = 0; i < c->nodes; i++) {
		const struct topo_node *n = &c->node[i];

		f->own[c->links + i] =
			n->kind == TOPO_SWITCH || is_worker(c, i) ? INFINITY : n->processing;
		if (stands_for_rack(f, i))
			f->own[c->out[c->first[i]] >> 1] = rack_sum(f, i);
	}
}

static void find_rows(struct fold *f)
{
	const struct topology *c = f->c;
	size_t all = (size_t)c->links + (size_t)c->nodes;
	struct kind *kind = mem_new(all, sizeof(*kind));
	int n = 0;

	f->row = mem_new(all, sizeof(int));
	f->limit = mem_new(all, sizeof(double));
	for (int i = 0; i < c->links; i++)
		kind[n++] = kind_of_link(f, i);
	for (int i = 0; i < c->nodes; i++) {
		f->row[c->links + i] = -1;
		if (!isinf(f->own[c->links + i]))
			kind[n++] =
				(struct kind){-2, f->twin[i], f->own[c->links + i], c->links + i};
	}
	qsort(kind, (size_t)n, sizeof(*kind), by_kind);
	for (int i = 0; i < n; i++) {
		if (i == 0 || kind[i].low != kind[i - 1].low || kind[i].high != kind[i - 1].high ||
		    kind[i].own != kind[i - 1].own)
			f->rows++;
		f->row[kind[i].index] = f->rows - 1;
		f->limit[f->rows - 1] += kind[i].own;
	}
	free(kind);
}

struct fold *fold_new(const struct topology *t)
{
	struct fold *f;

	if (!is_foldable(t))
		return NULL;
	f = mem_new(1, sizeof(*f));
	f->t = t;
	if (make_folded(f) != 0) {
		fold_free(f);
		return NULL;
	}
	list_links(f);
	find_limits(f);
	find_twins(f);
	find_rows(f);
	return f;
}

void fold_free(struct fold *f)
{
	if (!f)
		return;
	topo_free(f->c);
	free(f->node);
	free(f->arc);
	free(f->copies);
	free(f->first);
	free(f->member);
	free(f->link_first);
	free(f->link);
	free(f->rack);
	free(f->twin);
	free(f->twin_first);
	free(f->twin_member);
	free(f->row);
	free(f->own);
	free(f->limit);
	free(f);
}

/* The position in a node's list where the links to a neighbour begin. */
static int find_run(const struct fold *f, int from, int to)
{
	int low = f->link_first[from];
	int high = f->link_first[from + 1];

	while (low < high) {
		int mid = low + (high - low) / 2;

		if (far_end(f->c, f->link[mid], from) < to)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

int fold_find_link(const struct fold *f, int from, int to, int number)
{
	int at = find_run(f, from, to) + number;

	if (at >= f->link_first[from + 1] || far_end(f->c, f->link[at], from) != to)
		return -1;
	return f->link[at];
}

int fold_link_number(const struct fold *f, int from, int link)
{
	int run = find_run(f, from, far_end(f->c, link, from));
	int number = 0;

	while (f->link[run + number] != link)
		number++;
	return number;
}
