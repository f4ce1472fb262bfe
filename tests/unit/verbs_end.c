/* The end of a verbs queue pair, over a NIC of the test that either returns its work requests or
 * does not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <endian.h>

#include <time.h>

#include "base/clock.h"
#include "host/back/internal.h"

static struct {
	unsigned int to_return; /* completions that poll_cq() still has */
	unsigned int polls, modified, qps_destroyed, cqs_destroyed;
	bool with_imm;
} nic;

/* The last work requests, and a completion with an immediate. */
static struct {
	struct ibv_send_wr send;
	struct ibv_recv_wr recv;
	unsigned int sends, recvs;
} last;

static int fake_poll(struct ibv_cq *cq, int n, struct ibv_wc *wc)
{
	(void)cq;
	(void)n;
	nic.polls++;
	if (nic.to_return == 0)
		return 0;
	nic.to_return--;
	*wc = nic.with_imm ? (struct ibv_wc){.status = IBV_WC_SUCCESS,
					     .wr_id = last.recv.wr_id,
					     .opcode = IBV_WC_RECV,
					     .wc_flags = IBV_WC_WITH_IMM,
					     .imm_data = htobe32(0x12345678)}
			   : (struct ibv_wc){.status = IBV_WC_WR_FLUSH_ERR};
	return 1;
}

static int fake_post_send(struct ibv_qp *qp, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	(void)qp;
	(void)bad;
	last.send = *wr;
	last.sends++;
	return 0;
}

static int fake_post_recv(struct ibv_qp *qp, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	(void)qp;
	(void)bad;
	last.recv = *wr;
	last.recvs++;
	return 0;
}

static struct ibv_context context = {
	.ops = {.poll_cq = fake_poll, .post_send = fake_post_send, .post_recv = fake_post_recv}};
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

/* An empty message with immediate, and its receive: no memory, no entry, the bytes in network
 * order.
 */
static void empty_with_immediate(void **state)
{
	struct rf_verbs_qp *qp = qp_with(verbs(), 0);
	struct rf_msg msg = rf_msg_verbs(qp);
	struct rf_msg_event event;
	char unknown[8];

	(void)state;
	assert_int_equal(msg.ops->post_recv(msg.ctx, 5, NULL, 0), RF_MSG_OK);
	assert_int_equal(last.recvs, 1);
	assert_int_equal(last.recv.num_sge, 0);
	assert_int_equal(msg.ops->post_imm(msg.ctx, 6, NULL, 0, 0x12345678), RF_MSG_OK);
	assert_int_equal(last.sends, 1);
	assert_int_equal(last.send.num_sge, 0);
	assert_int_equal(last.send.opcode, IBV_WR_SEND_WITH_IMM);
	assert_int_equal(be32toh(last.send.imm_data), 0x12345678);
	/* Bytes outside of all memory that the NIC knows are refused. */
	assert_int_equal(msg.ops->post_imm(msg.ctx, 7, unknown, 8, 0), RF_MSG_FAILED);
	assert_int_equal(last.sends, 1);
	nic.to_return = 1;
	nic.with_imm = true;
	assert_int_equal(msg.ops->poll(msg.ctx, &event), 1);
	nic.with_imm = false;
	assert_int_equal(event.id, 5);
	assert_int_equal(event.sent, 0);
	assert_int_equal(event.len, 0);
	assert_true(event.has_imm);
	assert_int_equal(event.imm, 0x12345678);
	nic.to_return = 1;
	assert_int_equal(msg.ops->poll(msg.ctx, &event), 1);
	assert_false(event.has_imm);
	rf_verbs_qp_end(qp);
	rf_verbs_qp_destroy(qp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_come_back),
		cmocka_unit_test(some_do_not),
		cmocka_unit_test(empty_with_immediate),
	};

	return cmocka_run_group_tests_name("verbs_end", tests, NULL, NULL);
}
