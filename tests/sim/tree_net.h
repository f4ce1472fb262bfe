/*
 * A tree of boxes (reference model) with hosts at them, in virtual time: links with loss,
 * duplicates and late copies, hosts that repeat by go-back-N or selectively. Every result that a
 * host takes is compared in full with what the boxes' orders of addition give.
 */
#ifndef RF_TREE_NET_H
#define RF_TREE_NET_H

#include "base/rng.h"
#include "tests/sim/compare/bench.h"

#define TREE_BOXES 8u
#define TREE_HOSTS 32u
#define TREE_PAYLOAD 1024u
#define TREE_STEP 64u   /* cycles between two looks at the boxes */
#define TREE_DELAY 320u /* of a link, in cycles */
#define TREE_TICK 5000u /* cycles between two writes to TICK */

/* A box: its ranks are the members; those in `child` are other boxes, the others hosts. */
struct tree_box_cfg {
	int parent; /* number of a box before this one; -1: none */
	unsigned int up_port, up_lane;
	unsigned int lanes, s_log2;
	uint8_t members[16];
};

struct tree_cfg {
	unsigned int boxes;
	struct tree_box_cfg box[TREE_BOXES]; /* children take the last ranks of their parent */
	uint32_t count;                      /* indexes */
	uint64_t seed;
	bool selective;      /* the hosts */
	double loss, copy;   /* on links of hosts */
	double loss_between; /* between boxes */
	double copy_between; /* a copy comes up to 20000 cycles late */
	enum rf_model_mutant mutant;
	/* Called for each frame between boxes; true: it is lost. */
	bool (*drop)(void *arg, unsigned int from, unsigned int to, const uint8_t *frame,
		     size_t len);
	/* Called for each index that a host is about to send for the first time; false: not yet. */
	bool (*may_send)(void *arg, unsigned int host, uint32_t index);
	void *arg;
};

struct tree_host {
	unsigned int box;
	struct bench_conn conn;
	uint32_t una, nxt, most, e;
	bool obeyed, told;
	uint64_t expires;
	uint8_t *came; /* of each index */
};

/* A frame on a link. */
struct tree_flight {
	uint64_t at;
	int host; /* -1: to a box */
	unsigned int box, port;
	size_t len;
	uint8_t *bytes;
};

struct tree {
	struct tree_cfg cfg;
	struct bench box[TREE_BOXES];
	struct bench_group group[TREE_BOXES];
	int child[TREE_BOXES][64]; /* the box at a rank, -1: a host */
	int host_of[TREE_BOXES][64];
	struct tree_host host[TREE_HOSTS];
	unsigned int hosts;
	struct tree_flight *flight;
	size_t flights, room;
	uint64_t now, moved, ticked;
	struct rf_rng rng;
	char why[256]; /* empty: nothing is wrong */
};

/* Sets up the boxes; fails the test if that is not possible. */
void tree_open(struct tree *t, const struct tree_cfg *cfg);
/* Runs until every host has everything and all its packets are acknowledged, or `until`. False if
 * something is wrong: `why`. */
bool tree_run(struct tree *t, uint64_t until);
bool tree_done(const struct tree *t);
/* Frees everything. False if a box has kept something. */
bool tree_close(struct tree *t);
uint32_t tree_up_count(struct tree *t, unsigned int box, enum rf_model_up_counter counter);

/* tree_sum.c: what is sent at an index, and what comes back. */
struct tree_plan {
	uint32_t imm;   /* kind, call, operation, type, index */
	size_t len;     /* of each operand and of the result */
	uint64_t gives; /* bit for each host */
	uint64_t wants;
};

void tree_plan(const struct tree *t, uint32_t index, struct tree_plan *p);
void tree_operand(const struct tree *t, unsigned int host, uint32_t index, uint8_t *bytes);
/* The result of the topmost box. */
void tree_sum(const struct tree *t, uint32_t index, uint8_t *bytes);

#endif
