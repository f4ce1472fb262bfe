/*
 * Images of trees: see unfold.h.
 */
#include "planner/unfold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/image.h"
#include "planner/mem.h"
#include "planner/shape.h"

#define IMAGES_FIRST 32
#define PASSES_MOST 4 /* passes over all twins, for one image */
#define TRIES 4       /* exchanges that are tried for each node in a pass */
#define SWAP_WORK 2   /* units for each link of a node */
#define LEAST_WEIGHT 1e-9

/* State of the construction of images. */
struct images {
	struct quotient *q;
	const struct fold *f;
	struct image *image;
	int count, room;
	double *full;      /* by link and node of c: sum of load / limit over the images with equal
			      weights */
	double *load;      /* load of the current image */
	struct plan *pool; /* trees of the images */
	bool *merges;      /* by node of c: it merges in the latest image */
	int *arc;
	int *used; /* by tree of the pool: number of its images */
	uint64_t random;
	struct lp *lp;
	double *weight; /* weights of the images in the program */
	double value;
};

static void begin(struct images *x, struct quotient *q, uint64_t seed)
{
	size_t all = (size_t)q->f->c->links + (size_t)q->f->c->nodes;

	*x = (struct images){.q = q, .f = q->f, .random = seed};
	x->full = mem_new(all, sizeof(double));
	x->load = mem_new(all, sizeof(double));
	x->merges = mem_new((size_t)q->f->c->nodes, sizeof(bool));
	x->arc = mem_new((size_t)q->f->c->nodes * 3, sizeof(int));
	x->pool = build_plan("images");
	x->used = mem_new((size_t)q->weights, sizeof(int));
	x->lp = lp_new();
	for (size_t i = 0; i <= all; i++)
		lp_row(x->lp, -INFINITY, 1);
}

static void end(struct images *x)
{
	free(x->image);
	plan_free(x->pool);
	free(x->merges);
	free(x->arc);
	free(x->full);
	free(x->load);
	free(x->used);
	free(x->weight);
	lp_free(x->lp);
}

/* --- one image -------------------------------------------------------------------------------- */

/* The tree whose images fall short of its weight the most. */
static int next_tree(const struct images *x)
{
	const struct quotient *q = x->q;
	double sum = 0;
	double most = 0;
	int best = -1;

	for (int k = 0; k < q->weights; k++)
		sum += q->weight[k];
	for (int k = 0; k < q->weights; k++) {
		double lacks = q->weight[k] / sum * (x->count + 1) - x->used[k];

		if (q->weight[k] > LEAST_WEIGHT * sum && (best < 0 || lacks > most)) {
			best = k;
			most = lacks;
		}
	}
	return best;
}

static void shuffle(struct images *x, int *to)
{
	const struct fold *f = x->f;

	for (int k = 0; k < f->twins; k++) {
		const int *member = f->twin_member + f->twin_first[k];
		int n = f->twin_first[k + 1] - f->twin_first[k];

		for (int i = n - 1; i > 0; i--) {
			int j = (int)(topo_random(&x->random) % (uint64_t)(i + 1));
			int swap = to[member[i]];

			to[member[i]] = to[member[j]];
			to[member[j]] = swap;
		}
	}
}

/* Computes the load of the image, by link and node of c. */
static void place_load(struct images *x, int tree, const int *to)
{
	const struct fold *f = x->f;
	int all = f->c->links + f->c->nodes;
	double *plain = mem_new((size_t)all, sizeof(double));

	memset(x->load, 0, (size_t)all * sizeof(double));
	quotient_load(f, x->q->pool, tree, plain);
	for (int i = 0; i < f->c->links; i++)
		if (plain[i] > 0)
			x->load[image_arc(f, to, 2 * i) >> 1] = plain[i] / f->own[i];
	for (int i = 0; i < f->c->nodes; i++)
		if (plain[f->c->links + i] > 0 && f->row[f->c->links + i] >= 0)
			x->load[f->c->links + to[i]] =
				plain[f->c->links + i] / f->own[f->c->links + i];
	free(plain);
}

/*
 * Change of the sum of squared loads at one place if the loads of two twins are exchanged; negative
 * is better.
 */
static double gain_at(const struct images *x, int a, int b)
{
	return (x->load[b] - x->load[a]) * (x->full[a] - x->full[b]);
}

static int rack_link(const struct fold *f, int node)
{
	return f->rack[node] < 0 ? -1 : f->c->out[f->c->first[f->rack[node]]] >> 1;
}

static double gain_of(const struct images *x, int a, int b)
{
	const struct fold *f = x->f;
	int n = f->link_first[a + 1] - f->link_first[a];
	double sum = gain_at(x, f->c->links + a, f->c->links + b);

	for (int i = 0; i < n; i++)
		sum += gain_at(x, f->link[f->link_first[a] + i], f->link[f->link_first[b] + i]);
	if (rack_link(f, a) >= 0)
		sum += gain_at(x, rack_link(f, a), rack_link(f, b));
	return sum;
}

static void exchange(double *load, int a, int b)
{
	double swap = load[a];

	load[a] = load[b];
	load[b] = swap;
}

static void exchange_loads(struct images *x, int a, int b)
{
	const struct fold *f = x->f;
	int n = f->link_first[a + 1] - f->link_first[a];

	exchange(x->load, f->c->links + a, f->c->links + b);
	for (int i = 0; i < n; i++)
		exchange(x->load, f->link[f->link_first[a] + i], f->link[f->link_first[b] + i]);
	if (rack_link(f, a) >= 0)
		exchange(x->load, rack_link(f, a), rack_link(f, b));
}

static void exchange_images(int *to, int *who, int a, int b)
{
	int swap = who[a];

	to[who[a]] = b;
	to[who[b]] = a;
	who[a] = who[b];
	who[b] = swap;
}

/*
 * Exchanges random pairs of twins if that makes links fill more evenly; who[i]: the node whose
 * image is node i. Returns the number of exchanges.
 */
static int even_out(struct images *x, int *to, int *who)
{
	const struct fold *f = x->f;
	int swaps = 0;

	for (int k = 0; k < f->twins; k++) {
		const int *member = f->twin_member + f->twin_first[k];
		int n = f->twin_first[k + 1] - f->twin_first[k];
		bool every = n <= TRIES;

		for (int i = 0; i < n * TRIES && n > 1; i++) {
			int a = member[i / TRIES];
			int b = every ? member[i % TRIES % n]
				      : member[topo_random(&x->random) % (uint64_t)n];

			x->q->work->spent +=
				SWAP_WORK * (f->link_first[a + 1] - f->link_first[a] + 2);
			if (a == b || gain_of(x, a, b) > -1e-12)
				continue;
			exchange_loads(x, a, b);
			exchange_images(to, who, a, b);
			swaps++;
		}
	}
	return swaps;
}

static void add_column(struct images *x)
{
	const struct fold *f = x->f;
	int all = f->c->links + f->c->nodes;
	int *row = mem_new((size_t)all + 1, sizeof(int));
	double *value = mem_new((size_t)all + 1, sizeof(double));
	int n = 0;

	for (int i = 0; i < all; i++) {
		if (x->load[i] <= 0)
			continue;
		row[n] = i;
		value[n++] = x->load[i] * x->q->unit;
	}
	if (!isinf(f->least)) {
		row[n] = all;
		value[n++] = x->q->unit / f->least;
	}
	lp_column(x->lp, 1, INFINITY, n, row, value);
	free(row);
	free(value);
}

/* --- its routes ------------------------------------------------------------------------------- */

static double full_after(const struct images *x, int place)
{
	return x->full[place] + x->load[place];
}

/*
 * The next node of a route: among the twins of the node in the tree, which all have links to the
 * same nodes, the one whose link is the least loaded. `end`: the route ends there, at a merging
 * node.
 */
static int next_node(const struct images *x, int from, int old, int number, bool end)
{
	const struct fold *f = x->f;
	int k = f->twin[old];
	double least = INFINITY;
	int best = old;

	for (int i = f->twin_first[k]; i < f->twin_first[k + 1]; i++) {
		int node = f->twin_member[i];
		double full;

		if (end && !x->merges[node])
			continue;
		full = full_after(x, fold_find_link(f, from, node, number));
		if (end)
			full = fmax(full, full_after(x, f->c->links + node));
		if (full < least) {
			least = full;
			best = node;
		}
	}
	x->q->work->spent += 4.0 * (f->twin_first[k + 1] - f->twin_first[k]);
	return best;
}

static bool stands_for_rack(const struct fold *f, int node)
{
	return f->first[node + 1] > f->first[node];
}

static void put(struct images *x, int place, double times)
{
	x->load[place] += times / x->f->own[place];
}

/*
 * Maps a route of the tree to the images of its nodes, over the twins whose links are the least
 * loaded. free_end: it may end at any twin that merges. Returns the end of the route; its arcs are
 * in x->arc.
 */
static int find_way(struct images *x, const struct plan_edge *e, const int *to, bool free_end)
{
	const struct fold *f = x->f;
	const int *route = x->q->pool->route + e->first;
	int at = to[e->from];

	for (int i = 0; i < e->arcs; i++) {
		int from = topo_arc_from(f->c, route[i]);
		int old = topo_arc_to(f->c, route[i]);
		bool last = i == e->arcs - 1;
		int next = to[old];
		int number, link;

		if (stands_for_rack(f, from) || stands_for_rack(f, old)) {
			x->arc[i] = stands_for_rack(f, from) ? f->c->out[f->c->first[at]]
							     : f->c->out[f->c->first[next]] ^ 1;
			put(x, x->arc[i] >> 1, 1);
			at = topo_arc_to(f->c, x->arc[i]);
			continue;
		}
		number = fold_link_number(f, from, route[i] >> 1);
		/* The switch of a rack is fixed by the rack. */
		if (last ? free_end : !stands_for_rack(f, topo_arc_to(f->c, route[i + 1])))
			next = next_node(x, at, next, number, last);
		link = fold_find_link(f, at, next, number);
		x->arc[i] = 2 * link + (f->c->link[link].a != at);
		put(x, link, 1);
		at = next;
	}
	return at;
}

static void put_edge(struct images *x, const struct plan_edge *e, const int *to, bool copies)
{
	const struct fold *f = x->f;
	int from = to[e->from];
	int end;

	if (e->arcs == 0) {
		put(x, f->c->out[f->c->first[from]] >> 1, 2 * f->copies[from]);
		build_edge(x->pool, true, from, from, x->arc, 0);
		return;
	}
	for (int i = 0; i < (copies ? f->copies[from] : 1); i++) {
		end = find_way(x, e, to, copies && f->twin[e->to] >= 0);
		build_edge(x->pool, copies, from, end, x->arc, e->arcs);
		if (copies && f->row[f->c->links + end] >= 0)
			put(x, f->c->links + end, 1);
	}
}

/* Adds the inputs of merging nodes from up edges; one end at each of them is its output. */
static void put_inputs(struct images *x, const struct plan_tree *k, const int *to)
{
	const struct fold *f = x->f;

	for (int i = 0; i < 2 * k->ups; i++) {
		const struct plan_edge *e = &x->q->pool->edge[k->up_first + i / 2];
		int node = to[i % 2 ? e->to : e->from];

		if (f->row[f->c->links + node] >= 0)
			put(x, f->c->links + node, x->merges[node] ? 1 : 0);
		x->merges[node] = true;
	}
}

/* Adds the image of a tree to the pool, and its load to x->load. */
static void make_image(struct images *x, int tree, const int *to)
{
	const struct plan_tree *k = &x->q->pool->tree[tree];
	const struct fold *f = x->f;

	memset(x->load, 0, ((size_t)f->c->links + (size_t)f->c->nodes) * sizeof(double));
	memset(x->merges, 0, (size_t)f->c->nodes * sizeof(bool));
	build_tree(x->pool, 0, 1);
	put_inputs(x, k, to);
	for (int i = 0; i < k->ups + k->downs; i++)
		put_edge(x, &x->q->pool->edge[k->up_first + i], to, i >= k->ups);
	if (x->count == x->room) {
		x->room = x->room ? 2 * x->room : 64;
		x->image = mem_more(x->image, (size_t)x->room, sizeof(*x->image));
	}
	x->image[x->count] = (struct image){x->count, 1};
	x->count++;
	x->used[tree]++;
}

static void add_image(struct images *x)
{
	const struct fold *f = x->f;
	int all = f->c->links + f->c->nodes;
	int tree = next_tree(x);
	int *to = mem_new((size_t)f->c->nodes, sizeof(int));
	int *who = mem_new((size_t)f->c->nodes, sizeof(int));

	for (int i = 0; i < f->c->nodes; i++)
		to[i] = i;
	shuffle(x, to);
	image_racks(f, to);
	for (int i = 0; i < f->c->nodes; i++)
		who[to[i]] = i;
	place_load(x, tree, to);
	for (int pass = 0; pass < PASSES_MOST && even_out(x, to, who) > 0; pass++)
		;
	image_racks(f, to);
	make_image(x, tree, to);
	for (int i = 0; i < all; i++)
		x->full[i] += x->load[i];
	add_column(x);
	free(to);
	free(who);
}

/* --- all of them ------------------------------------------------------------------------------ */

/*
 * Computes the value of all images, with equal weights or with those of the program if they are
 * better.
 */
static void weigh(struct images *x, double part)
{
	const struct fold *f = x->f;
	double worst = isinf(f->least) ? 0 : x->count / f->least;
	int rc = lp_solve_within(x->lp, x->q->work, part);

	for (int i = 0; i < f->c->links + f->c->nodes; i++)
		worst = fmax(worst, x->full[i]);
	x->weight = mem_more(x->weight, (size_t)x->count, sizeof(double));
	x->value = x->count / worst;
	for (int i = 0; i < x->count; i++)
		x->weight[i] = 1;
	if ((rc != 0 && rc != 1) || lp_gain(x->lp) * x->q->unit <= x->value)
		return;
	x->value = lp_gain(x->lp) * x->q->unit;
	for (int i = 0; i < x->count; i++)
		x->weight[i] = fmax(0, lp_value(x->lp, i));
}

/* If there are no twins, each tree has one image with its own weight. */
static void take_plain(struct images *x)
{
	const struct quotient *q = x->q;

	int *to = mem_new((size_t)x->f->c->nodes, sizeof(int));

	for (int i = 0; i < x->f->c->nodes; i++)
		to[i] = i;
	for (int k = 0; k < q->weights; k++) {
		if (q->weight[k] <= LEAST_WEIGHT)
			continue;
		x->weight = mem_more(x->weight, (size_t)x->count + 1, sizeof(double));
		x->weight[x->count] = q->weight[k];
		make_image(x, k, to);
	}
	free(to);
	x->value = q->value;
}

/* The largest share first, so that the turns of the workers of a rack come out more evenly. */
static int by_share(const void *a, const void *b)
{
	const struct image *x = a;
	const struct image *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return x->tree - y->tree;
}

/*
 * Makes the plan with each image split into `parts`, so that the workers of a rack take more turns.
 */
static struct plan *make_parts(const struct images *x, const char *name, int parts)
{
	struct image *image = mem_new((size_t)x->count * (size_t)parts, sizeof(*image));
	struct plan *p;
	double sum = 0;

	for (int i = 0; i < x->count; i++)
		sum += x->weight[i];
	for (int i = 0; i < x->count * parts; i++) {
		image[i] = x->image[i / parts];
		image[i].share = x->weight[i / parts] / sum / parts;
	}
	qsort(image, (size_t)x->count * (size_t)parts, sizeof(*image), by_share);
	p = image_plan(x->f, x->pool, name, image, x->count * parts);
	free(image);
	return p;
}

/* Keeps the better plan and returns its rate. */
static double keep_better(const struct topology *t, struct plan **best, double rate,
			  struct plan *other)
{
	double its = plan_rate(t, other);

	if (*best && its <= rate) {
		plan_free(other);
		return rate;
	}
	plan_free(*best);
	*best = other;
	return its;
}

static int count_used(const struct images *x)
{
	int n = 0;

	for (int i = 0; i < x->count; i++)
		n += x->weight[i] > 0;
	return n;
}

struct plan *unfold(struct quotient *q, const char *name, int trees, double gap, uint64_t seed,
		    double part)
{
	double near = 1 - gap; /* part of the value by classes at which images are enough */
	bool plain = q->f->twins == q->f->twin_first[q->f->twins];
	struct images x;
	struct plan *p = NULL;
	double rate = 0;
	double took = 0;

	begin(&x, q, seed);
	if (plain)
		take_plain(&x);
	for (int most = trees < IMAGES_FIRST ? trees : IMAGES_FIRST;;
	     most = 2 * most < trees ? 2 * most : trees) {
		double from = work_clock();

		while (x.count < most && !plain &&
		       (x.count == 0 || work_has_time(q->work, part, 0))) {
			add_image(&x);
			work_report(q->work, "images of trees", x.count, rate, q->value);
		}
		if (!plain)
			weigh(&x, part);
		if (x.value >= rate)
			rate = keep_better(q->f->t, &p, rate, make_parts(&x, name, 1));
		if (plain || x.value >= near * q->value || most >= trees ||
		    !work_is_left(q->work, part))
			break;
		/* The next round has twice as many images. */
		took = work_clock() - from;
		if (!work_has_time(q->work, part, 2 * took))
			break;
	}
	for (int parts = 2; rate < near * x.value && parts * count_used(&x) <= trees &&
			    work_has_time(q->work, part, took);
	     parts *= 2)
		rate = keep_better(q->f->t, &p, rate, make_parts(&x, name, parts));
	end(&x);
	return p;
}
