/* The fabric's clock: delivers every event to its target, and keeps the box in step. */
#include "sim/fabric/fabric.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "rf_regs.h"
#include "sim/fabric/internal.h"

/* ---- switch ---- */

static void through_switch(struct rf_fabric *f, unsigned in, struct rf_frame *frame)
{
	uint16_t out[RF_SWITCH_PORTS];
	size_t n = 0;
	uint64_t start = f->now + f->cfg.switch_ns * RF_PS_PER_NS;

	if (!frame->bad && !(f->cfg.router && rf_router_frame(f, in, frame)))
		n = rf_switch_frame(&f->sw, rf_fabric_ns(f), in, frame->data, frame->len, out);
	for (size_t i = 0; i < n; i++) {
		bool box = out[i] >= f->cfg.ranks;
		struct rf_link *l =
			rf_link_get(f, box, box ? out[i] - f->cfg.ranks : out[i], false);
		uint64_t queued = l->free_at > start ? l->free_at - start : 0;
		uint64_t bytes = queued / 8 * (l->rate / 1000000) / 1000000;
		struct rf_frame *copy;

		if (bytes > f->stats.switch_queue_max)
			f->stats.switch_queue_max = bytes;
		if (bytes + frame->len > f->cfg.switch_buffer) {
			f->stats.switch_dropped++;
			continue;
		}
		copy = rf_frame_new(f, frame->data, frame->len);
		if (copy)
			rf_link_send(f, l, start, copy);
	}
	rf_frame_free(f, frame);
}

static void to_guest(struct rf_fabric *f, unsigned rank, struct rf_frame *frame)
{
	if (!frame->bad)
		f->guest(f->guest_arg, rank, frame->data, frame->len);
	rf_frame_free(f, frame);
}

static void arrive(struct rf_fabric *f, const struct rf_link *l, struct rf_frame *frame)
{
	if (l->up)
		through_switch(f, l->box ? f->cfg.ranks + l->port : l->port, frame);
	else if (!l->box && f->guest)
		to_guest(f, l->port, frame);
	else if (!l->box)
		rf_host_frame(f->hosts[l->port], frame);
	else if (f->box)
		rf_box_frame(f->boxes[l->port / f->cfg.ports], l->port % f->cfg.ports, frame);
	else
		rf_frame_free(f, frame);
}

/* ---- the clock ---- */

static void handle(struct rf_fabric *f, const struct rf_event *e)
{
	f->now = e->at > f->now ? e->at : f->now;
	f->stats.events++;
	switch (e->kind) {
	case RF_EV_ARRIVE:
		arrive(f, &f->links[e->who], e->what);
		break;
	case RF_EV_LATE:
		rf_host_late(f->hosts[e->who], e->what);
		break;
	case RF_EV_HOST:
		rf_host_event(f->hosts[e->who], e->at);
		break;
	default:
		break;
	}
}

/*
 * Advances the box that is behind all others towards a time. False: all are there. No further than
 * what another box may still send can arrive: a link's delay after that box's next activity.
 */
static bool run_boxes(struct rf_fabric *f, uint64_t until)
{
	struct rf_box *last = NULL;

	for (unsigned i = 0; i < f->box_count; i++)
		if (rf_box_time(f->boxes[i]) < (last ? rf_box_time(last) : until))
			last = f->boxes[i];
	if (!last)
		return false;
	for (unsigned i = 0; i < f->box_count; i++) {
		uint64_t at = f->boxes[i] == last ? UINT64_MAX : rf_box_next(f->boxes[i]);

		if (at == UINT64_MAX)
			continue;
		if (at < rf_box_time(f->boxes[i]))
			at = rf_box_time(f->boxes[i]);
		at += f->cfg.delay_ns * RF_PS_PER_NS;
		until = at < until ? at : until;
	}
	rf_box_run(last, until);
	return true;
}

/* Whether the firmware of a box has work to do before this time; does it. */
static bool run_firmware(struct rf_fabric *f, uint64_t until)
{
	for (unsigned i = 0; i < f->box_count; i++) {
		if (!rf_box_firmware_due(f->boxes[i]) || rf_box_time(f->boxes[i]) >= until)
			continue;
		rf_box_firmware(f->boxes[i]);
		return true;
	}
	return false;
}

static bool boxes_idle(const struct rf_fabric *f)
{
	for (unsigned i = 0; i < f->box_count; i++)
		if (rf_box_next(f->boxes[i]) != UINT64_MAX)
			return false;
	return true;
}

/*
 * Handles one event, or advances the box towards the next one, never beyond until. False if nothing
 * is left to do before that time. The caller runs the firmware.
 */
static bool advance(struct rf_fabric *f, uint64_t until)
{
	uint64_t next = rf_events_next(&f->events);
	struct rf_event e;

	if (next > until)
		next = until;
	if (run_boxes(f, next))
		return true;
	if (rf_events_next(&f->events) > until || !rf_events_take(&f->events, &e))
		return false;
	handle(f, &e);
	return true;
}

void rf_fabric_pass_time(struct rf_fabric *f, uint64_t until)
{
	while (!f->failed && advance(f, until)) {
	}
	if (f->now < until)
		f->now = until;
}

int rf_fabric_run_until(struct rf_fabric *f, uint64_t until_ns, bool (*stop)(void *arg), void *arg)
{
	uint64_t until =
		until_ns >= UINT64_MAX / RF_PS_PER_NS ? UINT64_MAX - 1 : until_ns * RF_PS_PER_NS;

	for (unsigned r = 0; r < f->cfg.ranks; r++)
		rf_host_run(f->hosts[r]);
	while (!f->failed && f->active > 0) {
		if (stop && stop(arg))
			return 0;
		if (run_firmware(f, until))
			continue;
		if (!f->guest && rf_events_next(&f->events) == UINT64_MAX && boxes_idle(f)) {
			rf_fabric_fail(f,
				       "deadlock: no event is left, but not all ranks have ended");
			break;
		}
		if (!advance(f, until)) {
			f->now = until;
			return 0;
		}
	}
	return f->failed ? -1 : 1;
}

int rf_fabric_settle(struct rf_fabric *f, uint64_t until_ns)
{
	uint64_t rest = until_ns - rf_fabric_ns(f);
	uint64_t until;

	/* A process that stands still has frames to take afterwards. */
	for (unsigned r = 0; r < f->cfg.ranks; r++) {
		uint64_t paused = rf_host_paused_until(f->hosts[r]);

		until_ns = paused + rest > until_ns ? paused + rest : until_ns;
	}
	until = until_ns * RF_PS_PER_NS;
	while (!f->failed) {
		if (!run_firmware(f, until) && !advance(f, until))
			break;
	}
	if (f->now < until)
		f->now = until;
	return f->failed ? -1 : 0;
}

int rf_fabric_run(struct rf_fabric *f, uint64_t until_ns)
{
	return rf_fabric_run_until(f, until_ns, NULL, NULL);
}

/* ---- programs, results, changes ---- */

int rf_fabric_step(struct rf_fabric *f, unsigned rank, enum rf_step_kind kind, uint64_t arg)
{
	return rf_host_step(f->hosts[rank], kind, arg);
}

int rf_fabric_all(struct rf_fabric *f, enum rf_step_kind kind, uint64_t arg)
{
	for (unsigned r = 0; r < f->cfg.ranks; r++)
		if (rf_fabric_step(f, r, kind, arg) != 0)
			return -1;
	return 0;
}

int rf_fabric_allreduce(struct rf_fabric *f, uint64_t count)
{
	return rf_fabric_all(f, RF_STEP_ALLREDUCE, count);
}

/* What is wrong with a call, or NULL. */
static const char *wrong_call(const struct rf_fabric_cfg *cfg, unsigned rank,
			      const struct rf_fabric_call *call)
{
	unsigned size = rf_fabric_size(cfg);

	if (!rf_fabric_is_directed(cfg, rank))
		return "a collective needs a directed group";
	if (!rf_schedule_name(call->kind))
		return "no such collective";
	if (call->root >= size)
		return "the root is no rank of the group";
	if (rf_schedule_has_blocks(call->kind) && call->count % size != 0)
		return "the elements are no multiple of the ranks, which have a block each";
	if (call->count >> RF_COLLECTIVE_OP_LSB != 0)
		return "too many elements";
	return NULL;
}

int rf_fabric_call(struct rf_fabric *f, unsigned rank, const struct rf_fabric_call *call)
{
	const char *why = wrong_call(&f->cfg, rank, call);

	if (why) {
		snprintf(f->why, sizeof(f->why), "%s", why);
		return -1;
	}
	return rf_fabric_step(f, rank, RF_STEP_COLLECTIVE,
			      (uint64_t)call->kind << RF_COLLECTIVE_KIND_LSB |
				      (uint64_t)call->root << RF_COLLECTIVE_ROOT_LSB |
				      (uint64_t)call->type << RF_COLLECTIVE_TYPE_LSB |
				      (uint64_t)call->op << RF_COLLECTIVE_OP_LSB | call->count);
}

int rf_fabric_collective_of(struct rf_fabric *f, unsigned rank, enum rf_collective_kind kind,
			    unsigned root, uint64_t count)
{
	struct rf_fabric_call call = {
		.kind = kind, .type = f->cfg.type, .op = f->cfg.op, .root = root, .count = count};

	return rf_fabric_call(f, rank, &call);
}

int rf_fabric_collective(struct rf_fabric *f, enum rf_collective_kind kind, unsigned root,
			 uint64_t count)
{
	for (unsigned r = 0; r < f->cfg.ranks; r++)
		if (rf_fabric_collective_of(f, r, kind, root, count) != 0)
			return -1;
	return 0;
}

const char *rf_fabric_why(const struct rf_fabric *f)
{
	return f->why;
}

uint64_t rf_fabric_now(const struct rf_fabric *f)
{
	return rf_fabric_ns(f);
}

const struct rf_rank *rf_fabric_rank(const struct rf_fabric *f, unsigned rank)
{
	return rf_host_rank(f->hosts[rank]);
}

bool rf_fabric_good(const struct rf_fabric *f)
{
	for (unsigned r = 0; r < f->cfg.ranks; r++) {
		const struct rf_rank *k = rf_fabric_rank(f, r);

		if (k->state != RF_RANK_DONE || k->wrong != 0 || k->done != k->posted)
			return false;
	}
	return !f->failed;
}

void rf_fabric_stats(const struct rf_fabric *f, struct rf_fabric_stats *s)
{
	*s = f->stats;
	for (unsigned r = 0; r < f->cfg.ranks; r++) {
		rf_host_stats(f->hosts[r], s);
		s->rule_hits += f->sw.port[r].rule_hits;
	}
	for (unsigned i = 0; i < f->box_count; i++)
		rf_box_stats(f->boxes[i], s);
}

bool rf_fabric_captured(struct rf_fabric *f)
{
	uint64_t posted, done;

	for (unsigned r = 0; f->timeline && r < f->cfg.ranks; r++)
		for (unsigned op = 0; rf_host_op_times(f->hosts[r], op, &posted, &done); op++)
			rf_timeline_call(f->timeline, r, op, posted, done);
	f->capture_cut |= !rf_timeline_finish(&f->timeline, f->cfg.who);
	f->capture_cut |= !rf_pcapng_finish(&f->trace_hosts, f->cfg.who);
	f->capture_cut |= !rf_pcapng_finish(&f->trace_box, f->cfg.who);
	return !f->capture_cut;
}

static uint64_t op_ns(const struct rf_fabric *f, unsigned from, unsigned ranks, unsigned op)
{
	uint64_t first = UINT64_MAX;
	uint64_t last = 0;

	for (unsigned r = from; r < from + ranks; r++) {
		uint64_t posted;
		uint64_t done;

		if (!rf_host_op_times(f->hosts[r], op, &posted, &done))
			return 0;
		if (posted < first)
			first = posted;
		if (done > last)
			last = done;
	}
	return last - first;
}

uint64_t rf_fabric_op_ns(const struct rf_fabric *f, unsigned op)
{
	return op_ns(f, 0, f->cfg.ranks, op);
}

uint64_t rf_fabric_group_op_ns(const struct rf_fabric *f, unsigned group, unsigned op)
{
	unsigned size = rf_fabric_size(&f->cfg);

	return op_ns(f, group * size, size, op);
}

uint32_t rf_fabric_counter(struct rf_fabric *f, unsigned port, unsigned counter)
{
	return rf_fabric_tree_counter(f, 0, port, counter);
}

uint32_t rf_fabric_tree_counter(struct rf_fabric *f, unsigned box, unsigned port, unsigned counter)
{
	return box < f->box_count ? rf_box_read(f->boxes[box],
						RF_PORT_BASE + port * RF_PORT_STRIDE + counter * 4)
				  : 0;
}

void rf_fabric_crash(struct rf_fabric *f, unsigned rank)
{
	rf_host_crash(f->hosts[rank]);
}

int rf_fabric_restart(struct rf_fabric *f, unsigned rank, unsigned life)
{
	return rf_host_restart(f->hosts[rank], life);
}

void rf_fabric_quit(struct rf_fabric *f, unsigned rank)
{
	rf_host_quit(f->hosts[rank]);
}

void rf_fabric_freeze(struct rf_fabric *f, unsigned rank, uint64_t ns)
{
	rf_host_freeze(f->hosts[rank], ns);
}

void rf_fabric_rule(struct rf_fabric *f, unsigned rank, bool on)
{
	on &= !rf_fabric_is_mirror(&f->cfg, rank);
	rf_switch_rule(&f->sw, rank, on ? f->cfg.port_of_rank[rank] : RF_SWITCH_NO_RULE);
}

void rf_fabric_box_reset(struct rf_fabric *f)
{
	if (f->box)
		rf_box_reset(f->box);
}

void rf_fabric_host_faults(struct rf_fabric *f, unsigned rank, const struct rf_faults *up,
			   const struct rf_faults *down)
{
	rf_link_get(f, false, rank, true)->faults = *up;
	rf_link_get(f, false, rank, false)->faults = *down;
}

void rf_fabric_links(struct rf_fabric *f, const struct rf_faults *host, const struct rf_faults *box)
{
	for (unsigned i = 0; i < 2 * (f->cfg.ranks + rf_fabric_box_ports(f)); i++)
		f->links[i].faults = f->links[i].box ? *box : *host;
}

void rf_fabric_set_filter(struct rf_fabric *f, rf_fabric_filter *filter, void *arg)
{
	f->filter = filter;
	f->filter_arg = arg;
}

void rf_fabric_set_guest(struct rf_fabric *f, rf_fabric_guest *guest, void *arg)
{
	f->guest = guest;
	f->guest_arg = arg;
}

uint64_t rf_fabric_wire_free(struct rf_fabric *f, unsigned rank)
{
	return (rf_link_get(f, false, rank, true)->free_at + RF_PS_PER_NS - 1) / RF_PS_PER_NS;
}

void rf_fabric_inject(struct rf_fabric *f, unsigned rank, const uint8_t *frame, size_t len)
{
	struct rf_frame *copy = rf_frame_new(f, frame, len);

	if (copy)
		rf_link_send(f, rf_link_get(f, false, rank, true), f->now, copy);
}
