/*
 * Rail fabrics: every worker has a link to each of several switches, its rails. A rail whose box
 * can hold all workers carries one star. The workers of any other rail add up among themselves: in
 * rings, one path for each worker, which use the links to the last part; or, where these would have
 * too many edges, in a double binary tree (Sanders, Speck, Traeff: Parallel Computing 35(12),
 * 2009), in which every worker is an inner node of one tree and a leaf of the other.
 *
 * Exact plans, for rails whose links are alike. A path over the n workers has two ends with one
 * edge; all others have two. A double star, whose hubs are those ends, gives them n / 2 edges each
 * and all others one. With the weights 1 - 2 / n and 2 / n every worker has 2 - 2 / n edges on
 * average, the least that trees over workers have. Where links lead from a rail to boxes, stars at
 * these boxes fill them: such a tree needs one edge for each worker.
 */
#include "planner/rails.h"

#include <math.h>
#include <stdlib.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/mem.h"

#define RAILS_LEAST 2
#define EDGES_MOST 2e6 /* of all paths on the way up */

struct rails {
	const struct topology *t;
	struct plan *p;
	int rails;
	int *rail;    /* nodes */
	int *up;      /* arc from worker w to rail r, at r x workers + w */
	bool merging; /* boxes may carry stars */
	bool paths;   /* rings and not double binary trees */
	bool exact;   /* a path and double stars, and stars at distant boxes */
	double *left; /* of links: capacity that stars at distant boxes have left */
	double rate;  /* of all trees so far */
};

/* The switches and boxes to which every worker has a link; a second link to one is not used. */
static void find_rails(struct rails *x)
{
	const struct topology *t = x->t;
	int *seen = mem_new((size_t)t->nodes, sizeof(int));

	for (int w = 0; w < t->workers; w++) {
		int worker = t->worker[w];

		for (int i = t->first[worker]; i < t->first[worker + 1]; i++) {
			int to = topo_arc_to(t, t->out[i]);

			seen[to] += seen[to] == w && t->node[to].kind != TOPO_HOST;
		}
	}
	x->rail = mem_new((size_t)t->nodes, sizeof(int));
	for (int i = 0; i < t->nodes; i++) {
		if (seen[i] == t->workers)
			x->rail[x->rails++] = i;
		seen[i] = -1;
	}
	x->up = mem_new((size_t)x->rails * (size_t)t->workers, sizeof(int));
	for (int r = 0; r < x->rails; r++)
		seen[x->rail[r]] = r;
	for (int w = 0; w < t->workers; w++) {
		int worker = t->worker[w];

		for (int i = t->first[worker + 1] - 1; i >= t->first[worker]; i--) {
			int r = seen[topo_arc_to(t, t->out[i])];

			if (r >= 0)
				x->up[r * t->workers + w] = t->out[i];
		}
	}
	free(seen);
}

static void add_edge(struct rails *x, int r, bool down, int from, int to)
{
	const struct topology *t = x->t;
	int arc[2] = {x->up[r * t->workers + from], x->up[r * t->workers + to] ^ 1};

	build_edge(x->p, down, t->worker[from], t->worker[to], arc, 2);
}

/* The least capacity between the workers and a rail, of either direction. */
static double least_link(const struct rails *x, int r)
{
	double least = INFINITY;

	for (int w = 0; w < x->t->workers; w++) {
		int arc = x->up[r * x->t->workers + w];

		least = fmin(least, topo_arc_capacity(x->t, arc));
		least = fmin(least, topo_arc_capacity(x->t, arc ^ 1));
	}
	return least;
}

/* The rate of a star at a box that can hold it; 0: there is none. */
static double star_rate(const struct rails *x, int r)
{
	const struct topo_node *n = &x->t->node[x->rail[r]];
	int workers = x->t->workers;

	if (!x->merging || n->kind != TOPO_BOX || limits_trees(x->t, x->rail[r]) < 1 ||
	    n->limits.ranks < workers || n->limits.fan_in < workers || n->limits.ports < workers)
		return 0;
	return fmin(least_link(x, r), n->processing / workers);
}

static void add_star(struct rails *x, int r, double rate)
{
	const struct topology *t = x->t;

	build_tree(x->p, x->rail[r], rate);
	for (int down = 0; down < 2; down++)
		for (int w = 0; w < t->workers; w++) {
			int arc = x->up[r * t->workers + w] ^ down;

			build_edge(x->p, down, topo_arc_from(t, arc), topo_arc_to(t, arc), &arc, 1);
		}
}

/* A path to each worker, from the one after it round the ring. */
static void add_paths(struct rails *x, int r, double rate)
{
	int n = x->t->workers;

	for (int root = 0; root < n; root++) {
		build_tree(x->p, x->t->worker[root], rate / n);
		for (int i = 1; i < n; i++)
			add_edge(x, r, false, (root + i) % n, (root + i + 1) % n);
		for (int i = 0; i < n - 1; i++)
			add_edge(x, r, true, (root + i) % n, (root + i + 1) % n);
	}
}

/*
 * The parent in a binary tree over 0 .. n - 1 in which odd numbers are leaves and 0 is the root:
 * the number whose lowest bit that is set is one higher.
 */
static int parent_of(int i, int n)
{
	int bit = i & -i;
	int parent = (i ^ bit) | (bit << 1);

	return parent < n ? parent : i ^ bit;
}

/* The second tree has the order turned round, or shifted if n is odd: its leaves are even then. */
static int renamed(int i, int n, bool second)
{
	if (!second)
		return i;
	return n % 2 == 0 ? n - 1 - i : (i + 1) % n;
}

/* Children come before their parents, level by level. */
static void add_binary(struct rails *x, int r, bool second, double rate)
{
	int n = x->t->workers;
	int top = 1;

	build_tree(x->p, x->t->worker[renamed(0, n, second)], rate);
	while (top < n)
		top *= 2;
	for (int bit = 1; bit < top; bit *= 2)
		for (int i = bit; i < n; i += 2 * bit)
			add_edge(x, r, false, renamed(i, n, second),
				 renamed(parent_of(i, n), n, second));
	for (int bit = top / 2; bit >= 1; bit /= 2)
		for (int i = bit; i < n; i += 2 * bit)
			add_edge(x, r, true, renamed(parent_of(i, n), n, second),
				 renamed(i, n, second));
}

/* --- exact plans ------------------------------------------------------------------------------ */

/* A path with its root in the middle. */
static void add_chain(struct rails *x, int r, double rate)
{
	int n = x->t->workers;
	int mid = n / 2;

	build_tree(x->p, x->t->worker[mid], rate);
	for (int i = 0; i < mid; i++)
		add_edge(x, r, false, i, i + 1);
	for (int i = n - 1; i > mid; i--)
		add_edge(x, r, false, i, i - 1);
	for (int i = mid; i > 0; i--)
		add_edge(x, r, true, i, i - 1);
	for (int i = mid; i < n - 1; i++)
		add_edge(x, r, true, i, i + 1);
}

/* Workers 1 .. first are attached to worker 0, the others to the last one. */
static void add_double_star(struct rails *x, int r, int first, double rate)
{
	int last = x->t->workers - 1;

	build_tree(x->p, x->t->worker[0], rate);
	for (int i = 1; i < last; i++)
		add_edge(x, r, false, i, i <= first ? 0 : last);
	add_edge(x, r, false, last, 0);
	add_edge(x, r, true, 0, last);
	for (int i = 1; i < last; i++)
		add_edge(x, r, true, i <= first ? 0 : last, i);
}

static void add_even(struct rails *x, int r, double rate)
{
	int n = x->t->workers;
	double stars = rate * 2 / n;

	add_chain(x, r, rate - stars);
	if (n % 2 == 0) {
		add_double_star(x, r, n / 2 - 1, stars);
		return;
	}
	add_double_star(x, r, n / 2 - 1, stars / 2);
	add_double_star(x, r, n / 2, stars / 2);
}

/* Whether any number of trees can merge all workers at the box. */
static bool is_unlimited(const struct rails *x, int node)
{
	const struct topo_node *n = &x->t->node[node];

	return x->merging && n->kind == TOPO_BOX && isinf(n->processing) &&
	       limits_trees(x->t, node) == TOPO_UNLIMITED && n->limits.ranks == TOPO_UNLIMITED &&
	       n->limits.fan_in == TOPO_UNLIMITED && n->limits.ports == TOPO_UNLIMITED;
}

/* A star of at most that rate over rail r and one or two more arcs. Returns its rate. */
static double add_distant_star(struct rails *x, int r, const int *more, int arcs, double most)
{
	const struct topology *t = x->t;
	int root = topo_arc_to(t, more[arcs - 1]);
	double flow = fmin(most * t->workers, x->left[more[0] >> 1]);
	int route[3];

	for (int i = 1; i < arcs; i++)
		flow = fmin(flow, x->left[more[i] >> 1]);
	if (flow <= 0)
		return 0;
	for (int i = 0; i < arcs; i++)
		x->left[more[i] >> 1] -= flow;
	build_tree(x->p, root, flow / t->workers);
	for (int w = 0; w < t->workers; w++) {
		route[0] = x->up[r * t->workers + w];
		for (int i = 0; i < arcs; i++)
			route[1 + i] = more[i];
		build_edge(x->p, false, t->worker[w], root, route, 1 + arcs);
	}
	for (int w = 0; w < t->workers; w++) {
		for (int i = 0; i < arcs; i++)
			route[i] = more[arcs - 1 - i] ^ 1;
		route[arcs] = x->up[r * t->workers + w] ^ 1;
		build_edge(x->p, true, root, t->worker[w], route, 1 + arcs);
	}
	return flow / t->workers;
}

/* Stars at boxes one or two links away from rail r, of at most that rate. Returns their rate. */
static double add_distant_stars(struct rails *x, int r, double most)
{
	const struct topology *t = x->t;
	double rate = 0;
	int arc[2];

	for (int i = t->first[x->rail[r]]; i < t->first[x->rail[r] + 1]; i++) {
		int middle = topo_arc_to(t, t->out[i]);

		arc[0] = t->out[i];
		if (t->node[middle].kind == TOPO_HOST)
			continue;
		if (is_unlimited(x, middle)) {
			rate += add_distant_star(x, r, arc, 1, most - rate);
			continue;
		}
		for (int k = t->first[middle]; k < t->first[middle + 1]; k++) {
			arc[1] = t->out[k];
			if (topo_arc_to(t, arc[1]) != x->rail[r] &&
			    is_unlimited(x, topo_arc_to(t, arc[1])))
				rate += add_distant_star(x, r, arc, 2, most - rate);
		}
	}
	return rate;
}

static double link_capacity(const struct topology *t, int link)
{
	return fmin(topo_arc_capacity(t, 2 * link), topo_arc_capacity(t, 2 * link + 1));
}

/* --- all rails -------------------------------------------------------------------------------- */

static void add_rail(struct rails *x, int r)
{
	int n = x->t->workers;
	double star = star_rate(x, r);
	double link = least_link(x, r);
	/* Up and down each worker's link carries 2 (n - 1) / n of a ring; 4 of two binary trees. */
	double part = x->paths || x->exact ? n / (2.0 * (n - 1)) : 0.5;
	double own = link * part;

	if (x->exact && star <= own) {
		double distant = add_distant_stars(x, r, link);

		own = fmax(0, link - distant) * part;
		x->rate += distant;
	}
	if (own <= 0 && star <= 0)
		return;
	if (star > own)
		add_star(x, r, star);
	else if (x->exact)
		add_even(x, r, own);
	else if (x->paths)
		add_paths(x, r, own);
	else
		for (int second = 0; second < 2; second++)
			add_binary(x, r, second, own / 2);
	x->rate += fmax(star, own);
}

struct plan *rails_plan(const struct topology *t, bool merging, bool exact)
{
	struct rails x = {.t = t, .merging = merging, .exact = exact, .p = build_plan("rails")};
	bool good;

	find_rails(&x);
	x.paths = (double)x.rails * t->workers * t->workers <= EDGES_MOST;
	x.left = mem_new((size_t)t->links, sizeof(double));
	for (int i = 0; i < t->links; i++)
		x.left[i] = link_capacity(t, i);
	good = x.rails >= RAILS_LEAST && t->workers > 2;
	for (int r = 0; r < x.rails && good; r++)
		add_rail(&x, r);
	for (int k = 0; k < x.p->trees; k++)
		x.p->tree[k].share /= x.rate;
	x.p->throughput = good ? plan_rate(t, x.p) : 0;
	free(x.rail);
	free(x.up);
	free(x.left);
	if (x.p->throughput > 0)
		return x.p;
	plan_free(x.p);
	return NULL;
}
