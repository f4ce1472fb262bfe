/* The end of a verbs queue pair, over a NIC of the test that either returns its work requests or
 * does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <time.h>

#include "base/clock.h"
#include "host/back/internal.h"

static struct {
	unsigned int to_return; /* completions that poll_cq() still has */
	unsigned int polls, modified, qps_destroyed, cqs_destroyed;
} nic;

static int fake_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)n;
	nic.polls++;
	if (nic.to_return == 0)
		return 0;
	nic.to_return--;
	*wc = (struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR};
	return 1;
}

static struct ibv_context context = {.ops.poll_cq = fake_poll};
static struct ibv_cq cq = {.context = &context};
static struct ibv_qp hw_qp = {.context = &context, .qp_num = 17};

static struct ibv_cq *create_cq(struct ibv_context *c, int cqe, void *arg,
				struct ibv_comp_channel *channel, int vector)
{
	(void)c;
	(void)cqe;
	(void)arg;
	(void)channel;
	(void)vector;
	return &cq;
}

static struct ibv_qp *create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *attr)
{
	(void)pd;
	(void)attr;
	return &hw_qp;
}

static int modify_qp(struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask)
{
	assert_ptr_equal(qp, &hw_qp);
	(void)mask;
	nic.modified += attr->qp_state == IBV_QPS_ERR;
	return 0;
}

static int destroy_qp(struct ibv_qp *qp)
{
	assert_ptr_equal(qp, &hw_qp);
	nic.qps_destroyed++;
	return 0;
}

static int destroy_cq(struct ibv_cq *c)
{
	assert_ptr_equal(c, &cq);
	nic.cqs_destroyed++;
	return 0;
}

static const struct rf_ibv functions = {.create_cq = create_cq,
					.create_qp = create_qp,
					.modify_qp = modify_qp,
					.destroy_qp = destroy_qp,
					.destroy_cq = destroy_cq};

static struct rf_verbs *verbs(void)
{
	static struct rf_verbs v;

	memset(&v, 0, sizeof(v));
	memset(&nic, 0, sizeof(nic));
	v.f = &functions;
	v.context = &context;
	pthread_mutex_init(&v.lock, NULL);
	return &v;
}

static struct rf_verbs_qp *qp_with(struct rf_verbs *v, uint32_t posted)
{
	struct rf_verbs_qp *qp = NULL;
	char why[200] = "";

	assert_int_equal(rf_verbs_qp_create(v, 8, &qp, why, sizeof(why)), 0);
	assert_int_equal(rf_verbs_qp_number(qp), 17);
	qp->posted = posted;
	return qp;
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void all_come_back(void **state)
{
	struct rf_verbs_qp *qp = qp_with(verbs(), 5);

	(void)state;
	nic.to_return = 5;
	rf_verbs_qp_end(qp);
	assert_int_equal(nic.modified, 1);
	assert_int_equal(nic.to_return, 0);
	assert_int_equal(qp->posted, 0);
	assert_int_equal(nic.qps_destroyed, 0);
	rf_verbs_qp_destroy(qp);
	assert_int_equal(nic.qps_destroyed, 1);
	assert_int_equal(nic.cqs_destroyed, 1);
}

/* A NIC that keeps work requests: the caller does not spin for a second, and the NIC has no buffer
 * left to which it may write. */
static void some_do_not(void **state)
{
	struct rf_verbs_qp *qp = qp_with(verbs(), 5);
	uint64_t begin = rf_now_ns(), cpu = cpu_ns();

	(void)state;
	nic.to_return = 3;
	rf_verbs_qp_end(qp);
	assert_in_range(rf_now_ns() - begin, 40000000, 500000000);
	assert_in_range(cpu_ns() - cpu, 0, 30000000);
	assert_int_equal(nic.qps_destroyed, 1);
	assert_int_equal(qp->posted, 0);
	assert_int_equal(rf_verbs_qp_number(qp), 0);
	/* a second end, and the destruction, find nothing left to do */
	rf_verbs_qp_end(qp);
	rf_verbs_qp_destroy(qp);
	assert_int_equal(nic.qps_destroyed, 1);
	assert_int_equal(nic.cqs_destroyed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_back),
		cmocka_unit_test(some_do_not),
	};

	return cmocka_run_group_tests_name("verbs_end", tests, NULL, NULL);
}
