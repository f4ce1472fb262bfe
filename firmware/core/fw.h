/*
 * The box's firmware: groups, slots, connections, leases, the control protocol, ARP and ICMP echo.
 *
 * Freestanding C without a heap: one struct rf_fw holds everything. It does no per-packet work. The
 * target calls rf_fw_poll() when the interrupt line is up, and at the time that the last call
 * returned. Not reentrant; one struct belongs to one thread. Behaviour: docs/firmware.md.
 */
#ifndef RF_FW_H
#define RF_FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/hal/mmio.h"
#include "proto/rf_ctl.h"
#include "rf_fw_counters.h"

/*
 * Limits. They set how much memory is used; a small target may lower them on the compiler's command
 * line.
 */
#ifndef RF_FW_GROUPS_MAX
#define RF_FW_GROUPS_MAX 64u /* hardware groups in use at once, at most 64 */
#endif
#ifndef RF_FW_RECORDS
#define RF_FW_RECORDS 72u /* groups known, including those that failed or ended recently */
#endif
#ifndef RF_FW_RANKS_MAX
#define RF_FW_RANKS_MAX 64u /* ranks of one group, at most RF_CTL_RANKS_MAX */
#endif
#ifndef RF_FW_MEMBERS
#define RF_FW_MEMBERS 512u /* ranks of all groups together, at most 65,534 */
#endif
#ifndef RF_FW_UPLINKS
#define RF_FW_UPLINKS 16u /* groups with an uplink, including those that have just ended */
#endif
#ifndef RF_FW_HASH_BITS_MAX
#define RF_FW_HASH_BITS_MAX 10u /* largest SHAPE.HASH_BITS that can be served, at most 16 */
#endif

#define RF_FW_LOG 32u      /* events kept in the log */
#define RF_FW_VOIDS 64u    /* marks that make older nonces void, all jobs together */
#define RF_FW_VOIDS_JOB 8u /* of one job */
#define RF_FW_KNOWN 8u     /* cached nonces, a power of two */
#define RF_FW_COMMANDS 16u /* the operator's last commands: a repeated one is only answered */
#define RF_FW_SALT_BYTES 16u
#define RF_FW_NONCE_MS_MAX 60000u

#define RF_FW_NEVER UINT64_MAX
#define RF_FW_NONE 0xffu /* no hardware group, no port */
#define RF_FW_NO_MEMBER 0xffffu
#define RF_FW_PORTS 8u
#define RF_FW_NO_JOB RF_CTL_JOB_OPERATOR /* the job number in entries that belong to no job */
#define RF_FW_BUDDY_LEAVES 256u
#define RF_FW_KEY_IPS 8u /* address prefixes of one key */

/* Addresses whose first `bits` bits are those of ip. */
struct rf_fw_prefix {
	uint32_t ip;
	uint8_t bits;
};

static inline uint32_t rf_fw_prefix_mask(unsigned int bits)
{
	return bits == 0 ? 0 : UINT32_MAX << (32u - bits);
}

/*
 * Key of one job, how much of the box the job may use at a time, and which ranks it may register.
 */
struct rf_fw_key {
	uint64_t job;
	uint8_t key[RF_CTL_KEY_BYTES];
	struct rf_ctl_share most; /* 0: the default, docs/control-protocol.md */
	uint8_t ports; /* bit per port of the box; 0: only the port on which the request arrives */
	uint8_t ips;   /* prefixes in use; 0: only the source address of the request */
	struct rf_fw_prefix ip[RF_FW_KEY_IPS];
};

/*
 * rf_fw_cfg_default() fills in everything except mac, ip, epoch and salt. Times are in
 * milliseconds.
 */
struct rf_fw_cfg {
	uint8_t mac[6]; /* base MAC: port p has base + p; the last byte at most 0xf8 */
	uint32_t ip;    /* the box's own address */
	/*
	 * Addresses of the ports for mirror connections; 0: none. They are used only if port_list
	 * is set; otherwise port p has ip + 1 + p. All are different, and in the box's subnet.
	 */
	bool port_list;
	uint32_t port_ip[RF_CTL_PORTS_MAX];
	uint8_t prefix;       /* bits of the box's subnet; 0: not known, nothing is checked (0) */
	uint32_t gateway;     /* of that subnet, asked for to report that it is silent; 0: none */
	uint32_t probe_ms;    /* between two of the three probes for a port's address (1000); 0: it
				 is used at once */
	uint32_t announce_ms; /* between two announcements of a port's address (60000); 0: none */
	uint32_t epoch; /* not 0, random at each start: hosts detect by it that the box was reset */
	uint8_t salt[RF_FW_SALT_BYTES]; /* not 0, random at each start, secret: the key of the
					   nonces */
	uint32_t hold_ms; /* hold time after a start and after RESET, and how long a held connection
			     stays held after its last packet (60000); 0: no hold time */
	uint32_t
		tomb_ms; /* how long a tombstone lives without a packet (60000); 0: no tombstones */
	uint32_t lease_ms;  /* the lease if JOIN asks for the default (10000) */
	uint32_t linger_ms; /* how long a group that failed or ended is remembered, to answer late
			       requests (30000) */
	uint32_t nonce_ms;  /* how long a nonce stays the current one (10000), at most
			       RF_FW_NONCE_MS_MAX */
	uint32_t settle_ms; /* from a group's end until its slots are free, so that passes in flight
			       finish (1) */
	uint32_t share_max; /* limit of the lanes used by groups whose port blocks overlap; 0: no
			       limit (0) */
	unsigned int poll_frames; /* punted frames handled per rf_fw_poll() (8) */
	unsigned int tick_ms;     /* shortest time between two checks for signs of life (1) */
	/*
	 * Keys of the jobs, including RF_CTL_JOB_OPERATOR; not copied. No keys: an open lab, where
	 * the key is all zero.
	 */
	const struct rf_fw_key *keys;
	unsigned int nkeys;
};

void rf_fw_cfg_default(struct rf_fw_cfg *cfg);
/*
 * Whether the addresses of so many ports, prefix and gateway are allowed: those of hosts in the
 * box's subnet, all different. RF_FW_OK, or the first reason against it, of enum rf_fw_error.
 */
int rf_fw_cfg_addresses(const struct rf_fw_cfg *cfg, unsigned int ports);

/*
 * Counters of RF_FW_COUNTERS (rtl/control/registers.txt), as in the FIRMWARE page, followed by the
 * refusals by enum rf_ctl_reason.
 */
struct rf_fw_counters {
#define RF_FW_X(name, text) uint32_t name;
	RF_FW_COUNTERS(RF_FW_X)
#undef RF_FW_X
	uint32_t refused[RF_CTL_R_COUNT];
};

/* Errors of rf_fw_init(). */
enum rf_fw_error {
	RF_FW_OK = 0,
	RF_FW_E_ID = -1,      /* ID or VERSION register: not a ringfold box, or a newer one */
	RF_FW_E_SHAPE = -2,   /* shape exceeds the firmware's limits */
	RF_FW_E_CONFIG = -3,  /* a value of rf_fw_cfg is not allowed */
	RF_FW_E_CLOCK = -4,   /* CLOCK_KHZ is 0 */
	RF_FW_E_SALT = -5,    /* rf_fw_cfg has no salt */
	RF_FW_E_ADDRESS = -6, /* the address of a port cannot be a host's */
	/* Also of rf_fw_cfg_addresses(). */
	RF_FW_E_PREFIX = -7,      /* longer than an address */
	RF_FW_E_GATEWAY = -8,     /* the gateway is not in the box's subnet, or is the box */
	RF_FW_E_OWN = -9,         /* a port has the box's own address */
	RF_FW_E_AT_GATEWAY = -10, /* a port has the gateway's address */
	RF_FW_E_SUBNET = -11, /* a port's address is outside of the box's subnet, or at its end */
	RF_FW_E_TWICE = -12,  /* two ports have the same address */
	RF_FW_E_BOX = -13,    /* the box's own address cannot be a host's */
	RF_FW_E_PORTS = -14,  /* an address for a port that the box has not */
};

/*
 * The rest of the types is private to the firmware; they are public only so that a target can
 * allocate a struct rf_fw.
 */

struct rf_fw_buddy {
	uint8_t leaf_log2;                        /* log2 of the units in a leaf */
	uint8_t depth;                            /* 2^depth leaves */
	uint8_t longest[2u * RF_FW_BUDDY_LEAVES]; /* per node: 1 + log2 of its longest free run in
						     leaves; 0: no free run */
};

/* The address of a port. */
struct rf_fw_address {
	uint32_t ip;     /* 0: none */
	uint8_t used;    /* it has been probed: the box answers for it */
	uint8_t probes;  /* sent */
	uint8_t claimed; /* by another host, less than a minute ago */
	uint8_t told;    /* announced; the gateway has still to be asked for */
	uint8_t asked;   /* the last request for the gateway has not been answered */
	uint8_t gateway; /* the gateway has answered */
	uint64_t due_ms; /* next probe or announcement */
	uint64_t claim_ms, claim_mac;
};

/*
 * One place of the connection table: a shadow copy of the hardware's entry. There are 2,048 of
 * them, so every byte counts.
 */
struct rf_fw_entry {
	uint64_t job; /* the owner, or RF_FW_NO_JOB */
	uint32_t ip;
	uint32_t key : 26;  /* as HASH_KEY: QPN and role */
	uint32_t state : 2; /* as HASH_VALUE.STATE */
	uint32_t port : 3;  /* tombstones: the port on which its packets arrive */
	uint32_t until;  /* tombstones: low word of the millisecond from which it may be removed */
	uint16_t cid;    /* as HASH_VALUE.CID */
	uint16_t number; /* of the place, for its tombstones; moves with an entry */
};

/* Nonces of a job at a source address are void if they are older than stamp. */
struct rf_fw_void {
	uint64_t job, stamp; /* stamp 0: free */
	uint32_t ip;         /* 0: all addresses */
};

/* A nonce that was computed recently. */
struct rf_fw_known {
	uint64_t value, stamp; /* stamp 0: unused */
	uint32_t ip;
};

struct rf_fw_nonces {
	uint64_t stamp;    /* of the current one */
	uint64_t void_all; /* nonces older than this are void for every job */
	uint32_t marks;    /* index after the last mark in use */
	struct rf_fw_known known[RF_FW_KNOWN];
	struct rf_fw_void mark[RF_FW_VOIDS];
};

/* A command of the operator that has been answered. */
struct rf_fw_command {
	uint64_t tag;
	uint8_t used;
	uint8_t reason; /* RF_CTL_R_NONE: done, otherwise why it was refused */
};

/* A rank. There are 512 of them, so numbers of 24 bits share their words with smaller ones. */
struct rf_fw_member {
	uint64_t token, life_ms;
	struct rf_ctl_lag_rank lag;
	uint32_t lease_ms, seq;
	uint32_t to_ip;   /* the box's address to which its last request went */
	uint32_t from_ip; /* destination of notices */
	uint32_t src_ip, peer_ip;
	uint32_t qpn : 24, rank : 8;
	uint32_t peer_qpn : 24, flags : 8;            /* RF_CTL_RANK_* */
	uint32_t start_psn : 24, put : 5, port : 3;   /* RF_FW_PUT_*: table entries made for it */
	uint32_t shift : 24, lane : 4, from_port : 3; /* port on which its last request arrived */
	uint32_t used : 1;
	union {
		uint8_t mac[RF_CTL_MAC_BYTES]; /* mirror: source of the last request to the
						  address of its port */
		uint32_t stray; /* in a strict group, which has no mirror ranks: hash of the
				   connection of its first stray packet */
	};
	uint16_t next; /* member of the next higher rank, or next free member; RF_FW_NO_MEMBER: end
			  of list */
	uint16_t peer; /* member that owns peer_ip */
	uint16_t vlan, udp_port;
	uint8_t src_mac[6];
	uint8_t wish;          /* mirror: the port of its JOIN, or RF_CTL_NO_PORT */
	uint8_t destroyed : 1; /* its queue pair no longer exists */
	uint8_t notify : 1;    /* a notice must be sent */
	uint8_t mirror : 1;    /* RF_CTL_J_MIRROR */
	uint8_t arrived : 1; /* it has joined: mirror: its JOIN has come to the address of its port
			      */
	uint8_t spoke : 1;   /* data has arrived on its registered connection */
	uint8_t strays : 3;  /* its packets on other connections before that */
};

enum rf_fw_up {
	RF_FW_UP_FREE = 0,
	RF_FW_UP_IDLE,  /* the box's own ranks are not complete yet */
	RF_FW_UP_ASK,   /* JOIN to the parent's address, which will name that of a port */
	RF_FW_UP_JOIN,  /* JOIN to that port */
	RF_FW_UP_READY, /* the tree is ready: signs of life */
	RF_FW_UP_LEAVE, /* all ranks have left */
	RF_FW_UP_ABORT, /* the group has failed here: the parent is told */
	RF_FW_UP_OVER,  /* the parent needs to hear nothing more */
};

/* The way from a group to the boxes above, and the membership at the parent. */
struct rf_fw_uplink {
	uint8_t state; /* enum rf_fw_up */
	uint8_t above; /* boxes above this one */
	uint8_t port, lane;
	uint8_t have_mac;   /* of the next hop to the address that is asked next */
	uint8_t answered;   /* the parent has answered a JOIN */
	uint8_t refusals;   /* unsigned ones in a row */
	uint8_t turns;      /* queue pairs drawn; ABORT: sendings */
	uint8_t entry;      /* its entry is in the connection table */
	uint8_t left;       /* the parent has confirmed the LEAVE */
	uint8_t slots_log2; /* S of the parent */
	uint8_t mac[RF_CTL_MAC_BYTES];
	struct {
		uint32_t ip;
		uint8_t rank, ranks, port;
	} chain[RF_CTL_ABOVE_MAX];
	uint32_t port_ip; /* address of the parent's port; 0: not known */
	uint32_t qpn, start, epoch, seq, seen, lease_ms, interval_ms;
	uint32_t box_ip;                    /* whose ranks the parent waits for */
	uint8_t missing[RF_CTL_MASK_BYTES]; /* these */
	uint64_t token, nonce;
	uint64_t due_ms;   /* next transmission */
	uint64_t heard_ms; /* last answer, or the beginning */
};

struct rf_fw_group {
	uint8_t state;  /* enum rf_ctl_state */
	uint8_t uplink; /* number of its uplink, or RF_FW_NONE */
	uint8_t hw; /* number of the hardware group and slot range that it holds, or RF_FW_NONE */
	uint8_t reason;
	uint16_t first; /* member with the lowest rank */
	uint16_t number, ranks, joined, left, flags;
	uint16_t fail_rank;
	uint32_t fail_index, fail_detail;
	struct rf_ctl_other fail_other;
	uint8_t dtype, op, mtu_log2, slots_log2, want_log2, min_log2;
	uint8_t lanes, level, base_port;
	uint8_t live;       /* the hardware is set up: table entries and CFG.LIVE */
	uint8_t doubles;    /* ranks that count two entries of the connection table */
	uint8_t ring_first; /* the first rank was a ring rank: others count two until they join */
	uint8_t suspect;    /* strays or wrong data have come: it is watched after its end too */
	uint32_t age;       /* larger: younger */
	uint32_t dbase, hbase;
	uint8_t missing[RF_CTL_MASK_BYTES]; /* ranks that have not joined, or had not when the group
					       failed for that reason */
	uint64_t job;
	uint64_t deadline_ms; /* JOINING: the deadline; FAILED, TOMBSTONED: when the record is freed
			       */
	uint64_t ended_ms;    /* FAILED, TOMBSTONED: when it ended */
	uint64_t asked_ms;    /* time of the last request that named one of its members */
	uint64_t settle_ms;   /* FAILED, TOMBSTONED: when hw and slots become free */
	uint64_t look_ms;     /* READY, DRAINING: next check for signs of life */
	/* How much later the last rank came than the first, as in page LAG. */
	uint32_t lag[RF_CTL_LAG_BINS];
	uint64_t lag_us;
	uint32_t head;    /* as last read; it has not moved since ... */
	uint32_t head_ms; /* ... this millisecond (low word) */
	uint16_t awaited; /* member that holds it up, or RF_FW_NO_MEMBER */
};

struct rf_fw {
	struct rf_hal *hal;
	struct rf_fw_cfg cfg;
	struct rf_fw_counters cnt;
	/* shape */
	uint8_t ports, lanes, width64, hash_bits, ngroups, bank_log2, hdr_log2, mtu_log2, fp16;
	bool selective, lag, mirror, directed, uplinks;
	uint16_t types; /* bit t: data type t is built in */
	uint32_t khz;
	/* time: millisecond now_ms began at cycle ms_cycles; 0 is the cycle of rf_fw_init() */
	uint64_t ms_cycles, now_ms;
	/* the ms since which a port's inject buffer has been busy; RF_FW_NEVER: it is free */
	uint64_t busy_since[RF_FW_PORTS];
	bool held;           /* a frame waits for a busy inject buffer */
	uint64_t hold_until; /* end of CTRL.HOLD unless it is prolonged; RF_FW_NEVER: it is over */
	uint32_t epoch, age;
	struct rf_fw_nonces nonce;
	struct rf_ctl_log_entry log[RF_FW_LOG];
	uint32_t log_next; /* number of the next event */
	struct rf_fw_command command[RF_FW_COMMANDS];
	uint8_t command_next;
	uint8_t refused;   /* the current request has been refused */
	uint8_t numbered;  /* the current request has a member's new number: it works only once */
	uint64_t hw_used;  /* bit per hardware group */
	bool settling;     /* a group that has ended may still hold slots */
	uint64_t group_ms; /* no timer of a group is due before */
	struct rf_fw_address address[RF_FW_PORTS];
	uint64_t address_ms; /* next probe, announcement, or end of a claim */
	uint64_t stall_ms;   /* next tick for live groups */
	uint64_t look_ms;    /* next check which rank the others wait for */
	uint64_t lag_armed;  /* when the current measurement began */
	uint64_t lag_until;  /* when to consider giving it up; 0: no measurement is running */
	uint32_t lag_head;   /* the group's head at that time */
	uint8_t lag_turn;    /* the group being measured */
	uint64_t tomb_ms;    /* next check of tombstones; RF_FW_NEVER: there are none */
	uint32_t tombstones, entries;
	uint32_t foreigns;  /* entries that let foreign connections pass */
	uint64_t uplink_ms; /* next transmission of an uplink, or its end */
	uint32_t drawn;     /* random numbers drawn */
	struct rf_fw_uplink uplink[RF_FW_UPLINKS];
	uint64_t watch_ms; /* next check which ranks have sent */
	uint8_t strict;    /* some groups may have ranks that are watched */
	uint8_t watched;   /* value of HOLD_PORTS */
	uint8_t blind; /* ports with silent ranks that are not watched because the table lacks room
			*/
	uint8_t hold_ended;   /* frames dropped in the hold time may still have to be read */
	uint8_t hold_full;    /* a held connection found no room in the table */
	uint8_t records;      /* index after the last used element of group[] */
	uint16_t free_member; /* RF_FW_NO_MEMBER: none has been given back */
	uint16_t members;     /* index after the last element of member[] ever used */
	uint8_t notices;      /* some member has a notice due */
	struct rf_fw_buddy beats, hslots;
	/*
	 * rf_fw_init() zeroes the fields above; each of the parts below has its own initialisation.
	 */
	struct rf_fw_group group[RF_FW_RECORDS];
	struct rf_fw_member member[RF_FW_MEMBERS];
	struct rf_fw_entry table[2u << RF_FW_HASH_BITS_MAX]; /* table 1 begins at 1 << hash_bits */
	/* frames: the punted one and the answer; written before they are read */
	_Alignas(4) uint8_t rx[RF_CTL_FRAME_MAX];
	_Alignas(4) uint8_t tx[RF_CTL_FRAME_MAX];
	struct rf_ctl_reply reply;
};

/*
 * Takes over the hardware: checks its shape, empties the connection table, ends all hardware
 * groups, sets MAC and IP address, and enables the box with HOLD for cfg->hold_ms. hal and
 * cfg->keys are referenced, not owned; *cfg is copied. Returns RF_FW_OK or another enum
 * rf_fw_error; after an error the box stays disabled.
 */
int rf_fw_init(struct rf_fw *fw, struct rf_hal *hal, const struct rf_fw_cfg *cfg);

/*
 * Handles at most cfg.poll_frames punted frames, group errors, and the timers that are due. Returns
 * the clock cycle (CYCLE_HI:CYCLE_LO) at which it must be called again even without an interrupt. A
 * time in the past means at once; RF_FW_NEVER means only on an interrupt.
 */
uint64_t rf_fw_poll(struct rf_fw *fw);

/*
 * Shuts the box down: all groups fail with reason RESET. Call it until it returns true. It does so
 * once every rank has been notified or cannot be reached; then the box drops all data.
 */
bool rf_fw_stop(struct rf_fw *fw);

/*
 * Name and description of counter n of the FIRMWARE page ("Groups that failed"), for logs. Static;
 * NULL after the last counter.
 */
const char *rf_fw_counter_name(unsigned int n);
const char *rf_fw_counter_text(unsigned int n);
const char *rf_fw_error_text(int error);

/* The number of counters and the value of one. */
unsigned int rf_fw_counter_count(void);
uint32_t rf_fw_counter(const struct rf_fw *fw, unsigned int n);

/*
 * Checks every invariant of the firmware's bookkeeping (no slot owned twice, no orphan, free space
 * adds up, each live key in the table). Returns NULL, or a static text that names the broken
 * invariant. Slow; for tests and debugging.
 */
const char *rf_fw_check(const struct rf_fw *fw);

#endif
