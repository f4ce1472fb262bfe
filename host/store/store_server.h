/*
 * The store's server, for its parts: store_conn.c sends, store_meet.c has the gathers,
 * store_server.c is the thread, store_serve.c starts and stops it.
 */
#ifndef RF_BOOTSTRAP_STORE_SERVER_H
#define RF_BOOTSTRAP_STORE_SERVER_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/guard.h"
#include "host/store/store_wire.h"
#include "ringfold/ringfold.h"

#define STORE_STRANGERS 16u
#define STORE_CONNS (RF_RANKS_MAX + STORE_STRANGERS)

struct store_conn {
	int fd; /* -1: unused */
	bool member;
	unsigned int rank;
	uint64_t hello_by; /* a stranger's deadline, ms */
	uint8_t challenge[STORE_CHALLENGE_BODY];
	uint8_t rx[STORE_REQUEST_MAX];
	size_t rx_len;
	uint8_t *tx; /* members only */
	size_t tx_len, tx_room;
};

#define STORE_TX_ROOM (STORE_REPLY_MAX + 16u * (STORE_HEAD + STORE_EVENT_BODY + RF_STORE_TEXT_MAX))

/* What may wait for a member at most. */
#define STORE_TX_MOST (16u * STORE_TX_ROOM)
#define STORE_MEETS 512u

/* A gather that is not complete. */
struct store_meet {
	struct store_meet *next;
	uint8_t ranks[16]; /* that take part, ... */
	unsigned int n;    /* ... and how many these are */
	char lane[RF_STORE_LANE_MAX + 1];
	char name[RF_STORE_KEY_MAX + 1];
	uint8_t counter; /* from 1; 0: it gets no number */
	uint8_t came_set[16];
	unsigned int came;
	uint32_t id[RF_RANKS_MAX];    /* of those that have come */
	uint64_t until[RF_RANKS_MAX]; /* ms */
	size_t value_len;
	uint8_t *values; /* n * value_len */
};

/* rf_store_server.lock */
RF_LOCK_CLASS(store_server_class);

struct rf_store_server {
	int listen_fd;
	int wake_fd;
	pthread_t thread;
	unsigned int ranks;
	uint64_t job;
	uint8_t key[RF_SIPHASH_KEY_BYTES];
	uint64_t accept_at; /* ms; before that no connection is accepted: no descriptor was left */
	bool assembled;     /* the first gather is complete */
	bool gone[RF_RANKS_MAX];
	unsigned int members;
	struct store_conn conns[STORE_CONNS];
	struct store_meet *meets;
	unsigned int n_meets;
	uint32_t number[STORE_COUNTERS]; /* for the next gather that gets one */
	atomic_uint other_version; /* of the last HELLO of another release; read by other threads */
	/* set by other threads */
	pthread_mutex_t lock;
	bool stop RF_GUARDED_BY(store_server_class);
	/* ms; remaining connections are closed then */
	uint64_t stop_by RF_GUARDED_BY(store_server_class);
};

void *rf_store_server_thread(void *server);

/* ---- store_conn.c ---- */

void store_conn_flush(struct store_conn *c);
/*
 * Queues a message of two parts. A message that does not fit is dropped: the reader is stuck or
 * hostile.
 */
void store_conn_send(struct store_conn *c, enum store_verb verb, const uint8_t *head,
		     size_t head_len, const void *body, size_t len);
/* Refuses a HELLO. */
void store_conn_error(struct store_conn *c, int status, const char *text);
/* The connection of a rank, or NULL. */
struct store_conn *store_conn_of(struct rf_store_server *s, unsigned int rank);
/* Notifies all members but this rank. */
void store_conn_event(struct rf_store_server *s, unsigned int rank, int status, const void *text,
		      size_t len);

/* ---- store_meet.c ---- */

/* A member's GATHER. False: it violates the protocol. */
bool store_meet_join(struct rf_store_server *s, struct store_conn *c, const uint8_t *p, size_t len);
/* A member gives its GATHER up: the others learn of it. One that is complete stays so. */
void store_meet_cancel(struct rf_store_server *s, unsigned int rank, uint32_t id);
/* A rank has left or is lost. Before the job is assembled it may come again. */
void store_meet_left(struct rf_store_server *s, unsigned int rank);
/* The next deadline, ms. */
uint64_t store_meet_next(const struct rf_store_server *s);
/* Ends what has waited until its deadline. */
void store_meet_deadlines(struct rf_store_server *s, uint64_t now);
void store_meet_end(struct rf_store_server *s);

#endif
