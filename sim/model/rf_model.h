/*
 * Extras of the reference model beyond sim/engine.h, for tests: bounds that are out of reach in
 * ordinary runs, and deliberate faults that a comparison must find.
 */
#ifndef RF_MODEL_H
#define RF_MODEL_H

#include "sim/engine.h"

/* Deliberate faults, one at a time. */
enum rf_model_mutant {
	RF_MODEL_SOUND = 0,
	RF_MODEL_MUTANT_TREE,     /* ports added one after another, not as a tree */
	RF_MODEL_MUTANT_NAN,      /* NaN is not made canonical where no addition happened */
	RF_MODEL_MUTANT_STALE,    /* a repeat is not looked at again when its pass is issued */
	RF_MODEL_MUTANT_BEHALF,   /* ACK on behalf carries una, not una - 1 */
	RF_MODEL_MUTANT_SILENT,   /* silence for what the receiver has acknowledged */
	RF_MODEL_MUTANT_WINDOW,   /* one slot more than there is */
	RF_MODEL_MUTANT_SHIFT,    /* ACKs do not get the PSN shift back */
	RF_MODEL_MUTANT_ICRC,     /* ICRC of what comes in is not looked at */
	RF_MODEL_MUTANT_BEYOND,   /* ACKs of what was never sent are believed */
	RF_MODEL_MUTANT_ACKREQ,   /* no AckReq at every eighth of the slots */
	RF_MODEL_MUTANT_REPEAT,   /* a repeat asks for an ACK only where its first sending did */
	RF_MODEL_MUTANT_DISAGREE, /* opcodes and lengths of the ranks are not compared */
	RF_MODEL_MUTANT_COUNTER,  /* gaps are counted as pending */
	RF_MODEL_MUTANT_SOURCE,   /* port and source address are not looked at */
	RF_MODEL_MUTANT_PAD,      /* pad bytes of results are not cleared */
	RF_MODEL_MUTANT_NAK_NEXT, /* a NAK carries next, not una: it acknowledges what is lost */
	RF_MODEL_MUTANT_NAK_ROOM, /* a NAK while there is no room */
	RF_MODEL_MUTANTS,
};

/* Name of a mutant ("tree"), NULL beyond the last. */
const char *rf_model_mutant_name(unsigned int mutant);

/* Bounds of the box (docs/model.md). Zero means the default, except where said. */
struct rf_model_bounds {
	unsigned int ingress_bytes; /* ingress FIFO of a port */
	unsigned int foreign_beats; /* pass-through FIFO of a port */
	unsigned int ack_depth;     /* ACKs that wait at a port, forwarded and on behalf together */
	unsigned int repeat_depth;  /* repeats that wait at a port */
	unsigned int punt_depth;    /* punted frames of a port that wait for the firmware */
};

/* Sets the bounds of a box made by rf_model_engine()->create(), before its first frame. */
void rf_model_set_bounds(struct rf_engine *e, const struct rf_model_bounds *bounds);
/*
 * Moves a group ahead as if every index below had been sent and acknowledged: millions of packets
 * in no time. The group is at rest.
 */
void rf_model_move(struct rf_engine *e, unsigned int group, uint32_t index);
/* Gives the box a fault. */
void rf_model_set_mutant(struct rf_engine *e, enum rf_model_mutant mutant);

#endif
