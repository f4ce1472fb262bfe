/*
 * Routes with few hops.
 */
#include "planner/router.h"

#include <math.h>
#include <stdlib.h>

#include "planner/mem.h"

/* Whether a node is a host with one link: its routes are those of its switch, plus that link. */
static bool is_end(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST && t->node[node].rack >= 0;
}

/* Lists the arcs between nodes that are not such hosts, in the order of t->out. */
static void list_arcs(struct router *r)
{
	const struct topology *t = r->t;
	int n = 0;

	r->first = mem_new((size_t)t->nodes + 1, sizeof(int));
	r->out = mem_new((size_t)t->links * 2, sizeof(int));
	r->place = mem_new((size_t)t->nodes, sizeof(int));
	for (int i = 0; i < t->nodes; i++) {
		r->first[i] = n;
		r->place[i] = -1;
		if (is_end(t, i))
			continue;
		r->place[i] = r->places++;
		for (int k = t->first[i]; k < t->first[i + 1]; k++)
			if (!is_end(t, topo_arc_to(t, t->out[k])))
				r->out[n++] = t->out[k];
	}
	r->first[t->nodes] = n;
}

struct router *router_new(const struct topology *t)
{
	struct router *r = mem_new(1, sizeof(*r));

	r->t = t;
	list_arcs(r);
	r->load = mem_new((size_t)t->links * 2, sizeof(double));
	r->hops = mem_new((size_t)r->places, sizeof(*r->hops));
	r->arc = mem_new((size_t)t->nodes + 1, sizeof(int));
	r->way = mem_new((size_t)t->nodes, sizeof(*r->way));
	r->queue = mem_new((size_t)t->nodes, sizeof(int));
	r->near_to = -1;
	r->near = mem_new((size_t)r->first[t->nodes], sizeof(int));
	r->nears = mem_new((size_t)t->nodes, sizeof(int));
	r->near_mark = mem_new((size_t)t->nodes, sizeof(int));
	return r;
}

void router_free(struct router *r)
{
	if (!r)
		return;
	for (int i = 0; i < r->places; i++)
		free(r->hops[i]);
	free(r->hops);
	free(r->first);
	free(r->out);
	free(r->place);
	free(r->load);
	free(r->arc);
	free(r->way);
	free(r->queue);
	free(r->near);
	free(r->nears);
	free(r->near_mark);
	free(r);
}

/* Whether a route may be cut at a node, if that is a host. */
static bool may_relay(const struct router *r, int node)
{
	return topo_may_merge(r->t, node, r->t->node[node].worker);
}

/*
 * Breadth-first search from the first `waiting` nodes in the queue, through switches and boxes; the
 * first step costs `extra` more. Returns the number of nodes reached for the first time.
 */
static int walk(const struct router *r, int *hops, int *queue, int waiting, int extra)
{
	const struct topology *t = r->t;
	int seeds = waiting;
	int reached = 0;

	for (int head = 0; head < waiting; head++) {
		int at = queue[head];

		for (int i = r->first[at]; i < r->first[at + 1]; i++) {
			int next = topo_arc_to(t, r->out[i]);

			if (hops[r->place[next]] >= 0)
				continue;
			hops[r->place[next]] = hops[r->place[at]] + 1 + (head < seeds ? extra : 0);
			reached++;
			if (t->node[next].kind != TOPO_HOST)
				queue[waiting++] = next;
		}
	}
	return reached;
}

/* Hops to one node; a host on the way costs as much as the number of nodes. */
static int *count_hops(const struct router *r, int to)
{
	int *hops = mem_new((size_t)r->places, sizeof(int));
	int *queue = mem_new((size_t)r->places * 2, sizeof(int));
	int left = r->places - 1;
	int waiting;
	int more;

	for (int i = 0; i < r->places; i++)
		hops[i] = -1;
	hops[r->place[to]] = 0;
	queue[0] = to;
	left -= walk(r, hops, queue, 1, 0);
	/*
	 * Nodes that can be reached only through hosts: each round lets the search pass hosts once
	 * more.
	 */
	for (more = 1; left > 0 && more > 0; left -= more) {
		waiting = 0;
		for (int i = 0; i < r->t->nodes; i++)
			if (r->place[i] >= 0 && hops[r->place[i]] >= 0 &&
			    r->t->node[i].kind == TOPO_HOST && may_relay(r, i))
				queue[waiting++] = i;
		more = walk(r, hops, queue, waiting, r->t->nodes);
	}
	free(queue);
	return hops;
}

/* Hops between two nodes that are not hosts with one link. */
static int core_hops(struct router *r, int from, int to)
{
	int **hops = &r->hops[r->place[to]];

	if (!*hops)
		*hops = count_hops(r, to);
	return (*hops)[r->place[from]];
}

/* The node itself, or the switch of a host with one link. */
static int core_of(const struct router *r, int node)
{
	return r->place[node] < 0 ? r->t->node[node].rack : node;
}

int router_hops(struct router *r, int from, int to)
{
	if (from == to)
		return 0;
	return (r->place[from] < 0) + (r->place[to] < 0) +
	       core_hops(r, core_of(r, from), core_of(r, to));
}

/*
 * Hops from the far end of an arc, including the extra cost if that end is a host on the way; -1:
 * no route leads there.
 */
static int hops_behind(const struct router *r, int arc, int to, const int *hops)
{
	int next = topo_arc_to(r->t, arc);
	bool through = r->t->node[next].kind == TOPO_HOST && next != to;

	if (through && !may_relay(r, next))
		return -1;
	return hops[r->place[next]] + (through ? r->t->nodes : 0);
}

/*
 * The arcs of a node that lead to its neighbours with the fewest hops. Consecutive routes to the
 * same node compute them once: a spine has an arc to every leaf.
 */
static const int *find_near(struct router *r, int at, int to)
{
	const int *hops = r->hops[r->place[to]];
	int fewest = hops[r->place[at]] - 1;
	int *near = r->near + r->first[at];

	if (r->near_to != to) {
		r->near_to = to;
		r->near_round++;
	}
	if (r->near_mark[at] == r->near_round)
		return near;
	r->near_mark[at] = r->near_round;
	r->nears[at] = 0;
	/* The last hop: a host has fewer links than its switch. Both lists follow the links. */
	for (int i = r->first[to]; i < r->first[to + 1] && fewest == 0; i++)
		if (topo_arc_to(r->t, r->out[i]) == at)
			near[r->nears[at]++] = r->out[i] ^ 1;
	for (int i = r->first[at]; i < r->first[at + 1] && fewest > 0; i++)
		if (hops_behind(r, r->out[i], to, hops) == fewest)
			near[r->nears[at]++] = r->out[i];
	return near;
}

/* Extends the best route of a node to its neighbours with the fewest hops. */
static int spread(struct router *r, int at, int to, double weight, int waiting)
{
	const struct topology *t = r->t;
	const struct router_way *here = &r->way[at];
	const int *near = find_near(r, at, to);

	for (int i = 0; i < r->nears[at]; i++) {
		int arc = near[i];
		struct router_way *way = &r->way[topo_arc_to(t, arc)];
		double load, worst;

		load = (r->load[arc] + weight) / topo_arc_capacity(t, arc);
		worst = fmax(here->worst, load);
		if (way->mark != r->mark)
			r->queue[waiting++] = topo_arc_to(t, arc);
		else if (worst > way->worst ||
			 (!(worst < way->worst) && here->sum + load >= way->sum))
			continue;
		*way = (struct router_way){r->mark, arc, worst, here->sum + load};
	}
	return waiting;
}

/* Appends the route between two nodes that are not hosts with one link to r->arc. */
static void find_core(struct router *r, int from, int to, double weight, double first)
{
	int begin = r->arcs;
	int waiting = 1;

	core_hops(r, from, to);
	r->mark++;
	r->way[from] = (struct router_way){r->mark, -1, first, first};
	r->queue[0] = from;
	/*
	 * All routes to a node have the same number of hops, so its best route is known when its
	 * turn comes.
	 */
	for (int head = 0; head < waiting && r->queue[head] != to; head++)
		waiting = spread(r, r->queue[head], to, weight, waiting);
	for (int at = to; at != from; at = topo_arc_from(r->t, r->way[at].via))
		r->arc[r->arcs++] = r->way[at].via;
	for (int i = begin, k = r->arcs - 1; i < k; i++, k--) {
		int swap = r->arc[i];

		r->arc[i] = r->arc[k];
		r->arc[k] = swap;
	}
}

void router_find(struct router *r, int from, int to, double weight)
{
	const struct topology *t = r->t;
	double first = 0;

	r->arcs = 0;
	if (from != to && r->place[from] < 0) {
		int arc = t->out[t->first[from]];

		r->arc[r->arcs++] = arc;
		first = (r->load[arc] + weight) / topo_arc_capacity(t, arc);
	}
	if (from != to)
		find_core(r, core_of(r, from), core_of(r, to), weight, first);
	if (from != to && r->place[to] < 0)
		r->arc[r->arcs++] = t->out[t->first[to]] ^ 1;
	for (int i = 0; i < r->arcs; i++)
		r->load[r->arc[i]] += weight;
}
