/*
 * Several communicators on one context: lists of members, splits, names, threads that create in
 * opposite order, and what the loss of a process ends.
 */
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
#include <unistd.h>

#include "host/api/api.h"
#include "tests/unit/api_ranks.h"

static void run_all(unsigned int n, int (*run)(struct rank *), bool manual)
{
	struct ranks all;

	ranks_init(&all, n, run);
	all.manual = manual;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* The sum of what the members contribute: 1 for process 0, 10 for process 1, 100, ... */
static uint32_t weight(unsigned int process)
{
	uint32_t w = 1;

	while (process--)
		w *= 10;
	return w;
}

/* One all-reduce of comm gives this sum. */
static int reduces(struct rank *r, struct rf_comm *comm, uint32_t want)
{
	uint32_t a = weight(r->rank), b = 0;

	EXPECT(r, rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, b == want);
	return 0;
}

/* ---- lists of members ---- */

static int lists(struct rank *r)
{
	static const unsigned int even[] = {0, 2}, back[] = {3, 2, 1, 0}, three[] = {1, 3, 2};
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *all = NULL, *e = NULL, *b = NULL, *t = NULL;

	config.schedule = RF_SCHEDULE_RING;
	EXPECT(r, rf_comm_create(r->ctx, &config, &all) == RF_OK);
	EXPECT(r, rf_comm_rank(all) == r->rank && rf_comm_ranks(all) == 4);
	if (r->rank % 2 == 0) {
		config.members = even;
		config.n_members = 2;
		EXPECT(r, rf_comm_create(r->ctx, &config, &e) == RF_OK);
		EXPECT(r, rf_comm_rank(e) == r->rank / 2 && rf_comm_ranks(e) == 2);
		EXPECT(r, reduces(r, e, 101) == 0);
	}
	config.members = back;
	config.n_members = 4;
	EXPECT(r, rf_comm_create(r->ctx, &config, &b) == RF_OK);
	EXPECT(r, rf_comm_rank(b) == 3 - r->rank);
	EXPECT(r, reduces(r, b, 1111) == 0);
	if (r->rank) {
		config.members = three;
		config.n_members = 3;
		EXPECT(r, rf_comm_create(r->ctx, &config, &t) == RF_OK);
		EXPECT(r, rf_barrier(t) == RF_OK);
		EXPECT(r, reduces(r, t, 1110) == 0);
	}
	EXPECT(r, reduces(r, r->comm, 1111) == 0);
	EXPECT(r, reduces(r, all, 1111) == 0);
	EXPECT(r, rf_context_destroy(r->ctx) == RF_ERR_BUSY);
	EXPECT(r, rf_comm_destroy(e) == RF_OK);
	EXPECT(r, rf_comm_destroy(b) == RF_OK);
	EXPECT(r, rf_comm_destroy(t) == RF_OK);
	return rf_comm_destroy(all);
}

static void members(void **state)
{
	(void)state;
	run_all(4, lists, false);
	run_all(4, lists, true);
}

/* ---- split ---- */

static int splits(struct rank *r)
{
	struct rf_comm *half = NULL, *pair = NULL, *alone = NULL, *none = r->comm;

	/* colors 0 and 1 by turns, in reverse order */
	EXPECT(r, rf_comm_split(r->comm, (int)(r->rank % 2), -(int)r->rank, NULL, &half) == RF_OK);
	EXPECT(r, rf_comm_ranks(half) == 3 && rf_comm_rank(half) == 2 - r->rank / 2);
	EXPECT(r, reduces(r, half, r->rank % 2 ? 101010 : 10101) == 0);
	/* a part of a part: its last rank has no color */
	EXPECT(r, rf_comm_split(half, rf_comm_rank(half) == 2 ? -1 : 7, 0, "pair", &pair) == RF_OK);
	EXPECT(r, (pair == NULL) == (rf_comm_rank(half) == 2));
	if (pair)
		EXPECT(r, reduces(r, pair, r->rank % 2 ? 101000 : 10100) == 0);
	/* every rank for itself */
	EXPECT(r, rf_comm_split(r->comm, (int)r->rank, 0, NULL, &alone) == RF_OK);
	EXPECT(r, rf_comm_ranks(alone) == 1 && reduces(r, alone, weight(r->rank)) == 0);
	EXPECT(r, rf_comm_split(r->comm, -5, 0, NULL, &none) == RF_OK && none == NULL);
	/* the parent may end first */
	EXPECT(r, rf_comm_destroy(half) == RF_OK);
	EXPECT(r, rf_comm_destroy(alone) == RF_OK);
	return rf_comm_destroy(pair);
}

static void parts(void **state)
{
	(void)state;
	run_all(6, splits, false);
}

/* ---- threads ---- */

struct creator {
	pthread_t thread;
	struct rank *r;
	unsigned int which, delay_us;
	struct rf_comm_config config;
	struct rf_comm *comm;
	int ret;
	uint32_t sum;
	char why[600];
};

/* Starts two at different times: on odd ranks in the opposite order. */
static int start_two(struct creator c[2], struct rank *r, void *(*body)(void *))
{
	for (unsigned int k = 0; k < 2; k++) {
		c[k].r = r;
		c[k].which = k;
		c[k].delay_us = (k ^ (r->rank & 1)) * 60000;
		pthread_create(&c[k].thread, NULL, body, &c[k]);
	}
	for (unsigned int k = 0; k < 2; k++) {
		pthread_join(c[k].thread, NULL);
		if (!c[k].ret)
			continue;
		snprintf(r->text, sizeof(r->text), "thread %u: %.560s", k, c[k].why);
		return c[k].ret;
	}
	return 0;
}

static void *make_comm(void *arg)
{
	struct creator *c = arg;

	usleep(c->delay_us);
	c->ret = rf_comm_create(c->r->ctx, &c->config, &c->comm);
	if (c->ret)
		snprintf(c->why, sizeof(c->why), "%s", rf_last_error_text(c->r->ctx));
	return NULL;
}

/* The first communicators of a context, and later ones: each thread gets the right one. */
static int two_create(struct rank *r)
{
	static const char *const names[] = {"left", "right"};

	rf_comm_destroy(r->comm);
	r->comm = NULL;
	for (unsigned int round = 0; round < 2; round++) {
		struct creator c[2];

		memset(c, 0, sizeof(c));
		for (unsigned int k = 0; k < 2; k++) {
			struct rf_comm_config config = RF_COMM_CONFIG_INIT;

			config.rank = r->rank;
			config.ranks = r->all->n;
			config.port = r->all->port;
			config.timeout_ms = r->all->timeout_ms;
			/* so that a wrong match is an error */
			config.schedule = RF_SCHEDULE_RING;
			config.name = names[k];
			c[k].config = config;
		}
		EXPECT(r, start_two(c, r, make_comm) == 0);
		/* matched by name: barriers of one on all ranks, then of the other */
		for (unsigned int k = 0; k < 2; k++) {
			EXPECT(r, strcmp(c[k].comm->name, names[k]) == 0);
			EXPECT(r, rf_barrier(c[k].comm) == RF_OK);
			EXPECT(r, reduces(r, c[k].comm, 111) == 0);
		}
		EXPECT(r, strcmp(c[0].comm->lane, c[1].comm->lane) != 0);
		EXPECT(r, rf_comm_destroy(c[0].comm) == RF_OK);
		EXPECT(r, rf_comm_destroy(c[1].comm) == RF_OK);
	}
	return 0;
}

static void communicators_by_threads(void **state)
{
	(void)state;
	run_all(3, two_create, false);
}

/* A name that the others do not use: they are missed there, and what has none goes on. */
static int unnamed(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;

	config.name = "mine";
	config.timeout_ms = 300;
	config.schedule = RF_SCHEDULE_RING;
	if (r->rank == 0) {
		EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_RANK_MISSING);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 1 did not arrive"));
	} else {
		usleep(500000);
	}
	EXPECT(r, comm == NULL);
	return reduces(r, r->comm, 11);
}

static void different_names(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 2, unnamed);
	all.timeout_ms = 600;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* ---- a process that is lost ---- */

static int loses(struct rank *r)
{
	struct rf_comm *low = NULL, *high = NULL;
	uint32_t a = 1, b = 0;

	/* ranks 0 and 1, and ranks 3, 2 and 1, in this order */
	EXPECT(r, rf_comm_split(r->comm, r->rank < 2 ? 0 : -1, 0, "low", &low) == RF_OK);
	EXPECT(r, rf_comm_split(r->comm, r->rank ? 0 : -1, -(int)r->rank, "high", &high) == RF_OK);
	EXPECT(r, rank_meet(r) == RF_OK);
	if (r->rank == 3) {
		/* as if its process had ended */
		shutdown(*(int *)r->ctx->job.store, SHUT_RDWR);
	} else if (high) {
		EXPECT(r, rf_allreduce(high, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_RANK_LOST);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 0"));
	}
	if (low) {
		for (unsigned int k = 0; k < 3; k++)
			EXPECT(r, reduces(r, low, 11) == 0);
		EXPECT(r, rf_barrier(r->comm) == RF_ERR_RANK_LOST);
	}
	rf_comm_destroy(high);
	rf_comm_destroy(low);
	return 0;
}

static void lost_process(void **state)
{
	(void)state;
	run_all(4, loses, false);
}

/* ---- refused ---- */

static int wrong(struct rank *r)
{
	static const unsigned int twice[] = {0, 1, 1}, far[] = {0, 2},
				  other[2][2] = {{0, 1}, {1, 0}};
	const unsigned int without = 1 - r->rank;
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;
	char longest[RF_NAME_MAX + 2];

	config.schedule = RF_SCHEDULE_RING;
	config.members = twice;
	config.n_members = 3;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "3 members of a job of 2"));
	config.members = twice + 1;
	config.n_members = 2;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "member 1 is rank 1"));
	config.members = far;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	config.members = &without;
	config.n_members = 1;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "is not one of the members"));
	config.n_members = 0;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	/* what the ranks have to agree about */
	config.members = other[r->rank];
	config.n_members = 2;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 1 of the job lists the members in "
						     "another order than rank 0 of the job"));
	config.members = NULL;
	config.n_members = 0;
	config.schedule = r->rank ? RF_SCHEDULE_BOX : RF_SCHEDULE_RING;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "RF_SCHEDULE"));
	/* names */
	memset(longest, 'n', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	config.schedule = RF_SCHEDULE_RING;
	config.name = longest;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_INVALID);
	EXPECT(r, rf_comm_split(r->comm, 0, 0, longest, &comm) == RF_ERR_INVALID);
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, NULL) == RF_ERR_INVALID);
	EXPECT(r, comm == NULL);
	/* the longest that is allowed */
	longest[RF_NAME_MAX] = '\0';
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
	return rf_comm_destroy(comm);
}

/* Ranks are named by their numbers in the communicator, not by those in the job. */
static int other_numbers(struct rank *r)
{
	static const unsigned int turned[] = {2, 0, 1};
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;

	config.members = turned;
	config.n_members = 3;
	/* process 2 is rank 0, process 0 rank 1 */
	config.schedule = r->rank == 2 ? RF_SCHEDULE_BOX : RF_SCHEDULE_RING;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx),
			 "rank 0 (schedule box) and rank 1 (schedule ring) differ"));
	return 0;
}

static void refused(void **state)
{
	(void)state;
	run_all(3, other_numbers, false);
	run_all(2, wrong, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(members),
		cmocka_unit_test(parts),
		cmocka_unit_test(communicators_by_threads),
		cmocka_unit_test(different_names),
		cmocka_unit_test(lost_process),
		cmocka_unit_test(refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
