/* A host's program: its steps, and the start of its all-reduces. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/fabric/host.h"

static unsigned free_id(const struct rf_host *h)
{
	unsigned id = 0;

	while (h->op_of[id] != RF_NO_OP)
		id++;
	return id;
}

/* The call of an operation, as the member makes it. */
static int call_member(struct rf_host *h, unsigned id, const struct rf_host_op *op)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;
	struct rf_directed_call call = {.kind = op->call.kind,
					.type = op->call.type,
					.op = op->call.op,
					.root = op->call.root,
					.count = op->call.count,
					.send = op->send,
					.recv = op->recv};

	if (!rf_fabric_is_directed(cfg, h->rank))
		return rf_member_call(h->member, id, op->send, op->recv, (size_t)op->call.count,
				      rf_host_ns(h));
	if (rf_schedule_has_blocks(op->call.kind))
		call.count /= rf_fabric_size(cfg);
	return rf_member_collective(h->member, id, &call, rf_host_ns(h));
}

/* True if it was started, or failed permanently. */
static bool start_call(struct rf_host *h, const struct rf_fabric_call *call)
{
	struct rf_host_op op = {.call = *call, .posted_ns = rf_host_ns(h)};
	bool in_place = h->f->cfg.in_place && call->kind == RF_SCHEDULE_ALL_REDUCE;
	unsigned n = h->pub.posted;
	size_t bytes = (size_t)call->count * rf_arith_size(call->type);
	unsigned id;
	int err;

	if (rf_host_calls(h) >= h->f->cfg.max_ops)
		return false;
	if (n == h->op_room) {
		size_t room = h->op_room ? 2 * h->op_room : 16;
		struct rf_host_op *ops = realloc(h->ops, room * sizeof(*ops));

		if (!ops)
			goto no_memory;
		h->ops = ops;
		h->op_room = room;
	}
	op.recv = malloc(bytes ? bytes : 1);
	op.send = in_place ? op.recv : malloc(bytes ? bytes : 1);
	h->ops[n] = op;
	if (!op.recv || !op.send) {
		free(op.recv);
		if (op.send != op.recv)
			free(op.send);
		goto no_memory;
	}
	rf_check_blank(op.recv, bytes);
	rf_check_fill(h->f->check, h->rank, rf_host_op_key(h, n), call, op.send);
	h->pub.posted++;
	if (h->pub.posted == 1)
		h->pub.first_post_ns = rf_host_ns(h);
	if (h->fallback) {
		void **copy = &h->copies[rf_fallback_turn(h->fallback)];
		void *more = realloc(*copy, bytes ? bytes : 1);

		if (!more)
			goto no_memory;
		*copy = more;
		rf_fallback_keep(h->fallback, more,
				 &(struct rf_directed_call){.kind = RF_SCHEDULE_ALL_REDUCE,
							    .type = call->type,
							    .op = call->op,
							    .count = call->count,
							    .send = op.send,
							    .recv = op.recv});
	}
	if (rf_fallback_takes(h->fallback, rf_member_status(h->member))) {
		rf_host_resume(h, n);
		return true;
	}
	id = free_id(h);
	h->op_of[id] = n;
	err = call_member(h, id, &op);
	if (err)
		rf_host_fail(h, err, "the member refuses the call");
	return true;
no_memory:
	rf_fabric_fail(h->f, "no memory for a vector");
	return true;
}

/* ---- program ---- */

static unsigned field(uint64_t arg, unsigned lsb, unsigned bits)
{
	return (unsigned)(arg >> lsb) & ((1u << bits) - 1);
}

static struct rf_fabric_call call_of(const struct rf_host *h, const struct rf_step *s)
{
	const struct rf_fabric_cfg *cfg = &h->f->cfg;

	if (s->kind == RF_STEP_ALLREDUCE)
		return (struct rf_fabric_call){.kind = RF_SCHEDULE_ALL_REDUCE,
					       .type = cfg->type,
					       .op = cfg->op,
					       .count = s->arg};
	return (struct rf_fabric_call){
		.kind = (enum rf_collective_kind)field(s->arg, RF_COLLECTIVE_KIND_LSB, 4),
		.type = (enum rf_arith_type)field(s->arg, RF_COLLECTIVE_TYPE_LSB, 4),
		.op = (enum rf_arith_op)field(s->arg, RF_COLLECTIVE_OP_LSB, 4),
		.root = field(s->arg, RF_COLLECTIVE_ROOT_LSB, 12),
		.count = s->arg & ((UINT64_C(1) << RF_COLLECTIVE_OP_LSB) - 1)};
}

static bool leave(struct rf_host *h)
{
	if (rf_host_calls(h) != 0)
		return false;
	h->pub.state = RF_RANK_LEAVING;
	return rf_host_leave(h);
}

/* Runs one step; false if it has to wait. */
bool rf_host_next_step(struct rf_host *h)
{
	const struct rf_step *s;
	uint64_t now = rf_host_ns(h);
	struct rf_fabric_call call;

	if (rf_host_ended(h) || h->at == h->step_count)
		return false;
	s = &h->steps[h->at];
	switch (s->kind) {
	case RF_STEP_JOIN:
		if (now < rf_host_join_at(h))
			return false;
		if (h->pub.state == RF_RANK_STARTING) {
			rf_host_join(h);
			rf_host_look_at_member(h);
		}
		if (h->pub.state != RF_RANK_RUNNING)
			return false;
		break;
	case RF_STEP_ALLREDUCE:
	case RF_STEP_COLLECTIVE:
		call = call_of(h, s);
		if (!start_call(h, &call))
			return false;
		break;
	case RF_STEP_WAIT:
		if (rf_host_calls(h) != 0)
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

/* All steps taken and no operation outstanding. */
void rf_host_look_at_end(struct rf_host *h)
{
	if (rf_host_ended(h) || h->at < h->step_count)
		return;
	if (h->member && rf_host_calls(h) != 0)
		return;
	h->pub.state = RF_RANK_DONE;
	rf_host_set_active(h, false);
}
