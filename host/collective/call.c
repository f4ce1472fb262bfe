/* A new call: its arguments, blocks and immediate. */
#include "host/collective/call.h"

#include <string.h>

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

static struct buffers buffers_of(const struct rf_call *c, uint32_t rank)
{
	uint64_t all = c->offsets[c->blocks], mine;
	uint32_t own = c->blocks > 1 ? rank : 0;
	bool root = rank == c->root;
	struct buffers b = {0};

	mine = rf_call_block(c, own);
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

static int buffers_check(const struct rf_call *c, const struct buffers *b, size_t size)
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
static void copy_own(const struct rf_call *c, uint32_t rank, uint32_t ranks,
		     const struct buffers *b)
{
	uint64_t len = rf_call_block(c, c->blocks > 1 ? rank : 0);
	bool own =
		ranks == 1 || c->kind == RF_SCHEDULE_ALL_GATHER ||
		(rank == c->root && rf_schedule_has_root(c->kind) && c->kind != RF_SCHEDULE_REDUCE);

	if (own && len > 0 && b->send_len > 0 && b->recv_len > 0)
		memmove(c->recv + b->recv_own, c->send + b->send_own, len);
}

/* Where the blocks begin. Returns 0, or -1 if there are too many bytes. */
static int lay_out(struct rf_call *c, uint32_t ranks, const struct rf_directed_call *call)
{
	uint64_t size = rf_arith_size(call->type), total = 0;
	bool v = call->counts && rf_schedule_has_blocks(call->kind);

	c->blocks = rf_schedule_has_blocks(call->kind) ? ranks : 1;
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

static uint32_t immediate_of(uint32_t ranks, uint64_t number, const struct rf_directed_call *call)
{
	bool v = call->counts && rf_schedule_has_blocks(call->kind);
	bool reduces = rf_schedule_reduces(call->kind), barrier = call->kind == RF_SCHEDULE_BARRIER;
	uint64_t count = barrier ? 0 : call->count;
	struct rf_schedule_call s = {
		.number = number,
		.root = rf_schedule_has_root(call->kind) ? call->root : 0,
		.counts = v ? call->counts : &count,
		.counts_len = v ? ranks : 1,
		.type = barrier ? RF_ARITH_FP32 : call->type,
		.op = reduces   ? call->op
		      : barrier ? RF_ARITH_SUM
				: RF_ARITH_COPY,
		.form = call->form,
	};

	return rf_schedule_immediate(call->kind, &s);
}

static int call_check(uint32_t ranks, const struct rf_directed_call *call)
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
	    (rf_schedule_has_root(call->kind) && call->root >= ranks))
		return RF_COLL_E_INVALID;
	return RF_COLL_OK;
}

int rf_call_begin(struct rf_call *c, uint32_t rank, uint32_t ranks, uint64_t number,
		  const struct rf_directed_call *call)
{
	int error = call_check(ranks, call);
	struct buffers b;

	if (error)
		return error;
	c->kind = call->kind;
	c->type = call->type;
	c->op = call->op;
	c->root = rf_schedule_has_root(call->kind) ? call->root : 0;
	c->send = call->send;
	c->recv = call->recv;
	if (lay_out(c, ranks, call) != 0)
		return RF_COLL_E_INVALID;
	b = buffers_of(c, rank);
	error = buffers_check(c, &b, rf_arith_size(call->type));
	if (error)
		return error;
	copy_own(c, rank, ranks, &b);
	c->immediate = immediate_of(ranks, number, call);
	return RF_COLL_OK;
}
