/*
 * The calls that `ringfold perf` measures: their buffers, their data, and what the results must be.
 * The reference adds with rf_order_apply() and copies with memcpy(); it uses no packet, no box and
 * no other call of the library.
 */
#ifndef RF_TOOLS_PERF_H
#define RF_TOOLS_PERF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ringfold/ringfold.h"

enum perf_kind {
	PERF_ALL_REDUCE,
	PERF_REDUCE,
	PERF_BROADCAST,
	PERF_REDUCE_SCATTER,
	PERF_ALL_GATHER,
	PERF_GATHER,
	PERF_SCATTER,
	PERF_BARRIER,
	PERF_KINDS
};

#define PERF_KIND_NAMES                                                                            \
	"all-reduce|reduce|broadcast|reduce-scatter|all-gather|gather|scatter|barrier"

struct perf_about {
	const char *name;
	bool reduces, rooted;
	bool send_blocks, recv_blocks; /* the buffer has a block for each rank */
};

/* What differs between the collectives. */
const struct perf_about *perf_about(enum perf_kind kind);

/*
 * What turns size / time into the rate at the busiest link, so that collectives and numbers of
 * ranks can be compared. Source: NVIDIA nccl-tests, doc/PERFORMANCE.md; gather and scatter: its
 * src/gather.cu and src/scatter.cu. A barrier has none: 0.
 */
double perf_bus_factor(enum perf_kind kind, unsigned int ranks);

struct perf_call {
	enum perf_kind kind;
	enum rf_type type;
	enum rf_op op;
	unsigned int root;
	size_t count; /* the argument of the call: elements of the vector, or of one block */
	bool in_place;
};

/* Elements of the vector, or of all blocks. */
size_t perf_total(const struct perf_call *c, unsigned int ranks);

/* What the calls of one rank use. The caller owns the memory: `room` bytes at each pointer. */
struct perf_data {
	unsigned int rank, ranks;
	uint64_t seed;
	size_t room;
	bool check;
	uint8_t *inputs[RF_RANKS_MAX]; /* of each rank; without check only the own one */
	uint8_t *recv;
	uint8_t *want, *zeros; /* with check */
};

/* Returns 0, or -1 if there is no memory; perf_data_free() is allowed in both cases. */
int perf_data_create(struct perf_data *d, size_t room);
void perf_data_free(struct perf_data *d);

/* The same data for equal arguments: what each rank sends. */
void perf_fill(struct perf_data *d, const struct perf_call *c);

/* The buffers of a call, and where this rank's result is: `results` elements, perhaps 0. */
struct perf_buffers {
	const void *send;
	void *recv;
	uint8_t *result;
	size_t results;
};

/* Out of place: the receive buffer is overwritten. In place: it gets this rank's data. */
void perf_buffers(struct perf_data *d, const struct perf_call *c, struct perf_buffers *b);

/* Starts the call. Returns its status. */
int perf_start(struct rf_comm *comm, const struct perf_call *c, const struct perf_buffers *b,
	       struct rf_request **request);

/*
 * Puts into d->want what b->result must be. order: that of the communicator. Returns an enum
 * rf_status. Source: docs/api.md, "Which bits", and docs/collective.md, "Among hosts".
 */
int perf_want(struct perf_data *d, const struct perf_call *c, const struct rf_order *order);

/* Elements of the result that differ in any bit. Describes the first one on stderr. */
uint64_t perf_compare(const struct perf_data *d, const struct perf_call *c,
		      const struct perf_buffers *b);

#endif
