/*
 * Random traffic for two boxes in lockstep: groups of all kinds, data in and out of order, valid
 * and invalid ACKs, foreign frames, damage of every kind; all derived from a seed.
 */
#ifndef RF_COMPARE_TRAFFIC_H
#define RF_COMPARE_TRAFFIC_H

#include "tests/sim/compare/bench.h"

#define TRAFFIC_GROUPS 4u

struct traffic {
	uint64_t state;
	struct bench *both[2]; /* [0] is queried for the current state */
	struct bench_group groups[TRAFFIC_GROUPS];
	uint64_t form_seed[TRAFFIC_GROUPS]; /* opcode and length at each index */
	bool live[TRAFFIC_GROUPS];
	unsigned int mutate;   /* percent of the frames changed at random */
	unsigned int hold_off; /* steps until CTRL and HOLD_PORTS return to normal */
	char what[160];        /* description of the last step */
};

void traffic_start(struct traffic *t, struct bench *a, struct bench *b, uint64_t seed);
/* One step: registers may be written and one frame may be sent, the same to both. */
void traffic_step(struct traffic *t);

/*
 * Changes a frame at random: bits, bytes, fields, length; checksums are recomputed or not. `frame`
 * has room for PACKET_MAX bytes. Returns its length.
 */
size_t traffic_mutate(uint64_t *state, uint8_t *frame, size_t len);
/* Makes a random frame of a kind that does not depend on groups; returns its length. */
size_t traffic_stray(uint64_t *state, const struct rf_engine_cfg *cfg, uint8_t *frame, bool *bad,
		     const char **what);
/* A group that fits the box, within its share of the slots, of a kind and type that it has. */
void traffic_group(uint64_t *state, const struct bench *b, unsigned int number,
		   struct bench_group *g);
/* What a rank sends at an index; its rank is the place in g->conn. len includes pad. */
struct traffic_say {
	uint8_t opcode, pad;
	bool gives, wants;
	unsigned int dtype;
	uint32_t imm;
	size_t len;
};

void traffic_say(uint64_t seed, const struct bench_group *g, unsigned int rank, uint32_t index,
		 struct traffic_say *w);
/* The opcode and length of all ranks at an index, if the group is not directed. */
void traffic_form(uint64_t seed, const struct bench_group *g, uint32_t index, uint8_t *opcode,
		  size_t *len, uint8_t *pad);

#endif
