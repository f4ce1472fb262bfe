/*
 * The connections of a rank in its group. At a box: one to the next rank of the ring, on which it
 * sends, and one from the previous rank, on which it receives. Without a box: such a pair for each
 * distance 1, 2, 4, ..., and each connection is used in both directions (host/collective/hosts.h).
 * The machine of a member (member.h) sees them only through these operations; there is one
 * implementation over our own transport (rf_pair_roce) and one over a NIC (pair_verbs.h).
 *
 * The owner of a pair makes its queue pair numbers before the member starts, because the other
 * ranks have to know them, and frees it after the member is destroyed.
 */
#ifndef RF_MEMBER_PAIR_H
#define RF_MEMBER_PAIR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "host/collective/msg.h"
#include "host/roce/endpoint.h"

/* Work requests that each connection takes at a time. */
#define RF_PAIR_DEPTH 256u
/* Partial sums; the check of the path. */
#define RF_PAIR_MEMORIES 2u
/* Distances beyond the neighbours: 2, 4, ... up to 64. */
#define RF_PAIR_FAR 6u

/* The other end of a connection. */
struct rf_pair_peer {
	uint8_t mac[6];
	uint32_t ip, qpn;
	uint32_t psn; /* the first one that this rank expects from it */
};

/* The numbers of the queue pairs at one distance. */
struct rf_pair_numbers {
	uint32_t send_qpn; /* to the rank after this one */
	uint32_t recv_qpn; /* to the rank before it */
};

/* The ranks at distance 2^(k + 1) after and before this one. */
struct rf_pair_far {
	struct rf_pair_peer next[RF_PAIR_FAR], prev[RF_PAIR_FAR];
	unsigned int count;
};

struct rf_pair_cfg {
	struct rf_pair_peer next, prev;
	/* NULL: at a box. Else each connection is used in both directions. */
	const struct rf_pair_far *far;
	uint32_t start_psn; /* of the first packet that this rank sends */
	uint32_t window;    /* packets in flight; our own transport keeps it, a NIC does not */
	bool selective;     /* packets are accepted in any order */
	bool single;        /* directed group: each message is a packet (struct roce_qp_cfg) */
	/* One connection, to the box: `next` is its port, and both channels are this connection. */
	bool mirror;
};

struct rf_pair;

struct rf_pair_ops {
	/*
	 * Chooses the numbers of `count` pairs beyond the neighbours' (rf_pair.numbers). Once,
	 * before connect(). Returns 0, or a negative enum rf_status with a text.
	 */
	int (*reach)(struct rf_pair *p, unsigned int count, char *why, size_t room);
	/*
	 * Connects all; sets the channels. Only this operation and reach() may allocate. Errors as
	 * above.
	 */
	int (*connect)(struct rf_pair *p, const struct rf_pair_cfg *cfg, char *why, size_t room);
	/*
	 * Makes the machine's own memory known to the connections, at most RF_PAIR_MEMORIES at a
	 * time: only there, and in the buffers of calls, may they read and write. Errors as above.
	 * drop_memory() before it is freed; disconnect() drops all. NULL, both: nothing to be done.
	 */
	int (*add_memory)(struct rf_pair *p, void *addr, size_t len, char *why, size_t room);
	void (*drop_memory)(struct rf_pair *p, const void *addr);
	/* A counter that increases as long as packets or messages move. */
	uint64_t (*moved)(const struct rf_pair *p);
	/* Whether packets have arrived that had not passed through the box. */
	bool (*bypassed)(const struct rf_pair *p);
	/* Ends all: afterwards they use no buffer any more. May be called in any state. */
	void (*stop)(struct rf_pair *p);
	/* Destroys all. May be called in any state, and again. */
	void (*disconnect)(struct rf_pair *p);
};

struct rf_pair {
	const struct rf_pair_ops *ops;
	struct rf_msg to_next, from_prev; /* once connected */
	struct rf_msg far_next[RF_PAIR_FAR], far_prev[RF_PAIR_FAR];
	struct rf_pair_numbers numbers[RF_PAIR_FAR]; /* after reach() */
	bool counts_window; /* the connections keep the window themselves */
};

/* What is the same for all pairs of an interface. Our own transport. */
struct rf_pair_roce_cfg {
	struct roce_endpoint *ep;
	uint8_t mac[6];
	uint32_t ip;
	bool has_vlan;
	uint16_t vlan_tci;
	unsigned int mtu;
	uint64_t ack_timeout, ack_timeout_max; /* ns */
	uint8_t retry_cnt;
	struct roce_qp_counters *sum; /* the counters of ended queue pairs are added here */
};

struct rf_pair_roce {
	struct rf_pair base;
	struct rf_pair_roce_cfg cfg;
	uint32_t send_qpn, recv_qpn;
	struct roce_qp *to_next, *from_prev; /* NULL until connected */
	struct roce_qp *far_next[RF_PAIR_FAR], *far_prev[RF_PAIR_FAR];
};

/* All that a rank can have. */
#define RF_PAIR_QPS (2u + 2u * RF_PAIR_FAR)

/* The queue pairs get these numbers when the member connects them; further ones follow from them.
 */
void rf_pair_roce_init(struct rf_pair_roce *p, const struct rf_pair_roce_cfg *cfg,
		       uint32_t send_qpn, uint32_t recv_qpn);
/* Those that exist, each once. Returns how many. */
unsigned int rf_pair_roce_qps(const struct rf_pair_roce *p, struct roce_qp *qps[RF_PAIR_QPS]);
/*
 * The number of the queue pair at distance 2^(k + 1), of one with this number at distance 1.
 * Without a store the ranks know each other's numbers by this rule.
 */
uint32_t rf_pair_roce_number(uint32_t qpn, unsigned int k);

#endif
