/*
 * All collectives among hosts: each kind, type and operation, every root, in place and not, odd
 * sizes and v-forms, 1 to 9 and 16 ranks, over channels in memory with drawn interleavings. Every
 * byte is compared. `hosts_test quick` runs a part, for the mutants.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "tests/unit/hosts_net.h"

static struct hosts net;
static bool quick;

static const uint32_t groups[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};

#define GROUPS (sizeof(groups) / sizeof(groups[0]))

static struct hosts_cfg draw(uint32_t ranks, struct roce_random *rng)
{
	return (struct hosts_cfg){.ranks = ranks,
				  .message_bytes = 256u << roce_random_below(rng, 4),
				  .max_ops = 1 + roce_random_below(rng, 9),
				  .depth = 1 + roce_random_below(rng, HOSTS_DEPTH),
				  .plain = roce_random_below(rng, 4) == 0};
}

static void finish(const char *what)
{
	if (!hosts_run(&net)) {
		for (uint32_t r = 0; r < net.cfg.ranks; r++)
			print_error("rank %u: %u of %u started, %u done\n", r, net.started[r],
				    net.works, net.done[r]);
		fail_msg("%s, %u ranks: nothing moves any more", what, net.cfg.ranks);
	}
	for (uint32_t r = 0; r < net.cfg.ranks; r++) {
		assert_int_equal(net.status[r], RF_COLL_OK);
		assert_int_equal(net.done[r], net.works);
		assert_int_equal(rf_hosts_outstanding(net.machine[r]), 0);
	}
	if (hosts_wrong(&net))
		fail_msg("%s, %u ranks: %llu bytes are wrong", what, net.cfg.ranks,
			 (unsigned long long)hosts_wrong(&net));
	hosts_end(&net);
}

/* Elements of a call of about so many bytes in all, odd ones. */
static uint64_t elements(enum rf_collective_kind kind, enum rf_arith_type type, uint64_t bytes)
{
	uint64_t parts = rf_schedule_has_blocks(kind) ? net.cfg.ranks : 1;

	return bytes / parts / rf_arith_size(type) | 1;
}

/* Small vectors, and some beyond the limits of the small ways. */
static uint64_t draw_bytes(uint32_t ranks, struct roce_random *rng)
{
	uint32_t limit = (uint32_t)rf_hosts_small(ranks);

	switch (roce_random_below(rng, 4)) {
	case 0:
		return roce_random_below(rng, 64);
	case 1:
		return roce_random_below(rng, limit);
	case 2:
		return limit + 8 + roce_random_below(rng, 4000);
	default:
		return roce_random_below(rng, 2000);
	}
}

static void every_call(uint32_t ranks, enum rf_arith_type type, struct roce_random *rng)
{
	struct hosts_cfg c = draw(ranks, rng);

	hosts_start(&net, &c, roce_random_seed(roce_random(rng)));
	for (unsigned int kind = 1; kind <= RF_SCHEDULE_BARRIER; kind++) {
		enum rf_collective_kind k = (enum rf_collective_kind)kind;
		unsigned int ops = rf_schedule_reduces(k) ? RF_ARITH_COPY : 1;

		for (unsigned int op = 0; op < ops; op++) {
			uint32_t root = roce_random_below(rng, ranks);
			uint64_t count = elements(k, type, draw_bytes(ranks, rng));

			if (rf_arith_has(type, (enum rf_arith_op)op))
				hosts_add(&net, k, type, (enum rf_arith_op)op, root, count,
					  roce_random_below(rng, 3) == 0,
					  roce_random_below(rng, 2));
		}
	}
	finish("every call");
}

static void everything(void **state)
{
	struct roce_random rng = roce_random_start("hosts_test");

	(void)state;
	for (size_t g = 0; g < GROUPS; g++)
		for (unsigned int t = 0; t < (quick ? 4 : RF_ARITH_TYPES); t++)
			every_call(groups[g], (enum rf_arith_type)t, &rng);
}

/* Each way at each root, out of place and in place, small and large. */
static void every_root(void **state)
{
	struct roce_random rng = roce_random_start("hosts_test");

	(void)state;
	for (size_t g = 1; g < GROUPS; g++) {
		for (uint32_t root = 0; root < groups[g]; root += quick ? 3 : 1) {
			struct hosts_cfg c = draw(groups[g], &rng);

			hosts_start(&net, &c, roce_random_seed(roce_random(&rng)));
			for (unsigned int k = 0; k < 16; k++) {
				static const enum rf_collective_kind kinds[] = {
					RF_SCHEDULE_REDUCE, RF_SCHEDULE_BROADCAST,
					RF_SCHEDULE_GATHER, RF_SCHEDULE_SCATTER};
				uint64_t small = rf_hosts_small(groups[g]);
				uint64_t count = elements(kinds[k % 4], RF_ARITH_FP32,
							  k & 4 ? small + 100 : 1000);

				hosts_add(&net, kinds[k % 4], RF_ARITH_FP32, RF_ARITH_SUM, root,
					  count, false, k & 8);
			}
			finish("every root");
		}
	}
}

/*
 * Vectors many times as long as the scratch: no rank waits for slots that others hold. Blocks of
 * different lengths, and last parts that are shorter.
 */
static void long_vectors(void **state)
{
	struct roce_random rng = roce_random_start("hosts_test");

	(void)state;
	for (uint32_t ranks = 2; ranks <= (quick ? 4 : 6); ranks++) {
		struct hosts_cfg c = {.ranks = ranks, .message_bytes = 4096, .max_ops = 3};

		for (c.depth = 1; c.depth <= HOSTS_DEPTH; c.depth += 7) {
			hosts_start(&net, &c, roce_random_seed(roce_random(&rng)));
			for (unsigned int kind = 1; kind < RF_SCHEDULE_BARRIER; kind++) {
				enum rf_collective_kind k = (enum rf_collective_kind)kind;
				uint64_t bytes = 16 * 4096 * 3 * (uint64_t)ranks;

				bytes += roce_random_below(&rng, 40000);
				hosts_add(&net, k, RF_ARITH_FP32, RF_ARITH_SUM, ranks - 1,
					  elements(k, RF_ARITH_FP32, bytes), ranks & 1,
					  roce_random_below(&rng, 2));
			}
			finish("long vectors");
		}
	}
}

/* A broadcast beyond the limit of its tree. */
static void a_long_broadcast(void **state)
{
	struct hosts_cfg c = {.ranks = 5, .message_bytes = 8192, .depth = 3};

	(void)state;
	for (uint32_t root = 0; root < c.ranks; root++) {
		hosts_start(&net, &c, roce_random_seed(root));
		hosts_add(&net, RF_SCHEDULE_BROADCAST, RF_ARITH_INT64, RF_ARITH_SUM, root,
			  5 * 32768 / 8, false, false);
		hosts_add(&net, RF_SCHEDULE_BROADCAST, RF_ARITH_INT64, RF_ARITH_SUM, root,
			  5 * 32768 / 8 + 1, false, true);
		finish("a long broadcast");
	}
}

/* Both sides of the limit of small vectors, and vectors shorter than the ranks. */
static void limits(void **state)
{
	(void)state;
	for (size_t g = 1; g < GROUPS; g++) {
		struct hosts_cfg c = {.ranks = groups[g], .message_bytes = 1024, .depth = 4};
		uint64_t small = rf_hosts_small(groups[g]);

		assert_int_equal(small, groups[g] < 8 ? 4096 * groups[g] : 32768);
		hosts_start(&net, &c, roce_random_seed(g));
		for (uint64_t bytes = 0; bytes <= 8; bytes += 4)
			hosts_add(&net, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP32, RF_ARITH_SUM, 0,
				  bytes / 4, false, false);
		for (uint64_t bytes = small - 4; bytes <= small + 4; bytes += 4) {
			hosts_add(&net, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP32, RF_ARITH_SUM, 0,
				  bytes / 4, false, false);
			hosts_add(&net, RF_SCHEDULE_REDUCE, RF_ARITH_FP32, RF_ARITH_SUM, 1,
				  bytes / 4, false, false);
		}
		finish("limits");
	}
}

/* How many messages each way makes: those of the formulas in docs/collective.md. */
static void messages_are_counted(void **state)
{
	static const struct {
		enum rf_collective_kind kind;
		uint32_t ranks;
		uint64_t bytes, messages; /* messages of 1024 bytes */
	} rows[] = {
		{RF_SCHEDULE_ALL_REDUCE, 8, 1024, 8 * 3},
		{RF_SCHEDULE_ALL_REDUCE, 6, 1024, 4 * 2 + 2 + 2},
		{RF_SCHEDULE_ALL_REDUCE, 4, 64 * 1024, 4 * 6 * 16},
		{RF_SCHEDULE_REDUCE, 7, 1024, 6},
		{RF_SCHEDULE_REDUCE, 7, 40 * 1024, 6 * 40},
		{RF_SCHEDULE_BROADCAST, 7, 2048, 6 * 2},
		{RF_SCHEDULE_REDUCE_SCATTER, 4, 4096, 4 * 3},
		{RF_SCHEDULE_ALL_GATHER, 4, 4096, 4 * 3},
		/* Distances of the numbers 1 to 7 from the root, in bits. */
		{RF_SCHEDULE_GATHER, 8, 8192, 1 + 1 + 2 + 1 + 2 + 2 + 3},
		{RF_SCHEDULE_SCATTER, 8, 8192, 1 + 1 + 2 + 1 + 2 + 2 + 3},
		{RF_SCHEDULE_BARRIER, 5, 8192, 5 * 3},
	};

	(void)state;
	for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
		struct hosts_cfg c = {
			.ranks = rows[k].ranks, .message_bytes = 1024, .depth = HOSTS_DEPTH};

		hosts_start(&net, &c, roce_random_seed(k));
		hosts_add(&net, rows[k].kind, RF_ARITH_INT8, RF_ARITH_MAX, 2,
			  rf_schedule_has_blocks(rows[k].kind) ? rows[k].bytes / c.ranks
							       : rows[k].bytes,
			  false, false);
		assert_int_equal(hosts_run(&net), 1);
		assert_int_equal(net.messages, rows[k].messages);
		finish(rf_schedule_name(rows[k].kind));
	}
}

/* A bit that changes on the way is seen by the comparison. */
static void a_wrong_bit_is_counted(void **state)
{
	struct hosts_cfg c = {.ranks = 3, .message_bytes = 256, .depth = 4};

	(void)state;
	for (unsigned int kind = 1; kind < RF_SCHEDULE_BARRIER; kind++) {
		hosts_start(&net, &c, roce_random_seed(kind));
		net.flip = 2;
		hosts_add(&net, (enum rf_collective_kind)kind, RF_ARITH_UINT8, RF_ARITH_XOR, 0, 300,
			  false, false);
		assert_int_equal(hosts_run(&net), 1);
		assert_true(hosts_wrong(&net) > 0);
		hosts_end(&net);
	}
}

/* The comparison tells the orders of additions apart. */
static void the_order_counts(void **state)
{
	struct hosts_cfg c = {.ranks = 5, .message_bytes = 1024, .depth = 4};
	static char ring[4000], tree[4000];

	(void)state;
	hosts_start(&net, &c, roce_random_seed(1));
	hosts_add(&net, RF_SCHEDULE_ALL_REDUCE, RF_ARITH_FP32, RF_ARITH_SUM, 0, 1000, false, false);
	hosts_all_reduced(&net.work[0], 5, true, 4000, tree);
	hosts_all_reduced(&net.work[0], 5, false, 4000, ring);
	assert_memory_not_equal(tree, ring, 4000);
	assert_int_equal(hosts_run(&net), 1);
	assert_memory_equal(net.work[0].recv[3], tree, 4000);
	hosts_end(&net);
}

/* ---- ranks that make different calls ---- */

static int start(uint32_t r, const struct rf_directed_call *call)
{
	static int32_t send[HOSTS_RANKS][8192], recv[HOSTS_RANKS][8192];
	struct rf_directed_call c = *call;

	c.send = send[r];
	c.recv = recv[r];
	return rf_hosts_start(net.machine[r], 0, &c);
}

/* Rank 1 of 3 makes another call than the others; returns the first rank's error. */
static int disagree(const struct rf_directed_call *a, const struct rf_directed_call *b, bool plain,
		    uint32_t *who)
{
	struct hosts_cfg c = {
		.ranks = 3, .message_bytes = 4096, .depth = HOSTS_DEPTH, .plain = plain};
	int error = RF_COLL_OK;

	hosts_start(&net, &c, roce_random_seed(1));
	for (uint32_t r = 0; r < 3; r++)
		assert_int_equal(start(r, r == 1 ? b : a), RF_COLL_OK);
	net.works = 1; /* as if the calls were in the list */
	for (uint32_t r = 0; r < 3; r++)
		net.started[r] = 1;
	(void)hosts_run(&net);
	for (uint32_t r = 0; r < 3 && error == RF_COLL_OK; r++) {
		error = net.status[r];
		*who = r;
	}
	return error;
}

static void different_calls_are_found(void **state)
{
	static const struct rf_directed_call base = {
		.kind = RF_SCHEDULE_ALL_REDUCE, .type = RF_ARITH_INT32, .count = 64};
	struct rf_directed_call other;
	struct rf_hosts_failure f;
	uint32_t who = 0;

	(void)state;
#define DIFFERS(plain, error, change)                                                              \
	do {                                                                                       \
		other = base;                                                                      \
		change;                                                                            \
		assert_int_equal(disagree(&base, &other, plain, &who), error);                     \
		rf_hosts_failure(net.machine[who], &f);                                            \
		net.works = 0;                                                                     \
		hosts_end(&net);                                                                   \
	} while (0)
	DIFFERS(false, RF_COLL_OK, other.count = 64);
	DIFFERS(false, RF_COLL_E_IMMEDIATE, other.op = RF_ARITH_MIN);
	assert_int_equal(f.got ^ f.want, 1u << 8 | ((f.got ^ f.want) & 0x03ff3000));
	assert_true(f.from);
	DIFFERS(false, RF_COLL_E_IMMEDIATE, other.type = RF_ARITH_UINT32);
	DIFFERS(false, RF_COLL_E_IMMEDIATE, other.kind = RF_SCHEDULE_BROADCAST);
	DIFFERS(true, RF_COLL_E_LENGTH, other.count = 60);
	assert_true((f.got == 240 && f.want == 256) || (f.got == 256 && f.want == 240));
	DIFFERS(false, RF_COLL_E_LENGTH, other.count = 60);
	/* Longer than the buffer: the transport finds it first. */
	DIFFERS(false, RF_COLL_E_CHANNEL, other.count = 68);
	assert_int_equal(f.status, 7);
	/* Of equal length, but with another root. */
	other = base;
	other.kind = RF_SCHEDULE_REDUCE;
	DIFFERS(true, RF_COLL_E_LENGTH, other.count = 2);
}

/* Only the hash tells a call with equal blocks from a v-form with equal counts. */
static void the_hash_counts(void **state)
{
	static const uint64_t counts[3] = {64, 64, 64};
	struct rf_directed_call a = {
		.kind = RF_SCHEDULE_ALL_GATHER, .type = RF_ARITH_INT32, .count = 64};
	struct rf_directed_call b = a;
	struct rf_hosts_failure f;
	uint32_t who;

	(void)state;
	b.counts = counts;
	assert_int_equal(disagree(&a, &b, false, &who), RF_COLL_E_IMMEDIATE);
	rf_hosts_failure(net.machine[who], &f);
	assert_int_equal((f.got ^ f.want) & ~0x03ff3000u, 0);
	net.works = 0;
	hosts_end(&net);
	assert_int_equal(disagree(&a, &b, true, &who), RF_COLL_OK);
	net.works = 0;
	hosts_end(&net);
}

/* With different roots a rank may wait for a message that no rank sends: the caller's deadline. */
static void different_roots_wait(void **state)
{
	struct rf_directed_call a = {
		.kind = RF_SCHEDULE_GATHER, .type = RF_ARITH_INT32, .count = 64, .root = 0};
	struct rf_directed_call b = a;
	uint32_t who;

	(void)state;
	b.root = 2;
	assert_int_equal(disagree(&a, &b, false, &who), RF_COLL_OK);
	assert_int_equal(net.done[0], 0);
	net.works = 0;
	hosts_end(&net);
}

/* After an error every call ends with it, and more are refused. */
static void after_an_error(void **state)
{
	struct hosts_cfg c = {.ranks = 4, .message_bytes = 256, .depth = 2, .max_ops = 4};
	struct rf_directed_call call = {
		.kind = RF_SCHEDULE_ALL_REDUCE, .type = RF_ARITH_INT32, .count = 64};
	struct rf_coll_done done;
	struct rf_hosts_failure f;

	(void)state;
	hosts_start(&net, &c, roce_random_seed(3));
	for (int k = 0; k < 4; k++)
		assert_int_equal(start(2, &call), RF_COLL_OK);
	assert_int_equal(start(2, &call), RF_COLL_AGAIN);
	assert_true(rf_hosts_progress(net.machine[2]) > 0);
	net.end[2][3].status = 9; /* two ranks before it */
	assert_int_equal(rf_hosts_progress(net.machine[2]), RF_COLL_E_CHANNEL);
	rf_hosts_failure(net.machine[2], &f);
	assert_int_equal(f.peer, 0);
	assert_int_equal(f.status, 9);
	assert_int_equal(start(2, &call), RF_COLL_E_CHANNEL);
	for (int k = 0; k < 4; k++) {
		assert_int_equal(rf_hosts_poll(net.machine[2], &done), 1);
		assert_int_equal(done.status, RF_COLL_E_CHANNEL);
	}
	assert_int_equal(rf_hosts_poll(net.machine[2], &done), 0);
	hosts_end(&net);
}

/* Events that belong to nothing. */
static void stray_events(void **state)
{
	struct hosts_cfg c = {.ranks = 2, .message_bytes = 256, .depth = 2};

	(void)state;
	for (int sent = 0; sent < 2; sent++) {
		struct hosts_end *e;

		hosts_start(&net, &c, roce_random_seed(3));
		e = &net.end[1][0];
		e->acked = (uint64_t)sent;
		e->arrived = 1 - e->acked;
		assert_int_equal(rf_hosts_progress(net.machine[1]), RF_COLL_E_CHANNEL);
		hosts_end(&net);
	}
}

static void refused(void **state)
{
	struct hosts_cfg c = {.ranks = 3, .message_bytes = 256, .depth = 2};
	static double a[64];
	struct rf_directed_call call = {.kind = RF_SCHEDULE_ALL_REDUCE,
					.type = RF_ARITH_FP64,
					.count = 8,
					.send = a,
					.recv = a + 32};
	struct rf_directed_call bad;

	(void)state;
	hosts_start(&net, &c, roce_random_seed(1));
#define NOT(error, change)                                                                         \
	do {                                                                                       \
		bad = call;                                                                        \
		change;                                                                            \
		assert_int_equal(rf_hosts_start(net.machine[0], 0, &bad), error);                  \
	} while (0)
	NOT(RF_COLL_E_PRODUCT, bad.op = RF_ARITH_PRODUCT);
	NOT(RF_COLL_E_INVALID, bad.op = RF_ARITH_XOR);
	NOT(RF_COLL_E_INVALID, bad.kind = RF_SCHEDULE_BATCH);
	NOT(RF_COLL_E_INVALID, (bad.kind = RF_SCHEDULE_REDUCE, bad.root = 3));
	NOT(RF_COLL_E_INVALID, bad.send = NULL);
	NOT(RF_COLL_E_INVALID, bad.count = UINT64_MAX / 4);
	NOT(RF_COLL_E_ALIGNMENT, bad.send = (char *)a + 4);
	NOT(RF_COLL_E_OVERLAP, bad.recv = a + 4);
	assert_int_equal(rf_hosts_outstanding(net.machine[0]), 0);
	hosts_end(&net);
}

static void configurations(void **state)
{
	struct hosts_cfg c = {.ranks = 5, .message_bytes = 256, .depth = 2};
	static uint64_t scratch[40000];
	struct rf_hosts_cfg good = {.rank = 4, .ranks = 5, .mtu = 256}, bad;
	struct rf_hosts *h = NULL;

	(void)state;
	hosts_start(&net, &c, roce_random_seed(1));
	for (int k = 0; k < 3; k++) {
		good.next[k] =
			(struct rf_msg){net.end[4][0].net ? &(struct rf_msg_ops){0} : NULL, NULL};
		good.prev[k] = good.next[k];
	}
	good.scratch = scratch;
	good.scratch_bytes = sizeof(scratch);
#define REFUSED(change)                                                                            \
	do {                                                                                       \
		bad = good;                                                                        \
		change;                                                                            \
		assert_int_equal(rf_hosts_create(&bad, &h), RF_COLL_E_INVALID);                    \
		assert_null(h);                                                                    \
	} while (0)
	REFUSED(bad.rank = 5);
	REFUSED(bad.ranks = 0);
	REFUSED(bad.ranks = RF_HOSTS_RANKS_MAX + 1);
	REFUSED(bad.mtu = 300);
	REFUSED(bad.max_ops = 1025);
	REFUSED(bad.message_bytes = 300);
	REFUSED(bad.prev[2].ops = NULL);
	REFUSED(bad.next[0].ops = NULL);
	REFUSED(bad.scratch = NULL);
	REFUSED(bad.scratch = (char *)scratch + 4);
	REFUSED(bad.scratch_bytes = rf_hosts_scratch_bytes(&good) - 1);
	assert_int_equal(rf_hosts_scratch_bytes(&good), 16 * 64 * 256);
	assert_int_equal(rf_hosts_create(&good, &h), RF_COLL_OK);
	rf_hosts_destroy(h);
	rf_hosts_destroy(NULL);
	hosts_end(&net);
	assert_int_equal(rf_hosts_reach(1), 0);
	assert_int_equal(rf_hosts_reach(2), 1);
	assert_int_equal(rf_hosts_reach(3), 2);
	assert_int_equal(rf_hosts_reach(128), RF_HOSTS_REACH);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(everything),
		cmocka_unit_test(every_root),
		cmocka_unit_test(long_vectors),
		cmocka_unit_test(a_long_broadcast),
		cmocka_unit_test(limits),
		cmocka_unit_test(messages_are_counted),
		cmocka_unit_test(a_wrong_bit_is_counted),
		cmocka_unit_test(the_order_counts),
		cmocka_unit_test(different_calls_are_found),
		cmocka_unit_test(the_hash_counts),
		cmocka_unit_test(different_roots_wait),
		cmocka_unit_test(after_an_error),
		cmocka_unit_test(stray_events),
		cmocka_unit_test(refused),
		cmocka_unit_test(configurations),
	};

	quick = argc > 1 && strcmp(argv[1], "quick") == 0;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
