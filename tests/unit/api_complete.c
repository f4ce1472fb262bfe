/* How a program learns that calls have completed: waits for many, a descriptor, callbacks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

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

/* ---- waits ---- */

static int waits(struct rank *r)
{
	enum { N = 8 };
	struct rf_request *req[N + 2] = {NULL}, *foreign[2];
	struct rf_context *other = NULL;
	struct rf_comm_config alone = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;
	struct rf_comm *g[2] = {r->comm, NULL};
	uint32_t a = 1, b[N] = {0};
	unsigned int at, k, seen = 0;

	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &g[1]) == RF_OK);
	/* nothing to wait for */
	EXPECT(r, rf_wait_any(req, N, 10, &at) == RF_ERR_INVALID);
	EXPECT(r, rf_wait_any(NULL, 0, 10, &at) == RF_ERR_INVALID);
	EXPECT(r, rf_wait_all(req, N, 10) == RF_OK && rf_wait_all(NULL, 0, 10) == RF_OK);
	/* the last rank is late: it begins when the others have seen that nothing is complete */
	for (k = 0; k < N && r->rank < r->all->n - 1; k++)
		EXPECT(r, rf_iallreduce(g[k % 2], &a, &b[k], 1, RF_INT32, RF_SUM, &req[k + 1]) ==
				  RF_OK);
	if (r->rank < r->all->n - 1) {
		EXPECT(r, rf_wait_any(req, N + 2, 40, &at) == RF_IN_PROGRESS);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "40 ms"));
		EXPECT(r, rf_wait_all(req, N + 2, 0) == RF_IN_PROGRESS);
		EXPECT(r, rf_wait_any(req, N + 2, 0, NULL) == RF_ERR_INVALID);
	}
	EXPECT(r, rank_meet(r) == RF_OK);
	for (k = 0; k < N && r->rank == r->all->n - 1; k++)
		EXPECT(r, rf_iallreduce(g[k % 2], &a, &b[k], 1, RF_INT32, RF_SUM, &req[k + 1]) ==
				  RF_OK);
	for (k = 0; k < N / 2; k++) {
		EXPECT(r, rf_wait_any(req, N + 2, FOREVER, &at) == RF_OK);
		EXPECT(r, at >= 1 && at <= N && !req[at] && !(seen >> at & 1));
		EXPECT(r, b[at - 1] == r->all->n);
		seen |= 1u << at;
	}
	EXPECT(r, rf_wait_all(req, N + 2, FOREVER) == RF_OK);
	for (k = 0; k < N; k++)
		EXPECT(r, !req[k + 1] && b[k] == r->all->n);
	/* of several contexts */
	alone.ranks = 1;
	EXPECT(r, rf_context_create(NULL, &other) == RF_OK);
	EXPECT(r, rf_comm_create(other, &alone, &comm) == RF_OK);
	EXPECT(r, rf_iallreduce(g[0], &a, &b[0], 1, RF_INT32, RF_SUM, &foreign[0]) == RF_OK);
	EXPECT(r, rf_iallreduce(comm, &a, &b[1], 1, RF_INT32, RF_SUM, &foreign[1]) == RF_OK);
	EXPECT(r, rf_wait_any(foreign, 2, 10, &at) == RF_ERR_INVALID);
	EXPECT(r, strstr(rf_last_error_text(NULL), "several contexts"));
	EXPECT(r, rf_wait_all(foreign, 2, 10) == RF_ERR_INVALID);
	EXPECT(r, rf_wait_all(&foreign[1], 1, 10) == RF_OK && b[1] == 1);
	EXPECT(r, rf_wait_any(foreign, 1, FOREVER, &at) == RF_OK && at == 0);
	rf_comm_destroy(comm);
	rf_context_destroy(other);
	/* one fails while another one is in progress: none is released; then both fail */
	EXPECT(r, rank_meet(r) == RF_OK);
	EXPECT(r, rf_iallreduce(g[0], &a, &b[0], 1, RF_INT32, RF_SUM, &req[0]) == RF_OK);
	EXPECT(r, rf_wait(req[0], FOREVER) == RF_OK);
	if (r->rank == 0) {
		EXPECT(r, rf_iallreduce(g[1], &a, &b[1], 1, RF_INT32, RF_SUM, &req[0]) == RF_OK);
		EXPECT(r, rf_iallreduce(g[0], &a, &b[0], 1, RF_INT32, RF_SUM, &req[1]) == RF_OK);
		EXPECT(r, rf_comm_abort(g[1]) == RF_OK);
		EXPECT(r, rf_wait_all(req, 2, 10) == RF_IN_PROGRESS && req[0] && req[1]);
		EXPECT(r, rf_comm_abort(g[0]) == RF_OK);
		EXPECT(r, rf_wait_all(req, 2, FOREVER) == RF_ERR_ABORTED);
		EXPECT(r, strstr(rf_last_error_text(r->ctx), "rf_comm_abort"));
		EXPECT(r, !req[0] && !req[1]);
	}
	rf_comm_destroy(g[1]);
	return 0;
}

static void waits_for_many(void **state)
{
	(void)state;
	run_all(3, waits, false);
	run_all(2, waits, true);
}

/* ---- the descriptor ---- */

static bool readable(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) == 1;
}

/* Until it is readable; in manual mode only calls make progress. */
static bool comes(struct rank *r, int fd)
{
	for (unsigned int k = 0; k < 3000; k++) {
		if (readable(fd, r->all->manual ? 0 : 2))
			return true;
		if (r->all->manual)
			rf_progress(r->ctx, 1000);
	}
	return false;
}

static int descriptor(struct rank *r)
{
	struct rf_request *req[3];
	struct rf_comm *other = NULL;
	uint32_t a = 1, b[3];
	int fd = -1, same = -1;

	EXPECT(r, rf_completion_fd(r->ctx, NULL) == RF_ERR_INVALID);
	/* one that was complete before the program asked for the descriptor */
	EXPECT(r, rf_iallreduce(r->comm, &a, &b[0], 1, RF_INT32, RF_SUM, &req[0]) == RF_OK);
	EXPECT(r, rank_meet(r) == RF_OK);
	EXPECT(r, rf_completion_fd(r->ctx, &fd) == RF_OK);
	EXPECT(r, rf_completion_fd(r->ctx, &same) == RF_OK && fd == same);
	EXPECT(r, comes(r, fd));
	EXPECT(r, rf_test(req[0]) == RF_OK && b[0] == r->all->n);
	EXPECT(r, !readable(fd, 0));
	/* three complete, and are taken one by one */
	for (unsigned int k = 0; k < 3; k++)
		EXPECT(r, rf_iallreduce(r->comm, &a, &b[k], 1, RF_INT32, RF_SUM, &req[k]) == RF_OK);
	for (unsigned int k = 0; k < 3; k++) {
		EXPECT(r, comes(r, fd));
		EXPECT(r, rf_wait(req[2 - k], FOREVER) == RF_OK);
	}
	EXPECT(r, !readable(fd, 20));
	EXPECT(r, rf_allreduce(r->comm, &a, b, 1, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, !readable(fd, 0));
	/* requests that are never taken end with their communicator */
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &other) == RF_OK);
	EXPECT(r, rf_iallreduce(other, &a, b, 1, RF_INT32, RF_SUM, &req[0]) == RF_OK);
	EXPECT(r, comes(r, fd));
	EXPECT(r, rank_meet(r) == RF_OK);
	EXPECT(r, rf_comm_destroy(other) == RF_OK);
	EXPECT(r, !readable(fd, 0));
	return 0;
}

static void readable_descriptor(void **state)
{
	(void)state;
	run_all(2, descriptor, false);
	run_all(2, descriptor, true);
}

/* ---- callbacks ---- */

struct chain {
	struct rank *r;
	struct rf_comm *g;
	uint32_t a, b;
	atomic_uint called, wrong;
	unsigned int most;
	unsigned int depth; /* of callbacks in callbacks */
	char text[200];
};

static void again(void *arg, int status, const char *text)
{
	struct chain *c = arg;
	struct rf_request *req;
	unsigned int n = atomic_load(&c->called);

	c->wrong += c->depth++ != 0;
	if (status)
		snprintf(c->text, sizeof(c->text), "%s", text);
	else
		c->wrong += c->b != c->r->all->n + n || text[0];
	if (!status && n + 1 < c->most) {
		c->a = 1 + (c->r->rank == 0 ? n + 1 : 0);
		c->wrong += rf_iallreduce(c->g, &c->a, &c->b, 1, RF_INT32, RF_SUM, &req) != RF_OK;
		c->wrong += rf_on_completion(req, again, c) != RF_OK;
	}
	c->depth--;
	atomic_fetch_add(&c->called, 1);
}

static bool called(struct chain *c, unsigned int n)
{
	for (unsigned int k = 0; k < 5000 && atomic_load(&c->called) < n; k++)
		if (c->r->all->manual)
			rf_progress(c->r->ctx, 1000);
		else
			usleep(1000);
	return atomic_load(&c->called) == n;
}

/* Each callback starts the next call. */
static int chained(struct rank *r)
{
	struct chain c = {.r = r, .a = 1, .most = 100};
	struct rf_request *req;
	int fd;

	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &c.g) == RF_OK);
	EXPECT(r, rf_completion_fd(r->ctx, &fd) == RF_OK);
	EXPECT(r, rf_iallreduce(c.g, &c.a, &c.b, 1, RF_INT32, RF_SUM, &req) == RF_OK);
	EXPECT(r, rf_on_completion(req, NULL, NULL) == RF_ERR_INVALID);
	EXPECT(r, rf_on_completion(req, again, &c) == RF_OK);
	EXPECT(r, called(&c, 100) && c.wrong == 0);
	/* nobody has to take anything */
	EXPECT(r, !readable(fd, 0));
	EXPECT(r, rank_meet(r) == RF_OK);
	/* one that has completed already */
	c.called = 0;
	c.most = 1;
	c.a = 1;
	EXPECT(r, rf_iallreduce(c.g, &c.a, &c.b, 1, RF_INT32, RF_SUM, &req) == RF_OK);
	EXPECT(r, comes(r, fd));
	EXPECT(r, rf_on_completion(req, again, &c) == RF_OK);
	EXPECT(r, called(&c, 1) && c.wrong == 0 && !readable(fd, 0));
	EXPECT(r, rank_meet(r) == RF_OK);
	/* failures come with their text; destroying it waits for the callbacks */
	c.called = 0;
	if (r->rank == 0) {
		for (unsigned int k = 0; k < 20; k++) {
			EXPECT(r,
			       rf_iallreduce(c.g, &c.a, &c.b, 1, RF_INT32, RF_SUM, &req) == RF_OK);
			EXPECT(r, rf_on_completion(req, again, &c) == RF_OK);
		}
		EXPECT(r, rf_comm_destroy(c.g) == RF_OK);
		EXPECT(r, c.called == 20 && c.wrong == 0 && strstr(c.text, "destroyed"));
		return 0;
	}
	return rf_comm_destroy(c.g);
}

static void callbacks(void **state)
{
	(void)state;
	run_all(2, chained, false);
	run_all(3, chained, true);
}

/* One rank alone completes at once: a long chain does not become a deep one. */
static void callbacks_alone(void **state)
{
	struct ranks all = {.n = 1};
	struct rank r = {.all = &all};
	struct chain c = {.r = &r, .a = 1, .most = 200000};
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_request *req;

	(void)state;
	config.ranks = 1;
	assert_int_equal(rf_context_create(NULL, &r.ctx), RF_OK);
	assert_int_equal(rf_comm_create(r.ctx, &config, &r.comm), RF_OK);
	c.g = r.comm;
	assert_int_equal(rf_iallreduce(c.g, &c.a, &c.b, 1, RF_INT32, RF_SUM, &req), RF_OK);
	assert_int_equal(rf_on_completion(req, again, &c), RF_OK);
	assert_int_equal(c.called, 200000);
	assert_int_equal(c.wrong, 0);
	rf_comm_destroy(r.comm);
	rf_context_destroy(r.ctx);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(waits_for_many),
		cmocka_unit_test(readable_descriptor),
		cmocka_unit_test(callbacks),
		cmocka_unit_test(callbacks_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
