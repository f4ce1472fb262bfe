/* ringfold sim: hosts, links, switch and box in virtual time. */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hangup.h"
#include "base/opt.h"
#include "sim/cosim/load.h"
#include "sim/fabric/fabric.h"
#include "tools/sim.h"

static const char *const types[] = {"fp32",  "bf16",   "fp16", "int32", "uint32",
				    "int64", "uint64", "fp64", "int8",  "uint8"};
static const char *const ops[] = {"sum", "min", "max", "and", "or", "xor"};

#define BOX_RANKS 64u /* ranks of one group in the firmware */
#define BOX_LANES 16u /* of a port */
#define STRAGGLER_MAX 31u
#define COST_NOTED 0.2  /* a hint if loss costs more than this */
#define LOSS_NOTED 100u /* a hint about a failure if more than one frame in this many is lost */
#define PROGRESS_NS UINT64_C(2000000000)

static volatile sig_atomic_t interrupted; /* the signal */

static unsigned word(const char *const *list, unsigned n, const char *w)
{
	unsigned i = 0;

	while (i < n && strcmp(list[i], w) != 0)
		i++;
	return i;
}

/* Checks ranks, ports and iterations. Returns 0, or -1 with a message. */
static int settle_counts(const struct sim_settings *s)
{
	const struct rf_fabric_cfg *c = &s->cfg;
	bool box = c->schedule != RF_RUN_RING;

	if (s->iterations == 0) {
		fprintf(stderr, "--iterations: expected at least 1\n");
		return -1;
	}
	if (c->straggler > STRAGGLER_MAX) {
		fprintf(stderr, "--straggler: expected 0 to %u\n", STRAGGLER_MAX);
		return -1;
	}
	if (c->schedule != RF_RUN_BOX && c->ranks > 1 &&
	    (c->selective || c->transparent || c->straggler)) {
		fprintf(stderr, "--%s: applies to groups at the box, not to --schedule %s\n",
			c->selective     ? "selective"
			: c->transparent ? "transparent"
					 : "straggler",
			s->schedule);
		return -1;
	}
	if (!s->tree && (c->ranks < 1 || c->ranks > (box ? BOX_RANKS : RF_FABRIC_GROUP_RANKS))) {
		fprintf(stderr, "--ranks: 1 to %u with the box, 1 to %u with --schedule ring\n",
			BOX_RANKS, RF_FABRIC_GROUP_RANKS);
		return -1;
	}
	if (s->tree && c->lanes > BOX_LANES) {
		fprintf(stderr,
			"--tree: %u places at a box of %u ports need %u lanes, a box has at most "
			"%u: more --ports\n",
			sim_tree_places(c), c->ports, c->lanes, BOX_LANES);
		return -1;
	}
	if (box && c->lanes > BOX_LANES) {
		fprintf(stderr,
			"--ranks: %u ranks on %u ports need %u lanes, a box has at most %u: more "
			"--ports\n",
			c->ranks, c->ports, c->lanes, BOX_LANES);
		return -1;
	}
	return 0;
}

/* Checks combinations of options. Returns 0, or -1 with a message. */
static int settle(struct sim_settings *s)
{
	struct rf_fabric_cfg *c = &s->cfg;
	unsigned element, here;
	char why[300];

	if (s->tree && sim_tree_settle(s) != 0)
		return -1;
	c->type = (enum rf_arith_type)word(types, RF_ARITH_TYPES, s->dtype);
	c->op = (enum rf_arith_op)word(ops, RF_ARITH_COPY, s->op);
	c->mirror = sim_collective_mirror(&s->collective);
	c->directed = s->collective.name != NULL;
	c->router = s->collective.router;
	if (!c->directed && s->collective.root != 0) {
		fprintf(stderr, "--root: only with --collective\n");
		return -1;
	}
	if (!c->directed && !sim_collective_needs_world(&s->collective) &&
	    (c->type > RF_ARITH_INT32 || c->op > RF_ARITH_MAX)) {
		fprintf(stderr, "--%s: only with --collective\n",
			c->type > RF_ARITH_INT32 ? "dtype" : "op");
		return -1;
	}
	c->schedule = strcmp(s->schedule, "box") == 0    ? RF_RUN_BOX
		      : strcmp(s->schedule, "ring") == 0 ? RF_RUN_RING
							 : RF_RUN_RING_THROUGH;
	if (c->ranks == 1) { /* one rank only: no peer, and neither box nor network */
		c->schedule = RF_RUN_RING;
		s->schedule = "copy";
	}
	rf_sim_fw_kind(s->firmware, &c->firmware);
	if (c->cpu_khz == 0) {
		fprintf(stderr, "--cpu-khz: expected more than 0\n");
		return -1;
	}
	here = s->tree ? sim_tree_places(c) : c->ranks;
	c->ports = s->ports ? s->ports : here < 2 ? 2 : here < 4 ? here : 4;
	if (c->lanes == 0)
		c->lanes = (here + c->ports - 1) / c->ports;
	if (settle_counts(s) != 0)
		return -1;
	c->host_links = s->faults;
	c->host_links.reorder_ns = 5000;
	if (s->tree)
		c->box_links = c->host_links;
	c->in_place = s->in_place;
	c->vlan = s->vlan;
	c->no_jump = s->no_jump;
	c->flip = s->flip;
	c->pcapng_dir = s->pcapng;
	c->wave = s->wave;
	c->measure = true;
	element = (unsigned)rf_arith_size(c->type);
	if (sim_collective_kind(&s->collective) != RF_SCHEDULE_BARRIER &&
	    (s->size < element || s->size % element != 0)) {
		fprintf(stderr, "--size: %" PRIu64 " bytes are not a whole number of %s elements\n",
			s->size, s->dtype);
		return -1;
	}
	if (c->schedule == RF_RUN_RING)
		return 0;
	if (rf_engine_by_name(s->engine, c->ports, c->lanes, c->width, s->wave != NULL, &c->engine,
			      why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold sim: %s\n", why);
		return -1;
	}
	return 0;
}

/* All-reduces that every rank has completed; one rank alone completes them in no time. */
static unsigned completed(const struct sim_settings *s, const struct rf_fabric *f)
{
	unsigned n = s->iterations;

	for (unsigned i = 0; i < s->cfg.ranks; i++)
		if (rf_fabric_rank(f, i)->done < n)
			n = rf_fabric_rank(f, i)->done;
	return n;
}

static void sum_up(const struct sim_settings *s, const struct rf_fabric *f, struct sim_result *r)
{
	const struct rf_fabric_cfg *c = &s->cfg;
	double share;

	for (unsigned i = 0; i < c->ranks; i++) {
		const struct rf_rank *k = rf_fabric_rank(f, i);

		r->checked += k->checked;
		r->wrong += k->wrong + k->raw;
		r->failed += k->state != RF_RANK_DONE;
		if ((double)k->ready_ns * 1e-9 > r->join)
			r->join = (double)k->ready_ns * 1e-9;
	}
	r->interrupted = interrupted != 0;
	rf_fabric_stats(f, &r->stats);
	for (unsigned i = 0; i < s->iterations; i++)
		r->seconds += (double)rf_fabric_op_ns(f, i) * 1e-9;
	r->completed = completed(s, f);
	if ((r->failed && !interrupted) || r->seconds <= 0)
		return;
	r->algbw = (double)s->size * r->completed / r->seconds;
	/* Ethernet 14, IPv4 20, UDP 8, BTH 12, ICRC 4; directed: immediate 4 */
	share = (double)c->mtu /
		(c->mtu + 58 + (c->directed ? 4 : 0) + (c->vlan ? 4 : 0) + RF_WIRE_OVERHEAD);
	r->percent = 100 * r->algbw * 8 / ((double)c->rate * share);
}

static char *command_line(int argc, char **argv)
{
	size_t room = 16;
	char *text;

	for (int i = 0; i < argc; i++)
		room += strlen(argv[i]) + 1;
	text = malloc(room);
	if (!text)
		return NULL;
	strcpy(text, "ringfold sim");
	for (int i = 1; i < argc; i++) {
		strcat(text, " ");
		strcat(text, argv[i]);
	}
	return text;
}

static int add_call(const struct sim_settings *s, struct rf_fabric *f, uint64_t count)
{
	if (!s->cfg.directed)
		return rf_fabric_allreduce(f, count);
	return rf_fabric_collective(f, sim_collective_kind(&s->collective), s->collective.root,
				    count);
}

static int program(struct sim_settings *s, struct rf_fabric *f)
{
	uint64_t count = s->size / rf_arith_size(s->cfg.type);

	for (unsigned i = 0; i < s->iterations; i++)
		if (rf_fabric_all(f, RF_STEP_BARRIER, 0) != 0 || add_call(s, f, count) != 0 ||
		    rf_fabric_all(f, RF_STEP_WAIT, 0) != 0)
			return -1;
	return rf_fabric_all(f, RF_STEP_LEAVE, 0);
}

/* The third signal ends the program at once; timeout(1) sends two. */
static void on_signal(int number)
{
	static volatile sig_atomic_t more;

	if (interrupted && ++more > 1)
		_exit(128 + number);
	interrupted = number;
}

/* What rf_fabric_run_until() asks after every event: whether to stop. Shows progress meanwhile. */
struct watch {
	const struct sim_settings *s;
	const struct rf_fabric *f;
	bool show; /* stderr is a terminal */
	unsigned calls;
	uint64_t shown;
};

static bool should_stop(void *arg)
{
	struct watch *w = arg;
	unsigned done = UINT32_MAX;
	uint64_t now;

	/* the clock is looked at rarely: a run has millions of events in a second */
	if (!w->show || ++w->calls % 4096 != 0 || interrupted)
		return interrupted != 0;
	now = rf_now_ns();
	if (now - w->shown < PROGRESS_NS)
		return false;
	w->shown = now;
	for (unsigned i = 0; i < w->s->cfg.ranks; i++)
		if (rf_fabric_rank(w->f, i)->done < done)
			done = rf_fabric_rank(w->f, i)->done;
	fprintf(stderr, "ringfold sim: %.3f ms of virtual time, %u of %u all-reduces\n",
		(double)rf_fabric_now(w->f) * 1e-6, done, w->s->iterations);
	return false;
}

/*
 * How large a part of the speed the faults cost: the same run without them, on the model, whose
 * times are the Verilog's. Negative if that is not known.
 */
static double cost_of_faults(const struct sim_settings *s, const struct sim_result *r)
{
	struct sim_settings clean = *s;
	struct sim_result fast = {0};
	struct watch watch = {.s = &clean};
	struct rf_fabric *f;
	char why[300];

	clean.faults = (struct rf_faults){0};
	clean.cfg.host_links = clean.cfg.box_links = clean.faults;
	clean.cfg.wave = clean.cfg.pcapng_dir = clean.cfg.timeline = NULL;
	clean.cfg.firmware = RF_SIM_FW_NATIVE;
	if (rf_engine_by_name("model", s->cfg.ports, s->cfg.lanes, s->cfg.width, false,
			      &clean.cfg.engine, why, sizeof(why)) != 0 ||
	    rf_fabric_create(&clean.cfg, &f, why, sizeof(why)) != 0)
		return -1;
	watch.f = f;
	if (program(&clean, f) == 0 &&
	    rf_fabric_run_until(f, clean.deadline, should_stop, &watch) == 1)
		sum_up(&clean, f, &fast);
	rf_fabric_destroy(f);
	return fast.algbw > 0 ? 1 - r->algbw / fast.algbw : -1;
}

/* Begins a hint, if lost frames are the reason for the result. */
static bool blame_loss(const struct sim_settings *s, const struct sim_result *r)
{
	const struct rf_fabric_stats *t = &r->stats;
	uint64_t lost = t->frames_lost + t->frames_bad_fcs + t->frames_corrupted;
	double cost;

	if (interrupted || lost == 0)
		return false;
	if (r->failed || r->algbw <= 0) {
		if (lost * LOSS_NOTED <= t->data_packets)
			return false;
		fprintf(stderr,
			"ringfold sim: hint: %" PRIu64 " frames were lost or damaged, and %" PRIu64
			" of %" PRIu64 " data packets are repeats. ",
			lost, t->repeats, t->data_packets);
		return true;
	}
	if (r->percent >= 100 * (1 - COST_NOTED))
		return false;
	cost = cost_of_faults(s, r);
	if (cost > COST_NOTED)
		fprintf(stderr, "ringfold sim: hint: lost frames cost %.0f %% of the speed. ",
			100 * cost);
	return cost > COST_NOTED;
}

static void hint(const struct sim_settings *s, const struct sim_result *r)
{
	if (!blame_loss(s, r))
		return;
	if (s->cfg.schedule == RF_RUN_BOX && !s->cfg.selective)
		fprintf(stderr, "By default a host repeats all that follows a lost packet; with "
				"--selective (RF_SELECTIVE=1) only what was lost\n");
	else
		fprintf(stderr, "A healthy cable loses less than one frame in 10^9: look for the "
				"link that loses them (ringfold ctl counters)\n");
}

int main(int argc, char **argv)
{
	struct sigaction act = {.sa_handler = on_signal};
	struct watch watch = {.s = NULL};
	struct sim_collective_run run;
	struct sim_settings s = {.engine = "model",
				 .firmware = "native",
				 .schedule = "box",
				 .dtype = "fp32",
				 .op = "sum",
				 .collective.steering = "ring",
				 .size = 1 << 20,
				 .iterations = 1,
				 .deadline = 100 * RF_SEC};
	struct sim_result r = {0};
	struct rf_fabric *f;
	char why[300];
	char *command;
	bool captured;
	int n;

	rf_fabric_cfg_init(&s.cfg);
	s.cfg.lanes = 0;
	s.cfg.retry_cnt = 60; /* stragglers are waited for, as in the library */
	n = sim_parse(&s, argc, argv);
	if (n < 0)
		return n == -1 ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	if (settle(&s) != 0)
		return RF_EXIT_USAGE;
	run = (struct sim_collective_run){.cfg = &s.cfg,
					  .type = s.dtype,
					  .op = s.op,
					  .size = s.size,
					  .iterations = s.iterations,
					  .deadline = s.deadline,
					  .json = s.json};
	if ((s.cfg.mirror || s.cfg.directed || sim_collective_needs_world(&s.collective)) &&
	    sim_collective_check(&s.collective, &run) != 0)
		return RF_EXIT_USAGE;
	if (sim_collective_kind(&s.collective) == RF_SCHEDULE_BARRIER)
		run.size = s.size = 0; /* it has no data */
	if (sim_collective_needs_world(&s.collective))
		return sim_collective(&s.collective, &run);
	command = command_line(argc, argv);
	s.cfg.command = command;
	s.cfg.who = "ringfold sim";
	if (rf_fabric_create(&s.cfg, &f, why, sizeof(why)) != 0) {
		fprintf(stderr, "ringfold sim: %s\n", why);
		free(command);
		return RF_EXIT_USAGE;
	}
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	rf_take_hangup(&act);
	watch = (struct watch){
		.s = &s, .f = f, .show = isatty(STDERR_FILENO), .shown = rf_now_ns()};
	n = program(&s, f) == 0 ? rf_fabric_run_until(f, s.deadline, should_stop, &watch) : -1;
	if (interrupted)
		fprintf(stderr,
			"ringfold sim: ended by %s after %.3f ms of virtual time, %u of %u "
			"all-reduces complete\n",
			strsignal(interrupted), (double)rf_fabric_now(f) * 1e-6, completed(&s, f),
			s.iterations);
	else if (n < 0)
		fprintf(stderr, "ringfold sim: %s\n", rf_fabric_why(f));
	else if (n == 0)
		fprintf(stderr,
			"ringfold sim: not finished at the deadline of %g s (virtual), %u of %u "
			"all-reduces complete; a later --deadline gives it more time\n",
			(double)s.deadline * 1e-9, completed(&s, f), s.iterations);
	sum_up(&s, f, &r);
	if (s.json)
		sim_print_json(&s, f, &r);
	else if (n >= 0)
		sim_print_table(&s, f, &r);
	if (s.counters && !s.json && n >= 0 && s.cfg.schedule != RF_RUN_RING)
		sim_print_counters(&s, f);
	hint(&s, &r);
	captured = rf_fabric_captured(f);
	n = r.wrong                                   ? RF_EXIT_WRONG_DATA
	    : interrupted                             ? 128 + (int)interrupted
	    : n == 1 && rf_fabric_good(f) && captured ? RF_EXIT_GOOD
						      : RF_EXIT_FAILED;
	rf_fabric_destroy(f);
	if (!rf_engine_wave_end("ringfold sim", s.wave) && n == RF_EXIT_GOOD)
		n = RF_EXIT_FAILED;
	free(command);
	return n;
}
