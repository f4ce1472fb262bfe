/*
 * GRIA, the model of GRID (Fang, Zhao, Xu, Wu, Yu: IEEE/ACM Transactions on Networking 31(5),
 * 2023): its linear relaxation, the best assignment of whole workers, which is easy because all
 * workers are alike, and a mix of assignments by chunks.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/gria.h"
#include "planner/lp.h"

#define STANDING_MOST 128 /* most workers in the linear program */
#define NEAR 1e-6         /* price of a link of a route relative to the rate */

struct gria_box {
	double capacity;
	int node;
};

static int by_capacity(const void *a, const void *b)
{
	const struct gria_box *x = a;
	const struct gria_box *y = b;

	if (x->capacity != y->capacity)
		return x->capacity < y->capacity ? 1 : -1;
	return x->node - y->node;
}

struct gria *gria_new(const struct topology *t, int server)
{
	struct gria *g = mem_new(1, sizeof(*g));
	struct gria_box *list = mem_new((size_t)t->boxes, sizeof(*list));

	g->ingress = fmin(topo_ingress(t, server), t->node[server].processing);
	g->rate_max = g->ingress;
	for (int i = 0; i < t->workers; i++) {
		int w = t->worker[i];

		if (w == server)
			continue;
		g->workers++;
		g->rate_max = fmin(g->rate_max, topo_egress(t, w));
	}
	g->boxes = t->boxes;
	g->capacity = mem_new((size_t)t->boxes, sizeof(double));
	g->box = mem_new((size_t)t->boxes, sizeof(int));
	for (int i = 0; i < t->boxes; i++) {
		double all = (double)g->workers * g->rate_max;

		list[i] = (struct gria_box){fmin(t->node[t->box[i]].processing, all), t->box[i]};
	}
	qsort(list, (size_t)t->boxes, sizeof(*list), by_capacity);
	for (int i = 0; i < t->boxes; i++) {
		g->capacity[i] = list[i].capacity;
		g->box[i] = list[i].node;
	}
	free(list);
	return g;
}

void gria_free(struct gria *g)
{
	if (!g)
		return;
	free(g->capacity);
	free(g->box);
	free(g->distance);
	free(g);
}

int gria_boxes_needed(const struct gria *g)
{
	double sum = 0;
	int n = 0;

	while (n < g->boxes && sum < g->workers * g->ingress)
		sum += g->capacity[n++];
	return n;
}

/* The length of a worker's route, 0 if it does not matter. */
static double way(const struct gria *g, int worker, int box)
{
	return g->distance ? g->distance[worker * (g->boxes + 1) + box] : 0;
}

double gria_relaxation(const struct gria *g, double *part)
{
	struct lp *lp = lp_new();
	int boxes = gria_boxes_needed(g);
	/*
	 * Workers are alike: if there are very many, each worker of the program stands for several.
	 */
	int n = g->workers < STANDING_MOST ? g->workers : STANDING_MOST;
	int row[4];
	double value[4] = {1, 1, (double)g->workers / n, 1};
	int ahead = lp_row(lp, -INFINITY, g->ingress);
	double rate = -1;
	int first, last;

	for (int s = 0; s < boxes; s++)
		lp_row(lp, -INFINITY, g->capacity[s]);
	for (int w = 0; w < n; w++) /* rate of each worker; each is at least the least one */
		lp_row(lp, -INFINITY, g->rate_max);
	for (int w = 0; w < n; w++)
		lp_row(lp, 0, INFINITY);
	first = 1 + boxes + 2 * n;
	for (int i = 0; i < n * boxes; i++)
		lp_row(lp, -INFINITY, 0);
	for (int w = 0; w < n; w++) {
		for (int s = 0; s <= boxes; s++) {
			row[0] = 1 + boxes + w;
			row[1] = 1 + boxes + n + w;
			row[2] = s < boxes ? 1 + s : ahead;
			row[3] = first + w * boxes + s;
			lp_column(lp, -NEAR / n * way(g, w, s < boxes ? s : g->boxes), INFINITY,
				  s < boxes ? 4 : 3, row, value);
		}
	}
	for (int s = 0; s < boxes; s++) {
		int *rows = mem_new((size_t)n + 1, sizeof(int));
		double *values = mem_new((size_t)n + 1, sizeof(double));

		for (int w = 0; w < n; w++) {
			rows[w] = first + w * boxes + s;
			values[w] = -1;
		}
		rows[n] = ahead;
		values[n] = 1;
		lp_column(lp, 0, INFINITY, n + 1, rows, values);
		free(rows);
		free(values);
	}
	{
		int *rows = mem_new((size_t)n, sizeof(int));
		double *values = mem_new((size_t)n, sizeof(double));

		for (int w = 0; w < n; w++) {
			rows[w] = 1 + boxes + n + w;
			values[w] = -1;
		}
		last = lp_column(lp, 1, INFINITY, n, rows, values);
		free(rows);
		free(values);
	}
	if (lp_solve(lp) == 0)
		rate = lp_value(lp, last);
	for (int w = 0; w < g->workers && part && rate >= 0; w++)
		for (int s = 0; s <= g->boxes; s++) {
			int from = s == g->boxes ? boxes : s;

			part[w * (g->boxes + 1) + s] =
				s >= boxes && s < g->boxes
					? 0
					: lp_value(lp, w % n * (boxes + 1) + from);
		}
	lp_free(lp);
	return rate;
}

/* --- whole workers ---------------------------------------------------------------------------- */

static long count_slots(const struct gria *g, int k, double rate)
{
	long n = 0;

	for (int s = 0; s < k; s++)
		n += (long)floor(g->capacity[s] / rate * (1 + 1e-12));
	return n;
}

/* The highest rate up to `most` at which the k largest boxes can take `wanted` workers. */
static double find_rate(const struct gria *g, int k, double most, long wanted)
{
	double low = 0;
	double high = most;

	if (count_slots(g, k, most) >= wanted)
		return most;
	if (k == 0)
		return 0;
	for (int i = 0; i < 80; i++) {
		double rate = (low + high) / 2;

		if (count_slots(g, k, rate) >= wanted)
			low = rate;
		else
			high = rate;
	}
	/* At the exact rate some box is completely full. */
	for (int s = 0; s < k && low > 0; s++) {
		double step = g->capacity[s] / floor(g->capacity[s] / low * (1 + 1e-12));

		high = fmin(s == 0 ? INFINITY : high, step);
	}
	return low > 0 ? fmin(high, most) : 0;
}

double gria_exact(const struct gria *g, int *slots)
{
	double best = 0;
	int best_k = 0;

	for (int k = 0; k <= g->boxes; k++) {
		for (int d = 0; d <= g->workers; d++) {
			double most = fmin(g->rate_max, k + d ? g->ingress / (k + d) : INFINITY);
			double rate;

			if (most <= best * (1 + 1e-12))
				break;
			rate = find_rate(g, k, most, g->workers - d);
			if (rate > best * (1 + 1e-12)) {
				best = rate;
				best_k = k;
			}
		}
	}
	for (int s = 0; s < g->boxes && slots; s++)
		slots[s] = s < best_k ? (int)floor(g->capacity[s] / best * (1 + 1e-9)) : 0;
	return best;
}

double gria_classes(const struct gria *g)
{
	double sum = 0;
	double merged;

	for (int s = 0; s < g->boxes; s++)
		sum += g->capacity[s];
	merged = fmin(sum / g->workers, g->ingress);
	return fmin(g->rate_max, merged + (g->ingress - merged) / g->workers);
}
