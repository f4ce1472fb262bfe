/* Cuts trees to the limits of boxes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/master.h"

static bool is_box(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_BOX;
}

/* --- ports ------------------------------------------------------------------------------------ */

/*
 * Chooses the links that a box uses: those that are held, then the link over which most of its sums
 * leave, then those that carry most.
 */
static bool *choose_ports(const struct topology *t, const double *up, const double *all, int node)
{
	int links = t->first[node + 1] - t->first[node];
	bool *port = mem_new((size_t)links, sizeof(bool));
	const double *weight = up;
	int held = 0;

	for (int i = 0; i < links; i++) {
		port[i] = topo_arc_held(t, t->out[t->first[node] + i]);
		held += port[i];
	}
	for (int n = held; n < topo_ports(t, node); n++) {
		int best = -1;

		for (int i = 0; i < links; i++) {
			int arc = t->out[t->first[node] + i];

			if (!port[i] &&
			    (best < 0 || weight[arc] > weight[t->out[t->first[node] + best]]))
				best = i;
		}
		port[best] = true;
		weight = all;
	}
	return port;
}

static void find_ports(struct limits_fit *f, const struct plan *p)
{
	const struct topology *t = f->t;
	double *up = mem_new((size_t)t->links * 2, sizeof(double));
	double *all = mem_new((size_t)t->links * 2, sizeof(double));

	for (int k = 0; k < p->trees; k++) {
		const struct plan_tree *tree = &p->tree[k];

		for (int i = 0; i < tree->ups + tree->downs; i++) {
			const struct plan_edge *e = &p->edge[tree->up_first + i];
			int first = p->route[e->first];
			int last = p->route[e->first + e->arcs - 1];

			if (i < tree->ups)
				up[first] += tree->share;
			all[first] += tree->share;
			all[last ^ 1] += tree->share;
		}
	}
	for (int i = 0; i < t->boxes; i++) {
		int node = t->box[i];

		if (topo_ports(t, node) < t->first[node + 1] - t->first[node])
			f->port[node] = choose_ports(t, up, all, node);
	}
	free(up);
	free(all);
}

/* Whether a box may use the link of an arc that leaves or enters it. */
static bool has_port(const struct limits_fit *f, int node, int arc)
{
	const struct topology *t = f->t;

	if (!f->port[node])
		return true;
	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		if (t->out[i] >> 1 == arc >> 1)
			return f->port[node][i - t->first[node]];
	return false;
}

struct limits_fit *limits_fit_new(const struct topology *t, const struct plan *p)
{
	struct limits_fit *f = mem_new(1, sizeof(*f));

	f->t = t;
	f->r = router_new(t);
	f->s = shape_new(t);
	f->port = mem_new((size_t)t->nodes, sizeof(*f->port));
	f->allowed = mem_new((size_t)t->nodes, sizeof(bool));
	for (int i = 0; i < t->boxes; i++)
		f->allowed[t->box[i]] = limits_trees(t, t->box[i]) > 0;
	find_ports(f, p);
	return f;
}

void limits_fit_free(struct limits_fit *f)
{
	router_free(f->r);
	shape_free(f->s);
	for (int i = 0; i < f->t->nodes; i++)
		free(f->port[i]);
	free(f->port);
	free(f->allowed);
	free(f);
}

/* --- one tree --------------------------------------------------------------------------------- */

static bool is_host(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST;
}

/* The largest number of children of a box. */
static int most_children(const struct limits_fit *f, int node)
{
	const struct topo_limits *h = &f->t->node[node].limits;
	int most = h->ranks - (node == f->s->root ? 0 : 1);

	return h->fan_in < most ? h->fan_in : most;
}

/* Lists the children of a node: first hosts, rotated in each turn, then boxes. */
static int find_children(const struct limits_fit *f, int node, int *list)
{
	const struct shape *s = f->s;
	int hosts = 0;
	int n = 0;

	for (int i = 0; i < s->count; i++) {
		int child = s->list[i];

		if (s->parent[child] != node || child == s->root)
			continue;
		list[n++] = child;
		if (!is_host(f->t, child))
			continue;
		memmove(list + hosts + 1, list + hosts, (size_t)(n - 1 - hosts) * sizeof(int));
		list[hosts++] = child;
	}
	if (hosts > 0 && f->turn > 0) {
		int *copy = mem_new((size_t)hosts, sizeof(int));
		int step = most_children(f, node) % hosts;

		memcpy(copy, list, (size_t)hosts * sizeof(int));
		step = step ? step : 1;
		for (int i = 0; i < hosts; i++)
			list[i] = copy[(i + f->turn * step) % hosts];
		free(copy);
	}
	return n;
}

/* A host in the subtree of a node, or the node itself; -1: there is none. */
static int host_below(const struct shape *s, int node)
{
	for (int i = 0; i < s->count; i++) {
		int at = s->list[i];

		if (!is_host(s->t, at))
			continue;
		while (at != node && at != s->root && s->parent[at] >= 0)
			at = s->parent[at];
		if (at == node)
			return s->list[i];
	}
	return -1;
}

/* Makes another node the root: the edges between the two roots are reversed. */
static void move_root(struct shape *s, int to)
{
	int below = -1;
	int *route = NULL;
	int arcs = 0;

	for (int at = to; at >= 0;) {
		int next = at == s->root ? -1 : s->parent[at];
		int *old = s->route[at];
		int n = s->arcs[at];

		s->parent[at] = below;
		s->route[at] = route;
		s->arcs[at] = arcs;
		route = next >= 0 ? mem_new((size_t)n, sizeof(int)) : NULL;
		for (int i = 0; i < n && route; i++)
			route[i] = old[n - 1 - i] ^ 1;
		arcs = n;
		free(old);
		below = at;
		at = next;
	}
	s->root = to;
}

/* Attaches the nodes of a list to the given hosts, in chains of equal length. */
static void attach_chains(struct limits_fit *f, const int *node, int n, const int *host, int hosts)
{
	for (int i = 0; i < n; i++)
		shape_route(f->s, f->r, node[i], i < hosts ? host[i] : node[i - hosts], 1);
}

/*
 * Attaches removed children to hosts among those that stay. Hosts form chains; boxes are attached
 * to hosts directly, never in a chain.
 */
static void hand_over(struct limits_fit *f, const int *child, int n, const int *stay, int stays)
{
	int *host = mem_new((size_t)(n + stays) + 1, sizeof(int));
	int *gone = mem_new((size_t)n + 1, sizeof(int));
	int hosts = 0;
	int movers = 0;

	for (int i = 0; i < stays; i++)
		if (is_host(f->t, stay[i]))
			host[hosts++] = stay[i];
	for (int i = 0; i < stays && hosts == 0; i++) {
		int below = host_below(f->s, stay[i]);

		if (below >= 0)
			host[hosts++] = below;
	}
	for (int i = 0; i < n; i++)
		if (is_host(f->t, child[i]))
			gone[movers++] = child[i];
	attach_chains(f, gone, movers, host, hosts);
	for (int i = 0, k = 0; i < n; i++)
		if (!is_host(f->t, child[i]))
			shape_route(f->s, f->r, child[i], host[k++ % hosts], 1);
	free(host);
	free(gone);
}

/* Removes a box that is not the root: one of its children takes its place. */
static void dissolve(struct limits_fit *f, int node, int *child, int n)
{
	int parent = f->s->parent[node];

	if (n > 0) {
		int head = child[0];

		/* A chain through all hosts: the last one sends the sum of all. */
		hand_over(f, child + 1, n - 1, &head, 1);
		shape_route(f->s, f->r, head, parent, 1);
	}
	shape_drop(f->s, node);
}

/* Moves the children that a box can keep to the front of the list; returns their number. */
static int keep(const struct limits_fit *f, int node, int *child, int n)
{
	int most = most_children(f, node);
	int kept = 0;

	/* Boxes first: hosts are easier to attach to each other. */
	for (int pass = 0; pass < 2; pass++)
		for (int i = pass == 0 ? 0 : kept; i < n; i++) {
			int c = child[i];

			if (is_host(f->t, c) != (pass == 1) || kept >= most ||
			    !has_port(f, node, f->s->route[c][f->s->arcs[c] - 1]))
				continue;
			memmove(child + kept + 1, child + kept, (size_t)(i - kept) * sizeof(int));
			child[kept++] = c;
		}
	return kept;
}

static void fit_box(struct limits_fit *f, int node, int *child)
{
	struct shape *s = f->s;
	int n = find_children(f, node, child);
	bool stays = f->allowed[node] && (node == s->root || has_port(f, node, s->route[node][0]));
	int kept = stays ? keep(f, node, child, n) : 0;

	if (kept == n)
		return;
	/* A node that does not merge is useless. */
	if (kept >= 2 || (kept == 1 && node == s->root)) {
		hand_over(f, child + kept, n - kept, child, kept);
		return;
	}
	if (node == s->root) {
		int host = host_below(s, node);

		move_root(s, host);
		n = find_children(f, node, child);
	} else {
		n = find_children(f, node, child);
	}
	dissolve(f, node, child, n);
}

static int depth_of(const struct shape *s, int node)
{
	int n = 0;

	for (; node != s->root; node = s->parent[node])
		n++;
	return n;
}

/* Lists the boxes of the tree, the deepest first. */
static int find_boxes(const struct shape *s, int *list)
{
	int n = 0;

	for (int i = 0; i < s->count; i++) {
		int node = s->list[i];
		int depth, at;

		if (!is_box(s->t, node))
			continue;
		depth = depth_of(s, node);
		for (at = n++; at > 0 && depth_of(s, list[at - 1]) < depth; at--)
			list[at] = list[at - 1];
		list[at] = node;
	}
	return n;
}

bool limits_fits(const struct limits_fit *f, const struct plan *p, int tree)
{
	const struct plan_tree *k = &p->tree[tree];
	struct plan *one = plan_like(p);
	bool good;

	plan_copy_tree(one, p, tree, 1);
	good = limits_check(f->t, one, NULL) == 0;
	plan_free(one);
	for (int i = 0; i < k->ups + k->downs && good; i++) {
		const struct plan_edge *e = &p->edge[k->up_first + i];
		const int *arc = p->route + e->first;

		if (is_box(f->t, e->from))
			good = f->allowed[e->from] && has_port(f, e->from, arc[0]);
		if (is_box(f->t, e->to) && good)
			good = f->allowed[e->to] && has_port(f, e->to, arc[e->arcs - 1]);
	}
	return good;
}

/* Makes a chain of all hosts; the last one sends to the root if that is a host. */
static void chain_hosts(struct limits_fit *f, int root)
{
	const struct topology *t = f->t;
	int at = is_host(t, root) ? root : t->worker[0];

	shape_begin(f->s, at);
	for (int i = 0; i < t->workers; i++) {
		if (f->s->in[t->worker[i]])
			continue;
		shape_route(f->s, f->r, t->worker[i], at, 1);
		at = t->worker[i];
	}
}

/* The shape as a plan of one tree. */
static struct plan *shape_plan(const struct limits_fit *f, const struct plan *p)
{
	struct plan *one = plan_like(p);

	build_tree(one, f->s->root, 1);
	shape_emit(f->s, one, false);
	if (!p->reduce_only)
		build_mirror(one);
	plan_split_hosts(f->t, one);
	return one;
}

void limits_fit_tree(struct limits_fit *f, const struct plan *p, int tree, struct plan *q,
		     double share)
{
	struct plan *one;
	int *box, *child;
	int boxes;

	if (limits_fits(f, p, tree)) {
		plan_copy_tree(q, p, tree, share);
		return;
	}
	box = mem_new((size_t)f->t->nodes, sizeof(int));
	child = mem_new((size_t)f->t->nodes, sizeof(int));
	shape_load(f->s, p, tree, false);
	boxes = find_boxes(f->s, box);
	for (int i = 0; i < boxes; i++)
		fit_box(f, box[i], child);
	one = shape_plan(f, p);
	if (!limits_fits(f, one, 0)) {
		/*
		 * If the children that one box hands over are too many for the next, use no box at
		 * all.
		 */
		plan_free(one);
		chain_hosts(f, p->tree[tree].root);
		one = shape_plan(f, p);
	}
	plan_copy_tree(q, one, 0, share);
	plan_free(one);
	free(box);
	free(child);
}

/* --- a whole plan ----------------------------------------------------------------------------- */

struct sized {
	double share;
	int tree;
};

static int by_size(const void *a, const void *b)
{
	const struct sized *x = a;
	const struct sized *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->tree - y->tree;
}

/* Makes the shares of a plan add up to 1 again. */
static void share_all(struct plan *p)
{
	double sum = 0;

	for (int k = 0; k < p->trees; k++)
		sum += p->tree[k].share;
	for (int k = 0; k < p->trees; k++)
		p->tree[k].share /= sum;
}

void limits_fit_plan(const struct topology *t, struct plan *p, int trees, const struct work *w)
{
	struct limits_fit *f = limits_fit_new(t, p);
	struct sized *order = mem_new((size_t)p->trees, sizeof(*order));
	int *taken = mem_new((size_t)t->nodes, sizeof(int));
	struct plan *q = plan_like(p);
	double sum = 0;
	double took = 0; /* seconds of the slowest tree */
	int most = trees > 0 && trees < p->trees ? trees : p->trees;

	for (int k = 0; k < p->trees; k++)
		order[k] = (struct sized){p->tree[k].share, k};
	qsort(order, (size_t)p->trees, sizeof(*order), by_size);
	for (int k = 0; k < most; k++)
		sum += order[k].share;
	for (int k = 0; k < most; k++) {
		struct plan *one = plan_like(p);
		double from = work_clock();
		int *groups;

		limits_fit_tree(f, p, order[k].tree, one, order[k].share / sum);
		plan_copy_tree(q, one, 0, order[k].share / sum);
		groups = limits_groups(t, one);
		for (int i = 0; i < t->boxes; i++) {
			int box = t->box[i];

			taken[box] += groups[box] > 0;
			f->allowed[box] = taken[box] < limits_trees(t, box);
		}
		free(groups);
		plan_free(one);
		took = fmax(took, work_clock() - from);
		if (k + 1 < most && !work_has_time(w, 1, took)) {
			share_all(q);
			break;
		}
	}
	plan_take_trees(p, q);
	plan_split_hosts(t, p);
	free(order);
	free(taken);
	limits_fit_free(f);
}
