/*
 * 64 communicators of the same 8 ranks, of 16 slots each, at one box (the model in its wide shape):
 * made, used in turn and all at once, refused when there are too many, and some of them ended and
 * made again. Every element of every result is compared.
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
#define COMMS 64u
#define COUNT 700u /* three packets */

static bool flip;

struct work {
	struct rf_comm *c[COMMS];
	uint32_t in[COMMS][COUNT], out[COMMS][COUNT];
};

static uint32_t value(unsigned int rank, unsigned int comm, unsigned int round, size_t k)
{
	return (rank + 1) * 2654435761u ^ (comm * 40503u + round * 97u + (uint32_t)k * 7u);
}

static void fill(struct rank *r, struct work *w, unsigned int comm, unsigned int round)
{
	for (size_t k = 0; k < COUNT; k++)
		w->in[comm][k] = value(r->rank, comm, round, k);
	memset(w->out[comm], 0, sizeof(w->out[comm]));
}

static int right(struct rank *r, struct work *w, unsigned int comm, unsigned int round)
{
	for (size_t k = 0; k < COUNT; k++) {
		uint32_t want = flip && comm == COMMS - 1 && k == COUNT - 1;

		for (unsigned int o = 0; o < r->all->n; o++)
			want += value(o, comm, round, k);
		EXPECT(r, w->out[comm][k] == want);
	}
	return 0;
}

/* One after another. */
static int in_turn(struct rank *r, struct work *w, unsigned int round)
{
	for (unsigned int k = 0; k < COMMS; k++) {
		fill(r, w, k, round);
		EXPECT(r, rf_allreduce(w->c[k], w->in[k], w->out[k], COUNT, RF_UINT32, RF_SUM) ==
				  RF_OK);
		EXPECT(r, right(r, w, k, round) == 0);
	}
	return 0;
}

/* All at once; each rank begins with another one. */
static int at_once(struct rank *r, struct work *w, unsigned int round)
{
	struct rf_request *q[COMMS];

	for (unsigned int i = 0; i < COMMS; i++) {
		unsigned int k = (i + r->rank * 9) % COMMS;

		fill(r, w, k, round);
		EXPECT(r, rf_iallreduce(w->c[k], w->in[k], w->out[k], COUNT, RF_UINT32, RF_SUM,
					&q[k]) == RF_OK);
	}
	EXPECT(r, rf_wait_all(q, COMMS, FOREVER) == RF_OK);
	for (unsigned int k = 0; k < COMMS; k++)
		EXPECT(r, right(r, w, k, round) == 0);
	return 0;
}

static int uses(struct rank *r, struct work *w)
{
	struct rf_comm *more = NULL;

	w->c[0] = r->comm;
	for (unsigned int k = 1; k < COMMS; k++)
		EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &w->c[k]) == RF_OK);
	EXPECT(r, in_turn(r, w, 1) == 0);
	EXPECT(r, at_once(r, w, 2) == 0);
	EXPECT(r, at_once(r, w, 3) == 0);
	/* the box is full */
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &more) == RF_ERR_BOX_REFUSED);
	EXPECT(r, more == NULL);
	for (unsigned int k = 1; k < COMMS; k += 3)
		EXPECT(r, rf_comm_destroy(w->c[k]) == RF_OK);
	/* a box that is simulated needs a moment to give places back */
	usleep(1500000);
	for (unsigned int k = 1; k < COMMS; k += 3)
		EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &w->c[k]) == RF_OK);
	EXPECT(r, at_once(r, w, 4) == 0);
	for (unsigned int k = 1; k < COMMS; k++)
		EXPECT(r, rf_comm_destroy(w->c[k]) == RF_OK);
	return 0;
}

static int wide(struct rank *r)
{
	struct work *w = calloc(1, sizeof(*w));
	int ret = uses(r, w);

	/* after a failure calls may still be outstanding */
	if (!ret)
		free(w);
	return ret;
}

static void settings(struct rank *r, struct rf_context_config *context, struct rf_comm_config *comm)
{
	(void)r;
	(void)context;
	comm->slots = 16;
}

static unsigned int run(unsigned int n)
{
	struct ranks all;
	struct api_box *box;
	unsigned int bad;

	api_box_wide(true);
	box = api_box_ranks(&all, n, false, wide);
	assert_non_null(box);
	all.timeout_ms = 60000;
	all.prepare = settings;
	bad = ranks_run(&all);
	api_box_end(&all, box);
	return bad;
}

static void many_communicators(void **state)
{
	(void)state;
	assert_int_equal(run(8), 0);
}

static void a_wrong_expectation_is_noticed(void **state)
{
	(void)state;
	flip = true;
	printf("all ranks must report a wrong element:\n");
	assert_int_equal(run(2), 2);
	flip = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_communicators),
		cmocka_unit_test(a_wrong_expectation_is_noticed),
	};

	/* a simulated box is slow, and shares the processors with the ranks */
	setenv("RF_BOX_TIMEOUT", "60000", 1);
	setenv("RF_RETRY", "500", 1);
	setenv("RF_SPIN", "0", 1);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
