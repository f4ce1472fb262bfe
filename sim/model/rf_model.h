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

/* Numbers of types and of operations. */
#define RF_MODEL_TYPES 10u
#define RF_MODEL_OPS 7u

#endif
