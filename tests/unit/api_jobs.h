/*
 * Collectives as a test of the public interface draws them, and what each rank must have after one:
 * only additions in the order that rf_comm_order() and docs/collective.md state, no packets.
 */
#ifndef API_JOBS_H
#define API_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ringfold/ringfold.h"
#include "tests/unit/api_ranks.h"

enum job_kind {
	JOB_ALLREDUCE,
	JOB_REDUCE,
	JOB_BROADCAST,
	JOB_REDUCE_SCATTER,
	JOB_REDUCE_SCATTERV,
	JOB_ALL_GATHER,
	JOB_ALL_GATHERV,
	JOB_GATHER,
	JOB_GATHERV,
	JOB_SCATTER,
	JOB_SCATTERV,
	JOB_BARRIER,
	JOB_KINDS,
};

extern const char *const job_names[JOB_KINDS];

/* What differs between two collectives, from the view of a test. */
struct job_about {
	bool reduces, root, v;
	bool send_all, recv_all; /* the buffer has a block for each rank */
	bool one;                /* there are no blocks */
};
extern const struct job_about job_about[JOB_KINDS];

struct job {
	enum job_kind kind;
	enum rf_type type;
	enum rf_op op;
	unsigned int root;
	size_t counts[RANKS]; /* [0] if there are no blocks; else of each rank's */
	bool in_place;
	uint64_t key;
};

/* Elements of all blocks, of those before a rank's, and of its own. */
size_t job_total(const struct job *j, unsigned int ranks);
size_t job_before(const struct job *j, unsigned int rank);
size_t job_own(const struct job *j, unsigned int rank);
/* Elements of a rank's whole vector (all blocks). */
void job_put(const struct job *j, unsigned int rank, size_t from, size_t count, uint8_t *to);
/* What this rank's receive buffer must contain; its length in bytes. */
size_t job_expected(const struct job *j, const struct rf_order *order, unsigned int rank,
		    uint8_t *to);

#endif
