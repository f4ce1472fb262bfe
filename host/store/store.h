/*
 * The store: a small TCP server in rank 0's process at which the ranks of a job meet.
 *
 * It gathers one value from each rank and returns all of them to every rank (an empty gather is a
 * barrier), and notifies all ranks when a rank's process ends or a rank announces a failure. Only a
 * process with the job's key can become a rank; what the ranks say afterwards is neither encrypted
 * nor authenticated. Bounds: RF_RANKS_MAX members and 16 unidentified connections at a time, which
 * must send HELLO within RF_STORE_HELLO_MS; one more replaces the oldest of them.
 *
 * Functions return 0 or a negative enum rf_status with a text in why[room]. Every wait has a
 * deadline.
 */
#ifndef RF_BOOTSTRAP_STORE_H
#define RF_BOOTSTRAP_STORE_H

#include <stddef.h>
#include <stdint.h>

#define RF_STORE_KEY_MAX 64u     /* bytes of a gather's name */
#define RF_STORE_LANE_MAX 160u   /* bytes of a lane */
#define RF_STORE_VALUE_MAX 1024u /* bytes of a value */
#define RF_STORE_TEXT_MAX 400u
#define RF_STORE_HELLO_MS 5000u

struct rf_store_server;

/* The port that it listens at. */
unsigned int rf_store_server_port(const struct rf_store_server *server);

/*
 * Starts the server's thread. host: name or address to listen on; if it is not an address of this
 * machine, listens on all addresses. port: 0 for any that is free. job: not 0. key: 16 bytes, of
 * the job. RF_ERR_RANK_TAKEN: another ringfold store already has the port. RF_ERR_BOOTSTRAP:
 * something else has it, or the name is unknown.
 */
int rf_store_serve(const char *host, unsigned int port, unsigned int ranks, uint64_t job,
		   const uint8_t key[16], struct rf_store_server **server, char *why, size_t room);

/*
 * Waits at most timeout_ms until every member has gone, then ends the thread and closes everything.
 * NULL is allowed.
 */
void rf_store_server_stop(struct rf_store_server *server, unsigned int timeout_ms);

/* The version of a process of another release that has tried to become a rank; 0: none has. */
unsigned int rf_store_server_other(struct rf_store_server *server);

/* One rank's connection. Any thread may call; only rf_store_close() must be alone. */
struct rf_store;

/*
 * Connects, with retries until timeout_ms have passed, and takes the rank. *job is set to the
 * server's job; if it was not 0 before, it must be equal. RF_ERR_RANK_TAKEN; RF_ERR_MISMATCH:
 * another number of ranks, another job or another key; RF_ERR_RANK_MISSING: no server;
 * RF_ERR_BOOTSTRAP: something accepts connections, but does not answer, or answers as no store
 * does.
 */
int rf_store_connect(const char *host, unsigned int port, unsigned int rank, unsigned int ranks,
		     uint64_t *job, const uint8_t key[16], unsigned int timeout_ms,
		     struct rf_store **store, char *why, size_t room);

/*
 * While rf_store_gather() waits it calls idle(arg) every few milliseconds for other work. NULL:
 * nothing. idle() may call all functions that do not wait.
 */
void rf_store_set_idle(struct rf_store *store, void (*idle)(void *arg), void *arg);

/* Says goodbye, so that the other ranks see no failure. NULL is allowed. */
void rf_store_close(struct rf_store *store);

/*
 * A gather: some ranks contribute a value each and get the values of all. Gathers of the same ranks
 * in one lane happen one after another, in the same order on each of them, and must agree in name
 * and length: else RF_ERR_MISMATCH. Gathers in different lanes do not wait for each other.
 */
struct rf_store_gather {
	const uint8_t *ranks; /* set of 16 bytes, own rank included; NULL: all */
	const char *lane; /* up to RF_STORE_LANE_MAX bytes; NULL or "": the one without a name */
	const char *name; /* 1 to RF_STORE_KEY_MAX bytes */
	const void *value;
	size_t len; /* up to RF_STORE_VALUE_MAX */
	unsigned int timeout_ms;
	/*
	 * On success *number is one that the ranks of this gather share, and no gather before or
	 * after it has from the same counter (modulo 2^32): 0, 1, 2, ... NULL on all ranks: none is
	 * needed.
	 */
	uint32_t *number;
	unsigned int counter; /* 0 or 1, if there is a number */
};

struct rf_store_call;

/*
 * Starts a gather without waiting. What g points to is copied, except number, which must stay until
 * the call has ended. RF_ERR_INVALID, RF_ERR_NO_MEMORY, RF_ERR_RANK_LOST.
 */
int rf_store_start(struct rf_store *store, const struct rf_store_gather *g,
		   struct rf_store_call **call, char *why, size_t room);
/*
 * RF_IN_PROGRESS, or the result, which releases the call: 0 and values[k * len] of the k-th rank of
 * the set (values may be NULL if len is 0). RF_ERR_RANK_MISSING: the text names the ranks that have
 * not arrived; RF_ERR_RANK_LOST: one has ended; RF_ERR_MISMATCH: one gathers under another name.
 * RF_ERR_BUSY: the server has too many gathers.
 */
int rf_store_test(struct rf_store *store, struct rf_store_call *call, void *values, char *why,
		  size_t room);
/* Gives a call up, also one that has not ended: its answer is thrown away. NULL is allowed. */
void rf_store_drop(struct rf_store *store, struct rf_store_call *call);
/*
 * The same, and the gather ends for all ranks that have come to it, with RF_ERR_ABORTED, unless it
 * is complete.
 */
void rf_store_cancel(struct rf_store *store, struct rf_store_call *call);
/* Sleeps until something arrives, at most ms milliseconds. */
void rf_store_wait(struct rf_store *store, unsigned int ms);

/* A gather of all ranks in the lane without a name: starts it and waits. values[rank * len]. */
int rf_store_gather(struct rf_store *store, const char *name, const void *value, size_t len,
		    void *values, unsigned int timeout_ms, char *why, size_t room);

/*
 * Notifies all other ranks that this one has failed, or aborts. Does not wait. RF_ERR_BUSY: rank 0
 * has not read earlier ones for so long that this one is dropped.
 */
int rf_store_announce(struct rf_store *store, int status, const char *text);

struct rf_store_event {
	unsigned int rank; /* the rank that the event is about */
	int status;        /* RF_ERR_RANK_LOST: its process ended; else the status it announced */
	char text[RF_STORE_TEXT_MAX]; /* the text it announced */
};

/*
 * Returns the next event, without waiting: 1 and an event, 0 for none, RF_ERR_BOOTSTRAP when the
 * connection to the server has ended (reported once).
 */
int rf_store_poll(struct rf_store *store, struct rf_store_event *event);

/* Formats a set of bits as "rank 2" or "ranks 1, 3 and 4", cut to what fits; returns buf. */
char *rf_store_ranks_text(const uint8_t set[16], char *buf, size_t room);

#endif
