/*
 * Messages between the store and its clients: be32 length of the rest, one byte verb, body. Numbers
 * are big-endian; a string is a length byte and its bytes.
 */
#ifndef RF_BOOTSTRAP_STORE_WIRE_H
#define RF_BOOTSTRAP_STORE_WIRE_H

#include <stdint.h>

#include "host/store/store.h"

#define STORE_MAGIC 0x52465354u /* "RFST" */
#define STORE_VERSION 1u

enum store_verb {
	/* from a client */
	STORE_HELLO = 1,    /* magic 4, version 1, rank 2, ranks 2, job 8 */
	STORE_GATHER = 4,   /* timeout_ms 4, name, value: the rest */
	STORE_ANNOUNCE = 5, /* status 4, text: the rest */
	STORE_BYE = 6,      /* nothing */
	/* from the server */
	STORE_OK = 7,    /* HELLO: job 8; GATHER: values */
	STORE_ERROR = 8, /* status 4, set of ranks 16, text: the rest */
	STORE_EVENT = 9, /* status 4, rank 2, text: the rest */
};

#define STORE_HEAD 5u /* length and verb */
#define STORE_HELLO_BODY 17u
#define STORE_ERROR_BODY 20u
#define STORE_EVENT_BODY 6u
/* Longest message from a client, and from the server: 128 values. */
#define STORE_REQUEST_MAX (STORE_HEAD + 5u + RF_STORE_KEY_MAX + RF_STORE_VALUE_MAX)
#define STORE_REPLY_MAX (STORE_HEAD + 128u * RF_STORE_VALUE_MAX)

#endif
