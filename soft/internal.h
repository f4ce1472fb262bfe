/* Internal declarations of the software box: its state, and the functions of its files. */
#ifndef RF_SOFT_INTERNAL_H
#define RF_SOFT_INTERNAL_H

#include <string.h>

#include "rf_regs.h"
#include "soft/sum.h"
#include "soft/soft.h"

#define SOFT_HEADER 80u   /* bytes of a stored header */
#define SOFT_REPEATS 64u  /* entries of a port's queue of repeats */
#define SOFT_RESULTS 32u  /* results that wait at a port */
#define SOFT_ACKS 30u     /* ACKs that wait at a port */
#define SOFT_ENTRIES 256u /* frames in one queue of a port; a power of two */
#define SOFT_PUNTS 32u
#define SOFT_PUNT_PORT 4u /* punted frames of one port ... */
#define SOFT_PUNT_SAME 2u /* ... and of one source on the port */
#define SOFT_PUNT_MAX 1024u
#define SOFT_AROUND 86u /* longest headers and ICRC around a payload */
#define SOFT_UNIT 64u   /* bytes; room in queues is counted in these */
#define SOFT_MTU 4096u
#define SOFT_SCRATCH 17u /* vectors of one lane: operands, sums; and two for the lanes */
#define SOFT_MAC_MASK 0xffffffffffffu

#define SOFT_OP_ACK 0x11u
#define SOFT_OP_CNP 0x81u
#define SOFT_OP_DATA 0x0bu /* SEND and WRITE: 0 to this */

/* ---- serial numbers of 24 bits ---- */

#define SOFT_SERIAL 0xffffffu

static inline uint32_t soft_sub(uint32_t a, uint32_t b)
{
	return (a - b) & SOFT_SERIAL;
}

static inline uint32_t soft_add(uint32_t a, uint32_t b)
{
	return (a + b) & SOFT_SERIAL;
}

/* a < b: the distance from a to b is 1 .. 2^23 - 1. */
static inline bool soft_less(uint32_t a, uint32_t b)
{
	return soft_sub(b, a) - 1u < 0x7fffffu;
}

/* ---- one frame ---- */

enum soft_class { SOFT_DROP, SOFT_PUNT, SOFT_ROCE };

/* What is known of a frame after lines 2 to 19 and, for RoCE, its entry. */
struct soft_head {
	uint8_t *bytes;
	uint32_t len;
	uint32_t src_ip, dst_ip, qpn, psn, imm;
	uint32_t value;     /* of its entry, as in HASH_VALUE; 0: none */
	uint16_t ip_length; /* from the IP header to the end of the ICRC */
	uint16_t udp_length;
	int32_t plen;  /* payload with pad; negative: the headers do not fit */
	uint16_t hlen; /* offset of the payload */
	uint8_t l2, opcode, pad, verdict;
	uint8_t cause; /* counter of SOFT_DROP */
	bool to_port;  /* the destination is the port's own address */
};

/* ---- connections, groups, slots ---- */

struct soft_conn {
	/* What each packet needs. */
	uint32_t next, sent, una, last;
	uint32_t start, shift, src_ip, mark;
	uint64_t mac;      /* of a mirror rank */
	uint32_t seen;     /* as in SEEN */
	uint16_t queued;   /* its entries in the port's queue of repeats */
	bool asked, twice; /* NAKs: docs/box.md */
	bool far;          /* una has reached 2^22 */
	bool mirror, selective, silent;
	bool member; /* of its group */
	/* What ACKs and NAKs need. */
	uint32_t msn, qpn, peer_ip;
	uint8_t peer_port;
	uint32_t mac_hi, mac_lo; /* as written */
};

struct soft_group {
	bool live, open_loop, transparent, selective, strict, directed, marked;
	uint8_t op, type, lanes, s_log2;
	uint8_t ports; /* bit per port with a member */
	uint8_t row;   /* packets from the queues since the last first sending */
	uint8_t passed, port_turn;
	uint32_t mtu, slots; /* bytes; number */
	uint32_t head, tail, issued;
	uint32_t error; /* as in ERROR */
	uint32_t straggler;
	uint32_t queued;               /* its entries in the queues of repeats */
	unsigned int at_head, at_tail; /* members whose next is head, whose una is tail */
	unsigned int count;            /* members */
	uint8_t per_port[SOFT_PORTS];  /* members at a port */
	uint16_t member[SOFT_LANES * SOFT_PORTS]; /* cids: lanes ascending, then ports */
	uint32_t cfg, dbase, hbase, members[4];   /* as written */
	uint32_t error_index, error_got, error_want;
};

/* A stored packet without its payload. */
struct soft_slot {
	uint8_t bytes[SOFT_HEADER];
	uint32_t psn, imm;
	uint16_t plen;
	uint8_t opcode, pad, hlen, l2;
	bool has_imm, gives, wants;
};

/* One lane of one port. */
struct soft_bank {
	uint8_t *data;
	struct soft_slot *slots;
	bool *present; /* of each header slot: stored, and next has not reached it */
};

struct soft_entry {
	uint32_t ip, key, value; /* as in HASH_* */
};

/* ---- a port's way out ---- */

enum soft_kind { SOFT_RESULT, SOFT_ACK, SOFT_FOREIGN, SOFT_INJECT, SOFT_KINDS };

/* Frames one after another in a ring of units; a frame does not wrap. */
struct soft_queue {
	uint8_t *mem;
	uint32_t size;               /* units */
	uint32_t at;                 /* unit after the last frame */
	uint32_t used;               /* units of the frames in it */
	uint32_t first, taken, last; /* running numbers of frames: oldest, next to take, end */
	struct {
		uint32_t at, len;
		uint8_t counter;
	} entry[SOFT_ENTRIES];
};

struct soft_repeat {
	uint32_t index;
	uint16_t cid;
	bool first; /* a first sending that waits behind repeats of its connection */
};

struct soft_port {
	uint32_t counters[RF_CNT_COUNT];
	struct soft_queue out[SOFT_KINDS];
	struct soft_repeat repeats[SOFT_REPEATS];
	unsigned int repeat_at, repeat_count;
	int credit;           /* of foreign frames, in sixteenths of a unit */
	unsigned int results; /* since the last frame of the firmware */
	bool ack_turn;        /* a result has left since the last ACK */
	unsigned int turn;
	unsigned int reserved; /* results for which room is kept for the starved group */
};

struct soft_punt {
	uint8_t bytes[SOFT_PUNT_MAX];
	uint32_t len, port;
};

struct soft_held {
	bool valid;
	uint32_t port, ip, src, qpn;
};

struct soft_tomb {
	uint32_t src, port;
	bool any, seen;
};

enum soft_lag_state {
	SOFT_LAG_IDLE,
	SOFT_LAG_ARMED,
	SOFT_LAG_CHOSEN,
	SOFT_LAG_RUNS,
	SOFT_LAG_DONE
};

struct soft_lag {
	enum soft_lag_state state;
	uint32_t group, index, cycles, last;
	uint64_t since;
};

#define SOFT_NO_GROUP UINT32_MAX

struct soft_box {
	struct soft_cfg cfg;
	const struct soft_sum *sum;
	uint64_t now;
	uint64_t work; /* bit per group: it may have something to send */
	uint32_t turn; /* group that is looked at first */
	uint32_t starved;
	uint32_t ctrl, hold_ports, ip, tx_share, cycle_hi;
	uint64_t mac;
	uint32_t port_ip[SOFT_PORTS];
	uint32_t entry_mask; /* number of buckets - 1 */
	uint32_t beat;       /* bytes */
	uint32_t bank_mask, hdr_mask;
	struct soft_entry *table[2];
	struct soft_conn *conns;
	struct soft_group *groups;
	struct soft_bank bank[SOFT_PORTS][SOFT_LANES];
	struct soft_port ports[SOFT_PORTS];
	struct soft_lag lag;
	/* Registers and what waits for the firmware. */
	uint32_t hash_ip, hash_key, hash_value, tomb_src;
	bool tomb_seen, held_missed;
	uint32_t held_turn, inject_busy;
	struct soft_held held, held_wait[SOFT_PORTS];
	struct soft_tomb *tombs;
	struct soft_punt *punts;
	uint32_t punt_at, punt_count;
	uint8_t inject[SOFT_PORTS][SOFT_PUNT_MAX];
	/* Scratch of one pass. */
	uint8_t *scratch[SOFT_SCRATCH], *result;
	uint8_t *memory; /* all of the above */
};

static inline unsigned int soft_cid_group(unsigned int cid)
{
	return cid >> 7;
}

static inline unsigned int soft_cid_lane(unsigned int cid)
{
	return cid >> 3 & 15u;
}

static inline unsigned int soft_cid_port(unsigned int cid)
{
	return cid & 7u;
}

static inline struct soft_group *soft_group_of(const struct soft_box *b, unsigned int cid)
{
	return &b->groups[soft_cid_group(cid)];
}

/* A connection that this box does not have counts as not ready. */
static inline bool soft_exists(const struct soft_box *b, unsigned int cid)
{
	return soft_cid_group(cid) < b->cfg.groups && soft_cid_lane(cid) < b->cfg.lanes &&
	       soft_cid_port(cid) < b->cfg.ports;
}

static inline struct soft_bank *soft_bank_of(struct soft_box *b, unsigned int cid)
{
	return &b->bank[soft_cid_port(cid)][soft_cid_lane(cid)];
}

static inline uint32_t soft_hdr_at(const struct soft_box *b, const struct soft_group *g,
				   uint32_t index)
{
	return (g->hbase + (index & (g->slots - 1))) & b->hdr_mask;
}

static inline struct soft_slot *soft_slot_of(struct soft_box *b, unsigned int cid, uint32_t index)
{
	return &soft_bank_of(b, cid)->slots[soft_hdr_at(b, soft_group_of(b, cid), index)];
}

static inline bool *soft_present(struct soft_box *b, unsigned int cid, uint32_t index)
{
	return &soft_bank_of(b, cid)->present[soft_hdr_at(b, soft_group_of(b, cid), index)];
}

static inline uint8_t *soft_data_of(struct soft_box *b, unsigned int cid, uint32_t index)
{
	const struct soft_group *g = soft_group_of(b, cid);
	uint32_t beats = g->mtu / b->beat, slot = index & (g->slots - 1);

	return soft_bank_of(b, cid)->data +
	       (size_t)((g->dbase + slot * beats) & b->bank_mask) * b->beat;
}

static inline bool soft_is_selective(const struct soft_box *b, unsigned int cid)
{
	return soft_group_of(b, cid)->selective || b->conns[cid].selective;
}

static inline bool soft_runs(const struct soft_group *g)
{
	return g->live && !(g->error & RF_GROUP_ERROR_VALID_MASK);
}

/*
 * Copies a payload. In pieces of one length, which the compiler turns into wide moves: the
 * library's copy of a few hundred bytes costs more than the bytes. They do not overlap.
 */
static inline void soft_copy(uint8_t *restrict to, const uint8_t *restrict from, size_t n)
{
	size_t k;

	for (k = 0; k + 64 <= n; k += 64)
		memcpy(to + k, from + k, 64);
	if (n >= 64)
		memcpy(to + n - 64, from + n - 64, 64);
	else
		memcpy(to, from, n);
}

static inline void soft_count(struct soft_box *b, unsigned int port, unsigned int counter)
{
	b->ports[port].counters[counter]++;
}

/* ---- bytes.c: fields of frames ---- */
uint64_t soft_get_mac(const uint8_t *p);
void soft_put_mac(uint8_t *p, uint64_t mac);
/* The sum of the IP header's words, folded: 0xffff if its checksum is right. */
uint32_t soft_ip_sum(const uint8_t *ip);
void soft_ip_seal(uint8_t *ip);
/* The ICRC of the IP packet of `length` bytes; it may change the packet, and restores it. */
uint32_t soft_icrc(uint8_t *ip, unsigned int length);
bool soft_icrc_right(const struct soft_head *h);
/* UDP checksum 0 and the ICRC, after all other fields. */
void soft_seal(uint8_t *ip, unsigned int length);
/* A frame on a mirror connection goes back to where it came from. */
void soft_turn_back(const struct soft_conn *c, uint8_t *frame, unsigned int l2);

/* ---- parse.c: lines 2 to 19 ---- */
void soft_parse(const struct soft_box *b, unsigned int port, const struct soft_frame *f,
		struct soft_head *h);
bool soft_is_arp(const uint8_t *frame);

/* ---- table.c ---- */
/* The value of a key's entry, 0 if there is none. */
uint32_t soft_find(const struct soft_box *b, unsigned int role, uint32_t ip, uint32_t qpn);

/* ---- judge.c: lines 20 to 26 and 37 to 44 ---- */
void soft_judge(struct soft_box *b, unsigned int port, struct soft_head *h);

/* ---- data.c: lines 27 to 36 ---- */
unsigned int soft_data(struct soft_box *b, unsigned int cid, struct soft_head *h);

/* ---- nak.c ---- */
/*
 * What the NAK rules make of a packet of lines 31 to 36 that would be counted as `counter`, before
 * next rises. Returns the counter to use.
 */
unsigned int soft_nak(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t i,
		      unsigned int counter);
bool soft_ack_room(const struct soft_box *b, unsigned int port);
/* An ACK or NAK for the sender of a frame; `index` is what its PSN names. */
void soft_made(struct soft_box *b, unsigned int cid, const struct soft_head *h, uint32_t index,
	       unsigned int syndrome);

/* ---- ledger.c ---- */
/* The fields of a group after CFG or MEMBERS were written. */
void soft_decode(struct soft_box *b, unsigned int group);
void soft_live(struct soft_box *b, unsigned int group);
void soft_init(struct soft_box *b, unsigned int cid);
/* A member's next has left the value `from`. */
void soft_rose(struct soft_box *b, unsigned int cid, uint32_t from);
/* una of a connection rises to a value that is not beyond sent; lower values change nothing. */
void soft_una(struct soft_box *b, unsigned int cid, uint32_t una);
/* One more index of a connection has been sent for the first time. */
void soft_sent(struct soft_box *b, unsigned int cid);
void soft_error(struct soft_box *b, unsigned int cid, unsigned int cause, uint32_t index,
		unsigned int what, uint32_t got, uint32_t want);
void soft_lag_stored(struct soft_box *b, unsigned int cid, uint32_t index);

/* ---- pass.c: one reading of a slot ---- */
struct soft_pass {
	unsigned int type, op, plen, pad;
};

/* First sending of the next index. The caller has found room. */
void soft_first(struct soft_box *b, unsigned int group);
/* An entry of the queue of repeats is sent. The caller has found room. */
void soft_again(struct soft_box *b, const struct soft_repeat *r);
/* What the ranks agree on at an index. The first cid that differs, or -1. */
int soft_compare(struct soft_box *b, unsigned int group, uint32_t index, struct soft_pass *p,
		 uint32_t *what, uint32_t *got, uint32_t *want);

/* ---- again.c: the queues of repeats ---- */
/* A repeat is asked for. False: no room. */
bool soft_ask(struct soft_box *b, unsigned int cid, uint32_t index);
/* A first sending joins them; the caller has found room. */
void soft_join(struct soft_box *b, unsigned int cid, uint32_t index);
/* The first entry of a port's queue is done. */
void soft_repeat_pop(struct soft_box *b, unsigned int port);

/* ---- turn.c: who is next ---- */
/* Sends everything that can be sent. */
void soft_pump(struct soft_box *b);

static inline void soft_wake(struct soft_box *b, unsigned int group)
{
	b->work |= UINT64_C(1) << group;
}

/* ---- out.c: the queues of the ports ---- */
static inline unsigned int soft_frames(const struct soft_queue *q)
{
	return q->last - q->first;
}

/* Room for one frame, to be filled in; the caller has checked that there is some. */
uint8_t *soft_put(struct soft_box *b, unsigned int port, enum soft_kind kind, size_t len,
		  unsigned int counter);
bool soft_foreign_room(const struct soft_box *b, unsigned int port, size_t len);
/* Gives back the room of the frames that were taken. */
void soft_release(struct soft_box *b, unsigned int port);
/* The link is down: nothing of what waits is sent. Returns the number of frames. */
unsigned int soft_lose(struct soft_box *b, unsigned int port);
/* Bytes of memory that the queues of a port need, and their set-up in it. */
size_t soft_queues_size(const struct soft_box *b);
void soft_queues_init(struct soft_box *b, unsigned int port, uint8_t *memory);

/* ---- firm.c: punted, held and injected frames, tombstones ---- */
void soft_punt(struct soft_box *b, unsigned int port, const struct soft_head *h);
void soft_hold(struct soft_box *b, unsigned int port, const struct soft_head *h);
void soft_held_pop(struct soft_box *b);
uint32_t soft_tombs(const struct soft_box *b);
void soft_tomb_frame(struct soft_box *b, unsigned int port, const struct soft_head *h);
void soft_tomb_write(struct soft_box *b, uint32_t value);
void soft_tomb_look(struct soft_box *b, uint32_t number);
void soft_inject(struct soft_box *b, uint32_t value);
void soft_inject_word(struct soft_box *b, uint32_t offset, uint32_t value);

#endif
