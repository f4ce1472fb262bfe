/* Creation that does not block: in opposite order by one thread, and cancelled at any time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/api_ranks.h"

#define FOREVER ((unsigned int)-1)

static void run_all(unsigned int n, int (*run)(struct rank *), bool manual)
{
	struct ranks all;

	ranks_init(&all, n, run);
	all.manual = manual;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

static int reduces(struct rank *r, struct rf_comm *comm, uint32_t each)
{
	uint32_t a = each, b = 0;

	EXPECT(r, rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, b == each * r->all->n);
	return 0;
}

/* One thread on each rank starts two communicators, on odd ranks the other first. */
static int opposite(struct rank *r)
{
	struct rf_creation *creation[2];
	struct rf_comm *comm[2] = {NULL};

	for (unsigned int k = 0; k < 2; k++) {
		struct rf_comm_config config = RF_COMM_CONFIG_INIT;
		unsigned int which = k ^ (r->rank & 1);
		unsigned int members[RANKS];
		char name[8];

		/* gone when the thread works */
		for (unsigned int m = 0; m < r->all->n; m++)
			members[m] = r->all->n - 1 - m;
		snprintf(name, sizeof(name), "%u", which);
		config.name = name;
		config.members = members;
		config.n_members = r->all->n;
		config.schedule = RF_SCHEDULE_RING;
		EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation[which]) == RF_OK);
		memset(name, 'x', sizeof(name) - 1);
		memset(members, 0xff, sizeof(members));
	}
	EXPECT(r, rf_comm_created(creation[0], 0, NULL) == RF_ERR_INVALID);
	EXPECT(r, rf_context_destroy(r->ctx) == RF_ERR_BUSY);
	for (unsigned int k = 0; k < 2; k++) {
		int ret;

		while ((ret = rf_comm_created(creation[k], 1, &comm[k])) == RF_IN_PROGRESS)
			;
		EXPECT(r, ret == RF_OK);
		EXPECT(r, rf_comm_rank(comm[k]) == r->all->n - 1 - r->rank);
	}
	EXPECT(r, reduces(r, comm[0], 1) == 0 && reduces(r, comm[1], 100) == 0);
	EXPECT(r, rf_comm_destroy(comm[0]) == RF_OK);
	return rf_comm_destroy(comm[1]);
}

static void opposite_order(void **state)
{
	(void)state;
	run_all(2, opposite, false);
	run_all(4, opposite, false);
	run_all(3, opposite, true);
}

/* Rank 0 waits for the others, gives up, and the lane is free for another try. */
static int cancels(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_creation *creation = NULL;
	struct rf_comm *g = NULL;
	uint64_t begin;

	config.name = "g";
	config.schedule = RF_SCHEDULE_RING;
	EXPECT(r, rf_creation_cancel(NULL) == RF_OK);
	EXPECT(r, rf_comm_icreate(r->ctx, NULL, NULL) == RF_ERR_INVALID);
	/* nobody comes */
	if (r->rank == 0) {
		EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
		EXPECT(r, rf_comm_created(creation, 50, &g) == RF_IN_PROGRESS);
		begin = rf_now_ms();
		EXPECT(r, rf_creation_cancel(creation) == RF_OK);
		EXPECT(r, rf_now_ms() - begin < 2000);
	}
	EXPECT(r, rank_meet(r) == RF_OK);
	/* all but the last come: these are informed */
	if (r->rank < r->all->n - 1)
		EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
	if (r->rank == 0) {
		EXPECT(r, rf_comm_created(creation, 200, &g) == RF_IN_PROGRESS);
		EXPECT(r, rf_creation_cancel(creation) == RF_OK);
	} else if (r->rank < r->all->n - 1) {
		EXPECT(r, rf_comm_created(creation, FOREVER, &g) == RF_ERR_ABORTED);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 0 has cancelled"));
	}
	EXPECT(r, g == NULL && rank_meet(r) == RF_OK);
	/* too late */
	EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
	EXPECT(r, rank_meet(r) == RF_OK);
	usleep(300000);
	EXPECT(r, rf_creation_cancel(creation) == RF_ERR_BUSY);
	EXPECT(r, rf_comm_created(creation, 0, &g) == RF_OK);
	EXPECT(r, reduces(r, g, 7) == 0);
	EXPECT(r, rf_comm_destroy(g) == RF_OK);
	/* what cannot be made says why; then there is nothing to cancel */
	config.slots = 17;
	EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
	EXPECT(r, rf_comm_created(creation, FOREVER, &g) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "17 slots"));
	EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
	EXPECT(r, rf_creation_cancel(creation) == RF_OK);
	/* a communicator for which nobody comes */
	if (r->rank == 0) {
		EXPECT(r, rf_comm_icreate(r->ctx, NULL, &creation) == RF_OK);
		EXPECT(r, rf_comm_created(creation, 20, &g) == RF_IN_PROGRESS);
		EXPECT(r, rf_creation_cancel(creation) == RF_OK);
	}
	return rank_meet(r);
}

static void cancellation(void **state)
{
	(void)state;
	run_all(3, cancels, false);
	run_all(2, cancels, true);
}

/* At any moment of the creation: every rank ends with a communicator or an error, and can go on. */
static int at_any_time(struct rank *r)
{
	for (unsigned int round = 0; round < 12; round++) {
		struct rf_comm_config config = RF_COMM_CONFIG_INIT;
		struct rf_creation *creation = NULL;
		struct rf_comm *comm = NULL;
		char name[16];
		int ret = RF_ERR_ABORTED;

		snprintf(name, sizeof(name), "round %u", round);
		config.name = name;
		config.schedule = RF_SCHEDULE_RING;
		/* whoever comes after the cancellation does not wait long */
		config.timeout_ms = 200;
		EXPECT(r, rf_comm_icreate(r->ctx, &config, &creation) == RF_OK);
		if (r->rank == 1)
			usleep(round * round * 100);
		if (r->rank != 1 || rf_creation_cancel(creation) == RF_ERR_BUSY)
			ret = rf_comm_created(creation, FOREVER, &comm);
		EXPECT(r, ret == RF_OK || ret == RF_ERR_ABORTED || ret == RF_ERR_RANK_MISSING ||
				  ret == RF_ERR_TIMEOUT);
		rf_comm_destroy(comm);
		EXPECT(r, rank_meet(r) == RF_OK);
	}
	return 0;
}

static void cancelled_at_any_time(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 3, at_any_time);
	all.timeout_ms = 20000;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(opposite_order),
		cmocka_unit_test(cancellation),
		cmocka_unit_test(cancelled_at_any_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
