/*
 * Memory that a NIC knows, below the public interface: regions, messages in them, dma-bufs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/roce/qp.h"
#include "tests/unit/fake_verbs.h"
#include "ringfold/ringfold.h"

/* A pair of connected queue pairs of two NICs. */
struct link {
	struct rf_verbs *v[2];
	struct rf_verbs_qp *qp[2];
	struct rf_msg msg[2];
};

static void link_open(struct link *l)
{
	char why[200] = "";

	for (unsigned int k = 0; k < 2; k++) {
		l->v[k] = fake_verbs_open(k, NULL);
		assert_int_equal(rf_verbs_qp_create(l->v[k], 8, &l->qp[k], why, sizeof(why)), 0);
		l->msg[k] = rf_msg_verbs(l->qp[k]);
	}
	for (unsigned int k = 0; k < 2; k++) {
		struct rf_verbs_to to = {.qpn = rf_verbs_qp_number(l->qp[1 - k])};

		assert_int_equal(rf_verbs_qp_connect(l->qp[k], &to, why, sizeof(why)), 0);
	}
}

static void link_close(struct link *l)
{
	for (unsigned int k = 0; k < 2; k++) {
		rf_verbs_qp_end(l->qp[k]);
		rf_verbs_close(l->v[k]);
		assert_int_equal(fake_verbs_at(k)->registered, fake_verbs_at(k)->deregistered);
	}
}

static struct rf_verbs_mem *region(struct rf_verbs *v, void *addr, size_t len, bool use)
{
	struct rf_verbs_mem *m = NULL;
	char why[200];

	assert_int_equal(rf_verbs_mem_register(v, addr, len, true, &m, why, sizeof(why)), 0);
	rf_verbs_mem_use(m, use);
	return m;
}

static int status_of_next(struct rf_msg *msg)
{
	struct rf_msg_event event;

	return msg->ops->poll(msg->ctx, &event) == 1 ? event.status : -1;
}

/* Regions that overlap: the one whose key a message has lives as long as the message. */
static void message_keeps_its_region(void **state)
{
	static char from[4096], to[4096];
	struct link l;
	struct rf_verbs_mem *first, *second;

	(void)state;
	link_open(&l);
	region(l.v[1], to, sizeof(to), true);
	memset(from, 0x5a, sizeof(from));
	first = region(l.v[0], from, 2048, true);
	second = region(l.v[0], from + 1024, 2048, true);
	/* in both; the newer one is taken, and is dropped before the message is carried */
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 1, from + 1500, 100), RF_MSG_OK);
	assert_true(rf_verbs_mem_busy(second));
	assert_false(rf_verbs_mem_busy(first));
	rf_verbs_mem_drop(second);
	assert_int_equal(fake_verbs_at(0)->deregistered, 0);
	/* nothing new is posted in it */
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 2, from + 2500, 100), RF_MSG_FAILED);
	assert_int_equal(l.msg[1].ops->post_recv(l.msg[1].ctx, 3, to, 100), RF_MSG_OK);
	assert_int_equal(status_of_next(&l.msg[0]), 0);
	assert_int_equal(fake_verbs_at(0)->deregistered, 1);
	assert_memory_equal(to, from, 100);
	/* out of use, but registered */
	rf_verbs_mem_use(first, false);
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 4, from, 100), RF_MSG_FAILED);
	rf_verbs_mem_use(first, true);
	rf_verbs_mem_use(first, true);
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 5, from, 100), RF_MSG_OK);
	/* the end of a queue pair ends its messages, too */
	rf_verbs_mem_drop(first);
	assert_int_equal(fake_verbs_at(0)->deregistered, 1);
	rf_verbs_qp_end(l.qp[0]);
	assert_int_equal(fake_verbs_at(0)->deregistered, 2);
	link_close(&l);
}

/* The checker itself: a NIC of the test notices a key that is not registered any more. */
static void lost_key_is_noticed(void **state)
{
	static char from[256], to[256];
	struct rf_verbs_mem *m;
	struct link l;

	(void)state;
	link_open(&l);
	region(l.v[1], to, sizeof(to), true);
	m = region(l.v[0], from, sizeof(from), true);
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 1, from, 100), RF_MSG_OK);
	l.v[0]->f->dereg_mr(m->mr);
	assert_int_equal(l.msg[1].ops->post_recv(l.msg[1].ctx, 2, to, 100), RF_MSG_OK);
	assert_int_equal(status_of_next(&l.msg[0]), ROCE_WC_LOC_PROT_ERR);
	/* again, so that the books are right */
	m->mr = l.v[0]->f->reg_mr(l.v[0]->pd, from, sizeof(from), 0);
	link_close(&l);
}

/* ---- dma-buf ---- */

/* A device's memory that no processor reads: messages go to and from the dma-buf. */
static void device_messages(void **state)
{
	static char host[8192];
	char *device = fake_verbs_memory(), *bytes, why[300] = "";
	int fd = fake_verbs_dmabuf(16384);
	const struct rf_verbs_dmabuf part = {
		.fd = fd, .offset = 4096, .addr = device + 8192, .len = 8192};
	struct rf_verbs_mem *m = NULL;
	struct link l;

	(void)state;
	link_open(&l);
	assert_int_equal(rf_verbs_mem_dmabuf(l.v[0], &part, &m, why, sizeof(why)), 0);
	assert_int_equal(fake_verbs_at(0)->fd, fd);
	assert_int_equal(fake_verbs_at(0)->offset, 4096);
	assert_int_equal(fake_verbs_at(0)->length, 8192);
	assert_int_equal(fake_verbs_at(0)->iova, (uintptr_t)device + 8192);
	rf_verbs_mem_use(m, true);
	region(l.v[1], host, sizeof(host), true);
	bytes = mmap(NULL, 16384, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	memcpy(bytes + 4096 + 100, "from the device", 16);
	assert_int_equal(l.msg[1].ops->post_recv(l.msg[1].ctx, 1, host, 16), RF_MSG_OK);
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 1, device + 8192 + 100, 16),
			 RF_MSG_OK);
	assert_string_equal(host, "from the device");
	memcpy(host, "to the device..", 16);
	assert_int_equal(l.msg[0].ops->post_recv(l.msg[0].ctx, 1, device + 16384 - 16, 16),
			 RF_MSG_OK);
	assert_int_equal(l.msg[1].ops->post_send(l.msg[1].ctx, 1, host, 16), RF_MSG_OK);
	assert_string_equal(bytes + 12288 - 16, "to the device..");
	/* one byte less, one byte more than the part */
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 1, device + 8191, 16),
			 RF_MSG_FAILED);
	assert_int_equal(l.msg[0].ops->post_send(l.msg[0].ctx, 1, device + 16384 - 15, 16),
			 RF_MSG_FAILED);
	munmap(bytes, 16384);
	link_close(&l);
	close(fd);
}

/* A library without ibv_reg_dmabuf_mr: in a process of its own, because it is loaded once. */
static void old_library(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	if (child == 0) {
		const struct rf_verbs_dmabuf part = {.addr = &status, .len = sizeof(status)};
		struct rf_verbs_mem *m = NULL;
		struct rf_verbs *v;
		char why[300] = "";

		fake_verbs_is_old = true;
		v = fake_verbs_open(0, NULL);
		_exit(v->f &&
				      rf_verbs_mem_dmabuf(v, &part, &m, why, sizeof(why)) ==
					      RF_ERR_DEVICE &&
				      strstr(why, "no ibv_reg_dmabuf_mr: rdma-core 34")
			      ? 0
			      : 1);
	}
	assert_true(waitpid(child, &status, 0) == child && WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(old_library), /* first: before the library is loaded */
		cmocka_unit_test(message_keeps_its_region),
		cmocka_unit_test(lost_key_is_noticed),
		cmocka_unit_test(device_messages),
	};

	return cmocka_run_group_tests_name("verbs_memory", tests, NULL, NULL);
}
