/* Interfaces between the parts of the firmware's core. */
#ifndef RF_FW_INTERNAL_H
#define RF_FW_INTERNAL_H

#include "base/uplink_regs.h"
#include "firmware/core/fw.h"
#include "rf_regs.h"

/* Numbers in bit fields of struct rf_fw_member and struct rf_fw_entry. */
#define RF_FW_MASK24 0xffffffu
#define RF_FW_PORT_MASK (RF_FW_PORTS - 1u)

#define RF_FW_CID(hw, lane, port) ((uint32_t)(hw) << 7 | (uint32_t)(lane) << 3 | (uint32_t)(port))

/* Places of a bucket of the connection table. */
#define RF_FW_BUCKET_LOG2 2u
#define RF_FW_BUCKET (1u << RF_FW_BUCKET_LOG2)
/* Number of places searched to make room for one entry. */
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
/* False if no run of 2^log2 units is free; otherwise *base is its first unit. */
bool rf_fw_buddy_alloc(struct rf_fw_buddy *b, unsigned int log2, uint32_t *base);
/* base and log2 as allocated. */
void rf_fw_buddy_free(struct rf_fw_buddy *b, uint32_t base, unsigned int log2);
/* log2 of the longest free run in units, or -1. */
int rf_fw_buddy_longest(const struct rf_fw_buddy *b);
/* Free units. */
uint32_t rf_fw_buddy_room(const struct rf_fw_buddy *b);

/* ---- conn.c: the connection table and its shadow ---- */

#define RF_FW_ROLE_DATA 0u
#define RF_FW_ROLE_ACK 1u
#define RF_FW_ROLE_MIRROR 2u /* the address is that of the rank */

/* Key word of a role and QPN. */
static inline uint32_t rf_fw_key(unsigned int role, uint32_t qpn)
{
	return (uint32_t)role << RF_HASH_KEY_ROLE_LSB | qpn;
}

/* Value word of a number and a state. */
static inline uint32_t rf_fw_value(uint32_t cid, unsigned int state)
{
	return cid | (uint32_t)state << RF_HASH_VALUE_STATE_LSB;
}

/* The state of an entry, and its value word. */
static inline unsigned int rf_fw_state(const struct rf_fw_entry *e)
{
	return e->state;
}

static inline uint32_t rf_fw_entry_value(const struct rf_fw_entry *e)
{
	return rf_fw_value(e->cid, e->state);
}

/*
 * The hash defined in box.md: its low bits are the place in table 0, the bits from 16 on that in
 * table 1.
 */
uint32_t rf_fw_conn_hash(uint32_t ip, uint32_t key);
/* Empties the table. */
void rf_fw_conn_reset(struct rf_fw *fw);
/* The entry of a key or NULL. */
struct rf_fw_entry *rf_fw_conn_find(struct rf_fw *fw, uint32_t ip, uint32_t key);
/*
 * Sets value and job of a key, new or not. A key that is in the table stays visible throughout. If
 * there is no room, a tombstone is evicted: the oldest of the job that holds the most entries,
 * provided that job is this one or holds more than this one. False: no room.
 */
bool rf_fw_conn_put(struct rf_fw *fw, uint32_t ip, uint32_t key, uint32_t value, uint64_t job);
void rf_fw_conn_remove(struct rf_fw *fw, uint32_t ip, uint32_t key);
/* A tombstone that belongs to no job: a connection whose data was dropped in the hold time. */
static inline bool rf_fw_held(const struct rf_fw_entry *e)
{
	return rf_fw_state(e) == RF_STATE_TOMBSTONE && e->job == RF_FW_NO_JOB;
}

/* An entry that lets a connection of no group pass at a port that holds unknown connections. */
#define RF_FW_FOREIGN_CID 0xffffu
static inline bool rf_fw_foreign(const struct rf_fw_entry *e)
{
	return rf_fw_entry_value(e) == rf_fw_value(RF_FW_FOREIGN_CID, RF_STATE_JOINING);
}

/* A frame that the box held back and shows to the firmware. */
struct rf_fw_shown {
	uint32_t ip, src, qpn; /* ip, qpn: destination */
	unsigned int port;
};

/*
 * How long a tombstone stays after its last packet: cfg.hold_ms if it belongs to no job, otherwise
 * cfg.tomb_ms.
 */
uint32_t rf_fw_tomb_life(const struct rf_fw *fw, const struct rf_fw_entry *e);
/*
 * Turns the entry of a member's data role into a tombstone of that job. If its lifetime is 0 the
 * entry is removed at once. confirmed: the member's packets come from its port and address, and
 * only they keep the tombstone alive; otherwise all packets do.
 */
void rf_fw_conn_bury(struct rf_fw *fw, const struct rf_fw_member *m, uint64_t job, bool confirmed);
/* Makes a tombstone that belongs to no job, unless the connection has an entry. False: no room. */
bool rf_fw_conn_hold(struct rf_fw *fw, uint32_t ip, uint32_t qpn, unsigned int port);
/*
 * Makes a tombstone of a job for a connection that has no entry. Packets from the same source on
 * the same port keep it alive. False: no room, or tombstones have no lifetime.
 */
bool rf_fw_conn_cut(struct rf_fw *fw, const struct rf_fw_shown *s, uint64_t job);
/* Makes the foreign entry of a connection that has no entry. False: no room. */
bool rf_fw_conn_pass(struct rf_fw *fw, const struct rf_fw_shown *s);
/* Removes the foreign entries of these ports (one bit per port). */
void rf_fw_conn_forget_foreign(struct rf_fw *fw, unsigned int ports);
/* Removes a tombstone of that job; any other entry stays. */
void rf_fw_conn_exhume(struct rf_fw *fw, uint32_t ip, uint32_t key, uint64_t job);
/* All of a job's tombstones. */
void rf_fw_conn_exhume_all(struct rf_fw *fw, uint64_t job);
/*
 * A connection without an entry may be in use: if the hold time is running, restarts it, so that
 * the connection has cfg.hold_ms to be seen again.
 */
void rf_fw_conn_prolong_hold(struct rf_fw *fw);
/* Number of a job's entries, or of its tombstones only. */
uint32_t rf_fw_conn_count(const struct rf_fw *fw, uint64_t job, bool tombstones);
/* Timer of the tombstones: removes those that have seen no packet for their lifetime. */
void rf_fw_conn_tick(struct rf_fw *fw);

/* ---- member.c: ranks ---- */

void rf_fw_member_init(struct rf_fw *fw);
/* NULL for RF_FW_NO_MEMBER. */
static inline struct rf_fw_member *rf_fw_member_get(struct rf_fw *fw, unsigned int i)
{
	return i < RF_FW_MEMBERS ? &fw->member[i] : NULL;
}
/* A group's member by rank, or NULL. */
struct rf_fw_member *rf_fw_member_find(struct rf_fw *fw, const struct rf_fw_group *g,
				       unsigned int rank);
/* Adds a member at its place in the list; NULL if no member is free. */
struct rf_fw_member *rf_fw_member_add(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank);
void rf_fw_member_drop(struct rf_fw *fw, struct rf_fw_group *g, unsigned int rank);
void rf_fw_member_drop_all(struct rf_fw *fw, struct rf_fw_group *g);

/* Number of a member. */
static inline uint16_t rf_fw_member_number(const struct rf_fw *fw, const struct rf_fw_member *m)
{
	return (uint16_t)(m - fw->member);
}

/* Whether no member is free. */
static inline bool rf_fw_member_full(const struct rf_fw *fw)
{
	return fw->free_member == RF_FW_NO_MEMBER && fw->members == RF_FW_MEMBERS;
}

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
/* The current nonce of a source address. */
uint64_t rf_fw_nonce(struct rf_fw *fw, uint32_t ip);
/* Whether a request of a job from that address may carry this nonce. */
bool rf_fw_nonce_ok(struct rf_fw *fw, uint64_t nonce, uint64_t job, uint32_t ip);
/*
 * Makes void all nonces of a job that were given out to an address until now; ip 0: to any address.
 */
void rf_fw_nonce_void(struct rf_fw *fw, uint64_t job, uint32_t ip);
/* The same for every job. */
void rf_fw_nonce_void_all(struct rf_fw *fw);

/* ---- group.c: the state machine ---- */

static inline bool rf_fw_group_active(const struct rf_fw_group *g)
{
	return g->state == RF_CTL_S_JOINING || g->state == RF_CTL_S_READY ||
	       g->state == RF_CTL_S_DRAINING;
}

/*
 * A new group in state JOINING with hardware group and slots. NULL if refused, with *why and
 * *detail.
 */
struct rf_fw_group *rf_fw_group_make(struct rf_fw *fw, const struct rf_ctl_header *h,
				     const struct rf_ctl_join *j, enum rf_ctl_reason *why,
				     uint32_t *detail);
/* Undoes rf_fw_group_make() for a group without members. */
void rf_fw_group_unmake(struct rf_fw *fw, struct rf_fw_group *g);
void rf_fw_group_fail(struct rf_fw *fw, struct rf_fw_group *g, enum rf_ctl_reason reason,
		      uint32_t rank, uint32_t index, uint32_t detail);
/* A group whose ranks have all left ends. */
void rf_fw_group_end(struct rf_fw *fw, struct rf_fw_group *g);
/* A rank leaves; the last one ends the group. */
void rf_fw_group_leave(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		       uint8_t flag);
/* Forgets groups that have ended, oldest first, until a member is free. */
void rf_fw_group_spare_members(struct rf_fw *fw);
/* A rank has joined: the group is looked at a quarter of its lease from now at the latest. */
void rf_fw_group_look_by(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m);
/* Reads signs of life of a group whose hardware is set up. */
void rf_fw_group_look(struct rf_fw *fw, struct rf_fw_group *g);
/*
 * For a member of a draining group that has not left: finds a rank that has been silent for longer
 * than its lease and that this member still needs data or ACKs from. NULL if there is none.
 */
const struct rf_fw_member *rf_fw_group_lost(struct rf_fw *fw, struct rf_fw_group *g,
					    const struct rf_fw_member *m);
/* The hardware has latched errors of groups: fails these groups. */
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
	uint32_t box_ip; /* 0: this box */
};

void rf_fw_note(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_what *what);
void rf_fw_note_group(struct rf_fw *fw, enum rf_ctl_event kind, const struct rf_fw_group *g);

/* ---- stall.c: lost packets, and which rank is last ---- */

/* Timer of live groups; returns the next one in ms. */
uint64_t rf_fw_stall_tick(struct rf_fw *fw);

/* ---- keys.c: limits of a job's key ---- */

/* The secret of a job's key, or NULL; zeros in an open lab. */
const uint8_t *rf_fw_keys_secret(const struct rf_fw *fw, uint64_t job);
/* A job's entry in the key table, or NULL. */
const struct rf_fw_key *rf_fw_keys_find(const struct rf_fw *fw, uint64_t job);
/* What a job holds now, and its limits (or RF_CTL_NO_LIMIT). */
void rf_fw_keys_held(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *held);
void rf_fw_keys_most(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *most);
/* The difference: what it may still take. */
void rf_fw_keys_left(const struct rf_fw *fw, uint64_t job, struct rf_ctl_share *left);
/* Connection table entries that an active group needs. */
uint32_t rf_fw_keys_entries(const struct rf_fw_group *g);
/* What a rank does to g->doubles before it joins; the group is new if it has no members. */
int rf_fw_keys_doubles(const struct rf_fw_group *g, bool mirror);
/* Bytes in the slots of a group. */
uint32_t rf_fw_keys_bytes(unsigned int slots_log2, unsigned int mtu_log2);

/* ---- place.c: puts a complete group into the hardware and takes it out ---- */

/* struct rf_fw_member.put */
#define RF_FW_PUT_DATA 1u    /* the entry of its data role */
#define RF_FW_PUT_ACK 2u     /* the entry of its ACK role */
#define RF_FW_PUT_TOMB 4u    /* the data role's entry was a tombstone of the same job */
#define RF_FW_PUT_HELD 8u    /* it was a tombstone that belongs to no job */
#define RF_FW_PUT_MIRROR 16u /* the one entry of a mirror connection */
#define RF_FW_PUT_ALL 31u

/* Whether a ring rank with this address has joined the group. */
bool rf_fw_joined_from(struct rf_fw *fw, const struct rf_fw_group *g, uint32_t ip);
/*
 * A rank has joined a group that is not complete yet. From now on the box drops data for every data
 * role whose sender and receiver have both joined. False: no room, and nothing has changed.
 */
bool rf_fw_place_joining(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m);
/* A member of a group that has ended reports that its queue pair no longer exists. */
void rf_fw_place_destroyed(struct rf_fw *fw, const struct rf_fw_group *g, struct rf_fw_member *m);

/*
 * A complete group gets its place: receivers, lanes, block, admission. Otherwise *rank is the rank
 * at fault, and *index and *detail are those of the FAILED reply.
 */
enum rf_ctl_reason rf_fw_place_admit(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
				     uint32_t *index, uint32_t *detail);
/* Registers and entries. RF_CTL_R_NONE: the group is live. Otherwise as above. */
enum rf_ctl_reason rf_fw_place_live(struct rf_fw *fw, struct rf_fw_group *g, uint32_t *rank,
				    uint32_t *detail);
/* Writes the Ethernet address of a mirror connection into the hardware. */
void rf_fw_place_mac(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_fw_member *m);
/* Removes entries and group from the hardware, and makes tombstones if they are needed. */
void rf_fw_unplace(struct rf_fw *fw, struct rf_fw_group *g);

/* ---- reply.c: requests and their senders; fw->reply is filled ---- */

struct rf_fw_request {
	struct rf_ctl_header h;
	struct rf_ctl_addr addr;
	struct rf_ctl_request body;
	unsigned int port; /* port on which it arrived */
};

/* Puts FAILED into fw->reply and counts it. Always true. */
bool rf_fw_refuse(struct rf_fw *fw, enum rf_ctl_reason why, uint32_t rank, uint32_t detail);
/* Puts the state of a member's group into fw->reply: WAITING, READY, FAILED, DRAINING or ENDED. */
void rf_fw_reply_state(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_fw_member *m);
/*
 * Whether a request is not newer than the member's last one (a replay, or reordered on the way).
 * Counted.
 */
bool rf_fw_stale(struct rf_fw *fw, const struct rf_fw_member *m, const struct rf_fw_request *q);
/* A request of a known member is a sign of life. False if it is stale. */
bool rf_fw_heard(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_member *m,
		 const struct rf_fw_request *q);
/* Whether a request of a mirror rank has come to the address of its port. */
bool rf_fw_at_port(const struct rf_fw *fw, const struct rf_fw_member *m,
		   const struct rf_fw_request *q);
/* Address of a mirror rank's port; ring ranks: 0. */
uint32_t rf_fw_port_ip(const struct rf_fw *fw, const struct rf_fw_member *m);
/* The group with a member of the request's rank and token; NULL if there is none. */
struct rf_fw_group *rf_fw_request_group(struct rf_fw *fw, const struct rf_ctl_header *h,
					struct rf_fw_member **m);
/* A job's group of this number: the active one, otherwise the one that ended last; or NULL. */
struct rf_fw_group *rf_fw_group_named(struct rf_fw *fw, uint64_t job, unsigned int number);

/* ---- judge.c: the fields of JOIN ---- */

static inline bool rf_fw_is_mirror(const struct rf_ctl_join *j)
{
	return (j->flags & RF_CTL_J_MIRROR) != 0;
}

/* The uplink of another box: its successor's address is the epoch of that box. */
static inline bool rf_fw_is_leaf(const struct rf_ctl_join *j)
{
	return (j->flags & RF_CTL_J_LEAF) != 0;
}

/* Instead of a successor a mirror rank may name the MAC to which its results go. */
static inline bool rf_fw_names_mac(const struct rf_ctl_join *j)
{
	return rf_fw_is_mirror(j) && !rf_fw_is_leaf(j) && (j->peer_ip | j->peer_qpn) != 0;
}

/* Reasons to refuse a JOIN that do not depend on a group. */
enum rf_ctl_reason rf_fw_judge_alone(const struct rf_fw *fw, const struct rf_ctl_header *h,
				     const struct rf_ctl_join *j, uint32_t *detail);
/* Those that depend on the group that it names. */
enum rf_ctl_reason rf_fw_judge_group(struct rf_fw *fw, const struct rf_fw_group *g,
				     const struct rf_ctl_header *h, const struct rf_ctl_join *j);
/* Whether the key of the job may register source address and port. */
enum rf_ctl_reason rf_fw_speaks_for(const struct rf_fw *fw, const struct rf_fw_request *q,
				    const struct rf_ctl_join *j);

/* ---- join.c ---- */

bool rf_fw_join(struct rf_fw *fw, const struct rf_fw_request *q);
/* The group can begin: all ranks are here, and its parent is ready. */
void rf_fw_join_ready(struct rf_fw *fw, struct rf_fw_group *g);

/* ---- status.c ---- */

bool rf_fw_status(struct rf_fw *fw, const struct rf_fw_request *q);

/* ---- request.c: the verbs; each fills fw->reply ---- */

/*
 * Parity error in a memory of the ledger, a table or a queue: does what RESET does, and also resets
 * the hardware.
 */
void rf_fw_begin_anew(struct rf_fw *fw);
/* False: send no answer. */
bool rf_fw_request(struct rf_fw *fw, const struct rf_fw_request *q);
/*
 * If the request repeats, byte by byte, one of the operator's last commands: gives the same answer
 * and does nothing else. False: it does not.
 */
bool rf_fw_repeated(struct rf_fw *fw, const struct rf_fw_request *q);

/* ---- send.c: frames to be sent ---- */

struct rf_fw_arp {
	unsigned int op;           /* RF_FW_ARP_* */
	const uint8_t *sender_mac; /* RF_CTL_MAC_BYTES; not owned */
	uint32_t sender_ip, target_ip;
};
#define RF_FW_ARP_REQUEST 1u
#define RF_FW_ARP_REPLY 2u
#define RF_FW_ARP_BYTES 28u

/*
 * Whether frames to be answered on a port must wait. If its buffer stays busy for milliseconds,
 * they do not wait any longer, and what should be sent there is dropped.
 */
bool rf_fw_must_wait(struct rf_fw *fw, unsigned int port);
/* Sends fw->tx on a port, with padding; the hardware sets the source MAC. False: dropped. */
bool rf_fw_inject(struct rf_fw *fw, unsigned int port, size_t len);
/* Sends an ARP frame to all hosts on a port, untagged. False: the port cannot send now. */
bool rf_fw_send_arp(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q);

/* ---- net.c: punt, inject, ARP, ICMP, control frames ---- */

/* Handles one punted frame. False if there is none, or if its answer cannot be sent yet. */
bool rf_fw_net_punt(struct rf_fw *fw);
/* Whether a punted frame waits. */
bool rf_fw_net_waiting(struct rf_fw *fw);
/* Sends due notices as long as the hardware accepts them. */
void rf_fw_net_notices(struct rf_fw *fw);

/* ---- address.c: addresses of the ports ---- */

/* Writes the addresses into the hardware; probing begins. */
void rf_fw_address_begin(struct rf_fw *fw);
/* Timer of probes, announcements and claims; returns the next one in ms. */
uint64_t rf_fw_address_tick(struct rf_fw *fw);
/* Whether a port may take mirror ranks. */
bool rf_fw_address_usable(const struct rf_fw *fw, unsigned int port);
/* Whether any port has this address. */
bool rf_fw_address_of_port(const struct rf_fw *fw, uint32_t ip);

/* Whether ip is the box's, or the address that this port answers for. */
static inline bool rf_fw_address_own(const struct rf_fw *fw, unsigned int port, uint32_t ip)
{
	return ip == fw->cfg.ip ||
	       (ip != 0 && ip == fw->address[port].ip && fw->address[port].used);
}

/* Whether ip is any address of the box. */
static inline bool rf_fw_address_any(const struct rf_fw *fw, uint32_t ip)
{
	return ip == fw->cfg.ip || (fw->mirror && rf_fw_address_of_port(fw, ip));
}

/* Ports (one bit each) whose address another host has claimed; that are still probing. */
uint32_t rf_fw_address_claims(const struct rf_fw *fw);
uint32_t rf_fw_address_probes(const struct rf_fw *fw);
/* An ARP frame has come in. True: it claimed the port's address, or came from the gateway. */
bool rf_fw_address_heard(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q);
/*
 * Among the ports allowed (one bit each) that are usable, the one with the fewest ranks of g (or
 * NULL: a new group), and among equals the lowest. RF_FW_NONE: none.
 */
unsigned int rf_fw_address_choose(struct rf_fw *fw, const struct rf_fw_group *g,
				  unsigned int allowed);
/*
 * The port for mirror rank `rank` of g (or NULL): of the ports allowed that are usable, in their
 * order, number rank modulo their number; if its lanes are taken, rf_fw_address_choose. So the
 * order of additions does not depend on who comes first.
 */
unsigned int rf_fw_address_of_rank(struct rf_fw *fw, const struct rf_fw_group *g,
				   unsigned int allowed, uint32_t rank);

/* ---- watch.c: silent ranks of groups that an operator has registered ---- */

enum rf_fw_stray {
	RF_FW_STRAY_NONE,   /* not from a silent rank */
	RF_FW_STRAY_OPEN,   /* from a silent rank, but another host may have sent it */
	RF_FW_STRAY_PROVED, /* from a silent rank: its group must fail, or has failed */
};

/* A group registered by an operator goes live: from now on its ranks are watched. */
void rf_fw_watch_begin(struct rf_fw *fw);
/* Stops watching: no port holds unknown connections. */
void rf_fw_watch_reset(struct rf_fw *fw);
/* Timer, used while fw->strict is set; returns the next one in ms. */
uint64_t rf_fw_watch_tick(struct rf_fw *fw);
/* A rank has been registered: failed groups no longer watch its address and port. */
void rf_fw_watch_registered(struct rf_fw *fw, const struct rf_fw_member *m);
/* A frame that was held back; if it came from a silent rank, *g and *m are group and rank. */
enum rf_fw_stray rf_fw_watch_stray(struct rf_fw *fw, const struct rf_fw_shown *s,
				   struct rf_fw_group **g, struct rf_fw_member **m);
/* A foreign frame: lets its connection pass from now on. */
void rf_fw_watch_pass(struct rf_fw *fw, const struct rf_fw_shown *s);

/* ---- uplink.c: groups with an uplink ---- */

/* A group's uplink, or NULL. */
static inline struct rf_fw_uplink *rf_fw_uplink_of(struct rf_fw *fw, const struct rf_fw_group *g)
{
	return g->uplink == RF_FW_NONE ? NULL : &fw->uplink[g->uplink];
}

/* The chain of a JOIN: what is wrong with it here. */
enum rf_ctl_reason rf_fw_uplink_judge(const struct rf_fw *fw, const struct rf_ctl_join *j,
				      uint32_t *detail);
/* Whether a JOIN names the uplink of the group, or none if it has none. */
bool rf_fw_uplink_same(const struct rf_fw *fw, const struct rf_fw_group *g,
		       const struct rf_ctl_join *j);
/* The number of a free uplink for a new group; RF_FW_NONE: there is none. */
uint8_t rf_fw_uplink_spare(const struct rf_fw *fw);
void rf_fw_uplink_make(struct rf_fw *fw, const struct rf_fw_group *g, const struct rf_ctl_join *j);
void rf_fw_uplink_free(struct rf_fw *fw, struct rf_fw_group *g);
/* Whether an uplink has this queue pair, at the address of a parent's port. */
bool rf_fw_uplink_has(const struct rf_fw *fw, uint32_t ip, uint32_t qpn);
/* A port for a group whose ranks are complete. Otherwise why it has none. */
enum rf_ctl_reason rf_fw_uplink_port(struct rf_fw *fw, const struct rf_fw_group *g,
				     uint32_t *detail);
/* The ranks of a group are complete, and it has its place: joins the parent. */
void rf_fw_uplink_begin(struct rf_fw *fw, struct rf_fw_group *g);
/* The last rank has left. False: the parent need not be told. */
bool rf_fw_uplink_leave(struct rf_fw *fw, struct rf_fw_group *g);
/* The group has failed. */
void rf_fw_uplink_fail(struct rf_fw *fw, const struct rf_fw_group *g);
/*
 * The deadline of a group is over. True: it waits for its parent, and fails with *f. False: it
 * waits for own ranks.
 */
bool rf_fw_uplink_late(struct rf_fw *fw, struct rf_fw_group *g, struct rf_ctl_failed *f);
/* What a group that ends for a reason of the parent, or of a box beyond it, tells its ranks. */
void rf_fw_uplink_blame(struct rf_fw *fw, struct rf_fw_group *g, const struct rf_ctl_failed *f);
/* A new membership, with a new queue pair. */
void rf_fw_uplink_ask(struct rf_fw *fw, struct rf_fw_uplink *u);
#define RF_FW_UPLINK_RETRY_MS 20u /* the first repetition; doubled each time */
/* Its next transmission is due now. */
void rf_fw_uplink_soon(struct rf_fw *fw, struct rf_fw_uplink *u);

/* ---- uplink_send.c: what a box sends to its parent ---- */

/* Sends what its state asks for. False: the port cannot send now. */
bool rf_fw_uplink_send(struct rf_fw *fw, struct rf_fw_group *g, struct rf_fw_uplink *u);
/* An ARP reply has come in. */
void rf_fw_uplink_arp(struct rf_fw *fw, unsigned int port, const struct rf_fw_arp *q);

/* ---- uplink_life.c: what the parent answers, and time ---- */

/* A message with the flag of a reply has come in. */
void rf_fw_uplink_message(struct rf_fw *fw, unsigned int port, const struct rf_ctl_addr *a,
			  const uint8_t *msg, size_t len);
/* Timer; returns the next one in ms. */
uint64_t rf_fw_uplink_tick(struct rf_fw *fw);
/* Whether an ABORT still has to be sent for the first time. */
bool rf_fw_uplink_busy(const struct rf_fw *fw);

/* ---- hold.c: RC data of connections from before a start ---- */

/* Enables the box; the hold time begins. */
void rf_fw_hold_begin(struct rf_fw *fw);
/* Reads held frames; ends the hold time when it is over. */
void rf_fw_hold_poll(struct rf_fw *fw);
/* ms until it is over, unless it is prolonged. */
uint32_t rf_fw_hold_left(const struct rf_fw *fw);
/* Releases a held connection; ip 0: releases all and ends the hold time. */
enum rf_ctl_reason rf_fw_hold_release(struct rf_fw *fw, uint32_t ip, uint32_t qpn);

#endif
