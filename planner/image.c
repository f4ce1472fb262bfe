/*
 * Images of folded trees: see image.h.
 */
#include "planner/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/heap.h"
#include "planner/mem.h"
#include "planner/router.h"

#define HALVINGS 60      /* bisections, after which the interval is negligible */
#define LEAST_PART 1e-12 /* least part of a worker, relative to its capacity */

struct joint {
	int from, to;    /* nodes of t */
	int first, arcs; /* of the route, from one to the other */
};

struct maker {
	const struct fold *f;
	const struct topology *t, *c;
	const struct plan *pool;
	struct plan *p;
	/*
	 * By node of t: the ends of workers of racks beyond one in each tree, so far, and their
	 * intended total.
	 */
	double *load, *part;
	/* The current image. */
	const struct image *image;
	int *ends;           /* by node of c: edges that lead out of a rack */
	int *end_at;         /* by node of c: position of its ends in end_host */
	int *end_host;       /* workers of racks, one for each such end */
	int *copy;           /* by node of c: number of its members already attached elsewhere */
	bool *apart;         /* racks whose other workers are attached to other nodes */
	int *degree, *order; /* of the members of one rack */
	struct joint *joint;
	int joints, joint_room;
	int *route;
	int routes, route_room;
	struct heap heap;
	/* The tree: joints at each node, and a traversal. */
	int *first, *half, *queue, *via;
};

void image_racks(const struct fold *f, int *to)
{
	for (int i = 0; i < f->c->nodes; i++)
		if (f->rack[i] >= 0)
			to[f->rack[i]] = f->rack[to[i]];
}

static bool stands_for_rack(const struct fold *f, int node)
{
	return f->first[node + 1] > f->first[node];
}

int image_arc(const struct fold *f, const int *to, int arc)
{
	int a = topo_arc_from(f->c, arc);
	int b = topo_arc_to(f->c, arc);
	int link;

	if (stands_for_rack(f, a))
		return f->c->out[f->c->first[to[a]]];
	if (stands_for_rack(f, b))
		return f->c->out[f->c->first[to[b]]] ^ 1;
	link = fold_find_link(f, to[a], to[b], fold_link_number(f, a, arc >> 1));
	return 2 * link + (f->c->link[link].a != to[a]);
}

/* --- workers of a rack ------------------------------------------------------------------------ */

static int rack_size(const struct maker *m, int rack)
{
	return m->f->first[rack + 1] - m->f->first[rack];
}

static int member(const struct maker *m, int rack, int i)
{
	return m->f->member[m->f->first[rack] + i];
}

static double capacity_of(const struct maker *m, int worker)
{
	return topo_arc_capacity(m->t, m->t->out[m->t->first[worker]]);
}

/* The fraction of its part that a worker would use with `more` additional ends. */
static double full_with(const struct maker *m, int worker, int more)
{
	return (m->load[worker] + m->image->share * more) / m->part[worker];
}

static void add_load(struct maker *m, int worker, int more)
{
	m->load[worker] += m->image->share * more;
}

static void add_joint(struct maker *m, int from, int to)
{
	if (m->joints == m->joint_room) {
		m->joint_room = m->joint_room ? 2 * m->joint_room : 256;
		m->joint = mem_more(m->joint, (size_t)m->joint_room, sizeof(*m->joint));
	}
	m->joint[m->joints++] = (struct joint){from, to, m->routes, 0};
}

static void add_arc(struct maker *m, int arc)
{
	if (m->routes == m->route_room) {
		m->route_room = m->route_room ? 2 * m->route_room : 1024;
		m->route = mem_more(m->route, (size_t)m->route_room, sizeof(int));
	}
	m->route[m->routes++] = arc;
	m->joint[m->joints - 1].arcs++;
}

static int own_arc(const struct maker *m, int worker)
{
	return m->t->out[m->t->first[worker]];
}

/* One worker gets all ends; the others are attached to other nodes. */
static void fill_apart(struct maker *m, int rack)
{
	int best = member(m, rack, 0);

	for (int i = 1; i < rack_size(m, rack); i++)
		if (full_with(m, member(m, rack, i), m->ends[rack] - 1) <
		    full_with(m, best, m->ends[rack] - 1))
			best = member(m, rack, i);
	for (int i = 0; i < m->ends[rack]; i++)
		m->end_host[m->end_at[rack] + i] = best;
	add_load(m, best, m->ends[rack] - 1);
}

/* Sorts the members by degree, the largest first. */
static void sort_by_degree(struct maker *m, int n)
{
	int *count = m->queue;
	int most = 0;

	for (int i = 0; i < n; i++)
		most = m->degree[i] > most ? m->degree[i] : most;
	memset(count, 0, ((size_t)most + 2) * sizeof(int));
	for (int i = 0; i < n; i++)
		count[most - m->degree[i] + 1]++;
	for (int d = 0; d < most; d++)
		count[d + 1] += count[d];
	for (int i = 0; i < n; i++)
		m->order[count[most - m->degree[i]]++] = i;
}

/*
 * Makes a tree of the rack's workers. Each worker has at least one end; the other ends go to the
 * workers that have used the least of their part. Edges out of the rack start at the workers with
 * the most ends.
 */
static void fill_tree(struct maker *m, int rack)
{
	int n = rack_size(m, rack);
	int at = 0;
	int slots;

	m->heap.count = 0;
	for (int i = 0; i < n; i++) {
		m->degree[i] = 1;
		heap_push(&m->heap, full_with(m, member(m, rack, i), 1), i);
	}
	for (int k = n - 2 + m->ends[rack]; k > 0; k--) {
		int i = heap_pop(&m->heap).node;

		m->degree[i]++;
		heap_push(&m->heap, full_with(m, member(m, rack, i), m->degree[i]), i);
	}
	for (int i = 0; i < n; i++)
		add_load(m, member(m, rack, i), m->degree[i] - 1);
	sort_by_degree(m, n);
	for (int k = 0; k < m->ends[rack]; k++) {
		while (m->degree[m->order[at]] < 2)
			at++;
		m->degree[m->order[at]]--;
		m->end_host[m->end_at[rack] + k] = member(m, rack, m->order[at]);
	}
	sort_by_degree(m, n);
	at = 0;
	slots = m->degree[m->order[0]];
	for (int i = 1; i < n; i++) {
		int a = member(m, rack, m->order[i]);
		int b;

		while (slots == 0)
			slots = m->degree[m->order[++at]] - 1;
		slots--;
		b = member(m, rack, m->order[at]);
		add_joint(m, a, b);
		add_arc(m, own_arc(m, a));
		add_arc(m, own_arc(m, b) ^ 1);
	}
}

/* --- one tree --------------------------------------------------------------------------------- */

static void count_ends(struct maker *m)
{
	const struct plan_tree *k = &m->pool->tree[m->image->tree];
	int at = 0;

	memset(m->ends, 0, (size_t)m->c->nodes * sizeof(int));
	memset(m->copy, 0, (size_t)m->c->nodes * sizeof(int));
	memset(m->apart, 0, (size_t)m->c->nodes * sizeof(bool));
	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &m->pool->edge[k->up_first + i];
		bool copies = i >= k->ups;

		if (copies)
			m->apart[e->from] = e->arcs > 0;
		else
			m->ends[e->from]++;
		if (e->arcs > 0)
			m->ends[e->to]++;
	}
	for (int i = 0; i < m->c->nodes; i++) {
		m->end_at[i] = at;
		at += m->ends[i];
	}
}

/* The node of t at one end of an edge; for a rack, the next worker that has an end left. */
static int end_node(struct maker *m, int node)
{
	return stands_for_rack(m->f, node) ? m->end_host[m->end_at[node]++] : m->f->node[node];
}

/* Maps an edge of the folded tree to one between two nodes of t. */
static void map_edge(struct maker *m, const struct plan_edge *e, int from, int to)
{
	add_joint(m, from, to);
	for (int i = 0; i < e->arcs; i++) {
		int arc = m->pool->route[e->first + i];

		if (stands_for_rack(m->f, topo_arc_from(m->c, arc)))
			add_arc(m, own_arc(m, from));
		else if (stands_for_rack(m->f, topo_arc_to(m->c, arc)))
			add_arc(m, own_arc(m, to) ^ 1);
		else
			add_arc(m, m->f->arc[arc]);
	}
}

/* The rack's next worker, except the one that has its ends. */
static int next_copy(struct maker *m, int rack)
{
	int taken = m->end_host[m->end_at[rack] - 1];
	int host = member(m, rack, m->copy[rack]++);

	return host == taken ? member(m, rack, m->copy[rack]++) : host;
}

static void make_joints(struct maker *m)
{
	const struct plan_tree *k = &m->pool->tree[m->image->tree];

	m->joints = 0;
	m->routes = 0;
	count_ends(m);
	for (int i = 0; i < m->c->nodes; i++) {
		if (!stands_for_rack(m->f, i))
			continue;
		if (m->apart[i] || rack_size(m, i) == 1)
			fill_apart(m, i);
		else
			fill_tree(m, i);
	}
	for (int i = 0; i < k->ups; i++) {
		const struct plan_edge *e = &m->pool->edge[k->up_first + i];
		int from = end_node(m, e->from);

		map_edge(m, e, from, end_node(m, e->to));
	}
	for (int i = k->ups; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &m->pool->edge[k->up_first + i];
		int host;

		if (e->arcs == 0)
			continue;
		host = next_copy(m, e->from);
		map_edge(m, e, host, end_node(m, e->to));
	}
}

static int far_node(const struct maker *m, int half)
{
	return half & 1 ? m->joint[half >> 1].from : m->joint[half >> 1].to;
}

static void index_joints(struct maker *m)
{
	memset(m->first, 0, ((size_t)m->t->nodes + 2) * sizeof(int));
	for (int h = 0; h < 2 * m->joints; h++)
		m->first[far_node(m, h ^ 1) + 2]++;
	for (int i = 0; i < m->t->nodes; i++)
		m->first[i + 2] += m->first[i + 1];
	for (int h = 0; h < 2 * m->joints; h++)
		m->half[m->first[far_node(m, h ^ 1) + 1]++] = h;
}

/*
 * Breadth-first search from a node to all others; via: the half of a joint that led to each.
 * Returns the number of nodes.
 */
static int walk(struct maker *m, int from)
{
	int tail = 0;

	m->queue[tail++] = from;
	m->via[from] = -1;
	for (int head = 0; head < tail; head++) {
		int at = m->queue[head];

		for (int i = m->first[at]; i < m->first[at + 1]; i++) {
			int half = m->half[i];

			if (m->via[at] == (half ^ 1))
				continue;
			m->via[far_node(m, half)] = half;
			m->queue[tail++] = far_node(m, half);
		}
	}
	return tail;
}

/*
 * A root in the middle of the longest path: a worker or a box without a limit, where a root adds no
 * load.
 */
static int find_root(struct maker *m)
{
	int n = walk(m, m->t->worker[0]);
	int from = m->queue[n - 1];
	int at, steps;

	n = walk(m, from);
	at = m->queue[n - 1];
	steps = 0;
	for (int k = at; m->via[k] >= 0; k = far_node(m, m->via[k] ^ 1))
		steps++;
	for (int k = 0; k < steps / 2; k++)
		at = far_node(m, m->via[at] ^ 1);
	while (m->via[at] >= 0 && !isinf(m->t->node[at].processing))
		at = far_node(m, m->via[at] ^ 1);
	return at;
}

static void emit(struct maker *m)
{
	int root = (index_joints(m), find_root(m));
	int n = walk(m, root);
	int *back = m->order;

	build_tree(m->p, root, m->image->share);
	for (int i = n - 1; i > 0; i--) {
		int node = m->queue[i];
		int half = m->via[node];
		const struct joint *j = &m->joint[half >> 1];
		int *arc = m->route + j->first;

		if (j->from == node) {
			build_edge(m->p, false, node, j->to, arc, j->arcs);
			continue;
		}
		for (int k = 0; k < j->arcs; k++)
			back[k] = arc[j->arcs - 1 - k] ^ 1;
		build_edge(m->p, false, node, j->from, back, j->arcs);
	}
	build_mirror(m->p);
}

/*
 * Divides `more` ends beyond one for each worker among the workers of a rack: their links should be
 * equally loaded, but no worker has less than one end.
 */
static void divide(struct maker *m, int rack, double more)
{
	double low = 0;
	double high = 0;

	for (int i = 0; i < rack_size(m, rack); i++)
		high = fmax(high, (1 + more) / capacity_of(m, member(m, rack, i)));
	for (int round = 0; round < HALVINGS; round++) {
		double mid = (low + high) / 2;
		double sum = 0;

		for (int i = 0; i < rack_size(m, rack); i++)
			sum += fmax(0, mid * capacity_of(m, member(m, rack, i)) - 1);
		if (sum < more)
			low = mid;
		else
			high = mid;
	}
	for (int i = 0; i < rack_size(m, rack); i++) {
		double c = capacity_of(m, member(m, rack, i));

		m->part[member(m, rack, i)] = fmax(high * c - 1, LEAST_PART * c);
	}
}

static void find_parts(struct maker *m, const struct image *image, int images)
{
	double *more = mem_new((size_t)m->c->nodes, sizeof(double));

	for (int k = 0; k < images; k++) {
		m->image = &image[k];
		count_ends(m);
		for (int i = 0; i < m->c->nodes; i++) {
			bool alone = m->apart[i] || rack_size(m, i) == 1;

			more[i] +=
				m->image->share * (m->ends[i] + (alone ? -1 : rack_size(m, i) - 2));
		}
	}
	for (int i = 0; i < m->c->nodes; i++)
		if (stands_for_rack(m->f, i))
			divide(m, i, more[i]);
	free(more);
}

struct plan *image_plan(const struct fold *f, const struct plan *pool, const char *name,
			const struct image *image, int images)
{
	struct maker m = {.f = f, .t = f->t, .c = f->c, .pool = pool};
	size_t nodes = (size_t)m.t->nodes + 3;

	m.p = build_plan(name);
	m.load = mem_new(nodes, sizeof(double));
	m.part = mem_new(nodes, sizeof(double));
	m.ends = mem_new(nodes, sizeof(int));
	m.end_at = mem_new(nodes, sizeof(int));
	m.end_host = mem_new(2 * nodes, sizeof(int));
	m.copy = mem_new(nodes, sizeof(int));
	m.apart = mem_new(nodes, sizeof(bool));
	m.degree = mem_new(nodes, sizeof(int));
	m.order = mem_new(3 * nodes, sizeof(int));
	m.first = mem_new(nodes, sizeof(int));
	m.half = mem_new(2 * nodes, sizeof(int));
	m.queue = mem_new(2 * nodes, sizeof(int));
	m.via = mem_new(nodes, sizeof(int));
	find_parts(&m, image, images);
	for (int i = 0; i < images; i++) {
		if (image[i].share <= 1e-12)
			continue;
		m.image = &image[i];
		make_joints(&m);
		emit(&m);
	}
	free(m.load);
	free(m.part);
	free(m.ends);
	free(m.end_at);
	free(m.end_host);
	free(m.copy);
	free(m.apart);
	free(m.degree);
	free(m.order);
	free(m.joint);
	free(m.route);
	free(m.heap.entry);
	free(m.first);
	free(m.half);
	free(m.queue);
	free(m.via);
	return m.p;
}
