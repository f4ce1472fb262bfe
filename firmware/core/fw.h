/*
 * The box's firmware: groups, slots, connections, leases, the control protocol, ARP and ICMP echo.
 *
 * Freestanding C without heap: one struct rf_fw holds everything. It runs no per-packet work: the
 * target calls rf_fw_poll() when the interrupt line is up and when the time that the last call
 * returned has come. Not reentrant; one struct belongs to one thread. Behaviour: docs/firmware.md.
 */
#ifndef RF_FW_H
#define RF_FW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/hal/mmio.h"
#include "proto/rf_ctl.h"
#include "rf_fw_counters.h"

/* Limits: memory is theirs, so a small target may lower them on the compiler's command line. */
#ifndef RF_FW_GROUPS_MAX
#define RF_FW_GROUPS_MAX 8u /* hardware groups in use at once, at most 32 */
#endif
#ifndef RF_FW_RECORDS
#define RF_FW_RECORDS 16u /* groups known, those that failed or ended lately included */
#endif
#ifndef RF_FW_RANKS_MAX
#define RF_FW_RANKS_MAX 64u /* ranks of one group, at most RF_CTL_RANKS_MAX */
#endif
#ifndef RF_FW_MEMBERS
#define RF_FW_MEMBERS 128u /* ranks of all groups together, at most 254 */
#endif
#ifndef RF_FW_HASH_BITS_MAX
#define RF_FW_HASH_BITS_MAX 9u /* largest SHAPE.HASH_BITS that can be served, at most 16 */
#endif

#define RF_FW_LOG 32u      /* events remembered */
#define RF_FW_VOIDS 64u    /* marks below which nonces are void, of all jobs together */
#define RF_FW_VOIDS_JOB 8u /* of one job */
#define RF_FW_KNOWN 8u     /* nonces that need not be computed again, a power of two */
#define RF_FW_COMMANDS 4u  /* the operator's last commands, whose repetition is only answered */
#define RF_FW_SALT_BYTES 16u
#define RF_FW_NONCE_MS_MAX 60000u

#define RF_FW_NEVER UINT64_MAX
#define RF_FW_NONE 0xffu
#define RF_FW_PORTS 8u
#define RF_FW_NOBODY RF_CTL_JOB_OPERATOR /* job of entries that belong to no job */
#define RF_FW_BUDDY_LEAVES 256u
#define RF_FW_KEY_IPS 8u /* prefixes of a key */

/* Addresses whose first `bits` bits are those of ip. */
struct rf_fw_prefix {
	uint32_t ip;
	uint8_t bits;
};

static inline uint32_t rf_fw_prefix_mask(unsigned int bits)
{
	return bits == 0 ? 0 : UINT32_MAX << (32u - bits);
}

/* Key of one job, what the job may have of the box at a time, and for whom it may speak. */
struct rf_fw_key {
	uint64_t job;
	uint8_t key[RF_CTL_KEY_BYTES];
	struct rf_ctl_share most; /* 0: the default, docs/control-protocol.md */
	uint8_t ports;            /* bit per port of the box; 0: the port of the request alone */
	uint8_t ips;              /* prefixes in use; 0: the source address of the request alone */
	struct rf_fw_prefix ip[RF_FW_KEY_IPS];
};

/* rf_fw_cfg_default() fills all but mac, ip, epoch and salt. Times are in milliseconds. */
struct rf_fw_cfg {
	uint8_t mac[6]; /* base MAC: port p has base + p; the last byte at most 0xf8 */
	uint32_t ip;    /* the box's own address */
	uint32_t epoch; /* not 0, random at each start: hosts see by it that the box was
			   reset */
	uint8_t salt[RF_FW_SALT_BYTES]; /* not 0, random at each start, told to nobody: the key of
					   the nonces */
	uint32_t hold_ms;  /* hold time after a start and RESET, and life of what it holds after its
			      last packet (60000); 0: none */
	uint32_t tomb_ms;  /* life of tombstones without a packet (60000); 0: none are made */
	uint32_t lease_ms; /* where JOIN asks for the default (10000) */
	uint32_t linger_ms; /* how long a group that failed or ended is remembered for late
			       questions (30000) */
	uint32_t nonce_ms;  /* life of a nonce as the current one (10000), RF_FW_NONCE_MS_MAX at
			       most */
	uint32_t settle_ms; /* from a group's end until its slots are free: passes in flight (1) */
	uint32_t share_max; /* most lanes in use by groups whose blocks of ports overlap; 0: no
			       limit (0) */
	unsigned int poll_frames; /* punted frames handled by one rf_fw_poll() (8) */
	unsigned int tick_ms;     /* shortest time between two looks at signs of life (1) */
	/* Keys of the jobs, RF_CTL_JOB_OPERATOR among them; not copied. None: an open lab, the key
	 * is all zero. */
	const struct rf_fw_key *keys;
	unsigned int nkeys;
};

void rf_fw_cfg_default(struct rf_fw_cfg *cfg);

/* Counters of RF_FW_COUNTERS (rtl/control/registers.txt), as the FIRMWARE page; behind them the
 * refusals by enum rf_ctl_reason. */
struct rf_fw_counters {
#define RF_FW_X(name, text) uint32_t name;
	RF_FW_COUNTERS(RF_FW_X)
#undef RF_FW_X
	uint32_t refused[RF_CTL_R_COUNT];
};

/* Errors of rf_fw_init(). */
enum rf_fw_error {
	RF_FW_OK = 0,
	RF_FW_E_ID = -1,     /* ID or VERSION register: this is no box, or a newer one */
	RF_FW_E_SHAPE = -2,  /* shape outside the firmware's limits */
	RF_FW_E_CONFIG = -3, /* a value of rf_fw_cfg is not allowed */
	RF_FW_E_CLOCK = -4,  /* CLOCK_KHZ is 0 */
	RF_FW_E_SALT = -5,   /* rf_fw_cfg has no salt */
};

/* What follows is the firmware's own; the struct is public only so that a target can place it. */

struct rf_fw_buddy {
	uint8_t leaf_log2;                        /* units in a leaf */
	uint8_t depth;                            /* 2^depth leaves */
	uint8_t longest[2u * RF_FW_BUDDY_LEAVES]; /* per node: 1 + log2 of its longest free run in
						     leaves; 0: none */
};

/* One place of the connection table: the shadow of what the hardware holds. */
struct rf_fw_entry {
	uint32_t ip;
	uint32_t key;   /* as HASH_KEY: QPN and role */
	uint32_t value; /* as HASH_VALUE; state 0: empty */
	uint32_t until; /* tombstones: low word of the millisecond from which it may go */
	uint64_t job;   /* whose it is; RF_FW_NOBODY */
	uint8_t port;   /* tombstones: on which its packets come in */
};

/* Nonces of a job at a source address that are older than stamp are void. */
struct rf_fw_void {
	uint64_t job, stamp; /* stamp 0: free */
	uint32_t ip;         /* 0: at all addresses */
};

/* A nonce that was computed lately. */
struct rf_fw_known {
	uint64_t value, stamp; /* stamp 0: none */
	uint32_t ip;
};

struct rf_fw_nonces {
	uint64_t stamp;    /* of the current one */
	uint64_t void_all; /* those that are older are void for every job */
	uint32_t marks;    /* after the last one in use */
	struct rf_fw_known known[RF_FW_KNOWN];
	struct rf_fw_void mark[RF_FW_VOIDS];
};

/* A command of the operator that has been answered. */
struct rf_fw_command {
	uint64_t tag;
	uint8_t used;
	uint8_t reason; /* RF_CTL_R_NONE: done, else why it was refused */
};

struct rf_fw_member {
	uint8_t next; /* next higher rank, or next free one; RF_FW_NONE: the last */
	uint8_t used;
	uint8_t flags;     /* RF_CTL_RANK_* */
	uint8_t destroyed; /* its queue pair no longer exists */
	uint16_t rank;
	uint8_t port, lane;
	uint8_t peer;      /* member that owns peer_ip */
	uint8_t put;       /* RF_FW_PUT_*: entries of the table that it has made */
	uint8_t notify;    /* a notice is due */
	uint8_t from_port; /* on which its last request came in */
	uint8_t src_mac[6];
	uint16_t vlan, udp_port;
	uint8_t spoke;    /* data has come on its registered connection */
	uint8_t strays;   /* packets of it on others before that */
	uint32_t from_ip; /* where notices go */
	uint32_t src_ip, qpn, peer_ip, peer_qpn, start_psn, shift;
	uint32_t stray; /* hash of the connection of the first of its strays */
	uint32_t lease_ms, seq;
	uint64_t token, life_ms;
	struct rf_ctl_lag_rank lag;
};

struct rf_fw_group {
	uint8_t state; /* enum rf_ctl_state */
	uint8_t hw;    /* number of the hardware group and slot range held, or RF_FW_NONE */
	uint8_t first; /* member of the lowest rank */
	uint8_t reason;
	uint16_t number, ranks, joined, left, flags;
	uint16_t fail_rank;
	uint32_t fail_index, fail_detail;
	uint8_t dtype, op, mtu_log2, slots_log2, want_log2, min_log2;
	uint8_t lanes, level, base_port;
	uint8_t live; /* hardware is set up: entries and CFG.LIVE */
	uint32_t age; /* the larger, the younger */
	uint32_t dbase, hbase;
	uint8_t missing[RF_CTL_MASK_BYTES]; /* have not joined; when it failed of that: had not */
	uint64_t job;
	uint64_t deadline_ms; /* JOINING: the deadline; FAILED, TOMBSTONED: when it is forgotten */
	uint64_t ended_ms;    /* FAILED, TOMBSTONED: when it ended */
	uint64_t asked_ms;    /* when the last request came that named one of its members */
	uint64_t settle_ms;   /* FAILED, TOMBSTONED: when hw and slots are free again */
	uint64_t look_ms;     /* READY, DRAINING: next look at signs of life */
	/* By how much the last rank came behind the first, as page LAG. */
	uint32_t lag[RF_CTL_LAG_BINS];
	uint64_t lag_us;
	uint32_t head;    /* as read last; it has not moved since ... */
	uint32_t head_ms; /* ... this, low word */
	uint8_t awaited;  /* member that did not move it, RF_FW_NONE */
};

struct rf_fw {
	struct rf_hal *hal;
	struct rf_fw_cfg cfg;
	struct rf_fw_counters cnt;
	/* shape */
	uint8_t ports, lanes, width64, hash_bits, ngroups, bank_log2, hdr_log2, mtu_log2, fp16;
	uint32_t khz;
	/* time: millisecond now_ms began at cycle ms_cycles; 0 is the cycle of rf_fw_init() */
	uint64_t ms_cycles, now_ms;
	/* a port's inject buffer has been busy since this ms, RF_FW_NEVER: it is not */
	uint64_t busy_since[RF_FW_PORTS];
	bool held;           /* a frame waits for such a buffer */
	uint64_t hold_until; /* end of CTRL.HOLD, if nothing prolongs it; RF_FW_NEVER: over */
	uint32_t epoch, age;
	struct rf_fw_nonces nonce;
	struct rf_ctl_log_entry log[RF_FW_LOG];
	uint32_t log_next; /* number of the next event */
	struct rf_fw_command command[RF_FW_COMMANDS];
	uint8_t command_next;
	uint8_t refused;    /* the request under way has been refused */
	uint32_t hw_used;   /* bit per hardware group */
	uint64_t stall_ms;  /* next tick for groups that are live */
	uint64_t look_ms;   /* next look at what the ranks wait for */
	uint64_t lag_armed; /* when the measurement under way began */
	uint64_t lag_until; /* whether to give it up; 0: none is under way */
	uint32_t lag_head;  /* head of the group then */
	uint8_t lag_turn;   /* group that is measured */
	uint64_t tomb_ms;   /* next look at tombstones, RF_FW_NEVER: there are none */
	uint32_t tombstones, entries;
	uint16_t number[2u << RF_FW_HASH_BITS_MAX]; /* of a tombstone at that place */
	uint32_t foreigns;                          /* entries by which foreign connections pass */
	uint64_t watch_ms;                          /* next look who has sent */
	uint8_t strict;     /* there may be groups whose ranks are watched */
	uint8_t watched;    /* HOLD_PORTS */
	uint8_t blind;      /* ports with silent ranks that are not watched, for lack of room */
	uint8_t hold_ended; /* a frame that the hold time has cut may still be on its way */
	uint8_t hold_full;  /* a connection was held and found no room in the table */
	uint8_t records;    /* behind the last one in use, of group[] */
	uint8_t free_member;
	uint8_t notices; /* some member has one due */
	struct rf_fw_buddy beats, hslots;
	/* rf_fw_init() zeroes what stands above; from here on each part has its own start. */
	struct rf_fw_group group[RF_FW_RECORDS];
	struct rf_fw_member member[RF_FW_MEMBERS];
	struct rf_fw_entry table[2u << RF_FW_HASH_BITS_MAX]; /* table 1 begins at 1 << hash_bits */
	/* frames: the punted one, the answer; written before they are read */
	_Alignas(4) uint8_t rx[RF_CTL_FRAME_MAX];
	_Alignas(4) uint8_t tx[RF_CTL_FRAME_MAX];
	struct rf_ctl_reply reply;
};

/*
 * Takes the hardware over: checks its shape, empties the connection table, ends all hardware
 * groups, sets MAC and address, and enables it with HOLD for cfg->hold_ms. hal is kept and not
 * owned; *cfg is copied, cfg->keys is kept. Returns RF_FW_OK or enum rf_fw_error; after an error
 * the box is left disabled.
 */
int rf_fw_init(struct rf_fw *fw, struct rf_hal *hal, const struct rf_fw_cfg *cfg);

/*
 * Handles at most cfg.poll_frames punted frames, group errors and the timers that are due. Returns
 * the clock cycle (CYCLE_HI:CYCLE_LO) at which it wants to be called again without an interrupt: a
 * time in the past means at once, RF_FW_NEVER only on interrupt.
 */
uint64_t rf_fw_poll(struct rf_fw *fw);

/*
 * The end: all groups fail with reason RESET. To be called until it returns true, which it does
 * when every rank has been told, or cannot be: then the box forwards nothing any more.
 */
bool rf_fw_stop(struct rf_fw *fw);

/* Static texts for logs: "Groups that failed"; name of counter n of the FIRMWARE page; NULL behind
 * the last. */
const char *rf_fw_counter_name(unsigned int n);
const char *rf_fw_counter_text(unsigned int n);
const char *rf_fw_error_text(int error);

/* The number of counters and the value of one. */
unsigned int rf_fw_counter_count(void);
uint32_t rf_fw_counter(const struct rf_fw *fw, unsigned int n);

/*
 * Checks every invariant of the firmware's own bookkeeping (no slot owned twice, no orphan, free
 * space adds up, each live key in the table). Returns NULL or a static text that names the one
 * broken. Slow; for tests and debugging.
 */
const char *rf_fw_check(const struct rf_fw *fw);

#endif
