/*
 * Internals of the public API (host/include/ringfold/ringfold.h): the objects and the locking
 * rules.
 *
 * A context's lock protects everything in it, with two exceptions. The store of a communicator has
 * its own lock, because a gather can take long (order: store_lock, then lock; the reverse only with
 * trylock). io->ops->wait() and wake() are called without any lock.
 *
 * Whoever moves packets (the progress thread, or a caller in manual mode) calls rf_round() under
 * the lock. Callers that wait sleep on `cond`, which is signalled whenever a request, a group or a
 * membership has changed.
 */
#ifndef RF_API_H
#define RF_API_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "host/store/store.h"
#include "host/collective/collective.h"
#include "host/control/client.h"
#include "host/io/io.h"
#include "wire/pcapng.h"
#include "host/roce/endpoint.h"
#include "host/back/verbs.h"
#include "ringfold/ringfold.h"

#define RF_TEXT_MAX 512u
#define RF_GROUPS_MAX 64u
#define NS_PER_MS UINT64_C(1000000)
#define RF_NEVER UINT64_MAX

struct rf_request {
	struct rf_group *group;
	bool used;
	bool done;
	int status;
	size_t bytes;
	struct rf_verbs_mem *mem[2]; /* verbs: send and receive buffer, one if they are the same */
};

/*
 * What a rank publishes before a group is created: the endpoint of its incoming connection, and
 * settings.
 */
struct rf_peer_end {
	uint32_t qpn;       /* of its receiving queue pair */
	uint32_t start_psn; /* of its sending queue pair */
	uint32_t send_qpn;
};

/* What the box reported about each rank's position. Times in ns of rf_now(), 0: never. */
struct rf_straggler_query {
	bool asking; /* a page was requested */
	uint64_t asked, answered;
	struct rf_ctl_rank rank[RF_RANKS_MAX];
};

/* A copy of an operand, kept in case the box fails. */
struct rf_kept {
	void *copy, *recv;
	size_t count;
};

struct rf_group {
	struct rf_comm *comm;
	struct rf_group *next;
	unsigned int number; /* the same on all ranks */
	enum rf_type type;
	enum rf_op op;
	enum rf_schedule schedule;
	uint64_t timeout_ns;
	unsigned int slots;
	uint16_t flags; /* RF_CTL_J_* flags that are settings */
	/* transport */
	uint32_t send_qpn, recv_qpn, start_psn;
	struct roce_qp *to_next, *from_prev;
	struct rf_verbs_qp *v_next, *v_prev; /* the same when the context uses verbs */
	struct rf_verbs_mem *v_scratch;
	struct rf_coll *coll;
	void *scratch;
	/* the box */
	bool have_client;
	struct rf_client client;
	uint64_t token;
	enum rf_client_state client_state; /* seen last */
	struct rf_order order;
	/* work */
	struct rf_request requests[RF_REQUESTS_MAX];
	unsigned int outstanding;
	uint64_t progress_mark; /* changes when anything arrives or is acknowledged */
	uint64_t progress_time;
	uint64_t fail_due; /* when to fail with the box's reason; 0: it has not reported any */
	bool joining;      /* rf_group_join() handles the client's state */
	bool proving;      /* the path check is running, with its own deadline */
	struct rf_straggler_query straggler;
	/* without the box */
	enum rf_fallback fallback;
	bool up;                   /* made: rf_group_create() has succeeded */
	struct rf_group *stand_in; /* the ring group that has taken over */
	uint32_t n_done;           /* calls that have succeeded */
	struct rf_kept kept[2];    /* of call n: at n mod 2 */
	uint64_t broken_due; /* a connection has ended: until then the box is asked who is late;
				else 0 */
	char broken[256];    /* description of that failure */
	int status;          /* 0, or why the group is unusable */
	bool reported; /* a call has returned the status: later ones report an earlier failure */
	char text[RF_TEXT_MAX];
};

/* A failure on this rank that the other ranks must still learn about. */
struct rf_announce {
	int status;
	char text[RF_STORE_TEXT_MAX];
};

struct rf_peer {
	uint8_t mac[6];
	uint32_t ip;
};

struct rf_comm {
	struct rf_context *ctx;
	unsigned int rank, ranks;
	unsigned int timeout_ms;
	enum rf_schedule schedule;
	uint32_t box_ip;
	bool have_box_mac; /* learnt by an earlier group */
	uint8_t box_mac[6];
	uint64_t job;
	uint8_t key[RF_CTL_KEY_BYTES];
	struct rf_peer peers[RF_RANKS_MAX];
	struct rf_group *groups;
	unsigned int next_number;
	unsigned int barriers;
	/* under store_lock */
	pthread_mutex_t store_lock;
	struct rf_store *store; /* NULL for one rank */
	struct rf_store_server *server;
	/* under the context's lock */
	struct rf_announce announces[4];
	unsigned int n_announces;
	bool troubled;      /* a group has failed: do not wait long for the others any more */
	uint64_t store_due; /* next look at the store */
	int status;         /* 0, or RF_ERR_RANK_LOST: no group of it can continue */
	char text[RF_TEXT_MAX];
};

struct rf_context {
	pthread_mutex_t lock;
	pthread_cond_t cond;
	atomic_uint callers;    /* API callers waiting for the lock: the thread yields to them */
	struct rf_io *io;       /* NULL: no device */
	struct rf_verbs *verbs; /* the connections are a NIC's; NULL: our own transport, over io */
	struct roce_endpoint *ep;
	struct rf_pcapng *pcap;
	uint32_t ip;
	unsigned int mtu;
	uint64_t retry_ns;
	uint64_t spin_ns;
	uint32_t window;
	bool manual;
	bool thread_on;
	pthread_t thread;
	atomic_bool stop;
	struct rf_comm *comm;
	uint32_t next_qpn;
	uint64_t link_due;        /* next look at the link */
	uint64_t link_seen;       /* when it was last up */
	unsigned int outstanding; /* requests of all groups, and memberships being made */
	/* counters of destroyed queue pairs */
	uint64_t reductions, bytes_reduced;
	atomic_ullong sleeps;
	struct roce_qp_counters past;
	char error[RF_TEXT_MAX];
};

/* ns of the monotonic clock */
uint64_t rf_now(void);
/* Fills buf with random bytes. */
void rf_random(void *buf, size_t len);

/* ---- context.c: lock and errors ---- */

/* For API callers: the progress thread gives way. */
void rf_lock(struct rf_context *ctx);
void rf_unlock(struct rf_context *ctx);

/* Records a text under the lock and returns status. */
int rf_fail(struct rf_context *ctx, int status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* The same for a caller that does not hold the lock. */
int rf_fail_unlocked(struct rf_context *ctx, int status, const char *text);

/*
 * Creates a context over a given device, and owns the device from then on, also on failure. ip: 0
 * for none. Called by tests and by rf_context_create().
 */
int rf_context_create_io(const struct rf_context_config *config, struct rf_io *io, uint32_t ip,
			 struct rf_context **out);
/* The same with the connections of a NIC (NULL: none), which it also owns. */
int rf_context_create_on(const struct rf_context_config *config, struct rf_io *io,
			 struct rf_verbs *verbs, uint32_t ip, struct rf_context **out);

/* ---- backend.c ---- */

/*
 * Logs the choice of back end to stderr, once. If verbs is chosen, fills *verbs and *io and returns
 * 1. Returns 0 for DPDK, negative with a text on error.
 */
int rf_backend_open(const char *device, const char *ip_text, unsigned int mtu,
		    struct rf_verbs **verbs, struct rf_io **io, char *why, size_t room);

/*
 * Under the lock: sleeps until something changes, at most until `until`. In manual mode it makes
 * progress itself. The lock is released meanwhile. Returns false once `until` has passed.
 */
bool rf_sleep(struct rf_context *ctx, uint64_t until);

/* ---- progress.c ---- */

/* Makes all progress that is possible now. Returns how many things were done. */
unsigned int rf_round(struct rf_context *ctx);
/* When rf_round() must be called again even if nothing arrives. */
uint64_t rf_next_timeout(const struct rf_context *ctx);
void *rf_progress_thread(void *ctx);

/* ---- comm.c ---- */

/* Drains store events. Caller holds ctx->lock and store_lock. */
void rf_comm_listen(struct rf_comm *comm);
/* A gather that puts the error text into the context. Without any lock. */
int rf_comm_gather(struct rf_comm *comm, const char *name, const void *value, size_t len,
		   void *values, unsigned int timeout_ms);

/* ---- group.c, setup.c, proof.c ---- */

/*
 * Ends a group with a status, and notifies the other ranks if `tell` is set. Under the lock. Only
 * the first call has an effect.
 */
void rf_group_fail(struct rf_group *group, bool tell, int status, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Progress of one group: completions, deadlines, membership. Returns how many things were done. */
unsigned int rf_group_progress(struct rf_group *group, uint64_t now);
uint64_t rf_group_next_timeout(const struct rf_group *group);
/*
 * JOIN and READY. Under the lock, which is released while waiting. Asks for at least `least` slots.
 * Returns RF_IN_PROGRESS with a text if the box has no room, even after retries.
 */
int rf_group_join(struct rf_group *group, const struct rf_peer_end *ends, unsigned int least);
/* LEAVE, bounded. Locking as for rf_group_join(). */
void rf_group_leave(struct rf_group *group);
/* Creates queue pairs that must exist before the ranks exchange data (verbs); under the lock. */
int rf_group_prepare(struct rf_group *group);
/* A counter that increases as long as packets or messages move, for any back end. */
uint64_t rf_group_moved(const struct rf_group *group);
/* Stops the queue pairs: afterwards they use no buffer any more. */
void rf_group_stop(struct rf_group *group);
/* Whether packets have arrived that had not passed through the box. */
bool rf_group_bypassed(const struct rf_group *group);
/* Creates queue pairs and collective; under the lock. */
int rf_group_connect(struct rf_group *group, const struct rf_peer_end *ends);
void rf_group_disconnect(struct rf_group *group);
/* The all-reduce of known values. Without the lock. */
int rf_group_prove(struct rf_group *group);
/* Maps a client's failure to enum rf_status. */
int rf_client_status_of(const struct rf_client *client);

/* ---- stragglers.c: under the lock ---- */

/*
 * Asks the box where each rank stands. False if a query is already in progress, or without a box.
 */
bool rf_straggler_ask(struct rf_group *group, uint64_t now);
/* Processes its answers. */
void rf_straggler_poll(struct rf_group *group, uint64_t now);
/* "; the box waits for rank 2 (...)" if the box was asked, else "". room > 0. */
void rf_straggler_text(const struct rf_group *group, uint64_t now, char *text, size_t room);

/* ---- fallback.c ---- */

int rf_fallback_parse(enum rf_fallback wanted, const char *text, enum rf_fallback *out);
/* Whether a group continues after this failure. */
bool rf_fallback_takes(const struct rf_group *group, int status);
/* Copies the operand of the next call. Under the lock. */
int rf_fallback_keep(struct rf_group *group, const void *send, void *recv, size_t count);
/* Carries out a call that the box did not complete; under the lock, which is released meanwhile. */
void rf_fallback_run(struct rf_group *group, struct rf_request *request);
/* Before a group is destroyed: helps the others finish their last call. Without the lock. */
void rf_fallback_end(struct rf_group *group);

/* ---- meet.c: without the lock ---- */

/*
 * Exchanges the connection endpoints of all ranks and checks that the ranks agree on the settings.
 */
int rf_group_meet(struct rf_group *group, struct rf_peer_end *ends);
/*
 * Every rank reports how a step went. All get the first rank's failure that is a cause, else the
 * first failure, else RF_IN_PROGRESS if any rank reported that.
 */
int rf_group_verdict(struct rf_group *group, const char *step, int status);
/* JOIN of all ranks: for the slots requested, otherwise for the slots available. */
int rf_group_join_all(struct rf_group *group, const struct rf_peer_end *ends);

/* ---- request.c ---- */

/* Under the lock. On error the text is in the context. */
int rf_request_start(struct rf_group *group, const void *send, void *recv, size_t count,
		     struct rf_request **request);
/* Marks a request as done. */
void rf_request_done(struct rf_request *request, int status);
/*
 * Under the lock: waits for a request and takes it. until: RF_NEVER for the group's own deadline.
 */
int rf_request_wait(struct rf_request *request, uint64_t until);

#endif
