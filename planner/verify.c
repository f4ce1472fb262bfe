/*
 * Measures and verifies a plan from its trees alone. Values that a scheme computed are not trusted.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/limits.h"

#define SHARE_TOLERANCE 1e-9
#define RATE_TOLERANCE 1e-9

/*
 * Both ways are handled alike. Every node except the root has one edge of its own, which leads to
 * (up) or comes from (down) its neighbour on the side of the root. The fields are valid for the
 * current phase (the way up or down of one tree) if the stamp matches.
 */
struct visit {
	int stamp;
	int edge;     /* the node's own edge, -1: none */
	int branches; /* edges of other nodes that end here */
	int steps;    /* to the root; -1: not known yet */
	double hop;   /* delay of the node's own edge */
	double latency;
};

struct checker {
	const struct topology *t;
	const struct plan *p;
	struct plan_load *load;
	struct topo_error *e;
	const int *worker; /* the workers of the plan */
	int workers;
	bool *has_data;
	struct visit *visit;
	int *touched; /* nodes of this phase */
	int count;
	int *queue;
	int stamp;
	int tree;
	int steps; /* of this tree */
	double latency;
};

static const char *name(const struct checker *c, int node)
{
	return c->t->node[node].name;
}

static bool merges(const struct checker *c, int node)
{
	return c->t->node[node].kind != TOPO_SWITCH;
}

static bool is_worker(const struct checker *c, int node)
{
	return c->has_data[node];
}

static struct visit *touch(struct checker *c, int node)
{
	struct visit *v = &c->visit[node];

	if (v->stamp != c->stamp) {
		*v = (struct visit){.stamp = c->stamp, .edge = -1, .steps = -1};
		c->touched[c->count++] = node;
	}
	return v;
}

/*
 * Checks that the route leads from the start of the edge to its end, and adds the load of its arcs.
 */
static int follow(struct checker *c, const struct plan_edge *edge, bool down, double share,
		  double *latency)
{
	const struct topology *t = c->t;
	int at = edge->from;

	*latency = 0;
	if (edge->arcs < 1 || edge->first < 0 || edge->first > c->p->routes - edge->arcs)
		return topo_refuse(c->e, -1, -1, "tree %d: the edge \"%s\" to \"%s\" has no route",
				   c->tree, name(c, edge->from), name(c, edge->to));
	for (int i = 0; i < edge->arcs; i++) {
		int arc = c->p->route[edge->first + i];

		if (arc < 0 || arc >= 2 * t->links || topo_arc_from(t, arc) != at)
			return topo_refuse(c->e, -1, -1,
					   "tree %d: hop %d of the route \"%s\" to \"%s\" does not "
					   "leave \"%s\"",
					   c->tree, i, name(c, edge->from), name(c, edge->to),
					   name(c, at));
		at = topo_arc_to(t, arc);
		if (i + 1 < edge->arcs && t->node[at].kind == TOPO_HOST)
			return topo_refuse(c->e, -1, -1,
					   "tree %d: the route \"%s\" to \"%s\" passes through the "
					   "host \"%s\", which does not forward",
					   c->tree, name(c, edge->from), name(c, edge->to),
					   name(c, at));
		c->load->arc[arc] += share;
		if (down)
			c->load->down[arc] += share;
		*latency += topo_arc_delay(t, arc);
	}
	if (at != edge->to)
		return topo_refuse(c->e, -1, -1,
				   "tree %d: the route \"%s\" to \"%s\" ends at \"%s\"", c->tree,
				   name(c, edge->from), name(c, edge->to), name(c, at));
	return 0;
}

static int check_ends(struct checker *c, const struct plan_edge *edge)
{
	for (int i = 0; i < 2; i++) {
		int node = i ? edge->to : edge->from;

		if (node < 0 || node >= c->t->nodes)
			return topo_refuse(c->e, -1, -1,
					   "tree %d: an edge ends at a node that does not exist",
					   c->tree);
		if (!merges(c, node))
			return topo_refuse(
				c->e, -1, -1,
				"tree %d: the plain switch \"%s\" can neither merge nor multicast",
				c->tree, name(c, node));
	}
	return 0;
}

/* Adds what a box or a server receives to merge. */
static void load_merge(struct checker *c, int node, double share)
{
	const struct visit *v = &c->visit[node];

	if (v->branches >= 2 || (c->t->node[node].kind == TOPO_HOST && v->branches >= 1))
		c->load->node[node] += share * v->branches;
}

/*
 * Computes the distance to the root for one node and all nodes on its path. A path longer than the
 * number of nodes is a cycle.
 */
static int measure_path(struct checker *c, bool down, int node)
{
	int n = 0;
	int at = node;

	while (c->visit[at].steps < 0) {
		struct visit *v = &c->visit[at];
		const struct plan_edge *edge = &c->p->edge[v->edge < 0 ? 0 : v->edge];

		if (v->edge < 0 && !down)
			return topo_refuse(c->e, -1, -1, "tree %d: the sum stops at \"%s\"",
					   c->tree, name(c, at));
		if (v->edge < 0)
			return topo_refuse(c->e, -1, -1,
					   "tree %d: \"%s\" sends a sum that it does not receive",
					   c->tree, name(c, at));
		if (n == c->count)
			return topo_refuse(c->e, -1, -1, "tree %d: the edges %s run in a cycle",
					   c->tree, down ? "down" : "up");
		c->queue[n++] = at;
		at = down ? edge->from : edge->to;
	}
	while (n > 0) {
		struct visit *v = &c->visit[c->queue[--n]];

		v->steps = c->visit[at].steps + 1;
		v->latency = c->visit[at].latency + v->hop;
		at = c->queue[n];
	}
	return 0;
}

static int take_edges(struct checker *c, const struct plan_tree *tree, bool down)
{
	int first = down ? tree->down_first : tree->up_first;
	int count = down ? tree->downs : tree->ups;

	if (first < 0 || count < 0 || first > c->p->edges - count)
		return topo_refuse(c->e, -1, -1, "tree %d: edges that do not exist", c->tree);
	for (int i = 0; i < count; i++) {
		const struct plan_edge *edge = &c->p->edge[first + i];
		int own = down ? edge->to : edge->from;
		struct visit *v;
		double hop;

		if (check_ends(c, edge) != 0 || follow(c, edge, down, tree->share, &hop) != 0)
			return -1;
		if (own == tree->root)
			return topo_refuse(c->e, -1, -1, "tree %d: the root \"%s\" %s", c->tree,
					   name(c, own),
					   down ? "is sent its own sum" : "sends upwards");
		v = touch(c, own);
		if (v->edge >= 0)
			return topo_refuse(c->e, -1, -1, "tree %d: \"%s\" %s twice", c->tree,
					   name(c, own),
					   down ? "receives the sum" : "sends its data");
		v->edge = first + i;
		v->hop = hop;
		touch(c, down ? edge->from : edge->to)->branches++;
	}
	return 0;
}

/* Checks that every worker's data reaches the root once, or the sum every worker once. */
static int check_way(struct checker *c, const struct plan_tree *tree, bool down)
{
	int steps = 0;
	double latency = 0;

	c->stamp++;
	c->count = 0;
	touch(c, tree->root)->steps = 0;
	if (take_edges(c, tree, down) != 0)
		return -1;
	for (int i = 0; i < c->workers; i++) {
		int w = c->worker[i];

		if (w != tree->root && (c->visit[w].stamp != c->stamp || c->visit[w].edge < 0))
			return topo_refuse(c->e, -1, -1, "tree %d: %s \"%s\" is not carried",
					   c->tree, down ? "the sum to" : "the data of",
					   name(c, w));
	}
	for (int i = 0; i < c->count; i++) {
		int node = c->touched[i];
		const struct visit *v = &c->visit[node];

		if (measure_path(c, down, node) != 0)
			return -1;
		if (!down && v->branches == 0 && node != tree->root && !is_worker(c, node))
			return topo_refuse(c->e, -1, -1, "tree %d: \"%s\" sends but has no data",
					   c->tree, name(c, node));
		if (v->branches > 0 && !topo_may_merge(c->t, node, is_worker(c, node)))
			return topo_refuse(c->e, -1, -1,
					   c->t->node[node].taken
						   ? "tree %d: \"%s\" is a host of another job: it "
						     "cannot merge or copy"
						   : "tree %d: \"%s\" has no data, one link only, "
						     "and is not a server: it cannot merge or copy",
					   c->tree, name(c, node));
		if (!down)
			load_merge(c, node, tree->share);
		steps = v->steps > steps ? v->steps : steps;
		latency = fmax(latency, v->latency);
	}
	c->steps += steps;
	c->latency += latency;
	return 0;
}

static int check_tree(struct checker *c, const struct plan_tree *tree)
{
	c->steps = 0;
	c->latency = 0;
	if (!(tree->share > 0) || tree->share > 1 + SHARE_TOLERANCE)
		return topo_refuse(c->e, -1, -1, "tree %d: its share is %g", c->tree, tree->share);
	if (tree->root < 0 || tree->root >= c->t->nodes || !merges(c, tree->root))
		return topo_refuse(c->e, -1, -1, "tree %d: its root is neither a host nor a box",
				   c->tree);
	if (c->p->chunks > 0 &&
	    fabs(tree->share - (double)tree->chunks / c->p->chunks) > SHARE_TOLERANCE)
		return topo_refuse(c->e, -1, -1, "tree %d: %d of %d chunks are not a share of %g",
				   c->tree, tree->chunks, c->p->chunks, tree->share);
	if (check_way(c, tree, false) != 0)
		return -1;
	if (c->p->reduce_only && tree->downs > 0)
		return topo_refuse(c->e, -1, -1, "tree %d: edges down in a plan without a way down",
				   c->tree);
	if (!c->p->reduce_only && check_way(c, tree, true) != 0)
		return -1;
	if (c->steps > c->load->steps)
		c->load->steps = c->steps;
	c->load->latency = fmax(c->load->latency, c->latency);
	return 0;
}

/*
 * Finds the most loaded arc and node, and the throughput that they allow. In a sequential plan each
 * phase has its own bottleneck, and the times of the phases add up.
 */
static void find_worst(const struct topology *t, bool sequential, struct plan_load *load)
{
	double worst_arc = 0;
	double worst_node = 0;
	double up = 0;
	double down = 0;

	load->worst_arc = -1;
	load->worst_node = -1;
	for (int arc = 0; arc < 2 * t->links; arc++) {
		double u = load->arc[arc] / topo_arc_capacity(t, arc);

		up = fmax(up, (load->arc[arc] - load->down[arc]) / topo_arc_capacity(t, arc));
		down = fmax(down, load->down[arc] / topo_arc_capacity(t, arc));
		if (u > worst_arc) {
			worst_arc = u;
			load->worst_arc = arc;
		}
	}
	for (int i = 0; i < t->nodes; i++) {
		double u =
			t->node[i].kind == TOPO_SWITCH ? 0 : load->node[i] / t->node[i].processing;

		if (u > worst_node) {
			worst_node = u;
			load->worst_node = i;
		}
	}
	load->throughput =
		1 / (sequential ? fmax(up, worst_node) + down : fmax(worst_arc, worst_node));
}

static int check_trees(struct checker *c)
{
	double sum = 0;
	long chunks = 0;

	if (c->p->trees == 0)
		return topo_refuse(c->e, -1, -1, "the plan has no trees");
	for (c->tree = 0; c->tree < c->p->trees; c->tree++) {
		const struct plan_tree *tree = &c->p->tree[c->tree];

		if (check_tree(c, tree) != 0) {
			if (c->e)
				c->e->tree = c->tree;
			return -1;
		}
		sum += tree->share;
		chunks += tree->chunks;
	}
	if (fabs(sum - 1) > SHARE_TOLERANCE * (1 + c->p->trees))
		return topo_refuse(c->e, -1, -1, "the shares add up to %.12g instead of 1", sum);
	if (c->p->chunks > 0 && chunks != c->p->chunks)
		return topo_refuse(c->e, -1, -1, "the trees carry %ld chunks of %d", chunks,
				   c->p->chunks);
	return 0;
}

int plan_measure(const struct topology *t, const struct plan *p, struct plan_load *load,
		 struct topo_error *e)
{
	struct checker c = {.t = t,
			    .p = p,
			    .load = load,
			    .e = e,
			    .worker = p->hosts ? p->host : t->worker,
			    .workers = p->hosts ? p->hosts : t->workers};
	int rc = -1;

	memset(load, 0, sizeof(*load));
	load->arc = calloc((size_t)t->links * 2 + 1, sizeof(double));
	load->down = calloc((size_t)t->links * 2 + 1, sizeof(double));
	load->node = calloc((size_t)t->nodes, sizeof(double));
	c.visit = calloc((size_t)t->nodes, sizeof(*c.visit));
	c.touched = malloc((size_t)t->nodes * sizeof(int));
	c.queue = malloc((size_t)t->nodes * sizeof(int));
	c.has_data = calloc((size_t)t->nodes, sizeof(bool));
	for (int i = 0; i < c.workers && c.has_data; i++)
		c.has_data[c.worker[i]] = true;
	if (!c.has_data || !load->arc || !load->down || !load->node || !c.visit || !c.touched ||
	    !c.queue)
		topo_refuse(e, -1, -1, "out of memory");
	else
		rc = check_trees(&c);
	if (rc == 0)
		find_worst(t, p->sequential, load);
	else
		plan_load_free(load);
	free(c.has_data);
	free(c.visit);
	free(c.touched);
	free(c.queue);
	return rc;
}

/*
 * With reduce_only the throughput is a rate to parameter servers, and the bounds assume that trees
 * end there.
 */
static int check_roots(const struct topology *t, const struct plan *p, struct topo_error *e)
{
	for (int i = 0; i < p->trees && p->reduce_only; i++) {
		const struct topo_node *root = &t->node[p->tree[i].root];

		if (root->server)
			continue;
		topo_refuse(e, -1, -1,
			    "tree %d: with reduce_only trees must end at parameter servers, \"%s\" "
			    "is not one",
			    i, root->name);
		if (e)
			e->tree = i;
		return -1;
	}
	return 0;
}

int plan_verify(const struct topology *t, const struct plan *p, struct plan_load *load,
		struct topo_error *e)
{
	if (plan_measure(t, p, load, e) != 0)
		return -1;
	if (check_roots(t, p, e) != 0) {
		plan_load_free(load);
		return -1;
	}
	if (limits_check(t, p, e) != 0) {
		plan_load_free(load);
		return -1;
	}
	if (p->throughput > 0 && p->throughput <= load->throughput * (1 + RATE_TOLERANCE))
		return 0;
	if (p->sequential)
		topo_refuse(
			e, -1, -1,
			"throughput %.9g is not possible: the way up and the way down, one after "
			"the other, allow %.9g",
			p->throughput, load->throughput);
	else if (load->worst_arc >= 0 && load->arc[load->worst_arc] /
							 topo_arc_capacity(t, load->worst_arc) *
							 load->throughput >=
						 1 - RATE_TOLERANCE)
		topo_refuse(
			e, -1, -1,
			"throughput %.9g is not possible: the link \"%s\" to \"%s\" allows %.9g",
			p->throughput, t->node[topo_arc_from(t, load->worst_arc)].name,
			t->node[topo_arc_to(t, load->worst_arc)].name, load->throughput);
	else
		topo_refuse(e, -1, -1, "throughput %.9g is not possible: \"%s\" allows %.9g",
			    p->throughput,
			    load->worst_node < 0 ? "" : t->node[load->worst_node].name,
			    load->throughput);
	plan_load_free(load);
	return -1;
}

void plan_load_free(struct plan_load *load)
{
	free(load->arc);
	free(load->down);
	free(load->node);
	load->arc = NULL;
	load->down = NULL;
	load->node = NULL;
}
