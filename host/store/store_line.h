/* A rank's end of its connection to the store: messages as in store_wire.h. For store.c. */
#ifndef RF_BOOTSTRAP_STORE_LINE_H
#define RF_BOOTSTRAP_STORE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/store/store_wire.h"

/* Events kept until rf_store_poll() fetches them; the first ones matter most. */
#define STORE_EVENTS 8u
/* How long after the server's own deadline its answer may arrive. */
#define STORE_GRACE_MS 2000u

struct rf_store {
	int fd;            /* -1: connection closed */
	bool end_reported; /* rf_store_poll() has returned the end of the connection */
	unsigned int rank;
	unsigned int ranks;
	uint8_t rx[STORE_REPLY_MAX];
	size_t rx_len;
	uint8_t tx[2 * STORE_REQUEST_MAX]; /* announcements that the socket has not taken yet */
	size_t tx_len;
	struct rf_store_event events[STORE_EVENTS];
	unsigned int n_events;
	bool waiting; /* a call is waiting for its answer */
	void (*idle)(void *arg);
	void *idle_arg;
};

/* Records that the connection has ended: RF_ERR_RANK_LOST, with a text. */
int store_gone(struct rf_store *s, char *why, size_t room);
/*
 * Sends a whole message before the deadline; messages are far smaller than a socket's buffer.
 * Returns 0, or an error if the connection has ended.
 */
int store_send(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room);
/*
 * The same without waiting: what the socket does not take now, store_flush() sends later. If too
 * much waits, the message is dropped: RF_ERR_BUSY.
 */
int store_post(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room);
/* Sends what waits, without waiting. Returns 0, or an error if the connection has ended. */
int store_flush(struct rf_store *s, char *why, size_t room);
/* Reads what the socket has, without waiting. False: the connection has ended. */
bool store_fill(struct rf_store *s);
/*
 * Parses messages in the buffer: events are kept, an answer ends the search. Returns 1 and the
 * answer, 0 if there is none yet, negative when the server violates the protocol. store_eat()
 * consumes the answer.
 */
int store_scan(struct rf_store *s, uint8_t *verb, const uint8_t **body, size_t *len);
void store_eat(struct rf_store *s);
/*
 * Waits for the answer. Returns 0 with *body, *len (then call store_eat()); the server's error; or
 * an error if the connection has ended.
 */
int store_answer(struct rf_store *s, uint64_t by, const uint8_t **body, size_t *len,
		 uint8_t set[16], char *why, size_t room);
/* Waits for the server's first message. Returns 0 or an error, as store_answer(). */
int store_challenge(struct rf_store *s, uint64_t by, uint8_t challenge[STORE_CHALLENGE_BODY],
		    char *why, size_t room);
/*
 * Options of both ends' sockets: no delay, and a machine that disappears silently is detected
 * within eleven seconds.
 */
void store_socket_options(int fd);

#endif
