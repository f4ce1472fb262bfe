/*
 * The all-reduce of a group at a box with one type and operation, as a pure state machine over two
 * message channels: no clock, no thread, and no allocation except in rf_coll_create(). Details and
 * proofs of order: docs/collective.md. Groups with all collectives: directed.h; without a box:
 * hosts.h.
 *
 *	rf_coll_start(coll, id, send, recv, count);
 *	for (;;) {
 *		drive the transport;
 *		rf_coll_progress(coll);
 *		while (rf_coll_poll(coll, &done)) ...
 *	}
 *
 * All ranks of a group must start the same operations, with equal counts, in the same order.
 */
#ifndef RF_COLLECTIVE_H
#define RF_COLLECTIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/arith.h"
#include "host/collective/msg.h"

enum rf_coll_error {
	RF_COLL_OK = 0,
	RF_COLL_AGAIN = 1,      /* max_ops are outstanding: progress and poll first */
	RF_COLL_E_INVALID = -1, /* an argument is out of its range, or count is 0 */
	RF_COLL_E_NO_MEMORY = -2,
	RF_COLL_E_ALIGNMENT = -3, /* a buffer is not aligned to its element */
	RF_COLL_E_OVERLAP = -4,   /* buffers overlap without being equal */
	RF_COLL_E_CHANNEL = -5, /* a channel failed: rf_coll_failure() returns which one and why */
	RF_COLL_E_LENGTH = -6, /* a message had an unexpected length: counts differ between ranks */
	/* Directed groups and hosts only. */
	RF_COLL_E_IMMEDIATE = -7, /* a result has another immediate than its packet */
	RF_COLL_E_PRODUCT = -8,   /* the product: no box has it */
};

/* Packets in a message unless cfg sets another number. */
#define RF_COLL_MESSAGE_PACKETS 64u

struct rf_coll_cfg {
	uint32_t rank;
	uint32_t ranks; /* 1 or more; 1 is a copy and uses no channel */
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint32_t mtu; /* path MTU, bytes */
	/* Largest message in bytes: a multiple of mtu, the same on all ranks; 0: 64 packets. */
	uint32_t message_bytes;
	/*
	 * Largest number of packets in posted messages that are not acknowledged. 0: no limit, the
	 * channel keeps the window itself (as rf_msg_qp does). A NIC does not: through the box set
	 * S/2.
	 */
	uint32_t window_packets;
	uint32_t max_ops; /* most operations outstanding, 1 .. 1024; 0: 8 */
	/*
	 * An operation is done when its results are here, whatever is acknowledged: on a mirror
	 * connection of our own transport. Only without window_packets.
	 */
	bool results_suffice;
	struct rf_msg to_next;
	struct rf_msg from_prev;
};

struct rf_coll;

struct rf_coll_done {
	uint64_t id;
	int status; /* RF_COLL_OK or the error */
};

/* Makes one allocation. *out is written on success only. RF_COLL_E_INVALID, RF_COLL_E_NO_MEMORY. */
int rf_coll_create(const struct rf_coll_cfg *cfg, struct rf_coll **out);
/* NULL is allowed. The channels must not touch the buffers any more: end the queue pairs first. */
void rf_coll_destroy(struct rf_coll *coll);

/*
 * Starts an all-reduce of `count` elements. Both buffers must stay valid until the operation is
 * done; send is only read, and send == recv is allowed. RF_COLL_AGAIN: too many are outstanding.
 * RF_COLL_E_CHANNEL, RF_COLL_E_LENGTH: the group had failed before.
 */
int rf_coll_start(struct rf_coll *coll, uint64_t id, const void *send, void *recv, size_t count);
/*
 * Processes the channels' events and posts what can be posted. Returns how many things it did (0:
 * wait for the transport), or the error that ended the group. In that case every operation is done
 * with that status, and the caller owns the buffers again once the channels have ended.
 */
int rf_coll_progress(struct rf_coll *coll);

/*
 * Returns 1 and the oldest finished operation, or 0. Done means that the whole result is here AND
 * (unless cfg.results_suffice) that everything this rank sent for it has been acknowledged, so no
 * rank needs anything from this one any more.
 */
int rf_coll_poll(struct rf_coll *coll, struct rf_coll_done *done);

/* Operations started and not yet polled. */
uint32_t rf_coll_outstanding(const struct rf_coll *coll);

/*
 * After an error: the channel that failed (0: to the successor, 1: from the predecessor) and its
 * status.
 */
void rf_coll_failure(const struct rf_coll *coll, int *channel, int *status);

/* Text of enum rf_coll_error. Static. */
const char *rf_coll_error_name(int error);

#endif
