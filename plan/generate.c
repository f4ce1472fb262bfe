/*
 * Generates topologies. All random numbers come from the seed, in the order in which nodes and
 * links are added; the roles of hosts are chosen last.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "plan/topology.h"

#define NODES_MAX 2000000

struct maker {
	const struct topo_spec *s;
	struct topology *t;
	uint64_t random;
	int made;    /* switches so far */
	bool failed; /* memory ran out */
};

struct topo_spec topo_spec_default(enum topo_shape shape)
{
	struct topo_spec s = {.shape = shape,
			      .hosts = 4,
			      .leaves = 2,
			      .spines = 2,
			      .k = 4,
			      .degree = 3,
			      .host_link = 100,
			      .fabric_link = 100,
			      .delay = 1e-6,
			      .boxes = TOPO_BOX_LEAVES,
			      .box_share = 0.2,
			      .processing_min = INFINITY,
			      .processing_max = INFINITY,
			      .limits = topo_limits_none(),
			      .seed = 1};

	if (shape == TOPO_FAT_TREE)
		s.hosts = 0;
	if (shape == TOPO_STAR || shape == TOPO_RAIL)
		s.hosts = 8;
	if (shape == TOPO_RAIL)
		s.leaves = 4;
	if (shape == TOPO_MACHINES) {
		s.gpus = 4;
		s.leaves = 4;
		s.nvlink = 3600;
	}
	if (shape == TOPO_RANDOM) {
		s.hosts = 12;
		s.leaves = 6;
		s.spread = 0.5;
		s.boxes = TOPO_BOX_FRACTION;
		s.box_share = 0.5;
	}
	return s;
}

static double draw(struct maker *m, double low, double high)
{
	if (isinf(low) || low == high)
		return low;
	return low + (high - low) * topo_uniform(&m->random);
}

static void add_link(struct maker *m, int a, int b, double nominal)
{
	double c = nominal;

	if (a < 0 || b < 0)
		return;
	if (m->s->spread > 0)
		c *= draw(m, 1 - m->s->spread, 1 + m->s->spread);
	if (topo_add_link(m->t, a, b, c, m->s->delay) < 0)
		m->failed = true;
}

static int add_host(struct maker *m, int number)
{
	char name[TOPO_NAME_MAX];
	int n;

	snprintf(name, sizeof(name), "h%d", number);
	n = topo_add_node(m->t, TOPO_HOST, name, INFINITY);
	m->failed = m->failed || n < 0;
	return n;
}

static bool is_box(struct maker *m, bool leaf)
{
	double u = topo_uniform(&m->random);

	switch (m->s->boxes) {
	case TOPO_BOX_LEAVES:
		return leaf;
	case TOPO_BOX_SPINES:
		return !leaf;
	case TOPO_BOX_ALL:
		return true;
	case TOPO_BOX_FRACTION:
		return u < m->s->box_share;
	default:
		return false;
	}
}

/*
 * Adds a switch. If it should be a box: a box instead of the switch, or, with spec->attached, a
 * switch with a box attached. Returns the node to which hosts connect.
 */
static int add_switch(struct maker *m, const char *prefix, int number, bool leaf)
{
	char name[TOPO_NAME_MAX];
	bool box = is_box(m, leaf);
	double processing = draw(m, m->s->processing_min, m->s->processing_max);
	bool inside = box && !m->s->attached;
	int n, b;

	snprintf(name, sizeof(name), "%s%d", prefix, number);
	n = topo_add_node(m->t, inside ? TOPO_BOX : TOPO_SWITCH, name, processing);
	m->failed = m->failed || n < 0;
	if (n >= 0)
		m->t->node[n].limits = m->s->limits;
	if (box && !inside) {
		snprintf(name, sizeof(name), "%s%d-box", prefix, number);
		b = topo_add_node(m->t, TOPO_BOX, name, processing);
		m->failed = m->failed || b < 0;
		if (b >= 0)
			m->t->node[b].limits = m->s->limits;
		add_link(m, n, b, m->s->fabric_link);
	}
	m->made++;
	return n;
}

static void make_star(struct maker *m)
{
	int s = add_switch(m, "s", 0, true);

	for (int i = 0; i < m->s->hosts; i++)
		add_link(m, add_host(m, i), s, m->s->host_link);
}

static int make_layer(struct maker *m, const char *prefix, int count, bool leaf, int *to)
{
	for (int i = 0; i < count; i++)
		to[i] = add_switch(m, prefix, i, leaf);
	return count;
}

static void make_leaf_spine(struct maker *m, int *room)
{
	int *spine = room;
	int *leaf = room + m->s->spines;

	make_layer(m, "spine", m->s->spines, false, spine);
	make_layer(m, "leaf", m->s->leaves, true, leaf);
	for (int l = 0; l < m->s->leaves; l++)
		for (int i = 0; i < m->s->hosts; i++)
			add_link(m, add_host(m, l * m->s->hosts + i), leaf[l], m->s->host_link);
	for (int l = 0; l < m->s->leaves; l++)
		for (int i = 0; i < m->s->spines; i++)
			add_link(m, leaf[l], spine[i], m->s->fabric_link);
}

/*
 * k pods of k/2 edge and k/2 aggregation switches; core i k/2 + j connects to aggregation switch i
 * of each pod (Al-Fares, Loukissas, Vahdat: SIGCOMM 2008).
 */
static void make_fat_tree(struct maker *m, int *room)
{
	int half = m->s->k / 2;
	int per_leaf = m->s->hosts > 0 ? m->s->hosts : half;
	int edges = m->s->k * half;
	int *core = room;
	int *agg = core + half * half;
	int *edge = agg + edges;

	make_layer(m, "core", half * half, false, core);
	make_layer(m, "agg", edges, false, agg);
	make_layer(m, "edge", edges, true, edge);
	for (int l = 0; l < edges; l++)
		for (int i = 0; i < per_leaf; i++)
			add_link(m, add_host(m, l * per_leaf + i), edge[l], m->s->host_link);
	for (int l = 0; l < edges; l++)
		for (int i = 0; i < half; i++)
			add_link(m, edge[l], agg[l / half * half + i], m->s->fabric_link);
	for (int a = 0; a < edges; a++)
		for (int j = 0; j < half; j++)
			add_link(m, agg[a], core[a % half * half + j], m->s->fabric_link);
}

/* Every server has a NIC on each rail. */
static void make_rail(struct maker *m, int *room)
{
	int *spine = room;
	int *rail = room + m->s->spines;

	make_layer(m, "spine", m->s->spines, false, spine);
	make_layer(m, "rail", m->s->leaves, true, rail);
	for (int i = 0; i < m->s->hosts; i++) {
		int h = add_host(m, i);

		for (int r = 0; r < m->s->leaves; r++)
			add_link(m, h, rail[r], m->s->host_link);
	}
	for (int r = 0; r < m->s->leaves; r++)
		for (int i = 0; i < m->s->spines; i++)
			add_link(m, rail[r], spine[i], m->s->fabric_link);
}

static int add_inside(struct maker *m, int machine, const char *what, int number,
		      enum topo_kind kind, enum topo_variant variant)
{
	char name[TOPO_NAME_MAX];
	int n;

	snprintf(name, sizeof(name), "m%d-%s%d", machine, what, number);
	n = topo_add_node(m->t, kind, name, INFINITY);
	m->failed = m->failed || n < 0;
	if (n < 0)
		return n;
	m->t->node[n].variant = variant;
	snprintf(m->t->node[n].machine, TOPO_NAME_MAX, "m%d", machine);
	return n;
}

/*
 * Machines of GPUs around an NVSwitch. NIC r of each machine connects to rail r and serves every
 * GPU whose number modulo the number of rails is r.
 */
static void make_machines(struct maker *m, int *room)
{
	int *spine = room;
	int *rail = room + m->s->spines;
	int rails = m->s->leaves;

	make_layer(m, "spine", m->s->spines, false, spine);
	make_layer(m, "rail", rails, true, rail);
	for (int i = 0; i < m->s->hosts; i++) {
		int nv = add_inside(m, i, "nv", 0, TOPO_SWITCH, TOPO_NVSWITCH);

		for (int r = 0; r < rails; r++) {
			int card = add_inside(m, i, "nic", r, TOPO_SWITCH, TOPO_PLAIN);

			add_link(m, card, rail[r], m->s->host_link);
			for (int g = r; g < m->s->gpus; g += rails) {
				int gpu = add_inside(m, i, "gpu", g, TOPO_HOST, TOPO_GPU);

				add_link(m, gpu, nv, m->s->nvlink);
				add_link(m, gpu, card, m->s->host_link);
			}
		}
	}
	for (int r = 0; r < rails; r++)
		for (int i = 0; i < m->s->spines; i++)
			add_link(m, rail[r], spine[i], m->s->fabric_link);
}

static int draw_index(struct maker *m, int count)
{
	return (int)(topo_random(&m->random) % (uint64_t)count);
}

/*
 * Every switch is connected to an earlier one; then links between random pairs are added. Hosts are
 * first placed one per switch, so that no box is a dead end if there are enough hosts.
 */
static void make_random(struct maker *m, int *sw)
{
	int count = m->s->leaves;
	int wanted = count * m->s->degree / 2;
	int links = 0;

	make_layer(m, "s", count, true, sw);
	for (int i = 1; i < count; i++, links++)
		add_link(m, sw[i], sw[draw_index(m, i)], m->s->fabric_link);
	for (int tries = 0; links < wanted && tries < 20 * wanted; tries++) {
		int a = draw_index(m, count);
		int b = draw_index(m, count);
		bool have = a == b;

		for (int l = 0; l < m->t->links && !have; l++) {
			const struct topo_link *k = &m->t->link[l];

			have = (k->a == sw[a] && k->b == sw[b]) || (k->a == sw[b] && k->b == sw[a]);
		}
		if (have)
			continue;
		add_link(m, sw[a], sw[b], m->s->fabric_link);
		links++;
	}
	for (int i = 0; i < m->s->hosts; i++)
		add_link(m, add_host(m, i), sw[i < count ? i : draw_index(m, count)],
			 m->s->host_link);
}

/* Chooses at random which hosts are workers, which are parameter servers, and which do nothing. */
static int draw_roles(struct maker *m, struct topo_error *e)
{
	struct topology *t = m->t;
	int *host = malloc(((size_t)t->nodes + 1) * sizeof(int));
	int hosts = 0;
	int workers = m->s->workers;

	if (!host)
		return topo_refuse(e, -1, -1, "out of memory");
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_HOST)
			host[hosts++] = i;
	if (workers == 0)
		workers = hosts - m->s->servers;
	if (workers < 1 || workers + m->s->servers > hosts) {
		free(host);
		return topo_refuse(e, -1, -1, "%d workers and %d servers do not fit on %d hosts",
				   workers, m->s->servers, hosts);
	}
	if (workers < hosts) {
		for (int i = hosts - 1; i > 0; i--) {
			int j = draw_index(m, i + 1);
			int swap = host[i];

			host[i] = host[j];
			host[j] = swap;
		}
		for (int i = workers; i < hosts; i++)
			t->node[host[i]].worker = false;
		for (int i = 0; i < m->s->servers; i++)
			t->node[host[workers + i]].server = true;
	}
	free(host);
	return 0;
}

static int check(const struct topo_spec *s, struct topo_error *e)
{
	double nodes = s->hosts;

	if (s->hosts < (s->shape == TOPO_FAT_TREE ? 0 : 1) || s->workers < 0 || s->servers < 0)
		return topo_refuse(e, -1, -1, "there must be at least one host");
	if (s->shape != TOPO_STAR && s->shape != TOPO_FAT_TREE && s->leaves < 1)
		return topo_refuse(e, -1, -1, "there must be at least one leaf");
	if (s->shape == TOPO_MACHINES && (s->gpus < s->leaves || !(s->nvlink > 0)))
		return topo_refuse(e, -1, -1,
				   "a machine needs at least one GPU for each of its %d NICs, and "
				   "an NVLink capacity above 0",
				   s->leaves);
	if (s->shape == TOPO_MACHINES)
		nodes *= s->gpus + s->leaves + 1;
	if ((s->shape == TOPO_LEAF_SPINE && s->leaves > 1 && s->spines < 1) || s->spines < 0)
		return topo_refuse(e, -1, -1, "there must be at least one spine");
	if (s->shape == TOPO_FAT_TREE && (s->k < 2 || s->k % 2 != 0 || s->k > 128))
		return topo_refuse(e, -1, -1, "k of a fat-tree must be even, from 2 to 128");
	if (!(s->spread >= 0 && s->spread < 1))
		return topo_refuse(e, -1, -1, "the spread must be at least 0 and below 1");
	if (!(s->host_link > 0) || !(s->fabric_link > 0))
		return topo_refuse(e, -1, -1, "capacities must be positive");
	if (!(s->processing_min > 0) || !(s->processing_max >= s->processing_min))
		return topo_refuse(e, -1, -1,
				   "the processing range must be positive, with its minimum not "
				   "above its maximum");
	if (s->shape == TOPO_FAT_TREE)
		nodes = (double)s->k * s->k / 2 * (s->hosts ? s->hosts : s->k / 2);
	if (s->shape == TOPO_LEAF_SPINE)
		nodes *= s->leaves;
	if (nodes > NODES_MAX || s->leaves > 100000 || s->spines > 100000)
		return topo_refuse(e, -1, -1, "more than %d nodes", NODES_MAX);
	return 0;
}

struct topology *topo_generate(const struct topo_spec *spec, struct topo_error *e)
{
	static const char *const names[] = {"star", "leaf-spine", "fat-tree",
					    "rail", "random",     "machines"};
	struct maker m = {.s = spec, .random = spec->seed};
	size_t most = (size_t)spec->k * (size_t)spec->k * 2 + (size_t)spec->leaves +
		      (size_t)spec->spines + 1;
	int *room = NULL;

	if (check(spec, e) != 0)
		return NULL;
	room = malloc(most * sizeof(int));
	m.t = topo_new(names[spec->shape]);
	if (!room || !m.t)
		goto failed;
	if (spec->shape == TOPO_STAR)
		make_star(&m);
	else if (spec->shape == TOPO_LEAF_SPINE)
		make_leaf_spine(&m, room);
	else if (spec->shape == TOPO_FAT_TREE)
		make_fat_tree(&m, room);
	else if (spec->shape == TOPO_RAIL)
		make_rail(&m, room);
	else if (spec->shape == TOPO_MACHINES)
		make_machines(&m, room);
	else
		make_random(&m, room);
	free(room);
	room = NULL;
	if (m.failed)
		goto failed;
	if (draw_roles(&m, e) == 0 && topo_finish(m.t, e) == 0)
		return m.t;
	topo_free(m.t);
	return NULL;
failed:
	free(room);
	topo_free(m.t);
	topo_refuse(e, -1, -1, "out of memory");
	return NULL;
}
