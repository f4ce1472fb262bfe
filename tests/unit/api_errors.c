/*
 * Errors of callers and ranks, over the ring: each ends with its own status and a text, in time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "tests/unit/api_ranks.h"

static void run_all(unsigned int n, int (*run)(struct rank *), bool manual)
{
	struct ranks all;

	ranks_init(&all, n, run);
	all.manual = manual;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* Errors of one caller alone: the call is refused, and the group continues. */
static int bad_arguments(struct rank *r)
{
	struct rf_request *req[RF_REQUESTS_MAX], *more;
	struct rf_comm *none = NULL;
	uint32_t a[64] = {0}, b[64];
	unsigned int k;
	int first;

	EXPECT(r, rf_allreduce(r->comm, a, b, 1, (enum rf_type)10, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "type 10 does not exist: use one of"));
	EXPECT(r, rf_allreduce(r->comm, a, b, 1, RF_INT32, (enum rf_op)6) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(r->comm, a, b, 1, RF_INT32, (enum rf_op)9) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "operation 9 does not exist: use one of"));
	EXPECT(r, rf_allreduce(r->comm, a, b, 1, RF_INT32, RF_PRODUCT) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rf_all_gather()"));
	EXPECT(r, rf_allreduce(r->comm, a, b, 1, RF_INT32, RF_AVERAGE) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "floating types"));
	EXPECT(r, rf_allreduce(r->comm, a, b, 1, RF_BF16, RF_AND) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "and is for integers, not for bf16"));
	{
		struct rf_comm_config c = RF_COMM_CONFIG_INIT;

		c.slots = 17;
		EXPECT(r, rf_comm_create(r->ctx, &c, &none) == RF_ERR_INVALID);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "17"));
		c.slots = 0;
		c.straggler = 33;
		EXPECT(r, rf_comm_create(r->ctx, &c, &none) == RF_ERR_INVALID);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "33"));
		c.straggler = 0;
		c.selective = (enum rf_choice)3;
		EXPECT(r, rf_comm_create(r->ctx, &c, &none) == RF_ERR_INVALID);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "RF_SELECTIVE"));
		c.selective = RF_CHOICE_DEFAULT;
		c.steering = (enum rf_steering)3;
		EXPECT(r, rf_comm_create(r->ctx, &c, &none) == RF_ERR_INVALID);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "RF_STEERING"));
		c.size = 0;
		EXPECT(r, rf_comm_create(r->ctx, &c, &none) == RF_ERR_INVALID);
	}
	EXPECT(r, none == NULL);
	EXPECT(r, rf_allreduce(r->comm, NULL, NULL, 0, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, rf_allreduce(r->comm, NULL, b, 1, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(r->comm, a, NULL, 1, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(r->comm, (char *)a + 1, b, 1, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "aligned"));
	EXPECT(r, rf_allreduce(r->comm, a, a + 1, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "overlap"));
	EXPECT(r, rf_allreduce(r->comm, a + 1, a, 2, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_allreduce(r->comm, a, b, (size_t)-1 / 4, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	EXPECT(r, rf_iallreduce(r->comm, a, b, 1, RF_INT32, RF_SUM, NULL) == RF_ERR_INVALID);
	EXPECT(r, rf_context_destroy(r->ctx) == RF_ERR_BUSY);
	/* neighbours do not overlap */
	a[0] = 5;
	EXPECT(r, rf_allreduce(r->comm, a, a + 1, 1, RF_INT32, RF_SUM) == RF_OK &&
			  a[1] == 5 * r->all->n);
	/* more calls than are allowed; the other ranks delay the first ones until the barrier */
	first = r->rank == 0;
	for (k = 0; first && k < RF_REQUESTS_MAX; k++)
		EXPECT(r, rf_iallreduce(r->comm, a, b + k % 64, 1, RF_INT32, RF_SUM, &req[k]) ==
				  RF_OK);
	if (first) {
		EXPECT(r, rf_iallreduce(r->comm, a, b, 1, RF_INT32, RF_SUM, &more) == RF_ERR_BUSY);
		EXPECT(r, rf_wait(req[0], 30) == RF_IN_PROGRESS);
	}
	EXPECT(r, rank_meet(r) == RF_OK);
	for (k = 0; !first && k < RF_REQUESTS_MAX; k++)
		EXPECT(r, rf_iallreduce(r->comm, a, b + k % 64, 1, RF_INT32, RF_SUM, &req[k]) ==
				  RF_OK);
	for (k = 0; k < RF_REQUESTS_MAX; k++)
		EXPECT(r, rf_wait(req[k], (unsigned int)-1) == RF_OK);
	return 0;
}

static void arguments(void **state)
{
	(void)state;
	run_all(2, bad_arguments, false);
}

/* Rank 1 calls with other lengths: every rank gets an error that says so, and the group stays
 * failed. */
static int counts_differ(struct rank *r)
{
	static uint32_t send[2000], recv[RANKS][2000];
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *other = NULL;
	int ret;

	config.schedule = RF_SCHEDULE_RING;
	ret = rf_allreduce(r->comm, send, recv[r->rank], r->rank == 1 ? 2000 : 100, RF_INT32,
			   RF_SUM);
	EXPECT(r, ret == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "count"));
	EXPECT(r, rf_allreduce(r->comm, send, recv[r->rank], 1, RF_INT32, RF_SUM) ==
			  RF_ERR_GROUP_FAILED);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "count"));
	/* the job still works: it can make another communicator */
	EXPECT(r, rf_comm_create(r->ctx, &config, &other) == RF_OK);
	EXPECT(r, rf_allreduce(other, send, recv[r->rank], 1, RF_INT32, RF_SUM) == RF_OK);
	return rf_comm_destroy(other);
}

static void different_counts(void **state)
{
	(void)state;
	run_all(3, counts_differ, false);
}

/* A communicator that all make, of which one wants something else. */
static int settings_differ(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;

	config.schedule = RF_SCHEDULE_RING;
	config.straggler = RF_STRAGGLER_SILENT;
	config.selective = r->rank == 1 ? RF_CHOICE_ON : RF_CHOICE_OFF;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "RF_SELECTIVE"));
	config.selective = RF_CHOICE_OFF;
	config.slots = r->rank == 1 ? 32 : 64;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 1 asks for 32 slots and rank 0 for 64: "
						     "set RF_SLOTS"));
	config.slots = 64;
	config.straggler = r->rank == 2 ? 5 : RF_STRAGGLER_SILENT;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 2 and rank 0 differ in RF_STRAGGLER"));
	config.straggler = RF_STRAGGLER_SILENT;
	config.steering = r->rank == 2 ? RF_STEERING_RING : RF_STEERING_MIRROR;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 2 and rank 0 differ in RF_STEERING"));
	/* a box that nobody is asked for, because the ranks see first that they differ */
	config.steering = RF_STEERING_MIRROR;
	config.schedule = RF_SCHEDULE_BOX;
	config.box_ip = r->rank == 1 ? "10.0.0.253" : "10.0.0.254";
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_ERR_MISMATCH);
	EXPECT(r, strstr(rf_last_error_text(r->ctx),
			 "rank 1 (box 10.0.0.253) and rank 0 (box 10.0.0.254) differ: set "
			 "RF_BOX_IP"));
	EXPECT(r, comm == NULL);
	return 0;
}

static void different_settings(void **state)
{
	(void)state;
	run_all(3, settings_differ, false);
}

/* One splits a communicator while the other destroys it. */
static int calls_differ(struct rank *r)
{
	struct rf_comm *part = NULL;

	if (r->rank == 0) {
		EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &part) == RF_ERR_MISMATCH);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "same order"));
		EXPECT(r, strstr(rf_last_error_text(r->ctx),
				 "rf_comm_split() number 1 of communicator "));
	}
	return 0;
}

static void different_calls(void **state)
{
	(void)state;
	run_all(2, calls_differ, false);
}

/* One rank never calls: the deadline of the others passes. */
static int one_absent(struct rank *r)
{
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;
	uint32_t a = 1, b;
	struct timespec start, end;
	int ret;

	config.timeout_ms = 300;
	config.schedule = RF_SCHEDULE_RING;
	EXPECT(r, rf_comm_create(r->ctx, &config, &comm) == RF_OK);
	clock_gettime(CLOCK_MONOTONIC, &start);
	if (r->rank) {
		ret = rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM);
		clock_gettime(CLOCK_MONOTONIC, &end);
		EXPECT(r, ret == RF_ERR_TIMEOUT);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "300 ms"));
		EXPECT(r, end.tv_sec - start.tv_sec < 3);
	}
	EXPECT(r, rank_meet(r) == RF_OK);
	/* the late rank is informed */
	if (!r->rank) {
		usleep(100000);
		EXPECT(r, rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_TIMEOUT);
		EXPECT(r, rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_GROUP_FAILED);
	}
	return rf_comm_destroy(comm);
}

static void deadline(void **state)
{
	(void)state;
	run_all(3, one_absent, false);
}

static double aborted_at; /* announced by rank 1; the others read it from the store */

static double seconds(void)
{
	return 1e-9 * (double)rf_now_ns();
}

static int aborts(struct rank *r)
{
	uint32_t a = 1, b;
	int ret;

	if (r->rank == 1) {
		usleep(50000);
		aborted_at = seconds();
		EXPECT(r, rf_comm_abort(r->comm) == RF_OK);
		/* the others must be informed even if this rank makes no further call */
		usleep(1200000);
		EXPECT(r,
		       rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_GROUP_FAILED);
	} else {
		ret = rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM);
		EXPECT(r, ret == RF_ERR_ABORTED);
		EXPECT(r, seconds() - aborted_at < 1);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "rank 1: rf_comm_abort() was called"));
	}
	return 0;
}

/* A communicator that one rank has given up is not split, on any rank. */
static int splits_failed(struct rank *r)
{
	struct rf_comm *part = NULL;

	if (r->rank == 1)
		EXPECT(r, rf_comm_abort(r->comm) == RF_OK);
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &part) == RF_ERR_GROUP_FAILED);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "can only be destroyed"));
	EXPECT(r, part == NULL);
	return 0;
}

static void abortion(void **state)
{
	(void)state;
	run_all(3, aborts, false);
	run_all(3, aborts, true);
	run_all(3, splits_failed, false);
}

#define MANY 64u

/* One rank gives up many communicators at once: the others learn of every one. */
static int aborts_many(struct rank *r)
{
	struct rf_comm *comm[MANY];
	struct rf_request *q[MANY];
	uint32_t a = 1, b[MANY];
	unsigned int aborted = 0, k;
	double begin;

	for (k = 0; k < MANY; k++)
		EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &comm[k]) == RF_OK);
	for (k = 0; k < MANY && r->rank; k++)
		EXPECT(r, rf_iallreduce(comm[k], &a, &b[k], 1, RF_INT32, RF_SUM, &q[k]) == RF_OK);
	EXPECT(r, rank_meet(r) == 0);
	begin = seconds();
	for (k = 0; k < MANY && !r->rank; k++)
		EXPECT(r, rf_comm_abort(comm[k]) == RF_OK);
	for (k = 0; k < MANY && r->rank; k++)
		aborted += rf_wait(q[k], RF_WAIT_FOREVER) == RF_ERR_ABORTED;
	EXPECT(r, !r->rank || aborted == MANY);
	EXPECT(r, seconds() - begin < 2);
	for (k = 0; k < MANY; k++)
		rf_comm_destroy(comm[k]);
	return 0;
}

static void many_abortions(void **state)
{
	(void)state;
	run_all(3, aborts_many, false);
	run_all(2, aborts_many, true);
}

/* Destroyed with a request outstanding: the request ends, and the others are informed. */
static int destroys(struct rank *r)
{
	struct rf_request *req;
	uint32_t a = 1, b;

	if (r->rank == 1)
		EXPECT(r, rf_iallreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM, &req) == RF_OK);
	return 0;
}

static void destroyed_early(void **state)
{
	(void)state;
	run_all(2, destroys, false);
}

static int nothing(struct rank *r)
{
	(void)r;
	return 0;
}

/* A rank that never comes is named, within the deadline. */
static void missing_rank(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 3, nothing);
	all.timeout_ms = 300;
	all.left_out = 2;
	assert_int_equal(ranks_run(&all), 2);
	assert_int_equal(all.rank[0].ret, RF_ERR_RANK_MISSING);
	assert_int_equal(all.rank[2].ret, RF_ERR_RANK_MISSING);
	assert_non_null(strstr(all.rank[0].text, "rank 1 did not arrive"));
	assert_non_null(strstr(all.rank[2].text, "rank 1 did not arrive"));
	all.left_out = 1;
	assert_int_equal(ranks_run(&all), 2);
	assert_int_equal(all.rank[1].ret, RF_ERR_RANK_MISSING);
	assert_non_null(strstr(all.rank[1].text, "rank 0"));
	ranks_free(&all);
}

/* A process of another release, as far as the store's first answer. */
static void *older_rank(void *arg)
{
	const struct ranks *all = arg;
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)all->port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	/* HELLO: magic, version 2, and the rest as that release has it */
	static const uint8_t hello[30] = {[3] = 26, 1, 'R', 'F', 'S', 'T', 2, 0, 1, 0, 2};
	uint8_t reply[256];

	for (unsigned int k = 0; k < 100; k++) {
		int fd = socket(AF_INET, SOCK_STREAM, 0);

		if (connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
		    recv(fd, reply, sizeof(reply), 0) > 0 &&
		    send(fd, hello, sizeof(hello), MSG_NOSIGNAL) > 0 &&
		    recv(fd, reply, sizeof(reply), 0) > 0)
			k = 100;
		close(fd);
		usleep(5000);
	}
	return NULL;
}

static void rank_of_another_release(void **state)
{
	struct ranks all;
	pthread_t thread;

	(void)state;
	ranks_init(&all, 2, nothing);
	all.timeout_ms = 500;
	all.left_out = 2;
	pthread_create(&thread, NULL, older_rank, &all);
	assert_int_equal(ranks_run(&all), 1);
	pthread_join(thread, NULL);
	assert_int_equal(all.rank[0].ret, RF_ERR_RANK_MISSING);
	assert_non_null(strstr(all.rank[0].text, "another release of ringfold has called, with "
						 "version 2 of the store: use one release"));
	ranks_free(&all);
}

/* While a job runs, other processes that claim a rank of it are refused and change nothing. */
static int twin(struct rank *r)
{
	struct rf_context_config context = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config comm = RF_COMM_CONFIG_INIT;
	struct rf_context *ctx;
	struct rf_comm *other = NULL;
	char own[16];

	EXPECT(r, rank_meet(r) == RF_OK);
	snprintf(own, sizeof(own), "rank %u", r->rank);
	EXPECT(r, rf_context_create(&context, &ctx) == RF_OK);
	comm.rank = r->rank;
	comm.ranks = r->all->n;
	comm.port = r->all->port;
	/* a context without a device may only join a communicator of one rank */
	EXPECT(r, rf_comm_create(ctx, &comm, &other) == RF_ERR_DEVICE);
	EXPECT(r, rf_context_destroy(ctx) == RF_OK);
	EXPECT(r, other == NULL);
	/* this one is a rank of the job, and remains it */
	comm.rank = 1 - r->rank;
	EXPECT(r, rf_comm_create(r->ctx, &comm, &other) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(r->ctx), "already"));
	EXPECT(r, rank_meet(r) == RF_OK);
	return 0;
}

static void second_process(void **state)
{
	(void)state;
	run_all(2, twin, false);
}

static double cpu_at_start;

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* Rank 0 waits in a split; its progress thread has nothing to do meanwhile. */
static int late(struct rank *r)
{
	struct rf_comm *part = NULL;

	EXPECT(r, rank_meet(r) == RF_OK);
	if (r->rank == 1) {
		cpu_at_start = cpu_seconds();
		usleep(1500000);
		EXPECT(r, cpu_seconds() - cpu_at_start < 0.3);
	}
	EXPECT(r, rf_comm_split(r->comm, -1, 0, NULL, &part) == RF_OK);
	return 0;
}

static void waiting_sleeps(void **state)
{
	(void)state;
	run_all(2, late, false);
}

static void different_mtu(void **state)
{
	struct ranks all;

	(void)state;
	ranks_init(&all, 2, nothing);
	all.mtu = 0; /* RF_MTU: wrong */
	setenv("RF_MTU", "1000", 1);
	assert_int_equal(ranks_run(&all), 2);
	assert_int_equal(all.rank[0].ret, RF_ERR_INVALID);
	assert_non_null(strstr(all.rank[0].text, "1000"));
	unsetenv("RF_MTU");
	all.mtu = 1024;
	all.mtu_last = 2048;
	assert_int_equal(ranks_run(&all), 2);
	assert_int_equal(all.rank[0].ret, RF_ERR_MISMATCH);
	assert_int_equal(all.rank[1].ret, RF_ERR_MISMATCH);
	assert_non_null(strstr(all.rank[0].text, "2048"));
	ranks_free(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(arguments),       cmocka_unit_test(different_counts),
		cmocka_unit_test(different_calls), cmocka_unit_test(different_mtu),
		cmocka_unit_test(deadline),        cmocka_unit_test(abortion),
		cmocka_unit_test(many_abortions),  cmocka_unit_test(destroyed_early),
		cmocka_unit_test(missing_rank),    cmocka_unit_test(rank_of_another_release),
		cmocka_unit_test(second_process),  cmocka_unit_test(different_settings),
		cmocka_unit_test(waiting_sleeps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
