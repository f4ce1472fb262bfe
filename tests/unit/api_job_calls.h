/*
 * Calls of the public interface by their description (api_jobs.h): how a test draws them, the
 * buffers that they need, and the comparison of every byte of these.
 */
#ifndef API_JOB_CALLS_H
#define API_JOB_CALLS_H

#include "base/rng.h"
#include "tests/unit/api_jobs.h"

/* The operations that a floating type or an integer type may have; RF_AVERAGE is the last one. */
#define JOB_OPS 7
extern const enum rf_op job_ops[JOB_OPS];
bool job_has(enum rf_type type, enum rf_op op);
/* Draws counts of at most so many elements in a block, in v-forms also without any. */
void job_draw_counts(struct job *j, unsigned int ranks, struct rf_rng *rng, size_t most);

/* Buffers of a call under way, with a guard of 64 bytes before and after each. */
struct job_buffers {
	uint8_t *room, *send, *recv, *want, *sent;
	size_t room_bytes, send_bytes, recv_bytes;
};

/*
 * Allocates and fills the buffers of this rank, and computes the result. job_compare() frees them.
 */
void job_prepare(const struct job *j, const struct rf_order *order, unsigned int rank,
		 struct job_buffers *b);
/* Makes the call: with a request if q is not NULL. */
int job_call(struct rf_comm *comm, const struct job *j, const void *send, void *recv,
	     struct rf_request **q);
/* How many bytes are wrong, of those that the call may write and of those that it must not. */
size_t job_compare(struct job_buffers *b);
/* A call in words, with type, operation, root and size. */
void job_text(const struct job *j, unsigned int ranks, char *text, size_t room);

#endif
