/*
 * A topology in memory: construction, and the checks that all other parts rely on.
 */
#include "base/rng.h"
#include "plan/topology.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int topo_refuse(struct topo_error *e, int node, int link, const char *format, ...)
{
	va_list list;

	if (!e)
		return -1;
	va_start(list, format);
	vsnprintf(e->text, sizeof(e->text), format, list);
	va_end(list);
	e->node = node;
	e->link = link;
	e->tree = -1;
	return -1;
}

/*
 * The values of rtl/top/rf_core.v (PORTS, GROUPS, HDR_AW) and firmware/core/fw.h (RF_FW_RANKS_MAX).
 */
struct topo_limits topo_limits_shipped(void)
{
	return (struct topo_limits){
		.groups = 8, .ranks = 64, .fan_in = 64, .slots = 512, .ports = 4};
}

struct topo_limits topo_limits_none(void)
{
	return (struct topo_limits){TOPO_UNLIMITED, TOPO_UNLIMITED, TOPO_UNLIMITED, TOPO_UNLIMITED,
				    TOPO_UNLIMITED};
}

bool topo_limits_same(const struct topo_limits *a, const struct topo_limits *b)
{
	return a->groups == b->groups && a->ranks == b->ranks && a->fan_in == b->fan_in &&
	       a->slots == b->slots && a->ports == b->ports;
}

struct topology *topo_new(const char *name)
{
	struct topology *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	snprintf(t->name, sizeof(t->name), "%s", name);
	snprintf(t->unit, sizeof(t->unit), "Gbps");
	return t;
}

void topo_free(struct topology *t)
{
	if (!t)
		return;
	free(t->node);
	free(t->link);
	free(t->first);
	free(t->out);
	free(t->worker);
	free(t->box);
	free(t);
}

int topo_add_node(struct topology *t, enum topo_kind kind, const char *name, double processing)
{
	struct topo_node *n;

	if (t->nodes == t->node_room) {
		int room = t->node_room ? 2 * t->node_room : 64;

		n = realloc(t->node, (size_t)room * sizeof(*n));
		if (!n)
			return -1;
		t->node = n;
		t->node_room = room;
	}
	n = &t->node[t->nodes];
	memset(n, 0, sizeof(*n));
	snprintf(n->name, sizeof(n->name), "%s", name);
	n->kind = kind;
	n->worker = kind == TOPO_HOST;
	n->processing = kind == TOPO_SWITCH ? 0 : processing;
	n->limits = topo_limits_none();
	n->rack = -1;
	n->order = t->nodes;
	return t->nodes++;
}

int topo_add_link(struct topology *t, int a, int b, double capacity, double delay)
{
	struct topo_link *l;

	if (t->links == t->link_room) {
		int room = t->link_room ? 2 * t->link_room : 128;

		l = realloc(t->link, (size_t)room * sizeof(*l));
		if (!l)
			return -1;
		t->link = l;
		t->link_room = room;
	}
	l = &t->link[t->links];
	*l = (struct topo_link){a, b, {capacity, capacity}, {delay, delay}, {0, 0}};
	return t->links++;
}

struct topology *topo_copy(const struct topology *t)
{
	struct topology *c = topo_new(t->name);

	if (!c)
		return NULL;
	memcpy(c->unit, t->unit, sizeof(c->unit));
	c->node = malloc(((size_t)t->nodes + 1) * sizeof(*c->node));
	c->link = malloc(((size_t)t->links + 1) * sizeof(*c->link));
	if (!c->node || !c->link) {
		topo_free(c);
		return NULL;
	}
	memcpy(c->node, t->node, (size_t)t->nodes * sizeof(*c->node));
	memcpy(c->link, t->link, (size_t)t->links * sizeof(*c->link));
	c->nodes = c->node_room = t->nodes;
	c->links = c->link_room = t->links;
	return c;
}

/* --- checks ----------------------------------------------------------------------------------- */

struct named {
	const char *name;
	int node;
};

static int compare_names(const void *a, const void *b)
{
	const struct named *x = a;
	const struct named *y = b;
	int c = strcmp(x->name, y->name);

	return c ? c : (x->node > y->node) - (x->node < y->node);
}

bool topo_is_text(const char *s)
{
	const unsigned char *c = (const unsigned char *)s;

	for (; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			return false;
		/* U+FFFE and U+FFFF */
		if (c[0] == 0xef && c[1] == 0xbf && (c[2] == 0xbe || c[2] == 0xbf))
			return false;
	}
	return true;
}

/* Of two equal names the later one is reported. */
int topo_check_names(const struct topology *t, struct topo_error *e)
{
	struct named *list = malloc((size_t)t->nodes * sizeof(*list));
	int rc = 0;

	if (!list)
		return topo_refuse(e, -1, -1, "out of memory");
	for (int i = 0; i < t->nodes; i++)
		list[i] = (struct named){t->node[i].name, i};
	qsort(list, (size_t)t->nodes, sizeof(*list), compare_names);
	for (int i = 0; i < t->nodes && rc == 0; i++) {
		if (list[i].name[0] == '\0')
			rc = topo_refuse(e, list[i].node, -1, "a node has an empty name");
		else if (!topo_is_text(list[i].name))
			rc = topo_refuse(e, list[i].node, -1,
					 "a node has a control character in its name");
		else if (i > 0 && strcmp(list[i].name, list[i - 1].name) == 0)
			rc = topo_refuse(e, list[i].node, -1, "the name \"%s\" is used twice",
					 list[i].name);
	}
	free(list);
	return rc;
}

static int check_nodes(const struct topology *t, struct topo_error *e)
{
	int workers = 0;

	for (int i = 0; i < t->nodes; i++) {
		const struct topo_node *n = &t->node[i];

		workers += n->kind == TOPO_HOST && n->worker;
		if (n->kind != TOPO_SWITCH && !(n->processing > 0))
			return topo_refuse(e, i, -1,
					   "the processing of \"%s\" is %g; it must be positive",
					   n->name, n->processing);
	}
	if (workers == 0)
		return topo_refuse(e, -1, -1,
				   "no host has data to sum: at least one node must be a host with "
				   "\"worker\" true");
	return topo_check_names(t, e);
}

/*
 * Refuses numbers that are too far apart: rounding errors of the large ones would exceed the small
 * ones.
 */
static int check_ratio(const struct topology *t, struct topo_error *e)
{
	double most = 0;

	for (int arc = 0; arc < 2 * t->links; arc++)
		most = fmax(most, topo_arc_capacity(t, arc));
	for (int arc = 0; arc < 2 * t->links; arc++)
		if (topo_arc_capacity(t, arc) * TOPO_RATIO_MAX < most)
			return topo_refuse(e, -1, arc >> 1,
					   "the capacity from \"%s\" to \"%s\" is %g, less than a "
					   "billionth of the largest, %g",
					   t->node[topo_arc_from(t, arc)].name,
					   t->node[topo_arc_to(t, arc)].name,
					   topo_arc_capacity(t, arc), most);
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind != TOPO_SWITCH && t->node[i].processing * TOPO_RATIO_MAX < most)
			return topo_refuse(e, i, -1,
					   "the processing of \"%s\" is %g, less than a billionth "
					   "of the largest capacity, %g",
					   t->node[i].name, t->node[i].processing, most);
	return 0;
}

/* Refuses an NVSwitch with a link out of its machine. */
static int check_machine(const struct topology *t, int link, struct topo_error *e)
{
	const struct topo_link *l = &t->link[link];

	for (int d = 0; d < 2; d++) {
		const struct topo_node *n = &t->node[d ? l->b : l->a];
		const struct topo_node *other = &t->node[d ? l->a : l->b];

		if (n->variant == TOPO_NVSWITCH && strcmp(n->machine, other->machine) != 0)
			return topo_refuse(e, -1, link,
					   "the nvswitch \"%s\" of machine \"%s\" has a link to "
					   "\"%s\", which is outside of the machine",
					   n->name, n->machine, other->name);
	}
	return 0;
}

static int check_links(const struct topology *t, struct topo_error *e)
{
	for (int i = 0; i < t->links; i++) {
		const struct topo_link *l = &t->link[i];

		if (l->a < 0 || l->a >= t->nodes || l->b < 0 || l->b >= t->nodes)
			return topo_refuse(e, -1, i, "a link ends at a node that does not exist");
		if (l->a == l->b)
			return topo_refuse(e, -1, i, "a link joins \"%s\" to itself",
					   t->node[l->a].name);
		if (check_machine(t, i, e) != 0)
			return -1;
		for (int d = 0; d < 2; d++) {
			const char *from = t->node[d ? l->b : l->a].name;
			const char *to = t->node[d ? l->a : l->b].name;

			if (!(l->capacity[d] > 0) || isinf(l->capacity[d]))
				return topo_refuse(e, -1, i,
						   "the capacity from \"%s\" to \"%s\" is %g; it "
						   "must be positive",
						   from, to, l->capacity[d]);
			if (l->capacity[d] < TOPO_CAPACITY_MIN ||
			    l->capacity[d] > TOPO_CAPACITY_MAX)
				return topo_refuse(e, -1, i,
						   "the capacity from \"%s\" to \"%s\" is %g; it "
						   "must be from %g to %g",
						   from, to, l->capacity[d], TOPO_CAPACITY_MIN,
						   TOPO_CAPACITY_MAX);
			if (!(l->delay[d] >= 0) || l->delay[d] > TOPO_DELAY_MAX)
				return topo_refuse(e, -1, i,
						   "the delay from \"%s\" to \"%s\" is %g; it must "
						   "be from 0 to %g seconds",
						   from, to, l->delay[d], TOPO_DELAY_MAX);
		}
	}
	return check_ratio(t, e);
}

/* Lists the arcs that leave each node, in the order of the links. */
static int index_arcs(struct topology *t)
{
	int *at;

	free(t->first);
	free(t->out);
	t->first = calloc((size_t)t->nodes + 1, sizeof(int));
	t->out = malloc(((size_t)t->links * 2 + 1) * sizeof(int));
	at = malloc(((size_t)t->nodes + 1) * sizeof(int));
	if (!t->first || !t->out || !at) {
		free(at);
		return -1;
	}
	for (int arc = 0; arc < 2 * t->links; arc++)
		t->first[topo_arc_from(t, arc) + 1]++;
	for (int i = 0; i < t->nodes; i++)
		t->first[i + 1] += t->first[i];
	memcpy(at, t->first, (size_t)t->nodes * sizeof(int));
	for (int arc = 0; arc < 2 * t->links; arc++)
		t->out[at[topo_arc_from(t, arc)]++] = arc;
	free(at);
	return 0;
}

static int index_kinds(struct topology *t)
{
	free(t->worker);
	free(t->box);
	t->worker = malloc(((size_t)t->nodes + 1) * sizeof(int));
	t->box = malloc(((size_t)t->nodes + 1) * sizeof(int));
	if (!t->worker || !t->box)
		return -1;
	t->workers = 0;
	t->boxes = 0;
	for (int i = 0; i < t->nodes; i++) {
		struct topo_node *n = &t->node[i];

		if (n->kind == TOPO_HOST && n->worker)
			t->worker[t->workers++] = i;
		if (n->kind == TOPO_BOX)
			t->box[t->boxes++] = i;
		n->rack = n->kind != TOPO_SWITCH && t->first[i + 1] - t->first[i] == 1
				  ? topo_arc_to(t, t->out[t->first[i]])
				  : -1;
		if (n->rack >= 0 && t->node[n->rack].kind == TOPO_HOST)
			n->rack = -1;
	}
	return 0;
}

/*
 * Breadth-first search: marks with `mark` the nodes that can be reached from a node. `through` says
 * for each kind whether the search continues at such a node. Returns the number of nodes found;
 * queue has space for all nodes and holds those found afterwards.
 */
static int walk(const struct topology *t, int from, const bool *through, int mark, int *seen,
		int *queue)
{
	int head = 0;
	int tail = 0;

	seen[from] = mark;
	queue[tail++] = from;
	while (head < tail) {
		int at = queue[head++];

		if (at != from && !through[t->node[at].kind])
			continue;
		for (int i = t->first[at]; i < t->first[at + 1]; i++) {
			int to = topo_arc_to(t, t->out[i]);

			if (seen[to] == mark)
				continue;
			seen[to] = mark;
			queue[tail++] = to;
		}
	}
	return tail;
}

/*
 * Whether a box can merge: following links from it through switches reaches a host or two other
 * boxes.
 */
static bool box_merges(const struct topology *t, int box, int mark, int *seen, int *queue)
{
	static const bool switches[3] = {[TOPO_SWITCH] = true};
	int n = walk(t, box, switches, mark, seen, queue);
	int boxes = 0;

	for (int i = 1; i < n && boxes < 2; i++) {
		if (t->node[queue[i]].kind == TOPO_HOST)
			return true;
		boxes += t->node[queue[i]].kind == TOPO_BOX;
	}
	return boxes >= 2;
}

static int check_reach(const struct topology *t, int *seen, int *queue, struct topo_error *e)
{
	static const bool all[3] = {true, true, true};

	for (int i = 0; i < t->nodes; i++)
		if (t->first[i] == t->first[i + 1])
			return topo_refuse(e, i, -1, "\"%s\" has no link", t->node[i].name);
	if (walk(t, t->worker[0], all, 1, seen, queue) != t->nodes)
		for (int i = 0; i < t->nodes; i++)
			if (seen[i] != 1)
				return topo_refuse(e, i, -1,
						   "the topology is not connected: no path leads "
						   "from \"%s\" to \"%s\"",
						   t->node[t->worker[0]].name, t->node[i].name);
	for (int b = 0; b < t->boxes; b++)
		if (!box_merges(t, t->box[b], b + 2, seen, queue))
			return topo_refuse(
				e, t->box[b], -1,
				"the box \"%s\" cannot merge anything: it reaches no host, and "
				"fewer than two other boxes, through plain switches",
				t->node[t->box[b]].name);
	return 0;
}

int topo_drop_useless_boxes(struct topology *t)
{
	int *room = calloc((size_t)t->nodes * 2, sizeof(int));
	int mark = 1;
	bool any = true;

	if (!room || index_arcs(t) != 0 || index_kinds(t) != 0) {
		free(room);
		return -1;
	}
	/* A box that becomes a switch may be the second box that another one reaches. */
	while (any) {
		any = false;
		for (int b = 0; b < t->boxes; b++) {
			struct topo_node *n = &t->node[t->box[b]];

			if (n->kind != TOPO_BOX ||
			    box_merges(t, t->box[b], mark++, room, room + t->nodes))
				continue;
			topo_make_switch(n);
			any = true;
		}
	}
	free(room);
	return 0;
}

void topo_make_switch(struct topo_node *n)
{
	n->kind = TOPO_SWITCH;
	n->processing = 0;
	n->limits = topo_limits_none();
}

int topo_finish(struct topology *t, struct topo_error *e)
{
	int *room = NULL;
	int rc;

	if (check_nodes(t, e) != 0 || check_links(t, e) != 0)
		return -1;
	room = calloc((size_t)t->nodes * 2, sizeof(int));
	if (!room || index_arcs(t) != 0 || index_kinds(t) != 0)
		rc = topo_refuse(e, -1, -1, "out of memory");
	else
		rc = check_reach(t, room, room + t->nodes, e);
	free(room);
	return rc;
}

static int by_name(const void *a, const void *b, void *nodes)
{
	const struct topo_node *n = nodes;

	return strcmp(n[*(const int *)a].name, n[*(const int *)b].name);
}

int *topo_sort_names(const struct topology *t)
{
	int *sorted = malloc(((size_t)t->nodes + 1) * sizeof(int));

	if (!sorted)
		return NULL;
	for (int i = 0; i < t->nodes; i++)
		sorted[i] = i;
	qsort_r(sorted, (size_t)t->nodes, sizeof(int), by_name, t->node);
	return sorted;
}

int topo_find(const struct topology *t, const int *sorted, const char *name)
{
	int low = 0;
	int high = t->nodes - 1;

	while (low <= high) {
		int mid = low + (high - low) / 2;
		int c = strcmp(name, t->node[sorted[mid]].name);

		if (c == 0)
			return sorted[mid];
		if (c < 0)
			high = mid - 1;
		else
			low = mid + 1;
	}
	return -1;
}

int topo_find_arc(const struct topology *t, int from, int to, int number)
{
	for (int i = t->first[from]; i < t->first[from + 1]; i++)
		if (topo_arc_to(t, t->out[i]) == to && --number == 0)
			return t->out[i];
	return -1;
}

int topo_arc_number(const struct topology *t, int arc)
{
	int number = 0;

	for (int i = t->first[topo_arc_from(t, arc)];; i++) {
		number += topo_arc_to(t, t->out[i]) == topo_arc_to(t, arc);
		if (t->out[i] == arc)
			return number;
	}
}

/* --- random numbers --------------------------------------------------------------------------- */

/* SplitMix64: its state is one word, and every seed is good. */
uint64_t topo_random(uint64_t *state)
{
	return rf_rng_word(state);
}

double topo_uniform(uint64_t *state)
{
	return (double)(topo_random(state) >> 11) * 0x1p-53;
}

double topo_ingress(const struct topology *t, int node)
{
	double sum = 0;

	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		sum += topo_arc_capacity(t, t->out[i] ^ 1);
	return sum;
}

double topo_egress(const struct topology *t, int node)
{
	double sum = 0;

	for (int i = t->first[node]; i < t->first[node + 1]; i++)
		sum += topo_arc_capacity(t, t->out[i]);
	return sum;
}

int topo_ports(const struct topology *t, int node)
{
	int links = t->first[node + 1] - t->first[node];
	int ports = t->node[node].limits.ports;

	for (int i = t->first[node]; i < t->first[node + 1] && ports < links; i++)
		ports += topo_arc_held(t, t->out[i]);
	return ports < links ? ports : links;
}

bool topo_may_merge(const struct topology *t, int node, bool has_data)
{
	const struct topo_node *n = &t->node[node];

	if (n->kind != TOPO_HOST)
		return n->kind == TOPO_BOX;
	return has_data || (!n->taken && (n->server || t->first[node + 1] - t->first[node] > 1));
}

bool topo_is_optional(const struct topology *t, int node)
{
	return !t->node[node].worker && topo_may_merge(t, node, false);
}

bool topo_forwards(const struct topology *t, int node)
{
	return t->node[node].kind != TOPO_HOST;
}

int topo_roots(const struct topology *t, int *list)
{
	int n = 0;

	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_HOST && t->node[i].server)
			list[n++] = i;
	if (n == 0) {
		memcpy(list, t->worker, (size_t)t->workers * sizeof(int));
		n = t->workers;
	}
	return n;
}
