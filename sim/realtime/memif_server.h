/*
 * The serving end of a memif, shared by its two halves: memif_control.c talks to the client,
 * io_memif.c moves frames.
 */
#ifndef RF_SIM_REALTIME_MEMIF_SERVER_H
#define RF_SIM_REALTIME_MEMIF_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/un.h>

#include "host/io/io.h"
#include "host/io/memif.h"

#define MEMIF_REGIONS 4u
#define MEMIF_LOG2_RING_MAX 14u
#define MEMIF_WAITING 4u /* connections that have not yet requested an end */
/* They must do so within this time. */
#define MEMIF_WAIT_NS 1000000000u

struct memif_region {
	uint8_t *addr; /* NULL: unused */
	size_t size;
	int fd; /* until it is mapped; else -1 */
};

struct memif_ring {
	bool there;
	uint16_t region;
	uint32_t offset;
	uint8_t log2;
	uint8_t *at; /* only when connected */
	int irq_fd;
};

struct memif {
	struct rf_io io;
	struct memif_listener *listener;
	struct memif *next; /* of the same listener */
	uint32_t id;
	int fd; /* control connection; -1: none */
	bool connected;
	struct memif_region regions[MEMIF_REGIONS];
	struct memif_ring in, out; /* from the client, to the client */
	uint64_t looked;
	int wake_fd;
	uint8_t *rx, *tx; /* RF_IO_BURST frames each */
	uint32_t tx_len[RF_IO_BURST];
	unsigned int tx_n;
};

/* One socket; several ends with different ids may share it. */
struct memif_listener {
	struct memif_listener *next;
	char path[sizeof(((struct sockaddr_un *)0)->sun_path)];
	int fd;
	struct memif *ends;
	struct {
		int fd;         /* -1: unused */
		uint64_t since; /* rf_now_ns() */
	} waiting[MEMIF_WAITING];
};

/* Handles messages of clients and new connections, without waiting. */
void rf_memif_look(struct memif *m);
/* Closes the connection; frames not yet handed out are lost. */
void rf_memif_drop(struct memif *m);
/* Sends a client the reason for its rejection. Always returns false. */
bool rf_memif_refuse(int fd, const char *reason);
/* Closes a descriptor that may be -1, and sets it to -1. */
void rf_memif_close_fd(int *fd);

#endif
