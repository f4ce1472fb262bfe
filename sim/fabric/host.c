/*
 * A host: the endpoint and the member that run on a real host, driven by a program of steps. This
 * file handles its creation, frames and timers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

#define NIC_FRAMES 1024u             /* frames that a NIC stores for a process that is stopped */
#define QPS (2 * RF_PAIR_QPS)        /* queue pairs of a host */
#define TICK_PS (100 * RF_PS_PER_NS) /* shortest sleep */

static void receive(struct rf_host *h, struct rf_frame *frame)
{
	if (!frame->bad) {
		rf_fabric_trace(h->f, h->f->now, false, h->rank, RF_PCAPNG_IN, frame->data,
				frame->len);
		if (!h->member || !rf_member_rx(h->member, rf_host_ns(h), frame->data, frame->len))
			roce_endpoint_rx(h->ep, rf_host_ns(h), frame->data, frame->len);
	}
	rf_frame_free(h->f, frame);
}

static bool frozen(const struct rf_host *h)
{
	return rf_host_ns(h) < h->frozen_until;
}

void rf_host_frame(struct rf_host *h, struct rf_frame *frame)
{
	if (h->pub.state == RF_RANK_CRASHED || (frozen(h) && h->frame_count == NIC_FRAMES)) {
		rf_frame_free(h->f, frame);
		return;
	}
	if (frozen(h)) {
		*h->frames_end = frame;
		h->frames_end = &frame->next;
		h->frame_count++;
		return;
	}
	receive(h, frame);
	rf_host_run(h);
}

/*
 * For a test: what happened when the deadlines of requests to the box ran on while the process
 * stood still, and were judged before anything was read or sent.
 */
static void judge_hastily(struct rf_host *h)
{
	struct rf_client *c = h->member ? rf_member_client(h->member) : NULL;
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	if (!c || rf_client_state(c) != RF_CLIENT_READY)
		return;
	c->req.due = rf_host_ns(h) + 1;
	rf_client_tx(c, rf_host_ns(h), frame, sizeof(frame));
}

static void thaw(struct rf_host *h)
{
	if (h->f->cfg.hasty && h->frozen_until)
		judge_hastily(h);
	h->frozen_until = 0;
	while (h->frames) {
		struct rf_frame *frame = h->frames;

		h->frames = frame->next;
		receive(h, frame);
	}
	h->frames_end = &h->frames;
	h->frame_count = 0;
}

/* Puts one frame on the wire if it is free; returns when to check again (ps). */
static uint64_t transmit(struct rf_host *h)
{
	uint8_t data[ROCE_FRAME_MAX];
	struct rf_frame *frame;
	size_t len = 0;

	if (h->up->free_at > h->f->now)
		return h->up->free_at;
	if (h->member)
		len = rf_member_tx(h->member, rf_host_ns(h), data, sizeof(data));
	if (len == 0)
		len = roce_endpoint_tx(h->ep, rf_host_ns(h), data, sizeof(data));
	if (len == 0)
		return UINT64_MAX;
	/* A NIC that delays an ACK leaves the wire free for the next frame. */
	if (rf_nic_holds(h, data, len))
		return h->f->now;
	rf_fabric_trace(h->f, h->f->now, false, h->rank, RF_PCAPNG_OUT, data, len);
	frame = rf_frame_new(h->f, data, len);
	return frame ? rf_link_send(h->f, h->up, h->f->now, frame) : UINT64_MAX;
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_timer(const struct rf_host *h)
{
	uint64_t ns = roce_endpoint_next_timeout(h->ep);

	if (h->member)
		ns = earliest(ns, rf_member_next_timeout(h->member));
	if (h->ring)
		ns = earliest(ns, rf_member_next_timeout(h->ring));
	ns = earliest(ns, rf_host_store_next(h));
	if (h->step_until)
		ns = earliest(ns, h->step_until);
	if (h->pub.state == RF_RANK_STARTING)
		ns = earliest(ns, rf_host_join_at(h));
	return ns >= UINT64_MAX / RF_PS_PER_NS ? UINT64_MAX : ns * RF_PS_PER_NS;
}

void rf_host_run(struct rf_host *h)
{
	uint64_t timer;
	uint64_t wire;

	if (h->pub.state == RF_RANK_CRASHED)
		return;
	if (frozen(h)) {
		rf_host_wake_at(h, h->frozen_until * RF_PS_PER_NS);
		return;
	}
	thaw(h);
	do {
		rf_host_store_look(h);
		rf_host_look_at_member(h);
	} while (rf_host_next_step(h));
	rf_host_look_at_end(h);
	if (frozen(h)) {
		rf_host_wake_at(h, h->frozen_until * RF_PS_PER_NS);
		return;
	}
	wire = transmit(h);
	if (h->pair.to_next && h->pub.window &&
	    roce_qp_in_flight(h->pair.to_next) > rf_host_window(h))
		h->f->stats.window_exceeded++;
	timer = next_timer(h);
	if (timer <= h->f->now)
		timer = wire != UINT64_MAX ? wire : h->f->now + TICK_PS;
	rf_host_wake_at(h, earliest(wire, timer));
}

void rf_host_event(struct rf_host *h, uint64_t at)
{
	if (at != h->wake)
		return;
	h->wake = UINT64_MAX;
	rf_host_run(h);
}

/* ---- start and end of a process ---- */

static int make_endpoint(struct rf_host *h)
{
	struct roce_endpoint_cfg c = {0};

	rf_host_mac(h->rank, c.mac);
	c.ip = rf_fabric_ip(h->rank);
	c.box_ip = rf_fabric_box_of(&h->f->cfg, h->rank);
	c.max_qps = 2 * RF_PAIR_QPS; /* of the group, and of a ring that takes over */
	return roce_endpoint_create(&c, &h->ep) == ROCE_OK ? 0 : -1;
}

static void empty_nic(struct rf_host *h)
{
	while (h->frames) {
		struct rf_frame *frame = h->frames;

		h->frames = frame->next;
		rf_frame_free(h->f, frame);
	}
	h->frames_end = &h->frames;
	h->frame_count = 0;
}

struct rf_host *rf_host_create(struct rf_fabric *f, unsigned rank)
{
	struct rf_host *h = calloc(1, sizeof(*h));

	if (!h)
		return NULL;
	h->f = f;
	h->rank = rank;
	h->up = rf_link_get(f, false, rank, true);
	h->wake = UINT64_MAX;
	h->frames_end = &h->frames;
	h->pub.culprit = RF_NOBODY;
	h->resumed = RF_NO_OP;
	if (make_endpoint(h) != 0) {
		free(h);
		return NULL;
	}
	rf_host_set_active(h, true);
	return h;
}

/*
 * A new process on the same machine: nothing of the old one is left except frames that its NIC
 * still sends.
 */
int rf_host_restart(struct rf_host *h, unsigned life)
{
	if (!rf_host_ended(h))
		return -1;
	rf_host_forget(h);
	rf_host_free_ops(h);
	empty_nic(h);
	roce_endpoint_destroy(h->ep);
	h->ep = NULL;
	h->pub = (struct rf_rank){.culprit = RF_NOBODY, .life = life};
	h->leaving = h->at_barrier = false;
	h->gathers = 0;
	h->gather_open = false;
	h->gone_ns = 0;
	h->step_count = h->at = 0;
	h->step_until = h->frozen_until = 0;
	h->started_ns = rf_host_ns(h);
	if (make_endpoint(h) != 0)
		return -1;
	rf_host_set_active(h, true);
	if (rf_host_step(h, RF_STEP_JOIN, 0) != 0)
		return -1;
	rf_host_wake(h);
	return 0;
}

/* Its queue pairs. Returns how many. */
static unsigned qps_of(const struct rf_host *h, struct roce_qp *qps[QPS])
{
	unsigned n = rf_pair_roce_qps(&h->pair, qps);

	return n + rf_pair_roce_qps(&h->ring_pair, qps + n);
}

const char *rf_host_leak(const struct rf_host *h)
{
	struct roce_qp *qps[QPS];
	const char *leak = h->member ? rf_member_leak(h->member) : NULL;
	unsigned n = qps_of(h, qps);

	if (h->frames || h->held)
		return "a host's NIC has kept a frame";
	if (h->pub.state != RF_RANK_CRASHED && roce_endpoint_next_timeout(h->ep) != UINT64_MAX)
		return "a timer of a host still runs";
	for (unsigned i = 0; i < n; i++)
		if (!roce_qp_send_idle(qps[i]) || roce_qp_in_flight(qps[i]) != 0)
			return "a queue pair of a host still waits for an acknowledgement";
	for (unsigned i = 0; i < h->pub.posted; i++)
		if (h->ops[i].send || h->ops[i].recv)
			return "a host has kept a vector";
	return leak || !h->ring ? leak : rf_member_leak(h->ring);
}

void rf_host_destroy(struct rf_host *h)
{
	if (!h)
		return;
	empty_nic(h);
	rf_frame_free(h->f, h->held);
	rf_host_forget(h);
	rf_host_free_ops(h);
	roce_endpoint_destroy(h->ep);
	free(h->places);
	free(h->ends);
	free(h->ops);
	free(h->steps);
	free(h);
}

int rf_host_step(struct rf_host *h, enum rf_step_kind kind, uint64_t arg)
{
	if (h->step_count == h->step_room) {
		size_t room = h->step_room ? 2 * h->step_room : 16;
		struct rf_step *steps = realloc(h->steps, room * sizeof(*steps));

		if (!steps)
			return -1;
		h->steps = steps;
		h->step_room = room;
	}
	h->steps[h->step_count++] = (struct rf_step){kind, arg};
	if (h->pub.state == RF_RANK_DONE) {
		h->pub.state = RF_RANK_RUNNING;
		rf_host_set_active(h, true);
	}
	return 0;
}

void rf_host_crash(struct rf_host *h)
{
	rf_host_gone(h);
	if (!rf_host_ended(h) || h->pub.state == RF_RANK_DONE)
		rf_host_end(h, RF_RANK_CRASHED);
	empty_nic(h);
}

void rf_host_quit(struct rf_host *h)
{
	if (rf_host_ended(h))
		return;
	if (h->member)
		rf_member_quit(h->member, rf_host_ns(h));
	rf_host_gone(h);
	rf_host_fail(h, RF_ERR_ABORTED, "this rank has left during an all-reduce");
	rf_host_run(h);
}

void rf_host_freeze(struct rf_host *h, uint64_t ns)
{
	h->frozen_until = rf_host_ns(h) + ns;
	rf_host_wake_at(h, h->frozen_until * RF_PS_PER_NS);
}

uint64_t rf_host_paused_until(const struct rf_host *h)
{
	return frozen(h) && h->pub.state != RF_RANK_CRASHED ? h->frozen_until : 0;
}

bool rf_host_op_times(const struct rf_host *h, unsigned op, uint64_t *posted, uint64_t *done)
{
	if (op >= h->pub.posted || !h->ops[op].done)
		return false;
	*posted = h->ops[op].posted_ns;
	*done = h->ops[op].done_ns;
	return true;
}

const struct rf_rank *rf_host_rank(const struct rf_host *h)
{
	return &h->pub;
}

void rf_host_stats(const struct rf_host *h, struct rf_fabric_stats *s)
{
	struct roce_qp *qps[QPS];
	unsigned n = qps_of(h, qps);

	s->data_packets += h->old.tx_packets;
	s->repeats += h->old.tx_retransmits;
	s->acks += h->old.tx_acks;
	s->naks += h->old.tx_naks;
	s->timeouts += h->old.timeouts;
	for (unsigned i = 0; i < n; i++) {
		const struct roce_qp_counters *c = roce_qp_counters(qps[i]);

		s->data_packets += c->tx_packets;
		s->repeats += c->tx_retransmits;
		s->acks += c->tx_acks;
		s->naks += c->tx_naks;
		s->timeouts += c->timeouts;
	}
}
