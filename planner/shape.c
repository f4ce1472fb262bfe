/*
 * Trees as parents, and the splitting of routes at hosts.
 */
#include "planner/shape.h"

#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/mem.h"

struct shape *shape_new(const struct topology *t)
{
	struct shape *s = mem_new(1, sizeof(*s));
	size_t nodes = (size_t)t->nodes;

	s->t = t;
	s->parent = mem_new(nodes, sizeof(int));
	s->route = mem_new(nodes, sizeof(*s->route));
	s->arcs = mem_new(nodes, sizeof(int));
	s->in = mem_new(nodes, sizeof(bool));
	s->list = mem_new(nodes, sizeof(int));
	return s;
}

static void forget(struct shape *s)
{
	for (int i = 0; i < s->count; i++) {
		free(s->route[s->list[i]]);
		s->route[s->list[i]] = NULL;
		s->in[s->list[i]] = false;
	}
	s->count = 0;
}

void shape_free(struct shape *s)
{
	forget(s);
	free(s->parent);
	free(s->route);
	free(s->arcs);
	free(s->in);
	free(s->list);
	free(s);
}

static void enter(struct shape *s, int node)
{
	if (s->in[node])
		return;
	s->in[node] = true;
	s->parent[node] = -1;
	s->arcs[node] = 0;
	s->list[s->count++] = node;
}

void shape_begin(struct shape *s, int root)
{
	forget(s);
	s->root = root;
	enter(s, root);
}

void shape_attach(struct shape *s, int node, int parent, const int *arc, int arcs)
{
	int *route = mem_new((size_t)arcs, sizeof(int));

	memcpy(route, arc, (size_t)arcs * sizeof(int));
	enter(s, node);
	enter(s, parent);
	free(s->route[node]);
	s->route[node] = route;
	s->parent[node] = parent;
	s->arcs[node] = arcs;
}

void shape_route(struct shape *s, struct router *r, int node, int parent, double weight)
{
	router_find(r, node, parent, weight);
	shape_attach(s, node, parent, r->arc, r->arcs);
}

void shape_drop(struct shape *s, int node)
{
	int kept = 0;

	free(s->route[node]);
	s->route[node] = NULL;
	s->in[node] = false;
	for (int i = 0; i < s->count; i++)
		if (s->list[i] != node)
			s->list[kept++] = s->list[i];
	s->count = kept;
}

/* Reverses a route. */
static void turn(const int *from, int n, int *to)
{
	for (int i = 0; i < n; i++)
		to[i] = from[n - 1 - i] ^ 1;
}

void shape_load(struct shape *s, const struct plan *p, int tree, bool down)
{
	const struct plan_tree *k = &p->tree[tree];
	int first = down ? k->down_first : k->up_first;
	int *back = NULL;
	int most = 0;

	shape_begin(s, k->root);
	for (int i = 0; i < (down ? k->downs : k->ups); i++) {
		const struct plan_edge *e = &p->edge[first + i];

		if (!down) {
			shape_attach(s, e->from, e->to, p->route + e->first, e->arcs);
			continue;
		}
		if (e->arcs > most) {
			most = e->arcs;
			back = mem_more(back, (size_t)most, sizeof(int));
		}
		turn(p->route + e->first, e->arcs, back);
		shape_attach(s, e->to, e->from, back, e->arcs);
	}
	free(back);
}

bool shape_is_tree(const struct shape *s)
{
	int *state = mem_new(
		(size_t)s->t->nodes,
		sizeof(int)); /* 1 + the start of the walk that passed; -1: leads to the root */
	bool good = true;

	state[s->root] = -1;
	for (int i = 0; i < s->count && good; i++) {
		int at = s->list[i];

		while (state[at] == 0 && s->parent[at] >= 0) {
			state[at] = i + 1;
			at = s->parent[at];
		}
		good = state[at] == -1;
		for (at = s->list[i]; good && state[at] == i + 1; at = s->parent[at])
			state[at] = -1;
	}
	free(state);
	return good;
}

void shape_emit(const struct shape *s, struct plan *p, bool down)
{
	int *back = mem_new((size_t)s->t->nodes * 4, sizeof(int));

	for (int i = 0; i < s->count; i++) {
		int node = s->list[i];
		const int *arc = s->route[node];

		if (node == s->root || s->parent[node] < 0)
			continue;
		if (down) {
			turn(arc, s->arcs[node], back);
			arc = back;
		}
		build_edge(p, down, down ? s->parent[node] : node, down ? node : s->parent[node],
			   arc, s->arcs[node]);
	}
	free(back);
}

/* --- hosts ------------------------------------------------------------------------------------ */

static bool is_host(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST;
}

/* The first host inside a route, as a position: arc[0 .. n - 1] lead there; 0: there is none. */
static int first_host(const struct topology *t, const int *arc, int arcs)
{
	for (int i = 0; i + 1 < arcs; i++)
		if (is_host(t, topo_arc_to(t, arc[i])))
			return i + 1;
	return 0;
}

static bool passes_host(const struct topology *t, const struct plan *p)
{
	for (int i = 0; i < p->edges; i++)
		if (first_host(t, p->route + p->edge[i].first, p->edge[i].arcs))
			return true;
	return false;
}

/*
 * Splits the route of one node at its first host. The rest becomes the route of that host, unless
 * it has one already.
 */
static void cut_route(struct shape *s, int node)
{
	int *rest = mem_new((size_t)s->arcs[node], sizeof(int));
	int arcs = s->arcs[node];
	int parent = s->parent[node];
	int at;

	memcpy(rest, s->route[node], (size_t)arcs * sizeof(int));
	at = first_host(s->t, rest, arcs);
	if (at > 0) {
		int host = topo_arc_to(s->t, rest[at - 1]);

		shape_attach(s, node, host, rest, at);
		if (host != s->root && s->parent[host] < 0)
			shape_attach(s, host, parent, rest + at, arcs - at);
	}
	free(rest);
}

/*
 * Replaces the tree by shortest routes from all workers to the root, with every host on them as a
 * node.
 */
static void follow_shortest(struct shape *s, struct router *r)
{
	const struct topology *t = s->t;
	int root = s->root;

	shape_begin(s, root);
	for (int i = 0; i < t->workers; i++) {
		int node = t->worker[i];

		while (node != root && !(s->in[node] && s->parent[node] >= 0)) {
			int at;

			router_find(r, node, root, 1);
			at = first_host(t, r->arc, r->arcs);
			at = at ? at : r->arcs;
			shape_attach(s, node, topo_arc_to(t, r->arc[at - 1]), r->arc, at);
			node = s->parent[node];
		}
	}
}

static void split_way(struct shape *s, struct router *r, const struct plan *p, int tree, bool down,
		      struct plan *q)
{
	shape_load(s, p, tree, down);
	/* The list grows by the hosts at which routes are split. */
	for (int i = 0; i < s->count; i++)
		if (s->list[i] != s->root)
			cut_route(s, s->list[i]);
	if (!shape_is_tree(s))
		follow_shortest(s, r);
	shape_emit(s, q, down);
}

bool plan_split_hosts(const struct topology *t, struct plan *p)
{
	struct shape *s;
	struct router *r;
	struct plan *q;

	if (!passes_host(t, p))
		return false;
	s = shape_new(t);
	r = router_new(t);
	q = plan_like(p);
	for (int k = 0; k < p->trees; k++) {
		build_tree(q, p->tree[k].root, p->tree[k].share);
		split_way(s, r, p, k, false, q);
		if (p->tree[k].downs > 0)
			split_way(s, r, p, k, true, q);
	}
	plan_take_trees(p, q);
	shape_free(s);
	router_free(r);
	return true;
}

double plan_rate(const struct topology *t, const struct plan *p)
{
	struct plan *split = NULL;
	struct plan_load load;
	double rate = 0;

	if (plan_measure(t, p, &load, NULL) != 0) {
		/* The router had to lead some routes through hosts: split them there. */
		split = plan_like(p);
		for (int k = 0; k < p->trees; k++)
			plan_copy_tree(split, p, k, p->tree[k].share);
		if (!plan_split_hosts(t, split) || plan_measure(t, split, &load, NULL) != 0)
			goto out;
	}
	rate = load.throughput;
	plan_load_free(&load);
out:
	plan_free(split);
	return rate;
}
