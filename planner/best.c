/*
 * The forest of hosts, and the planner's own: the forest over hosts and boxes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/lp.h"
#include "planner/pack.h"
#include "planner/quotient.h"
#include "planner/schemes.h"
#include "planner/unfold.h"

#define SEED_WORKERS 400 /* workers up to which slow schemes are looked at */
#define ATP_WORKERS 2000 /* workers up to which ATP is looked at */
#define CLOCK_PART 0.3   /* of what is left of the time, for each of the others */
#define FOLD_LINKS 150   /* links above which the network is folded */
#define PACK_LINKS 1500  /* links above which it is left at that */
#define FOLD_PART 0.8    /* of the work */
#define CLASS_PART 0.6   /* of that: the program over classes, the rest is for images */
#define IMAGES_MOST 512
#define FEW 1e-9      /* what fewer trees may cost, relative */
#define FEW_LOSS 2e-3 /* the same where they are whole chunk classes */

/* Whole classes; 0 where nothing is left to measure. */
static double in_classes(const struct topology *t, struct plan *p, int chunks)
{
	quantise_shares(t, p, chunks);
	return plan_quantise(p, chunks) == 0 ? plan_rate(t, p) : 0;
}

static void give_prices(struct pack *p, struct plan *plan)
{
	plan->certificate.exact = p->exact;
	if (isfinite(p->bound))
		plan->certificate.dual = p->bound;
	plan->certificate.arc_price = p->arc_price;
	plan->certificate.node_price = p->node_price;
	p->arc_price = NULL;
	p->node_price = NULL;
}

/* The plan of the packing. Where it will be cut into classes, fewer trees are worth more, as each
 * of them is rounded: unless that costs more than it saves. */
static struct plan *finish(struct pack *p, const char *name, const struct scheme_options *o,
			   struct topo_error *e)
{
	struct plan *plan = master_plan(p->m, name, FEW, &p->work, 0.5 + 0.5 * PACK_PART);
	struct plan *fewer = NULL;

	if (plan && o->chunks > 0)
		fewer = master_plan(p->m, name, fmin(0.01, 2.0 / o->chunks), &p->work, 1);
	if (fewer) {
		double rate = in_classes(p->t, plan, o->chunks);
		bool better = in_classes(p->t, fewer, o->chunks) >= rate * (1 - FEW_LOSS);
		struct plan *other = better ? plan : fewer;

		plan = better ? fewer : plan;
		plan_free(other);
	}
	if (!plan) {
		topo_refuse(e, -1, -1, "%s: the linear program has no solution", name);
		return NULL;
	}
	give_prices(p, plan);
	return plan;
}

SCHEME(forest)
{
	struct pack p = {.t = t, .work = work_begin(o->work, o->seconds)};
	struct plan *plan = NULL;

	p.enough = bound_cut(t, false);
	pack_begin(&p);
	if (pack_run(&p) == 0)
		plan = finish(&p, "forest", o, e);
	else
		topo_refuse(e, -1, -1, "forest: nothing connects the workers");
	pack_end(&p);
	return plan;
}

/* --- best ---------------------------------------------------------------------------------------
 */

/* The best plan that another scheme has made. */
struct rival {
	struct plan *plan;
	double rate;
	bool slow; /* the slow ones have been asked */
};

/* Those that take time in proportion to the network and the number of their trees. */
static bool is_quick(const struct scheme *s)
{
	static const char *const names[] = {
		"ring",      "ring-both",      "hierarchical-ring", "switchml",   "atp-bom",
		"atp-whole", "netreduce-rack", "netreduce-spine",   "rina-agent", "rina-switch"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(s->name, names[i]) == 0)
			return true;
	return false;
}

static bool is_slow(const struct scheme *s)
{
	return !is_quick(s);
}

static bool is_forest(const struct scheme *s)
{
	return s->make == scheme_forest;
}

/* Workers have to take in 2 (N - 1) streams of a tree that merges nowhere else. */
static double bound_of_hosts(const struct topology *t)
{
	double sum = 0;

	for (int i = 0; i < t->workers; i++)
		sum += ingress(t, t->worker[i]);
	return sum / (2.0 * (t->workers - 1));
}

/* Whether anything could still be better. */
static bool is_open(const struct pack *p)
{
	return p->value < p->enough * (1 - FEW) && !(p->exact && p->value >= p->bound * (1 - FEW));
}

/* Every worker's stream has a route of its own to its box and the server. */
static bool is_atp(const struct scheme *s)
{
	return s->make == scheme_atp_whole || s->make == scheme_atp_bom;
}

/* Asks some schemes. Their options are those that they would get alone: none of them can be better
 * alone. */
static void ask_others(struct rival *r, const struct topology *t, const struct scheme_options *o,
		       const struct work *w, bool (*is_asked)(const struct scheme *s))
{
	struct scheme_options plain = *o;

	for (const struct scheme *s = scheme_list; s->name; s++) {
		struct plan *other;

		if (s->make == scheme_best || !is_asked(s) ||
		    (t->workers > ATP_WORKERS && is_atp(s)))
			continue;
		if (!isinf(o->seconds))
			plain.seconds = (w->end - clock_seconds()) * CLOCK_PART;
		if (plain.seconds <= 0)
			break;
		other = scheme_run_ordered(s, t, &plain, NULL);
		if (!other || (r->plan && other->throughput <= r->rate * (1 + FEW))) {
			plan_free(other);
			continue;
		}
		plan_free(r->plan);
		r->plan = other;
		r->rate = other->throughput;
	}
}

static void ask_slow(struct rival *r, const struct pack *p, const struct scheme_options *o)
{
	if (r->slow)
		return;
	r->slow = true;
	ask_others(r, p->t, o, &p->work, is_slow);
}

/* Trees over racks: often one of them is enough. Not those of a ring in which workers stand alone,
 * which are deep. */
static void take_single(struct pack *p, const struct scheme_options *o)
{
	static const char *const names[] = {"netreduce-rack", "netreduce-spine", "switchml",
					    "rina-switch"};
	struct scheme_options plain = *o;

	plain.chunks = 0;
	for (int i = 0; i < 4 && work_is_left(&p->work, 1); i++) {
		struct plan *other = scheme_run_ordered(scheme_find(names[i]), p->t, &plain, NULL);

		for (int k = 0; other && k < other->trees && other->trees <= p->t->boxes; k++)
			plan_copy_tree(p->m->pool, other, k, 1);
		plan_free(other);
	}
}

static void take_rival(struct pack *p, const struct plan *other)
{
	for (int k = 0; k < other->trees; k++)
		plan_copy_tree(p->m->pool, other, k, 1);
}

/* What a plan gives once it is cut into classes, if it will be. */
static double rate_of(const struct topology *t, const struct plan *p, int chunks)
{
	struct plan *copy;
	double rate;

	if (!p)
		return 0;
	if (chunks == 0)
		return plan_rate(t, p);
	copy = make_plan("classes");
	copy->reduce_only = p->reduce_only;
	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(copy, p, k, p->tree[k].share);
	rate = in_classes(t, copy, chunks);
	plan_free(copy);
	return rate;
}

/* --- by classes ---------------------------------------------------------------------------------
 */

/* The prices of classes as prices of arcs, half of them for each direction; that of the least link
 * is paid at a worker that has it, as every tree is there. */
static void take_bound(struct pack *p, const struct quotient *q)
{
	const struct fold *f = q->f;
	const struct topology *t = p->t;
	bool paid = isinf(f->least);

	p->bound = q->bound;
	p->exact = true;
	p->arc_price = room((size_t)t->links * 2, sizeof(double));
	p->node_price = room((size_t)t->nodes, sizeof(double));
	for (int i = 0; i < f->c->links; i++)
		p->arc_price[f->arc[2 * i]] = q->price[f->row[i]] / 2;
	for (int i = 0; i < f->c->nodes; i++) {
		double price = q->price[f->row[f->c->out[f->c->first[i]] >> 1]];

		for (int k = f->first[i]; k < f->first[i + 1]; k++) {
			int arc = t->out[t->first[f->member[k]]];

			p->arc_price[arc & ~1] = price / 2;
			if (!paid && topo_arc_capacity(t, arc) <= f->least) {
				p->arc_price[arc & ~1] += q->price[f->rows] / 2;
				paid = true;
			}
		}
	}
	for (int i = 0; i < t->links; i++)
		p->arc_price[2 * i + 1] = p->arc_price[2 * i];
}

static int most_trees(const struct scheme_options *o)
{
	return o->chunks > 0 && o->chunks < IMAGES_MOST ? o->chunks : IMAGES_MOST;
}

/* The packing of the folded network, unfolded; NULL where it cannot be folded. */
static struct plan *plan_folded(struct pack *p, const struct scheme_options *o)
{
	struct fold *f = p->reduce_only ? NULL : fold_new(p->t);
	double from = p->work.spent / p->work.most;
	struct quotient q;
	struct plan *plan = NULL;

	if (!f)
		return NULL;
	quotient_begin(&q, f, &p->work);
	q.enough = p->enough;
	if (quotient_run(&q, from + (FOLD_PART - from) * CLASS_PART) == 0) {
		plan = unfold(&q, "best", most_trees(o), o->seed, FOLD_PART);
		if (q.exact)
			take_bound(p, &q);
	}
	quotient_end(&q);
	fold_free(f);
	return plan;
}

/* --- by trees -----------------------------------------------------------------------------------
 */

/* What is found at once: one tree, and those of schemes that have few. */
static int look_once(struct pack *p, const struct scheme_options *o)
{
	if (pack_glance(p) != 0)
		return -1;
	if (!is_open(p))
		return 0;
	take_single(p, o);
	return pack_glance(p);
}

/* Of large networks: folded, unless one tree is enough. NULL with *done: there is no plan. */
static struct plan *pack_large(struct pack *p, const struct scheme_options *o, struct topo_error *e,
			       bool *done)
{
	struct plan *plan;
	double rate;

	*done = true;
	if (look_once(p, o) != 0) {
		topo_refuse(e, -1, -1, "best: nothing connects the workers");
		return NULL;
	}
	if (!is_open(p))
		return finish(p, "best", o, e);
	plan = plan_folded(p, o);
	if (!plan) {
		*done = false;
		return NULL;
	}
	rate = plan_rate(p->t, plan);
	if (p->t->links > PACK_LINKS || rate >= fmin(p->enough, p->bound) * (1 - FEW)) {
		p->value = rate;
		give_prices(p, plan);
		return plan;
	}
	for (int k = 0; k < plan->trees; k++)
		plan_copy_tree(p->m->pool, plan, k, 1);
	plan_free(plan);
	*done = false;
	return NULL;
}

/* Column generation; asks the other schemes where it does not prove that none is better. */
static struct plan *pack_best(struct pack *p, struct rival *r, const struct scheme_options *o,
			      struct topo_error *e)
{
	const struct topology *t = p->t;
	bool done = false;
	struct plan *plan = t->links > FOLD_LINKS ? pack_large(p, o, e, &done) : NULL;

	if (done && plan && is_open(p) && bound_of_hosts(t) > p->value)
		ask_others(r, t, o, &p->work, is_forest);
	if (done)
		return plan;
	if (t->links <= FOLD_LINKS)
		take_single(p, o);
	if (pack_run(p) != 0) {
		topo_refuse(e, -1, -1, "best: nothing connects the workers");
		return NULL;
	}
	if (is_open(p) && t->workers <= SEED_WORKERS)
		ask_slow(r, p, o);
	if (is_open(p) && r->plan && r->rate > p->value * (1 + FEW)) {
		take_rival(p, r->plan);
		if (pack_run(p) != 0)
			return NULL;
	}
	return finish(p, "best", o, e);
}

/* The rival's trees with the certificate of the packing. */
static struct plan *give_way(struct plan *p, struct plan *rival)
{
	rival->certificate = p->certificate;
	p->certificate.arc_price = NULL;
	p->certificate.node_price = NULL;
	snprintf(rival->scheme, sizeof(rival->scheme), "best");
	plan_free(p);
	return rival;
}

SCHEME(best)
{
	struct pack p = {.t = t, .merging = true, .reduce_only = o->reduce_only};
	struct rival r = {NULL, 0, false};
	struct plan *plan;
	double rate;

	p.work = work_begin(o->work, o->seconds);
	pack_begin(&p);
	p.enough = fmin(bound_cut(t, o->reduce_only), bound_degree(t, o->reduce_only));
	ask_others(&r, t, o, &p.work, is_quick);
	plan = pack_best(&p, &r, o, e);
	rate = rate_of(t, plan, o->chunks);
	/* Classes cost some plans more than others. */
	if (plan && o->chunks > 0 && t->workers <= SEED_WORKERS && rate < p.enough * (1 - FEW))
		ask_slow(&r, &p, o);
	if (plan && r.rate > rate * (1 + FEW)) {
		plan = give_way(plan, r.plan);
		r.plan = NULL;
	}
	plan_free(r.plan);
	pack_end(&p);
	return plan;
}
