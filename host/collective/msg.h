/*
 * The seam below the collective: a reliable, ordered channel of messages in one direction. One
 * implementation is rf_msg_qp (over struct roce_qp); another uses libibverbs on a real NIC.
 *
 * A rank has two channels: one to its ring successor, on which it sends, one from its predecessor,
 * on which it receives.
 */
#ifndef RF_MSG_H
#define RF_MSG_H

#include <stdint.h>

enum rf_msg_result {
	RF_MSG_OK = 0,
	RF_MSG_AGAIN = 1,   /* queue full: poll, then try again */
	RF_MSG_FAILED = -1, /* the channel has ended */
};

struct rf_msg_event {
	uint64_t id; /* as posted */
	int sent;   /* 1: a send was acknowledged by the peer; 0: a receive has its whole message */
	int status; /* 0, or the channel's own error number: for RoCE an enum roce_wc_status */
	uint32_t len; /* bytes received */
	int has_imm;  /* received: the message had an immediate */
	uint32_t imm;
};

struct rf_msg_ops {
	/*
	 * Sends `len` bytes (1 .. 2^31). The buffer stays in use until the event; struct
	 * roce_send_wr describes when it may be overwritten earlier.
	 */
	int (*post_send)(void *ctx, uint64_t id, const void *buf, uint32_t len);
	/* Posts the buffer for the next message. `buf` may be NULL if `len` is 0. */
	int (*post_recv)(void *ctx, uint64_t id, void *buf, uint32_t len);
	/*
	 * Returns 1 and an event, or 0 if there is none. Events of one kind come in the order of
	 * posting.
	 */
	int (*poll)(void *ctx, struct rf_msg_event *event);
	/*
	 * As post_send, with an immediate; `len` may be 0. NULL: the channel has no immediates, and
	 * cannot serve a directed group.
	 */
	int (*post_imm)(void *ctx, uint64_t id, const void *buf, uint32_t len, uint32_t imm);
};

struct rf_msg {
	const struct rf_msg_ops *ops;
	void *ctx;
};

struct roce_qp;

/* The channel over a queue pair, for either direction. The caller keeps owning the pair. */
struct rf_msg rf_msg_qp(struct roce_qp *qp);

#endif
