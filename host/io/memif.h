/*
 * The wire of memif 2.0: messages on a SOCK_SEQPACKET unix socket, rings in shared memory. Numbers
 * have the machine's byte order. Positions are offsets in bytes.
 */
#ifndef RF_HOST_MEMIF_H
#define RF_HOST_MEMIF_H

#include <stdint.h>
#include <string.h>

#define MEMIF_VERSION 0x0200u

enum memif_type {
	MEMIF_ACK = 1,
	MEMIF_HELLO = 2,      /* server: its capabilities */
	MEMIF_INIT = 3,       /* client: which end it requests */
	MEMIF_ADD_REGION = 4, /* client: memory, with a file descriptor */
	MEMIF_ADD_RING = 5,   /* client: a ring, with an event descriptor */
	MEMIF_CONNECT = 6,    /* client: setup is complete */
	MEMIF_CONNECTED = 7,  /* server: frames may flow */
	MEMIF_DISCONNECT = 8, /* either: closes, with a reason */
};

/* All messages have the same length. The type comes first; the rest depends on it. */
struct memif_message {
	uint8_t bytes[128];
};

#define MEMIF_TYPE 0u
#define MEMIF_HELLO_MIN 34u
#define MEMIF_HELLO_MAX 36u
#define MEMIF_HELLO_REGIONS 38u /* highest number of a region; then of rings, twice: 0 */
#define MEMIF_HELLO_LOG2 44u
#define MEMIF_INIT_VERSION 2u
#define MEMIF_INIT_ID 4u
#define MEMIF_INIT_MODE 8u
#define MEMIF_REGION_INDEX 2u
#define MEMIF_REGION_SIZE 4u
#define MEMIF_RING_FLAGS 2u
#define MEMIF_RING_TO_SERVER 1u
#define MEMIF_RING_INDEX 4u
#define MEMIF_RING_REGION 6u
#define MEMIF_RING_OFFSET 8u
#define MEMIF_RING_LOG2 12u
#define MEMIF_DISCONNECT_TEXT 6u

/* A ring: head and tail have a cache line each; then the descriptors. */
#define MEMIF_COOKIE 0u
#define MEMIF_COOKIE_VALUE 0x3e31f20u
#define MEMIF_FLAGS 4u
#define MEMIF_MASK_INTERRUPT 1u
#define MEMIF_HEAD 6u
#define MEMIF_TAIL 64u
#define MEMIF_DESCS 128u
#define MEMIF_DESC_BYTES 16u

struct memif_desc {
	uint16_t flags;
#define MEMIF_NEXT 1u /* the frame continues in the next buffer */
	uint16_t region;
	uint32_t length;
	uint32_t offset;
	uint32_t metadata;
};

static inline uint16_t memif_get16(const struct memif_message *m, unsigned int at)
{
	uint16_t v;

	memcpy(&v, m->bytes + at, sizeof(v));
	return v;
}

static inline uint32_t memif_get32(const struct memif_message *m, unsigned int at)
{
	uint32_t v;

	memcpy(&v, m->bytes + at, sizeof(v));
	return v;
}

static inline uint64_t memif_get64(const struct memif_message *m, unsigned int at)
{
	uint64_t v;

	memcpy(&v, m->bytes + at, sizeof(v));
	return v;
}

static inline void memif_put16(struct memif_message *m, unsigned int at, uint16_t v)
{
	memcpy(m->bytes + at, &v, sizeof(v));
}

#endif
