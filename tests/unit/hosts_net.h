/*
 * Ranks that make collectives among themselves over channels in memory. Which rank runs, which
 * message arrives and which is acknowledged next is drawn at random. Results are compared with
 * those of hosts_want.c, which shares no code with the machine.
 */
#ifndef HOSTS_NET_H
#define HOSTS_NET_H

#include "host/collective/hosts.h"
#include "tests/unit/roce_random.h"

#define HOSTS_RANKS 16u
#define HOSTS_CONNS 8u
#define HOSTS_DEPTH 8u
#define HOSTS_CALLS 40u

struct hosts_cfg {
	uint32_t ranks;
	uint32_t message_bytes;
	uint32_t max_ops;
	uint32_t depth; /* requests that a channel takes at a time, 1 .. HOSTS_DEPTH */
	bool plain;     /* channels without immediates */
};

/* A request: a send with its data as they were when it was posted, or a receive. */
struct hosts_request {
	uint64_t id;
	const void *from;
	void *to, *copy;
	uint32_t len, imm;
};

/* One end of a connection: running counters, taken <= delivered (arrived) <= posted. */
struct hosts_end {
	struct hosts *net;
	uint32_t rank, conn;
	struct hosts_request send[HOSTS_DEPTH], recv[HOSTS_DEPTH];
	struct rf_msg_event event[HOSTS_DEPTH]; /* of the receives that have arrived */
	uint64_t sends, delivered, acked, told;
	uint64_t recvs, arrived, taken;
	int status; /* of all events, once it has failed */
};

/* One call, as all ranks make it. */
struct hosts_work {
	struct rf_directed_call call;
	uint64_t counts[HOSTS_RANKS];
	bool in_place;
	/* Of each rank. `before`: the send buffer as it was; NULL: the rank sends nothing. */
	void *send[HOSTS_RANKS], *recv[HOSTS_RANKS], *before[HOSTS_RANKS], *want[HOSTS_RANKS];
	void *memory[HOSTS_RANKS]; /* both buffers, if the call is in place */
	uint64_t send_len[HOSTS_RANKS], want_len[HOSTS_RANKS];
};

struct hosts {
	struct hosts_cfg cfg;
	struct roce_random rng;
	struct rf_hosts *machine[HOSTS_RANKS];
	struct hosts_end end[HOSTS_RANKS][HOSTS_CONNS];
	void *scratch[HOSTS_RANKS];
	struct hosts_work work[HOSTS_CALLS];
	uint32_t works;
	uint32_t started[HOSTS_RANKS], done[HOSTS_RANKS];
	int status[HOSTS_RANKS];
	uint64_t messages; /* that have arrived */
	uint64_t changed;  /* buffers that changed before their message had arrived */
	uint64_t flip;     /* one bit of this message is inverted, counted from 1 */
};

void hosts_start(struct hosts *n, const struct hosts_cfg *cfg, struct roce_random rng);
void hosts_end(struct hosts *n);
/*
 * Adds a call, with random operands. `spread`: blocks of different lengths (a v-form), some of
 * them 0. in_place: a block is its place in the buffer of blocks, or send is recv.
 */
struct hosts_work *hosts_add(struct hosts *n, enum rf_collective_kind kind, enum rf_arith_type type,
			     enum rf_arith_op op, uint32_t root, uint64_t count, bool spread,
			     bool in_place);
/* Runs until all ranks are done with all calls, or failed: 1. 0: nothing moves any more. */
int hosts_run(struct hosts *n);
/* Bytes at all ranks that differ from what is wanted, or that the machine should not write. */
uint64_t hosts_wrong(const struct hosts *n);

/* hosts_want.c */

struct hosts_layout {
	uint64_t at[HOSTS_RANKS + 1]; /* where each block begins, bytes */
	uint64_t bytes;               /* of the vector or of all blocks */
	bool send_blocks, recv_blocks;
};

struct hosts_layout hosts_layout(const struct hosts_work *w, uint32_t ranks);
/* Fills in want and want_len. */
void hosts_want(struct hosts_work *w, uint32_t ranks);
/*
 * The sum of all ranks' operands, in the order of docs/collective.md. For an all-reduce of
 * `bytes`; `tree`: as for a small one.
 */
void hosts_all_reduced(const struct hosts_work *w, uint32_t ranks, bool tree, uint64_t bytes,
		       char *out);

#endif
