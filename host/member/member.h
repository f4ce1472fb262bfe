/*
 * One rank's membership in one group, from the first message to the last, as a pure state machine.
 * host/api drives it in real time, sim/fabric in virtual time; docs/member.md explains it.
 *
 * Inputs: frames, the store's messages, calls, and the time (ns, never decreases). Outputs: frames,
 * messages for the store, events, and the time of the next timeout. The machine has no clock, no
 * lock and no thread. It allocates in rf_member_create() and until it is RUNNING, not afterwards.
 * Calls on one machine, and on machines that share an endpoint, must not overlap.
 *
 *	rf_member_create(&cfg, pair, &m);
 *	rf_member_start(m, now);
 *	loop:
 *		for each frame:		rf_member_rx(m, now, frame, len)	0: for the endpoint
 *		for each message:	rf_member_gathered(m, ...), rf_member_announced(m, ...)
 *		rf_member_progress(m, now);
 *		while (rf_member_poll(m, &event)) ...
 *		if (rf_member_gather(m))	take part in it
 *		while ((len = rf_member_tx(m, now, frame, room)) > 0)	send(frame, len);
 *		wait for input, or until rf_member_next_timeout(m)
 *	rf_member_leave(m, true, now); loop until LEFT; rf_member_destroy(m);
 *
 * Phases. EXCHANGE: the ranks gather the numbers of their connections. JOIN: the box is asked for a
 * place (not with the ring). REPORT: each rank reports how the step before went; all continue, or
 * all fail with the same cause. PROOF: one packet of known values goes through the box. RUNNING:
 * calls. ENDING: until all ranks have finished. LEAVING: LEAVE, until the box has confirmed it.
 * LEFT: nothing is left to do. Without a store (cfg.store), the caller supplies the numbers
 * (cfg.ends), and EXCHANGE, REPORT and ENDING are skipped.
 *
 * Errors. The first failure sets status (negative enum rf_status) and a text that names cause and
 * remedy. The connections are stopped at once, so that no buffer is used any more, and each
 * outstanding call gives an event with that status. During creation the other ranks are asked
 * first: the phase becomes FAILED only after all have reported, with the status of all. A failed
 * machine still has to leave.
 *
 * A process that stands still. The time in which the machine was not run although a timeout was due
 * counts for no deadline: after a pause every deadline is at least RF_MEMBER_GRACE_NS away, so that
 * what the process missed can be read and its own requests can be sent. The deadlines of requests
 * to the box follow the same rule (host/control/client.c).
 *
 * Ownership. The machine uses cfg.peers, cfg.ends, cfg.tree and the pair until it is destroyed, and
 *the buffers of a call until its event.
 */
#ifndef RF_MEMBER_H
#define RF_MEMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/directed.h"
#include "host/control/client.h"
#include "host/member/pair.h"
#include "host/member/tree.h"
#include "ringfold/ringfold.h"

#define RF_MEMBER_TEXT 512u
#define RF_MEMBER_NEVER UINT64_MAX
#define RF_MEMBER_GRACE_NS UINT64_C(2000000000)
/* Limits of a message for the store. */
#define RF_MEMBER_NAME_MAX 64u
#define RF_MEMBER_VALUE_MAX 260u

struct rf_member_peer {
	uint8_t mac[6];
	uint32_t ip;
};

/* What the other ranks have to know of a rank's connections. */
struct rf_member_end {
	uint32_t recv_qpn;  /* of the queue pair that receives */
	uint32_t send_qpn;  /* of the queue pair that sends ... */
	uint32_t start_psn; /* ... and the PSN of its first packet */
};

struct rf_member_cfg {
	unsigned int rank, ranks;
	const struct rf_member_peer *peers; /* of all ranks, own included */
	struct rf_member_end own;
	bool store;                       /* the ranks exchange messages through a store */
	const struct rf_member_end *ends; /* without a store: of all ranks */
	/* the group */
	unsigned int number; /* the same on all ranks, different from that of the job's others */
	enum rf_type type;
	enum rf_op op;
	enum rf_schedule schedule; /* not DEFAULT */
	enum rf_fallback fallback; /* compared with the other ranks' only */
	unsigned int slots;
	unsigned int slots_least; /* fewer are refused; 0: as few as a box can give */
	/*
	 * NULL, or the order of a group that the same ranks have at this box: a mirror rank asks
	 * for the port that it has there. Used until the JOIN.
	 */
	const struct rf_order *like;
	uint16_t flags; /* RF_CTL_J_*: how the box treats the group; SHIFTED or MIRROR */
	bool prove;     /* the path is proved before the first call */
	/*
	 * A box without room refuses for good. Otherwise it is asked again for 0.4 s: a group that
	 * has just ended gives its place back a little later.
	 */
	bool no_wait;
	uint64_t timeout_ns;  /* a call without any progress fails after it */
	uint64_t exchange_ns; /* how long EXCHANGE waits for the others */
	/* the box */
	struct rf_client_cfg client; /* all except group and rank */
	uint32_t lease_ms, join_ms;  /* of the JOIN */
	/*
	 * NULL: all ranks are at one box. Otherwise they are mirror ranks of a directed group at
	 * the boxes of this tree; client.box_ip is this rank's.
	 */
	const struct rf_member_tree *tree;
	/* the connections */
	unsigned int mtu;
	uint32_t ring_window; /* packets in flight without a box */
	/*
	 * Bytes of one message, whole packets; 0: by the window, and in a directed group over our
	 * own transport one packet.
	 */
	unsigned int message_bytes;
	unsigned int calls_max; /* outstanding calls, up to RF_REQUESTS_MAX */
	/* for simulation */
	uint32_t window;      /* ignores the box's window and uses this one; 0: does not */
	uint32_t first_index; /* the box's group begins at this index */
	/*
	 * Ring and mirror ranks in one group, without a store: which ranks are mirror ranks, and
	 * the port of the box for this one, if it is. The ring goes through the others. NULL: all
	 * ranks are of one kind, and the box chooses ports.
	 */
	const bool *mirrors;
	uint8_t port;
};

enum rf_member_phase {
	RF_MEMBER_NEW,
	RF_MEMBER_EXCHANGE,
	RF_MEMBER_JOIN,
	RF_MEMBER_REPORT,
	RF_MEMBER_PROOF,
	RF_MEMBER_RUNNING,
	RF_MEMBER_FAILED, /* creation has failed: rf_member_status() */
	RF_MEMBER_ENDING,
	RF_MEMBER_LEAVING,
	RF_MEMBER_LEFT,
};

struct rf_member;

/*
 * Copies cfg. Sends nothing before rf_member_start(). Returns 0, RF_ERR_NO_MEMORY or
 * RF_ERR_INVALID.
 */
int rf_member_create(const struct rf_member_cfg *cfg, struct rf_pair *pair, struct rf_member **out);
/* Ends the connections and sends nothing. NULL is allowed. */
void rf_member_destroy(struct rf_member *m);
void rf_member_start(struct rf_member *m, uint64_t now);

/* A received frame. Returns 1 if it was the box's answer to this member, 0 if others may need it.
 */
int rf_member_rx(struct rf_member *m, uint64_t now, const uint8_t *frame, size_t len);
/*
 * Writes the control frame that is due and returns its length, or 0. Data frames come from the
 * endpoint or the NIC. room: at least RF_CLIENT_FRAME_MAX.
 */
size_t rf_member_tx(struct rf_member *m, uint64_t now, uint8_t *frame, size_t room);
/* Does everything that is possible now. Returns how many things it did. */
unsigned int rf_member_progress(struct rf_member *m, uint64_t now);
/* When rf_member_progress() and rf_member_tx() have to be called even if nothing arrives. */
uint64_t rf_member_next_timeout(const struct rf_member *m);
/* Increases with every change that somebody may wait for: phase, status, answer, gather. */
uint64_t rf_member_changes(const struct rf_member *m);

/* ---- the store ---- */

/* All ranks contribute a value under the same name, and each gets all values. */
struct rf_member_gather {
	unsigned int number; /* counts this member's gathers */
	char name[RF_MEMBER_NAME_MAX];
	uint8_t value[RF_MEMBER_VALUE_MAX];
	size_t len;
	unsigned int timeout_ms;
};

/* The gather that this member takes part in now, or NULL. */
const struct rf_member_gather *rf_member_gather(const struct rf_member *m);
/*
 * Its result: 0 and values[rank * len], or a negative enum rf_status with a text. culprit: the rank
 * that the failure names, or RF_MEMBER_NOBODY.
 */
void rf_member_gathered(struct rf_member *m, int status, const char *text, unsigned int culprit,
			const uint8_t *values, uint64_t now);
/* Status of an announcement that the box has no room for the group. It is not a failure of the
 * rank. */
#define RF_MEMBER_NO_ROOM 2
/*
 * Another rank has announced that it failed, or that it was refused (RF_MEMBER_NO_ROOM); or the
 * store reports the end of its process.
 */
void rf_member_announced(struct rf_member *m, unsigned int rank, int status, const char *text,
			 uint64_t now);

/* The text of a failure with which the store reports the end of a rank's process. */
void rf_member_lost_text(unsigned int rank, char *text, size_t room);

/* ---- events ---- */

enum rf_member_event_kind {
	RF_MEMBER_DONE,     /* a call has ended: id, status */
	RF_MEMBER_ANNOUNCE, /* the other ranks have to learn of status and text, by the store */
};

struct rf_member_event {
	enum rf_member_event_kind kind;
	unsigned int id;
	int status;
};

/* Returns true and the next event, or false. */
bool rf_member_poll(struct rf_member *m, struct rf_member_event *event);
/* The text of RF_MEMBER_ANNOUNCE with this status; valid until the next call for m. */
const char *rf_member_announcement(struct rf_member *m, int status);

/* ---- calls ---- */

/*
 * Starts an all-reduce. id: below RF_REQUESTS_MAX, not that of an outstanding call. Returns 0;
 * RF_ERR_BUSY: too many; RF_ERR_INTERNAL: not RUNNING, or the arguments are wrong. A failed member
 * accepts it and reports its status in the event.
 */
int rf_member_call(struct rf_member *m, unsigned int id, const void *send, void *recv, size_t count,
		   uint64_t now);
/*
 * Starts any collective of a directed group (JOIN with RF_CTL_J_DIRECTED), or without a box; in
 * other groups only the all-reduce of the group's type and operation. Errors as above.
 */
int rf_member_collective(struct rf_member *m, unsigned int id, const struct rf_directed_call *call,
			 uint64_t now);
/*
 * Describes the oldest call that waits for other ranks: "all-reduce of fp32, sum (call 3, index
 * 17)"; "" if there is none. Calls count from 1; only at a box there is an index. room > 0.
 */
void rf_member_call_text(const struct rf_member *m, char *text, size_t room);
/*
 * Without a box: the number of the oldest call that waits, from 0, and the immediate that names its
 * collective, type, operation, root and counts. False: none waits, or there is a box.
 */
bool rf_member_waits(const struct rf_member *m, uint64_t *number, uint32_t *immediate);
/* Without a box: a message was longer than its buffer. Another rank may know why. */
bool rf_member_puzzled(const struct rf_member *m);
/*
 * Without a box another rank has said so of its own call. If this rank has made another call under
 * that number, the group ends with MISMATCH, which names both.
 */
void rf_member_waits_there(struct rf_member *m, unsigned int rank, uint64_t number,
			   uint32_t immediate, uint64_t now);
/* How many calls the program has made. */
uint64_t rf_member_started(const struct rf_member *m);
/*
 * Another rank has made so many, and will make no more. If this rank has made more, or when it
 * does, the group ends with MISMATCH.
 */
void rf_member_left_there(struct rf_member *m, unsigned int rank, uint64_t started, uint64_t now);
/* Calls whose event has not been polled. */
unsigned int rf_member_calls(const struct rf_member *m);

/* ---- failure and end ---- */

/*
 * Ends the group for a reason outside of the machine. announce: the other ranks have to learn of
 * it. Only the first failure counts.
 */
void rf_member_fail(struct rf_member *m, bool announce, int status, uint64_t now,
		    const char *format, ...) __attribute__((format(printf, 5, 6)));
/*
 * Leaves. together: waits, bounded, until all ranks have finished their calls, so that no packet
 * stays without acknowledgement. Without a store the connections stay until all ranks have left.
 * Fails outstanding calls first. Until LEFT.
 */
void rf_member_leave(struct rf_member *m, bool together, uint64_t now);
/* LEAVE at once, in whatever state; nothing is waited for. */
void rf_member_quit(struct rf_member *m, uint64_t now);

/* ---- what is known ---- */

/* Maps a client's failure to enum rf_status. */
int rf_client_status_of(const struct rf_client *client);

enum rf_member_phase rf_member_phase(const struct rf_member *m);
/* 0, or why the group cannot be used any more, and its text. */
int rf_member_status(const struct rf_member *m);
const char *rf_member_text(const struct rf_member *m);
/* The rank that the failure names, or RF_MEMBER_NOBODY. */
unsigned int rf_member_culprit(const struct rf_member *m);
/* RF_CTL_R_*: the box's reason, if the failure is the box's report. */
unsigned int rf_member_reason(const struct rf_member *m);
/* Whether the failure is another rank's announcement. */
bool rf_member_by_announcement(const struct rf_member *m);
/* Order of additions. With the box: complete once the box has been joined. */
const struct rf_order *rf_member_order(const struct rf_member *m);
/* Packets in flight that the box has assigned; 0 before that, and for the ring. */
unsigned int rf_member_window(const struct rf_member *m);
/* The box's MAC, NULL before the box has been joined. */
const uint8_t *rf_member_box_mac(const struct rf_member *m);
/* When data last moved on the connections while a call was outstanding, ns. */
uint64_t rf_member_moved_at(const struct rf_member *m);
/* NULL, or what still waits although the member has left. */
const char *rf_member_leak(const struct rf_member *m);
/* For tests of that check, and of the rule about processes that stand still. */
struct rf_client *rf_member_client(struct rf_member *m);

/* ---- questions to the box ---- */

/* Asks which rank the box waits for. False if a question is already open, or without a box. */
bool rf_member_ask_stragglers(struct rf_member *m, uint64_t now);
/* "; the box waits for rank 2 (...)" if the box was asked, else "". room > 0. */
void rf_member_stragglers_text(const struct rf_member *m, uint64_t now, char *text, size_t room);
/* Another page of STATUS. Returns 0, or -1 while a question is open or without a box. */
int rf_member_ask(struct rf_member *m, const struct rf_ctl_status_req *req, uint64_t now);
/* Whether a question is open. */
bool rf_member_asking(const struct rf_member *m);
/* The answer to the last question, NULL if there is none. */
const struct rf_ctl_reply *rf_member_answer(const struct rf_member *m);

#endif
