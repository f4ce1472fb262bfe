/*
 * Every collective through the public interface: each type and operation, each root, in place and
 * not, odd sizes, 1 to 8 ranks, with a box (the model) by mirror and ring, and without one. Every
 * byte of every buffer is compared with the reference of api_jobs.c.
 *
 *	api_collectives [--rtl] [SEED]		RF_SEED=N does the same
 *
 * --rtl: less of it, with the Verilog instead of the model.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/rng.h"
#include "host/collective/arith.h"
#include "tests/unit/api_box.h"
#include "tests/unit/api_job_calls.h"
#include "tests/unit/api_jobs.h"

static uint64_t seed = 1;
static bool flip; /* one bit of each result, before it is compared */

/* ---- one call ---- */

/* True if everything is as it must be. */
static bool compare(struct rank *r, const struct job *j, struct job_buffers *b)
{
	size_t wrong = job_compare(b);
	char text[200];

	job_text(j, r->all->n, text, sizeof(text));
	if (wrong)
		snprintf(r->text, sizeof(r->text),
			 "%zu wrong bytes in %s; seed %llu: RF_SEED=%llu "
			 "build/tests/api_collectives",
			 wrong, text, (unsigned long long)seed, (unsigned long long)seed);
	return wrong == 0;
}

static int one(struct rank *r, const struct job *j, const struct rf_order *order)
{
	struct job_buffers b;
	int ret;

	job_prepare(j, order, r->rank, &b);
	ret = job_call(r->comm, j, b.send, b.recv, NULL);
	if (ret)
		snprintf(r->text, sizeof(r->text), "%s: %s", job_names[j->kind],
			 rf_last_error_text(r->ctx));
	/* a comparison that sees nothing would be of no use */
	if (!ret && flip && r->rank == 0 && b.recv_bytes)
		b.recv[b.recv_bytes / 2] ^= 1;
	return compare(r, j, &b) ? ret : -1;
}

/* ---- the tables ---- */

/* Every collective with every type and operation it has. */
static int everything(struct rank *r)
{
	struct rf_order order = RF_ORDER_INIT;
	struct rf_rng rng = rf_rng_make(seed, r->all->n);
	unsigned int ranks = r->all->n;
	int ret = rf_comm_order(r->comm, &order);

	for (unsigned int kind = 0; kind < JOB_KINDS && !ret; kind++)
		for (unsigned int type = 0; type < 10 && !ret; type++)
			for (unsigned int o = 0; o < JOB_OPS && !ret; o++) {
				struct job j = {.kind = (enum job_kind)kind,
						.type = (enum rf_type)type,
						.op = job_ops[o],
						.root = (unsigned int)rf_rng_below(&rng, ranks),
						.in_place = rf_rng_below(&rng, 2),
						.key = rf_rng_next(&rng)};

				if (!job_has(j.type, j.op) || (!job_about[kind].reduces && o))
					continue;
				job_draw_counts(&j, ranks, &rng, job_about[kind].one ? 900 : 300);
				ret = one(r, &j, &order);
			}
	return ret;
}

/* Every root, in place and not, with sizes around the packet and larger ones. */
static int roots_and_sizes(struct rank *r)
{
	static const size_t sizes[] = {0, 1, 255, 256, 257, 3001};
	struct rf_order order = RF_ORDER_INIT;
	struct rf_rng rng = rf_rng_make(seed, 100 + r->all->n);
	unsigned int ranks = r->all->n;
	int ret = rf_comm_order(r->comm, &order);

	for (unsigned int kind = 0; kind < JOB_KINDS && !ret; kind++)
		for (unsigned int root = 0; root < (job_about[kind].root ? ranks : 1) && !ret;
		     root++)
			for (unsigned int k = 0; k < 12 && !ret; k++) {
				struct job j = {.kind = (enum job_kind)kind,
						.type = RF_FP32,
						.op = RF_SUM,
						.root = root,
						.in_place = k % 2,
						.key = rf_rng_next(&rng)};

				for (unsigned int b = 0; b < ranks; b++)
					j.counts[b] =
						job_about[kind].v
							? sizes[(k / 2 + b) % 5]
							: sizes[k / 2] /
								  (job_about[kind].one ? 1 : 3);
				ret = one(r, &j, &order);
			}
	return ret;
}

/* Forty calls outstanding, of all kinds; gatherv and scatterv hold those behind them. */
static int outstanding(struct rank *r)
{
	enum { N = 40 };
	struct rf_order order = RF_ORDER_INIT;
	struct rf_rng rng = rf_rng_make(seed, 200 + r->all->n);
	struct rf_request *q[N];
	struct job j[N];
	struct job_buffers b[N];
	bool good = true;

	EXPECT(r, rf_comm_order(r->comm, &order) == RF_OK);
	for (unsigned int k = 0; k < N; k++) {
		j[k] = (struct job){.kind = (enum job_kind)rf_rng_below(&rng, JOB_KINDS),
				    .type = (enum rf_type)rf_rng_below(&rng, 10),
				    .root = (unsigned int)rf_rng_below(&rng, r->all->n),
				    .key = rf_rng_next(&rng)};
		do {
			j[k].op = job_ops[rf_rng_below(&rng, JOB_OPS)];
		} while (!job_has(j[k].type, j[k].op));
		job_draw_counts(&j[k], r->all->n, &rng, 400);
		job_prepare(&j[k], &order, r->rank, &b[k]);
		EXPECT(r, job_call(r->comm, &j[k], b[k].send, b[k].recv, &q[k]) == RF_OK);
	}
	EXPECT(r, rf_wait_all(q, N, (unsigned int)-1) == RF_OK);
	for (unsigned int k = 0; k < N; k++)
		good = compare(r, &j[k], &b[k]) && good;
	return good ? 0 : -1;
}

static int all_of_it(struct rank *r)
{
	int ret = everything(r);

	if (!ret)
		ret = roots_and_sizes(r);
	for (unsigned int k = 0; k < 3 && !ret; k++)
		ret = outstanding(r);
	return ret;
}

static void by_ring(struct rank *r, struct rf_context_config *context, struct rf_comm_config *comm)
{
	(void)r;
	(void)r;
	(void)context;
	comm->steering = RF_STEERING_RING;
}

static void run_box(unsigned int n, bool ring, int (*body)(struct rank *))
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, n, ring, body);

	assert_non_null(box);
	all.timeout_ms = 20000;
	all.prepare = ring ? by_ring : NULL;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

static void one_rank(void **state)
{
	(void)state;
	run_box(1, false, all_of_it);
}

static void two_to_four_ranks(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 4; n++)
		run_box(n, false, all_of_it);
}

static void five_to_eight_ranks(void **state)
{
	(void)state;
	for (unsigned int n = 5; n <= 8; n++)
		run_box(n, false, n == 8 ? everything : roots_and_sizes);
}

static void ring_connections(void **state)
{
	(void)state;
	run_box(3, true, everything);
	run_box(5, true, outstanding);
}

/* The ranks alone. */
static void run_hosts(unsigned int n, unsigned int mtu, int (*body)(struct rank *))
{
	struct ranks all;

	ranks_init(&all, n, body);
	all.mtu = mtu;
	all.timeout_ms = 20000;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* Larger vectors than those of the tables, beyond the limit of small ones. */
static int larger(struct rank *r)
{
	struct rf_order order = RF_ORDER_INIT;
	struct rf_rng rng = rf_rng_make(seed, 300 + r->all->n);
	int ret = rf_comm_order(r->comm, &order);

	for (unsigned int kind = 0; kind < JOB_KINDS && !ret; kind++) {
		struct job j = {.kind = (enum job_kind)kind,
				.type = RF_FP64,
				.root = (unsigned int)rf_rng_below(&rng, r->all->n),
				.in_place = rf_rng_below(&rng, 2),
				.key = rf_rng_next(&rng)};

		job_draw_counts(&j, r->all->n, &rng, 30000);
		ret = one(r, &j, &order);
	}
	return ret;
}

static void without_a_box(void **state)
{
	(void)state;
	for (unsigned int n = 2; n <= 8; n++) {
		run_hosts(n, n % 2 ? 256 : 1024, n < 4 ? all_of_it : outstanding);
		run_hosts(n, 1024, larger);
	}
	run_hosts(5, 1024, everything);
	run_hosts(7, 1024, roots_and_sizes);
}

/* Frames are lost once the communicator is there. */
static int lossy(struct rank *r)
{
	struct rf_stats stats = {.size = sizeof(stats)};
	int ret = rank_meet(r);

	api_box_lose(20);
	for (unsigned int k = 0; k < 3 && !ret; k++)
		ret = outstanding(r);
	if (!ret)
		ret = roots_and_sizes(r);
	/* all are done before one of them leaves */
	if (!ret)
		ret = rank_meet(r);
	api_box_lose(0);
	if (!ret)
		EXPECT(r, rf_stats(r->ctx, &stats) == RF_OK && stats.tx_repeats > 0);
	return ret;
}

static void lost_frames(void **state)
{
	(void)state;
	run_box(3, false, lossy);
	run_box(3, true, lossy);
}

static void few_slots(struct rank *r, struct rf_context_config *context,
		      struct rf_comm_config *comm)
{
	context->progress = r->all->arg ? RF_PROGRESS_MANUAL : RF_PROGRESS_THREAD;
	comm->slots = 16;
}

/* Path MTUs, few slots, and progress by the callers. */
static void other_settings(void **state)
{
	static const unsigned int mtus[] = {256, 2048, 4096};

	(void)state;
	for (unsigned int k = 0; k < 3; k++) {
		struct ranks all;
		struct api_box *box = api_box_ranks(&all, 3, false, k ? outstanding : everything);

		assert_non_null(box);
		all.mtu = mtus[k];
		all.timeout_ms = 20000;
		all.prepare = few_slots;
		all.manual = k == 2;
		all.arg = k == 2 ? &all : NULL;
		assert_int_equal(ranks_run(&all), 0);
		api_box_end(&all, box);
	}
}

static int once(struct rank *r)
{
	struct rf_order order = RF_ORDER_INIT;
	struct job j = {.kind = JOB_ALLREDUCE, .counts = {1000}};
	int ret = rf_comm_order(r->comm, &order);

	return ret ? ret : one(r, &j, &order);
}

static void flipped_bit(void **state)
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, 2, false, once);

	(void)state;
	assert_non_null(box);
	flip = true;
	printf("one rank must report a wrong byte:\n");
	assert_int_equal(ranks_run(&all), 1);
	flip = false;
	assert_non_null(strstr(all.rank[0].text, "1 wrong bytes in allreduce of fp32 sum"));
	api_box_end(&all, box);
}

/* ---- a fault of the library's own arithmetic ---- */

static atomic_bool faulty;

void __real_rf_arith_reduce(enum rf_arith_type type, enum rf_arith_op op, void *out, const void *a,
			    const void *b, size_t count);
void __wrap_rf_arith_reduce(enum rf_arith_type type, enum rf_arith_op op, void *out, const void *a,
			    const void *b, size_t count);

void __wrap_rf_arith_reduce(enum rf_arith_type type, enum rf_arith_op op, void *out, const void *a,
			    const void *b, size_t count)
{
	__real_rf_arith_reduce(type, op, out, a, b, count);
	/* every element: one alone may be hidden by the next fault */
	for (size_t k = 0; k < count && atomic_load(&faulty); k++)
		((uint8_t *)out)[k * rf_arith_size(type)] ^= 1;
}

/* Without a box nothing but the library adds: the reference must not do it in the same way. */
static int sums(struct rank *r)
{
	struct rf_order order = RF_ORDER_INIT;
	struct job j = {.kind = JOB_ALLREDUCE, .type = RF_BF16, .op = RF_SUM, .key = seed};
	int ret = rf_comm_order(r->comm, &order);

	j.counts[0] = 100;
	return ret ? ret : one(r, &j, &order);
}

static void wrong_arithmetic(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 3, sums);
	assert_int_equal(ranks_run(&all), 0);
	atomic_store(&faulty, true);
	printf("every rank must report wrong bytes:\n");
	assert_int_equal(ranks_run(&all), 3);
	atomic_store(&faulty, false);
	ranks_free(&all);
}

static int roots_sizes_outstanding(struct rank *r)
{
	int ret = roots_and_sizes(r);

	return ret ? ret : outstanding(r);
}

static void by_mirror(void **state)
{
	(void)state;
	run_box(2, false, everything);
	run_box(4, false, roots_sizes_outstanding);
	run_box(8, false, outstanding);
}

static void by_rings(void **state)
{
	(void)state;
	run_box(3, true, roots_sizes_outstanding);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest verilog[] = {
		cmocka_unit_test(by_mirror),
		cmocka_unit_test(by_rings),
		cmocka_unit_test(flipped_bit),
	};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_rank),
		cmocka_unit_test(two_to_four_ranks),
		cmocka_unit_test(five_to_eight_ranks),
		cmocka_unit_test(ring_connections),
		cmocka_unit_test(without_a_box),
		cmocka_unit_test(lost_frames),
		cmocka_unit_test(other_settings),
		cmocka_unit_test(flipped_bit),
		cmocka_unit_test(wrong_arithmetic),
	};
	bool rtl = argc > 1 && strcmp(argv[1], "--rtl") == 0;
	const char *text = argc > 1 + rtl ? argv[1 + rtl] : getenv("RF_SEED");

	if (text)
		seed = strtoull(text, NULL, 0);
	printf("seed %llu: RF_SEED=%llu build/tests/api_collectives%s\n", (unsigned long long)seed,
	       (unsigned long long)seed, rtl ? " --rtl" : "");
	api_box_verilog(rtl);
	if (rtl)
		api_box_patient();
	return rtl ? cmocka_run_group_tests(verilog, NULL, NULL)
		   : cmocka_run_group_tests(tests, NULL, NULL);
}
