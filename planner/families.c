/*
 * Families of trees for boxes with tight limits, for the program that selects trees (choose.c).
 * Hosts of a rack with a box send to that box. In racks without a box, hosts form chains of several
 * lengths, whose heads send to boxes or to hosts.
 */
#include <limits.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/mem.h"
#include "planner/racks.h"

#define TURNS_MOST 8
#define TIME_PART 0.3 /* of the time */

int limits_fewest(const struct topology *t, int most)
{
	int n = most > 0 ? most : TOPO_UNLIMITED;

	for (int i = 0; i < t->boxes; i++) {
		int trees = limits_trees(t, t->box[i]);

		n = trees > 0 && trees < n ? trees : n;
	}
	return n;
}

/*
 * Heads of chains send to boxes; of every four heads, `to_hosts` send to hosts to which no other
 * host sends.
 */
struct family {
	int length;   /* of the chains in racks without a box */
	int to_hosts; /* of every four heads */
	int turn;     /* rotates hosts within chains, and boxes among the heads */
};

static void attach_head(struct limits_fit *f, const struct family *y, int head, int number,
			const int *idle, int *idles)
{
	const struct topology *t = f->t;
	int box = t->box[(number + y->turn) % t->boxes];

	if (number % 4 < y->to_hosts && *idles > 0)
		shape_route(f->s, f->r, head, idle[--*idles], 1);
	else
		shape_route(f->s, f->r, head, box, 1);
}

/*
 * Adds a tree in which every host has at most one child. Hosts of a rack with a box send to it; in
 * other racks hosts form chains, with different hosts at their ends in each turn.
 */
static void add_family(struct plan *pool, struct limits_fit *f, const struct racks *k,
		       const struct family *y)
{
	const struct topology *t = f->t;
	int root = t->box[y->turn % t->boxes];
	int *idle = mem_new((size_t)t->workers, sizeof(int));
	struct plan *one = plan_like(pool);
	int idles = 0;
	int heads = 0;

	shape_begin(f->s, root);
	for (int i = 0; i < t->boxes; i++)
		if (t->box[i] != root)
			shape_route(f->s, f->r, t->box[i], root, 1);
	for (int q = 0; q < k->count; q++)
		for (int i = k->first[q]; i < k->first[q + 1] && k->box[q] >= 0; i++) {
			shape_route(f->s, f->r, k->member[i], k->box[q], 1);
			idle[idles++] = k->member[i];
		}
	for (int q = 0; q < k->count; q++) {
		int n = k->first[q + 1] - k->first[q];
		const int *member = k->member + k->first[q];

		for (int i = 0; i < n && k->box[q] < 0; i++) {
			int node = member[(i + y->turn) % n];

			if (i % y->length == y->length - 1 || i == n - 1)
				attach_head(f, y, node, heads++, idle, &idles);
			else
				shape_route(f->s, f->r, node, member[(i + 1 + y->turn) % n], 1);
		}
	}
	/* Remove boxes to which no node sends. */
	for (int i = 0; i < t->boxes; i++) {
		bool any = false;

		for (int j = 0; j < f->s->count; j++)
			any = any || f->s->parent[f->s->list[j]] == t->box[i];
		if (!any && t->box[i] != root)
			shape_drop(f->s, t->box[i]);
	}
	build_tree(one, root, 1);
	shape_emit(f->s, one, false);
	build_mirror(one);
	f->turn = y->turn;
	limits_fit_tree(f, one, 0, pool, 1);
	f->turn = 0;
	plan_free(one);
	free(idle);
}

void limits_families(struct limits_fit *f, struct plan *pool, int trees, int routes,
		     const struct work *w)
{
	static const int length[] = {1, 2, 3, 4, 6, INT_MAX};
	static const int to_hosts[] = {0, 2, 4};
	struct racks *k;
	int turns = limits_fewest(f->t, trees);

	if (f->t->boxes == 0 || pool->reduce_only)
		return;
	turns = turns < TURNS_MOST ? turns : TURNS_MOST;
	k = racks_new(f->t);
	for (int turn = 0; turn < turns; turn++)
		for (int i = 0; i < 6; i++)
			for (int h = 0;
			     h < 3 && pool->routes < routes && work_has_time(w, TIME_PART, 0);
			     h++) {
				struct family y = {length[i], to_hosts[h], turn};

				add_family(pool, f, k, &y);
			}
	racks_free(k);
}
