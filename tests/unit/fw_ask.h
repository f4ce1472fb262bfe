/* One request at a time to a fake box, without a client. */
#ifndef FW_ASK_H
#define FW_ASK_H

#include "tests/unit/fw_box.h"

struct fw_ask {
	struct rf_ctl_header h;
	struct rf_ctl_request r;
	const uint8_t *key;
	unsigned int port;
	uint32_t ip;
	uint32_t to_ip; /* 0: FW_BOX_IP */
	uint8_t mac;    /* last byte of its Ethernet address; 0: 9 */
	uint16_t vlan;
};

/* The nonce of the next request if its header has none; fw_box_nonce() unless changed. */
extern uint64_t (*fw_ask_nonce)(uint32_t ip);
/* The sequence number of the last request; each request gets the next one. */
extern uint32_t fw_ask_seq;
/* The key of a lab without keys. */
extern const uint8_t fw_ask_zero_key[16];

/* A valid JOIN of rank r of n, from 10.0.0.1 + r on port r mod 4. */
struct fw_ask fw_ask_join(unsigned int r, unsigned int n);
/* The frame of a request; fails the test if the codec refuses it. */
size_t fw_ask_frame(const struct fw_ask *a, uint8_t *frame);
/*
 * The next transmitted frame, decoded as a reply; false: none. It must come from the address to
 * which the last request went.
 */
bool fw_ask_answer(struct fw_box *b, struct rf_ctl_header *h, struct rf_ctl_reply *r);
/* Sends a request and returns the result of its answer; fails the test without an answer. */
unsigned int fw_ask_result(struct fw_box *b, const struct fw_ask *a, struct rf_ctl_reply *r);
/* Adds the next rank to a group that is still joining. */
void fw_ask_accepted(struct fw_box *b, const struct fw_ask *a);
/* A started box of the default shape. */
struct fw_box *fw_ask_box(void);

#endif
