/*
 * Internals of the collectives among hosts. hosts_plan.c says what each rank does in which order;
 * hosts.c walks through that order.
 */
#ifndef RF_HOSTS_INTERNAL_H
#define RF_HOSTS_INTERNAL_H

#include "host/collective/call.h"
#include "host/collective/hosts.h"

/* Messages of a part. Two parts of different steps fit into the slots. */
#define RF_HOSTS_PART 8u

/* A connection by number: 2k for next[k], 2k + 1 for prev[k]. */
#define RF_HOSTS_CONNS (2 * RF_HOSTS_REACH)
#define RF_HOSTS_NONE (-1)

/* The schedules. */
enum rf_hosts_way {
	RF_WAY_DOUBLING,    /* all-reduce, small */
	RF_WAY_RING,        /* all-reduce */
	RF_WAY_TREE_REDUCE, /* small */
	RF_WAY_CHAIN_REDUCE,
	RF_WAY_TREE_BROADCAST, /* small */
	RF_WAY_CHAIN_BROADCAST,
	RF_WAY_RING_SCATTER, /* reduce-scatter */
	RF_WAY_RING_GATHER,  /* all-gather */
	RF_WAY_TREE_GATHER,
	RF_WAY_TREE_SCATTER,
	RF_WAY_BARRIER,
};

enum rf_hosts_place {
	RF_PLACE_SEND, /* the caller's send buffer */
	RF_PLACE_RECV, /* its receive buffer */
	RF_PLACE_SLOT, /* scratch of one message */
};

enum rf_hosts_add {
	RF_ADD_NOTHING,
	RF_ADD_OWN,      /* this rank's operand */
	RF_ADD_PREVIOUS, /* the slot of the same message of the step before */
};

/*
 * A step: bytes that pass through this rank, cut into parts and messages. Each message comes from a
 * connection (or is this rank's own), something may be added to it, and it goes to a connection (or
 * stays).
 */
struct rf_hosts_step {
	uint64_t len;
	uint64_t send_at, recv_at; /* where these bytes are in the caller's buffers */
	int from, to;              /* connections, or NONE */
	bool slot;                 /* it comes into a slot; from NONE: a copy of this rank's own */
	enum rf_hosts_add add;
	enum rf_hosts_place place; /* where it is then, and is sent from */
	bool kept;                 /* the next step adds its slot to its own */
};

struct rf_hosts_op {
	struct rf_call c;
	uint64_t id;
	enum rf_hosts_way way;
	uint32_t steps;
	uint64_t chunk; /* RING: bytes of every chunk except the last ones */
	/*
	 * The bytes of each step are cut into this many parts, of which the first ones pass through
	 * all steps before the second ones. Else a ring could hold one step's messages in all slots
	 * of all ranks, and none could receive.
	 */
	uint64_t parts;
};

/* A place in the order of messages. */
struct rf_hosts_cursor {
	uint32_t op; /* running counter */
	uint64_t part;
	uint32_t step;
	uint64_t at;    /* bytes of the part of the step before it */
	uint64_t slots; /* used before it: a running counter */
};

/* What has happened on a connection: running counters of messages. */
struct rf_hosts_conn {
	uint64_t posted, arrived, taken; /* receives */
	uint64_t sent, acked, retired;
};

struct rf_hosts {
	struct rf_hosts_cfg cfg;
	uint32_t reach;
	/* Running counters of calls: polled <= started, at most max_ops apart. */
	uint32_t started, polled;
	uint32_t op_mask;
	uint64_t slots;
	/*
	 * complete <= sent <= processed <= posted: receives are posted, messages processed, sent
	 * on, and acknowledged, all in the one order of messages.
	 */
	struct rf_hosts_cursor posted, processed, sent, complete;
	struct rf_hosts_conn conn[RF_HOSTS_CONNS];
	int error;
	struct rf_hosts_failure failure;
	struct rf_hosts_op ops[];
};

static inline struct rf_hosts_op *rf_hosts_op(struct rf_hosts *h, uint32_t op)
{
	return &h->ops[op & h->op_mask];
}

/* hosts_plan.c */

/* Chooses the schedule of a call whose blocks are known. */
void rf_hosts_plan(const struct rf_hosts *h, struct rf_hosts_op *op);
/* A step of this rank, below op->steps. */
struct rf_hosts_step rf_hosts_step(const struct rf_hosts *h, const struct rf_hosts_op *op,
				   uint32_t step);

#endif
