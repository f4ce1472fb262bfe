/*
 * Messages between the store and its clients: be32 length of the rest, one byte verb, body. Numbers
 * are big-endian; a string is a length byte and its bytes; a set has bit r % 8 of byte r / 8 for
 * rank r.
 */
#ifndef RF_BOOTSTRAP_STORE_WIRE_H
#define RF_BOOTSTRAP_STORE_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "host/store/store.h"
#include "proto/rf_siphash.h"

#define STORE_MAGIC 0x52465354u /* "RFST" */
#define STORE_VERSION 3u
/*
 * The text of the ERROR to a HELLO of another version begins with this, followed by the server's;
 * of all releases.
 */
#define STORE_SPEAKS "it speaks version "

enum store_verb {
	/* from a client */
	STORE_HELLO = 1, /* magic 4, version 1, rank 2, ranks 2, job 8, tag 8 */
	/* id 4, timeout_ms 4, flags 1, ranks that take part 16, lane, name, value: the rest */
	STORE_GATHER = 4,
	STORE_ANNOUNCE = 5, /* status 4, text: the rest */
	STORE_BYE = 6,      /* nothing */
	STORE_CANCEL = 13,  /* id 4, of a GATHER that was not answered */
	/* from the server */
	STORE_OK = 7,         /* HELLO: job 8 */
	STORE_ERROR = 8,      /* HELLO: status 4, set of ranks 16, text: the rest */
	STORE_EVENT = 9,      /* status 4, rank 2, text: the rest */
	STORE_CHALLENGE = 10, /* the first message of a connection: random 8 */
	STORE_VALUES = 11,    /* GATHER: id 4, number 4, values by rank */
	STORE_FAILED = 12,    /* GATHER: id 4, status 4, set of ranks 16, text: the rest */
};

#define STORE_HEAD 5u /* length and verb */
#define STORE_HELLO_BODY 25u
#define STORE_HELLO_TAG 17u /* offset of the tag */
#define STORE_CHALLENGE_BODY 8u
#define STORE_ERROR_BODY 20u
#define STORE_EVENT_BODY 6u
#define STORE_GATHER_HEAD 25u /* before the strings */
#define STORE_VALUES_HEAD 8u
#define STORE_FAILED_HEAD 24u
#define STORE_COUNTERS 2u /* flags: 0, or the counter, from 1, that gives the gather a number */
/* Longest message from a client, and from the server: 128 values. */
#define STORE_REQUEST_MAX                                                                          \
	(STORE_HEAD + STORE_GATHER_HEAD + 2u + RF_STORE_LANE_MAX + RF_STORE_KEY_MAX +              \
	 RF_STORE_VALUE_MAX)
#define STORE_REPLY_MAX (STORE_HEAD + STORE_FAILED_HEAD + 128u * RF_STORE_VALUE_MAX)

static inline bool store_set_has(const uint8_t set[16], unsigned int rank)
{
	return set[rank / 8] >> (rank % 8) & 1;
}

static inline void store_set_add(uint8_t set[16], unsigned int rank)
{
	set[rank / 8] |= (uint8_t)(1u << (rank % 8));
}

/* The tag of a HELLO: SipHash-2-4 with the job's key over the challenge and the body before it. */
static inline uint64_t store_tag(const uint8_t key[RF_SIPHASH_KEY_BYTES],
				 const uint8_t challenge[STORE_CHALLENGE_BODY],
				 const uint8_t hello[STORE_HELLO_BODY])
{
	uint8_t text[STORE_CHALLENGE_BODY + STORE_HELLO_TAG];

	memcpy(text, challenge, STORE_CHALLENGE_BODY);
	memcpy(text + STORE_CHALLENGE_BODY, hello, STORE_HELLO_TAG);
	return rf_siphash(key, text, sizeof(text));
}

#endif
