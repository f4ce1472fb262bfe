/*
 * Extensions of the reference model beyond sim/engine.h, for tests: bounds that are not reached in
 * ordinary runs, and deliberate faults that a comparison must find.
 */
#ifndef RF_MODEL_H
#define RF_MODEL_H

#include "rf_regs.h"
#include "sim/engine.h"

/* Deliberate faults, one at a time. */
enum rf_model_mutant {
	RF_MODEL_SOUND = 0,
	RF_MODEL_MUTANT_TREE,     /* ports added one after another, not as a tree */
	RF_MODEL_MUTANT_NAN,      /* NaN is not made canonical if no addition happened */
	RF_MODEL_MUTANT_STALE,    /* a repeat is not checked again when its pass is issued */
	RF_MODEL_MUTANT_BEHALF,   /* ACK on behalf carries una, not una - 1 */
	RF_MODEL_MUTANT_SILENT,   /* silence for what the receiver has acknowledged */
	RF_MODEL_MUTANT_WINDOW,   /* one slot more than exists */
	RF_MODEL_MUTANT_SHIFT,    /* the PSN shift is not added back to ACKs */
	RF_MODEL_MUTANT_ICRC,     /* the ICRC of input frames is not checked */
	RF_MODEL_MUTANT_BEYOND,   /* ACKs of packets that were never sent are accepted */
	RF_MODEL_MUTANT_ACKREQ,   /* no AckReq at every eighth of the slots */
	RF_MODEL_MUTANT_REPEAT,   /* a repeat requests an ACK only if its first sending did */
	RF_MODEL_MUTANT_DISAGREE, /* opcodes and lengths of the ranks are not compared */
	RF_MODEL_MUTANT_COUNTER,  /* gaps are counted as pending */
	RF_MODEL_MUTANT_SOURCE,   /* port and source address are not checked */
	RF_MODEL_MUTANT_PAD,      /* pad bytes of results are not cleared */
	RF_MODEL_MUTANT_NAK_NEXT, /* a NAK carries next, not una: it acknowledges the lost packet */
	RF_MODEL_MUTANT_NAK_ROOM, /* a NAK is made without room */
	/* Mirror connections. */
	RF_MODEL_MUTANT_LOOKUP,     /* a mirror entry is found by frames to any address */
	RF_MODEL_MUTANT_UNKNOWN,    /* a packet to a port that is in no entry is returned */
	RF_MODEL_MUTANT_WRONG_PORT, /* a frame for another port's address is taken */
	/* Directed groups. */
	RF_MODEL_MUTANT_EMPTY,    /* an empty packet counts as zeros */
	RF_MODEL_MUTANT_WANTS,    /* the result is sent to those who do not want it, too */
	RF_MODEL_MUTANT_TAG,      /* kind, call and hash are not compared */
	RF_MODEL_MUTANT_COPY,     /* a copy goes through the output step */
	RF_MODEL_MUTANT_ORDER,    /* the index in the immediate is not compared */
	RF_MODEL_MUTANT_PAD_KEPT, /* a result has the pad count of its receiver's own packet */
	/* Uplinks: each breaks the rule of this name in docs/box.md. */
	RF_MODEL_MUTANT_UP_WINDOW,     /* packets go up without a window */
	RF_MODEL_MUTANT_UP_ONE,        /* one packet for each rank goes up */
	RF_MODEL_MUTANT_AGAIN_LOOK,    /* a resend is not looked at when its pass is issued */
	RF_MODEL_MUTANT_PASS_HOLDS,    /* a pass up does not hold tail */
	RF_MODEL_MUTANT_RESULT_OLD,    /* what has come back before is written again */
	RF_MODEL_MUTANT_RESULT_UNSENT, /* a result of what was never sent is stored */
	RF_MODEL_MUTANT_PASS_ON,       /* results that come down are summed with the operands */
	RF_MODEL_MUTANT_SKIPPED_ONCE,  /* what a result skips is not sent again */
	RF_MODEL_MUTANT_FILLS_NEXT,    /* a result that fills a hole asks for nothing */
	RF_MODEL_MUTANT_NAK_RUN,       /* only the index that a NAK names is sent again */
	RF_MODEL_MUTANT_ACK_GOT,       /* an ACK names the highest result */
	RF_MODEL_MUTANT_ACK_NONE,      /* an ACK is sent before anything has come back */
	RF_MODEL_MUTANT_TICK_ACK,      /* no ACK on the TICK */
	RF_MODEL_MUTANT_TICK_PROBE,    /* no probe on the TICK */
	RF_MODEL_MUTANT_TICK_ONE,      /* on the TICK everything that is missing is sent again */
	RF_MODEL_MUTANTS,
};

/* Name of a mutant ("tree"), NULL beyond the last. */
const char *rf_model_mutant_name(unsigned int mutant);

/* Bounds of the box (docs/model.md). Zero means the default, except as noted. */
struct rf_model_bounds {
	unsigned int ingress_bytes; /* capacity of a port's ingress FIFO */
	unsigned int foreign_beats; /* pass-through FIFO of a port */
	unsigned int ack_depth;     /* waiting ACKs of a port, forwarded and on behalf together */
	unsigned int repeat_depth;  /* waiting repeats of a port */
	unsigned int punt_depth;    /* punted frames of a port that wait for the firmware */
};

/* Sets the bounds of a box made by rf_model_engine()->create(), before its first frame. */
void rf_model_set_bounds(struct rf_engine *e, const struct rf_model_bounds *bounds);
/*
 * Advances a group as if every index below had been sent and acknowledged: millions of packets
 * at once. The group must be idle.
 */
void rf_model_move(struct rf_engine *e, unsigned int group, uint32_t index);
/* Injects a fault into the box. */
void rf_model_set_mutant(struct rf_engine *e, enum rf_model_mutant mutant);

/*
 * Uplinks: docs/box.md, "Groups with an uplink". What rf_model_set_uplink() does can be done by the
 * registers of base/uplink_regs.h too. START, SRC_IP, QPN and PEER_MAC of the uplink's place and
 * its entry in the connection table are always written by registers, as those of a mirror
 * connection.
 */
struct rf_model_uplink {
	unsigned int port, lane; /* its place, which is not in MEMBERS */
	uint32_t window;         /* indexes beyond `got` that may be sent */
	uint16_t sport;          /* UDP source port */
	uint8_t dscp;
};

/* Its counters, one for each port. */
enum rf_model_up_counter {
	RF_MODEL_UP_RESULT,        /* the next result: stored */
	RF_MODEL_UP_RESULT_AHEAD,  /* a later result: stored */
	RF_MODEL_UP_RESULT_OLD,    /* it has come back before */
	RF_MODEL_UP_RESULT_UNSENT, /* it was never sent up */
	RF_MODEL_UP_NAK,           /* NAK of the parent */
	RF_MODEL_UP_OTHER,         /* own ACK returned, and what else needs no answer */
	RF_MODEL_UP_STALE,         /* resends discarded */
	RF_MODEL_UP_ACK_FULL,      /* ACKs not made, for lack of room */
	RF_MODEL_UP_TX,            /* packets sent up for the first time */
	RF_MODEL_UP_TX_AGAIN,      /* resends */
	RF_MODEL_UP_TX_PROBE,      /* resends caused by TICK */
	RF_MODEL_UP_TX_ACK,        /* ACKs to the parent */
	RF_MODEL_UP_COUNTERS,
};

struct rf_model_up_state {
	uint32_t up, got, seen, acked, head, tail, issued;
};

/* Gives a group an uplink, or takes it away (NULL), before LIVE is written. The group is directed.
 */
void rf_model_set_uplink(struct rf_engine *e, unsigned int group, const struct rf_model_uplink *up);
/* Makes one connection selective, in a group that is not. */
void rf_model_set_selective(struct rf_engine *e, unsigned int cid, bool selective);
uint32_t rf_model_up_counter(const struct rf_engine *e, unsigned int port,
			     enum rf_model_up_counter counter);
void rf_model_up_state(const struct rf_engine *e, unsigned int group, struct rf_model_up_state *s);

/*
 * What the box takes in at most, bits per second over all inputs; 0: no limit. docs/box.md, "A
 * limit on what is taken in".
 */
void rf_model_set_processing(struct rf_engine *e, uint64_t rate);

/* Numbers of types and of operations. */
#define RF_MODEL_TYPES 10u
#define RF_MODEL_OPS 7u

#endif
