/* How the processes of a job find each other: ranks of the config, and an allgather of the program.
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
#include <unistd.h>

#include "host/api/api.h"
#include "tests/unit/api_ranks.h"

#define BYTES_MAX 1024u

/* The program's own means: here threads that meet at a barrier. */
struct meeting {
	pthread_barrier_t barrier;
	uint8_t all[RANKS][BYTES_MAX];
	unsigned int calls[RANKS];
	unsigned int fail_at; /* this call fails on every rank; 0: none */
	const char *root;     /* of rank 0's config */
};

struct caller {
	struct meeting *m;
	unsigned int rank, ranks;
};

static struct caller callers[2][RANKS];

static int gather(void *arg, const void *own, void *all, size_t bytes)
{
	struct caller *c = arg;
	struct meeting *m = c->m;

	if (bytes > BYTES_MAX || ++m->calls[c->rank] == m->fail_at)
		return 77;
	memcpy(m->all[c->rank], own, bytes);
	pthread_barrier_wait(&m->barrier);
	for (unsigned int k = 0; k < c->ranks; k++)
		memcpy((uint8_t *)all + k * bytes, m->all[k], bytes);
	pthread_barrier_wait(&m->barrier);
	return 0;
}

static void by_callback(struct rank *r, struct rf_context_config *context,
			struct rf_comm_config *comm)
{
	struct meeting *m = r->all->arg;
	struct caller *c = &callers[m->root == NULL][r->rank];

	*c = (struct caller){.m = m, .rank = r->rank, .ranks = r->all->n};
	/* the rank of the context is enough */
	context->rank = comm->rank;
	context->ranks = comm->ranks;
	comm->rank = comm->ranks = 0;
	comm->port = 0;
	comm->allgather = gather;
	comm->allgather_arg = c;
	comm->root = r->rank ? NULL : m->root;
}

static void prepare(struct ranks *all, struct meeting *m, unsigned int n, int (*run)(struct rank *))
{
	memset(m, 0, sizeof(*m));
	pthread_barrier_init(&m->barrier, NULL, n);
	ranks_init(all, n, run);
	all->prepare = by_callback;
	all->arg = m;
}

static void end(struct ranks *all, struct meeting *m)
{
	pthread_barrier_destroy(&m->barrier);
	ranks_free(all);
}

static int sums(struct rank *r)
{
	struct rf_comm *second = NULL;
	uint32_t a = r->rank + 1, b = 0;

	EXPECT(r, rf_comm_rank(r->comm) == r->rank && rf_comm_ranks(r->comm) == r->all->n);
	EXPECT(r, rf_allreduce(r->comm, &a, &b, 1, RF_INT32, RF_SUM) == RF_OK);
	EXPECT(r, b == r->all->n * (r->all->n + 1) / 2);
	/* a later one needs no allgather */
	EXPECT(r, rf_comm_split(r->comm, 0, 0, NULL, &second) == RF_OK);
	EXPECT(r, rf_comm_destroy(second) == RF_OK);
	return 0;
}

static void *one_job(void *arg)
{
	ranks_run(arg);
	return NULL;
}

/* Two jobs at the same time, without a port or a root: each finds its own rank 0. */
static void by_allgather(void **state)
{
	struct meeting m[2];
	struct ranks all[2];
	pthread_t threads[2];

	(void)state;
	for (unsigned int k = 0; k < 2; k++)
		prepare(&all[k], &m[k], 3 + k, sums);
	m[1].root = "localhost";
	for (unsigned int k = 0; k < 2; k++)
		pthread_create(&threads[k], NULL, one_job, &all[k]);
	for (unsigned int k = 0; k < 2; k++) {
		pthread_join(threads[k], NULL);
		for (unsigned int r = 0; r < all[k].n; r++) {
			assert_int_equal(all[k].rank[r].ret, 0);
			assert_int_equal(m[k].calls[r], 2);
		}
		end(&all[k], &m[k]);
	}
}

static int none(struct rank *r)
{
	(void)r;
	return 0;
}

/* Every rank gets an error that says what failed. */
static void failures(void **state)
{
	struct meeting m;
	struct ranks all;

	(void)state;
	for (unsigned int call = 1; call <= 2; call++) {
		prepare(&all, &m, 2, none);
		m.fail_at = call;
		assert_int_equal(ranks_run(&all), 2);
		for (unsigned int r = 0; r < 2; r++) {
			assert_int_equal(all.rank[r].ret, RF_ERR_BOOTSTRAP);
			assert_non_null(strstr(all.rank[r].text, "allgather() of the program "
								 "returned 77"));
		}
		end(&all, &m);
	}
	/* rank 0 cannot serve */
	prepare(&all, &m, 3, none);
	m.root = "no.such.host.invalid";
	assert_int_equal(ranks_run(&all), 3);
	assert_int_equal(all.rank[0].ret, RF_ERR_BOOTSTRAP);
	assert_non_null(strstr(all.rank[0].text, "no.such.host.invalid"));
	for (unsigned int r = 1; r < 3; r++) {
		assert_int_equal(all.rank[r].ret, RF_ERR_BOOTSTRAP);
		assert_non_null(strstr(all.rank[r].text, "rank 0 cannot serve the store"));
	}
	end(&all, &m);
}

/* The rank of the config: in %r, in the log, for communicators; and what is refused. */
static void rank_of_config(void **state)
{
	struct rf_context_config config = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config job = RF_COMM_CONFIG_INIT;
	struct rf_context *ctx = NULL;
	struct rf_comm *comm = NULL;
	char dir[] = "/tmp/ringfold-rank.XXXXXX";
	char path[64], root[RF_ROOT_ROOM + 1];

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/%%r", dir);
	setenv("RF_DEBUG_FILE", path, 1);
	setenv("RF_RANK", "7", 1);
	setenv("RF_SIZE", "9", 1);
	config.rank = 5;
	config.ranks = 8;
	assert_int_equal(rf_context_create(&config, &ctx), RF_OK);
	snprintf(path, sizeof(path), "%s/5", dir);
	assert_int_equal(access(path, R_OK), 0);
	unlink(path);
	rmdir(dir);
	/* it needs a device for 8 ranks; as the only one of another job it does not */
	assert_int_equal(rf_comm_create(ctx, NULL, &comm), RF_ERR_DEVICE);
	assert_non_null(strstr(rf_last_error_text(ctx), "8 ranks"));
	job.ranks = 1;
	assert_int_equal(rf_comm_create(ctx, &job, &comm), RF_OK);
	rf_comm_destroy(comm);
	rf_context_destroy(ctx);
	unsetenv("RF_DEBUG_FILE");
	unsetenv("RF_RANK");
	unsetenv("RF_SIZE");
	ctx = NULL;
	config.rank = 8;
	assert_int_equal(rf_context_create(&config, &ctx), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(NULL), "rank 8 of 8"));
	config.ranks = RF_RANKS_MAX + 1;
	assert_int_equal(rf_context_create(&config, &ctx), RF_ERR_INVALID);
	assert_null(ctx);
	assert_int_equal(rf_context_create(NULL, &ctx), RF_OK);
	memset(root, 'x', sizeof(root));
	root[sizeof(root) - 1] = '\0';
	job.root = root;
	assert_int_equal(rf_comm_create(ctx, &job, &comm), RF_ERR_INVALID);
	assert_non_null(strstr(rf_last_error_text(ctx), "RF_ROOT"));
	rf_context_destroy(ctx);
	/* an address that others can reach, if there is one at all */
	assert_int_not_equal(rf_outward_address() >> 24, 127);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_allgather),
		cmocka_unit_test(failures),
		cmocka_unit_test(rank_of_config),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
