/*
 * ATP: a stream merges at the switch of its rack while that has capacity left, then at the one of
 * the server's rack, then at the server. This rule defines the trees for a given rate; the scheme
 * searches for the highest rate that the rule sustains.
 *
 * Two descriptions of the rule are in use. In GRID's example a switch takes a part of every
 * worker's chunks ("atp"), in InArt's it takes whole workers one after the other ("atp-whole").
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/build.h"
#include "planner/mem.h"
#include "planner/racks.h"
#include "planner/router.h"
#include "planner/schemes.h"
#include "planner/servers.h"
#include "planner/shape.h"

#define CANDIDATES 400

struct atp {
	const struct topology *t;
	struct router *r;
	struct racks *k;
	int *rack_of; /* by index of a worker */
	int *server;
	int servers;
	double *left; /* remaining capacity of boxes at this rate */
	int *at;
	/*
	 * By rack, as fractions of the chunks: those below `own` merge at the rack's box, those
	 * from `own` to `far` at the server's rack.
	 */
	double *own, *far;
	double *cut;
};

static struct atp *atp_new(const struct topology *t)
{
	struct atp *a = mem_new(1, sizeof(*a));
	int *number = mem_new((size_t)t->nodes, sizeof(int));

	a->t = t;
	a->r = router_new(t);
	a->k = racks_new(t);
	a->server = servers_list(t, &a->servers);
	a->rack_of = mem_new((size_t)t->workers, sizeof(int));
	a->left = mem_new((size_t)t->nodes, sizeof(double));
	a->at = mem_new((size_t)t->workers, sizeof(int));
	a->own = mem_new((size_t)a->k->count, sizeof(double));
	a->far = mem_new((size_t)a->k->count, sizeof(double));
	a->cut = mem_new((size_t)a->k->count * 2 + 2, sizeof(double));
	for (int i = 0; i < t->workers; i++)
		number[t->worker[i]] = i;
	for (int q = 0; q < a->k->count; q++)
		for (int i = a->k->first[q]; i < a->k->first[q + 1]; i++)
			a->rack_of[number[a->k->member[i]]] = q;
	free(number);
	return a;
}

static void atp_free(struct atp *a)
{
	router_free(a->r);
	racks_free(a->k);
	free(a->rack_of);
	free(a->server);
	free(a->left);
	free(a->at);
	free(a->own);
	free(a->far);
	free(a->cut);
	free(a);
}

static void begin(struct atp *a)
{
	memset(a->r->load, 0, (size_t)a->t->links * 2 * sizeof(double));
	for (int i = 0; i < a->t->nodes; i++)
		a->left[i] = a->t->node[i].processing;
}

/* --- parts of every worker's chunks ----------------------------------------------------------- */

/* The fraction of the streams of n workers that a box can still take at this rate. */
static double take(struct atp *a, int box, int n, double rate, double wanted)
{
	double part = fmin(wanted, a->left[box] / (n * rate));

	if (!isinf(a->left[box]))
		a->left[box] = fmax(0, a->left[box] - part * n * rate);
	return part;
}

static int senders(const struct atp *a, int q, int server)
{
	int n = 0;

	for (int i = a->k->first[q]; i < a->k->first[q + 1]; i++)
		n += a->k->member[i] != server;
	return n;
}

static void divide(struct atp *a, int server, double rate)
{
	int last = racks_box_at(a->t, a->t->node[server].rack);

	for (int q = 0; q < a->k->count; q++) {
		int n = senders(a, q, server);

		a->own[q] = n > 1 && a->k->box[q] >= 0 ? take(a, a->k->box[q], n, rate, 1) : 0;
		a->far[q] = a->own[q];
	}
	for (int q = 0; q < a->k->count && last >= 0; q++) {
		int n = senders(a, q, server);

		if (a->k->box[q] != last && n > 0 && a->own[q] < 1)
			a->far[q] += take(a, last, n, rate, 1 - a->own[q]);
	}
}

static int by_value(const void *x, const void *y)
{
	double a = *(const double *)x;
	double b = *(const double *)y;

	return (a > b) - (a < b);
}

/* Adds one tree for each range of chunks in which no worker changes where it merges. */
static void add_ranges(struct atp *a, struct plan *p, int server)
{
	int last = racks_box_at(a->t, a->t->node[server].rack);
	double begin_at = 0;
	int n = 0;

	for (int q = 0; q < a->k->count; q++) {
		a->cut[n++] = a->own[q];
		a->cut[n++] = fmin(1, a->far[q]);
	}
	a->cut[n++] = 1;
	qsort(a->cut, (size_t)n, sizeof(double), by_value);
	for (int c = 0; c < n; c++) {
		double width = a->cut[c] - begin_at;
		double middle = begin_at + width / 2;

		if (width < 1e-11 && !(c == n - 1 && begin_at == 0))
			continue;
		for (int i = 0; i < a->t->workers; i++) {
			int q = a->rack_of[i];

			a->at[i] = middle < a->own[q]   ? a->k->box[q]
				   : middle < a->far[q] ? last
							: -1;
		}
		servers_merge_once(p, a->t, a->r, server, a->at, width / a->servers);
		begin_at = a->cut[c];
	}
}

static struct plan *atp_at(struct atp *a, double rate)
{
	struct plan *p = build_plan("atp");

	begin(a);
	for (int s = 0; s < a->servers; s++) {
		divide(a, a->server[s], rate / a->servers);
		add_ranges(a, p, a->server[s]);
	}
	return p;
}

struct plan *scheme_atp(const struct topology *t, const struct scheme_options *o,
			struct topo_error *e)
{
	struct atp *a;
	struct plan *best = NULL;
	double low = 0;
	double high;

	(void)o;
	if (t->boxes == 0) {
		topo_refuse(e, -1, -1, "atp needs a box");
		return NULL;
	}
	a = atp_new(t);
	high = bound_cut(t, false) * 2;
	for (int i = 0; i < 60; i++) {
		double rate = i == 0 ? high : (low + high) / 2;
		struct plan *p = atp_at(a, rate);

		if (plan_rate(t, p) >= rate * (1 - 1e-12)) {
			plan_free(best);
			best = p;
			low = rate;
		} else {
			plan_free(p);
			high = rate;
		}
		if (best && high - low < 1e-12 * high)
			break;
	}
	atp_free(a);
	if (!best)
		topo_refuse(e, -1, -1, "atp finds no rate that its rule can sustain");
	return best;
}

/* --- whole workers ---------------------------------------------------------------------------- */

static bool fits(struct atp *a, int box, double rate)
{
	if (box < 0 || a->left[box] < rate * (1 - 1e-12))
		return false;
	a->left[box] -= rate;
	return true;
}

static struct plan *whole_at(struct atp *a, double rate)
{
	struct plan *p = build_plan("atp-whole");

	begin(a);
	for (int s = 0; s < a->servers; s++) {
		int last = racks_box_at(a->t, a->t->node[a->server[s]].rack);

		for (int i = 0; i < a->t->workers; i++) {
			int own = a->k->box[a->rack_of[i]];

			if (a->t->worker[i] == a->server[s])
				a->at[i] = -1;
			else if (fits(a, own, rate))
				a->at[i] = own;
			else
				a->at[i] = own != last && fits(a, last, rate) ? last : -1;
		}
		servers_merge_once(p, a->t, a->r, a->server[s], a->at, 1.0 / a->servers);
	}
	return p;
}

/* Lists the rates at which a whole number of streams exactly fills a box. */
static int find_candidates(const struct atp *a, double most, double *rate)
{
	const struct topology *t = a->t;
	int streams = t->workers * a->servers;
	int step = 1 + t->boxes * streams / CANDIDATES;
	int n = 0;

	rate[n++] = most / a->servers;
	for (int b = 0; b < t->boxes && n < CANDIDATES; b++) {
		double c = t->node[t->box[b]].processing;

		for (int k = 1; k <= streams && n < CANDIDATES && !isinf(c); k += step)
			rate[n++] = c / k;
	}
	return n;
}

struct plan *scheme_atp_whole(const struct topology *t, const struct scheme_options *o,
			      struct topo_error *e)
{
	struct atp *a;
	struct plan *best = NULL;
	double *rate = mem_new(CANDIDATES + 1, sizeof(double));
	double found = 0;
	bool kept = false;
	int n = 0;

	(void)o;
	if (t->boxes == 0) {
		free(rate);
		topo_refuse(e, -1, -1, "atp-whole needs a box");
		return NULL;
	}
	a = atp_new(t);
	n = find_candidates(a, bound_cut(t, false), rate);
	for (int i = 0; i < n; i++) {
		struct plan *p = whole_at(a, rate[i]);
		double real = plan_rate(t, p);
		bool keeps = real >= rate[i] * a->servers * (1 - 1e-9);

		if (!best || (keeps && !kept) || (keeps == kept && real > found * (1 + 1e-9))) {
			plan_free(best);
			best = p;
			found = real;
			kept = keeps;
		} else {
			plan_free(p);
		}
	}
	free(rate);
	atp_free(a);
	return best;
}
