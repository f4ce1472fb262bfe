/*
 * NICs in one process, behind the functions of libibverbs: each rank has one, and their reliable
 * connections reach each other. The program must be linked with
 *
 *	-Xlinker --wrap=dlopen -Xlinker --wrap=dlsym
 *
 * so that host/back/lib.c finds them. A NIC reads and writes memory when a message is carried, not
 * when it is posted, and only through a key that is registered then: otherwise the work request
 * fails as a real one does.
 */
#ifndef TESTS_FAKE_VERBS_H
#define TESTS_FAKE_VERBS_H

#include <stdbool.h>

#include "host/back/internal.h"
#include "host/io/io.h"

struct fake_verbs_nic {
	struct ibv_context context; /* first */
	struct ibv_pd pd;
	struct rf_io *io; /* is woken by completions; NULL: none */
	unsigned int registered, deregistered;
	unsigned int refuse; /* the next registration fails with this errno */
	unsigned int limit;  /* most regions at a time: ENOMEM; 0: none */
	/* of the last dma-buf */
	int fd;
	uint64_t offset, iova;
	size_t length;
};

/* The library of this process has no ibv_reg_dmabuf_mr. Before its first use. */
extern bool fake_verbs_is_old;
/*
 * Addresses that are reserved, but that neither processor nor NIC can read: what memory of a device
 * looks like. FAKE_VERBS_BYTES; the first call makes it.
 */
#define FAKE_VERBS_BYTES (64u << 10)
char *fake_verbs_memory(void);
/* A descriptor of so many bytes that these NICs take for a dma-buf; -1: none. */
int fake_verbs_dmabuf(size_t bytes);

/* A NIC and its rf_verbs, which rf_verbs_close() frees; the NIC is static: 0 .. 15, fresh. */
struct rf_verbs *fake_verbs_open(unsigned int number, struct rf_io *io);
struct fake_verbs_nic *fake_verbs_at(unsigned int number);

#endif
