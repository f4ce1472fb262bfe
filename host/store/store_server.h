/*
 * The store's server, shared by its two halves: store_serve.c starts and stops it, store_server.c
 * is its thread.
 */
#ifndef RF_BOOTSTRAP_STORE_SERVER_H
#define RF_BOOTSTRAP_STORE_SERVER_H

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
	uint8_t *tx; /* STORE_REPLY_MAX + room for events; members only */
	size_t tx_len;
	bool waiting; /* for the gather to complete */
	uint64_t wait_until;
};

#define STORE_TX_ROOM (STORE_REPLY_MAX + 16u * (STORE_HEAD + STORE_EVENT_BODY + RF_STORE_TEXT_MAX))

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
	/* the gather in progress */
	char name[RF_STORE_KEY_MAX + 1];
	unsigned int came;
	uint8_t came_set[16];
	size_t value_len;
	uint8_t *values; /* ranks * RF_STORE_VALUE_MAX */
	/* set by other threads */
	pthread_mutex_t lock;
	bool stop RF_GUARDED_BY(store_server_class);
	/* ms; remaining connections are closed then */
	uint64_t stop_by RF_GUARDED_BY(store_server_class);
};

void *rf_store_server_thread(void *server);

#endif
