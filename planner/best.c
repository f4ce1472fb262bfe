/*
 * The schemes "forest", over hosts only, and "best", over hosts and boxes.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/build.h"
#include "planner/limits.h"
#include "planner/mem.h"
#include "planner/pack.h"
#include "planner/quantise.h"
#include "planner/quotient.h"
#include "planner/rails.h"
#include "planner/schemes.h"
#include "planner/shape.h"
#include "planner/unfold.h"
#include "planner/work.h"

#define SEED_WORKERS 400 /* workers up to which slow schemes run */
#define ATP_WORKERS 2000 /* workers up to which ATP runs */
#define CLOCK_PART 0.3   /* of the remaining time, for each slow scheme */
#define FOLD_LINKS 150   /* links above which the network is folded */
#define PACK_LINKS 1500  /* links above which column generation does not follow */
#define FOLD_PART 0.8    /* of the work, for all steps on the folded network */
#define CLOCK_MOST 0.85  /* of a time limit; the rest is for steps that cannot be interrupted */
#define CUT_PART 0.2     /* of that, for the cut bound */
#define QUICK_PART 0.3   /* of that, for the quick schemes and the cut bound */
#define LOOK_PART 0.6    /* of that: once it is gone, a large network is folded at once */
#define PATIENCE 2       /* the next quick scheme may take this many times the slowest one so far */
#define LEAST_SECONDS 1e-3
#define SINGLES 4      /* schemes with few trees, over racks */
#define CLASS_PART 0.5 /* of FOLD_PART, for the program over classes; the rest is for images */
#define IMAGES_MOST 512
#define IMAGES_FINE 16384 /* the same if a small gap is requested */
#define RAILS_LOSS 0.015  /* allowed loss of throughput on rail fabrics without slow schemes */
#define FEW 1e-9          /* relative loss of throughput allowed for fewer trees */
#define FEW_LOSS 2e-3     /* the same for trees in whole chunk classes */

/* Divides a plan into chunk classes and returns its throughput; 0 if the result is not valid. */
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

/*
 * The plan of the packing. Each tree is rounded when the plan is divided into classes, so fewer
 * trees are better then, unless that costs more than it saves.
 */
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

/* Upper bound for trees of hosts: the workers must receive the 2 (N - 1) streams of each tree. */
static double bound_of_hosts(const struct topology *t)
{
	double sum = 0;

	for (int i = 0; i < t->workers; i++)
		sum += topo_ingress(t, t->worker[i]);
	return sum / (2.0 * (t->workers - 1));
}

/* The rings or binary trees of a large rail fabric if no forest is much better; NULL: others. */
static struct plan *forest_of_rails(const struct topology *t, const struct scheme_options *o)
{
	struct plan *p = t->workers > SEED_WORKERS && !o->reduce_only
				 ? rails_plan(t, false, o->gap < SCHEME_GAP)
				 : NULL;

	if (p && p->throughput >= bound_of_hosts(t) * (1 - RAILS_LOSS)) {
		snprintf(p->scheme, sizeof(p->scheme), "forest");
		return p;
	}
	plan_free(p);
	return NULL;
}

struct plan *scheme_forest(const struct topology *t, const struct scheme_options *o,
			   struct topo_error *e)
{
	struct pack p = {.t = t, .work = work_begin(o->work, o->seconds * CLOCK_MOST)};
	struct plan *plan = forest_of_rails(t, o);

	if (plan)
		return plan;
	p.work.reporter = o->reporter;
	p.enough = bound_cut_until(t, false, p.work.begin + CUT_PART * (p.work.end - p.work.begin));
	pack_begin(&p);
	if (pack_run(&p) == 0)
		plan = finish(&p, "forest", o, e);
	else
		topo_refuse(e, -1, -1, "forest: nothing connects the workers");
	pack_end(&p);
	return plan;
}

/* --- best ------------------------------------------------------------------------------------- */

/* The best plan of the other schemes. */
struct rival {
	struct plan *plan;
	double rate;
	double slowest;               /* seconds of the slowest scheme */
	struct plan *single[SINGLES]; /* plans of a few trees over racks; NULL: none */
	bool slow;                    /* the slow schemes have run */
	bool rails;                   /* the network is a rail fabric */
};

/*
 * Index of a scheme whose trees are over racks: one such tree is often enough. -1: another scheme.
 * Plans with more trees than boxes do not count (keep_single): in those rings workers stand alone,
 * and the trees are deep.
 */
static int single_number(const struct scheme *s)
{
	static const char *const names[SINGLES] = {"netreduce-rack", "netreduce-spine", "switchml",
						   "rina-switch"};

	for (int i = 0; i < SINGLES; i++)
		if (strcmp(s->name, names[i]) == 0)
			return i;
	return -1;
}

static void keep_single(struct rival *r, const struct topology *t, int number, const struct plan *p)
{
	if (!p || p->trees > t->boxes)
		return;
	r->single[number] = plan_like(p);
	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(r->single[number], p, k, 1);
}

/* Schemes whose time grows in proportion to the network and the number of their trees. */
static bool is_quick(const struct scheme *s)
{
	static const char *const names[] = {
		"ring",      "ring-both",      "hierarchical-ring", "switchml",   "atp-bom",
		"atp-whole", "netreduce-rack", "netreduce-spine",   "rina-agent", "rina-switch",
		NULL};

	return scheme_is_among(s, names);
}

static bool is_slow(const struct scheme *s)
{
	return !is_quick(s);
}

static bool is_forest(const struct scheme *s)
{
	return s->make == scheme_forest;
}

/* Whether a better plan is still possible. */
static bool is_open(const struct pack *p)
{
	return p->value < p->enough * (1 - FEW) && !(p->exact && p->value >= p->bound * (1 - FEW));
}

/* Schemes in which every worker's stream has its own route to its box and the server. */
static bool is_atp(const struct scheme *s)
{
	return s->make == scheme_atp_whole || s->make == scheme_atp_bom;
}

/*
 * Runs some schemes. They get the same options as when they run alone, so that none of them can be
 * better alone.
 */
static void run_others(struct rival *r, const struct topology *t, const struct scheme_options *o,
		       const struct work *w, bool (*is_chosen)(const struct scheme *s))
{
	double part = is_chosen == is_quick ? QUICK_PART : 1;

	for (const struct scheme *s = o->schemes; s->name; s++) {
		struct scheme_options plain = *o;
		double begin = work_clock();
		int single = single_number(s);
		struct plan *other;

		if (s->make == scheme_best || !is_chosen(s) ||
		    (t->workers > ATP_WORKERS && is_atp(s)))
			continue;
		/* The first scheme, a ring, always runs. */
		if (r->plan && !work_has_time(w, part, PATIENCE * r->slowest))
			break;
		if (!isinf(o->seconds))
			plain.seconds = fmax((w->end - begin) * CLOCK_PART, LEAST_SECONDS);
		if (single >= 0)
			plain.chunks = 0;
		other = scheme_run_ordered(s, t, &plain, NULL);
		if (single >= 0 && is_chosen == is_quick)
			keep_single(r, t, single, other);
		if (other && plain.chunks != o->chunks)
			other->throughput = in_classes(t, other, o->chunks);
		r->slowest = fmax(r->slowest, work_clock() - begin);
		if (!other || (r->plan && other->throughput <= r->rate * (1 + FEW))) {
			plan_free(other);
			continue;
		}
		plan_free(r->plan);
		r->plan = other;
		r->rate = other->throughput;
	}
}

/* Rail fabrics have plans that no scheme makes. */
static void try_rails(struct rival *r, const struct topology *t, const struct scheme_options *o)
{
	struct plan *p = o->reduce_only ? NULL : rails_plan(t, true, o->gap < SCHEME_GAP);

	if (p && ((o->trees > 0 && p->trees > o->trees) || limits_check(t, p, NULL) != 0)) {
		plan_free(p);
		return;
	}
	r->rails = p != NULL;
	if (p && o->chunks > 0)
		p->throughput = in_classes(t, p, o->chunks);
	/* Equal ones have fewer and shallower trees than a ring. */
	if (!p || (r->plan && p->throughput < r->rate * (1 - FEW))) {
		plan_free(p);
		return;
	}
	plan_free(r->plan);
	r->plan = p;
	r->rate = p->throughput;
}

static void run_slow(struct rival *r, const struct pack *p, const struct scheme_options *o)
{
	if (r->slow)
		return;
	r->slow = true;
	run_others(r, p->t, o, &p->work, is_slow);
}

static void take_trees(struct pack *p, const struct plan *other)
{
	for (int k = 0; other && k < other->trees; k++)
		plan_copy_tree(p->m->pool, other, k, 1);
}

static void take_singles(struct pack *p, const struct rival *r)
{
	for (int i = 0; i < SINGLES; i++)
		take_trees(p, r->single[i]);
}

/* The throughput of a plan, after the division into classes if chunks is not 0. */
static double rate_of(const struct topology *t, const struct plan *p, int chunks)
{
	struct plan *copy;
	double rate;

	if (!p)
		return 0;
	if (chunks == 0)
		return plan_rate(t, p);
	copy = build_plan("classes");
	copy->reduce_only = p->reduce_only;
	for (int k = 0; k < p->trees; k++)
		plan_copy_tree(copy, p, k, p->tree[k].share);
	rate = in_classes(t, copy, chunks);
	plan_free(copy);
	return rate;
}

/* --- by classes ------------------------------------------------------------------------------- */

/*
 * Sets the bound and the prices of arcs from the prices of classes; each direction gets half. The
 * price of the least link is added at one worker that has such a link, because every tree contains
 * every worker.
 */
static void take_bound(struct pack *p, const struct quotient *q)
{
	const struct fold *f = q->f;
	const struct topology *t = p->t;
	bool paid = isinf(f->least);

	p->bound = q->bound;
	p->exact = true;
	p->arc_price = mem_new((size_t)t->links * 2, sizeof(double));
	p->node_price = mem_new((size_t)t->nodes, sizeof(double));
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
	int most = o->gap < SCHEME_GAP ? IMAGES_FINE : IMAGES_MOST;

	return o->chunks > 0 && o->chunks < most ? o->chunks : most;
}

/* The best plan of the other schemes, renamed. */
static struct plan *rival_plan(struct rival *r)
{
	struct plan *p = r->plan;

	r->plan = NULL;
	r->rate = 0;
	snprintf(p->scheme, sizeof(p->scheme), "best");
	return p;
}

/* Whether the plan of a rail fabric reaches the bounds that are proven so far, up to a loss. */
static bool is_rails_enough(const struct pack *p, const struct rival *r, double loss)
{
	return r->plan && r->rails && r->rate >= fmin(p->enough, p->bound) * (1 - loss);
}

static double rails_loss(const struct topology *t, const struct scheme_options *o)
{
	if (t->workers <= SEED_WORKERS)
		return FEW;
	return o->gap < SCHEME_GAP ? o->gap : RAILS_LOSS;
}

/*
 * The packing of the folded network, unfolded; NULL if the network cannot be folded. The plan of a
 * rail fabric instead if the prices of classes prove it good.
 */
static struct plan *plan_folded(struct pack *p, struct rival *r, const struct scheme_options *o)
{
	struct fold *f = p->reduce_only ? NULL : fold_new(p->t);
	double from = work_gone(&p->work);
	struct quotient q;
	struct plan *plan = NULL;

	if (!f)
		return NULL;
	quotient_begin(&q, f, &p->work);
	q.enough = p->enough;
	if (quotient_run(&q, from + (FOLD_PART - from) * CLASS_PART) == 0) {
		if (q.exact)
			take_bound(p, &q);
		plan = is_rails_enough(p, r, rails_loss(p->t, o))
			       ? rival_plan(r)
			       : unfold(&q, "best", most_trees(o), o->gap, o->seed, FOLD_PART);
	}
	quotient_end(&q);
	fold_free(f);
	return plan;
}

/* --- by trees --------------------------------------------------------------------------------- */

/* Tries one tree, then the trees of schemes that have few. */
static int try_first_trees(struct pack *p, const struct rival *r)
{
	if (pack_first_tree(p) != 0)
		return -1;
	if (!is_open(p))
		return 0;
	take_singles(p, r);
	return pack_first_tree(p);
}

/*
 * A large network is folded, unless one tree is enough. Sets *done if the result is final, which is
 * NULL after an error; otherwise column generation continues.
 */
static struct plan *pack_large(struct pack *p, struct rival *r, const struct scheme_options *o,
			       struct topo_error *e, bool *done)
{
	struct plan *plan;
	double rate;

	*done = true;
	if (work_has_time(&p->work, LOOK_PART, r->slowest)) {
		if (try_first_trees(p, r) != 0) {
			topo_refuse(e, -1, -1, "best: nothing connects the workers");
			return NULL;
		}
		if (!is_open(p))
			return finish(p, "best", o, e);
	}
	if (is_rails_enough(p, r, FEW)) {
		p->value = r->rate;
		return rival_plan(r);
	}
	plan = plan_folded(p, r, o);
	if (!plan) {
		*done = false;
		return NULL;
	}
	rate = plan_rate(p->t, plan);
	if (!r->plan || p->t->links > PACK_LINKS || rate >= fmin(p->enough, p->bound) * (1 - FEW)) {
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

/* Column generation. Runs the other schemes unless it proves that none of them is better. */
static struct plan *pack_best(struct pack *p, struct rival *r, const struct scheme_options *o,
			      struct topo_error *e)
{
	const struct topology *t = p->t;
	bool done = false;
	struct plan *plan = t->links > FOLD_LINKS ? pack_large(p, r, o, e, &done) : NULL;

	if (done && plan && is_open(p) && bound_of_hosts(t) > p->value)
		run_others(r, t, o, &p->work, is_forest);
	if (done)
		return plan;
	/* No time left: use the result of the quick schemes. */
	if (r->plan && t->links > PACK_LINKS && !work_has_time(&p->work, FOLD_PART, 0))
		return rival_plan(r);
	if (t->links <= FOLD_LINKS)
		take_singles(p, r);
	if (pack_run(p) != 0) {
		topo_refuse(e, -1, -1, "best: nothing connects the workers");
		return NULL;
	}
	if (is_open(p) && t->workers <= SEED_WORKERS)
		run_slow(r, p, o);
	if (is_open(p) && r->plan && r->rate > p->value * (1 + FEW)) {
		take_trees(p, r->plan);
		if (pack_run(p) != 0)
			return NULL;
	}
	return finish(p, "best", o, e);
}

/* The trees of the other scheme's plan, with the certificate of the packing. */
static struct plan *adopt_rival(struct plan *p, struct plan *rival)
{
	rival->certificate = p->certificate;
	p->certificate.arc_price = NULL;
	p->certificate.node_price = NULL;
	snprintf(rival->scheme, sizeof(rival->scheme), "best");
	plan_free(p);
	return rival;
}

/*
 * Makes the plan respect the limits of boxes and of the number of trees; plans of other schemes
 * already do. False: there is no time for it.
 */
static bool keep_limits(const struct topology *t, struct plan *p, const struct scheme_options *o,
			const struct work *w)
{
	struct scheme_options rest = *o;

	plan_split_hosts(t, p);
	if ((o->trees <= 0 || p->trees <= o->trees) && limits_check(t, p, NULL) == 0)
		return true;
	if (!work_has_time(w, FOLD_PART, 0))
		return false;
	if (!isinf(o->seconds))
		rest.seconds = fmax(w->end - work_clock(), LEAST_SECONDS);
	limits_choose(t, p, &rest, true);
	return true;
}

struct plan *scheme_best(const struct topology *t, const struct scheme_options *o,
			 struct topo_error *e)
{
	struct pack p = {.t = t, .merging = true, .reduce_only = o->reduce_only};
	struct rival r = {.plan = NULL};
	struct plan *plan;
	double rate, cut;
	bool kept;

	p.work = work_begin(o->work, o->seconds * CLOCK_MOST);
	p.work.reporter = o->reporter;
	pack_begin(&p);
	cut = bound_cut_until(t, o->reduce_only,
			      p.work.begin + CUT_PART * (p.work.end - p.work.begin));
	p.enough = fmin(cut, bound_degree(t, o->reduce_only));
	run_others(&r, t, o, &p.work, is_quick);
	try_rails(&r, t, o);
	plan = pack_best(&p, &r, o, e);
	kept = plan && (keep_limits(t, plan, o, &p.work) || !r.plan);
	rate = kept ? rate_of(t, plan, o->chunks) : 0;
	/* The division into classes costs some plans more than others. */
	if (plan && o->chunks > 0 && t->workers <= SEED_WORKERS && rate < p.enough * (1 - FEW))
		run_slow(&r, &p, o);
	if (plan && r.rate > rate * (1 + FEW)) {
		plan = adopt_rival(plan, r.plan);
		r.plan = NULL;
	}
	if (plan)
		plan->certificate.cut = cut;
	for (int i = 0; i < SINGLES; i++)
		plan_free(r.single[i]);
	plan_free(r.plan);
	pack_end(&p);
	return plan;
}
