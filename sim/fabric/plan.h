/*
 * A run derived from one seed: topology, sizes, groups, link faults, misbehaving hosts, and events
 * during the run. The plan states which failures it allows, so a run can be judged:
 *
 *	rf_plan_make(&p, seed, &shape);
 *	if (!rf_plan_run(&p, &result))
 *		result.text says what is wrong
 */
#ifndef RF_SIM_FABRIC_PLAN_H
#define RF_SIM_FABRIC_PLAN_H

#include "sim/fabric/fabric.h"

#define RF_PLAN_EVENTS 24u
#define RF_PLAN_OPERATIONS 8u

/* What a run may contain: X(name, description). Counted for a run only if it actually happened. */
#define RF_PLAN_INGREDIENTS(X)                                                                     \
	X(GROUPS, "several groups")                                                                \
	X(LANES, "two ranks of a group on one port")                                               \
	X(LOSS, "frames lost")                                                                     \
	X(DUPLICATE, "frames duplicated")                                                          \
	X(REORDER, "frames out of order")                                                          \
	X(DELAY, "variable delay")                                                                 \
	X(FLIP_FCS, "bits flipped, detected by the FCS")                                           \
	X(FLIP_ICRC, "bits flipped, detected only by the ICRC")                                    \
	X(FLIP_ANY, "bits flipped anywhere, including MAC addresses")                              \
	X(MISADDRESSED, "data stored with a damaged destination MAC")                              \
	X(STRAGGLER, "a straggler of less than 50 ms")                                             \
	X(STRAGGLER_LONG, "a straggler of 1 to 60 s")                                              \
	X(FREEZE, "a process that stops")                                                          \
	X(PAUSE, "a process that stands still for 1 to 30 s")                                      \
	X(PAUSE_EARLY, "the same while its group is created")                                      \
	X(PAUSE_LEASE, "the same for longer than its lease")                                       \
	X(STORE, "ranks that agree through a store and prove the path")                            \
	X(CRASH, "a host that crashes")                                                            \
	X(RESTART, "a host that crashes and starts again")                                         \
	X(CABLE, "a link down, and up again")                                                      \
	X(NO_RULE, "a rule removed from the switch")                                               \
	X(RESET, "the box reset")                                                                  \
	X(FALLBACK, "ranks that continue over a ring without the box")                             \
	X(PSN_WRAP, "PSNs past 2^24")                                                              \
	X(INDEX_22, "indexes past 2^22")                                                           \
	X(INDEX_23, "indexes past 2^23")                                                           \
	X(INDEX_24, "indexes past 2^24")                                                           \
	X(ACKS_LATE, "delayed ACKs")                                                               \
	X(ACKS_COALESCED, "ACKs that cover several packets")                                       \
	X(WINDOW, "a host that ignores the window")                                                \
	X(NONSENSE, "nonsense on a connection, by its own host")                                   \
	X(NONSENSE_FATAL, "nonsense that ends a group")                                            \
	X(NONSENSE_STRANGER, "nonsense on a connection, by another host")                          \
	X(MIRROR, "mirror ranks")                                                                  \
	X(BOTH, "ring and mirror ranks in a group")                                                \
	X(ROUTER, "mirror ranks behind a router")                                                  \
	X(DIRECTED, "directed groups")                                                             \
	X(BESIDE, "directed and ordinary groups side by side")                                     \
	X(LONG, "messages of several packets that an immediate closes")                            \
	X(LENGTHS, "ranks whose messages have different lengths")                                  \
	X(ALL_REDUCE, "all-reduce in a directed group")                                            \
	X(REDUCE, "reduce")                                                                        \
	X(BROADCAST, "broadcast")                                                                  \
	X(REDUCE_SCATTER, "reduce-scatter")                                                        \
	X(ALL_GATHER, "all-gather")                                                                \
	X(GATHER, "gather")                                                                        \
	X(SCATTER, "scatter")                                                                      \
	X(BARRIER, "barrier")                                                                      \
	X(FP32, "fp32")                                                                            \
	X(BF16, "bf16")                                                                            \
	X(FP16, "fp16")                                                                            \
	X(INT32, "int32")                                                                          \
	X(UINT32, "uint32")                                                                        \
	X(INT64, "int64")                                                                          \
	X(UINT64, "uint64")                                                                        \
	X(FP64, "fp64")                                                                            \
	X(INT8, "int8")                                                                            \
	X(UINT8, "uint8")                                                                          \
	X(BITS, "and, or, xor")                                                                    \
	X(SELECTIVE, "selective groups")                                                           \
	X(TRANSPARENT, "transparent groups")                                                       \
	X(RNR, "RNR NAKs while other ranks are late")                                              \
	X(FAILED, "ranks that failed, with a cause")                                               \
	X(AGAIN, "the job restarted on the same box")

enum rf_plan_ingredient {
#define RF_PLAN_X(name, words) RF_PLAN_##name,
	RF_PLAN_INGREDIENTS(RF_PLAN_X)
#undef RF_PLAN_X
		RF_PLAN_INGREDIENT_COUNT
};
/* The description; NULL after the last. */
const char *rf_plan_ingredient(unsigned number);

enum rf_plan_kind {
	RF_PLAN_DO_CRASH,     /* a host ends silently ... */
	RF_PLAN_DO_RESTART,   /* ... and restarts */
	RF_PLAN_DO_FREEZE,    /* a host stops for `ns` */
	RF_PLAN_DO_PAUSE,     /* the same for up to 30 s */
	RF_PLAN_DO_CABLE_OUT, /* a host's link loses everything ... */
	RF_PLAN_DO_CABLE_IN,  /* ... until then */
	RF_PLAN_DO_NO_RULE,  /* from now on the switch does not redirect a host's packets to the box
			      */
	RF_PLAN_DO_RESET,    /* the box is reset */
	RF_PLAN_DO_NONSENSE, /* rank `speaker` sends `nonsense` as if it were `rank` */
};

struct rf_plan_event {
	enum rf_plan_kind kind;
	uint64_t at;
	unsigned rank;
	uint64_t ns;
	unsigned speaker;
	enum rf_nonsense nonsense;
	bool spoof;
};

/* Reasons why ranks may fail. */
enum rf_plan_cause {
	RF_PLAN_BY_NOTHING,
	RF_PLAN_BY_CRASH,
	RF_PLAN_BY_RULE,
	RF_PLAN_BY_RESET,
	RF_PLAN_BY_NONSENSE,
	RF_PLAN_BY_FLIPS, /* bit flips in destination MACs */
	RF_PLAN_BY_PAUSE, /* a process that stood still for longer than its lease */
};

struct rf_plan {
	struct rf_fabric_cfg cfg;
	unsigned operations;
	/*
	 * The operations of directed groups. Those of ordinary groups are all-reduces of as many
	 * elements.
	 */
	struct rf_fabric_call call[RF_PLAN_OPERATIONS];
	unsigned straggler; /* rank that computes before each operation; >= ranks: none */
	uint64_t straggler_ns;
	struct rf_plan_event event[RF_PLAN_EVENTS]; /* ordered by time */
	unsigned events;
	enum rf_plan_cause cause;
	unsigned victim;      /* rank that the cause refers to */
	uint32_t limit_index; /* 2^22, 2^23 or 2^24, if indexes pass it; 0: none */
	bool psn_wraps;
	bool again;     /* restart the job at the end, without faults */
	uint64_t limit; /* ns: everything must have ended by then */
};

struct rf_plan_shape {
	const struct rf_engine_ops *engine;
	unsigned ports, lanes, width;
};

/* Deliberate faults of a run, each of which one of the checks must find: X(name, complaint). */
#define RF_PLAN_MUTANTS(X)                                                                         \
	X(bits, "wrong sums")                                                                      \
	X(raw, "raw data came through")                                                            \
	X(error, "nothing in the plan explains it")                                                \
	X(hasty, "says that a healthy box is silent")                                              \
	X(ring, "has left a healthy box")                                                          \
	X(cause, "not the cause that the plan gives")                                              \
	X(late, "long after the event")                                                            \
	X(text, "without saying why")                                                              \
	X(wait, "still waits")                                                                     \
	X(fewer, "fewer operations")                                                               \
	X(frame, "a frame was never delivered")                                                    \
	X(nic, "NIC has kept a frame")                                                             \
	X(qp, "still waits for an acknowledgement")                                                \
	X(timer, "a timer of a host still runs")                                                   \
	X(vector, "has kept a vector")                                                             \
	X(member, "still in its group")                                                            \
	X(box, "not come to rest")                                                                 \
	X(slots, "marked as used")                                                                 \
	X(table, "connection table")                                                               \
	X(again, "started again")

enum rf_plan_mutant {
	RF_PLAN_SOUND = 0,
#define RF_PLAN_X(name, complaint) RF_PLAN_MUTANT_##name,
	RF_PLAN_MUTANTS(RF_PLAN_X)
#undef RF_PLAN_X
		RF_PLAN_MUTANT_COUNT
};
/* Name of a mutant, NULL after the last; the complaint of the check that finds it. */
const char *rf_plan_mutant_name(unsigned mutant);
const char *rf_plan_mutant_complaint(unsigned mutant);

struct rf_plan_result {
	char text[900]; /* what is wrong */
	uint64_t seen;  /* bit per ingredient */
	struct rf_fabric_stats stats;
};

/* The shape has 2 to 8 ports and enough lanes and slots for at least two ranks. */
void rf_plan_make(struct rf_plan *p, uint64_t seed, const struct rf_plan_shape *shape);
/* Formats the plan as one line. */
void rf_plan_text(const struct rf_plan *p, char *text, size_t room);
/* plan_form.c: how packets find the box and what they say, for a plan that is otherwise drawn. */
void rf_plan_draw_form(struct rf_plan *p);
/* Adapts the events to that. */
void rf_plan_fit_events(struct rf_plan *p);
/* The first call has at least this many packets more, and no blocks. */
void rf_plan_lengthen(struct rf_plan *p, uint32_t packets);
/* Packets that each rank sends in all operations; of the group that sends the fewest. */
uint32_t rf_plan_packets(const struct rf_plan *p);
/* Whether a rank's messages in a call have several packets. */
bool rf_plan_is_long(const struct rf_plan *p, unsigned rank, const struct rf_fabric_call *call);
/* As rf_plan_text(): a part of it. */
void rf_plan_form_text(const struct rf_plan *p, char *text, size_t room);

/* Runs it. Returns false if something is wrong. */
bool rf_plan_run(const struct rf_plan *p, enum rf_plan_mutant mutant,
		 struct rf_plan_result *result);

/* plan_judge.c: NULL, or what is wrong with one rank, in any run. */
const char *rf_plan_judge(const struct rf_plan *p, struct rf_fabric *f, unsigned rank,
			  const struct rf_rank *k, uint32_t misaddressed);

#endif
