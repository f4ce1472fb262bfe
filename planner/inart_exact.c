/*
 * InArt's problem for given shares, solved by enumerating all assignments of whole streams. Workers
 * at one switch with equal links are interchangeable: only their number at each merging place
 * counts.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/choice.h"
#include "planner/inart.h"
#include "planner/master.h"
#include "planner/mem.h"
#include "planner/router.h"
#include "planner/scheme.h"
#include "planner/schemes.h"
#include "planner/servers.h"
#include "planner/tree_load.h"

#define PATTERNS_MOST 2000  /* limit for one server */
#define TRIES_MOST 300000.0 /* limit for all servers together */

struct alike {
	int *class_of; /* by worker */
	int *size;
	int count;
};

struct exact {
	const struct topology *t;
	int places;   /* number of boxes, plus one for the server itself */
	int patterns; /* number for each server */
	int *at;      /* [pattern][worker]: index of a place */
	int rows;
	double *full; /* [server][pattern][row]: fraction of a limit that one unit of rate uses */
};

static struct alike find_alike(const struct topology *t)
{
	struct alike a = {mem_new((size_t)t->workers, sizeof(int)),
			  mem_new((size_t)t->workers, sizeof(int)), 0};

	for (int i = 0; i < t->workers; i++) {
		int w = t->worker[i];
		int k = 0;

		for (; k < i; k++) {
			int v = t->worker[k];

			if (t->node[w].rack >= 0 && t->node[v].rack == t->node[w].rack &&
			    topo_egress(t, v) == topo_egress(t, w) &&
			    topo_ingress(t, v) == topo_ingress(t, w) &&
			    t->node[v].server == t->node[w].server)
				break;
		}
		a.class_of[i] = k < i ? a.class_of[k] : a.count++;
		a.size[a.class_of[i]]++;
	}
	return a;
}

/* The number of ways to distribute n interchangeable workers among `places`. */
static double count_ways(int n, int places)
{
	double ways = 1;

	for (int i = 1; i < places; i++)
		ways = ways * (n + i) / i;
	return ways;
}

/*
 * Advances left[0 .. places - 1] to the next distribution; the first has all workers at place 0.
 * After the last one it returns false and the first distribution.
 */
static bool next_way(int *left, int places)
{
	int at = 0;
	int moved;

	while (at < places - 1 && left[at] == 0)
		at++;
	moved = left[at];
	left[at] = 0;
	if (at == places - 1) {
		left[0] = moved;
		return false;
	}
	left[at + 1]++;
	left[0] = moved - 1;
	return true;
}

/* Lists every pattern, as the place of each worker. */
static void list_patterns(struct exact *x, const struct alike *a)
{
	const struct topology *t = x->t;
	int *left = mem_new((size_t)a->count * (size_t)x->places, sizeof(int));
	int *used = mem_new((size_t)x->places * (size_t)a->count, sizeof(int));

	for (int c = 0; c < a->count; c++)
		left[c * x->places] = a->size[c];
	for (int p = 0; p < x->patterns; p++) {
		int c = 0;

		memcpy(used, left, (size_t)a->count * (size_t)x->places * sizeof(int));
		for (int i = 0; i < t->workers; i++) {
			int *own = used + a->class_of[i] * x->places;
			int place = 0;

			while (own[place] == 0)
				place++;
			own[place]--;
			x->at[p * t->workers + i] = place;
		}
		while (c < a->count && !next_way(left + c * x->places, x->places))
			c++;
	}
	free(left);
	free(used);
}

static void add_tree(const struct exact *x, struct plan *p, struct router *r, int server,
		     int pattern, double share)
{
	const struct topology *t = x->t;
	int *at = mem_new((size_t)t->workers, sizeof(int));

	for (int i = 0; i < t->workers; i++) {
		int place = x->at[pattern * t->workers + i];

		at[i] = place < t->boxes ? t->box[place] : -1;
	}
	memset(r->load, 0, (size_t)t->links * 2 * sizeof(double));
	servers_merge_once(p, t, r, server, at, share);
	free(at);
}

/* Computes what each pattern uses of each limit. */
static void measure(struct exact *x, const int *server, int servers, bool reduce_only)
{
	const struct topology *t = x->t;
	struct router *r = router_new(t);
	double *scratch = mem_new((size_t)x->rows, sizeof(double));
	struct tree_load load = {0};

	for (int k = 0; k < servers * x->patterns; k++) {
		struct plan *p = build_plan("pattern");
		double *full = x->full + (size_t)k * (size_t)x->rows;

		add_tree(x, p, r, server[k / x->patterns], k % x->patterns, 1);
		if (reduce_only)
			p->tree[0].downs = 0;
		tree_load_find(t, p, 0, scratch, &load);
		for (int i = 0; i < load.n; i++) {
			int row = load.row[i];

			full[row] = load.count[i] /
				    (row < 2 * t->links ? topo_arc_capacity(t, row)
							: t->node[row - 2 * t->links].processing);
		}
		plan_free(p);
	}
	tree_load_free(&load);
	free(scratch);
	router_free(r);
}

/* The load of the fullest limit at rate 1 with these patterns; stops once it reaches `enough`. */
static double fullest(const struct exact *x, const int *choice, int servers, const double *share,
		      double enough)
{
	double worst = 0;

	for (int row = 0; row < x->rows && worst < enough; row++) {
		double sum = 0;

		for (int s = 0; s < servers; s++)
			sum += share[s] *
			       x->full[((size_t)s * (size_t)x->patterns + (size_t)choice[s]) *
					       (size_t)x->rows +
				       (size_t)row];
		worst = fmax(worst, sum);
	}
	return worst;
}

static double try_all(const struct exact *x, int servers, const double *share, int *best)
{
	int *choice = mem_new((size_t)servers, sizeof(int));
	double least = INFINITY;
	int s;

	do {
		double worst = fullest(x, choice, servers, share, least);

		if (worst < least * (1 - 1e-12)) {
			least = worst;
			memcpy(best, choice, (size_t)servers * sizeof(int));
		}
		for (s = 0; s < servers && ++choice[s] == x->patterns; s++)
			choice[s] = 0;
	} while (s < servers);
	free(choice);
	return 1 / least;
}

double inart_exact(const struct topology *t, const int *server, int servers, const double *share,
		   bool reduce_only, struct plan *p)
{
	struct exact x = {.t = t, .places = t->boxes + 1, .rows = 2 * t->links + t->nodes};
	struct alike a = find_alike(t);
	int *best = mem_new((size_t)servers, sizeof(int));
	double patterns = 1;
	double rate = -1;

	for (int c = 0; c < a.count; c++)
		patterns *= count_ways(a.size[c], x.places);
	if (patterns <= PATTERNS_MOST && pow(patterns, servers) <= TRIES_MOST) {
		struct router *r = router_new(t);

		x.patterns = (int)(patterns + 0.5);
		x.at = mem_new((size_t)x.patterns * (size_t)t->workers, sizeof(int));
		x.full = mem_new((size_t)servers * (size_t)x.patterns * (size_t)x.rows,
				 sizeof(double));
		list_patterns(&x, &a);
		measure(&x, server, servers, reduce_only);
		rate = try_all(&x, servers, share, best);
		for (int s = 0; s < servers; s++)
			if (share[s] > 0)
				add_tree(&x, p, r, server[s], best[s], share[s]);
		router_free(r);
	}
	free(x.at);
	free(x.full);
	free(a.class_of);
	free(a.size);
	free(best);
	return rate;
}

/*
 * The shares of the options, scaled to add up to one; the options list servers in the order of the
 * file.
 */
static bool given_shares(const struct topology *t, const struct scheme_options *o,
			 const int *server, int servers, double *share)
{
	double sum = 0;

	if (o->server_shares != servers)
		return false;
	for (int s = 0; s < servers; s++) {
		int place = 0;

		for (int k = 0; k < servers; k++)
			place += t->node[server[k]].order < t->node[server[s]].order;
		share[s] = o->server_share[place];
		if (!(share[s] >= 0) || isinf(share[s]))
			return false;
		sum += share[s];
	}
	for (int s = 0; s < servers && sum > 0; s++)
		share[s] /= sum;
	return sum > 0;
}

struct plan *scheme_inart_exact(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e)
{
	struct plan *p = build_plan("inart-exact");
	int servers;
	int *server = servers_list(t, &servers);
	double *share = mem_new((size_t)servers, sizeof(double));
	double slowest = INFINITY;
	bool good = t->boxes > 0;

	for (int w = 0; w < t->workers; w++)
		slowest = fmin(slowest, topo_egress(t, t->worker[w]));
	if (!good)
		topo_refuse(e, -1, -1, "inart-exact needs a box");
	else if (inart_shares(t, server, servers, slowest, share) <= 0) {
		good = false;
		topo_refuse(e, -1, -1,
			    "inart-exact: the linear program finds no shares of the servers");
	} else if (o->server_share && !given_shares(t, o, server, servers, share)) {
		good = false;
		topo_refuse(e, -1, -1,
			    "inart-exact: --shares has %d values, but there are %d servers; each "
			    "needs a value of at least 0, and not all may be 0",
			    o->server_shares, servers);
	} else if (inart_exact(t, server, servers, share, o->reduce_only, p) <= 0) {
		good = false;
		topo_refuse(e, -1, -1,
			    "inart-exact: there are too many assignments to try them all; use "
			    "inart or a smaller network");
	}
	free(server);
	free(share);
	if (good)
		return p;
	plan_free(p);
	return NULL;
}
