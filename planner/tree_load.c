/*
 * The load of one tree.
 */
#include "planner/tree_load.h"

#include <stdlib.h>

#include "planner/mem.h"

void tree_load_free(struct tree_load *load)
{
	free(load->row);
	free(load->count);
}

static void count(struct tree_load *load, double *scratch, int row)
{
	if (scratch[row]++ > 0)
		return;
	if (load->n == load->room) {
		load->room = load->room ? 2 * load->room : 256;
		load->row = mem_more(load->row, (size_t)load->room, sizeof(int));
		load->count = mem_more(load->count, (size_t)load->room, sizeof(double));
	}
	load->row[load->n++] = row;
}

void tree_load_find(const struct topology *t, const struct plan *p, int tree, double *scratch,
		    struct tree_load *load)
{
	const struct plan_tree *k = &p->tree[tree];
	int kept = 0;

	load->n = 0;
	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &p->edge[k->up_first + i];

		for (int j = 0; j < e->arcs; j++)
			count(load, scratch, p->route[e->first + j]);
		if (i < k->ups)
			count(load, scratch, 2 * t->links + e->to);
	}
	for (int i = 0; i < load->n; i++) {
		int row = load->row[i];
		double times = scratch[row];
		bool merge = row >= 2 * t->links;

		scratch[row] = 0;
		if (merge && times < 2 && t->node[row - 2 * t->links].kind != TOPO_HOST)
			continue;
		load->row[kept] = row;
		load->count[kept++] = times;
	}
	load->n = kept;
}
