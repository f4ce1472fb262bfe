/*
 * Limits of boxes: checks them and cuts trees to them.
 */
#include "planner/limits.h"

#include <stdlib.h>
#include <string.h>

#include "planner/memory.h"
#include "planner/master.h"
#include "planner/schemes.h"

bool limits_any(const struct topology *t)
{
	struct topo_holds all = topo_holds_all();

	for (int i = 0; i < t->boxes; i++)
		if (!topo_holds_same(&t->node[t->box[i]].holds, &all))
			return true;
	return false;
}

int limits_trees(const struct topology *t, int node)
{
	const struct topo_holds *h = &t->node[node].holds;

	return h->groups < h->slots ? h->groups : h->slots;
}

/* --- counting --------------------------------------------------------------------------------- */

struct touch {
	int node, other;
};

static int by_touch(const void *a, const void *b)
{
	const struct touch *x = a;
	const struct touch *y = b;

	return x->node != y->node ? x->node - y->node : x->other - y->other;
}

/* Removes duplicates; returns the number of entries left. */
static int unique(struct touch *list, int n)
{
	int kept = 0;

	qsort(list, (size_t)n, sizeof(*list), by_touch);
	for (int i = 0; i < n; i++)
		if (i == 0 || by_touch(&list[i], &list[kept - 1]) != 0)
			list[kept++] = list[i];
	return kept;
}

struct counter {
	const struct topology *t;
	const struct plan *p;
	struct topo_error *e;
	int *groups, *inputs,
		*ranks; /* by node: groups over all trees; inputs and ranks in the current tree */
	struct touch *next; /* neighbours in the current tree */
	struct touch *link; /* links of all trees */
	int nexts, links;
};

static bool is_box(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_BOX;
}

static void count_edge(struct counter *c, const struct plan_edge *e, bool up)
{
	const int *arc = c->p->route + e->first;

	if (is_box(c->t, e->from)) {
		c->next[c->nexts++] = (struct touch){e->from, e->to};
		c->link[c->links++] = (struct touch){e->from, arc[0] >> 1};
	}
	if (is_box(c->t, e->to)) {
		c->next[c->nexts++] = (struct touch){e->to, e->from};
		c->link[c->links++] = (struct touch){e->to, arc[e->arcs - 1] >> 1};
		c->inputs[e->to] += up;
	}
}

static int refuse(struct counter *c, int tree, int node, const char *what, int limit, int have)
{
	topo_refuse(c->e, node, -1, "tree %d: the box \"%s\" %s %d, here %d", tree,
		    c->t->node[node].name, what, limit, have);
	if (c->e)
		c->e->tree = tree;
	return -1;
}

static int count_tree(struct counter *c, int tree)
{
	const struct plan_tree *k = &c->p->tree[tree];
	int rc = 0;

	c->nexts = 0;
	for (int i = 0; i < k->ups + k->downs; i++)
		count_edge(c, &c->p->edge[k->up_first + i], i < k->ups);
	c->nexts = unique(c->next, c->nexts);
	for (int i = 0; i < c->nexts; i++) {
		int node = c->next[i].node;

		if (c->ranks[node]++ == 0)
			c->groups[node]++;
	}
	for (int i = 0; i < c->nexts; i++) {
		int node = c->next[i].node;
		const struct topo_holds *h = &c->t->node[node].holds;

		if (rc == 0 && c->inputs[node] > h->fan_in)
			rc = refuse(c, tree, node, "has a fan_in of", h->fan_in, c->inputs[node]);
		if (rc == 0 && c->ranks[node] > h->ranks)
			rc = refuse(c, tree, node, "has ranks for", h->ranks, c->ranks[node]);
		c->ranks[node] = 0;
		c->inputs[node] = 0;
	}
	return rc;
}

static int check_all(struct counter *c)
{
	const struct topology *t = c->t;

	c->links = unique(c->link, c->links);
	for (int i = 0; i < c->links; i++)
		c->ranks[c->link[i].node]++;
	for (int i = 0; i < t->boxes; i++) {
		int node = t->box[i];
		const struct topo_holds *h = &t->node[node].holds;

		if (c->groups[node] > h->groups)
			return topo_refuse(c->e, node, -1,
					   "the box \"%s\" holds %d groups, the plan has %d trees "
					   "there",
					   t->node[node].name, h->groups, c->groups[node]);
		if (c->groups[node] > h->slots)
			return topo_refuse(c->e, node, -1,
					   "the box \"%s\" has %d slots, the plan has %d trees "
					   "there, and each takes one at least",
					   t->node[node].name, h->slots, c->groups[node]);
		if (c->ranks[node] > h->ports)
			return topo_refuse(c->e, node, -1,
					   "the box \"%s\" has %d ports, the plan uses %d of its "
					   "links",
					   t->node[node].name, h->ports, c->ranks[node]);
	}
	return 0;
}

static void counter_begin(struct counter *c)
{
	c->groups = mem_new((size_t)c->t->nodes, sizeof(int));
	c->inputs = mem_new((size_t)c->t->nodes, sizeof(int));
	c->ranks = mem_new((size_t)c->t->nodes, sizeof(int));
	c->next = mem_new((size_t)c->p->edges * 2, sizeof(*c->next));
	c->link = mem_new((size_t)c->p->edges * 2, sizeof(*c->link));
}

static void counter_end(struct counter *c)
{
	free(c->groups);
	free(c->inputs);
	free(c->ranks);
	free(c->next);
	free(c->link);
}

int limits_check(const struct topology *t, const struct plan *p, struct topo_error *e)
{
	struct counter c = {.t = t, .p = p, .e = e};
	int rc = 0;

	if (!limits_any(t))
		return 0;
	counter_begin(&c);
	for (int k = 0; k < p->trees && rc == 0; k++)
		rc = count_tree(&c, k);
	if (rc == 0)
		rc = check_all(&c);
	counter_end(&c);
	return rc;
}

int *limits_groups(const struct topology *t, const struct plan *p)
{
	struct counter c = {.t = t, .p = p};
	int *groups;

	counter_begin(&c);
	for (int k = 0; k < p->trees; k++)
		count_tree(&c, k);
	groups = c.groups;
	c.groups = NULL;
	counter_end(&c);
	return groups;
}

/* --- ports ------------------------------------------------------------------------------------ */

/*
 * Chooses the links that a box uses: first the link over which most of its sums leave, then those
 * that carry most.
 */
static bool *choose_ports(const struct topology *t, const double *up, const double *all, int node)
{
	int links = t->first[node + 1] - t->first[node];
	bool *port = mem_new((size_t)links, sizeof(bool));
	const double *weight = up;

	for (int n = 0; n < t->node[node].holds.ports && n < links; n++) {
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

		if (t->node[node].holds.ports < t->first[node + 1] - t->first[node])
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
	const struct topo_holds *h = &f->t->node[node].holds;
	int most = h->ranks - (node == f->s->root ? 0 : 1);

	return h->fan_in < most ? h->fan_in : most;
}

/* Lists the children of a node: first hosts, rotated in each turn, then boxes. */
static int find_children(const struct limits_fit *f, int node, int *list)
{
	const struct shape *s = f->s;
	int hosts = 0;
	int n = 0;

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < s->count; i++) {
			int child = s->list[i];

			if (child == s->root || s->parent[child] != node ||
			    is_host(f->t, child) != (pass == 0))
				continue;
			list[n++] = child;
			hosts += pass == 0;
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
static void hang_on(struct limits_fit *f, const int *node, int n, const int *host, int hosts)
{
	for (int i = 0; i < n; i++)
		shape_route(f->s, f->r, node[i], i < hosts ? host[i] : node[i - hosts], 1);
}

/*
 * Attaches removed children to hosts among those that stay. Hosts form chains; boxes are attached
 * to hosts directly, never in a chain.
 */
static void hand_on(struct limits_fit *f, const int *child, int n, const int *stay, int stays)
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
	hang_on(f, gone, movers, host, hosts);
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
		hand_on(f, child + 1, n - 1, &head, 1);
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
		hand_on(f, child + kept, n - kept, child, kept);
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

	make_tree(one, f->s->root, 1);
	shape_emit(f->s, one, false);
	if (!p->reduce_only)
		make_mirror(one);
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

void limits_fit_plan(const struct topology *t, struct plan *p, int trees)
{
	struct limits_fit *f = limits_fit_new(t, p);
	struct sized *order = mem_new((size_t)p->trees, sizeof(*order));
	int *taken = mem_new((size_t)t->nodes, sizeof(int));
	struct plan *q = plan_like(p);
	double sum = 0;
	int most = trees > 0 && trees < p->trees ? trees : p->trees;

	for (int k = 0; k < p->trees; k++)
		order[k] = (struct sized){p->tree[k].share, k};
	qsort(order, (size_t)p->trees, sizeof(*order), by_size);
	for (int k = 0; k < most; k++)
		sum += order[k].share;
	for (int k = 0; k < most; k++) {
		struct plan *one = plan_like(p);
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
	}
	plan_take_trees(p, q);
	plan_split_hosts(t, p);
	free(order);
	free(taken);
	limits_fit_free(f);
}
