/*
 * Objects, out-parameters and configs that are missing or wrong, in a process alone: every function
 * refuses them by name, and a success leaves the text of an earlier failure as it is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ringfold/ringfold.h"

static bool says(const char *text)
{
	bool found = strstr(rf_last_error_text(NULL), text) != NULL;

	if (!found)
		printf("\"%s\" is not in \"%s\"\n", text, rf_last_error_text(NULL));
	return found;
}

#define REFUSED(call, text)                                                                        \
	do {                                                                                       \
		assert_int_equal(call, RF_ERR_INVALID);                                            \
		assert_true(says(text));                                                           \
	} while (0)

static void done(void *arg, int status, const char *text)
{
	(void)arg;
	(void)status;
	(void)text;
}

/* ---- objects ---- */

static void null_calls(void **state)
{
	const size_t counts[1] = {1};
	struct rf_request *q;
	uint32_t a = 0, b = 0;

	(void)state;
#define BOTH(name, ...)                                                                            \
	REFUSED(rf_##name(NULL, __VA_ARGS__), "comm is NULL");                                     \
	REFUSED(rf_i##name(NULL, __VA_ARGS__, &q), "comm is NULL")
	BOTH(allreduce, &a, &b, 1, RF_INT32, RF_SUM);
	BOTH(allreduce_batch, NULL, 0, RF_INT32, RF_SUM);
	BOTH(reduce, &a, &b, 1, RF_INT32, RF_SUM, 0);
	BOTH(broadcast, &a, &b, 1, RF_INT32, 0);
	BOTH(reduce_scatter, &a, &b, 1, RF_INT32, RF_SUM);
	BOTH(reduce_scatterv, &a, &b, counts, RF_INT32, RF_SUM);
	BOTH(all_gather, &a, &b, 1, RF_INT32);
	BOTH(all_gatherv, &a, &b, counts, RF_INT32);
	BOTH(gather, &a, &b, 1, RF_INT32, 0);
	BOTH(gatherv, &a, 1, &b, counts, RF_INT32, 0);
	BOTH(scatter, &a, &b, 1, RF_INT32, 0);
	BOTH(scatterv, &a, counts, &b, 1, RF_INT32, 0);
	REFUSED(rf_barrier(NULL), "comm is NULL");
	REFUSED(rf_ibarrier(NULL, &q), "comm is NULL");
}

static void null_objects(void **state)
{
	struct rf_stragglers s = {.size = sizeof(s)};
	struct rf_stats stats = {.size = sizeof(stats)};
	struct rf_order order = RF_ORDER_INIT;
	struct rf_creation *creation;
	struct rf_comm *comm;
	struct rf_mem *mem;
	uint32_t a;
	int fd;

	(void)state;
	REFUSED(rf_test(NULL), "request is NULL");
	REFUSED(rf_wait(NULL, 0), "request is NULL");
	REFUSED(rf_on_completion(NULL, done, NULL), "request is NULL");
	REFUSED(rf_comm_split(NULL, 0, 0, NULL, &comm), "comm is NULL");
	REFUSED(rf_comm_abort(NULL), "comm is NULL");
	REFUSED(rf_comm_order(NULL, &order), "comm is NULL");
	REFUSED(rf_comm_stragglers(NULL, &s), "comm is NULL");
	REFUSED(rf_comm_created(NULL, 0, &comm), "creation is NULL");
	REFUSED(rf_comm_create(NULL, NULL, &comm), "ctx is NULL");
	REFUSED(rf_comm_icreate(NULL, NULL, &creation), "ctx is NULL");
	REFUSED(rf_progress(NULL, 0), "ctx is NULL");
	REFUSED(rf_stats(NULL, &stats), "ctx is NULL");
	REFUSED(rf_completion_fd(NULL, &fd), "ctx is NULL");
	REFUSED(rf_mem_register(NULL, &a, sizeof(a), &mem), "ctx is NULL");
	REFUSED(rf_mem_register_dmabuf(NULL, 0, 0, sizeof(a), &a, &mem), "ctx is NULL");
	REFUSED(rf_mem_forget(NULL, &a, sizeof(a)), "ctx is NULL");
	assert_int_equal(rf_comm_rank(NULL), 0);
	assert_int_equal(rf_comm_ranks(NULL), 0);
	/* what is destroyed may be NULL */
	assert_int_equal(rf_comm_destroy(NULL), RF_OK);
	assert_int_equal(rf_context_destroy(NULL), RF_OK);
	assert_int_equal(rf_creation_cancel(NULL), RF_OK);
	assert_int_equal(rf_mem_deregister(NULL), RF_OK);
}

/* ---- out-parameters and sizes ---- */

static struct rf_context *ctx;
static struct rf_comm *comm;

static int begin(void **state)
{
	(void)state;
	return rf_context_create(NULL, &ctx) || rf_comm_create(ctx, NULL, &comm);
}

static int end(void **state)
{
	(void)state;
	return rf_comm_destroy(comm) || rf_context_destroy(ctx);
}

static void nowhere_to_put_it(void **state)
{
	struct rf_context_config context = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_creation *creation = NULL;
	struct rf_stragglers s = {0};
	struct rf_order order = {0};
	struct rf_stats stats = {0};
	struct rf_context *other;
	struct rf_comm *made;
	uint32_t a = 0, b = 0;

	(void)state;
	REFUSED(rf_context_create(NULL, NULL), "ctx is NULL");
	context.size = 0;
	REFUSED(rf_context_create(&context, &other), "config.size is not set");
	REFUSED(rf_comm_create(ctx, NULL, NULL), "comm is NULL");
	REFUSED(rf_comm_icreate(ctx, NULL, NULL), "creation is NULL");
	config.size = 0;
	REFUSED(rf_comm_create(ctx, &config, &made), "config.size is not set");
	REFUSED(rf_comm_icreate(ctx, &config, &creation), "config.size is not set");
	REFUSED(rf_comm_split(comm, 0, 0, NULL, NULL), "part is NULL");
	REFUSED(rf_iallreduce(comm, &a, &b, 1, RF_INT32, RF_SUM, NULL), "request is NULL");
	REFUSED(rf_completion_fd(ctx, NULL), "fd is NULL");
	REFUSED(rf_stats(ctx, NULL), "stats.size");
	REFUSED(rf_stats(ctx, &stats), "stats.size");
	REFUSED(rf_comm_stragglers(comm, NULL), "stragglers.size");
	REFUSED(rf_comm_stragglers(comm, &s), "stragglers.size");
	s.size = sizeof(s);
	REFUSED(rf_comm_stragglers(comm, &s), "does not use the box");
	REFUSED(rf_comm_order(comm, NULL), "order.size");
	REFUSED(rf_comm_order(comm, &order), "order.size");
	assert_int_equal(rf_context_destroy(ctx), RF_ERR_BUSY);
	assert_true(says("destroy the communicators first"));
	assert_int_equal(rf_comm_icreate(ctx, NULL, &creation), RF_OK);
	REFUSED(rf_comm_created(creation, RF_WAIT_FOREVER, NULL), "comm is NULL");
	assert_int_equal(rf_comm_created(creation, RF_WAIT_FOREVER, &made), RF_OK);
	assert_int_equal(rf_comm_destroy(made), RF_OK);
}

/* ---- configs ---- */

static void wrong_configs(void **state)
{
	struct rf_context_config context = RF_CONTEXT_CONFIG_INIT;
	struct rf_comm_config config = RF_COMM_CONFIG_INIT;
	struct rf_context *other = NULL;
	struct rf_comm *made = NULL;

	(void)state;
	context.progress = (enum rf_progress_mode)7;
	REFUSED(rf_context_create(&context, &other), "progress 7");
	assert_int_equal(rf_context_create(NULL, &other), RF_OK);
	config.port = 99999;
	REFUSED(rf_comm_create(other, &config, &made), "port 99999");
	config.port = 0;
	config.n_members = 3;
	REFUSED(rf_comm_create(other, &config, &made), "members is NULL, and n_members is 3");
	assert_int_equal(rf_context_destroy(other), RF_OK);
	assert_null(made);
}

/* ---- arguments without a communicator that would know better ---- */

static void wrong_orders(void **state)
{
	struct rf_order order = RF_ORDER_INIT;
	uint32_t a = 1, out = 7;
	const void *inputs[2] = {&a, &a};

	(void)state;
	order.schedule = RF_SCHEDULE_BOX;
	order.ranks = 2;
	order.place[1].port = 1;
	assert_int_equal(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &out, 1), RF_OK);
	assert_int_equal(out, 2);
	assert_int_equal(rf_order_apply(&order, RF_INT32, RF_SUM, NULL, NULL, 0), RF_OK);
	REFUSED(rf_order_apply(NULL, RF_INT32, RF_SUM, inputs, &out, 1), "order is NULL");
	REFUSED(rf_order_apply(&order, (enum rf_type)10, RF_SUM, inputs, &out, 1), "the type");
	REFUSED(rf_order_apply(&order, RF_FP32, RF_XOR, inputs, &out, 1), "this operation");
	REFUSED(rf_order_apply(&order, RF_INT32, RF_AVERAGE, inputs, &out, 1), "this operation");
	REFUSED(rf_order_apply(&order, RF_INT32, RF_SUM, NULL, &out, 1), "inputs or out is NULL");
	REFUSED(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, NULL, 1), "inputs or out is NULL");
	inputs[1] = NULL;
	REFUSED(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &out, 1), "operand of every rank");
	inputs[1] = &a;
	order.place[1].port = 0;
	REFUSED(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &out, 1), "two ranks at one");
	order.ranks = 0;
	REFUSED(rf_order_apply(&order, RF_INT32, RF_SUM, inputs, &out, 1), "order.ranks");
	assert_int_equal(out, 2);
}

/* A wait that succeeds does not touch the text of an earlier failure. */
static void text_stays(void **state)
{
	struct rf_request *q[2] = {NULL, NULL};
	uint32_t a = 1, b;
	unsigned int at;

	(void)state;
	REFUSED(rf_stats(ctx, NULL), "stats.size");
	assert_int_equal(rf_iallreduce(comm, &a, &b, 1, RF_INT32, RF_SUM, &q[1]), RF_OK);
	assert_int_equal(rf_wait_any(q, 2, 1000, &at), RF_OK);
	assert_int_equal(at, 1);
	assert_int_equal(rf_wait_all(q, 2, 1000), RF_OK);
	assert_true(says("stats.size"));
	/* the entry that rf_wait_any() has taken */
	REFUSED(rf_wait(q[1], 0), "request is NULL: it was never made, or is released");
	REFUSED(rf_wait_any(q, 2, 0, &at), "there is no request to wait for");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(null_calls),
		cmocka_unit_test(null_objects),
		cmocka_unit_test_setup_teardown(nowhere_to_put_it, begin, end),
		cmocka_unit_test(wrong_configs),
		cmocka_unit_test(wrong_orders),
		cmocka_unit_test_setup_teardown(text_stays, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
