/*
 * The codec of the control protocol: test vectors of docs/control-protocol.md, all kinds of damage.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "proto/rf_bytes.h"
#include "proto/rf_ctl.h"

static uint64_t seed = 1;

static uint32_t rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return (uint32_t)(seed >> 32);
}

static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static const uint8_t vector_join[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x01, 0x00, 0x00, 0x00, 0x64, 0x00, 0x03, 0x11, 0x22, 0x33,
	0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x06, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23, 0x45, 0x67, 0x89,
	0xab, 0xcd, 0xef, 0x78, 0x58, 0x03, 0x72, 0x52, 0x8f, 0x92, 0x7e, 0x00, 0x04, 0x01, 0x02,
	0x0a, 0x09, 0x05, 0xff, 0x00, 0x06, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
	0x11, 0x0a, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x12, 0x00, 0x12, 0x34, 0x56, 0x00, 0x40,
	0x00, 0x00, 0x00, 0x00, 0x13, 0x88, 0x00, 0x00, 0x75, 0x30,
};

static const uint8_t vector_mirror[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x01, 0x00, 0x00, 0x00, 0x64, 0x00, 0x03, 0x11, 0x22, 0x33,
	0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x06, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23, 0x45, 0x67, 0x89,
	0xab, 0xcd, 0xef, 0xcb, 0xb5, 0xe2, 0xb0, 0x7e, 0xda, 0x92, 0x47, 0x00, 0x02, 0x08, 0x06,
	0x0c, 0x09, 0x09, 0x03, 0x00, 0xc0, 0x04, 0x00, 0x0a, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00,
	0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x12, 0x34, 0x56, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x13, 0x88, 0x00, 0x00, 0x75, 0x30,
};

static const uint8_t vector_leave[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x02, 0x00, 0x01, 0x00, 0x38, 0x00, 0x03, 0x11, 0x22,
	0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x0b, 0xad, 0xca, 0xfe,
	0x00, 0x00, 0x00, 0x08, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23,
	0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x05, 0xf0, 0x30, 0x19, 0x67, 0x62, 0x03, 0x1f,
};

static const uint8_t vector_ready[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x01, 0x80, 0x00, 0x00, 0x5c, 0x00, 0x03, 0x11, 0x22,
	0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x0b, 0xad, 0xca, 0xfe,
	0x00, 0x00, 0x00, 0x06, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23,
	0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x6c, 0xa4, 0xeb, 0xb4, 0x8e, 0x25, 0xe2, 0x61,
	0x02, 0x09, 0x00, 0x04, 0x01, 0x00, 0x02, 0x00, 0x01, 0x05, 0x00, 0x00, 0x00, 0x00,
	0x10, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x13, 0x88, 0x0a, 0x00, 0x00, 0x81,
	0x00, 0x00, 0x01, 0x00, 0x02, 0x00, 0x03, 0x00,
};

static const uint8_t vector_failed[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x01, 0xc0, 0x00, 0x00, 0x60, 0x00, 0x03, 0x11, 0x22,
	0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x0b, 0xad, 0xca, 0xfe,
	0x00, 0x00, 0x00, 0x06, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x03, 0x04, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};

static const uint8_t vector_disagree[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x01, 0x80, 0x00, 0x00, 0x60, 0x00, 0x03, 0x11, 0x22,
	0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x0b, 0xad, 0xca, 0xfe,
	0x00, 0x00, 0x00, 0x06, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23,
	0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0x3a, 0x56, 0x66, 0x22, 0x7f, 0x0d, 0x4f, 0xef,
	0x03, 0x1f, 0x00, 0x02, 0x00, 0x00, 0x00, 0x09, 0x14, 0x00, 0x40, 0x03, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
	0x0a, 0x00, 0x00, 0xfe, 0x00, 0x01, 0x01, 0x00, 0x20, 0x00, 0x40, 0x03,
};

static const uint8_t vector_lag[] = {
	0x52, 0x46, 0x43, 0x54, 0x03, 0x03, 0x80, 0x00, 0x00, 0x74, 0x00, 0x03, 0x11, 0x22, 0x33,
	0x44, 0x55, 0x66, 0x77, 0x88, 0x00, 0x02, 0x00, 0x00, 0x0b, 0xad, 0xca, 0xfe, 0x00, 0x00,
	0x00, 0x0b, 0xca, 0xfe, 0xf0, 0x0d, 0x12, 0x34, 0x56, 0x78, 0x01, 0x23, 0x45, 0x67, 0x89,
	0xab, 0xcd, 0xef, 0xf0, 0xea, 0x7d, 0xf3, 0x39, 0xcd, 0xd7, 0x8e, 0x07, 0x09, 0x00, 0x00,
	0x00, 0x02, 0x00, 0x00, 0x00, 0x02, 0x00, 0x04, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x02,
	0xbc, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00, 0x05, 0x00, 0x00,
	0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x00,
	0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x04,
};

static const struct rf_ctl_join join_in = {.ranks = 4,
					   .dtype = 1,
					   .op = 2,
					   .mtu_log2 = 10,
					   .slots_log2 = 9,
					   .slots_min_log2 = 5,
					   .port = RF_CTL_NO_PORT,
					   .flags = RF_CTL_J_SHIFTED | RF_CTL_J_TRANSPARENT,
					   .src_ip = 0x0a000002,
					   .qpn = 0x11,
					   .peer_ip = 0x0a000003,
					   .peer_qpn = 0x12,
					   .start_psn = 0x123456,
					   .shift = 0x400000,
					   .lease_ms = 5000,
					   .deadline_ms = 30000};

static const struct rf_ctl_join mirror_in = {.ranks = 2,
					     .dtype = 8,
					     .op = 6,
					     .mtu_log2 = 12,
					     .slots_log2 = 9,
					     .slots_min_log2 = 9,
					     .port = 3,
					     .family = RF_CTL_FAMILY_IPV4,
					     .flags = RF_CTL_J_MIRROR | RF_CTL_J_DIRECTED,
					     .src_ip = 0x0a000002,
					     .qpn = 0x11,
					     .start_psn = 0x123456,
					     .lease_ms = 5000,
					     .deadline_ms = 30000};

static struct rf_ctl_header header(unsigned int verb, unsigned int flags, uint32_t epoch,
				   uint32_t seq)
{
	struct rf_ctl_header h = {.verb = (uint8_t)verb,
				  .flags = (uint16_t)flags,
				  .group = 3,
				  .job = 0x1122334455667788ull,
				  .rank = 2,
				  .epoch = epoch,
				  .seq = seq,
				  .token = 0xcafef00d12345678ull,
				  .nonce = flags & RF_CTL_F_UNSIGNED ? 0 : 0x0123456789abcdefull};

	return h;
}

static void test_vectors(void **state)
{
	uint8_t buf[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_request q = {.u.join = join_in};
	struct rf_ctl_reply r;
	struct rf_ctl_header h = header(RF_CTL_JOIN, 0, 0, 6);

	(void)state;
	assert_int_equal(rf_ctl_request_put(buf, &h, &q, key), sizeof(vector_join));
	assert_memory_equal(buf, vector_join, sizeof(vector_join));

	q.u.join = mirror_in;
	assert_int_equal(rf_ctl_request_put(buf, &h, &q, key), sizeof(vector_mirror));
	assert_memory_equal(buf, vector_mirror, sizeof(vector_mirror));

	h = header(RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED, 0x0badcafe, 8);
	assert_int_equal(rf_ctl_request_put(buf, &h, &q, key), sizeof(vector_leave));
	assert_memory_equal(buf, vector_leave, sizeof(vector_leave));

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_READY;
	r.u.ready = (struct rf_ctl_ready){.ranks = 4,
					  .window = 256,
					  .slots_log2 = 9,
					  .level = 2,
					  .lanes = 1,
					  .dbase = 4096,
					  .hbase = 512,
					  .lease_ms = 5000,
					  .hw_group = 5,
					  .port_ip = 0x0a000081,
					  .place = {{0, 0}, {1, 0}, {2, 0}, {3, 0}}};
	h = header(RF_CTL_JOIN, RF_CTL_F_REPLY, 0x0badcafe, 6);
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, key), sizeof(vector_ready));
	assert_memory_equal(buf, vector_ready, sizeof(vector_ready));

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_PAGE;
	r.page = RF_CTL_PAGE_LAG;
	r.u.lag = (struct rf_ctl_lag_page){.ranks = 2,
					   .count = 2,
					   .bins = 4,
					   .awaited = 1,
					   .awaited_ms = 700,
					   .sum_us = 9,
					   .bin = {5, 0, 1, 1},
					   .rank = {{1, 2}, {6, 4}}};
	h = header(RF_CTL_STATUS, RF_CTL_F_REPLY, 0x0badcafe, 11);
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, key), sizeof(vector_lag));
	assert_memory_equal(buf, vector_lag, sizeof(vector_lag));

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_FAILED;
	r.u.failed.reason = RF_CTL_R_TAG;
	r.u.failed.rank = 2;
	r.u.failed.other.rank = RF_CTL_NO_RANK;
	h = header(RF_CTL_JOIN, RF_CTL_F_REPLY | RF_CTL_F_UNSIGNED, 0x0badcafe, 6);
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, NULL), sizeof(vector_failed));
	assert_memory_equal(buf, vector_failed, sizeof(vector_failed));

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_FAILED;
	r.u.failed = (struct rf_ctl_failed){
		.reason = RF_CTL_R_DISAGREE,
		.rank = 2,
		.index = 9,
		.detail = 0x14004003,
		.other = {0x0a0000fe, 1, RF_CTL_WHAT_TAG, 0x20004003},
	};
	h = header(RF_CTL_JOIN, RF_CTL_F_REPLY, 0x0badcafe, 6);
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, key), sizeof(vector_disagree));
	assert_memory_equal(buf, vector_disagree, sizeof(vector_disagree));
}

/*
 * The refusal of a request of version 2 has that version's layout, which that host can read: its
 * number, and a body of 28 bytes. Nothing but a refusal is written so.
 */
static void test_old_layout(void **state)
{
	uint8_t buf[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_header h = header(RF_CTL_JOIN, RF_CTL_F_REPLY | RF_CTL_F_UNSIGNED, 1, 6), got;
	struct rf_ctl_reply r = {.result = RF_CTL_FAILED};

	(void)state;
	r.u.failed = (struct rf_ctl_failed){.reason = RF_CTL_R_VERSION, .detail = RF_CTL_VERSION};
	h.version = RF_CTL_VERSION_OLD;
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, NULL), RF_CTL_HEADER + 28);
	assert_int_equal(buf[4], RF_CTL_VERSION_OLD);
	assert_int_equal(buf[RF_CTL_HEADER], RF_CTL_FAILED);
	assert_int_equal(buf[RF_CTL_HEADER + 1], RF_CTL_R_VERSION);
	assert_int_equal(buf[RF_CTL_HEADER + 11], RF_CTL_VERSION);
	assert_int_equal(rf_ctl_header_get(buf, RF_CTL_HEADER + 28, &got), RF_CTL_R_VERSION);
	assert_int_equal(got.version, RF_CTL_VERSION_OLD);
	h.version = 1;
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, NULL), RF_CTL_HEADER + 28);
	assert_int_equal(buf[4], 1);
	r.result = RF_CTL_OK;
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, NULL), 0);
	/* Any other number is answered in the present layout. */
	r.result = RF_CTL_FAILED;
	h.version = 9;
	assert_int_equal(rf_ctl_reply_put(buf, &h, &r, NULL), RF_CTL_HEADER + 40);
	assert_int_equal(buf[4], RF_CTL_VERSION);
}

static void test_parse(void **state)
{
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r;

	(void)state;
	assert_int_equal(rf_ctl_header_get(vector_join, sizeof(vector_join), &h), 0);
	assert_int_equal(h.verb, RF_CTL_JOIN);
	assert_int_equal(h.job, 0x1122334455667788ull);
	assert_int_equal(h.group, 3);
	assert_int_equal(h.rank, 2);
	assert_int_equal(h.seq, 6);
	assert_int_equal(h.token, 0xcafef00d12345678ull);
	assert_true(rf_ctl_tag_ok(vector_join, &h, key));
	assert_int_equal(rf_ctl_request_get(vector_join, &h, &q), 0);
	assert_memory_equal(&q.u.join, &join_in, sizeof(join_in));
	assert_int_equal(h.version, RF_CTL_VERSION);
	assert_int_equal(rf_ctl_header_get(vector_mirror, sizeof(vector_mirror), &h), 0);
	assert_int_equal(rf_ctl_request_get(vector_mirror, &h, &q), 0);
	assert_memory_equal(&q.u.join, &mirror_in, sizeof(mirror_in));
	assert_int_equal(rf_ctl_header_get(vector_disagree, sizeof(vector_disagree), &h), 0);
	assert_int_equal(rf_ctl_reply_get(vector_disagree, &h, &r), 0);
	assert_int_equal(r.u.failed.detail, 0x14004003);
	assert_int_equal(r.u.failed.other.box_ip, 0x0a0000fe);
	assert_int_equal(r.u.failed.other.rank, 1);
	assert_int_equal(r.u.failed.other.what, RF_CTL_WHAT_TAG);
	assert_int_equal(r.u.failed.other.value, 0x20004003);
	assert_int_equal(rf_ctl_header_get(vector_ready, sizeof(vector_ready), &h), 0);
	assert_int_equal(h.epoch, 0x0badcafe);
	assert_true(rf_ctl_tag_ok(vector_ready, &h, key));
	assert_int_equal(rf_ctl_reply_get(vector_ready, &h, &r), 0);
	assert_int_equal(r.result, RF_CTL_READY);
	assert_int_equal(r.u.ready.window, 256);
	assert_int_equal(r.u.ready.port_ip, 0x0a000081);
	assert_int_equal(r.u.ready.place[3].port, 3);
}

static void test_every_bit(void **state)
{
	uint8_t copy[sizeof(vector_join)];
	struct rf_ctl_header h;

	(void)state;
	for (unsigned int bit = 0; bit < 8 * sizeof(copy); bit++) {
		int rc;

		memcpy(copy, vector_join, sizeof(copy));
		copy[bit / 8] = (uint8_t)(copy[bit / 8] ^ 1u << (bit & 7u));
		rc = rf_ctl_header_get(copy, sizeof(copy), &h);
		assert_false(rc == 0 && rf_ctl_tag_ok(copy, &h, key));
	}
	for (unsigned int bit = 0; bit < 128; bit++) {
		uint8_t other[16];

		memcpy(other, key, 16);
		other[bit / 8] = (uint8_t)(other[bit / 8] ^ 1u << (bit & 7u));
		assert_int_equal(rf_ctl_header_get(vector_join, sizeof(vector_join), &h), 0);
		assert_false(rf_ctl_tag_ok(vector_join, &h, other));
	}
}

/* Copies to a heap block of exactly len bytes, so that valgrind and sanitizers see a read past the
 * end. */
static int exact(const uint8_t *msg, size_t len, struct rf_ctl_header *h)
{
	uint8_t *p = malloc(len ? len : 1);
	int rc;

	assert_non_null(p);
	memcpy(p, msg, len);
	rc = rf_ctl_header_get(p, len, h);
	free(p);
	return rc;
}

static void test_every_length(void **state)
{
	struct rf_ctl_header h;

	(void)state;
	for (size_t len = 0; len < sizeof(vector_join); len++) {
		int rc = exact(vector_join, len, &h);

		assert_int_equal(rc, len < 4 ? -1 : RF_CTL_R_TRUNCATED);
	}
	/* The length field is shortened too, so the body is too short for its verb. */
	for (size_t len = RF_CTL_HEADER; len < sizeof(vector_join); len++) {
		uint8_t copy[sizeof(vector_join)];
		struct rf_ctl_request q;

		memcpy(copy, vector_join, sizeof(copy));
		rf_put_be16(copy + 8, (uint16_t)len);
		assert_int_equal(rf_ctl_header_get(copy, len, &h), 0);
		assert_int_equal(rf_ctl_request_get(copy, &h, &q), RF_CTL_R_TRUNCATED);
	}
	for (size_t len = RF_CTL_HEADER; len < sizeof(vector_ready); len++) {
		uint8_t copy[sizeof(vector_ready)];
		struct rf_ctl_reply r;

		memcpy(copy, vector_ready, sizeof(copy));
		rf_put_be16(copy + 8, (uint16_t)len);
		assert_int_equal(rf_ctl_header_get(copy, len, &h), 0);
		assert_int_equal(rf_ctl_reply_get(copy, &h, &r), RF_CTL_R_TRUNCATED);
	}
}

static void test_strangers(void **state)
{
	uint8_t copy[sizeof(vector_join)];
	struct rf_ctl_header h;
	struct rf_ctl_request q;
	struct rf_ctl_reply r;

	(void)state;
	memcpy(copy, vector_join, sizeof(copy));
	copy[4] = 1;
	assert_int_equal(rf_ctl_header_get(copy, sizeof(copy), &h), RF_CTL_R_VERSION);
	assert_int_equal(h.token, 0xcafef00d12345678ull);
	copy[4] = RF_CTL_VERSION;
	copy[0] ^= 1;
	assert_int_equal(rf_ctl_header_get(copy, sizeof(copy), &h), -1);
	h = header(99, 0, 0, 0);
	h.length = sizeof(vector_join);
	assert_int_equal(rf_ctl_request_get(vector_join, &h, &q), RF_CTL_R_VERB);
	/* Counts larger than their arrays; a port number that is too large. */
	memcpy(copy, vector_join, sizeof(copy));
	h.length = sizeof(copy);
	copy[RF_CTL_HEADER] = RF_CTL_READY;
	rf_put_be16(copy + RF_CTL_HEADER + 2, RF_CTL_RANKS_MAX + 1);
	assert_int_equal(rf_ctl_reply_get(copy, &h, &r), RF_CTL_R_FIELD);
	rf_put_be16(copy + RF_CTL_HEADER + 2, 2);
	copy[RF_CTL_HEADER + 28] = 8;
	assert_int_equal(rf_ctl_reply_get(copy, &h, &r), RF_CTL_R_FIELD);
	copy[RF_CTL_HEADER] = 99;
	assert_int_equal(rf_ctl_reply_get(copy, &h, &r), RF_CTL_R_VERB);
	/* 24-bit fields. */
	q.u.join = join_in;
	q.u.join.qpn = 0x1000000;
	h = header(RF_CTL_JOIN, 0, 0, 6);
	assert_int_equal(rf_ctl_request_put(copy, &h, &q, key), 0);
}

/*
 * Every reply is decoded as it was encoded; random bytes neither crash the codec nor pass the tag
 * check.
 */
static void test_round_trips(void **state)
{
	static struct rf_ctl_reply in, out;
	uint8_t buf[RF_CTL_MESSAGE_MAX], again[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_header h;
	unsigned int seen = 0;

	(void)state;
	for (unsigned int run = 0; run < 20000; run++) {
		struct rf_ctl_header hd = header(RF_CTL_STATUS, RF_CTL_F_REPLY, rnd(), rnd());
		size_t len, len2;

		for (size_t i = 0; i < sizeof(in); i++)
			((uint8_t *)&in)[i] = (uint8_t)rnd();
		in.result = (uint8_t)(1 + rnd() % 7);
		in.page = (uint8_t)(1 + rnd() % 11);
		if (in.result == RF_CTL_READY) {
			in.u.ready.ranks = (uint16_t)(rnd() % (RF_CTL_RANKS_MAX + 1));
			for (unsigned int i = 0; i < in.u.ready.ranks; i++)
				in.u.ready.place[i] = (struct rf_ctl_place){rnd() & 7, rnd() & 15};
		}
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_RANKS)
			in.u.ranks.count = (uint16_t)(rnd() % (RF_CTL_RANKS_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_GROUPS)
			in.u.groups.count = (uint16_t)(rnd() % (RF_CTL_GROUPS_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE &&
		    (in.page == RF_CTL_PAGE_PORT || in.page == RF_CTL_PAGE_FIRMWARE))
			in.u.counters.count = (uint16_t)(rnd() % (RF_CTL_COUNTERS_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_CONNECTIONS)
			in.u.connections.count =
				(uint16_t)(rnd() % (RF_CTL_CONNECTIONS_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_LOG)
			in.u.log.count = (uint16_t)(rnd() % (RF_CTL_LOG_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_JOBS)
			in.u.jobs.count = (uint16_t)(rnd() % (RF_CTL_JOBS_PER_PAGE + 1));
		if (in.result == RF_CTL_PAGE && in.page == RF_CTL_PAGE_LAG) {
			in.u.lag.count = (uint16_t)(rnd() % (RF_CTL_LAG_RANKS + 1));
			in.u.lag.bins = (uint16_t)(rnd() % (RF_CTL_LAG_BINS + 1));
		}
		len = rf_ctl_reply_put(buf, &hd, &in, key);
		if (len == 0)
			continue; /* a random number of ranks above the limit */
		seen++;
		assert_int_equal(rf_ctl_header_get(buf, len, &h), 0);
		assert_true(rf_ctl_tag_ok(buf, &h, key));
		assert_int_equal(rf_ctl_reply_get(buf, &h, &out), 0);
		len2 = rf_ctl_reply_put(again, &h, &out, key);
		assert_int_equal(len, len2);
		assert_memory_equal(buf, again, len);
	}
	assert_true(seen > 10000);
	for (unsigned int run = 0; run < 100000; run++) {
		struct rf_ctl_request q;
		size_t len = rnd() % 200;

		for (size_t i = 0; i < len; i++)
			buf[i] = (uint8_t)rnd();
		rf_put_be32(buf, RF_CTL_MAGIC);
		buf[4] = RF_CTL_VERSION;
		rf_put_be16(buf + 8, (uint16_t)len);
		if (rf_ctl_header_get(buf, len, &h) != 0)
			continue;
		assert_false(rf_ctl_tag_ok(buf, &h, key));
		rf_ctl_request_get(buf, &h, &q);
		buf[RF_CTL_HEADER] = (uint8_t)(rnd() & 7);
		rf_ctl_reply_get(buf, &h, &out);
	}
}

/* Pages about a group need no padding if a rank asks. */
static bool member_page(unsigned int page)
{
	return page == RF_CTL_PAGE_GROUP || page == RF_CTL_PAGE_RANKS || page == RF_CTL_PAGE_LAG ||
	       page == RF_CTL_PAGE_TREE;
}

/* Each page with as many entries as it can hold has the length that a request of it is padded to.
 */
static void test_page_lengths(void **state)
{
	static struct rf_ctl_reply in;
	struct rf_ctl_header hd = header(RF_CTL_STATUS, RF_CTL_F_REPLY, 1, 2), h;
	uint8_t buf[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_request q;

	(void)state;
	for (unsigned int page = 1; page <= RF_CTL_PAGE_TREE; page++) {
		size_t most = 0;

		memset(&in, 0, sizeof(in));
		in.result = RF_CTL_PAGE;
		in.page = (uint8_t)page;
		/* The count is one of the first four numbers of a page; too large a one is refused.
		 */
		for (unsigned int at = 0; at < 4; at++) {
			uint16_t *v = (uint16_t *)(void *)&in.u + at;

			for (unsigned int n = 0; n <= RF_CTL_COUNTERS_PER_PAGE; n++) {
				size_t len;

				if (page == RF_CTL_PAGE_LAG)
					in.u.lag.bins = RF_CTL_LAG_BINS;
				*v = (uint16_t)n;
				len = rf_ctl_reply_put(buf, &hd, &in, key);
				most = len > most ? len : most;
			}
			*v = 0;
		}
		assert_int_equal(rf_ctl_page_max(page), most);
		memset(&q, 0, sizeof(q));
		q.u.status.page = (uint8_t)page;
		for (unsigned int tool = 0; tool < 2; tool++) {
			size_t len;

			hd = header(RF_CTL_STATUS, 0, 1, 2);
			hd.rank = tool ? RF_CTL_NO_RANK : 2;
			len = rf_ctl_request_put(buf, &hd, &q, key);
			assert_int_equal(len, tool || !member_page(page) ? most : 72);
			assert_int_equal(rf_ctl_header_get(buf, len, &h), 0);
			assert_true(rf_ctl_tag_ok(buf, &h, key));
			assert_int_equal(rf_ctl_request_get(buf, &h, &q), 0);
			assert_int_equal(q.u.status.page, page);
		}
	}
	assert_int_equal(rf_ctl_page_max(0), 0);
	assert_int_equal(rf_ctl_page_max(RF_CTL_PAGE_TREE + 1), 0);
	hd = header(RF_CTL_STATUS, 0, 1, 2);
	q.u.status.page = 99;
	assert_int_equal(rf_ctl_request_put(buf, &hd, &q, key), 72);
}

static size_t build(uint8_t *frame, unsigned int vlan)
{
	struct rf_ctl_addr a = {.vlan = (uint16_t)vlan,
				.src_ip = 0x0a000001,
				.dst_ip = 0x0a0000fe,
				.src_port = 50000,
				.dst_port = RF_CTL_UDP_PORT,
				.src_mac = {2, 0, 0, 0, 0, 1},
				.dst_mac = {2, 0, 0, 0, 0, 2}};

	return rf_ctl_frame_put(frame, RF_CTL_FRAME_MAX, &a, vector_join, sizeof(vector_join));
}

static void test_frames(void **state)
{
	uint8_t frame[RF_CTL_FRAME_MAX];
	struct rf_ctl_addr a;
	const uint8_t *msg;
	size_t len, n;

	(void)state;
	for (unsigned int tagged = 0; tagged < 2; tagged++) {
		unsigned int l2 = tagged ? 18 : 14;

		len = build(frame, tagged ? 0xa00c : RF_CTL_NO_VLAN);
		assert_int_equal(len, l2 + 28 + sizeof(vector_join));
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OK);
		assert_int_equal(n, sizeof(vector_join));
		assert_memory_equal(msg, vector_join, n);
		assert_int_equal(a.src_ip, 0x0a000001);
		assert_int_equal(a.dst_ip, 0x0a0000fe);
		assert_int_equal(a.src_port, 50000);
		assert_int_equal(a.vlan, tagged ? 0xa00c : RF_CTL_NO_VLAN);
		/* Truncated below its IP length, at every length. */
		for (size_t cut = 0; cut < len; cut++) {
			uint8_t *p = malloc(cut ? cut : 1);

			assert_non_null(p);
			memcpy(p, frame, cut);
			assert_int_not_equal(rf_ctl_frame_get(p, cut, &a, &msg, &n), 0);
			free(p);
		}
		frame[l2 + 5]++;
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_CHECKSUM);
		frame[l2 + 5]--;
		frame[l2 + 25]++;
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_LENGTH);
		frame[l2 + 25]--;
		frame[l2 + 9] = 6;
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OTHER);
		frame[l2 + 9] = 17;
		frame[l2 + 23]++;
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OTHER);
		rf_put_be16(frame + l2 + 20, RF_CTL_UDP_PORT);
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OK);
		rf_put_be16(frame + l2 + 20, 50000);
		frame[l2 + 23]--;
		frame[l2 + 6] = 0x20;
		assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OTHER);
	}
	/* No UDP checksum is generated, but a received one must be correct. */
	len = build(frame, RF_CTL_NO_VLAN);
	rf_put_be16(frame + 40, (uint16_t)~rf_ctl_checksum(
					frame + 34, len - 34,
					rf_ctl_checksum(frame + 26, 8, 17 + (uint32_t)len - 34)));
	assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_OK);
	frame[41] ^= 1;
	assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), RF_CTL_FRAME_CHECKSUM);
}

/* Every reason and state has a name and a text, all different. */
static void test_texts(void **state)
{
	(void)state;
	for (unsigned int a = 0; a < RF_CTL_R_COUNT; a++) {
		assert_string_not_equal(rf_ctl_reason_name(a), "?");
		for (unsigned int b = 0; b < a; b++) {
			assert_string_not_equal(rf_ctl_reason_text(a), rf_ctl_reason_text(b));
			assert_string_not_equal(rf_ctl_reason_name(a), rf_ctl_reason_name(b));
		}
	}
	assert_string_equal(rf_ctl_reason_text(RF_CTL_R_COUNT), "unknown reason");
	assert_string_equal(rf_ctl_state_text(RF_CTL_S_DRAINING), "draining");
	assert_string_equal(rf_ctl_abort_text(0x123), "the application's own reason");
	assert_string_equal(rf_ctl_event_text(RF_CTL_EV_UNCLAIMED), "unclaimed");
	assert_string_equal(rf_ctl_event_text(RF_CTL_EV_UNCLAIMED + 1), "?");
	assert_string_equal(rf_ctl_what_text(RF_CTL_WHAT_LENGTH), "the length of what they give");
	assert_string_equal(rf_ctl_what_text(RF_CTL_WHAT_LENGTH + 1), "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_vectors),      cmocka_unit_test(test_parse),
		cmocka_unit_test(test_every_bit),    cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_strangers),    cmocka_unit_test(test_round_trips),
		cmocka_unit_test(test_page_lengths), cmocka_unit_test(test_frames),
		cmocka_unit_test(test_texts),        cmocka_unit_test(test_old_layout),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	print_message("seed %llu; to repeat: build/tests/ctl_test %llu\n", (unsigned long long)seed,
		      (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
