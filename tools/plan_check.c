/* ringfold plan check: verifies plans from files. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/exact.h"
#include "planner/jobs.h"
#include "tools/plan_result.h"

#define PLANS_MOST 64

struct request {
	struct plan_output to;
	const char *several[PLANS_MOST]; /* plans to check together */
	int plans;
};

/* Relative difference at which a rate is above a bound: CLP's tolerance is 10^-7. */
#define ABOVE 1e-6

/*
 * The topology in which only the plan's hosts have data; to be freed with topo_free. NULL with the
 * reason.
 */
static struct topology *topology_of(const struct topology *t, const struct plan *p,
				    struct topo_error *e)
{
	struct topology *own = topo_copy(t);

	if (!own) {
		topo_refuse(e, -1, -1, "out of memory");
		return NULL;
	}
	for (int i = 0; i < t->nodes && p->hosts > 0; i++)
		own->node[i].worker = false;
	for (int i = 0; i < p->hosts; i++)
		own->node[p->host[i]].worker = true;
	if (topo_finish(own, e) == 0)
		return own;
	topo_free(own);
	return NULL;
}

/* Recomputes the bounds; those in the file are not trusted. t: of topology_of. */
static void certify(const struct topology *t, struct plan *p)
{
	struct plan_certificate *c = &p->certificate;

	c->cut = bound_cut(t, p->reduce_only);
	c->degree = bound_degree(t, p->reduce_only);
	c->flow = bound_flow(t, p->reduce_only, &c->no_flow);
	c->dual = exact_by_prices(t, p, strcmp(p->scheme, "forest") != 0);
	if (c->arc_price && isnan(c->dual))
		fprintf(stderr, "ringfold plan: the dual bound is not checked: the network has too "
				"many trees, or prices differ by direction\n");
	c->exact = isfinite(c->dual);
}

/*
 * Refuses a plan whose statement of a dual bound is false: its throughput is above it, there are no
 * prices to prove it, or they prove less. The name of the scheme does not matter: no plan is above
 * the bound of its own kind of trees.
 */
static int refuse_statement(const struct plan *p, const char *path)
{
	const struct plan_certificate *c = &p->certificate;

	if (isnan(c->stated))
		return 0;
	if (p->throughput > c->stated * (1 + ABOVE))
		fprintf(stderr,
			"ringfold plan: %s: the throughput is %.6g, more than the dual bound %.6g "
			"that the plan states as proven (\"bounds\"): that bound is false, make "
			"the plan again\n",
			path, p->throughput, c->stated);
	else if (!c->arc_price)
		fprintf(stderr,
			"ringfold plan: %s: the plan states the dual bound %.6g as proven, without "
			"the prices that prove it (\"bounds\"): make the plan again, or set "
			"\"exact\" to false\n",
			path, c->stated);
	else if (c->dual > c->stated * (1 + ABOVE))
		fprintf(stderr,
			"ringfold plan: %s: the prices in the plan do not prove its dual bound "
			"%.6g for this topology, but %.6g (inf: nothing): make the plan again, or "
			"set \"exact\" to false (\"bounds\")\n",
			path, c->stated, c->dual);
	else
		return 0;
	return RF_EXIT_WRONG_DATA;
}

/*
 * Refuses a plan that contradicts a bound: the dual bound that it states itself, or one that
 * certify() found and its trees exceed.
 */
static int refuse_above(const struct topology *t, const struct plan *p, const char *path)
{
	struct plan_load load;
	const char *which;
	double bound = plan_limit(p, &which);
	double rate;

	if (plan_verify(t, p, &load, NULL) != 0)
		return 0; /* plan_finish names the reason */
	rate = load.throughput;
	plan_load_free(&load);
	if (refuse_statement(p, path) != 0)
		return RF_EXIT_WRONG_DATA;
	if (rate > bound * (1 + ABOVE)) {
		fprintf(stderr,
			"ringfold plan: %s: the trees carry %.6g, more than the %s bound %.6g: "
			"this is an error of the planner, please report it with both files\n",
			path, rate, which, bound);
		return RF_EXIT_WRONG_DATA;
	}
	return 0;
}

/* Checks several plans that run at the same time: each alone, then all together. */
static int check_together(const struct request *w)
{
	struct topo_error e = {.text = "", .tree = -1};
	struct topology *t = topo_read(w->to.topology, &e);
	struct plan *plan[PLANS_MOST] = {NULL};
	int rc = RF_EXIT_FAILED;
	int read = 0;

	while (t && read < w->plans && (plan[read] = plan_read(w->several[read], t, &e)) != NULL)
		read++;
	if (read < w->plans) {
		plan_fail(e.text);
	} else if (jobs_verify(t, plan, read, &e) != 0) {
		plan_fail(e.text);
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
	struct topology *t, *own;
	int rc = RF_EXIT_FAILED;

	if (plan_output_paths(&w->to) != 0)
		return RF_EXIT_FAILED;
	t = topo_read(w->to.topology, &e);
	row.plan = t ? plan_read(w->to.plan, t, &e) : NULL;
	own = row.plan ? topology_of(t, row.plan, &e) : NULL;
	if (!own) {
		plan_fail(e.text);
	} else {
		certify(own, row.plan);
		rc = refuse_above(t, row.plan, w->to.plan);
		if (!row.plan->certificate.exact)
			row.plan->certificate.dual = NAN;
		if (rc == 0)
			rc = plan_finish(t, &row, &w->to);
	}
	topo_free(own);
	plan_free(row.plan);
	topo_free(t);
	return rc;
}

static int take_plan(void *to, const char *value)
{
	struct request *w = to;

	if (w->plans == PLANS_MOST) {
		fprintf(stderr, "--%s: \"%s\" is one too many: at most %d can be given\n",
			rf_opt_name(), value, PLANS_MOST);
		return -1;
	}
	w->to.plan = value;
	w->several[w->plans++] = value;
	return 0;
}

int plan_command_check(int argc, char **argv)
{
	const struct plan_output plain = PLAN_OUTPUT_DEFAULT;
	struct request w = {.to = plain};
	int code;
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &w.to.topology, "FILE", "JSON", NULL},
		{RF_OPT_CALL, "plan", 'P', &w, "FILE",
		 "JSON; repeatable: plans that run at the same time are also checked together",
		 take_plan},
		{RF_OPT_STRING, "picture", 0, &w.to.picture, "FILE",
		 "write an SVG of the topology with the trees in colours (needs Graphviz)", NULL},
		{RF_OPT_UINT, "tree", 0, &w.to.tree, "N",
		 "draw only the N-th largest tree; 0: the largest trees", NULL},
		{RF_OPT_STRING, "dot", 0, &w.to.dot, "FILE", "write the picture as Graphviz source",
		 NULL},
		{RF_OPT_SIZE, "size", 0, &w.to.size, "SIZE", "vector size in the simulators", NULL},
		{RF_OPT_CALL, "sim-chunks", 0, &w.to, "N", PLAN_SIM_CHUNKS_TEXT,
		 plan_take_sim_chunks},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan check --topology FILE --plan FILE [options]",
		"Recomputes all loads of a plan from its trees and runs the plan in both "
		"simulators. A plan that is\nrefused gives exit code 3 and the reason. Several "
		"plans are checked together, without simulators.",
		"  ringfold plan check --topology t.json --plan plan.json --size 64M\n"
		"  ringfold plan check --topology t.json --plan job-a.json --plan job-b.json",
		opts};

	if (plan_options(&page, argc, argv, &code) != 0)
		return code;
	if (!w.to.topology || !w.to.plan) {
		fprintf(stderr, "ringfold plan check: --topology and --plan are required\n");
		return RF_EXIT_USAGE;
	}
	if (w.plans > 1 && (w.to.picture || w.to.dot)) {
		fprintf(stderr,
			"ringfold plan check: --picture and --dot need exactly one --plan\n");
		return RF_EXIT_USAGE;
	}
	if (w.plans > 1 && w.to.size != plain.size) {
		fprintf(stderr, "ringfold plan check: --size needs exactly one --plan\n");
		return RF_EXIT_USAGE;
	}
	if (!plan_output_is_used(&w.to, w.plans == 1, "exactly one --plan"))
		return RF_EXIT_USAGE;
	w.to.simulate = true;
	return w.plans > 1 ? check_together(&w) : check(&w);
}
