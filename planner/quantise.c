/*
 * Converts shares to whole numbers of chunk classes. Rounding each share separately would overload
 * links that many trees use. Instead each share is rounded down, the remaining classes go one by
 * one to the tree where they add the least load, and then single classes move away from the most
 * loaded arc or box while that helps.
 */
#include <math.h>
#include <stdlib.h>

#include "planner/master.h"
#include "planner/mem.h"
#include "planner/quantise.h"

#define MOVES_MOST 2000

struct quantiser {
	const struct topology *t;
	struct plan *p;
	struct tree_load *load; /* by tree; counts are fractions of the limit */
	double *full;           /* by arc and node: sum of the load of all classes / limit */
	int *chunks;            /* by tree */
	double *scratch;
	int rows;
};

static double limit_of(const struct topology *t, int row)
{
	return row < 2 * t->links ? topo_arc_capacity(t, row)
				  : t->node[row - 2 * t->links].processing;
}

static void begin(struct quantiser *q, const struct topology *t, struct plan *p)
{
	q->t = t;
	q->p = p;
	q->rows = 2 * t->links + t->nodes;
	q->load = mem_new((size_t)p->trees, sizeof(*q->load));
	q->full = mem_new((size_t)q->rows, sizeof(double));
	q->scratch = mem_new((size_t)q->rows, sizeof(double));
	q->chunks = mem_new((size_t)p->trees, sizeof(int));
	for (int k = 0; k < p->trees; k++) {
		struct tree_load *load = &q->load[k];

		tree_load_find(t, p, k, q->scratch, load);
		for (int i = 0; i < load->n; i++)
			load->count[i] /= limit_of(t, load->row[i]);
	}
}

static void end(struct quantiser *q)
{
	for (int k = 0; k < q->p->trees; k++)
		tree_load_free(&q->load[k]);
	free(q->load);
	free(q->full);
	free(q->scratch);
	free(q->chunks);
}

static void put(struct quantiser *q, int tree, int chunks)
{
	const struct tree_load *load = &q->load[tree];

	q->chunks[tree] += chunks;
	for (int i = 0; i < load->n; i++)
		q->full[load->row[i]] += chunks * load->count[i];
}

/* The load of the fullest arc or box of a tree with one more class. */
static double one_more(const struct quantiser *q, int tree)
{
	const struct tree_load *load = &q->load[tree];
	double worst = 0;

	for (int i = 0; i < load->n; i++)
		worst = fmax(worst, q->full[load->row[i]] + load->count[i]);
	return worst;
}

/* The tree where one more class adds the least load; not `except`. */
static int find_place(const struct quantiser *q, int except, double *worst)
{
	int best = -1;

	for (int k = 0; k < q->p->trees; k++) {
		double cost = k == except ? INFINITY : one_more(q, k);

		if (best < 0 || cost < *worst) {
			best = k;
			*worst = cost;
		}
	}
	return best;
}

static int fullest(const struct quantiser *q)
{
	int worst = 0;

	for (int row = 1; row < q->rows; row++)
		if (q->full[row] > q->full[worst])
			worst = row;
	return worst;
}

static bool uses(const struct tree_load *load, int row)
{
	for (int i = 0; i < load->n; i++)
		if (load->row[i] == row)
			return true;
	return false;
}

/*
 * Moves one class away from a tree that uses the fullest row; false if no move makes that row less
 * full.
 */
static bool move_one(struct quantiser *q)
{
	int row = fullest(q);
	double before = q->full[row];

	for (int k = 0; k < q->p->trees; k++) {
		double after;
		int to;

		if (q->chunks[k] == 0 || !uses(&q->load[k], row))
			continue;
		put(q, k, -1);
		to = find_place(q, k, &after);
		if (after < before * (1 - 1e-12)) {
			put(q, to, 1);
			return true;
		}
		put(q, k, 1);
	}
	return false;
}

void quantise_shares(const struct topology *t, struct plan *p, int chunks)
{
	struct quantiser q;
	int left = chunks;

	if (p->trees < 2)
		return;
	begin(&q, t, p);
	for (int k = 0; k < p->trees; k++) {
		int whole = (int)floor(p->tree[k].share * chunks + 1e-9);

		put(&q, k, whole);
		left -= whole;
	}
	for (; left > 0; left--) {
		double worst;

		put(&q, find_place(&q, -1, &worst), 1);
	}
	for (int i = 0; i < MOVES_MOST && move_one(&q); i++)
		;
	for (int k = 0; k < p->trees; k++)
		p->tree[k].share = (double)q.chunks[k] / chunks;
	end(&q);
}
