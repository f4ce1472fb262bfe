/* The host's control client against a scripted box: silence, lies, refusals, time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/src/control/client.h"
#include "proto/rf_bytes.h"

#define MS 1000000ull
#define BOX_IP 0x0a0000feu
#define OWN_IP 0x0a000003u

static const uint8_t own_mac[6] = {2, 0, 0, 0, 0, 3};
static const uint8_t box_mac[6] = {2, 0x52, 0x46, 0, 0, 0x11};
static const uint8_t key[16] = {5, 5, 5}, other_key[16] = {5, 5, 4};
static const struct rf_ctl_join join = {.ranks = 4,
					.mtu_log2 = 10,
					.slots_log2 = 9,
					.port = RF_CTL_NO_PORT,
					.flags = RF_CTL_J_SHIFTED,
					.qpn = 0x11,
					.peer_ip = 0x0a000004,
					.peer_qpn = 0x12,
					.shift = RF_CTL_SHIFT,
					.lease_ms = 10000,
					.deadline_ms = 3000};

static uint64_t seed = 1;

static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static struct rf_client client(bool know_mac)
{
	static struct rf_client c;
	struct rf_client_cfg cfg = {.ip = OWN_IP,
				    .box_ip = BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 42,
				    .group = 1,
				    .rank = 3,
				    .token = 77,
				    .have_box_mac = know_mac};

	memcpy(cfg.mac, own_mac, 6);
	memcpy(cfg.box_mac, box_mac, 6);
	memcpy(cfg.key, key, 16);
	rf_client_init(&c, &cfg);
	return c;
}

/* The request in the frame that is due, or 0. */
static unsigned int request(struct rf_client *c, uint64_t now, struct rf_ctl_header *h,
			    struct rf_ctl_request *q)
{
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len = rf_client_tx(c, now, frame, sizeof(frame)), n;
	struct rf_ctl_addr a;
	const uint8_t *msg;

	if (len == 0)
		return 0;
	assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), 0);
	assert_memory_equal(frame, box_mac, 6);
	assert_int_equal(a.src_ip, OWN_IP);
	assert_int_equal(a.dst_ip, BOX_IP);
	assert_int_equal(rf_ctl_header_get(msg, n, h), 0);
	assert_true(rf_ctl_tag_ok(msg, h, key));
	assert_int_equal(rf_ctl_request_get(msg, h, q), 0);
	return h->verb;
}

static size_t reply_frame(const struct rf_ctl_header *to, const struct rf_ctl_reply *r,
			  const uint8_t *k, uint32_t epoch, uint8_t *frame)
{
	struct rf_ctl_header h = *to;
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = BOX_IP,
				.dst_ip = OWN_IP,
				.src_port = RF_CTL_UDP_PORT,
				.dst_port = RF_CTL_UDP_PORT};
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	size_t len;

	h.flags = RF_CTL_F_REPLY;
	if (!k)
		h.flags |= RF_CTL_F_UNSIGNED;
	h.epoch = epoch;
	len = rf_ctl_reply_put(msg, &h, r, k);
	assert_true(len > 0);
	memcpy(a.dst_mac, own_mac, 6);
	memcpy(a.src_mac, box_mac, 6);
	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &a, msg, len);
}

static int reply(struct rf_client *c, uint64_t now, const struct rf_ctl_header *to,
		 const struct rf_ctl_reply *r, const uint8_t *k, uint32_t epoch)
{
	uint8_t frame[RF_CTL_FRAME_MAX];

	return rf_client_rx(c, now, frame, reply_frame(to, r, k, epoch, frame));
}

static struct rf_ctl_reply waiting(void)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_WAITING;
	r.u.waiting.ranks = 4;
	r.u.waiting.joined = 2;
	rf_ctl_mask_set(r.u.waiting.missing, 1);
	rf_ctl_mask_set(r.u.waiting.missing, 2);
	return r;
}

static struct rf_ctl_reply ready(void)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_READY;
	r.u.ready = (struct rf_ctl_ready){
		.ranks = 4, .window = 256, .slots_log2 = 9, .lanes = 1, .lease_ms = 10000};
	return r;
}

static struct rf_ctl_reply failed(enum rf_ctl_reason why, unsigned int rank)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_FAILED;
	r.u.failed.reason = (uint8_t)why;
	r.u.failed.rank = (uint16_t)rank;
	return r;
}

static struct rf_ctl_reply group_page(unsigned int state)
{
	struct rf_ctl_reply r;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_PAGE;
	r.page = RF_CTL_PAGE_GROUP;
	r.u.group.state = (uint8_t)state;
	r.u.group.ranks = 4;
	return r;
}

/* A client that is READY, at time 1 ms, box epoch 9. */
static struct rf_client ready_client(void)
{
	struct rf_client c = client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = ready();

	assert_int_equal(rf_client_join(&c, &join, 0), 0);
	assert_int_equal(request(&c, 0, &h, &q), RF_CTL_JOIN);
	assert_int_equal(reply(&c, MS, &h, &r, key, 9), 1);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	return c;
}

static void put_arp_reply(uint8_t *f, uint32_t from)
{
	memset(f, 0, 60);
	memcpy(f, own_mac, 6);
	memcpy(f + 6, box_mac, 6);
	rf_put_be16(f + 12, 0x0806);
	rf_put_be32(f + 14, 0x00010800);
	rf_put_be32(f + 18, 0x06040002);
	memcpy(f + 22, box_mac, 6);
	rf_put_be32(f + 28, from);
	memcpy(f + 32, own_mac, 6);
	rf_put_be32(f + 38, OWN_IP);
}

static void test_arp(void **state)
{
	struct rf_client c = client(false);
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	char text[200];

	(void)state;
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
	assert_int_equal(rf_client_join(&c, &join, 0), 0);
	assert_int_equal(rf_client_join(&c, &join, 0), -1);
	assert_int_equal(rf_client_next_timeout(&c), 0);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 60);
	assert_int_equal(rf_get_be16(frame + 12), 0x0806);
	assert_int_equal(rf_get_be32(frame + 38), BOX_IP);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 0);
	assert_in_range(rf_client_next_timeout(&c), 10 * MS, 20 * MS);
	put_arp_reply(frame, BOX_IP + 1);
	assert_int_equal(rf_client_rx(&c, MS, frame, 60), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_RESOLVING);
	put_arp_reply(frame, BOX_IP);
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
	assert_int_equal(request(&c, MS, &h, &q), RF_CTL_JOIN);
	assert_memory_equal(&q.u.join, &join, sizeof(join));
	/* Nobody answers ARP. */
	c = client(false);
	rf_client_join(&c, &join, 0);
	for (uint64_t t = 0; t < 5000 * MS; t += 10 * MS)
		rf_client_tx(&c, t, frame, sizeof(frame));
	assert_int_equal(rf_client_state(&c), RF_CLIENT_RESOLVING);
	rf_client_tx(&c, 5000 * MS, frame, sizeof(frame));
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_NO_ARP);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "10.0.0.254"));
}

static void test_no_answer(void **state)
{
	struct rf_client c = client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	unsigned int sent = 0;
	uint32_t last = 0;
	char text[300];

	(void)state;
	rf_client_join(&c, &join, 0);
	/* Driven by its own timeouts alone. */
	for (uint64_t t = 0; t != RF_CLIENT_NEVER; t = rf_client_next_timeout(&c)) {
		while (request(&c, t, &h, &q) == RF_CTL_JOIN) {
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
	/* Cut texts are still terminated. */
	for (size_t room = 1; room < 40; room++) {
		assert_int_equal(rf_client_text(&c, text, room), room - 1);
		assert_int_equal(strlen(text), room - 1);
	}
}

/* The box says WAITING and then nothing more. */
static void test_falls_silent(void **state)
{
	struct rf_client c = client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = waiting();
	uint64_t t = 0;

	(void)state;
	rf_client_join(&c, &join, 0);
	request(&c, 0, &h, &q);
	reply(&c, 0, &h, &r, key, 9);
	assert_non_null(rf_client_waiting(&c));
	while (rf_client_state(&c) == RF_CLIENT_JOINING) {
		t = rf_client_next_timeout(&c);
		while (request(&c, t, &h, &q))
			;
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
	assert_int_equal(t, 5000 * MS);
}

static void test_keepalive(void **state)
{
	struct rf_client c = ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = group_page(RF_CTL_S_READY);
	uint64_t t = MS;

	(void)state;
	for (unsigned int i = 0; i < 10; i++) {
		t = rf_client_next_timeout(&c);
		assert_int_equal(t, MS + (i + 1) * 1000 * MS);
		assert_int_equal(request(&c, t, &h, &q), RF_CTL_STATUS);
		assert_int_equal(q.u.status.page, RF_CTL_PAGE_GROUP);
		assert_int_equal(h.epoch, 9);
		assert_int_equal(reply(&c, t, &h, &r, key, 9), 1);
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/* Unanswered, it is repeated quickly, then given up. */
	t = rf_client_next_timeout(&c);
	request(&c, t, &h, &q);
	assert_in_range(rf_client_next_timeout(&c), t + 10 * MS, t + 20 * MS);
	while (rf_client_state(&c) == RF_CLIENT_READY) {
		t = rf_client_next_timeout(&c);
		while (request(&c, t, &h, &q))
			;
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_SILENT);
}

static void test_group_fails(void **state)
{
	struct rf_client c = ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = group_page(RF_CTL_S_FAILED);
	char text[200];

	(void)state;
	r.u.group.reason = RF_CTL_R_DISAGREE;
	r.u.group.fail_rank = 1;
	r.u.group.fail_index = 4711;
	request(&c, 1001 * MS, &h, &q);
	reply(&c, 1001 * MS, &h, &r, key, 9);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_GROUP);
	rf_client_text(&c, text, sizeof(text));
	assert_string_equal(text,
			    "the group failed: ranks disagree about opcode or length at one index "
			    "(rank 1, index 4711); all ranks must reduce buffers of the same size "
			    "in the same order");
	/* Another epoch: the box has restarted, whatever it answers. */
	c = ready_client();
	request(&c, 1001 * MS, &h, &q);
	r = failed(RF_CTL_R_GROUP_UNKNOWN, 3);
	reply(&c, 1001 * MS, &h, &r, key, 10);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_RESET);
}

static void test_refused(void **state)
{
	struct rf_client c = client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = failed(RF_CTL_R_RANK_TAKEN, 3);
	char text[200];

	(void)state;
	rf_client_join(&c, &join, 0);
	request(&c, 0, &h, &q);
	reply(&c, 0, &h, &r, key, 9);
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_REFUSED);
	assert_int_equal(rf_client_failed(&c)->reason, RF_CTL_R_RANK_TAKEN);
	rf_client_text(&c, text, sizeof(text));
	assert_non_null(strstr(text, "another process has joined as this rank (rank 3)"));
	assert_int_equal(rf_client_leave(&c, false, 0), -1);
	/* A new try is another membership. */
	assert_int_equal(rf_client_join(&c, &join, MS), 0);
	request(&c, MS, &h, &q);
	assert_int_not_equal(h.token, 77);
}

/* Refusals that the box could not sign: three in a row are believed, fewer are not. */
static void test_unsigned(void **state)
{
	struct rf_client c = client(true);
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = failed(RF_CTL_R_TAG, 3), lie = failed(RF_CTL_R_RANK_TAKEN, 3);
	struct rf_ctl_reply w = waiting();
	uint64_t t = 0;

	(void)state;
	rf_client_join(&c, &join, 0);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
		assert_int_equal(request(&c, t, &h, &q), RF_CTL_JOIN);
		for (unsigned int k = 0; k < 5; k++)
			reply(&c, t, &h, &lie, NULL, 9);
		for (unsigned int k = 0; k < 5; k++)
			reply(&c, t, &h, &r, NULL, 9);
		t = rf_client_next_timeout(&c);
	}
	assert_int_equal(rf_client_error(&c), RF_CLIENT_E_REFUSED);
	assert_int_equal(rf_client_failed(&c)->reason, RF_CTL_R_TAG);
	/* Once the box has answered with the right key, none is believed. */
	c = client(true);
	rf_client_join(&c, &join, 0);
	request(&c, 0, &h, &q);
	reply(&c, 0, &h, &w, key, 9);
	for (unsigned int k = 0; k < 9; k++)
		reply(&c, 0, &h, &r, NULL, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	c = ready_client();
	for (unsigned int k = 0; k < 9; k++)
		reply(&c, 0, &h, &r, NULL, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
}

/* Replies that are damaged, forged, for others, or old change nothing. */
static void test_distrust(void **state)
{
	struct rf_client c = client(true), before;
	struct rf_ctl_header h, other;
	struct rf_ctl_request q;
	struct rf_ctl_reply r = ready(), w = waiting();
	uint8_t frame[RF_CTL_FRAME_MAX], bad[RF_CTL_FRAME_MAX];
	size_t len;

	(void)state;
	rf_client_join(&c, &join, 0);
	request(&c, 0, &h, &q);
	len = reply_frame(&h, &r, key, 9, frame);
	before = c;
	for (size_t bit = 42 * 8; bit < 8 * len; bit++) {
		memcpy(bad, frame, len);
		bad[bit / 8] = (uint8_t)(bad[bit / 8] ^ 1u << (bit & 7u));
		rf_client_rx(&c, MS, bad, len);
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
		assert_null(rf_client_ready(&c));
	}
	for (size_t cut = 0; cut < len; cut++) {
		uint8_t *p = malloc(cut ? cut : 1);

		assert_non_null(p);
		memcpy(p, frame, cut);
		assert_int_equal(rf_client_rx(&c, MS, p, cut), 0);
		free(p);
	}
	for (unsigned int run = 0; run < 50000; run++) {
		memcpy(bad, frame, len);
		bad[42 + rnd() % (len - 42)] ^= (uint8_t)(1 + rnd() % 255);
		for (unsigned int k = 0; k < rnd() % 8; k++)
			bad[rnd() % len] = (uint8_t)rnd();
		rf_client_rx(&c, MS, bad, rnd() % 4 ? len : rnd() % (len + 1));
	}
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	/* Signed with another key; for another rank, token, group, job; with a number never used.
	 */
	assert_int_equal(reply(&c, MS, &h, &r, other_key, 9), 1);
#define OTHER(change, mine)                                                                        \
	do {                                                                                       \
		other = h;                                                                         \
		change;                                                                            \
		assert_int_equal(reply(&c, MS, &other, &r, key, 9), mine);                         \
		assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);                          \
	} while (0)
	OTHER(other.rank++, 0);
	OTHER(other.token++, 0);
	OTHER(other.group++, 0);
	OTHER(other.job++, 0);
	OTHER(other.seq += 2, 1);
	OTHER(other.seq += 0x80000000u, 1);
#undef OTHER
	assert_memory_equal(&before.req, &c.req, sizeof(c.req));
	/* READY for another number of ranks. */
	r.u.ready.ranks = 3;
	reply(&c, MS, &h, &r, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	/* An older answer behind a newer one. */
	request(&c, 20 * MS, &other, &q);
	reply(&c, 20 * MS, &other, &w, key, 9);
	r = ready();
	reply(&c, 20 * MS, &h, &r, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_JOINING);
	reply(&c, 20 * MS, &other, &r, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
	/* WAITING that comes late does not undo READY. */
	reply(&c, 20 * MS, &other, &w, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_READY);
}

static void test_leave(void **state)
{
	struct rf_client c = ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r;

	(void)state;
	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_DRAINING;
	r.u.draining.ranks = 4;
	r.u.draining.left = 1;
	assert_int_equal(rf_client_leave(&c, false, 2 * MS), 0);
	assert_int_equal(request(&c, 2 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, 0);
	assert_int_equal(request(&c, 22 * MS, &h, &q), RF_CTL_LEAVE);
	assert_false(rf_client_left_acked(&c));
	reply(&c, 23 * MS, &h, &r, key, 9);
	assert_true(rf_client_left_acked(&c));
	assert_int_equal(rf_client_state(&c), RF_CLIENT_DRAINING);
	assert_int_equal(rf_client_next_timeout(&c), 1023 * MS);
	assert_int_equal(rf_client_leave(&c, true, 30 * MS), 0);
	assert_int_equal(request(&c, 30 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, RF_CTL_F_QP_DESTROYED);
	r.result = RF_CTL_ENDED;
	reply(&c, 31 * MS, &h, &r, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_IDLE);
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
	/* The group is forgotten before the last answer came. */
	c = ready_client();
	rf_client_leave(&c, false, 2 * MS);
	request(&c, 2 * MS, &h, &q);
	r.result = RF_CTL_DRAINING;
	reply(&c, 3 * MS, &h, &r, key, 9);
	request(&c, 1003 * MS, &h, &q);
	r = failed(RF_CTL_R_GROUP_UNKNOWN, 3);
	reply(&c, 1003 * MS, &h, &r, key, 9);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_IDLE);
}

static void test_abort(void **state)
{
	struct rf_client c = ready_client();
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	uint64_t t = 2 * MS;

	(void)state;
	assert_int_equal(rf_client_abort(&c, RF_CTL_ABORT_EXIT, t), 0);
	assert_int_equal(rf_client_state(&c), RF_CLIENT_FAILED);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(request(&c, t, &h, &q), RF_CTL_ABORT);
		assert_int_equal(q.u.abort.code, RF_CTL_ABORT_EXIT);
		t = rf_client_next_timeout(&c);
	}
	assert_int_equal(t, RF_CLIENT_NEVER);
	/* A group that has failed may still be told that the queue pair is gone. */
	assert_int_equal(rf_client_leave(&c, true, 100 * MS), 0);
	assert_int_equal(request(&c, 100 * MS, &h, &q), RF_CTL_LEAVE);
	assert_int_equal(h.flags, RF_CTL_F_QP_DESTROYED);
	{
		struct rf_ctl_reply r = failed(RF_CTL_R_ABORTED, 3);

		reply(&c, 100 * MS, &h, &r, key, 9);
	}
	assert_int_equal(rf_client_next_timeout(&c), RF_CLIENT_NEVER);
}

/* The box is slow: a question was sent twice, its second answer comes when the next one is open. */
static void test_query_twice(void **state)
{
	struct rf_client c = client(true);
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
	assert_int_equal(request(&c, 0, &first, &q), RF_CTL_STATUS);
	assert_int_equal(request(&c, 20 * MS, &second, &q), RF_CTL_STATUS);
	reply(&c, 21 * MS, &first, &box, key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	ask.page = RF_CTL_PAGE_PORT;
	assert_int_equal(rf_client_status(&c, &ask, 22 * MS), 0);
	reply(&c, 22 * MS, &second, &box, key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	assert_int_equal(request(&c, 22 * MS, &other, &q), RF_CTL_STATUS);
	reply(&c, 23 * MS, &second, &box, key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_WAITING);
	reply(&c, 23 * MS, &other, &port, key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	assert_int_equal(rf_client_answer(&c)->page, RF_CTL_PAGE_PORT);
}

/* A query beside the membership: neither takes the other's answers. */
static void test_query(void **state)
{
	struct rf_client c = ready_client();
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_BOX};
	struct rf_ctl_header alive, h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r, page = group_page(RF_CTL_S_READY);

	(void)state;
	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_PAGE;
	r.page = RF_CTL_PAGE_BOX;
	r.u.box.ports = 4;
	assert_int_equal(rf_client_status(&c, &ask, 1001 * MS), 0);
	assert_int_equal(rf_client_status(&c, &ask, 1001 * MS), -1);
	assert_int_equal(request(&c, 1001 * MS, &alive, &q), RF_CTL_STATUS);
	assert_int_equal(q.u.status.page, RF_CTL_PAGE_GROUP);
	assert_int_equal(request(&c, 1001 * MS, &h, &q), RF_CTL_STATUS);
	assert_int_equal(q.u.status.page, RF_CTL_PAGE_BOX);
	assert_null(rf_client_answer(&c));
	/* In the other order. */
	reply(&c, 1002 * MS, &h, &r, key, 9);
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_DONE);
	assert_int_equal(rf_client_answer(&c)->u.box.ports, 4);
	reply(&c, 1002 * MS, &alive, &page, key, 9);
	assert_int_equal(rf_client_next_timeout(&c), 2002 * MS);
	/* Without an answer. */
	rf_client_status(&c, &ask, 1003 * MS);
	for (uint64_t t = 1003 * MS; rf_client_query(&c) == RF_CLIENT_Q_WAITING;
	     t = rf_client_next_timeout(&c)) {
		assert_true(t <= 6003 * MS);
		while (request(&c, t, &h, &q))
			if (q.u.status.page == RF_CTL_PAGE_GROUP)
				reply(&c, t, &h, &page, key, 9);
	}
	assert_int_equal(rf_client_query(&c), RF_CLIENT_Q_FAILED);
	assert_null(rf_client_answer(&c));
	/* RESET keeps its number when repeated, so that it is done once. */
	rf_client_reset(&c, 9000 * MS);
	while (request(&c, 9000 * MS, &h, &q) != RF_CTL_RESET)
		;
	alive = h;
	while (request(&c, 9020 * MS, &h, &q) != RF_CTL_RESET)
		;
	assert_int_equal(h.seq, alive.seq);
}

static void test_vlan(void **state)
{
	struct rf_client c = client(true);
	uint8_t frame[RF_CLIENT_FRAME_MAX];

	(void)state;
	c.cfg.vlan = 0x2007;
	rf_client_join(&c, &join, 0);
	assert_true(rf_client_tx(&c, 0, frame, sizeof(frame)) > 60);
	assert_int_equal(rf_get_be32(frame + 12), 0x81002007u);
	c = client(false);
	c.cfg.vlan = 0x2007;
	rf_client_join(&c, &join, 0);
	assert_int_equal(rf_client_tx(&c, 0, frame, sizeof(frame)), 60);
	assert_int_equal(rf_get_be32(frame + 12), 0x81002007u);
	assert_int_equal(rf_get_be16(frame + 16), 0x0806);
}

/* Every reason gives a line that says something. */
static void test_texts(void **state)
{
	char text[400];

	(void)state;
	for (unsigned int why = 1; why < RF_CTL_R_COUNT; why++) {
		struct rf_client c = ready_client();

		c.state = RF_CLIENT_FAILED;
		c.error = RF_CLIENT_E_GROUP;
		c.have_failed = true;
		c.failed.reason = (uint8_t)why;
		c.failed.rank = 2;
		rf_ctl_mask_set(c.failed.missing, 2);
		assert_true(rf_client_text(&c, text, sizeof(text)) > 30);
		assert_non_null(strstr(text, "rank"));
		assert_true(strlen(text) < 300);
	}
	assert_string_equal(rf_client_state_name(RF_CLIENT_DRAINING), "DRAINING");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_arp),          cmocka_unit_test(test_no_answer),
		cmocka_unit_test(test_falls_silent), cmocka_unit_test(test_keepalive),
		cmocka_unit_test(test_group_fails),  cmocka_unit_test(test_refused),
		cmocka_unit_test(test_unsigned),     cmocka_unit_test(test_distrust),
		cmocka_unit_test(test_leave),        cmocka_unit_test(test_abort),
		cmocka_unit_test(test_query),        cmocka_unit_test(test_query_twice),
		cmocka_unit_test(test_vlan),         cmocka_unit_test(test_texts),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	print_message("seed %llu; to repeat: build/tests/ctl_client_test %llu\n",
		      (unsigned long long)seed, (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
