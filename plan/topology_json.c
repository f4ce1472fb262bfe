/*
 * Reads and writes topologies as JSON. Every error message names the file and the line.
 */
#include "plan/topology.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/text.h"

#define FORMAT "ringfold-topology"

/* The first three in the order of enum topo_kind. */
static const char *const kinds[] = {"host", "switch", "box", "gpu", "nvswitch"};

/* The limits of a box, by key. */
static const struct {
	const char *key;
	size_t at;
} limit_keys[] = {
	{"groups", offsetof(struct topo_limits, groups)},
	{"ranks", offsetof(struct topo_limits, ranks)},
	{"fan_in", offsetof(struct topo_limits, fan_in)},
	{"slots", offsetof(struct topo_limits, slots)},
	{"ports", offsetof(struct topo_limits, ports)},
};
#define LIMIT_KEYS ((int)(sizeof(limit_keys) / sizeof(limit_keys[0])))

struct reader {
	struct text_source source;
	struct topology *t;
	struct topo_limits limits; /* default limits of boxes */
	/* Node indexes sorted by name, to find the ends of links. */
	int *sorted;
};

/* A string of 1 to TOPO_NAME_MAX - 1 bytes, or NULL after an error. */
static const char *get_name(struct reader *r, const char *array, int index, json_t *object,
			    const char *key)
{
	const char *s = json_string_value(json_object_get(object, key));

	if (!s || *s == '\0' || strlen(s) >= TOPO_NAME_MAX) {
		text_refuse(&r->source, array, index, "\"%s\" must be a string of 1 to %d bytes",
			    key, TOPO_NAME_MAX - 1);
		return NULL;
	}
	if (!topo_is_text(s)) {
		text_refuse(&r->source, array, index, "\"%s\" must not contain control characters",
			    key);
		return NULL;
	}
	return s;
}

static int *limit_at(struct topo_limits *h, int key)
{
	return (int *)(void *)((char *)h + limit_keys[key].at);
}

/* Reads the limits in an object: whole numbers, or null for no limit. */
static int read_limits(struct reader *r, const char *array, int i, json_t *object,
		       const char *whose, struct topo_limits *to)
{
	for (int k = 0; k < LIMIT_KEYS; k++) {
		json_t *value = json_object_get(object, limit_keys[k].key);
		json_int_t n = json_integer_value(value);

		if (!value)
			continue;
		if (!json_is_null(value) &&
		    !(json_is_integer(value) && n >= 1 && n <= TOPO_LIMIT_MAX))
			return text_refuse(&r->source, array, i,
					   "\"%s\" of %s must be a whole number from 1 to %d, or "
					   "null for no limit",
					   limit_keys[k].key, whose, TOPO_LIMIT_MAX);
		*limit_at(to, k) = json_is_null(value) ? TOPO_UNLIMITED : (int)n;
	}
	return 0;
}

static int read_box(struct reader *r, int i, json_t *object, const char *name, bool box,
		    struct topo_limits *to)
{
	char whose[TOPO_NAME_MAX + 2];

	*to = r->limits;
	for (int k = 0; k < LIMIT_KEYS && !box; k++)
		if (json_object_get(object, limit_keys[k].key))
			return text_refuse(&r->source, "nodes", i,
					   "\"%s\" of \"%s\": only a box has this limit",
					   limit_keys[k].key, name);
	snprintf(whose, sizeof(whose), "\"%s\"", name);
	return read_limits(r, "nodes", i, object, whose, to);
}

static int read_node(struct reader *r, int i, json_t *object)
{
	static const char *const keys[] = {"name",       "kind",   "worker",  "server",
					   "processing", "groups", "ranks",   "fan_in",
					   "slots",      "ports",  "machine", NULL};
	json_t *machine = json_object_get(object, "machine");
	enum topo_variant variant = TOPO_PLAIN;
	json_t *processing = json_object_get(object, "processing");
	json_t *worker = json_object_get(object, "worker");
	json_t *server = json_object_get(object, "server");
	const char *kind = json_string_value(json_object_get(object, "kind"));
	const char *name;
	struct topo_limits limits;
	int k = 0;
	int n;

	if (!json_is_object(object))
		return text_refuse(&r->source, "nodes", i, "a node must be an object");
	if (text_check_keys(&r->source, "nodes", i, object, keys) != 0)
		return -1;
	name = get_name(r, "nodes", i, object, "name");
	if (!name)
		return -1;
	while (k < 5 && (!kind || strcmp(kind, kinds[k]) != 0))
		k++;
	if (k == 5)
		return text_refuse(&r->source, "nodes", i,
				   "the kind of \"%s\" must be \"host\", \"switch\", \"box\", "
				   "\"gpu\" or \"nvswitch\"",
				   name);
	if (k > 2) {
		variant = k == 3 ? TOPO_GPU : TOPO_NVSWITCH;
		k = variant == TOPO_GPU ? TOPO_HOST : TOPO_SWITCH;
	}
	if (machine && !get_name(r, "nodes", i, object, "machine"))
		return -1;
	if (!machine && variant != TOPO_PLAIN)
		return text_refuse(&r->source, "nodes", i,
				   "the %s \"%s\" must name its \"machine\"", kind, name);
	if (processing && (k == TOPO_SWITCH || !json_is_number(processing)))
		return text_refuse(&r->source, "nodes", i, "\"processing\" of \"%s\": %s", name,
				   k == TOPO_SWITCH ? "a plain switch does not merge"
						    : "must be a number");
	if (worker && (k != TOPO_HOST || !json_is_boolean(worker)))
		return text_refuse(&r->source, "nodes", i, "\"worker\" of \"%s\": %s", name,
				   k != TOPO_HOST ? "only a host has data"
						  : "must be true or false");
	if (server && (k != TOPO_HOST || !json_is_boolean(server)))
		return text_refuse(&r->source, "nodes", i, "\"server\" of \"%s\": %s", name,
				   k != TOPO_HOST ? "only a host can be a server"
						  : "must be true or false");
	if (read_box(r, i, object, name, k == TOPO_BOX, &limits) != 0)
		return -1;
	n = topo_add_node(r->t, (enum topo_kind)k, name,
			  processing ? json_number_value(processing) : INFINITY);
	if (n < 0)
		return text_refuse(&r->source, "nodes", i, "out of memory");
	if (worker)
		r->t->node[n].worker = json_is_true(worker);
	r->t->node[n].server = json_is_true(server);
	if (k == TOPO_BOX)
		r->t->node[n].limits = limits;
	r->t->node[n].variant = variant;
	if (machine)
		snprintf(r->t->node[n].machine, TOPO_NAME_MAX, "%s", json_string_value(machine));
	return 0;
}

/* A number or a pair of numbers, one for each direction. */
static int get_pair(struct reader *r, int i, json_t *value, const char *key, double *to)
{
	if (json_is_number(value)) {
		to[0] = to[1] = json_number_value(value);
		return 0;
	}
	if (!json_is_array(value) || json_array_size(value) != 2 ||
	    !json_is_number(json_array_get(value, 0)) || !json_is_number(json_array_get(value, 1)))
		return text_refuse(&r->source, "links", i,
				   "\"%s\" must be a number or a pair of numbers", key);
	to[0] = json_number_value(json_array_get(value, 0));
	to[1] = json_number_value(json_array_get(value, 1));
	return 0;
}

static int get_end(struct reader *r, int i, json_t *object, const char *key)
{
	const char *name = get_name(r, "links", i, object, key);
	int n;

	if (!name)
		return -1;
	n = topo_find(r->t, r->sorted, name);
	if (n < 0)
		return text_refuse(&r->source, "links", i, "there is no node \"%s\"", name);
	return n;
}

static int read_link(struct reader *r, int i, json_t *object)
{
	static const char *const keys[] = {"a", "b", "capacity", "delay", NULL};
	json_t *delay = json_object_get(object, "delay");
	double capacity[2];
	double delays[2] = {0, 0};
	int a, b, l;

	if (!json_is_object(object))
		return text_refuse(&r->source, "links", i, "a link must be an object");
	if (text_check_keys(&r->source, "links", i, object, keys) != 0)
		return -1;
	a = get_end(r, i, object, "a");
	if (a < 0)
		return -1;
	b = get_end(r, i, object, "b");
	if (b < 0)
		return -1;
	if (get_pair(r, i, json_object_get(object, "capacity"), "capacity", capacity) != 0)
		return -1;
	if (delay && get_pair(r, i, delay, "delay", delays) != 0)
		return -1;
	l = topo_add_link(r->t, a, b, capacity[0], delays[0]);
	if (l < 0)
		return text_refuse(&r->source, "links", i, "out of memory");
	r->t->link[l].capacity[1] = capacity[1];
	r->t->link[l].delay[1] = delays[1];
	return 0;
}

static int read_head(struct reader *r, json_t *root)
{
	static const char *const keys[] = {"format", "version", "name",  "unit",
					   "boxes",  "nodes",   "links", NULL};
	static const char *const box_keys[] = {"groups", "ranks", "fan_in", "slots", "ports", NULL};
	const char *format = json_string_value(json_object_get(root, "format"));
	json_t *unit = json_object_get(root, "unit");
	json_t *boxes = json_object_get(root, "boxes");
	const char *name;

	if (!format || strcmp(format, FORMAT) != 0)
		return text_refuse(&r->source, "format", -1, "\"format\" must be \"" FORMAT "\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return text_refuse(&r->source, "version", -1, "\"version\" must be 1");
	if (text_check_keys(&r->source, NULL, -1, root, keys) != 0)
		return -1;
	name = get_name(r, "name", -1, root, "name");
	if (!name)
		return -1;
	snprintf(r->t->name, sizeof(r->t->name), "%s", name);
	if (unit && (!json_is_string(unit) || json_string_length(unit) == 0 ||
		     json_string_length(unit) >= sizeof(r->t->unit) ||
		     !topo_is_text(json_string_value(unit))))
		return text_refuse(
			&r->source, "unit", -1,
			"\"unit\" must be a string of 1 to %zu bytes without control characters",
			sizeof(r->t->unit) - 1);
	if (unit)
		snprintf(r->t->unit, sizeof(r->t->unit), "%s", json_string_value(unit));
	if (boxes && !json_is_object(boxes))
		return text_refuse(&r->source, "boxes", -1, "\"boxes\" must be an object");
	if (boxes && text_check_keys(&r->source, "boxes", -1, boxes, box_keys) != 0)
		return -1;
	if (read_limits(r, "boxes", -1, boxes, "\"boxes\"", &r->limits) != 0)
		return -1;
	if (!json_is_array(json_object_get(root, "nodes")))
		return text_refuse(&r->source, "nodes", -1, "\"nodes\" must be an array");
	if (!json_is_array(json_object_get(root, "links")))
		return text_refuse(&r->source, "links", -1, "\"links\" must be an array");
	return 0;
}

static int read_all(struct reader *r, json_t *root)
{
	struct topo_error why = {.node = -1, .link = -1};
	json_t *value;
	size_t i;

	if (!json_is_object(root))
		return topo_refuse(r->source.e, -1, -1, "%s:1: a topology must be an object",
				   r->source.file);
	if (read_head(r, root) != 0)
		return -1;
	json_array_foreach(json_object_get(root, "nodes"), i, value)
	{
		if (read_node(r, (int)i, value) != 0)
			return -1;
	}
	/*
	 * Check names before links look them up: a link to one of two nodes with the same name is
	 * ambiguous.
	 */
	if (r->t->nodes > 0 && topo_check_names(r->t, &why) != 0)
		return text_refuse(&r->source, "nodes", why.node, "%s", why.text);
	r->sorted = topo_sort_names(r->t);
	if (!r->sorted)
		return text_refuse(&r->source, "nodes", -1, "out of memory");
	json_array_foreach(json_object_get(root, "links"), i, value)
	{
		if (read_link(r, (int)i, value) != 0)
			return -1;
	}
	if (topo_finish(r->t, &why) == 0)
		return 0;
	return text_refuse(&r->source, why.link >= 0 ? "links" : "nodes",
			   why.link >= 0 ? why.link : why.node, "%s", why.text);
}

struct topology *topo_parse(const char *text, size_t len, const char *name, struct topo_error *e)
{
	struct reader r = {.source = {text, len, name, e}, .limits = topo_limits_shipped()};
	json_t *root = text_json(&r.source);
	int rc;

	if (!root)
		return NULL;
	r.t = topo_new("");
	rc = r.t ? read_all(&r, root) : topo_refuse(e, -1, -1, "%s: out of memory", name);
	json_decref(root);
	free(r.sorted);
	if (rc == 0)
		return r.t;
	topo_free(r.t);
	return NULL;
}

struct topology *topo_read(const char *path, struct topo_error *e)
{
	struct topology *t;
	size_t len;
	char *text = text_file(path, &len);

	if (!text) {
		topo_refuse(e, -1, -1, "%s: %s", path, strerror(errno));
		return NULL;
	}
	t = topo_parse(text, len, path, e);
	free(text);
	return t;
}

/* --- writing ---------------------------------------------------------------------------------- */

static json_t *pair(const double *v)
{
	return v[0] == v[1] ? json_real(v[0]) : json_pack("[ff]", v[0], v[1]);
}

static json_t *format_limits(const struct topo_limits *h)
{
	struct topo_limits copy = *h;
	json_t *o = json_object();

	for (int k = 0; k < LIMIT_KEYS && o; k++) {
		int value = *limit_at(&copy, k);
		json_t *v = value == TOPO_UNLIMITED ? json_null() : json_integer(value);

		if (json_object_set_new(o, limit_keys[k].key, v) != 0) {
			json_decref(o);
			return NULL;
		}
	}
	return o;
}

/* The limits that the file gives as the default: those of the first box. */
static struct topo_limits default_limits(const struct topology *t)
{
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_BOX)
			return t->node[i].limits;
	return topo_limits_shipped();
}

static json_t *format_node(const struct topo_node *n, const struct topo_limits *common)
{
	const char *kind = kinds[n->variant == TOPO_GPU        ? 3
				 : n->variant == TOPO_NVSWITCH ? 4
							       : (int)n->kind];
	json_t *o = json_pack("{ssss}", "name", n->name, "kind", kind);
	int bad = !o;

	if (!bad && n->machine[0])
		bad = json_object_set_new(o, "machine", json_string(n->machine));
	if (!bad && n->kind == TOPO_HOST && !n->worker)
		bad = json_object_set_new(o, "worker", json_false());
	if (!bad && n->server)
		bad = json_object_set_new(o, "server", json_true());
	if (!bad && n->kind != TOPO_SWITCH && !isinf(n->processing))
		bad = json_object_set_new(o, "processing", json_real(n->processing));
	if (!bad && n->kind == TOPO_BOX && !topo_limits_same(&n->limits, common)) {
		json_t *limits = format_limits(&n->limits);

		bad = limits ? json_object_update(o, limits) : -1;
		json_decref(limits);
	}
	if (bad) {
		json_decref(o);
		return NULL;
	}
	return o;
}

static json_t *format_link(const struct topology *t, const struct topo_link *l)
{
	json_t *o = json_pack("{ssssso}", "a", t->node[l->a].name, "b", t->node[l->b].name,
			      "capacity", pair(l->capacity));

	if (o && (l->delay[0] != 0 || l->delay[1] != 0) &&
	    json_object_set_new(o, "delay", pair(l->delay)) != 0) {
		json_decref(o);
		return NULL;
	}
	return o;
}

/* Writes one element per line, so that the line number in an error message identifies it. */
static int write_array(FILE *f, const char *key, int count, const struct topology *t, bool links)
{
	struct topo_limits common = default_limits(t);

	fprintf(f, " \"%s\": [", key);
	for (int i = 0; i < count; i++) {
		json_t *o = links ? format_link(t, &t->link[i]) : format_node(&t->node[i], &common);
		char *line = o ? json_dumps(o, 0) : NULL;

		json_decref(o);
		if (!line)
			return -1;
		fprintf(f, "%s\n  %s", i ? "," : "", line);
		free(line);
	}
	fprintf(f, "\n ]");
	return 0;
}

/* Writes the default limits of boxes if they differ from the shipped box's. */
static int write_default_limits(FILE *f, const struct topology *t)
{
	struct topo_limits common = default_limits(t);
	struct topo_limits shipped = topo_limits_shipped();
	json_t *o;
	char *text;

	if (topo_limits_same(&common, &shipped))
		return 0;
	o = format_limits(&common);
	text = o ? json_dumps(o, 0) : NULL;
	json_decref(o);
	if (!text)
		return -1;
	fprintf(f, " \"boxes\": %s,\n", text);
	free(text);
	return 0;
}

char *topo_format(const struct topology *t)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	json_t *name = json_string(t->name);
	json_t *unit = json_string(t->unit);
	char *quoted[2] = {name ? json_dumps(name, JSON_ENCODE_ANY) : NULL,
			   unit ? json_dumps(unit, JSON_ENCODE_ANY) : NULL};
	bool ok = f && quoted[0] && quoted[1];

	if (ok) {
		fprintf(f,
			"{\n \"format\": \"" FORMAT
			"\",\n \"version\": 1,\n \"name\": %s,\n \"unit\": %s,\n",
			quoted[0], quoted[1]);
		ok = write_default_limits(f, t) == 0 &&
		     write_array(f, "nodes", t->nodes, t, false) == 0;
		fprintf(f, ",\n");
		ok = ok && write_array(f, "links", t->links, t, true) == 0;
		fprintf(f, "\n}\n");
	}
	if (f && fclose(f) != 0)
		ok = false;
	json_decref(name);
	json_decref(unit);
	free(quoted[0]);
	free(quoted[1]);
	if (ok)
		return text;
	free(text);
	return NULL;
}
