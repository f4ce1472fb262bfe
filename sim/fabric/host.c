/* A host: endpoint, queue pairs, all-reduce and control client as on a real one, driven by a program of steps. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/src/collective/collective.h"
#include "host/src/control/client.h"
#include "host/src/roce/endpoint.h"
#include "sim/fabric/internal.h"

#define NIC_RING 1024u			  /* frames that a NIC keeps for a process that does nothing */
#define INQUEST_NS (2 * RF_SEC)		  /* to learn from the box why a connection has ended */
#define TICK_PS (100 * PS_PER_NS)	  /* shortest sleep */
#define SHIFT (UINT32_C(1) << 22)
#define VLAN_TCI 0x0064u
#define JOB UINT64_C(0x72696e67666f6c64)

struct rf_op {
	void *send;
	void *recv;
	uint64_t count;
	uint64_t posted_ns;
	uint64_t done_ns;
	bool done;
};

struct rf_step {
	enum rf_step_kind kind;
	uint64_t arg;
};

struct rf_host {
	struct rf_fabric *f;
	unsigned rank;
	struct rf_rank pub;
	struct rf_link *up;
	struct roce_endpoint *ep;
	struct rf_client client;
	bool has_client;
	struct roce_qp *to_next;
	struct roce_qp *from_prev;
	struct rf_coll *coll;
	void *scratch;
	struct rf_place *places;
	/* program */
	struct rf_step *steps;
	size_t step_count;
	size_t step_room;
	size_t at;
	uint64_t step_until; /* ns: end of COMPUTE; 0: not begun */
	struct rf_op *ops;
	size_t op_room;
	unsigned barriers; /* come to */
	bool at_barrier;
	bool leaving;
	bool counted; /* among f->active */
	/* error */
	bool inquest;
	uint64_t inquest_until;
	enum rf_rank_error inquest_error;
	char inquest_text[sizeof(((struct rf_rank *)0)->text)];
	/* time */
	uint64_t wake; /* ps of the event that counts; UINT64_MAX: none */
	uint64_t frozen_until; /* ns */
	struct rf_frame *ring;
	struct rf_frame **ring_end;
	unsigned ring_count;
	struct roce_qp_counters old; /* of queue pairs that are gone */
};

static uint32_t to_next_qpn(unsigned rank)
{
	return 0x100 + 2 * rank;
}

static uint32_t from_prev_qpn(unsigned rank)
{
	return 0x101 + 2 * rank;
}

static void host_mac(unsigned rank, uint8_t mac[6])
{
	memcpy(mac, (const uint8_t[6]){ 0x02, 0, 0, 0, 0, 0 }, 6);
	mac[4] = (uint8_t)((rank + 1) >> 8);
	mac[5] = (uint8_t)(rank + 1);
}

static uint32_t start_psn(const struct rf_fabric *f, unsigned rank)
{
	struct rf_rng rng = rf_rng_make(f->cfg.seed, UINT64_C(2) << 40 | rank);

	if (f->cfg.start_psn != RF_FABRIC_RANDOM_PSN)
		return f->cfg.start_psn & 0xffffff;
	return (uint32_t)rf_rng_next(&rng) & 0xffffff;
}

static uint64_t host_ns(const struct rf_host *h)
{
	return rf_fabric_ns(h->f);
}

static bool ended(const struct rf_host *h)
{
	return h->pub.state >= RF_RANK_DONE;
}

/* ---- the end of a rank ---- */

static void set_active(struct rf_host *h, bool active)
{
	if (h->counted == active)
		return;
	h->counted = active;
	h->f->active += active ? 1 : (unsigned)-1;
}

static void remember(struct rf_host *h, const struct roce_qp *qp)
{
	const struct roce_qp_counters *c = roce_qp_counters(qp);

	h->old.tx_packets += c->tx_packets;
	h->old.tx_retransmits += c->tx_retransmits;
	h->old.tx_acks += c->tx_acks;
	h->old.tx_naks += c->tx_naks;
	h->old.timeouts += c->timeouts;
}

static void drop_connections(struct rf_host *h)
{
	struct roce_qp *qps[2] = { h->to_next, h->from_prev };

	for (unsigned i = 0; i < 2; i++) {
		if (!qps[i])
			continue;
		remember(h, qps[i]);
		roce_endpoint_remove_qp(h->ep, qps[i]);
		roce_qp_destroy(qps[i]);
	}
	h->to_next = NULL;
	h->from_prev = NULL;
	rf_coll_destroy(h->coll);
	h->coll = NULL;
	free(h->scratch);
	h->scratch = NULL;
}

/* Whatever an unfinished operation has received must be right or untouched: nothing raw is ever delivered. */
static void judge_unfinished(struct rf_host *h)
{
	for (unsigned i = 0; i < h->pub.posted; i++) {
		struct rf_op *op = &h->ops[i];
		uint64_t raw;

		if (op->done || h->f->cfg.in_place || !h->places)
			continue;
		raw = rf_check_result(h->f->check, h->places, i, op->recv, op->count, true);
		if (raw == UINT64_MAX)
			rf_fabric_fail(h->f, "no memory for the reference");
		else
			h->pub.raw += raw;
	}
}

static void free_ops(struct rf_host *h)
{
	for (unsigned i = 0; i < h->pub.posted; i++) {
		struct rf_op *op = &h->ops[i];

		if (op->send != op->recv)
			free(op->send);
		free(op->recv);
		op->send = NULL;
		op->recv = NULL;
	}
}

static void end(struct rf_host *h, enum rf_rank_state state)
{
	h->pub.state = state;
	judge_unfinished(h);
	drop_connections(h);
	free_ops(h);
	set_active(h, false);
	/* Nobody waits for it any more. */
	rf_fabric_barrier(h->f, h->f->barriers + 1);
}

__attribute__((format(printf, 3, 4))) static void fail(struct rf_host *h, enum rf_rank_error error, const char *format, ...)
{
	va_list ap;

	if (ended(h))
		return;
	h->pub.error = error;
	va_start(ap, format);
	vsnprintf(h->pub.text, sizeof(h->pub.text), format, ap);
	va_end(ap);
	h->pub.failed_ns = host_ns(h);
	end(h, RF_RANK_FAILED);
}

/* ---- connections ---- */

static void qp_cfg(const struct rf_host *h, struct roce_qp_cfg *c)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;

	roce_qp_cfg_init(c);
	host_mac(h->rank, c->mac);
	c->ip = rf_fabric_ip(h->rank);
	c->has_vlan = cfg->vlan;
	c->vlan_tci = VLAN_TCI;
	c->mtu = cfg->mtu;
	c->window = h->pub.window;
	c->ack_timeout = cfg->ack_timeout_ns;
	c->ack_timeout_max = cfg->ack_timeout_max_ns;
	c->retry_cnt = (uint8_t)cfg->retry_cnt;
}

static int connect_qp(struct rf_host *h, const struct roce_qp_cfg *c, unsigned peer, uint32_t peer_qpn, struct roce_qp **out)
{
	struct roce_qp_peer p = { .ip = rf_fabric_ip(peer), .qpn = peer_qpn };
	struct roce_qp *qp;

	host_mac(peer, p.mac);
	if (roce_qp_create(c, &qp) != ROCE_OK)
		return -1;
	if (roce_qp_to_rtr(qp, &p) != ROCE_OK || roce_qp_to_rts(qp) != ROCE_OK || roce_endpoint_add_qp(h->ep, qp) != ROCE_OK) {
		roce_qp_destroy(qp);
		return -1;
	}
	*out = qp;
	return 0;
}

static int connect(struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned next = (h->rank + 1) % cfg->ranks;
	unsigned prev = (h->rank + cfg->ranks - 1) % cfg->ranks;
	struct roce_qp_cfg c;
	struct rf_coll_cfg coll = { 0 };

	qp_cfg(h, &c);
	c.qpn = to_next_qpn(h->rank);
	c.sq_psn = start_psn(h->f, h->rank);
	if (connect_qp(h, &c, next, from_prev_qpn(next), &h->to_next) != 0)
		return -1;
	qp_cfg(h, &c);
	c.qpn = from_prev_qpn(h->rank);
	c.rq_psn = start_psn(h->f, prev);
	if (cfg->schedule == RF_RUN_BOX && !cfg->plain)
		c.rq_psn = (c.rq_psn - SHIFT) & 0xffffff;
	if (connect_qp(h, &c, prev, to_next_qpn(prev), &h->from_prev) != 0)
		return -1;

	coll.schedule = cfg->schedule == RF_RUN_BOX ? RF_COLL_BOX : RF_COLL_RING;
	coll.rank = h->rank;
	coll.ranks = cfg->ranks;
	coll.type = cfg->type;
	coll.op = cfg->op;
	coll.mtu = cfg->mtu;
	coll.message_bytes = cfg->message_bytes;
	coll.max_ops = cfg->max_ops;
	coll.to_next = rf_msg_qp(h->to_next);
	coll.from_prev = rf_msg_qp(h->from_prev);
	coll.scratch_bytes = rf_coll_scratch_bytes(&coll);
	if (coll.scratch_bytes) {
		h->scratch = malloc(coll.scratch_bytes);
		if (!h->scratch)
			return -1;
		coll.scratch = h->scratch;
	}
	return rf_coll_create(&coll, &h->coll) == RF_COLL_OK ? 0 : -1;
}

/* ---- control ---- */

static unsigned log2_of(unsigned v)
{
	unsigned n = 0;

	while (v > 1) {
		v >>= 1;
		n++;
	}
	return n;
}

static void begin_join(struct rf_host *h)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	unsigned next = (h->rank + 1) % cfg->ranks;
	struct rf_client_cfg c = { 0 };
	struct rf_ctl_join j = { 0 };
	struct rf_rng rng = rf_rng_make(cfg->seed, UINT64_C(3) << 40 | h->rank);

	host_mac(h->rank, c.mac);
	c.ip = rf_fabric_ip(h->rank);
	c.box_ip = rf_fabric_box_ip();
	c.vlan = cfg->vlan ? VLAN_TCI : RF_CTL_NO_VLAN;
	c.job = JOB;
	c.rank = (uint16_t)h->rank;
	c.token = rf_rng_next(&rng) | 1;
	rf_client_init(&h->client, &c);
	h->has_client = true;

	j.ranks = (uint16_t)cfg->ranks;
	j.dtype = (uint8_t)cfg->type;
	j.op = (uint8_t)cfg->op;
	j.mtu_log2 = (uint8_t)log2_of(cfg->mtu);
	j.slots_log2 = (uint8_t)log2_of(cfg->slots);
	j.slots_min_log2 = 4;
	j.port = RF_CTL_NO_PORT;
	j.flags = cfg->plain ? 0 : RF_CTL_J_SHIFTED;
	j.qpn = to_next_qpn(h->rank);
	j.peer_ip = rf_fabric_ip(next);
	j.peer_qpn = from_prev_qpn(next);
	j.start_psn = start_psn(h->f, h->rank);
	j.shift = cfg->plain ? 0 : RF_CTL_SHIFT;
	j.lease_ms = cfg->lease_ms;
	j.deadline_ms = cfg->join_deadline_ms;
	rf_client_join(&h->client, &j, host_ns(h));
	h->pub.state = RF_RANK_JOINING;
}

static int keep_places(struct rf_host *h, const struct rf_ctl_ready *r)
{
	h->places = calloc(h->f->cfg.ranks, sizeof(*h->places));
	if (!h->places)
		return -1;
	for (unsigned i = 0; i < h->f->cfg.ranks; i++)
		h->places[i] = (struct rf_place){ .port = r->place[i].port, .lane = r->place[i].lane };
	h->pub.place = h->places[h->rank];
	h->pub.window = r->window;
	return 0;
}

static void fail_by_client(struct rf_host *h)
{
	char text[sizeof(h->pub.text)];
	const struct rf_ctl_failed *why = rf_client_failed(&h->client);

	rf_client_text(&h->client, text, sizeof(text));
	if (why)
		h->pub.reason = why->reason;
	fail(h, RF_RANK_E_CONTROL, "%s", text);
}

/* A connection ended: the box may know why. The rank fails when it has said so, or after a while without. */
static void begin_inquest(struct rf_host *h, enum rf_rank_error error, const char *text)
{
	struct rf_ctl_status_req req = { .page = RF_CTL_PAGE_GROUP };

	if (!h->has_client) {
		fail(h, error, "%s", text);
		return;
	}
	h->inquest = true;
	h->inquest_until = host_ns(h) + INQUEST_NS;
	h->inquest_error = error;
	snprintf(h->inquest_text, sizeof(h->inquest_text), "%s", text);
	rf_client_status(&h->client, &req, host_ns(h));
}

static void end_inquest(struct rf_host *h)
{
	const struct rf_ctl_draining *d = rf_client_draining(&h->client);

	if (host_ns(h) < h->inquest_until && rf_client_query(&h->client) == RF_CLIENT_Q_WAITING)
		return;
	h->inquest = false;
	rf_client_abort(&h->client, RF_CTL_ABORT_TRANSPORT, host_ns(h));
	if (d && d->left > 0) {
		fail(h, h->inquest_error, "%s; %u of %u ranks have left the group", h->inquest_text, d->left, d->ranks);
	} else {
		fail(h, h->inquest_error, "%s", h->inquest_text);
	}
}

static void look_at_client(struct rf_host *h)
{
	if (!h->has_client || ended(h))
		return;
	switch (rf_client_state(&h->client)) {
	case RF_CLIENT_FAILED:
		fail_by_client(h);
		break;
	case RF_CLIENT_READY:
		if (h->pub.state != RF_RANK_JOINING)
			break;
		h->pub.ready_ns = host_ns(h);
		if (keep_places(h, rf_client_ready(&h->client)) != 0 || connect(h) != 0) {
			fail(h, RF_RANK_E_INTERNAL, "cannot make the connections");
			break;
		}
		h->pub.state = RF_RANK_RUNNING;
		break;
	default:
		break;
	}
	if (h->inquest && !ended(h))
		end_inquest(h);
}

/* ---- all-reduce ---- */

static void look_at_collective(struct rf_host *h)
{
	struct rf_coll_done d;
	char text[sizeof(h->pub.text)];
	int channel;
	int status;

	if (!h->coll || ended(h) || h->inquest)
		return;
	rf_coll_progress(h->coll);
	while (rf_coll_poll(h->coll, &d)) {
		struct rf_op *op = &h->ops[d.id];
		uint64_t wrong;

		if (d.status != RF_COLL_OK) {
			rf_coll_failure(h->coll, &channel, &status);
			snprintf(text, sizeof(text), "%s: connection %s rank %u: %s%s", rf_coll_error_name(d.status),
				 channel ? "from" : "to",
				 (h->rank + (channel ? h->f->cfg.ranks - 1 : 1)) % h->f->cfg.ranks,
				 roce_wc_status_name((enum roce_wc_status)status),
				 roce_qp_counters(h->to_next)->rx_acks == 0 ?
					 "; nothing was ever acknowledged: does the switch's rule steer this host to the box?" :
					 "");
			begin_inquest(h, d.status == RF_COLL_E_LENGTH ? RF_RANK_E_LENGTH : RF_RANK_E_TRANSPORT, text);
			return;
		}
		op->done = true;
		op->done_ns = host_ns(h);
		h->pub.done++;
		h->pub.last_done_ns = host_ns(h);
		if (h->f->cfg.flip && h->rank == 0 && d.id == 0)
			((uint8_t *)op->recv)[op->count * rf_arith_size(h->f->cfg.type) / 2] ^= 1;
		wrong = rf_check_result(h->f->check, h->places, (unsigned)d.id, op->recv, op->count, false);
		if (wrong == UINT64_MAX)
			rf_fabric_fail(h->f, "no memory for the reference");
		h->pub.checked += op->count;
		h->pub.wrong += wrong;
		h->pub.digest = rf_fabric_digest(h->pub.digest, op->recv, op->count * rf_arith_size(h->f->cfg.type));
		if (op->send != op->recv)
			free(op->send);
		free(op->recv);
		op->send = NULL;
		op->recv = NULL;
	}
}

/* True where it was started, or where it failed for good. */
static bool start_allreduce(struct rf_host *h, uint64_t count)
{
	struct rf_op op = { .count = count, .posted_ns = host_ns(h) };
	unsigned n = h->pub.posted;
	size_t bytes = (size_t)count * rf_arith_size(h->f->cfg.type);
	int err;

	if (rf_coll_outstanding(h->coll) >= h->f->cfg.max_ops)
		return false;
	if (n == h->op_room) {
		size_t room = h->op_room ? 2 * h->op_room : 16;
		struct rf_op *ops = realloc(h->ops, room * sizeof(*ops));

		if (!ops)
			goto no_memory;
		h->ops = ops;
		h->op_room = room;
	}
	op.recv = malloc(bytes ? bytes : 1);
	op.send = h->f->cfg.in_place ? op.recv : malloc(bytes ? bytes : 1);
	h->ops[n] = op;
	if (!op.recv || !op.send) {
		free(op.recv);
		if (op.send != op.recv)
			free(op.send);
		goto no_memory;
	}
	rf_check_blank(h->f->check, op.recv, count);
	rf_check_fill(h->f->check, h->rank, n, op.send, count);
	h->pub.posted++;
	if (h->pub.posted == 1)
		h->pub.first_post_ns = host_ns(h);
	err = rf_coll_start(h->coll, n, op.send, op.recv, (size_t)count);
	if (err != RF_COLL_OK)
		begin_inquest(h, RF_RANK_E_INTERNAL, rf_coll_error_name(err));
	return true;
no_memory:
	rf_fabric_fail(h->f, "no memory for a vector");
	return true;
}

/* ---- program ---- */

static bool leave(struct rf_host *h)
{
	if (rf_coll_outstanding(h->coll) != 0)
		return false;
	if (!h->has_client)
		return true; /* the ring needs no farewell, but the last ACKs: run ends when all are done */
	if (!h->leaving) {
		h->leaving = true;
		h->pub.state = RF_RANK_LEAVING;
		rf_client_leave(&h->client, false, host_ns(h));
	}
	return rf_client_state(&h->client) == RF_CLIENT_IDLE;
}

/* One step further; false where it has to wait. */
static bool step(struct rf_host *h)
{
	const struct rf_step *s;
	uint64_t now = host_ns(h);

	if (ended(h) || h->inquest || h->at == h->step_count)
		return false;
	s = &h->steps[h->at];
	switch (s->kind) {
	case RF_STEP_JOIN:
		if (now < h->f->cfg.join_at[h->rank])
			return false;
		if (h->pub.state == RF_RANK_STARTING) {
			if (h->f->cfg.schedule == RF_RUN_BOX) {
				begin_join(h);
				return false;
			}
			h->pub.window = h->f->cfg.slots / 2;
			if (connect(h) != 0) {
				fail(h, RF_RANK_E_INTERNAL, "cannot make the connections");
				return false;
			}
			h->pub.state = RF_RANK_RUNNING;
		}
		if (h->pub.state != RF_RANK_RUNNING)
			return false;
		break;
	case RF_STEP_ALLREDUCE:
		if (!start_allreduce(h, s->arg))
			return false;
		break;
	case RF_STEP_WAIT:
		if (rf_coll_outstanding(h->coll) != 0)
			return false;
		break;
	case RF_STEP_COMPUTE:
		if (h->step_until == 0)
			h->step_until = now + s->arg;
		if (now < h->step_until)
			return false;
		h->step_until = 0;
		break;
	case RF_STEP_BARRIER:
		if (!h->at_barrier) {
			h->at_barrier = true;
			h->barriers++;
		}
		if (!rf_fabric_barrier(h->f, h->barriers))
			return false;
		h->at_barrier = false;
		break;
	case RF_STEP_FREEZE:
		h->frozen_until = now + s->arg;
		h->at++;
		return false;
	case RF_STEP_LEAVE:
		if (!leave(h))
			return false;
		break;
	}
	h->at++;
	return true;
}

/* All steps taken and nothing open. */
static void look_at_end(struct rf_host *h)
{
	if (ended(h) || h->inquest || h->at < h->step_count)
		return;
	if (h->coll && rf_coll_outstanding(h->coll) != 0)
		return;
	h->pub.state = RF_RANK_DONE;
	set_active(h, false);
}

/* ---- frames and time ---- */

static void receive(struct rf_host *h, struct rf_frame *frame)
{
	if (!frame->bad) {
		rf_fabric_trace(h->f, false, h->rank, RF_PCAPNG_IN, frame->data, frame->len);
		if (!h->has_client || !rf_client_rx(&h->client, host_ns(h), frame->data, frame->len))
			roce_endpoint_rx(h->ep, host_ns(h), frame->data, frame->len);
	}
	free(frame);
}

static bool frozen(const struct rf_host *h)
{
	return host_ns(h) < h->frozen_until;
}

void rf_host_frame(struct rf_host *h, struct rf_frame *frame)
{
	if (h->pub.state == RF_RANK_CRASHED || (frozen(h) && h->ring_count == NIC_RING)) {
		free(frame);
		return;
	}
	if (frozen(h)) {
		*h->ring_end = frame;
		h->ring_end = &frame->next;
		h->ring_count++;
		return;
	}
	receive(h, frame);
	rf_host_run(h);
}

static void thaw(struct rf_host *h)
{
	while (h->ring) {
		struct rf_frame *frame = h->ring;

		h->ring = frame->next;
		receive(h, frame);
	}
	h->ring_end = &h->ring;
	h->ring_count = 0;
}

static void wake_at(struct rf_host *h, uint64_t ps)
{
	if (ps >= h->wake || ps == UINT64_MAX)
		return;
	h->wake = ps;
	rf_fabric_event(h->f, ps, RF_EV_HOST, h->rank, NULL);
}

/* Puts one frame on the wire if it is free; returns when to look again (ps). */
static uint64_t transmit(struct rf_host *h)
{
	uint8_t data[ROCE_FRAME_MAX];
	struct rf_frame *frame;
	size_t len = 0;

	if (h->up->free_at > h->f->now)
		return h->up->free_at;
	if (h->has_client)
		len = rf_client_tx(&h->client, host_ns(h), data, sizeof(data));
	if (len == 0)
		len = roce_endpoint_tx(h->ep, host_ns(h), data, sizeof(data));
	if (len == 0)
		return UINT64_MAX;
	rf_fabric_trace(h->f, false, h->rank, RF_PCAPNG_OUT, data, len);
	frame = rf_frame_new(h->f, data, len);
	return frame ? rf_link_send(h->f, h->up, h->f->now, frame) : UINT64_MAX;
}

void rf_host_wake(struct rf_host *h)
{
	wake_at(h, h->f->now);
}

static uint64_t earliest(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t next_timer(const struct rf_host *h)
{
	uint64_t ns = roce_endpoint_next_timeout(h->ep);

	if (h->has_client)
		ns = earliest(ns, rf_client_next_timeout(&h->client));
	if (h->inquest)
		ns = earliest(ns, h->inquest_until);
	if (h->step_until)
		ns = earliest(ns, h->step_until);
	if (h->pub.state == RF_RANK_STARTING)
		ns = earliest(ns, h->f->cfg.join_at[h->rank]);
	return ns >= UINT64_MAX / PS_PER_NS ? UINT64_MAX : ns * PS_PER_NS;
}

void rf_host_run(struct rf_host *h)
{
	uint64_t timer;
	uint64_t wire;

	if (h->pub.state == RF_RANK_CRASHED)
		return;
	if (frozen(h)) {
		wake_at(h, h->frozen_until * PS_PER_NS);
		return;
	}
	thaw(h);
	do {
		look_at_client(h);
		look_at_collective(h);
	} while (step(h));
	look_at_end(h);
	if (frozen(h)) {
		wake_at(h, h->frozen_until * PS_PER_NS);
		return;
	}
	wire = transmit(h);
	timer = next_timer(h);
	if (timer <= h->f->now)
		timer = wire != UINT64_MAX ? wire : h->f->now + TICK_PS;
	wake_at(h, earliest(wire, timer));
}

void rf_host_event(struct rf_host *h, uint64_t at)
{
	if (at != h->wake)
		return;
	h->wake = UINT64_MAX;
	rf_host_run(h);
}

/* ---- life ---- */

struct rf_host *rf_host_create(struct rf_fabric *f, unsigned rank)
{
	struct rf_host *h = calloc(1, sizeof(*h));
	struct roce_endpoint_cfg c = { 0 };

	if (!h)
		return NULL;
	h->f = f;
	h->rank = rank;
	h->up = rf_link_get(f, false, rank, true);
	h->wake = UINT64_MAX;
	h->ring_end = &h->ring;
	host_mac(rank, c.mac);
	c.ip = rf_fabric_ip(rank);
	c.box_ip = rf_fabric_box_ip();
	c.max_qps = 2;
	if (roce_endpoint_create(&c, &h->ep) != ROCE_OK) {
		free(h);
		return NULL;
	}
	set_active(h, true);
	return h;
}

void rf_host_destroy(struct rf_host *h)
{
	if (!h)
		return;
	while (h->ring) {
		struct rf_frame *frame = h->ring;

		h->ring = frame->next;
		free(frame);
	}
	drop_connections(h);
	free_ops(h);
	roce_endpoint_destroy(h->ep);
	free(h->places);
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
	h->steps[h->step_count++] = (struct rf_step){ kind, arg };
	if (h->pub.state == RF_RANK_DONE) {
		h->pub.state = RF_RANK_RUNNING;
		set_active(h, true);
	}
	return 0;
}

void rf_host_crash(struct rf_host *h)
{
	if (!ended(h) || h->pub.state == RF_RANK_DONE)
		end(h, RF_RANK_CRASHED);
}

void rf_host_quit(struct rf_host *h)
{
	if (ended(h))
		return;
	if (h->has_client)
		rf_client_leave(&h->client, true, host_ns(h));
	fail(h, RF_RANK_E_CONTROL, "this rank has left in the middle of an all-reduce");
	rf_host_run(h);
}

void rf_host_freeze(struct rf_host *h, uint64_t ns)
{
	h->frozen_until = host_ns(h) + ns;
	wake_at(h, h->frozen_until * PS_PER_NS);
}

bool rf_host_at_barrier(const struct rf_host *h, unsigned n)
{
	return ended(h) || h->barriers >= n;
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
	const struct roce_qp *qps[2] = { h->to_next, h->from_prev };

	s->data_packets += h->old.tx_packets;
	s->repeats += h->old.tx_retransmits;
	s->acks += h->old.tx_acks;
	s->naks += h->old.tx_naks;
	s->timeouts += h->old.timeouts;
	for (unsigned i = 0; i < 2; i++) {
		const struct roce_qp_counters *c;

		if (!qps[i])
			continue;
		c = roce_qp_counters(qps[i]);
		s->data_packets += c->tx_packets;
		s->repeats += c->tx_retransmits;
		s->acks += c->tx_acks;
		s->naks += c->tx_naks;
		s->timeouts += c->timeouts;
	}
}
