/*
 * The virtual-time fabric: hosts that run the real transport, links, a switch with the rule, and
 * the box (RTL or reference model, with the real firmware) in one process with one clock.
 * Everything follows from the configuration and its seed: the same run gives the same events to
 * the picosecond.
 *
 *	rf_fabric_cfg_init(&cfg);
 *	cfg.ranks = 4;
 *	cfg.engine = rf_model_engine();
 *	rf_fabric_create(&cfg, &f, why, sizeof(why));
 *	rf_fabric_allreduce(f, count);                 every rank: one more all-reduce
 *	rf_fabric_run(f, 10 * RF_SEC);                 joins, reduces, leaves
 *	rf_fabric_rank(f, r)->wrong, ->status, ->text
 *	rf_fabric_destroy(f);
 *
 * Each rank has a program, a list of steps that it runs one after another. Between calls of
 * rf_fabric_run() conditions may be changed: a host crashes, the rule is removed, the box is reset.
 * Times are nanoseconds since creation.
 */
#ifndef RF_SIM_FABRIC_FABRIC_H
#define RF_SIM_FABRIC_FABRIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "firmware/target/sim/cpu.h"
#include "host/collective/schedule.h"
#include "ringfold/ringfold.h"
#include "sim/engine.h"

#define RF_FABRIC_RANKS 512u
#define RF_FABRIC_GROUP_RANKS 128u
#define RF_FABRIC_PORTS 8u
#define RF_FABRIC_LEAVES 16u
#define RF_FABRIC_MIDDLE 2u
#define RF_FABRIC_BOXES 32u
#define RF_NEVER UINT64_MAX
#define RF_NOBODY UINT32_MAX
#define RF_USEC UINT64_C(1000)
#define RF_MSEC UINT64_C(1000000)
#define RF_SEC UINT64_C(1000000000)
/*
 * Overhead of a frame on the wire beyond its own bytes (padded to 60): preamble 8, FCS 4, gap 12.
 */
#define RF_WIRE_OVERHEAD 24u

/* What a link does to frames, each with its probability. Each link has its own random generator. */
struct rf_faults {
	double loss;
	double duplicate;
	double reorder; /* held back for up to reorder_ns while others pass */
	double corrupt; /* one bit flips and the FCS is correct, as in a switch's memory: only the
			   ICRC detects it */
	double bad_fcs; /* one bit flips and the next MAC detects it */
	double corrupt_any; /* one bit flips anywhere and the FCS is correct: also in addresses and
			       headers that the ICRC does not cover */
	uint64_t reorder_ns;
	uint64_t jitter_ns; /* up to this much more delay, order kept */
};

/* How a host deviates from normal behaviour. */
struct rf_quirk {
	uint64_t ack_late_ns; /* its ACKs leave this much later */
	bool coalesce;        /* one ACK stands for all that arrived meanwhile */
	unsigned window; /* packets it keeps unacknowledged, ignoring the box; 0: as assigned */
};

enum rf_schedule_kind {
	RF_RUN_BOX,          /* the box adds */
	RF_RUN_RING,         /* ring all-reduce, no box and no rule */
	RF_RUN_RING_THROUGH, /* ring all-reduce with the rule: foreign traffic through the box */
};

struct rf_fabric_cfg {
	/* The box. */
	const struct rf_engine_ops *engine;
	unsigned ports; /* 2..8 */
	unsigned lanes;
	unsigned width;
	bool wide;        /* the model with 64 groups: BANK_AW 14, HDR_AW 10, HASH_BITS 10 */
	const char *wave; /* FST file, or NULL */
	/* What each box takes in at most, bits per second over all inputs (model); 0: no limit. */
	uint64_t processing;
	bool no_jump;                 /* evaluate every clock */
	unsigned bus_ns;              /* time for one register access by the firmware */
	enum rf_sim_fw_kind firmware; /* native, or the image for the box's processor ... */
	unsigned cpu_khz;             /* ... which executes one instruction per clock */
	uint64_t hold_ms;             /* hold time of the box after power-on and reset */
	/*
	 * A tree of boxes of this shape: the leaves, each with an equal part of the ranks; levels
	 * in the middle, from below, each with an equal part of the boxes of the level before; and
	 * one box at the top. All ranks are one group. Needs the model, mirror connections and
	 * directed groups; not with a store, captures or a router. 0: one box; no such level.
	 */
	unsigned leaves;
	unsigned middle[RF_FABRIC_MIDDLE];
	/* Hosts and network. */
	unsigned ranks;
	unsigned groups; /* number of groups of equal size into which the ranks are divided; 0: one
			    group */
	uint8_t port_of_rank[RF_FABRIC_RANKS]; /* box port to which the rule redirects; rank mod
						  ports by default */
	uint64_t join_at[RF_FABRIC_RANKS];     /* ns; 100 us from rank to rank by default */
	uint64_t rate;                         /* bits per second of every link ... */
	uint64_t host_rate;                    /* ... except the hosts' links; 0: the same */
	uint64_t delay_ns;                     /* of every link, each direction */
	uint64_t switch_ns;                    /* shortest time from last bit in to first bit out */
	uint64_t switch_buffer;      /* bytes queued for one port before frames are dropped */
	unsigned mac_fifo;           /* bytes between box and wire at each port */
	struct rf_faults host_links; /* both directions of every host's link */
	struct rf_faults box_links;  /* both directions of every box port's link */
	/* The job. */
	enum rf_schedule_kind schedule;
	enum rf_arith_type type;
	enum rf_arith_op op;
	unsigned mtu;
	unsigned slots;          /* S requested */
	unsigned message_bytes;  /* of ordinary groups; 0: 64 packets */
	unsigned max_ops;        /* all-reduces outstanding at a time, 1.. */
	uint32_t start_psn;      /* of every connection; RF_FABRIC_RANDOM_PSN: random values */
	uint64_t ack_timeout_ns; /* of the transport */
	uint64_t ack_timeout_max_ns;
	unsigned retry_cnt;
	uint32_t lease_ms;
	uint32_t join_deadline_ms;
	uint64_t answer_ns;  /* the box must answer a rank within this; 0: 5 s */
	uint64_t timeout_ns; /* a call without any progress fails after it */
	/*
	 * The ranks agree on every step through a store, prove the path before their first
	 * all-reduce and leave together, as all programs with the library do. Without it they know
	 * each other's connections, and a rank leaves when it has finished.
	 */
	bool store;
	/*
	 * With a store: what the ranks do when the box fails. RING only for sums whose bits do not
	 * depend on the order.
	 */
	enum rf_fallback fallback;
	uint64_t store_ns; /* from one rank to another through the store */
	uint64_t lost_ns;  /* until the store reports that a process has ended */
	bool plain; /* connections without the PSN shift: as for foreign endpoints registered by an
		       operator */
	/*
	 * Mirror connections: the switch has no rule, and the ranks' peers are the addresses of the
	 * box's ports. Directed groups, or with RF_RUN_RING all collectives among hosts: `type` and
	 * `op` are those of the calls.
	 */
	bool mirror;
	bool directed;
	/*
	 * Exceptions. mirror: ranks that use the rule all the same; in a group with both kinds the
	 * ring goes through these, of which there are none or at least two, and there is no store.
	 * directed: ranks whose group is an ordinary one.
	 */
	bool by_rule[RF_FABRIC_RANKS];
	bool ordinary[RF_FABRIC_RANKS];
	/*
	 * directed: packets of a message of an all-reduce with the JOIN's type and operation (those
	 * of the configuration, or fp32 sums), which an immediate closes; 0 or 1: one. The same on
	 * the ranks of a ring. Not with `selective`.
	 */
	uint8_t message_packets[RF_FABRIC_RANKS];
	bool router;        /* mirror: between hosts and box, which are in different subnets */
	bool vlan;          /* hosts tag their frames */
	bool transparent;   /* the box sends no NAK */
	bool selective;     /* packets and results are accepted in any order */
	unsigned straggler; /* RNR timer code while other ranks are late; 0: no answer */
	bool in_place;
	uint32_t start_index; /* as if this many packets had been sent on every connection: a
				 multiple of 2 S */
	struct rf_quirk quirk[RF_FABRIC_RANKS];
	/* Run. */
	uint64_t seed;
	uint64_t reset_seed; /* for state that the core's reset does not set; 0: seed */
	bool measure;        /* measure CPU time of the engine: stats.engine_seconds */
	bool hasty; /* after a pause deadlines are judged before anything is read: must be seen */
	bool flip_raw; /* corrupts data of unfinished operations: the run must report it */
	bool flip; /* flips one bit of one result before it is compared: the run must report it */
	const char *pcapng_dir; /* writes box.pcapng and hosts.pcapng there, or NULL */
	const char *command;    /* comment for them */
	const char *who;        /* begins messages about these files; NULL: "ringfold" */
	const char *timeline;   /* file for Perfetto, see timeline.h; or NULL */
};

#define RF_FABRIC_RANDOM_PSN UINT32_MAX

enum rf_step_kind {
	RF_STEP_JOIN,       /* join at the box, make queue pairs */
	RF_STEP_ALLREDUCE,  /* arg: elements. Does not wait unless max_ops are outstanding */
	RF_STEP_COLLECTIVE, /* added by rf_fabric_call() */
	RF_STEP_WAIT,       /* until all outstanding ones are done */
	RF_STEP_COMPUTE,    /* arg: ns. The transport keeps running */
	RF_STEP_FREEZE,     /* arg: ns. The process does nothing at all; its NIC stores frames */
	RF_STEP_BARRIER,    /* until all ranks are here; takes no time: for measurements */
	RF_STEP_LEAVE,      /* wait, leave the group, stay until it has ended */
};

enum rf_rank_state {
	RF_RANK_STARTING,
	RF_RANK_JOINING,
	RF_RANK_RUNNING,
	RF_RANK_LEAVING,
	RF_RANK_DONE,   /* its program has ended without error */
	RF_RANK_FAILED, /* error and text give the reason */
	RF_RANK_CRASHED,
};

struct rf_rank {
	enum rf_rank_state state;
	int status; /* negative enum rf_status */
	char text[512];
	uint64_t failed_ns;
	unsigned reason;  /* RF_CTL_R_* of the box, if it gave one */
	unsigned culprit; /* rank of the group named by the error, or RF_NOBODY */
	bool announced;   /* the error is that rank's report */
	bool on_ring;     /* it continues over a ring, without the box */
	unsigned life;    /* rf_fabric_restart() */
	unsigned done;    /* all-reduces completed successfully */
	unsigned posted;
	uint64_t checked; /* elements compared */
	uint64_t wrong;   /* elements that differ from the reference */
	uint64_t raw; /* elements of failed operations that are neither untouched nor the correct
			 sum */
	uint64_t ready_ns;      /* when the box was joined; 0: not yet */
	uint64_t first_post_ns; /* time of the first all-reduce */
	uint64_t last_done_ns;
	uint64_t digest; /* hash of all results */
	struct rf_place place;
	unsigned window;
};

/* Totals of one run. */
struct rf_fabric_stats {
	uint64_t events;
	uint64_t cycles;           /* of the box */
	uint64_t cycles_evaluated; /* without those skipped */
	double engine_seconds;     /* CPU time spent in the engine */
	uint64_t firmware_polls;
	uint64_t register_accesses;
	uint64_t instructions; /* of the box's processor, if it runs the image */
	uint64_t frames_lost;
	uint64_t frames_duplicated;
	uint64_t frames_reordered;
	uint64_t frames_corrupted;
	uint64_t frames_bad_fcs;
	uint64_t frames_corrupted_any;
	uint32_t misaddressed_ranks; /* whose data got another destination MAC on its way to the
					box: bit per rank */
	uint64_t window_exceeded;    /* times a host exceeded its assigned window */
	uint64_t acks_late;
	uint64_t acks_coalesced;
	uint64_t groups_moved;   /* groups moved to start_index */
	uint64_t switch_dropped; /* for lack of buffer space */
	uint64_t rule_hits;
	uint64_t mac_overflow; /* the engine's input queue was full */
	uint64_t data_packets; /* sent by hosts, repeats included */
	uint64_t repeats;      /* of these, sent before */
	uint64_t acks;
	uint64_t naks;
	uint64_t timeouts;
	uint64_t switch_queue_max; /* bytes */
	uint64_t digest; /* hash of every frame at every host and box port with its time: equal runs
			    have equal hashes */
};

struct rf_fabric;

void rf_fabric_cfg_init(struct rf_fabric_cfg *cfg);

/*
 * Returns 0, or -1 with a reason of at most room bytes in why. The strings of cfg must live as long
 * as the fabric.
 */
int rf_fabric_create(const struct rf_fabric_cfg *cfg, struct rf_fabric **out, char *why,
		     size_t room);
/*
 * Closes the capture files. Returns whether they are complete; if not, the reason is on stderr.
 */
bool rf_fabric_captured(struct rf_fabric *f);
void rf_fabric_destroy(struct rf_fabric *f);

/* Adds a step to one rank's program. 0 or -1 (no memory). Programs begin with RF_STEP_JOIN, added
 * by create. */
int rf_fabric_step(struct rf_fabric *f, unsigned rank, enum rf_step_kind kind, uint64_t arg);
/*
 * The rank to which this one sends, or the one from which it receives: itself, if it has a mirror
 * connection.
 */
unsigned rf_fabric_neighbour(const struct rf_fabric_cfg *cfg, unsigned rank, bool next);
/* Whether a rank has a mirror connection, or belongs to a directed group. */
bool rf_fabric_is_mirror(const struct rf_fabric_cfg *cfg, unsigned rank);
bool rf_fabric_is_directed(const struct rf_fabric_cfg *cfg, unsigned rank);
/* Whether its group has ring and mirror ranks. */
bool rf_fabric_is_mixed(const struct rf_fabric_cfg *cfg, unsigned rank);

/* Adds an all-reduce of count elements for every rank. */
int rf_fabric_allreduce(struct rf_fabric *f, uint64_t count);
/* A call of one rank. */
struct rf_fabric_call {
	enum rf_collective_kind kind;
	enum rf_arith_type type;
	enum rf_arith_op op;
	unsigned root; /* within its group */
	/* Elements of the vector, or of all blocks together: then a multiple of the group's ranks.
	 */
	uint64_t count;
};
/*
 * The same for any collective of a directed group, with the type and operation of the
 * configuration. count, root: as in struct rf_fabric_call. Not in place.
 */
int rf_fabric_collective(struct rf_fabric *f, enum rf_collective_kind kind, unsigned root,
			 uint64_t count);
/* For one rank, which may then disagree with the others. */
int rf_fabric_collective_of(struct rf_fabric *f, unsigned rank, enum rf_collective_kind kind,
			    unsigned root, uint64_t count);
/*
 * For one rank, with a type and an operation of its own. Returns 0, or -1 if the call is not
 * allowed: rf_fabric_why() tells why.
 */
int rf_fabric_call(struct rf_fabric *f, unsigned rank, const struct rf_fabric_call *call);
/* Adds a step for every rank. */
int rf_fabric_all(struct rf_fabric *f, enum rf_step_kind kind, uint64_t arg);

/*
 * Runs until every rank's program has ended (done, failed or crashed) or the time is reached.
 * Returns 1 if all have ended, else 0; -1 if the simulation itself failed (rf_fabric_why). May be
 * called again, with more steps added.
 */
int rf_fabric_run(struct rf_fabric *f, uint64_t until_ns);
/* As rf_fabric_run(), but returns 0 as soon as stop, called after every event, returns true. */
int rf_fabric_run_until(struct rf_fabric *f, uint64_t until_ns, bool (*stop)(void *arg), void *arg);
const char *rf_fabric_why(const struct rf_fabric *f);
/*
 * Runs until that time, whether programs have ended or not. If a process is paused, the same span
 * is added to the end of its pause. Returns 0 or -1.
 */
int rf_fabric_settle(struct rf_fabric *f, uint64_t until_ns);
/*
 * Call rf_fabric_settle() after all programs have ended, then this. Returns NULL, or what was not
 * freed or is still waiting: frames on links, in NICs, in the box, groups, slots, connections,
 * requests.
 */
const char *rf_fabric_leak(struct rf_fabric *f);
/* For tests of that check: introduces a leak that must be found. */
enum rf_spoil {
	RF_SPOIL_NOTHING,
	RF_SPOIL_FRAME,
	RF_SPOIL_NIC,
	RF_SPOIL_QP,
	RF_SPOIL_TIMER,
	RF_SPOIL_VECTOR,
	RF_SPOIL_MEMBER,
	RF_SPOIL_BOX,
	RF_SPOIL_SLOTS,
	RF_SPOIL_TABLE,
};
void rf_fabric_spoil(struct rf_fabric *f, enum rf_spoil what);

uint64_t rf_fabric_now(const struct rf_fabric *f);
const struct rf_rank *rf_fabric_rank(const struct rf_fabric *f, unsigned rank);
void rf_fabric_stats(const struct rf_fabric *f, struct rf_fabric_stats *s);
/*
 * Time from the first rank's start of its op-th all-reduce to the last rank's completion; 0 if it
 * is not complete.
 */
uint64_t rf_fabric_op_ns(const struct rf_fabric *f, unsigned op);
/* The same for the ranks of one group. */
uint64_t rf_fabric_group_op_ns(const struct rf_fabric *f, unsigned group, unsigned op);
/* True if every rank is done and nothing was wrong. */
bool rf_fabric_good(const struct rf_fabric *f);
/*
 * Reads a port counter of the box by its number (RF_CNT_*) over the register bus, which takes some
 * simulated time.
 */
uint32_t rf_fabric_counter(struct rf_fabric *f, unsigned port, unsigned counter);
/* The same for one box of a tree. */
uint32_t rf_fabric_tree_counter(struct rf_fabric *f, unsigned box, unsigned port, unsigned counter);
/*
 * Boxes of a tree: the leaves have the first numbers, then each level above, and the box at the
 * top the last one.
 */
unsigned rf_fabric_boxes(const struct rf_fabric_cfg *cfg);
/* The box above one; RF_NOBODY: none. */
unsigned rf_fabric_parent(const struct rf_fabric_cfg *cfg, unsigned box);
/* The native firmware of a box of a tree, or NULL. */
const struct rf_fw *rf_fabric_firmware(const struct rf_fabric *f, unsigned box);
/* Changes that take effect immediately. */
void rf_fabric_crash(struct rf_fabric *f, unsigned rank);
/* The rank leaves the group and forgets its connections, whatever its state. */
void rf_fabric_quit(struct rf_fabric *f, unsigned rank);
/*
 * Restarts a rank that has ended, as a new process: its program is RF_STEP_JOIN and the steps added
 * from now on. life: not 0, different at each restart, the same for the ranks that are to meet.
 * Returns 0, or -1 (no memory, or the rank has not ended).
 */
int rf_fabric_restart(struct rf_fabric *f, unsigned rank, unsigned life);
void rf_fabric_freeze(struct rf_fabric *f, unsigned rank, uint64_t ns);
void rf_fabric_rule(struct rf_fabric *f, unsigned rank, bool on);
void rf_fabric_box_reset(struct rf_fabric *f);
/* The same for one box of a tree. */
void rf_fabric_tree_reset(struct rf_fabric *f, unsigned box);
/* Another router takes over: what it forwards has another source MAC. */
void rf_fabric_router_change(struct rf_fabric *f);
/* Sets new fault values for one rank's host link (loss 1 cuts the cable). */
void rf_fabric_host_faults(struct rf_fabric *f, unsigned rank, const struct rf_faults *up,
			   const struct rf_faults *down);

/* Sets new faults for all links. */
void rf_fabric_links(struct rf_fabric *f, const struct rf_faults *host,
		     const struct rf_faults *box);

/*
 * Called for every frame put on a wire; if it returns false the frame is lost. host: the number of
 * the host or box port whose link it is; up: towards the switch.
 */
typedef bool rf_fabric_filter(void *arg, bool box, unsigned port, bool up, uint64_t ns,
			      const uint8_t *frame, size_t len);
void rf_fabric_set_filter(struct rf_fabric *f, rf_fabric_filter *filter, void *arg);

/*
 * Invalid frames that a host can send. From RF_NONSENSE_OPCODE on they end the group if the host
 * sends them about itself.
 */
enum rf_nonsense {
	RF_NONSENSE_CONTROL,       /* to the box: not a control message */
	RF_NONSENSE_DATA,          /* packets long past, or far ahead */
	RF_NONSENSE_ACK_OLD,       /* ACK of a packet long past, random MSN */
	RF_NONSENSE_ACK_BEYOND,    /* ACK of a packet never sent */
	RF_NONSENSE_ACK_MALFORMED, /* syndromes that do not exist */
	RF_NONSENSE_FORM,          /* wrong form, long past or far ahead */
	RF_NONSENSE_NAK_OLD,       /* fatal NAKs for packets long past */
	RF_NONSENSE_OPCODE,
	RF_NONSENSE_LENGTH,
	RF_NONSENSE_ELEMENT,
	RF_NONSENSE_NAK, /* fatal NAKs */
	RF_NONSENSE_KINDS,
	/* In directed groups, too. */
	RF_NONSENSE_ORDER = RF_NONSENSE_KINDS, /* an immediate with another index */
	RF_NONSENSE_IMMEDIATE,                 /* one with an unknown type */
};
bool rf_nonsense_fatal(enum rf_nonsense kind);
/*
 * Rank `speaker` sends one such frame as if it were rank `about`; spoof: also with its source
 * address. False if there are no connections to use, or the switch would not take the frame to the
 * box: a host without the rule cannot speak as a ring rank.
 */
bool rf_fabric_nonsense(struct rf_fabric *f, unsigned speaker, unsigned about,
			enum rf_nonsense kind, bool spoof, uint64_t seed);

/* Sends a frame into the switch as if it came from the host. */
void rf_fabric_inject(struct rf_fabric *f, unsigned rank, const uint8_t *frame, size_t len);

/*
 * Hosts that are not the fabric's: whatever arrives at a host is given to the caller, who sends by
 * rf_fabric_inject(). Before the first run; the configuration's join_at keeps the fabric's own
 * hosts silent (RF_NEVER).
 */
typedef void rf_fabric_guest(void *arg, unsigned rank, const uint8_t *frame, size_t len);
void rf_fabric_set_guest(struct rf_fabric *f, rf_fabric_guest *guest, void *arg);
/* When the last bit that a host has sent is on the wire, ns, rounded up. */
uint64_t rf_fabric_wire_free(struct rf_fabric *f, unsigned rank);

/* Addresses: host r is 10.0.(r / 250).(r % 250 + 1) with MAC 02:48:xx:xx:<r + 1>; the
 * box 10.0.255.254. */
uint32_t rf_fabric_ip(unsigned rank);
uint32_t rf_fabric_box_ip(void);
/* Of the boxes of a tree; box 0 has the address above. */
uint32_t rf_fabric_tree_ip(unsigned box);
uint32_t rf_fabric_router_ip(void);

#endif
