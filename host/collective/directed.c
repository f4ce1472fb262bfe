#include "host/collective/directed.h"

#include <stdlib.h>
#include "base/packets.h"
#include "host/collective/directed_internal.h"

#define OPS_MAX 1024u
#define OPS_DEFAULT 8u
#define MESSAGE_PACKETS_MAX 1024u

static int cfg_check(const struct rf_directed_cfg *c)
{
	if (c->ranks < 1 || c->ranks > RF_DIRECTED_RANKS_MAX || c->rank >= c->ranks ||
	    c->next >= c->ranks || c->prev >= c->ranks || c->max_ops > OPS_MAX ||
	    c->message_packets > MESSAGE_PACKETS_MAX)
		return RF_COLL_E_INVALID;
	if (c->ranks == 1)
		return RF_COLL_OK;
	if (c->mtu < 256 || c->mtu > 4096 || (c->mtu & (c->mtu - 1)) != 0 ||
	    !rf_arith_has(c->type, c->op) || !c->to_next.ops || !c->to_next.ops->post_imm ||
	    !c->from_prev.ops)
		return RF_COLL_E_INVALID;
	if (c->window_packets > 0 && (!c->await_sends || c->message_packets > c->window_packets))
		return RF_COLL_E_INVALID;
	/* In a ring the results do not prove that this rank's packets have arrived. */
	return c->next != c->rank && !c->await_sends ? RF_COLL_E_INVALID : RF_COLL_OK;
}

int rf_directed_create(const struct rf_directed_cfg *cfg, struct rf_directed **out)
{
	uint32_t ops = cfg->max_ops ? cfg->max_ops : OPS_DEFAULT, slots = 1;
	struct rf_directed *g;
	uint64_t *offsets;

	if (cfg_check(cfg) != RF_COLL_OK)
		return RF_COLL_E_INVALID;
	while (slots < ops)
		slots *= 2;
	g = calloc(1, sizeof(*g) + slots * sizeof(g->calls[0]) +
			      (size_t)slots * (cfg->ranks + 1) * sizeof(*offsets));
	if (!g)
		return RF_COLL_E_NO_MEMORY;
	g->cfg = *cfg;
	g->cfg.max_ops = ops;
	g->call_mask = slots - 1;
	g->number = cfg->first_call;
	g->recv_posted.index = g->recv_done.index = cfg->first_index;
	g->send_posted.index = g->send_done.index = cfg->first_index;
	offsets = (uint64_t *)(void *)&g->calls[slots];
	for (uint32_t k = 0; k < slots; k++)
		g->calls[k].c.offsets = offsets + (size_t)k * (cfg->ranks + 1);
	*out = g;
	return RF_COLL_OK;
}

void rf_directed_destroy(struct rf_directed *g)
{
	free(g);
}

/* ---- the order of messages ---- */

/* Moves to the first message at or after this place. */
static void settle(struct rf_directed *g, struct rf_directed_cursor *at)
{
	while (at->call != g->started) {
		const struct rf_directed_op *op = rf_directed_op(g, at->call);
		const struct rf_call *c = &op->c;

		if (at->block == c->blocks) {
			at->block = 0;
			at->at += op->unit;
		}
		if (at->at >= c->longest) {
			at->at = 0;
			at->block = 0;
			at->call++;
			continue;
		}
		if (at->at < rf_call_block(c, at->block) &&
		    rf_schedule_travels(c->kind, c->root, at->block))
			return;
		at->block++;
	}
}

static bool before(const struct rf_directed_cursor *a, const struct rf_directed_cursor *b)
{
	if (a->call != b->call)
		return (int32_t)(a->call - b->call) < 0;
	return a->at != b->at ? a->at < b->at : a->block < b->block;
}

static uint32_t bits(bool gives, bool wants)
{
	return (gives ? RF_IMM_GIVES : 0) | (wants ? RF_IMM_WANTS : 0);
}

/* The message at a place that is settled below g->started. */
static struct rf_directed_message message_at(struct rf_directed *g,
					     const struct rf_directed_cursor *at)
{
	const struct rf_directed_op *op = rf_directed_op(g, at->call);
	const struct rf_call *c = &op->c;
	const struct rf_directed_cfg *cfg = &g->cfg;
	uint64_t left = rf_call_block(c, at->block) - at->at;
	bool gives = rf_schedule_gives(c->kind, c->root, at->block, cfg->rank);
	bool wants = rf_schedule_wants(c->kind, c->root, at->block, cfg->rank);
	struct rf_directed_message m = {.len = left < op->unit ? (uint32_t)left : op->unit};
	uint32_t imm = c->immediate;

	if (c->kind == RF_SCHEDULE_BARRIER)
		m.len = 0;
	m.packets = rf_packets_of(m.len, cfg->mtu);
	imm |= (at->index + m.packets - 1) & RF_IMM_INDEX;
	/* In a ring a packet says what the next rank wants. */
	m.imm_sent = imm | bits(gives, rf_schedule_wants(c->kind, c->root, at->block, cfg->next));
	m.imm_expected =
		imm | bits(rf_schedule_gives(c->kind, c->root, at->block, cfg->prev), wants);
	if (gives)
		m.from = c->send + at->at +
			 (rf_schedule_sends_blocks(c->kind) ? c->offsets[at->block] : 0);
	if (wants)
		m.to = c->recv + at->at +
		       (rf_schedule_receives_blocks(c->kind) ? c->offsets[at->block] : 0);
	return m;
}

static void advance(struct rf_directed *g, struct rf_directed_cursor *at, uint32_t packets)
{
	at->index += packets;
	at->block++;
	settle(g, at);
}

/* ---- events ---- */

static void fail(struct rf_directed *g, int error, int channel, int status)
{
	if (g->error)
		return;
	g->error = error;
	g->failure.channel = channel;
	g->failure.status = status;
}

static void fail_at(struct rf_directed *g, int error, uint32_t index, uint32_t got, uint32_t want)
{
	fail(g, error, 1, 0);
	g->failure.index = index;
	g->failure.got = got;
	g->failure.want = want;
}

static void arrived(struct rf_directed *g, const struct rf_msg_event *event)
{
	struct rf_directed_cursor *at = &g->recv_done;
	struct rf_directed_message m;
	uint32_t len;

	settle(g, at);
	if (!before(at, &g->recv_posted)) {
		fail(g, RF_COLL_E_CHANNEL, 1, 0);
		return;
	}
	m = message_at(g, at);
	len = m.to ? m.len : 0;
	/* The immediate first: another length follows from another call. */
	if (!event->has_imm || event->imm != m.imm_expected)
		fail_at(g, RF_COLL_E_IMMEDIATE, at->index, event->has_imm ? event->imm : 0,
			m.imm_expected);
	else if (event->len != len)
		fail_at(g, RF_COLL_E_LENGTH, at->index, event->len, len);
	else
		advance(g, at, m.packets);
}

static void acknowledged(struct rf_directed *g)
{
	struct rf_directed_cursor *at = &g->send_done;
	uint32_t packets;

	if (g->cfg.window_packets > 0) {
		settle(g, at);
		if (!before(at, &g->send_posted)) {
			fail(g, RF_COLL_E_CHANNEL, 0, 0);
			return;
		}
		packets = message_at(g, at).packets;
		g->in_flight -= packets;
		advance(g, at, packets);
	}
	g->acked++;
}

static int take_events(struct rf_directed *g)
{
	const struct rf_msg *channels[2] = {&g->cfg.to_next, &g->cfg.from_prev};
	struct rf_msg_event event;
	int n = 0;

	for (int i = 0; i < 2; i++) {
		while (!g->error && channels[i]->ops->poll(channels[i]->ctx, &event)) {
			n++;
			if (event.status != 0)
				fail(g, RF_COLL_E_CHANNEL, i, event.status);
			else if (event.sent)
				acknowledged(g);
			else
				arrived(g, &event);
		}
	}
	return n;
}

static int post_recvs(struct rf_directed *g)
{
	struct rf_directed_cursor *at = &g->recv_posted;
	const struct rf_msg *from = &g->cfg.from_prev;
	int n = 0;

	for (settle(g, at); at->call != g->started; n++) {
		struct rf_directed_message m = message_at(g, at);
		int result = from->ops->post_recv(from->ctx, 0, m.to, m.to ? m.len : 0);

		if (result != RF_MSG_OK) {
			if (result < 0)
				fail(g, RF_COLL_E_CHANNEL, 1, 0);
			break;
		}
		advance(g, at, m.packets);
	}
	return n;
}

/* A packet's result can come only after the packet: its receive is posted before. */
static int post_sends(struct rf_directed *g)
{
	struct rf_directed_cursor *at = &g->send_posted;
	const struct rf_msg *to = &g->cfg.to_next;
	uint32_t window = g->cfg.window_packets;
	int n = 0;

	for (settle(g, at); at->call != g->started && before(at, &g->recv_posted); n++) {
		struct rf_directed_message m = message_at(g, at);
		int result;

		if (window > 0 && g->in_flight + m.packets > window)
			break;
		result = to->ops->post_imm(to->ctx, 0, m.from, m.from ? m.len : 0, m.imm_sent);
		if (result != RF_MSG_OK) {
			if (result < 0)
				fail(g, RF_COLL_E_CHANNEL, 0, 0);
			break;
		}
		g->in_flight += window > 0 ? m.packets : 0;
		advance(g, at, m.packets);
	}
	return n;
}

int rf_directed_progress(struct rf_directed *g)
{
	int n = 0;

	if (g->cfg.ranks > 1 && !g->error)
		n += take_events(g);
	if (g->cfg.ranks > 1 && !g->error)
		n += post_recvs(g);
	if (g->cfg.ranks > 1 && !g->error)
		n += post_sends(g);
	settle(g, &g->recv_done); /* past calls without messages */
	if (g->cfg.window_packets > 0)
		settle(g, &g->send_done);
	return g->error ? g->error : n;
}

int rf_directed_poll(struct rf_directed *g, struct rf_coll_done *done)
{
	const struct rf_directed_op *c = rf_directed_op(g, g->polled);
	bool finished;

	if (g->polled == g->started)
		return 0;
	finished = (int32_t)(g->recv_done.call - g->polled) > 0 &&
		   (!g->cfg.await_sends || g->acked >= c->last);
	if (!finished && !g->error)
		return 0;
	done->id = c->id;
	done->status = finished ? RF_COLL_OK : g->error;
	g->polled++;
	return 1;
}

uint32_t rf_directed_outstanding(const struct rf_directed *g)
{
	return g->started - g->polled;
}

bool rf_directed_waiting(const struct rf_directed *g, struct rf_directed_waiting *w)
{
	uint32_t left = rf_directed_outstanding(g);

	if (left == 0)
		return false;
	w->number = g->number - left;
	w->immediate = g->calls[g->polled & g->call_mask].c.immediate;
	w->index = g->recv_done.index;
	return true;
}

void rf_directed_failure(const struct rf_directed *g, struct rf_directed_failure *failure)
{
	*failure = g->failure;
}
