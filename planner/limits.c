/*
 * Limits of boxes: counts what the trees of a plan use of them.
 */
#include "planner/limits.h"

#include <stdlib.h>

#include "planner/mem.h"

bool limits_any(const struct topology *t)
{
	struct topo_limits all = topo_limits_none();

	for (int i = 0; i < t->boxes; i++)
		if (!topo_limits_same(&t->node[t->box[i]].limits, &all))
			return true;
	return false;
}

int limits_trees(const struct topology *t, int node)
{
	const struct topo_limits *h = &t->node[node].limits;

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

/* Notes that a box uses the link of an arc that leaves it. */
static void count_link(struct counter *c, int box, int arc)
{
	if (!topo_arc_held(c->t, arc))
		c->link[c->links++] = (struct touch){box, arc >> 1};
}

static void count_edge(struct counter *c, const struct plan_edge *e, bool up)
{
	const int *arc = c->p->route + e->first;

	if (is_box(c->t, e->from)) {
		c->next[c->nexts++] = (struct touch){e->from, e->to};
		count_link(c, e->from, arc[0]);
	}
	if (is_box(c->t, e->to)) {
		c->next[c->nexts++] = (struct touch){e->to, e->from};
		count_link(c, e->to, arc[e->arcs - 1] ^ 1);
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
		const struct topo_limits *h = &c->t->node[node].limits;

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
		const struct topo_limits *h = &t->node[node].limits;

		if (c->groups[node] > h->groups)
			return topo_refuse(c->e, node, -1,
					   "the box \"%s\" has %d groups, the plan has %d trees "
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

/* Holds the port where an arc leaves a box, if the box has a limit of ports. */
static void hold_port(struct topology *left, int box, int arc)
{
	struct topo_limits *h = &left->node[box].limits;
	int *held = &left->link[arc >> 1].held[arc & 1];

	if (left->node[box].kind != TOPO_BOX || h->ports == TOPO_UNLIMITED || *held)
		return;
	*held = 1;
	h->ports--;
}

void limits_hold_ports(struct topology *left, const struct plan *p)
{
	for (int k = 0; k < p->trees; k++)
		for (int i = 0; i < p->tree[k].ups + p->tree[k].downs; i++) {
			const struct plan_edge *e = &p->edge[p->tree[k].up_first + i];

			hold_port(left, e->from, p->route[e->first]);
			hold_port(left, e->to, p->route[e->first + e->arcs - 1] ^ 1);
		}
}
