/*
 * Batches of small all-reduces: their results, that they travel in full packets, and what is wrong
 * with them. Through a box (the model), around a ring, and with one rank.
 *
 *	api_batch [SEED]	RF_SEED=N does the same
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <stdatomic.h>
#include <unistd.h>

#include "base/rng.h"
#include "tests/unit/api_box.h"

#define FOREVER ((unsigned int)-1)
#define PIECES 300u
#define MOST 150u

static uint64_t seed = 1;
static bool flip; /* a bit of a result, before it is compared */

static int32_t element(unsigned int rank, size_t piece, size_t k)
{
	return (int32_t)rf_rng_mix(seed + rank * 7919 + piece * 104729 + k);
}

struct area {
	int32_t send[PIECES][MOST], recv[PIECES][MOST];
	struct rf_piece pieces[PIECES];
};

/* Pieces of 0 to MOST elements, some of them in place. */
static void fill(struct rank *r, struct area *a)
{
	struct rf_rng rng = rf_rng_make(seed, 1);

	memset(a, 0xc5, sizeof(*a));
	for (size_t p = 0; p < PIECES; p++) {
		bool in_place = rf_rng_below(&rng, 2);

		a->pieces[p] = (struct rf_piece){in_place ? a->recv[p] : a->send[p], a->recv[p],
						 (size_t)rf_rng_below(&rng, MOST)};
		for (size_t k = 0; k < a->pieces[p].count; k++)
			(in_place ? a->recv : a->send)[p][k] = element(r->rank, p, k);
	}
}

/* Elements that are wrong, those behind each piece included. */
static size_t wrong(const struct rank *r, const struct area *a)
{
	size_t bad = 0;

	for (size_t p = 0; p < PIECES; p++) {
		size_t n = a->pieces[p].count;

		for (size_t k = 0; k < n; k++) {
			uint32_t sum = 0;

			for (unsigned int rank = 0; rank < r->all->n; rank++)
				sum += (uint32_t)element(rank, p, k);
			bad += (uint32_t)a->recv[p][k] != sum;
		}
		bad += n < MOST && a->recv[p][n] != (int32_t)0xc5c5c5c5;
	}
	return bad;
}

static void count(void *arg, int status, const char *text)
{
	atomic_int *done = arg;

	(void)text;
	atomic_fetch_add(done, status ? -1000 : 1);
}

static int three_forms(struct rank *r)
{
	static _Thread_local struct area a;
	struct rf_request *q[2];
	atomic_int done = 0;
	float f[4] = {1, 2, 3, (float)r->rank}, g[4];
	const struct rf_piece floats[2] = {{f, g, 1}, {f + 1, g + 1, 3}};

	fill(r, &a);
	EXPECT(r, rf_allreduce_batch(r->comm, a.pieces, PIECES, RF_INT32, RF_SUM) == RF_OK);
	if (flip && r->rank == 0)
		a.recv[7][0] ^= 1;
	EXPECT(r, wrong(r, &a) == 0);
	/* as a request, with another call behind it; the array is not needed any more */
	fill(r, &a);
	EXPECT(r, rf_iallreduce_batch(r->comm, a.pieces, PIECES, RF_INT32, RF_SUM, &q[0]) == RF_OK);
	EXPECT(r, rf_iallreduce_batch(r->comm, floats, 2, RF_FP32, RF_AVERAGE, &q[1]) == RF_OK);
	EXPECT(r, rf_wait_all(q, 2, FOREVER) == RF_OK && wrong(r, &a) == 0);
	EXPECT(r, g[0] == 1 && g[1] == 2 && g[2] == 3 && g[3] == (float)(r->all->n - 1) / 2);
	/* with a callback */
	fill(r, &a);
	EXPECT(r, rf_iallreduce_batch(r->comm, a.pieces, PIECES, RF_INT32, RF_SUM, &q[0]) == RF_OK);
	EXPECT(r, rf_on_completion(q[0], count, &done) == RF_OK);
	for (unsigned int k = 0; k < 20000 && !atomic_load(&done); k++)
		usleep(500);
	EXPECT(r, done == 1 && wrong(r, &a) == 0);
	/* nothing at all */
	EXPECT(r, rf_allreduce_batch(r->comm, NULL, 0, RF_INT32, RF_SUM) == RF_OK);
	/* one that nobody takes ends with the communicator */
	EXPECT(r, rf_iallreduce_batch(r->comm, a.pieces, PIECES, RF_INT32, RF_MAX, &q[0]) == RF_OK);
	return rf_barrier(r->comm);
}

static void run_box(unsigned int n, unsigned int bad, int (*run)(struct rank *))
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, n, false, run);

	assert_non_null(box);
	all.timeout_ms = 20000;
	assert_int_equal(ranks_run(&all), bad);
	api_box_end(&all, box);
}

static void results(void **state)
{
	struct ranks all;

	(void)state;
	for (unsigned int n = 1; n <= 4; n++)
		run_box(n, 0, three_forms);
	ranks_init(&all, 3, three_forms);
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

static void flipped_bit(void **state)
{
	(void)state;
	flip = true;
	printf("one rank must report a wrong element:\n");
	run_box(1, 1, three_forms);
	flip = false;
}

static uint64_t packets(struct rank *r)
{
	struct rf_stats stats = {.size = sizeof(stats)};

	return rf_stats(r->ctx, &stats) ? 0 : stats.tx_data - stats.tx_repeats;
}

/* 1,000 all-reduces of 512 B need as many packets as one of 512,000 B. */
static int full_packets(struct rank *r)
{
	static float in[2][128000], out[2][128000];
	static struct rf_piece pieces[2][1000];
	uint64_t before, one, many;

	for (unsigned int k = 0; k < 1000; k++)
		pieces[r->rank][k] =
			(struct rf_piece){in[r->rank] + 128 * k, out[r->rank] + 128 * k, 128};
	before = packets(r);
	EXPECT(r,
	       rf_allreduce(r->comm, in[r->rank], out[r->rank], 128000, RF_FP32, RF_SUM) == RF_OK);
	one = packets(r) - before;
	before = packets(r);
	EXPECT(r, rf_allreduce_batch(r->comm, pieces[r->rank], 1000, RF_FP32, RF_SUM) == RF_OK);
	many = packets(r) - before;
	EXPECT(r, one == 500 && many == 500);
	return 0;
}

static void packets_are_full(void **state)
{
	(void)state;
	run_box(2, 0, full_packets);
}

static int refuses(struct rank *r)
{
	uint32_t a[8] = {0}, b[8];
	struct rf_request *q;
	struct rf_piece p[2] = {{a, b, 1}, {a, b, 1}};
	struct rf_context *ctx = r->ctx;

	EXPECT(r, rf_allreduce_batch(r->comm, NULL, 1, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, (enum rf_type)10, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_PRODUCT) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_AVERAGE) == RF_ERR_INVALID);
	EXPECT(r, rf_iallreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM, NULL) == RF_ERR_INVALID);
	p[1].send = NULL;
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(ctx), "piece 1: a buffer"));
	p[1] = (struct rf_piece){(char *)a + 1, b, 1};
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	p[1] = (struct rf_piece){a, a + 1, 2};
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(ctx), "overlap"));
	p[1] = (struct rf_piece){a, b, SIZE_MAX / 2};
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	p[1] = (struct rf_piece){(void *)8, b, 2};
	EXPECT(r, rf_allreduce_batch(r->comm, p, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(ctx), "not, or not all, memory"));
	/* the communicator is still usable; a failure frees the batch */
	p[1] = p[0];
	EXPECT(r, rf_allreduce_batch(r->comm, p, 1, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank == 0) {
		EXPECT(r, rf_iallreduce_batch(r->comm, p, 1, RF_INT32, RF_SUM, &q) == RF_OK);
		EXPECT(r, rf_comm_abort(r->comm) == RF_OK);
		EXPECT(r, rf_wait(q, FOREVER) == RF_ERR_ABORTED);
		EXPECT(r,
		       rf_allreduce_batch(r->comm, p, 1, RF_INT32, RF_SUM) == RF_ERR_GROUP_FAILED);
	}
	return 0;
}

static void refused(void **state)
{
	(void)state;
	run_box(2, 0, refuses);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(results),
		cmocka_unit_test(flipped_bit),
		cmocka_unit_test(packets_are_full),
		cmocka_unit_test(refused),
	};
	const char *text = argc > 1 ? argv[1] : getenv("RF_SEED");

	if (text)
		seed = strtoull(text, NULL, 0);
	printf("seed %llu: RF_SEED=%llu build/tests/api_batch\n", (unsigned long long)seed,
	       (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
