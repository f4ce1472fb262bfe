/*
 * ringfold: collective operations whose sums are made inside the network.
 *
 *     struct rf_context *ctx;
 *     struct rf_comm *comm;
 *
 *     rf_context_create(NULL, &ctx);               this process's network device
 *     rf_comm_create(ctx, NULL, &comm);            the ranks of the job meet
 *     rf_allreduce(comm, gradient, sum, count, RF_FP32, RF_SUM);
 *     rf_comm_destroy(comm);  rf_context_destroy(ctx);
 *
 * Results. Every function that can fail returns 0 for success, a negative enum rf_status for an
 * error, and a positive one for information (RF_IN_PROGRESS). After an error rf_last_error_text()
 * says what happened and what to do about it. Out-parameters are written only on success. An object
 * that is NULL is refused (RF_ERR_INVALID), such as a request that rf_wait_any() has taken; only
 * what ends an object allows NULL, and rf_comm_rank() and rf_comm_ranks() return 0 for it.
 *
 * Threads. Calls on different contexts are independent. Calls on one context, and on objects
 * made from it, may come from any thread: they are serialised inside. The caller must make the
 * calls on a communicator in the same order on every rank. An object may be destroyed by
 * another thread than made it, once no other call uses it or an object made from it. The text of
 * an error belongs to the thread whose call has failed.
 *
 * fork(). The objects belong to the process that made them. In a child every call on one returns
 * RF_ERR_INVALID and changes nothing. A child may make a context of its own; with a DPDK device
 * only if no process before it in the line of forks has opened one.
 *
 * Buffers. The library owns the buffers of a call until the call or its request completes, with
 * success or error. From then on the caller owns them again. Elements are little-endian, without
 * gaps. Buffers must be aligned to their element size (1 to 8 bytes).
 *
 * Configuration. A config struct begins with its size (use the RF_..._INIT macros, in C or C++), so
 * that members can be added at its end. If the config is NULL or a member is 0, the environment
 * setting of the same name applies, or its default if that is not set. docs/api.md lists the
 * settings.
 */
#ifndef RINGFOLD_H
#define RINGFOLD_H

#include <stddef.h>
#include <stdint.h>

#include "ringfold/calls.h"
#include "ringfold/memory.h"

#ifdef __cplusplus
extern "C" {
#endif

#define RF_VERSION_MAJOR 0
#define RF_VERSION_MINOR 2
#define RF_VERSION_PATCH 0

enum rf_status {
	RF_OK = 0,
	RF_IN_PROGRESS = 1,  /* not complete yet: call again */
	RF_ERR_INVALID = -1, /* an argument or setting is wrong; nothing was started */
	RF_ERR_NO_MEMORY = -2,
	RF_ERR_SYSTEM = -3,       /* the operating system refused something */
	RF_ERR_DEVICE = -4,       /* the network device cannot be opened or has no link */
	RF_ERR_BOOTSTRAP = -5,    /* the store on RF_PORT cannot be reached or misbehaves */
	RF_ERR_RANK_MISSING = -6, /* some ranks did not arrive in time: the text names them */
	RF_ERR_RANK_TAKEN = -7,   /* another process already has this rank */
	RF_ERR_RANK_LOST = -8,    /* the process of a rank has ended or is unreachable */
	RF_ERR_BOX_SILENT = -9,   /* the box does not answer */
	RF_ERR_BOX_REFUSED = -10, /* the box refused the request: the text gives its reason */
	RF_ERR_STEERING = -11,    /* the proof of the path through the box failed */
	RF_ERR_MISMATCH = -12,    /* ranks disagree about count, type, operation or call order */
	RF_ERR_TRANSPORT = -13,   /* a peer does not acknowledge, or ended the connection */
	RF_ERR_TIMEOUT = -14,     /* a deadline has passed */
	RF_ERR_ABORTED = -15,     /* rf_comm_abort() was called, on this rank or another */
	RF_ERR_GROUP_FAILED =
		-16, /* the communicator failed in an earlier call; it can only be destroyed */
	RF_ERR_BUSY = -17,     /* too many outstanding requests, or still in use */
	RF_ERR_INTERNAL = -18, /* a bug in the library */
};

/* Who performs the additions. */
enum rf_schedule {
	RF_SCHEDULE_DEFAULT = 0, /* RF_SCHEDULE: "box" or "ring"; the default is the box */
	RF_SCHEDULE_BOX = 1,     /* the box in the network */
	RF_SCHEDULE_RING = 2,    /* the hosts, around the ring: no box needed */
};

/* How packets reach the box. */
enum rf_steering {
	RF_STEERING_DEFAULT = 0, /* RF_STEERING: "mirror" or "ring"; the default is mirror */
	RF_STEERING_MIRROR = 1,  /* each rank sends to an address of the box: no switch rule */
	/* each rank sends to the next one, and a rule at its switch port leads that to the box */
	RF_STEERING_RING = 2,
};

/* What a communicator does when its box stops answering. It is logged (RF_LOG_WARN). */
enum rf_fallback {
	RF_FALLBACK_DEFAULT = 0, /* RF_FALLBACK: "none", "exact" or "ring"; the default is none */
	RF_FALLBACK_NONE = 1,    /* the call fails with the cause */
	RF_FALLBACK_EXACT =
		2, /* every rank gets all operands and adds in the box's order: same bits */
	RF_FALLBACK_RING = 3, /* the fast ring: a different order of additions */
};

/* A config member that is on, off, or taken from the environment. */
enum rf_choice {
	RF_CHOICE_DEFAULT = 0,
	RF_CHOICE_ON = 1,
	RF_CHOICE_OFF = 2,
};

/* Who sends and receives packets. */
enum rf_progress_mode {
	RF_PROGRESS_DEFAULT = 0, /* RF_PROGRESS: "thread" or "manual"; the default is a thread */
	RF_PROGRESS_THREAD = 1,  /* a thread per context, asleep when idle */
	RF_PROGRESS_MANUAL = 2,  /* the caller, in rf_progress() and in every waiting call */
};

/* How much is logged. A level includes those before it. */
enum rf_log_level {
	RF_LOG_DEFAULT = 0, /* RF_DEBUG: "warn", "info" or "trace"; the default is warn */
	RF_LOG_WARN = 1,    /* something is not as asked, and the job continues without it */
	RF_LOG_INFO = 2,    /* the device, who carries a communicator's calls and why, failures */
	RF_LOG_TRACE = 3,   /* every creation, meeting of ranks, and error text; never per packet */
};

/* Opaque objects. Destroy each one before the object it was created from. */
struct rf_context;  /* a process's network device */
struct rf_comm;     /* ranks that make calls together */
struct rf_request;  /* one outstanding call */
struct rf_creation; /* a communicator that is being made */
struct rf_mem;      /* registered memory (ringfold/memory.h) */

/* The version, such as "0.2.0"; static. */
const char *rf_version(void);

/* One sentence for a status, such as "the box does not answer"; static, never NULL. */
const char *rf_strerror(int status);

/*
 * Describes the last call of this thread that failed, and the remedy: ranks, addresses, deadlines.
 * Failures of other threads do not change it. ctx may be NULL. The text belongs to the library and
 * stays valid until the calling thread's next rf_last_error_text(). It is "" if nothing has failed.
 */
const char *rf_last_error_text(struct rf_context *ctx);

/* ---- context ----------------------------------------------------------------------------------
 */

struct rf_context_config {
	size_t size; /* sizeof(struct rf_context_config) */
	/*
	 * RF_DEVICE: "verbs" or "verbs:mlx5_0:1:3" (device, port, GID index) for a NIC's own RoCE;
	 * or a DPDK device: "net_memif0,role=client,id=0,socket=/run/x.sock",
	 * "net_af_packet0,iface=eth1", a PCI address, or the name of a device of `dpdk_args`. %r
	 * becomes the rank.
	 */
	const char *device;
	/*
	 * RF_IP: own IPv4 address, dotted. Default: the address of the interface for net_af_packet,
	 * otherwise 10.0.0.<rank + 1>.
	 */
	const char *ip;
	/*
	 * RF_DPDK_ARGS: more arguments for DPDK, separated by blanks. Only the first context of the
	 * process uses them.
	 */
	const char *dpdk_args;
	/* RF_MTU: path MTU, 256, 512, 1024, 2048 or 4096 bytes of payload. Default 1024. */
	unsigned int mtu;
	/* RF_PROGRESS */
	enum rf_progress_mode progress;
	/* RF_PCAP: write every frame in and out to this file (pcapng). Default: none. */
	const char *pcap;
	/* RF_DEBUG: what is logged. */
	enum rf_log_level log_level;
	/*
	 * Receives each line of the log with its level, without prefix and newline; then nothing is
	 * written to RF_DEBUG_FILE or stderr. It may be called from any thread, also while the
	 * library holds locks, until rf_context_destroy() has returned: it must not call the
	 * library, and should not wait. The text is valid until it returns, and never holds a key.
	 */
	void (*log)(void *log_arg, enum rf_log_level level, const char *text);
	void *log_arg;
	/*
	 * Rank and number of ranks of the process in its job: for %r, for the default address, and
	 * for communicators whose config does not state them. If ranks is 0, both come from the
	 * environment (rf_comm_config).
	 */
	unsigned int rank;
	unsigned int ranks;
	/*
	 * RF_REG_CACHE: bytes of memory that stay registered with a NIC after calls, for later
	 * ones. Not 0 is a promise of the program: see rf_mem_forget(). Default: 0, none.
	 */
	uint64_t reg_cache;
	/*
	 * RF_GATEWAY: IPv4 address, dotted, of the router to which packets for the box and its
	 * ports go. Only over DPDK and with mirror connections: over verbs the system's routes
	 * lead to the box. Default: none, the box is in this host's subnet.
	 */
	const char *gateway;
};
#define RF_CONTEXT_CONFIG_INIT                                                                     \
	{                                                                                          \
		sizeof(struct rf_context_config), 0, 0, 0, 0, RF_PROGRESS_DEFAULT, 0,              \
			RF_LOG_DEFAULT, 0, 0, 0, 0, 0, 0                                           \
	}

/*
 * Opens the device. config may be NULL. The strings are copied. Errors: RF_ERR_INVALID,
 * RF_ERR_DEVICE, RF_ERR_NO_MEMORY, RF_ERR_SYSTEM. If no device is named and an RDMA device exists,
 * verbs uses it (RF_BACKEND) and the choice is logged (RF_LOG_INFO). A context without a device can
 * only make communicators of one rank.
 */
int rf_context_create(const struct rf_context_config *config, struct rf_context **ctx);

/* Closes the device. Returns RF_ERR_BUSY while a communicator of it exists. NULL is allowed. */
int rf_context_destroy(struct rf_context *ctx);

/*
 * Sends and receives packets for at most timeout_us microseconds, or returns as soon as something
 * has happened. It is the only source of progress in RF_PROGRESS_MANUAL and is allowed in the other
 * mode. RF_OK: progress was made; RF_IN_PROGRESS: nothing to do.
 *
 * In manual mode nothing is received or sent between the calls of this function, of rf_test(), and
 * of those that wait (rf_wait(), rf_allreduce(), creation and destruction). Call one of them, from
 * the creation of a communicator until it is destroyed:
 * - at least every 2 s, whether requests are outstanding or not. Otherwise the box ends the
 *   communicator's group when the lease of this rank runs out (10 s unless the box is set
 *   otherwise).
 * - at least every RF_RETRY milliseconds while a request is outstanding on any rank. Otherwise the
 *   other ranks wait for this one and repeat packets that it has not acknowledged. Nothing is lost
 *   by that except time, and after RF_TIMEOUT without progress their requests fail. (Over verbs the
 *   NIC acknowledges.)
 */
int rf_progress(struct rf_context *ctx, unsigned int timeout_us);

/* Counters since the context was created; all are monotonic. */
struct rf_stats {
	size_t size;         /* sizeof(struct rf_stats), set by the caller */
	uint64_t calls;      /* collective calls completed successfully */
	uint64_t call_bytes; /* the larger buffer of each of them, in sum */
	uint64_t tx_frames;
	uint64_t tx_bytes; /* frames, without FCS */
	uint64_t rx_frames;
	uint64_t rx_bytes;
	uint64_t rx_dropped;    /* frames not addressed to this host, or malformed */
	uint64_t tx_data;       /* data packets, repeats included */
	uint64_t tx_repeats;    /* data packets sent again */
	uint64_t tx_acks;       /* acknowledgements, NAKs included */
	uint64_t rx_data;       /* data packets in order */
	uint64_t rx_duplicates; /* data packets received before */
	uint64_t rx_gaps;       /* data packets received too early */
	uint64_t rx_bad_icrc;
	uint64_t rx_acks;
	uint64_t rx_naks;  /* NAK and RNR NAK */
	uint64_t timeouts; /* expiries of the retransmission timer */
	uint64_t sleeps;   /* times the progress thread went to sleep */
	/* verbs: how often memory was registered with the NIC, for calls and by the program */
	uint64_t registrations;
	uint64_t registration_hits; /* buffers of calls that were registered already */
};

/* Fills *stats up to stats->size bytes. Errors: RF_ERR_INVALID. */
int rf_stats(struct rf_context *ctx, struct rf_stats *stats);

/* ---- communicator -----------------------------------------------------------------------------
 */

#define RF_NAME_MAX 63u /* bytes of a name */

struct rf_comm_config {
	size_t size; /* sizeof(struct rf_comm_config) */
	/*
	 * Rank and number of ranks of the process in its job. If ranks is 0, both come from the
	 * context's config; if they are not there, from the environment. The first of
	 * these pairs that is set applies: RF_RANK and RF_SIZE; RANK and WORLD_SIZE;
	 * OMPI_COMM_WORLD_RANK and _SIZE; PMI_RANK and PMI_SIZE; SLURM_PROCID and SLURM_NTASKS. If
	 * none is set: rank 0 of 1. RF_SIZE without RF_RANK is refused.
	 */
	unsigned int rank;
	unsigned int ranks;
	/* RF_ROOT, then MASTER_ADDR: where rank 0 can be reached by TCP. Default 127.0.0.1. */
	const char *root;
	/* RF_PORT: TCP port of the store at rank 0. Default 4792. */
	unsigned int port;
	/*
	 * RF_TIMEOUT: milliseconds for the ranks to arrive, and for every step that makes no
	 * progress. Default 30000.
	 */
	unsigned int timeout_ms;
	/* RF_BOX_IP: the box's IPv4 address. Default 10.0.0.254. */
	const char *box_ip;
	/* RF_JOB: job number, the same on all ranks. Default: chosen at random by rank 0. */
	uint64_t job;
	/* RF_KEY: the job's key, 32 hex digits, at the box and at RF_PORT. Default: zeroes. */
	const char *key;
	/* RF_SCHEDULE */
	enum rf_schedule schedule;
	/*
	 * The communicator's name, at most RF_NAME_MAX bytes, the same on its ranks. It is part of
	 * every match: ranks that make communicators of different names in different order, or in
	 * several threads, still meet in the right ones. NULL: those without a name are matched by
	 * the order of their creation.
	 */
	const char *name;
	/*
	 * The processes that take part, by their rank in the job, in the order of their ranks in
	 * the communicator; the same list on all of them, own rank included. NULL: all processes.
	 */
	const unsigned int *members;
	unsigned int n_members;
	/*
	 * Lets the processes find each other by the program's own means: gathers `bytes` bytes of
	 * each process to all[rank * bytes] on every process, and returns 0 for success. The first
	 * rf_comm_create() of a context calls it, twice, in its own thread, on all ranks. Rank 0
	 * then tells the others where it serves the store: RF_ROOT and RF_PORT need not be set, and
	 * any free port is taken. NULL: RF_ROOT and RF_PORT tell all ranks where rank 0 is.
	 */
	int (*allgather)(void *allgather_arg, const void *own, void *all, size_t bytes);
	void *allgather_arg;
	/*
	 * The rest concerns the group that the communicator has at the box, and must be the same on
	 * all its ranks. Without the box it has no effect, but is checked all the same.
	 */
	/*
	 * RF_SLOTS: slots requested from the box, a power of two from 16; 0: 64. If the box has
	 * fewer, the communicator takes what it has. Half of them is what a rank may have in
	 * flight, in packets.
	 */
	unsigned int slots;
	/*
	 * RF_SLOTS_LARGE: slots of the second group that the communicator makes for large calls, a
	 * power of two; 0: 256. Not more than `slots`: all calls go through the first one.
	 */
	unsigned int slots_large;
	/* RF_STEERING */
	enum rf_steering steering;
	/*
	 * RF_SELECTIVE: only lost packets are sent again; box and hosts accept packets in any
	 * order. Not supported over verbs: RF_ERR_INVALID. Default: off.
	 */
	enum rf_choice selective;
	/*
	 * RF_STRAGGLER: RNR timer code 1 to 31 (IBTA table 45). The box answers with it when a
	 * sender repeats while other ranks are late. Or RF_STRAGGLER_SILENT. Default: silent.
	 */
	unsigned int straggler;
	/*
	 * RF_FALLBACK. With a fallback a communicator allows one outstanding request at a time and
	 * keeps a copy of the operands of its last two all-reduces, and rf_test() may block once
	 * the box has failed. Only all-reduces continue; other calls then fail with the cause.
	 */
	enum rf_fallback fallback;
};
#define RF_STRAGGLER_SILENT 32u
#define RF_COMM_CONFIG_INIT                                                                        \
	{                                                                                          \
		sizeof(struct rf_comm_config), 0, 0, 0, 0, 0, 0, 0, 0, RF_SCHEDULE_DEFAULT, 0, 0,  \
			0, 0, 0, 0, 0, RF_STEERING_DEFAULT, RF_CHOICE_DEFAULT, 0,                  \
			RF_FALLBACK_DEFAULT                                                        \
	}

/*
 * Collective: returns when all ranks have called it. With the box: all ranks join a group there,
 * then verify the path with an all-reduce of known values.
 *
 * A context may have several communicators. With the first one the process joins the job: its rank
 * and number of ranks, root, port, job and key are those of the job until the last one is
 * destroyed, and later configs need not repeat them. The first one is complete when all processes
 * of the job have called this function, each for whatever communicator it is a rank of. So every
 * process must make at least one.
 *
 * Errors: RF_ERR_RANK_MISSING (names them), RF_ERR_RANK_TAKEN, RF_ERR_BOOTSTRAP, RF_ERR_MISMATCH
 * (ranks disagree about the number of ranks, MTU, members or settings), RF_ERR_RANK_LOST,
 * RF_ERR_BOX_SILENT, RF_ERR_BOX_REFUSED (at once, if the box has no room), RF_ERR_STEERING,
 * RF_ERR_TIMEOUT (the result of the check did not arrive in time), RF_ERR_TRANSPORT, RF_ERR_DEVICE,
 * RF_ERR_ABORTED (on another rank), RF_ERR_NO_MEMORY, RF_ERR_INVALID.
 */
int rf_comm_create(struct rf_context *ctx, const struct rf_comm_config *config,
		   struct rf_comm **comm);

/*
 * Collective over the ranks of comm: makes a communicator for each color, of the ranks that give
 * it, in the order of their keys, and of their ranks where keys are equal. Its settings are those
 * of comm. A rank with a negative color gets none: *part is NULL. name: as in rf_comm_config, or
 * NULL. Errors: as rf_comm_create(), and RF_ERR_GROUP_FAILED on all ranks if comm has failed on
 * one.
 */
int rf_comm_split(struct rf_comm *comm, int color, int key, const char *name,
		  struct rf_comm **part);

/*
 * Collective, bounded: outstanding requests end with RF_ERR_ABORTED, and the box releases the
 * group. Waits at most the timeout for the other ranks to arrive, so that they receive everything
 * they need, then returns RF_OK. With the last communicator of a context the process leaves the
 * job: it waits, bounded as well, for the other processes to do so. NULL is allowed.
 */
int rf_comm_destroy(struct rf_comm *comm);

/*
 * As rf_comm_create(), but returns at once: a thread of the library makes the communicator, and
 * calls the config's allgather. What the config points to is copied. With RF_PROGRESS_MANUAL, too,
 * packets move while it works. Errors: RF_ERR_INVALID, RF_ERR_NO_MEMORY, RF_ERR_SYSTEM; all others
 * come from rf_comm_created().
 */
int rf_comm_icreate(struct rf_context *ctx, const struct rf_comm_config *config,
		    struct rf_creation **creation);

/* The timeout of a waiting call that has no limit of its own: (unsigned int)-1. */
#define RF_WAIT_FOREVER 0xffffffffu

/*
 * Waits for a communicator that is being made, at most timeout_ms milliseconds; RF_WAIT_FOREVER:
 * without a limit of its own. RF_IN_PROGRESS: not ready yet. Otherwise the result of
 * rf_comm_create(), and the creation is released.
 */
int rf_comm_created(struct rf_creation *creation, unsigned int timeout_ms, struct rf_comm **comm);

/*
 * Gives up what is being made, and releases the creation: RF_OK, also for one that has failed. The
 * other ranks that wait for this one get RF_ERR_ABORTED; those that come later, or that have passed
 * this one by, RF_ERR_RANK_MISSING when their timeout has passed. RF_ERR_BUSY: it is too late, and
 * the object has to be taken. Returns within moments; only while a process waits for the store of
 * rank 0, that is in the first communicator of a context, it takes up to the timeout. NULL is
 * allowed.
 */
int rf_creation_cancel(struct rf_creation *creation);

/* Rank and number of ranks in the communicator. */
unsigned int rf_comm_rank(const struct rf_comm *comm);
unsigned int rf_comm_ranks(const struct rf_comm *comm);

/*
 * Ends a communicator on all ranks. On this rank outstanding calls end with RF_ERR_ABORTED at once,
 * and later ones with RF_ERR_GROUP_FAILED. The others are notified: their outstanding calls, or
 * their next one, end with RF_ERR_ABORTED. It must still be destroyed.
 */
int rf_comm_abort(struct rf_comm *comm);

#define RF_RANKS_MAX 128u /* 8 ports of 16 lanes */
#define RF_BOXES_MAX 64u  /* of a tree */
#define RF_LAG_BINS 28u

/* Which ranks were last, as measured by the box; see rf_comm_stragglers(). */
struct rf_stragglers {
	size_t size; /* sizeof(struct rf_stragglers), set by the caller */
	unsigned int ranks;
	int awaited;             /* the rank that the others wait for now; -1: none */
	unsigned int awaited_ms; /* how long they have been waiting */
	uint64_t measurements;   /* indexes for which the box has measured who came last */
	uint64_t sum_us; /* total lag of the last rank after the first, over all measurements */
	/* Histogram: lags below 1 us (bin 0), from 2^(k-1) to below 2^k us (bin k). */
	uint64_t bin[RF_LAG_BINS];
	struct {
		uint32_t times;   /* measurements in which this rank was last */
		uint32_t most_us; /* largest lag of this rank */
	} rank[RF_RANKS_MAX];
};

/*
 * Asks the box which rank completed last since the communicator was created, and by how much. Any
 * rank may ask at any time. Lags of a second or more are all included. Shorter ones are sampled:
 * one index of one group at a time. Source: docs/firmware.md, "Who is last". Errors: RF_ERR_INVALID
 * (also if the communicator does not use the box), RF_ERR_BOX_SILENT, RF_ERR_BOX_REFUSED (the box
 * has forgotten the group).
 */
int rf_comm_stragglers(struct rf_comm *comm, struct rf_stragglers *stragglers);

/* The place of a rank in the box. */
struct rf_rank_place {
	unsigned int port;
	unsigned int lane;
};

/*
 * The order in which a communicator adds. With it and the inputs the same bits can be computed
 * elsewhere.
 */
struct rf_order {
	size_t size; /* sizeof(struct rf_order), set by the caller: RF_ORDER_INIT */
	enum rf_schedule schedule;
	unsigned int ranks;
	unsigned int mtu;                         /* payload bytes per packet */
	struct rf_rank_place place[RF_RANKS_MAX]; /* of each rank; unused for the ring */
	/*
	 * A tree of boxes: how many there are; 0: one, and the members below are unused. Box 0 is
	 * the root; the number of every other box is higher than that of its parent. Each box adds
	 * its operands in its fixed order, rounds the sum to the type, and is one operand of its
	 * parent, at a place that no rank of the parent has.
	 */
	unsigned int boxes;
	unsigned char box[RF_RANKS_MAX]; /* of each rank: the one in which it has its place */
	struct {
		unsigned int parent;
		struct rf_rank_place place; /* there */
	} above[RF_BOXES_MAX];              /* of each box; that of box 0 is unused */
};

#define RF_ORDER_INIT                                                                              \
	{                                                                                          \
		sizeof(struct rf_order), RF_SCHEDULE_DEFAULT, 0, 0,                                \
		{                                                                                  \
			{                                                                          \
				0, 0                                                               \
			}                                                                          \
		},                                                                                 \
			0, {0},                                                                    \
		{                                                                                  \
			{                                                                          \
				0,                                                                 \
				{                                                                  \
					0, 0                                                       \
				}                                                                  \
			}                                                                          \
		}                                                                                  \
	}

/*
 * Fills *order up to order->size bytes. The order is fixed once rf_comm_create() has returned,
 * unless a fallback changes it. Errors: RF_ERR_INVALID (also if the size has no room for all
 * ranks).
 */
int rf_comm_order(const struct rf_comm *comm, struct rf_order *order);

/*
 * Computes on this machine, bit for bit, the result of rf_allreduce(): inputs[r] is the send buffer
 * of rank r, `count` elements each; 0 is allowed. With the box, rf_reduce() and rf_reduce_scatter()
 * have the same bits. `out` may be one of the inputs. order->size must cover the places of all its
 * ranks, and the whole struct if it describes a tree. Source: docs/reduction.md; for the ring and
 * for trees docs/api.md. Errors: RF_ERR_INVALID, also for a tree in which a box has no operand or a
 * parent that is not before it.
 */
int rf_order_apply(const struct rf_order *order, enum rf_type type, enum rf_op op,
		   const void *const *inputs, void *out, size_t count);

/* Bytes of one element; 0 for an unknown type. */
size_t rf_type_size(enum rf_type type);
/* "fp32", "sum": static; "unknown" for other values. */
const char *rf_type_name(enum rf_type type);
const char *rf_op_name(enum rf_op op);

/* ---- requests -------------------------------------------------------------------------------
 */

/* Returns RF_IN_PROGRESS, or the result; then the request is released. Never waits. */
int rf_test(struct rf_request *request);

/*
 * As rf_test(), but waits up to timeout_ms milliseconds first; RF_WAIT_FOREVER: until the
 * communicator's own deadline. After RF_IN_PROGRESS rf_last_error_text() reports how long there has
 * been no progress, which ranks the box is waiting for, and when it last heard from them. The call
 * continues.
 */
int rf_wait(struct rf_request *request, unsigned int timeout_ms);

/*
 * Waits for one of n requests of one context, at most timeout_ms milliseconds; RF_WAIT_FOREVER:
 * without a limit of its own. NULL entries are skipped. Returns the result of a request that has
 * completed: its place in the array is in *index, and its entry becomes NULL, because it is
 * released. RF_IN_PROGRESS: none has completed. RF_ERR_INVALID: there is no request, or they are of
 * several contexts.
 */
int rf_wait_any(struct rf_request **requests, unsigned int n, unsigned int timeout_ms,
		unsigned int *index);

/*
 * Waits for all of n requests of one context, at most so long. NULL entries are skipped. RF_OK: all
 * were successful, or there was none. RF_IN_PROGRESS: some are not complete; none is released, so
 * no result is lost. Otherwise the status of the first one in the array that has failed. When all
 * have completed the entries become NULL, because the requests are released.
 */
int rf_wait_all(struct rf_request **requests, unsigned int n, unsigned int timeout_ms);

/*
 * A descriptor for poll() and the like: readable exactly while a request of this context has
 * completed and has not been released, so that rf_test(), rf_wait() or rf_wait_any() return its
 * result at once. It belongs to the library and lasts as long as the context: neither read nor
 * close it. With RF_PROGRESS_MANUAL it changes only inside calls. Errors: RF_ERR_INVALID,
 * RF_ERR_SYSTEM.
 */
int rf_completion_fd(struct rf_context *ctx, int *fd);

/*
 * Gives a request to the library: when it has completed it is released, and done(arg, status, text)
 * is called, once. text describes a failure, as rf_last_error_text() does, and is valid until the
 * function returns. No other call on the request is allowed any more.
 *
 * Callbacks of a context are called one after another in the order of completion, by the progress
 * thread or by any thread that is in a call on the context; if the request has completed already,
 * also before rf_on_completion() returns. A callback may start calls and test requests; it must not
 * wait, create or destroy. rf_comm_destroy() returns after the callbacks of its requests. Errors:
 * RF_ERR_INVALID (also with a fallback); the request then stays the caller's.
 */
int rf_on_completion(struct rf_request *request,
		     void (*done)(void *arg, int status, const char *text), void *arg);

#ifdef __cplusplus
}
#endif

#endif
