#include "tests/unit/planner_forest.h"

#include <stdlib.h>
#include <string.h>

static int below(uint64_t *random, int n)
{
	return (int)(topo_random(random) % (uint64_t)n);
}

int forest_edge(const struct topology *t, struct plan *p, bool down, int from, int to,
		uint64_t *random)
{
	int *far = malloc((size_t)t->nodes * sizeof(int));
	int *queue = malloc((size_t)t->nodes * sizeof(int));
	int route[256];
	int n = 0;
	int head = 0;
	int tail = 0;
	int rc = -1;

	if (!far || !queue)
		goto out;
	for (int i = 0; i < t->nodes; i++)
		far[i] = -1;
	far[to] = 0;
	queue[tail++] = to;
	while (head < tail && far[from] < 0) {
		int at = queue[head++];

		for (int i = t->first[at]; i < t->first[at + 1]; i++) {
			int next = topo_arc_to(t, t->out[i]);

			if (far[next] >= 0)
				continue;
			far[next] = far[at] + 1;
			if (t->node[next].kind != TOPO_HOST)
				queue[tail++] = next;
		}
	}
	if (far[from] < 0)
		goto out;
	for (int at = from; at != to && n < 256;) {
		int found = 0;

		for (int i = t->first[at]; i < t->first[at + 1]; i++) {
			int next = topo_arc_to(t, t->out[i]);
			bool through = next == to || t->node[next].kind != TOPO_HOST;

			if (through && far[next] == far[at] - 1 && below(random, ++found) == 0)
				route[n] = t->out[i];
		}
		at = topo_arc_to(t, route[n++]);
	}
	rc = plan_add_edge(p, down, from, to, route, n);
out:
	free(far);
	free(queue);
	return rc;
}

/*
 * Attaches every node of the list, except the first, to an earlier one; boxes without a child are
 * left out.
 */
static int one_way(const struct topology *t, struct plan *p, bool down, const int *list, int n,
		   uint64_t *random)
{
	int *parent = calloc((size_t)n, sizeof(int));
	int *children = calloc((size_t)n, sizeof(int));
	int rc = parent && children ? 0 : -1;

	for (int i = 1; i < n && rc == 0; i++)
		parent[i] = below(random, i);
	for (int i = n - 1; i > 0 && rc == 0; i--) {
		if (children[i] == 0 && t->node[list[i]].kind != TOPO_HOST) {
			parent[i] = -1;
			continue;
		}
		children[parent[i]]++;
	}
	for (int i = 1; i < n && rc == 0; i++) {
		if (parent[i] < 0)
			continue;
		rc = down ? forest_edge(t, p, true, list[parent[i]], list[i], random)
			  : forest_edge(t, p, false, list[i], list[parent[i]], random);
	}
	free(parent);
	free(children);
	return rc;
}

static int random_tree(const struct topology *t, struct plan *p, double share, uint64_t *random)
{
	int *list = malloc((size_t)t->nodes * sizeof(int));
	int n = 0;
	int rc = -1;

	if (!list)
		return -1;
	for (int i = 0; i < t->workers; i++)
		list[n++] = t->worker[i];
	for (int i = 0; i < t->boxes; i++)
		if (topo_random(random) & 1)
			list[n++] = t->box[i];
	for (int i = n - 1; i > 0; i--) {
		int j = below(random, i + 1);
		int swap = list[i];

		list[i] = list[j];
		list[j] = swap;
	}
	if (plan_add_tree(p, list[0], share) != 0 || one_way(t, p, false, list, n, random) != 0)
		goto out;
	if (p->reduce_only)
		rc = 0;
	else if (topo_random(random) & 1)
		rc = plan_mirror(p);
	else
		rc = one_way(t, p, true, list, n, random);
out:
	free(list);
	return rc;
}

static struct plan *measured(const struct topology *t, struct plan *p)
{
	struct plan_load load;

	if (!p || plan_measure(t, p, &load, NULL) != 0) {
		plan_free(p);
		return NULL;
	}
	p->throughput = load.throughput;
	p->steps = load.steps;
	plan_load_free(&load);
	return p;
}

struct plan *forest_random(const struct topology *t, int trees, bool reduce_only, uint64_t *random)
{
	struct plan *p = plan_new("random");
	double left = 1;

	if (!p)
		return NULL;
	p->reduce_only = reduce_only;
	for (int i = 0; i < trees; i++) {
		double share = i == trees - 1 ? left : left * (0.1 + 0.8 * topo_uniform(random));

		if (random_tree(t, p, share, random) != 0) {
			plan_free(p);
			return NULL;
		}
		left -= share;
	}
	return measured(t, p);
}

struct plan *forest_ring(const struct topology *t)
{
	struct plan *p = plan_new("ring");
	uint64_t random = 1;
	int n = t->workers;

	for (int r = 0; r < n && p; r++) {
		int rc = plan_add_tree(p, t->worker[r], 1.0 / n);

		for (int i = 1; i < n && rc == 0; i++)
			rc = forest_edge(t, p, false, t->worker[(r + i) % n],
					 t->worker[(r + i + 1) % n], &random);
		for (int i = 0; i < n - 1 && rc == 0; i++)
			rc = forest_edge(t, p, true, t->worker[(r + i) % n],
					 t->worker[(r + i + 1) % n], &random);
		if (rc != 0) {
			plan_free(p);
			p = NULL;
		}
	}
	return measured(t, p);
}

struct plan *forest_star(const struct topology *t, int root)
{
	struct plan *p = plan_new("star");
	uint64_t random = 1;
	int rc = p ? plan_add_tree(p, root, 1) : -1;

	for (int i = 0; i < t->workers && rc == 0; i++)
		if (t->worker[i] != root)
			rc = forest_edge(t, p, false, t->worker[i], root, &random);
	if (rc != 0 || plan_mirror(p) != 0) {
		plan_free(p);
		return NULL;
	}
	return measured(t, p);
}

/* toward[n]: the arc from n towards the root; lists the nodes in the order of their distance. */
static int find_ways(const struct topology *t, int root, int *toward, int *queue)
{
	int head = 0;
	int tail = 0;

	for (int i = 0; i < t->nodes; i++)
		toward[i] = -1;
	queue[tail++] = root;
	while (head < tail) {
		int at = queue[head++];

		for (int i = t->first[at]; i < t->first[at + 1]; i++) {
			int next = topo_arc_to(t, t->out[i]);

			if (next == root || toward[next] >= 0)
				continue;
			toward[next] = t->out[i] ^ 1;
			queue[tail++] = next;
		}
	}
	return tail;
}

/* Adds an edge for each node that has data of its own or of others; it passes plain switches. */
static int attach(const struct topology *t, struct plan *p, int root, const int *toward,
		  const int *queue, int reached)
{
	bool *needed = calloc((size_t)t->nodes, sizeof(bool));
	int rc = needed ? 0 : -1;

	for (int i = reached - 1; i > 0 && rc == 0; i--) {
		int from = queue[i];
		int at = from;
		int route[64];
		int n = 0;

		if (t->node[from].kind == TOPO_SWITCH ||
		    (!needed[from] && !(t->node[from].kind == TOPO_HOST && t->node[from].worker)))
			continue;
		do {
			route[n++] = toward[at];
			at = topo_arc_to(t, toward[at]);
		} while (at != root && t->node[at].kind != TOPO_BOX && n < 64);
		needed[at] = true;
		rc = plan_add_edge(p, false, from, at, route, n);
	}
	free(needed);
	return rc;
}

struct plan *forest_shortest(const struct topology *t, int root)
{
	struct plan *p = plan_new("shortest");
	int *toward = malloc((size_t)t->nodes * sizeof(int));
	int *queue = malloc((size_t)t->nodes * sizeof(int));
	int rc = p && toward && queue ? plan_add_tree(p, root, 1) : -1;

	if (rc == 0)
		rc = attach(t, p, root, toward, queue, find_ways(t, root, toward, queue));
	if (rc == 0)
		rc = plan_mirror(p);
	free(toward);
	free(queue);
	if (rc == 0)
		return measured(t, p);
	plan_free(p);
	return NULL;
}

struct plan *forest_copy(const struct plan *p)
{
	struct plan *c = plan_new(p->scheme);

	if (!c)
		return NULL;
	c->reduce_only = p->reduce_only;
	c->throughput = p->throughput;
	c->chunks = p->chunks;
	c->steps = p->steps;
	for (int i = 0; i < p->trees; i++) {
		const struct plan_tree *tree = &p->tree[i];

		if (plan_add_tree(c, tree->root, tree->share) != 0)
			goto failed;
		c->tree[i].chunks = tree->chunks;
		for (int k = 0; k < tree->ups + tree->downs; k++) {
			bool down = k >= tree->ups;
			const struct plan_edge *e = &p->edge[down ? tree->down_first + k - tree->ups
								  : tree->up_first + k];

			if (plan_add_edge(c, down, e->from, e->to, p->route + e->first, e->arcs))
				goto failed;
		}
	}
	return c;
failed:
	plan_free(c);
	return NULL;
}
