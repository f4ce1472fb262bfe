/*
 * Internal declarations of the reference model: one box.
 *
 * Written from docs/box.md and docs/reduction.md. All actions are events at cycles in a queue.
 * An operation that takes several pipeline stages in the RTL is one step in the model, at the cycle
 * in which the pipeline ends.
 */
#ifndef RF_MODEL_INTERNAL_H
#define RF_MODEL_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rf_regs.h"
#include "sim/engine.h"
#include "sim/model/rf_model.h"

#define MODEL_PORTS 8u
#define MODEL_LANES 16u
#define MODEL_GROUPS 64u
#define MODEL_CONNS 8192u
#define MODEL_HEADER 80u /* bytes of a frame stored in a header slot */
#define MODEL_MTU 4096u
#define MODEL_RX_QUEUE 64u
#define MODEL_BUCKET 4u /* entries in a bucket of the connection table */
#define MODEL_PUNT_MAX 1024u
#define MODEL_REPEATS 64u  /* largest queue of repeats */
#define MODEL_PUNTS 32u    /* waiting punted frames, all ports together ... */
#define MODEL_PUNT_PORT 4u /* ... of one port ... */
#define MODEL_PUNT_SAME 2u /* ... of one source on the port */
#define MODEL_ACKS 30u     /* waiting ACKs of a port */

/* Cycles (docs/model.md). */
#define MODEL_JUDGE_DELAY 11u  /* last beat in to verdict */
#define MODEL_RESULT_DELAY 27u /* pass issued to first beat out, 4 ports */
#define MODEL_LEVEL_DELAY 5u   /* for each level of the tree more or less */
#define MODEL_LANES_DELAY 5u   /* added if lanes are accumulated */
#define MODEL_ACK_DELAY 7u     /* verdict to first beat out, ACKs */
#define MODEL_RAW_DELAY 9u     /* the same, foreign and injected frames */
#define MODEL_PASS_GAP 3u      /* from one pass of a block of ports to the next */
#define MODEL_PASS_MIN 7u      /* shortest pass of a lane if lanes are accumulated */
#define MODEL_QUEUED_SHARE 32u /* at least one packet in this many is a first sending */
#define MODEL_PASSED_MAX 7u    /* packets of others that may pass a group */
#define MODEL_RESULT_SHARE 8u  /* at most this many results before another waiting frame */

/* 24-bit serial numbers: indexes and PSNs. */
#define MODEL_SERIAL_MASK 0xffffffu

static inline uint32_t model_serial_sub(uint32_t a, uint32_t b)
{
	return (a - b) & MODEL_SERIAL_MASK;
}

static inline uint32_t model_serial_add(uint32_t a, uint32_t b)
{
	return (a + b) & MODEL_SERIAL_MASK;
}

/* a < b: 0 < b - a < 2^23. */
static inline bool model_serial_less(uint32_t a, uint32_t b)
{
	uint32_t d = model_serial_sub(b, a);

	return d != 0 && d < 0x800000u;
}

/* Bytes around the longest payload: tag, IPv4, UDP, BTH, XRCETH, RETH, immediate, ICRC. */
#define MODEL_AROUND_PAYLOAD 86u

enum model_class { MODEL_DROP, MODEL_PUNT, MODEL_ROCE };

/* Result of lines 2 to 19 of docs/box.md for a frame. */
struct model_parsed {
	enum model_class verdict;
	unsigned int cause; /* RF_CNT_*, for MODEL_DROP */
	unsigned int l2;    /* 14 or 18 */
	unsigned int ip_length;
	unsigned int udp_length;
	uint32_t src_ip;
	uint32_t dst_ip;
	uint8_t opcode;
	uint8_t pad;
	uint32_t qpn;
	uint32_t psn;
	uint32_t imm;      /* of SEND LAST and ONLY with immediate */
	bool to_port;      /* destination is the address of the port */
	unsigned int hlen; /* offset of the payload */
	int plen;          /* payload with pad, without ICRC; negative if the headers do not fit */
};

struct model_entry {
	uint32_t ip;
	uint32_t key;   /* as in HASH_KEY */
	uint32_t value; /* as in HASH_VALUE */
};

struct model_conn {
	uint32_t start, shift, src_ip, peer_ip, peer_port, qpn;
	uint32_t next, sent, una, msn;
	uint32_t seen;       /* as in SEEN */
	bool far;            /* una has reached 2^22 */
	uint32_t last;       /* index of the last packet checked; selective: the highest */
	uint32_t mark;       /* selective: `last` at the last NAK */
	bool asked;          /* a NAK is outstanding */
	bool twice;          /* a sequence NAK was made since una last advanced */
	unsigned int queued; /* entries of this connection in the queue of repeats */
	bool mirror;         /* the rank is its own successor ... */
	uint64_t mac;        /* ... at this Ethernet address */
	uint32_t mac_hi;     /* as in PEER_MAC_HI ... */
	uint32_t mac_lo;     /* ... and PEER_MAC_LO */
	uint32_t silent;     /* 1: the last packet stored had gives = 0 */
	bool selective;      /* packets are accepted in any order, whatever the group says */
};

struct model_group {
	uint32_t cfg;
	uint32_t dbase, hbase;
	uint32_t members[4]; /* as in MEMBERS0..3 */
	uint32_t head, tail, issued;
	uint32_t error, error_index;
	uint32_t straggler;             /* timer code, 0: silence */
	unsigned int row;               /* packets from the queues since the last first sending */
	unsigned int passed;            /* packets of other groups that passed it while it waited */
	unsigned int port_turn;         /* port whose queue is checked first */
	uint32_t error_got, error_want; /* of the latched error */
	bool marked;                    /* the next first sending carries a CE mark */
};

#define MODEL_AGAIN 8u   /* ranges of indexes that wait to be sent up again */
#define MODEL_FLIGHTS 4u /* passes up in progress */

/* Indexes to be sent up again: [from, end). */
struct model_range {
	uint32_t from, end;
	bool probe; /* caused by TICK */
};

/* A pass up whose operands have not been read yet. */
struct model_flight {
	uint32_t index;
	unsigned int counter;
	uint64_t ready; /* first beat out */
};

/* The uplink of a group: docs/box.md, "Groups with an uplink". */
struct model_uplink {
	bool on;
	unsigned int cid; /* its place */
	uint32_t window;
	uint16_t sport;
	uint8_t tos;
	uint32_t up, got, seen, acked;
	uint32_t run, run_end;
	uint32_t then;            /* got at the last TICK */
	unsigned int still, wait; /* in TICKs */
	unsigned int row;         /* resends since the last first pass */
	struct model_range again[MODEL_AGAIN];
	unsigned int again_head, again_count;
	struct model_flight flights[MODEL_FLIGHTS];
	unsigned int flight_head, flight_count;
};

/* One measurement of who is last: docs/box.md. */
struct model_lag {
	enum {
		MODEL_LAG_IDLE,
		MODEL_LAG_ARMED,
		MODEL_LAG_CHOSEN,
		MODEL_LAG_RUNNING,
		MODEL_LAG_DONE
	} state;
	unsigned int group;
	unsigned int last; /* cid */
	uint32_t index;
	uint64_t since;
	uint32_t cycles;
};

/* One header slot: header bytes as received, and the fields parsed from them. */
struct model_slot {
	uint8_t bytes[MODEL_HEADER];
	uint8_t opcode;
	uint8_t pad;
	uint8_t hlen;
	uint16_t plen;
	uint32_t psn;
	bool present; /* selective: stored, and next has not reached it yet */
	/* What the packet states: its immediate, or what stands for it. */
	bool has_imm, gives, wants;
	uint32_t imm;
};

/* In what a member of a directed group differs, its value and the value it should have. */
struct model_difference {
	uint32_t what, got, want; /* what: RF_WHAT_* */
};

#define MODEL_IMM_WANTS 0x8000u
#define MODEL_IMM_GIVES 0x4000u

/* One pass: what the operands are, and their result. */
struct model_pass {
	unsigned int type, op;  /* RF_DTYPE_*, RF_OP_* and those of rf_model.h */
	unsigned int plen, pad; /* of each operand and of the result; 0 if nobody gave */
	uint8_t payload[MODEL_MTU];
};

/* One lane of one port. */
struct model_bank {
	uint8_t *data;            /* 2^bank_log2 beats */
	struct model_slot *slots; /* 2^hdr_log2 */
};

/* A frame in progress; its bytes follow the structure. */
struct model_frame {
	struct model_frame *next;
	uint64_t ready;       /* in: cycle of the verdict; out: earliest first beat */
	uint64_t first, last; /* beats, once they are known */
	size_t len;
	bool bad;
	unsigned int counter; /* out: RF_CNT_TX_* */
	unsigned int cid;     /* first sendings: the connection whose `sent` advances */
	uint8_t bytes[];
};

struct model_queue {
	struct model_frame *head, *tail;
	unsigned int frames;
	unsigned int beats;
};

/* A repeat, or a first sending that waits after repeats of its connection. */
struct model_repeat {
	uint16_t cid;
	bool first;
	uint32_t index;
};

/* Sources of a port's frames, in the order of their turn after results. */
enum model_source {
	MODEL_SRC_RESULT,
	MODEL_SRC_ACK,
	MODEL_SRC_FOREIGN,
	MODEL_SRC_INJECT,
	MODEL_SRC_COUNT
};

struct model_port {
	struct model_queue rx;
	uint64_t rx_free; /* first cycle in which a beat may enter */
	struct model_queue out[MODEL_SRC_COUNT];
	struct model_frame *sending;
	uint64_t tx_free;            /* first cycle in which a beat may leave */
	bool tx_waits;               /* a frame is ready, and the MAC has taken nothing ... */
	uint64_t tx_refused;         /* ... since this cycle */
	struct model_frame *offered; /* the link is down: the frame that the MAC is still offered */
	bool tx_due;                 /* a MODEL_EV_SEND is in the queue of events ... */
	uint64_t tx_when;            /* ... for this cycle */
	unsigned int results_in_row; /* while a frame of the firmware waits */
	int credit;    /* of foreign frames, in sixteenths of a beat; negative: they wait */
	bool ack_turn; /* a result has begun since the last ACK: one may be sent before the next */
	unsigned int turn; /* last source served that was not results */
	struct model_repeat repeats[MODEL_REPEATS];
	unsigned int repeat_head, repeat_count;
	uint64_t prep_free; /* first cycle in which a pass over this port may be chosen */
	uint64_t bank_free; /* first cycle in which a pass may read this port's bank ... */
	uint64_t tree_free; /* ... and use the adders over it */
	uint64_t down_free; /* first cycle in which a pass down from this port may be chosen */
	unsigned int ups;   /* passes up in progress for this port */
	uint32_t counters[RF_CNT_COUNT + RF_MODEL_UP_COUNTERS];
};

enum model_event_kind {
	MODEL_EV_JUDGE,
	MODEL_EV_SCHEDULE,
	MODEL_EV_SEND,
	MODEL_EV_LEFT,
	MODEL_EV_UP, /* a pass up has read its operands; `port` is the group */
};

struct model_event {
	uint64_t cycle;
	uint64_t order; /* among equal cycles: first in, first out */
	uint8_t kind;
	uint8_t port;
};

struct model_punt {
	uint8_t bytes[MODEL_PUNT_MAX];
	size_t len;
	unsigned int port;
};

/* A held frame as reported to firmware. */
struct model_held {
	bool valid;
	unsigned int port;
	uint32_t ip, src, qpn;
};

/* The fields that firmware wrote for a tombstone, and whether a packet has shown life on it. */
struct model_tomb {
	uint32_t src, port;
	bool any, seen;
};

/* The limit on what the box takes in: limit.c. */
struct model_limit {
	uint64_t rate;  /* bits per second; 0: none */
	int64_t tokens; /* in the bucket ... */
	uint64_t at;    /* ... in this cycle */
};

struct rf_engine {
	struct rf_engine_cfg cfg;
	struct rf_engine_host host;
	struct rf_model_bounds bounds;
	enum rf_model_mutant mutant;
	unsigned int beat; /* bytes of a beat */
	uint64_t now;
	uint64_t evaluated;
	bool left; /* a frame left in the current cycle */

	struct model_event *heap;
	size_t heap_count, heap_room;
	uint64_t heap_order;
	bool schedule_due;      /* a MODEL_EV_SCHEDULE is in the queue of events ... */
	uint64_t schedule_when; /* ... for this cycle */

	uint32_t ctrl, hold_ports, ip, cycle_hi, tx_share;
	uint64_t mac;
	uint32_t port_ip[MODEL_PORTS]; /* of each port; 0: none */
	uint32_t hash_ip, hash_key, hash_value;
	struct model_entry *table[2];
	struct model_punt punts[MODEL_PUNTS];
	unsigned int punt_head, punt_count;
	uint8_t inject[8][MODEL_PUNT_MAX];              /* of each port */
	unsigned int inject_busy;                       /* bit per port */
	struct model_held held, held_wait[MODEL_PORTS]; /* shown; waiting, one per port */
	bool held_missed;
	unsigned int held_turn; /* waiting port that is checked first */
	struct model_tomb *tombs;
	uint32_t tomb_src;
	bool tomb_seen;

	struct model_port ports[MODEL_PORTS];
	struct model_group groups[MODEL_GROUPS];
	struct model_uplink uplinks[MODEL_GROUPS];
	struct model_conn conns[MODEL_CONNS];
	struct model_bank banks[MODEL_PORTS][MODEL_LANES];
	uint8_t order[MODEL_GROUPS]; /* groups, least recently checked first */
	struct model_lag lag;
	struct model_limit limit;
	uint32_t *operands; /* MODEL_PORTS + 1 vectors of MODEL_MTU words */
};

/* queue.c: the queue of events, queues of frames. */
void model_event_add(struct rf_engine *e, uint64_t cycle, enum model_event_kind kind,
		     unsigned int port);
/* Makes sure that passes are considered in that cycle. */
void model_schedule_soon(struct rf_engine *e, uint64_t cycle);
bool model_event_take(struct rf_engine *e, uint64_t before, struct model_event *ev);
struct model_frame *model_frame_new(const uint8_t *bytes, size_t len, size_t room);
void model_queue_put(struct rf_engine *e, struct model_queue *q, struct model_frame *f);
struct model_frame *model_queue_get(struct rf_engine *e, struct model_queue *q);
void model_queue_clear(struct rf_engine *e, struct model_queue *q);

/* parse.c */
/* A frame of 60 bytes or more is ARP, with or without a tag. */
bool model_is_arp(const uint8_t *frame);
/* SEND LAST and ONLY with immediate. */
bool model_has_immediate(uint8_t opcode);
void model_parse(const struct rf_engine *e, unsigned int port, const uint8_t *frame, size_t len,
		 struct model_parsed *p);
bool model_icrc_ok(const uint8_t *frame, const struct model_parsed *p);
/* ICRC of the IP packet of ip_length bytes at frame + l2; the packet ends with it. */
uint32_t model_icrc(const uint8_t *frame, unsigned int l2, unsigned int ip_length);
/* The checksum that the IP header of 20 bytes should have. */
uint16_t model_ip_checksum(const uint8_t *ip);
void model_set_mac(uint8_t *bytes, uint64_t mac);
uint64_t model_get_mac(const uint8_t *bytes);

static inline uint64_t model_port_mac(const struct rf_engine *e, unsigned int port)
{
	return (e->mac + port) & 0xffffffffffffu;
}

/* table.c: the connection table. */
#define MODEL_ROLE_MIRROR 2u
/* The entry of a key in its bucket of either table; NULL if there is none. */
const struct model_entry *model_lookup(const struct rf_engine *e, unsigned int role, uint32_t ip,
				       uint32_t qpn);
/* Makes an entry in a free place of the key's buckets. False if there is none. */

/* form.c */
/*
 * Lines 27 to 29 for a packet with index i. Returns the counter, or RF_CNT_COUNT if the packet
 * is well formed; `cause` is the group error if the index can be stored, RF_ERROR_NONE for none.
 */
unsigned int model_form(const struct rf_engine *e, unsigned int cid, const struct model_parsed *p,
			uint32_t i, unsigned int *cause);
/* The same for a result from the parent: lines u6 to u8. */
unsigned int model_form_result(const struct rf_engine *e, unsigned int cid,
			       const struct model_parsed *p, uint32_t i, unsigned int *cause);

/* judge.c */
void model_judge(struct rf_engine *e, unsigned int port, struct model_frame *f);

/* held.c: held frames, signs of life on tombstones. */
void model_held_frame(struct rf_engine *e, unsigned int port, const struct model_parsed *p);
void model_held_pop(struct rf_engine *e);
uint32_t model_tombs(const struct rf_engine *e);
/* A packet with a correct ICRC matched the tombstone. */
void model_tomb_packet(struct rf_engine *e, unsigned int port, uint32_t number,
		       const struct model_parsed *p);
void model_tomb_write(struct rf_engine *e, uint32_t value);
void model_tomb_look(struct rf_engine *e, uint32_t number);

/* ledger.c */
static inline unsigned int model_cid_group(unsigned int cid)
{
	return cid >> 7;
}

static inline unsigned int model_cid_lane(unsigned int cid)
{
	return cid >> 3 & 15;
}

static inline unsigned int model_cid_port(unsigned int cid)
{
	return cid & 7;
}

static inline unsigned int model_cid_make(unsigned int group, unsigned int lane, unsigned int port)
{
	return group << 7 | lane << 3 | port;
}

static inline unsigned int model_group_field(const struct model_group *g, uint32_t mask,
					     unsigned int lsb)
{
	return (unsigned int)((g->cfg & mask) >> lsb);
}

#define MODEL_GROUP_FIELD(g, name)                                                                 \
	model_group_field(g, RF_GROUP_CFG_##name##_MASK, RF_GROUP_CFG_##name##_LSB)

/* A group has a rank at this port and lane. */
bool model_member(const struct rf_engine *e, const struct model_group *g, unsigned int lane,
		  unsigned int port);
void model_group_head(struct rf_engine *e, unsigned int group);
void model_group_tail(struct rf_engine *e, unsigned int group);
/* The connection accepts packets in any order. */
bool model_selective(const struct rf_engine *e, unsigned int cid);
void model_group_error(struct rf_engine *e, unsigned int cid, unsigned int cause, uint32_t index);
/* The same with ERROR.WHAT, ERROR_GOT, ERROR_WANT. */
void model_group_error_of(struct rf_engine *e, unsigned int cid, unsigned int cause, uint32_t index,
			  unsigned int what, uint32_t got, uint32_t want);
/* Type (RF_MODEL_TYPE_*) and operation (RF_MODEL_OP_*) of a group. */
unsigned int model_type(const struct model_group *g);
unsigned int model_op(const struct model_group *g);
bool model_group_runs(const struct model_group *g);
void model_conn_una(struct rf_engine *e, unsigned int cid, uint32_t una);
void model_conn_sent(struct rf_engine *e, unsigned int cid);
void model_conn_init(struct rf_engine *e, unsigned int cid);

/* nak.c: NAKs, and the measurement of who is last. */
unsigned int model_nak(struct rf_engine *e, unsigned int cid, const uint8_t *frame,
		       const struct model_parsed *p, uint32_t index, unsigned int counter);
void model_nak_tick(struct rf_engine *e);
void model_lag_arm(struct rf_engine *e, unsigned int group);
void model_lag_stored(struct rf_engine *e, unsigned int cid, uint32_t index);
void model_lag_head(struct rf_engine *e, unsigned int cid);

/* reduce.c: slots and sums. */
struct model_slot *model_slot_at(const struct rf_engine *e, unsigned int cid, uint32_t index);
/* Stored in a selective group before next has reached it. */
bool model_slot_present(const struct rf_engine *e, unsigned int cid, uint32_t index);
/* Marks every slot of the group as empty. */
void model_slots_clear(struct rf_engine *e, unsigned int group);
void model_slot_store(struct rf_engine *e, unsigned int cid, uint32_t index, const uint8_t *frame,
		      const struct model_parsed *p);
/* The payload stored for an index, as it came. */
const uint8_t *model_slot_data(struct rf_engine *e, unsigned int cid, uint32_t index);
/* Computes the payload of a pass that model_compare() has filled in; pad bytes are zero. */
void model_reduce(struct rf_engine *e, unsigned int group, uint32_t index, struct model_pass *pass);

/* compare.c */
/*
 * Fills in a pass over an index except for the payload. Returns the first rank whose packet differs
 * from those before it, as a cid; -1 if all agree.
 */
int model_compare(const struct rf_engine *e, unsigned int group, uint32_t index,
		  struct model_pass *pass, struct model_difference *d);

/* block.c */
/* Ports whose banks and adders a pass of the group uses: its aligned block. */
void model_block_of(const struct rf_engine *e, const struct model_group *g, unsigned int *first,
		    unsigned int *end);
/* First cycle in which a pass over the group's ranks may be chosen. */
uint64_t model_block_free(const struct rf_engine *e, const struct model_group *g);
/*
 * Reserves the block for a pass over slots of plen bytes. Returns the cycle of the result's first
 * beat; `read` is the one in which the last operand has been read.
 */
uint64_t model_block_take(struct rf_engine *e, unsigned int group, unsigned int plen,
			  uint64_t *read);
/* Reserves the bank of the uplink's port for a pass down; the same for its result. */
uint64_t model_uplink_take(struct rf_engine *e, unsigned int group, unsigned int plen);

/* schedule.c */
void model_schedule(struct rf_engine *e);
bool model_repeat_ask(struct rf_engine *e, unsigned int cid, uint32_t index);

/* egress.c */
void model_send(struct rf_engine *e, unsigned int port, enum model_source src,
		struct model_frame *f);
void model_send_step(struct rf_engine *e, unsigned int port);
void model_send_left(struct rf_engine *e, unsigned int port);
bool model_result_room(const struct rf_engine *e, unsigned int port, const struct model_group *g,
		       unsigned int frames);
/* A rank's copy of a pass; `mark`: it carries a CE mark if it can. */
void model_send_result(struct rf_engine *e, const struct model_repeat *r,
		       const struct model_pass *pass, bool mark, uint64_t ready);
void model_send_ack(struct rf_engine *e, unsigned int cid, unsigned int port, const uint8_t *frame,
		    const struct model_parsed *p, uint32_t psn);
/* An ACK (syndrome below 0x20) or a NAK made for the sender of the frame. */
void model_send_made(struct rf_engine *e, unsigned int cid, const uint8_t *frame,
		     const struct model_parsed *p, uint32_t index, uint8_t syndrome);
void model_send_raw(struct rf_engine *e, unsigned int port, enum model_source src,
		    const uint8_t *frame, size_t len);
/* UDP checksum 0 and the ICRC, after all other fields. */
void model_seal(struct model_frame *f, unsigned int l2, unsigned int ip_length);

/* uplink.c: what comes from the parent, and what is sent to it. */
static inline bool model_is_uplink(const struct rf_engine *e, unsigned int cid)
{
	const struct model_uplink *u = &e->uplinks[model_cid_group(cid)];

	return u->on && u->cid == cid;
}

void model_uplink_start(struct rf_engine *e, unsigned int group);
/* Lines 24 to 26 and u1 to u12: the counter. */
unsigned int model_uplink_judge(struct rf_engine *e, unsigned int port, unsigned int cid,
				const struct model_frame *f, const struct model_parsed *p);
void model_uplink_tick(struct rf_engine *e);
/* Registers of base/uplink_regs.h. */
uint32_t model_uplink_read_reg(const struct model_uplink *u, uint32_t offset);
void model_uplink_write_reg(struct rf_engine *e, unsigned int group, uint32_t offset,
			    uint32_t value);
/* uplink_pass.c */
/* Indexes below it may be passed on to the ranks. */
uint32_t model_complete(const struct rf_engine *e, unsigned int group);
/* Puts a range into the list, if it has room. */
void model_uplink_again(struct rf_engine *e, unsigned int group, uint32_t from, uint32_t end,
			bool probe);
/* A pass up could be issued if its ports were free. */
bool model_uplink_waits(const struct rf_engine *e, unsigned int group);
/* Issues one pass up, or discards a resend. True if either happened. */
bool model_uplink_try(struct rf_engine *e, unsigned int group, bool *began);
/* The operands of the oldest pass have been read: its packet is made. */
void model_uplink_read(struct rf_engine *e, unsigned int group);
/* The result of an index as it came. */
void model_uplink_result(struct rf_engine *e, unsigned int group, uint32_t index,
			 struct model_pass *pass);
/* An ACK of what has come back, if anything has and the queue has room. */
void model_uplink_ack(struct rf_engine *e, unsigned int group);

/* registers.c */
uint32_t model_reg_read(struct rf_engine *e, uint32_t addr);
void model_reg_write(struct rf_engine *e, uint32_t addr, uint32_t value);
bool model_irq(const struct rf_engine *e);

static inline unsigned int model_beats(const struct rf_engine *e, size_t bytes)
{
	return (unsigned int)((bytes + e->beat - 1) / e->beat);
}

static inline void model_count(struct rf_engine *e, unsigned int port, unsigned int counter)
{
	e->ports[port].counters[counter]++;
}

/* limit.c: whether a first pass may be issued; if not, passes are considered when it may. */
bool model_limit_allows(struct rf_engine *e);
/* It is issued: takes what the packets of its ranks count. */
void model_limit_take(struct rf_engine *e, unsigned int group, uint32_t index);

#endif
