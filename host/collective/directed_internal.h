/*
 * Internals of a directed group. directed_call.c starts a call; directed.c walks through its
 * messages.
 */
#ifndef RF_DIRECTED_INTERNAL_H
#define RF_DIRECTED_INTERNAL_H

#include "host/collective/call.h"

/* One call. */
struct rf_directed_op {
	struct rf_call c;
	uint64_t id;
	uint32_t unit; /* bytes of a piece: a packet or a long message */
	uint64_t last; /* number of the message after its last one */
};

/* A place in the order of messages. */
struct rf_directed_cursor {
	uint32_t call; /* running counter */
	uint32_t block;
	uint64_t at;    /* bytes of the block before it */
	uint32_t index; /* of its first packet */
};

/* A message as this rank sees it. */
struct rf_directed_message {
	uint32_t len; /* of what is given */
	uint32_t packets;
	uint32_t imm_sent, imm_expected;
	const char *from; /* NULL: this rank does not give */
	char *to;         /* NULL: it does not want */
};

struct rf_directed {
	struct rf_directed_cfg cfg;
	/* Running counters of calls: polled <= started, at most max_ops apart. */
	uint32_t started, polled;
	uint32_t call_mask;
	struct rf_directed_cursor recv_posted, recv_done, send_posted, send_done;
	uint64_t messages;  /* of all calls started */
	uint64_t acked;     /* messages */
	uint32_t in_flight; /* packets; counted if there is a window */
	uint64_t number;    /* of the next call */
	int error;
	struct rf_directed_failure failure;
	struct rf_directed_op calls[];
};

static inline struct rf_directed_op *rf_directed_op(struct rf_directed *g, uint32_t call)
{
	return &g->calls[call & g->call_mask];
}

#endif
