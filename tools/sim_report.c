#include "tools/sim.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>

#include "rf_regs.h"

static const char *const counter_names[] = {
#define NAME(name, text) #name,
	RF_COUNTERS(NAME)
#undef NAME
};

static void print_box(const struct sim_settings *s, struct rf_fabric *f, unsigned box)
{
	if (s->tree)
		printf("\nbox %-3u port    ", box);
	else
		printf("\n%-16s", "box port");
	for (unsigned p = 0; p < s->cfg.ports; p++)
		printf(" %10u", p);
	putchar('\n');
	for (unsigned n = 0; n < RF_CNT_COUNT; n++) {
		uint32_t value[RF_FABRIC_PORTS];
		uint32_t any = 0;

		for (unsigned p = 0; p < s->cfg.ports; p++)
			any |= value[p] = rf_fabric_tree_counter(f, box, p, n);
		if (!any)
			continue;
		printf("%-16s", counter_names[n]);
		for (unsigned p = 0; p < s->cfg.ports; p++)
			printf(" %10" PRIu32, value[p]);
		putchar('\n');
	}
}

void sim_print_counters(const struct sim_settings *s, struct rf_fabric *f)
{
	for (unsigned b = 0; b < (s->tree ? rf_fabric_boxes(&s->cfg) : 1); b++)
		print_box(s, f, b);
}

static json_t *json_counters(const struct sim_settings *s, struct rf_fabric *f, unsigned box)
{
	json_t *all = json_array();

	for (unsigned p = 0; s->cfg.schedule != RF_RUN_RING && p < s->cfg.ports; p++) {
		json_t *o = json_object();

		for (unsigned n = 0; n < RF_CNT_COUNT; n++)
			json_object_set_new(o, counter_names[n],
					    json_integer(rf_fabric_tree_counter(f, box, p, n)));
		json_array_append_new(all, o);
	}
	return all;
}

/* Boxes from the bottom to the top: which is above, and the counters of each port. */
static void add_tree(const struct sim_settings *s, struct rf_fabric *f, json_t *o)
{
	json_t *boxes = json_array();

	for (unsigned b = 0; b < rf_fabric_boxes(&s->cfg); b++) {
		unsigned above = rf_fabric_parent(&s->cfg, b);
		json_t *box = json_pack("{so}", "ports", json_counters(s, f, b));

		if (above != RF_NOBODY)
			json_object_set_new(box, "above", json_integer(above));
		json_array_append_new(boxes, box);
	}
	json_object_set_new(o, "tree", json_string(s->tree));
	json_object_set_new(o, "boxes", boxes);
}

/* The completed all-reduces. */
static void print_figures(const struct sim_settings *s, const struct sim_result *r)
{
	const char *name = s->cfg.schedule == RF_RUN_RING ? "no box" : s->cfg.engine->name;
	const char *schedule = s->schedule;

	if (s->cfg.directed)
		schedule = s->collective.name;
	printf("%6s %6s %10s %6s %4s %14s %8s %10s %9s %8s %8s\n", "ranks", "box", "bytes", "type",
	       "op", "schedule", "steering", "time us", "GB/s", "% limit", "wrong");
	printf("%6u %6s %10" PRIu64 " %6s %4s %14s %8s %10.2f %9.3f %8.2f %8" PRIu64 "\n",
	       s->cfg.ranks, name, s->size, s->dtype, s->op, schedule,
	       s->cfg.schedule == RF_RUN_RING ? "-" : s->collective.steering,
	       r->seconds * 1e6 / (r->completed ? r->completed : 1), r->algbw * 1e-9, r->percent,
	       r->wrong);
}

void sim_print_table(const struct sim_settings *s, const struct rf_fabric *f,
		     const struct sim_result *r)
{
	const struct rf_fabric_stats *t = &r->stats;

	if (r->completed > 0 || r->wrong > 0)
		print_figures(s, r);
	printf("joined after %.1f us; %" PRIu64 " elements compared; seed %" PRIu64 "\n",
	       r->join * 1e6, r->checked, s->cfg.seed);
	printf("hosts    %" PRIu64 " data packets, %" PRIu64 " of them repeats; %" PRIu64
	       " ACKs, %" PRIu64 " NAKs, %" PRIu64 " timeouts\n",
	       t->data_packets, t->repeats, t->acks, t->naks, t->timeouts);
	printf("network  %" PRIu64 " lost, %" PRIu64 " doubled, %" PRIu64 " held back, %" PRIu64
	       " corrupted, %" PRIu64 " with bad FCS; %" PRIu64 " redirected, %" PRIu64
	       " dropped by the switch\n",
	       t->frames_lost, t->frames_duplicated, t->frames_reordered, t->frames_corrupted,
	       t->frames_bad_fcs, t->rule_hits, t->switch_dropped);
	if (s->cfg.schedule != RF_RUN_RING) {
		if (s->tree)
			printf("tree     %s: %u boxes\n", s->tree, rf_fabric_boxes(&s->cfg));
		printf("%-8s %" PRIu64 " cycles, %" PRIu64 " evaluated", s->tree ? "boxes" : "box",
		       t->cycles, t->cycles_evaluated);
		if (t->engine_seconds > 0)
			printf(" (%.0f per second of CPU)",
			       (double)t->cycles_evaluated / t->engine_seconds);
		printf("; firmware: %" PRIu64 " calls, %" PRIu64 " register accesses",
		       t->firmware_polls, t->register_accesses);
		if (s->cfg.firmware == RF_SIM_FW_RV32)
			printf(", %" PRIu64 " instructions at %u kHz", t->instructions,
			       s->cfg.cpu_khz);
		putchar('\n');
	}
	for (unsigned i = 0; i < s->cfg.ranks; i++) {
		const struct rf_rank *k = rf_fabric_rank(f, i);

		if (k->state == RF_RANK_FAILED)
			printf("rank %u failed after %.3f ms: %s\n", i, (double)k->failed_ns * 1e-6,
			       k->text);
		else if (k->state != RF_RANK_DONE)
			printf("rank %u is not done: %u of %u all-reduces\n", i, k->done,
			       s->iterations);
	}
}

void sim_print_json(const struct sim_settings *s, struct rf_fabric *f, const struct sim_result *r)
{
	const struct rf_fabric_stats *t = &r->stats;
	json_t *errors = json_array();
	json_t *o;

	for (unsigned i = 0; i < s->cfg.ranks; i++)
		if (rf_fabric_rank(f, i)->state == RF_RANK_FAILED)
			json_array_append_new(errors, json_pack("{si ss}", "rank", (int)i, "text",
								rf_fabric_rank(f, i)->text));
	o = json_pack("{ss si si si sI ss ss ss sI si sf sf sf sf sI sI sI so si sb}", "engine",
		      s->cfg.schedule == RF_RUN_RING ? "none" : s->cfg.engine->name, "ranks",
		      (int)s->cfg.ranks, "ports", (int)s->cfg.ports, "lanes", (int)s->cfg.lanes,
		      "bytes", (json_int_t)s->size, "type", s->dtype, "op", s->op, "schedule",
		      s->schedule, "seed", (json_int_t)s->cfg.seed, "iterations",
		      (int)s->iterations, "seconds", r->seconds, "bytes_per_second", r->algbw,
		      "percent_of_limit", r->percent, "join_seconds", r->join, "compared",
		      (json_int_t)r->checked, "wrong", (json_int_t)r->wrong, "failed",
		      (json_int_t)r->failed, "errors", errors, "completed", (int)r->completed,
		      "interrupted", (int)r->interrupted);
	json_object_update_new(
		o,
		json_pack("{sI sI sI sI sI sI sI sI sI sI sI sI sI sI sf}", "data_packets",
			  (json_int_t)t->data_packets, "repeats", (json_int_t)t->repeats, "acks",
			  (json_int_t)t->acks, "naks", (json_int_t)t->naks, "timeouts",
			  (json_int_t)t->timeouts, "lost", (json_int_t)t->frames_lost, "duplicated",
			  (json_int_t)t->frames_duplicated, "reordered",
			  (json_int_t)t->frames_reordered, "corrupted",
			  (json_int_t)t->frames_corrupted, "bad_fcs", (json_int_t)t->frames_bad_fcs,
			  "redirected", (json_int_t)t->rule_hits, "switch_dropped",
			  (json_int_t)t->switch_dropped, "cycles", (json_int_t)t->cycles,
			  "cycles_evaluated", (json_int_t)t->cycles_evaluated, "engine_cpu_seconds",
			  t->engine_seconds));
	if (s->cfg.schedule != RF_RUN_RING)
		json_object_set_new(o, "steering", json_string(s->collective.steering));
	if (s->cfg.directed)
		json_object_set_new(o, "collective", json_string(s->collective.name));
	if (s->tree)
		add_tree(s, f, o);
	else
		json_object_set_new(o, "box", json_counters(s, f, 0));
	json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
	putchar('\n');
	json_decref(o);
}
