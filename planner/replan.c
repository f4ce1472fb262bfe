/*
 * Changes a plan after a link or a box has failed. Trees that used it are replaced; all others
 * stay, with their shares. One linear program: the kept trees are one column, whose weight is the
 * throughput; the new trees together carry the rest of the vector at the same rate.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/jobs.h"
#include "planner/limits.h"
#include "planner/replan.h"
#include "planner/replanning.h"
#include "planner/shape.h"

#define VARIANTS 4       /* candidates for each broken tree, over other routes */
#define ROUND_LINKS 1500 /* links up to which cheaper trees are sought */
#define USED 1e-9
#define STEPS 16 /* attempts, about, until all trees are replaced */

/*
 * Hosts without data that have lost all links but one have no part in a plan any more, and boxes
 * that cannot merge anything any more only forward: trees that use them are broken, as if these
 * nodes had failed.
 */
static void drop_useless(const struct topology *t, const struct topology *left, int *node_of)
{
	for (int i = 0; i < t->nodes; i++)
		if (node_of[i] >= 0 && t->node[i].kind != TOPO_SWITCH &&
		    !topo_may_merge(left, node_of[i], t->node[i].worker))
			node_of[i] = -1;
}

/* Nodes without a path to a worker have failed, too. */
static void add_cut_off(const struct topology *t, struct replan_failure *f)
{
	bool *reached = mem_new((size_t)t->nodes, sizeof(bool));
	bool more = true;

	for (int i = 0; i < t->nodes; i++)
		reached[i] = t->node[i].worker && !f->node[i];
	while (more) {
		more = false;
		for (int i = 0; i < t->links; i++) {
			int a = t->link[i].a;
			int b = t->link[i].b;

			if (f->link[i] || f->node[a] || f->node[b] || reached[a] == reached[b])
				continue;
			reached[a] = reached[b] = more = true;
		}
	}
	f->cut_off = 0;
	for (int i = 0; i < t->nodes; i++) {
		if (f->node[i] || reached[i])
			continue;
		f->first_cut_off = f->cut_off++ == 0 ? i : f->first_cut_off;
		f->node[i] = true;
	}
	free(reached);
}

struct topology *replan_rest(const struct topology *t, struct replan_failure *f, int **node_of,
			     int **arc_of, struct topo_error *e)
{
	struct topology *left = topo_copy(t);
	int *node = mem_new((size_t)t->nodes, sizeof(int));
	int *arc = mem_new((size_t)t->links * 2, sizeof(int));

	*node_of = node;
	*arc_of = arc;
	if (!left) {
		topo_refuse(e, -1, -1, "out of memory");
		return NULL;
	}
	for (int i = 0; i < t->nodes; i++)
		if (f->node[i] && t->node[i].worker) {
			topo_refuse(e, i, -1,
				    "the host \"%s\" has data in the plan, so its failure needs "
				    "a new plan: take it out of the job, or give it \"worker\": "
				    "false in the topology, and use ringfold plan jobs or make",
				    t->node[i].name);
			topo_free(left);
			return NULL;
		}
	add_cut_off(t, f);
	left->nodes = left->links = 0;
	for (int i = 0; i < t->nodes; i++) {
		node[i] = f->node[i] ? -1 : left->nodes;
		if (!f->node[i])
			left->node[left->nodes++] = t->node[i];
	}
	for (int i = 0; i < t->links; i++) {
		struct topo_link l = t->link[i];
		bool gone = f->link[i] || node[l.a] < 0 || node[l.b] < 0;

		arc[2 * i] = gone ? -1 : 2 * left->links;
		arc[2 * i + 1] = gone ? -1 : 2 * left->links + 1;
		if (gone)
			continue;
		l.a = node[l.a];
		l.b = node[l.b];
		left->link[left->links++] = l;
	}
	if (topo_drop_useless_boxes(left) != 0) {
		topo_refuse(e, -1, -1, "out of memory");
	} else if (topo_finish(left, e) == 0) {
		drop_useless(t, left, node);
		return left;
	}
	topo_free(left);
	return NULL;
}

/*
 * Copies one tree of the old plan to the remaining network; false: it used a failed part, and the
 * copy may be incomplete.
 */
static bool carry_over(const struct plan *old, int tree, const int *node_of, const int *arc_of,
		       struct plan *to)
{
	const struct plan_tree *k = &old->tree[tree];
	int *arc = NULL;
	bool whole = node_of[k->root] >= 0;

	if (!whole)
		return false;
	build_tree(to, node_of[k->root], k->share);
	to->tree[to->trees - 1].chunks = k->chunks;
	for (int i = 0; i < k->ups + k->downs; i++) {
		const struct plan_edge *e = &old->edge[k->up_first + i];

		arc = mem_more(arc, (size_t)e->arcs, sizeof(int));
		whole = whole && node_of[e->from] >= 0 && node_of[e->to] >= 0;
		for (int j = 0; j < e->arcs && whole; j++) {
			arc[j] = arc_of[old->route[e->first + j]];
			whole = arc[j] >= 0;
		}
		if (whole)
			build_edge(to, i >= k->ups, node_of[e->from], node_of[e->to], arc, e->arcs);
	}
	free(arc);
	return whole;
}

/* Removes the latest tree. */
static void drop_latest(struct plan *p)
{
	const struct plan_tree *k = &p->tree[p->trees - 1];

	if (k->up_first < p->edges)
		p->routes = p->edge[k->up_first].first;
	p->edges = k->up_first;
	p->trees--;
}

/* The nearest node on the way up that has not failed. */
static int next_left(const struct plan *old, const struct plan_tree *k, const int *node_of,
		     int node)
{
	while (node_of[node] < 0)
		for (int i = 0; i < k->ups; i++)
			if (old->edge[k->up_first + i].from == node) {
				node = old->edge[k->up_first + i].to;
				break;
			}
	return node_of[node];
}

/*
 * Adds a broken tree with other routes instead of the failed ones. The children of failed nodes are
 * attached to the next node above. Adds nothing if the root has failed.
 */
static void reroute_tree(struct replanning *x, struct router *r, struct shape *s,
			 const struct plan *old, int tree, const int *node_of, const int *arc_of)
{
	const struct plan_tree *k = &old->tree[tree];
	struct plan *one;

	if (node_of[k->root] < 0)
		return;
	shape_begin(s, node_of[k->root]);
	for (int i = 0; i < k->ups; i++) {
		const struct plan_edge *e = &old->edge[k->up_first + i];
		int *route = mem_new((size_t)e->arcs, sizeof(int));
		bool whole = node_of[e->from] >= 0 && node_of[e->to] >= 0;

		for (int j = 0; j < e->arcs && whole; j++) {
			route[j] = arc_of[old->route[e->first + j]];
			whole = route[j] >= 0;
		}
		if (whole)
			shape_attach(s, node_of[e->from], node_of[e->to], route, e->arcs);
		else if (node_of[e->from] >= 0)
			shape_route(s, r, node_of[e->from], next_left(old, k, node_of, e->to), 1);
		free(route);
	}
	one = plan_like(x->pool);
	build_tree(one, s->root, 1);
	shape_emit(s, one, false);
	if (!one->reduce_only)
		build_mirror(one);
	plan_split_hosts(x->t, one);
	plan_copy_tree(x->pool, one, 0, 1);
	plan_free(one);
}

/* --- the plan --------------------------------------------------------------------------------- */

/* Gives the new trees whole classes, as many as the removed trees had. */
static void share_classes(struct plan *fresh, int classes, int all)
{
	if (classes < 1)
		return;
	if (plan_quantise(fresh, classes) != 0)
		mem_out(0);
	for (int k = 0; k < fresh->trees; k++)
		fresh->tree[k].share = (double)fresh->tree[k].chunks / all;
}

static struct plan *build(struct replanning *x, const struct plan *old, struct replan *what)
{
	struct plan *made = plan_like(old);
	struct plan *p = plan_like(old);
	double sum = 0;
	int classes = old->chunks;

	for (int k = 0; k < x->columns; k++)
		sum += replanning_weight(x, k) > USED ? replanning_weight(x, k) : 0;
	for (int k = 0; k < x->columns; k++)
		if (replanning_weight(x, k) > USED)
			plan_copy_tree(made, x->pool, k, replanning_weight(x, k) / sum);
	for (int k = 0; k < x->kept->trees; k++)
		classes -= x->kept->tree[k].chunks;
	if (old->chunks > 0)
		share_classes(made, classes, old->chunks);
	else
		for (int k = 0; k < made->trees; k++)
			made->tree[k].share *= x->rest;
	for (int k = 0; k < x->kept->trees; k++) {
		plan_copy_tree(p, x->kept, k, x->kept->tree[k].share);
		p->tree[p->trees - 1].chunks = x->kept->tree[k].chunks;
	}
	for (int k = 0; k < made->trees; k++) {
		plan_copy_tree(p, made, k, made->tree[k].share);
		p->tree[p->trees - 1].chunks = made->tree[k].chunks;
	}
	what->made = made->trees;
	p->chunks = old->chunks;
	plan_free(made);
	return p;
}

/* Converts the hosts of a job, all of which are left, to their new indexes. */
static void carry_hosts(const struct plan *old, const int *node_of, struct plan *p)
{
	if (old->hosts == 0)
		return;
	p->host = mem_new((size_t)old->hosts, sizeof(int));
	for (int i = 0; i < old->hosts; i++)
		p->host[p->hosts++] = node_of[old->host[i]];
}

static void replanning_end(struct replanning *x)
{
	plan_free(x->kept);
	plan_free(x->pool);
	if (x->lp)
		lp_free(x->lp);
	tree_load_free(&x->load);
	free(x->row);
	free(x->scratch);
	free(x->left);
}

/* Fills the pool with candidates to replace the broken trees. */
static void fill_pool(struct replanning *x, const struct plan *old, const bool *broken,
		      const struct plan *fresh, const int *node_of, const int *arc_of,
		      const struct scheme_options *o)
{
	struct router *r = router_new(x->t);
	struct shape *s = shape_new(x->t);
	struct plan *raw = x->pool;
	struct limits_fit *f;

	for (int v = 0; v < VARIANTS; v++)
		for (int k = 0; k < old->trees; k++)
			if (broken[k])
				reroute_tree(x, r, s, old, k, node_of, arc_of);
	for (int k = 0; k < fresh->trees; k++)
		plan_copy_tree(x->pool, fresh, k, 1);
	x->pool = plan_like(old);
	f = limits_fit_new(x->t, x->kept->trees > 0 ? x->kept : raw);
	for (int i = 0; i < x->t->boxes; i++)
		f->allowed[x->t->box[i]] = x->left[x->t->box[i]] > 0;
	for (int k = 0; k < raw->trees; k++)
		limits_fit_tree(f, raw, k, x->pool, 1);
	/* One tree without limited boxes, which is always possible. */
	for (int i = 0; i < x->t->boxes && limits_any(x->t); i++)
		f->allowed[x->t->box[i]] = false;
	if (limits_any(x->t) && raw->trees > 0)
		limits_fit_tree(f, raw, 0, x->pool, 1);
	for (int i = 0; i < x->t->boxes; i++)
		f->allowed[x->t->box[i]] = x->left[x->t->box[i]] > 0;
	replanning_begin(x);
	if (x->t->links <= ROUND_LINKS)
		replanning_search(x, f, o);
	limits_fit_free(f);
	plan_free(raw);
	shape_free(s);
	router_free(r);
}

static void count_left(struct replanning *x)
{
	int *groups = limits_groups(x->t, x->kept);

	for (int i = 0; i < x->t->nodes; i++)
		x->left[i] = limits_trees(x->t, i) == TOPO_UNLIMITED
				     ? TOPO_UNLIMITED
				     : limits_trees(x->t, i) - groups[i];
	free(groups);
}

static struct plan *finish(const struct topology *t, const struct plan *old, const int *node_of,
			   struct plan *p, struct topo_error *e)
{
	struct plan_load load;

	if (p->hosts == 0)
		carry_hosts(old, node_of, p);
	if (plan_measure(t, p, &load, e) != 0)
		goto refused;
	p->throughput = load.throughput;
	p->steps = load.steps;
	plan_load_free(&load);
	if (plan_verify(t, p, &load, e) != 0)
		goto refused;
	plan_load_free(&load);
	return p;
refused:
	plan_free(p);
	return NULL;
}

/* --- which trees stay ------------------------------------------------------------------------- */

/* What an attempt to replace some trees starts from. */
struct change {
	const struct topology *t;
	const struct plan *old;
	const struct plan *fresh;
	const int *node_of, *arc_of;
	const struct scheme_options *o;
};

/*
 * Replaces the broken trees; all others stay. NULL with the reason. gain: for each tree of the old
 * plan that stays, what its replacement would gain at the prices of the program.
 */
static struct plan *replace(const struct change *c, const bool *broken, double *gain,
			    struct replan *what, struct topo_error *e)
{
	const struct topology *t = c->t;
	struct replanning x = {.t = t, .unit = INFINITY};
	struct plan *p = NULL;

	x.kept = plan_like(c->old);
	x.pool = plan_like(c->old);
	for (int k = 0; k < c->old->trees; k++) {
		if (broken[k])
			x.rest += c->old->tree[k].share;
		else
			carry_over(c->old, k, c->node_of, c->arc_of, x.kept);
	}
	for (int i = 0; i < t->workers; i++)
		x.unit = fmin(x.unit, topo_egress(t, t->worker[i]));
	x.row = mem_new((size_t)(2 * t->links + t->nodes), sizeof(int));
	x.scratch = mem_new((size_t)(2 * t->links + t->nodes), sizeof(double));
	x.left = mem_new((size_t)t->nodes, sizeof(int));
	count_left(&x);
	fill_pool(&x, c->old, broken, c->fresh, c->node_of, c->arc_of, c->o);
	if (replanning_solve(&x) == 0) {
		replanning_thin(&x);
		for (int k = 0, kept = 0; k < c->old->trees; k++)
			gain[k] = broken[k] ? 0 : replanning_gain(&x, kept++);
		what->kept = x.kept->trees;
		what->gone = c->old->trees - what->kept;
		p = finish(t, c->old, c->node_of, build(&x, c->old, what), e);
	} else {
		topo_refuse(e, -1, -1,
			    "no trees can replace those that used the failed links and nodes");
	}
	replanning_end(&x);
	return p;
}

/* The tree that stays and has the largest gain; the first of several. */
static int find_largest(const double *gain, const bool *broken, int trees)
{
	int most = -1;

	for (int k = 0; k < trees; k++)
		if (!broken[k] && (most < 0 || gain[k] > gain[most]))
			most = k;
	return most;
}

/* The old plan for the remaining network. broken: the trees that used a failed part. */
static struct plan *carry_plan(const struct plan *old, const int *node_of, const int *arc_of,
			       bool *broken, struct replan *what)
{
	struct plan *kept = plan_like(old);

	for (int k = 0; k < old->trees; k++) {
		int before = kept->trees;

		broken[k] = !carry_over(old, k, node_of, arc_of, kept);
		if (broken[k] && kept->trees > before)
			drop_latest(kept);
		what->gone += broken[k];
	}
	what->kept = kept->trees;
	kept->chunks = old->chunks;
	kept->sequential = old->sequential;
	return kept;
}

/*
 * Replaces the broken trees and, as long as the rate is not reached, the trees with the largest
 * gain. NULL: only a new plan reaches it, or, if the rate is 0, e has the reason.
 */
static struct plan *change_trees(const struct change *c, bool *broken, double rate,
				 struct replan *what, struct topo_error *e)
{
	double *gain = mem_new((size_t)c->old->trees, sizeof(double));
	struct plan *p = replace(c, broken, gain, what, e);
	int whole = what->kept;
	int step = 1 + whole / STEPS;

	what->all_kept = p ? p->throughput : 0;
	while (rate > 0 && (!p || p->throughput < rate)) {
		plan_free(p);
		p = NULL;
		for (int i = 0; i < step && what->more < whole; i++, what->more++)
			broken[find_largest(gain, broken, c->old->trees)] = true;
		if (what->more == whole)
			break;
		p = replace(c, broken, gain, what, e);
	}
	free(gain);
	return p;
}

struct plan *replan(const struct topology *t, const struct plan *before, const int *node_of,
		    const int *arc_of, const struct scheme_options *o, double least,
		    struct replan *what, struct topo_error *e)
{
	/* If trees are replaced, the way down of the others no longer waits for all sums. */
	struct plan flowing = *before;
	struct scheme_options plain = *o;
	struct change c = {t, &flowing, NULL, node_of, arc_of, o};
	bool *broken = mem_new((size_t)before->trees, sizeof(bool));
	struct plan *kept, *fresh;
	struct plan *p = NULL;

	*what = (struct replan){0};
	flowing.sequential = false;
	plain.reduce_only = before->reduce_only;
	plain.chunks = before->chunks;
	fresh = scheme_run(scheme_find("best"), t, &plain, e);
	if (!fresh) {
		free(broken);
		return NULL;
	}
	c.fresh = fresh;
	what->fresh = fresh->throughput;
	kept = carry_plan(before, node_of, arc_of, broken, what);
	if (what->gone == 0) {
		p = finish(t, before, node_of, kept, e);
		kept = NULL;
		goto out;
	}
	least *= fmin(fresh->throughput, before->throughput);
	if (what->kept > 0) {
		p = change_trees(&c, broken, least, what, e);
		if (p || least <= 0)
			goto out;
	}
	what->whole = true;
	what->kept = 0;
	what->gone = before->trees;
	what->made = fresh->trees;
	p = finish(t, before, node_of, fresh, e);
	fresh = NULL;
out:
	free(broken);
	plan_free(kept);
	plan_free(fresh);
	return p;
}
