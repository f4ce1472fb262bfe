/*
 * The control protocol between hosts and the box: codec. Normative text and test vectors are in
 * docs/control-protocol.md. Freestanding; keeps no state; never reads past the given length.
 *
 * A control message is the payload of a UDP packet to port 4791, to or from the box's own address
 * or the address of one of its ports. Every number on the wire is big endian, except the tag
 * (little endian, as SipHash defines it). Numbers in the structs are in host byte order. IPv4
 * addresses are plain numbers: 10.0.0.1 is 0x0a000001.
 */
#ifndef RF_CTL_H
#define RF_CTL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RF_CTL_MAGIC 0x52464354u /* "RFCT" */
#define RF_CTL_VERSION 3u
/* The versions up to this one have FAILED in 28 bytes; a box refuses their requests in that layout.
 */
#define RF_CTL_VERSION_OLD 2u
#define RF_CTL_UDP_PORT 4791u
#define RF_CTL_KEY_BYTES 16u
#define RF_CTL_HEADER 56u       /* bytes of the header of a message */
#define RF_CTL_MESSAGE_MAX 960u /* longest message */
#define RF_CTL_PORTS_MAX 8u
#define RF_CTL_LANES_MAX 16u
#define RF_CTL_FRAME_MIN 60u
#define RF_CTL_FRAME_MAX 1024u /* longest frame that the box punts or injects */
#define RF_CTL_RANKS_MAX 128u  /* limit of the message formats; a box may accept fewer */
#define RF_CTL_MASK_BYTES (RF_CTL_RANKS_MAX / 8u)
#define RF_CTL_NO_RANK 0xffffu
#define RF_CTL_NO_PORT 0xffu
#define RF_CTL_NO_VLAN 0xffffu
#define RF_CTL_MAC_BYTES 6u
#define RF_CTL_LEASE_DEFAULT 0u
#define RF_CTL_LEASE_NONE 0xffffffffu
#define RF_CTL_TIME_MIN_MS 10u       /* shortest lease */
#define RF_CTL_TIME_MAX_MS 86400000u /* longest lease and deadline */
/* Subtracted by the box from the PSN of a shifted connection: 2^22. */
#define RF_CTL_SHIFT 0x400000u
/* The job of the operator: STATUS of the whole box, ABORT of any group, RESET, RELEASE. */
#define RF_CTL_JOB_OPERATOR 0u

enum rf_ctl_verb {
	RF_CTL_JOIN = 1,
	RF_CTL_LEAVE = 2,
	RF_CTL_STATUS = 3,
	RF_CTL_ABORT = 4,
	RF_CTL_RESET = 5,
	RF_CTL_RELEASE = 6,
};

/* Flags of the header. */
#define RF_CTL_F_REPLY 0x8000u    /* from the box */
#define RF_CTL_F_UNSIGNED 0x4000u /* reply to a request that could not be authenticated: tag 0 */
#define RF_CTL_F_OPEN_LAB 0x2000u /* reply: the box has no keys, anyone may command it */
#define RF_CTL_F_QP_DESTROYED 0x0001u /* LEAVE: the sender's queue pair no longer exists */

/* Flags of JOIN. */
#define RF_CTL_J_OPEN_LOOP 0x0001u   /* traffic generator: there are no ACKs */
#define RF_CTL_J_TRANSPARENT 0x0002u /* the box sends no NAK and no RNR NAK */
#define RF_CTL_J_SHIFTED 0x0004u   /* the receiver expects start - shift: the box subtracts shift */
#define RF_CTL_J_SELECTIVE 0x0008u /* packets are accepted in any order; both ends support this */
/*
 * Registered by hand: the group fails if the box detects wrong values. Not with SHIFTED, SELECTIVE,
 * OPEN_LOOP.
 */
#define RF_CTL_J_STRICT 0x0010u
/*
 * With STRICT: the ranks' hosts have other queue pairs, whose data passes even before a rank has
 * sent.
 */
#define RF_CTL_J_OTHERS 0x0020u
/*
 * A mirror connection: the rank's queue pair is connected to an address of the box. Belongs to the
 * rank, not to the group. Not with SHIFTED, STRICT, OTHERS.
 */
#define RF_CTL_J_MIRROR 0x0040u
/*
 * Packets state what their rank gives and wants. Not with OPEN_LOOP, TRANSPARENT, STRICT, OTHERS.
 */
#define RF_CTL_J_DIRECTED 0x0080u
/*
 * RNR timer code (IBTA table 45) of the RNR NAK with which the box answers timeout resends while it
 * waits for other ranks; 0: no answer.
 */
#define RF_CTL_J_STRAGGLER 0x1f00u
#define RF_CTL_J_STRAGGLER_LSB 8
/* The group has an uplink: JOIN names the boxes above this one. Only with DIRECTED. */
#define RF_CTL_J_UPLINK 0x2000u
/*
 * The rank is the uplink of another box: its connection is selective, and its group flag SELECTIVE
 * does not count. Belongs to the rank. Only with MIRROR and DIRECTED.
 */
#define RF_CTL_J_LEAF 0x4000u

/* Address family of JOIN. The box refuses IPv6 by name. */
#define RF_CTL_FAMILY_DEFAULT 0u /* IPv4 */
#define RF_CTL_FAMILY_IPV4 4u
#define RF_CTL_FAMILY_IPV6 6u

/* First byte of the body of every reply. */
enum rf_ctl_result {
	RF_CTL_WAITING = 1, /* accepted; ranks are missing */
	RF_CTL_READY = 2,
	RF_CTL_FAILED = 3,
	RF_CTL_DRAINING = 4, /* LEAVE accepted; other ranks have not left yet */
	RF_CTL_ENDED = 5,    /* every rank has left, or its lease has run out */
	RF_CTL_OK = 6,       /* ABORT, RESET, RELEASE: done */
	RF_CTL_PAGE = 7,     /* a page of STATUS */
};

/* Why a request was refused or a group failed: X(name, value, text). */
#define RF_CTL_REASONS(X)                                                                          \
	X(NONE, 0, "no error")                                                                     \
	X(TRUNCATED, 1, "the length of the control packet does not fit its length field or verb")  \
	X(VERSION, 2, "the box uses another version of the control protocol")                      \
	X(KEY_UNKNOWN, 3, "the box has no key for this job")                                       \
	X(TAG, 4, "the authentication tag is wrong: the job's key differs from the box's")         \
	X(VERB, 5, "unknown verb")                                                                 \
	X(STALE, 6, "an older request than one already seen from this rank")                       \
	X(FIELD, 7, "a field of the request has a value that is not allowed")                      \
	X(RANKS, 8, "too many ranks, or too few")                                                  \
	X(RANK_RANGE, 9, "the rank is not below the number of ranks")                              \
	X(RANK_TAKEN, 10, "another process has joined as this rank")                               \
	X(RANKS_DIFFER, 11, "ranks disagree about the number of ranks")                            \
	X(TYPES_DIFFER, 12, "ranks disagree about data type or operation")                         \
	X(MTU_DIFFERS, 13, "ranks disagree about the path MTU")                                    \
	X(SETTINGS_DIFFER, 14, "ranks disagree about slots or flags of the group")                 \
	X(TYPE_UNSUPPORTED, 15, "this box was built without this data type")                       \
	X(MTU_UNSUPPORTED, 16, "the path MTU is larger than this box was built for")               \
	X(ADDRESS_TWICE, 17, "a ring rank and its successor have the same address")                \
	X(CONNECTION_TAKEN, 18, "the connection (address and QPN) belongs to another rank or job") \
	X(SUCCESSOR_UNKNOWN, 19,                                                                   \
	  "a ring rank's successor address belongs to no ring rank of the group")                  \
	X(NO_GROUPS, 20, "all groups of the box are in use")                                       \
	X(NO_SLOTS, 21, "no slot range of the requested size is free")                             \
	X(NO_CONNECTIONS, 22, "no room in the connection table")                                   \
	X(NO_LANES, 23, "more ranks on one port than the box has lanes")                           \
	X(NO_PASSES, 24, "the adders have no passes left on these ports")                          \
	X(GROUP_UNKNOWN, 25, "the box does not know this group or this member of it")              \
	X(MISSING_RANKS, 26, "ranks did not join before the deadline")                             \
	X(LEASE, 27, "a rank was silent for longer than its lease")                                \
	X(ABORTED, 28, "a rank aborted the group")                                                 \
	X(OPERATOR, 29, "the operator ended the group")                                            \
	X(RESET, 30, "the box was reset")                                                          \
	X(DISAGREE, 31, "ranks disagree at one index")                                             \
	X(LENGTH, 32, "a data packet has a length that is not allowed")                            \
	X(ELEMENT, 33, "a data packet's length is not a multiple of the element size")             \
	X(OPCODE, 34, "an opcode that this group does not allow")                                  \
	X(NAK, 35, "a receiver ended its connection with a NAK")                                   \
	X(HARDWARE, 36, "the hardware did not complete a command in time")                         \
	X(NOT_OPERATOR, 37, "only the operator's job 0 may do this")                               \
	X(ENDED, 38, "the group has ended")                                                        \
	X(NONCE, 39, "the request carries no valid nonce of the box: send it again")               \
	X(QUOTA, 40, "the job's key allows no more groups or slots")                               \
	X(OTHER_PORT, 41, "this rank has joined through another port of the box")                  \
	X(QUOTA_RANKS, 42, "the job's key allows no more ranks")                                   \
	X(QUOTA_ENTRIES, 43, "the job's key allows no more entries of the connection table")       \
	X(QUOTA_BYTES, 44, "the job's key allows no more bytes of slots")                          \
	X(ADDRESS_DENIED, 45, "the job's key may not register this source address")                \
	X(PORT_DENIED, 46, "the job's key may not register data of this port of the box")          \
	X(BEFORE_START, 47, "a rank starts before the first PSN that was registered for it")       \
	X(PARITY, 48, "parity error in a memory of the box")                                       \
	X(NOT_HELD, 49, "the box does not hold a connection to this address and queue pair")       \
	X(HOLD_TIME, 50, "the hold time is running: the connection would be held again")           \
	X(WRONG_QPN, 51, "a rank sends on a connection that is not registered")                    \
	X(SELECTIVE_UNSUPPORTED, 52, "this box was built without selective groups")                \
	X(IMMEDIATE, 53, "an immediate has an unknown code, or does not fit the payload")          \
	X(ORDER, 54, "a packet's immediate names another index than its PSN")                      \
	X(NO_ADDRESS, 55, "no port of the box has an address that this rank could use")            \
	X(IPV6, 56, "the box has IPv4 only")                                                       \
	X(MIRROR_UNSUPPORTED, 57, "this box was built without mirror connections")                 \
	X(DIRECTED_UNSUPPORTED, 58, "this box was built without directed groups")                  \
	X(NO_RANKS, 59, "the box has no places left for so many ranks")                            \
	X(UPLINK_LOOP, 60, "a box above this one has an address of this box, or is named twice")   \
	X(UPLINK_DEPTH, 61, "the tree has more than four levels of boxes")                         \
	X(UPLINK_DIFFERS, 62, "ranks of one box name different uplinks")                           \
	X(UPLINK_UNSUPPORTED, 63,                                                                  \
	  "this box was built without uplinks, or the group is not directed")                      \
	X(UPLINK_VERSION, 64, "the parent box uses another version of the control protocol")       \
	X(UPLINK_MTU, 65, "the group has another path MTU at the parent box")                      \
	X(UPLINK_TYPE, 66,                                                                         \
	  "the parent box lacks the data type or operation, or the group has another one there")   \
	X(UPLINK_SLOTS, 67, "the parent box has no slots of this size free")                       \
	X(UPLINK_QUOTA, 68, "the limits of the job's key at the parent box are used up")           \
	X(UPLINK_SILENT, 69, "the parent box does not answer")

enum rf_ctl_reason {
#define RF_CTL_X(name, value, text) RF_CTL_R_##name = (value),
	RF_CTL_REASONS(RF_CTL_X)
#undef RF_CTL_X
		RF_CTL_R_COUNT = 70,
};

/* "a rank was silent for longer than its lease"; "unknown reason" for unknown numbers. Static. */
const char *rf_ctl_reason_text(unsigned int reason);
/* Name of the field at this offset in the body of JOIN: "path MTU". Offset 0: the token. Static. */
const char *rf_ctl_join_field(uint32_t offset);
/* "LEASE"; "?" for unknown numbers. Static. */
const char *rf_ctl_reason_name(unsigned int reason);

/* Why a rank aborts: the code of ABORT. Codes from 0x100 on are defined by the application. */
enum rf_ctl_abort {
	RF_CTL_ABORT_USER = 1,      /* the application requested it */
	RF_CTL_ABORT_TRANSPORT = 2, /* the transport gave up (retries, remote error) */
	RF_CTL_ABORT_MISMATCH = 3,  /* ranks disagree about the call */
	RF_CTL_ABORT_EXIT = 4,      /* the process ends without leaving */
	RF_CTL_ABORT_STEERING = 5,  /* the path check failed */
	RF_CTL_ABORT_MEMORY = 6,
};
const char *rf_ctl_abort_text(uint32_t code);

/* States of a group as reported by STATUS. */
enum rf_ctl_state {
	RF_CTL_S_FREE = 0,
	RF_CTL_S_JOINING = 1,
	RF_CTL_S_READY = 2,
	RF_CTL_S_DRAINING = 3,
	RF_CTL_S_TOMBSTONED = 4,
	RF_CTL_S_FAILED = 5,
};
/* "joining"; "?" for unknown numbers. Static. */
const char *rf_ctl_state_text(unsigned int state);

/* ---- messages ---- */

struct rf_ctl_header {
	uint8_t verb;
	uint8_t version; /* received: as sent; to be sent: 0, or for FAILED 1 .. RF_CTL_VERSION_OLD
			  */
	uint16_t flags;  /* RF_CTL_F_* */
	uint16_t length; /* bytes of the message, including the header */
	uint16_t group;  /* number of the group within the job */
	uint64_t job;
	uint16_t rank;
	uint32_t epoch; /* in a reply the box's own; in a request the last one seen, or 0 */
	uint32_t seq;   /* increases with each request of a rank; echoed in the reply */
	uint64_t token; /* random, drawn by the rank for one membership; echoed in the reply */
	uint64_t nonce; /* reply: the box's current one (unsigned: 0); request: the last one seen */
	uint64_t tag;
};

/* The boxes above one in a tree: at most ... */
#define RF_CTL_ABOVE_MAX 3u
/* ... and the entries that a JOIN can carry, so that a longer chain is refused by name. */
#define RF_CTL_CHAIN_MAX 4u

/* The uplink of a box in a tree. */
struct rf_ctl_uplink {
	uint32_t ip;          /* the parent's own address */
	uint16_t rank, ranks; /* of this box at the parent */
	uint8_t port;         /* of this box; RF_CTL_NO_PORT: it chooses */
};

/* Body of JOIN. */
struct rf_ctl_join {
	uint16_t ranks;
	uint8_t dtype;          /* RF_DTYPE_* of the registers, 0 .. 9 */
	uint8_t op;             /* RF_OP_* of the registers, 0 .. 6 */
	uint8_t mtu_log2;       /* path MTU, 8..12 */
	uint8_t slots_log2;     /* wanted slots S, 4..15 */
	uint8_t slots_min_log2; /* smallest acceptable; 0: slots_log2 */
	/*
	 * Port of the data; RF_CTL_NO_PORT: the port on which this packet arrives. MIRROR: the port
	 * whose address the rank wants; RF_CTL_NO_PORT: the box chooses.
	 */
	uint8_t port;
	uint8_t family;    /* RF_CTL_FAMILY_* */
	uint16_t flags;    /* RF_CTL_J_* */
	uint32_t src_ip;   /* source address of the data, not 0 */
	uint32_t qpn;      /* the rank's own QPN, to which its ACKs are sent; MIRROR: also peer's */
	uint32_t peer_ip;  /* destination of the data: the ring successor's address ... */
	uint32_t peer_qpn; /* ... and QPN; both 0 with MIRROR. LEAF: the epoch of its box, and 0 */
	uint32_t start_psn;   /* PSN of the first data packet */
	uint32_t shift;       /* RF_CTL_J_SHIFTED: subtracted from it; else 0 */
	uint32_t lease_ms;    /* RF_CTL_LEASE_DEFAULT, RF_CTL_LEASE_NONE or 10 .. 86,400,000 */
	uint32_t deadline_ms; /* time from the first JOIN until the group must be complete: 1 ..
				 86,400,000 */
	/* UPLINK: number of boxes above, and their chain: the uplink of this box first */
	uint8_t above;
	struct rf_ctl_uplink up[RF_CTL_CHAIN_MAX];
};

/* In what ranks disagree (ERROR.WHAT of the registers). */
enum rf_ctl_what {
	RF_CTL_WHAT_NONE = 0,   /* not a directed group, or another error */
	RF_CTL_WHAT_TAG = 1,    /* type, operation, kind, call or hash; the values are immediates */
	RF_CTL_WHAT_COPIES = 2, /* more than one rank gives to a copy; immediates */
	RF_CTL_WHAT_LENGTH = 3, /* length of what they give; bytes */
};
/* "the length of what they give"; "" for RF_CTL_WHAT_NONE and unknown numbers. Static. */
const char *rf_ctl_what_text(unsigned int what);

/* More about an error: where it happened, and the other side of a disagreement. */
struct rf_ctl_other {
	uint32_t box_ip; /* box at which it happened; 0: the one that answers */
	uint16_t rank;   /* with which the rank at fault disagrees, if known, or RF_CTL_NO_RANK */
	uint8_t what;    /* enum rf_ctl_what */
	uint32_t value;  /* that rank's; the value of the rank at fault is the detail */
};

/*
 * Body of ABORT. The operator (job 0) may name any group by job and group; other jobs only their
 * own.
 */
struct rf_ctl_abort_req {
	uint32_t code; /* enum rf_ctl_abort or the application's own */
	uint64_t job;
	uint16_t group;
	/* Of a rank with LEAF: what has happened at its box; reason 0: nothing of the kind. */
	uint8_t reason; /* enum rf_ctl_reason */
	uint16_t rank;  /* this and the rest: as in struct rf_ctl_failed */
	uint32_t index, detail;
	struct rf_ctl_other other;
};

/* Body of RELEASE: a held connection; ip 0: all, and the hold time ends. */
struct rf_ctl_release {
	uint32_t ip; /* destination address of its data, ... */
	uint32_t qpn;
};

/* Pages of STATUS. */
enum rf_ctl_page {
	RF_CTL_PAGE_GROUP = 1,       /* the group's state */
	RF_CTL_PAGE_RANKS = 2,       /* ranks from `index` on */
	RF_CTL_PAGE_BOX = 3,         /* the box's shape and state */
	RF_CTL_PAGE_PORT = 4,        /* hardware counters of port `index` */
	RF_CTL_PAGE_FIRMWARE = 5,    /* counters of the firmware */
	RF_CTL_PAGE_GROUPS = 6,      /* operator: list of all groups from `index` on */
	RF_CTL_PAGE_CONNECTIONS = 7, /* operator: the connection table from place `index` on */
	RF_CTL_PAGE_LOG = 8,         /* operator: events from number `index` (mod 2^16) on */
	RF_CTL_PAGE_LAG = 9,         /* which rank is last, from rank `index` on */
	RF_CTL_PAGE_HELD = 10,       /* operator: held connections from place `index` on */
	RF_CTL_PAGE_JOBS = 11,       /* what jobs hold, and their limits, from key `index` on */
	RF_CTL_PAGE_TREE = 12,       /* the group's place in a tree of boxes */
};

/*
 * Body of STATUS. GROUP, RANKS, LAG and TREE: the operator (job 0) may name any group; other jobs
 * only their own.
 */
struct rf_ctl_status_req {
	uint8_t page; /* enum rf_ctl_page */
	uint16_t index;
	uint64_t job;
	uint16_t group;
};

struct rf_ctl_waiting {
	uint16_t ranks;
	uint16_t joined;
	uint32_t remaining_ms;              /* until the deadline */
	uint8_t missing[RF_CTL_MASK_BYTES]; /* rank r is missing: bit r mod 8 of byte r / 8 */
	uint32_t port_ip; /* MIRROR: address of this rank's port of the box; otherwise 0 */
	/*
	 * Whose ranks these are: the box above for which this one waits; 0: its own. If no rank is
	 * missing, that box has not answered yet.
	 */
	uint32_t box_ip;
};

struct rf_ctl_place {
	uint8_t port;
	uint8_t lane;
};

struct rf_ctl_ready {
	uint16_t ranks;
	uint16_t window;    /* W = S / 2: packets a rank may keep unacknowledged */
	uint8_t slots_log2; /* S granted */
	uint8_t level;      /* the ports are in the aligned block of 2^level ports ... */
	uint8_t base_port;  /* ... that begins with this one */
	uint8_t lanes;      /* lanes in use */
	uint32_t dbase;     /* slot range: first beat in every lane, */
	uint32_t hbase;     /* first header slot */
	uint32_t lease_ms;  /* granted to this rank, or RF_CTL_LEASE_NONE */
	uint8_t hw_group;   /* number of the hardware group */
	uint32_t port_ip;   /* as in WAITING */
	struct rf_ctl_place place[RF_CTL_RANKS_MAX]; /* of rank 0 .. ranks-1 */
};

struct rf_ctl_failed {
	uint8_t reason; /* enum rf_ctl_reason */
	uint16_t rank;  /* rank at fault or RF_CTL_NO_RANK */
	uint32_t index; /* DISAGREE .. NAK: index at fault; NO_LANES: the lowest rank of its port */
	/*
	 * ABORTED, OPERATOR: the code; VERSION: the box's; LEASE: the lease in ms; FIELD: offset of
	 * the field in the body; RANKS, NO_GROUPS, NO_LANES, NO_PASSES, NO_RANKS: the limit;
	 * NO_SLOTS, MTU_UNSUPPORTED: log2 of what is available (0: nothing), also for QUOTA and
	 * QUOTA_BYTES; QUOTA_RANKS, QUOTA_ENTRIES: what is left; OTHER_PORT: that port;
	 * TYPE_UNSUPPORTED: the type; NO_ADDRESS: bit p: the address of port p is claimed by
	 * another host; DISAGREE, IMMEDIATE, ORDER: the value of the rank at fault; otherwise 0.
	 */
	uint32_t detail;
	uint8_t missing[RF_CTL_MASK_BYTES]; /* MISSING_RANKS; NO_LANES: all ranks of that port */
	struct rf_ctl_other other;
};

/* DRAINING and ENDED. */
struct rf_ctl_draining {
	uint16_t ranks;
	uint16_t left;
	uint8_t missing[RF_CTL_MASK_BYTES]; /* ranks that have not left */
};

struct rf_ctl_group_page {
	uint8_t state;  /* enum rf_ctl_state */
	uint8_t reason; /* FAILED: enum rf_ctl_reason */
	uint16_t fail_rank;
	uint32_t fail_index;
	uint32_t fail_detail;
	uint16_t ranks;
	uint16_t joined;
	uint16_t left;
	uint8_t dtype, op, mtu_log2, slots_log2;
	uint16_t flags;   /* RF_CTL_J_* */
	uint8_t hw_group; /* 0xff: none */
	uint8_t lanes, level, base_port;
	uint32_t dbase, hbase;
	uint32_t head, tail, issued;
	uint32_t remaining_ms;              /* JOINING: until the deadline */
	uint8_t missing[RF_CTL_MASK_BYTES]; /* ranks not joined; DRAINING: not left */
	struct rf_ctl_other fail_other;
};

/* Flags of a rank in a RANKS page. */
#define RF_CTL_RANK_JOINED 0x01u
#define RF_CTL_RANK_LEFT 0x02u
#define RF_CTL_RANK_GONE 0x04u /* its lease has run out */
#define RF_CTL_RANK_IDLE 0x08u /* the group has not started or has ended: next, sent, una are 0 */
#define RF_CTL_RANK_MIRROR 0x10u
#define RF_CTL_RANK_SILENT 0x20u /* takes part without giving, as of its last packet */
#define RF_CTL_RANK_LEAF 0x40u   /* the uplink of another box */

struct rf_ctl_rank {
	uint8_t flags, port, lane;
	uint32_t age_ms; /* since the last sign of life */
	uint32_t next, sent, una;
	uint32_t ip;
	uint32_t port_ip;              /* MIRROR: address of its port of the box; otherwise 0 */
	uint8_t mac[RF_CTL_MAC_BYTES]; /* of its last request; MIRROR: results go there */
};
#define RF_CTL_RANKS_PER_PAGE 24u

struct rf_ctl_ranks_page {
	uint16_t ranks; /* of the group */
	uint16_t first; /* rank of entry 0 */
	uint16_t count; /* entries in this page */
	struct rf_ctl_rank rank[RF_CTL_RANKS_PER_PAGE];
};

/* The hold time: over; running; prolonged because the connection table is full. */
#define RF_CTL_HOLD_OVER 0u
#define RF_CTL_HOLD_LASTS 1u
#define RF_CTL_HOLD_FULL 2u

struct rf_ctl_box_page {
	uint8_t ports, lanes, width64, hash_bits;
	uint8_t groups, bank_log2, hdr_log2, mtu_log2;
	uint8_t fp16, hold; /* hold: RF_CTL_HOLD_* */
	uint8_t port;       /* port on which this request arrived */
	uint8_t groups_used;
	uint32_t clock_khz;
	uint64_t uptime_ms;
	uint32_t hold_ms;     /* rest of the hold time */
	uint32_t connections; /* table entries in use, including tombstones */
	uint32_t tombstones;
	uint32_t beats_free;     /* of 2^bank_log2 in each lane */
	uint32_t hslots_free;    /* of 2^hdr_log2 */
	uint32_t mac_hi, mac_lo; /* base MAC */
	uint32_t ip, gateway;    /* the box's address; gateway 0: none */
	uint8_t prefix;          /* bits of the subnet, 0: not known */
	uint8_t claimed;         /* bit p: another host has claimed the address of port p */
	uint8_t features;        /* RF_CTL_FEATURE_* */
	uint8_t reached;         /* bit p: the gateway has answered on port p */
	uint16_t types;          /* bit t: data type t is built in */
	uint32_t port_ip[RF_CTL_PORTS_MAX]; /* 0: none, or not in use yet */
};
/* Features that a build may lack. */
#define RF_CTL_FEATURE_MIRROR 0x01u
#define RF_CTL_FEATURE_DIRECTED 0x02u
#define RF_CTL_FEATURE_SELECTIVE 0x04u
#define RF_CTL_FEATURE_UPLINK 0x08u

#define RF_CTL_COUNTERS_PER_PAGE 200u

/* PORT and FIRMWARE: counters in the order of registers.txt (PORT) or RF_FW_COUNTERS (FIRMWARE). */
struct rf_ctl_counters_page {
	uint16_t index; /* port */
	uint16_t count;
	uint32_t value[RF_CTL_COUNTERS_PER_PAGE];
};

struct rf_ctl_group_entry {
	uint64_t job;
	uint16_t group, ranks, joined;
	uint8_t state, hw_group; /* 0xff: none */
};
#define RF_CTL_GROUPS_PER_PAGE 32u

struct rf_ctl_groups_page {
	uint16_t first, count, total;
	struct rf_ctl_group_entry entry[RF_CTL_GROUPS_PER_PAGE];
};

struct rf_ctl_connection {
	uint32_t ip, key;   /* role (0 data, 1 ACK) in bit 24, QPN below */
	uint32_t remaining; /* tombstones: ms until it is removed if no packet hits it */
	uint16_t cid;       /* group, lane, port; tombstones: their number */
	uint8_t state;      /* of the entry: 1 live, 2 joining, 3 tombstone */
};
#define RF_CTL_CONNECTIONS_PER_PAGE 48u

struct rf_ctl_connections_page {
	uint16_t first, count,
		total; /* first: place of the first entry; total: entries in the table */
	uint16_t next; /* place to continue from; RF_CTL_NO_RANK: end of the table */
	struct rf_ctl_connection entry[RF_CTL_CONNECTIONS_PER_PAGE];
};

struct rf_ctl_held {
	uint32_t ip, qpn;   /* destination of the data that was dropped */
	uint32_t silent;    /* ms since its last packet, as of the box's last check */
	uint32_t remaining; /* ms until it is released if no packet arrives */
	uint8_t port;       /* port on which it arrived when it was entered */
};
#define RF_CTL_HELD_PER_PAGE 40u

struct rf_ctl_held_page {
	uint16_t first, count;
	uint16_t next; /* place to continue from; RF_CTL_NO_RANK: end of the table */
	struct rf_ctl_held entry[RF_CTL_HELD_PER_PAGE];
};

enum rf_ctl_event {
	RF_CTL_EV_START = 1,
	RF_CTL_EV_JOINING = 2, /* the first rank of a group */
	RF_CTL_EV_READY = 3,
	RF_CTL_EV_FAILED = 4,
	RF_CTL_EV_ENDED = 5,
	RF_CTL_EV_REFUSED = 6, /* a JOIN with a correct tag */
	RF_CTL_EV_RESET = 7,
	RF_CTL_EV_FULL =
		8, /* the hold time is prolonged: a connection was held but the table is full */
	/*
	 * Another host has claimed the address of a port: `job` is its MAC, `group` the port. The
	 * claim has been absent for a minute: the same.
	 */
	RF_CTL_EV_CLAIMED = 9,
	RF_CTL_EV_UNCLAIMED = 10,
};
/* "joining"; "?" for unknown numbers. Static. */
const char *rf_ctl_event_text(unsigned int event);

struct rf_ctl_log_entry {
	uint64_t job;
	uint32_t ms; /* time of the last occurrence since the start, low word */
	uint16_t group, rank;
	uint16_t count; /* number of consecutive occurrences */
	uint8_t kind, reason;
	uint32_t box_ip; /* box at which it happened; 0: the one that answers */
};
#define RF_CTL_LOG_PER_PAGE 32u

struct rf_ctl_log_page {
	uint16_t first, count; /* first: number of the first event in this page, mod 2^16 */
	uint32_t next;         /* number of the next event */
	struct rf_ctl_log_entry entry[RF_CTL_LOG_PER_PAGE];
};

/*
 * Bins of a histogram of lags: bin 0 counts less than a microsecond, bin k counts 2^(k-1) up to 2^k
 * microseconds. The last bin has no upper end.
 */
#define RF_CTL_LAG_BINS 28u
#define RF_CTL_LAG_RANKS 64u /* per page */

struct rf_ctl_lag_rank {
	uint32_t times;   /* measurements in which this rank was the last */
	uint32_t most_us; /* largest lag of this rank */
};

struct rf_ctl_lag_page {
	uint16_t ranks;      /* of the group */
	uint16_t first;      /* rank of entry 0 */
	uint16_t count;      /* entries in this page */
	uint16_t bins;       /* in use, at most RF_CTL_LAG_BINS */
	uint16_t awaited;    /* the rank that the others wait for now, or RF_CTL_NO_RANK */
	uint32_t awaited_ms; /* how long they have waited */
	uint64_t sum_us;     /* of all measurements */
	uint32_t bin[RF_CTL_LAG_BINS];
	struct rf_ctl_lag_rank rank[RF_CTL_LAG_RANKS];
};

/* What a job holds of the box, or its limits (or RF_CTL_NO_LIMIT). */
struct rf_ctl_share {
	uint32_t groups;  /* groups that hold slots */
	uint32_t slots;   /* slots of all these groups together */
	uint32_t ranks;   /* ranks of all these groups, including those that have not joined yet */
	uint32_t entries; /* connection table entries: those that the groups need, and tombstones */
	uint32_t bytes;   /* slots times path MTU: memory used in each lane of each port */
};
#define RF_CTL_NO_LIMIT 0xffffffffu

struct rf_ctl_job {
	uint64_t job;
	struct rf_ctl_share held, most;
	uint32_t tombstones; /* number of tombstones among the held entries */
};
#define RF_CTL_JOBS_PER_PAGE 16u

struct rf_ctl_jobs_page {
	uint16_t first, count, total; /* jobs that have a key */
	struct rf_ctl_job entry[RF_CTL_JOBS_PER_PAGE];
};

/* How far a box is with its parent. */
enum rf_ctl_up {
	RF_CTL_UP_NONE = 0,    /* no uplink, or its end */
	RF_CTL_UP_IDLE = 1,    /* ranks of this box are missing */
	RF_CTL_UP_JOINING = 2, /* the parent has not answered, or waits for others */
	RF_CTL_UP_READY = 3,
	RF_CTL_UP_LEAVING = 4, /* all ranks of this box have left */
	RF_CTL_UP_FAILED = 5,  /* the group has failed here, and the parent is told */
};
/* "joining"; "?" for unknown numbers. Static. */
const char *rf_ctl_up_text(unsigned int up);

/* A group in a tree of boxes, as one box sees it. */
struct rf_ctl_tree_page {
	uint8_t state, reason; /* as in page GROUP */
	uint8_t up_state;      /* enum rf_ctl_up; NONE: the fields of the uplink are 0 */
	uint8_t above;         /* boxes above this one */
	uint8_t port, lane;    /* of the uplink */
	uint16_t ranks;
	uint16_t awaited;                   /* rank that the others wait for, or RF_CTL_NO_RANK */
	uint16_t up_rank, up_ranks;         /* of this box at the parent */
	uint32_t parent_ip, parent_port_ip; /* the latter 0 until the parent has named it */
	uint32_t heard_ms;                  /* since the parent's last answer */
	uint32_t head, up, got;             /* indexes: complete here, sent up, come back */
	uint32_t fail_ip;                   /* FAILED: the box at which it happened; 0: this one */
	uint8_t leaves[RF_CTL_MASK_BYTES];  /* ranks that are other boxes */
};

/* A reply, decoded. `result` and, for PAGE, `page` select the valid member of the union. */
struct rf_ctl_reply {
	uint8_t result; /* enum rf_ctl_result */
	uint8_t page;   /* enum rf_ctl_page */
	union {
		struct rf_ctl_waiting waiting;
		struct rf_ctl_ready ready;
		struct rf_ctl_failed failed;
		struct rf_ctl_draining draining; /* DRAINING, ENDED */
		struct rf_ctl_group_page group;
		struct rf_ctl_ranks_page ranks;
		struct rf_ctl_box_page box;
		struct rf_ctl_counters_page counters;
		struct rf_ctl_groups_page groups;
		struct rf_ctl_connections_page connections;
		struct rf_ctl_log_page log;
		struct rf_ctl_lag_page lag;
		struct rf_ctl_jobs_page jobs;
		struct rf_ctl_held_page held;
		struct rf_ctl_tree_page tree;
	} u;
};

/* The body of a request, decoded. The verb selects the valid member; LEAVE and RESET have none. */
struct rf_ctl_request {
	union {
		struct rf_ctl_join join;
		struct rf_ctl_abort_req abort;
		struct rf_ctl_status_req status;
		struct rf_ctl_release release;
	} u;
};

/*
 * Builders: write a message to buf, which has RF_CTL_MESSAGE_MAX bytes, and return its length
 * (0: a value does not fit its field, or the verb or result is unknown). h->length and h->tag are
 * ignored and computed: the tag with key, or 0 if key is NULL (replies with RF_CTL_F_UNSIGNED).
 */
size_t rf_ctl_request_put(uint8_t *buf, const struct rf_ctl_header *h,
			  const struct rf_ctl_request *r, const uint8_t key[RF_CTL_KEY_BYTES]);
size_t rf_ctl_reply_put(uint8_t *buf, const struct rf_ctl_header *h, const struct rf_ctl_reply *r,
			const uint8_t key[RF_CTL_KEY_BYTES]);

/*
 * Bytes of the longest answer to STATUS of this page, header included; 0: no such page. A request
 * of STATUS is padded to it, except a rank's request of GROUP, RANKS, LAG or TREE.
 */
size_t rf_ctl_page_max(unsigned int page);

/*
 * Reads the header of a message of len bytes (of a UDP payload: len is exact). Returns 0, or -1 if
 * it is not a control message (wrong magic, or too short: send no answer), or a positive enum
 * rf_ctl_reason: TRUNCATED (fewer bytes than header or length field; *h is filled if len >=
 * RF_CTL_HEADER, otherwise zeroed) or VERSION (*h as for TRUNCATED). The tag is not checked.
 */
int rf_ctl_header_get(const uint8_t *buf, size_t len, struct rf_ctl_header *h);

/*
 * Whether the tag of a message is correct whose header rf_ctl_header_get() has accepted. Constant
 * time.
 */
bool rf_ctl_tag_ok(const uint8_t *buf, const struct rf_ctl_header *h,
		   const uint8_t key[RF_CTL_KEY_BYTES]);

/*
 * Decodes a body. Returns RF_CTL_R_NONE, TRUNCATED, VERB or FIELD (a count or number is too large).
 * Bytes after the known body are ignored.
 */
enum rf_ctl_reason rf_ctl_request_get(const uint8_t *buf, const struct rf_ctl_header *h,
				      struct rf_ctl_request *r);
/* The same for a reply; counts within it are checked against their arrays. */
enum rf_ctl_reason rf_ctl_reply_get(const uint8_t *buf, const struct rf_ctl_header *h,
				    struct rf_ctl_reply *r);

/* ---- frames around messages ---- */

struct rf_ctl_addr {
	uint8_t dst_mac[6];
	uint8_t src_mac[6];
	uint16_t vlan; /* tag control information, or RF_CTL_NO_VLAN */
	uint32_t src_ip, dst_ip;
	uint16_t src_port, dst_port; /* UDP */
};

/*
 * The box's ARP replies also carry the nonce, in their padding: after the 28 bytes of ARP come
 * RF_CTL_MAGIC and the nonce (8 bytes). It is not authenticated there; a wrong one costs a round
 * trip.
 */
#define RF_CTL_ARP_NONCE 12u

/* Bytes before the message in a frame with this VLAN tag, or RF_CTL_NO_VLAN. */
static inline size_t rf_ctl_frame_head(uint16_t vlan)
{
	return vlan == RF_CTL_NO_VLAN ? 42u : 46u;
}

/*
 * Puts Ethernet, optional tag, IPv4 and UDP (checksum 0, "don't fragment", TTL 64) around a message
 * and pads to 60 bytes. msg may already be at its place in the frame. Returns the length of the
 * frame, or 0 if room is too small.
 */
size_t rf_ctl_frame_put(uint8_t *frame, size_t room, const struct rf_ctl_addr *a,
			const uint8_t *msg, size_t len);

/* Parsing. */
enum rf_ctl_frame_error {
	RF_CTL_FRAME_OK = 0,
	RF_CTL_FRAME_OTHER = -1,    /* not IPv4, UDP to or from port 4791 */
	RF_CTL_FRAME_LENGTH = -2,   /* lengths of frame, IP and UDP are inconsistent */
	RF_CTL_FRAME_CHECKSUM = -3, /* IP header or UDP checksum wrong */
};

/* Finds the UDP payload of a frame: *msg points into it. On error the outputs are undefined. */
int rf_ctl_frame_get(const uint8_t *frame, size_t len, struct rf_ctl_addr *a, const uint8_t **msg,
		     size_t *msg_len);

/* The internet checksum of len bytes, folded, not inverted, starting from sum. */
uint32_t rf_ctl_checksum(const uint8_t *p, size_t len, uint32_t sum);

/* Bits of rank masks. */
static inline void rf_ctl_mask_set(uint8_t mask[RF_CTL_MASK_BYTES], unsigned int rank)
{
	mask[rank / 8u] = (uint8_t)(mask[rank / 8u] | 1u << (rank & 7u));
}

static inline bool rf_ctl_mask_get(const uint8_t mask[RF_CTL_MASK_BYTES], unsigned int rank)
{
	return ((unsigned int)mask[rank / 8u] >> (rank & 7u) & 1u) != 0;
}

#endif
