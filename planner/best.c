/*
 * The forest of hosts, and the planner's own: the forest over hosts and boxes.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/lp.h"
#include "planner/pack.h"
#include "planner/schemes.h"

#define SEED_WORKERS 48 /* workers up to which all other schemes are looked at */
#define FEW_WORKERS 2000
#define FEW 1e-9      /* what fewer trees may cost, relative */
#define FEW_LOSS 2e-3 /* the same where they are whole chunk classes */

/* Whole classes; 0 where nothing is left to measure. */
static double in_classes(const struct topology *t, struct plan *p, int chunks)
{
	quantise_shares(t, p, chunks);
	return plan_quantise(p, chunks) == 0 ? plan_rate(t, p) : 0;
}

/* The plan of the packing. Where it will be cut into classes, fewer trees are worth more, as each
 * of them is rounded: unless that costs more than it saves. */
static struct plan *finish(struct pack *p, const char *name, const struct scheme_options *o,
			   struct topo_error *e)
{
	double seconds = 0.1 * p->seconds;
	struct plan *plan = master_plan(p->m, name, FEW, seconds);
	struct plan *fewer = NULL;

	if (plan && o->chunks > 0)
		fewer = master_plan(p->m, name, fmin(0.01, 2.0 / o->chunks), seconds);
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
	plan->certificate.exact = p->exact;
	if (isfinite(p->bound))
		plan->certificate.dual = p->bound;
	plan->certificate.arc_price = p->arc_price;
	plan->certificate.node_price = p->node_price;
	p->arc_price = NULL;
	p->node_price = NULL;
	return plan;
}

SCHEME(forest)
{
	struct pack p = {.t = t, .seconds = o->seconds};
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

/* Of many workers only schemes of few trees that take no time. */
static bool is_worth_it(const struct scheme *s, bool small)
{
	if (s->make == scheme_netreduce_rack || s->make == scheme_netreduce_spine ||
	    s->make == scheme_switchml || s->make == scheme_rina_switch)
		return true;
	return small && s->make != scheme_best && s->make != scheme_forest &&
	       s->make != scheme_forestcoll;
}

/* Whether anything could still be better, and there is time to look. */
static bool is_open(const struct pack *p)
{
	return p->value < p->enough * (1 - FEW) &&
	       !(p->exact && p->value >= p->bound * (1 - FEW)) && clock_seconds() < p->deadline;
}

/*
 * Adds the trees of schemes whose plans are better than the packing: none of them is then. Where
 * pricing is exact there are none such. Not done beforehand, as their trees are deep. Returns
 * whether there were any.
 */
static bool take_better(struct pack *p, const struct scheme_options *o)
{
	struct scheme_options quick = *o;
	bool any = false;

	quick.seconds = 1;
	quick.roundings = 4;
	quick.chunks = 0;
	for (const struct scheme *s = scheme_list; s->name; s++) {
		struct plan *other;

		if (!is_worth_it(s, p->t->workers <= SEED_WORKERS))
			continue;
		other = scheme_run_ordered(s, p->t, &quick, NULL);
		if (other && other->throughput > p->value * (1 + FEW)) {
			for (int k = 0; k < other->trees; k++)
				plan_copy_tree(p->m->pool, other, k, 1);
			any = true;
		}
		plan_free(other);
	}
	return any;
}

/* Trees over racks: often one of them is enough. Not those of a ring in which workers stand alone,
 * which are deep. */
static void take_single(struct pack *p, const struct scheme_options *o)
{
	static const char *const names[] = {"netreduce-rack", "netreduce-spine", "switchml",
					    "rina-switch"};
	struct scheme_options plain = *o;

	plain.chunks = 0;
	for (int i = 0; i < 4 && clock_seconds() < p->deadline - 0.5 * p->seconds; i++) {
		struct plan *other = scheme_run_ordered(scheme_find(names[i]), p->t, &plain, NULL);

		for (int k = 0; other && k < other->trees && other->trees <= p->t->boxes; k++)
			plan_copy_tree(p->m->pool, other, k, 1);
		plan_free(other);
	}
}

SCHEME(best)
{
	struct pack p = {.t = t, .merging = true, .reduce_only = o->reduce_only};
	struct plan *plan = NULL;

	p.seconds = o->seconds;
	pack_begin(&p);
	p.enough = fmin(bound_cut(t, o->reduce_only), bound_degree(t, o->reduce_only));
	/* Of many workers the trees of other schemes take longer than this one, which is often
	 * enough.
	 */
	if (t->workers <= FEW_WORKERS || pack_glance(&p) != 0 || is_open(&p))
		take_single(&p, o);
	if (pack_run(&p) == 0 && (!is_open(&p) || !take_better(&p, o) || pack_run(&p) == 0))
		plan = finish(&p, "best", o, e);
	else
		topo_refuse(e, -1, -1, "best: nothing connects the workers");
	pack_end(&p);
	return plan;
}
