/*
 * Threads of one process: errors of each, calls of several, objects made and destroyed by
 * different ones; and processes made by fork().
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
#include <sys/wait.h>
#include <unistd.h>

#include "tests/unit/api_ranks.h"

static void run_all(unsigned int n, int (*run)(struct rank *), bool manual)
{
	struct ranks all;

	ranks_init(&all, n, run);
	all.manual = manual;
	assert_int_equal(ranks_run(&all), 0);
	ranks_free(&all);
}

/* ---- errors ---- */

struct failing {
	pthread_t thread;
	struct rank *r;
	unsigned int which;
	unsigned int bad;
};

static void *fails(void *arg)
{
	static const char *const texts[] = {"not for fp32", "buffer is NULL", "aligned", "overlap"};
	struct failing *f = arg;
	uint32_t a[8] = {0};
	const char *text = "";

	f->bad += strcmp(rf_last_error_text(f->r->ctx), "") != 0;
	for (unsigned int k = 0; k < 2000; k++) {
		int ret;

		if (f->which == 0)
			ret = rf_allreduce(f->r->comm, a, a + 4, 1, RF_FP32, RF_XOR);
		else if (f->which == 1)
			ret = rf_allreduce(f->r->comm, NULL, a, 1, RF_INT32, RF_SUM);
		else if (f->which == 2)
			ret = rf_allreduce(f->r->comm, (char *)a + 1, a + 4, 1, RF_INT32, RF_SUM);
		else
			ret = rf_allreduce(f->r->comm, a, a + 1, 3, RF_INT32, RF_SUM);
		if (k % 50 == 0)
			sched_yield();
		text = rf_last_error_text(f->r->ctx);
		f->bad += ret != RF_ERR_INVALID || !strstr(text, texts[f->which]);
	}
	/* the text stays until this thread asks again */
	f->bad += !strstr(text, texts[f->which]);
	return NULL;
}

static int errors(struct rank *r)
{
	struct failing f[4];
	unsigned int bad = 0;

	for (unsigned int k = 0; k < 4; k++) {
		f[k] = (struct failing){.r = r, .which = k};
		pthread_create(&f[k].thread, NULL, fails, &f[k]);
	}
	for (unsigned int k = 0; k < 4; k++) {
		pthread_join(f[k].thread, NULL);
		bad += f[k].bad;
	}
	EXPECT(r, bad == 0);
	return 0;
}

static void errors_per_thread(void **state)
{
	(void)state;
	run_all(2, errors, false);
}

/* ---- two callers ---- */

struct caller {
	pthread_t thread;
	struct rf_comm *g;
	unsigned int rank, which, bad;
};

/* Each thread has a communicator of its own, so that the order of calls on it is the same. */
static void *calls(void *arg)
{
	struct caller *c = arg;
	uint32_t a, b;

	for (unsigned int k = 0; k < 300; k++) {
		a = (c->rank + 1) * 100 + c->which * 10000 + k;
		b = 0;
		c->bad += rf_allreduce(c->g, &a, &b, 1, RF_INT32, RF_SUM) != RF_OK;
		c->bad += b != 300 + 2 * (c->which * 10000 + k);
	}
	return NULL;
}

static int two(struct rank *r)
{
	struct caller c[2];

	for (unsigned int k = 0; k < 2; k++) {
		c[k] = (struct caller){.rank = r->rank, .which = k};
		EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &c[k].g) == RF_OK);
	}
	for (unsigned int k = 0; k < 2; k++)
		pthread_create(&c[k].thread, NULL, calls, &c[k]);
	for (unsigned int k = 0; k < 2; k++)
		pthread_join(c[k].thread, NULL);
	EXPECT(r, c[0].bad + c[1].bad == 0);
	EXPECT(r, rf_comm_destroy(c[1].g) == RF_OK);
	return rf_comm_destroy(c[0].g);
}

static void two_callers(void **state)
{
	(void)state;
	run_all(2, two, false);
	run_all(2, two, true);
}

/* ---- objects made and destroyed by different threads ---- */

static void *makes(void *arg)
{
	struct rf_context **ctx = arg;

	return (void *)(intptr_t)rf_context_create(NULL, ctx);
}

static void *ends(void *arg)
{
	return (void *)(intptr_t)rf_context_destroy(*(struct rf_context **)arg);
}

static void made_and_destroyed(void **state)
{
	pthread_t threads[8];
	struct rf_context *ctx[8] = {NULL};
	void *ret;

	(void)state;
	for (unsigned int round = 0; round < 20; round++) {
		for (unsigned int k = 0; k < 8; k++)
			pthread_create(&threads[k], NULL, makes, &ctx[k]);
		for (unsigned int k = 0; k < 8; k++) {
			pthread_join(threads[k], &ret);
			assert_null(ret);
		}
		for (unsigned int k = 0; k < 8; k++)
			pthread_create(&threads[k], NULL, ends, &ctx[7 - k]);
		for (unsigned int k = 0; k < 8; k++) {
			pthread_join(threads[k], &ret);
			assert_null(ret);
		}
	}
}

/* ---- fork ---- */

/* What a child does: 0, or the line that failed. */
static int child(struct rank *r, struct rf_request *req)
{
	struct rf_stats stats = {.size = sizeof(stats)};
	struct rf_order order = RF_ORDER_INIT;
	struct rf_context *own = NULL;
	struct rf_comm_config alone = RF_COMM_CONFIG_INIT;
	struct rf_comm *comm = NULL;
	uint32_t a = 3, b = 0;

#define CHILD(condition)                                                                           \
	do {                                                                                       \
		if (!(condition))                                                                  \
			return __LINE__;                                                           \
	} while (0)
	CHILD(rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_ERR_INVALID);
	CHILD(strstr(rf_last_error_text(r->ctx), "fork"));
	CHILD(rf_test(req) == RF_ERR_INVALID);
	CHILD(rf_wait(req, 1000) == RF_ERR_INVALID);
	CHILD(rf_iallreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM, &req) == RF_ERR_INVALID);
	CHILD(rf_comm_abort(r->comm) == RF_ERR_INVALID);
	CHILD(rf_comm_order(r->comm, &order) == RF_ERR_INVALID);
	CHILD(rf_barrier(r->comm) == RF_ERR_INVALID);
	CHILD(rf_comm_destroy(r->comm) == RF_ERR_INVALID);
	CHILD(rf_stats(r->ctx, &stats) == RF_ERR_INVALID);
	CHILD(rf_progress(r->ctx, 0) == RF_ERR_INVALID);
	CHILD(rf_context_destroy(r->ctx) == RF_ERR_INVALID);
	/* a context of its own works, and so does a fork of the child */
	alone.ranks = 1;
	CHILD(rf_context_create(NULL, &own) == RF_OK);
	CHILD(rf_comm_create(own, &alone, &comm) == RF_OK);
	CHILD(rf_allreduce(comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK && b == 3);
	CHILD(rf_comm_destroy(comm) == RF_OK);
	CHILD(rf_context_destroy(own) == RF_OK);
	return 0;
}

static int forks(struct rank *r)
{
	struct rf_request *req;
	uint32_t a = 1, b = 0;
	int status = -1;
	pid_t pid;

	EXPECT(r, rf_iallreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM, &req) == RF_OK);
	if (r->rank == 0) {
		pid = fork();
		if (pid == 0)
			_exit(child(r, req) ? 1 : 0);
		EXPECT(r, waitpid(pid, &status, 0) == pid);
		EXPECT(r, WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	/* nothing of the parent has changed */
	EXPECT(r, rf_wait(req, (unsigned int)-1) == RF_OK && b == 2);
	EXPECT(r, rank_meet(r) == RF_OK);
	EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK && b == 2);
	return 0;
}

static void forked(void **state)
{
	(void)state;
	run_all(2, forks, false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(errors_per_thread),
		cmocka_unit_test(two_callers),
		cmocka_unit_test(made_and_destroyed),
		cmocka_unit_test(forked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
