/*
 * Ranks as threads of a test: each has an end of one hub, a context and a communicator.
 */
#ifndef TEST_API_RANKS_H
#define TEST_API_RANKS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "tests/unit/io_hub.h"
#include "ringfold/ringfold.h"

#define RANKS 8

struct ranks;

/* What one rank does; runs in its own thread. 0 is success. Must not use cmocka's asserts. */
struct rank {
	struct ranks *all;
	unsigned int rank;
	struct rf_context *ctx;
	struct rf_comm *comm;
	unsigned int met; /* calls of rank_meet() */
	int ret;          /* the result of run(), or the first status that was not expected */
	char text[600];   /* why */
};

struct ranks {
	unsigned int n;
	unsigned int port;
	struct rf_io_hub *hub;
	/* settings, before ranks_run() */
	unsigned int timeout_ms; /* 5000 */
	unsigned int mtu;        /* 1024 */
	unsigned int mtu_last;   /* of the last rank, if it is not 0 */
	bool manual;
	enum rf_schedule schedule;
	/* of all contexts; log_arg is the rank's struct rank */
	enum rf_log_level log_level;
	void (*log)(void *rank, enum rf_log_level level, const char *text);
	/* changes the configs of a rank */
	void (*prepare)(struct rank *r, struct rf_context_config *context,
			struct rf_comm_config *comm);
	/* the NIC of a rank, which belongs to its context then; NULL: our own transport */
	struct rf_verbs *(*verbs)(struct rank *r, struct rf_io *io);
	int (*run)(struct rank *r);
	void *arg;
	uint64_t left_out; /* bit per rank: does not take part */
	atomic_uint met;   /* calls of rank_meet() */
	struct rank rank[RANKS];
};

void ranks_init(struct ranks *all, unsigned int n, int (*run)(struct rank *r));
/* Starts all, joins all. The first failure's text is printed. Returns how many failed. */
unsigned int ranks_run(struct ranks *all);
void ranks_free(struct ranks *all);

/* In a rank: notes a failed expectation and makes the rank's result -1. */
#define EXPECT(r, condition)                                                                       \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			rank_note(r, __FILE__, __LINE__, #condition);                              \
			return -1;                                                                 \
		}                                                                                  \
	} while (0)

void rank_note(struct rank *r, const char *file, int line, const char *what);

/* Returns 0 when all ranks have called it, or -1 after a minute. Makes progress in manual mode. */
int rank_meet(struct rank *r);

#endif
