/*
 * A rank's end of its connection to the store: messages as in store_wire.h. For store_call.c, which
 * has the gathers, and store.c.
 */
#ifndef RF_BOOTSTRAP_STORE_LINE_H
#define RF_BOOTSTRAP_STORE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/guard.h"
#include "host/store/store_wire.h"

/*
 * Events kept until rf_store_poll() fetches them: those of a look at the store, in which each of
 * many ranks may tell the failures of all its groups. The first ones matter most.
 */
#define STORE_EVENTS 4096u
/* How long after the server's own deadline its answer may arrive. */
#define STORE_GRACE_MS 2000u

/* rf_store.lock: held for short, never while waiting, except until the store has its rank. */
RF_LOCK_CLASS(store_class);
#define STORE_LOCKED RF_GUARDED_BY(store_class)

/* A gather that this rank takes part in. */
struct rf_store_call {
	struct rf_store_call *next;
	uint32_t id;
	uint8_t ranks[16];
	unsigned int n; /* of ranks */
	char lane[RF_STORE_LANE_MAX + 1];
	char name[RF_STORE_KEY_MAX + 1];
	unsigned int timeout_ms;
	uint32_t *number;
	unsigned int counter;
	bool sent;   /* not before the one before it in its lane has ended */
	bool done;   /* status and text, or values */
	bool orphan; /* nobody waits for it any more */
	uint64_t by; /* ms: when the server must have answered; once it was sent */
	int status;
	uint8_t set[16]; /* the ranks that a failure names */
	char text[RF_STORE_TEXT_MAX];
	size_t len;
	uint8_t *value; /* own one; then the values of all */
};

struct rf_store {
	int fd;            /* -1: connection closed */
	bool end_reported; /* rf_store_poll() has returned the end of the connection */
	unsigned int rank;
	unsigned int ranks;
	pthread_mutex_t lock;
	uint8_t rx[STORE_REPLY_MAX] STORE_LOCKED;
	size_t rx_len STORE_LOCKED;
	/* what the socket has not taken yet */
	uint8_t tx[2 * STORE_REQUEST_MAX] STORE_LOCKED;
	size_t tx_len STORE_LOCKED;
	struct rf_store_event *events STORE_LOCKED; /* grows as needed */
	size_t events_room STORE_LOCKED, first_event STORE_LOCKED, n_events STORE_LOCKED;
	struct rf_store_call *calls STORE_LOCKED; /* in the order of their start */
	uint32_t next_id STORE_LOCKED;
	void (*idle)(void *arg);
	void *idle_arg;
};

/* Records that the connection has ended: RF_ERR_RANK_LOST, with a text. */
int store_gone(struct rf_store *s, char *why, size_t room) RF_REQUIRES(store_class);
/*
 * Sends a whole message before the deadline; messages are far smaller than a socket's buffer.
 * Returns 0, or an error if the connection has ended.
 */
int store_send(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room) RF_REQUIRES(store_class);
/*
 * The same without waiting: what the socket does not take now, store_flush() sends later. If too
 * much waits, the message is dropped: RF_ERR_BUSY.
 */
int store_post(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room) RF_REQUIRES(store_class);
/* Sends what waits, without waiting. Returns 0, or an error if the connection has ended. */
int store_flush(struct rf_store *s, char *why, size_t room) RF_REQUIRES(store_class);
/* Reads what the socket has, without waiting. False: the connection has ended. */
bool store_fill(struct rf_store *s) RF_REQUIRES(store_class);
/*
 * Parses messages in the buffer: events are kept, an answer ends the search. Returns 1 and the
 * answer, 0 if there is none yet, negative when the server violates the protocol. store_eat()
 * consumes the answer.
 */
int store_scan(struct rf_store *s, uint8_t *verb, const uint8_t **body, size_t *len)
	RF_REQUIRES(store_class);
void store_eat(struct rf_store *s) RF_REQUIRES(store_class);
/*
 * Before the connection has its rank: waits for the answer to HELLO. Returns 0 with *body, *len
 * (then call store_eat()), or the server's error. RF_ERR_TIMEOUT: no answer has come. Other errors:
 * the connection has ended.
 */
int store_answer(struct rf_store *s, uint64_t by, const uint8_t **body, size_t *len, char *why,
		 size_t room) RF_REQUIRES(store_class);
/* Waits for the server's first message. Returns 0 or an error, as store_answer(). */
int store_challenge(struct rf_store *s, uint64_t by, uint8_t challenge[STORE_CHALLENGE_BODY],
		    char *why, size_t room) RF_REQUIRES(store_class);
/*
 * Options of both ends' sockets: no delay, and a machine that disappears silently is detected
 * within eleven seconds.
 */
void store_socket_options(int fd);

/* ---- store_call.c ---- */

/*
 * Sends and reads what is possible without waiting, gives answers to the calls that they belong to,
 * and ends calls whose deadline has passed.
 */
void store_pump(struct rf_store *s) RF_REQUIRES(store_class);

#endif
