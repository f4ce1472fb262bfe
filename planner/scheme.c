/*
 * The steps that all schemes share.
 */
#include "planner/scheme.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/canon.h"
#include "planner/limits.h"
#include "planner/master.h"
#include "planner/mem.h"
#include "planner/quantise.h"
#include "planner/shape.h"
#include "planner/work.h"

#define LEAST_TIME 0.02 /* part of a time limit that is left in any case */

const struct scheme *scheme_find_in(const struct scheme *list, const char *name)
{
	for (const struct scheme *s = list; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

bool scheme_is_among(const struct scheme *s, const char *const *names)
{
	for (; *names; names++)
		if (strcmp(s->name, *names) == 0)
			return true;
	return false;
}

/* Removes the way down. Every tree must then end at a server. */
static int drop_down(const struct topology *t, struct plan *p, struct topo_error *e)
{
	p->reduce_only = true;
	p->sequential = false;
	for (int i = 0; i < p->trees; i++) {
		const struct topo_node *root = &t->node[p->tree[i].root];

		p->tree[i].downs = 0;
		if (root->kind != TOPO_HOST || !root->server)
			return topo_refuse(e, p->tree[i].root, -1,
					   "%s ends at \"%s\", which is not a parameter server",
					   p->scheme, root->name);
	}
	return 0;
}

static int check(const struct topology *t, const struct scheme_options *o, struct topo_error *e)
{
	int servers = 0;

	for (int i = 0; i < t->nodes; i++)
		servers += t->node[i].kind == TOPO_HOST && t->node[i].server;
	if (t->workers < 2)
		return topo_refuse(e, -1, -1, "there is nothing to sum: %d worker%s", t->workers,
				   t->workers == 1 ? "" : "s");
	if (o->reduce_only && servers == 0)
		return topo_refuse(
			e, -1, -1,
			"--reduce-only needs a parameter server: no host has \"server\" true");
	if (o->trees < 0)
		return topo_refuse(e, -1, -1, "a forest cannot have %d trees", o->trees);
	if (!(o->gap > 0 && o->gap < 1))
		return topo_refuse(e, -1, -1, "the gap must be above 0 and below 1");
	if (o->chunks < 0 || o->roundings < 1 || !(o->seconds > 0) || !(o->work > 0))
		return topo_refuse(e, -1, -1,
				   "chunks must not be negative; roundings, work and seconds must "
				   "be positive");
	return 0;
}

/* Makes a plan respect the limits of boxes and the requested number of trees. */
static void keep_limits(const struct scheme *s, const struct topology *t, struct plan *p,
			const struct scheme_options *o)
{
	bool many = o->trees > 0 && p->trees > o->trees;
	struct work w = work_begin(o->work, o->seconds);

	if (!many && limits_check(t, p, NULL) == 0)
		return;
	if (s->fit)
		s->fit(t, p, o);
	else
		limits_fit_plan(t, p, o->trees, &w);
}

/* The options with the remaining time, but at least a small part of it. */
static struct scheme_options with_time_left(const struct scheme_options *o, double begin)
{
	struct scheme_options rest = *o;

	rest.seconds = fmax(o->seconds - (work_clock() - begin), LEAST_TIME * o->seconds);
	return rest;
}

struct plan *scheme_run_ordered(const struct scheme *s, const struct topology *t,
				const struct scheme_options *o, struct topo_error *e)
{
	double begin = work_clock();
	struct scheme_options rest;
	struct plan_load load;
	struct plan *p;

	if (check(t, o, e) != 0)
		return NULL;
	p = s->make(t, o, e);
	if (o->progress)
		o->progress(s->name, work_clock() - begin);
	if (!p)
		return NULL;
	if (p->trees == 0) {
		topo_refuse(e, -1, -1, "%s finds no tree in this network", s->name);
		goto refused;
	}
	if (o->reduce_only && drop_down(t, p, e) != 0)
		goto refused;
	plan_split_hosts(t, p);
	rest = with_time_left(o, begin);
	keep_limits(s, t, p, &rest);
	if (o->chunks > 0)
		quantise_shares(t, p, o->chunks);
	if (o->chunks > 0 && plan_quantise(p, o->chunks) != 0) {
		topo_refuse(e, -1, -1, "out of memory");
		goto refused;
	}
	p->planning_seconds = work_clock() - begin;
	if (plan_measure(t, p, &load, e) != 0)
		goto refused;
	p->throughput = load.throughput;
	p->steps = load.steps;
	plan_load_free(&load);
	return p;
refused:
	plan_free(p);
	return NULL;
}

struct plan *scheme_run(const struct scheme *s, const struct topology *t,
			const struct scheme_options *o, struct topo_error *e)
{
	double begin = work_clock();
	struct canon *c = canon_new(t);
	struct scheme_options rest = with_time_left(o, begin);
	struct plan *p;

	if (o->reporter)
		o->reporter->scale = c->scale;
	p = scheme_run_ordered(s, c->t, &rest, e);

	if (p) {
		canon_back(c, p);
		p->planning_seconds = work_clock() - begin;
		if (isnan(p->certificate.cut))
			p->certificate.cut = bound_cut_until(t, o->reduce_only, begin + o->seconds);
		p->certificate.degree = bound_degree(t, o->reduce_only);
	} else if (e && e->node >= 0) {
		e->node = c->node[e->node];
	}
	canon_free(c);
	return p;
}
