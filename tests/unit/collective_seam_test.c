/* The all-reduce machine with a channel operated by the test: what it posts, when, and what it
 * refuses. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "host/collective/collective_internal.h"
#include "host/collective/hosts.h"
#include "tests/unit/fail_calloc.h"

#define POSTS 64

struct post {
	char *buf;
	uint32_t len;
};

/* Both directions of one rank: what was posted, and the events to return. */
struct mock {
	struct post sends[POSTS], recvs[POSTS];
	uint32_t sent, received; /* posted */
	uint32_t sends_done, recvs_done;
	uint32_t send_room, recv_room; /* how many more may be posted */
	int broken;                    /* posting fails */
	struct rf_msg_event events[POSTS];
	uint32_t event_in, event_out;
	uint32_t polls;
};

static int mock_send(void *ctx, uint64_t id, const void *buf, uint32_t len)
{
	struct mock *m = ctx;

	(void)id;
	if (m->broken)
		return RF_MSG_FAILED;
	if (m->send_room == 0)
		return RF_MSG_AGAIN;
	m->send_room--;
	m->sends[m->sent++] = (struct post){(char *)(uintptr_t)buf, len};
	return RF_MSG_OK;
}

static int mock_recv(void *ctx, uint64_t id, void *buf, uint32_t len)
{
	struct mock *m = ctx;

	(void)id;
	if (m->broken)
		return RF_MSG_FAILED;
	if (m->recv_room == 0)
		return RF_MSG_AGAIN;
	m->recv_room--;
	m->recvs[m->received++] = (struct post){buf, len};
	return RF_MSG_OK;
}

static int mock_poll(void *ctx, struct rf_msg_event *event)
{
	struct mock *m = ctx;

	m->polls++;
	if (m->event_out == m->event_in)
		return 0;
	*event = m->events[m->event_out++];
	return 1;
}

static const struct rf_msg_ops mock_ops = {mock_send, mock_recv, mock_poll, NULL};

static void give(struct mock *m, int sent, int status, uint32_t len)
{
	m->events[m->event_in++] =
		(struct rf_msg_event){.sent = sent, .status = status, .len = len};
}

static void acknowledge(struct mock *m)
{
	give(m, 1, 0, 0);
	m->sends_done++;
}

static void arrive(struct mock *m)
{
	give(m, 0, 0, m->recvs[m->recvs_done++].len);
}

static struct rf_coll_cfg make_cfg(struct mock *m, uint32_t ranks)
{
	struct rf_coll_cfg cfg = {
		.ranks = ranks,
		.type = RF_ARITH_INT32,
		.mtu = 256,
		.message_bytes = 1024,
		.to_next = {&mock_ops, m},
		.from_prev = {&mock_ops, m},
	};

	m->send_room = m->recv_room = POSTS;
	return cfg;
}

static struct rf_coll *make(const struct rf_coll_cfg *cfg)
{
	struct rf_coll *c = NULL;

	assert_int_equal(rf_coll_create(cfg, &c), RF_COLL_OK);
	return c;
}

static int32_t vec[4096], other[4096];

/* 10 messages of 4 packets, a window of 10 packets: never more than two unacknowledged. */
static void window_counts_packets(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 4);
	struct rf_coll_done done;
	struct rf_coll *c;

	(void)state;
	cfg.window_packets = 10;
	c = make(&cfg);
	assert_int_equal(rf_coll_start(c, 5, vec, vec, 2560), RF_COLL_OK);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(rf_coll_progress(c) >= 0);
		assert_int_equal(m.received, 10);
		assert_int_equal(m.sent, i + 2 > 10 ? 10 : i + 2);
		for (uint32_t k = 0; k < m.sent; k++)
			assert_ptr_equal(m.sends[k].buf, (char *)vec + 1024 * k);
		assert_int_equal(rf_coll_progress(c), 0);
		acknowledge(&m);
	}
	assert_true(rf_coll_progress(c) > 0);
	/* All acknowledged, nothing received: not done. */
	assert_int_equal(rf_coll_poll(c, &done), 0);
	for (uint32_t i = 0; i < 10; i++)
		arrive(&m);
	assert_true(rf_coll_progress(c) > 0);
	assert_int_equal(rf_coll_poll(c, &done), 1);
	assert_int_equal(done.id, 5);
	assert_int_equal(done.status, RF_COLL_OK);
	assert_int_equal(rf_coll_poll(c, &done), 0);
	rf_coll_destroy(c);
}

static void result_alone_is_not_success(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 4);
	struct rf_coll *c = make(&cfg);
	struct rf_coll_done done;

	(void)state;
	assert_int_equal(rf_coll_start(c, 1, vec, other, 100), RF_COLL_OK);
	assert_true(rf_coll_progress(c) > 0);
	arrive(&m);
	assert_true(rf_coll_progress(c) > 0);
	assert_int_equal(rf_coll_poll(c, &done), 0);
	assert_int_equal(rf_coll_outstanding(c), 1);
	acknowledge(&m);
	assert_true(rf_coll_progress(c) > 0);
	assert_int_equal(rf_coll_poll(c, &done), 1);
	assert_int_equal(rf_coll_outstanding(c), 0);
	rf_coll_destroy(c);
}

/* Through the box, the buffer of a result is posted before the packets that produce the result are
 * sent. */
static void box_posts_buffers_first(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 4);
	struct rf_coll *c = make(&cfg);

	(void)state;
	m.recv_room = 3;
	assert_int_equal(rf_coll_start(c, 1, vec, vec, 2000), RF_COLL_OK);
	assert_true(rf_coll_progress(c) > 0);
	assert_int_equal(m.received, 3);
	assert_int_equal(m.sent, 3);
	assert_int_equal(rf_coll_progress(c), 0);
	m.recv_room = 1;
	m.send_room = 0;
	assert_int_equal(rf_coll_progress(c), 1);
	assert_int_equal(m.received, 4);
	m.send_room = 9;
	assert_int_equal(rf_coll_progress(c), 1);
	assert_int_equal(m.sent, 4);
	rf_coll_destroy(c);
}

static void counters_wrap(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 2);
	struct rf_coll_done done;
	struct rf_coll *c;

	(void)state;
	cfg.max_ops = 3;
	c = make(&cfg);
	c->started = c->polled = 0xfffffffeu;
	c->recv_posted.op = c->recv_done.op = c->send_posted.op = c->send_done.op = 0xfffffffeu;
	for (uint64_t i = 0; i < 3; i++)
		assert_int_equal(rf_coll_start(c, i, vec + 16 * i, vec + 16 * i, 4), RF_COLL_OK);
	assert_int_equal(rf_coll_start(c, 3, vec, vec, 4), RF_COLL_AGAIN);
	assert_true(rf_coll_progress(c) > 0);
	assert_int_equal(m.sent, 3);
	for (uint64_t i = 0; i < 3; i++) {
		assert_ptr_equal(m.sends[i].buf, vec + 16 * i);
		assert_int_equal(rf_coll_poll(c, &done), 0);
		arrive(&m);
		acknowledge(&m);
		assert_true(rf_coll_progress(c) > 0);
		assert_int_equal(rf_coll_poll(c, &done), 1);
		assert_int_equal(done.id, i);
	}
	rf_coll_destroy(c);
}

static void failures(void **state)
{
	struct rf_coll_done done;
	int channel, status;

	(void)state;
	for (unsigned int kind = 0; kind < 5; kind++) {
		struct mock m = {0};
		struct rf_coll_cfg cfg = make_cfg(&m, 2);
		struct rf_coll *c = make(&cfg);
		int want = RF_COLL_E_CHANNEL;

		assert_int_equal(rf_coll_start(c, 1, vec, vec, 10), RF_COLL_OK);
		assert_int_equal(rf_coll_start(c, 2, other, other, 10), RF_COLL_OK);
		if (kind > 0)
			assert_true(rf_coll_progress(c) > 0);
		switch (kind) {
		case 0:
			m.broken = 1;
			break;
		case 1: /* a send ended with a status */
			give(&m, 1, 8, 0);
			break;
		case 2: /* a message of the wrong length */
			give(&m, 0, 0, 36);
			want = RF_COLL_E_LENGTH;
			break;
		case 3: /* more arrives than was posted */
			arrive(&m);
			arrive(&m);
			give(&m, 0, 0, 40);
			break;
		default: /* more is acknowledged than was sent */
			for (unsigned int i = 0; i < 3; i++)
				acknowledge(&m);
			break;
		}
		assert_int_equal(rf_coll_progress(c), want);
		assert_int_equal(rf_coll_progress(c), want);
		rf_coll_failure(c, &channel, &status);
		assert_int_equal(status, kind == 1 ? 8 : 0);
		for (uint64_t i = 1; i < 3; i++) {
			assert_int_equal(rf_coll_poll(c, &done), 1);
			assert_int_equal(done.id, i);
			assert_int_equal(done.status, want);
		}
		assert_int_equal(rf_coll_poll(c, &done), 0);
		assert_int_equal(rf_coll_start(c, 3, vec, vec, 10), want);
		rf_coll_destroy(c);
	}
}

static void refused_arguments(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 2);
	struct rf_coll *c = make(&cfg);
	char *bytes = (char *)vec;

	(void)state;
	assert_int_equal(rf_coll_start(c, 1, vec, vec, 0), RF_COLL_E_INVALID);
	assert_int_equal(rf_coll_start(c, 1, NULL, vec, 1), RF_COLL_E_INVALID);
	assert_int_equal(rf_coll_start(c, 1, vec, NULL, 1), RF_COLL_E_INVALID);
	assert_int_equal(rf_coll_start(c, 1, vec, vec, SIZE_MAX / 4), RF_COLL_E_INVALID);
	assert_int_equal(rf_coll_start(c, 1, bytes + 2, vec + 100, 1), RF_COLL_E_ALIGNMENT);
	assert_int_equal(rf_coll_start(c, 1, vec, bytes + 402, 1), RF_COLL_E_ALIGNMENT);
	assert_int_equal(rf_coll_start(c, 1, vec, vec + 9, 10), RF_COLL_E_OVERLAP);
	assert_int_equal(rf_coll_start(c, 1, vec + 9, vec, 10), RF_COLL_E_OVERLAP);
	assert_int_equal(rf_coll_start(c, 1, vec, vec + 10, 10), RF_COLL_OK);
	rf_coll_destroy(c);
	rf_coll_destroy(NULL);
}

static void refused_settings_and_no_memory(void **state)
{
	struct rf_coll *c = NULL;
	struct mock m = {0};
	struct rf_coll_cfg cfg;

	(void)state;
#define REFUSE(change)                                                                             \
	do {                                                                                       \
		cfg = make_cfg(&m, 4);                                                             \
		change;                                                                            \
		assert_int_equal(rf_coll_create(&cfg, &c), RF_COLL_E_INVALID);                     \
		assert_null(c);                                                                    \
	} while (0)
	REFUSE(cfg.ranks = 0);
	REFUSE(cfg.rank = 4);
	REFUSE(cfg.type = (enum rf_arith_type)10);
	REFUSE(cfg.op = RF_ARITH_COPY);
	REFUSE(cfg.op = RF_ARITH_PRODUCT);
	REFUSE((cfg.op = RF_ARITH_AND, cfg.type = RF_ARITH_FP64));
	REFUSE(cfg.mtu = 128);
	REFUSE(cfg.mtu = 8192);
	REFUSE(cfg.mtu = 1500);
	REFUSE(cfg.message_bytes = 1000);
	REFUSE(cfg.message_bytes = 1u << 31);
	REFUSE(cfg.max_ops = 1025);
	REFUSE(cfg.to_next.ops = NULL);
	REFUSE(cfg.from_prev.ops = NULL);
	REFUSE(cfg.window_packets = 3);
#undef REFUSE
	cfg = make_cfg(&m, 4);
	fail_at = 1;
	assert_int_equal(rf_coll_create(&cfg, &c), RF_COLL_E_NO_MEMORY);
	assert_null(c);
	fail_at = 2;
	assert_int_equal(rf_coll_create(&cfg, &c), RF_COLL_OK);
	assert_int_equal(fail_at, 1);
	fail_at = 0;
	rf_coll_destroy(c);
}

/* A mirror connection: the results end an operation; acknowledgements come whenever they like. */
static void results_suffice(void **state)
{
	struct mock m = {0};
	struct rf_coll_cfg cfg = make_cfg(&m, 2);
	struct rf_coll_done done;
	struct rf_coll *c;

	(void)state;
	cfg.results_suffice = true;
	cfg.max_ops = 1;
	c = make(&cfg);
	for (uint64_t id = 1; id < 4; id++) {
		assert_int_equal(rf_coll_start(c, id, vec, vec, 10), RF_COLL_OK);
		m.send_room = m.recv_room = POSTS;
		assert_true(rf_coll_progress(c) > 0);
		assert_int_equal(rf_coll_poll(c, &done), 0);
		give(&m, 0, 0, 40);
		assert_true(rf_coll_progress(c) > 0);
		assert_int_equal(rf_coll_poll(c, &done), 1);
		assert_int_equal(done.id, id);
		assert_int_equal(done.status, RF_COLL_OK);
	}
	for (unsigned int k = 0; k < 3; k++)
		give(&m, 1, 0, 0);
	assert_int_equal(rf_coll_progress(c), 3);
	rf_coll_destroy(c);
	cfg.window_packets = 1000;
	assert_int_equal(rf_coll_create(&cfg, &c), RF_COLL_E_INVALID);
}

static void directed_without_memory(void **state)
{
	struct rf_directed_cfg cfg = {.ranks = 1};
	struct rf_directed *g = NULL;

	(void)state;
	fail_at = 1;
	assert_int_equal(rf_directed_create(&cfg, &g), RF_COLL_E_NO_MEMORY);
	assert_null(g);
	fail_at = 2;
	assert_int_equal(rf_directed_create(&cfg, &g), RF_COLL_OK);
	assert_int_equal(fail_at, 1);
	fail_at = 0;
	rf_directed_destroy(g);
}

static void hosts_without_memory(void **state)
{
	struct rf_hosts_cfg cfg = {.ranks = 1};
	struct rf_hosts *h = NULL;

	(void)state;
	fail_at = 1;
	assert_int_equal(rf_hosts_create(&cfg, &h), RF_COLL_E_NO_MEMORY);
	assert_null(h);
	fail_at = 2;
	assert_int_equal(rf_hosts_create(&cfg, &h), RF_COLL_OK);
	assert_int_equal(fail_at, 1);
	fail_at = 0;
	rf_hosts_destroy(h);
}

/* One rank: a copy, bit by bit, and no channel. */
static void one_rank(void **state)
{
	static const uint32_t nan[2] = {0x7f800001, 0xffc00001};
	struct rf_coll_cfg cfg = {.ranks = 1, .type = RF_ARITH_FP32};
	struct rf_coll *c = make(&cfg);
	struct rf_coll_done done;
	uint32_t out[2] = {0};

	(void)state;
	assert_int_equal(rf_coll_start(c, 8, nan, out, 2), RF_COLL_OK);
	assert_int_equal(rf_coll_progress(c), 0);
	assert_int_equal(rf_coll_poll(c, &done), 1);
	assert_int_equal(done.id, 8);
	assert_int_equal(done.status, RF_COLL_OK);
	assert_memory_equal(out, nan, 8);
	assert_int_equal(rf_coll_start(c, 9, out, out, 2), RF_COLL_OK);
	assert_int_equal(rf_coll_poll(c, &done), 1);
	assert_memory_equal(out, nan, 8);
	rf_coll_destroy(c);
}

static void error_names(void **state)
{
	(void)state;
	for (int e = RF_COLL_E_PRODUCT; e <= RF_COLL_AGAIN; e++)
		assert_string_not_equal(rf_coll_error_name(e), "unknown");
	assert_string_equal(rf_coll_error_name(RF_COLL_E_PRODUCT - 1), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(window_counts_packets),
		cmocka_unit_test(result_alone_is_not_success),
		cmocka_unit_test(box_posts_buffers_first),
		cmocka_unit_test(counters_wrap),
		cmocka_unit_test(failures),
		cmocka_unit_test(refused_arguments),
		cmocka_unit_test(refused_settings_and_no_memory),
		cmocka_unit_test(results_suffice),
		cmocka_unit_test(directed_without_memory),
		cmocka_unit_test(hosts_without_memory),
		cmocka_unit_test(one_rank),
		cmocka_unit_test(error_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
