#include "base/packets.h"
#include "host/collective/collective.h"

#include <stdlib.h>
#include <string.h>

#include "host/collective/collective_internal.h"

#define MESSAGE_BYTES_MAX (1u << 30)
#define OPS_MAX 1024u
#define OPS_DEFAULT 8u
#define RANKS_MAX (1u << 20)

static struct rf_coll_op *op_of(struct rf_coll *c, uint32_t op)
{
	return &c->ops[op & c->op_mask];
}

const char *rf_coll_error_name(int error)
{
	switch (error) {
	case RF_COLL_OK:
		return "ok";
	case RF_COLL_AGAIN:
		return "too many outstanding operations";
	case RF_COLL_E_INVALID:
		return "an argument is out of its range";
	case RF_COLL_E_NO_MEMORY:
		return "no memory";
	case RF_COLL_E_ALIGNMENT:
		return "a buffer is not aligned to its element";
	case RF_COLL_E_OVERLAP:
		return "send and receive buffers overlap without being equal";
	case RF_COLL_E_CHANNEL:
		return "the connection to a neighbour failed";
	case RF_COLL_E_LENGTH:
		return "a message had an unexpected length: counts differ between ranks";
	case RF_COLL_E_IMMEDIATE:
		return "a result has another immediate than its packet: calls differ between ranks";
	case RF_COLL_E_PRODUCT:
		return "the box has no product: gather the operands and multiply on the hosts";
	default:
		return "unknown";
	}
}

static uint32_t message_bytes(const struct rf_coll_cfg *cfg)
{
	return cfg->message_bytes ? cfg->message_bytes : RF_COLL_MESSAGE_PACKETS * cfg->mtu;
}

static int cfg_check(const struct rf_coll_cfg *c)
{
	if (c->ranks < 1 || c->ranks > RANKS_MAX || c->rank >= c->ranks ||
	    !rf_arith_has(c->type, c->op) || c->op == RF_ARITH_COPY || c->max_ops > OPS_MAX)
		return RF_COLL_E_INVALID;
	if (c->results_suffice && c->window_packets != 0)
		return RF_COLL_E_INVALID;
	if (c->ranks == 1)
		return RF_COLL_OK;
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1)) != 0 ||
	    c->message_bytes % c->mtu != 0 || c->message_bytes > MESSAGE_BYTES_MAX ||
	    !c->to_next.ops || !c->from_prev.ops)
		return RF_COLL_E_INVALID;
	/* A message longer than the window could never be sent. */
	if (c->window_packets != 0 && message_bytes(c) / c->mtu > c->window_packets)
		return RF_COLL_E_INVALID;
	return RF_COLL_OK;
}

int rf_coll_create(const struct rf_coll_cfg *cfg, struct rf_coll **out)
{
	uint32_t ops = cfg->max_ops ? cfg->max_ops : OPS_DEFAULT;
	uint32_t slots = 1;
	struct rf_coll *c;

	if (cfg_check(cfg) != RF_COLL_OK)
		return RF_COLL_E_INVALID;
	while (slots < ops)
		slots *= 2;
	c = calloc(1, sizeof(*c) + slots * sizeof(c->ops[0]));
	if (!c)
		return RF_COLL_E_NO_MEMORY;
	c->cfg = *cfg;
	c->cfg.max_ops = ops;
	c->op_mask = slots - 1;
	c->cfg.message_bytes = message_bytes(cfg);
	*out = c;
	return RF_COLL_OK;
}

void rf_coll_destroy(struct rf_coll *c)
{
	free(c);
}

static int buffers_check(size_t size, const void *send, const void *recv, size_t count)
{
	uintptr_t a = (uintptr_t)send;
	uintptr_t b = (uintptr_t)recv;

	if (!send || !recv || count == 0 || count > (SIZE_MAX >> 1) / size)
		return RF_COLL_E_INVALID;
	if (a % size != 0 || b % size != 0)
		return RF_COLL_E_ALIGNMENT;
	if (a != b && (a < b ? b - a : a - b) < count * size)
		return RF_COLL_E_OVERLAP;
	return RF_COLL_OK;
}

int rf_coll_start(struct rf_coll *c, uint64_t id, const void *send, void *recv, size_t count)
{
	size_t size = rf_arith_size(c->cfg.type);
	struct rf_coll_op *op;
	int error;

	if (c->error)
		return c->error;
	error = buffers_check(size, send, recv, count);
	if (error)
		return error;
	if (c->started - c->polled == c->cfg.max_ops)
		return RF_COLL_AGAIN;
	op = op_of(c, c->started);
	op->id = id;
	op->send = send;
	op->recv = recv;
	op->bytes = (uint64_t)count * size;
	if (c->cfg.ranks == 1 && send != recv)
		memcpy(recv, send, op->bytes);
	c->started++;
	return RF_COLL_OK;
}

/* ---- the order of messages ---- */

/* Bytes of the message at a cursor that is settled below c->started. */
static struct rf_coll_span span_of(struct rf_coll *c, const struct rf_coll_cursor *at)
{
	uint64_t skip = at->msg * c->cfg.message_bytes, left = op_of(c, at->op)->bytes - skip;

	return (struct rf_coll_span){skip, left < c->cfg.message_bytes ? (uint32_t)left
								       : c->cfg.message_bytes};
}

/* Moves from the end of an operation to the next one, up to c->started. */
static void settle(struct rf_coll *c, struct rf_coll_cursor *at)
{
	if (at->op == c->started || at->msg * c->cfg.message_bytes < op_of(c, at->op)->bytes)
		return;
	at->msg = 0;
	at->op++;
}

static bool before(const struct rf_coll_cursor *a, const struct rf_coll_cursor *b)
{
	return a->op != b->op ? (int32_t)(a->op - b->op) < 0 : a->msg < b->msg;
}

/* ---- events ---- */

static void fail(struct rf_coll *c, int error, int channel, int status)
{
	if (c->error)
		return;
	c->error = error;
	c->failed_channel = channel;
	c->failed_status = status;
}

/* Handles the arrival of the oldest message under way. */
static void message_arrived(struct rf_coll *c, const struct rf_msg_event *event)
{
	struct rf_coll_cursor *at = &c->recv_done;
	struct rf_coll_span span;

	settle(c, at);
	if (!before(at, &c->recv_posted)) {
		fail(c, RF_COLL_E_CHANNEL, 1,
		     0); /* an event without an operation: the channel is broken */
		return;
	}
	span = span_of(c, at);
	if (event->len != span.len) {
		fail(c, RF_COLL_E_LENGTH, 1, 0);
		return;
	}
	at->msg++;
	settle(c, at);
}

static void message_acknowledged(struct rf_coll *c)
{
	struct rf_coll_cursor *at = &c->send_done;

	/* Its operation may be done, and its place taken by another. */
	if (c->cfg.results_suffice)
		return;
	settle(c, at);
	if (!before(at, &c->send_posted)) {
		fail(c, RF_COLL_E_CHANNEL, 0, 0);
		return;
	}
	c->packets_posted -= rf_packets_of(span_of(c, at).len, c->cfg.mtu);
	at->msg++;
	settle(c, at);
}

static int take_events(struct rf_coll *c)
{
	const struct rf_msg *channels[2] = {&c->cfg.to_next, &c->cfg.from_prev};
	struct rf_msg_event event;
	int n = 0;

	for (int i = 0; i < 2; i++) {
		while (!c->error && channels[i]->ops->poll(channels[i]->ctx, &event)) {
			n++;
			if (event.status != 0)
				fail(c, RF_COLL_E_CHANNEL, i, event.status);
			else if (event.sent)
				message_acknowledged(c);
			else
				message_arrived(c, &event);
		}
	}
	return n;
}

static int post_recvs(struct rf_coll *c)
{
	struct rf_coll_cursor *at = &c->recv_posted;
	const struct rf_msg *from = &c->cfg.from_prev;
	int n = 0;

	for (settle(c, at); at->op != c->started; settle(c, at)) {
		struct rf_coll_span span = span_of(c, at);
		char *to = op_of(c, at->op)->recv + span.offset;
		int result = from->ops->post_recv(from->ctx, 0, to, span.len);

		if (result != RF_MSG_OK) {
			if (result < 0)
				fail(c, RF_COLL_E_CHANNEL, 1, 0);
			break;
		}
		at->msg++;
		n++;
	}
	return n;
}

static int post_sends(struct rf_coll *c)
{
	struct rf_coll_cursor *at = &c->send_posted;
	const struct rf_msg *to = &c->cfg.to_next;
	uint32_t window = c->cfg.window_packets;
	int n = 0;

	for (settle(c, at); at->op != c->started; settle(c, at)) {
		struct rf_coll_span span = span_of(c, at);
		uint32_t packets = rf_packets_of(span.len, c->cfg.mtu);
		int result;

		/*
		 * The sum of what we send arrives only after we sent it. Because its buffer is
		 * posted before that, the sum never finds no buffer.
		 */
		if (!before(at, &c->recv_posted) ||
		    (window != 0 && c->packets_posted + packets > window))
			break;
		result = to->ops->post_send(to->ctx, 0, op_of(c, at->op)->send + span.offset,
					    span.len);
		if (result != RF_MSG_OK) {
			if (result < 0)
				fail(c, RF_COLL_E_CHANNEL, 0, 0);
			break;
		}
		c->packets_posted += packets;
		at->msg++;
		n++;
	}
	return n;
}

int rf_coll_progress(struct rf_coll *c)
{
	int n = 0;

	if (c->cfg.ranks == 1)
		return 0;
	if (!c->error)
		n += take_events(c);
	if (!c->error)
		n += post_recvs(c);
	if (!c->error)
		n += post_sends(c);
	settle(c, &c->recv_done);
	if (!c->cfg.results_suffice)
		settle(c, &c->send_done);
	return c->error ? c->error : n;
}

/* Is the cursor past this operation? After an error it may stand before it. */
static bool is_past(const struct rf_coll_cursor *at, uint32_t op)
{
	return (int32_t)(at->op - op) > 0;
}

int rf_coll_poll(struct rf_coll *c, struct rf_coll_done *done)
{
	bool finished;

	if (c->polled == c->started)
		return 0;
	finished = c->cfg.ranks == 1 ||
		   (is_past(&c->recv_done, c->polled) &&
		    (c->cfg.results_suffice || is_past(&c->send_done, c->polled)));
	if (!finished && !c->error)
		return 0;
	done->id = op_of(c, c->polled)->id;
	done->status = finished ? RF_COLL_OK : c->error;
	c->polled++;
	return 1;
}

uint32_t rf_coll_outstanding(const struct rf_coll *c)
{
	return c->started - c->polled;
}

void rf_coll_failure(const struct rf_coll *c, int *channel, int *status)
{
	*channel = c->failed_channel;
	*status = c->failed_status;
}
