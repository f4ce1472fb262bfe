/*
 * A box that fails in the middle of a run of groups with a fallback: the ranks continue over a
 * ring, with the bits that the setting promises, wherever each of them stood. The machine is that
 * of the library (host/member/fallback.h). usage: fabric_fallback; SEED=N starts with another seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/rng.h"
#include "tests/sim/fabric_help.h"

#define SEEDS 20u
#define OPS 12u

/* What happens to the box. */
enum fate { NOTHING, RESET, SILENT };

struct scene {
	struct rf_fabric_cfg cfg;
	enum fate fate;
	uint64_t at;       /* ns after the first all-reduce began */
	bool stands_still; /* a rank, for 9 s from then on */
	unsigned ops[RF_FABRIC_RANKS];
	uint64_t count[OPS];
};

static struct rf_fabric_cfg cfg_of(unsigned ranks, enum rf_fallback fallback)
{
	struct rf_fabric_cfg c = test_cfg(ranks, 4, 2);

	c.store = true;
	c.fallback = fallback;
	c.max_ops = 1;
	c.timeout_ns = 30 * RF_SEC;
	c.ack_timeout_max_ns = RF_SEC;
	c.retry_cnt = 255;
	return c;
}

/* Nothing leaves the box any more. */
static bool cut(void *arg, bool box, unsigned port, bool up, uint64_t ns, const uint8_t *frame,
		size_t len)
{
	(void)port, (void)ns, (void)frame, (void)len;
	return !*(bool *)arg || !box || !up;
}

static bool posted(void *arg)
{
	return rf_fabric_rank(arg, 0)->posted > 0;
}

/* Runs it to the end, or until `until`. */
static struct rf_fabric *play(const struct scene *s, bool *silent)
{
	struct rf_fabric *f = test_create(&s->cfg);

	*silent = false;
	rf_fabric_set_filter(f, cut, silent);
	for (unsigned i = 0; i < OPS; i++)
		assert_int_equal(rf_fabric_allreduce(f, s->count[i]), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run_until(f, 10 * RF_SEC, posted, f), 0);
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + s->at), 0);
	if (s->stands_still)
		rf_fabric_freeze(f, 1, 9 * RF_SEC);
	if (s->fate == RESET)
		rf_fabric_box_reset(f);
	if (s->fate == SILENT) {
		*silent = true;
		/* the operator removes the rule: otherwise the ring's packets go to the box as well
		 */
		for (unsigned r = 0; r < s->cfg.ranks; r++)
			rf_fabric_rule(f, r, false);
	}
	return f;
}

static unsigned on_ring(const struct rf_fabric *f, unsigned ranks)
{
	unsigned n = 0;

	for (unsigned r = 0; r < ranks; r++)
		n += rf_fabric_rank(f, r)->on_ring;
	return n;
}

/* Every element is right on every rank; returns the digest of the results. */
static uint64_t finishes(const struct scene *s, const char *what)
{
	bool silent;
	struct rf_fabric *f = play(s, &silent);
	uint64_t digest;
	unsigned n;

	if (rf_fabric_run(f, 100 * RF_SEC) != 1 || !rf_fabric_good(f)) {
		test_show(f, s->cfg.ranks, s->cfg.seed);
		fail_msg("%s, %llu ns after the first call", what, (unsigned long long)s->at);
	}
	n = on_ring(f, s->cfg.ranks);
	if (s->fate == NOTHING && n)
		fail_msg("%s: a rank has left a healthy box", what);
	if (n && n != s->cfg.ranks)
		fail_msg("%s: %u ranks have left the box, the others have not", what, n);
	digest = rf_fabric_rank(f, 0)->digest;
	assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + RF_SEC), 0);
	rf_fabric_destroy(f);
	return digest;
}

static void counts(struct scene *s, uint64_t largest)
{
	struct rf_rng rng = rf_rng_make(s->cfg.seed, 7);

	for (unsigned i = 0; i < OPS; i++)
		s->count[i] = 1 + rf_rng_next(&rng) % largest;
}

/* Wherever the box fails, the bits are those of a run in which it did not. */
static void exact(enum fate fate)
{
	for (uint64_t k = 0; k < SEEDS; k++) {
		struct scene s = {.cfg = cfg_of(2 + (unsigned)(k % 4), RF_FALLBACK_EXACT)};
		uint64_t digest;

		s.cfg.seed += k;
		counts(&s, k == 7 ? 140000 : 6000);
		digest = finishes(&s, "nothing fails");
		s.fate = fate;
		s.at = k * k * 1733 % (k == 7 ? 4000000 : 400000);
		s.stands_still = k % 5 == 4;
		assert_true(finishes(&s, "exact") == digest);
	}
}

static void test_reset(void **state)
{
	(void)state;
	exact(RESET);
}

static void test_silent(void **state)
{
	(void)state;
	exact(SILENT);
}

static void test_ring(void **state)
{
	(void)state;
	for (uint64_t k = 0; k < SEEDS / 2; k++) {
		struct scene s = {.cfg = cfg_of(2 + (unsigned)(k % 4), RF_FALLBACK_RING),
				  .fate = k % 2 ? RESET : SILENT,
				  .at = k * 23000};

		s.cfg.type = RF_ARITH_INT32;
		s.cfg.seed += k;
		counts(&s, 20000);
		finishes(&s, "ring");
	}
}

/* Without a fallback the ranks fail with the cause. */
static void test_none(void **state)
{
	struct scene s = {.cfg = cfg_of(4, RF_FALLBACK_NONE), .fate = RESET, .at = 50000};
	struct rf_fabric *f;
	bool silent;

	(void)state;
	counts(&s, 6000);
	f = play(&s, &silent);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	for (unsigned r = 0; r < 4; r++)
		assert_int_equal(rf_fabric_rank(f, r)->status, RF_ERR_BOX_REFUSED);
	assert_int_equal(on_ring(f, 4), 0);
	rf_fabric_destroy(f);
}

static bool deaf(void *arg, bool box, unsigned port, bool up, uint64_t ns, const uint8_t *frame,
		 size_t len)
{
	(void)ns, (void)frame, (void)len;
	return !*(bool *)arg || box || up || port != 1;
}

static bool last_posted(void *arg)
{
	return rf_fabric_rank(arg, 1)->posted == OPS;
}

static bool first_leaves(void *arg)
{
	return rf_fabric_rank(arg, 2)->state == RF_RANK_LEAVING;
}

/*
 * Some ranks lack the result of the last call, and a rank that has it leaves: it helps them first.
 */
static void test_last_call(void **state)
{
	struct scene s = {.cfg = cfg_of(3, RF_FALLBACK_EXACT)};
	struct rf_fabric *f;
	bool is_deaf = false;

	(void)state;
	f = test_create(&s.cfg);
	rf_fabric_set_filter(f, deaf, &is_deaf);
	for (unsigned i = 0; i < OPS; i++)
		assert_int_equal(rf_fabric_allreduce(f, 3000), 0);
	assert_int_equal(rf_fabric_all(f, RF_STEP_LEAVE, 0), 0);
	assert_int_equal(rf_fabric_run_until(f, 10 * RF_SEC, last_posted, f), 0);
	is_deaf = true;
	if (rf_fabric_run_until(f, 20 * RF_SEC, first_leaves, f) != 0) {
		test_show(f, 3, s.cfg.seed);
		fail_msg("rank 2 does not leave");
	}
	rf_fabric_box_reset(f);
	is_deaf = false;
	assert_int_equal(rf_fabric_rank(f, 1)->done, OPS - 1);
	test_good(f, &s.cfg, 100 * RF_SEC);
	assert_int_equal(on_ring(f, 3), 3);
	rf_fabric_destroy(f);
}

static bool one_on_ring(void *arg)
{
	return rf_fabric_rank(arg, 0)->on_ring;
}

/* A process that ends while the others fall back, or afterwards, ends the job by its name. */
static void test_crash(void **state)
{
	(void)state;
	for (unsigned k = 0; k < 8; k++) {
		struct scene s = {.cfg = cfg_of(4, RF_FALLBACK_EXACT), .fate = RESET, .at = 50000};
		struct rf_fabric *f;
		bool silent;

		counts(&s, 6000);
		f = play(&s, &silent);
		if (k > 0) {
			assert_int_equal(rf_fabric_run_until(f, 60 * RF_SEC, one_on_ring, f), 0);
			assert_int_equal(rf_fabric_settle(f, rf_fabric_now(f) + (k - 1) * 90000),
					 0);
		}
		rf_fabric_crash(f, 2);
		assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
		for (unsigned r = 0; r < 4; r++) {
			const struct rf_rank *k2 = rf_fabric_rank(f, r);

			assert_int_equal(k2->wrong + k2->raw, 0);
			if (r == 2)
				continue;
			if (k2->status != RF_ERR_RANK_LOST || !strstr(k2->text, "rank 2")) {
				test_show(f, 4, s.cfg.seed);
				fail_msg("case %u, rank %u: rank 2 is not named", k, r);
			}
		}
		rf_fabric_destroy(f);
	}
}

/* The check can fail: one wrong bit on the ring is found. */
static void test_wrong_bit(void **state)
{
	struct scene s = {.cfg = cfg_of(3, RF_FALLBACK_EXACT), .fate = RESET, .at = 0};
	struct rf_fabric *f;
	bool silent;

	(void)state;
	s.cfg.flip = true;
	counts(&s, 60000);
	f = play(&s, &silent);
	assert_int_equal(rf_fabric_run(f, 100 * RF_SEC), 1);
	assert_true(rf_fabric_rank(f, 0)->on_ring);
	assert_false(rf_fabric_good(f));
	rf_fabric_destroy(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_last_call), cmocka_unit_test(test_reset),
		cmocka_unit_test(test_silent),    cmocka_unit_test(test_ring),
		cmocka_unit_test(test_none),      cmocka_unit_test(test_crash),
		cmocka_unit_test(test_wrong_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
