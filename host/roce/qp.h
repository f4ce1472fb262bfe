/*
 * The reliable connection (RC) of RoCEv2 as pure functions: no socket, no clock, no lock, no log,
 * and no allocation except in roce_qp_create(). Source: IBTA specification volume 1, chapter 9
 * (transport), 10 and 11 (queue pairs, work requests).
 *
 * Frames go in through roce_qp_rx() and come out of roce_qp_tx(). The caller passes the time, in ns
 * from any start; it never decreases. So the same code runs under DPDK, in the simulator's virtual
 * time and in unit tests. Most callers use roce_endpoint (endpoint.h), which parses, checks and
 * demultiplexes frames for many queue pairs.
 *
 *	while ((len = roce_qp_tx(qp, now, frame, sizeof(frame))) > 0)
 *		send(frame, len);
 *	while (roce_qp_poll(qp, &cqe))
 *		...
 *	sleep until a frame comes, or until roce_qp_next_timeout(qp)
 *
 * Threads: calls on one queue pair (or on queue pairs of one endpoint) must not overlap.
 * Errors: functions return ROCE_OK or a negative enum roce_error.
 */
#ifndef ROCE_QP_H
#define ROCE_QP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/roce/wire.h"

enum roce_error {
	ROCE_OK = 0,
	ROCE_E_INVALID = -1, /* an argument is out of its range */
	ROCE_E_NO_MEMORY = -2,
	ROCE_E_AGAIN = -3,  /* queue full: poll completions first */
	ROCE_E_STATE = -4,  /* the queue pair's state does not allow it */
	ROCE_E_EXISTS = -5, /* endpoint: the QPN is taken */
};

/* States of IBTA 10.3.1. SQD is not offered; SQE belongs to unreliable services. */
enum roce_qp_state {
	ROCE_QP_INIT, /* receives may be posted */
	ROCE_QP_RTR,  /* receives; does not send */
	ROCE_QP_RTS,  /* receives and sends */
	ROCE_QP_ERR,  /* ended: every work request has completed or will complete with a status */
};

/* Status of a completed work request (IBTA 11.6.2). */
enum roce_wc_status {
	ROCE_WC_SUCCESS = 0,
	ROCE_WC_LOC_LEN_ERR,       /* receive: the message is longer than the buffer */
	ROCE_WC_LOC_PROT_ERR,      /* receive: the peer's WRITE is outside every region */
	ROCE_WC_LOC_QP_ERR,        /* receive: the peer's packets violate the protocol */
	ROCE_WC_FLUSHED,           /* the queue pair had ended for another reason */
	ROCE_WC_REM_INV_REQ_ERR,   /* NAK 61 */
	ROCE_WC_REM_ACCESS_ERR,    /* NAK 62 */
	ROCE_WC_REM_OP_ERR,        /* NAK 63 */
	ROCE_WC_RETRY_EXC_ERR,     /* no acknowledgement after all retries */
	ROCE_WC_RNR_RETRY_EXC_ERR, /* the receiver posted no buffer, after all retries */
	ROCE_WC_STATUSES,
};

/* "success", "retry count exceeded", ... Static text. */
const char *roce_wc_status_name(enum roce_wc_status status);

enum roce_wr_opcode {
	ROCE_WR_SEND,
	ROCE_WR_SEND_IMM,
	ROCE_WR_WRITE,
	ROCE_WR_WRITE_IMM,
};

enum roce_wc_opcode {
	ROCE_WC_SEND,       /* a send work request, SEND or WRITE */
	ROCE_WC_RECV,       /* a SEND came into the buffer */
	ROCE_WC_RECV_WRITE, /* a WRITE with immediate used up the receive; its buffer is untouched
			     */
};

/*
 * Work request to send. The caller owns the bytes and must not change them until the completion was
 * polled...
 */
struct roce_send_wr {
	uint64_t wr_id;
	enum roce_wr_opcode opcode;
	bool solicited; /* sets SE on the last packet */
	const void *buf;
	uint32_t len;       /* 0 .. 2^31 */
	uint32_t imm;       /* host order */
	uint64_t remote_va; /* WRITE */
	uint32_t rkey;      /* WRITE */
};
/*
 * ... with one exception. Payload is read from the buffer each time a packet is sent or repeated,
 * and the ICRC is computed at that time. If the caller knows that the payload of a packet will not
 * be used any more (the box has stored it; a receiver has accepted it), it may overwrite those
 * bytes before the completion: the repeat is a valid packet and only its PSN matters. On a mirror
 * connection the bytes of packet i are not read any more once receive i has completed: the repeat
 * then carries zeroes of the same length. The caller owns the buffer again, although the send has
 * not completed.
 */

/* Buffer for one incoming message; the queue pair owns the bytes until the completion. */
struct roce_recv_wr {
	uint64_t wr_id;
	void *buf;
	uint32_t len;
};

struct roce_cqe {
	uint64_t wr_id;
	enum roce_wc_opcode opcode;
	enum roce_wc_status status;
	uint32_t len; /* bytes of the message; 0 unless status is success */
	bool has_imm;
	uint32_t imm;
};

/* Memory that the peer may WRITE. Referenced, not copied: the caller keeps owning it. */
struct roce_region {
	uint32_t rkey;
	uint64_t va; /* the peer's address of the first byte */
	void *addr;
	uint64_t len;
};

/* retry_cnt: never give up. (The specification's 7 means seven retries here, as in hardware.) */
#define ROCE_RETRY_FOREVER 255u
/* rnr_retry: never give up, as in the specification. */
#define ROCE_RNR_FOREVER 7u

struct roce_qp_cfg {
	/* This end. */
	uint8_t mac[6];
	uint32_t ip; /* host order */
	bool has_vlan;
	uint16_t vlan_tci;
	uint32_t qpn;       /* 24 bits, not 0 or 1 */
	uint16_t udp_sport; /* one value per queue pair; 0: 0xc000 + a fold of the QPN */
	uint8_t tos;        /* of every packet; DSCP 6 bits, ECN 2 bits (2: marks are welcome) */
	/* PSN of the first packet that this end sends. */
	uint32_t sq_psn;
	/*
	 * PSN that this end expects first. Between plain ends it is the peer's sq_psn. Through the
	 * box it is the peer's sq_psn minus 2^22. The box subtracts 2^22 from the PSN of data and
	 * adds it to the PSNs of responses, so a packet that bypasses the box is never delivered.
	 */
	uint32_t rq_psn;
	uint32_t mtu; /* path MTU: 256, 512, 1024, 2048, 4096 */
	/* Largest number of packets sent and not acknowledged, 1 .. 2^22. Through the box: S/2. */
	uint32_t window;
	/* Queue depths in work requests, 0 .. 2^20; 0 if that direction is not used. */
	uint32_t sq_depth;
	uint32_t rq_depth;
	/*
	 * Retransmission: without an acknowledgement for ack_timeout ns the oldest packet is sent
	 * again, then after twice that time, and so on up to ack_timeout_max; after retry_cnt times
	 * without progress the queue pair ends. Only the oldest is repeated, and after it as many
	 * as were acknowledged, so a receiver (or box) that merely waits for another rank does not
	 * get a window of duplicates.
	 */
	uint64_t ack_timeout;
	uint64_t ack_timeout_max;
	uint8_t retry_cnt; /* ROCE_RETRY_FOREVER: no limit */
	uint8_t rnr_retry; /* ROCE_RNR_FOREVER: no limit */
	/* Code (0..31, IBTA table 45) in our RNR NAKs: how long the peer must wait. */
	uint8_t min_rnr_timer;
	/*
	 * Selective retransmission, agreed by both ends and the box: packets are accepted in any
	 * order, and a NAK 60 names one that is missing. SEND only, with or without immediate; each
	 * message fills its receive buffer, unless `single` is set. Window at most 4096.
	 */
	bool selective;
	/*
	 * Every message is one packet, at most MTU bytes, in both directions: packet i uses receive
	 * request i, also if packets before it are missing. It may be shorter than the buffer. ACKs
	 * are requested several times per window and not for each message.
	 */
	bool single;
	/*
	 * Mirror connection: the peer is an address of a box's port, which returns the result of
	 * each packet under its own header (docs/box.md). The peer's QPN is the own QPN, rq_psn =
	 * sq_psn. Draw both at random.
	 */
	bool mirror;
	/* Memory for incoming WRITE; the caller owns the array. */
	const struct roce_region *regions;
	uint32_t region_count;
};

/* The peer, known after bootstrap. */
struct roce_qp_peer {
	uint8_t mac[6]; /* next hop */
	uint32_t ip;
	uint32_t qpn;
};

/* Counters since creation. */
struct roce_qp_counters {
	uint64_t tx_packets;     /* requests, first and repeated */
	uint64_t tx_bytes;       /* their payload */
	uint64_t tx_retransmits; /* of these, sent before */
	uint64_t tx_acks;        /* ACK made */
	uint64_t tx_naks;        /* NAK 60..63 made */
	uint64_t tx_rnr_naks;
	uint64_t rx_packets; /* requests and responses that reached this queue pair */
	uint64_t rx_bytes;   /* payload delivered */
	uint64_t rx_acks;
	uint64_t rx_naks;         /* sequence NAKs */
	uint64_t rx_naks_ignored; /* a second one without progress in between */
	uint64_t rx_fatal_naks;
	uint64_t rx_rnr_naks;
	uint64_t rx_acks_stale; /* acknowledge nothing in flight: ignored */
	uint64_t rx_cnps;       /* congestion notifications */
	uint64_t rx_marked;     /* requests with a CE mark */
	uint64_t tx_cnps;       /* congestion notifications made */
	uint64_t window_cuts;   /* the window was halved */
	uint64_t rx_duplicates; /* requests that had been accepted before */
	uint64_t rx_gaps;       /* requests beyond the expected one */
	uint64_t rx_errors;     /* wrong opcode order, length, access: ended the queue pair */
	uint64_t rx_ignored;    /* packets that do not apply to this state or direction */
	uint64_t timeouts;
};

struct roce_qp;

/*
 * Sets the defaults: MTU 1024, window 256, depths 64, timeout 4 ms to 256 ms, retries 7, RNR
 * forever, code 1.
 */
void roce_qp_cfg_init(struct roce_qp_cfg *cfg);

/*
 * Makes a queue pair in state INIT: one allocation, given back by roce_qp_destroy(). *out is
 * written on success only. ROCE_E_INVALID, ROCE_E_NO_MEMORY.
 */
int roce_qp_create(const struct roce_qp_cfg *cfg, struct roce_qp **out);
/* Frees it; NULL is allowed. The caller owns posted buffers again. */
void roce_qp_destroy(struct roce_qp *qp);

/* INIT -> RTR: may receive now. ROCE_E_STATE, ROCE_E_INVALID. */
int roce_qp_to_rtr(struct roce_qp *qp, const struct roce_qp_peer *peer);
/* RTR -> RTS: may send now. ROCE_E_STATE. */
int roce_qp_to_rts(struct roce_qp *qp);
/* Any state -> ERR: everything posted completes FLUSHED; nothing is sent any more. */
void roce_qp_to_err(struct roce_qp *qp);

/*
 * ROCE_E_AGAIN: the queue is full (a slot is free again when its completion has been polled).
 * ROCE_E_STATE: not RTS. In ERR the request is accepted and completes FLUSHED.
 */
int roce_qp_post_send(struct roce_qp *qp, const struct roce_send_wr *wr);
/*
 * Posts a receive, with the same errors; allowed from INIT on. Messages take buffers in the order
 * of posting.
 */
int roce_qp_post_recv(struct roce_qp *qp, const struct roce_recv_wr *wr);

/*
 * A packet for this queue pair: ICRC, addresses and QPN have been checked by the caller. Payload is
 * copied into the posted buffer before this returns. Never fails: unusable packets are counted.
 */
void roce_qp_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p);

/*
 * Writes the next frame and returns its length, or 0 if there is nothing to send at this time.
 * `room` must be ROCE_FRAME_MAX or more (0 is returned otherwise). Responses go before requests.
 * Timers are checked here: call it at roce_qp_next_timeout() or later.
 */
size_t roce_qp_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room);

/*
 * Packets that a selective queue pair may have in flight where others may have `window` (half of
 * the box's slots): 25/16 of that, at most 4096. This is more than is safe: if another rank's
 * result is missing for long, the box has no room for the last of them. Plain ranks would go back;
 * here these packets are requested again like lost ones. The benefit is that a hole may be repaired
 * before the window ends.
 */
uint32_t roce_selective_window(uint32_t window);

/* Time at which roce_qp_tx() must be called even if no frame arrived; UINT64_MAX: none. */
uint64_t roce_qp_next_timeout(const struct roce_qp *qp);

/*
 * Returns 1 and one completion, or 0. Completions of sends come in the order of posting, and so do
 * those of receives. A send completes successfully only when its last packet was acknowledged.
 * After an error the oldest open request carries the cause and the others FLUSHED.
 */
int roce_qp_poll(struct roce_qp *qp, struct roce_cqe *cqe);

/*
 * The message being received: returns 1, the wr_id of its receive and how many bytes from its start
 * are in the buffer; or 0 if none is under way. Bytes counted here are final.
 */
int roce_qp_recv_progress(const struct roce_qp *qp, uint64_t *wr_id, uint32_t *bytes);

enum roce_qp_state roce_qp_state(const struct roce_qp *qp);
/* Why it is in ERR: SUCCESS if it is not, FLUSHED if roce_qp_to_err() was called. */
enum roce_wc_status roce_qp_error(const struct roce_qp *qp);
const struct roce_qp_counters *roce_qp_counters(const struct roce_qp *qp);
uint32_t roce_qp_qpn(const struct roce_qp *qp);
const struct roce_qp_peer *roce_qp_peer(const struct roce_qp *qp);
/* Requests sent and not acknowledged. */
uint32_t roce_qp_in_flight(const struct roce_qp *qp);
/* Packets that may be in flight at present: cfg.window, or fewer after congestion. */
uint32_t roce_qp_window(const struct roce_qp *qp);
/* 1 if every posted send has been acknowledged (or has ended). */
int roce_qp_send_idle(const struct roce_qp *qp);

/* Nanoseconds of an RNR timer code (IBTA table 45): 0 -> 655,360,000, 1 -> 10,000, ... */
uint64_t roce_rnr_timer_ns(uint8_t code);

#endif
