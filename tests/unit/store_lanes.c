/* Many gathers at a time: lanes, subsets of the ranks, queues, numbers, and what ends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/socket.h>
#include <time.h>

#include "host/store/store_server.h"
#include "ringfold/ringfold.h"
#include "tests/unit/store_world.h"

struct taking {
	struct rf_store_call *call;
	uint32_t number;
	char why[512];
	uint8_t values[16];
	int ret;
};

static void start(struct taking *t, struct rf_store *s, unsigned int ranks, const char *lane,
		  const char *name, char value, unsigned int timeout)
{
	const uint8_t set[16] = {(uint8_t)ranks};
	const struct rf_store_gather g = {.ranks = set,
					  .lane = lane,
					  .name = name,
					  .value = &value,
					  .len = 1,
					  .timeout_ms = timeout,
					  .number = &t->number};

	memset(t, 0, sizeof(*t));
	t->ret = RF_IN_PROGRESS;
	assert_int_equal(rf_store_start(s, &g, &t->call, t->why, sizeof(t->why)), RF_OK);
}

static int test(struct taking *t, struct rf_store *s)
{
	if (t->ret == RF_IN_PROGRESS)
		t->ret = rf_store_test(s, t->call, t->values, t->why, sizeof(t->why));
	return t->ret;
}

static int finish(struct taking *t, struct rf_store *s)
{
	for (unsigned int k = 0; k < 5000 && test(t, s) == RF_IN_PROGRESS; k++)
		rf_store_wait(s, 2);
	return t->ret;
}

/* Two ranks begin in opposite order: both gathers succeed, each with its own number. */
static void opposite_order(void **state)
{
	struct taking t[2][2];
	struct world w;

	(void)state;
	world_open(&w, 2, 2);
	gather_all(&w, 2);
	start(&t[0][0], w.store[0], 3, "a", "begin", 'p', 5000);
	start(&t[0][1], w.store[0], 3, "b", "begin", 'q', 5000);
	start(&t[1][1], w.store[1], 3, "b", "begin", 'r', 5000);
	start(&t[1][0], w.store[1], 3, "a", "begin", 's', 5000);
	for (unsigned int r = 0; r < 2; r++)
		for (unsigned int k = 0; k < 2; k++)
			assert_int_equal(finish(&t[r][k], w.store[r]), RF_OK);
	assert_memory_equal(t[0][0].values, "ps", 2);
	assert_memory_equal(t[1][1].values, "qr", 2);
	assert_int_equal(t[0][0].number, t[1][0].number);
	assert_int_equal(t[0][1].number, t[1][1].number);
	assert_int_not_equal(t[0][0].number, t[0][1].number);
	world_close(&w);
}

/* The same lane and name, but other ranks: these are different gathers. */
static void subsets(void **state)
{
	static const unsigned int sets[] = {3, 5, 6, 7, 4};
	struct taking t[3][5];
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	for (unsigned int r = 0; r < 3; r++)
		for (unsigned int k = 0; k < 5; k++) {
			unsigned int at = (k + r * 2) % 5;

			if (sets[at] >> r & 1)
				start(&t[r][at], w.store[r], sets[at], "x", "n", (char)('0' + r),
				      5000);
		}
	for (unsigned int r = 0; r < 3; r++)
		for (unsigned int k = 0; k < 5; k++) {
			char want[4] = "";
			unsigned int n = 0;

			if (!(sets[k] >> r & 1))
				continue;
			for (unsigned int i = 0; i < 3; i++)
				if (sets[k] >> i & 1)
					want[n++] = (char)('0' + i);
			assert_int_equal(finish(&t[r][k], w.store[r]), RF_OK);
			assert_memory_equal(t[r][k].values, want, n);
		}
	world_close(&w);
}

/* In one lane gathers wait for each other, in the order of their start. */
static void queue(void **state)
{
	struct taking t[2][3];
	struct world w;

	(void)state;
	world_open(&w, 2, 2);
	gather_all(&w, 2);
	for (unsigned int k = 0; k < 3; k++)
		start(&t[0][k], w.store[0], 3, "l", k == 1 ? "two" : "one", (char)('a' + k), 5000);
	for (unsigned int k = 0; k < 3; k++) {
		start(&t[1][k], w.store[1], 3, "l", k == 1 ? "two" : "one", (char)('x' + k), 5000);
		assert_int_equal(finish(&t[1][k], w.store[1]), RF_OK);
		/* rank 0 sends its next one when it looks */
		for (unsigned int i = 0; i <= k; i++)
			assert_int_equal(finish(&t[0][i], w.store[0]), RF_OK);
		assert_int_equal(t[0][k].values[0], 'a' + k);
		assert_int_equal(t[0][k].values[1], 'x' + k);
	}
	world_close(&w);
}

/* A mismatch, a deadline and a lost rank end one gather each, and name what they have to. */
static void failures(void **state)
{
	struct taking a[3], b[3], c[3], d[3];
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	/* waits through all that follows */
	start(&a[0], w.store[0], 3, "alive", "n", 'a', 20000);
	/* another name in the same lane */
	start(&b[0], w.store[0], 7, "l", "this", 'a', 5000);
	start(&b[1], w.store[1], 7, "l", "that", 'b', 5000);
	for (unsigned int r = 0; r < 2; r++) {
		assert_int_equal(finish(&b[r], w.store[r]), RF_ERR_MISMATCH);
		assert_non_null(strstr(b[r].why, "this"));
		assert_non_null(strstr(b[r].why, "that"));
		assert_non_null(strstr(b[r].why, "is at \""));
	}
	/* the deadline of rank 0 passes; rank 1 has come, rank 2 has not */
	start(&c[0], w.store[0], 7, "l", "n", 'a', 50);
	start(&c[1], w.store[1], 7, "l", "n", 'a', 60000);
	for (unsigned int r = 0; r < 2; r++) {
		assert_int_equal(finish(&c[r], w.store[r]), RF_ERR_RANK_MISSING);
		assert_non_null(strstr(c[r].why, "rank 2 did not arrive at \"n\""));
	}
	/* rank 2 is lost: that concerns only gathers with it, those to come included */
	start(&d[1], w.store[1], 6, "l", "n", 'a', 5000);
	shutdown(*(int *)w.store[2], SHUT_RDWR);
	assert_int_equal(finish(&d[1], w.store[1]), RF_ERR_RANK_LOST);
	assert_non_null(strstr(d[1].why, "rank 2 has ended"));
	start(&d[0], w.store[0], 7, "m", "n", 'a', 5000);
	assert_int_equal(finish(&d[0], w.store[0]), RF_ERR_RANK_LOST);
	assert_int_equal(test(&a[0], w.store[0]), RF_IN_PROGRESS);
	start(&a[1], w.store[1], 3, "alive", "n", 'b', 5000);
	assert_int_equal(finish(&a[1], w.store[1]), RF_OK);
	assert_int_equal(finish(&a[0], w.store[0]), RF_OK);
	assert_memory_equal(a[0].values, "ab", 2);
	world_close(&w);
}

/* A call that is given up: before it was sent, and after; its lane goes on. */
static void dropped(void **state)
{
	struct taking t[2][3];
	struct world w;

	(void)state;
	world_open(&w, 2, 2);
	gather_all(&w, 2);
	start(&t[0][0], w.store[0], 3, "l", "n", 'a', 5000);
	start(&t[0][1], w.store[0], 3, "l", "m", 'b', 5000); /* behind it: not sent */
	start(&t[0][2], w.store[0], 3, "l", "o", 'c', 5000);
	rf_store_drop(w.store[0], t[0][1].call);
	rf_store_drop(w.store[0], t[0][0].call);
	rf_store_drop(w.store[0], NULL);
	/* rank 1 still gets what was sent */
	start(&t[1][0], w.store[1], 3, "l", "n", 'x', 5000);
	assert_int_equal(finish(&t[1][0], w.store[1]), RF_OK);
	start(&t[1][2], w.store[1], 3, "l", "o", 'z', 5000);
	for (unsigned int k = 0; k < 5000 && test(&t[0][2], w.store[0]) == RF_IN_PROGRESS; k++) {
		test(&t[1][2], w.store[1]);
		rf_store_wait(w.store[0], 2);
	}
	assert_int_equal(t[0][2].ret, RF_OK);
	assert_int_equal(finish(&t[1][2], w.store[1]), RF_OK);
	assert_memory_equal(t[0][2].values, "cz", 2);
	world_close(&w);
}

/* A call that is cancelled ends the gather of those that have come. */
static void cancelled(void **state)
{
	struct taking t[3], late;
	struct rf_store_event e;
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	start(&t[0], w.store[0], 7, "l", "n", 'a', 20000);
	start(&t[1], w.store[1], 7, "l", "n", 'b', 20000);
	sleep_ms(50);
	assert_int_equal(test(&t[0], w.store[0]), RF_IN_PROGRESS);
	rf_store_cancel(w.store[1], t[1].call);
	assert_int_equal(finish(&t[0], w.store[0]), RF_ERR_ABORTED);
	assert_non_null(strstr(t[0].why, "rank 1 has cancelled \"n\""));
	/* the lane is free again; what is complete cannot be cancelled */
	for (unsigned int r = 0; r < 3; r++)
		start(&t[r], w.store[r], 7, "l", "n", (char)('a' + r), 5000);
	/* rank 1 sends it when it has read that its first one is over */
	for (unsigned int k = 0; k < 2000 && test(&t[0], w.store[0]) == RF_IN_PROGRESS; k++) {
		rf_store_poll(w.store[1], &e);
		rf_store_wait(w.store[0], 2);
	}
	assert_int_equal(t[0].ret, RF_OK);
	rf_store_cancel(w.store[1], t[1].call);
	assert_int_equal(finish(&t[2], w.store[2]), RF_OK);
	/* one that waits behind another in its lane was never sent */
	start(&t[0], w.store[0], 3, "l", "n", 'a', 20000);
	start(&late, w.store[0], 3, "l", "m", 'a', 20000);
	rf_store_cancel(w.store[0], late.call);
	start(&t[1], w.store[1], 3, "l", "n", 'b', 5000);
	assert_int_equal(finish(&t[1], w.store[1]), RF_OK);
	assert_int_equal(finish(&t[0], w.store[0]), RF_OK);
	world_close(&w);
}

/* The server's bound: what is too much is refused by name, the rest goes on. */
static void too_many(void **state)
{
	enum { N = STORE_MEETS + 40 };
	struct taking *t = calloc(2 * N, sizeof(*t));
	unsigned int refused = 0, left = N;
	struct world w;

	(void)state;
	assert_non_null(t);
	world_open(&w, 2, 2);
	gather_all(&w, 2);
	for (unsigned int k = 0; k < N; k++) {
		char lane[16];

		snprintf(lane, sizeof(lane), "lane %u", k);
		start(&t[k], w.store[0], 3, lane, "n", 'a', 20000);
		rf_store_wait(w.store[0], 0);
	}
	for (unsigned int round = 0; round < 2000 && refused < N - STORE_MEETS; round++) {
		rf_store_wait(w.store[0], 2);
		for (unsigned int k = 0; k < N; k++)
			refused += t[k].ret == RF_IN_PROGRESS &&
				   test(&t[k], w.store[0]) == RF_ERR_BUSY;
	}
	assert_int_equal(refused, N - STORE_MEETS);
	for (unsigned int k = 0; k < N; k++) {
		char lane[16];

		if (t[k].ret != RF_IN_PROGRESS) {
			assert_non_null(strstr(t[k].why, "no room"));
			left--;
			continue;
		}
		snprintf(lane, sizeof(lane), "lane %u", k);
		start(&t[N + k], w.store[1], 3, lane, "n", 'b', 20000);
		assert_int_equal(finish(&t[N + k], w.store[1]), RF_OK);
		assert_int_equal(finish(&t[k], w.store[0]), RF_OK);
	}
	assert_int_equal(left, STORE_MEETS);
	world_close(&w);
	free(t);
}

static uint64_t draw(uint64_t *x)
{
	*x ^= *x << 13;
	*x ^= *x >> 7;
	*x ^= *x << 17;
	return *x;
}

/* Any order of the lanes on each rank, with several gathers in each: all right, in number too. */
static void any_order(void **state)
{
	enum { RANKS = 3, LANES = 6, DEEP = 3, ALL = LANES * DEEP };
	static struct taking t[RANKS][ALL];
	const char *set = getenv("SEED");
	uint64_t seed = set ? strtoull(set, NULL, 10) : (uint64_t)time(NULL);
	uint64_t x = seed * 2654435761u + 88172645463325252u;
	struct world w;

	(void)state;
	printf("seed %llu: SEED=%llu build/tests/store_lanes\n", (unsigned long long)seed,
	       (unsigned long long)seed);
	world_open(&w, RANKS, RANKS);
	gather_all(&w, RANKS);
	for (unsigned int r = 0; r < RANKS; r++) {
		unsigned int depth[LANES] = {0};

		for (unsigned int k = 0; k < ALL; k++) {
			unsigned int lane = (unsigned int)(draw(&x) % LANES);
			char text[8];

			while (depth[lane] == DEEP)
				lane = (lane + 1) % LANES;
			snprintf(text, sizeof(text), "%u", lane);
			start(&t[r][lane * DEEP + depth[lane]], w.store[r], 7, text,
			      depth[lane] ? "later" : "first",
			      (char)('A' + r * ALL / 2 + lane + depth[lane]), 10000);
			depth[lane]++;
		}
	}
	for (unsigned int round = 0, left = 1; left && round < 5000; round++) {
		left = 0;
		for (unsigned int k = 0; k < RANKS * ALL; k++)
			left += test(&t[k / ALL][k % ALL], w.store[k / ALL]) == RF_IN_PROGRESS;
		rf_store_wait(w.store[round % RANKS], left ? 1 : 0);
	}
	for (unsigned int k = 0; k < ALL; k++)
		for (unsigned int r = 0; r < RANKS; r++) {
			assert_int_equal(t[r][k].ret, RF_OK);
			assert_int_equal(t[r][k].number, t[0][k].number);
			for (unsigned int i = 0; i < RANKS; i++)
				assert_int_equal(t[r][k].values[i],
						 'A' + i * ALL / 2 + k / DEEP + k % DEEP);
			for (unsigned int other = 0; other < k; other++)
				assert_int_not_equal(t[r][k].number, t[r][other].number);
		}
	world_close(&w);
}

static void bad_calls(void **state)
{
	char lane[RF_STORE_LANE_MAX + 2], why[512] = "";
	struct rf_store_gather g = {.name = "n", .lane = lane, .timeout_ms = 100};
	struct rf_store_call *call = NULL;
	struct world w;

	(void)state;
	world_open(&w, 1, 1);
	memset(lane, 'l', sizeof(lane));
	lane[sizeof(lane) - 1] = '\0';
	assert_int_equal(rf_store_start(w.store[0], &g, &call, why, sizeof(why)), RF_ERR_INVALID);
	assert_non_null(strstr(why, "too long"));
	assert_null(call);
	lane[sizeof(lane) - 2] = '\0';
	assert_int_equal(rf_store_start(w.store[0], &g, &call, why, sizeof(why)), RF_OK);
	rf_store_drop(w.store[0], call);
	world_close(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opposite_order), cmocka_unit_test(subsets),
		cmocka_unit_test(queue),          cmocka_unit_test(failures),
		cmocka_unit_test(dropped),        cmocka_unit_test(cancelled),
		cmocka_unit_test(too_many),       cmocka_unit_test(any_order),
		cmocka_unit_test(bad_calls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
