/*
 * InArt (Liu, Zhai, Zhao, Xu, Fang, Zeng, Zhu: WWW 2024). First the shares of the servers without
 * regard to links (L-InArt, a linear program after R = f x). Then, for these shares, where each
 * worker's stream to each server merges (R-InArt: relaxation with links, randomised rounding).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/draws.h"
#include "planner/inart.h"
#include "planner/lp.h"
#include "planner/router.h"
#include "planner/scheme.h"
#include "planner/schemes.h"
#include "planner/servers.h"
#include "planner/shape.h"

#define CHOICES 12       /* nearest boxes among which a stream chooses */
#define STREAMS_MANY 400 /* with more streams, each chooses among CHOICES_MANY */
#define CHOICES_MANY 3
#define EVEN 1e-6 /* weight of the least share, which makes the shares even among equal optima */

/*
 * All workers are alike, so one stands for all of them. Columns are its rates to each server:
 * directly, or through box v.
 */
double inart_shares(const struct topology *t, const int *server, int servers, double rate_max,
		    double *share)
{
	struct lp *lp = lp_new();
	int n = 0;
	int all = lp_row(lp, -INFINITY, rate_max);
	double sum = -1;
	int row[4];
	double value[4];

	for (int i = 0; i < t->workers; i++) {
		bool serves = false;

		for (int s = 0; s < servers; s++)
			serves = serves || server[s] == t->worker[i];
		n += !serves;
	}
	n = n > 0 ? n : 1;
	for (int s = 0; s < servers; s++)
		lp_row(lp, -INFINITY,
		       fmin(topo_ingress(t, server[s]), t->node[server[s]].processing));
	for (int v = 0; v < t->boxes; v++)
		lp_row(lp, -INFINITY, t->node[t->box[v]].processing);
	for (int s = 0; s < servers; s++) /* each share is at least the least one */
		lp_row(lp, 0, INFINITY);
	for (int s = 0; s < servers; s++) {
		for (int v = -1; v < t->boxes; v++) {
			row[0] = all;
			row[1] = 1 + s;
			row[2] = 1 + servers + t->boxes + s;
			row[3] = 1 + servers + v;
			value[0] = 1;
			value[1] = v < 0 ? n : 1;
			value[2] = 1;
			value[3] = n;
			lp_column(lp, 1, INFINITY, v < 0 ? 3 : 4, row, value);
		}
	}
	{
		int *rows = mem_new((size_t)servers, sizeof(int));
		double *values = mem_new((size_t)servers, sizeof(double));

		for (int s = 0; s < servers; s++) {
			rows[s] = 1 + servers + t->boxes + s;
			values[s] = -1;
		}
		lp_column(lp, EVEN, INFINITY, servers, rows, values);
		free(rows);
		free(values);
	}
	if (lp_solve(lp) == 0) {
		sum = 0;
		for (int s = 0; s < servers; s++) {
			share[s] = 0;
			for (int v = 0; v <= t->boxes; v++)
				share[s] += lp_value(lp, s * (t->boxes + 1) + v);
			sum += share[s];
		}
		for (int s = 0; s < servers; s++)
			share[s] /= sum;
	}
	lp_free(lp);
	return sum;
}

int inart_pick(const double *part, int n, double u)
{
	double sum = 0;

	for (int i = 0; i < n - 1; i++) {
		sum += part[i];
		if (u <= sum)
			return i;
	}
	return n - 1;
}

/* --- where streams merge ---------------------------------------------------------------------- */

struct inart {
	const struct topology *t;
	struct router *r;
	int *server;
	int servers;
	double *share;
	int choices; /* boxes that each stream may choose; choice number `choices`: without a box */
	int *box;    /* [server][worker][choice] */
	double *part;
};

static size_t stream(const struct inart *x, int s, int w)
{
	return ((size_t)s * (size_t)x->t->workers + (size_t)w) * (size_t)(x->choices + 1);
}

/* Finds the boxes with the shortest route worker, box, server. */
static void find_choices(struct inart *x, int s, int w)
{
	const struct topology *t = x->t;
	int *box = x->box + stream(x, s, w);
	int length[CHOICES];
	int n = 0;

	for (int b = 0; b < t->boxes; b++) {
		int hops = router_hops(x->r, t->worker[w], t->box[b]) +
			   router_hops(x->r, t->box[b], x->server[s]);
		int at = n;

		while (at > 0 && length[at - 1] > hops)
			at--;
		if (at == x->choices)
			continue;
		n = n < x->choices ? n + 1 : n;
		memmove(box + at + 1, box + at, (size_t)(n - 1 - at) * sizeof(int));
		memmove(length + at + 1, length + at, (size_t)(n - 1 - at) * sizeof(int));
		box[at] = t->box[b];
		length[at] = hops;
	}
	for (; n <= x->choices; n++)
		box[n] = -1;
}

/* Rows: arcs; nodes (boxes and servers); streams; streams at a box. */
struct rounding {
	struct inart *x;
	struct lp *lp;
	int *row;      /* of the column under construction */
	double *count; /* by row */
	int rows, n;
	int first_stream, first_fan;
};

static void add(struct rounding *k, int row, double value)
{
	if (k->count[row] == 0)
		k->row[k->n++] = row;
	k->count[row] += value;
}

static void add_route(struct rounding *k, int from, int to, double value)
{
	struct router *r = k->x->r;

	router_find(r, from, to, value);
	for (int i = 0; i < r->arcs; i++)
		add(k, r->arc[i], value);
}

static void give_column(struct rounding *k, double gain)
{
	double *value = mem_new((size_t)k->n, sizeof(double));

	for (int i = 0; i < k->n; i++) {
		value[i] = k->count[k->row[i]];
		k->count[k->row[i]] = 0;
	}
	lp_column(k->lp, gain, INFINITY, k->n, k->row, value);
	k->n = 0;
	free(value);
}

static void add_rows(struct rounding *k)
{
	struct inart *x = k->x;
	const struct topology *t = x->t;

	for (int arc = 0; arc < 2 * t->links; arc++)
		lp_row(k->lp, -INFINITY, topo_arc_capacity(t, arc));
	for (int i = 0; i < t->nodes; i++)
		lp_row(k->lp, -INFINITY,
		       t->node[i].kind == TOPO_SWITCH ? INFINITY : t->node[i].processing);
	k->first_stream = 2 * t->links + t->nodes;
	for (int i = 0; i < x->servers * t->workers; i++)
		lp_row(k->lp, 0, 0);
	k->first_fan = k->first_stream + x->servers * t->workers;
	k->rows = k->first_fan + x->servers * t->workers * x->choices;
	for (int i = k->first_fan; i < k->rows; i++)
		lp_row(k->lp, -INFINITY, 0);
}

/* Adds the columns of streams: merged at each box of the choice, and directly to the server. */
static void add_streams(struct rounding *k, int s)
{
	struct inart *x = k->x;
	const struct topology *t = x->t;

	for (int w = 0; w < t->workers; w++) {
		int number = s * t->workers + w;
		const int *box = x->box + stream(x, s, w);

		for (int c = 0; c <= x->choices; c++) {
			bool merges = c < x->choices && box[c] >= 0;

			add(k, k->first_stream + number, 1);
			if (merges) {
				add(k, 2 * t->links + box[c], 1);
				add(k, k->first_fan + number * x->choices + c, 1);
				add_route(k, t->worker[w], box[c], 1);
			} else if (t->worker[w] != x->server[s]) {
				add(k, 2 * t->links + x->server[s], 1);
				add_route(k, t->worker[w], x->server[s], 1);
			}
			give_column(k, 0);
		}
	}
}

/* Adds the columns of what boxes send to a server: as much as the fastest of their streams. */
static void add_fans(struct rounding *k, int s)
{
	struct inart *x = k->x;
	const struct topology *t = x->t;

	for (int b = 0; b < t->boxes; b++) {
		bool any = false;

		for (int w = 0; w < t->workers; w++)
			for (int c = 0; c < x->choices; c++) {
				int number = s * t->workers + w;

				if (x->box[stream(x, s, w) + (size_t)c] != t->box[b])
					continue;
				add(k, k->first_fan + number * x->choices + c, -1);
				any = true;
			}
		if (!any)
			continue;
		add(k, 2 * t->links + x->server[s], 1);
		add_route(k, t->box[b], x->server[s], 1);
		give_column(k, 0);
	}
}

/* Solves the relaxation: which part of each stream merges where. Returns 0 or -1. */
static int relax(struct inart *x)
{
	const struct topology *t = x->t;
	struct rounding k = {.x = x, .lp = lp_new()};
	int rc;

	add_rows(&k);
	k.row = mem_new((size_t)k.rows, sizeof(int));
	k.count = mem_new((size_t)k.rows, sizeof(double));
	for (int s = 0; s < x->servers; s++)
		add_streams(&k, s);
	for (int s = 0; s < x->servers; s++)
		add_fans(&k, s);
	for (int s = 0; s < x->servers; s++)
		for (int w = 0; w < t->workers; w++)
			if (x->share[s] > 0)
				add(&k, k.first_stream + s * t->workers + w, -x->share[s]);
	give_column(&k, 1);
	rc = lp_solve(k.lp);
	for (int s = 0; s < x->servers && rc == 0; s++)
		for (int w = 0; w < t->workers; w++)
			for (int c = 0; c <= x->choices; c++) {
				size_t i = stream(x, s, w) + (size_t)c;

				x->part[i] = lp_value(k.lp, (int)i);
			}
	lp_free(k.lp);
	free(k.row);
	free(k.count);
	return rc;
}

/* Draws where every stream merges, with the parts of the relaxation as probabilities. */
static void draw(const struct inart *x, int *at, uint64_t *random)
{
	for (int s = 0; s < x->servers; s++)
		for (int w = 0; w < x->t->workers; w++) {
			const double *part = x->part + stream(x, s, w);
			double sum = 0;

			for (int c = 0; c <= x->choices; c++)
				sum += part[c];
			at[s * x->t->workers + w] =
				x->box[stream(x, s, w) +
				       (size_t)inart_pick(part, x->choices + 1,
							  topo_uniform(random) * sum)];
		}
}

static void draw_some(const struct inart *x, int *at, uint64_t *random)
{
	int streams = x->servers * x->t->workers;

	for (int s = 0; s < x->servers; s++)
		for (int w = 0; w < x->t->workers; w++)
			if (draws_anew(random, streams))
				at[s * x->t->workers + w] =
					draws_any(x->box + stream(x, s, w), x->choices, random);
}

static struct plan *round_once(struct inart *x, const char *name, const int *at)
{
	const struct topology *t = x->t;
	struct plan *p = build_plan(name);

	memset(x->r->load, 0, (size_t)t->links * 2 * sizeof(double));
	for (int s = 0; s < x->servers; s++)
		if (x->share[s] > 0)
			servers_merge_once(p, t, x->r, x->server[s], at + s * t->workers,
					   x->share[s]);
	return p;
}

static struct plan *inart(const struct topology *t, const struct scheme_options *o,
			  const char *name, bool equal, struct topo_error *e)
{
	struct inart x = {.t = t};
	struct plan *best = NULL;
	double found = 0;
	uint64_t random = o->seed;
	double slowest = INFINITY;
	double here = 0;
	size_t streams;
	int *at, *kept;

	x.server = servers_list(t, &x.servers);
	streams = (size_t)x.servers * (size_t)t->workers;
	at = mem_new(streams, sizeof(int));
	kept = mem_new(streams, sizeof(int));
	x.share = mem_new((size_t)x.servers, sizeof(double));
	x.r = router_new(t);
	x.choices = t->workers * x.servers > STREAMS_MANY ? CHOICES_MANY : CHOICES;
	x.choices = t->boxes < x.choices ? t->boxes : x.choices;
	x.box = mem_new(stream(&x, x.servers, 0), sizeof(int));
	x.part = mem_new(stream(&x, x.servers, 0), sizeof(double));
	for (int w = 0; w < t->workers; w++)
		slowest = fmin(slowest, topo_egress(t, t->worker[w]));
	for (int s = 0; s < x.servers; s++)
		for (int w = 0; w < t->workers; w++)
			find_choices(&x, s, w);
	if (inart_shares(t, x.server, x.servers, slowest, x.share) <= 0) {
		topo_refuse(e, -1, -1, "%s: the linear program finds no shares of the servers",
			    name);
		goto out;
	}
	for (int s = 0; s < x.servers && equal; s++)
		x.share[s] = 1.0 / x.servers;
	if (relax(&x) != 0) {
		topo_refuse(e, -1, -1, "%s: the linear program has no solution", name);
		goto out;
	}
	for (int i = 0; i < draws_number(t, o); i++) {
		struct plan *p;
		double rate;

		if (draws_is_fresh(i, o)) {
			draw(&x, at, &random);
			here = 0;
		} else {
			memcpy(at, kept, streams * sizeof(int));
			draw_some(&x, at, &random);
		}
		p = round_once(&x, name, at);
		rate = plan_rate(t, p);
		if (rate >= here) {
			here = rate;
			memcpy(kept, at, streams * sizeof(int));
		}
		if (best && rate <= found) {
			plan_free(p);
			continue;
		}
		plan_free(best);
		best = p;
		found = rate;
	}
out:
	router_free(x.r);
	free(at);
	free(kept);
	free(x.server);
	free(x.share);
	free(x.box);
	free(x.part);
	return best;
}

struct plan *scheme_inart(const struct topology *t, const struct scheme_options *o,
			  struct topo_error *e)
{
	if (t->boxes > 0)
		return inart(t, o, "inart", false, e);
	topo_refuse(e, -1, -1, "inart needs a box");
	return NULL;
}

struct plan *scheme_inart_equal(const struct topology *t, const struct scheme_options *o,
				struct topo_error *e)
{
	if (t->boxes > 0)
		return inart(t, o, "inart-equal", true, e);
	topo_refuse(e, -1, -1, "inart-equal needs a box");
	return NULL;
}
