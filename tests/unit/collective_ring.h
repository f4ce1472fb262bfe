/*
 * N ranks on a test network, joined in a ring of queue pairs, with a box between them.
 * The box is the least that adds: a ledger as in the architecture, packets stored per index, sums
 * made by rf_order_reduce().
 */
#ifndef COLLECTIVE_RING_H
#define COLLECTIVE_RING_H

#include "host/collective/collective.h"
#include "tests/unit/roce_net.h"

#define RING_RANKS 8u
#define RING_OPS 12u
#define RING_SLOTS 64u
#define RING_SHIFT (1u << 22)

struct ring_cfg {
	uint32_t ranks;
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint32_t mtu;
	uint32_t message_packets; /* 0: the default */
	uint32_t ports;           /* of the box */
	uint32_t max_ops;
	uint8_t retry_cnt;
	bool late; /* ranks begin at different times */
};

struct ring_slot {
	uint32_t len;
	uint8_t frame[ROCE_FRAME_MAX];
};

struct ring_box {
	uint32_t start[RING_RANKS]; /* PSN of index 0 */
	uint64_t next[RING_RANKS];
	uint64_t sent[RING_RANKS];
	uint64_t una[RING_RANKS];
	uint32_t msn[RING_RANKS];
	uint64_t head;
	struct rf_place places[RING_RANKS];
	struct ring_slot slots[RING_RANKS][RING_SLOTS];
	unsigned int repeats, behalf, no_room;
	uint64_t forge; /* index whose result for rank 0 gets a wrong bit; UINT64_MAX: none */
};

struct ring_work {
	size_t count;
	bool in_place;
	void *in[RING_RANKS]; /* as it was at the start */
	void *send[RING_RANKS];
	void *recv[RING_RANKS];
	void *want;
};

struct ring {
	struct ring_cfg cfg;
	struct roce_net net;
	struct roce_qp *next[RING_RANKS];
	struct roce_qp *prev[RING_RANKS];
	struct rf_coll *coll[RING_RANKS];
	uint64_t begin[RING_RANKS];
	struct ring_box *box;
	struct ring_work ops[RING_OPS];
	uint32_t op_count;
	uint32_t started[RING_RANKS];
	uint32_t done[RING_RANKS];
	int status[RING_RANKS];   /* of the last operation that ended */
	uint64_t end[RING_RANKS]; /* when it ended */
};

void ring_start(struct ring *r, const struct ring_cfg *cfg, struct roce_random rng);
void ring_end(struct ring *r);
/* Another all-reduce, of random elements; its expected result is computed at once. */
void ring_add(struct ring *r, size_t count, bool in_place);
/* Runs until all are done at every rank, or failed; 1 if within `limit` ns. */
int ring_run(struct ring *r, uint64_t limit);
/* Elements at all ranks that differ from what is wanted. */
size_t ring_wrong(const struct ring *r);

/* collective_box.c: the hook of the network. */
int ring_box_hook(void *ctx, uint32_t from, uint8_t *frame, size_t len);

#endif
