/*
 * N ranks of a directed group on a test network, on mirror connections or in a ring, and the least
 * box that does what docs/box.md says of directed groups. Results are compared with those computed
 * from the operands, without packets.
 */
#ifndef DIRECTED_NET_H
#define DIRECTED_NET_H

#include "host/collective/directed.h"
#include "tests/unit/roce_net.h"

#define DIRECTED_RANKS 8u
#define DIRECTED_CALLS 40u
#define DIRECTED_SLOTS 64u
#define DIRECTED_SHIFT (1u << 22)

struct directed_cfg {
	uint32_t ranks;
	bool mirror;
	bool selective;           /* single packets, in any order */
	uint32_t message_packets; /* 0: single packets */
	uint32_t mtu;
	uint32_t max_ops;
	enum rf_arith_type type; /* of the JOIN */
	enum rf_arith_op op;
	uint32_t first_index;
};

/* What the box has of a rank. */
struct directed_rank {
	uint32_t start; /* PSN of index 0 */
	uint64_t next, una, sent, asked;
	bool present[DIRECTED_SLOTS];
	uint32_t len[DIRECTED_SLOTS];
	uint8_t frame[DIRECTED_SLOTS][ROCE_FRAME_MAX];
	struct rf_place place;
};

/* One call, as all ranks make it. */
struct directed_work {
	struct rf_directed_call call;
	uint64_t counts[DIRECTED_RANKS];
	void *send[DIRECTED_RANKS], *recv[DIRECTED_RANKS], *want[DIRECTED_RANKS];
	void *memory[DIRECTED_RANKS]; /* to be freed */
	bool in_place;
	uint64_t want_len[DIRECTED_RANKS];
};

struct directed {
	struct directed_cfg cfg;
	struct roce_net net;
	struct roce_qp *to_next[DIRECTED_RANKS], *from_prev[DIRECTED_RANKS];
	struct rf_directed *group[DIRECTED_RANKS];
	struct directed_rank box[DIRECTED_RANKS];
	uint64_t head;
	const char *error;         /* why the box ended the group */
	uint64_t results, empties; /* that the box sent for the first time */
	uint32_t flip;             /* bits of the immediate of the next result that are inverted */
	bool drop_acks;            /* no ACK returns */
	struct directed_work work[DIRECTED_CALLS];
	uint32_t works;
	uint32_t started[DIRECTED_RANKS], done[DIRECTED_RANKS];
	int status[DIRECTED_RANKS];
};

void directed_start(struct directed *d, const struct directed_cfg *cfg, struct roce_random rng);
void directed_end(struct directed *d);
/*
 * Adds a call, with random operands. `spread`: blocks of different lengths (a v-form). in_place: a
 * block is its place in the buffer of blocks, or send is recv.
 */
void directed_add(struct directed *d, enum rf_collective_kind kind, enum rf_arith_type type,
		  enum rf_arith_op op, uint32_t root, uint64_t count, bool spread, bool in_place);
/* Runs until all are done at every rank, or failed; 1 if within `limit` ns. */
int directed_run(struct directed *d, uint64_t limit);
/* Bytes at all ranks that differ from what is wanted. */
uint64_t directed_wrong(const struct directed *d);

/* directed_box.c: the hook of the network. */
int directed_box_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len);
/* The box's address and MAC. */
uint32_t directed_box_ip(void);
void directed_box_mac(uint8_t mac[6]);

#endif
