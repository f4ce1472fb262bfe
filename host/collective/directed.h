/*
 * All collectives of a directed group (docs/box.md) as a pure state machine: no clock, no thread,
 * and no allocation except in rf_directed_create(). One group serves all collectives, types and
 * operations of a communicator. Details: docs/collective.md.
 *
 *	rf_directed_start(group, id, &call);
 *	for (;;) {
 *		drive the transport;
 *		rf_directed_progress(group);
 *		while (rf_directed_poll(group, &done)) ...
 *	}
 *
 * All ranks of a group must start the same calls in the same order. Errors: enum rf_coll_error.
 */
#ifndef RF_DIRECTED_H
#define RF_DIRECTED_H

#include "host/collective/collective.h"
#include "host/collective/schedule.h"

#define RF_DIRECTED_RANKS_MAX 128u

struct rf_directed_cfg {
	uint32_t rank;
	uint32_t ranks; /* 1 .. RF_DIRECTED_RANKS_MAX; 1: calls copy and use no channel */
	/*
	 * The rank that gets the results of this rank's packets, and the one whose packets' results
	 * come here. On a mirror connection both are this rank; in a ring the neighbours.
	 */
	uint32_t next, prev;
	uint32_t mtu; /* path MTU, bytes */
	/* Type and operation of the group's JOIN: those of packets without immediate. */
	enum rf_arith_type type;
	enum rf_arith_op op;
	/*
	 * Packets of a message of an all-reduce with the JOIN's type and operation: 0 or 1, one
	 * (our own transport); else long messages that LAST WITH IMMEDIATE closes (a NIC: 64). All
	 * other messages are single packets.
	 */
	uint32_t message_packets;
	/*
	 * Largest number of packets in posted messages that are not acknowledged; 0: the channel
	 * keeps the window itself. A NIC does not: S/2. Needs await_sends.
	 */
	uint32_t window_packets;
	/*
	 * A call is done only when its sends are acknowledged, too. Needed in a ring, and over
	 * verbs, where a NIC may read a buffer until the send completes. Otherwise the results
	 * suffice: on a mirror connection they prove that this rank's packets have arrived.
	 */
	bool await_sends;
	uint32_t max_ops;     /* most calls outstanding, 1 .. 1024; 0: 8 */
	uint32_t first_index; /* index of the first packet: how many the connection has carried */
	uint64_t first_call;  /* number of the first call */
	/* With post_imm. On a mirror connection both are the same channel. */
	struct rf_msg to_next;
	struct rf_msg from_prev;
};

struct rf_directed_call {
	enum rf_collective_kind kind;
	enum rf_arith_type type;
	enum rf_arith_op op; /* all-reduce, reduce, reduce-scatter; others ignore it */
	uint32_t root;       /* reduce, broadcast, gather, scatter */
	/* Elements of the vector, or of each rank's block. */
	uint64_t count;
	/* v-forms: elements of each rank's block, and count is ignored. NULL: not a v-form. Read
	 * only during rf_directed_start(). */
	const uint64_t *counts;
	/*
	 * What this rank gives, and where its results go; a buffer that the rank does not need is
	 * ignored. With a block for each rank: send holds all blocks, in the order of the ranks, in
	 * reduce-scatter and (root) scatter, and one in all-gather and gather; recv holds all in
	 * all-gather and (root) gather, and one in reduce-scatter and scatter. A buffer of one
	 * block may be this rank's block in the other one; otherwise they must be equal
	 * (all-reduce, reduce, broadcast) or not overlap. A rank's own block is copied by
	 * rf_directed_start().
	 */
	const void *send;
	void *recv;
	/*
	 * What else the ranks must have equal, as a number of the caller's that enters the hash.
	 * 0: nothing.
	 */
	uint64_t form;
};

struct rf_directed;

/* Makes one allocation. *out is written on success only. RF_COLL_E_INVALID, RF_COLL_E_NO_MEMORY. */
int rf_directed_create(const struct rf_directed_cfg *cfg, struct rf_directed **out);
/* NULL is allowed. The channels must not touch the buffers any more: end the queue pairs first. */
void rf_directed_destroy(struct rf_directed *group);

/*
 * Starts a call. Both buffers must stay valid until it is done. RF_COLL_AGAIN: too many are
 * outstanding. RF_COLL_E_PRODUCT: the operation is the product. A count of 0 is allowed.
 */
int rf_directed_start(struct rf_directed *group, uint64_t id, const struct rf_directed_call *call);

/*
 * Processes the channels' events and posts what can be posted. Returns how many things it did (0:
 * wait for the transport), or the error that ended the group. Then every call is done with that
 * status.
 */
int rf_directed_progress(struct rf_directed *group);

/* Returns 1 and the oldest finished call, or 0. */
int rf_directed_poll(struct rf_directed *group, struct rf_coll_done *done);

/* Calls started and not yet polled. */
uint32_t rf_directed_outstanding(const struct rf_directed *group);

/* The oldest call that is not finished: what it waits for. */
struct rf_directed_waiting {
	uint64_t number;    /* of the call: cfg.first_call is the first one */
	uint32_t immediate; /* of its next message: collective, type, operation */
	uint32_t index;     /* of the next result */
};

/* Returns false if there is none. */
bool rf_directed_waiting(const struct rf_directed *group, struct rf_directed_waiting *waiting);

/* What an error was about. */
struct rf_directed_failure {
	int channel; /* 0: to the next rank, 1: from the previous one */
	int status;  /* RF_COLL_E_CHANNEL: the channel's */
	/* RF_COLL_E_LENGTH, RF_COLL_E_IMMEDIATE: at which index, what came, what was expected. */
	uint32_t index;
	uint32_t got, want;
};

void rf_directed_failure(const struct rf_directed *group, struct rf_directed_failure *failure);

#endif
