/*
 * Simulates a plan chunk by chunk. An event is a packet that has arrived at the end of a link, or
 * one that is ready to be sent. Links and boxes serve packets in the order of arrival, so the time
 * at which a packet leaves is known when it arrives, and no queue is needed.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "planner/heap.h"
#include "planner/limits.h"
#include "planner/sim.h"

#define STATE_MAX ((uint64_t)1 << 28) /* limit of input counters: chunks x nodes of their trees */

/* A node of a tree. */
struct member {
	int node;
	int up;     /* the edge that leaves it on the way up, -1: it is the root */
	int inputs; /* number of edges that arrive on the way up */
	int down;   /* its edges down: list[down] .. list[down + downs - 1] */
	int downs;
	bool merges; /* its inputs pass the node's limited processing */
};

struct run_tree {
	int first, members; /* in member[] */
	int root;           /* index in member[] */
	int chunks;
	int window;      /* limit of chunks in flight; 0: no limit */
	double size;     /* of a chunk */
	int chunk_first; /* in left[] */
	int begun, done; /* chunks */
	uint64_t state;  /* waiting[state + chunk * members + member] */
};

struct event {
	double time;
	uint64_t order; /* of two events at the same time, the one created first comes first */
	int tree;
	int chunk;
	int edge;
	int hop; /* index of the arc just crossed in the edge's route; -1: ready to be sent */
};

struct run {
	const struct topology *t;
	const struct plan *p;
	const struct sim_options *o;
	struct run_tree *tree;
	struct member *member;
	int *list;      /* down edges, grouped by the member that sends */
	int *from, *to; /* by edge: indexes in member[] */
	int *waiting;
	int *left; /* by chunk: down edges over which it has not arrived yet */
	double *arc_free, *arc_busy, *node_free;
	struct event *heap;
	uint64_t events, room, made, count;
	int window;
	int roots_left; /* chunks that are not complete at their root yet, for sequential plans */
	int done, chunks;
	double now, first;
	bool failed;
};

/* --- events ----------------------------------------------------------------------------------- */

static bool before(const struct event *a, const struct event *b)
{
	return a->time < b->time || (a->time == b->time && a->order < b->order);
}

static void push(struct run *r, struct event e)
{
	uint64_t at;

	if (r->events == r->room) {
		uint64_t room = r->room ? 2 * r->room : 4096;
		struct event *more = realloc(r->heap, room * sizeof(*more));

		if (!more) {
			r->failed = true;
			return;
		}
		r->heap = more;
		r->room = room;
	}
	e.order = r->made++;
	at = r->events++;
	while (at > 0 && before(&e, &r->heap[(at - 1) / 4])) {
		r->heap[at] = r->heap[(at - 1) / 4];
		at = (at - 1) / 4;
	}
	r->heap[at] = e;
}

static struct event pop(struct run *r)
{
	struct event top = r->heap[0];
	struct event last = r->heap[--r->events];
	uint64_t at = 0;

	for (;;) {
		uint64_t child = 4 * at + 1;
		uint64_t least = child;

		if (child >= r->events)
			break;
		for (uint64_t k = child + 1; k < child + 4 && k < r->events; k++)
			if (before(&r->heap[k], &r->heap[least]))
				least = k;
		if (!before(&r->heap[least], &last))
			break;
		r->heap[at] = r->heap[least];
		at = least;
	}
	if (r->events > 0)
		r->heap[at] = last;
	return top;
}

/* --- packets and chunks ----------------------------------------------------------------------- */

static void send(struct run *r, double time, int tree, int chunk, int edge)
{
	push(r, (struct event){time, 0, tree, chunk, edge, -1});
}

static void send_down(struct run *r, double time, int tree, int chunk, int member)
{
	const struct member *m = &r->member[member];

	for (int i = 0; i < m->downs; i++)
		send(r, time, tree, chunk, r->list[m->down + i]);
}

static void chunk_done(struct run *r, double time, int tree);

/* The root has the complete sum of a chunk. */
static void whole(struct run *r, double time, int tree, int chunk)
{
	struct run_tree *t = &r->tree[tree];

	r->roots_left--;
	if (r->p->reduce_only) {
		chunk_done(r, time, tree);
		return;
	}
	if (!r->p->sequential) {
		if (r->p->tree[tree].downs == 0)
			chunk_done(r, time, tree);
		send_down(r, time, tree, chunk, t->root);
		return;
	}
	if (r->roots_left > 0)
		return;
	for (int i = 0; i < r->p->trees; i++) {
		for (int c = 0; c < r->tree[i].chunks; c++) {
			if (r->p->tree[i].downs == 0)
				chunk_done(r, time, i);
			send_down(r, time, i, c, r->tree[i].root);
		}
	}
}

/*
 * Sends a packet over the next arc of its edge; the new event is its arrival at the end of that
 * arc.
 */
static void cross(struct run *r, const struct event *e)
{
	const struct plan_edge *edge = &r->p->edge[e->edge];
	int arc = r->p->route[edge->first + e->hop + 1];
	double begin = fmax(e->time, r->arc_free[arc]);
	double takes = r->tree[e->tree].size / topo_arc_capacity(r->t, arc);
	struct event next = *e;

	r->arc_free[arc] = begin + takes;
	r->arc_busy[arc] += takes;
	next.time = begin + takes + topo_arc_delay(r->t, arc);
	next.hop++;
	r->count++;
	push(r, next);
}

static int *inputs_left(struct run *r, int tree, int chunk, int member)
{
	const struct run_tree *t = &r->tree[tree];

	return &r->waiting[t->state + (uint64_t)chunk * (uint64_t)t->members +
			   (uint64_t)(member - t->first)];
}

static void arrive_up(struct run *r, const struct event *e)
{
	int member = r->to[e->edge];
	const struct member *m = &r->member[member];
	double time = e->time;

	if (m->merges) {
		time = fmax(time, r->node_free[m->node]) +
		       r->tree[e->tree].size / r->t->node[m->node].processing;
		r->node_free[m->node] = time;
	}
	if (--*inputs_left(r, e->tree, e->chunk, member) > 0)
		return;
	if (m->up >= 0)
		send(r, time, e->tree, e->chunk, m->up);
	else
		whole(r, time, e->tree, e->chunk);
}

static void arrive_down(struct run *r, const struct event *e)
{
	int *left = &r->left[r->tree[e->tree].chunk_first + e->chunk];

	send_down(r, e->time, e->tree, e->chunk, r->to[e->edge]);
	if (--*left == 0)
		chunk_done(r, e->time, e->tree);
}

/* Starts a chunk: every member without inputs sends its data. */
static void begin_chunk(struct run *r, double time, int tree)
{
	struct run_tree *t = &r->tree[tree];
	int chunk = t->begun++;

	for (int i = t->first; i < t->first + t->members; i++) {
		const struct member *m = &r->member[i];

		*inputs_left(r, tree, chunk, i) = m->inputs;
		if (m->inputs == 0 && m->up >= 0)
			send(r, time, tree, chunk, m->up);
	}
	if (r->member[t->root].inputs == 0)
		whole(r, time, tree, chunk);
}

static void chunk_done(struct run *r, double time, int tree)
{
	struct run_tree *t = &r->tree[tree];

	r->done++;
	t->done++;
	if (r->done == 1)
		r->first = time;
	r->now = fmax(r->now, time);
	if (t->window > 0 && t->begun < t->chunks)
		begin_chunk(r, time, tree);
}

/* --- set-up ----------------------------------------------------------------------------------- */

/*
 * The member for a node of the current tree, created at the first call. place[node] is its index if
 * stamp[node] is tree + 1.
 */
static int member_of(struct run *r, int node, int tree, int *place, int *stamp)
{
	struct run_tree *t = &r->tree[tree];

	if (stamp[node] != tree + 1) {
		stamp[node] = tree + 1;
		place[node] = t->first + t->members++;
		r->member[place[node]] = (struct member){.node = node, .up = -1};
	}
	return place[node];
}

static void lay_out_tree(struct run *r, int tree, int *place, int *stamp, int *listed)
{
	const struct plan_tree *pt = &r->p->tree[tree];
	struct run_tree *t = &r->tree[tree];
	int at = *listed;

	t->root = member_of(r, pt->root, tree, place, stamp);
	for (int k = 0; k < pt->ups + pt->downs; k++) {
		int i = k < pt->ups ? pt->up_first + k : pt->down_first + k - pt->ups;
		const struct plan_edge *e = &r->p->edge[i];

		r->from[i] = member_of(r, e->from, tree, place, stamp);
		r->to[i] = member_of(r, e->to, tree, place, stamp);
		if (k < pt->ups) {
			r->member[r->from[i]].up = i;
			r->member[r->to[i]].inputs++;
		} else {
			r->member[r->from[i]].downs++;
		}
	}
	for (int i = t->first; i < t->first + t->members; i++) {
		struct member *m = &r->member[i];
		const struct topo_node *n = &r->t->node[m->node];

		m->down = at;
		at += m->downs;
		m->downs = 0;
		m->merges = !isinf(n->processing) && m->inputs >= (n->kind == TOPO_HOST ? 1 : 2);
	}
	for (int k = 0; k < pt->downs; k++) {
		struct member *m = &r->member[r->from[pt->down_first + k]];

		r->list[m->down + m->downs++] = pt->down_first + k;
	}
	*listed = at;
}

/*
 * The window of a tree: the global window, or less if a box of the tree has fewer slots for each of
 * its groups.
 */
static int find_window(const struct run *r, int tree, const int *groups)
{
	const struct plan_tree *k = &r->p->tree[tree];
	int window = r->window;

	for (int i = 0; i < k->ups + k->downs && !r->p->sequential; i++) {
		const struct plan_edge *e = &r->p->edge[k->up_first + i];

		for (int end = 0; end < 2; end++) {
			int node = end ? e->to : e->from;
			int slots = r->t->node[node].limits.slots;

			if (r->t->node[node].kind != TOPO_BOX || slots == TOPO_UNLIMITED)
				continue;
			slots = slots < groups[node] ? 1 : slots / groups[node];
			window = window == 0 || slots < window ? slots : window;
		}
	}
	return window;
}

/* Number of chunks of a tree: in proportion to its share, at least one. */
static int count_chunks(const struct run *r, int tree)
{
	const struct plan *p = r->p;
	double exact = p->tree[tree].share * r->o->chunks;

	return exact < 1.5 ? 1 : exact > 1e6 ? 1000000 : (int)(exact + 0.5);
}

static int lay_out(struct run *r)
{
	int *place = calloc((size_t)r->t->nodes, sizeof(int));
	int *stamp = calloc((size_t)r->t->nodes, sizeof(int));
	int *groups = limits_groups(r->t, r->p);
	int listed = 0;
	int member = 0;
	uint64_t state = 0;

	for (int i = 0; i < r->p->trees && place && stamp; i++) {
		struct run_tree *t = &r->tree[i];

		*t = (struct run_tree){.first = member, .chunks = count_chunks(r, i)};
		t->size = r->p->tree[i].share * r->o->amount / t->chunks;
		t->window = find_window(r, i, groups);
		t->state = state;
		t->chunk_first = r->chunks;
		lay_out_tree(r, i, place, stamp, &listed);
		member += t->members;
		state += (uint64_t)t->chunks * (uint64_t)t->members;
		r->chunks += t->chunks;
	}
	free(place);
	free(stamp);
	free(groups);
	r->roots_left = r->chunks;
	if (state > STATE_MAX)
		return -1;
	r->waiting = malloc((state + 1) * sizeof(int));
	r->left = malloc(((size_t)r->chunks + 1) * sizeof(int));
	if (!place || !stamp || !r->waiting || !r->left)
		return -1;
	for (int i = 0; i < r->p->trees; i++)
		for (int c = 0; c < r->tree[i].chunks; c++)
			r->left[r->tree[i].chunk_first + c] = r->p->tree[i].downs;
	return 0;
}

static int allocate(struct run *r)
{
	size_t edges = (size_t)r->p->edges + 1;
	size_t arcs = (size_t)r->t->links * 2 + 1;

	r->tree = calloc((size_t)r->p->trees + 1, sizeof(*r->tree));
	r->member = calloc(2 * edges + (size_t)r->p->trees, sizeof(*r->member));
	r->list = calloc(edges, sizeof(int));
	r->from = calloc(edges, sizeof(int));
	r->to = calloc(edges, sizeof(int));
	r->arc_free = calloc(arcs, sizeof(double));
	r->arc_busy = calloc(arcs, sizeof(double));
	r->node_free = calloc((size_t)r->t->nodes, sizeof(double));
	if (!r->tree || !r->member || !r->list || !r->from || !r->to || !r->arc_free ||
	    !r->arc_busy || !r->node_free)
		return -1;
	return lay_out(r);
}

static void release(struct run *r)
{
	free(r->tree);
	free(r->member);
	free(r->list);
	free(r->from);
	free(r->to);
	free(r->waiting);
	free(r->left);
	free(r->arc_free);
	free(r->arc_busy);
	free(r->node_free);
	free(r->heap);
}

/* --- running ---------------------------------------------------------------------------------- */

struct turn {
	double at;
	int tree;
};

static int by_turn(const void *a, const void *b)
{
	const struct turn *x = a;
	const struct turn *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->tree - y->tree;
}

/*
 * Starts the first chunks; those of different trees are interleaved in proportion to their numbers.
 */
static int begin_all(struct run *r)
{
	struct turn *turn = malloc(((size_t)r->chunks + 1) * sizeof(*turn));
	int n = 0;

	if (!turn)
		return -1;
	for (int i = 0; i < r->p->trees; i++)
		for (int c = 0; c < r->tree[i].chunks; c++)
			if (r->tree[i].window == 0 || c < r->tree[i].window)
				turn[n++] = (struct turn){(c + 0.5) / r->tree[i].chunks, i};
	qsort(turn, (size_t)n, sizeof(*turn), by_turn);
	for (int i = 0; i < n; i++)
		begin_chunk(r, 0, turn[i].tree);
	free(turn);
	return 0;
}

static void run_events(struct run *r)
{
	while (r->events > 0 && !r->failed) {
		struct event e = pop(r);
		const struct plan_edge *edge = &r->p->edge[e.edge];
		const struct plan_tree *tree = &r->p->tree[e.tree];

		if (e.hop + 1 < edge->arcs)
			cross(r, &e);
		else if (e.edge < tree->up_first + tree->ups && e.edge >= tree->up_first)
			arrive_up(r, &e);
		else
			arrive_down(r, &e);
	}
}

static void report(const struct run *r, struct sim_result *result)
{
	*result = (struct sim_result){.seconds = r->now,
				      .goodput = r->o->amount / r->now,
				      .first = r->first,
				      .events = r->count,
				      .chunks = r->chunks,
				      .busiest_arc = -1};
	for (int i = 0; i < 2 * r->t->links; i++) {
		if (r->arc_busy[i] <= result->busiest * r->now)
			continue;
		result->busiest = r->arc_busy[i] / r->now;
		result->busiest_arc = i;
	}
}

int sim_chunks(const struct topology *t, const struct plan *p, const struct sim_options *o,
	       struct sim_result *result, struct topo_error *e)
{
	/* A sequential plan has no window: no chunk ends before all chunks have started. */
	struct run r = {.t = t, .p = p, .o = o, .window = p->sequential ? 0 : o->window};
	struct plan_load load;
	int rc = -1;

	if (!(o->amount > 0) || isinf(o->amount) || o->chunks < 1 || o->window < 0)
		return topo_refuse(e, -1, -1,
				   "cannot simulate an amount of %g in %d chunks: both must be "
				   "positive and finite",
				   o->amount, o->chunks);
	if (plan_measure(t, p, &load, e) != 0)
		return -1;
	plan_load_free(&load);
	if (allocate(&r) != 0 || begin_all(&r) != 0) {
		topo_refuse(e, -1, -1, "%d chunks of %d trees do not fit in memory", o->chunks,
			    p->trees);
		goto out;
	}
	run_events(&r);
	if (r.failed || r.done != r.chunks) {
		topo_refuse(e, -1, -1, "%d of %d chunks arrived", r.done, r.chunks);
		goto out;
	}
	report(&r, result);
	rc = 0;
out:
	release(&r);
	return rc;
}
