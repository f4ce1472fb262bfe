/*
 * Plans as JSON; names of nodes instead of indexes, so that a plan can be read by eye and follows
 * its topology when the order there changes.
 */
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/plan.h"
#include "planner/textline.h"

#define FORMAT "ringfold-plan"

struct reader {
	struct text_source source;
	const struct topology *t;
	struct plan *p;
	int *sorted;
	int *arc; /* room for one route */
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

/* The arc between two neighbours; "B#2" is the second link between them, in the topology's order.
 */
static int find_arc(const struct topology *t, int from, int to, int number)
{
	for (int i = t->first[from]; i < t->first[from + 1]; i++)
		if (topo_arc_to(t, t->out[i]) == to && --number == 0)
			return t->out[i];
	return -1;
}

static int arc_number(const struct topology *t, int arc)
{
	int number = 0;

	for (int i = t->first[topo_arc_from(t, arc)];; i++) {
		number += topo_arc_to(t, t->out[i]) == topo_arc_to(t, arc);
		if (t->out[i] == arc)
			return number;
	}
}

/* An edge is a list: the names along its route, an integer k behind a name where the k-th of
 * several links leads there. */
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
		int number = json_is_integer(next) ? (int)json_integer_value(next) : 1;
		int n = get_node(r, tree, json_array_get(list, i), "an edge");

		if (n < 0)
			return -1;
		i += json_is_integer(next);
		if (at < 0) {
			first = n;
		} else {
			r->arc[arcs] = find_arc(r->t, at, n, number);
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
	json_t *share = json_object_get(object, "share");
	json_t *chunks = json_object_get(object, "chunks");
	int root;

	if (!json_is_object(object) || !json_is_number(share))
		return text_refuse(&r->source, "trees", i,
				   "a tree must be an object with a number \"share\"");
	if (chunks && (!json_is_integer(chunks) || json_integer_value(chunks) < 1 ||
		       json_integer_value(chunks) > r->p->chunks))
		return text_refuse(&r->source, "trees", i,
				   "\"chunks\" must be from 1 to those of the plan, %d",
				   r->p->chunks);
	root = get_node(r, i, json_object_get(object, "root"), "\"root\"");
	if (root < 0)
		return -1;
	if (plan_add_tree(r->p, root, json_number_value(share)) != 0)
		return text_refuse(&r->source, "trees", i, "out of memory");
	r->p->tree[i].chunks = chunks ? (int)json_integer_value(chunks) : 0;
	if (read_edges(r, i, json_object_get(object, "up"), false) != 0)
		return -1;
	return r->p->reduce_only ? 0 : read_edges(r, i, json_object_get(object, "down"), true);
}

static int read_head(struct reader *r, json_t *root)
{
	const char *format = json_string_value(json_object_get(root, "format"));
	const char *scheme = json_string_value(json_object_get(root, "scheme"));
	json_t *throughput = json_object_get(root, "throughput");
	json_t *chunks = json_object_get(root, "chunks");

	if (!format || strcmp(format, FORMAT) != 0)
		return text_refuse(&r->source, "format", -1, "\"format\" must be \"" FORMAT "\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return text_refuse(&r->source, "version", -1, "\"version\" must be 1");
	if (!scheme || strlen(scheme) >= PLAN_NAME_MAX)
		return text_refuse(&r->source, "scheme", -1,
				   "\"scheme\" must be a string below %d bytes", PLAN_NAME_MAX);
	if (!json_is_number(throughput) || !(json_number_value(throughput) > 0))
		return text_refuse(&r->source, "throughput", -1,
				   "\"throughput\" must be a positive number");
	if (chunks && (!json_is_integer(chunks) || json_integer_value(chunks) < 0 ||
		       json_integer_value(chunks) > 1 << 24))
		return text_refuse(&r->source, "chunks", -1,
				   "\"chunks\" must be an integer from 0 to %d", 1 << 24);
	if (!json_is_array(json_object_get(root, "trees")))
		return text_refuse(&r->source, "trees", -1, "\"trees\" must be an array");
	snprintf(r->p->scheme, sizeof(r->p->scheme), "%s", scheme);
	r->p->throughput = json_number_value(throughput);
	r->p->chunks = (int)json_integer_value(chunks);
	r->p->reduce_only = json_is_true(json_object_get(root, "reduce_only"));
	r->p->sequential = json_is_true(json_object_get(root, "sequential"));
	r->p->steps = (int)json_integer_value(json_object_get(root, "steps"));
	return 0;
}

static int read_all(struct reader *r, json_t *root)
{
	json_t *value;
	size_t i;

	if (!json_is_object(root))
		return topo_refuse(r->source.e, -1, -1, "%s:1: a plan must be an object",
				   r->source.file);
	if (read_head(r, root) != 0)
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
	json_error_t at;
	json_t *root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &at);
	int rc;

	if (!root) {
		topo_refuse(e, -1, -1, "%s:%d: %s", name, at.line > 0 ? at.line : 1, at.text);
		return NULL;
	}
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

/* --- writing ------------------------------------------------------------------------------------
 */

static json_t *format_edge(const struct plan *p, const struct topology *t,
			   const struct plan_edge *e)
{
	json_t *list = json_array();

	json_array_append_new(list, json_string(t->node[e->from].name));
	for (int i = 0; i < e->arcs; i++) {
		int arc = p->route[e->first + i];
		int number = arc_number(t, arc);

		json_array_append_new(list, json_string(t->node[topo_arc_to(t, arc)].name));
		if (number > 1)
			json_array_append_new(list, json_integer(number));
	}
	return list;
}

static json_t *format_edges(const struct plan *p, const struct topology *t, int first, int count)
{
	json_t *list = json_array();

	for (int i = 0; i < count; i++)
		json_array_append_new(list, format_edge(p, t, &p->edge[first + i]));
	return list;
}

static json_t *format_tree(const struct plan *p, const struct topology *t,
			   const struct plan_tree *tree)
{
	json_t *o = json_pack("{sfss}", "share", tree->share, "root", t->node[tree->root].name);

	if (p->chunks > 0)
		json_object_set_new(o, "chunks", json_integer(tree->chunks));
	json_object_set_new(o, "up", format_edges(p, t, tree->up_first, tree->ups));
	if (!p->reduce_only)
		json_object_set_new(o, "down", format_edges(p, t, tree->down_first, tree->downs));
	return o;
}

static json_t *format_head(const struct plan *p)
{
	const struct plan_certificate *c = &p->certificate;
	json_t *o = json_pack("{sssisssfsisisf}", "format", FORMAT, "version", 1, "scheme",
			      p->scheme, "throughput", p->throughput, "chunks", p->chunks, "steps",
			      p->steps, "planning_seconds", p->planning_seconds);
	json_t *bounds = json_object();

	json_object_set_new(o, "reduce_only", json_boolean(p->reduce_only));
	json_object_set_new(o, "sequential", json_boolean(p->sequential));
	if (!isnan(c->cut))
		json_object_set_new(bounds, "cut", json_real(c->cut));
	if (!isnan(c->dual))
		json_object_set_new(bounds, "dual", json_real(c->dual));
	if (!isnan(c->flow))
		json_object_set_new(bounds, "flow", json_real(c->flow));
	json_object_set_new(bounds, "exact", json_boolean(c->exact));
	json_object_set_new(o, "bounds", bounds);
	return o;
}

char *plan_format(const struct plan *p, const struct topology *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_t *head = format_head(p);
	char *line = head ? json_dumps(head, JSON_INDENT(1)) : NULL;
	bool ok = f && line;

	json_decref(head);
	if (ok) /* the head without its closing brace, then one tree to a line */
		fprintf(f, "%.*s,\n \"trees\": [", (int)strlen(line) - 2, line);
	free(line);
	for (int i = 0; i < p->trees && ok; i++) {
		json_t *tree = format_tree(p, t, &p->tree[i]);

		line = json_dumps(tree, 0);
		json_decref(tree);
		ok = line != NULL;
		if (ok)
			fprintf(f, "%s\n  %s", i ? "," : "", line);
		free(line);
	}
	if (ok)
		fprintf(f, "\n ]\n}\n");
	if (f && fclose(f) != 0)
		ok = false;
	if (ok)
		return text;
	free(text);
	return NULL;
}
