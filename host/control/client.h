/*
 * The host side of the control protocol (docs/control-protocol.md), without sockets, clocks or
 * allocation. One struct is one membership of one rank in one group of a job, or an operator's tool
 * (job 0).
 *
 * The caller supplies frames (Ethernet without FCS) and the time. `now` is in ns from an arbitrary
 * start and never decreases.
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
 * A mirror rank (RF_CTL_J_MIRROR) asks at the box's address; the answer names the address of a port
 * (rf_client_port_ip()). The client then sends the same JOIN there, and all later requests.
 *
 * Keep the loop running while READY: it renews the lease and detects that the group has failed.
 * Input from the network is not trusted: no frame can crash the client, and only frames with a
 * correct tag change its state. The exception is a refusal because of the key, which the box cannot
 * sign; it ends a JOIN only if it is repeated and no signed answer comes.
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
	RF_CLIENT_IDLE = 0,      /* no request, or the group has ended */
	RF_CLIENT_RESOLVING = 1, /* asking for the box's MAC by ARP */
	RF_CLIENT_JOINING = 2,   /* JOIN sent; rf_client_waiting() lists the missing ranks once the
				    box has answered */
	RF_CLIENT_READY = 3,     /* rf_client_ready() is valid */
	RF_CLIENT_DRAINING =
		4, /* leaving; rf_client_left_acked(): whether the box has confirmed it */
	RF_CLIENT_FAILED = 5, /* rf_client_error() has the cause */
};

/* Why a client is FAILED. */
enum rf_client_error {
	RF_CLIENT_E_NONE = 0,
	RF_CLIENT_E_NO_ARP,    /* no ARP reply for the box's address */
	RF_CLIENT_E_NO_ANSWER, /* ARP is answered, control packets are not */
	RF_CLIENT_E_REFUSED,   /* the box refused the JOIN: rf_client_failed() has the reason */
	RF_CLIENT_E_GROUP,  /* the group failed after this rank had joined: rf_client_failed() has
			       the reason */
	RF_CLIENT_E_RESET,  /* the box was reset or restarted since READY */
	RF_CLIENT_E_SILENT, /* the box has stopped answering */
	RF_CLIENT_E_NO_PORT_ARP, /* mirror: no ARP reply for the address of the box's port */
};

struct rf_client_cfg {
	uint8_t mac[6]; /* own */
	uint32_t ip;    /* own */
	uint32_t box_ip;
	uint32_t via_ip;   /* router on the way to the box; 0: the box is in the same subnet */
	uint16_t vlan;     /* tag control information for all frames, or RF_CTL_NO_VLAN */
	uint16_t udp_port; /* UDP source port, 0: 49152 */
	uint64_t job;
	uint16_t group, rank; /* RF_CTL_NO_RANK: a tool that is not a rank */
	uint64_t token; /* random, not 0; later memberships of this struct derive theirs from it */
	/* Requests are numbered from here. 0 for a random token; if an earlier process has used the
	   token, above its numbers, because the box does not answer those again. */
	uint32_t first_seq;
	uint8_t key[RF_CTL_KEY_BYTES]; /* of the job; all zero if the box has no keys */
	bool have_box_mac;
	uint8_t box_mac[6];    /* have_box_mac: no ARP is needed */
	uint64_t retry_ns;     /* first repetition of a request, 0: 20 ms; doubled each time ... */
	uint64_t retry_max_ns; /* ... up to this, 0: 1 s */
	uint64_t keepalive_ns; /* READY: time between signs of life; 0: a quarter of the lease, at
				  most 1 s */
	uint64_t answer_ns; /* the box must answer within this, 0: 5 s; time during which the caller
			       did not send when due is not counted */
	/* What the user calls answer_ns, in texts; NULL: the user cannot change it. Outlives the
	   client. */
	const char *answer_name;
};

/* State of a query, that is a request outside of the membership: STATUS, ABORT, RESET, RELEASE. */
enum rf_client_query {
	RF_CLIENT_Q_NONE = 0,
	RF_CLIENT_Q_WAITING, /* sent, no answer yet */
	RF_CLIENT_Q_DONE,    /* rf_client_answer() has it */
	RF_CLIENT_Q_FAILED, /* refused or not answered in time: rf_client_answer() is FAILED or NULL
			     */
};

struct rf_client_stats {
	uint64_t tx, rx;       /* control frames */
	uint64_t repeats;      /* requests repeated */
	uint64_t rx_bad_tag;   /* from the box's address, with a wrong tag */
	uint64_t rx_malformed; /* wrong length, magic, version or field */
	uint64_t rx_stale;     /* answers to an older request, or to another client */
	uint64_t rx_unsigned;  /* refusals without a tag */
};

/* A request that is repeated at growing intervals until it is answered. Private. */
struct rf_client_timer {
	uint64_t due;      /* next transmission */
	uint64_t interval; /* from that one to the following one */
	uint64_t deadline; /* of the answer */
};

/* Private; public only so that the caller can allocate it. */
struct rf_client {
	struct rf_client_cfg cfg;
	struct rf_client_stats stats;
	enum rf_client_state state;
	enum rf_client_error error;
	struct rf_ctl_join join;
	bool box_mac_known, qp_destroyed, answered, member, left_acked, open_lab;
	bool have_waiting, have_ready, have_failed, have_draining;
	uint8_t box_mac[6];
	uint32_t port_ip; /* mirror: of the port that the box has named; 0: not yet */
	bool port_mac_known;
	uint8_t port_mac[6];
	uint8_t refusals;               /* consecutive unsigned ones, to different transmissions */
	uint32_t refused_seq, sent_seq; /* number of the last request refused so; number of the
					   membership's last request */
	uint8_t last_verb, last_left;   /* FAILED: ABORT or LEAVE still to be sent, and how often */
	uint32_t last_code;
	uint64_t nonce;               /* the box's last one */
	uint64_t query_nonce;         /* RESET and ABORT are repeated byte by byte */
	uint32_t epoch, seq, seen[2]; /* even numbers: membership; odd numbers: query */
	uint64_t token, join_deadline;
	uint64_t asked; /* last transmission of the membership */
	struct rf_client_timer arp, req, last, ask;
	enum rf_client_query query;
	uint8_t query_verb;
	bool query_sent;
	uint8_t query_refusals;
	struct rf_ctl_request query_req;
	uint32_t query_seq, query_from; /* number of this query: the last one sent, and the lowest
					   possible one */
	struct rf_ctl_waiting waiting;
	struct rf_ctl_ready ready;
	struct rf_ctl_failed failed;
	struct rf_ctl_draining draining;
	struct rf_ctl_reply reply, answer;
};

/* cfg is copied. Sends nothing until the caller makes a request. */
void rf_client_init(struct rf_client *c, const struct rf_client_cfg *cfg);

/* The time for an answer that is in force, in ns: cfg.answer_ns, or the default. */
uint64_t rf_client_answer_ns(const struct rf_client *c);

/*
 * Requests membership; allowed in IDLE or FAILED. Fails with RF_CLIENT_E_NO_ARP / _NO_ANSWER after
 * cfg.answer_ns, with the box's reason, or, if the box falls silent, answer_ns after the deadline
 * of the JOIN. join->src_ip 0: cfg.ip. Returns 0, or -1 in another state.
 */
int rf_client_join(struct rf_client *c, const struct rf_ctl_join *join, uint64_t now);

/*
 * Leaves the group: DRAINING, and IDLE when the box reports that it has ended. qp_destroyed: the
 * queue pair no longer exists, so that plain connections need no tombstone. May be called again to
 * report this later, even after the end or a failure. A rank that is still JOINING aborts instead.
 * Returns 0, or -1 if there is nothing to leave.
 */
int rf_client_leave(struct rf_client *c, bool qp_destroyed, uint64_t now);

/*
 * Aborts the group; the other ranks see FAILED(ABORTED) with rank and code (enum rf_ctl_abort or >=
 * 0x100). Sent up to three times at intervals of cfg.retry_ns until confirmed. The state becomes
 * FAILED with reason ABORTED at once. Returns 0, or -1 if there is no group.
 */
int rf_client_abort(struct rf_client *c, uint32_t code, uint64_t now);

/*
 * Operator (cfg.job = 0): aborts any group, as a query. Returns 0, or -1 while another query is
 * open.
 */
int rf_client_drop(struct rf_client *c, uint64_t job, uint16_t group, uint32_t code, uint64_t now);

/*
 * STATUS of one page (enum rf_ctl_page); job and group are used for the operator only. Return value
 * as above.
 */
int rf_client_status(struct rf_client *c, const struct rf_ctl_status_req *req, uint64_t now);
/* Operator: RESET. Return value as above. */
int rf_client_reset(struct rf_client *c, uint64_t now);
/*
 * Operator: RELEASE of a held connection; ip 0: of all, and the hold time ends. Return value as
 * above.
 */
int rf_client_release(struct rf_client *c, uint32_t ip, uint32_t qpn, uint64_t now);

/*
 * Writes the frame that is due now and returns its length, or 0 if none is due. Call until it
 * returns 0. room must be at least RF_CLIENT_FRAME_MAX.
 */
size_t rf_client_tx(struct rf_client *c, uint64_t now, uint8_t *frame, size_t room);

/*
 * Passes a received frame. Returns 1 if it was a control packet for this client, 0 if others may
 * need it (RoCE, other groups' replies). ARP replies return 0 because other clients need them too.
 */
int rf_client_rx(struct rf_client *c, uint64_t now, const uint8_t *frame, size_t len);

/* When rf_client_tx() must be called next, in ns, or RF_CLIENT_NEVER. */
uint64_t rf_client_next_timeout(const struct rf_client *c);

enum rf_client_state rf_client_state(const struct rf_client *c);
enum rf_client_error rf_client_error(const struct rf_client *c);

/* NULL until the box has reported it; valid until the next call with c. */
const struct rf_ctl_waiting *rf_client_waiting(const struct rf_client *c);
const struct rf_ctl_ready *rf_client_ready(const struct rf_client *c); /* READY and later states */
const struct rf_ctl_failed *
rf_client_failed(const struct rf_client *c); /* FAILED as reported by the box */
/*
 * DRAINING: the ranks that have not left. READY: not NULL once the box reports that another rank
 * has left.
 */
const struct rf_ctl_draining *rf_client_draining(const struct rf_client *c);
/* DRAINING or IDLE: the box has confirmed the LEAVE. */
bool rf_client_left_acked(const struct rf_client *c);
/* Mirror: the address of the box's port to which the data goes; 0 until the box has named it. */
uint32_t rf_client_port_ip(const struct rf_client *c);
/* The MAC of the way there, its own or a router's; NULL until it is known. */
const uint8_t *rf_client_port_mac(const struct rf_client *c);
/* The box has no keys configured; callers should warn. */
bool rf_client_open_lab(const struct rf_client *c);

/* The query's state, and its answer if DONE or refused. */
enum rf_client_query rf_client_query(const struct rf_client *c);
const struct rf_ctl_reply *rf_client_answer(const struct rf_client *c);

/*
 * Writes one line without newline that names cause and remedy: "ranks 2, 5 have not joined: start
 * them or raise the deadline". Also for states that are not errors ("waiting for ranks 2, 5").
 * Always terminated and truncated to room; returns the length written.
 */
size_t rf_client_text(const struct rf_client *c, char *text, size_t room);

/* "READY"; static. */
const char *rf_client_state_name(enum rf_client_state state);

#endif
