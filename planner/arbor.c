/*
 * Minimum arborescences. Every member chooses its cheapest parent. A cycle of such choices is
 * contracted to one member, until no cycle is left. Then the cycles are expanded in reverse order.
 */
#include "planner/arbor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/heap.h"
#include "planner/mem.h"
#include "planner/work.h"

#define WAYS_WORK 10 /* work units per node and link of a shortest-path search */
#define FIND_WORK 8  /* work units per pair of terminals of an arborescence */

struct arbor *arbor_new(const struct topology *t, const int *optional, int options)
{
	struct arbor *a = mem_new(1, sizeof(*a));
	size_t n = (size_t)(t->workers + options);

	a->t = t;
	a->optional = mem_new((size_t)options, sizeof(int));
	for (int i = 0; i < options; i++)
		a->optional[i] = optional[i];
	a->options = options;
	a->terminals = (int)n;
	a->node = mem_new(n, sizeof(int));
	memcpy(a->node, t->worker, (size_t)t->workers * sizeof(int));
	for (int i = 0; i < options; i++)
		a->node[t->workers + i] = optional[i];
	a->distance = mem_new(n * n, sizeof(double));
	a->from_arc = mem_new(n * (size_t)t->nodes, sizeof(int));
	a->price = mem_new(n, sizeof(double));
	a->member = mem_new(n, sizeof(int));
	a->cost = mem_new(n * n, sizeof(double));
	a->parent = mem_new(n, sizeof(int));
	a->work = mem_new(4 * n * n, sizeof(double));
	a->work_parent = mem_new(2 * n, sizeof(int));
	a->cycle = mem_new(2 * n, sizeof(int));
	a->rank = mem_new(2 * n, sizeof(int));
	a->entry = mem_new(2 * n * 2 * n, sizeof(int));
	a->leave = mem_new(2 * n * 2 * n, sizeof(int));
	return a;
}

void arbor_free(struct arbor *a)
{
	if (!a)
		return;
	free(a->optional);
	free(a->node);
	free(a->distance);
	free(a->from_arc);
	free(a->price);
	free(a->heap.entry);
	free(a->member);
	free(a->cost);
	free(a->parent);
	free(a->work);
	free(a->work_parent);
	free(a->cycle);
	free(a->rank);
	free(a->entry);
	free(a->leave);
	free(a);
}

/* Shortest paths from one terminal to all nodes. */
static void find_ways(struct arbor *a, int i, const double *arc_price, double *distance)
{
	const struct topology *t = a->t;
	int *from_arc = a->from_arc + (size_t)i * (size_t)t->nodes;

	for (int n = 0; n < t->nodes; n++) {
		distance[n] = INFINITY;
		from_arc[n] = -1;
	}
	a->heap.count = 0;
	distance[a->node[i]] = 0;
	heap_push(&a->heap, 0, a->node[i]);
	while (a->heap.count > 0) {
		struct heap_entry top = heap_pop(&a->heap);

		/* Hosts do not forward, so a path ends at a host. */
		if (top.key > distance[top.node] ||
		    (top.node != a->node[i] && t->node[top.node].kind == TOPO_HOST))
			continue;
		for (int k = t->first[top.node]; k < t->first[top.node + 1]; k++) {
			int arc = t->out[k];
			int next = topo_arc_to(t, arc);
			double d = top.key + arc_price[arc];

			if (d >= distance[next])
				continue;
			distance[next] = d;
			from_arc[next] = arc;
			heap_push(&a->heap, d, next);
		}
	}
}

void arbor_price(struct arbor *a, const double *arc, const double *node)
{
	double *distance = mem_new((size_t)a->t->nodes, sizeof(double));

	a->spent += WAYS_WORK * a->terminals * (double)(a->t->links + a->t->nodes);
	for (int i = 0; i < a->terminals; i++) {
		find_ways(a, i, arc, distance);
		for (int j = 0; j < a->terminals; j++)
			a->distance[(size_t)i * (size_t)a->terminals + (size_t)j] =
				distance[a->node[j]];
		a->price[i] = node ? node[a->node[i]] : 0;
	}
	free(distance);
}

/* --- one arborescence ------------------------------------------------------------------------- */

/*
 * State of the algorithm. A vertex is a member or a contracted cycle; cost_of(v, u) is the cost of
 * v under parent u.
 */
struct edmonds {
	struct arbor *a;
	int n; /* vertices so far */
	int size;
	int root;
	int *alive, count;
	int *parent;
	int *inside; /* by vertex: the cycle that contains it, -1: none */
};

static double *cost_of(const struct edmonds *x, int v, int u)
{
	return &x->a->work[(size_t)v * (size_t)x->size + (size_t)u];
}

static void choose_parent(struct edmonds *x, int v)
{
	int best = -1;

	for (int j = 0; j < x->count && v != x->root; j++) {
		int u = x->alive[j];

		if (u != v && (best < 0 || *cost_of(x, v, u) < *cost_of(x, v, best)))
			best = u;
	}
	x->parent[v] = best;
}

/*
 * Puts the vertices of a cycle of chosen parents into a->cycle. Returns their number; 0: there is
 * no cycle.
 */
static int find_cycle(struct edmonds *x)
{
	int *mark = x->a->rank;

	for (int i = 0; i < x->count; i++)
		mark[x->alive[i]] = -1;
	for (int i = 0; i < x->count; i++) {
		int v = x->alive[i];
		int n = 0;

		while (v != x->root && mark[v] < 0) {
			mark[v] = i;
			v = x->parent[v];
		}
		if (v == x->root || mark[v] != i)
			continue;
		do {
			x->a->cycle[n++] = v;
			v = x->parent[v];
		} while (v != x->a->cycle[0]);
		return n;
	}
	return 0;
}

/*
 * Contracts the first n vertices of a->cycle to the new vertex x->n. Each entry into the cycle
 * costs what it adds to the cost of the parent that it replaces.
 */
static void contract(struct edmonds *x, int n)
{
	struct arbor *a = x->a;
	int c = x->n++;
	int kept = 0;

	for (int i = 0; i < n; i++)
		x->inside[a->cycle[i]] = c;
	for (int i = 0; i < x->count; i++)
		if (x->inside[x->alive[i]] < 0)
			x->alive[kept++] = x->alive[i];
	for (int j = 0; j < kept; j++) {
		int u = x->alive[j];
		size_t in = (size_t)c * (size_t)x->size + (size_t)u;
		size_t out = (size_t)u * (size_t)x->size + (size_t)c;
		int enter = a->cycle[0];
		int leave = a->cycle[0];

		for (int i = 0; i < n; i++) {
			int v = a->cycle[i];
			int w = a->cycle[i];

			if (*cost_of(x, v, u) - *cost_of(x, v, x->parent[v]) <
			    *cost_of(x, enter, u) - *cost_of(x, enter, x->parent[enter]))
				enter = v;
			if (*cost_of(x, u, w) < *cost_of(x, u, leave))
				leave = w;
		}
		a->work[in] = *cost_of(x, enter, u) - *cost_of(x, enter, x->parent[enter]);
		a->work[out] = *cost_of(x, u, leave);
		a->entry[in] = enter;
		a->leave[out] = leave;
	}
	/*
	 * A vertex that chose a member of the cycle would choose the cycle: the cost is the same.
	 */
	for (int j = 0; j < kept; j++)
		if (x->alive[j] != x->root && x->inside[x->parent[x->alive[j]]] == c)
			x->parent[x->alive[j]] = c;
	x->inside[c] = -1;
	x->alive[kept++] = c;
	x->count = kept;
	choose_parent(x, c);
}

/*
 * Expands the cycles, the last one first: one vertex of a cycle gets the parent of the whole cycle.
 */
static void expand(struct edmonds *x)
{
	struct arbor *a = x->a;

	for (int c = x->n - 1; c >= a->members; c--) {
		int u = x->parent[c];
		int v = a->entry[(size_t)c * (size_t)x->size + (size_t)u];

		x->parent[v] = u;
		/* Children of the cycle become children of one of its vertices. */
		for (int i = 0; i < c; i++)
			if (x->parent[i] == c)
				x->parent[i] = a->leave[(size_t)i * (size_t)x->size + (size_t)c];
	}
}

static double run_edmonds(struct arbor *a, int root)
{
	struct edmonds x = {.a = a, .n = a->members, .size = 2 * a->terminals, .root = root};
	double sum = 0;
	int n;

	x.alive = mem_new((size_t)x.size, sizeof(int));
	x.inside = mem_new((size_t)x.size, sizeof(int));
	x.parent = a->work_parent;
	x.count = a->members;
	for (int i = 0; i < a->members; i++) {
		x.alive[i] = i;
		x.inside[i] = -1;
		for (int j = 0; j < a->members; j++)
			*cost_of(&x, i, j) = a->cost[(size_t)i * (size_t)a->terminals + (size_t)j];
	}
	for (int i = 0; i < a->members; i++)
		choose_parent(&x, i);
	for (n = find_cycle(&x); n > 0; n = find_cycle(&x))
		contract(&x, n);
	expand(&x);
	for (int i = 0; i < a->members; i++) {
		a->parent[i] = i == root ? -1 : x.parent[i];
		if (i != root)
			sum += a->cost[(size_t)i * (size_t)a->terminals + (size_t)a->parent[i]];
	}
	free(x.alive);
	free(x.inside);
	return sum;
}

double arbor_find(struct arbor *a, int root, const bool *in, bool down)
{
	size_t n = (size_t)a->terminals;
	int r = -1;

	a->spent += FIND_WORK * (double)(n * n);
	a->members = 0;
	for (int i = 0; i < a->terminals; i++) {
		if (i >= a->t->workers && !in[a->node[i]] && a->node[i] != root)
			continue;
		if (a->node[i] == root)
			r = a->members;
		a->member[a->members++] = i;
	}
	if (r < 0)
		return INFINITY;
	for (int v = 0; v < a->members; v++) {
		for (int u = 0; u < a->members; u++) {
			size_t i = (size_t)a->member[v];
			size_t k = (size_t)a->member[u];

			a->cost[(size_t)v * n + (size_t)u] =
				down ? a->distance[k * n + i]
				     : a->distance[i * n + k] + a->price[k];
		}
	}
	return run_edmonds(a, r);
}

/* --- as edges of a plan ----------------------------------------------------------------------- */

/* Counts the children of each member. Marks optional members without children as gone. */
static void count_children(struct arbor *a, int *children, bool *gone)
{
	bool more = true;

	for (int i = 0; i < a->members; i++)
		if (a->parent[i] >= 0)
			children[a->parent[i]]++;
	while (more) {
		more = false;
		for (int i = 0; i < a->members; i++) {
			if (gone[i] || children[i] > 0 || a->member[i] < a->t->workers ||
			    a->parent[i] < 0)
				continue;
			gone[i] = true;
			children[a->parent[i]]--;
			more = true;
		}
	}
}

/* Writes the arcs of the shortest path between two terminals and returns their number. */
static int way(const struct arbor *a, int from, int to, int *arc)
{
	const int *from_arc = a->from_arc + (size_t)from * (size_t)a->t->nodes;
	int n = 0;

	for (int at = a->node[to]; at != a->node[from]; at = topo_arc_from(a->t, from_arc[at]))
		arc[n++] = from_arc[at];
	for (int i = 0; i < n / 2; i++) {
		int swap = arc[i];

		arc[i] = arc[n - 1 - i];
		arc[n - 1 - i] = swap;
	}
	return n;
}

/*
 * Whether a member is left out of the tree because it has no data and only one child: the route
 * then passes through it. It cannot pass through a host.
 */
static bool is_passed(const struct arbor *a, int i, const int *children)
{
	int node = a->node[a->member[i]];

	return a->member[i] >= a->t->workers && children[i] == 1 &&
	       (topo_forwards(a->t, node) || a->t->first[node + 1] - a->t->first[node] == 1);
}

void arbor_emit(struct arbor *a, struct plan *pool, bool down)
{
	int *children = mem_new((size_t)a->members, sizeof(int));
	bool *gone = mem_new((size_t)a->members, sizeof(bool));
	int *arc = mem_new((size_t)a->t->nodes, sizeof(int));

	count_children(a, children, gone);
	for (int i = 0; i < a->members; i++) {
		int p = a->parent[i];
		int n;

		if (p < 0 || gone[i] || is_passed(a, i, children))
			continue;
		while (a->parent[p] >= 0 && is_passed(a, p, children))
			p = a->parent[p];
		n = way(a, a->member[down ? p : i], a->member[down ? i : p], arc);
		if (plan_add_edge(pool, down, a->node[a->member[down ? p : i]],
				  a->node[a->member[down ? i : p]], arc, n) != 0)
			mem_out(0);
	}
	free(children);
	free(gone);
	free(arc);
}
