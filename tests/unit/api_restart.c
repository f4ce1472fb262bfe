/*
 * A box that is restarted, or ends, in the middle of a call of a communicator: every rank learns
 * the cause, and afterwards the same contexts make communicators at the new box.
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

#include "tests/unit/api_box.h"

#define FOREVER ((unsigned int)-1)
#define COUNT 20000u

static struct api_box *box;
static bool again, flip;

static uint32_t in[RANKS][COUNT], out[RANKS][COUNT];

static int right(struct rank *r)
{
	for (size_t k = 0; k < COUNT; k++) {
		uint32_t want = flip && k == COUNT - 1;

		for (unsigned int o = 0; o < r->all->n; o++)
			want += in[o][k];
		EXPECT(r, out[r->rank][k] == want);
	}
	return 0;
}

static int sum(struct rank *r, struct rf_comm *comm)
{
	memset(out[r->rank], 0, sizeof(out[r->rank]));
	EXPECT(r, rf_allreduce(comm, in[r->rank], out[r->rank], COUNT, RF_UINT32, RF_SUM) == RF_OK);
	return right(r);
}

/* Rank 0 is in its call, of which the box has some packets, when the box ends. */
static int in_mid_call(struct rank *r)
{
	struct rf_request *q = NULL;

	if (r->rank == 0) {
		EXPECT(r, rf_iallreduce(r->comm, in[0], out[0], COUNT, RF_UINT32, RF_SUM, &q) ==
				  RF_OK);
		usleep(20000);
		api_box_stop(box);
		box = again ? api_box_start(r->all->hub, r->all->n, false) : NULL;
	}
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank)
		EXPECT(r, rf_iallreduce(r->comm, in[r->rank], out[r->rank], COUNT, RF_UINT32,
					RF_SUM, &q) == RF_OK);
	EXPECT(r, rf_wait(q, FOREVER) == (again ? RF_ERR_BOX_REFUSED : RF_ERR_BOX_SILENT));
	EXPECT(r, rf_barrier(r->comm) == RF_ERR_GROUP_FAILED);
	return 0;
}

static int restarted(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;

	for (size_t k = 0; k < COUNT; k++)
		in[r->rank][k] = (uint32_t)(k * 2654435761u + r->rank * 40503u);
	EXPECT(r, rank_meet(r) == 0);
	EXPECT(r, sum(r, r->comm) == 0);
	EXPECT(r, in_mid_call(r) == 0);
	if (!again)
		return 0;
	/* another one at the new box, beside the failed one */
	config.schedule = RF_SCHEDULE_BOX;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
	EXPECT(r, sum(r, comm) == 0);
	return rf_comm_destroy(comm);
}

static void run(unsigned int n, bool restart, unsigned int bad)
{
	struct ranks all;

	again = restart;
	box = api_box_ranks(&all, n, false, restarted);
	assert_non_null(box);
	all.timeout_ms = 20000;
	assert_int_equal(ranks_run(&all), bad);
	if (box)
		api_box_stop(box);
	ranks_free(&all);
}

static void box_restarted(void **state)
{
	(void)state;
	run(2, true, 0);
	run(3, true, 0);
}

static void box_killed(void **state)
{
	(void)state;
	setenv("RF_BOX_TIMEOUT", "1000", 1);
	run(3, false, 0);
	unsetenv("RF_BOX_TIMEOUT");
}

static void a_wrong_expectation_is_noticed(void **state)
{
	(void)state;
	flip = true;
	printf("both ranks must report a wrong element:\n");
	run(2, true, 2);
	flip = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(box_restarted),
		cmocka_unit_test(box_killed),
		cmocka_unit_test(a_wrong_expectation_is_noticed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
