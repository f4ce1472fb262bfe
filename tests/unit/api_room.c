/*
 * A full box (the model) in which a group ends just between the JOINs of two ranks: it refuses one
 * of them, and accepts the other. Both must come to the same result, and long before the deadline.
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

#include "base/clock.h"
#include "proto/rf_ctl.h"
#include "tests/unit/api_box.h"

#define N 4u
#define TRIES 12u
#define TIMEOUT_MS 40000u
#define SOON_MS 10000u
/* How long the box (sim/realtime) keeps the slots of a group that has ended. */
#define SETTLE_MS 200u

/* What the box has answered to ranks 0 and 1 in this try. */
static atomic_bool watching, refused, accepted, deaf;
static unsigned int tries, split_answers, results[2];

/* The box's answer in a frame, or -1. */
static int answer_in(const uint8_t *frame, uint32_t len)
{
	struct rf_ctl_header h;
	struct rf_ctl_reply reply;
	struct rf_ctl_addr a;
	const uint8_t *msg;
	size_t n;

	if (rf_ctl_frame_get(frame, len, &a, &msg, &n) != 0 || rf_ctl_header_get(msg, n, &h) != 0 ||
	    rf_ctl_reply_get(msg, &h, &reply) != RF_CTL_R_NONE)
		return -1;
	if (reply.result == RF_CTL_FAILED && reply.u.failed.reason != RF_CTL_R_NO_SLOTS)
		return -1;
	return reply.result;
}

/* Rank 1's requests are lost until there is room. */
static bool between(unsigned int from, const uint8_t *frame, uint32_t len)
{
	if (!watching)
		return false;
	if (from == N && answer_in(frame, len) == RF_CTL_FAILED)
		refused = true;
	if (from == N + 1 && refused && !deaf && answer_in(frame, len) == RF_CTL_WAITING)
		accepted = true;
	return from == 1 && deaf;
}

/* Two groups of 64 slots fill the box. */
static int two(struct rank *r, const unsigned int *members, struct rf_comm **comm)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;

	config.schedule = RF_SCHEDULE_BOX;
	config.slots = 64;
	config.n_members = 2;
	config.members = members;
	config.timeout_ms = TIMEOUT_MS;
	return rf_comm_create(r->ctx, &config, comm);
}

static int body(struct rank *r)
{
	static const unsigned int low[] = {0, 1}, high[] = {2, 3};
	struct rf_comm *comm = NULL;
	uint64_t begin;
	int ret;

	if (r->rank == 0)
		refused = accepted = false;
	if (r->rank >= 2) {
		EXPECT(r, two(r, high, &comm) == RF_OK);
		EXPECT(r, rf_comm_destroy(comm) == RF_OK);
		comm = NULL;
	}
	EXPECT(r, rank_meet(r) == 0);
	begin = rf_now_ms();
	if (r->rank == 0)
		deaf = watching = true;
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank < 2) {
		usleep(SETTLE_MS / 2 * 1000);
		ret = two(r, low, &comm);
		EXPECT(r, ret == RF_OK || ret == RF_ERR_BOX_REFUSED);
		EXPECT(r, rf_now_ms() - begin < SOON_MS);
		results[r->rank] = (unsigned int)-ret;
	} else {
		usleep((SETTLE_MS + 20) * 1000);
		deaf = false;
	}
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank == 0) {
		watching = false;
		split_answers += accepted;
	}
	EXPECT(r, results[0] == results[1]);
	EXPECT(r, rf_comm_destroy(comm) == RF_OK);
	return rank_meet(r);
}

static void refused_and_accepted(void **state)
{
	(void)state;
	for (tries = 0; tries < TRIES && !split_answers; tries++) {
		struct ranks all;
		struct api_box *box = api_box_ranks(&all, N, false, body);

		assert_non_null(box);
		all.mtu = 4096;
		all.timeout_ms = TIMEOUT_MS;
		api_box_drop(between);
		assert_int_equal(ranks_run(&all), 0);
		api_box_drop(NULL);
		api_box_end(&all, box);
	}
	printf("%u of %u times the box refused one rank and accepted the other\n", split_answers,
	       tries);
	assert_int_not_equal(split_answers, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(refused_and_accepted)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
