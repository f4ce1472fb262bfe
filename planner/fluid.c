/*
 * Simulates trees as fluid flows. Resources are arcs (0 .. 2 links - 1), followed by nodes that
 * merge.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/sim.h"
#include "planner/work.h"

/* How often a flow uses a resource, per unit of its rate. */
struct use {
	int resource;
	double times;
};

struct fluid {
	const struct topology *t;
	int resources;
	int flows;
	struct use *use; /* of flow f: use[first[f]] .. use[first[f + 1] - 1] */
	int *first;
	double *capacity;
	double *weight;
	double *rate;
	double *left; /* remaining amount of each flow */
	double *work; /* amount through each resource, to find the busiest one */
	/* State of one progressive filling. */
	double *spare;
	double *slope; /* how fast a resource fills when the level rises */
	int *users;    /* number of flows that are not fixed, by resource */
	bool *fixed;
};

struct sim_options sim_options_default(void)
{
	return (struct sim_options){.amount = 1, .chunks = 256, .window = 64};
}

/* --- resources -------------------------------------------------------------------------------- */

struct counter {
	int *count; /* by resource */
	int *list;
	int used;
};

static void count_one(struct counter *c, int resource)
{
	if (c->count[resource]++ == 0)
		c->list[c->used++] = resource;
}

static void count_edges(struct counter *c, const struct plan *p, int first, int edges)
{
	for (int i = 0; i < edges; i++) {
		const struct plan_edge *e = &p->edge[first + i];

		for (int k = 0; k < e->arcs; k++)
			count_one(c, p->route[e->first + k]);
	}
}

/*
 * Counts the inputs of nodes with limited processing: every input of a host, and of a box only if
 * there are several.
 */
static void count_merges(struct counter *c, const struct topology *t, const struct plan *p,
			 const struct plan_tree *tree)
{
	for (int i = 0; i < tree->ups; i++) {
		int to = p->edge[tree->up_first + i].to;

		if (!isinf(t->node[to].processing))
			count_one(c, 2 * t->links + to);
	}
	for (int i = 0; i < c->used; i++) {
		int node = c->list[i] - 2 * t->links;

		if (node >= 0 && t->node[node].kind == TOPO_BOX && c->count[c->list[i]] == 1)
			c->count[c->list[i]] = 0;
	}
}

static int add_flow(struct fluid *f, struct counter *c, int *room)
{
	int at = f->first[f->flows];

	if (at + c->used > *room) {
		int wanted = 2 * (at + c->used);
		struct use *more = realloc(f->use, (size_t)wanted * sizeof(*more));

		if (!more)
			return -1;
		f->use = more;
		*room = wanted;
	}
	for (int i = 0; i < c->used; i++) {
		int r = c->list[i];

		if (c->count[r] > 0)
			f->use[at++] = (struct use){r, c->count[r]};
		c->count[r] = 0;
	}
	c->used = 0;
	f->first[++f->flows] = at;
	return 0;
}

/* Builds the flows. phase 0: up, 1: down, 2: both at once, as in a pipelined tree. */
static int build(struct fluid *f, const struct plan *p, int phase, bool even)
{
	struct counter c = {calloc((size_t)f->resources, sizeof(int)),
			    malloc((size_t)f->resources * sizeof(int)), 0};
	int room = 0;
	int rc = c.count && c.list ? 0 : -1;

	f->flows = 0;
	f->first[0] = 0;
	for (int i = 0; i < p->trees && rc == 0; i++) {
		const struct plan_tree *tree = &p->tree[i];

		if (phase != 1) {
			count_edges(&c, p, tree->up_first, tree->ups);
			count_merges(&c, f->t, p, tree);
		}
		if (phase != 0)
			count_edges(&c, p, tree->down_first, tree->downs);
		f->weight[i] = even ? 1 : tree->share;
		rc = add_flow(f, &c, &room);
	}
	free(c.count);
	free(c.list);
	return rc;
}

/* --- sharing ---------------------------------------------------------------------------------- */

/*
 * The resource that becomes full first when the level rises, and by how much the level rises until
 * then; -1: none.
 */
static int next_full(const struct fluid *f, double *rise)
{
	int best = -1;

	*rise = INFINITY;
	for (int r = 0; r < f->resources; r++) {
		if (f->users[r] == 0 || !(f->spare[r] / f->slope[r] < *rise))
			continue;
		*rise = fmax(0, f->spare[r] / f->slope[r]);
		best = r;
	}
	return best;
}

static void fix(struct fluid *f, int flow)
{
	f->fixed[flow] = true;
	for (int k = f->first[flow]; k < f->first[flow + 1]; k++) {
		f->users[f->use[k].resource]--;
		f->slope[f->use[k].resource] -= f->use[k].times * f->weight[flow];
	}
}

/*
 * Whether one of the flow's resources is full; `full` is known to be full, whatever rounding says.
 */
static bool is_held(const struct fluid *f, int flow, int full)
{
	for (int k = f->first[flow]; k < f->first[flow + 1]; k++) {
		int r = f->use[k].resource;

		if (r == full || f->spare[r] <= 1e-12 * f->capacity[r])
			return true;
	}
	return false;
}

/*
 * Raises the level of all flows that are not fixed until a resource is full, fixes the flows that
 * use it, and repeats until all are fixed. Flows with nothing left do not take part. Each round
 * fixes at least one flow, because the full resource has users.
 */
static void share(struct fluid *f)
{
	double rise;
	int full;

	memcpy(f->spare, f->capacity, (size_t)f->resources * sizeof(double));
	memset(f->slope, 0, (size_t)f->resources * sizeof(double));
	memset(f->users, 0, (size_t)f->resources * sizeof(int));
	for (int i = 0; i < f->flows; i++) {
		f->fixed[i] = f->left[i] <= 0;
		f->rate[i] = 0;
		for (int k = f->first[i]; k < f->first[i + 1] && !f->fixed[i]; k++) {
			f->users[f->use[k].resource]++;
			f->slope[f->use[k].resource] += f->use[k].times * f->weight[i];
		}
	}
	while ((full = next_full(f, &rise)) >= 0) {
		for (int r = 0; r < f->resources; r++)
			if (f->users[r] > 0)
				f->spare[r] -= rise * f->slope[r];
		for (int i = 0; i < f->flows; i++) {
			if (f->fixed[i])
				continue;
			f->rate[i] += rise * f->weight[i];
			if (is_held(f, i, full))
				fix(f, i);
		}
	}
}

static void fluid_free(struct fluid *f)
{
	free(f->use);
	free(f->first);
	free(f->capacity);
	free(f->weight);
	free(f->rate);
	free(f->left);
	free(f->work);
	free(f->spare);
	free(f->slope);
	free(f->users);
	free(f->fixed);
}

static int fluid_init(struct fluid *f, const struct topology *t, const struct plan *p)
{
	size_t trees = (size_t)p->trees + 1;
	size_t r;

	memset(f, 0, sizeof(*f));
	f->t = t;
	f->resources = 2 * t->links + t->nodes;
	r = (size_t)f->resources;
	f->first = calloc(trees, sizeof(int));
	f->weight = calloc(trees, sizeof(double));
	f->rate = calloc(trees, sizeof(double));
	f->left = calloc(trees, sizeof(double));
	f->fixed = calloc(trees, sizeof(bool));
	f->capacity = calloc(r, sizeof(double));
	f->work = calloc(r, sizeof(double));
	f->spare = calloc(r, sizeof(double));
	f->slope = calloc(r, sizeof(double));
	f->users = calloc(r, sizeof(int));
	if (!f->users || !f->first || !f->weight || !f->rate || !f->left || !f->fixed ||
	    !f->capacity || !f->work || !f->spare || !f->slope)
		return -1;
	for (int i = 0; i < 2 * t->links; i++)
		f->capacity[i] = topo_arc_capacity(t, i);
	for (int i = 0; i < t->nodes; i++)
		f->capacity[2 * t->links + i] =
			t->node[i].kind == TOPO_SWITCH ? INFINITY : t->node[i].processing;
	return 0;
}

/* --- running ---------------------------------------------------------------------------------- */

/*
 * Runs all flows of a phase until the last ends. Returns the seconds; negative: a flow has no rate.
 */
static double run(struct fluid *f, uint64_t *changes)
{
	double now = 0;
	int active = f->flows;

	while (active > 0) {
		double step = INFINITY;

		share(f);
		++*changes;
		for (int i = 0; i < f->flows; i++) {
			if (f->left[i] > 0 && f->first[i] == f->first[i + 1])
				f->left[i] = 0; /* uses nothing */
			if (f->left[i] > 0 && f->rate[i] > 0)
				step = fmin(step, f->left[i] / f->rate[i]);
		}
		active = 0;
		for (int i = 0; i < f->flows; i++) {
			double moved = f->left[i] > 0 ? fmin(f->left[i], f->rate[i] * step) : 0;

			for (int k = f->first[i]; k < f->first[i + 1] && moved > 0; k++)
				f->work[f->use[k].resource] += f->use[k].times * moved;
			/* Flows that end within one part in 10^9 of the step end together. */
			if (f->left[i] - moved <= 1e-9 * moved)
				moved = f->left[i];
			f->left[i] -= moved;
			active += f->left[i] > 0;
		}
		if (isinf(step))
			return active > 0 ? -1 : now;
		now += step;
	}
	return now;
}

static void find_busiest(const struct fluid *f, struct sim_result *result)
{
	result->busiest_arc = -1;
	for (int i = 0; i < 2 * f->t->links; i++) {
		double part = f->work[i] / (f->capacity[i] * result->seconds);

		if (part > result->busiest) {
			result->busiest = part;
			result->busiest_arc = i;
		}
	}
}

int sim_fluid(const struct topology *t, const struct plan *p, const struct sim_options *o,
	      struct sim_result *result, struct topo_error *e)
{
	struct sim_result r = {.busiest_arc = -1};
	struct plan_load load;
	struct fluid f;
	int first = p->sequential || p->reduce_only ? 0 : 2;
	int last = p->reduce_only ? 0 : p->sequential ? 1 : 2;
	int rc = -1;

	if (!(o->amount > 0) || isinf(o->amount))
		return topo_refuse(
			e, -1, -1,
			"cannot simulate an amount of %g: it must be positive and finite",
			o->amount);
	if (plan_measure(t, p, &load, e) != 0)
		return -1;
	r.seconds = load.latency;
	plan_load_free(&load);
	rc = fluid_init(&f, t, p);
	for (int phase = first; phase <= last && rc == 0; phase++) {
		double took;

		rc = build(&f, p, phase, o->even);
		if (rc != 0)
			break;
		for (int i = 0; i < f.flows; i++)
			f.left[i] = p->tree[i].share * o->amount;
		took = run(&f, &r.events);
		if (took < 0) {
			fluid_free(&f);
			return topo_refuse(e, -1, -1,
					   "the fluid simulator found no rate above 0 for a tree");
		}
		r.seconds += took;
	}
	if (rc == 0) {
		r.goodput = o->amount / r.seconds;
		r.chunks = 0;
		find_busiest(&f, &r);
		*result = r;
	} else {
		topo_refuse(e, -1, -1, "out of memory");
	}
	fluid_free(&f);
	return rc;
}

int sim_fluid_rates(const struct topology *t, const struct plan *p, bool even, double *rate,
		    struct topo_error *e)
{
	struct plan_load load;
	struct fluid f;
	int rc;

	if (plan_measure(t, p, &load, e) != 0)
		return -1;
	plan_load_free(&load);
	rc = fluid_init(&f, t, p);
	if (rc == 0)
		rc = build(&f, p, p->reduce_only ? 0 : 2, even);
	if (rc == 0) {
		for (int i = 0; i < f.flows; i++)
			f.left[i] = 1;
		share(&f);
		memcpy(rate, f.rate, (size_t)f.flows * sizeof(double));
	} else {
		topo_refuse(e, -1, -1, "out of memory");
	}
	fluid_free(&f);
	return rc;
}
