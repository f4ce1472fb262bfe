/*
 * Shared by the tools that talk to the box: a device, clients of the control protocol on it, one
 * question at a time.
 */
#ifndef RF_TOOLS_BOXLINK_H
#define RF_TOOLS_BOXLINK_H

#include <stdbool.h>
#include <stdint.h>

#include "host/control/client.h"
#include "host/io/io.h"

struct boxlink {
	struct rf_io *io;
	uint32_t ip;     /* own address, host order */
	uint32_t box_ip; /* host order */
	uint32_t via_ip; /* router on the way there; 0: none */
	uint8_t key[RF_CTL_KEY_BYTES];
	uint64_t job;
	uint64_t answer_ns; /* longest time for the box's answer */
	/* NULL: the box's MAC is resolved by ARP. */
	const uint8_t *box_mac;
	uint32_t first_seq; /* struct rf_client_cfg */
	/* Called for every frame that no client has taken, or NULL. */
	void (*stray)(void *arg, const uint8_t *frame, uint32_t len);
	void *arg;
	size_t turn; /* private: the client that may send first */
};

/* Nanoseconds since any start. */
uint64_t boxlink_now(void);

/* Opens the DPDK device for frames of every path MTU. Returns 0, or -1 with a text. */
int boxlink_open(struct boxlink *b, const char *device, const char *dpdk_args, char *why,
		 size_t room);
void boxlink_close(struct boxlink *b);

/* A client of job b->job; rank RF_CTL_NO_RANK for a tool. */
void boxlink_client(const struct boxlink *b, struct rf_client *client, uint16_t group,
		    uint16_t rank, uint64_t token);

/*
 * Sends and receives frames for all clients until done() is true for each of them or `until` has
 * passed. done NULL: always runs until then. Returns 0, or -1 on timeout.
 */
int boxlink_run(struct boxlink *b, struct rf_client *clients, size_t count,
		bool (*done)(const struct rf_client *), uint64_t until);

/* For boxlink_run(): a JOIN has been answered, or has timed out. */
bool boxlink_joined(const struct rf_client *client);

/* Waits for the answer to the current question. NULL on failure, see rf_client_query(). */
const struct rf_ctl_reply *boxlink_answer(struct boxlink *b, struct rf_client *client);

/* Sends a frame of 60 bytes or more now. False if the device has no room for it. */
bool boxlink_send(struct boxlink *b, const uint8_t *frame, size_t len);

/* Names of the counters of a PORT page, in order; their number in *n. */
const char *const *boxlink_counter_names(unsigned int *n);

#endif
