#include "host/collective/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "host/collective/hosts_internal.h"

#define MESSAGE_BYTES_MAX (1u << 30)
#define OPS_MAX 1024u
#define OPS_DEFAULT 8u

/* ---- set-up ---- */

static uint32_t message_bytes(const struct rf_hosts_cfg *c)
{
	return c->message_bytes ? c->message_bytes : RF_COLL_MESSAGE_PACKETS * c->mtu;
}

/*
 * Two parts of a ring. A step that keeps its slots for the next one holds all messages of a small
 * vector, and the next step takes one more before it gives one back.
 */
size_t rf_hosts_scratch_bytes(const struct rf_hosts_cfg *c)
{
	size_t kept = (size_t)((rf_hosts_small(c->ranks) - 1) / message_bytes(c)) + 3;
	size_t slots = kept < 2 * RF_HOSTS_PART ? 2 * RF_HOSTS_PART : kept;

	return c->ranks > 1 ? slots * message_bytes(c) : 0;
}

static int cfg_check(const struct rf_hosts_cfg *c)
{
	if (c->ranks < 1 || c->ranks > RF_HOSTS_RANKS_MAX || c->rank >= c->ranks ||
	    c->max_ops > OPS_MAX)
		return RF_COLL_E_INVALID;
	if (c->ranks == 1)
		return RF_COLL_OK;
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1)) != 0 ||
	    c->message_bytes % c->mtu != 0 || c->message_bytes > MESSAGE_BYTES_MAX)
		return RF_COLL_E_INVALID;
	for (uint32_t k = 0; k < rf_hosts_reach(c->ranks); k++)
		if (!c->next[k].ops || !c->prev[k].ops)
			return RF_COLL_E_INVALID;
	return c->scratch && (uintptr_t)c->scratch % 8 == 0 &&
			       c->scratch_bytes >= rf_hosts_scratch_bytes(c)
		       ? RF_COLL_OK
		       : RF_COLL_E_INVALID;
}

int rf_hosts_create(const struct rf_hosts_cfg *cfg, struct rf_hosts **out)
{
	uint32_t ops = cfg->max_ops ? cfg->max_ops : OPS_DEFAULT, places = 1;
	struct rf_hosts *h;
	uint64_t *offsets;

	if (cfg_check(cfg) != RF_COLL_OK)
		return RF_COLL_E_INVALID;
	while (places < ops)
		places *= 2;
	h = calloc(1, sizeof(*h) + places * sizeof(h->ops[0]) +
			      (size_t)places * (cfg->ranks + 1) * sizeof(*offsets));
	if (!h)
		return RF_COLL_E_NO_MEMORY;
	h->cfg = *cfg;
	h->cfg.max_ops = ops;
	h->op_mask = places - 1;
	h->cfg.message_bytes = message_bytes(cfg);
	h->reach = rf_hosts_reach(cfg->ranks);
	if (cfg->ranks > 1)
		h->slots = cfg->scratch_bytes / h->cfg.message_bytes;
	offsets = (uint64_t *)(void *)&h->ops[places];
	for (uint32_t k = 0; k < places; k++)
		h->ops[k].c.offsets = offsets + (size_t)k * (cfg->ranks + 1);
	*out = h;
	return RF_COLL_OK;
}

void rf_hosts_destroy(struct rf_hosts *h)
{
	free(h);
}

int rf_hosts_start(struct rf_hosts *h, uint64_t id, const struct rf_directed_call *call)
{
	struct rf_hosts_op *op = rf_hosts_op(h, h->started);
	int error;

	if (h->error)
		return h->error;
	if (h->started - h->polled == h->cfg.max_ops)
		return RF_COLL_AGAIN;
	error = rf_call_begin(&op->c, h->cfg.rank, h->cfg.ranks, h->started, call);
	if (error)
		return error;
	op->id = id;
	rf_hosts_plan(h, op);
	h->started++;
	return RF_COLL_OK;
}

/* ---- the order of messages ---- */

/* Leaves a part of the step. */
static void cut(const struct rf_hosts *h, const struct rf_hosts_op *op, uint64_t part,
		struct rf_hosts_step *s)
{
	uint64_t unit = h->cfg.message_bytes, messages = (s->len + unit - 1) / unit;
	uint64_t begin = part * messages / op->parts * unit;
	uint64_t end = (part + 1) * messages / op->parts * unit;

	s->len = (end < s->len ? end : s->len) - begin;
	s->send_at += begin;
	s->recv_at += begin;
}

/* Moves to the first message at or after this place, and returns its step and length. */
static bool message_at(struct rf_hosts *h, struct rf_hosts_cursor *at, struct rf_hosts_step *s,
		       uint32_t *len)
{
	while (at->op != h->started) {
		const struct rf_hosts_op *op = rf_hosts_op(h, at->op);

		if (at->part == op->parts) {
			at->part = 0;
			at->op++;
			continue;
		}
		if (at->step == op->steps) {
			at->step = 0;
			at->part++;
			continue;
		}
		*s = rf_hosts_step(h, op, at->step);
		cut(h, op, at->part, s);
		if (at->at < s->len) {
			uint64_t left = s->len - at->at;

			*len = left < h->cfg.message_bytes ? (uint32_t)left : h->cfg.message_bytes;
			s->send_at += at->at;
			s->recv_at += at->at;
			return true;
		}
		at->at = 0;
		at->step++;
	}
	return false;
}

static void advance(struct rf_hosts *h, struct rf_hosts_cursor *at, const struct rf_hosts_step *s)
{
	at->at += h->cfg.message_bytes;
	at->slots += s->slot;
}

static bool before(const struct rf_hosts_cursor *a, const struct rf_hosts_cursor *b)
{
	if (a->op != b->op)
		return (int32_t)(a->op - b->op) < 0;
	if (a->part != b->part)
		return a->part < b->part;
	return a->step != b->step ? a->step < b->step : a->at < b->at;
}

static char *slot(const struct rf_hosts *h, uint64_t number)
{
	return (char *)h->cfg.scratch + number % h->slots * h->cfg.message_bytes;
}

/* Where a message is once it has been processed. */
static char *place(struct rf_hosts *h, const struct rf_hosts_cursor *at,
		   const struct rf_hosts_step *s)
{
	const struct rf_call *c = &rf_hosts_op(h, at->op)->c;

	switch (s->place) {
	case RF_PLACE_RECV:
		return c->recv + s->recv_at;
	case RF_PLACE_SLOT:
		return slot(h, at->slots);
	default:
		/* Only read. */
		return (char *)(uintptr_t)c->send + s->send_at;
	}
}

/* ---- events ---- */

static const struct rf_msg *channel(const struct rf_hosts *h, int conn)
{
	return conn & 1 ? &h->cfg.prev[conn / 2] : &h->cfg.next[conn / 2];
}

static void fail(struct rf_hosts *h, int error, int conn, bool from, int status)
{
	uint32_t n = h->cfg.ranks, distance = 1u << conn / 2;

	if (h->error)
		return;
	h->error = error;
	h->failure.peer = (h->cfg.rank + (conn & 1 ? n - distance : distance)) % n;
	h->failure.from = from;
	h->failure.status = status;
}

static void differ(struct rf_hosts *h, int error, int conn, uint32_t got, uint32_t want)
{
	fail(h, error, conn, true, 0);
	h->failure.got = got;
	h->failure.want = want;
}

/* What a receive expects is in its id: the call and the length. */
static uint64_t id_of(uint32_t op, uint32_t len)
{
	return (uint64_t)op << 32 | len;
}

/* All of an immediate but the hash: who made a call of this kind, type and operation. */
#define IMM_PLAIN 0xfc000ff0u

static void arrived(struct rf_hosts *h, int conn, const struct rf_msg_event *event)
{
	uint32_t len = (uint32_t)event->id, want;

	if (h->conn[conn].arrived == h->conn[conn].posted) {
		fail(h, RF_COLL_E_CHANNEL, conn, true, 0);
		return;
	}
	h->conn[conn].arrived++;
	want = rf_hosts_op(h, (uint32_t)(event->id >> 32))->c.immediate;
	if (channel(h, conn)->ops->post_imm &&
	    (!event->has_imm ||
	     (event->imm != want && (event->len == len || ((event->imm ^ want) & IMM_PLAIN) != 0))))
		differ(h, RF_COLL_E_IMMEDIATE, conn, event->has_imm ? event->imm : 0, want);
	else if (event->len != len)
		differ(h, RF_COLL_E_LENGTH, conn, event->len, len);
}

static int take_events(struct rf_hosts *h)
{
	struct rf_msg_event event;
	int n = 0;

	for (int k = 0; k < (int)(2 * h->reach); k++) {
		const struct rf_msg *m = channel(h, k);

		while (!h->error && m->ops->poll(m->ctx, &event)) {
			n++;
			if (event.status != 0)
				fail(h, RF_COLL_E_CHANNEL, k, !event.sent, event.status);
			else if (!event.sent)
				arrived(h, k, &event);
			else if (h->conn[k].acked == h->conn[k].sent)
				fail(h, RF_COLL_E_CHANNEL, k, false, 0);
			else
				h->conn[k].acked++;
		}
	}
	return n;
}

/* ---- what is to be done ---- */

static int post_recvs(struct rf_hosts *h)
{
	struct rf_hosts_cursor *at = &h->posted;
	struct rf_hosts_step s;
	uint32_t len;
	int n = 0;

	while (message_at(h, at, &s, &len)) {
		if (s.slot && at->slots - h->complete.slots == h->slots)
			break;
		if (s.from >= 0) {
			const struct rf_msg *m = channel(h, s.from);
			char *to = s.slot ? slot(h, at->slots) : place(h, at, &s);
			int result = m->ops->post_recv(m->ctx, id_of(at->op, len), to, len);

			if (result < 0)
				fail(h, RF_COLL_E_CHANNEL, s.from, true, 0);
			if (result != RF_MSG_OK)
				break;
			h->conn[s.from].posted++;
			n++;
		}
		advance(h, at, &s);
	}
	return n;
}

/* Adds what is to be added to a message that is here. */
static void process(struct rf_hosts *h, const struct rf_hosts_cursor *at,
		    const struct rf_hosts_step *s, uint32_t len)
{
	const struct rf_call *c = &rf_hosts_op(h, at->op)->c;
	uint64_t messages = (s->len - 1) / h->cfg.message_bytes + 1;
	const char *other = c->send + s->send_at;

	if (s->slot && s->from < 0 && c->kind == RF_SCHEDULE_BARRIER)
		memset(slot(h, at->slots), 0, len);
	else if (s->slot && s->from < 0)
		memcpy(slot(h, at->slots), other, len);
	if (s->add == RF_ADD_NOTHING)
		return;
	if (s->add == RF_ADD_PREVIOUS)
		other = slot(h, at->slots - messages);
	rf_arith_reduce(c->type, c->op, place(h, at, s), slot(h, at->slots), other,
			len / rf_arith_size(c->type));
}

static int process_arrived(struct rf_hosts *h)
{
	struct rf_hosts_cursor *at = &h->processed;
	struct rf_hosts_step s;
	uint32_t len;
	int n = 0;

	while (message_at(h, at, &s, &len) && before(at, &h->posted)) {
		if (s.from >= 0) {
			struct rf_hosts_conn *c = &h->conn[s.from];

			if (c->taken == c->arrived)
				break;
			c->taken++;
		}
		process(h, at, &s, len);
		advance(h, at, &s);
		n++;
	}
	return n;
}

static int post_sends(struct rf_hosts *h)
{
	struct rf_hosts_cursor *at = &h->sent;
	struct rf_hosts_step s;
	uint32_t len;
	int n = 0;

	while (message_at(h, at, &s, &len) && before(at, &h->processed)) {
		if (s.to >= 0) {
			const struct rf_msg *m = channel(h, s.to);
			const char *data = place(h, at, &s);
			int result = m->ops->post_imm
					     ? m->ops->post_imm(m->ctx, 0, data, len,
								rf_hosts_op(h, at->op)->c.immediate)
					     : m->ops->post_send(m->ctx, 0, data, len);

			if (result < 0)
				fail(h, RF_COLL_E_CHANNEL, s.to, false, 0);
			if (result != RF_MSG_OK)
				break;
			h->conn[s.to].sent++;
			n++;
		}
		advance(h, at, &s);
	}
	return n;
}

/* Does the next step still have to add this message's slot? */
static bool is_kept(const struct rf_hosts *h, const struct rf_hosts_cursor *at,
		    const struct rf_hosts_step *s)
{
	struct rf_hosts_cursor user = *at;

	user.step++;
	return s->kept && !before(&user, &h->processed);
}

/* Passes messages of which nothing is needed any more. */
static int complete(struct rf_hosts *h)
{
	struct rf_hosts_cursor *at = &h->complete;
	struct rf_hosts_step s;
	uint32_t len;
	int n = 0;

	while (message_at(h, at, &s, &len) && before(at, &h->sent)) {
		if (is_kept(h, at, &s))
			break;
		if (s.to >= 0) {
			struct rf_hosts_conn *c = &h->conn[s.to];

			if (c->retired == c->acked)
				break;
			c->retired++;
		}
		advance(h, at, &s);
		n++;
	}
	return n;
}

int rf_hosts_progress(struct rf_hosts *h)
{
	static int (*const tasks[])(struct rf_hosts *) = {take_events, post_recvs, process_arrived,
							  post_sends, complete};
	int n = 0;

	for (size_t k = 0; k < sizeof(tasks) / sizeof(tasks[0]) && !h->error; k++)
		n += tasks[k](h);
	return h->error ? h->error : n;
}

int rf_hosts_poll(struct rf_hosts *h, struct rf_coll_done *done)
{
	struct rf_hosts_step s;
	bool finished;
	uint32_t len;

	if (h->polled == h->started)
		return 0;
	(void)message_at(h, &h->complete, &s, &len); /* past calls without messages */
	finished = (int32_t)(h->complete.op - h->polled) > 0;
	if (!finished && !h->error)
		return 0;
	done->id = rf_hosts_op(h, h->polled)->id;
	done->status = finished ? RF_COLL_OK : h->error;
	h->polled++;
	return 1;
}

uint32_t rf_hosts_outstanding(const struct rf_hosts *h)
{
	return h->started - h->polled;
}

bool rf_hosts_waiting(const struct rf_hosts *h, uint64_t *number, uint32_t *immediate)
{
	if (h->started == h->polled)
		return false;
	*number = h->polled;
	*immediate = h->ops[h->polled & h->op_mask].c.immediate;
	return true;
}

bool rf_hosts_immediate(const struct rf_hosts *h, uint64_t number, uint32_t *immediate)
{
	uint32_t age = h->started - (uint32_t)number;

	if (age == 0 || age > h->op_mask + 1)
		return false;
	*immediate = h->ops[number & h->op_mask].c.immediate;
	return true;
}

void rf_hosts_failure(const struct rf_hosts *h, struct rf_hosts_failure *failure)
{
	*failure = h->failure;
}
