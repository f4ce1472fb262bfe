/* What the parts of the firmware's core know of each other. */
#ifndef RF_FW_INTERNAL_H
#define RF_FW_INTERNAL_H

#include "firmware/core/fw.h"
#include "rf_regs.h"

#define RF_FW_CID(hw, lane, port) ((uint32_t)(hw) << 7 | (uint32_t)(lane) << 3 | (uint32_t)(port))

/* Places of a bucket of the connection table. */
#define RF_FW_BUCKET_LOG2 2u
#define RF_FW_BUCKET (1u << RF_FW_BUCKET_LOG2)
/* Places looked at to make room for one entry. */
#define RF_FW_REACH_MAX 256u

static inline uint32_t rf_fw_read(struct rf_fw *fw, uint32_t addr)
{
	return rf_hal_read(fw->hal, addr);
}

static inline void rf_fw_write(struct rf_fw *fw, uint32_t addr, uint32_t value)
{
	rf_hal_write(fw->hal, addr, value);
}

static inline uint32_t rf_fw_group_reg(unsigned int hw, uint32_t offset)
{
	return RF_GROUP_BASE + (uint32_t)hw * RF_GROUP_STRIDE + offset;
}

static inline uint32_t rf_fw_conn_reg(uint32_t cid, uint32_t offset)
{
	return RF_CONN_BASE + cid * RF_CONN_STRIDE + offset;
}

/* ---- buddy.c: ranges of 2^k units, aligned to their size ---- */

void rf_fw_buddy_init(struct rf_fw_buddy *b, unsigned int total_log2);
/* False where no run of 2^log2 units is free; else *base is its first unit. */
bool rf_fw_buddy_alloc(struct rf_fw_buddy *b, unsigned int log2, uint32_t *base);
/* base and log2 as allocated. */
void rf_fw_buddy_free(struct rf_fw_buddy *b, uint32_t base, unsigned int log2);
/* log2 of the longest free run in units, or -1. */
int rf_fw_buddy_longest(const struct rf_fw_buddy *b);
/* Free units. */
uint32_t rf_fw_buddy_room(const struct rf_fw_buddy *b);

/* ---- conn.c: the connection table and its shadow ---- */

/* Key word of a role (0 data, 1 ACK) and QPN. */
static inline uint32_t rf_fw_key(unsigned int role, uint32_t qpn)
{
	return (uint32_t)role << RF_HASH_KEY_ROLE_LSB | qpn;
}

/* Value word of an entry. */
static inline uint32_t rf_fw_value(uint32_t cid, unsigned int state)
{
	return cid | (uint32_t)state << RF_HASH_VALUE_STATE_LSB;
}

static inline unsigned int rf_fw_state(const struct rf_fw_entry *e)
{
	return e->value >> RF_HASH_VALUE_STATE_LSB & 3u;
}

/* The hash of box.md: place in table 0 is its low bits, in table 1 those from bit 16 on. */
uint32_t rf_fw_conn_hash(uint32_t ip, uint32_t key);
/* Empties the table. */
void rf_fw_conn_reset(struct rf_fw *fw);
/* The entry of a key or NULL. */
struct rf_fw_entry *rf_fw_conn_find(struct rf_fw *fw, uint32_t ip, uint32_t key);
/*
 * Sets value and job of a key, new or not. A key once in the table is never absent in between.
 * Where there is no room, the oldest tombstone of the job that holds most gives way, if that job
 * holds more than this one or is this one. False: no room.
 */
bool rf_fw_conn_put(struct rf_fw *fw, uint32_t ip, uint32_t key, uint32_t value, uint64_t job);
void rf_fw_conn_remove(struct rf_fw *fw, uint32_t ip, uint32_t key);
/* A tombstone that belongs to no job: a connection that was cut in the hold time. */
static inline bool rf_fw_held(const struct rf_fw_entry *e)
{
	return rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job == RF_FW_NOBODY;
}

/* One that lets a connection of no group pass at a port that holds what the box does not know. */
#define RF_FW_FOREIGN_CID 0xffffu
static inline bool rf_fw_foreign(const struct rf_fw_entry *e)
{
	return e->value == rf_fw_value(RF_FW_FOREIGN_CID, RF_STATE_JOINING);
}

/* A frame that was held back. */
struct rf_fw_shown {
	uint32_t ip, src, qpn; /* ip, qpn: destination */
	unsigned int port;
};

/* How long a tombstone stays after its last packet: cfg.hold_ms where it belongs to no job. */
uint32_t rf_fw_tomb_life(const struct rf_fw *fw, const struct rf_fw_entry *e);
/* Turns the entry of a member's data role into a tombstone of that job; where its life is 0 it goes
 * at once. */
void rf_fw_conn_bury(struct rf_fw *fw, const struct rf_fw_member *m, uint64_t job);
/* Makes a tombstone that belongs to no job, unless there is an entry. False: no room. */
bool rf_fw_conn_hold(struct rf_fw *fw, uint32_t ip, uint32_t qpn, unsigned int port);
/* Makes the tombstone of a job of a connection that has no entry; its life shows what comes from
 * the same source and port. False: no room, or not within the job's quota. */
bool rf_fw_conn_cut(struct rf_fw *fw, const struct rf_fw_shown *s, uint64_t job);
/* Makes the foreign entry of a connection that has no entry. False: no room. */
bool rf_fw_conn_pass(struct rf_fw *fw, const struct rf_fw_shown *s);
/* Removes the foreign entries of these ports, a bit each. */
void rf_fw_conn_forget_foreign(struct rf_fw *fw, unsigned int ports);
/* Removes a tombstone of that job; any other entry stays. */
void rf_fw_conn_exhume(struct rf_fw *fw, uint32_t ip, uint32_t key, uint64_t job);
/* All of a job's tombstones. */
void rf_fw_conn_exhume_all(struct rf_fw *fw, uint64_t job);
/* Entries of a job; its tombstones alone. */
uint32_t rf_fw_conn_count(const struct rf_fw *fw, uint64_t job, bool tombstones);
/* Timer of the tombstones: lets go those that have seen no packet for the hold time. */
void rf_fw_conn_tick(struct rf_fw *fw);

/* ---- member.c: ranks ---- */

void rf_fw_member_init(struct rf_fw *fw);
struct rf_fw_member *rf_fw_member_get(struct rf_fw *fw, unsigned int i); /* NULL for RF_FW_NONE */
/* Of a group by rank, NULL. */
struct rf_fw_member *rf_fw_member_find(struct rf_fw *fw, const struct rf_fw_group *g,
				       unsigned int rank);
/* A new one in its place by rank; NULL: none is free. */
struct rf_fw_member *rf_fw_member_add(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank);
void rf_fw_member_drop(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank);
void rf_fw_member_drop_all(struct rf_fw *fw, struct rf_fw_group *g);

/* for (m = first; m; m = next) */
static inline struct rf_fw_member *rf_fw_first(struct rf_fw *fw, const struct rf_fw_group *g)
{
	return rf_fw_member_get(fw, g->first);
}

static inline struct rf_fw_member *rf_fw_next(struct rf_fw *fw, const struct rf_fw_member *m)
{
	return rf_fw_member_get(fw, m->next);
}

/* ---- nonce.c: the box's challenge ---- */

void rf_fw_nonce_init(struct rf_fw *fw);
/* The current one of a source address. */
uint64_t rf_fw_nonce(struct rf_fw *fw, uint32_t ip);
/* Whether a request of a job from there may carry this one. */
bool rf_fw_nonce_ok(struct rf_fw *fw, uint64_t nonce, uint64_t job, uint32_t ip);
/* From now on none is accepted of a job from an address that was given out until now; ip 0: from no
 * address. */
void rf_fw_nonce_void(struct rf_fw *fw, uint64_t job, uint32_t ip);
/* The same for every job. */
void rf_fw_nonce_void_all(struct rf_fw *fw);

/* ---- group.c: the state machine ---- */

static inline bool rf_fw_group_active(const struct rf_fw_group *g)
{
	return g->state == RF_CTL_S_JOINING || g->state == RF_CTL_S_READY ||
	       g->state == RF_CTL_S_DRAINING;
}

/* A new group in state JOINING with hardware group and slots; NULL and *why, *detail. */
struct rf_fw_group *rf_fw_group_make(struct rf_fw *fw, const struct rf_ctl_header *h,
				     const struct rf_ctl_join *j, enum rf_ctl_reason *why,
				     uint32_t *detail);
/* Undoes rf_fw_group_make() for a group without members. */
void rf_fw_group_unmake(struct rf_fw *fw, struct rf_fw_group *g);
void rf_fw_group_fail(struct rf_fw *fw, struct rf_fw_group *g, enum rf_ctl_reason reason,
		      uint32_t rank, uint32_t index, uint32_t detail);
/* A rank leaves; ends the group with the last. */
void rf_fw_group_leave(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		       uint8_t flag);
/* Groups that have ended are forgotten where no member is free otherwise. */
void rf_fw_group_spare_members(struct rf_fw *fw);
/* Reads signs of life of a group whose hardware is set up. */
void rf_fw_group_look(struct rf_fw *fw, struct rf_fw_group *g);
/*
 * For a member of a draining group that has not left: a rank that has been silent for longer than
 * its lease and without which this one will not get what it still waits for. NULL: there is none.
 */
const struct rf_fw_member *rf_fw_group_lost(struct rf_fw *fw, struct rf_fw_group *g,
					    const struct rf_fw_member *m);
/* Errors latched by the hardware. */
void rf_fw_group_errors(struct rf_fw *fw);
/* Frees the slots of groups that have ended and settled. */
void rf_fw_group_settle(struct rf_fw *fw);
/* Timers; returns the next one in ms. */
uint64_t rf_fw_group_tick(struct rf_fw *fw);
/* log2 of the beats and header slots that a group holds. */
unsigned int rf_fw_group_beats_log2(const struct rf_fw *fw, unsigned int mtu_log2,
				    unsigned int slots_log2);

/* ---- log.c ---- */

struct rf_fw_what {
	uint64_t job;
	uint32_t group, rank, reason;
};

void rf_fw_note(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_what *what);
void rf_fw_note_group(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_group *g);

/* ---- stall.c: what was lost, who is last ---- */

/* Timer of live groups; returns the next one in ms. */
uint64_t rf_fw_stall_tick(struct rf_fw *fw);

/* ---- keys.c: what a job's key allows ---- */

/* A job's line of the table of keys, or NULL. */
const struct rf_fw_key *rf_fw_keys_find(const struct rf_fw *fw, uint64_t job);
/* What a job holds, and what it may hold (RF_CTL_NO_LIMIT). */
void rf_fw_keys_held(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *held);
void rf_fw_keys_most(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *most);
/* The difference: what it may still have. */
void rf_fw_keys_left(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *left);
/* Entries of the connection table that a group of that many ranks needs. */
uint32_t rf_fw_keys_entries(unsigned int ranks, unsigned int join_flags);
/* Bytes of the slots of a group. */
uint32_t rf_fw_keys_bytes(unsigned int slots_log2, unsigned int mtu_log2);

/* ---- place.c: a complete group to and from the hardware ---- */

/* struct rf_fw_member.put */
#define RF_FW_PUT_DATA 1u /* the entry of its data role */
#define RF_FW_PUT_ACK 2u  /* the entry of its ACK role */
#define RF_FW_PUT_TOMB 4u /* that of the data role was a tombstone of the same job */
#define RF_FW_PUT_HELD 8u /* it was one that belongs to no job */

/* Whether the rank that owns an address has joined the group. */
bool rf_fw_joined_from(struct rf_fw *fw, const struct rf_fw_group *g, uint32_t ip);
/*
 * A rank of a group that still joins: the data roles whose receiver's address it brings, its own if
 * that is there, drop from now on. False: no room, and nothing has changed.
 */
bool rf_fw_place_joining(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m);
/* A member of a group that has ended says that its queue pair is no more. */
void rf_fw_place_destroyed(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m);

/* Placement, admission, registers, entries. RF_CTL_R_NONE: live. Else nothing is left behind; *rank
 * is at fault, *index and *detail as FAILED says. */
enum rf_ctl_reason rf_fw_place(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
			       uint32_t *index, uint32_t *detail);
/* Takes entries and group out of the hardware; tombstones where they are due. */
void rf_fw_unplace(struct rf_fw *fw, struct rf_fw_group *g);

/* ---- request.c: verbs; fw->reply is filled ---- */

struct rf_fw_request {
	struct rf_ctl_header h;
	struct rf_ctl_addr addr;
	struct rf_ctl_request body;
	unsigned int port; /* on which it came in */
};

/* A memory of the ledger, a table or a queue lost a bit: what RESET does, and the hardware with it.
 */
void rf_fw_begin_anew(struct rf_fw *fw);
/* False: no answer at all. */
bool rf_fw_request(struct rf_fw *fw, const struct rf_fw_request *q);
/* A command of the operator, byte by byte the same as one of the last: answered as that one was,
 * and nothing done. False: it is none. */
bool rf_fw_repeated(struct rf_fw *fw, const struct rf_fw_request *q);
/* FAILED into fw->reply; counted. Always true. */
bool rf_fw_refuse(struct rf_fw *fw, enum rf_ctl_reason why, uint32_t rank, uint32_t detail);
/* What a member is told about its group: WAITING, READY, FAILED, DRAINING, ENDED. */
void rf_fw_tell(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m);
/* Not newer than what the member has said last: a replay, or overtaken on the way. Counted. */
bool rf_fw_stale(struct rf_fw *fw, const struct rf_fw_member *m, const struct rf_fw_request *q);
/* A request of a known member renews its life; false if it is not newer than all already seen. */
bool rf_fw_heard(struct rf_fw *fw, struct rf_fw_member *m, const struct rf_fw_request *q);
/* The group's member of a request's rank and token; NULL: there is none. */
struct rf_fw_group *rf_fw_request_group(struct rf_fw *fw, const struct rf_ctl_header *h,
					struct rf_fw_member **m);
/* The group of a job: the active one, else the one that ended last; or NULL. */
struct rf_fw_group *rf_fw_group_named(struct rf_fw *fw, uint64_t job, unsigned int number);

/* ---- join.c ---- */

bool rf_fw_join(struct rf_fw *fw, const struct rf_fw_request *q);

/* ---- status.c ---- */

bool rf_fw_status(struct rf_fw *fw, const struct rf_fw_request *q);

/* ---- net.c: punt, inject, ARP, ICMP, control frames ---- */

/* One punted frame; false where there is none, or its answer could not be sent yet. */
bool rf_fw_net_punt(struct rf_fw *fw);
/* Whether one waits. */
bool rf_fw_net_waiting(struct rf_fw *fw);
/* Sends due notices while the hardware takes them. */
void rf_fw_net_notices(struct rf_fw *fw);

/* ---- watch.c: silent ranks of groups that an operator has registered ---- */

enum rf_fw_stray {
	RF_FW_STRAY_NONE, /* it did not come from a silent rank */
	RF_FW_STRAY_OPEN, /* it did, and its connection has no entry */
	RF_FW_STRAY_CUT,  /* it did, its group has failed, its connection is a tombstone */
};

/* A group that an operator has registered goes live: from now on its ranks are watched. */
void rf_fw_watch_begin(struct rf_fw *fw);
/* No port does. */
void rf_fw_watch_reset(struct rf_fw *fw);
/* Timer, where fw->strict is set; returns the next one in ms. */
uint64_t rf_fw_watch_tick(struct rf_fw *fw);
/* A rank has been registered: what a failed group said of its address and port no longer counts. */
void rf_fw_watch_registered(struct rf_fw *fw, const struct rf_fw_member *m);
/* A frame that was held back: fails the group of the silent rank that has gone astray. */
enum rf_fw_stray rf_fw_watch_stray(struct rf_fw *fw, const struct rf_fw_shown *s);
/* A foreign one: its connection passes from now on. */
void rf_fw_watch_pass(struct rf_fw *fw, const struct rf_fw_shown *s);

/* ---- hold.c: raw data of before a start ---- */

/* Enables the box; the hold time begins. */
void rf_fw_hold_begin(struct rf_fw *fw);
/* Takes held frames; ends the hold time when it is over. */
void rf_fw_hold_poll(struct rf_fw *fw);
/* There may be a connection in use that has no entry: the hold time, where it lasts, goes on until
 * it has had cfg.hold_ms to show itself again. */
void rf_fw_hold_prolong(struct rf_fw *fw);
/* ms until it is over, if nothing prolongs it. */
uint32_t rf_fw_hold_left(const struct rf_fw *fw);
/* Lets a held connection go; ip 0: all, and the hold time ends. */
enum rf_ctl_reason rf_fw_hold_release(struct rf_fw *fw, uint32_t ip, uint32_t qpn);

#endif
