/*
 * Caterpillar trees, for boxes with tight limits. A path visits hosts, rack after rack, and passes
 * through boxes between two of them. The other hosts are attached to the boxes. So no host has more
 * than two neighbours, and a box has two neighbours in the path and uses its other neighbours for
 * attached hosts. The attached hosts change from tree to tree: they are those whose links are the
 * most loaded so far.
 *
 * If ports are limited, a box uses its links to switches, over which many hosts can reach it.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/build.h"
#include "planner/limits.h"
#include "planner/lp.h"
#include "planner/master.h"
#include "planner/racks.h"

#define TREES_MOST 8
#define BASE_TREES 50   /* weight of the base, in trees, when routes are chosen */
#define MAKE_PART 0.6   /* of the work, for building trees; the rest is for their weights */
#define GAPS_TRIED 4000 /* gaps of the path that are tried for one box */
#define ROUTE_WORK 400  /* work units per worker and tree */

/* A box in the trees. */
struct joint {
	int node;
	int *port; /* arcs to the box over which it may receive */
	int *used; /* neighbours over each port, in the current tree */
	int ports;
	int each;    /* limit of neighbours per port */
	int gap;     /* position in the path: after that host; -1: the box is not in the tree */
	int side[2]; /* ports to the hosts before and after it in the path */
	int room;    /* hosts that can still be attached to it */
};

struct maker {
	const struct topology *t;
	struct router *r;
	struct shape *s;
	struct racks *k;
	struct joint *joint;
	int joints;
	int *host;      /* all workers, rack after rack: the order of the path */
	int *box_after; /* by position in the path: the joint after that host, -1: none */
	int *holder;    /* of nodes: the joint to which a host is attached, -1: it is in the path */
	int *via;       /* of nodes: the port of that joint */
	bool *anchor;   /* of nodes: next to a box in the path */
	double *full;   /* of nodes: edge ends in the trees so far / capacity of its links */
	int *order, *arc;
};

/* --- ports ------------------------------------------------------------------------------------ */

static bool is_host(const struct topology *t, int node)
{
	return t->node[node].kind == TOPO_HOST;
}

/*
 * Whether arc a is a worse port than arc b. Ports that are held come first, since they are free;
 * then links to switches come before links to hosts, then links that the base loads less, then
 * links with more capacity. Equal links are rotated from box to box (find_ports).
 */
static bool is_worse(const struct maker *m, int a, int b)
{
	const struct topology *t = m->t;
	bool held[2] = {topo_arc_held(t, a ^ 1), topo_arc_held(t, b ^ 1)};
	bool hosts[2] = {is_host(t, topo_arc_from(t, a)), is_host(t, topo_arc_from(t, b))};
	double full[2] = {(m->r->load[a] + m->r->load[a ^ 1]) / topo_arc_capacity(t, a),
			  (m->r->load[b] + m->r->load[b ^ 1]) / topo_arc_capacity(t, b)};

	if (held[0] != held[1])
		return held[1];
	if (hosts[0] != hosts[1])
		return hosts[0];
	if (full[0] != full[1])
		return full[0] > full[1];
	return topo_arc_capacity(t, a) < topo_arc_capacity(t, b);
}

static void find_ports(const struct maker *m, struct joint *j, int turn)
{
	const struct topology *t = m->t;
	int links = t->first[j->node + 1] - t->first[j->node];

	j->port = mem_new((size_t)links, sizeof(int));
	j->used = mem_new((size_t)links, sizeof(int));
	for (int i = 0; i < links; i++) {
		int in = t->out[t->first[j->node] + (i + turn) % links] ^ 1;
		int at = i;

		for (; at > 0 && is_worse(m, j->port[at - 1], in); at--)
			j->port[at] = j->port[at - 1];
		j->port[at] = in;
	}
	j->ports = topo_ports(t, j->node);
}

/*
 * The port over which a host reaches a box: among the ports whose route does not pass the box, the
 * one that the fewest neighbours use, then the nearest; -1: none.
 */
static int find_port(struct maker *m, const struct joint *j, int host)
{
	const struct topology *t = m->t;
	int own = router_hops(m->r, host, j->node);
	int best = -1;
	int least = 0;

	for (int i = 0; i < j->ports; i++) {
		int far = topo_arc_from(t, j->port[i]);
		int hops = far == host ? 0 : router_hops(m->r, host, far);
		int key = j->used[i] * 8 + (hops < 8 ? hops : 7);

		if (j->used[i] >= j->each || (is_host(t, far) ? far != host : hops > own))
			continue;
		if (best >= 0 && key >= least)
			continue;
		best = i;
		least = key;
	}
	return best;
}

/* --- one tree --------------------------------------------------------------------------------- */

/* Finds a gap of the path between two hosts that both have a route to the box. */
static void find_gap(struct maker *m, int number, int from, int turn)
{
	struct joint *j = &m->joint[number];
	int gaps = m->t->workers - 1;
	int skip = 2 * turn; /* different hosts in each turn */

	j->gap = -1;
	for (int i = 0; i < gaps && i < GAPS_TRIED; i++) {
		int gap = (from + i) % gaps;
		int a = m->host[gap];
		int b = m->host[gap + 1];
		int to_a = m->box_after[gap] < 0 ? find_port(m, j, a) : -1;
		int to_b;

		if (to_a < 0)
			continue;
		j->used[to_a]++;
		to_b = find_port(m, j, b);
		if (to_b < 0 || skip-- > 0) {
			j->used[to_a]--;
			continue;
		}
		j->used[to_b]++;
		j->side[0] = to_a;
		j->side[1] = to_b;
		m->box_after[gap] = number;
		m->anchor[a] = m->anchor[b] = true;
		j->gap = gap;
		return;
	}
}

static int rack_begin(const struct maker *m, int box)
{
	for (int q = 0; q < m->k->count; q++)
		if (m->k->head[q] == box || m->k->box[q] == box)
			return m->k->first[q];
	return 0;
}

/* Attaches the hosts with the most loaded links to the nearest boxes with a free place. */
static void attach_hosts(struct maker *m, int turn)
{
	const struct topology *t = m->t;
	int n = 0;

	for (int i = 0; i < t->workers; i++) {
		int host = m->host[(i + turn * 7) % t->workers];
		int at = n++;

		for (; at > 0 && m->full[m->order[at - 1]] < m->full[host] * (1 - 1e-9); at--)
			m->order[at] = m->order[at - 1];
		m->order[at] = host;
	}
	for (int i = 0; i < n; i++) {
		int host = m->order[i];
		int least = 0;
		int best = -1;

		if (m->anchor[host])
			continue;
		for (int b = 0; b < m->joints; b++) {
			struct joint *j = &m->joint[(b + i) % m->joints];
			int hops = router_hops(m->r, host, j->node);

			if (j->gap < 0 || j->room == 0 || (best >= 0 && hops >= least) ||
			    find_port(m, j, host) < 0)
				continue;
			best = (b + i) % m->joints;
			least = hops;
		}
		if (best < 0)
			continue;
		m->holder[host] = best;
		m->joint[best].room--;
		m->via[host] = find_port(m, &m->joint[best], host);
		m->joint[best].used[m->via[host]]++;
	}
}

/*
 * Writes the arcs from a host to a box over one of its ports into m->arc and returns their number.
 */
static int route_to_box(struct maker *m, const struct joint *j, int host)
{
	int port = m->holder[host] >= 0      ? m->via[host]
		   : host == m->host[j->gap] ? j->side[0]
					     : j->side[1];
	int far = topo_arc_from(m->t, j->port[port]);
	int n = 0;

	if (far != host) {
		router_find(m->r, host, far, 1);
		memcpy(m->arc, m->r->arc, (size_t)m->r->arcs * sizeof(int));
		n = m->r->arcs;
	}
	m->arc[n++] = j->port[port];
	m->r->load[j->port[port]] += 1;
	return n;
}

static void turn_round(int *arc, int n)
{
	for (int i = 0; i < (n + 1) / 2; i++) {
		int last = arc[n - 1 - i];

		arc[n - 1 - i] = arc[i] ^ 1;
		arc[i] = last ^ 1;
	}
}

/* Attaches the node to the parent; one of them may be a box, not both. */
static void attach(struct maker *m, int node, int parent, int joint)
{
	int n;

	if (joint < 0) {
		shape_route(m->s, m->r, node, parent, 1);
		return;
	}
	n = route_to_box(m, &m->joint[joint], is_host(m->t, node) ? node : parent);
	if (!is_host(m->t, node))
		turn_round(m->arc, n);
	shape_attach(m->s, node, parent, m->arc, n);
}

/* Lists the nodes of the path in order in m->order and returns their number. */
static int find_path(struct maker *m)
{
	int n = 0;

	for (int i = 0; i < m->t->workers; i++) {
		if (m->holder[m->host[i]] < 0)
			m->order[n++] = m->host[i];
		if (i + 1 < m->t->workers && m->box_after[i] >= 0)
			m->order[n++] = m->joint[m->box_after[i]].node;
	}
	return n;
}

static int joint_of(const struct maker *m, int node)
{
	for (int i = 0; i < m->joints && !is_host(m->t, node); i++)
		if (m->joint[i].node == node)
			return i;
	return -1;
}

static void attach_path(struct maker *m, int node, int parent)
{
	int at = joint_of(m, node);

	attach(m, node, parent, at >= 0 ? at : joint_of(m, parent));
}

static void emit(struct maker *m, struct plan *p)
{
	int n = find_path(m);
	int root = n / 2;

	while (root < n - 1 && !is_host(m->t, m->order[root]))
		root++;
	shape_begin(m->s, m->order[root]);
	for (int i = root - 1; i >= 0; i--)
		attach_path(m, m->order[i], m->order[i + 1]);
	for (int i = root + 1; i < n; i++)
		attach_path(m, m->order[i], m->order[i - 1]);
	for (int i = 0; i < m->t->workers; i++)
		if (m->holder[m->host[i]] >= 0)
			attach(m, m->host[i], m->joint[m->holder[m->host[i]]].node,
			       m->holder[m->host[i]]);
	build_tree(p, m->s->root, 1);
	shape_emit(m->s, p, false);
	build_mirror(p);
}

/* Adds a tree in which boxes have at most `neighbours` neighbours. */
static void add_tree(struct maker *m, struct plan *p, int neighbours, int turn)
{
	const struct topology *t = m->t;

	for (int i = 0; i < t->workers; i++) {
		m->box_after[i] = -1;
		m->holder[m->host[i]] = -1;
		m->anchor[m->host[i]] = false;
	}
	for (int b = 0; b < m->joints; b++) {
		struct joint *j = &m->joint[b];
		const struct topo_limits *h = &t->node[j->node].limits;
		int most = h->ranks < h->fan_in ? h->ranks : h->fan_in;

		memset(j->used, 0, (size_t)j->ports * sizeof(int));
		j->gap = -1;
		j->room = (neighbours < most ? neighbours : most) - 2;
		j->each = (j->room + 2 + j->ports - 1) / j->ports;
		if (j->room > 0 && turn < limits_trees(t, j->node))
			find_gap(m, b, rack_begin(m, j->node), turn);
	}
	attach_hosts(m, turn);
	emit(m, p);
	for (int i = 0; i < t->workers; i++) {
		int host = m->host[i];
		bool ends = i == 0 || i == t->workers - 1;

		m->full[host] += (m->holder[host] >= 0 || ends ? 1 : 2) / topo_ingress(t, host);
	}
}

/* --- weights ---------------------------------------------------------------------------------- */

struct columns {
	const struct topology *t;
	struct lp *lp;
	int *row;
	double *value;
	double unit;
};

static void put_column(struct columns *c, const double *arc, const double *node)
{
	int n = 0;

	for (int i = 0; i < 2 * c->t->links + c->t->nodes; i++) {
		int at = i - 2 * c->t->links;
		double load = at < 0 ? arc[i] : node[at];
		double limit = at < 0 ? topo_arc_capacity(c->t, i) : c->t->node[at].processing;

		if (load <= 0 || isinf(limit))
			continue;
		c->row[n] = i;
		c->value[n++] = load * c->unit / limit;
	}
	lp_column(c->lp, 1, INFINITY, n, c->row, c->value);
}

static bool add_column(struct columns *c, const struct plan *p)
{
	struct plan_load load;

	if (plan_measure(c->t, p, &load, NULL) != 0)
		return false;
	put_column(c, load.arc, load.node);
	plan_load_free(&load);
	return true;
}

struct plan *limits_weigh(const struct topology *t, const struct plan *trees,
			  const struct plan *base, struct work *w)
{
	struct columns c = {.t = t, .lp = lp_new(), .unit = INFINITY};
	size_t rows = (size_t)t->links * 2 + (size_t)t->nodes;
	struct plan *p = plan_like(trees);
	double sum = 0;
	bool good = true;

	c.row = mem_new(rows, sizeof(int));
	c.value = mem_new(rows, sizeof(double));
	for (int i = 0; i < t->workers; i++)
		c.unit = fmin(c.unit, topo_egress(t, t->worker[i]));
	for (size_t i = 0; i < rows; i++)
		lp_row(c.lp, -INFINITY, 1);
	for (int k = 0; k < trees->trees && good; k++) {
		struct plan *one = plan_like(trees);

		plan_copy_tree(one, trees, k, 1);
		good = add_column(&c, one);
		plan_free(one);
	}
	good = good && (!base || add_column(&c, base));
	good = good && (unsigned int)lp_solve_within(c.lp, w, 1) <= 1;
	for (int k = 0; k < trees->trees + (base ? 1 : 0) && good; k++)
		sum += lp_value(c.lp, k) > 1e-9 ? lp_value(c.lp, k) : 0;
	for (int k = 0; k < trees->trees && good; k++)
		if (lp_value(c.lp, k) > 1e-9)
			plan_copy_tree(p, trees, k, lp_value(c.lp, k) / sum);
	for (int k = 0; base && good && k < base->trees; k++)
		if (lp_value(c.lp, trees->trees) > 1e-9)
			plan_copy_tree(p, base, k,
				       base->tree[k].share * lp_value(c.lp, trees->trees) / sum);
	free(c.row);
	free(c.value);
	lp_free(c.lp);
	if (good && p->trees > 0)
		return p;
	plan_free(p);
	return NULL;
}

/* --- all of them ------------------------------------------------------------------------------ */

/* Loads the router with the base, so that routes avoid links that the base fills. */
static void avoid(struct maker *m, const struct plan *base)
{
	struct plan_load load;

	if (plan_measure(m->t, base, &load, NULL) != 0)
		return;
	for (int i = 0; i < 2 * m->t->links; i++)
		m->r->load[i] = BASE_TREES * load.arc[i];
	plan_load_free(&load);
}

static void begin(struct maker *m, const struct topology *t, const struct plan *base)
{
	size_t nodes = (size_t)t->nodes;

	*m = (struct maker){.t = t};
	m->r = router_new(t);
	m->s = shape_new(t);
	m->k = racks_new(t);
	avoid(m, base);
	m->joint = mem_new((size_t)t->boxes, sizeof(*m->joint));
	for (int i = 0; i < t->boxes; i++) {
		struct joint *j = &m->joint[m->joints];

		j->node = t->box[i];
		if (limits_trees(t, j->node) > 0)
			find_ports(m, j, m->joints++ * 4);
	}
	m->host = m->k->member;
	m->box_after = mem_new(nodes, sizeof(int));
	m->holder = mem_new(nodes, sizeof(int));
	m->via = mem_new(nodes, sizeof(int));
	m->anchor = mem_new(nodes, sizeof(bool));
	m->full = mem_new(nodes, sizeof(double));
	m->order = mem_new(nodes, sizeof(int));
	m->arc = mem_new(nodes + 2, sizeof(int));
}

static void end(struct maker *m)
{
	for (int i = 0; i < m->joints; i++) {
		free(m->joint[i].port);
		free(m->joint[i].used);
	}
	router_free(m->r);
	shape_free(m->s);
	racks_free(m->k);
	free(m->joint);
	free(m->box_after);
	free(m->holder);
	free(m->via);
	free(m->anchor);
	free(m->full);
	free(m->order);
	free(m->arc);
}

/* Up to `trees` trees in which boxes have at most `neighbours` neighbours, with their weights. */
static struct plan *family(const struct topology *t, const struct plan *like,
			   const struct plan *base, int neighbours, int trees, struct work *w)
{
	struct plan *p = plan_like(like);
	struct plan *weighed;
	struct maker m;

	begin(&m, t, like);
	for (int turn = 0; turn < trees && work_is_left(w, MAKE_PART); turn++) {
		add_tree(&m, p, neighbours, turn);
		work_report(w, "trees for small boxes", turn, NAN, NAN);
		w->spent += ROUTE_WORK * (double)t->workers;
	}
	end(&m);
	weighed = limits_weigh(t, p, base, w);
	plan_free(p);
	return weighed;
}

struct plan *limits_caterpillars(const struct topology *t, const struct plan *base, int trees,
				 struct work *w)
{
	int most = trees > 0 && trees < TREES_MOST ? trees : TREES_MOST;
	const struct plan *rest = trees > 0 && base->trees > trees - most ? NULL : base;
	struct plan *best = NULL;
	double rate = 0;
	int ranks = 0;

	for (int i = 0; i < t->boxes; i++) {
		const struct topo_limits *h = &t->node[t->box[i]].limits;
		int own = h->ranks < h->fan_in ? h->ranks : h->fan_in;

		own = own < t->workers ? own : t->workers;
		ranks = own > ranks ? own : ranks;
	}
	for (; ranks >= 3 && work_is_left(w, MAKE_PART); ranks /= 2) {
		struct plan *p = family(t, base, rest, ranks, most, w);
		double its = p && limits_check(t, p, NULL) == 0 ? plan_rate(t, p) : 0;

		if (its <= rate) {
			plan_free(p);
			continue;
		}
		plan_free(best);
		best = p;
		rate = its;
	}
	return best;
}
