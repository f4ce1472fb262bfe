/*
 * What both seams of MPI share, without mpi.h: settings, decisions, the job, communicators.
 *
 * A seam asks rf_mpi_take() about each collective call. The answer depends only on what MPI makes
 * equal on all ranks of the communicator: the collective, the bytes of its larger buffer, type and
 * operation of a reduction, and what happened before on this communicator. So all ranks choose
 * alike, without a message. What is not taken, the seam passes on.
 *
 * Threads. MPI serialises the collective calls of a communicator; different ones may be used in
 * different threads. rf_mpi_open() and rf_mpi_close() are called once, by one thread.
 */
#ifndef RF_MPI_CORE_RF_MPI_H
#define RF_MPI_CORE_RF_MPI_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "integrations/mpi/core/on.h"
#include "ringfold/ringfold.h"

enum rf_mpi_kind {
	RF_MPI_ALLREDUCE,
	RF_MPI_REDUCE,
	RF_MPI_BCAST,
	RF_MPI_BARRIER,
	RF_MPI_ALLGATHER,
	RF_MPI_ALLGATHERV,
	RF_MPI_REDUCE_SCATTER,
	RF_MPI_REDUCE_SCATTER_BLOCK,
	RF_MPI_GATHER,
	RF_MPI_SCATTER,
	RF_MPI_KINDS
};

/* RINGFOLD_MPI */
enum rf_mpi_mode {
	RF_MPI_OFF = 0,
	RF_MPI_TRY = 1,
	RF_MPI_MUST = 2, /* a communicator that cannot be served is an error */
};

/* Why a call is passed on. */
enum rf_mpi_reason {
	RF_MPI_TAKEN = 0,
	RF_MPI_NOT_ON,     /* switched off, or the job could not be opened */
	RF_MPI_ALONE,      /* one rank */
	RF_MPI_EMPTY,      /* no byte */
	RF_MPI_NO_TYPE,    /* a type that the box does not reduce */
	RF_MPI_NO_OP,      /* an operation that the box does not have for this type */
	RF_MPI_SIZE,       /* RINGFOLD_MPI_TUNE */
	RF_MPI_UNMADE,     /* nonblocking, and the communicator has no group yet */
	RF_MPI_NOT_SERVED, /* the group could not be made */
	RF_MPI_REASONS
};

#define RF_MPI_NONE -1 /* no type, no operation */

struct rf_mpi_range {
	size_t least;
	size_t most; /* inclusive; less than least: never */
};

struct rf_mpi_settings {
	enum rf_mpi_mode mode;
	struct rf_mpi_range range[RF_MPI_KINDS];
	bool stats;    /* RINGFOLD_MPI_STATS */
	uint64_t hash; /* of all texts: ranks compare it */
};

/*
 * Parses RINGFOLD_MPI, RINGFOLD_MPI_TUNE and RINGFOLD_MPI_STATS; NULL is an unset one. Returns 0,
 * or RF_ERR_INVALID with a text in why[room].
 */
int rf_mpi_settings_read(struct rf_mpi_settings *s, const char *mode, const char *tune,
			 const char *stats, char *why, size_t room);
const char *rf_mpi_kind_name(enum rf_mpi_kind kind);
const char *rf_mpi_reason_text(enum rf_mpi_reason reason);

/* What is asked of a call before a buffer is looked at. */
struct rf_mpi_ask {
	enum rf_mpi_kind kind;
	size_t bytes; /* of the larger buffer: the vector, or the blocks of all ranks */
	int type;     /* enum rf_type of a reduction, RF_MPI_NONE if it is another one */
	int op;       /* enum rf_op */
	bool blocking;
};
/* The part of the decision that needs no communicator. */
enum rf_mpi_reason rf_mpi_decide(const struct rf_mpi_settings *s, unsigned int ranks,
				 const struct rf_mpi_ask *ask);

/* How the core reaches MPI, for one communicator. */
struct rf_mpi_hooks {
	void *arg;
	/* gathers `bytes` bytes of each rank; 0 for success */
	int (*allgather)(void *arg, const void *own, void *all, size_t bytes);
};

struct rf_mpi_comm {
	unsigned int rank;
	unsigned int ranks;
	enum rf_mpi_reason state; /* RF_MPI_TAKEN: has a group; RF_MPI_UNMADE; RF_MPI_NOT_SERVED */
	int status;               /* why not, with RF_MPI_MUST */
	struct rf_comm *comm;
	struct rf_mpi_comm *next; /* all that have a group */
};

/*
 * Joins the job: all ranks of MPI_COMM_WORLD call it. world gets the group of MPI_COMM_WORLD.
 * progress() moves MPI's own messages; it is called while a blocking call waits. Returns 0, also if
 * the calls go on by MPI, which is logged with its cause; an error only with RF_MPI_MUST.
 */
int rf_mpi_open(struct rf_mpi_comm *world, unsigned int rank, unsigned int ranks,
		const struct rf_mpi_hooks *hooks, void (*progress)(void));
/* Ends the job, and prints the counters if that is asked for. Groups that are left are ended. */
void rf_mpi_close(void);
/* Whether there is a job; set by these two. */
static inline bool rf_mpi_is_on(void)
{
	return rf_mpi_on;
}

void rf_mpi_comm_init(struct rf_mpi_comm *c, unsigned int rank, unsigned int ranks);
void rf_mpi_comm_end(struct rf_mpi_comm *c);
/*
 * Whether a call goes by the box: RF_MPI_TAKEN, or the reason why it does not. A blocking call
 * makes the group of a new communicator. Negative: an enum rf_status, with RF_MPI_MUST.
 */
int rf_mpi_take(struct rf_mpi_comm *c, const struct rf_mpi_ask *ask,
		const struct rf_mpi_hooks *hooks);

/* A call that has been taken. */
struct rf_mpi_call {
	enum rf_mpi_kind kind;
	const void *send;
	void *recv;
	size_t count;         /* elements of the vector or of a block */
	const size_t *counts; /* of each block, for RF_MPI_ALLGATHERV and RF_MPI_REDUCE_SCATTER */
	enum rf_type type;
	enum rf_op op;
	unsigned int root;
};
/* Starts a call. Errors are logged. */
int rf_mpi_start(struct rf_mpi_comm *c, const struct rf_mpi_call *call,
		 struct rf_request **request);
/* RF_IN_PROGRESS, or the result; errors are logged. Never waits. */
int rf_mpi_test(enum rf_mpi_kind kind, struct rf_request *request);
/* Starts a call, and waits; MPI's messages move meanwhile. */
int rf_mpi_run(struct rf_mpi_comm *c, const struct rf_mpi_call *call);

/* Logs a failure of the seam itself, such as lack of memory for a copy. */
void rf_mpi_failed(enum rf_mpi_kind kind, const char *text);

#endif
