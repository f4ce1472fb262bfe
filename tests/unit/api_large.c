/*
 * The second, larger group that a communicator makes for large calls, at a box (the model): made,
 * used, given back when idle, refused, lost with the box; small and large calls in any mixture.
 * Every result is compared in full, in the order of additions that rf_comm_order() states.
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

#include "host/api/api.h"
#include "tests/unit/api_box.h"

#define FOREVER ((unsigned int)-1)
#define SLOTS 16u
#define MTU 256u
#define LARGE 16384u /* elements: 256 packets, 16 for each slot */
#define SMALL 100u
#define TRIES 400u

static bool flip, ring;

/* ---- calls ---- */

/* A vector of a rank, and room for the result. */
struct vector {
	float in[LARGE], out[LARGE], want[LARGE], all[RANKS][LARGE];
};

static float value(unsigned int rank, unsigned int call, size_t k)
{
	return (float)((int)((rank * 7919u + call * 104729u + k * 31u) % 2000u) - 1000) / 7.0f;
}

static struct vector *vector_new(void)
{
	return calloc(1, sizeof(struct vector));
}

static void fill(struct rank *r, struct vector *v, unsigned int call, size_t count)
{
	for (size_t k = 0; k < count; k++)
		v->in[k] = value(r->rank, call, k);
}

/* The result is what the order of the communicator says. */
static int right(struct rank *r, struct rf_comm *comm, struct vector *v, unsigned int call,
		 size_t count)
{
	struct rf_order order = RF_ORDER_INIT;
	const void *inputs[RANKS];

	EXPECT(r, rf_comm_order(comm, &order) == RF_OK);
	for (unsigned int o = 0; o < r->all->n; o++) {
		for (size_t k = 0; k < count; k++)
			v->all[o][k] = value(o, call, k);
		inputs[o] = v->all[o];
	}
	EXPECT(r, rf_order_apply(&order, RF_FP32, RF_SUM, inputs, v->want, count) == RF_OK);
	if (flip && r->rank == 0)
		((uint8_t *)v->want)[count] ^= 1;
	EXPECT(r, memcmp(v->want, v->out, count * sizeof(float)) == 0);
	return 0;
}

static int sum(struct rank *r, struct rf_comm *comm, struct vector *v, unsigned int call,
	       size_t count)
{
	fill(r, v, call, count);
	EXPECT(r, rf_allreduce(comm, v->in, v->out, count, RF_FP32, RF_SUM) == RF_OK);
	return right(r, comm, v, call, count);
}

/* Whether the larger group is used on all ranks; a small call. */
static int used(struct rank *r, struct rf_comm *comm, bool *all)
{
	uint32_t here, everywhere = 0;

	rf_lock(r->ctx);
	here = comm->large.state == RF_LARGE_USED;
	rf_unlock(r->ctx);
	EXPECT(r, rf_allreduce(comm, &here, &everywhere, 1, RF_UINT32, RF_MIN) == RF_OK);
	*all = everywhere != 0;
	return 0;
}

/* Large calls until the larger group carries them. */
static int until_used(struct rank *r, struct rf_comm *comm, struct vector *v)
{
	bool all = false;

	for (unsigned int k = 0; k < TRIES && !all; k++) {
		EXPECT(r, sum(r, comm, v, k, LARGE) == 0);
		EXPECT(r, used(r, comm, &all) == 0);
	}
	EXPECT(r, all);
	return 0;
}

/* Waits until this rank has no larger group. */
static int until_given_back(struct rank *r, struct rf_comm *comm)
{
	bool gone = false;

	for (unsigned int k = 0; k < 1000 && !gone; k++) {
		if (r->all->manual)
			rf_progress(r->ctx, 5000);
		else
			usleep(5000);
		rf_lock(r->ctx);
		gone = comm->large.state == RF_LARGE_NONE && comm->large.thread_over;
		rf_unlock(r->ctx);
	}
	EXPECT(r, gone && !comm->large.group);
	return 0;
}

/* ---- runs ---- */

static void settings(struct rank *r, struct rf_context_config *context, struct rf_comm_config *comm)
{
	(void)context;
	comm->slots = SLOTS;
	comm->slots_large = r->all->arg ? *(unsigned int *)r->all->arg : 256;
	comm->steering = ring ? RF_STEERING_RING : RF_STEERING_MIRROR;
}

static void run_with(unsigned int n, bool manual, bool rules, unsigned int bad,
		     int (*run)(struct rank *))
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, n, rules, run);

	assert_non_null(box);
	ring = rules;
	all.timeout_ms = 20000;
	all.mtu = MTU;
	all.manual = manual;
	all.prepare = settings;
	assert_int_equal(ranks_run(&all), bad);
	api_box_end(&all, box);
	ring = false;
}

/* ---- made, used, given back ---- */

/* Slots that a new communicator gets that wants 256. */
static int free_slots(struct rank *r, unsigned int *slots)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;

	config.schedule = RF_SCHEDULE_BOX;
	config.slots = 256;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
	*slots = 2 * rf_member_window(comm->group->member);
	return rf_comm_destroy(comm);
}

/* Small and large calls that are in flight together, of both groups. */
static int mixture(struct rank *r, struct vector *const v[4])
{
	struct rf_comm *c = r->comm;
	struct rf_request *q[4];
	size_t n[4] = {LARGE, SMALL, LARGE, SMALL};
	const size_t counts[RANKS] = {SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL};

	for (unsigned int k = 0; k < 4; k++) {
		fill(r, v[k], 900 + k, n[k]);
		EXPECT(r, rf_iallreduce(c, v[k]->in, v[k]->out, n[k], RF_FP32, RF_SUM, &q[k]) ==
				  RF_OK);
		EXPECT(r, q[k]->carrier == (k % 2 ? c->group : c->large.group));
	}
	EXPECT(r, rf_wait_all(q, 4, FOREVER) == RF_OK);
	for (unsigned int k = 0; k < 4; k++)
		EXPECT(r, right(r, c, v[k], 900 + k, n[k]) == 0);
	/* the root's counts travel first: never a large call */
	EXPECT(r, rf_igatherv(c, v[0]->in, SMALL, v[0]->out, counts, RF_FP32, 0, &q[0]) == RF_OK);
	EXPECT(r, q[0]->carrier == c->group);
	EXPECT(r, rf_wait(q[0], FOREVER) == RF_OK);
	/* a large one of another kind, and a barrier beside it */
	fill(r, v[1], 1000, LARGE);
	EXPECT(r, rf_ibroadcast(c, v[1]->in, v[1]->out, LARGE, RF_FP32, 1, &q[0]) == RF_OK);
	EXPECT(r, q[0]->carrier == c->large.group);
	EXPECT(r, rf_barrier(c) == RF_OK);
	EXPECT(r, rf_wait(q[0], FOREVER) == RF_OK);
	for (size_t k = 0; k < LARGE && r->rank != 1; k++)
		EXPECT(r, v[1]->out[k] == value(1, 1000, k));
	return 0;
}

static int lives(struct rank *r, struct vector *const v[4])
{
	unsigned int slots = 0;

	/* nothing is made for small calls */
	for (unsigned int k = 0; k < 20; k++)
		EXPECT(r, sum(r, r->comm, v[0], k, SMALL) == 0);
	EXPECT(r, r->comm->large.started == 0 && !r->comm->large.thread_on);
	EXPECT(r, until_used(r, r->comm, v[0]) == 0);
	EXPECT(r, rf_member_window(r->comm->large.group->member) == 128);
	EXPECT(r, mixture(r, v) == 0);
	EXPECT(r, free_slots(r, &slots) == 0 && slots == 128);
	EXPECT(r, until_given_back(r, r->comm) == 0);
	EXPECT(r, free_slots(r, &slots) == 0 && slots == 256);
	EXPECT(r, sum(r, r->comm, v[0], 5, SMALL) == 0);
	EXPECT(r, r->comm->large.state == RF_LARGE_NONE);
	/* and again; its end comes with that of the communicator */
	EXPECT(r, until_used(r, r->comm, v[0]) == 0);
	return mixture(r, v);
}

static int life(struct rank *r)
{
	struct vector *v[4] = {vector_new(), vector_new(), vector_new(), vector_new()};
	int ret = lives(r, v);

	for (unsigned int k = 0; k < 4; k++)
		free(v[k]);
	return ret;
}

static void made_used_given_back(void **state)
{
	(void)state;
	run_with(2, false, false, 0, life);
	run_with(3, true, false, 0, life);
	run_with(4, false, true, 0, life);
}

static int one_sum(struct rank *r)
{
	struct vector *v = vector_new();
	int ret = sum(r, r->comm, v, 1, LARGE);

	free(v);
	return ret;
}

/* The communicator ends while the larger group is being made. */
static void ended_at_once(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 5; k++)
		run_with(2 + k % 2, k == 4, false, 0, one_sum);
}

static void flipped_bit(void **state)
{
	(void)state;
	flip = true;
	printf("one rank must report a wrong element:\n");
	run_with(2, false, false, 1, one_sum);
	flip = false;
}

/* ---- a long call ---- */

/* Queue pairs that get nothing from the box, by rank. */
static atomic_uint deaf[RANKS];

static bool deaf_one(unsigned int from, const uint8_t *frame, uint32_t len)
{
	unsigned int qpn = len < 54 ? 0 : frame[47] << 16 | frame[48] << 8 | frame[49];

	for (unsigned int k = 0; k < RANKS; k++)
		if (qpn && qpn == atomic_load(&deaf[k]) && from >= 2)
			return true;
	return false;
}

/*
 * The first large call takes longer than the time after which an unused group is given back. The
 * larger group, made meanwhile, is still there for the next one.
 */
static int long_call(struct rank *r)
{
	struct vector *v = vector_new();
	struct rf_request *q;
	bool made = false;

	EXPECT(r, sum(r, r->comm, v, 1, SMALL) == 0);
	atomic_store(&deaf[r->rank], r->comm->group->roce.recv_qpn);
	api_box_drop(deaf_one);
	EXPECT(r, rank_meet(r) == 0);
	fill(r, v, 2, LARGE);
	EXPECT(r, rf_iallreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM, &q) == RF_OK);
	for (unsigned int k = 0; k < 3000 && !made; k++) {
		usleep(5000);
		rf_lock(r->ctx);
		made = r->comm->large.state == RF_LARGE_USED;
		rf_unlock(r->ctx);
	}
	EXPECT(r, made);
	usleep(2500000);
	EXPECT(r, rf_test(q) == RF_IN_PROGRESS);
	EXPECT(r, rank_meet(r) == 0);
	api_box_drop(NULL);
	EXPECT(r, rf_wait(q, FOREVER) == RF_OK && right(r, r->comm, v, 2, LARGE) == 0);
	fill(r, v, 3, LARGE);
	EXPECT(r, rf_iallreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM, &q) == RF_OK);
	EXPECT(r, q->carrier != r->comm->group);
	EXPECT(r, rf_wait(q, FOREVER) == RF_OK && right(r, r->comm, v, 3, LARGE) == 0);
	free(v);
	return until_given_back(r, r->comm);
}

static void not_given_back_in_a_long_call(void **state)
{
	(void)state;
	run_with(2, false, false, 0, long_call);
}

/* ---- many in flight, in any order ---- */

/*
 * Large and small calls on two communicators, started in opposite order on two ranks, while the
 * larger groups are made.
 */
static int any_order(struct rank *r)
{
	enum { CALLS = 24 };
	struct rf_comm *c[2] = {r->comm, NULL};
	struct vector *v[CALLS];
	struct rf_request *q[CALLS];
	int ret = 0;

	EXPECT(r, rf_comm_split(r->comm, 0, 0, "second", &c[1]) == RF_OK);
	for (unsigned int k = 0; k < CALLS; k++)
		v[k] = vector_new();
	for (unsigned int round = 0; round < 6 && !ret; round++) {
		for (unsigned int i = 0; i < CALLS && !ret; i++) {
			unsigned int k = r->rank ? (i + CALLS / 2) % CALLS : i;
			size_t n = k % 3 ? LARGE : SMALL;

			fill(r, v[k], round * CALLS + k, n);
			ret = rf_iallreduce(c[k >= CALLS / 2], v[k]->in, v[k]->out, n, RF_FP32,
					    RF_SUM, &q[k]);
		}
		if (!ret)
			ret = rf_wait_all(q, CALLS, FOREVER);
		for (unsigned int k = 0; k < CALLS && !ret; k++)
			ret = right(r, c[k >= CALLS / 2], v[k], round * CALLS + k,
				    k % 3 ? LARGE : SMALL);
	}
	for (unsigned int k = 0; k < CALLS; k++)
		free(v[k]);
	rf_comm_destroy(c[1]);
	return ret;
}

static void opposite_order(void **state)
{
	(void)state;
	run_with(2, false, false, 0, any_order);
	run_with(3, false, false, 0, any_order);
}

/* ---- no room ---- */

static atomic_uint lines;

static void log_line(void *rank, enum rf_log_level level, const char *text)
{
	(void)rank;
	(void)level;
	if (strstr(text, "no second group for large calls"))
		atomic_fetch_add(&lines, 1);
}

/* The box has no room for it: once refused, not asked again until something is freed. */
static int refused(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *hog[4], *last = NULL;
	struct vector *v = vector_new();
	uint64_t full_at = 0;
	uint32_t attempts = 0;
	bool all = true;

	/* all but 16 of 512 slots */
	config.schedule = RF_SCHEDULE_BOX;
	config.slots = 512;
	for (unsigned int k = 0; k < 4; k++)
		EXPECT(r, rf_comm_create(r->ctx, &config, &hog[k]) == RF_OK);
	for (unsigned int k = 0; k < 60; k++) {
		EXPECT(r, sum(r, r->comm, v, k, LARGE) == 0);
		rf_lock(r->ctx);
		if (!full_at)
			full_at = r->ctx->full_at;
		rf_unlock(r->ctx);
		usleep(2000);
	}
	EXPECT(r, used(r, r->comm, &all) == 0 && !all);
	rf_lock(r->ctx);
	attempts = r->comm->large.refused;
	EXPECT(r, attempts >= 2 && full_at && r->ctx->full_at == full_at);
	rf_unlock(r->ctx);
	EXPECT(r, rank_meet(r) == 0);
	EXPECT(r, atomic_load(&lines) == r->all->n);
	/* a small one still has room, and is asked for */
	config.slots = 16;
	EXPECT(r, rf_comm_create(r->ctx, &config, &last) == RF_OK);
	EXPECT(r, rf_comm_destroy(last) == RF_OK);
	/* room for the larger one */
	EXPECT(r, rf_comm_destroy(hog[0]) == RF_OK);
	EXPECT(r, until_used(r, r->comm, v) == 0);
	EXPECT(r, r->comm->large.refused == 0);
	for (unsigned int k = 1; k < 4; k++)
		EXPECT(r, rf_comm_destroy(hog[k]) == RF_OK);
	free(v);
	return 0;
}

static void box_full(void **state)
{
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, 2, false, refused);

	(void)state;
	assert_non_null(box);
	lines = 0;
	all.timeout_ms = 20000;
	all.mtu = MTU;
	all.prepare = settings;
	all.log = log_line;
	all.log_level = RF_LOG_INFO;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

/* Settings that leave all calls to one group. */
static int never(struct rank *r)
{
	struct vector *v = vector_new();

	for (unsigned int k = 0; k < 5; k++)
		EXPECT(r, sum(r, r->comm, v, k, LARGE) == 0);
	EXPECT(r, !r->comm->large.thread_on && r->comm->large.started == 0);
	free(v);
	return 0;
}

static void not_wanted(void **state)
{
	unsigned int slots = SLOTS;
	struct ranks all;
	struct api_box *box = api_box_ranks(&all, 2, false, never);

	(void)state;
	assert_non_null(box);
	all.timeout_ms = 20000;
	all.mtu = MTU;
	all.prepare = settings;
	all.arg = &slots;
	assert_int_equal(ranks_run(&all), 0);
	api_box_end(&all, box);
}

/* ---- failures ---- */

/* A call of the larger group fails: so does the communicator, on all ranks, with one cause. */
static int aborted(struct rank *r)
{
	struct vector *v = vector_new(), *w = vector_new();
	struct rf_request *q[2];

	EXPECT(r, until_used(r, r->comm, v) == 0);
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank == 0) {
		EXPECT(r, rf_iallreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM, &q[0]) ==
				  RF_OK);
		EXPECT(r, rf_iallreduce(r->comm, w->in, w->out, SMALL, RF_FP32, RF_SUM, &q[1]) ==
				  RF_OK);
		EXPECT(r, rf_comm_abort(r->comm) == RF_OK);
		EXPECT(r, rf_wait(q[0], FOREVER) == RF_ERR_ABORTED);
		EXPECT(r, rf_wait(q[1], FOREVER) == RF_ERR_ABORTED);
	} else {
		EXPECT(r, rf_allreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM) ==
				  RF_ERR_ABORTED);
	}
	EXPECT(r, rf_barrier(r->comm) == RF_ERR_GROUP_FAILED);
	EXPECT(r,
	       rf_allreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM) == RF_ERR_GROUP_FAILED);
	free(v);
	free(w);
	return 0;
}

static void abort_ends_both(void **state)
{
	(void)state;
	run_with(3, false, false, 0, aborted);
}

/* Ranks differ in a large call. */
static int differ(struct rank *r)
{
	struct vector *v = vector_new();
	int ret;

	EXPECT(r, until_used(r, r->comm, v) == 0);
	ret = r->rank ? rf_allreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_MAX)
		      : rf_allreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM);
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "all-reduce of fp32, max"));
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "all-reduce of fp32, sum"));
	EXPECT(r, rf_barrier(r->comm) == RF_ERR_GROUP_FAILED);
	free(v);
	return 0;
}

static void different_calls(void **state)
{
	(void)state;
	run_with(2, false, false, 0, differ);
}

static struct api_box *doomed;

/* The box ends in the middle of a large call. */
static int box_ends(struct rank *r)
{
	struct vector *v = vector_new();
	struct rf_request *q;
	int ret;

	EXPECT(r, until_used(r, r->comm, v) == 0);
	EXPECT(r, rank_meet(r) == 0);
	if (r->rank == 0) {
		/* the other one has not made its call: the box has some of the packets */
		EXPECT(r,
		       rf_iallreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM, &q) == RF_OK);
		usleep(20000);
		api_box_stop(doomed);
		EXPECT(r, rank_meet(r) == 0);
		ret = rf_wait(q, FOREVER);
	} else {
		EXPECT(r, rank_meet(r) == 0);
		ret = rf_allreduce(r->comm, v->in, v->out, LARGE, RF_FP32, RF_SUM);
	}
	EXPECT(r, ret == RF_ERR_BOX_SILENT);
	EXPECT(r, rf_barrier(r->comm) == RF_ERR_GROUP_FAILED);
	free(v);
	return 0;
}

static void box_killed(void **state)
{
	struct ranks all;

	(void)state;
	setenv("RF_BOX_TIMEOUT", "1000", 1);
	doomed = api_box_ranks(&all, 2, false, box_ends);
	assert_non_null(doomed);
	all.timeout_ms = 20000;
	all.mtu = MTU;
	all.prepare = settings;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
	unsetenv("RF_BOX_TIMEOUT");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(made_used_given_back),
		cmocka_unit_test(ended_at_once),
		cmocka_unit_test(flipped_bit),
		cmocka_unit_test(not_given_back_in_a_long_call),
		cmocka_unit_test(opposite_order),
		cmocka_unit_test(box_full),
		cmocka_unit_test(not_wanted),
		cmocka_unit_test(abort_ends_both),
		cmocka_unit_test(different_calls),
		cmocka_unit_test(box_killed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
