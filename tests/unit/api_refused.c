/*
 * What callers can do wrong with the collective calls of a communicator at a box (the model):
 * arguments, different calls, calls in different order on several communicators.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/clock.h"
#include "tests/unit/api_box.h"

#define FOREVER ((unsigned int)-1)

static void run_all(unsigned int n, unsigned int timeout_ms, int (*run)(struct rank *))
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, n, false, run);

	assert_non_null(box);
	all.timeout_ms = timeout_ms;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

static bool says(struct rank *r, const char *text)
{
	return strstr(rf_last_error_text(r->ctx), text) != NULL;
}

/* ---- arguments ---- */

static int wrong(struct rank *r)
{
	uint32_t a[64] = {0}, b[64] = {0};
	const size_t counts[2] = {3, 5}, huge[2] = {SIZE_MAX / 8, SIZE_MAX / 8};
	size_t own = counts[r->rank];
	struct rf_comm *c = r->comm;

	EXPECT(r, rf_reduce(c, a, b, 1, RF_INT32, RF_SUM, 2) == RF_ERR_INVALID);
	EXPECT(r, says(r, "root 2 of 2 ranks"));
	EXPECT(r, rf_broadcast(c, a, b, 1, (enum rf_type)10, 0) == RF_ERR_INVALID);
	EXPECT(r, rf_broadcast(c, NULL, NULL, 1, RF_INT32, 0) == RF_ERR_INVALID);
	EXPECT(r, rf_reduce_scatter(c, a, b, 1, RF_INT32, RF_PRODUCT) == RF_ERR_INVALID);
	EXPECT(r, says(r, "multiply on the hosts"));
	EXPECT(r, rf_reduce_scatterv(c, a, b, NULL, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, says(r, "counts is NULL: give an array"));
	EXPECT(r, rf_all_gatherv(c, a, b, NULL, RF_INT32) == RF_ERR_INVALID);
	EXPECT(r, rf_all_gatherv(c, a, b, huge, RF_INT32) == RF_ERR_INVALID);
	EXPECT(r, says(r, "address space"));
	EXPECT(r, rf_allreduce(c, a, b, SIZE_MAX / 4, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(c, a, a + 1, 8, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, says(r, "overlap without being the same"));
	EXPECT(r, rf_all_gather(c, (char *)a + 2, b, 1, RF_INT32) == RF_ERR_INVALID);
	/* the other rank's block, and a part of the own one */
	EXPECT(r, rf_all_gather(c, b + 4 * (1 - r->rank), b, 4, RF_INT32) == RF_ERR_INVALID);
	EXPECT(r, rf_all_gather(c, b + 4 * r->rank + 1, b, 4, RF_INT32) == RF_ERR_INVALID);
	EXPECT(r, says(r, "overlap"));
	EXPECT(r, rf_iallreduce(c, a, b, 1, RF_INT32, RF_SUM, NULL) == RF_ERR_INVALID);
	if (r->rank == 0) {
		EXPECT(r, rf_gatherv(c, a, 3, b, NULL, RF_INT32, 0) == RF_ERR_INVALID);
		EXPECT(r, rf_gatherv(c, a, 4, b, counts, RF_INT32, 0) == RF_ERR_INVALID);
		EXPECT(r, says(r, "own is 4, and counts[0] of the root is 3"));
		EXPECT(r, rf_scatterv(c, NULL, counts, b, 3, RF_INT32, 0) == RF_ERR_INVALID);
	}
	/* nothing was started, so the ranks still agree */
	EXPECT(r, rf_gatherv(c, a, own, b, r->rank ? NULL : counts, RF_INT32, 0) == RF_OK);
	return rf_barrier(c);
}

static void arguments(void **state)
{
	(void)state;
	run_all(2, 20000, wrong);
}

/* ---- different calls ---- */

enum { KINDS = 8 };

static const char *const texts[KINDS] = {"all-reduce of fp32, sum", "reduce of int64, max",
					 "broadcast of int8",       "reduce-scatter of uint8, or",
					 "all-gather of fp64",      "gather of bf16",
					 "scatter of uint64",       "barrier"};

static int one(struct rank *r, unsigned int kind)
{
	static _Thread_local uint64_t a[256], b[256];

	switch (kind) {
	case 0:
		return rf_allreduce(r->comm, a, b, 8, RF_FP32, RF_SUM);
	case 1:
		return rf_reduce(r->comm, a, b, 8, RF_INT64, RF_MAX, 1);
	case 2:
		return rf_broadcast(r->comm, a, b, 8, RF_INT8, 0);
	case 3:
		return rf_reduce_scatter(r->comm, a, b, 8, RF_UINT8, RF_OR);
	case 4:
		return rf_all_gather(r->comm, a, b, 8, RF_FP64);
	case 5:
		return rf_gather(r->comm, a, b, 8, RF_BF16, 1);
	case 6:
		return rf_scatter(r->comm, a, b, 8, RF_UINT64, 0);
	default:
		return rf_barrier(r->comm);
	}
}

static unsigned int first, second;

/* Two calls, on the last rank in the opposite order. */
static int crossed(struct rank *r)
{
	bool last = r->rank == r->all->n - 1;
	int ret = one(r, last ? second : first);

	if (!ret)
		ret = one(r, last ? first : second);
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, says(r, texts[first]));
	EXPECT(r, says(r, texts[second]));
	EXPECT(r, says(r, "index "));
	EXPECT(r, one(r, 0) == RF_ERR_GROUP_FAILED);
	return 0;
}

static void opposite_order(void **state)
{
	(void)state;
	first = 0;
	second = 2;
	run_all(4, 20000, crossed);
}

/*
 * The same without a box, where a message can be too long before its call is known, and where the
 * calls of two ranks may await messages on different connections.
 */
static int crossed_among_hosts(struct rank *r)
{
	int ret = one(r, r->rank ? second : first);

	if (!ret)
		ret = one(r, r->rank ? first : second);
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, says(r, texts[first]) && says(r, texts[second]));
	EXPECT(r, one(r, 0) == RF_ERR_GROUP_FAILED);
	return 0;
}

static void every_pair_among_hosts(void **state)
{
	(void)state;
	for (first = 0; first < KINDS; first++)
		for (second = first + 1; second < KINDS; second++) {
			struct ranks all;

			ranks_init(&all, 2, crossed_among_hosts);
			all.timeout_ms = 2000;
			assert_int_equal(ranks_run(&all), 0);
			ranks_free(&all);
		}
}

/* Without a box, and with roots that differ: each rank sends to the other, or each awaits it. */
static int other_root(struct rank *r)
{
	uint64_t a[8] = {0}, b[8];
	int ret = first ? rf_reduce(r->comm, a, b, 8, RF_INT64, RF_SUM, r->rank)
			: rf_broadcast(r->comm, a, b, 8, RF_INT64, 1 - r->rank);

	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, says(r, "the same root") || says(r, "belongs to another call"));
	return 0;
}

static void roots_among_hosts(void **state)
{
	(void)state;
	for (first = 0; first < 2; first++) {
		struct ranks all;

		ranks_init(&all, 2, other_root);
		all.timeout_ms = 4000;
		assert_int_equal(ranks_run(&all), 0);
		ranks_free(&all);
	}
}

/* A rank that is late, but makes the same call, is no mismatch. */
static int late(struct rank *r)
{
	uint32_t a = 1, b = 0;

	if (r->rank)
		usleep(1000000);
	EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK && b == 3);
	return 0;
}

static void late_among_hosts(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 3, late);
	all.timeout_ms = 4000;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

static void every_pair(void **state)
{
	(void)state;
	for (first = 0; first < KINDS; first++)
		for (second = first + 1; second < KINDS; second++)
			run_all(2, 20000, crossed);
}

/*
 * Calls with the same words that differ all the same. Case 0: a sum and an average. 1: a call of
 * count 0 on one rank alone. 2: batches of equal length with other pieces.
 */
static int alike(struct rank *r)
{
	float a[32] = {0}, b[32];
	size_t n = r->rank ? 7 : 8;
	const struct rf_piece pieces[3] = {
		{a, b, 10}, {a + 10, b + 10, n}, {a + 18, b + 18, 15 - n}};
	int ret;

	switch (first) {
	case 0:
		ret = rf_allreduce(r->comm, a, b, 8, RF_FP32, r->rank ? RF_AVERAGE : RF_SUM);
		break;
	case 1:
		if (r->rank == 0)
			EXPECT(r, rf_allreduce(r->comm, a, b, 0, RF_FP32, RF_SUM) == RF_OK);
		ret = rf_allreduce(r->comm, a, b, 8, RF_FP32, RF_SUM);
		break;
	default:
		ret = rf_allreduce_batch(r->comm, pieces, 3, RF_FP32, RF_SUM);
	}
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, says(r, texts[0]));
	EXPECT(r, says(r, first == 1 ? "has made a call, perhaps with count 0"
				     : "differ in the root, the counts, the pieces of a batch"));
	return 0;
}

static void same_words(void **state)
{
	(void)state;
	for (first = 0; first < 3; first++) {
		struct ranks all;

		run_all(2, 20000, alike);
		ranks_init(&all, 2, alike);
		all.timeout_ms = 4000;
		assert_int_equal(ranks_run(&all), 0);
		ranks_free(&all);
	}
}

/* All ranks make calls of count 0: each is a call like any other, and done at once. */
static int empty(struct rank *r)
{
	const size_t none[8] = {0};
	uint32_t a = 1, b = 0;
	struct rf_request *q[3];

	for (unsigned int k = 0; k < 20; k++) {
		EXPECT(r, rf_allreduce(r->comm, NULL, NULL, 0, RF_INT32, RF_SUM) == RF_OK);
		EXPECT(r, rf_all_gatherv(r->comm, NULL, NULL, none, RF_INT8) == RF_OK);
		EXPECT(r, rf_ireduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM, 0, &q[0]) == RF_OK);
		EXPECT(r, rf_ibroadcast(r->comm, NULL, NULL, 0, RF_INT64, 1, &q[1]) == RF_OK);
		EXPECT(r, rf_iallreduce_batch(r->comm, NULL, 0, RF_FP64, RF_MAX, &q[2]) == RF_OK);
		EXPECT(r, rf_wait_all(q, 3, FOREVER) == RF_OK);
		EXPECT(r, r->rank || b == r->all->n);
	}
	return rf_barrier(r->comm);
}

static void calls_of_nothing(void **state)
{
	(void)state;
	run_all(3, 20000, empty);
	for (unsigned int manual = 0; manual < 2; manual++) {
		struct ranks all;

		ranks_init(&all, 3, empty);
		all.manual = manual;
		assert_int_equal(ranks_run(&all), 0);
		ranks_free(&all);
	}
}

/* One rank ends while the others make another call: they learn of it long before the timeout. */
static int deserted(struct rank *r)
{
	uint32_t a = 1, b;
	uint64_t begin;
	int ret;

	EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK);
	if (r->rank == 1)
		return 0;
	/* the last call before or after the other one has said so */
	usleep(first ? 600000 : 0);
	begin = rf_now_ns();
	ret = rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM);
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, rf_now_ns() - begin < 2000000000u);
	EXPECT(r, says(r, "rank 1 has destroyed the communicator after 1 calls"));
	return 0;
}

static void destroyed_by_one(void **state)
{
	(void)state;
	for (first = 0; first < 2; first++) {
		struct ranks all;

		run_all(3, 20000, deserted);
		ranks_init(&all, 3, deserted);
		all.timeout_ms = 20000;
		assert_int_equal(ranks_run(&all), 0);
		ranks_free(&all);
	}
}

static int other(struct rank *r)
{
	uint32_t a[16] = {0}, b[32];
	const size_t counts[3] = {3, 5, 2};
	size_t own = r->rank == 2 ? 4 : counts[r->rank];
	int ret = rf_gatherv(r->comm, a, own, b, r->rank ? NULL : counts, RF_INT32, 0);

	/* rank 1 has nothing to say against it, and may be done */
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, strncmp(rf_last_error_text(r->ctx), "rank 2 expects 4 elements in a gather",
			  37) == 0);
	EXPECT(r, says(r, "rank 0, has 2 for it"));
	return 0;
}

static void other_counts(void **state)
{
	(void)state;
	run_all(3, 20000, other);
}

/* ---- several communicators ---- */

/* Requests on two communicators, on each rank in another order. */
static int any_order(struct rank *r)
{
	struct rf_comm *c[2] = {r->comm, NULL};
	struct rf_request *q[40];
	uint32_t in = 1, out[40] = {0};

	EXPECT(r, rf_comm_split(r->comm, 0, 0, "second", &c[1]) == RF_OK);
	for (unsigned int k = 0; k < 40; k++) {
		/* rank 0: all of the first, then all of the second; rank 1: the reverse; rank 2: in
		 * turn */
		unsigned int which = r->rank == 2 ? k % 2 : (k >= 20) ^ (r->rank == 1);

		EXPECT(r,
		       rf_iallreduce(c[which], &in, &out[k], 1, RF_UINT32, RF_SUM, &q[k]) == RF_OK);
	}
	EXPECT(r, rf_wait_all(q, 40, FOREVER) == RF_OK);
	for (unsigned int k = 0; k < 40; k++)
		EXPECT(r, out[k] == r->all->n);
	return rf_comm_destroy(c[1]);
}

static void requests_in_any_order(void **state)
{
	(void)state;
	run_all(3, 20000, any_order);
}

/*
 * A full box, of which two ranks end a group; then one of them makes another one together with a
 * rank that has ended none. The box may refuse the latter and accept the former a moment later.
 */
static int freed_by_one(struct rank *r)
{
	static const unsigned int low[] = {0, 1}, high[] = {1, 2};
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm;
	uint32_t in = 1, out = 0;

	config.schedule = RF_SCHEDULE_BOX;
	config.slots = 64;
	config.n_members = 2;
	for (unsigned int k = 0; k < 6; k++) {
		config.members = low;
		if (r->rank < 2)
			EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
		EXPECT(r, rank_meet(r) == 0);
		if (r->rank < 2)
			EXPECT(r, rf_comm_destroy(comm) == RF_OK);
		config.members = high;
		if (r->rank == 0)
			continue;
		EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
		EXPECT(r, rf_allreduce(comm, &in, &out, 1, RF_UINT32, RF_SUM) == RF_OK && out == 2);
		EXPECT(r, rf_comm_destroy(comm) == RF_OK);
	}
	return 0;
}

static void room_that_one_rank_has_freed(void **state)
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, 3, false, freed_by_one);

	(void)state;
	assert_non_null(box);
	/* two groups of 64 slots fill the box */
	all.mtu = 4096;
	all.timeout_ms = 10000;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

/* Blocking calls on two communicators, of which each waits for the other. */
static int blocked(struct rank *r)
{
	struct rf_comm *c[2] = {NULL, NULL};
	uint32_t a = 1, b;
	double d = 1, e;
	int ret;

	EXPECT(r, rf_comm_split(r->comm, 0, 0, "left", &c[0]) == RF_OK);
	EXPECT(r, rf_comm_split(r->comm, 0, 0, "right", &c[1]) == RF_OK);
	EXPECT(r, rf_barrier(c[0]) == RF_OK);
	/* a rank that begins much later than the other one misses what that one says */
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank == 0)
		ret = rf_allreduce(c[0], &a, &b, 1, RF_INT32, RF_SUM);
	else
		ret = rf_allreduce(c[1], &d, &e, 1, RF_FP64, RF_MAX);
	EXPECT(r, ret == RF_ERR_TIMEOUT);
	snprintf(r->text, sizeof(r->text), "%.590s", rf_last_error_text(r->ctx));
	/* the own call, and that of the other rank */
	EXPECT(r,
	       strstr(r->text, r->rank ? "communicator \"right\": " : "communicator \"left\": "));
	if (r->rank == 0) {
		EXPECT(r, strstr(r->text, "all-reduce of int32, sum (call 2, index 2)"));
		EXPECT(r, strstr(r->text, "rank 1 waits in communicator \"right\", all-reduce of "
					  "fp64, max (call 1, index 1)"));
	} else {
		EXPECT(r, strstr(r->text, "all-reduce of fp64, max (call 1, index 1)"));
		EXPECT(r, strstr(r->text, "rank 0 waits in communicator \"left\", all-reduce of "
					  "int32, sum (call 2, index 2)"));
	}
	rf_comm_destroy(c[0]);
	rf_comm_destroy(c[1]);
	return 0;
}

/* The same with communicators without names, and more ranks than a text has room for. */
static int blocked_unnamed(struct rank *r)
{
	struct rf_comm *c[2] = {NULL, NULL};
	uint32_t a = 1, b;
	char own[64];
	int ret;

	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &c[0]) == RF_OK);
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &c[1]) == RF_OK);
	EXPECT(r, rank_meet(r) == 0);
	ret = rf_allreduce(c[r->rank == 0], &a, &b, 1, RF_INT32, RF_SUM);
	EXPECT(r, ret == RF_ERR_TIMEOUT);
	snprintf(own, sizeof(own), "communicator number %u: ", 1 + (r->rank == 0));
	EXPECT(r, strncmp(rf_last_error_text(r->ctx), own, strlen(own)) == 0);
	for (unsigned int k = 0; k < r->all->n; k++) {
		char there[80];

		snprintf(there, sizeof(there), "rank %u waits in communicator number %u, ", k,
			 1 + (k == 0));
		EXPECT(r, says(r, there) == (k != r->rank));
	}
	rf_comm_destroy(c[0]);
	rf_comm_destroy(c[1]);
	return 0;
}

static void crossed_communicators(void **state)
{
	(void)state;
	/* each rank says where it waits after half of this time, and both must have heard it */
	run_all(2, 4000, blocked);
	run_all(5, 4000, blocked_unnamed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),
		cmocka_unit_test(opposite_order),
		cmocka_unit_test(every_pair),
		cmocka_unit_test(every_pair_among_hosts),
		cmocka_unit_test(roots_among_hosts),
		cmocka_unit_test(late_among_hosts),
		cmocka_unit_test(other_counts),
		cmocka_unit_test(same_words),
		cmocka_unit_test(destroyed_by_one),
		cmocka_unit_test(calls_of_nothing),
		cmocka_unit_test(requests_in_any_order),
		cmocka_unit_test(crossed_communicators),
		cmocka_unit_test(room_that_one_rank_has_freed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
