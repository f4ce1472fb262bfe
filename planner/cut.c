/* Maximum flows (Dinic) and the cut bound. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/mem.h"
#include "planner/work.h"

/* State of a maximum flow computation. */
struct flow {
	const struct topology *t;
	double *rest, *capacity; /* of arcs */
	int *level, *next, *queue, *path;
};

static struct flow *flow_new(const struct topology *t)
{
	struct flow *f = mem_new(1, sizeof(*f));

	f->t = t;
	f->rest = mem_new((size_t)t->links * 2, sizeof(double));
	f->capacity = mem_new((size_t)t->links * 2, sizeof(double));
	f->level = mem_new((size_t)t->nodes, sizeof(int));
	f->next = mem_new((size_t)t->nodes, sizeof(int));
	f->queue = mem_new((size_t)t->nodes, sizeof(int));
	f->path = mem_new((size_t)t->nodes + 1, sizeof(int));
	return f;
}

static void flow_free(struct flow *f)
{
	free(f->rest);
	free(f->capacity);
	free(f->level);
	free(f->next);
	free(f->queue);
	free(f->path);
	free(f);
}

/*
 * Whether an arc is used up, apart from rounding. A flow along a path makes at least one arc
 * exactly 0, so the search would end even without this tolerance.
 */
static bool is_full(const struct flow *f, int arc)
{
	return f->rest[arc] <= 4e-16 * (f->capacity[arc] + f->capacity[arc ^ 1]);
}

/* Computes the levels from the source; returns the first marked node found, or -1. */
static int find_levels(struct flow *f, int from, const bool *to)
{
	const struct topology *t = f->t;
	int tail = 0;

	for (int i = 0; i < t->nodes; i++)
		f->level[i] = -1;
	f->level[from] = 0;
	f->queue[tail++] = from;
	for (int head = 0; head < tail; head++) {
		int at = f->queue[head];

		if (to[at])
			return at;
		for (int i = t->first[at]; i < t->first[at + 1]; i++) {
			int next = topo_arc_to(t, t->out[i]);

			if (f->level[next] >= 0 || is_full(f, t->out[i]))
				continue;
			f->level[next] = f->level[at] + 1;
			f->queue[tail++] = next;
		}
	}
	return -1;
}

/* Augments along one path of rising levels and returns the amount; 0: there is none left. */
static double augment(struct flow *f, int from, const bool *to)
{
	const struct topology *t = f->t;
	double most = INFINITY;
	int at = from;
	int n = 0;

	while (!to[at]) {
		int arc = -1;

		for (; f->next[at] < t->first[at + 1]; f->next[at]++) {
			arc = t->out[f->next[at]];
			if (!is_full(f, arc) && f->level[topo_arc_to(t, arc)] == f->level[at] + 1)
				break;
		}
		if (f->next[at] < t->first[at + 1]) {
			f->path[n++] = arc;
			at = topo_arc_to(t, arc);
			continue;
		}
		if (n == 0)
			return 0;
		at = topo_arc_from(t, f->path[--n]);
		f->next[at]++;
	}
	for (int i = 0; i < n; i++)
		most = fmin(most, f->rest[f->path[i]]);
	for (int i = 0; i < n; i++) {
		f->rest[f->path[i]] -= most;
		f->rest[f->path[i] ^ 1] += most;
	}
	return most;
}

/*
 * Maximum flow from a node to the marked nodes, computed until it reaches `enough`. capacity: of
 * arcs; NULL: the topology's.
 */
static double flow_find(struct flow *f, int from, const bool *to, const double *capacity,
			double enough)
{
	const struct topology *t = f->t;
	double sum = 0;

	for (int arc = 0; arc < 2 * t->links; arc++) {
		f->capacity[arc] = capacity ? capacity[arc] : topo_arc_capacity(t, arc);
		f->rest[arc] = f->capacity[arc];
	}
	if (to[from])
		return INFINITY;
	while (sum < enough && find_levels(f, from, to) >= 0) {
		double more;

		memcpy(f->next, t->first, (size_t)t->nodes * sizeof(int));
		do {
			more = augment(f, from, to);
			sum += more;
		} while (more > 0 && sum < enough);
	}
	return sum;
}

/* The node where a worker's flows are computed: its switch if it has only one link. */
static int anchor(const struct topology *t, int worker)
{
	return t->node[worker].rack >= 0 ? t->node[worker].rack : worker;
}

/*
 * The least capacity among the links of workers that have only one: it limits their flows. The
 * flows of their switches are then computed once for all workers of a switch.
 */
static double least_link(const struct topology *t, bool reduce_only)
{
	double least = INFINITY;

	for (int i = 0; i < t->workers; i++) {
		int w = t->worker[i];

		if (anchor(t, w) == w || (reduce_only && t->node[w].server))
			continue;
		least = fmin(least, topo_arc_capacity(t, t->out[t->first[w]]));
		if (!reduce_only)
			least = fmin(least, topo_arc_capacity(t, t->out[t->first[w]] ^ 1));
	}
	return least;
}

/* The least flow from a worker to all roots together. */
static double cut_to_roots(struct flow *f, bool *to, bool *done)
{
	const struct topology *t = f->t;
	int *list = mem_new((size_t)t->nodes, sizeof(int));
	double bound = least_link(t, true);
	int n = topo_roots(t, list);

	for (int i = 0; i < n; i++)
		to[list[i]] = true;
	for (int i = 0; i < t->workers; i++) {
		int from = anchor(t, t->worker[i]);

		if (to[t->worker[i]] || done[from])
			continue;
		done[from] = true;
		bound = fmin(bound, flow_find(f, from, to, NULL, bound));
	}
	free(list);
	return bound;
}

double bound_cut(const struct topology *t, bool reduce_only)
{
	return bound_cut_until(t, reduce_only, INFINITY);
}

double bound_cut_until(const struct topology *t, bool reduce_only, double until)
{
	struct flow *f = flow_new(t);
	bool *to = mem_new((size_t)t->nodes, sizeof(bool));
	bool *done = mem_new((size_t)t->nodes, sizeof(bool));
	double bound = least_link(t, false);
	int first = t->workers > 0 ? anchor(t, t->worker[0]) : 0;

	if (reduce_only)
		bound = cut_to_roots(f, to, done);
	done[first] = true;
	for (int i = 1; i < t->workers && !reduce_only; i++) {
		int other = anchor(t, t->worker[i]);

		if (done[other])
			continue;
		if (!isinf(until) && work_clock() > until)
			break;
		done[other] = true;
		for (int way = 0; way < 2; way++) {
			int end = way ? other : first;

			to[end] = true;
			bound = fmin(bound, flow_find(f, way ? first : other, to, NULL, bound));
			to[end] = false;
		}
	}
	flow_free(f);
	free(to);
	free(done);
	return bound;
}
