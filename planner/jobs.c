/*
 * Several jobs on one network.
 */
#include "planner/jobs.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "planner/bounds.h"
#include "planner/build.h"
#include "planner/exact.h"
#include "planner/limits.h"
#include "planner/master.h"
#include "planner/mem.h"
#include "plan/text.h"

#define FORMAT "ringfold-jobs"
#define FLOOR 1e-8     /* part of a link's capacity that always remains */
#define LEAST 2e-9     /* part of the largest capacity that does: topologies limit the ratio */
#define NOTHING 1e-5   /* part of the slowest host's link below which a rate counts as nothing */
#define JOBS_MOST 1000 /* in a file; all their floors together stay below the reserve */

/* --- files ------------------------------------------------------------------------------------ */

struct reader {
	struct text_source source;
	const struct topology *t;
	struct jobs *j;
	int *sorted;
	int *owner; /* by node: 1 + the job that has it */
};

void jobs_free(struct jobs *j)
{
	for (int i = 0; j && i < j->count; i++)
		free(j->job[i].host);
	if (j)
		free(j->job);
	free(j);
}

static int take_host(struct reader *r, int i, int node)
{
	struct job *job = &r->j->job[i];

	if (r->owner[node])
		return text_refuse(&r->source, "jobs", i, "\"%s\" already belongs to job \"%s\"",
				   r->t->node[node].name, r->j->job[r->owner[node] - 1].name);
	r->owner[node] = i + 1;
	job->host = mem_more(job->host, (size_t)job->hosts + 1, sizeof(int));
	job->host[job->hosts++] = node;
	return 0;
}

/* A host, or all hosts of a machine. */
static int take_name(struct reader *r, int i, const char *name)
{
	int node = name ? topo_find(r->t, r->sorted, name) : -1;
	bool any = false;

	if (!name)
		return text_refuse(&r->source, "jobs", i, "\"hosts\" must be a list of names");
	if (node >= 0 && r->t->node[node].kind == TOPO_HOST)
		return take_host(r, i, node);
	for (int n = 0; n < r->t->nodes && node < 0; n++) {
		if (r->t->node[n].kind != TOPO_HOST || strcmp(r->t->node[n].machine, name) != 0)
			continue;
		any = true;
		if (take_host(r, i, n) != 0)
			return -1;
	}
	return any ? 0
		   : text_refuse(&r->source, "jobs", i, "\"%s\" is neither a host nor a machine",
				 name);
}

static int read_job(struct reader *r, int i, json_t *object)
{
	static const char *const keys[] = {"name", "hosts", "rate", NULL};
	const char *name = json_string_value(json_object_get(object, "name"));
	json_t *hosts = json_object_get(object, "hosts");
	json_t *rate = json_object_get(object, "rate");
	struct job *job = &r->j->job[i];
	json_t *value;
	size_t k;

	if (!json_is_object(object))
		return text_refuse(&r->source, "jobs", i, "a job must be an object");
	if (text_check_keys(&r->source, "jobs", i, object, keys) != 0)
		return -1;
	if (!name || !*name || strlen(name) >= TOPO_NAME_MAX || !topo_is_text(name) ||
	    strchr(name, '/'))
		return text_refuse(&r->source, "jobs", i,
				   "\"name\" must be a string of 1 to %d bytes without a slash",
				   TOPO_NAME_MAX - 1);
	snprintf(job->name, sizeof(job->name), "%s", name);
	for (int other = 0; other < i; other++)
		if (strcmp(r->j->job[other].name, name) == 0)
			return text_refuse(&r->source, "jobs", i, "the name \"%s\" is used twice",
					   name);
	job->rate = rate ? json_number_value(rate) : INFINITY;
	if (rate && !(json_is_number(rate) && job->rate > 0))
		return text_refuse(&r->source, "jobs", i, "\"rate\" of \"%s\" must be positive",
				   name);
	if (!json_is_array(hosts))
		return text_refuse(&r->source, "jobs", i, "\"hosts\" must be a list of names");
	json_array_foreach(hosts, k, value)
	{
		if (take_name(r, i, json_string_value(value)) != 0)
			return -1;
	}
	if (job->hosts < 2)
		return text_refuse(
			&r->source, "jobs", i,
			"job \"%s\" has nothing to sum: it has %d host%s and needs at least 2",
			name, job->hosts, job->hosts == 1 ? "" : "s");
	return 0;
}

static int read_all(struct reader *r, json_t *root)
{
	static const char *const keys[] = {"format", "version", "jobs", NULL};
	const char *format = json_string_value(json_object_get(root, "format"));
	json_t *list = json_object_get(root, "jobs");
	json_t *value;
	size_t i;

	if (!json_is_object(root) || !format || strcmp(format, FORMAT) != 0)
		return text_refuse(&r->source, "format", -1, "\"format\" must be \"" FORMAT "\"");
	if (json_integer_value(json_object_get(root, "version")) != 1)
		return text_refuse(&r->source, "version", -1, "\"version\" must be 1");
	if (text_check_keys(&r->source, NULL, -1, root, keys) != 0)
		return -1;
	if (!json_is_array(list) || json_array_size(list) == 0 || json_array_size(list) > JOBS_MOST)
		return text_refuse(&r->source, "jobs", -1,
				   "\"jobs\" must be a list of 1 to %d jobs", JOBS_MOST);
	r->j->job = mem_new(json_array_size(list), sizeof(*r->j->job));
	json_array_foreach(list, i, value)
	{
		r->j->count = (int)i + 1;
		if (read_job(r, (int)i, value) != 0)
			return -1;
	}
	return 0;
}

struct jobs *jobs_parse(const char *text, size_t len, const char *name, const struct topology *t,
			struct topo_error *e)
{
	struct reader r = {.source = {text, len, name, e}, .t = t};
	json_t *root = text_json(&r.source);
	int rc;

	if (!root)
		return NULL;
	r.j = mem_new(1, sizeof(*r.j));
	r.owner = mem_new((size_t)t->nodes, sizeof(int));
	r.sorted = topo_sort_names(t);
	rc = r.sorted ? read_all(&r, root) : topo_refuse(e, -1, -1, "%s: out of memory", name);
	json_decref(root);
	free(r.sorted);
	free(r.owner);
	if (rc == 0)
		return r.j;
	jobs_free(r.j);
	return NULL;
}

struct jobs *jobs_read(const char *path, const struct topology *t, struct topo_error *e)
{
	struct jobs *j;
	size_t len;
	char *text = text_file(path, &len);

	if (!text) {
		topo_refuse(e, -1, -1, "%s: %s", path, strerror(errno));
		return NULL;
	}
	j = jobs_parse(text, len, path, t, e);
	free(text);
	return j;
}

/* --- remaining capacity ----------------------------------------------------------------------- */

static double left_of(double limit, double used)
{
	return isinf(limit) ? limit : fmax(limit * (1 - JOBS_RESERVE) - used, limit * FLOOR);
}

/*
 * Leaves a node what the plans do not use of its processing. A box that is used up becomes a plain
 * switch, and a host that is used up helps no other job.
 */
static void leave_processing(struct topo_node *n, double used, double least)
{
	double floor = fmax(n->processing * FLOOR, least);

	if (isinf(n->processing))
		return;
	n->processing = left_of(n->processing, used);
	if (n->processing > floor)
		return;
	if (n->kind == TOPO_BOX) {
		topo_make_switch(n);
	} else {
		n->processing = floor;
		n->server = false;
		n->taken = true;
	}
}

/*
 * Adds the load of one plan to arc and node, and subtracts its groups, slots and ports from the
 * copy.
 */
static int subtract(struct topology *left, const struct topology *t, const struct plan *p,
		    double *arc, double *node, struct topo_error *e)
{
	struct plan_load load;
	int *groups;

	if (plan_measure(t, p, &load, e) != 0)
		return -1;
	for (int k = 0; k < 2 * t->links; k++)
		arc[k] += load.arc[k] * p->throughput;
	groups = limits_groups(t, p);
	for (int i = 0; i < t->nodes; i++) {
		struct topo_limits *h = &left->node[i].limits;

		node[i] += load.node[i] * p->throughput;
		if (h->groups != TOPO_UNLIMITED)
			h->groups -= groups[i];
		if (h->slots != TOPO_UNLIMITED)
			h->slots -= groups[i];
	}
	limits_hold_ports(left, p);
	free(groups);
	plan_load_free(&load);
	return 0;
}

static double largest_link(const struct topology *t)
{
	double most = 0;

	for (int k = 0; k < 2 * t->links; k++)
		most = fmax(most, topo_arc_capacity(t, k));
	return most;
}

void jobs_take_hosts(struct topology *t, const struct jobs *j)
{
	for (int i = 0; i < j->count; i++)
		for (int k = 0; k < j->job[i].hosts; k++)
			t->node[j->job[i].host[k]].taken = true;
}

struct topology *jobs_rest(const struct topology *t, struct plan *const *plan, int plans,
			   const struct job *job, struct topo_error *e)
{
	struct topology *left = topo_copy(t);
	double *arc = mem_new((size_t)t->links * 2, sizeof(double));
	double *node = mem_new((size_t)t->nodes, sizeof(double));
	double least = largest_link(t) * LEAST;
	int rc = left ? 0 : topo_refuse(e, -1, -1, "out of memory");

	for (int i = 0; i < plans && rc == 0; i++)
		rc = subtract(left, t, plan[i], arc, node, e);
	for (int k = 0; k < 2 * t->links && rc == 0; k++)
		left->link[k >> 1].capacity[k & 1] =
			fmax(left_of(topo_arc_capacity(t, k), arc[k]), least);
	for (int i = 0; i < t->nodes && rc == 0; i++) {
		struct topo_node *n = &left->node[i];

		if (n->kind == TOPO_HOST)
			n->worker = false;
		if (n->taken)
			n->server = false;
		if (n->kind != TOPO_SWITCH)
			leave_processing(n, node[i], least);
		if (n->kind == TOPO_BOX && (n->limits.groups < 1 || n->limits.slots < 1))
			topo_make_switch(n);
	}
	for (int i = 0; rc == 0 && i < job->hosts; i++) {
		struct topo_node *n = &left->node[job->host[i]];

		n->worker = true;
		n->taken = false;
		n->server = t->node[job->host[i]].server;
	}
	if (rc == 0 && topo_drop_useless_boxes(left) != 0)
		rc = topo_refuse(e, -1, -1, "out of memory");
	if (rc == 0)
		rc = topo_finish(left, e);
	free(arc);
	free(node);
	if (rc == 0)
		return left;
	topo_free(left);
	return NULL;
}

/*
 * Replaces the bounds of a plan for what other jobs leave by those of the job alone on the whole
 * network: the prices prove nothing about what is left to anyone who only has the plan and the
 * topology.
 */
static int restate_bounds(const struct topology *t, const struct job *job, struct plan *p,
			  struct topo_error *e)
{
	struct plan_certificate *c = &p->certificate;
	struct topology *own = topo_copy(t);
	int rc = own ? 0 : topo_refuse(e, -1, -1, "out of memory");

	for (int i = 0; i < t->nodes && rc == 0; i++)
		own->node[i].worker = own->node[i].taken = false;
	for (int i = 0; i < job->hosts && rc == 0; i++)
		own->node[job->host[i]].worker = true;
	if (rc == 0)
		rc = topo_finish(own, e);
	if (rc == 0) {
		c->cut = bound_cut(own, p->reduce_only);
		c->degree = bound_degree(own, p->reduce_only);
		c->dual =
			c->exact ? exact_by_prices(own, p, strcmp(p->scheme, "forest") != 0) : NAN;
		c->exact = isfinite(c->dual);
		c->dual = c->exact ? c->dual : NAN;
	}
	topo_free(own);
	return rc;
}

struct plan *jobs_plan(const struct topology *t, struct plan *const *plan, int plans,
		       const struct job *job, const struct scheme *s,
		       const struct scheme_options *o, struct topo_error *e)
{
	struct topology *left = jobs_rest(t, plan, plans, job, e);
	struct plan *p = left ? scheme_run(s, left, o, e) : NULL;
	double slowest = INFINITY;

	if (!p)
		goto out;
	for (int i = 0; i < left->workers; i++) {
		int w = left->worker[i];
		double most = 0;

		for (int k = t->first[w]; k < t->first[w + 1]; k++)
			most = fmax(most, topo_arc_capacity(t, t->out[k]));
		slowest = fmin(slowest, most);
	}
	if (p->throughput < NOTHING * slowest) {
		topo_refuse(e, -1, -1, "the other jobs leave nothing for \"%s\"", job->name);
		plan_free(p);
		p = NULL;
		goto out;
	}
	if (restate_bounds(t, job, p, e) != 0) {
		plan_free(p);
		p = NULL;
		goto out;
	}
	p->throughput = fmin(p->throughput, job->rate);
	p->host = mem_new((size_t)job->hosts, sizeof(int));
	memcpy(p->host, job->host, (size_t)job->hosts * sizeof(int));
	p->hosts = job->hosts;
out:
	topo_free(left);
	return p;
}

int jobs_verify(const struct topology *t, struct plan *const *plan, int plans, struct topo_error *e)
{
	double *arc = mem_new((size_t)t->links * 2, sizeof(double));
	double *node = mem_new((size_t)t->nodes, sizeof(double));
	struct plan *all = plan_new("all");
	struct topology *own = topo_copy(t);
	int rc = all && own ? 0 : topo_refuse(e, -1, -1, "out of memory");

	for (int i = 0; i < plans && rc == 0; i++)
		for (int k = 0; k < plan[i]->hosts; k++)
			own->node[plan[i]->host[k]].taken = true;
	if (rc == 0)
		rc = topo_finish(own, e);
	for (int i = 0; i < plans && rc == 0; i++) {
		struct plan_load load;

		rc = plan_verify(own, plan[i], &load, e);
		if (rc != 0)
			break;
		for (int k = 0; k < 2 * t->links; k++)
			arc[k] += load.arc[k] * plan[i]->throughput;
		for (int k = 0; k < t->nodes; k++)
			node[k] += load.node[k] * plan[i]->throughput;
		plan_load_free(&load);
		for (int k = 0; k < plan[i]->trees; k++)
			plan_copy_tree(all, plan[i], k, plan[i]->tree[k].share);
	}
	for (int k = 0; k < 2 * t->links && rc == 0; k++)
		if (arc[k] > topo_arc_capacity(t, k) * (1 + 1e-9))
			rc = topo_refuse(
				e, -1, k >> 1,
				"the plans together put %.9g on the link \"%s\" to \"%s\", "
				"which has %.9g",
				arc[k], t->node[topo_arc_from(t, k)].name,
				t->node[topo_arc_to(t, k)].name, topo_arc_capacity(t, k));
	for (int i = 0; i < t->nodes && rc == 0; i++)
		if (t->node[i].kind != TOPO_SWITCH && node[i] > t->node[i].processing * (1 + 1e-9))
			rc = topo_refuse(
				e, i, -1,
				"the plans together send %.9g to \"%s\", which can process %.9g",
				node[i], t->node[i].name, t->node[i].processing);
	if (rc == 0)
		rc = limits_check(t, all, e);
	topo_free(own);
	plan_free(all);
	free(arc);
	free(node);
	return rc;
}
