/* ringfold plan compare: all schemes on one topology. */
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "planner/bounds.h"
#include "planner/scheme.h"
#include "planner/sim.h"
#include "tools/plan_result.h"

#define ROWS_MAX 64

struct comparison {
	struct topology *t;
	struct plan_row row[ROWS_MAX];
	int rows;
	struct plan_certificate all; /* cut, degree and flow of the topology; dual of "best" */
	double bound;                /* the least of these bounds */
	const char *which;
};

static bool is_wanted(const char *list, const char *name)
{
	size_t len = strlen(name);

	for (const char *p = list; p && *p;) {
		const char *end = strchrnul(p, ',');

		if ((size_t)(end - p) == len && memcmp(p, name, len) == 0)
			return true;
		p = *end ? end + 1 : end;
	}
	return !list;
}

/* Checks that every name in the list is a scheme. */
static int check_names(const char *list)
{
	char name[PLAN_NAME_MAX];

	for (const char *p = list; p && *p;) {
		const char *end = strchrnul(p, ',');

		snprintf(name, sizeof(name), "%.*s", (int)(end - p), p);
		if (!scheme_find(name)) {
			fprintf(stderr,
				"ringfold plan compare: there is no scheme \"%s\"; --help lists "
				"them\n",
				name);
			return -1;
		}
		p = *end ? end + 1 : end;
	}
	return 0;
}

static void run_one(struct comparison *c, const struct scheme *s, const struct scheme_options *o,
		    const struct sim_options *sim)
{
	struct plan_row *row = &c->row[c->rows++];
	struct topo_error e = {.text = ""};

	*row = (struct plan_row){.name = s->name};
	row->plan = scheme_run(s, c->t, o, &e);
	if (row->plan && plan_verify(c->t, row->plan, &row->load, &e) != 0) {
		plan_free(row->plan);
		row->plan = NULL;
	}
	if (!row->plan) {
		snprintf(row->reason, sizeof(row->reason), "%s", e.text);
		return;
	}
	/* The dual bound of another scheme covers only that scheme's kind of trees. */
	if (strcmp(s->name, "best") == 0) {
		c->all.dual = row->plan->certificate.dual;
		c->all.exact = row->plan->certificate.exact;
		c->bound = plan_bound(&c->all, &c->which);
	}
	if (sim && sim_fluid(c->t, row->plan, sim, &row->fluid, &e) == 0 &&
	    sim_chunks(c->t, row->plan, sim, &row->chunks, &e) == 0)
		row->simulated = true;
}

/* --- output ----------------------------------------------------------------------------------- */

static int steps(const struct plan_row *row)
{
	return row->plan->steps > 0 ? row->plan->steps : row->load.steps;
}

/* The scheme with the highest throughput first, schemes without a plan last. */
static int by_throughput(const void *a, const void *b)
{
	const struct plan_row *x = a;
	const struct plan_row *y = b;
	double p = x->plan ? x->plan->throughput : -1;
	double q = y->plan ? y->plan->throughput : -1;

	if (p != q)
		return p < q ? 1 : -1;
	return strcmp(x->name, y->name);
}

/* The number of decimals with which the largest number of a column has six digits, at most four. */
static int decimals(double largest)
{
	int digits = largest >= 1 && isfinite(largest) ? (int)log10(largest) + 1 : 1;

	return digits >= 6 ? 0 : 6 - digits > 4 ? 4 : 6 - digits;
}

static void print_table(FILE *f, const struct comparison *c, bool simulated)
{
	int places = decimals(c->row[0].plan ? c->row[0].plan->throughput : 0);

	fprintf(f, "%s: %d workers, %d boxes, %d links; bound %.6g %s (%s)\n", c->t->name,
		c->t->workers, c->t->boxes, c->t->links, c->bound, c->t->unit, c->which);
	fprintf(f, "cut %.6g", c->all.cut);
	if (isfinite(c->all.degree))
		fprintf(f, ", degree %.6g", c->all.degree);
	if (isnan(c->all.flow))
		fprintf(f, ", flow not computed (%s)", c->all.no_flow);
	else
		fprintf(f, ", flow %.6g", c->all.flow);
	if (c->all.exact)
		fprintf(f, ", dual %.6g\n\n", c->all.dual);
	else
		fprintf(f, ", dual not known\n\n");
	fprintf(f, "%-20s %12s %8s %6s %12s %-28s %-22s %6s %10s%s\n", "scheme", c->t->unit,
		"of bound", "steps", "latency/us", "busiest link", "busiest box", "trees",
		"planning/s", simulated ? "    fluid   chunks" : "");
	for (int i = 0; i < c->rows; i++) {
		const struct plan_row *row = &c->row[i];
		char link[160], box[160];

		if (!row->plan) {
			fprintf(f, "%-20s %12s %s\n", row->name, "-", row->reason);
			continue;
		}
		plan_worst_link(c->t, row, link, sizeof(link));
		plan_worst_box(c->t, row, box, sizeof(box));
		fprintf(f, "%-20s %12.*f %7.2f%% %6d %12.2f %-28s %-22s %6d %10.3f", row->name,
			places, row->plan->throughput, 100 * row->plan->throughput / c->bound,
			steps(row), row->load.latency * 1e6, link, box, row->plan->trees,
			row->plan->planning_seconds);
		if (row->simulated)
			fprintf(f, " %8.*f %8.*f", places, row->fluid.goodput, places,
				row->chunks.goodput);
		fprintf(f, "\n");
	}
}

/* JSON has no infinite numbers; null stands for them. */
static json_t *number(double value)
{
	return isfinite(value) ? json_real(value) : json_null();
}

static json_t *row_json(const struct comparison *c, const struct plan_row *row)
{
	char link[160], box[160];
	json_t *o = json_pack("{ss}", "scheme", row->name);

	if (!row->plan) {
		json_object_set_new(o, "refused", json_string(row->reason));
		return o;
	}
	plan_worst_link(c->t, row, link, sizeof(link));
	plan_worst_box(c->t, row, box, sizeof(box));
	json_object_update_new(
		o, json_pack("{sososisisfsssssisfsbsb}", "throughput",
			     number(row->plan->throughput), "of_bound",
			     isfinite(c->bound) ? number(row->plan->throughput / c->bound)
						: json_null(),
			     "steps", steps(row), "rounds", row->plan->rounds, "latency_seconds",
			     row->load.latency, "busiest_link", link, "busiest_box", box, "trees",
			     row->plan->trees, "planning_seconds", row->plan->planning_seconds,
			     "reduce_only", row->plan->reduce_only, "sequential",
			     row->plan->sequential));
	if (row->simulated)
		json_object_update_new(o, json_pack("{soso}", "fluid_goodput",
						    number(row->fluid.goodput), "chunk_goodput",
						    number(row->chunks.goodput)));
	return o;
}

/* All bounds by name; the dual bound is that of "best". */
static json_t *bounds_json(const struct plan_certificate *c)
{
	json_t *o =
		json_pack("{sosososo}", "cut", number(c->cut), "degree", number(c->degree), "flow",
			  number(c->flow), "dual", c->exact ? number(c->dual) : json_null());

	if (!isfinite(c->cut))
		json_object_set_new(o, "no_cut", json_string("there is no limit"));
	if (!isfinite(c->degree))
		json_object_set_new(o, "no_degree", json_string("there is no limit"));
	if (isnan(c->flow))
		json_object_set_new(o, "no_flow", json_string(c->no_flow));
	if (!c->exact)
		json_object_set_new(o, "no_dual", json_string("no exact pricing"));
	return o;
}

static char *to_json(const struct comparison *c)
{
	json_t *list = json_array();
	json_t *root;
	char *text;

	for (int i = 0; i < c->rows; i++)
		json_array_append_new(list, row_json(c, &c->row[i]));
	root = json_pack("{sssssssososisiso}", "topology", c->t->name, "unit", c->t->unit,
			 "bound_by", c->which, "bound", number(c->bound), "bounds",
			 bounds_json(&c->all), "workers", c->t->workers, "boxes", c->t->boxes,
			 "schemes", list);
	if (root && !isfinite(c->bound))
		json_object_set_new(root, "no_bound", json_string("there is no limit"));
	text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
	json_decref(root);
	return text;
}

static int publish(const struct comparison *c, const char *out, const char *chart, bool json,
		   bool simulated)
{
	char *text = NULL;
	char *bars = chart ? plan_chart(c->t, c->row, c->rows, c->bound) : NULL;
	size_t len = 0;
	int rc = -1;
	FILE *f;

	if (json) {
		text = to_json(c);
		len = text ? strlen(text) : 0;
	} else {
		f = open_memstream(&text, &len);
		if (f) {
			print_table(f, c, simulated);
			if (fclose(f) != 0)
				len = 0;
		}
	}
	if (!text || len == 0 || (chart && !bars))
		fprintf(stderr, "ringfold plan compare: out of memory\n");
	else if ((!bars || plan_write(chart, bars, strlen(bars)) == 0) &&
		 plan_write(out, text, len) == 0)
		rc = 0;
	free(text);
	free(bars);
	return rc;
}

/* --- the command ------------------------------------------------------------------------------ */

static int compare(const char *topology, const char *schemes, const struct scheme_options *o,
		   const struct sim_options *sim, struct comparison *c)
{
	struct topo_error e = {.text = ""};

	c->t = topo_read(topology, &e);
	if (!c->t) {
		fprintf(stderr, "ringfold plan compare: %s\n", e.text);
		return -1;
	}
	c->all.cut = bound_cut(c->t, o->reduce_only);
	c->all.degree = bound_degree(c->t, o->reduce_only);
	c->all.flow = bound_flow(c->t, o->reduce_only, &c->all.no_flow);
	c->all.dual = NAN;
	c->bound = plan_bound(&c->all, &c->which);
	for (const struct scheme *s = scheme_list; s->name && c->rows < ROWS_MAX; s++)
		if (is_wanted(schemes, s->name))
			run_one(c, s, o, sim);
	qsort(c->row, (size_t)c->rows, sizeof(c->row[0]), by_throughput);
	for (int i = 0; i < c->rows; i++)
		if (c->row[i].plan)
			return 0;
	fprintf(stderr, "ringfold plan compare: no scheme made a plan; %s: %s\n", c->row[0].name,
		c->row[0].reason);
	return -1;
}

int plan_command_compare(int argc, char **argv)
{
	const char *topology = NULL;
	const char *schemes = NULL;
	const char *out = NULL;
	const char *chart = NULL;
	bool json = false;
	bool quiet = false;
	bool simulate = false;
	unsigned int chunks = 0;
	uint64_t limit = 0;
	struct scheme_options o = scheme_options_default();
	struct sim_options sim = sim_options_default();
	struct comparison *c = calloc(1, sizeof(*c));
	char *intro = plan_scheme_help(
		"Makes a plan with each scheme, verifies it, and prints one table. The bound is "
		"the least of the\nknown upper bounds; no scheme can exceed it.");
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &topology, "FILE", "JSON", NULL},
		{RF_OPT_STRING, "schemes", 0, &schemes, "A,B,...",
		 "run only these schemes (default all)", NULL},
		{RF_OPT_FLAG, "json", 'j', &json, NULL, "print the table as JSON", NULL},
		{RF_OPT_FLAG, "quiet", 'q', &quiet, NULL, "no progress messages; --json implies it",
		 NULL},
		{RF_OPT_STRING, "out", 'o', &out, "FILE",
		 "write the table to FILE instead of stdout", NULL},
		{RF_OPT_STRING, "chart", 0, &chart, "FILE",
		 "write a bar chart of the schemes as SVG", NULL},
		{RF_OPT_FLAG, "simulate", 0, &simulate, NULL,
		 "also run every plan in both simulators", NULL},
		{RF_OPT_UINT, "chunks", 'c', &chunks, "N",
		 "divide the vector into N classes; 0: keep fractional shares", NULL},
		{RF_OPT_FLAG, "reduce-only", 0, &o.reduce_only, NULL,
		 "plan only the way up, to parameter servers", NULL},
		{RF_OPT_TIME, "limit", 0, &limit, "TIME",
		 "time limit of schemes that improve step by step; 0: their own", NULL},
		{RF_OPT_U64, "seed", 0, &o.seed, "N", "seed of random choices", NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan compare --topology FILE [options]", intro ? intro : "",
		"  ringfold plan compare --topology t.json --chart chart.svg\n"
		"  ringfold plan compare --topology t.json --schemes ring,best --simulate --json",
		opts};
	int at = rf_opt_parse(&page, argc, argv);
	int code = at == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;

	o.chunks = (int)(chunks <= PLAN_CHUNKS_MOST ? chunks : 0);
	plan_show_progress(&o, quiet || json);
	o.seconds = limit ? (double)limit * 1e-9 : o.seconds;
	if (at >= 0 && (at != argc || !topology)) {
		fprintf(stderr, "ringfold plan compare: %s\nusage: %s\n",
			topology ? "too many arguments" : "--topology is needed", page.usage);
	} else if (at >= 0 && plan_in_range(chunks, PLAN_CHUNKS_MOST, "chunks") &&
		   check_names(schemes) == 0) {
		code = RF_EXIT_FAILED;
		if (c &&
		    plan_paths(&topology, 1, (const char *const[]){chart, out ? out : "-"}, 2) ==
			    0 &&
		    compare(topology, schemes, &o, simulate ? &sim : NULL, c) == 0 &&
		    publish(c, out, chart, json, simulate) == 0)
			code = RF_EXIT_GOOD;
	}
	for (int i = 0; c && i < c->rows; i++) {
		plan_load_free(&c->row[i].load);
		plan_free(c->row[i].plan);
	}
	if (c)
		topo_free(c->t);
	free(c);
	free(intro);
	return code;
}
