/* The store: joining, gathers, events. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/store/store_line.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"
#include "tests/unit/store_world.h"

/* A name or value that is too long for a message is refused before it is sent. */
static void too_long(void **state)
{
	struct world w;
	char why[512] = "", name[RF_STORE_KEY_MAX + 2];
	uint8_t big[RF_STORE_VALUE_MAX + 1] = {0}, all[RF_STORE_VALUE_MAX];

	(void)state;
	world_open(&w, 1, 1);
	memset(name, 'n', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	assert_int_equal(rf_store_gather(w.store[0], name, "x", 1, all, 50, why, sizeof(why)),
			 RF_ERR_INVALID);
	assert_non_null(strstr(why, "too long"));
	assert_int_equal(rf_store_gather(w.store[0], "", "x", 1, all, 50, why, sizeof(why)),
			 RF_ERR_INVALID);
	assert_int_equal(
		rf_store_gather(w.store[0], "n", big, sizeof(big), all, 50, why, sizeof(why)),
		RF_ERR_INVALID);
	assert_int_equal(
		rf_store_gather(w.store[0], name + 1, big, sizeof(all), all, 500, why, sizeof(why)),
		RF_OK);
	world_close(&w);
}

static void gathers(void **state)
{
	struct gatherer g[4];
	struct world w;
	unsigned int r, k, round;

	(void)state;
	world_open(&w, 4, 4);
	for (round = 0; round < 20; round++) {
		for (r = 0; r < 4; r++)
			gather_start(&g[r], &w, (r + round) % 4, "x", 2000);
		for (r = 0; r < 4; r++) {
			pthread_join(g[r].thread, NULL);
			assert_int_equal(g[r].ret, RF_OK);
			for (k = 0; k < 32; k++)
				assert_int_equal(g[r].values[k], 'a' + k / 8);
		}
	}
	world_close(&w);
}

static void missing_ranks_are_named(void **state)
{
	struct gatherer g[2];
	struct world w;
	unsigned int r;

	(void)state;
	world_open(&w, 6, 5);
	gather_start(&g[0], &w, 0, "here", 200);
	gather_start(&g[1], &w, 2, "here", 60000);
	for (r = 0; r < 2; r++) {
		pthread_join(g[r].thread, NULL);
		assert_int_equal(g[r].ret, RF_ERR_RANK_MISSING);
		assert_non_null(strstr(g[r].why, "ranks 1, 3, 4 and 5"));
		assert_non_null(strstr(g[r].why, "here"));
	}
	world_close(&w);
}

static void different_gathers(void **state)
{
	struct gatherer g[2];
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_start(&g[0], &w, 0, "one", 5000);
	gather_start(&g[1], &w, 1, "two", 5000);
	pthread_join(g[0].thread, NULL);
	pthread_join(g[1].thread, NULL);
	assert_int_equal(g[0].ret, RF_ERR_MISMATCH);
	assert_int_equal(g[1].ret, RF_ERR_MISMATCH);
	assert_non_null(strstr(g[0].why, "one"));
	assert_non_null(strstr(g[0].why, "two"));
	world_close(&w);
}

/* Waits for an event. */
static int event_wait(struct rf_store *store, struct rf_store_event *e)
{
	struct timespec ms = {.tv_nsec = 1000000};
	int ret = 0;
	int k;

	for (k = 0; k < 3000 && !ret; k++) {
		ret = rf_store_poll(store, e);
		if (!ret)
			nanosleep(&ms, NULL);
	}
	return ret;
}

/* The end of a rank's process is reported to the others, also during a gather; a regular departure
 * is not. */
static void lost_rank(void **state)
{
	struct rf_store_event e;
	struct gatherer g;
	struct world w;
	uint64_t job = 0;
	char why[512];

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	gather_start(&g, &w, 0, "next", 60000);
	/* as if its process had been killed: closed without a farewell message */
	assert_int_equal(rf_store_announce(w.store[2], -5, "x"), RF_OK);
	assert_int_equal(event_wait(w.store[1], &e), 1);
	shutdown(*(int *)w.store[2], SHUT_RDWR); /* fd is the first member */
	assert_int_equal(event_wait(w.store[1], &e), 1);
	assert_int_equal(e.rank, 2);
	assert_int_equal(e.status, RF_ERR_RANK_LOST);
	pthread_join(g.thread, NULL);
	assert_int_equal(g.ret, RF_ERR_RANK_LOST);
	assert_non_null(strstr(g.why, "rank 2"));
	assert_int_equal(rf_store_connect(HOST, w.port, 2, 3, &job, job_key, 100, &w.store[7], why,
					  sizeof(why)),
			 RF_ERR_RANK_LOST);
	rf_store_close(w.store[1]);
	w.store[1] = NULL;
	assert_int_equal(rf_store_poll(w.store[0], &e), 1); /* the announcement */
	assert_int_equal(e.status, -5);
	assert_int_equal(rf_store_poll(w.store[0], &e), 1); /* the loss */
	assert_int_equal(e.status, RF_ERR_RANK_LOST);
	assert_int_equal(rf_store_poll(w.store[0], &e), 0);
	world_close(&w);
}

/* Before all ranks have joined, a rank may leave and join again. */
static void restarted_rank(void **state)
{
	struct gatherer g;
	struct world w;
	char why[512] = "";
	uint64_t job = 0;

	(void)state;
	world_open(&w, 2, 2);
	gather_start(&g, &w, 0, "start", 5000);
	shutdown(*(int *)w.store[1], SHUT_RDWR);
	rf_store_close(w.store[1]);
	assert_int_equal(rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 2000, &w.store[1], why,
					  sizeof(why)),
			 RF_OK);
	assert_int_equal(
		rf_store_gather(w.store[1], "start", g.value, 8, g.values, 2000, why, sizeof(why)),
		RF_OK);
	pthread_join(g.thread, NULL);
	assert_int_equal(g.ret, RF_OK);
	world_close(&w);
}

static void announcement(void **state)
{
	struct rf_store_event e;
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	assert_int_equal(rf_store_announce(w.store[1], RF_ERR_ABORTED, "because"), RF_OK);
	assert_int_equal(event_wait(w.store[0], &e), 1);
	assert_int_equal(e.rank, 1);
	assert_int_equal(e.status, RF_ERR_ABORTED);
	assert_string_equal(e.text, "because");
	assert_int_equal(event_wait(w.store[2], &e), 1);
	assert_int_equal(rf_store_poll(w.store[1], &e), 0);
	world_close(&w);
}

/*
 * Rank 0's process stands still and its socket is full: announcing does not wait, because a whole
 * context would wait with it. What was taken arrives whole, in order, when the process goes on.
 */
static void nobody_reads(void **state)
{
	struct rf_store *s = calloc(1, sizeof(*s));
	struct rf_store_event e;
	uint64_t begin = rf_now_ms();
	uint8_t in[4096];
	unsigned int taken = 0, seen = 0;
	size_t have = 0;
	int pair[2], ret;

	(void)state;
	assert_non_null(s);
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
	s->fd = pair[0];
	while ((ret = rf_store_announce(s, (int)taken, "because")) == RF_OK)
		assert_true(++taken < 1000000);
	assert_int_equal(ret, RF_ERR_BUSY);
	assert_int_equal(rf_store_announce(s, 0, "too much"), RF_ERR_BUSY);
	assert_int_equal(rf_store_poll(s, &e), 0);
	assert_true(rf_now_ms() - begin < STORE_GRACE_MS);
	while (seen < taken) {
		ssize_t n = recv(pair[1], in + have, sizeof(in) - have, MSG_DONTWAIT);
		size_t at = 0;

		/* the rank looks at the store from time to time */
		assert_int_equal(rf_store_poll(s, &e), 0);
		assert_true(n > 0);
		have += (size_t)n;
		while (have - at >= 4 && have - at >= 4 + rf_get_be32(in + at)) {
			assert_int_equal(in[at + 4], STORE_ANNOUNCE);
			assert_int_equal(rf_get_be32(in + at + STORE_HEAD), seen++);
			at += 4 + rf_get_be32(in + at);
		}
		have -= at;
		memmove(in, in + at, have);
	}
	assert_int_equal(have, 0);
	close(pair[1]);
	assert_int_equal(rf_store_poll(s, &e), RF_ERR_BOOTSTRAP);
	rf_store_close(s);
}

static void server_ends(void **state)
{
	struct rf_store_event e;
	struct world w;
	char why[512];

	(void)state;
	world_open(&w, 2, 2);
	rf_store_server_stop(w.server, 0);
	w.server = NULL;
	assert_int_equal(event_wait(w.store[1], &e), RF_ERR_BOOTSTRAP);
	assert_int_equal(rf_store_poll(w.store[1], &e), 0);
	assert_int_equal(rf_store_gather(w.store[1], "x", NULL, 0, NULL, 100, why, sizeof(why)),
			 RF_ERR_RANK_LOST);
	assert_non_null(strstr(why, "rank 0"));
	world_close(&w);
}

static void refusals(void **state)
{
	struct rf_store_server *second;
	struct rf_store *s = NULL;
	struct world w;
	char why[512] = "";
	uint64_t job = 0;

	(void)state;
	world_open(&w, 2, 2);
	assert_int_equal(
		rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 500, &s, why, sizeof(why)),
		RF_ERR_RANK_TAKEN);
	assert_non_null(strstr(why, "rank 1"));
	assert_int_equal(
		rf_store_connect(HOST, w.port, 1, 3, &job, job_key, 500, &s, why, sizeof(why)),
		RF_ERR_MISMATCH);
	job = 78;
	assert_int_equal(
		rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 500, &s, why, sizeof(why)),
		RF_ERR_MISMATCH);
	assert_non_null(strstr(why, "77"));
	/* a second process of rank 0 finds the port in use, and its error names the owner */
	assert_int_equal(rf_store_serve(HOST, w.port, 2, 79, job_key, &second, why, sizeof(why)),
			 RF_ERR_RANK_TAKEN);
	assert_non_null(strstr(why, "rank 0"));
	assert_null(s);
	world_close(&w);
	/* no server there */
	job = 0;
	assert_int_equal(
		rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 150, &s, why, sizeof(why)),
		RF_ERR_RANK_MISSING);
	assert_non_null(strstr(why, "rank 0"));
	assert_int_equal(rf_store_connect("no.such.host.invalid", w.port, 1, 2, &job, job_key, 150,
					  &s, why, sizeof(why)),
			 RF_ERR_BOOTSTRAP);
}

static void stand_still(void *arg)
{
	sleep_ms(*(unsigned int *)arg);
	*(unsigned int *)arg = 0;
}

/*
 * A process stands still until its deadline has passed. An answer that has arrived meanwhile is
 * used; the process does not wait for one that has not.
 */
static void answer_at_the_deadline(void **state)
{
	unsigned int pause = 2300;
	struct gatherer g, h;
	struct world w;

	(void)state;
	world_open(&w, 2, 2);
	rf_store_set_idle(w.store[0], stand_still, &pause);
	gather_start(&g, &w, 0, "start", 100);
	sleep_ms(50);
	gather_start(&h, &w, 1, "start", 100);
	pthread_join(g.thread, NULL);
	pthread_join(h.thread, NULL);
	assert_int_equal(h.ret, RF_OK);
	assert_int_equal(g.ret, RF_OK);
	assert_memory_equal(g.values, "aaaaaaaabbbbbbbb", 16);
	pause = 2300;
	gather_start(&g, &w, 0, "next", 100);
	pthread_join(g.thread, NULL);
	assert_int_equal(g.ret, RF_ERR_RANK_MISSING);
	world_close(&w);
}

static void ranks_text(void **state)
{
	uint8_t set[16] = {0};
	char buf[64];

	(void)state;
	set[0] = 4;
	assert_string_equal(rf_store_ranks_text(set, buf, sizeof(buf)), "rank 2");
	set[1] = 1;
	assert_string_equal(rf_store_ranks_text(set, buf, sizeof(buf)), "ranks 2 and 8");
	set[15] = 0x80;
	assert_string_equal(rf_store_ranks_text(set, buf, sizeof(buf)), "ranks 2, 8 and 127");
	memset(set, 0xff, sizeof(set));
	assert_true(strlen(rf_store_ranks_text(set, buf, 20)) < 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranks_text),        cmocka_unit_test(too_long),
		cmocka_unit_test(gathers),           cmocka_unit_test(missing_ranks_are_named),
		cmocka_unit_test(different_gathers), cmocka_unit_test(lost_rank),
		cmocka_unit_test(restarted_rank),    cmocka_unit_test(announcement),
		cmocka_unit_test(nobody_reads),      cmocka_unit_test(server_ends),
		cmocka_unit_test(refusals),          cmocka_unit_test(answer_at_the_deadline),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
