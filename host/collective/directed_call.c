/* The start of a call of a directed group. */
#include "host/collective/directed_internal.h"

static uint64_t messages_of(const struct rf_directed_op *op)
{
	const struct rf_call *c = &op->c;
	uint64_t n = 0;

	for (uint32_t k = 0; k < c->blocks; k++) {
		if (rf_schedule_travels(c->kind, c->root, k))
			n += (rf_call_block(c, k) + op->unit - 1) / op->unit;
	}
	return n;
}

int rf_directed_start(struct rf_directed *g, uint64_t id, const struct rf_directed_call *call)
{
	struct rf_directed_op *op = rf_directed_op(g, g->started);
	bool is_long, full = g->started - g->polled == g->cfg.max_ops;
	int error;

	if (g->error)
		return g->error;
	if (full)
		return RF_COLL_AGAIN;
	error = rf_call_begin(&op->c, g->cfg.rank, g->cfg.ranks, g->number, call);
	if (error)
		return error;
	op->id = id;
	is_long = call->kind == RF_SCHEDULE_ALL_REDUCE && g->cfg.message_packets > 1 &&
		  call->type == g->cfg.type && call->op == g->cfg.op;
	op->unit = is_long ? g->cfg.message_packets * g->cfg.mtu : g->cfg.mtu;
	if (g->cfg.ranks == 1)
		op->c.longest = 0;
	else
		g->messages += messages_of(op);
	op->last = g->messages;
	g->number++;
	g->started++;
	return RF_COLL_OK;
}
