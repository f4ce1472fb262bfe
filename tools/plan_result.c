/* What `ringfold plan make` and `ringfold plan check` do with a plan: print, simulate, write. */
#include "tools/plan_result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plan/text.h"
#include "planner/sim.h"

#define SIM_CHUNKS_MOST (1u << 20)

void plan_fail(const char *reason)
{
	fprintf(stderr, "ringfold plan: %s\n", reason);
}

static void print_bounds(FILE *f, const struct plan *p, const char *unit)
{
	const struct plan_certificate *c = &p->certificate;
	const char *which;
	double bound = plan_limit(p, &which);

	if (isnan(bound))
		return;
	fprintf(f, "cut bound        %.6g %s\n", c->cut, unit);
	if (isfinite(c->degree))
		fprintf(f, "degree bound     %.6g %s\n", c->degree, unit);
	if (!isnan(c->flow))
		fprintf(f, "flow bound       %.6g %s\n", c->flow, unit);
	if (!isnan(c->dual))
		fprintf(f, "dual bound       %.6g %s%s\n", c->dual, unit,
			!c->exact ? " (of the trees examined only, proves nothing)"
			: strcmp(p->scheme, "forest") == 0 ? " (of trees of hosts)"
							   : "");
	if (isfinite(bound))
		fprintf(f, "of the bound     %.2f%% (%s)\n", 100 * p->throughput / bound, which);
	else
		fprintf(f, "of the bound     no limit\n");
}

static void print_run(FILE *f, const char *name, const struct sim_result *r, const char *unit)
{
	fprintf(f, "%s %.6g s, %.6g %s\n", name, r->seconds, r->goodput, unit);
}

/* Prints one plan for people. */
static void print_plan(FILE *f, const struct topology *t, const struct plan_row *row)
{
	const struct plan *p = row->plan;
	char link[160], box[160];

	plan_worst_link(t, row, link, sizeof(link));
	plan_worst_box(t, row, box, sizeof(box));
	fprintf(f, "scheme           %s%s\n", p->scheme,
		p->reduce_only  ? ", way up only"
		: p->sequential ? ", down after up"
				: "");
	fprintf(f, "throughput       %.6g %s\n", p->throughput, t->unit);
	print_bounds(f, p, t->unit);
	fprintf(f, "trees            %d", p->trees);
	if (p->chunks > 0)
		fprintf(f, ", %d chunk classes", p->chunks);
	if (p->rounds > 0)
		fprintf(f, "\nrounds           %d", p->rounds);
	fprintf(f, "\nsteps            %d\nlatency          %.4g us\n",
		p->steps > 0 ? p->steps : row->load.steps, row->load.latency * 1e6);
	fprintf(f, "busiest link     %s\nbusiest box      %s\n", link, box);
	if (p->planning_seconds > 0)
		fprintf(f, "planning         %.3f s\n", p->planning_seconds);
	if (row->simulated) {
		print_run(f, "fluid run       ", &row->fluid, t->unit);
		print_run(f, "chunk run       ", &row->chunks, t->unit);
	}
}

double plan_amount(const struct topology *t, uint64_t bytes)
{
	static const struct {
		const char *unit;
		double bits;
	} units[] = {{"Gbps", 1e9}, {"Mbps", 1e6}, {"Kbps", 1e3}, {"bps", 1},
		     {"GB/s", 8e9}, {"MB/s", 8e6}, {"B/s", 8}};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(t->unit, units[i].unit) == 0)
			return 8.0 * (double)bytes / units[i].bits;
	return 8.0 * (double)bytes / 1e9;
}

static int simulate(const struct topology *t, struct plan_row *row, const struct plan_output *w)
{
	struct sim_options o = sim_options_default();
	struct topo_error e = {.text = ""};

	o.amount = plan_amount(t, w->size);
	o.chunks = (int)w->sim_chunks;
	if (sim_fluid(t, row->plan, &o, &row->fluid, &e) != 0 ||
	    sim_chunks(t, row->plan, &o, &row->chunks, &e) != 0) {
		plan_fail(e.text);
		return -1;
	}
	row->simulated = true;
	return 0;
}

/* Builds all results before it writes any. */
static int write_plan(const struct topology *t, const struct plan_row *row,
		      const struct plan_output *w)
{
	bool shown = w->tree <= (unsigned int)row->plan->trees;
	char *json = w->json || w->out ? plan_format(row->plan, t) : NULL;
	char *picture = w->picture && shown ? plan_picture(t, row->plan, (int)w->tree) : NULL;
	char *dot = w->dot && shown ? plan_dot(t, row->plan, (int)w->tree) : NULL;
	int rc = -1;

	if (!shown) {
		fprintf(stderr, "ringfold plan: there is no tree %u: the plan has %d\n", w->tree,
			row->plan->trees);
		goto out;
	}
	if (((w->json || w->out) && !json) || (w->dot && !dot)) {
		plan_fail("out of memory");
		goto out;
	}
	if (w->picture && !picture)
		goto out;
	if (w->out && plan_write(w->out, json, strlen(json)) != 0)
		goto out;
	if (picture && plan_write(w->picture, picture, strlen(picture)) != 0)
		goto out;
	if (dot && plan_write(w->dot, dot, strlen(dot)) != 0)
		goto out;
	if (w->json && !w->out) {
		rc = plan_write(NULL, json, strlen(json));
		goto out;
	}
	if (!w->out || strcmp(w->out, "-") != 0)
		print_plan(stdout, t, row);
	rc = 0;
out:
	free(json);
	free(picture);
	free(dot);
	return rc;
}

/* Prints the reason, with file and line if the plan came from a file. */
static void refuse_plan(const char *path, const struct topo_error *e)
{
	size_t len;
	char *text = path ? text_file(path, &len) : NULL;

	if (text)
		fprintf(stderr, "ringfold plan: %s:%d: %s\n", path,
			text_line(text, len, "trees", e->tree), e->text);
	else
		plan_fail(e->text);
	free(text);
}

int plan_finish(const struct topology *t, struct plan_row *row, const struct plan_output *w)
{
	struct topo_error e = {.text = "", .tree = -1};
	int rc = RF_EXIT_FAILED;

	if (plan_verify(t, row->plan, &row->load, &e) != 0) {
		refuse_plan(w->plan, &e);
		return RF_EXIT_WRONG_DATA;
	}
	if ((!w->simulate || simulate(t, row, w) == 0) && write_plan(t, row, w) == 0)
		rc = RF_EXIT_GOOD;
	plan_load_free(&row->load);
	return rc;
}

int plan_output_paths(const struct plan_output *w)
{
	const char *const in[] = {w->topology, w->plan};
	const char *const out[] = {w->out, w->picture, w->dot};

	return plan_paths(in, 2, out, 3);
}

int plan_options(const struct rf_opt_page *page, int argc, char **argv, int *code)
{
	int at = rf_opt_parse(page, argc, argv);

	*code = at == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	if (at < 0)
		return -1;
	if (at == argc)
		return 0;
	fprintf(stderr, "ringfold plan: unexpected argument \"%s\"\nusage: %s\n", argv[at],
		page->usage);
	return -1;
}

bool plan_in_range(unsigned int v, unsigned int most, const char *option)
{
	if (v <= most)
		return true;
	fprintf(stderr, "--%s: \"%u\" must be a whole number from 0 to %u\n", option, v, most);
	return false;
}

const struct scheme *plan_scheme(const char *name)
{
	const struct scheme *s = scheme_find(name);

	if (!s)
		fprintf(stderr, "--scheme: there is no scheme \"%s\"; it must be one of", name);
	for (const struct scheme *k = scheme_list; !s && k->name; k++)
		fprintf(stderr, "%s %s", k == scheme_list ? "" : ",", k->name);
	if (!s)
		fprintf(stderr, "\n");
	return s;
}

int plan_take_sim_chunks(void *to, const char *value)
{
	struct plan_output *w = to;

	if (rf_opt_uint(value, &w->sim_chunks) != 0 || w->sim_chunks == 0 ||
	    w->sim_chunks > SIM_CHUNKS_MOST) {
		fprintf(stderr, "--%s: \"%s\" must be a whole number from 1 to %u\n", rf_opt_name(),
			value, SIM_CHUNKS_MOST);
		return -1;
	}
	w->sim_chunks_given = true;
	return 0;
}

bool plan_output_is_used(const struct plan_output *w, bool simulated, const char *needs)
{
	if (w->sim_chunks_given && !simulated) {
		fprintf(stderr, "ringfold plan: --sim-chunks needs %s\n", needs);
		return false;
	}
	if (w->tree > 0 && !w->picture && !w->dot) {
		fprintf(stderr, "ringfold plan: --tree needs --picture or --dot\n");
		return false;
	}
	return true;
}
