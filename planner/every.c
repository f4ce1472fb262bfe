/*
 * Lists all trees of a tiny network: over all workers and every choice of other nodes that may
 * merge, for each root that makes a difference. Trees over n labelled nodes are listed by their
 * Pruefer sequences of length n - 2 (H. Pruefer, Neuer Beweis eines Satzes ueber Permutationen,
 * 1918).
 */
#include <math.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/mem.h"

#define EVERY_MOST 3000 /* limit of trees in a pool with all trees */
#define EVERY_NODES 7   /* terminals up to which trees are counted at all */

/* Decodes a Pruefer sequence over n nodes: the parent of each node on the way to node n - 1. */
static void decode(const int *code, int n, int *parent)
{
	int degree[EVERY_NODES];
	bool gone[EVERY_NODES] = {false};

	for (int i = 0; i < n; i++)
		degree[i] = 1;
	for (int i = 0; i < n - 2; i++)
		degree[code[i]]++;
	for (int i = 0; i < n - 1; i++) {
		int leaf = 0;
		int to = i < n - 2 ? code[i] : n - 1;

		while (gone[leaf] || degree[leaf] != 1 || leaf == to)
			leaf++;
		parent[leaf] = to;
		gone[leaf] = true;
		degree[leaf]--;
		degree[to]--;
	}
	parent[n - 1] = -1;
}

struct every {
	const struct topology *t;
	struct limits_fit *f;
	struct plan *pool;
	int node[EVERY_NODES]; /* terminals of the current set; the root is the last */
	int n;
};

/*
 * Whether every box has at least three edges, and every host without data, except the root, two:
 * with fewer a box merges nothing, and a host does not even relay.
 */
static bool is_useful(const struct every *x, const int *parent)
{
	int degree[EVERY_NODES] = {0};

	for (int i = 0; i < x->n - 1; i++) {
		degree[i]++;
		degree[parent[i]]++;
	}
	for (int i = 0; i < x->n; i++) {
		int node = x->node[i];
		int least = topo_forwards(x->t, node) ? 3 : 2;

		if (topo_is_optional(x->t, node) && degree[i] < least &&
		    (i < x->n - 1 || topo_forwards(x->t, node)))
			return false;
	}
	return true;
}

static void add_every_tree(struct every *x)
{
	struct shape *s = x->f->s;
	int code[EVERY_NODES] = {0};
	int parent[EVERY_NODES];
	int at = 0;

	do {
		decode(code, x->n, parent);
		if (is_useful(x, parent)) {
			struct plan *one = plan_like(x->pool);

			shape_begin(s, x->node[x->n - 1]);
			for (int i = 0; i < x->n - 1; i++)
				shape_route(s, x->f->r, x->node[i], x->node[parent[i]], 1);
			build_tree(one, s->root, 1);
			shape_emit(s, one, false);
			if (!one->reduce_only)
				build_mirror(one);
			if (!plan_split_hosts(x->t, one) && limits_check(x->t, one, NULL) == 0)
				limits_fit_tree(x->f, one, 0, x->pool, 1);
			plan_free(one);
		}
		for (at = 0; at < x->n - 2 && ++code[at] == x->n; at++)
			code[at] = 0;
	} while (at < x->n - 2);
}

static double trees_of(int n)
{
	return n < 3 ? 1 : pow(n, n - 2);
}

/* Lists the optional nodes except one; returns their number, more than EVERY_NODES: too many. */
static int list_options(const struct topology *t, bool merging, int root, int *option)
{
	int n = 0;

	for (int i = 0; i < t->nodes && merging && n <= EVERY_NODES; i++) {
		if (i == root || !topo_is_optional(t, i))
			continue;
		if (n < EVERY_NODES)
			option[n] = i;
		n++;
	}
	return n;
}

/* All trees with one root over the workers and every choice of the options. */
static void add_every_choice(struct every *x, int root, const int *option, int options)
{
	const struct topology *t = x->t;

	for (int set = 0; set < 1 << options; set++) {
		x->n = 0;
		for (int i = 0; i < t->workers; i++)
			if (t->worker[i] != root)
				x->node[x->n++] = t->worker[i];
		for (int i = 0; i < options; i++)
			if (set >> i & 1)
				x->node[x->n++] = option[i];
		x->node[x->n++] = root;
		add_every_tree(x);
	}
}

bool limits_every_tree(const struct topology *t, struct limits_fit *f, struct plan *pool,
		       bool merging)
{
	int *root = mem_new((size_t)t->nodes, sizeof(int));
	int option[EVERY_NODES];
	int roots = 1;
	int options;
	double all = 0;
	struct every x = {.t = t, .f = f, .pool = pool};

	root[0] = t->worker[0];
	if (pool->reduce_only)
		roots = topo_roots(t, root);
	options = list_options(t, merging, root[0], option);
	for (int set = 0; options <= EVERY_NODES && set < 1 << options; set++)
		all += trees_of(t->workers + 1 + __builtin_popcount((unsigned int)set));
	if (t->workers + 1 + options > EVERY_NODES || all * roots > EVERY_MOST) {
		free(root);
		return false;
	}
	for (int r = 0; r < roots; r++) {
		options = list_options(t, merging, root[r], option);
		add_every_choice(&x, root[r], option, options);
	}
	free(root);
	return true;
}
