/*
 * The schemes for parameter servers: ps, switchml and atp-bom.
 */
#include "planner/servers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/heap.h"
#include "planner/mem.h"
#include "planner/racks.h"
#include "planner/router.h"
#include "planner/schemes.h"
#include "planner/shape.h"

int servers_choose(const struct topology *t)
{
	int best = -1;

	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_HOST && t->node[i].server &&
		    (best < 0 || topo_ingress(t, i) > topo_ingress(t, best)))
			best = i;
	for (int i = 0; i < t->workers && (best < 0 || !t->node[best].server); i++)
		if (best < 0 || topo_ingress(t, t->worker[i]) > topo_ingress(t, best))
			best = t->worker[i];
	return best;
}

int *servers_list(const struct topology *t, int *count)
{
	int *list = mem_new((size_t)t->nodes, sizeof(int));

	*count = 0;
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_HOST && t->node[i].server)
			list[(*count)++] = i;
	if (*count == 0)
		list[(*count)++] = servers_choose(t);
	return list;
}

void servers_merge_once(struct plan *p, const struct topology *t, struct router *r, int server,
			const int *at, double share)
{
	int *inputs = mem_new((size_t)t->nodes, sizeof(int));

	build_tree(p, server, share);
	for (int i = 0; i < t->workers; i++)
		if (at[i] >= 0 && t->worker[i] != server)
			inputs[at[i]]++;
	for (int i = 0; i < t->workers; i++) {
		bool merges = at[i] >= 0 && inputs[at[i]] > 1;

		if (t->worker[i] != server)
			build_routed(p, r, false, t->worker[i], merges ? at[i] : server, share);
	}
	for (int i = 0; i < t->boxes; i++)
		if (inputs[t->box[i]] > 1)
			build_routed(p, r, false, t->box[i], server, share);
	build_mirror(p);
	free(inputs);
}

/* --- routes other than the shortest ----------------------------------------------------------- */

struct spreader {
	const struct topology *t;
	struct plan *p;
	double *load; /* by arc: both ways of all trees */
	double *distance;
	int *from_arc;
	int *route;
	struct heap heap;
	double worst;
};

static double find_load(struct spreader *s)
{
	const struct topology *t = s->t;

	memset(s->load, 0, (size_t)t->links * 2 * sizeof(double));
	for (int k = 0; k < s->p->trees; k++) {
		const struct plan_tree *tree = &s->p->tree[k];

		for (int i = 0; i < tree->ups; i++) {
			const struct plan_edge *e = &s->p->edge[tree->up_first + i];

			for (int j = 0; j < e->arcs; j++) {
				s->load[s->p->route[e->first + j]] += tree->share;
				s->load[s->p->route[e->first + j] ^ 1] += tree->share;
			}
		}
	}
	s->worst = 0;
	for (int arc = 0; arc < 2 * t->links; arc++)
		s->worst = fmax(s->worst, s->load[arc] / topo_arc_capacity(t, arc));
	return s->worst;
}

/*
 * The price of an arc for a stream of that weight: very low unless the arc is among the most
 * loaded.
 */
static double arc_price(const struct spreader *s, int arc, double weight)
{
	double full = (s->load[arc] + weight) / topo_arc_capacity(s->t, arc) / s->worst;

	return 1e-6 + pow(full, 16);
}

/* Finds the cheapest route of an edge, in s->route; returns the number of its arcs. */
static int find_way(struct spreader *s, const struct plan_edge *e, double weight)
{
	const struct topology *t = s->t;
	int n = 0;

	for (int i = 0; i < t->nodes; i++)
		s->distance[i] = INFINITY;
	s->heap.count = 0;
	s->distance[e->to] = 0;
	heap_push(&s->heap, 0, e->to);
	while (s->heap.count > 0) {
		struct heap_entry top = heap_pop(&s->heap);

		if (top.node == e->from)
			break;
		if (top.key > s->distance[top.node] ||
		    (top.node != e->to && t->node[top.node].kind == TOPO_HOST))
			continue;
		for (int i = t->first[top.node]; i < t->first[top.node + 1]; i++) {
			int arc = t->out[i] ^ 1;
			int next = topo_arc_from(t, arc);
			double d =
				top.key + arc_price(s, arc, weight) + arc_price(s, arc ^ 1, weight);

			if (d >= s->distance[next])
				continue;
			s->distance[next] = d;
			s->from_arc[next] = arc;
			heap_push(&s->heap, d, next);
		}
	}
	if (isinf(s->distance[e->from]))
		return 0;
	for (int at = e->from; at != e->to; at = topo_arc_to(t, s->from_arc[at]))
		s->route[n++] = s->from_arc[at];
	return n;
}

static void put_load(struct spreader *s, const int *arc, int n, double weight)
{
	for (int i = 0; i < n; i++) {
		s->load[arc[i]] += weight;
		s->load[arc[i] ^ 1] += weight;
	}
}

/* One round over all edges; returns a new plan. */
static struct plan *spread_once(struct spreader *s)
{
	struct plan *p = build_plan(s->p->scheme);

	for (int k = 0; k < s->p->trees; k++) {
		const struct plan_tree *tree = &s->p->tree[k];

		build_tree(p, tree->root, tree->share);
		for (int i = 0; i < tree->ups; i++) {
			const struct plan_edge *e = &s->p->edge[tree->up_first + i];
			int *old = s->p->route + e->first;
			int n;

			put_load(s, old, e->arcs, -tree->share);
			n = find_way(s, e, tree->share);
			if (n == 0) {
				n = e->arcs;
				memcpy(s->route, old, (size_t)n * sizeof(int));
			}
			put_load(s, s->route, n, tree->share);
			build_edge(p, false, e->from, e->to, s->route, n);
		}
		build_mirror(p);
	}
	return p;
}

/*
 * Chooses the routes again, one by one, to reduce the load of the most loaded link; the way down
 * mirrors the way up.
 */
static struct plan *spread_routes(const struct topology *t, struct plan *p)
{
	struct spreader s = {.t = t, .p = p};

	s.load = mem_new((size_t)t->links * 2, sizeof(double));
	s.distance = mem_new((size_t)t->nodes, sizeof(double));
	s.from_arc = mem_new((size_t)t->nodes, sizeof(int));
	s.route = mem_new((size_t)t->nodes, sizeof(int));
	for (int k = 0; k < 4; k++) {
		double before = find_load(&s);
		struct plan *old = s.p;

		s.p = spread_once(&s);
		if (find_load(&s) < before * (1 - 1e-9)) {
			plan_free(old);
			continue;
		}
		plan_free(s.p);
		s.p = old;
		break;
	}
	free(s.load);
	free(s.distance);
	free(s.from_arc);
	free(s.route);
	free(s.heap.entry);
	return s.p;
}

/* --- merging at the server, merging at racks -------------------------------------------------- */

/* Where every worker merges: at the box of its rack, or nowhere (-1). */
static void rack_boxes(const struct topology *t, const struct racks *k, int *at)
{
	int *rack_of = mem_new((size_t)t->nodes, sizeof(int));

	for (int q = 0; q < k->count; q++)
		for (int i = k->first[q]; i < k->first[q + 1]; i++)
			rack_of[k->member[i]] = q;
	for (int i = 0; i < t->workers; i++)
		at[i] = k->box[rack_of[t->worker[i]]];
	free(rack_of);
}

static struct plan *merge_at_racks(const struct topology *t, const char *name, bool racks)
{
	struct plan *p = build_plan(name);
	struct router *r = router_new(t);
	struct racks *k = racks_new(t);
	int *at = mem_new((size_t)t->workers, sizeof(int));
	int servers;
	int *server = servers_list(t, &servers);

	rack_boxes(t, k, at);
	for (int i = 0; i < t->workers && !racks; i++)
		at[i] = -1;
	for (int s = 0; s < servers; s++)
		servers_merge_once(p, t, r, server[s], at, 1.0 / servers);
	free(server);
	free(at);
	racks_free(k);
	router_free(r);
	return p;
}

struct plan *scheme_ps(const struct topology *t, const struct scheme_options *o,
		       struct topo_error *e)
{
	(void)o;
	(void)e;
	return spread_routes(t, merge_at_racks(t, "ps", false));
}

struct plan *scheme_switchml(const struct topology *t, const struct scheme_options *o,
			     struct topo_error *e)
{
	(void)o;
	if (t->boxes > 0)
		return merge_at_racks(t, "switchml", true);
	topo_refuse(e, -1, -1, "switchml needs a box");
	return NULL;
}

/* Streams of racks, and of workers without one, merge once more at the box of the server's rack. */
static void merge_twice(struct plan *p, const struct topology *t, struct router *r, int server,
			const int *at, double share)
{
	int last = racks_box_at(t, t->node[server].rack);
	int *inputs = mem_new((size_t)t->nodes, sizeof(int));

	build_tree(p, server, share);
	for (int i = 0; i < t->workers; i++)
		if (t->worker[i] != server)
			inputs[at[i] >= 0 ? at[i] : server]++;
	for (int i = 0; i < t->workers; i++)
		if (t->worker[i] != server)
			build_routed(p, r, false, t->worker[i],
				     at[i] >= 0 && inputs[at[i]] > 1 ? at[i]
				     : last >= 0                     ? last
								     : server,
				     share);
	for (int i = 0; i < t->boxes; i++)
		if (inputs[t->box[i]] > 1 && t->box[i] != last)
			build_routed(p, r, false, t->box[i], last >= 0 ? last : server, share);
	if (last >= 0)
		build_routed(p, r, false, last, server, share);
	build_mirror(p);
	free(inputs);
}

struct plan *scheme_atp_bom(const struct topology *t, const struct scheme_options *o,
			    struct topo_error *e)
{
	struct plan *p;
	struct router *r;
	struct racks *k;
	int *at, *server;
	int servers;

	(void)o;
	if (t->boxes == 0) {
		topo_refuse(e, -1, -1, "atp-bom needs a box");
		return NULL;
	}
	p = build_plan("atp-bom");
	r = router_new(t);
	k = racks_new(t);
	at = mem_new((size_t)t->workers, sizeof(int));
	server = servers_list(t, &servers);
	rack_boxes(t, k, at);
	for (int s = 0; s < servers; s++)
		merge_twice(p, t, r, server[s], at, 1.0 / servers);
	free(server);
	free(at);
	racks_free(k);
	router_free(r);
	return p;
}
