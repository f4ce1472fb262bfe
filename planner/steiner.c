/*
 * Cheapest trees by minimum spanning trees.
 */
#include "planner/steiner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/heap.h"
#include "planner/mem.h"

#define SPAN_WORK 12 /* work units per node and link of a tree */

struct steiner *steiner_new(const struct topology *t, bool merging)
{
	struct steiner *s = mem_new(1, sizeof(*s));
	size_t nodes = (size_t)t->nodes;

	s->t = t;
	s->optional = mem_new(nodes, sizeof(int));
	s->in = mem_new(nodes, sizeof(bool));
	s->candidate = mem_new((size_t)t->links + nodes, sizeof(*s->candidate));
	s->edge = mem_new(nodes, sizeof(*s->edge));
	s->distance = mem_new(nodes, sizeof(double));
	s->site = mem_new(nodes, sizeof(int));
	s->from_arc = mem_new(nodes, sizeof(int));
	s->parent = mem_new(nodes, sizeof(int));
	for (int i = 0; i < t->nodes; i++) {
		s->in[i] = t->node[i].worker;
		if (merging && topo_is_optional(t, i))
			s->optional[s->options++] = i;
	}
	return s;
}

void steiner_free(struct steiner *s)
{
	if (!s)
		return;
	free(s->optional);
	free(s->in);
	free(s->candidate);
	free(s->edge);
	free(s->distance);
	free(s->site);
	free(s->from_arc);
	free(s->parent);
	free(s->heap.entry);
	free(s);
}

static double price(const struct steiner *s, int node)
{
	return s->node ? s->node[node] : 0;
}

/* Computes for each node the distance to the nearest terminal, and which terminal that is. */
static void find_sites(struct steiner *s)
{
	const struct topology *t = s->t;

	s->heap.count = 0;
	for (int i = 0; i < t->nodes; i++) {
		s->site[i] = s->in[i] ? i : -1;
		s->distance[i] = s->in[i] ? price(s, i) : INFINITY;
		s->from_arc[i] = -1;
		if (s->in[i])
			heap_push(&s->heap, s->distance[i], i);
	}
	while (s->heap.count > 0) {
		struct heap_entry e = heap_pop(&s->heap);

		if (e.key > s->distance[e.node] ||
		    (t->node[e.node].kind == TOPO_HOST && !s->in[e.node]))
			continue;
		for (int i = t->first[e.node]; i < t->first[e.node + 1]; i++) {
			int arc = t->out[i];
			int next = topo_arc_to(t, arc);
			double d = e.key + s->link[arc >> 1];

			/* A host in the tree belongs only to itself: paths end there. */
			if (d >= s->distance[next] ||
			    (t->node[next].kind == TOPO_HOST && s->in[next]))
				continue;
			s->distance[next] = d;
			s->site[next] = s->site[e.node];
			s->from_arc[next] = arc;
			heap_push(&s->heap, d, next);
		}
	}
}

static int by_weight(const void *a, const void *b)
{
	const struct steiner_edge *x = a;
	const struct steiner_edge *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return x->link != y->link ? x->link - y->link : x->node - y->node;
}

static int find_candidates(struct steiner *s)
{
	const struct topology *t = s->t;
	int n = 0;

	for (int l = 0; l < t->links; l++) {
		int a = t->link[l].a;
		int b = t->link[l].b;

		if (s->site[a] < 0 || s->site[b] < 0 || s->site[a] == s->site[b])
			continue;
		if ((t->node[a].kind == TOPO_HOST && !s->in[a]) ||
		    (t->node[b].kind == TOPO_HOST && !s->in[b]))
			continue;
		s->candidate[n++] =
			(struct steiner_edge){s->distance[a] + s->link[l] + s->distance[b], l, -1};
	}
	for (int i = 0; i < t->nodes; i++)
		if (s->in[i] && s->site[i] != i)
			s->candidate[n++] =
				(struct steiner_edge){s->distance[i] + price(s, i), -1, i};
	qsort(s->candidate, (size_t)n, sizeof(*s->candidate), by_weight);
	return n;
}

static int leader(int *parent, int i)
{
	while (parent[i] != i) {
		parent[i] = parent[parent[i]];
		i = parent[i];
	}
	return i;
}

/* The terminals that an edge joins. */
static void ends(const struct steiner *s, const struct steiner_edge *e, int *a, int *b)
{
	*a = e->link < 0 ? e->node : s->site[s->t->link[e->link].a];
	*b = e->link < 0 ? s->site[e->node] : s->site[s->t->link[e->link].b];
}

static int switch_of(const struct steiner *s, int worker)
{
	return topo_arc_to(s->t, s->t->out[s->t->first[worker]]);
}

static double cost_of_copies(const struct steiner *s)
{
	double sum = 0;

	for (int i = 0; s->copies && i < s->t->nodes; i++)
		if (s->copies[i] > 0)
			sum += s->copies[i] * (s->link[s->t->out[s->t->first[i]] >> 1] +
					       s->distance[switch_of(s, i)]);
	return sum;
}

double steiner_span(struct steiner *s)
{
	double cheapest = INFINITY;
	int spanned = 0;
	int n;

	s->spent += SPAN_WORK * (s->t->links + s->t->nodes);
	find_sites(s);
	n = find_candidates(s);
	s->edges = 0;
	s->cost = cost_of_copies(s);
	for (int i = 0; i < s->t->nodes; i++) {
		s->parent[i] = i;
		if (!s->in[i])
			continue;
		spanned++;
		s->cost -= price(s, i);
		cheapest = fmin(cheapest, price(s, i));
	}
	s->cost += cheapest;
	for (int i = 0; i < n && s->edges < spanned - 1; i++) {
		int a, b;

		ends(s, &s->candidate[i], &a, &b);
		a = leader(s->parent, a);
		b = leader(s->parent, b);
		if (a == b)
			continue;
		s->parent[a] = b;
		s->cost += s->candidate[i].weight;
		s->edge[s->edges++] = s->candidate[i];
	}
	if (s->edges < spanned - 1)
		s->cost = INFINITY;
	return s->cost;
}

/* --- choice of merging nodes ------------------------------------------------------------------ */

static bool lower(double a, double b)
{
	return isinf(b) ? a < b : a < b - 1e-12 * fabs(b);
}

/* Whether a tree may need an optional node with two edges: no route can pass through it. */
static bool relays(const struct topology *t, int node)
{
	return !topo_forwards(t, node) && t->first[node + 1] - t->first[node] > 1;
}

/* Removes optional nodes with fewer than three edges, unless they relay. */
bool steiner_prune(struct steiner *s)
{
	int *degree = s->parent;
	bool any = false;

	memset(degree, 0, (size_t)s->t->nodes * sizeof(int));
	for (int i = 0; i < s->edges; i++) {
		int a, b;

		ends(s, &s->edge[i], &a, &b);
		degree[a]++;
		degree[b]++;
	}
	for (int i = 0; s->copies && i < s->t->nodes; i++)
		if (s->copies[i] > 0 && s->site[switch_of(s, i)] != i)
			degree[s->site[switch_of(s, i)]] += s->copies[i];
	for (int i = 0; i < s->options; i++) {
		int node = s->optional[i];

		if (!s->in[node] || degree[node] > 2 || (degree[node] == 2 && relays(s->t, node)))
			continue;
		s->in[node] = false;
		any = true;
	}
	return any;
}

static double search_subsets(struct steiner *s)
{
	double best = INFINITY;
	unsigned int chosen = 0;

	for (unsigned int set = 0; set < 1u << s->options; set++) {
		for (int i = 0; i < s->options; i++)
			s->in[s->optional[i]] = set >> i & 1;
		if (lower(steiner_span(s), best) || set == 0) {
			best = s->cost;
			chosen = set;
		}
	}
	for (int i = 0; i < s->options; i++)
		s->in[s->optional[i]] = chosen >> i & 1;
	return steiner_span(s);
}

static double search_local(struct steiner *s)
{
	double best;
	bool better = true;

	for (int i = 0; i < s->options; i++)
		s->in[s->optional[i]] = true;
	do {
		best = steiner_span(s);
	} while (steiner_prune(s));
	if (s->quick)
		return best;
	for (int round = 0; better && round < 4; round++) {
		better = false;
		for (int i = 0; i < s->options; i++) {
			int node = s->optional[i];

			s->in[node] = !s->in[node];
			if (lower(steiner_span(s), best)) {
				best = s->cost;
				better = true;
			} else {
				s->in[node] = !s->in[node];
			}
		}
	}
	do {
		best = steiner_span(s);
	} while (steiner_prune(s));
	return best;
}

double steiner_search(struct steiner *s, int exhaustive)
{
	return s->options <= exhaustive ? search_subsets(s) : search_local(s);
}

/* --- the tree as edges of a plan -------------------------------------------------------------- */

struct emitter {
	struct steiner *s;
	struct plan *pool;
	bool down;
	int *first, *half; /* edges at each terminal: 2 x edge + side */
	int *left;         /* by terminal: number of its edges that are still in the tree */
	bool *gone;        /* by edge: removed */
	int *order, *anchor;
	int **route; /* by node: route up to its anchor */
	int *arcs;
	int *seen; /* by node: its position in the latest route, -1: none */
};

static int other_end(const struct steiner *s, int half)
{
	int a, b;

	ends(s, &s->edge[half >> 1], &a, &b);
	return half & 1 ? a : b;
}

/* Writes the arcs to a node from its terminal and returns their number. */
static int chain(const struct steiner *s, int node, int *arc)
{
	int n = 0;

	for (int at = node; s->from_arc[at] >= 0; at = topo_arc_from(s->t, s->from_arc[at]))
		arc[n++] = s->from_arc[at];
	for (int i = 0; i < n / 2; i++) {
		int swap = arc[i];

		arc[i] = arc[n - 1 - i];
		arc[n - 1 - i] = swap;
	}
	return n;
}

static int reversed(int *arc, int n)
{
	for (int i = 0; i < (n + 1) / 2; i++) {
		int swap = arc[i] ^ 1;

		arc[i] = arc[n - 1 - i] ^ 1;
		arc[n - 1 - i] = swap;
	}
	return n;
}

/* Writes the arcs of an edge, from its end a (half 2 x edge) or b to the other end. */
static int edge_route(const struct steiner *s, int half, int *arc)
{
	const struct steiner_edge *e = &s->edge[half >> 1];
	int n, more;

	if (e->link < 0) {
		n = chain(s, e->node, arc);
		return half & 1 ? n : reversed(arc, n);
	}
	n = chain(s, s->t->link[e->link].a, arc);
	arc[n++] = 2 * e->link;
	more = chain(s, s->t->link[e->link].b, arc + n);
	n += reversed(arc + n, more);
	return half & 1 ? reversed(arc, n) : n;
}

int steiner_edge_arcs(const struct steiner *s, int i, int *from, int *to, int *arc)
{
	ends(s, &s->edge[i], from, to);
	return edge_route(s, 2 * i, arc);
}

int steiner_nearest_arcs(const struct steiner *s, int node, int *arc)
{
	return reversed(arc, chain(s, node, arc));
}

/* Removes loops, in which a route returns to a node that it has left. */
static int without_loops(struct emitter *m, int *arc, int n)
{
	const struct topology *t = m->s->t;
	int kept = 0;

	m->seen[topo_arc_from(t, arc[0])] = 0;
	for (int i = 0; i < n; i++) {
		int to = topo_arc_to(t, arc[i]);
		int back = m->seen[to];

		arc[kept++] = arc[i];
		while (back >= 0 && kept > back)
			m->seen[topo_arc_to(t, arc[--kept])] = -1;
		m->seen[to] = kept;
	}
	m->seen[topo_arc_from(t, arc[0])] = -1;
	for (int i = 0; i < kept; i++)
		m->seen[topo_arc_to(t, arc[i])] = -1;
	return kept;
}

static void index_edges(struct emitter *m)
{
	struct steiner *s = m->s;
	int nodes = s->t->nodes;
	int *at = m->order;

	for (int h = 0; h < 2 * s->edges; h++)
		m->left[other_end(s, h ^ 1)]++;
	m->first[0] = 0;
	for (int i = 0; i < nodes; i++) {
		m->first[i + 1] = m->first[i] + m->left[i];
		at[i] = m->first[i];
	}
	for (int h = 0; h < 2 * s->edges; h++)
		m->half[at[other_end(s, h ^ 1)]++] = h;
}

/* Removes optional nodes at the end of a branch, and those that become ends by this. */
static void cut_leaves(struct emitter *m, int root)
{
	struct steiner *s = m->s;

	for (int i = 0; i < s->options; i++) {
		int node = s->optional[i];

		while (s->in[node] && m->left[node] == 1 && node != root) {
			int h = m->first[node];

			while (m->gone[m->half[h] >> 1])
				h++;
			m->gone[m->half[h] >> 1] = true;
			m->left[node]--;
			node = other_end(s, m->half[h]);
			m->left[node]--;
			if (s->t->node[node].kind == TOPO_HOST && s->t->node[node].worker)
				break;
		}
	}
}

static void give_edge(struct emitter *m, int from, int to, int *arc, int n)
{
	if (m->down)
		reversed(arc, n);
	if (plan_add_edge(m->pool, m->down, m->down ? to : from, m->down ? from : to, arc, n) != 0)
		mem_out(0);
}

/* A node has been reached from its parent: finds its route to the nearest merging node above. */
static void take_node(struct emitter *m, int node, int half, int parent)
{
	bool worker = m->s->t->node[node].kind == TOPO_HOST && m->s->t->node[node].worker;
	int *arc = mem_new((size_t)m->s->t->nodes * 3, sizeof(int));
	int n = edge_route(m->s, half ^ 1, arc);

	m->anchor[node] = parent;
	if (m->route[parent]) {
		memcpy(arc + n, m->route[parent], (size_t)m->arcs[parent] * sizeof(int));
		n += m->arcs[parent];
		m->anchor[node] = m->anchor[parent];
	}
	n = without_loops(m, arc, n);
	if (worker || m->left[node] > 2 || relays(m->s->t, node)) {
		give_edge(m, node, m->anchor[node], arc, n);
		free(arc);
	} else {
		m->route[node] = mem_more(arc, (size_t)n, sizeof(int));
		m->arcs[node] = n;
	}
}

static void walk_tree(struct emitter *m, int root)
{
	int head = 0;
	int tail = 0;
	int *order = m->order;
	bool *done = mem_new((size_t)m->s->t->nodes, sizeof(bool));

	order[tail++] = root;
	done[root] = true;
	while (head < tail) {
		int at = order[head++];

		for (int i = m->first[at]; i < m->first[at + 1]; i++) {
			int half = m->half[i];
			int next = other_end(m->s, half);

			if (m->gone[half >> 1] || done[next])
				continue;
			done[next] = true;
			order[tail++] = next;
			take_node(m, next, half, at);
		}
	}
	free(done);
}

void steiner_emit(struct steiner *s, struct plan *pool, int root, bool down)
{
	size_t nodes = (size_t)s->t->nodes;
	struct emitter m = {.s = s, .pool = pool, .down = down};

	m.first = mem_new(nodes + 1, sizeof(int));
	m.half = mem_new(nodes * 2, sizeof(int));
	m.left = mem_new(nodes, sizeof(int));
	m.gone = mem_new(nodes, sizeof(bool));
	m.order = mem_new(nodes, sizeof(int));
	m.anchor = mem_new(nodes, sizeof(int));
	m.route = mem_new(nodes, sizeof(*m.route));
	m.arcs = mem_new(nodes, sizeof(int));
	m.seen = mem_new(nodes, sizeof(int));
	for (size_t i = 0; i < nodes; i++)
		m.seen[i] = -1;
	index_edges(&m);
	cut_leaves(&m, root);
	walk_tree(&m, root);
	for (size_t i = 0; i < nodes; i++)
		free(m.route[i]);
	free(m.first);
	free(m.half);
	free(m.left);
	free(m.gone);
	free(m.order);
	free(m.anchor);
	free(m.route);
	free(m.arcs);
	free(m.seen);
}
