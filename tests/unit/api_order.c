/*
 * Communicators at a box that are made in opposite order on the ranks: by two threads of one
 * context, the first ones of the context among them, and without blocking. With names each is the
 * right one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <unistd.h>

#include "tests/unit/api_box.h"

static const char *const names[] = {"left", "right"};

struct maker {
	pthread_t thread;
	struct rank *r;
	unsigned int which;
	struct rf_comm *comm;
	int ret;
};

static struct rf_comm_config config_of(const struct rank *r, unsigned int which)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;

	config.rank = r->rank;
	config.ranks = r->all->n;
	config.port = r->all->port;
	config.timeout_ms = r->all->timeout_ms;
	config.schedule = RF_SCHEDULE_BOX;
	config.slots = 64;
	config.name = names[which];
	return config;
}

/* A sum that a mixture of both communicators would not give. */
static int used(struct rank *r, struct rf_comm *comm, unsigned int which)
{
	uint32_t in = which ? 1000 : 1, out = 0;

	EXPECT(r, rf_allreduce(comm, &in, &out, 1, RF_UINT32, which ? RF_MAX : RF_SUM) == RF_OK);
	EXPECT(r, out == (which ? 1000 : r->all->n));
	return rf_barrier(comm);
}

static void *make(void *arg)
{
	struct maker *m = arg;
	struct rf_comm_config config = config_of(m->r, m->which);

	/* the other one first on odd ranks */
	usleep((m->which ^ (m->r->rank & 1)) * 60000);
	m->ret = rf_comm_create(m->r->ctx, &config, &m->comm);
	if (!m->ret)
		m->ret = used(m->r, m->comm, m->which);
	return NULL;
}

static int by_threads(struct rank *r)
{
	struct maker m[2];

	EXPECT(r, rf_comm_destroy(r->comm) == RF_OK);
	r->comm = NULL;
	/* the first communicators of a context, then again */
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int k = 0; k < 2; k++) {
			m[k] = (struct maker){.r = r, .which = k};
			pthread_create(&m[k].thread, NULL, make, &m[k]);
		}
		for (unsigned int k = 0; k < 2; k++)
			pthread_join(m[k].thread, NULL);
		EXPECT(r, m[0].ret == 0 && m[1].ret == 0);
		EXPECT(r, used(r, m[1].comm, 1) == 0 && used(r, m[0].comm, 0) == 0);
		EXPECT(r, rf_comm_destroy(m[0].comm) == RF_OK);
		EXPECT(r, rf_comm_destroy(m[1].comm) == RF_OK);
	}
	return 0;
}

static int without_blocking(struct rank *r)
{
	struct rf_creation *creation[2];
	struct rf_comm *comm[2];

	for (unsigned int k = 0; k < 2; k++) {
		unsigned int which = k ^ (r->rank & 1);
		struct rf_comm_config config = config_of(r, which);

		EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation[which]) == RF_OK);
	}
	for (unsigned int k = 0; k < 2; k++)
		EXPECT(r, rf_comm_created(creation[k], RF_WAIT_FOREVER, &comm[k]) == RF_OK);
	EXPECT(r, used(r, comm[1], 1) == 0 && used(r, comm[0], 0) == 0);
	EXPECT(r, rf_comm_destroy(comm[0]) == RF_OK);
	return rf_comm_destroy(comm[1]);
}

static void run(int (*body)(struct rank *))
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, 3, false, body);

	assert_non_null(box);
	all.timeout_ms = 20000;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

static void two_threads(void **state)
{
	(void)state;
	run(by_threads);
}

static void two_creations(void **state)
{
	(void)state;
	run(without_blocking);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads),
		cmocka_unit_test(two_creations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
