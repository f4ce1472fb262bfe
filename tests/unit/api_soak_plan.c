/* What a seed stands for: ranks, communicators, their calls, and what goes wrong. */
#include "tests/unit/api_soak.h"

#define ROUNDS 3u

bool soak_one_in(struct rf_rng *rng, unsigned int n)
{
	return rf_rng_below(rng, n) == 0;
}

/* A list of processes in any order; returns its length. */
static unsigned int draw_members(struct rf_rng *rng, unsigned int ranks, unsigned int *member)
{
	unsigned int n = 1 + (unsigned int)rf_rng_below(rng, ranks), all[RANKS];

	for (unsigned int k = 0; k < ranks; k++)
		all[k] = k;
	for (unsigned int k = 0; k < n; k++) {
		unsigned int other = k + (unsigned int)rf_rng_below(rng, ranks - k);

		member[k] = all[other];
		all[other] = all[k];
	}
	return n;
}

struct plan soak_plan(uint64_t seed)
{
	static const unsigned int mtus[] = {256, 1024, 4096}, slots[] = {16, 16, 64},
				  slots_large[] = {16, 64, 128}, lost[] = {0, 0, 5, 20};
	struct rf_rng rng = rf_rng_make(seed, 1);
	struct plan p = {.seed = seed};

	p.ranks = soak_one_in(&rng, 4) ? 5 + (unsigned int)rf_rng_below(&rng, 4)
				       : 2 + (unsigned int)rf_rng_below(&rng, 3);
	p.mtu = mtus[rf_rng_below(&rng, 3)];
	p.slots = slots[rf_rng_below(&rng, 3)];
	p.slots_large = slots_large[rf_rng_below(&rng, 3)];
	p.lost = lost[rf_rng_below(&rng, 4)];
	p.rounds = 1 + (unsigned int)rf_rng_below(&rng, ROUNDS);
	p.comms = 2 + (unsigned int)rf_rng_below(&rng, SOAK_COMMS - 1);
	p.manual = soak_one_in(&rng, 4);
	p.ring = soak_one_in(&rng, 4);
	p.selective = soak_one_in(&rng, 4);
	p.split = soak_one_in(&rng, 2);
	for (unsigned int c = 1; c < p.comms; c++) {
		p.comm[c].n = draw_members(&rng, p.ranks, p.comm[c].member);
		/* the rules of ring connections would lead the packets of the others to the box */
		p.comm[c].schedule =
			!p.ring && soak_one_in(&rng, 4) ? RF_SCHEDULE_RING : RF_SCHEDULE_BOX;
	}
	for (unsigned int k = 0; k < p.ranks; k++) {
		p.color[k] = (int)rf_rng_below(&rng, 3) - 1;
		p.key[k] = (int)rf_rng_below(&rng, 5) - 2;
	}
	p.fails = 1 + (unsigned int)rf_rng_below(&rng, p.comms - 1);
	if (soak_one_in(&rng, 2) && p.comm[p.fails].n > 1 && !(p.split && p.fails == p.comms - 1))
		p.ending = (enum soak_ending)rf_rng_below(&rng, SOAK_ENDINGS);
	return p;
}

struct rf_rng soak_calls_of(const struct plan *p, unsigned int c, unsigned int what)
{
	return rf_rng_make(p->seed, 100 + what * SOAK_COMMS + c);
}

struct job soak_draw_job(struct rf_rng *rng, unsigned int ranks)
{
	struct job j = {.kind = (enum job_kind)rf_rng_below(rng, JOB_KINDS),
			.type = (enum rf_type)rf_rng_below(rng, 10),
			.root = (unsigned int)rf_rng_below(rng, ranks),
			.in_place = soak_one_in(rng, 2),
			.key = rf_rng_next(rng)};

	do {
		j.op = job_ops[rf_rng_below(rng, JOB_OPS)];
	} while (!job_has(j.type, j.op));
	job_draw_counts(&j, ranks, rng, 400);
	/* enough for a second group */
	if (job_about[j.kind].one && soak_one_in(rng, 8))
		j.counts[0] = 20000 + (size_t)rf_rng_below(rng, 20000);
	return j;
}
