/* Internals of a host, shared by its source files. */
#ifndef RF_SIM_FABRIC_HOST_H
#define RF_SIM_FABRIC_HOST_H

#include "host/member/fallback.h"
#include "host/member/member.h"
#include "sim/fabric/internal.h"

#define RF_HOST_VLAN_TCI 0x0064u
#define RF_NO_OP UINT32_MAX

struct rf_host_op {
	void *send;
	void *recv;
	struct rf_fabric_call call;
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
	struct rf_member *member; /* NULL before it joins, and after a crash */
	struct rf_pair_roce pair; /* its connections */
	/* without the box */
	struct rf_fallback_state *fallback; /* NULL: none, or not RUNNING yet */
	void *copies[2];                    /* operands of the last calls, for it */
	struct rf_member *ring;             /* that has taken over */
	struct rf_pair_roce ring_pair;
	bool ring_call;   /* a call over the ring is outstanding */
	unsigned resumed; /* operation that the fallback carries out, or RF_NO_OP */
	struct rf_member_end *ends;
	struct rf_place *places;
	/* store */
	unsigned gathers;      /* in which it has taken part */
	bool gather_open;      /* it takes part in the last one */
	uint64_t gather_until; /* ns: deadline of the last one */
	size_t notices;        /* of the store, read */
	uint64_t gone_ns;      /* when its process ended or left; 0: it has not */
	/* program */
	struct rf_step *steps;
	size_t step_count;
	size_t step_room;
	size_t at;
	uint64_t step_until; /* ns: end of COMPUTE; 0: not begun */
	struct rf_host_op *ops;
	size_t op_room;
	unsigned op_of[RF_REQUESTS_MAX]; /* operation of each outstanding call */
	bool flipped;                    /* cfg.flip: done */
	unsigned barriers;               /* passed */
	bool at_barrier;
	bool leaving;
	bool counted; /* included in f->active */
	/* time */
	uint64_t wake;           /* ps of the next valid event; UINT64_MAX: none */
	uint64_t frozen_until;   /* ns */
	uint64_t started_ns;     /* start of this process */
	struct rf_frame *frames; /* that the NIC stores */
	struct rf_frame **frames_end;
	unsigned frame_count;
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

static inline unsigned rf_host_neighbour(const struct rf_host *h, bool next)
{
	return rf_fabric_neighbour(&h->f->cfg, h->rank, next);
}

/* A file uses those that stand before it here. */

/* wake.c */
void rf_host_mac(unsigned rank, uint8_t mac[6]);
void rf_host_set_active(struct rf_host *h, bool active);
/* Schedules a check at a time in ps. */
void rf_host_wake_at(struct rf_host *h, uint64_t ps);

/* nic.c */
bool rf_nic_holds(struct rf_host *h, const uint8_t *data, size_t len);

/* store.c: the store of a job in virtual time. */
/* Takes part in gathers, and hands over what the store has for this rank. */
void rf_host_store_look(struct rf_host *h);
/* When the store has something for this rank, ns. */
uint64_t rf_host_store_next(const struct rf_host *h);
/* number: of the group that has failed. */
void rf_host_announce(struct rf_host *h, unsigned number, int status, const char *text);

/* result.c */
/* A call has succeeded. */
void rf_host_op_done(struct rf_host *h, unsigned op);
void rf_host_free_ops(struct rf_host *h);
/* Checks operations that are not done: whatever they received must be correct or untouched. */
void rf_host_judge_unfinished(struct rf_host *h);

/* member.c: configuration, also of a ring that takes over. */
uint32_t rf_host_qpn(unsigned life, unsigned rank, bool to_next);
/* PSN of index 0. */
uint32_t rf_host_start_psn(const struct rf_fabric *f, unsigned life, unsigned rank);
/* Packets that the rank may have in flight. */
unsigned rf_host_window(const struct rf_host *h);
struct rf_member_end rf_host_numbers(const struct rf_host *h, unsigned rank);
struct rf_member_cfg rf_host_member_cfg(const struct rf_host *h);
void rf_host_pair_init(struct rf_host *h, struct rf_pair_roce *pair,
		       const struct rf_member_end *own);

/* end.c */
/* Frees the members and sends nothing, as the end of a process does. */
void rf_host_forget(struct rf_host *h);
/* Calls that have not ended. */
unsigned rf_host_calls(const struct rf_host *h);
/* Leaves the ring, then the group; true once both are left. */
bool rf_host_leave_members(struct rf_host *h);
/* The program ends: RF_RANK_FAILED or RF_RANK_CRASHED. */
void rf_host_end(struct rf_host *h, enum rf_rank_state state);
void rf_host_fail(struct rf_host *h, int status, const char *text);

/* resume.c: a ring that takes over from the box. */
/* The member is RUNNING. */
void rf_host_fallback_create(struct rf_host *h);
/* Carries out an operation that the box did not complete. */
void rf_host_resume(struct rf_host *h, unsigned op);
/* Runs the ring and the machine. */
void rf_host_look_at_fallback(struct rf_host *h);
/* Helps the other ranks with their last call, then leaves; true once it has left. */
bool rf_host_leave(struct rf_host *h);

/* job.c: the member of a host. */
void rf_host_join(struct rf_host *h);
/* Runs the member, and takes over what it reports. */
void rf_host_look_at_member(struct rf_host *h);

/* program.c */
/* Runs one step; false if it has to wait. */
bool rf_host_next_step(struct rf_host *h);
void rf_host_look_at_end(struct rf_host *h);

#endif
