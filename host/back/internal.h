/* Internals of the verbs back end. */
#ifndef RF_VERBS_INTERNAL_H
#define RF_VERBS_INTERNAL_H

#include "base/guard.h"
#include "host/back/lib.h"
#include "host/back/verbs.h"

/* rf_verbs.lock */
RF_LOCK_CLASS(rf_verbs_class);

struct rf_verbs_mem {
	struct rf_verbs *v;
	struct rf_verbs_mem *next; /* in the list of those in use, or of those that are dropped */
	const char *addr;
	size_t len;
	bool write;
	bool used;       /* messages may be posted in it: it is in v->mems */
	bool dropped;    /* it is deregistered when the last message in it has completed */
	uint32_t posted; /* messages in it that are under way */
	struct ibv_mr *mr;
};

/* A work request of a queue pair; its number is its place. */
struct rf_verbs_wr {
	uint64_t id; /* the message's */
	struct rf_verbs_mem *mem;
	uint32_t next; /* free place */
	bool posted;
};

struct rf_verbs_qp {
	struct rf_verbs *v;
	struct rf_verbs_qp *next RF_GUARDED_BY(rf_verbs_class);
	struct ibv_cq *cq; /* for this queue pair only: its depth bounds how many completions can
			      wait there */
	struct ibv_qp *qp; /* NULL: destroyed, because it did not return its work requests */
	/* an event will report the next completion */
	bool armed RF_GUARDED_BY(rf_verbs_class);
	uint32_t posted;
	uint64_t progress;
	int status;              /* enum roce_wc_status of the first failure */
	uint32_t n_wrs, free_wr; /* n_wrs: no place is free */
	struct rf_verbs_wr wrs[];
};

struct rf_verbs {
	const struct rf_ibv *f;
	struct rf_verbs_cfg cfg;
	struct ibv_context *context;
	struct ibv_pd *pd;
	struct ibv_comp_channel *channel;
	uint8_t port, gid_index;
	union ibv_gid gid;
	uint32_t ip;
	char netdev[32];
	uint8_t mac[6];
	char text[256];
	pthread_mutex_t lock;
	struct rf_verbs_qp *qps RF_GUARDED_BY(rf_verbs_class);
	struct rf_verbs_mem *mems;    /* in use, newest first */
	struct rf_verbs_mem *dropped; /* messages in them are still under way */
};

/*
 * The region for a message in these bytes, and its key: one in use that contains them, writable for
 * a receive. It stays registered until rf_verbs_mem_put(). NULL: there is none.
 */
struct rf_verbs_mem *rf_verbs_mem_get(struct rf_verbs *v, const void *buf, uint32_t len, bool write,
				      uint32_t *lkey);
/* The message has completed. NULL is allowed. */
void rf_verbs_mem_put(struct rf_verbs_mem *mem);
/* No queue pair is left: deregisters everything. */
void rf_verbs_mem_end(struct rf_verbs *v);

#endif
