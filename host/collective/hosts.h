/*
 * All collectives among hosts, without a box, as a pure state machine over message channels: no
 * clock, no thread, and no allocation except in rf_hosts_create(). Schedules, their costs and the
 * order of additions: docs/collective.md.
 *
 *	rf_hosts_start(hosts, id, &call);
 *	for (;;) {
 *		drive the transport;
 *		rf_hosts_progress(hosts);
 *		while (rf_hosts_poll(hosts, &done)) ...
 *	}
 *
 * All ranks must start the same calls in the same order. Errors: enum rf_coll_error.
 */
#ifndef RF_HOSTS_H
#define RF_HOSTS_H

#include "host/collective/directed.h"

#define RF_HOSTS_RANKS_MAX RF_DIRECTED_RANKS_MAX
/* Distances to which a rank has connections: 1, 2, 4, ... */
#define RF_HOSTS_REACH 7u

struct rf_hosts_cfg {
	uint32_t rank;
	uint32_t ranks; /* 1 .. RF_HOSTS_RANKS_MAX; 1: calls copy and use no channel */
	uint32_t mtu;   /* path MTU, bytes */
	/* Largest message in bytes: a multiple of mtu, the same on all ranks; 0: 64 packets. */
	uint32_t message_bytes;
	uint32_t max_ops; /* most calls outstanding, 1 .. 1024; 0: 8 */
	/*
	 * next[k]: to the rank 2^k after this one, modulo ranks, whose prev[k] is the other end;
	 * for k below rf_hosts_reach(ranks). Both directions of each are used. With post_imm, on
	 * all ranks or on none.
	 */
	struct rf_msg next[RF_HOSTS_REACH], prev[RF_HOSTS_REACH];
	/*
	 * At least rf_hosts_scratch_bytes(), aligned to 8 bytes. The caller owns it and keeps it
	 * until the machine is destroyed.
	 */
	void *scratch;
	size_t scratch_bytes;
};

struct rf_hosts;

/* Number of distances: the least k with 2^k >= ranks. */
uint32_t rf_hosts_reach(uint32_t ranks);

/*
 * The largest vector in bytes that an all-reduce adds by recursive doubling, and a reduce by a
 * tree; larger ones go round the ring. 4 KiB for each rank, at most 32 KiB.
 */
uint64_t rf_hosts_small(uint32_t ranks);

/* The scratch that a rank needs, whatever it calls. */
size_t rf_hosts_scratch_bytes(const struct rf_hosts_cfg *cfg);

/* Makes one allocation. *out is written on success only. RF_COLL_E_INVALID, RF_COLL_E_NO_MEMORY. */
int rf_hosts_create(const struct rf_hosts_cfg *cfg, struct rf_hosts **out);
/* NULL is allowed. The channels must not touch the buffers any more: end the queue pairs first. */
void rf_hosts_destroy(struct rf_hosts *hosts);

/* As rf_directed_start(): the call's arguments, its buffers, and what is refused are the same. */
int rf_hosts_start(struct rf_hosts *hosts, uint64_t id, const struct rf_directed_call *call);

/*
 * Processes the channels' events and posts what can be posted. Returns how many things it did (0:
 * wait for the transport), or the error that ended the machine. Then every call is done with that
 * status.
 */
int rf_hosts_progress(struct rf_hosts *hosts);

/*
 * Returns 1 and the oldest finished call, or 0. Done means that this rank's result is here, and
 * that everything which it sent for the call has been acknowledged.
 */
int rf_hosts_poll(struct rf_hosts *hosts, struct rf_coll_done *done);

/* Calls started and not yet polled. */
uint32_t rf_hosts_outstanding(const struct rf_hosts *hosts);

/* The oldest call that is not finished: its number, from 0, and immediate. False: none. */
bool rf_hosts_waiting(const struct rf_hosts *hosts, uint64_t *number, uint32_t *immediate);

/*
 * The immediate of a call by its number, from 0. False: it has not been started, or is too long
 * ago.
 */
bool rf_hosts_immediate(const struct rf_hosts *hosts, uint64_t number, uint32_t *immediate);

/* What an error was about. */
struct rf_hosts_failure {
	uint32_t peer; /* the rank at the other end */
	bool from;     /* something that came from it, or should have */
	int status;    /* RF_COLL_E_CHANNEL: the channel's */
	/* RF_COLL_E_LENGTH: bytes. RF_COLL_E_IMMEDIATE: the immediates. */
	uint32_t got, want;
};

void rf_hosts_failure(const struct rf_hosts *hosts, struct rf_hosts_failure *failure);

#endif
