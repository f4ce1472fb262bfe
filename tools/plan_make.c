/* ringfold plan make: makes a plan with one scheme. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "planner/bounds.h"
#include "planner/scheme.h"
#include "planner/sim.h"
#include "tools/plan_result.h"

#define SHARES_MOST 64
#define SHARES_SCHEME "inart-exact"
#define DRAWS_SCHEMES "grid, grid-classes, inart or inart-equal"
#define BEST_SCHEME "best"
#define GAP_LEAST 1e-7
#define GAP_MOST 0.1
#define WEIGHED_MOST 16 /* most trees of the forests that --size compares */

static const char *const shares_of[] = {SHARES_SCHEME, NULL};
static const char *const gap_of[] = {BEST_SCHEME, NULL};
static const char *const draws_of[] = {"grid", "grid-classes", "inart", "inart-equal", NULL};

struct request {
	struct plan_output to;
	const char *scheme;
	bool quiet, reduce_only, as_printed, weighed;
	double share[SHARES_MOST];
	double gap; /* 0: not given */
	int shares;
	unsigned int chunks, roundings, trees;
	uint64_t seed, limit;
};

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

	sim.amount = plan_amount(t, w->to.size);
	sim.chunks = (int)w->to.sim_chunks;
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

/* Whether an option is given that has no meaning for the scheme; then with a message. */
static bool is_foreign(const struct scheme *s, const char *option, bool given,
		       const char *const *schemes, const char *list)
{
	if (!given || scheme_is_among(s, schemes))
		return false;
	fprintf(stderr,
		"ringfold plan: --%s is an option of the scheme %s, not of \"%s\"; leave it out or "
		"name such a scheme\n",
		option, list, s->name);
	return true;
}

static int make(const struct request *w)
{
	const struct scheme *s = plan_scheme(w->scheme);
	struct scheme_options o = scheme_options_default();
	struct topo_error e = {.text = ""};
	struct plan_row row = {.name = w->scheme};
	struct topology *t;
	int rc = RF_EXIT_FAILED;

	if (!s || is_foreign(s, "shares", w->shares > 0, shares_of, SHARES_SCHEME) ||
	    is_foreign(s, "gap", w->gap > 0, gap_of, BEST_SCHEME) ||
	    is_foreign(s, "as-printed", w->as_printed, draws_of, DRAWS_SCHEMES) ||
	    is_foreign(s, "roundings", w->roundings > 0, draws_of, DRAWS_SCHEMES))
		return RF_EXIT_USAGE;
	if (plan_output_paths(&w->to) != 0)
		return RF_EXIT_FAILED;
	t = topo_read(w->to.topology, &e);
	if (!t) {
		plan_fail(e.text);
		return RF_EXIT_FAILED;
	}
	o.seed = w->seed;
	o.chunks = (int)w->chunks;
	o.reduce_only = w->reduce_only;
	o.trees = (int)w->trees;
	o.as_printed = w->as_printed;
	o.gap = w->gap > 0 ? w->gap : o.gap;
	plan_show_progress(&o, w->quiet || w->to.json);
	o.server_share = w->shares ? w->share : NULL;
	o.server_shares = w->shares;
	o.roundings = w->roundings ? (int)w->roundings : o.roundings;
	o.seconds = w->limit ? (double)w->limit * 1e-9 : o.seconds;
	row.plan = w->weighed ? weigh(s, t, &o, w, &e) : scheme_run(s, t, &o, &e);
	if (!row.plan) {
		plan_fail(e.text);
	} else {
		row.plan->certificate.flow =
			bound_flow(t, o.reduce_only, &row.plan->certificate.no_flow);
		rc = plan_finish(t, &row, &w->to);
	}
	plan_free(row.plan);
	topo_free(t);
	return rc;
}

static int take_size(void *to, const char *value)
{
	struct request *w = to;

	if (rf_opt_size(value, &w->to.size) != 0 || w->to.size == 0) {
		fprintf(stderr, "--%s: \"%s\" must be a size above 0, such as 64K, 16M or 1G\n",
			rf_opt_name(), value);
		return -1;
	}
	w->weighed = true;
	return 0;
}

static int take_gap(void *to, const char *value)
{
	double *gap = to;

	if (rf_opt_fraction(value, gap) != 0 || *gap < GAP_LEAST || *gap > GAP_MOST) {
		fprintf(stderr, "--%s: \"%s\" must be a part from %g%% to %g%%\n", rf_opt_name(),
			value, 100 * GAP_LEAST, 100 * GAP_MOST);
		return -1;
	}
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
				"--%s: \"%s\" must be a list of at most %d numbers of at least "
				"0, separated by commas\n",
				rf_opt_name(), value, SHARES_MOST);
			return -1;
		}
		w->share[w->shares++] = share;
		if (*end == '\0')
			return 0;
	}
}

int plan_command_make(int argc, char **argv)
{
	struct request w = {.to = PLAN_OUTPUT_DEFAULT, .seed = 1};
	char *intro = plan_scheme_help(
		"Makes a plan with one scheme, verifies it, and prints a summary.");
	int code = RF_EXIT_FAILED;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &w.to.topology, "FILE",
		 "JSON, see `ringfold plan generate` and docs/planner.md", NULL},
		{RF_OPT_STRING, "scheme", 0, &w.scheme, "NAME", "one of the schemes above", NULL},
		{RF_OPT_STRING, "out", 'o', &w.to.out, "FILE", "write the plan as JSON to FILE",
		 NULL},
		{RF_OPT_FLAG, "json", 'j', &w.to.json, NULL, "write the plan as JSON to stdout",
		 NULL},
		{RF_OPT_FLAG, "quiet", 'q', &w.quiet, NULL,
		 "no progress messages; --json implies it", NULL},
		{RF_OPT_STRING, "picture", 0, &w.to.picture, "FILE",
		 "write an SVG of the topology with the trees in colours (needs Graphviz)", NULL},
		{RF_OPT_UINT, "tree", 0, &w.to.tree, "N",
		 "draw only the N-th largest tree; 0: the largest trees", NULL},
		{RF_OPT_STRING, "dot", 0, &w.to.dot, "FILE", "write the picture as Graphviz source",
		 NULL},
		{RF_OPT_UINT, "chunks", 'c', &w.chunks, "N",
		 "divide the vector into N classes; 0: keep fractional shares", NULL},
		{RF_OPT_UINT, "trees", 0, &w.trees, "N",
		 "largest number of trees in the forest; 0: any number", NULL},
		{RF_OPT_CALL, "gap", 0, &w.gap, "PART",
		 "best, large networks: part of the throughput given up for fewer trees (default "
		 "0.4%)",
		 take_gap},
		{RF_OPT_FLAG, "reduce-only", 0, &w.reduce_only, NULL,
		 "plan only the way up, to parameter servers (GRID, InArt: rates as in the papers)",
		 NULL},
		{RF_OPT_UINT, "roundings", 0, &w.roundings, "N",
		 "GRID, InArt: keep the best of N roundings; 0: the scheme's own number", NULL},
		{RF_OPT_FLAG, "as-printed", 0, &w.as_printed, NULL,
		 "GRID, InArt: the algorithm of the paper, with whatever vertex the solver returns",
		 NULL},
		{RF_OPT_CALL, "shares", 0, &w, "A,B,...",
		 SHARES_SCHEME ": shares of the servers, in the order of the file", take_shares},
		{RF_OPT_TIME, "limit", 0, &w.limit, "TIME",
		 "time limit of a scheme that improves step by step; 0: its own", NULL},
		{RF_OPT_U64, "seed", 0, &w.seed, "N", "seed of random choices", NULL},
		{RF_OPT_FLAG, "simulate", 0, &w.to.simulate, NULL,
		 "run the plan in both simulators", NULL},
		{RF_OPT_CALL, "size", 0, &w, "SIZE",
		 "vector size: chooses the forest that is fastest in the chunk simulator; also "
		 "used by --simulate",
		 take_size},
		{RF_OPT_CALL, "sim-chunks", 0, &w.to, "N", PLAN_SIM_CHUNKS_TEXT,
		 plan_take_sim_chunks},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan [make] --topology FILE --scheme NAME [options]", intro ? intro : "",
		"  ringfold plan --topology t.json --scheme best --chunks 256 --out plan.json\n"
		"  ringfold plan --topology t.json --scheme ring --simulate --size 64M",
		opts};

	if (plan_options(&page, argc, argv, &code) == 0) {
		code = RF_EXIT_USAGE;
		if (!w.to.topology || !w.scheme)
			fprintf(stderr, "ringfold plan: --topology and --scheme are required; "
					"--help lists the schemes\n");
		else if (plan_in_range(w.chunks, PLAN_CHUNKS_MOST, "chunks") &&
			 plan_in_range(w.trees, PLAN_TREES_MOST, "trees") &&
			 plan_in_range(w.roundings, 100000, "roundings") &&
			 plan_output_is_used(&w.to, w.to.simulate || w.weighed,
					     "--simulate or --size"))
			code = make(&w);
	}
	free(intro);
	return code;
}
