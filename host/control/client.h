/*
 * A rank's end of the control protocol (docs/control-protocol.md), as pure functions: no socket, no
 * clock, no allocation. One struct is one membership of one rank in one group of a job, or an
 * operator's tool (job 0).
 *
 * The caller moves frames (Ethernet without FCS) and time. `now` is in ns from any start and never
 *runs backwards.
 *
 *	rf_client_init(&c, &cfg);
 *	rf_client_join(&c, &join, now);
 *	loop:
 *		while ((n = rf_client_tx(&c, now, frame, sizeof(frame))) > 0)
 *			send(frame, n);
 *		wait for a frame or until rf_client_next_timeout(&c);
 *		rf_client_rx(&c, now, frame, n);     (consumes only what is its own)
 *	until rf_client_state(&c) is READY or FAILED
 *
 * Keep the loop running while READY: it renews the lease and learns that the group has failed.
 * What comes from the network is not trusted: no frame crashes it, and nothing without a right tag
 * changes its state, refusals of the key itself excepted (the box cannot sign those; they end a
 *JOIN only when repeated and never answered otherwise).
 */
#ifndef RF_CLIENT_H
#define RF_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/rf_ctl.h"

#define RF_CLIENT_FRAME_MAX RF_CTL_FRAME_MAX
#define RF_CLIENT_NEVER UINT64_MAX

enum rf_client_state {
	RF_CLIENT_IDLE = 0,      /* nothing asked, or the group has ended */
	RF_CLIENT_RESOLVING = 1, /* asks for the box's MAC by ARP */
	RF_CLIENT_JOINING =
		2, /* JOIN sent; waiting() tells who is missing once the box has answered */
	RF_CLIENT_READY = 3,    /* ready() holds */
	RF_CLIENT_DRAINING = 4, /* LEAVE asked; left_acked() tells whether the box has heard it */
	RF_CLIENT_FAILED = 5,   /* error() holds */
};

/* Why a client is FAILED. */
enum rf_client_error {
	RF_CLIENT_E_NONE = 0,
	RF_CLIENT_E_NO_ARP,    /* nobody answers for the box's address */
	RF_CLIENT_E_NO_ANSWER, /* ARP is answered, control packets are not */
	RF_CLIENT_E_REFUSED,   /* the box refused the JOIN: failed() has the reason */
	RF_CLIENT_E_GROUP,     /* it failed after this rank was in it: failed() has the reason */
	RF_CLIENT_E_RESET,     /* the box was reset or restarted since READY */
	RF_CLIENT_E_SILENT,    /* the box answered before and does not any more */
};

struct rf_client_cfg {
	uint8_t mac[6]; /* own */
	uint32_t ip;    /* own; the box is in the same subnet */
	uint32_t box_ip;
	uint16_t vlan;     /* tag control information for all frames, or RF_CTL_NO_VLAN */
	uint16_t udp_port; /* UDP source port, 0: 49152 */
	uint64_t job;
	uint16_t group, rank; /* a tool that is no rank: RF_CTL_NO_RANK */
	uint64_t token; /* random, not 0; later memberships of this struct derive theirs from it */
	uint8_t key[RF_CTL_KEY_BYTES]; /* of the job; all zero where the box has none */
	bool have_box_mac;
	uint8_t box_mac[6];    /* have_box_mac: no ARP is needed */
	uint64_t retry_ns;     /* first repetition of a request, 0: 20 ms; doubled each time ... */
	uint64_t retry_max_ns; /* ... up to this, 0: 1 s */
	uint64_t keepalive_ns; /* READY: time between signs of life; 0: a quarter of the lease, at
				  most 1 s */
	uint64_t answer_ns; /* the box must answer within this, 0: 5 s; time by which the caller is
			       late with a sending does not count */
};

/* One question outside of the membership: STATUS, ABORT, RESET, RELEASE. */
enum rf_client_query {
	RF_CLIENT_Q_NONE = 0,
	RF_CLIENT_Q_WAITING, /* asked, no answer yet */
	RF_CLIENT_Q_DONE,    /* rf_client_answer() has it */
	RF_CLIENT_Q_FAILED,  /* no answer in time, or refused: rf_client_answer() has a FAILED or is
				NULL */
};

struct rf_client_stats {
	uint64_t tx, rx;       /* control frames */
	uint64_t repeats;      /* requests sent again */
	uint64_t rx_bad_tag;   /* from the box's address, tag wrong */
	uint64_t rx_malformed; /* lengths, magic, version, fields */
	uint64_t rx_stale;     /* answers to something older, or to somebody else */
	uint64_t rx_unsigned;  /* refusals without a tag */
};

/* A request that is repeated with growing distance until it is answered. Private. */
struct rf_client_timer {
	uint64_t due;      /* next sending */
	uint64_t interval; /* to the one behind it */
	uint64_t deadline; /* of the answer */
};

/* Private; public only so that the caller can place it. */
struct rf_client {
	struct rf_client_cfg cfg;
	struct rf_client_stats stats;
	enum rf_client_state state;
	enum rf_client_error error;
	struct rf_ctl_join join;
	bool box_mac_known, qp_destroyed, answered, member, left_acked, open_lab;
	bool have_waiting, have_ready, have_failed, have_draining;
	uint8_t box_mac[6];
	uint8_t refusals;               /* unsigned ones in a row, to different sendings */
	uint32_t refused_seq, sent_seq; /* the last one refused so; the membership's last */
	uint8_t last_verb, last_left;   /* FAILED: ABORT or LEAVE still to be sent so often */
	uint32_t last_code;
	uint64_t nonce;               /* the box's last one */
	uint64_t query_nonce;         /* RESET and ABORT are repeated byte by byte */
	uint32_t epoch, seq, seen[2]; /* even numbers are the membership's, odd ones the query's */
	uint64_t token, join_deadline;
	uint64_t asked; /* the membership's last sending */
	struct rf_client_timer arp, req, last, ask;
	enum rf_client_query query;
	uint8_t query_verb;
	bool query_sent;
	uint8_t query_refusals;
	struct rf_ctl_request query_req;
	uint32_t query_seq, query_from; /* last number of this question, lowest possible one */
	struct rf_ctl_waiting waiting;
	struct rf_ctl_ready ready;
	struct rf_ctl_failed failed;
	struct rf_ctl_draining draining;
	struct rf_ctl_reply reply, answer;
};

/* cfg is copied. Nothing is sent until something is asked. */
void rf_client_init(struct rf_client *c, const struct rf_client_cfg *cfg);

/*
 * Asks for membership; from IDLE or FAILED. Fails with RF_CLIENT_E_NO_ARP / _NO_ANSWER after
 * cfg.answer_ns, with the box's reason, or, should the box itself fall silent, answer_ns behind the
 * deadline of the JOIN. join->src_ip 0: cfg.ip. Returns 0, or -1 in another state.
 */
int rf_client_join(struct rf_client *c, const struct rf_ctl_join *join, uint64_t now);

/*
 * Leaves the group: DRAINING, and IDLE when the box says that it has ended. qp_destroyed: the queue
 * pair no longer exists, so that plain connections need no tombstone; may be called again to say so
 * later, also after the end or a failure. A rank that is still JOINING aborts instead. Returns 0,
 * or -1 if there is nothing to leave.
 */
int rf_client_leave(struct rf_client *c, bool qp_destroyed, uint64_t now);

/*
 * Tells the box that this rank gives the group up; the others see FAILED(ABORTED) with rank and
 * code (enum rf_ctl_abort or >= 0x100). Sent three times at cfg.retry_ns or until confirmed. State
 * becomes FAILED with reason ABORTED at once. Returns 0, or -1 if there is no group.
 */
int rf_client_abort(struct rf_client *c, uint32_t code, uint64_t now);

/*
 * Operator (cfg.job = 0): aborts any group. As a query. Returns 0, or -1 while another query is
 * open.
 */
int rf_client_drop(struct rf_client *c, uint64_t job, uint16_t group, uint32_t code, uint64_t now);

/* STATUS of one page (enum rf_ctl_page); job and group are the operator's choice, otherwise
 * ignored. As above. */
int rf_client_status(struct rf_client *c, const struct rf_ctl_status_req *req, uint64_t now);
/* Operator: RESET. As above. */
int rf_client_reset(struct rf_client *c, uint64_t now);
/* Operator: RELEASE of a held connection; ip 0: of all, and the hold time ends. As above. */
int rf_client_release(struct rf_client *c, uint32_t ip, uint32_t qpn, uint64_t now);

/* The frame that is due now: its length, written to frame, or 0. room >= RF_CLIENT_FRAME_MAX. Call
 * until 0. */
size_t rf_client_tx(struct rf_client *c, uint64_t now, uint8_t *frame, size_t room);

/*
 * Offers a frame. Returns 1 if it was the box's ARP or control packet for this client (nobody else
 * needs it), 0 if it is not for this client (RoCE, other groups' replies). ARP replies return 0:
 * other clients want them too.
 */
int rf_client_rx(struct rf_client *c, uint64_t now, const uint8_t *frame, size_t len);

/* When rf_client_tx() next has something to do, in ns; RF_CLIENT_NEVER. */
uint64_t rf_client_next_timeout(const struct rf_client *c);

enum rf_client_state rf_client_state(const struct rf_client *c);
enum rf_client_error rf_client_error(const struct rf_client *c);

/* NULL until the box has said so; valid until the next call with c. */
const struct rf_ctl_waiting *rf_client_waiting(const struct rf_client *c);
const struct rf_ctl_ready *rf_client_ready(const struct rf_client *c); /* READY and later states */
const struct rf_ctl_failed *
rf_client_failed(const struct rf_client *c); /* FAILED by the box's word */
/* DRAINING: who has not left. READY: not NULL once the box says that another rank has left. */
const struct rf_ctl_draining *rf_client_draining(const struct rf_client *c);
/* DRAINING or IDLE: the box has confirmed the LEAVE. */
bool rf_client_left_acked(const struct rf_client *c);
/* The box has no keys configured: worth a warning. */
bool rf_client_open_lab(const struct rf_client *c);

/* The query's state, and its answer when DONE or refused. */
enum rf_client_query rf_client_query(const struct rf_client *c);
const struct rf_ctl_reply *rf_client_answer(const struct rf_client *c);

/*
 * One line without newline that names cause and remedy: "ranks 2, 5 have not joined: start them or
 * raise the deadline". Also for states that are no error ("waiting for ranks 2, 5"). Always
 * terminated; returns the length written, cut at room.
 */
size_t rf_client_text(const struct rf_client *c, char *text, size_t room);

/* "READY"; static. */
const char *rf_client_state_name(enum rf_client_state state);

#endif
