/* The state of an all-reduce group; a test sets its counters. */
#ifndef RF_COLLECTIVE_INTERNAL_H
#define RF_COLLECTIVE_INTERNAL_H

#include "host/collective/collective.h"

struct rf_coll_op {
	uint64_t id;
	const char *send;
	char *recv;
	uint64_t bytes;
};

/*
 * A place in the order of messages: operation (running counter), message. Both ends of a channel
 * use the same order, so messages carry no header.
 */
struct rf_coll_cursor {
	uint32_t op;
	uint64_t msg;
};

/* A run of bytes of the vector. */
struct rf_coll_span {
	uint64_t offset;
	uint32_t len;
};

struct rf_coll {
	struct rf_coll_cfg cfg;
	/* Running counters of operations: polled <= finished <= started, at most max_ops apart. */
	uint32_t started;
	uint32_t polled;
	struct rf_coll_cursor recv_posted; /* next receive to post */
	struct rf_coll_cursor recv_done;   /* next message to arrive */
	struct rf_coll_cursor send_posted;
	struct rf_coll_cursor send_done;
	uint32_t packets_posted; /* in messages that are not acknowledged yet */
	int error;               /* the error that ended the group */
	int failed_channel;
	int failed_status;
	uint32_t op_mask; /* number of slots minus 1: a power of two minus 1, so that the counters
			     may wrap */
	struct rf_coll_op ops[];
};

#endif
