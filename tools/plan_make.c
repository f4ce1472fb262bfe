/* ringfold plan make and ringfold plan check: commands about one plan. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "tools/plan_tool.h"
#include "planner/exact.h"
#include "planner/jobs.h"
#include "plan/textline.h"

#define SHARES_MOST 64
#define PLANS_MOST 64
#define WEIGHED_MOST 16 /* most trees of the forests that --size compares */

struct request {
	const char *topology, *scheme, *plan;
	const char *out, *picture, *dot;
	const char *several[PLANS_MOST]; /* plans to check together */
	int plans;
	bool json, quiet, reduce_only, simulate, as_printed, weighed;
	double share[SHARES_MOST];
	int shares;
	unsigned int chunks, sim_chunks, roundings, trees, tree;
	uint64_t seed, size, limit;
};

static void fail(const char *reason)
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

/* A number of bytes in the topology's unit times a second. An unknown unit counts as Gbps. */
static double amount(const struct topology *t, uint64_t bytes)
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

/*
 * The fastest plan for a vector of the size --size: compares forests of at most 1, 2, 4 ... trees
 * and of any number by the time that the chunk simulator finds. Few shallow trees lose throughput;
 * many deep trees take many dependent steps. NULL with the reason.
 */
static struct plan *weigh(const struct scheme *s, const struct topology *t,
			  const struct scheme_options *o, const struct request *w,
			  struct topo_error *e)
{
	struct sim_options sim = sim_options_default();
	struct plan *best = NULL;
	double least = INFINITY;

	sim.amount = amount(t, w->size);
	sim.chunks = (int)w->sim_chunks;
	for (int trees = 0; trees <= WEIGHED_MOST; trees = trees ? 2 * trees : 1) {
		struct scheme_options few = *o;
		struct sim_result r;
		struct plan *p;

		if (o->trees > 0 && (trees == 0 || trees > o->trees))
			few.trees = o->trees;
		else
			few.trees = trees;
		p = scheme_run(s, t, &few, e);
		if (!p || sim_chunks(t, p, &sim, &r, e) != 0 || r.seconds >= least) {
			plan_free(p);
			continue;
		}
		plan_free(best);
		best = p;
		least = r.seconds;
	}
	return best;
}

static int simulate(const struct topology *t, struct plan_row *row, const struct request *w)
{
	struct sim_options o = sim_options_default();
	struct topo_error e = {.text = ""};

	o.amount = amount(t, w->size);
	o.chunks = (int)w->sim_chunks;
	if (sim_fluid(t, row->plan, &o, &row->fluid, &e) != 0 ||
	    sim_chunks(t, row->plan, &o, &row->chunks, &e) != 0) {
		fail(e.text);
		return -1;
	}
	row->simulated = true;
	return 0;
}

/* Builds all results before it writes any. */
static int write_plan(const struct topology *t, const struct plan_row *row, const struct request *w)
{
	bool shown = (int)w->tree <= row->plan->trees;
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
		fail("out of memory");
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
		fail(e->text);
	free(text);
}

static int finish(const struct topology *t, struct plan_row *row, const struct request *w)
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

static int check_paths(const struct request *w)
{
	const char *const in[] = {w->topology, w->plan};
	const char *const out[] = {w->out, w->picture, w->dot};

	return plan_paths(in, 2, out, 3);
}

static int make(const struct request *w)
{
	const struct scheme *s = scheme_find(w->scheme);
	struct scheme_options o = scheme_options_default();
	struct topo_error e = {.text = ""};
	struct plan_row row = {.name = w->scheme};
	struct topology *t;
	int rc = RF_EXIT_FAILED;

	if (!s) {
		fprintf(stderr, "ringfold plan: there is no scheme \"%s\"; --help lists them\n",
			w->scheme);
		return RF_EXIT_USAGE;
	}
	if (check_paths(w) != 0)
		return RF_EXIT_FAILED;
	t = topo_read(w->topology, &e);
	if (!t) {
		fail(e.text);
		return RF_EXIT_FAILED;
	}
	o.seed = w->seed;
	o.chunks = (int)w->chunks;
	o.reduce_only = w->reduce_only;
	o.trees = (int)w->trees;
	o.as_printed = w->as_printed;
	plan_show_progress(&o, w->quiet || w->json);
	o.server_share = w->shares ? w->share : NULL;
	o.server_shares = w->shares;
	o.roundings = w->roundings ? (int)w->roundings : o.roundings;
	o.seconds = w->limit ? (double)w->limit * 1e-9 : o.seconds;
	row.plan = w->weighed ? weigh(s, t, &o, w, &e) : scheme_run(s, t, &o, &e);
	if (!row.plan) {
		fail(e.text);
	} else {
		row.plan->certificate.flow =
			bound_flow(t, o.reduce_only, &row.plan->certificate.no_flow);
		rc = finish(t, &row, w);
	}
	plan_free(row.plan);
	topo_free(t);
	return rc;
}

/* Recomputes the bounds; those in the file are not trusted. */
static void certify(const struct topology *t, struct plan *p)
{
	struct plan_certificate *c = &p->certificate;

	c->cut = bound_cut(t, p->reduce_only);
	c->degree = bound_degree(t, p->reduce_only);
	c->flow = bound_flow(t, p->reduce_only, &c->no_flow);
	c->dual = bound_by_prices(t, p, strcmp(p->scheme, "forest") != 0);
	c->exact = !isnan(c->dual);
	if (c->arc_price && isnan(c->dual))
		fprintf(stderr, "ringfold plan: the dual bound is not checked: the network has too "
				"many trees, or prices differ by direction\n");
}

/* Checks several plans that run at the same time: each alone, then all together. */
static int check_together(const struct request *w)
{
	struct topo_error e = {.text = "", .tree = -1};
	struct topology *t = topo_read(w->topology, &e);
	struct plan *plan[PLANS_MOST] = {NULL};
	int rc = RF_EXIT_FAILED;
	int read = 0;

	while (t && read < w->plans && (plan[read] = plan_read(w->several[read], t, &e)) != NULL)
		read++;
	if (read < w->plans) {
		fail(e.text);
	} else if (jobs_verify(t, plan, read, &e) != 0) {
		fail(e.text);
		rc = RF_EXIT_WRONG_DATA;
	} else {
		printf("%-20s %6s %10s %6s\n", "plan", "hosts", t->unit, "trees");
		for (int i = 0; i < read; i++)
			printf("%-20s %6d %10.4f %6d\n", w->several[i],
			       plan[i]->hosts > 0 ? plan[i]->hosts : t->workers,
			       plan[i]->throughput, plan[i]->trees);
		printf("together the plans exceed no limit of a link or box\n");
		rc = RF_EXIT_GOOD;
	}
	for (int i = 0; i < read; i++)
		plan_free(plan[i]);
	topo_free(t);
	return rc;
}

static int check(const struct request *w)
{
	struct topo_error e = {.text = ""};
	struct plan_row row = {.name = "plan"};
	struct topology *t;
	int rc = RF_EXIT_FAILED;

	if (check_paths(w) != 0)
		return RF_EXIT_FAILED;
	t = topo_read(w->topology, &e);
	row.plan = t ? plan_read(w->plan, t, &e) : NULL;
	if (!row.plan) {
		fail(e.text);
	} else {
		certify(t, row.plan);
		rc = finish(t, &row, w);
	}
	plan_free(row.plan);
	topo_free(t);
	return rc;
}

static struct request request_default(void)
{
	return (struct request){.seed = 1, .size = 100u << 20, .sim_chunks = 256};
}

static int parse(const struct rf_opt_page *page, int argc, char **argv, int *code)
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

static bool in_range(unsigned int v, unsigned int most, const char *option)
{
	if (v <= most)
		return true;
	fprintf(stderr, "ringfold plan: --%s must be at most %u\n", option, most);
	return false;
}

static int take_plan(void *to, const char *value)
{
	struct request *w = to;

	if (w->plans == PLANS_MOST)
		return -1;
	w->plan = value;
	w->several[w->plans++] = value;
	return 0;
}

static int take_size(void *to, const char *value)
{
	struct request *w = to;

	if (rf_opt_size(value, &w->size) != 0 || w->size == 0) {
		fprintf(stderr, "\"%s\" must be a size above 0, such as 64K, 16M or 1G\n", value);
		return -1;
	}
	w->weighed = true;
	return 0;
}

/* "0.6,0.4" */
static int take_shares(void *to, const char *value)
{
	struct request *w = to;
	char *end;

	w->shares = 0;
	for (const char *p = value;; p = end + 1) {
		double share = strtod(p, &end);

		if (end == p || (*end != ',' && *end != '\0') || !(share >= 0) || isinf(share) ||
		    w->shares == SHARES_MOST) {
			fprintf(stderr,
				"\"%s\" must be a list of at most %d numbers of at least 0, "
				"separated by commas\n",
				value, SHARES_MOST);
			return -1;
		}
		w->share[w->shares++] = share;
		if (*end == '\0')
			return 0;
	}
}

int plan_command_make(int argc, char **argv)
{
	struct request w = request_default();
	char *intro = plan_scheme_help(
		"Makes a plan with one scheme, verifies it, and prints a summary.");
	int code = RF_EXIT_FAILED;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &w.topology, "FILE",
		 "JSON, see `ringfold plan generate` and docs/planner.md", NULL},
		{RF_OPT_STRING, "scheme", 's', &w.scheme, "NAME", "one of the schemes above", NULL},
		{RF_OPT_STRING, "out", 'o', &w.out, "FILE", "write the plan as JSON to FILE", NULL},
		{RF_OPT_FLAG, "json", 'j', &w.json, NULL, "write the plan as JSON to stdout", NULL},
		{RF_OPT_FLAG, "quiet", 'q', &w.quiet, NULL,
		 "no progress messages; --json implies it", NULL},
		{RF_OPT_STRING, "picture", 'p', &w.picture, "FILE",
		 "write an SVG of the topology with the trees in colours (needs Graphviz)", NULL},
		{RF_OPT_UINT, "tree", 0, &w.tree, "N",
		 "draw only the N-th largest tree; 0: the largest trees", NULL},
		{RF_OPT_STRING, "dot", 0, &w.dot, "FILE", "write the picture as Graphviz source",
		 NULL},
		{RF_OPT_UINT, "chunks", 'c', &w.chunks, "N",
		 "divide the vector into N classes; 0: keep fractional shares", NULL},
		{RF_OPT_UINT, "trees", 0, &w.trees, "N",
		 "largest number of trees in the forest; 0: any number", NULL},
		{RF_OPT_FLAG, "reduce-only", 0, &w.reduce_only, NULL,
		 "plan only the way up, to parameter servers (GRID, InArt: rates as in the papers)",
		 NULL},
		{RF_OPT_UINT, "roundings", 0, &w.roundings, "N",
		 "GRID, InArt: keep the best of N roundings; 0: the scheme's own number", NULL},
		{RF_OPT_FLAG, "as-printed", 0, &w.as_printed, NULL,
		 "GRID, InArt: the algorithm of the paper, with whatever vertex the solver returns",
		 NULL},
		{RF_OPT_CALL, "shares", 0, &w, "A,B,...",
		 "inart-exact: shares of the servers, in the order of the file", take_shares},
		{RF_OPT_TIME, "limit", 0, &w.limit, "TIME",
		 "time limit of a scheme that improves step by step; 0: its own", NULL},
		{RF_OPT_U64, "seed", 0, &w.seed, "N", "seed of random choices", NULL},
		{RF_OPT_FLAG, "simulate", 0, &w.simulate, NULL, "run the plan in both simulators",
		 NULL},
		{RF_OPT_CALL, "size", 0, &w, "SIZE",
		 "vector size: chooses the forest that is fastest in the chunk simulator; also "
		 "used by --simulate",
		 take_size},
		{RF_OPT_UINT, "sim-chunks", 0, &w.sim_chunks, "N", "chunks in the chunk simulator",
		 NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan [make] --topology FILE --scheme NAME [options]", intro ? intro : "",
		"  ringfold plan --topology t.json --scheme best --chunks 256 --out plan.json\n"
		"  ringfold plan --topology t.json --scheme ring --simulate --size 64M",
		opts};

	if (parse(&page, argc, argv, &code) == 0) {
		code = RF_EXIT_USAGE;
		if (!w.topology || !w.scheme)
			fprintf(stderr, "ringfold plan: --topology and --scheme are required; "
					"--help lists the schemes\n");
		else if (in_range(w.chunks, 1u << 20, "chunks") &&
			 in_range(w.sim_chunks, 1u << 20, "sim-chunks") &&
			 in_range(w.trees, 1u << 20, "trees") &&
			 in_range(w.roundings, 100000, "roundings"))
			code = make(&w);
	}
	free(intro);
	return code;
}

int plan_command_check(int argc, char **argv)
{
	struct request w = request_default();
	int code;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &w.topology, "FILE", "JSON", NULL},
		{RF_OPT_CALL, "plan", 'P', &w, "FILE",
		 "JSON; repeatable: plans that run at the same time are also checked together",
		 take_plan},
		{RF_OPT_STRING, "picture", 'p', &w.picture, "FILE",
		 "write an SVG of the topology with the trees in colours (needs Graphviz)", NULL},
		{RF_OPT_UINT, "tree", 0, &w.tree, "N",
		 "draw only the N-th largest tree; 0: the largest trees", NULL},
		{RF_OPT_STRING, "dot", 0, &w.dot, "FILE", "write the picture as Graphviz source",
		 NULL},
		{RF_OPT_SIZE, "size", 0, &w.size, "SIZE", "vector size in the simulators", NULL},
		{RF_OPT_UINT, "sim-chunks", 0, &w.sim_chunks, "N", "chunks in the chunk simulator",
		 NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan check --topology FILE --plan FILE [options]",
		"Recomputes all loads of a plan from its trees and runs the plan in both "
		"simulators. A plan that is\nrefused gives exit code 3 and the reason. Several "
		"plans are checked together, without simulators.",
		"  ringfold plan check --topology t.json --plan plan.json --size 64M\n"
		"  ringfold plan check --topology t.json --plan job-a.json --plan job-b.json",
		opts};

	if (parse(&page, argc, argv, &code) != 0)
		return code;
	if (!w.topology || !w.plan) {
		fprintf(stderr, "ringfold plan check: --topology and --plan are required\n");
		return RF_EXIT_USAGE;
	}
	if (w.plans > 1 && (w.picture || w.dot)) {
		fprintf(stderr,
			"ringfold plan check: --picture and --dot need exactly one --plan\n");
		return RF_EXIT_USAGE;
	}
	if (!in_range(w.sim_chunks, 1u << 20, "sim-chunks"))
		return RF_EXIT_USAGE;
	w.simulate = true;
	return w.plans > 1 ? check_together(&w) : check(&w);
}
