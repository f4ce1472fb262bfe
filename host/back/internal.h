/* Internals of the verbs back end. */
#ifndef RF_VERBS_INTERNAL_H
#define RF_VERBS_INTERNAL_H

#include "base/guard.h"
#include "host/back/lib.h"
#include "host/back/verbs.h"

/* rf_verbs.lock */
RF_LOCK_CLASS(rf_verbs_class);

struct rf_verbs_mem {
	struct rf_verbs_mem *next;
	const char *addr;
	size_t len;
	bool write;
	struct ibv_mr *mr;
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
	int status; /* enum roce_wc_status of the first failure */
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
	struct rf_verbs_mem *mems;
};

#endif
