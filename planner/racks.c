/*
 * Workers in racks.
 */
#include "planner/racks.h"

#include <stdlib.h>
#include <string.h>

#include "planner/mem.h"

/* --- racks ------------------------------------------------------------------------------------ */

int racks_box_at(const struct topology *t, int node)
{
	if (node < 0 || t->node[node].kind == TOPO_HOST)
		return -1;
	if (t->node[node].kind == TOPO_BOX)
		return node;
	for (int i = 0; i < t->boxes; i++)
		if (t->node[t->box[i]].rack == node)
			return t->box[i];
	return -1;
}

/* The switch of a worker's rack; for a GPU its NVSwitch, because it has NICs as well. */
static int find_head(const struct topology *t, int node)
{
	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		if (t->node[topo_arc_to(t, t->out[i])].variant == TOPO_NVSWITCH)
			return topo_arc_to(t, t->out[i]);
	return t->node[node].rack;
}

struct racks *racks_new(const struct topology *t)
{
	struct racks *r = mem_new(1, sizeof(*r));
	int *rack = mem_new((size_t)t->nodes, sizeof(int)); /* of a switch: 1 + index of its rack */
	int *at = mem_new((size_t)t->workers + 1, sizeof(int));
	int *of = mem_new((size_t)t->workers, sizeof(int));

	r->first = mem_new((size_t)t->workers + 1, sizeof(int));
	r->member = mem_new((size_t)t->workers, sizeof(int));
	r->head = mem_new((size_t)t->workers, sizeof(int));
	r->box = mem_new((size_t)t->workers, sizeof(int));
	for (int i = 0; i < t->workers; i++) {
		int head = find_head(t, t->worker[i]);

		if (head < 0 || rack[head] == 0) {
			r->head[r->count] = head;
			r->box[r->count++] = racks_box_at(t, head);
			if (head >= 0)
				rack[head] = r->count;
		}
		of[i] = head < 0 ? r->count - 1 : rack[head] - 1;
		r->first[of[i] + 1]++;
	}
	for (int i = 0; i < r->count; i++) {
		r->first[i + 1] += r->first[i];
		at[i] = r->first[i];
	}
	for (int i = 0; i < t->workers; i++)
		r->member[at[of[i]]++] = t->worker[i];
	free(rack);
	free(at);
	free(of);
	return r;
}

void racks_free(struct racks *r)
{
	free(r->first);
	free(r->member);
	free(r->head);
	free(r->box);
	free(r);
}

int racks_rounds(const struct topology *t, const struct plan *p, const int *group)
{
	int *depth = mem_new((size_t)t->nodes, sizeof(int));
	int most = 0;

	for (int k = 0; k < p->trees; k++) {
		const struct plan_tree *tree = &p->tree[k];

		memset(depth, 0, (size_t)t->nodes * sizeof(int));
		for (int i = 0; i < tree->ups + tree->downs; i++) {
			const struct plan_edge *e = &p->edge[tree->up_first + i];
			int here = depth[e->from] + (group[e->from] != group[e->to]);
			bool down = i >= tree->ups;

			/* The way down continues from the depth of the root. */
			depth[e->to] = down || here > depth[e->to] ? here : depth[e->to];
			most = depth[e->to] > most ? depth[e->to] : most;
		}
	}
	free(depth);
	return most;
}
