/*
 * Writes plans as JSON.
 */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/plan.h"

static json_t *format_edge(const struct plan *p, const struct topology *t,
			   const struct plan_edge *e)
{
	json_t *list = json_array();

	json_array_append_new(list, json_string(t->node[e->from].name));
	for (int i = 0; i < e->arcs; i++) {
		int arc = p->route[e->first + i];
		int number = topo_arc_number(t, arc);

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

/* A price list; prices of 0 are left out. */
static json_t *format_arc_prices(const struct topology *t, const double *price)
{
	json_t *all = json_array();

	for (int arc = 0; arc < 2 * t->links; arc++) {
		int number = topo_arc_number(t, arc);
		json_t *list;

		if (!(price[arc] > 0))
			continue;
		list = json_pack("[ss]", t->node[topo_arc_from(t, arc)].name,
				 t->node[topo_arc_to(t, arc)].name);
		if (number > 1)
			json_array_append_new(list, json_integer(number));
		json_array_append_new(list, json_real(price[arc]));
		json_array_append_new(all, list);
	}
	return all;
}

static json_t *format_node_prices(const struct topology *t, const double *price)
{
	json_t *all = json_array();

	for (int i = 0; i < t->nodes; i++)
		if (price[i] > 0)
			json_array_append_new(all, json_pack("[sf]", t->node[i].name, price[i]));
	return all;
}

/* A number, or null with the reason under "no_KEY". */
static void set_bound(json_t *bounds, const char *key, double value, const char *why)
{
	char no[16];

	if (isfinite(value)) {
		json_object_set_new(bounds, key, json_real(value));
		return;
	}
	snprintf(no, sizeof(no), "no_%s", key);
	json_object_set_new(bounds, key, json_null());
	json_object_set_new(bounds, no, json_string(isnan(value) ? why : "there is no limit"));
}

static json_t *format_bounds(const struct plan *p, const struct topology *t)
{
	const struct plan_certificate *c = &p->certificate;
	json_t *bounds = json_object();
	const char *which;
	double least = plan_limit(p, &which);

	set_bound(bounds, "cut", c->cut, "not computed");
	set_bound(bounds, "degree", c->degree, "not computed");
	set_bound(bounds, "flow", c->flow, c->no_flow ? c->no_flow : "not computed");
	set_bound(bounds, "dual", c->dual, "not computed");
	json_object_set_new(
		bounds, "dual_of",
		json_string(strcmp(p->scheme, "forest") == 0 ? "trees of hosts" : "all trees"));
	json_object_set_new(bounds, "exact", json_boolean(c->exact));
	set_bound(bounds, "ratio", isfinite(least) ? p->throughput / least : NAN,
		  "no limit is known");
	json_object_set_new(bounds, "ratio_of", json_string(which));
	if (c->exact && c->arc_price && c->node_price) {
		json_object_set_new(bounds, "link_prices", format_arc_prices(t, c->arc_price));
		json_object_set_new(bounds, "box_prices", format_node_prices(t, c->node_price));
	}
	return bounds;
}

static json_t *format_head(const struct plan *p, const struct topology *t)
{
	json_t *o = json_pack("{sssisssfsisisi}", "format", PLAN_FORMAT, "version", 1, "scheme",
			      p->scheme, "throughput", p->throughput, "chunks", p->chunks, "steps",
			      p->steps, "rounds", p->rounds);

	json_object_set_new(o, "reduce_only", json_boolean(p->reduce_only));
	json_object_set_new(o, "sequential", json_boolean(p->sequential));
	if (p->hosts > 0) {
		json_t *list = json_array();

		for (int i = 0; i < p->hosts; i++)
			json_array_append_new(list, json_string(t->node[p->host[i]].name));
		json_object_set_new(o, "hosts", list);
	}
	return o;
}

/* Writes the header without its closing brace, then the bounds on one line. */
static bool write_head(FILE *f, const struct plan *p, const struct topology *t)
{
	json_t *part[2] = {format_head(p, t), format_bounds(p, t)};
	char *text[2] = {json_dumps(part[0], JSON_INDENT(1)), json_dumps(part[1], 0)};
	bool ok = text[0] && text[1];

	if (ok)
		fprintf(f, "%.*s,\n \"bounds\": %s,\n \"trees\": [", (int)strlen(text[0]) - 2,
			text[0], text[1]);
	for (int i = 0; i < 2; i++) {
		json_decref(part[i]);
		free(text[i]);
	}
	return ok;
}

char *plan_format(const struct plan *p, const struct topology *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	bool ok = f && write_head(f, p, t);

	for (int i = 0; i < p->trees && ok; i++) {
		json_t *tree = format_tree(p, t, &p->tree[i]);
		char *line = json_dumps(tree, 0);

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
