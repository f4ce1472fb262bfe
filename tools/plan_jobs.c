/*
 * ringfold plan jobs and ringfold plan replan: several jobs on one network, and a new plan after a
 * failure.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/jobs.h"
#include "planner/mem.h"
#include "planner/replan.h"
#include "planner/work.h"
#include "tools/plan_result.h"

#define REMOVED_MOST 64

static void fail(const char *command, const char *reason)
{
	fprintf(stderr, "ringfold plan %s: %s\n", command, reason);
}

/* --- jobs ------------------------------------------------------------------------------------- */

/* PREFIX, the job's name and ".json"; to be freed. */
static char *file_of(const char *prefix, const struct job *job)
{
	char *path = NULL;

	return asprintf(&path, "%s%s.json", prefix, job->name) < 0 ? NULL : path;
}

static int write_jobs(const struct topology *t, const struct jobs *j, struct plan *const *plan,
		      const char *prefix)
{
	int rc = 0;

	for (int i = 0; i < j->count && rc == 0 && prefix; i++) {
		char *path = file_of(prefix, &j->job[i]);
		char *text = plan_format(plan[i], t);

		rc = path && text ? plan_write(path, text, strlen(text)) : -1;
		free(path);
		free(text);
	}
	return rc;
}

static int check_jobs(const char *topology, const char *list, const struct jobs *j,
		      const char *prefix)
{
	const char *const in[] = {topology, list};
	const char **out = mem_new((size_t)j->count, sizeof(*out));
	int rc;

	for (int i = 0; i < j->count && prefix; i++)
		out[i] = file_of(prefix, &j->job[i]);
	rc = plan_paths(in, 2, out, prefix ? j->count : 0);
	for (int i = 0; i < j->count; i++)
		free((void *)(uintptr_t)out[i]);
	free(out);
	return rc;
}

static void print_jobs(const struct topology *t, const struct jobs *j, struct plan *const *plan)
{
	printf("%-20s %6s %10s %6s %6s\n", "job", "hosts", t->unit, "trees", "steps");
	for (int i = 0; i < j->count; i++)
		printf("%-20s %6d %10.4f %6d %6d\n", j->job[i].name, plan[i]->hosts,
		       plan[i]->throughput, plan[i]->trees, plan[i]->steps);
}

static int run_jobs(const char *topology, const char *list, const struct scheme *s,
		    const struct scheme_options *o, const char *prefix)
{
	struct topo_error e = {.text = ""};
	struct topology *t = topo_read(topology, &e);
	struct jobs *j = t ? jobs_read(list, t, &e) : NULL;
	struct plan **plan = mem_new(j ? (size_t)j->count : 1, sizeof(*plan));
	int made = 0;
	int rc = RF_EXIT_FAILED;

	if (!j) {
		fail("jobs", e.text);
		goto out;
	}
	if (check_jobs(topology, list, j, prefix) != 0)
		goto out;
	jobs_take_hosts(t, j);
	for (; made < j->count; made++) {
		double begin = work_clock();

		plan[made] = jobs_plan(t, plan, made, &j->job[made], s, o, &e);
		if (!plan[made]) {
			fprintf(stderr, "ringfold plan jobs: job \"%s\": %s\n", j->job[made].name,
				e.text);
			goto out;
		}
		plan_progress(j->job[made].name, work_clock() - begin);
	}
	if (jobs_verify(t, plan, made, &e) != 0) {
		fail("jobs", e.text);
		rc = RF_EXIT_WRONG_DATA;
	} else if (write_jobs(t, j, plan, prefix) == 0) {
		print_jobs(t, j, plan);
		rc = RF_EXIT_GOOD;
	}
out:
	for (int i = 0; i < made; i++)
		plan_free(plan[i]);
	free(plan);
	jobs_free(j);
	topo_free(t);
	return rc;
}

int plan_command_jobs(int argc, char **argv)
{
	const char *topology = NULL;
	const char *list = NULL;
	const char *scheme = "best";
	const char *prefix = NULL;
	bool quiet = false;
	unsigned int chunks = 0;
	unsigned int trees = 0;
	struct scheme_options o = scheme_options_default();
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &topology, "FILE", "JSON", NULL},
		{RF_OPT_STRING, "jobs", 'J', &list, "FILE", "JSON, see docs/planner-jobs.md", NULL},
		{RF_OPT_STRING, "scheme", 0, &scheme, "NAME", "scheme for all jobs", NULL},
		{RF_OPT_STRING, "out-prefix", 0, &prefix, "TEXT",
		 "write each plan to TEXT, the job's name, .json", NULL},
		{RF_OPT_UINT, "chunks", 'c', &chunks, "N",
		 "divide each vector into N classes; 0: keep fractional shares", NULL},
		{RF_OPT_UINT, "trees", 0, &trees, "N",
		 "largest number of trees of a job; 0: any number", NULL},
		{RF_OPT_U64, "seed", 0, &o.seed, "N", "seed of random choices", NULL},
		{RF_OPT_FLAG, "quiet", 'q', &quiet, NULL, "no progress messages", NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan jobs --topology FILE --jobs FILE [options]",
		"Plans one job after the other. Each job gets the link capacity and the box groups "
		"that the\nearlier jobs leave.",
		"  ringfold plan jobs --topology t.json --jobs jobs.json --out-prefix plan-", opts};
	int code;

	if (plan_options(&page, argc, argv, &code) != 0)
		return code;
	if (!topology || !list) {
		fprintf(stderr,
			"ringfold plan jobs: --topology and --jobs are required\nusage: %s\n",
			page.usage);
		return RF_EXIT_USAGE;
	}
	if (!plan_scheme(scheme) || !plan_in_range(chunks, PLAN_CHUNKS_MOST, "chunks") ||
	    !plan_in_range(trees, PLAN_TREES_MOST, "trees"))
		return RF_EXIT_USAGE;
	o.chunks = (int)chunks;
	o.trees = (int)trees;
	plan_show_progress(&o, quiet);
	return run_jobs(topology, list, scheme_find(scheme), &o, prefix);
}

/* --- failures --------------------------------------------------------------------------------- */

struct removed {
	const char *link[REMOVED_MOST], *node[REMOVED_MOST];
	int links, nodes;
};

static int add(const char **list, int *count, const char *value)
{
	if (*count == REMOVED_MOST) {
		fprintf(stderr, "--%s: \"%s\" is one too many: at most %d can be given\n",
			rf_opt_name(), value, REMOVED_MOST);
		return -1;
	}
	list[(*count)++] = value;
	return 0;
}

/* The parts of "a,b" or "a,b,k"; false: it has another form. */
static bool split_link(const char *text, char name[2][TOPO_NAME_MAX], unsigned int *number)
{
	char k[16] = "1";
	char more;
	int parts = sscanf(text, "%63[^,],%63[^,],%15[^,]%c", name[0], name[1], k, &more);
	int commas = 0;

	for (const char *p = text; *p; p++)
		commas += *p == ',';
	return (parts == 2 || parts == 3) && commas == parts - 1 && rf_opt_uint(k, number) == 0 &&
	       *number >= 1;
}

static int add_link(void *to, const char *value)
{
	struct removed *g = to;
	char name[2][TOPO_NAME_MAX];
	unsigned int number;

	if (!split_link(value, name, &number)) {
		fprintf(stderr,
			"--%s: \"%s\" must have the form A,B or A,B,K: the two nodes that the link "
			"joins and, if several links join them, the number of the link, from 1\n",
			rf_opt_name(), value);
		return -1;
	}
	return add(g->link, &g->links, value);
}

static int add_node(void *to, const char *value)
{
	struct removed *g = to;

	return add(g->node, &g->nodes, value);
}

/* A node of that name; -1 with a message. */
static int find_node(const struct topology *t, const int *sorted, const char *name)
{
	int node = topo_find(t, sorted, name);

	if (node < 0)
		fprintf(stderr, "ringfold plan replan: there is no node \"%s\"\n", name);
	return node;
}

/* An arc of the link that "a,b" or "a,b,k" names; -1 with a message. */
static int find_link(const struct topology *t, const int *sorted, const char *text)
{
	char name[2][TOPO_NAME_MAX];
	unsigned int number = 1;
	int a, b, arc;

	split_link(text, name, &number);
	a = find_node(t, sorted, name[0]);
	b = a < 0 ? -1 : find_node(t, sorted, name[1]);
	if (b < 0)
		return -1;
	arc = number > (unsigned int)t->links ? -1 : topo_find_arc(t, a, b, (int)number);
	if (arc < 0 && topo_find_arc(t, a, b, 1) < 0)
		fprintf(stderr, "ringfold plan replan: no link joins \"%s\" and \"%s\"\n", name[0],
			name[1]);
	else if (arc < 0)
		fprintf(stderr,
			"ringfold plan replan: fewer than %u links join \"%s\" and \"%s\"\n",
			number, name[0], name[1]);
	return arc;
}

static int find_removed(const struct topology *t, const struct removed *g, struct replan_failure *f)
{
	int *sorted = topo_sort_names(t);
	int rc = sorted ? 0 : -1;

	for (int i = 0; i < g->links && rc == 0; i++) {
		int arc = find_link(t, sorted, g->link[i]);

		if (arc < 0)
			rc = -1;
		else
			f->link[arc >> 1] = true;
	}
	for (int i = 0; i < g->nodes && rc == 0; i++) {
		int node = find_node(t, sorted, g->node[i]);

		if (node < 0)
			rc = -1;
		else
			f->node[node] = true;
	}
	free(sorted);
	return rc;
}

/* Makes the hosts of the plan the only workers. */
static int select_workers(struct topology *t, const struct plan *p, struct topo_error *e)
{
	if (p->hosts == 0)
		return 0;
	for (int i = 0; i < t->nodes; i++)
		t->node[i].worker = false;
	for (int i = 0; i < p->hosts; i++)
		t->node[p->host[i]].worker = true;
	return topo_finish(t, e);
}

/* What the options did not ask for, on stderr. */
static void explain(const struct topology *t, const struct replan_failure *f,
		    const struct replan *what)
{
	if (f->cut_off == 1)
		fprintf(stderr,
			"ringfold plan replan: \"%s\" has no path to a host with data any more, "
			"and "
			"is left out\n",
			t->node[f->first_cut_off].name);
	if (f->cut_off > 1)
		fprintf(stderr,
			"ringfold plan replan: %d nodes have no path to a host with data any more, "
			"and are left out; the first is \"%s\"\n",
			f->cut_off, t->node[f->first_cut_off].name);
	if (what->more > 0 && what->all_kept > 0)
		fprintf(stderr,
			"ringfold plan replan: %d of the removed trees used no failed link or "
			"node: "
			"with all of them, the\nthroughput would be %.1f%% of a new plan; "
			"--at-least 0 keeps them\n",
			what->more, 100 * what->all_kept / what->fresh);
	else if (what->more > 0)
		fprintf(stderr,
			"ringfold plan replan: %d of the removed trees used no failed link or "
			"node: "
			"with all of them, there\nare no trees to replace the others\n",
			what->more);
}

static int publish(const struct topology *t, const struct plan *p, const struct replan *what,
		   const char *out, const char *topology_out)
{
	char *plan = plan_format(p, t);
	char *text = topology_out ? topo_format(t) : NULL;
	int rc = plan && (text || !topology_out) ? 0 : -1;

	if (rc == 0 && out)
		rc = plan_write(out, plan, strlen(plan));
	if (rc == 0 && topology_out)
		rc = plan_write(topology_out, text, strlen(text));
	if (rc == 0)
		printf("throughput       %.6g %s, %.2f%% of a new plan\n"
		       "trees            %d kept, %d removed, %d new\n",
		       p->throughput, t->unit, 100 * p->throughput / what->fresh, what->kept,
		       what->gone, what->made);
	free(plan);
	free(text);
	return rc == 0 ? RF_EXIT_GOOD : RF_EXIT_FAILED;
}

static int run_replan(const char *topology, const char *path, const struct removed *g,
		      const struct scheme_options *o, double least, const char *out,
		      const char *topology_out)
{
	struct topo_error e = {.text = "", .tree = -1};
	struct topology *t = topo_read(topology, &e);
	struct plan *old = t ? plan_read(path, t, &e) : NULL;
	struct topology *left = NULL;
	struct plan *p = NULL;
	struct replan_failure f = {0};
	struct plan_load load;
	struct replan what;
	int *node_of = NULL;
	int *arc_of = NULL;
	int rc = RF_EXIT_FAILED;

	if (!old || select_workers(t, old, &e) != 0) {
		fail("replan", e.text);
		goto out;
	}
	if (plan_verify(t, old, &load, &e) != 0) {
		fail("replan", e.text);
		rc = RF_EXIT_WRONG_DATA;
		goto out;
	}
	plan_load_free(&load);
	f.link = mem_new((size_t)t->links, sizeof(bool));
	f.node = mem_new((size_t)t->nodes, sizeof(bool));
	if (find_removed(t, g, &f) != 0)
		goto out;
	left = replan_rest(t, &f, &node_of, &arc_of, &e);
	p = left ? replan(left, old, node_of, arc_of, o, least, &what, &e) : NULL;
	if (!p) {
		fail("replan", e.text);
	} else {
		explain(t, &f, &what);
		rc = publish(left, p, &what, out, topology_out);
	}
out:
	free(f.link);
	free(f.node);
	free(node_of);
	free(arc_of);
	plan_free(p);
	plan_free(old);
	topo_free(left);
	topo_free(t);
	return rc;
}

int plan_command_replan(int argc, char **argv)
{
	const char *topology = NULL;
	const char *plan = NULL;
	const char *out = NULL;
	const char *topology_out = NULL;
	bool quiet = false;
	double least = REPLAN_LEAST;
	struct removed g = {.links = 0};
	struct scheme_options o = scheme_options_default();
	const struct rf_opt opts[] = {
		{RF_OPT_STRING, "topology", 't', &topology, "FILE",
		 "JSON, the network before the failure", NULL},
		{RF_OPT_STRING, "plan", 'P', &plan, "FILE", "JSON, the plan for that network",
		 NULL},
		{RF_OPT_CALL, "without-link", 0, &g, "A,B[,K]",
		 "the link (the K-th) between two nodes has failed; repeatable", add_link},
		{RF_OPT_CALL, "without-node", 0, &g, "NAME",
		 "a box, a switch or a host without data has failed, with its links; repeatable",
		 add_node},
		{RF_OPT_FRACTION, "at-least", 0, &least, "PART",
		 "replace more trees if the throughput is below this part of a new plan's, or of "
		 "the "
		 "old plan's if that is less; 0: keep them",
		 NULL},
		{RF_OPT_STRING, "out", 'o', &out, "FILE", "write the new plan as JSON", NULL},
		{RF_OPT_STRING, "topology-out", 0, &topology_out, "FILE",
		 "write the remaining topology", NULL},
		{RF_OPT_U64, "seed", 0, &o.seed, "N", "seed of random choices", NULL},
		{RF_OPT_FLAG, "quiet", 'q', &quiet, NULL, "no progress messages", NULL},
		{.kind = RF_OPT_END}};
	const struct rf_opt_page page = {
		"ringfold plan replan --topology FILE --plan FILE --without-link A,B [options]",
		"Makes a plan after a failure. Trees that used no failed link or node stay as they "
		"are, with their\nshares; the others are replaced. More trees are replaced "
		"only if the throughput needs it.",
		"  ringfold plan replan -t t.json --plan p.json --without-link leaf3,spine1 --out "
		"q.json --topology-out u.json",
		opts};
	int code;

	if (plan_options(&page, argc, argv, &code) != 0)
		return code;
	if (!topology || !plan || g.links + g.nodes == 0) {
		fprintf(stderr,
			"ringfold plan replan: --topology, --plan and at least one --without-link "
			"or --without-node are required\nusage: %s\n",
			page.usage);
		return RF_EXIT_USAGE;
	}
	if (plan_paths((const char *const[]){topology, plan}, 2,
		       (const char *const[]){out, topology_out}, 2) != 0)
		return RF_EXIT_FAILED;
	plan_show_progress(&o, quiet);
	return run_replan(topology, plan, &g, &o, least, out, topology_out);
}
