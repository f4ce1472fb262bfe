/*
 * Internals of a queue pair, shared by its machines: requester.c sends requests, completer.c reads
 * their acknowledgements, responder.c takes the peer's requests, timeout.c handles timeouts,
 * congestion.c the marks of switches.
 */
#ifndef ROCE_QP_INTERNAL_H
#define ROCE_QP_INTERNAL_H

#include "base/packets.h"
#include "host/roce/qp.h"

struct roce_send_slot {
	struct roce_send_wr wr;
	uint64_t first;   /* number of its first packet */
	uint32_t packets; /* 1 or more */
	enum roce_wc_status status;
};

struct roce_recv_slot {
	struct roce_recv_wr wr;
	enum roce_wc_opcode opcode;
	enum roce_wc_status status;
	uint32_t len;
	bool has_imm;
	uint32_t imm;
};

/*
 * A queue is a ring of slots with three running counters: polled <= done <= posted, at most `depth`
 * apart. A work request keeps its slot until its completion has been polled, so there is no
 * completion queue that could overflow. Slots are a power of two, found by the counter's low bits.
 */
struct roce_queue {
	uint32_t polled;
	uint32_t done;
	uint32_t posted;
	uint32_t depth;
	uint32_t mask;
};

enum roce_timer {
	ROCE_TIMER_IDLE,
	ROCE_TIMER_ACK, /* something is unacknowledged */
	ROCE_TIMER_RNR, /* the peer asked us to wait; nothing is sent */
};

/*
 * Packets are numbered from 0 in 64 bits, so nothing wraps: PSN = sq_psn + number, modulo 2^24.
 *	una <= nxt <= end, una <= max <= end, max - una <= window
 */
struct roce_requester {
	struct roce_queue q;
	struct roce_send_slot *slots;
	uint64_t una; /* first packet that is not acknowledged */
	uint64_t nxt; /* next to be sent; below max after a step back */
	uint64_t max; /* one past the last that was ever sent */
	uint64_t end; /* one past the last that is posted */
	uint32_t cur; /* slot counter of the request that nxt belongs to */
	/* Largest number of packets in flight: the window; while recovering 1, 2, 4, ... */
	uint32_t limit;
	/* congestion.c: the window at present, at most cfg.window. */
	uint32_t window;
	uint32_t grown;     /* packets acknowledged since it last grew */
	bool slow_start;    /* it doubles in each round trip: nothing has been marked yet */
	uint64_t cut_end;   /* it is not halved again before this packet is acknowledged */
	bool recovering;    /* a timeout stepped back to una, and nxt has not caught up with max */
	uint32_t ack_every; /* packets from one AckReq to the next */
	uint32_t retries;   /* timeouts without progress */
	uint32_t rnr_retries;
	bool nak_obeyed; /* a sequence NAK was acted on and nothing was acknowledged since */
	enum roce_timer timer;
	uint64_t deadline;
	uint64_t timeout; /* length of the next timeout: doubles each time */
};

enum roce_response {
	ROCE_RESPONSE_NONE,
	ROCE_RESPONSE_ACK,
	ROCE_RESPONSE_NAK, /* the syndrome gives the kind */
};

struct roce_responder {
	struct roce_queue q;
	struct roce_recv_slot *slots;
	uint32_t epsn; /* expected PSN */
	uint32_t msn;
	bool in_message; /* FIRST has come, LAST has not */
	bool is_write;
	uint8_t *dst;    /* start of the message's buffer */
	uint32_t room;   /* size of the message's buffer */
	uint32_t offset; /* bytes received */
	/* A NAK was sent for epsn: send no other until that packet arrives (IBTA 9.7.5.2.8). */
	bool nak_sent;
	enum roce_response response; /* the response waiting to be sent */
	uint8_t syndrome;
	uint8_t fatal; /* syndrome of the NAK that ended the connection, 0 if none */
};

#define ROCE_SELECTIVE_REACH 4096u /* packets beyond the expected one that can be tracked */
#define ROCE_SELECTIVE_LIST 256u

/* A queue of packet numbers without duplicates. */
struct roce_packet_list {
	uint64_t number[ROCE_SELECTIVE_LIST];
	uint32_t head, count;
};

/* A packet that is missing although later ones have arrived. */
struct roce_hole {
	uint64_t number;
	uint64_t first; /* time of the first NAK for it */
	uint64_t asked; /* of the last one */
	uint64_t due;   /* of the next one */
	uint32_t times; /* NAKs so far */
};

/* selective.c. The responder numbers packets from 0 as the requester does. */
struct roce_selective {
	struct roce_packet_list resend; /* requester: packets requested again */
	uint64_t asked;                 /* requester: the last one requested, and when */
	uint64_t asked_at;
	uint64_t run;   /* packets repeated because of it */
	bool copy;      /* the first of two copies was sent */
	uint64_t probe; /* requester: when to probe after a long silence; UINT64_MAX: never */
	struct roce_hole holes[ROCE_SELECTIVE_LIST]; /* responder: missing packets, ascending */
	uint32_t hole_count;
	uint64_t due;  /* when the next hole is requested; UINT64_MAX: none */
	uint64_t trip; /* from a NAK to the packet, smoothed, and how it varies: ns; 0: unknown
			*/
	uint64_t varies;
	uint64_t next;    /* responder: the first missing packet */
	uint64_t highest; /* one past the highest received */
	uint64_t first;   /* first packet of the oldest open receive */
	uint64_t named;   /* responder: the last one requested ... */
	bool again;       /* ... which is requested once more */
	uint64_t present[ROCE_SELECTIVE_REACH / 64];
};

struct roce_qp {
	struct roce_qp_cfg cfg;
	struct roce_qp_peer peer;
	enum roce_qp_state state;
	enum roce_wc_status error;
	struct roce_requester rq;
	struct roce_responder rs;
	struct roce_selective sel;
	bool cnp;                  /* a CNP is to be sent */
	uint64_t cnp_after;        /* no other CNP before this time */
	struct roce_packet header; /* header fields common to all our packets */
	struct roce_qp_counters n;
};

/* queue.c */
/* Slots for a depth: the next power of two, at least 1. */
uint32_t roce_queue_slots(uint32_t depth);
void roce_queue_init(struct roce_queue *q, uint32_t depth);
/* Ends the queue pair, with the cause for the oldest open request of either side (SUCCESS: none).
 */
void roce_qp_fail(struct roce_qp *qp, enum roce_wc_status send, enum roce_wc_status recv);

/* requester.c */
size_t roce_requester_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room);
/* Steps back to the first unacknowledged packet. */
void roce_requester_rewind(struct roce_qp *qp);
/* Cancels a rewind: resume at the first unsent packet. */
void roce_requester_skip(struct roce_qp *qp);

/* completer.c: handles a packet with AETH. */
void roce_completer_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p);

/* responder.c */
void roce_responder_rx(struct roce_qp *qp, uint64_t now, const struct roce_packet *p);
size_t roce_responder_tx(struct roce_qp *qp, uint64_t now, uint8_t *frame, size_t room);

/* selective.c */
enum roce_selective_verdict {
	ROCE_SELECTIVE_SILENT,
	ROCE_SELECTIVE_ACK,
	ROCE_SELECTIVE_NOT_READY, /* no receive is posted */
	ROCE_SELECTIVE_REFUSE,    /* not what both ends agreed on */
};
void roce_selective_asked(struct roce_qp *qp, uint64_t now, uint64_t n);
void roce_selective_timeout(struct roce_qp *qp);
/* Something happened: restarts the probe timer. */
void roce_selective_busy(struct roce_qp *qp, uint64_t now);
/* Sends the probe: nothing has happened for long. */
void roce_selective_quiet(struct roce_qp *qp);
/* The next packet to repeat. */
bool roce_selective_next(struct roce_qp *qp, uint64_t *n);
/* Handles a request that is `ahead` packets beyond the expected one. */
enum roce_selective_verdict roce_selective_rx(struct roce_qp *qp, uint64_t now,
					      const struct roce_packet *p, uint32_t ahead);
/* PSN of a packet to request now. */
bool roce_selective_nak(struct roce_qp *qp, uint64_t now, uint32_t *psn);

/* congestion.c */
/* The window at the start. */
void roce_congestion_start(struct roce_qp *qp);
/* A request came with a CE mark. */
void roce_congestion_marked(struct roce_qp *qp, uint64_t now);
/* Halves the window, at most once per round trip. */
void roce_congestion_cut(struct roce_qp *qp);
/* `acked` packets were acknowledged while the window is smaller than cfg.window. */
void roce_congestion_grow(struct roce_qp *qp, uint64_t acked);
/* Writes the CNP that is waiting. Returns its length. */
size_t roce_congestion_tx(struct roce_qp *qp, uint8_t *frame, size_t room);

/* timer.c */
void roce_timer_start(struct roce_requester *rq, enum roce_timer timer, uint64_t at);
void roce_timer_stop(struct roce_requester *rq);
/* Restarts the acknowledgement timer, or stops it when nothing is in flight. */
void roce_timer_ack(struct roce_requester *rq, uint64_t now);

/* timeout.c: the timer of the requester has expired. */
void roce_timeout(struct roce_qp *qp, uint64_t now);

static inline uint32_t roce_packets_of(const struct roce_qp *qp, uint32_t len)
{
	return rf_packets_of(len, qp->cfg.mtu);
}

static inline uint32_t roce_psn_add(uint32_t psn, uint64_t n)
{
	return (uint32_t)(psn + n) & ROCE_PSN_MASK;
}

/* How far a follows b, modulo 2^24: less than 2^23 means that a is not older than b. */
static inline uint32_t roce_psn_distance(uint32_t a, uint32_t b)
{
	return (a - b) & ROCE_PSN_MASK;
}

#endif
