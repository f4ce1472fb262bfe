/*
 * Reads plans from JSON. Plans refer to nodes by name instead of index, so that people can read
 * them and they stay valid when the order of the topology changes.
 */
#include <errno.h>
#include <float.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"
#include "plan/text.h"

#define CHUNKS_MOST (1 << 24)

struct reader {
	struct text_source source;
	const struct topology *t;
	struct plan *p;
	int *sorted;
	int *arc; /* buffer for one route */
};

static int get_node(struct reader *r, int tree, json_t *value, const char *what)
{
	const char *name = json_string_value(value);
	int n = name ? topo_find(r->t, r->sorted, name) : -1;

	if (!name)
		return text_refuse(&r->source, "trees", tree, "%s must be the name of a node",
				   what);
	if (n < 0)
		return text_refuse(&r->source, "trees", tree, "there is no node \"%s\"", name);
	return n;
}

/* The link number that follows a name in an edge, 1 if there is none; 0 after an error. */
static int get_number(struct reader *r, int tree, json_t *value)
{
	if (!json_is_integer(value))
		return 1;
	if (json_integer_value(value) >= 1 && json_integer_value(value) <= r->t->links)
		return (int)json_integer_value(value);
	text_refuse(&r->source, "trees", tree,
		    "%lld is not a valid link number: the topology has %d links",
		    (long long)json_integer_value(value), r->t->links);
	return 0;
}

/*
 * An edge is a list of the names along its route. An integer k after a name selects the k-th of
 * several links to that node.
 */
static int read_edge(struct reader *r, int tree, json_t *list, bool down)
{
	size_t names = json_array_size(list);
	int arcs = 0;
	int first = -1;
	int at = -1;

	if (names < 2 || names > 2 * (size_t)r->t->nodes)
		return text_refuse(&r->source, "trees", tree,
				   "an edge must be a list of two or more nodes");
	for (size_t i = 0; i < names; i++) {
		json_t *next = json_array_get(list, i + 1);
		int number = get_number(r, tree, next);
		int n = number > 0 ? get_node(r, tree, json_array_get(list, i), "an edge") : -1;

		if (n < 0)
			return -1;
		i += json_is_integer(next);
		if (at < 0) {
			first = n;
		} else {
			r->arc[arcs] = topo_find_arc(r->t, at, n, number);
			if (r->arc[arcs] < 0)
				return text_refuse(&r->source, "trees", tree,
						   "no link leads from \"%s\" to \"%s\"",
						   r->t->node[at].name, r->t->node[n].name);
			arcs++;
		}
		at = n;
	}
	if (plan_add_edge(r->p, down, first, at, r->arc, arcs) != 0)
		return text_refuse(&r->source, "trees", tree, "out of memory");
	return 0;
}

static int read_edges(struct reader *r, int tree, json_t *edges, bool down)
{
	size_t i;
	json_t *value;

	if (!json_is_array(edges))
		return text_refuse(&r->source, "trees", tree, "\"%s\" must be a list of edges",
				   down ? "down" : "up");
	json_array_foreach(edges, i, value)
	{
		if (read_edge(r, tree, value, down) != 0)
			return -1;
	}
	return 0;
}

static int read_tree(struct reader *r, int i, json_t *object)
{
	static const char *const keys[] = {"share", "chunks", "root", "up", "down", NULL};
	json_t *share = json_object_get(object, "share");
	json_t *chunks = json_object_get(object, "chunks");
	int root;

	if (!json_is_object(object) || !json_is_number(share))
		return text_refuse(&r->source, "trees", i,
				   "a tree must be an object with a number \"share\"");
	if (text_check_keys(&r->source, "trees", i, object, keys) != 0)
		return -1;
	if (chunks && (!json_is_integer(chunks) || json_integer_value(chunks) < 1 ||
		       json_integer_value(chunks) > r->p->chunks))
		return text_refuse(&r->source, "trees", i,
				   "\"chunks\" of a tree must be from 1 to the plan's %d",
				   r->p->chunks);
	root = get_node(r, i, json_object_get(object, "root"), "\"root\"");
	if (root < 0)
		return -1;
	if (plan_add_tree(r->p, root, json_number_value(share)) != 0)
		return text_refuse(&r->source, "trees", i, "out of memory");
	r->p->tree[i].chunks = chunks ? (int)json_integer_value(chunks) : 0;
	if (read_edges(r, i, json_object_get(object, "up"), false) != 0)
		return -1;
	/* Down edges in a plan without a way down are left for the verifier to refuse. */
	if (r->p->reduce_only && !json_object_get(object, "down"))
		return 0;
	return read_edges(r, i, json_object_get(object, "down"), true);
}

/* A whole number of the header from 0 to `most`, 0 if it is missing; -1 after an error. */
static int get_count(struct reader *r, json_t *root, const char *key, int most)
{
	json_t *value = json_object_get(root, key);

	if (!value)
		return 0;
	if (json_is_integer(value) && json_integer_value(value) >= 0 &&
	    json_integer_value(value) <= most)
		return (int)json_integer_value(value);
	return text_refuse(&r->source, key, -1, "\"%s\" must be a whole number from 0 to %d", key,
			   most);
}

/* 0 or 1, 0 if it is missing; -1 after an error. */
static int get_flag(struct reader *r, json_t *root, const char *key)
{
	json_t *value = json_object_get(root, key);

	if (!value || json_is_boolean(value))
		return json_is_true(value);
	return text_refuse(&r->source, key, -1, "\"%s\" must be true or false", key);
}

static int read_names(struct reader *r, json_t *root)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const char *scheme = json_string_value(json_object_get(root, "scheme"));

	if (!format || strcmp(format, PLAN_FORMAT) != 0)
		return text_refuse(&r->source, "format", -1,
				   "\"format\" must be \"" PLAN_FORMAT "\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return text_refuse(&r->source, "version", -1, "\"version\" must be 1");
	if (!scheme || strlen(scheme) >= PLAN_NAME_MAX || !topo_is_text(scheme))
		return text_refuse(&r->source, "scheme", -1,
				   "\"scheme\" must be a string of fewer than %d bytes without "
				   "control characters",
				   PLAN_NAME_MAX);
	snprintf(r->p->scheme, sizeof(r->p->scheme), "%s", scheme);
	return 0;
}

static int read_head(struct reader *r, json_t *root)
{
	static const char *const keys[] = {
		"format",      "version",    "scheme", "throughput",
		"chunks",      "steps",      "rounds", "planning_seconds",
		"reduce_only", "sequential", "bounds", "trees",
		"hosts",       NULL};
	json_t *throughput = json_object_get(root, "throughput");
	int reduce_only, sequential;

	if (read_names(r, root) != 0 || text_check_keys(&r->source, NULL, -1, root, keys) != 0)
		return -1;
	if (!json_is_number(throughput) || !(json_number_value(throughput) > 0))
		return text_refuse(&r->source, "throughput", -1,
				   "\"throughput\" must be a positive number");
	r->p->throughput = json_number_value(throughput);
	r->p->chunks = get_count(r, root, "chunks", CHUNKS_MOST);
	r->p->steps = r->p->chunks < 0 ? -1 : get_count(r, root, "steps", INT_MAX);
	r->p->rounds = r->p->steps < 0 ? -1 : get_count(r, root, "rounds", INT_MAX);
	if (r->p->rounds < 0)
		return -1;
	reduce_only = get_flag(r, root, "reduce_only");
	sequential = reduce_only < 0 ? -1 : get_flag(r, root, "sequential");
	if (sequential < 0)
		return -1;
	r->p->reduce_only = reduce_only;
	r->p->sequential = sequential;
	if (!json_is_array(json_object_get(root, "trees")))
		return text_refuse(&r->source, "trees", -1, "\"trees\" must be an array");
	return 0;
}

/* The hosts that take part in a job. */
static int read_hosts(struct reader *r, json_t *list)
{
	json_t *value;
	size_t i;

	if (!list)
		return 0;
	if (!json_is_array(list) || json_array_size(list) == 0)
		return text_refuse(&r->source, "hosts", -1, "\"hosts\" must be a list of hosts");
	r->p->host = calloc(json_array_size(list), sizeof(int));
	if (!r->p->host)
		return text_refuse(&r->source, "hosts", -1, "out of memory");
	json_array_foreach(list, i, value)
	{
		const char *name = json_string_value(value);
		int n = name ? topo_find(r->t, r->sorted, name) : -1;

		if (n < 0 || r->t->node[n].kind != TOPO_HOST)
			return text_refuse(&r->source, "hosts", (int)i, "\"%s\" is not a host",
					   name ? name : "");
		for (int k = 0; k < r->p->hosts; k++)
			if (r->p->host[k] == n)
				return text_refuse(&r->source, "hosts", (int)i,
						   "\"%s\" is listed twice", name);
		r->p->host[r->p->hosts++] = n;
	}
	return 0;
}

/* --- prices of the dual bound ----------------------------------------------------------------- */

/*
 * Whether a value is a price. Numbers so small that doubles lose digits are not: sums of them would
 * prove false bounds.
 */
static bool is_price(json_t *value)
{
	double price = json_number_value(value);

	return json_is_number(value) && (price > 0 ? isnormal(price) : !(price < 0));
}

/* ["a", "b", price] or ["a", "b", k, price]: the price of the arc from a to b. */
static int read_arc_price(struct reader *r, json_t *list)
{
	size_t n = json_array_size(list);
	json_t *last = json_array_get(list, n - 1);
	int from, to, number, arc;

	if ((n != 3 && n != 4) || !is_price(last))
		return text_refuse(&r->source, "bounds", -1,
				   "a link price must be [\"from\", \"to\", price] or [\"from\", "
				   "\"to\", k, price], with a price of 0 or at least %g",
				   DBL_MIN);
	number = n == 4 ? get_number(r, -1, json_array_get(list, 2)) : 1;
	from = number > 0 ? get_node(r, -1, json_array_get(list, 0), "a price") : -1;
	to = from >= 0 ? get_node(r, -1, json_array_get(list, 1), "a price") : -1;
	if (to < 0)
		return -1;
	arc = topo_find_arc(r->t, from, to, number);
	if (arc < 0)
		return text_refuse(&r->source, "bounds", -1, "no link leads from \"%s\" to \"%s\"",
				   r->t->node[from].name, r->t->node[to].name);
	r->p->certificate.arc_price[arc] = json_number_value(last);
	return 0;
}

static int read_node_price(struct reader *r, json_t *list)
{
	json_t *last = json_array_get(list, 1);
	int node;

	if (json_array_size(list) != 2 || !is_price(last))
		return text_refuse(&r->source, "bounds", -1,
				   "a box price must be [\"name\", price], with a price of 0 or at "
				   "least %g",
				   DBL_MIN);
	node = get_node(r, -1, json_array_get(list, 0), "a price");
	if (node < 0)
		return -1;
	r->p->certificate.node_price[node] = json_number_value(last);
	return 0;
}

/*
 * Reads the prices of the bounds and the dual bound that they are said to prove. All bounds are
 * recomputed, never taken from a file.
 */
static int read_bounds(struct reader *r, json_t *bounds)
{
	struct plan_certificate *c = &r->p->certificate;
	json_t *arcs = json_object_get(bounds, "link_prices");
	json_t *nodes = json_object_get(bounds, "box_prices");
	json_t *value;
	size_t i;

	value = json_object_get(bounds, "dual");
	if (json_is_true(json_object_get(bounds, "exact")) && json_is_number(value))
		c->stated = json_number_value(value);
	if (!arcs && !nodes)
		return 0;
	c->arc_price = calloc((size_t)r->t->links * 2 + 1, sizeof(double));
	c->node_price = calloc((size_t)r->t->nodes + 1, sizeof(double));
	if (!c->arc_price || !c->node_price)
		return text_refuse(&r->source, "bounds", -1, "out of memory");
	json_array_foreach(arcs, i, value)
	{
		if (read_arc_price(r, value) != 0)
			return -1;
	}
	json_array_foreach(nodes, i, value)
	{
		if (read_node_price(r, value) != 0)
			return -1;
	}
	return 0;
}

static int read_all(struct reader *r, json_t *root)
{
	json_t *value;
	size_t i;

	if (!json_is_object(root))
		return topo_refuse(r->source.e, -1, -1, "%s:1: a plan must be an object",
				   r->source.file);
	if (read_head(r, root) != 0 || read_hosts(r, json_object_get(root, "hosts")) != 0 ||
	    read_bounds(r, json_object_get(root, "bounds")) != 0)
		return -1;
	json_array_foreach(json_object_get(root, "trees"), i, value)
	{
		if (read_tree(r, (int)i, value) != 0)
			return -1;
	}
	return 0;
}

struct plan *plan_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e)
{
	struct reader r = {.source = {text, len, name, e}, .t = t};
	json_t *root = text_json(&r.source);
	int rc;

	if (!root)
		return NULL;
	r.p = plan_new("");
	r.sorted = topo_sort_names(t);
	r.arc = malloc(((size_t)t->nodes * 2 + 1) * sizeof(int));
	rc = r.p && r.sorted && r.arc ? read_all(&r, root)
				      : topo_refuse(e, -1, -1, "%s: out of memory", name);
	json_decref(root);
	free(r.sorted);
	free(r.arc);
	if (rc == 0)
		return r.p;
	plan_free(r.p);
	return NULL;
}

struct plan *plan_read(const char *path, const struct topology *t, struct topo_error *e)
{
	struct plan *p;
	size_t len;
	char *text = text_file(path, &len);

	if (!text) {
		topo_refuse(e, -1, -1, "%s: %s", path, strerror(errno));
		return NULL;
	}
	p = plan_parse(text, len, path, t, e);
	free(text);
	return p;
}
