/*
 * Seeded runs of the library: what is drawn for one (api_soak_plan.c), how its calls are made and
 * awaited (api_soak_calls.c), and the run (api_soak.c).
 */
#ifndef API_SOAK_H
#define API_SOAK_H

#include "base/rng.h"
#include "tests/unit/api_job_calls.h"
#include "tests/unit/api_ranks.h"

#define SOAK_COMMS 5u
#define SOAK_CALLS 11u /* of a communicator in a round: all together below the limit of 64 */

enum soak_ending { SOAK_NO_FAILURE, SOAK_MISMATCH, SOAK_ABORT, SOAK_ENDINGS };

/* What all ranks know of a run. */
struct plan {
	uint64_t seed;
	bool flip;
	unsigned int ranks, mtu, slots, slots_large, lost, rounds, comms;
	bool manual, ring, selective;
	bool split; /* after the first round the last communicator is replaced */
	enum soak_ending ending;
	unsigned int fails; /* the communicator that does */
	struct {
		unsigned int n, member[RANKS];
		enum rf_schedule schedule;
	} comm[SOAK_COMMS];
	int color[RANKS], key[RANKS];
};

/* What a rank knows. */
struct soak {
	struct rank *r;
	const struct plan *p;
	struct rf_rng rng; /* of this rank alone */
	struct rf_comm *comm[SOAK_COMMS];
	struct rf_order order[SOAK_COMMS];
};

/* ---- api_soak_plan.c ---- */

/* True once in n draws. */
bool soak_one_in(struct rf_rng *rng, unsigned int n);
struct plan soak_plan(uint64_t seed);
/* The calls of a communicator, the same on its ranks: `what` tells rounds and kinds apart. */
struct rf_rng soak_calls_of(const struct plan *p, unsigned int c, unsigned int what);
struct job soak_draw_job(struct rf_rng *rng, unsigned int ranks);

/* ---- api_soak_calls.c: 0, or an error with its text in s->r->text ---- */

/*
 * A round of calls without blocking, begun on all communicators in an order of this rank's own and
 * awaited in one of all ways. skip: a communicator that takes no part; SOAK_COMMS for none.
 */
int soak_fly(struct soak *s, unsigned int round, unsigned int skip);
/* A round of blocking calls, by two threads unless the callers make progress. */
int soak_blocking(struct soak *s, unsigned int round);

#endif
