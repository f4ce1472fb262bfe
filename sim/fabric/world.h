/*
 * Collectives of one or two directed groups of the same ranks in virtual time, on the transport
 * itself: hosts with our own queue pairs, links, a switch, and the box (docs/simulation.md). No
 * firmware and no control packets: the group is written into the box's registers. Every result is
 * compared in full with what the definition of the collective and docs/reduction.md say.
 *
 *	rf_world_cfg_init(&cfg);
 *	rf_world_create(&cfg, &w, why, sizeof(why));
 *	rf_world_call(w, &call);
 *	rf_world_run(w, 10 * RF_WORLD_SEC);
 *	rf_world_result(w, &result);
 *	rf_world_destroy(w);
 *
 * The same configuration gives the same events to the picosecond. Times are nanoseconds.
 */
#ifndef RF_SIM_FABRIC_WORLD_H
#define RF_SIM_FABRIC_WORLD_H

#include "host/collective/directed.h"
#include "sim/engine.h"

#define RF_WORLD_RANKS 64u
#define RF_WORLD_CALLS 64u
#define RF_WORLD_GROUPS 2u
#define RF_WORLD_SEC UINT64_C(1000000000)

struct rf_world_cfg {
	const struct rf_engine_ops *engine;
	unsigned ports, lanes, width;
	unsigned ranks;  /* 2 or more; rank r is at port r mod ports */
	unsigned groups; /* 1 or 2: communicators of all ranks, each with its own connections */
	/*
	 * Mirror connections: the switch has no rule. Otherwise a ring: frames of a host go to the
	 * rank's box port by rule.
	 */
	bool mirror;
	bool router; /* mirror: hosts and box are in different subnets, with a router between */
	bool selective;
	unsigned mtu;
	unsigned slots;
	/* 0: single packets; else as rf_directed_cfg: an all-reduce of `type`, `op` */
	unsigned message_packets;
	enum rf_arith_type type;
	enum rf_arith_op op;
	unsigned max_ops;
	uint64_t rate;                         /* bits per second of every link ... */
	uint64_t rate_of_rank[RF_WORLD_RANKS]; /* ... except these; 0: the same */
	uint64_t delay_ns;                     /* of every link, each direction */
	uint64_t switch_ns;                    /* from last bit in to first bit out */
	uint64_t switch_buffer; /* bytes queued for one port before frames are lost */
	/* A frame that finds more bytes than this queued gets a CE mark; 0: the switch never marks
	 */
	uint64_t mark_bytes;
	double loss;             /* probability, of every frame on a host's link */
	uint64_t ack_timeout_ns; /* of the hosts, doubled up to 64 times */
	bool no_reaction;        /* hosts send packets that cannot be marked: for comparison */
	bool flip;               /* flips one bit of one result, which must be reported */
	uint64_t seed;
};

struct rf_world_call {
	enum rf_collective_kind kind;
	enum rf_arith_type type;
	enum rf_arith_op op;
	uint32_t root;
	uint64_t count; /* elements of the vector, or of each block */
	unsigned group; /* calls of different groups run side by side */
	bool spread;    /* a v-form: blocks of different lengths, up to count */
	bool in_place;
};

struct rf_world_result {
	bool done;           /* at every rank, without error */
	const char *failure; /* text, or NULL */
	uint32_t failed_rank;
	uint64_t compared;                /* bytes */
	uint64_t wrong;                   /* bytes */
	uint64_t call_ns[RF_WORLD_CALLS]; /* from the first start to the last end */
	uint64_t end_ns;
	/* Longest queue at the switch towards each host, and frames lost for lack of room. */
	uint64_t queue_max[RF_WORLD_RANKS];
	uint64_t switch_dropped;
	uint64_t marked; /* by the switch */
	uint64_t cnps;   /* made by hosts */
	uint64_t cuts;   /* windows halved */
	uint64_t packets, repeats, acks, timeouts;
	uint64_t frames_lost;
};

struct rf_world;

void rf_world_cfg_init(struct rf_world_cfg *cfg);
/* Returns 0, or -1 with a reason of at most room bytes in why. */
int rf_world_create(const struct rf_world_cfg *cfg, struct rf_world **out, char *why, size_t room);
void rf_world_destroy(struct rf_world *w);
/* Adds a call of all ranks. 0, or -1: too many, or no memory. */
int rf_world_call(struct rf_world *w, const struct rf_world_call *call);
/* Runs until all calls are done and acknowledged, or failed: 1. Or until that time: 0. */
int rf_world_run(struct rf_world *w, uint64_t until_ns);
/* Compares the results. */
void rf_world_result(struct rf_world *w, struct rf_world_result *r);
/* A counter of a port of the box (RF_CNT_*), and ERROR registers: of the first group that has one.
 */
uint32_t rf_world_counter(struct rf_world *w, unsigned port, unsigned counter);
uint32_t rf_world_error(struct rf_world *w);

#endif
