/*
 * Internals of the public API (host/include/ringfold/ringfold.h): the objects and the locking
 * rules. What a rank does in a group is in host/member; here are the lock, the threads, the
 * settings, the store's connection and the errors.
 *
 * A context's lock protects everything in it, except the store, which has a lock of its own: a
 * gather can take long, and threads wait for their gathers without the context's lock.
 * io->ops->wait() and wake() are called without any lock.
 *
 * Whoever moves packets (the progress thread, or a caller in manual mode) calls rf_round() under
 * the lock. Callers that wait sleep on `cond`, which is signalled whenever a request, a group or a
 * membership has changed.
 *
 * Members without RF_GUARDED_BY do not change once the object is shared, or are objects with rules
 * of their own. tests/lint/guard.sh checks the rest.
 */
#ifndef RF_API_H
#define RF_API_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "base/guard.h"
#include "host/api/ranges.h"
#include "host/back/verbs.h"
#include "host/config/log.h"
#include "host/io/io.h"
#include "host/member/fallback.h"
#include "host/member/member.h"
#include "host/member/pair_verbs.h"
#include "host/roce/endpoint.h"
#include "host/store/store.h"
#include "wire/pcapng.h"
#include "ringfold/ringfold.h"

#define RF_TEXT_MAX 2048u
/* Of a context: 64 communicators, each with a second group. */
#define RF_GROUPS_MAX 128u
#define RF_NAME_ROOM (RF_NAME_MAX + 1u)
#define RF_NS_PER_MS UINT64_C(1000000)
#define RF_NEVER UINT64_MAX
/* How often the store is polled, and the longest sleep of the progress thread. */
#define RF_STORE_POLL_NS (20 * RF_NS_PER_MS)

/* rf_context.lock */
RF_LOCK_CLASS(rf_context_class);
#define RF_LOCKED RF_GUARDED_BY(rf_context_class)

/* The pieces of a batch, and the vector that contains them all. */
struct rf_batch {
	size_t n, size; /* pieces; bytes of an element */
	char *vector;
	struct rf_piece pieces[];
};

/* A collective call, as its caller has made it. */
struct rf_comm_call {
	/* counts: the caller's until the call is started; then the request's */
	struct rf_directed_call c;
	bool is_v; /* has counts */
	bool average;
	/* gatherv, scatterv: the root's counts travel first, and `own` is what this rank expects */
	bool counts_first;
	uint64_t own;
	bool touched; /* the processor reads or writes a buffer, whatever carries the call */
	struct rf_batch *batch; /* its operands, owned by the call; NULL: it is none */
	/* of its buffers; 0: not used */
	size_t send_bytes, recv_bytes;
	/* of all blocks: the same on all ranks, unless the counts are known to the root alone */
	size_t all_bytes;
};

/* What a request waits for before its call is started. */
enum rf_request_stage {
	RF_STAGE_STARTED,
	RF_STAGE_HELD,   /* for an earlier one that is held */
	RF_STAGE_COUNTS, /* for the root's counts */
};

/* In the form of a call (docs/collective.md): what its type and operation do not say. */
#define RF_FORM_AVERAGE UINT64_C(1)
#define RF_FORM_BATCH (UINT64_C(1) << 33)
#define RF_FORM_PIECES_LSB 1

struct rf_request {
	struct rf_group *group; /* in whose list it is */
	/* the one that carries its call: this or the larger one. NULL: not chosen yet */
	struct rf_group *carrier RF_LOCKED;
	bool large RF_LOCKED; /* it counts among the large calls that are outstanding */
	bool done RF_LOCKED;
	bool told RF_LOCKED; /* its completion has been made known (complete.c) */
	int status RF_LOCKED;
	struct rf_comm_call call RF_LOCKED;
	enum rf_request_stage stage RF_LOCKED;
	uint64_t *counts RF_LOCKED; /* its own copy; NULL: all blocks are equal */
	void (*callback)(void *arg, int status, const char *text) RF_LOCKED;
	void *callback_arg RF_LOCKED;
	struct rf_request *next RF_LOCKED; /* whose callback is called after this one's */
	/* where its buffers are registered, and memory of the library for it; NULL: nowhere */
	struct rf_mem *mem[3] RF_LOCKED;
};

enum rf_mem_kind {
	RF_MEM_CALL,   /* until the calls that use it are done */
	RF_MEM_CACHED, /* kept for later calls */
	RF_MEM_HANDLE, /* the program's */
};

/* Registered memory. */
struct rf_mem {
	struct rf_range range; /* first */
	struct rf_context *ctx;
	enum rf_mem_kind kind;
	bool write;                   /* the NIC may write there */
	bool host;                    /* the processor can read it */
	struct rf_verbs_mem *nic;     /* NULL: our own transport needs none */
	unsigned int users RF_LOCKED; /* buffers of outstanding requests in it */
	uint64_t used_at RF_LOCKED;   /* number of its last use */
};

#define RF_MEM_CACHED_MAX 1024u
#define RF_MEM_SEEN 64u

struct rf_memory {
	struct rf_ranges ranges; /* of struct rf_mem, all kinds */
	unsigned int n_handles, n_cached;
	uint64_t bytes_cached;
	uint64_t uses;
	uint64_t registrations, hits; /* of rf_stats */
	/* Pages of buffers that were memory of the process at their first use. last 0: none */
	struct rf_mem_seen {
		uintptr_t first, last;
	} seen[RF_MEM_SEEN];
};

/* A callback that is due. */
struct rf_callback {
	void (*done)(void *arg, int status, const char *text);
	void *arg;
	int status;
	struct rf_comm_call call;
	unsigned int ranks;
	char text[RF_TEXT_MAX];
};

/*
 * The connections of a communicator: a directed group at the box, or a ring. A communicator has
 * one, a second one when a ring has taken over, and perhaps a larger one for large calls.
 */
struct rf_group {
	struct rf_comm *comm;
	/* whose requests it carries: its own, or those of the communicator's first group */
	struct rf_group *owner;
	struct rf_group *next RF_LOCKED; /* of the context */
	/* different from that of all other groups of the job; the same on all ranks */
	unsigned int number;
	char lane[RF_STORE_LANE_MAX]; /* of its gathers */
	enum rf_schedule schedule;
	struct rf_member *member;
	unsigned int slots, least;  /* that it asks for at the box */
	bool room_soon;             /* a rank has ended a group shortly before: room may come */
	bool joined RF_LOCKED;      /* it has a place at the box */
	struct rf_pair_roce roce;   /* its connections, ... */
	struct rf_pair_verbs verbs; /* ... or these, when the context uses a NIC */
	uint64_t changes RF_LOCKED; /* of the member, seen last */
	uint64_t said_at RF_LOCKED; /* moved_at of the member when it was said that a call waits */
	bool said_left RF_LOCKED;   /* that this rank makes no more calls */
	struct rf_order order RF_LOCKED;
	/* work */
	struct rf_request requests[RF_REQUESTS_MAX];
	uint64_t used RF_LOCKED; /* a bit per request */
	unsigned int outstanding RF_LOCKED;
	/* requests that are not started yet, in the order of the calls: places in requests[] */
	uint8_t held[RF_REQUESTS_MAX] RF_LOCKED;
	unsigned int held_first RF_LOCKED, n_held RF_LOCKED;
	/* without the box */
	struct rf_fallback_state *resume RF_LOCKED; /* NULL: the group has no fallback */
	void *copies[2] RF_LOCKED;                  /* operands of the last calls, for it */
	struct rf_group *ring RF_LOCKED;            /* the ring group that has taken over */
	int status RF_LOCKED;                       /* 0, or why the group is unusable */
	int announce RF_LOCKED; /* a failure that the other ranks must still learn about; 0: none */
	/* a call has returned the status: later ones report an earlier failure */
	bool reported RF_LOCKED;
	char text[RF_TEXT_MAX] RF_LOCKED;
};

/* In what call a rank of the job was when it said that it waits. */
struct rf_waits {
	uint64_t at;    /* 0: it has not said so */
	char text[160]; /* "communicator "a", all-reduce of fp32, sum (call 3, index 17)" */
};

/* The processes that may be ranks of communicators, and their store. */
struct rf_job {
	unsigned int rank, ranks;
	uint64_t number;
	uint8_t key[RF_CTL_KEY_BYTES];
	unsigned int timeout_ms;
	struct rf_store *store; /* NULL for one rank */
	struct rf_store_server *server;
	struct rf_member_peer peers[RF_RANKS_MAX];
};

enum rf_job_state {
	RF_JOB_NONE,
	RF_JOB_CHANGING, /* one thread makes or ends it, and uses it without the lock */
	RF_JOB_UP,       /* it does not change */
};

enum rf_large_state {
	RF_LARGE_NONE,   /* the first group carries all calls */
	RF_LARGE_MAKING, /* the same, and the larger one is being made */
	RF_LARGE_USED,   /* it carries the large calls from number `from` on */
};

/* The larger group of a communicator (large.c). */
struct rf_large {
	unsigned int slots; /* wanted; 0: large calls get no group of their own */
	enum rf_large_state state RF_LOCKED;
	struct rf_group *group RF_LOCKED; /* only while it is used */
	uint32_t started RF_LOCKED;       /* large calls: their numbers begin at 1 */
	uint32_t from RF_LOCKED;          /* USED: the first that it carries; NONE: that makes it */
	uint32_t refused RF_LOCKED;       /* attempts in a row that were in vain */
	unsigned int outstanding RF_LOCKED; /* large calls, of either group */
	uint64_t used_at RF_LOCKED;         /* when a large call last began or ended */
	/* requests that wait until the ranks have agreed: places in requests[] of the first group
	 */
	bool holding RF_LOCKED;
	uint8_t held[RF_REQUESTS_MAX] RF_LOCKED;
	unsigned int held_first RF_LOCKED, n_held RF_LOCKED;
	/* the thread that makes it and gives it back */
	bool thread_on RF_LOCKED, thread_over RF_LOCKED;
	pthread_t thread;
	bool ending RF_LOCKED; /* the communicator is being destroyed */
	atomic_bool cancel;
};

struct rf_comm {
	struct rf_context *ctx;
	struct rf_comm *next RF_LOCKED;
	char name[RF_NAME_ROOM];
	char lane[16]; /* of its gathers */
	unsigned int rank, ranks;
	uint8_t member[RF_RANKS_MAX]; /* the job's rank of each of its ranks */
	uint8_t set[16];              /* the same as a set */
	struct rf_member_peer peers[RF_RANKS_MAX];
	unsigned int timeout_ms, box_timeout_ms;
	enum rf_schedule schedule;
	uint32_t box_ip;
	/* of its group at the box */
	unsigned int slots;
	enum rf_steering steering;
	enum rf_fallback fallback;
	uint16_t flags;              /* RF_CTL_J_* flags that are settings */
	bool have_box_mac RF_LOCKED; /* learnt by an earlier group */
	uint8_t box_mac[6] RF_LOCKED;
	/* what carries its calls, and what carries the large ones: launch.c chooses */
	struct rf_group *group;
	struct rf_large large;
	unsigned int splits RF_LOCKED;
	uint64_t destroyed_at RF_LOCKED; /* rf_comm_destroy() was called; 0: not yet */
	/* a group has failed: do not wait long for the others any more */
	bool troubled RF_LOCKED;
	int status RF_LOCKED; /* 0, or RF_ERR_RANK_LOST: no group of it can continue */
	char text[RF_TEXT_MAX] RF_LOCKED;
};

struct rf_context {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	atomic_uint callers;    /* API callers waiting for the lock: the thread yields to them */
	struct rf_io *io;       /* NULL: no device */
	struct rf_verbs *verbs; /* the connections are a NIC's; NULL: our own transport, over io */
	struct roce_endpoint *ep;
	struct rf_log log;
	struct rf_pcapng *pcap;
	uint32_t ip;
	uint32_t gateway; /* on the way to the box; 0: none, or the connections are a NIC's */
	unsigned int mtu;
	uint64_t retry_ns;
	uint64_t spin_ns;
	uint64_t reg_cache; /* most bytes that stay registered without being used */
	uint32_t window;
	bool manual;
	bool thread_on;
	pthread_t thread;
	atomic_bool stop;
	unsigned int rank, ranks; /* of the config; ranks 0: rank is the environment's */
	enum rf_job_state job_state RF_LOCKED;
	struct rf_job job;
	unsigned int n_comms RF_LOCKED;     /* those that are being made included */
	unsigned int n_creations RF_LOCKED; /* of rf_comm_icreate() */
	struct rf_comm *comms RF_LOCKED;
	struct rf_group *groups RF_LOCKED;             /* of all communicators */
	struct rf_waits waits[RF_RANKS_MAX] RF_LOCKED; /* by the job's rank */
	uint64_t store_due RF_LOCKED;                  /* next look at the store */
	unsigned int next_number RF_LOCKED;            /* of groups of one rank */
	/* when the box had no room, 0: it had; its answer then, and when a group last left it */
	uint64_t full_at RF_LOCKED;
	uint32_t full_box RF_LOCKED;
	unsigned int full_slots RF_LOCKED; /* for so many and more; fewer may be free */
	char full_text[RF_TEXT_MAX] RF_LOCKED;
	uint64_t freed_at RF_LOCKED;
	uint32_t next_qpn RF_LOCKED;
	uint64_t round_at RF_LOCKED;        /* last round */
	uint64_t link_due RF_LOCKED;        /* next look at the link */
	uint64_t link_seen RF_LOCKED;       /* when it was last up */
	unsigned int outstanding RF_LOCKED; /* requests of all groups, and memberships being made */
	/* completions: requests that wait to be taken, and those whose callback is due */
	int event_fd RF_LOCKED; /* -1: nobody has asked for it */
	bool event_set RF_LOCKED;
	unsigned int n_told RF_LOCKED;
	struct rf_request *called RF_LOCKED;
	struct rf_request **called_end RF_LOCKED;
	atomic_uint n_called;
	bool delivering RF_LOCKED; /* a thread calls callbacks */
	uint64_t calls RF_LOCKED;
	uint64_t call_bytes RF_LOCKED;
	struct rf_memory memory RF_LOCKED;
	atomic_ullong sleeps;
	unsigned int forks;                     /* of this process when the context was made */
	struct roce_qp_counters past RF_LOCKED; /* of destroyed queue pairs */
};

/* ---- lock.c: the lowest file. A file uses those that stand before it here. ---- */

/* ns of the monotonic clock */
uint64_t rf_now(void);
/* Fills buf with random bytes. */
void rf_random(void *buf, size_t len);

/* Ends the capture. What was lost is logged. */
void rf_context_pcap_end(struct rf_context *ctx);

/* For API callers: the progress thread gives way. */
void rf_lock(struct rf_context *ctx) RF_ACQUIRES(rf_context_class);
void rf_unlock(struct rf_context *ctx) RF_RELEASES(rf_context_class);

/*
 * The text of this thread's last failure. An error is the calling thread's own: the progress thread
 * has none.
 */
extern _Thread_local char rf_error_text[RF_TEXT_MAX];
/* Records a text and returns status. With the lock or without. */
int rf_fail(struct rf_context *ctx, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* Records that an argument is NULL, and returns RF_ERR_INVALID. Needs no context. */
int rf_null(const char *name);
/*
 * The first thing in every public call: 0, or RF_ERR_INVALID if ctx is NULL, or in a process that
 * has inherited the context from its parent by fork(). Its threads and locks are not there, and its
 * connections belong to the parent.
 */
int rf_usable(struct rf_context *ctx);
/* For a new context: makes rf_usable() notice a fork. */
unsigned int rf_forks_now(void);

/* ---- memory.c. Under the lock. ---- */

/* The buffers of a call; one of 0 bytes is not there. */
struct rf_buffers {
	const void *send;
	size_t send_bytes;
	void *recv;
	size_t recv_bytes;
};

/* The NIC reads and writes them: they are registered, unless they lie in registered memory. */
#define RF_MEM_NIC 1u
/* The processor reads or writes one of them: they cannot be a device's memory. */
#define RF_MEM_TOUCHED 2u

/*
 * Before the library or a NIC uses the buffers of a request: checks that they are memory of this
 * process, or a device's that is registered, and keeps registered memory as long as the request
 * needs it. how: RF_MEM_... On error nothing is held, and the text is recorded.
 */
int rf_request_mem_take(struct rf_request *request, const struct rf_buffers *buffers,
			unsigned int how) RF_REQUIRES(rf_context_class);
/* Only the check, of buffers that the processor copies. */
int rf_mem_check(struct rf_context *ctx, const struct rf_buffers *buffers)
	RF_REQUIRES(rf_context_class);
/* The same with memory of the library that the NIC reads and writes. */
int rf_request_mem_own(struct rf_request *request, void *addr, size_t bytes)
	RF_REQUIRES(rf_context_class);
/* The request does not use its buffers any more. May be called again. */
void rf_request_mem_drop(struct rf_request *request) RF_REQUIRES(rf_context_class);
/* Frees everything, with the context. */
void rf_mem_end(struct rf_context *ctx);

/* ---- complete.c. All under the lock. ---- */

/* A request has completed, or needs a caller: makes it known. */
void rf_request_tell(struct rf_request *request) RF_REQUIRES(rf_context_class);
/* It has been taken, and is free. */
void rf_request_taken(struct rf_request *request) RF_REQUIRES(rf_context_class);
/* Counts a call that has completed successfully. */
void rf_comm_call_done(struct rf_context *ctx, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class);
/* Marks a request as done. */
void rf_request_done(struct rf_request *request, int status) RF_REQUIRES(rf_context_class);

/* ---- check.c ---- */

/* Formats of the texts about an argument that has no name: its number, and what is allowed. */
#define RF_UNKNOWN_TYPE "type %u does not exist: use one of enum rf_type"
#define RF_UNKNOWN_OP "operation %u does not exist: use one of enum rf_op"

/*
 * Checks a call, and fills in what follows from its arguments. Returns NULL, or what is wrong with
 * them; why[RF_TEXT_MAX] has room for that.
 */
const char *rf_comm_call_check(const struct rf_comm *comm, struct rf_comm_call *call, char *why);
/* Whether it has no element on any rank. All ranks come to the same conclusion. */
bool rf_comm_call_is_empty(const struct rf_comm *comm, const struct rf_comm_call *call);
/* The call of a communicator of one rank: a copy. */
void rf_comm_call_copy(const struct rf_comm_call *call);
/*
 * When the result has arrived: makes an average of the sum, and gives the results of a batch to
 * their places. Takes long.
 */
void rf_comm_call_finish(const struct rf_comm_call *call, unsigned int ranks);

/* ---- launch.c. All under the lock. ---- */

/* Starts the call of a request, or holds it until those before it are started. */
int rf_request_launch(struct rf_request *request) RF_REQUIRES(rf_context_class);
/* The ranks have agreed which group carries large calls: starts what has waited for that. */
void rf_comm_release(struct rf_comm *comm) RF_REQUIRES(rf_context_class);
/* The communicator has failed: so do the requests that wait for such an agreement. */
void rf_comm_drop_held(struct rf_comm *comm) RF_REQUIRES(rf_context_class);
/* Starts what can be started of those that are held; ends them if the group has failed. */
void rf_group_pump(struct rf_group *group) RF_REQUIRES(rf_context_class);
/* The counts of a request have arrived, or not. */
void rf_request_counted(struct rf_request *request, int status) RF_REQUIRES(rf_context_class);

/* ---- events.c. All under the lock. ---- */

/* Tells the other ranks of its failure, unless they know; again later, if the store is busy. */
void rf_group_announce(struct rf_group *group) RF_REQUIRES(rf_context_class);
/* Handles the events of the member. */
void rf_group_events(struct rf_group *group) RF_REQUIRES(rf_context_class);
/*
 * Ends a group with a status, and notifies the other ranks if `announce` is set. Only the first
 * call has an effect.
 */
void rf_group_fail(struct rf_group *group, bool announce, int status, const char *format, ...)
	__attribute__((format(printf, 4, 5))) RF_REQUIRES(rf_context_class);
/* Progress of one group, and its events. Returns how many things were done. */
unsigned int rf_group_progress(struct rf_group *group, uint64_t now) RF_REQUIRES(rf_context_class);

/* ---- waits.c: who waits in which call. All under the lock. ---- */

/* 'communicator "name"', or "communicator number 3"; "communicator" for one of one rank. */
#define RF_COMM_TEXT (RF_NAME_ROOM + 24u)
const char *rf_comm_text(const struct rf_comm *comm, char text[RF_COMM_TEXT]);
/*
 * Tells the other processes in which calls this one has waited for half of their timeout, and which
 * communicators it has destroyed.
 */
void rf_waits_say(struct rf_context *ctx, uint64_t now) RF_REQUIRES(rf_context_class);
/* Another process has said so. */
void rf_waits_heard(struct rf_context *ctx, unsigned int process, const char *text)
	RF_REQUIRES(rf_context_class);
/*
 * What the other ranks of a group have said within its timeout, for the text of a timeout: "; rank
 * 1 waits in ...", or "". room: RF_WAITS_TEXT.
 */
#define RF_WAITS_TEXT 1400u
void rf_waits_text(const struct rf_group *group, char *text, size_t room)
	RF_REQUIRES(rf_context_class);

/* ---- listen.c ---- */

/* Drains store events, and announces what this rank has to. Only while the job is up. */
void rf_job_listen(struct rf_context *ctx) RF_REQUIRES(rf_context_class);

/* ---- round.c. Under the lock. ---- */

/* Makes all progress that is possible now. Returns how many things were done. */
unsigned int rf_round(struct rf_context *ctx) RF_REQUIRES(rf_context_class);
/* When rf_round() must be called again even if nothing arrives. */
uint64_t rf_next_timeout(const struct rf_context *ctx) RF_REQUIRES(rf_context_class);

/* ---- wait.c ---- */

/*
 * Sleeps until something changes, at most until `until`. In manual mode it makes progress itself.
 * The lock is released meanwhile. Returns false once `until` has passed.
 */
bool rf_sleep(struct rf_context *ctx, uint64_t until) RF_REQUIRES(rf_context_class);
/*
 * A gather of the ranks of comm: values[rank * len]. In the lane of comm, or of a group. Makes
 * progress meanwhile. An error's text is recorded.
 */
int rf_comm_gather(struct rf_comm *comm, const char *lane, const char *name, const void *value,
		   size_t len, void *values, unsigned int timeout_ms) RF_EXCLUDES(rf_context_class);
/*
 * Set in a thread that makes an object for rf_..._icreate(): the flag that cancels it. NULL
 * elsewhere.
 */
extern _Thread_local const atomic_bool *rf_cancel;
/* Whether this thread's work is cancelled. */
bool rf_cancelled(void);
/* The rank whose value is the k-th in a gather of comm's ranks: in the order of the job's ranks. */
unsigned int rf_comm_rank_at(const struct rf_comm *comm, unsigned int k);
/* Takes part in any gather of the job. As rf_comm_gather(), but in the order of the job's ranks. */
int rf_job_gather(struct rf_context *ctx, const struct rf_store_gather *g, void *values)
	RF_EXCLUDES(rf_context_class);

/* ---- deliver.c ---- */

/* Calls the callbacks that are due, unless another thread is doing so. */
void rf_deliver(struct rf_context *ctx) RF_EXCLUDES(rf_context_class);
/* The same, and waits until no thread is in a callback. */
void rf_deliver_all(struct rf_context *ctx) RF_EXCLUDES(rf_context_class);

/* ---- progress.c ---- */

void *rf_progress_thread(void *ctx);

/* ---- backend.c ---- */

/*
 * Logs the choice of back end. If verbs is chosen, fills *verbs and *io and returns 1. Returns 0
 * for DPDK, negative with a text on error.
 */
int rf_backend_open(struct rf_log *log, const char *device, const char *ip_text, unsigned int mtu,
		    struct rf_verbs **verbs, struct rf_io **io, char *why, size_t room);

/* ---- context.c ---- */

/*
 * Creates a context over a given device, and owns the device from then on, also on failure. ip: 0
 * for none. Called by tests and by rf_context_create().
 */
int rf_context_create_io(const struct rf_context_config *config, struct rf_io *io, uint32_t ip,
			 struct rf_context **out);
/* The same with the connections of a NIC (NULL: none), which it also owns. */
int rf_context_create_on(const struct rf_context_config *config, struct rf_io *io,
			 struct rf_verbs *verbs, uint32_t ip, struct rf_context **out);

/* ---- bootstrap.c ---- */

/*
 * Rank 0 serves the store, and all ranks learn by the config's allgather() where: root and *port. A
 * root that is not "", and a port that is not 0, stay as they are. Text in why[room].
 */
#define RF_ROOT_ROOM 256u
int rf_bootstrap(struct rf_job *job, const struct rf_comm_config *config, char root[RF_ROOT_ROOM],
		 uint64_t *port, char *why, size_t room);
/* An IPv4 address of this machine by which others may reach it; 0: there is none. */
uint32_t rf_outward_address(void);

/* ---- job.c ---- */

/*
 * The job is up when this returns 0, and stays so until rf_job_drop(): the first caller makes it,
 * together with the other processes. config: NULL for the environment's settings. Errors as of
 * rf_comm_create(), recorded.
 */
int rf_job_take(struct rf_context *ctx, const struct rf_comm_config *config)
	RF_EXCLUDES(rf_context_class);
/*
 * The last one that has taken the job ends it: waits at most so long for the other processes, and
 * closes the store.
 */
void rf_job_drop(struct rf_context *ctx, unsigned int timeout_ms) RF_EXCLUDES(rf_context_class);

/* ---- call.c. Under the lock. ---- */

/* Starts a call that has been checked. On error the text is recorded. */
int rf_request_start(struct rf_group *group, const struct rf_comm_call *call,
		     struct rf_request **request) RF_REQUIRES(rf_context_class);
/* Carries a call out that has been checked, of a communicator of one rank. */
int rf_comm_call_alone(struct rf_comm *comm, const struct rf_comm_call *call)
	RF_REQUIRES(rf_context_class);
/* The same, with a request that is done. */
int rf_request_alone(struct rf_comm *comm, const struct rf_comm_call *call,
		     struct rf_request **request) RF_REQUIRES(rf_context_class);
/* Returns the result of a completed request and releases it. May release the lock meanwhile. */
int rf_request_take(struct rf_request *request) RF_REQUIRES(rf_context_class);
/* There is something to send. Without the lock, too. */
void rf_kick(struct rf_context *ctx);

/* ---- many.c ---- */

/* Waits for a request and takes it. until: RF_NEVER for the group's own deadline. */
int rf_request_wait(struct rf_request *request, uint64_t until) RF_REQUIRES(rf_context_class);

/* ---- room.c: what is known of the box's room. All under the lock. ---- */

/*
 * The ranks meet for the first time, by name, and get a number for the group. RF_ERR_BOX_REFUSED if
 * one of them remembers that the box has no room. The lock is released meanwhile.
 */
int rf_group_meet(struct rf_group *group) RF_REQUIRES(rf_context_class);
/* A group could not be made: remembers it, if the box had no room. */
void rf_room_refused(struct rf_group *group) RF_REQUIRES(rf_context_class);
/* A group ends, and so does what is remembered. */
void rf_room_freed(struct rf_group *group) RF_REQUIRES(rf_context_class);

/* ---- group.c ---- */

/* What kind of group to make. */
struct rf_group_want {
	enum rf_schedule schedule;
	const char *lane; /* in addition to that of the communicator; "" for none */
	/* at the box; fewer than `least` slots are refused */
	unsigned int slots, least;
	/* a mirror rank asks for the port that this group has; NULL: the box chooses */
	const struct rf_group *like;
};

/* Makes a group of comm, together with its other ranks. On error the text is recorded. */
int rf_group_make(struct rf_comm *comm, const struct rf_group_want *want, struct rf_group **out)
	RF_EXCLUDES(rf_context_class);
/* Leaves and releases everything of a group, whatever its state. */
void rf_group_end(struct rf_group *group, bool together) RF_EXCLUDES(rf_context_class);

/* ---- large.c ---- */

/* Under the lock, after a call has been started: begins to make the larger group if it needs one.
 */
void rf_large_wanted(struct rf_comm *comm) RF_REQUIRES(rf_context_class);
/* Before the communicator is destroyed: gives the larger group back, together with the others. */
void rf_large_end(struct rf_comm *comm) RF_EXCLUDES(rf_context_class);

/* ---- fallback.c: the driver of host/member/fallback.h ---- */

/* Both under the lock, which is released meanwhile. */

/* Carries out a call that the box did not complete. */
void rf_group_resume(struct rf_group *group, struct rf_request *request)
	RF_REQUIRES(rf_context_class);
/* Before a group is destroyed: helps the others finish their last call. */
void rf_group_finish(struct rf_group *group) RF_REQUIRES(rf_context_class);

/* ---- leave.c ---- */

/* Ends a group as its program wants it: outstanding calls, callbacks, its ring. NULL is allowed. */
void rf_group_leave(struct rf_group *group) RF_EXCLUDES(rf_context_class);

/* ---- collectives.c: the public calls; both forms of one ---- */

int rf_comm_run(struct rf_comm *comm, struct rf_comm_call *call);
int rf_comm_start(struct rf_comm *comm, struct rf_comm_call *call, struct rf_request **request);

/* ---- settings.c ---- */

/* Reads the settings of a communicator from its config and the environment. */
int rf_comm_settings(struct rf_comm *comm, const struct rf_comm_config *config, char *why,
		     size_t room);
/* "mirror" */
const char *rf_steering_name(enum rf_steering steering);

/* ---- comm.c ---- */

/*
 * Makes a communicator of the job, which the caller has taken for it. members: the job's ranks,
 * NULL for all. why_so: why its schedule is what it is, NULL: by the environment. Drops the job and
 * frees the communicator on failure, whose text is recorded.
 */
int rf_comm_make(struct rf_comm *comm, const unsigned int *members, unsigned int n,
		 const char *why_so, struct rf_comm **out) RF_EXCLUDES(rf_context_class);

#endif
