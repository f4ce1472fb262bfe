/* For the store's tests: a server, its ranks, and ranks that gather in their own threads. */
#ifndef TEST_STORE_WORLD_H
#define TEST_STORE_WORLD_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#include "host/store/store.h"

#define HOST "127.0.0.1"

extern const uint8_t job_key[16];

struct world {
	unsigned int port;
	unsigned int ranks;
	struct rf_store_server *server;
	struct rf_store *store[8];
};

struct gatherer {
	pthread_t thread;
	struct rf_store *store;
	const char *name;
	uint8_t value[8];
	uint8_t values[8 * 8];
	size_t len;
	unsigned int timeout;
	int ret;
	char why[512];
};

/* A server of job 77 at its own port, with the first `join` ranks connected. */
void world_open(struct world *w, unsigned int ranks, unsigned int join);
void world_close(struct world *w);
/* Starts a gather of 8 bytes; join g->thread, then g->ret is its result. */
void gather_start(struct gatherer *g, struct world *w, unsigned int rank, const char *name,
		  unsigned int timeout);
/* The first gather of all n ranks, which assembles the job. */
void gather_all(struct world *w, unsigned int n);
void sleep_ms(unsigned int ms);

#endif
