/* Shared by the tests of the fabric. Include after cmocka.h. */
#ifndef TESTS_SIM_FABRIC_HELP_H
#define TESTS_SIM_FABRIC_HELP_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/cosim/load.h"
#include "tests/sim/fabric_open.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* The model, or the engine in RF_TEST_ENGINE; a shape that is not built skips the test. */
static inline const struct rf_engine_ops *test_engine(unsigned ports, unsigned lanes,
						      unsigned width)
{
	const struct rf_engine_ops *ops;
	const char *name = getenv("RF_TEST_ENGINE");
	char why[300];

	if (rf_engine_by_name(name ? name : "model", ports, lanes, width, false, &ops, why,
			      sizeof(why)) != 0) {
		printf("skipped: %s\n", why);
		skip();
	}
	return ops;
}

static inline struct rf_fabric_cfg test_cfg(unsigned ranks, unsigned ports, unsigned lanes)
{
	struct rf_fabric_cfg c;
	const char *seed = getenv("SEED");

	rf_fabric_cfg_init(&c);
	c.ranks = ranks;
	c.ports = ports;
	c.lanes = lanes;
	c.engine = test_engine(ports, lanes, c.width);
	c.seed = seed ? strtoull(seed, NULL, 0) : 1;
	return c;
}

static inline bool test_has_faults(const struct rf_faults *l)
{
	return l->loss > 0 || l->duplicate > 0 || l->reorder > 0 || l->corrupt > 0 ||
	       l->bad_fcs > 0;
}

/*
 * If RF_TEST_PCAPNG is set to a folder, every run stores its frames there: in clean-N, or in
 * faults-N if its links have faults. tests/sim/judged.sh checks them.
 */
static inline struct rf_fabric *test_create(const struct rf_fabric_cfg *c)
{
	static unsigned runs;
	static char dir[400];
	const char *folder = getenv("RF_TEST_PCAPNG");
	struct rf_fabric_cfg cfg = *c;

	if (folder) {
		bool faults = test_has_faults(&c->host_links) || test_has_faults(&c->box_links);
		const char *kind = faults ? "faults" : "clean";

		snprintf(dir, sizeof(dir), "%s/%s-%u", folder, kind, runs++);
		cfg.pcapng_dir = dir;
	}
	return open_fabric(&cfg);
}

/* Prints every rank's state if something was not as expected. */
static inline void test_show(struct rf_fabric *f, unsigned ranks, uint64_t seed)
{
	printf("at %llu ns, seed %llu (SEED=%llu repeats it): %s\n",
	       (unsigned long long)rf_fabric_now(f), (unsigned long long)seed,
	       (unsigned long long)seed, rf_fabric_why(f));
	for (unsigned r = 0; r < ranks; r++) {
		const struct rf_rank *k = rf_fabric_rank(f, r);

		printf("rank %u: state %d, status %d, %u of %u done, wrong %llu, raw %llu: %s\n", r,
		       (int)k->state, k->status, k->done, k->posted, (unsigned long long)k->wrong,
		       (unsigned long long)k->raw, k->text);
	}
}

/* Checks that all ranks finish and every element is correct. */
static inline void test_good(struct rf_fabric *f, const struct rf_fabric_cfg *c, uint64_t deadline)
{
	int n = rf_fabric_run(f, deadline);

	if (n != 1 || !rf_fabric_good(f)) {
		test_show(f, c->ranks, c->seed);
		fail_msg("run gave %d", n);
	}
}

/* Joins, reduces vectors of these sizes, leaves; returns the digest of the results of rank 0. */
static inline uint64_t test_run(const struct rf_fabric_cfg *c, const uint64_t *counts, size_t n,
				uint64_t deadline)
{
	struct rf_fabric *f = test_create(c);
	uint64_t digest;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(rf_fabric_allreduce(f, counts[i]), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	test_good(f, c, deadline);
	for (unsigned r = 0; r < c->ranks; r++) {
		assert_int_equal(rf_fabric_rank(f, r)->done, n);
		assert_true(rf_fabric_rank(f, r)->digest == rf_fabric_rank(f, 0)->digest);
	}
	digest = rf_fabric_rank(f, 0)->digest;
	rf_fabric_destroy(f);
	return digest;
}

#endif
