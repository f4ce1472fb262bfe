/*
 * The schedule of each collective in a directed group: which rank gives and wants at each index,
 * and what the immediate says (docs/collective.md, docs/box.md). Pure functions.
 *
 * A collective works on blocks: one that all ranks share (all-reduce, reduce, broadcast), or one
 * for each rank. Blocks are cut into pieces of a packet each, and the first pieces of all blocks
 * come before the second ones.
 */
#ifndef RF_SCHEDULE_H
#define RF_SCHEDULE_H

#include "host/collective/arith.h"

/* The values are those of the immediate. */
enum rf_collective_kind {
	RF_SCHEDULE_OWN = 0, /* for the caller: not a collective */
	RF_SCHEDULE_ALL_REDUCE = 1,
	RF_SCHEDULE_REDUCE = 2,
	RF_SCHEDULE_BROADCAST = 3,
	RF_SCHEDULE_REDUCE_SCATTER = 4,
	RF_SCHEDULE_ALL_GATHER = 5,
	RF_SCHEDULE_GATHER = 6,
	RF_SCHEDULE_SCATTER = 7,
	RF_SCHEDULE_BARRIER = 8,
	RF_SCHEDULE_BATCH = 9, /* several calls in one packet: not made here */
};

#define RF_IMM_WANTS 0x8000u
#define RF_IMM_GIVES 0x4000u
#define RF_IMM_INDEX 15u /* index modulo 16 */
#define RF_IMM_HASH_BITS 12u

/* "all-reduce", ...; NULL beyond the collectives. Static text. */
const char *rf_schedule_name(enum rf_collective_kind kind);

/* The answers of the functions below that depend on the collective alone. */
struct rf_schedule_shape {
	bool blocks, root, reduces, send_blocks, recv_blocks;
};
const struct rf_schedule_shape *rf_schedule_shape(enum rf_collective_kind kind);

/* Whether the collective has a block for each rank, adds operands, has a root. */
bool rf_schedule_has_blocks(enum rf_collective_kind kind);
bool rf_schedule_reduces(enum rf_collective_kind kind);
bool rf_schedule_has_root(enum rf_collective_kind kind);

/* Whether a block takes part: the root's own block of a gather or scatter never travels. */
bool rf_schedule_travels(enum rf_collective_kind kind, uint32_t root, uint32_t block);
/* Whether a rank gives, or wants the result of, the pieces of a block. */
bool rf_schedule_gives(enum rf_collective_kind kind, uint32_t root, uint32_t block, uint32_t rank);
bool rf_schedule_wants(enum rf_collective_kind kind, uint32_t root, uint32_t block, uint32_t rank);
/* Whether the send (receive) buffer holds all blocks one after another, or one block. */
bool rf_schedule_sends_blocks(enum rf_collective_kind kind);
bool rf_schedule_receives_blocks(enum rf_collective_kind kind);

/* What the 12 bits of the hash are made from. */
struct rf_schedule_call {
	uint64_t number;
	uint64_t root;          /* 0 if the collective has none */
	const uint64_t *counts; /* elements */
	uint32_t counts_len;    /* 1, or the ranks in the v-forms */
	enum rf_arith_type type;
	enum rf_arith_op op; /* as in the immediate */
	uint64_t form;       /* what else the ranks must have equal; 0: nothing */
};

uint32_t rf_schedule_hash(const struct rf_schedule_call *call);

/* The immediate without wants, gives and index. */
uint32_t rf_schedule_immediate(enum rf_collective_kind kind, const struct rf_schedule_call *call);

#endif
