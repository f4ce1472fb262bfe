/* Requests, timers, and the caller's commands. */
#include "host/control/client.h"

#include <string.h>

#include "host/control/internal.h"
#include "proto/rf_bytes.h"
#include "wire/arp.h"

#define MS 1000000ull
#define UDP_PORT_DEFAULT 49152u

void rf_client_init(struct rf_client *c, const struct rf_client_cfg *cfg)
{
	memset(c, 0, sizeof(*c));
	c->cfg = *cfg;
	if (c->cfg.retry_ns == 0)
		c->cfg.retry_ns = 20 * MS;
	if (c->cfg.retry_max_ns == 0)
		c->cfg.retry_max_ns = 1000 * MS;
	if (c->cfg.answer_ns == 0)
		c->cfg.answer_ns = 5000 * MS;
	/* At least four transmissions within the time for an answer. */
	if (c->cfg.retry_max_ns > c->cfg.answer_ns / 4u)
		c->cfg.retry_max_ns = c->cfg.answer_ns / 4u;
	if (c->cfg.retry_ns > c->cfg.retry_max_ns)
		c->cfg.retry_ns = c->cfg.retry_max_ns;
	if (c->cfg.udp_port == 0)
		c->cfg.udp_port = UDP_PORT_DEFAULT;
	c->token = cfg->token;
	c->seq = c->seen[0] = c->seen[1] = cfg->first_seq;
	c->box_mac_known = cfg->have_box_mac;
	memcpy(c->box_mac, cfg->box_mac, sizeof(c->box_mac));
}

uint64_t rf_client_answer_ns(const struct rf_client *c)
{
	return c->cfg.answer_ns;
}

void rf_client_start(const struct rf_client *c, struct rf_client_timer *t, uint64_t now)
{
	t->due = now;
	t->interval = c->cfg.retry_ns;
	t->deadline = now + c->cfg.answer_ns;
}

/* A quarter of a lease in ms, as the longest silence in ns. */
static uint64_t quarter(uint32_t lease_ms, uint64_t longest)
{
	uint64_t ns = lease_ms * MS / 4u;

	return lease_ms != RF_CTL_LEASE_DEFAULT && lease_ms != RF_CTL_LEASE_NONE && ns < longest
		       ? ns
		       : longest;
}

/*
 * Shortens an interval by up to half, differently for each client and transmission, so that clients
 * that lost frames at the same time do not retry at the same time.
 */
static uint64_t jittered(const struct rf_client *c, uint64_t interval)
{
	uint64_t h = (c->token + c->seq) * 0x9e3779b97f4a7c15ull;

	return interval - (h >> 40) * (interval / 2u) / (1u << 24);
}

/* Advances a timer after a transmission. */
static void again(const struct rf_client *c, struct rf_client_timer *t, uint64_t now)
{
	t->due = now + jittered(c, t->interval);
	t->interval *= 2u;
	if (t->interval > quarter(c->join.lease_ms, c->cfg.retry_max_ns))
		t->interval = quarter(c->join.lease_ms, c->cfg.retry_max_ns);
}

void rf_client_fail(struct rf_client *c, enum rf_client_error error)
{
	c->state = RF_CLIENT_FAILED;
	c->error = error;
}

uint64_t rf_client_keepalive(const struct rf_client *c)
{
	if (c->cfg.keepalive_ns != 0)
		return c->cfg.keepalive_ns;
	return quarter(c->ready.lease_ms, 1000 * MS);
}

/* ---- the caller's commands ---- */

void rf_client_resolved(struct rf_client *c, uint64_t now)
{
	if (c->state == RF_CLIENT_RESOLVING) {
		c->state = RF_CLIENT_JOINING;
		c->join_deadline = now + c->join.deadline_ms * MS + c->cfg.answer_ns;
		rf_client_start(c, &c->req, now);
	}
	if (c->query == RF_CLIENT_Q_WAITING && !c->query_sent)
		rf_client_start(c, &c->ask, now);
}

int rf_client_join(struct rf_client *c, const struct rf_ctl_join *join, uint64_t now)
{
	if (c->state != RF_CLIENT_IDLE && c->state != RF_CLIENT_FAILED)
		return -1;
	/* A new membership: the box distinguishes it from the last one by its token. */
	if (c->member || c->state == RF_CLIENT_FAILED)
		c->token = c->token * 6364136223846793005ull + 1442695040888963407ull;
	if (c->token == 0)
		c->token = 1;
	c->join = *join;
	if (c->join.src_ip == 0)
		c->join.src_ip = c->cfg.ip;
	c->state = RF_CLIENT_RESOLVING;
	c->error = RF_CLIENT_E_NONE;
	c->qp_destroyed = c->answered = c->member = c->left_acked = false;
	c->have_waiting = c->have_ready = c->have_failed = c->have_draining = false;
	c->port_ip = 0;
	c->port_mac_known = false;
	c->refusals = 0;
	c->last_left = 0;
	if (c->box_mac_known)
		rf_client_resolved(c, now);
	else
		rf_client_start(c, &c->arp, now);
	return 0;
}

/* Schedules the last request (ABORT or LEAVE) of a membership that is over. */
static void last_word(struct rf_client *c, unsigned int verb, uint64_t now)
{
	c->last_verb = (uint8_t)verb;
	c->last_left = RF_CLIENT_LAST_WORDS;
	rf_client_start(c, &c->last, now);
}

int rf_client_leave(struct rf_client *c, bool qp_destroyed, uint64_t now)
{
	if (c->state == RF_CLIENT_RESOLVING) {
		c->state = RF_CLIENT_IDLE;
		return 0;
	}
	if (c->state == RF_CLIENT_JOINING)
		return rf_client_abort(c, RF_CTL_ABORT_USER, now);
	if (!c->member)
		return -1;
	c->qp_destroyed = qp_destroyed || c->qp_destroyed;
	if (c->state == RF_CLIENT_FAILED) {
		if (c->last_left == 0)
			last_word(c, RF_CTL_LEAVE, now);
		return 0;
	}
	c->state = RF_CLIENT_DRAINING;
	rf_client_start(c, &c->req, now);
	return 0;
}

int rf_client_abort(struct rf_client *c, uint32_t code, uint64_t now)
{
	if (c->state != RF_CLIENT_JOINING && c->state != RF_CLIENT_READY &&
	    c->state != RF_CLIENT_DRAINING)
		return -1;
	rf_client_fail(c, RF_CLIENT_E_GROUP);
	memset(&c->failed, 0, sizeof(c->failed));
	c->failed.reason = RF_CTL_R_ABORTED;
	c->failed.rank = c->cfg.rank;
	c->failed.detail = code;
	c->failed.other.rank = RF_CTL_NO_RANK;
	c->have_failed = true;
	c->last_code = code;
	last_word(c, RF_CTL_ABORT, now);
	return 0;
}

static int ask(struct rf_client *c, unsigned int verb, uint64_t now)
{
	c->query = RF_CLIENT_Q_WAITING;
	c->query_verb = (uint8_t)verb;
	c->query_sent = false;
	c->query_from = c->seq + 1u;
	c->query_refusals = 0;
	if (!c->box_mac_known && c->state != RF_CLIENT_RESOLVING)
		rf_client_start(c, &c->arp, now);
	rf_client_start(c, &c->ask, now);
	return 0;
}

int rf_client_drop(struct rf_client *c, uint64_t job, uint16_t group, uint32_t code, uint64_t now)
{
	if (c->query == RF_CLIENT_Q_WAITING)
		return -1;
	memset(&c->query_req, 0, sizeof(c->query_req));
	c->query_req.u.abort.job = job;
	c->query_req.u.abort.group = group;
	c->query_req.u.abort.code = code;
	return ask(c, RF_CTL_ABORT, now);
}

int rf_client_status(struct rf_client *c, const struct rf_ctl_status_req *req, uint64_t now)
{
	if (c->query == RF_CLIENT_Q_WAITING)
		return -1;
	memset(&c->query_req, 0, sizeof(c->query_req));
	c->query_req.u.status = *req;
	return ask(c, RF_CTL_STATUS, now);
}

int rf_client_reset(struct rf_client *c, uint64_t now)
{
	if (c->query == RF_CLIENT_Q_WAITING)
		return -1;
	memset(&c->query_req, 0, sizeof(c->query_req));
	return ask(c, RF_CTL_RESET, now);
}

int rf_client_release(struct rf_client *c, uint32_t ip, uint32_t qpn, uint64_t now)
{
	if (c->query == RF_CLIENT_Q_WAITING)
		return -1;
	memset(&c->query_req, 0, sizeof(c->query_req));
	c->query_req.u.release = (struct rf_ctl_release){.ip = ip, .qpn = qpn};
	return ask(c, RF_CTL_RELEASE, now);
}

/* ---- frames ---- */

bool rf_client_goes_there(const struct rf_client *c)
{
	return c->port_ip != 0 && c->join.peer_ip == 0 && c->join.peer_qpn == 0;
}

uint32_t rf_client_next_hop(const struct rf_client *c)
{
	if (c->cfg.via_ip != 0)
		return c->cfg.via_ip;
	return c->box_mac_known ? c->port_ip : c->cfg.box_ip;
}

static size_t put_arp(const struct rf_client *c, uint8_t *frame)
{
	struct rf_arp a = {.op = RF_ARP_REQUEST,
			   .has_vlan = c->cfg.vlan != RF_CTL_NO_VLAN,
			   .vlan_tci = c->cfg.vlan,
			   .sender_ip = c->cfg.ip,
			   .target_ip = rf_client_next_hop(c)};

	memcpy(a.sender_mac, c->cfg.mac, 6);
	return rf_arp_build(&a, frame, RF_CLIENT_FRAME_MAX);
}

static size_t put_request(struct rf_client *c, unsigned int verb, unsigned int flags, uint32_t seq,
			  uint64_t nonce, const struct rf_ctl_request *body, uint8_t *frame,
			  size_t room)
{
	struct rf_ctl_header h = {.verb = (uint8_t)verb,
				  .flags = (uint16_t)flags,
				  .group = c->cfg.group,
				  .job = c->cfg.job,
				  .rank = c->cfg.rank,
				  .epoch = c->epoch,
				  .seq = seq,
				  .token = c->token,
				  .nonce = nonce};
	struct rf_ctl_addr a = {.vlan = c->cfg.vlan,
				.src_ip = c->cfg.ip,
				.dst_ip = c->port_mac_known ? c->port_ip : c->cfg.box_ip,
				.src_port = c->cfg.udp_port,
				.dst_port = RF_CTL_UDP_PORT};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len = rf_ctl_request_put(msg, &h, body, c->cfg.key);

	memcpy(a.dst_mac, c->port_mac_known ? c->port_mac : c->box_mac, 6);
	memcpy(a.src_mac, c->cfg.mac, 6);
	if (len == 0)
		return 0;
	c->stats.tx++;
	return rf_ctl_frame_put(frame, room, &a, msg, len);
}

/*
 * Sequence numbers increase over all requests; the lowest bit is 1 for a query, 0 for the
 * membership.
 */
static uint32_t next_seq(struct rf_client *c, uint32_t query)
{
	do
		c->seq++;
	while ((c->seq & 1u) != query);
	return c->seq;
}

/* The membership's request in this state. */
static size_t put_membership(struct rf_client *c, uint8_t *frame, size_t room)
{
	struct rf_ctl_request body;
	uint32_t seq = next_seq(c, 0);

	c->sent_seq = seq;
	memset(&body, 0, sizeof(body));
	if (c->state == RF_CLIENT_JOINING) {
		body.u.join = c->join;
		return put_request(c, RF_CTL_JOIN, 0, seq, c->nonce, &body, frame, room);
	}
	if (c->state == RF_CLIENT_READY) {
		body.u.status.page = RF_CTL_PAGE_GROUP;
		return put_request(c, RF_CTL_STATUS, 0, seq, c->nonce, &body, frame, room);
	}
	return put_request(c, RF_CTL_LEAVE, c->qp_destroyed ? RF_CTL_F_QP_DESTROYED : 0u, seq,
			   c->nonce, &body, frame, room);
}

static size_t put_last_word(struct rf_client *c, uint8_t *frame, size_t room)
{
	struct rf_ctl_request body;
	uint32_t flags = 0;

	memset(&body, 0, sizeof(body));
	if (c->last_verb == RF_CTL_ABORT)
		body.u.abort.code = c->last_code;
	else if (c->qp_destroyed)
		flags = RF_CTL_F_QP_DESTROYED;
	return put_request(c, c->last_verb, flags, next_seq(c, 0), c->nonce, &body, frame, room);
}

static size_t put_query(struct rf_client *c, uint8_t *frame, size_t room)
{
	/*
	 * RESET, ABORT and RELEASE keep their number when repeated, because they must not be
	 * executed twice.
	 */
	if (!c->query_sent || c->query_verb == RF_CTL_STATUS) {
		c->query_seq = next_seq(c, 1);
		c->query_nonce = c->nonce;
	}
	c->query_sent = true;
	return put_request(c, c->query_verb, 0, c->query_seq, c->query_nonce, &c->query_req, frame,
			   room);
}

/* ---- time ---- */

static bool wants_membership(const struct rf_client *c)
{
	return c->state == RF_CLIENT_JOINING || c->state == RF_CLIENT_READY ||
	       c->state == RF_CLIENT_DRAINING;
}

static bool wants_arp(const struct rf_client *c)
{
	if (c->box_mac_known)
		return rf_client_goes_there(c) && !c->port_mac_known &&
		       c->state == RF_CLIENT_JOINING;
	return c->state == RF_CLIENT_RESOLVING || c->query == RF_CLIENT_Q_WAITING;
}

/*
 * Whether the time for an answer is over. Not while a transmission is still due: a process that was
 * stopped first sends its request.
 */
static bool over(const struct rf_client_timer *t, uint64_t now)
{
	return now >= t->deadline && now < t->due;
}

static void expire(struct rf_client *c, uint64_t now)
{
	if (wants_arp(c) && over(&c->arp, now) && c->box_mac_known) {
		rf_client_fail(c, RF_CLIENT_E_NO_PORT_ARP);
	} else if (wants_arp(c) && over(&c->arp, now)) {
		if (c->state == RF_CLIENT_RESOLVING)
			rf_client_fail(c, RF_CLIENT_E_NO_ARP);
		if (c->query == RF_CLIENT_Q_WAITING)
			c->query = RF_CLIENT_Q_FAILED;
	}
	if (c->query == RF_CLIENT_Q_WAITING && c->query_sent && over(&c->ask, now))
		c->query = RF_CLIENT_Q_FAILED;
	if (wants_membership(c) && over(&c->req, now))
		rf_client_fail(c, c->answered ? RF_CLIENT_E_SILENT : RF_CLIENT_E_NO_ANSWER);
	if (c->state == RF_CLIENT_JOINING && now >= c->join_deadline && now < c->req.due)
		rf_client_fail(c, RF_CLIENT_E_SILENT);
}

/*
 * A transmission that was due has been sent. If it is late by more than the interval to the next
 * one, the process was stopped: it could neither send nor read answers, so that time is not
 * counted.
 */
static size_t sent(struct rf_client *c, struct rf_client_timer *t, bool repeat, uint64_t now,
		   size_t len)
{
	uint64_t late = now - t->due > t->interval ? now - t->due : 0;

	t->deadline += late;
	if (t == &c->req) {
		c->asked = now;
		if (c->state == RF_CLIENT_JOINING)
			c->join_deadline += late;
	}
	again(c, t, now);
	if (repeat)
		c->stats.repeats++;
	return len;
}

static bool is_repeat(const struct rf_client *c, const struct rf_client_timer *t)
{
	return t->interval != c->cfg.retry_ns;
}

size_t rf_client_tx(struct rf_client *c, uint64_t now, uint8_t *frame, size_t room)
{
	if (room < RF_CLIENT_FRAME_MAX)
		return 0;
	expire(c, now);
	if (wants_arp(c) && now >= c->arp.due)
		return sent(c, &c->arp, is_repeat(c, &c->arp), now, put_arp(c, frame));
	if (!c->box_mac_known)
		return 0;
	if (c->last_left > 0 && now >= c->last.due) {
		bool repeat = is_repeat(c, &c->last);

		c->last_left--;
		return sent(c, &c->last, repeat, now, put_last_word(c, frame, room));
	}
	if (wants_membership(c) && now >= c->req.due)
		return sent(c, &c->req, is_repeat(c, &c->req), now, put_membership(c, frame, room));
	if (c->query == RF_CLIENT_Q_WAITING && now >= c->ask.due)
		return sent(c, &c->ask, is_repeat(c, &c->ask), now, put_query(c, frame, room));
	return 0;
}

static void sooner(uint64_t *t, uint64_t other)
{
	if (other < *t)
		*t = other;
}

uint64_t rf_client_next_timeout(const struct rf_client *c)
{
	uint64_t t = RF_CLIENT_NEVER;

	if (wants_arp(c)) {
		sooner(&t, c->arp.due);
		sooner(&t, c->arp.deadline);
	}
	if (!c->box_mac_known)
		return t;
	if (c->last_left > 0)
		sooner(&t, c->last.due);
	if (wants_membership(c)) {
		sooner(&t, c->req.due);
		sooner(&t, c->req.deadline);
	}
	if (c->state == RF_CLIENT_JOINING)
		sooner(&t, c->join_deadline);
	if (c->query == RF_CLIENT_Q_WAITING) {
		sooner(&t, c->ask.due);
		if (c->query_sent)
			sooner(&t, c->ask.deadline);
	}
	return t;
}

/* ---- state for the caller ---- */

enum rf_client_state rf_client_state(const struct rf_client *c)
{
	return c->state;
}

enum rf_client_error rf_client_error(const struct rf_client *c)
{
	return c->state == RF_CLIENT_FAILED ? c->error : RF_CLIENT_E_NONE;
}

const struct rf_ctl_waiting *rf_client_waiting(const struct rf_client *c)
{
	return c->have_waiting ? &c->waiting : NULL;
}

const struct rf_ctl_ready *rf_client_ready(const struct rf_client *c)
{
	return c->have_ready ? &c->ready : NULL;
}

const struct rf_ctl_failed *rf_client_failed(const struct rf_client *c)
{
	return c->state == RF_CLIENT_FAILED && c->have_failed ? &c->failed : NULL;
}

const struct rf_ctl_draining *rf_client_draining(const struct rf_client *c)
{
	return c->have_draining ? &c->draining : NULL;
}

bool rf_client_left_acked(const struct rf_client *c)
{
	return c->left_acked;
}

uint32_t rf_client_port_ip(const struct rf_client *c)
{
	return c->port_ip;
}

const uint8_t *rf_client_port_mac(const struct rf_client *c)
{
	return c->port_mac_known ? c->port_mac : NULL;
}

bool rf_client_open_lab(const struct rf_client *c)
{
	return c->open_lab;
}

enum rf_client_query rf_client_query(const struct rf_client *c)
{
	return c->query;
}

const struct rf_ctl_reply *rf_client_answer(const struct rf_client *c)
{
	bool refused = c->query == RF_CLIENT_Q_FAILED && c->answer.result == RF_CTL_FAILED;

	return c->query == RF_CLIENT_Q_DONE || refused ? &c->answer : NULL;
}
