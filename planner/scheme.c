/*
 * The list of schemes, and the steps that all schemes share.
 */
#include "planner/schemes.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/canon.h"
#include "planner/limits.h"
#include "planner/memory.h"
#include "planner/work.h"
#include "planner/master.h"
#include "planner/shape.h"

#define LEAST_TIME 0.02 /* part of a time limit that is left in any case */

const struct scheme scheme_list[] = {
	{"ring", "one ring, rack by rack", scheme_ring},
	{"ring-both", "the same ring in both directions", scheme_ring_both},
	{"hierarchical-ring", "rings within racks, rings across racks", scheme_hierarchical_ring},
	{"ps", "parameter server, without merging in the network", scheme_ps},
	{"switchml", "SwitchML: a rack merges at its own switch", scheme_switchml},
	{"atp",
	 "ATP: merges at the rack's switch, what exceeds it at the server's switch, or not at all",
	 scheme_atp},
	{"atp-whole", "ATP with whole workers, equal shares for all servers", scheme_atp_whole},
	{"atp-bom", "ATP as in Rina's model, merges again at the server's switch", scheme_atp_bom},
	{"netreduce-rack", "NetReduce: all hosts merge at one box", scheme_netreduce_rack},
	{"netreduce-spine", "NetReduce: racks merge, then one box merges the racks",
	 scheme_netreduce_spine},
	{"rina-agent", "Rina: a ring of racks through their agents", scheme_rina_agent},
	{"rina-switch", "Rina: a ring of racks from switch to switch", scheme_rina_switch},
	{"grid", "GRID: linear program, best of several roundings", scheme_grid},
	{"grid-exact", "GRID: the best assignment of whole workers", scheme_grid_exact},
	{"grid-classes", "GRID's model with chunk classes", scheme_grid_classes},
	{"inart", "InArt: shares of the servers by L-InArt, merging by R-InArt", scheme_inart},
	{"inart-equal", "R-InArt with equal shares", scheme_inart_equal},
	{"inart-exact",
	 "InArt's shares with the best assignment of whole streams, small networks only",
	 scheme_inart_exact},
	{"forest", "topology-adaptive forest: trees of hosts", scheme_forest},
	{"forestcoll", "ForestColl: reduce-scatter, then all-gather, equal roots",
	 scheme_forestcoll},
	{"best", "forest over hosts and boxes, the closest to the bound", scheme_best},
	{NULL, NULL, NULL},
};

const struct scheme *scheme_find(const char *name)
{
	for (const struct scheme *s = scheme_list; s->name; s++)
		if (strcmp(s->name, name) == 0)
			return s;
	return NULL;
}

struct scheme_options scheme_options_default(void)
{
	return (struct scheme_options){
		.seed = 1, .chunks = 0, .roundings = 20, .work = 7e9, .seconds = INFINITY};
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
	if (s->make == scheme_forest)
		limits_choose(t, p, o, false);
	else
		limits_fit_plan(t, p, o->trees, &w);
}

/* The options with the remaining time, but at least a small part of it. */
static struct scheme_options with_time_left(const struct scheme_options *o, double begin)
{
	struct scheme_options rest = *o;

	rest.seconds = fmax(o->seconds - (clock_seconds() - begin), LEAST_TIME * o->seconds);
	return rest;
}

struct plan *scheme_run_ordered(const struct scheme *s, const struct topology *t,
				const struct scheme_options *o, struct topo_error *e)
{
	double begin = clock_seconds();
	struct scheme_options rest;
	struct plan_load load;
	struct plan *p;

	if (check(t, o, e) != 0)
		return NULL;
	p = s->make(t, o, e);
	if (o->progress)
		o->progress(s->name, clock_seconds() - begin);
	if (!p)
		return NULL;
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
	p->planning_seconds = clock_seconds() - begin;
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
	double begin = clock_seconds();
	struct canon *c = canon_new(t);
	struct scheme_options rest = with_time_left(o, begin);
	struct plan *p;

	if (o->reporter)
		o->reporter->scale = c->scale;
	p = scheme_run_ordered(s, c->t, &rest, e);

	if (p) {
		canon_back(c, p);
		p->planning_seconds = clock_seconds() - begin;
		if (isnan(p->certificate.cut))
			p->certificate.cut = bound_cut_until(t, o->reduce_only, begin + o->seconds);
		p->certificate.degree = bound_degree(t, o->reduce_only);
	} else if (e && e->node >= 0) {
		e->node = c->node[e->node];
	}
	canon_free(c);
	return p;
}

/* --- construction ----------------------------------------------------------------------------- */

static void must(bool good)
{
	if (!good)
		mem_out(0);
}

struct plan *make_plan(const char *name)
{
	struct plan *p = plan_new(name);

	must(p != NULL);
	return p;
}

void make_tree(struct plan *p, int root, double share)
{
	must(plan_add_tree(p, root, share) == 0);
}

void make_edge(struct plan *p, bool down, int from, int to, const int *arc, int arcs)
{
	must(plan_add_edge(p, down, from, to, arc, arcs) == 0);
}

void make_routed(struct plan *p, struct router *r, bool down, int from, int to, double weight)
{
	router_find(r, from, to, weight);
	make_edge(p, down, from, to, r->arc, r->arcs);
}

void make_mirror(struct plan *p)
{
	must(plan_mirror(p) == 0);
}

double plan_rate(const struct topology *t, const struct plan *p)
{
	struct plan *split = NULL;
	struct plan_load load;
	double rate = 0;

	if (plan_measure(t, p, &load, NULL) != 0) {
		/* The router had to lead some routes through hosts: split them there. */
		split = plan_like(p);
		for (int k = 0; k < p->trees; k++)
			plan_copy_tree(split, p, k, p->tree[k].share);
		if (!plan_split_hosts(t, split) || plan_measure(t, split, &load, NULL) != 0)
			goto out;
	}
	rate = load.throughput;
	plan_load_free(&load);
out:
	plan_free(split);
	return rate;
}

int count_rounds(const struct topology *t, const struct plan *p, const int *group)
{
	int *depth = mem_new((size_t)t->nodes, sizeof(int));
	int most = 0;

	for (int k = 0; k < p->trees; k++) {
		const struct plan_tree *tree = &p->tree[k];

		memset(depth, 0, (size_t)t->nodes * sizeof(int));
		for (int i = 0; i < tree->ups + tree->downs; i++) {
			const struct plan_edge *e = &p->edge[tree->up_first + i];
			int here = depth[e->from] + (group[e->from] != group[e->to]);
			bool down = i >= tree->ups;

			/* The way down continues from the depth of the root. */
			depth[e->to] = down || here > depth[e->to] ? here : depth[e->to];
			most = depth[e->to] > most ? depth[e->to] : most;
		}
	}
	free(depth);
	return most;
}

/* --- racks ------------------------------------------------------------------------------------ */

int box_at(const struct topology *t, int node)
{
	if (node < 0 || t->node[node].kind == TOPO_HOST)
		return -1;
	if (t->node[node].kind == TOPO_BOX)
		return node;
	for (int i = 0; i < t->boxes; i++)
		if (t->node[t->box[i]].rack == node)
			return t->box[i];
	return -1;
}

/* The switch of a worker's rack; for a GPU its NVSwitch, because it has NICs as well. */
static int find_head(const struct topology *t, int node)
{
	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		if (t->node[topo_arc_to(t, t->out[i])].variant == TOPO_NVSWITCH)
			return topo_arc_to(t, t->out[i]);
	return t->node[node].rack;
}

struct racks *racks_new(const struct topology *t)
{
	struct racks *r = mem_new(1, sizeof(*r));
	int *rack = mem_new((size_t)t->nodes, sizeof(int)); /* of a switch: 1 + index of its rack */
	int *at = mem_new((size_t)t->workers + 1, sizeof(int));
	int *of = mem_new((size_t)t->workers, sizeof(int));

	r->first = mem_new((size_t)t->workers + 1, sizeof(int));
	r->member = mem_new((size_t)t->workers, sizeof(int));
	r->head = mem_new((size_t)t->workers, sizeof(int));
	r->box = mem_new((size_t)t->workers, sizeof(int));
	for (int i = 0; i < t->workers; i++) {
		int head = find_head(t, t->worker[i]);

		if (head < 0 || rack[head] == 0) {
			r->head[r->count] = head;
			r->box[r->count++] = box_at(t, head);
			if (head >= 0)
				rack[head] = r->count;
		}
		of[i] = head < 0 ? r->count - 1 : rack[head] - 1;
		r->first[of[i] + 1]++;
	}
	for (int i = 0; i < r->count; i++) {
		r->first[i + 1] += r->first[i];
		at[i] = r->first[i];
	}
	for (int i = 0; i < t->workers; i++)
		r->member[at[of[i]]++] = t->worker[i];
	free(rack);
	free(at);
	free(of);
	return r;
}

void racks_free(struct racks *r)
{
	free(r->first);
	free(r->member);
	free(r->head);
	free(r->box);
	free(r);
}

double ingress(const struct topology *t, int node)
{
	double sum = 0;

	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		sum += topo_arc_capacity(t, t->out[i] ^ 1);
	return sum;
}

double egress(const struct topology *t, int node)
{
	double sum = 0;

	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		sum += topo_arc_capacity(t, t->out[i]);
	return sum;
}

int choose_server(const struct topology *t)
{
	int best = -1;

	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_HOST && t->node[i].server &&
		    (best < 0 || ingress(t, i) > ingress(t, best)))
			best = i;
	for (int i = 0; i < t->workers && (best < 0 || !t->node[best].server); i++)
		if (best < 0 || ingress(t, t->worker[i]) > ingress(t, best))
			best = t->worker[i];
	return best;
}
