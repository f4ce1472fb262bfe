/*
 * The collective calls, with their types and operations: a part of <ringfold/ringfold.h>, which
 * includes it.
 *
 * Every rank of the communicator makes the same calls in the same order, with equal arguments
 * except for the buffers. Each call exists in two forms: the first returns when it has completed on
 * this rank; the one that begins with i returns at once with a request, which rf_test() or
 * rf_wait() release with the result. At most RF_REQUESTS_MAX may be outstanding.
 *
 * count is a number of elements of `type`; 0 is allowed, on all ranks: it is a call like any other.
 * With a block for each rank, blocks lie one after another in the order of the ranks. In place:
 * recv
 * == send if both are one vector or one block; otherwise the buffer of one block may be this rank's
 * block in the other buffer. Any other overlap is refused. A buffer that a rank does not use may be
 * NULL.
 *
 * v: blocks of different lengths; counts[r] is the length of rank r's block, the same on all ranks.
 * In rf_gatherv() and rf_scatterv() only the root needs counts: it sends them to the others first.
 * On other ranks counts is ignored, and `own` is what they expect.
 *
 * Success means that this rank's result has arrived, and that no rank needs this one for it any
 * more. Errors that leave the communicator usable, with nothing started: RF_ERR_INVALID,
 * RF_ERR_BUSY, RF_ERR_NO_MEMORY. After any other error it can only be destroyed, on all ranks, and
 * later calls return RF_ERR_GROUP_FAILED: RF_ERR_MISMATCH (the text names both calls, if two ranks
 * have made different ones), RF_ERR_TIMEOUT, RF_ERR_TRANSPORT, RF_ERR_RANK_LOST,
 * RF_ERR_BOX_REFUSED, RF_ERR_BOX_SILENT, RF_ERR_ABORTED. What recv contains then is undefined. With
 * one rank every call is a copy.
 *
 * Without the box (RF_SCHEDULE_RING) the ranks make all calls among themselves, over connections to
 * the ranks at distance 1, 2, 4, ... rf_order_apply() has the order of an all-reduce; those of
 * rf_reduce() and rf_reduce_scatter() are in docs/collective.md.
 */
#ifndef RINGFOLD_CALLS_H
#define RINGFOLD_CALLS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rf_comm;
struct rf_request;

/* Data type of a call. The values are those of the box's registers. */
enum rf_type {
	RF_FP32 = 0,  /* IEEE 754 binary32 */
	RF_BF16 = 1,  /* upper half of a binary32; summed in binary32, rounded once */
	RF_FP16 = 2,  /* IEEE 754 binary16; summed in binary32, rounded once */
	RF_INT32 = 3, /* two's complement; sums of integers wrap */
	RF_UINT32 = 4,
	RF_INT64 = 5,
	RF_UINT64 = 6,
	RF_FP64 = 7, /* IEEE 754 binary64 */
	RF_INT8 = 8,
	RF_UINT8 = 9,
};

enum rf_op {
	RF_SUM = 0,
	RF_MIN = 1, /* minimumNumber of IEEE 754-2019 */
	RF_MAX = 2, /* maximumNumber */
	RF_AND = 3, /* and, or, xor: bit by bit, of integers */
	RF_OR = 4,
	RF_XOR = 5,
	/* No box multiplies: RF_ERR_INVALID. Use rf_all_gather(), and multiply on the hosts. */
	RF_PRODUCT = 7,
	/*
	 * The sum, then divided by the number of ranks on each host: one more rounding to the
	 * element. Floating types only.
	 */
	RF_AVERAGE = 8,
};

#define RF_REQUESTS_MAX 64u /* outstanding requests on one communicator */

/* Reduces `count` elements over all ranks into recv on every rank. */
int rf_allreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		 enum rf_type type, enum rf_op op);
int rf_iallreduce(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, enum rf_op op, struct rf_request **request);

/* An all-reduce in a batch. send may be recv; pieces must not overlap otherwise. */
struct rf_piece {
	const void *send;
	void *recv;
	size_t count;
};

/*
 * Many all-reduces of one type and operation as one call: they travel in full packets, however
 * short they are. Operands and results are copied, so this is for small ones. The number of pieces
 * and their counts are the same on all ranks. With the box the bits are those of single calls;
 * without it those of one vector that contains all pieces in their order. The results are there
 * when the request is released. The array of pieces may change once the call has returned; memory
 * of a device is refused.
 */
int rf_allreduce_batch(struct rf_comm *comm, const struct rf_piece *pieces, size_t n,
		       enum rf_type type, enum rf_op op);
int rf_iallreduce_batch(struct rf_comm *comm, const struct rf_piece *pieces, size_t n,
			enum rf_type type, enum rf_op op, struct rf_request **request);

/* The same, into recv at the root alone. */
int rf_reduce(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	      enum rf_op op, unsigned int root);
int rf_ireduce(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       enum rf_op op, unsigned int root, struct rf_request **request);

/* Copies the root's send to every rank's recv; the root's recv may be NULL. */
int rf_broadcast(struct rf_comm *comm, const void *send, void *recv, size_t count,
		 enum rf_type type, unsigned int root);
int rf_ibroadcast(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type, unsigned int root, struct rf_request **request);

/* send has a block of `count` elements for each rank; recv gets the own block, reduced. */
int rf_reduce_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count,
		      enum rf_type type, enum rf_op op);
int rf_ireduce_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count,
		       enum rf_type type, enum rf_op op, struct rf_request **request);
int rf_reduce_scatterv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		       enum rf_type type, enum rf_op op);
int rf_ireduce_scatterv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
			enum rf_type type, enum rf_op op, struct rf_request **request);

/* send is a block of `count` elements; recv gets the blocks of all ranks. */
int rf_all_gather(struct rf_comm *comm, const void *send, void *recv, size_t count,
		  enum rf_type type);
int rf_iall_gather(struct rf_comm *comm, const void *send, void *recv, size_t count,
		   enum rf_type type, struct rf_request **request);
int rf_all_gatherv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		   enum rf_type type);
int rf_iall_gatherv(struct rf_comm *comm, const void *send, void *recv, const size_t *counts,
		    enum rf_type type, struct rf_request **request);

/* The same, into recv at the root alone. own: elements of send; it must equal the root's count. */
int rf_gather(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	      unsigned int root);
int rf_igather(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       unsigned int root, struct rf_request **request);
int rf_gatherv(struct rf_comm *comm, const void *send, size_t own, void *recv, const size_t *counts,
	       enum rf_type type, unsigned int root);
int rf_igatherv(struct rf_comm *comm, const void *send, size_t own, void *recv,
		const size_t *counts, enum rf_type type, unsigned int root,
		struct rf_request **request);

/* The root's send has a block for each rank; recv gets the own one. own: elements of recv. */
int rf_scatter(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
	       unsigned int root);
int rf_iscatter(struct rf_comm *comm, const void *send, void *recv, size_t count, enum rf_type type,
		unsigned int root, struct rf_request **request);
int rf_scatterv(struct rf_comm *comm, const void *send, const size_t *counts, void *recv,
		size_t own, enum rf_type type, unsigned int root);
int rf_iscatterv(struct rf_comm *comm, const void *send, const size_t *counts, void *recv,
		 size_t own, enum rf_type type, unsigned int root, struct rf_request **request);

/* Completes when all ranks have called it. */
int rf_barrier(struct rf_comm *comm);
int rf_ibarrier(struct rf_comm *comm, struct rf_request **request);

#ifdef __cplusplus
}
#endif

#endif
