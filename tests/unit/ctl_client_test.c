/* The host's control client against a scripted box: silence, refusals, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "tests/unit/ctl_script.h"

static void put_arp_reply(uint8_t *f, uint32_t from)
{
	memset(f, 0, 60);
	memcpy(f, script_own_mac, 6);
	memcpy(f + 6, script_box_mac, 6);
	rf_put_be16(f + 12, 0x0806);
	rf_put_be32(f + 14, 0x00010800);
	rf_put_be32(f + 18, 0x06040002);
	memcpy(f + 22, script_box_mac, 6);
	rf_put_be32(f + 28, from);
	memcpy(f + 32, script_own_mac, 6);
	rf_put_be32(f + 38, SCRIPT_OWN_IP);
}

static void test_arp(void **state)
{
	struct rf_client c = script_client(false);
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	char text[200];

	(void)state;
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
	assert_int_equal(rf_client_join(&c, &script_join, 0), 0);
	assert_int_equal(rf_client_join(&c, &script_join, 0), -1);
	assert_int_equal(rf_client_next_timeout(&c), 0);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 60);
	assert_int_equal(rf_get_be16(frame + 12), 0x0806);
	assert_int_equal(rf_get_be32(frame + 38), SCRIPT_BOX_IP);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 0);
	assert_in_range(rf_client_next_timeout(&c), 10 * MS, 20 * MS);
	put_arp_reply(frame, SCRIPT_BOX_IP + 1);
	assert_int_equal(rf_client_rx(&c, MS, frame, 60), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_RESOLVING);
	put_arp_reply(frame, SCRIPT_BOX_IP);
	for (size_t len = 0; len < 42; len++) {
		uint8_t *p = malloc(len ? len : 1);

		assert_non_null(p);
		memcpy(p, frame, len);
		rf_client_rx(&c, MS, p, len);
		free(p);
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_RESOLVING);
	rf_client_rx(&c, MS, frame, 60);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	assert_int_equal(script_request(&c, MS, &h, &q), RF_CTL_JOIN);
	/* The source address of the data is filled in, the rest is as requested. */
	assert_int_equal(script_join.src_ip, 0);
	assert_int_equal(q.u.join.src_ip, SCRIPT_OWN_IP);
	q.u.join.src_ip = 0;
	assert_memory_equal(&q.u.join, &script_join, sizeof(script_join));
	/* No ARP reply comes. */
	c = script_client(false);
	rf_client_join(&c, &script_join, 0);
	for (uint64_t t = 0; t < 5000 * MS; t += 10 * MS)
		rf_client_tx(&c, t, frame, sizeof(frame));
	assert_int_equal(rf_client_state(&c), RF_CLIENT_RESOLVING);
	rf_client_tx(&c, 5000 * MS, frame, sizeof(frame));
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_NO_ARP);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "10.0.0.254"));
}

/* How long a client waits for ARP, and what it says then. */
static uint64_t arp_fails(uint64_t answer_ns, const char *name, char *text, size_t room)
{
	struct rf_client_cfg cfg = {.ip = SCRIPT_OWN_IP,
				    .box_ip = SCRIPT_BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 42,
				    .token = 77,
				    .answer_ns = answer_ns,
				    .answer_name = name};
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_client c;
	uint64_t t = 0;

	rf_client_init(&c, &cfg);
	rf_client_join(&c, &script_join, 0);
	while (rf_client_state(&c) == RF_CLIENT_RESOLVING) {
		t = rf_client_next_timeout(&c);
		rf_client_tx(&c, t, frame, sizeof(frame));
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_NO_ARP);
	rf_client_text(&c, text, room);
	return t;
}

/* The time for an answer is the caller's; a text gives it with the name that users know. */
static void test_answer_time(void **state)
{
	char text[300];

	(void)state;
	assert_int_equal(arp_fails(60000 * MS, "RF_BOX_TIMEOUT", text, sizeof(text)), 60000 * MS);
	assert_non_null(
		strstr(text, "no ARP reply for the box's address 10.0.0.254: is the box on"));
	assert_non_null(strstr(text, "this machine is too busy: raise RF_BOX_TIMEOUT (60000 ms)"));
	assert_int_equal(arp_fails(0, "--timeout", text, sizeof(text)), 5000 * MS);
	assert_non_null(strstr(text, "too busy: raise --timeout (5000 ms)"));
	assert_int_equal(arp_fails(40 * MS, NULL, text, sizeof(text)), 40 * MS);
	assert_null(strstr(text, "busy"));
}

static void test_no_answer(void **state)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	unsigned int sent = 0;
	uint32_t last = 0;
	char text[300];

	(void)state;
	rf_client_join(&c, &script_join, 0);
	/* Driven only by its own timeouts. */
	for (uint64_t t = 0; t != RF_CLIENT_NEVER; t = rf_client_next_timeout(&c)) {
		while (script_request(&c, t, &h, &q) == RF_CTL_JOIN) {
			assert_true(h.seq > last);
			last = h.seq;
			sent++;
		}
		assert_true(t <= 5000 * MS);
	}
	assert_in_range(sent, 8, 16);
	assert_int_equal(c.stats.repeats, sent - 1);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_NO_ANSWER);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "rule that redirects UDP port 4791"));
	/* Truncated texts are still terminated. */
	for (size_t room = 1; room < 40; room++) {
		assert_int_equal(rf_client_text(&c, text, room), room - 1);
		assert_int_equal(strlen(text), room - 1);
	}
}

/* The box answers WAITING and then falls silent. */
static void test_falls_silent(void **state)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_waiting();
	uint64_t t = 0;

	(void)state;
	rf_client_join(&c, &script_join, 0);
	script_request(&c, 0, &h, &q);
	script_reply(&c, 0, &h, &r, script_key, 9);
	assert_non_null(rf_client_waiting(&c));
	while (rf_client_state(&c) == RF_CLIENT_JOINING) {
		t = rf_client_next_timeout(&c);
		while (script_request(&c, t, &h, &q))
			;
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
	assert_int_equal(t, 5000 * MS);
}

static void test_keepalive(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_group_page(RF_CTL_S_READY);
	uint64_t t = MS;

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		t = rf_client_next_timeout(&c);
		assert_int_equal(t, MS + (i + 1) * 1000 * MS);
		assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
		assert_int_equal(q.u.status.page, RF_CTL_PAGE_GROUP);
		assert_int_equal(h.epoch, 9);
		assert_int_equal(script_reply(&c, t, &h, &r, script_key, 9), 1);
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/* Without an answer it is repeated quickly, then given up. */
	t = rf_client_next_timeout(&c);
	script_request(&c, t, &h, &q);
	assert_in_range(rf_client_next_timeout(&c), t + 10 * MS, t + 20 * MS);
	while (rf_client_state(&c) == RF_CLIENT_READY) {
		t = rf_client_next_timeout(&c);
		while (script_request(&c, t, &h, &q))
			;
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
}

/*
 * The process is stopped for 6 s, longer than the box may take for an answer: it sends a request
 * before it gives up, and reads frames that have arrived meanwhile.
 */
static void test_stands_still(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_header h, join;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_group_page(RF_CTL_S_READY), w = script_waiting();
	struct rf_ctl_status_req page = {.page = RF_CTL_PAGE_BOX};
	uint64_t t = rf_client_next_timeout(&c);
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len;

	(void)state;
	/* Stopped before a keepalive was due. */
	t += 6000 * MS;
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	assert_int_equal(rf_client_tx(&c, t, frame, sizeof(frame)), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/*
	 * Stopped right after it was sent; the answer is in the receive ring and is read first or
	 * last.
	 */
	len = script_reply_frame(&c, &h, &r, script_key, 9, frame);
	t += 6000 * MS;
	rf_client_rx(&c, t, frame, len);
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	len = script_reply_frame(&c, &h, &r, script_key, 9, frame);
	t += 6000 * MS;
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	rf_client_rx(&c, t, frame, len);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/*
	 * A caller that runs every 6 s sends a keepalive each time: an old answer in the receive
	 * ring does not delay the next one.
	 */
	t = rf_client_next_timeout(&c);
	for (unsigned int i = 0; i < 10; i++) {
		assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
		len = script_reply_frame(&c, &h, &r, script_key, 9, frame);
		t += 6000 * MS;
		rf_client_rx(&c, t, frame, len);
		assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	}
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	script_reply(&c, t, &h, &r, script_key, 9);
	/* A box that is gone is still detected, within the time for an answer. */
	t = rf_client_next_timeout(&c);
	script_request(&c, t, &h, &q);
	t += 6000 * MS;
	for (uint64_t end = t + 5100 * MS; rf_client_state(&c) == RF_CLIENT_READY;) {
		while (script_request(&c, t, &h, &q))
			;
		assert_true(t <= end);
		if (rf_client_state(&c) == RF_CLIENT_READY)
			t = rf_client_next_timeout(&c);
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
	/* JOIN and a query, from their first transmission on. */
	c = script_client(true);
	rf_client_join(&c, &script_join, 0);
	assert_int_equal(rf_client_status(&c, &page, 0), 0);
	t = 60000 * MS;
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_JOIN);
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	t += 60000 * MS;
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_JOIN);
	assert_int_equal(script_reply(&c, t, &h, &w, script_key, 9), 1);
	assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_STATUS);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	/* What it reads first demands the request at once: the time does not count either. */
	w = script_failed(RF_CTL_R_NONCE, 3);
	w.u.failed.rank = RF_CTL_NO_RANK;
	c = script_client(true);
	rf_client_join(&c, &script_join, 0);
	assert_int_equal(rf_client_status(&c, &page, 0), 0);
	script_request(&c, 0, &join, &q);
	assert_int_equal(script_request(&c, 0, &h, &q), RF_CTL_STATUS);
	join.nonce = 4711;
	assert_int_equal(script_reply(&c, 14000 * MS, &join, &w, script_key, 9), 1);
	assert_int_equal(script_request(&c, 14000 * MS, &h, &q), RF_CTL_JOIN);
	assert_int_equal(h.nonce, 4711);
	assert_int_equal(script_request(&c, 14000 * MS, &h, &q), RF_CTL_STATUS);
	assert_int_equal(script_request(&c, 14000 * MS, &h, &q), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
}

static void test_group_fails(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_group_page(RF_CTL_S_FAILED);
	char text[400];

	(void)state;
	r.u.group.reason = RF_CTL_R_DISAGREE;
	r.u.group.fail_rank = 1;
	r.u.group.fail_index = 4711;
	script_request(&c, 1001 * MS, &h, &q);
	script_reply(&c, 1001 * MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_GROUP);
	rf_client_text(&c, text, sizeof(text));
	assert_string_equal(text,
			    "the group failed: ranks disagree at one index (rank 1, index 4711); "
			    "all ranks must make the same calls with the same arguments in the "
			    "same order");
	/* Both values, and the box at which it happened. */
	c = script_ready_client();
	r.u.group.fail_detail = 1024;
	r.u.group.fail_other = (struct rf_ctl_other){0x0a0000fd, 2, RF_CTL_WHAT_LENGTH, 256};
	script_request(&c, 1001 * MS, &h, &q);
	script_reply(&c, 1001 * MS, &h, &r, script_key, 9);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "(rank 1, index 4711) in the length of what they give: it has "
				     "1024 bytes, rank 2 256 bytes, at the box 10.0.0.253;"));
	c = script_ready_client();
	r.u.group.fail_detail = 0x14004003;
	r.u.group.fail_other =
		(struct rf_ctl_other){0, RF_CTL_NO_RANK, RF_CTL_WHAT_TAG, 0x20004003};
	script_request(&c, 1001 * MS, &h, &q);
	script_reply(&c, 1001 * MS, &h, &r, script_key, 9);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "it has all-reduce of fp32, sum (immediate 14004003), another "
				     "rank reduce of fp32, sum (immediate 20004003)"));
	c = script_ready_client();
	r.u.group.reason = RF_CTL_R_ORDER;
	script_request(&c, 1001 * MS, &h, &q);
	script_reply(&c, 1001 * MS, &h, &r, script_key, 9);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "(rank 1, index 4711): immediate 14004003;"));
	/* Another epoch means that the box has restarted, whatever it answers. */
	c = script_ready_client();
	script_request(&c, 1001 * MS, &h, &q);
	r = script_failed(RF_CTL_R_GROUP_UNKNOWN, 3);
	script_reply(&c, 1001 * MS, &h, &r, script_key, 10);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_RESET);
}

static void test_refused(void **state)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = script_failed(RF_CTL_R_RANK_TAKEN, 3);
	char text[200];

	(void)state;
	rf_client_join(&c, &script_join, 0);
	script_request(&c, 0, &h, &q);
	script_reply(&c, 0, &h, &r, script_key, 9);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_REFUSED);
	assert_int_equal(rf_client_failed(&c)->reason, RF_CTL_R_RANK_TAKEN);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "another process has joined as this rank (rank 3)"));
	assert_int_equal(rf_client_leave(&c, false, 0), -1);
	/* Another attempt is a new membership. */
	assert_int_equal(rf_client_join(&c, &script_join, MS), 0);
	script_request(&c, MS, &h, &q);
	assert_int_not_equal(h.token, 77);
}

static void test_leave(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r, draining;

	(void)state;
	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_DRAINING;
	r.u.draining.ranks = 4;
	r.u.draining.left = 1;
	draining = r;
	assert_int_equal(rf_client_leave(&c, false, 2 * MS), 0);
	assert_int_equal(script_request(&c, 2 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, 0);
	assert_int_equal(script_request(&c, 22 * MS, &h, &q), RF_CTL_LEAVE);
	assert_false(rf_client_left_acked(&c));
	script_reply(&c, 23 * MS, &h, &r, script_key, 9);
	assert_true(rf_client_left_acked(&c));
	assert_int_equal(rf_client_state(&c), RF_CLIENT_DRAINING);
	assert_int_equal(rf_client_next_timeout(&c), 1023 * MS);
	assert_int_equal(rf_client_leave(&c, true, 30 * MS), 0);
	assert_int_equal(script_request(&c, 30 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, RF_CTL_F_QP_DESTROYED);
	r.result = RF_CTL_ENDED;
	script_reply(&c, 31 * MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_IDLE);
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
	/* The box forgets the group before the last answer arrives. */
	c = script_ready_client();
	rf_client_leave(&c, false, 2 * MS);
	script_request(&c, 2 * MS, &h, &q);
	r.result = RF_CTL_DRAINING;
	script_reply(&c, 3 * MS, &h, &r, script_key, 9);
	script_request(&c, 1003 * MS, &h, &q);
	r = script_failed(RF_CTL_R_GROUP_UNKNOWN, 3);
	script_reply(&c, 1003 * MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_IDLE);
	/* Other ranks may still want its ACKs: it gives signs of life as before. */
	c = script_ready_client();
	c.ready.lease_ms = c.join.lease_ms = 300;
	rf_client_leave(&c, false, 2 * MS);
	script_request(&c, 2 * MS, &h, &q);
	r = draining;
	script_reply(&c, 3 * MS, &h, &r, script_key, 9);
	for (uint64_t t = 3 * MS, next; t < 1000 * MS; t = next) {
		next = rf_client_next_timeout(&c);
		assert_in_range(next - t, 30 * MS, 75 * MS);
		assert_int_equal(script_request(&c, next, &h, &q), RF_CTL_LEAVE);
		script_reply(&c, next, &h, &r, script_key, 9);
	}
}

static void test_abort(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	uint64_t t = 2 * MS;

	(void)state;
	assert_int_equal(rf_client_abort(&c, RF_CTL_ABORT_EXIT, t), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_FAILED);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(script_request(&c, t, &h, &q), RF_CTL_ABORT);
		assert_int_equal(q.u.abort.code, RF_CTL_ABORT_EXIT);
		t = rf_client_next_timeout(&c);
	}
	assert_int_equal(t, RF_CLIENT_NEVER);
	/* A destroyed queue pair can be reported even after the group has failed. */
	assert_int_equal(rf_client_leave(&c, true, 100 * MS), 0);
	assert_int_equal(script_request(&c, 100 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, RF_CTL_F_QP_DESTROYED);
	{
		struct rf_ctl_reply r = script_failed(RF_CTL_R_ABORTED, 3);

		script_reply(&c, 100 * MS, &h, &r, script_key, 9);
	}
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
}

/*
 * The box is slow: a query was sent twice, and its second answer comes while the next query is
 * open.
 */
static void test_query_twice(void **state)
{
	struct rf_client c = script_client(true);
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_BOX};
	struct rf_ctl_header first, second, other;
	struct rf_ctl_request q;
	struct rf_ctl_reply box, port;

	(void)state;
	memset(&box, 0, sizeof(box));
	box.result = RF_CTL_PAGE;
	box.page = RF_CTL_PAGE_BOX;
	port = box;
	port.page = RF_CTL_PAGE_PORT;
	assert_int_equal(rf_client_status(&c, &ask, 0), 0);
	assert_int_equal(script_request(&c, 0, &first, &q), RF_CTL_STATUS);
	assert_int_equal(script_request(&c, 20 * MS, &second, &q), RF_CTL_STATUS);
	script_reply(&c, 21 * MS, &first, &box, script_key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	ask.page = RF_CTL_PAGE_PORT;
	assert_int_equal(rf_client_status(&c, &ask, 22 * MS), 0);
	script_reply(&c, 22 * MS, &second, &box, script_key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	assert_int_equal(script_request(&c, 22 * MS, &other, &q), RF_CTL_STATUS);
	script_reply(&c, 23 * MS, &second, &box, script_key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	script_reply(&c, 23 * MS, &other, &port, script_key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	assert_int_equal(rf_client_answer(&c)->page, RF_CTL_PAGE_PORT);
}

/* A query during a membership: neither takes the other's answers. */
static void test_query(void **state)
{
	struct rf_client c = script_ready_client();
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_BOX};
	struct rf_ctl_header alive, h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r, page = script_group_page(RF_CTL_S_READY);

	(void)state;
	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_PAGE;
	r.page = RF_CTL_PAGE_BOX;
	r.u.box.ports = 4;
	assert_int_equal(rf_client_status(&c, &ask, 1001 * MS), 0);
	assert_int_equal(rf_client_status(&c, &ask, 1001 * MS), -1);
	assert_int_equal(script_request(&c, 1001 * MS, &alive, &q), RF_CTL_STATUS);
	assert_int_equal(q.u.status.page, RF_CTL_PAGE_GROUP);
	assert_int_equal(script_request(&c, 1001 * MS, &h, &q), RF_CTL_STATUS);
	assert_int_equal(q.u.status.page, RF_CTL_PAGE_BOX);
	assert_null(rf_client_answer(&c));
	/* In the other order. */
	script_reply(&c, 1002 * MS, &h, &r, script_key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	assert_int_equal(rf_client_answer(&c)->u.box.ports, 4);
	script_reply(&c, 1002 * MS, &alive, &page, script_key, 9);
	/* A second after the last transmission. */
	assert_int_equal(rf_client_next_timeout(&c), 2001 * MS);
	/* Without an answer. */
	rf_client_status(&c, &ask, 1003 * MS);
	for (uint64_t t = 1003 * MS; rf_client_query(&c) == RF_CLIENT_Q_WAITING;
	     t = rf_client_next_timeout(&c)) {
		assert_true(t <= 6003 * MS);
		while (script_request(&c, t, &h, &q))
			if (q.u.status.page == RF_CTL_PAGE_GROUP)
				script_reply(&c, t, &h, &page, script_key, 9);
	}
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_FAILED);
	assert_null(rf_client_answer(&c));
	/* RESET keeps its number when repeated, so that it is executed once. */
	rf_client_reset(&c, 9000 * MS);
	while (script_request(&c, 9000 * MS, &h, &q) != RF_CTL_RESET)
		;
	alive = h;
	while (script_request(&c, 9020 * MS, &h, &q) != RF_CTL_RESET)
		;
	assert_int_equal(h.seq, alive.seq);
}

static void test_vlan(void **state)
{
	struct rf_client c = script_client(true);
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	(void)state;
	c.cfg.vlan = 0x2007;
	rf_client_join(&c, &script_join, 0);
	assert_true(rf_client_tx(&c, 0, frame, sizeof(frame)) > 60);
	assert_int_equal(rf_get_be32(frame + 12), 0x81002007u);
	c = script_client(false);
	c.cfg.vlan = 0x2007;
	rf_client_join(&c, &script_join, 0);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 64);
	assert_int_equal(rf_get_be32(frame + 12), 0x81002007u);
	assert_int_equal(rf_get_be16(frame + 16), 0x0806);
}

/* Every reason gives a meaningful line. */
static void test_texts(void **state)
{
	char text[400];

	(void)state;
	for (unsigned int why = 1; why < RF_CTL_R_COUNT; why++) {
		struct rf_client c = script_ready_client();

		c.state = RF_CLIENT_FAILED;
		c.error = RF_CLIENT_E_GROUP;
		c.have_failed = true;
		c.failed.reason = (uint8_t)why;
		c.failed.rank = 2;
		c.failed.missing[0] = 0x0d;
		c.failed.detail = 2;
		assert_true(rf_client_text(&c, text, sizeof(text)) > 30);
		assert_non_null(strstr(text, "rank"));
		assert_true(strlen(text) < 300);
		if (why == RF_CTL_R_NO_LANES)
			assert_non_null(strstr(text, "ranks 0, 2, 3 come in by the same port of "
						     "the box, which has 2 lanes; "));
		if (why == RF_CTL_R_NO_LANES || why == RF_CTL_R_OTHER_PORT)
			assert_non_null(strstr(text, "lacks the rule"));
		/* A rule of the switch means nothing to a mirror rank. */
		c.join.flags |= RF_CTL_J_MIRROR;
		rf_client_text(&c, text, sizeof(text));
		assert_null(strstr(text, "rule"));
		/* The ports of a box that has just started. */
		c.failed.detail = 0x0200;
		rf_client_text(&c, text, sizeof(text));
		if (why == RF_CTL_R_NO_ADDRESS)
			assert_non_null(strstr(text, "try again in some seconds"));
	}
	assert_string_equal(rf_client_state_name(RF_CLIENT_DRAINING), "DRAINING");
}

/* Requests of a process that goes on with a token are numbered above those before it. */
static void test_first_seq(void **state)
{
	static const uint32_t first[] = {0x80000000u, 0xfffffffeu, 7};

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct rf_client c = script_client(true);
		struct rf_client_cfg cfg = c.cfg;
		struct rf_ctl_reply ready = script_ready();
		struct rf_ctl_request q;
		struct rf_ctl_header h;

		cfg.first_seq = first[i];
		rf_client_init(&c, &cfg);
		assert_int_equal(rf_client_join(&c, &script_join, 0), 0);
		assert_int_equal(script_request(&c, 0, &h, &q), RF_CTL_JOIN);
		assert_in_range(h.seq - first[i], 1, 2);
		/* An answer to a request before them is not taken. */
		h.seq -= 4;
		script_reply(&c, 0, &h, &ready, script_key, 9);
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
		h.seq += 4;
		script_reply(&c, 0, &h, &ready, script_key, 9);
		assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),         cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_answer_time), cmocka_unit_test(test_falls_silent),
		cmocka_unit_test(test_keepalive),   cmocka_unit_test(test_group_fails),
		cmocka_unit_test(test_refused),     cmocka_unit_test(test_leave),
		cmocka_unit_test(test_abort),       cmocka_unit_test(test_query_twice),
		cmocka_unit_test(test_query),       cmocka_unit_test(test_vlan),
		cmocka_unit_test(test_texts),       cmocka_unit_test(test_stands_still),
		cmocka_unit_test(test_first_seq),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
