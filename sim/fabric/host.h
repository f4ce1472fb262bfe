/* Internals of a host, shared by its source files. */
#ifndef RF_SIM_FABRIC_HOST_H
#define RF_SIM_FABRIC_HOST_H

#include "host/collective/collective.h"
#include "host/control/client.h"
#include "host/roce/endpoint.h"
#include "sim/fabric/internal.h"

#define RF_HOST_VLAN_TCI 0x0064u

struct rf_op {
	void *send;
	void *recv;
	uint64_t count;
	uint64_t posted_ns;
	uint64_t done_ns;
	bool done;
};

struct rf_step {
	enum rf_step_kind kind;
	uint64_t arg;
};

struct rf_host {
	struct rf_fabric *f;
	unsigned rank;
	struct rf_rank pub;
	struct rf_link *up;
	struct roce_endpoint *ep;
	struct rf_client client;
	bool has_client;
	struct roce_qp *to_next;
	struct roce_qp *from_prev;
	struct rf_coll *coll;
	void *scratch;
	struct rf_place *places;
	/* program */
	struct rf_step *steps;
	size_t step_count;
	size_t step_room;
	size_t at;
	uint64_t step_until; /* ns: end of COMPUTE; 0: not begun */
	struct rf_op *ops;
	size_t op_room;
	unsigned barriers; /* passed */
	bool at_barrier;
	bool leaving;
	bool counted; /* included in f->active */
	/* error */
	bool inquest;
	uint64_t inquest_until;
	enum rf_rank_error inquest_error;
	char inquest_text[sizeof(((struct rf_rank *)0)->text)];
	/* time */
	uint64_t wake;         /* ps of the next valid event; UINT64_MAX: none */
	uint64_t frozen_until; /* ns */
	uint64_t started_ns;   /* start of this process */
	struct rf_frame *ring;
	struct rf_frame **ring_end;
	unsigned ring_count;
	struct rf_frame *held;       /* ACK that may be replaced by a newer one */
	struct roce_qp_counters old; /* of destroyed queue pairs */
};

static inline uint64_t rf_host_ns(const struct rf_host *h)
{
	return rf_fabric_ns(h->f);
}

/* Number of an operation, which selects its inputs: different after each restart. */
static inline unsigned rf_host_op_key(const struct rf_host *h, unsigned op)
{
	return h->pub.life << 16 | op;
}

static inline uint64_t rf_host_join_at(const struct rf_host *h)
{
	return h->started_ns + h->f->cfg.join_at[h->rank];
}

static inline bool rf_host_ended(const struct rf_host *h)
{
	return h->pub.state >= RF_RANK_DONE;
}

/* The rank to which this one sends, or the one from which it receives. */
static inline unsigned rf_host_neighbour(const struct rf_host *h, bool next)
{
	unsigned size = rf_fabric_size(&h->f->cfg);
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);

	return first + (h->rank - first + (next ? 1 : size - 1)) % size;
}

/* host.c */
void rf_host_mac(unsigned rank, uint8_t mac[6]);
void rf_host_set_active(struct rf_host *h, bool active);
__attribute__((format(printf, 3, 4))) void rf_host_fail(struct rf_host *h, enum rf_rank_error error,
							const char *format, ...);

/* nic.c */
bool rf_nic_holds(struct rf_host *h, const uint8_t *data, size_t len);

/* job.c: connections and membership. */
uint32_t rf_host_qpn(unsigned life, unsigned rank, bool to_next);
/* PSN of index 0. */
uint32_t rf_host_start_psn(const struct rf_fabric *f, unsigned life, unsigned rank);
/* Packets that the rank may have in flight. */
unsigned rf_host_window(const struct rf_host *h);
int rf_host_connect(struct rf_host *h);
void rf_host_disconnect(struct rf_host *h);
void rf_host_join(struct rf_host *h);
void rf_host_look_at_client(struct rf_host *h);
/* A connection has ended: the box may know why. The rank fails when the box has answered. */
void rf_host_inquest(struct rf_host *h, enum rf_rank_error error, const char *text);

/* program.c: steps and all-reduces. */
void rf_host_look_at_collective(struct rf_host *h);
void rf_host_free_ops(struct rf_host *h);
/* Checks operations that are not done: whatever they received must be correct or untouched. */
void rf_host_judge_unfinished(struct rf_host *h);
/* Runs one step; false if it has to wait. */
bool rf_host_next_step(struct rf_host *h);
void rf_host_look_at_end(struct rf_host *h);

#endif
