/* A new call of a directed group: its arguments, blocks and immediate. */
#include <string.h>

#include "host/collective/directed_internal.h"

static bool overlaps(const char *a, uint64_t a_len, const char *b, uint64_t b_len)
{
	return a_len > 0 && b_len > 0 && (uintptr_t)a < (uintptr_t)b + b_len &&
	       (uintptr_t)b < (uintptr_t)a + a_len;
}

/* The buffers of a call as this rank uses them. */
struct buffers {
	uint64_t send_len, recv_len; /* 0: not used */
	uint64_t send_own, recv_own; /* where this rank's block is in them */
};

static struct buffers buffers_of(const struct rf_directed *g, const struct rf_directed_op *c)
{
	uint64_t all = c->offsets[c->blocks], mine;
	uint32_t own = c->blocks > 1 ? g->cfg.rank : 0;
	bool root = g->cfg.rank == c->root;
	struct buffers b = {0};

	mine = rf_directed_block(c, own);
	if (rf_schedule_sends_blocks(c->kind))
		b.send_own = c->offsets[own];
	if (rf_schedule_receives_blocks(c->kind))
		b.recv_own = c->offsets[own];
	b.send_len = rf_schedule_sends_blocks(c->kind) ? all : mine;
	b.recv_len = rf_schedule_receives_blocks(c->kind) ? all : mine;
	if (!root && (c->kind == RF_SCHEDULE_BROADCAST || c->kind == RF_SCHEDULE_SCATTER))
		b.send_len = 0;
	if (!root && (c->kind == RF_SCHEDULE_REDUCE || c->kind == RF_SCHEDULE_GATHER))
		b.recv_len = 0;
	if (root && c->kind == RF_SCHEDULE_BROADCAST && !c->recv)
		b.recv_len = 0;
	if (c->kind == RF_SCHEDULE_BARRIER)
		b.send_len = b.recv_len = 0;
	return b;
}

static int buffers_check(const struct rf_directed_op *c, const struct buffers *b, size_t size)
{
	if ((b->send_len > 0 && !c->send) || (b->recv_len > 0 && !c->recv))
		return RF_COLL_E_INVALID;
	if ((b->send_len > 0 && (uintptr_t)c->send % size != 0) ||
	    (b->recv_len > 0 && (uintptr_t)c->recv % size != 0))
		return RF_COLL_E_ALIGNMENT;
	if (b->send_len == 0 || b->recv_len == 0 ||
	    (uintptr_t)c->send + b->send_own == (uintptr_t)c->recv + b->recv_own)
		return RF_COLL_OK;
	return overlaps(c->send, b->send_len, c->recv, b->recv_len) ? RF_COLL_E_OVERLAP
								    : RF_COLL_OK;
}

/* What needs no network: the rank's own block; with one rank, everything. */
static void copy_own(const struct rf_directed *g, const struct rf_directed_op *c,
		     const struct buffers *b)
{
	uint64_t len = rf_directed_block(c, c->blocks > 1 ? g->cfg.rank : 0);
	bool own = g->cfg.ranks == 1 || c->kind == RF_SCHEDULE_ALL_GATHER ||
		   (g->cfg.rank == c->root && rf_schedule_has_root(c->kind) &&
		    c->kind != RF_SCHEDULE_REDUCE);

	if (own && len > 0 && b->send_len > 0 && b->recv_len > 0)
		memmove(c->recv + b->recv_own, c->send + b->send_own, len);
}

/* Where the blocks begin. Returns 0, or -1 if there are too many bytes. */
static int lay_out(const struct rf_directed *g, const struct rf_directed_call *call,
		   struct rf_directed_op *c)
{
	uint64_t size = rf_arith_size(call->type), total = 0;
	bool v = call->counts && rf_schedule_has_blocks(call->kind);

	c->blocks = rf_schedule_has_blocks(call->kind) ? g->cfg.ranks : 1;
	c->longest = 0;
	for (uint32_t k = 0; k < c->blocks; k++) {
		uint64_t count = v ? call->counts[k] : call->count;

		if (count > ((SIZE_MAX >> 1) - total) / size)
			return -1;
		c->offsets[k] = total;
		total += count * size;
		if (count * size > c->longest)
			c->longest = count * size;
	}
	c->offsets[c->blocks] = total;
	if (call->kind == RF_SCHEDULE_BARRIER)
		c->offsets[1] = c->longest = 1; /* one message, of no bytes */
	return 0;
}

static uint64_t messages_of(const struct rf_directed_op *c)
{
	uint64_t n = 0;

	for (uint32_t k = 0; k < c->blocks; k++) {
		if (rf_schedule_travels(c->kind, c->root, k))
			n += (rf_directed_block(c, k) + c->unit - 1) / c->unit;
	}
	return n;
}

static uint32_t immediate_of(const struct rf_directed *g, const struct rf_directed_call *call)
{
	bool v = call->counts && rf_schedule_has_blocks(call->kind);
	bool reduces = rf_schedule_reduces(call->kind), barrier = call->kind == RF_SCHEDULE_BARRIER;
	uint64_t count = barrier ? 0 : call->count;
	struct rf_schedule_call s = {
		.number = g->number,
		.root = rf_schedule_has_root(call->kind) ? call->root : 0,
		.counts = v ? call->counts : &count,
		.counts_len = v ? g->cfg.ranks : 1,
		.type = barrier ? RF_ARITH_FP32 : call->type,
		.op = reduces   ? call->op
		      : barrier ? RF_ARITH_SUM
				: RF_ARITH_COPY,
	};

	return rf_schedule_immediate(call->kind, &s);
}

static int call_check(const struct rf_directed *g, const struct rf_directed_call *call)
{
	if (call->kind < RF_SCHEDULE_ALL_REDUCE || call->kind > RF_SCHEDULE_BARRIER)
		return RF_COLL_E_INVALID;
	if (rf_schedule_reduces(call->kind)) {
		if (call->op == RF_ARITH_PRODUCT)
			return RF_COLL_E_PRODUCT;
		if (!rf_arith_has(call->type, call->op) || call->op == RF_ARITH_COPY)
			return RF_COLL_E_INVALID;
	}
	if (rf_arith_size(call->type) == 0 ||
	    (rf_schedule_has_root(call->kind) && call->root >= g->cfg.ranks))
		return RF_COLL_E_INVALID;
	return RF_COLL_OK;
}

int rf_directed_start(struct rf_directed *g, uint64_t id, const struct rf_directed_call *call)
{
	struct rf_directed_op *c = rf_directed_op(g, g->started);
	int error = call_check(g, call);
	struct buffers b;
	bool is_long;

	if (g->error)
		return g->error;
	if (error)
		return error;
	if (g->started - g->polled == g->cfg.max_ops)
		return RF_COLL_AGAIN;
	c->id = id;
	c->kind = call->kind;
	c->root = rf_schedule_has_root(call->kind) ? call->root : 0;
	c->send = call->send;
	c->recv = call->recv;
	is_long = call->kind == RF_SCHEDULE_ALL_REDUCE && g->cfg.message_packets > 1 &&
		  call->type == g->cfg.type && call->op == g->cfg.op;
	c->unit = is_long ? g->cfg.message_packets * g->cfg.mtu : g->cfg.mtu;
	if (lay_out(g, call, c) != 0)
		return RF_COLL_E_INVALID;
	b = buffers_of(g, c);
	error = buffers_check(c, &b, rf_arith_size(call->type));
	if (error)
		return error;
	copy_own(g, c, &b);
	if (g->cfg.ranks == 1)
		c->longest = 0;
	else
		g->messages += messages_of(c);
	c->last = g->messages;
	c->immediate = immediate_of(g, call);
	g->number++;
	g->started++;
	return RF_COLL_OK;
}
