#include "tools/sim_collective.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/opt.h"
#include "sim/fabric/world.h"

/* Ethernet 14, IP 20, UDP 8, BTH 12, immediate 4, ICRC 4. */
#define HEADERS 62u

bool sim_collective_mirror(const struct sim_collective *o)
{
	return strcmp(o->steering, "mirror") == 0;
}

bool sim_collective_needs_world(const struct sim_collective *o)
{
	return o->mark > 0 || o->slow > 1;
}

enum rf_collective_kind sim_collective_kind(const struct sim_collective *o)
{
	unsigned kind = RF_SCHEDULE_ALL_REDUCE;

	while (o->name && strcmp(o->name, rf_schedule_name((enum rf_collective_kind)kind)) != 0)
		kind++;
	return (enum rf_collective_kind)kind;
}

int sim_collective_check(const struct sim_collective *o, const struct sim_collective_run *run)
{
	const struct rf_fabric_cfg *c = run->cfg;
	enum rf_collective_kind kind = sim_collective_kind(o);
	uint64_t parts = rf_schedule_has_blocks(kind) ? c->ranks : 1;

	if (c->transparent) {
		fprintf(stderr, "--collective and --steering mirror: not with --transparent\n");
		return -1;
	}
	if (c->schedule != RF_RUN_BOX && (c->mirror || sim_collective_needs_world(o))) {
		fprintf(stderr,
			c->ranks == 1
				? "--steering mirror, --mark, --slow: one rank alone has no box\n"
				: "--steering mirror, --mark, --slow: not with --schedule\n");
		return -1;
	}
	if (o->root != 0 && !rf_schedule_has_root(kind)) {
		fprintf(stderr, "--root: %s has no root\n", rf_schedule_name(kind));
		return -1;
	}
	if (o->root >= c->ranks) {
		fprintf(stderr, "--root: expected 0 to %u\n", c->ranks - 1);
		return -1;
	}
	if (c->in_place && kind != RF_SCHEDULE_ALL_REDUCE) {
		fprintf(stderr, "--in-place: only for all-reduces, not for %s\n",
			rf_schedule_name(kind));
		return -1;
	}
	if (c->op != RF_ARITH_SUM && !rf_schedule_reduces(kind)) {
		fprintf(stderr, "--op: %s has no operation\n", rf_schedule_name(kind));
		return -1;
	}
	if (kind != RF_SCHEDULE_BARRIER && run->size % (parts * rf_arith_size(c->type)) != 0) {
		fprintf(stderr,
			"--size: %" PRIu64 " bytes are not %" PRIu64
			" blocks of whole %s elements\n",
			run->size, parts, run->type);
		return -1;
	}
	if (!rf_arith_has(c->type, c->op)) {
		fprintf(stderr, "--op: %s has no %s\n", run->type, run->op);
		return -1;
	}
	return 0;
}

/* NULL, or an option that has no effect on a directed group. */
static const char *not_here(const struct rf_fabric_cfg *c)
{
	const struct rf_faults *x = &c->host_links;

	if (c->firmware != RF_SIM_FW_NATIVE)
		return "--firmware";
	if (c->processing)
		return "--processing";
	if (c->pcapng_dir)
		return "--pcapng";
	if (c->timeline)
		return "--timeline";
	if (c->wave)
		return "--wave";
	if (c->vlan)
		return "--vlan";
	if (c->straggler)
		return "--straggler";
	if (x->duplicate > 0 || x->reorder > 0 || x->corrupt > 0 || x->bad_fcs > 0 ||
	    x->jitter_ns > 0)
		return "the faults of links, except --loss";
	return NULL;
}

static int settle(const struct sim_collective *o, const struct sim_collective_run *run,
		  struct rf_world_cfg *w, struct rf_world_call *call)
{
	const struct rf_fabric_cfg *c = run->cfg;
	const char *no = not_here(c);
	uint64_t parts = rf_schedule_has_blocks(call->kind) ? c->ranks : 1;
	uint64_t size = rf_arith_size(call->type);

	if (no) {
		fprintf(stderr, "--mark, --slow: not with %s\n", no);
		return -1;
	}
	rf_world_cfg_init(w);
	w->engine = c->engine;
	w->ports = c->ports;
	w->lanes = c->lanes;
	w->width = c->width;
	w->ranks = c->ranks;
	w->mirror = sim_collective_mirror(o);
	w->router = o->router;
	w->selective = c->selective;
	w->mtu = c->mtu;
	w->slots = c->slots;
	w->rate = c->rate;
	w->rate_of_rank[(c->ranks - 1) % RF_WORLD_RANKS] = o->slow > 1 ? c->rate / o->slow : 0;
	w->delay_ns = c->delay_ns;
	w->switch_ns = c->switch_ns;
	w->mark_bytes = o->mark;
	w->loss = c->host_links.loss;
	w->flip = c->flip;
	w->seed = c->seed;
	w->max_ops = 1;
	call->count = run->size / parts / size;
	call->root = o->root;
	call->in_place = c->in_place;
	return 0;
}

struct figures {
	double seconds; /* of all calls */
	double algbw;   /* bytes per second */
	double percent; /* of the line rate without framing */
};

/* A barrier has no data, whatever --size says. */
static struct figures figures_of(const struct sim_collective_run *run,
				 const struct rf_world_result *r)
{
	const struct rf_fabric_cfg *c = run->cfg;
	double share = (double)c->mtu / (c->mtu + HEADERS + RF_WIRE_OVERHEAD);
	struct figures f = {0};

	for (unsigned k = 0; k < run->iterations; k++)
		f.seconds += (double)r->call_ns[k] * 1e-9;
	if (f.seconds > 0 && r->compared > 0)
		f.algbw = (double)run->size * run->iterations / f.seconds;
	f.percent = 100 * f.algbw * 8 / ((double)c->rate * share);
	return f;
}

static void print_table(const struct sim_collective *o, const struct sim_collective_run *run,
			const struct rf_world_call *call, const struct rf_world_result *r)
{
	const struct rf_fabric_cfg *c = run->cfg;
	struct figures f = figures_of(run, r);
	uint64_t queue = 0;

	for (unsigned k = 0; k < c->ranks; k++)
		queue = r->queue_max[k] > queue ? r->queue_max[k] : queue;
	printf("%6s %6s %10s %6s %4s %15s %8s %10s %9s %8s %8s\n", "ranks", "box", "bytes", "type",
	       "op", "collective", "steering", "time us", "GB/s", "% limit", "wrong");
	printf("%6u %6s %10" PRIu64 " %6s %4s %15s %8s %10.2f %9.3f %8.2f %8" PRIu64 "\n", c->ranks,
	       c->engine->name, run->size, run->type, run->op, rf_schedule_name(call->kind),
	       o->steering, f.seconds * 1e6 / run->iterations, f.algbw * 1e-9, f.percent, r->wrong);
	printf("%" PRIu64 " elements compared; seed %" PRIu64 "; the box is set up by registers\n",
	       r->compared / rf_arith_size(call->type), c->seed);
	printf("hosts    %" PRIu64 " data packets, %" PRIu64 " of them repeats; %" PRIu64
	       " ACKs, %" PRIu64 " CNPs, %" PRIu64 " windows halved, %" PRIu64 " timeouts\n",
	       r->packets, r->repeats, r->acks, r->cnps, r->cuts, r->timeouts);
	printf("network  %" PRIu64 " lost, %" PRIu64 " marked, %" PRIu64
	       " dropped by the switch; longest queue towards a host %" PRIu64 " bytes\n",
	       r->frames_lost, r->marked, r->switch_dropped, queue);
}

static void print_json(const struct sim_collective *o, const struct sim_collective_run *run,
		       const struct rf_world_call *call, const struct rf_world_result *r)
{
	const struct rf_fabric_cfg *c = run->cfg;
	struct figures f = figures_of(run, r);
	json_t *queues = json_array();
	json_t *all;

	for (unsigned k = 0; k < c->ranks; k++)
		json_array_append_new(queues, json_integer((json_int_t)r->queue_max[k]));
	all = json_pack("{ss si sI ss ss ss ss sI si sf sf sf sI sI sb so}", "engine",
			c->engine->name, "ranks", (int)c->ranks, "bytes", (json_int_t)run->size,
			"type", run->type, "op", run->op, "collective",
			rf_schedule_name(call->kind), "steering", o->steering, "seed",
			(json_int_t)c->seed, "iterations", (int)run->iterations, "seconds",
			f.seconds, "bytes_per_second", f.algbw, "percent_of_limit", f.percent,
			"compared", (json_int_t)(r->compared / rf_arith_size(call->type)), "wrong",
			(json_int_t)r->wrong, "done", (int)r->done, "queue_max", queues);
	json_object_update_new(
		all, json_pack("{sI sI sI sI sI sI sI sI sI}", "data_packets",
			       (json_int_t)r->packets, "repeats", (json_int_t)r->repeats, "acks",
			       (json_int_t)r->acks, "timeouts", (json_int_t)r->timeouts, "lost",
			       (json_int_t)r->frames_lost, "marked", (json_int_t)r->marked, "cnps",
			       (json_int_t)r->cnps, "windows_halved", (json_int_t)r->cuts,
			       "switch_dropped", (json_int_t)r->switch_dropped));
	json_dumpf(all, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(all);
}

static int ended(int run, const struct rf_world_result *r)
{
	if (r->wrong)
		return RF_EXIT_WRONG_DATA;
	if (r->done)
		return RF_EXIT_GOOD;
	if (r->failure)
		fprintf(stderr, "ringfold sim: rank %u failed: %s\n", r->failed_rank, r->failure);
	else if (run == 0)
		fprintf(stderr, "ringfold sim: not finished at the deadline; a later --deadline "
				"gives it more time\n");
	return RF_EXIT_FAILED;
}

int sim_collective(const struct sim_collective *o, const struct sim_collective_run *run)
{
	struct rf_world_call call = {
		.kind = sim_collective_kind(o), .type = run->cfg->type, .op = run->cfg->op};
	struct rf_world_result r;
	struct rf_world_cfg cfg;
	struct rf_world *w;
	char why[300];
	int n;

	if (run->iterations > RF_WORLD_CALLS) {
		fprintf(stderr, "--iterations: at most %u collectives\n", RF_WORLD_CALLS);
		return RF_EXIT_USAGE;
	}
	if (settle(o, run, &cfg, &call) != 0)
		return RF_EXIT_USAGE;
	if (rf_world_create(&cfg, &w, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold sim: %s\n", why);
		return RF_EXIT_USAGE;
	}
	for (unsigned k = 0; k < run->iterations; k++) {
		if (rf_world_call(w, &call) != 0) {
			fprintf(stderr, "ringfold sim: out of memory\n");
			rf_world_destroy(w);
			return RF_EXIT_FAILED;
		}
	}
	n = rf_world_run(w, run->deadline);
	rf_world_result(w, &r);
	if (!r.done) /* what came may be incomplete: nothing is known about the rest */
		r.wrong = 0;
	else if (run->json)
		print_json(o, run, &call, &r);
	else
		print_table(o, run, &call, &r);
	n = ended(n, &r);
	rf_world_destroy(w);
	return n;
}
