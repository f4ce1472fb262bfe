#include "tools/tree_walk.h"

#define LEVELS (RF_CTL_ABOVE_MAX + 1u)
#define BOXES 128u /* that wait to be asked; the rest is left out */

struct box {
	uint32_t ip;
	unsigned int depth;
};

struct walk {
	struct box list[BOXES];
	unsigned int count;
};

static bool asks(tree_ask *ask, void *arg, uint32_t ip, struct rf_ctl_tree_page *p)
{
	const struct rf_ctl_reply *a = ask(arg, ip, RF_CTL_PAGE_TREE, 0);

	if (a)
		*p = a->u.tree;
	return a != NULL;
}

/* Adds the boxes that are ranks of this one, so that the lowest rank is the next one. */
static void add_leaves(struct walk *w, const struct box *b, const struct rf_ctl_tree_page *p,
		       tree_ask *ask, void *arg)
{
	uint32_t ip[RF_CTL_RANKS_MAX] = {0};
	unsigned int first = 0;

	while (first < p->ranks) {
		const struct rf_ctl_reply *a = ask(arg, b->ip, RF_CTL_PAGE_RANKS, (uint16_t)first);

		if (!a || a->u.ranks.count == 0)
			break;
		for (unsigned int i = 0; i < a->u.ranks.count; i++)
			if (first + i < RF_CTL_RANKS_MAX)
				ip[first + i] = a->u.ranks.rank[i].ip;
		first += a->u.ranks.count;
	}
	for (unsigned int r = RF_CTL_RANKS_MAX; r-- > 0;)
		if (rf_ctl_mask_get(p->leaves, r) && ip[r] != 0 && w->count < BOXES)
			w->list[w->count++] = (struct box){ip[r], b->depth + 1u};
}

unsigned int tree_walk(uint32_t start, tree_ask *ask, tree_visit *visit, void *arg)
{
	struct walk w = {.list = {{start, 0}}, .count = 1};
	struct rf_ctl_tree_page p;
	unsigned int answered = 0;

	for (unsigned int level = 1; level < LEVELS; level++) {
		if (!asks(ask, arg, w.list[0].ip, &p) || p.parent_ip == 0)
			break;
		start = w.list[0].ip;
		w.list[0].ip = p.parent_ip;
	}
	/* A parent that is silent is shown above the box that names it. */
	if (w.list[0].ip != start && !asks(ask, arg, w.list[0].ip, &p)) {
		visit(arg, 0, w.list[0].ip, NULL);
		w.list[0] = (struct box){start, 1};
	}
	while (w.count > 0) {
		struct box b = w.list[--w.count];
		bool known = asks(ask, arg, b.ip, &p);

		visit(arg, b.depth, b.ip, known ? &p : NULL);
		answered += known;
		/* A loop cannot be: a box refuses it. The bound is for boxes that lie. */
		if (known && b.depth + 1u < LEVELS)
			add_leaves(&w, &b, &p, ask, arg);
	}
	return answered;
}
