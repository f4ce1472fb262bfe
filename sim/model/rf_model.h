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

/*
 * Mirror connections, directed groups, more types (docs/box.md). The Verilog does not have them
 * yet, so no register sets them.
 */
/* Numbers of types and operations in the immediate; the first ones are those of CFG. */
enum rf_model_type {
	RF_MODEL_TYPE_UINT32 = 4,
	RF_MODEL_TYPE_INT64,
	RF_MODEL_TYPE_UINT64,
	RF_MODEL_TYPE_FP64,
	RF_MODEL_TYPE_INT8,
	RF_MODEL_TYPE_UINT8,
	RF_MODEL_TYPES
};
enum rf_model_op {
	RF_MODEL_OP_AND = 3,
	RF_MODEL_OP_OR,
	RF_MODEL_OP_XOR,
	RF_MODEL_OP_COPY,
	RF_MODEL_OPS
};
/* Causes of group errors after those of the registers. */
enum rf_model_error { RF_MODEL_ERROR_IMMEDIATE = 8, RF_MODEL_ERROR_ORDER };
/* Counters of a port after those of the registers; the last one is their number. */
enum rf_model_counter {
	RF_MODEL_CNT_WRONG_PORT = RF_CNT_COUNT, /* for the address of another port */
	RF_MODEL_CNT_UNKNOWN,                   /* for the port's address, in no connection entry */
	RF_MODEL_CNT_CNP_BACK,                  /* CNP returned to its rank */
	RF_MODEL_CNT_CNP_MARK,  /* CNP of a rank that does not give: the group's mark is set */
	RF_MODEL_CNT_ORDER,     /* the immediate names another index */
	RF_MODEL_CNT_IMMEDIATE, /* the immediate is not allowed */
	RF_MODEL_CNT_COUNT
};
/* ERROR.WHAT, ERROR_GOT, ERROR_WANT of a group's error. */
struct rf_model_difference {
	uint32_t what, got, want;
};
/* Settings of a group that replace DTYPE and OP of CFG. */
struct rf_model_kind {
	bool set;
	bool directed;
	uint8_t type, op; /* those of JOIN */
};

/* PORT_IP of a port; 0: none. */
void rf_model_set_address(struct rf_engine *e, unsigned int port, uint32_t ip);
/*
 * Makes a connection a mirror connection and adds its entry. SRC_IP and QPN are set, PEER_IP and
 * PEER_PORT are its own. Called again it changes the MAC. False if the table has no free place.
 * The bench must write its own entries before, as it does not see this one.
 */
bool rf_model_set_mirror(struct rf_engine *e, unsigned int cid, uint64_t mac);
/* Copies the settings of a group; they hold until set again. Before LIVE. */
void rf_model_set_kind(struct rf_engine *e, unsigned int group, const struct rf_model_kind *kind);
/* The values that go with the latched error. */
void rf_model_error_difference(const struct rf_engine *e, unsigned int group,
			       struct rf_model_difference *d);
/* A counter of the registers or one of those above. */
uint32_t rf_model_counter(const struct rf_engine *e, unsigned int port, unsigned int counter);

#endif
