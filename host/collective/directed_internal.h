/*
 * Internals of a directed group. directed_call.c checks a call and lays out its blocks; directed.c
 * walks through its messages.
 */
#ifndef RF_DIRECTED_INTERNAL_H
#define RF_DIRECTED_INTERNAL_H

#include "host/collective/directed.h"

/* One call. */
struct rf_directed_op {
	uint64_t id;
	enum rf_collective_kind kind;
	uint32_t root;
	uint32_t immediate; /* without wants, gives and index */
	uint32_t blocks;    /* 1, or one for each rank */
	uint32_t unit;      /* bytes of a piece: a packet or a long message */
	uint64_t longest;   /* bytes of the longest block */
	uint64_t *offsets;  /* where each block begins, and where the last one ends: bytes */
	const char *send;
	char *recv;
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

/* Bytes of a block. */
static inline uint64_t rf_directed_block(const struct rf_directed_op *c, uint32_t block)
{
	return c->offsets[block + 1] - c->offsets[block];
}

#endif
