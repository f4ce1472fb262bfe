/*
 * Internals of an all-reduce group. plan.c says which bytes are sent and received in which order;
 * collective.c walks through that order.
 */
#ifndef RF_COLLECTIVE_INTERNAL_H
#define RF_COLLECTIVE_INTERNAL_H

#include <stdbool.h>

#include "host/collective/collective.h"

struct rf_coll_op {
	uint64_t id;
	const char *send;
	char *recv;
	uint64_t bytes;
	uint64_t chunk_bytes; /* size of every chunk except the last; box: the whole vector */
};

/*
 * A place in the order of messages: operation (running counter), step, message within the step.
 * Both ends of a channel use the same order, so messages carry no header.
 */
struct rf_coll_cursor {
	uint32_t op;
	uint32_t step;
	uint64_t msg;
};

/* A run of bytes of the vector. */
struct rf_coll_span {
	uint64_t offset;
	uint32_t len;
};

struct rf_coll {
	struct rf_coll_cfg cfg;
	uint32_t steps; /* of one operation */
	/* Running counters of operations: polled <= finished <= started, at most max_ops apart. */
	uint32_t started;
	uint32_t polled;
	struct rf_coll_cursor recv_posted; /* next receive to post */
	struct rf_coll_cursor recv_done;   /* next message to arrive */
	struct rf_coll_cursor send_posted;
	struct rf_coll_cursor send_done;
	uint64_t scratch_slots;
	uint64_t scratch_posted; /* running counters of receives into scratch */
	uint64_t scratch_done;
	uint32_t packets_posted; /* in messages that are not acknowledged yet */
	int error;               /* the error that ended the group */
	int failed_channel;
	int failed_status;
	uint32_t op_mask; /* number of slots minus 1: a power of two minus 1, so that the counters
			     may wrap */
	struct rf_coll_op ops[];
};

static inline struct rf_coll_op *rf_coll_op(struct rf_coll *c, uint32_t op)
{
	return &c->ops[op & c->op_mask];
}

/* plan.c */

void rf_plan_start(const struct rf_coll *c, struct rf_coll_op *op);

/* Bytes of the message at a cursor that is settled below c->started. */
struct rf_coll_span rf_plan_send_span(struct rf_coll *c, const struct rf_coll_cursor *at);
struct rf_coll_span rf_plan_recv_span(struct rf_coll *c, const struct rf_coll_cursor *at);

/* Skips steps that have no messages, up to c->started. */
void rf_plan_settle_send(struct rf_coll *c, struct rf_coll_cursor *at);
void rf_plan_settle_recv(struct rf_coll *c, struct rf_coll_cursor *at);

/* Reduce-scatter: received data is added and so goes to scratch; otherwise it is final. */
bool rf_plan_is_partial(const struct rf_coll *c, uint32_t step);

/* May the message at this (settled) cursor be sent yet? */
bool rf_plan_send_allowed(struct rf_coll *c, const struct rf_coll_cursor *at);

/* a < b in the order of messages. */
bool rf_plan_before(const struct rf_coll_cursor *a, const struct rf_coll_cursor *b);

#endif
