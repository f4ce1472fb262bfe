/*
 * A call of a collective as the machines of this folder take it: what its blocks are and where they
 * lie, whether its buffers are right, and the immediate that names it.
 */
#ifndef RF_CALL_H
#define RF_CALL_H

#include "host/collective/directed.h"

struct rf_call {
	enum rf_collective_kind kind;
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint32_t root;      /* 0 if the collective has none */
	uint32_t immediate; /* without wants, gives and index */
	uint32_t blocks;    /* 1, or one for each rank */
	uint64_t longest;   /* bytes of the longest block */
	uint64_t *offsets;  /* where each block begins, and where the last one ends: bytes */
	const char *send;
	char *recv;
};

/*
 * Checks a rank's call, fills in everything but `offsets`, which has room for `ranks` + 1 numbers,
 * and copies the rank's own block to where it belongs; with one rank, everything. number: of the
 * call. A barrier gets one block of one byte. Errors: as rf_directed_start().
 */
int rf_call_begin(struct rf_call *c, uint32_t rank, uint32_t ranks, uint64_t number,
		  const struct rf_directed_call *call);

/* Bytes of a block. */
static inline uint64_t rf_call_block(const struct rf_call *c, uint32_t block)
{
	return c->offsets[block + 1] - c->offsets[block];
}

#endif
