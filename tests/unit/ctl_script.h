/*
 * A scripted box for tests of the control client: reads a client's requests and builds any answer.
 * The client is rank 3 of 4 in group 1 of job 42. Failures are cmocka's.
 */
#ifndef CTL_SCRIPT_H
#define CTL_SCRIPT_H

#include "host/control/client.h"

#define MS 1000000ull
#define SCRIPT_BOX_IP 0x0a0000feu
#define SCRIPT_OWN_IP 0x0a000003u

extern const uint8_t script_own_mac[6];
extern const uint8_t script_box_mac[6];
extern const uint8_t script_key[16];
extern const struct rf_ctl_join script_join;

struct rf_client script_client(bool know_mac);
/* A client that is READY, at time 1 ms, box epoch 9. */
struct rf_client script_ready_client(void);

/* The request in the frame that is due, or 0. */
unsigned int script_request(struct rf_client *c, uint64_t now, struct rf_ctl_header *h,
			    struct rf_ctl_request *q);

struct rf_ctl_reply script_waiting(void);
struct rf_ctl_reply script_ready(void);
struct rf_ctl_reply script_failed(enum rf_ctl_reason why, unsigned int rank);
struct rf_ctl_reply script_group_page(unsigned int state);

/* The box's answer to a request of c with this header, signed with the key k; NULL: not signed. The
 * length of the frame, which has RF_CTL_FRAME_MAX bytes of room. */
size_t script_reply_frame(const struct rf_client *c, const struct rf_ctl_header *to,
			  const struct rf_ctl_reply *r, const uint8_t *k, uint32_t epoch,
			  uint8_t *frame);
/* Passes the same frame to the client; returns the result of rf_client_rx(). */
int script_reply(struct rf_client *c, uint64_t now, const struct rf_ctl_header *to,
		 const struct rf_ctl_reply *r, const uint8_t *k, uint32_t epoch);

#endif
