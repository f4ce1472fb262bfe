/*
 * A rank's end of its connection to the store: messages, as store_wire.h has them. For store.c.
 */
#ifndef RF_BOOTSTRAP_STORE_LINE_H
#define RF_BOOTSTRAP_STORE_LINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/store/store_wire.h"

/* Events kept until rf_store_poll() asks; the first ones are those that matter. */
#define STORE_EVENTS 8u
/* How long the server may be late behind the deadline that it keeps itself. */
#define STORE_GRACE_MS 2000u

struct rf_store {
	int fd; /* -1: the server is gone */
	bool told_gone;
	unsigned int rank;
	unsigned int ranks;
	uint8_t rx[STORE_REPLY_MAX];
	size_t rx_len;
	struct rf_store_event events[STORE_EVENTS];
	unsigned int n_events;
	bool waiting; /* a call waits for its answer */
	void (*idle)(void *arg);
	void *idle_arg;
};

uint64_t store_now_ms(void);

/* The connection has ended: RF_ERR_RANK_LOST, with words. */
int store_gone(struct rf_store *s, char *why, size_t room);
/* Sends a whole message before the deadline; messages are far smaller than a socket's buffer. 0, or
 * the server is gone. */
int store_send(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room);
/* What the socket has, without waiting. False: the connection has ended. */
bool store_fill(struct rf_store *s);
/*
 * Takes messages out of the buffer: events are kept, an answer ends the search. 1 and the answer, 0
 * for none yet, negative when the server breaks the protocol. The answer is consumed by
 * store_eat().
 */
int store_scan(struct rf_store *s, uint8_t *verb, const uint8_t **body, size_t *len);
void store_eat(struct rf_store *s);
/* Waits for the answer. 0: *body, *len (then store_eat()); the server's error; or the server is
 * gone. */
int store_answer(struct rf_store *s, uint64_t by, const uint8_t **body, size_t *len,
		 uint8_t set[16], char *why, size_t room);

#endif
