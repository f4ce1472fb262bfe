#include "tests/unit/store_world.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "ringfold/ringfold.h"
#include "tests/unit/free_port.h"

const uint8_t job_key[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

void world_open(struct world *w, unsigned int ranks, unsigned int join)
{
	char why[512] = "";
	unsigned int r;

	memset(w, 0, sizeof(*w));
	w->port = free_port();
	assert_int_not_equal(w->port, 0);
	w->ranks = ranks;
	assert_int_equal(
		rf_store_serve(HOST, w->port, ranks, 77, job_key, &w->server, why, sizeof(why)),
		RF_OK);
	for (r = 0; r < join; r++) {
		uint64_t job = 0;

		assert_int_equal(rf_store_connect(HOST, w->port, r, ranks, &job, job_key, 2000,
						  &w->store[r], why, sizeof(why)),
				 RF_OK);
		assert_int_equal(job, 77);
	}
}

void world_close(struct world *w)
{
	unsigned int r;

	for (r = 0; r < 8; r++)
		rf_store_close(w->store[r]);
	rf_store_server_stop(w->server, 2000);
}

static void *gather_thread(void *arg)
{
	struct gatherer *g = arg;

	g->ret = rf_store_gather(g->store, g->name, g->value, g->len, g->values, g->timeout, g->why,
				 sizeof(g->why));
	return NULL;
}

void gather_start(struct gatherer *g, struct world *w, unsigned int rank, const char *name,
		  unsigned int timeout)
{
	memset(g, 0, sizeof(*g));
	g->store = w->store[rank];
	g->name = name;
	g->len = 8;
	memset(g->value, 'a' + (int)rank, 8);
	g->timeout = timeout;
	assert_int_equal(pthread_create(&g->thread, NULL, gather_thread, g), 0);
}

void gather_all(struct world *w, unsigned int n)
{
	struct gatherer g[8];
	unsigned int r;

	for (r = 0; r < n; r++)
		gather_start(&g[r], w, r, "start", 2000);
	for (r = 0; r < n; r++) {
		pthread_join(g[r].thread, NULL);
		assert_int_equal(g[r].ret, RF_OK);
	}
}

void sleep_ms(unsigned int ms)
{
	struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}
