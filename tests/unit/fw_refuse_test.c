/* Every reason for which the firmware refuses, with its counter; damaged packets change nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "proto/rf_bytes.h"
#include "proto/rf_siphash.h"
#include "tests/unit/fw_ask.h"

static const uint8_t job_key[16] = {9, 8, 7};
static const uint8_t operator_key[16] = {1};
static const struct rf_fw_key keys[] = {{.job = 42, .key = {9, 8, 7}}, {.job = 0, .key = {1}}};

static struct rf_ctl_reply reply;

/* Asserts that a request is refused with a reason, is counted once, and changes nothing. */
static void refused(struct fw_box *b, const struct fw_ask *a, enum rf_ctl_reason why)
{
	static struct rf_fw before;
	uint32_t count = b->fw.cnt.refused[why];

	before = b->fw;
	assert_int_equal(fw_ask_result(b, a, &reply), RF_CTL_FAILED);
	if (reply.u.failed.reason != why)
		print_error("refused with %s instead of %s\n",
			    rf_ctl_reason_name(reply.u.failed.reason), rf_ctl_reason_name(why));
	assert_int_equal(reply.u.failed.reason, why);
	assert_int_equal(b->fw.cnt.refused[why], count + 1);
	assert_memory_equal(before.group, b->fw.group, sizeof(before.group));
	assert_memory_equal(before.member, b->fw.member, sizeof(before.member));
	assert_memory_equal(before.table, b->fw.table, sizeof(before.table));
	assert_int_equal(before.hw_used, b->fw.hw_used);
}

static void test_fields(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a;

	(void)state;
#define BAD(member, value, why)                                                                    \
	do {                                                                                       \
		a = fw_ask_join(0, 4);                                                             \
		a.member = (value);                                                                \
		refused(b, &a, why);                                                               \
	} while (0)
	BAD(r.u.join.ranks, 1, RF_CTL_R_RANKS);
	BAD(r.u.join.ranks, 0, RF_CTL_R_RANKS);
	BAD(r.u.join.ranks, RF_FW_RANKS_MAX + 1, RF_CTL_R_RANKS);
	assert_int_equal(reply.u.failed.detail, RF_FW_RANKS_MAX);
	BAD(h.rank, 4, RF_CTL_R_RANK_RANGE);
	BAD(r.u.join.dtype, 10, RF_CTL_R_FIELD);
	assert_int_equal(reply.u.failed.detail, 2);
	/* fp32 has no and, or, xor; a copy needs a directed group; there is no operation 7. */
	for (unsigned int op = 3; op < 8; op++)
		BAD(r.u.join.op, (uint8_t)op, RF_CTL_R_FIELD);
	assert_int_equal(reply.u.failed.detail, 3);
	BAD(r.u.join.family, 6, RF_CTL_R_IPV6);
	BAD(r.u.join.family, 5, RF_CTL_R_FIELD);
	assert_int_equal(reply.u.failed.detail, 10);
	BAD(r.u.join.mtu_log2, 7, RF_CTL_R_FIELD);
	BAD(r.u.join.mtu_log2, 13, RF_CTL_R_FIELD);
	BAD(r.u.join.slots_log2, 3, RF_CTL_R_FIELD);
	BAD(r.u.join.slots_log2, 16, RF_CTL_R_FIELD);
	BAD(r.u.join.slots_min_log2, 7, RF_CTL_R_FIELD);
	BAD(r.u.join.port, 4, RF_CTL_R_FIELD);
	BAD(r.u.join.flags, RF_CTL_J_SHIFTED | 0x0010u, RF_CTL_R_FIELD);
	BAD(r.u.join.flags, 0, RF_CTL_R_FIELD);
	BAD(r.u.join.shift, 0, RF_CTL_R_FIELD);
	BAD(r.u.join.src_ip, FW_BOX_IP, RF_CTL_R_FIELD);
	/* The source address of the data is in the message, protected by the tag. */
	BAD(r.u.join.src_ip, 0, RF_CTL_R_FIELD);
	assert_int_equal(reply.u.failed.detail, 12);
	BAD(r.u.join.peer_ip, FW_BOX_IP, RF_CTL_R_FIELD);
	BAD(r.u.join.lease_ms, 9, RF_CTL_R_FIELD);
	BAD(r.u.join.deadline_ms, 0, RF_CTL_R_FIELD);
	BAD(h.token, 0, RF_CTL_R_FIELD);
	BAD(r.u.join.peer_ip, 0x0a000001u, RF_CTL_R_ADDRESS_TWICE);
	fw_box_free(b);
	b = fw_box_new();
	b->fp16 = false;
	b->selective = false;
	b->mtu_log2 = 11;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	BAD(r.u.join.dtype, RF_DTYPE_FP16, RF_CTL_R_TYPE_UNSUPPORTED);
	BAD(r.u.join.dtype, RF_DTYPE_BF16, RF_CTL_R_TYPE_UNSUPPORTED);
	assert_int_equal(reply.u.failed.detail, RF_DTYPE_BF16);
	BAD(r.u.join.mtu_log2, 12, RF_CTL_R_MTU_UNSUPPORTED);
	assert_int_equal(reply.u.failed.detail, 11);
	BAD(r.u.join.flags, RF_CTL_J_SHIFTED | RF_CTL_J_SELECTIVE, RF_CTL_R_SELECTIVE_UNSUPPORTED);
#undef BAD
	fw_box_free(b);
}

static void test_against_others(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);

	(void)state;
	fw_ask_accepted(b, &a);
	/* The same JOIN again is not an error; any other JOIN as rank 0 is. */
	fw_ask_accepted(b, &a);
	a.h.token++;
	refused(b, &a, RF_CTL_R_RANK_TAKEN);
	a.h.token--;
	a.r.u.join.qpn++;
	refused(b, &a, RF_CTL_R_RANK_TAKEN);
	a = fw_ask_join(0, 4);
	a.ip += 50;
	a.r.u.join.src_ip += 50;
	refused(b, &a, RF_CTL_R_RANK_TAKEN);
	/*
	 * The same process on another port, as without the switch's rule; then on the first port
	 * again.
	 */
	a = fw_ask_join(0, 4);
	a.port = 3;
	refused(b, &a, RF_CTL_R_OTHER_PORT);
	assert_int_equal(reply.u.failed.rank, 0);
	assert_int_equal(reply.u.failed.detail, 0);
	a.r.u.join.port = 2;
	refused(b, &a, RF_CTL_R_OTHER_PORT);
	a.r.u.join.port = 0;
	fw_ask_accepted(b, &a);
#define BAD(member, value, why)                                                                    \
	do {                                                                                       \
		a = fw_ask_join(1, 4);                                                             \
		a.member = (value);                                                                \
		refused(b, &a, why);                                                               \
	} while (0)
	BAD(r.u.join.ranks, 5, RF_CTL_R_RANKS_DIFFER);
	BAD(r.u.join.dtype, RF_DTYPE_INT32, RF_CTL_R_TYPES_DIFFER);
	BAD(r.u.join.op, RF_OP_MIN, RF_CTL_R_TYPES_DIFFER);
	BAD(r.u.join.mtu_log2, 12, RF_CTL_R_MTU_DIFFERS);
	BAD(r.u.join.slots_log2, 7, RF_CTL_R_SETTINGS_DIFFER);
	BAD(r.u.join.flags, RF_CTL_J_SHIFTED | RF_CTL_J_TRANSPARENT, RF_CTL_R_SETTINGS_DIFFER);
#undef BAD
	/* Rank 0 already sends to 10.0.0.2 QPN 0x12 and owns 10.0.0.1 QPN 0x11. */
	a = fw_ask_join(2, 4);
	a.r.u.join.peer_ip = 0x0a000002u;
	a.r.u.join.peer_qpn = 0x12;
	refused(b, &a, RF_CTL_R_CONNECTION_TAKEN);
	a = fw_ask_join(2, 4);
	a.r.u.join.src_ip = 0x0a000001u;
	a.r.u.join.qpn = 0x11;
	refused(b, &a, RF_CTL_R_CONNECTION_TAKEN);
	fw_box_free(b);
}

static void test_ready_group_is_closed(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 2);

	(void)state;
	fw_ask_accepted(b, &a);
	a = fw_ask_join(1, 2);
	assert_int_equal(fw_ask_result(b, &a, &reply), RF_CTL_READY);
	while (fw_box_out(b))
		;
	a = fw_ask_join(0, 2);
	a.h.token = 999;
	refused(b, &a, RF_CTL_R_RANK_TAKEN);
	a = fw_ask_join(2, 3);
	refused(b, &a, RF_CTL_R_RANKS_DIFFER);
	fw_box_free(b);
}

/* Failures of a group at its completion: all ranks are notified. */
static void fails(struct fw_box *b, unsigned int n, void (*twist)(struct fw_ask *a, unsigned int r),
		  enum rf_ctl_reason why, unsigned int rank)
{
	struct fw_ask a;

	for (unsigned int r = 0; r < n; r++) {
		unsigned int result;

		a = fw_ask_join(r, n);
		if (twist)
			twist(&a, r);
		result = fw_ask_result(b, &a, &reply);
		assert_int_equal(result, r + 1 < n ? RF_CTL_WAITING : RF_CTL_FAILED);
	}
	assert_int_equal(reply.u.failed.reason, why);
	assert_int_equal(reply.u.failed.rank, rank);
	for (unsigned int r = 0; r + 1 < n; r++) {
		struct rf_ctl_header h;

		assert_true(fw_ask_answer(b, &h, &reply));
		assert_int_equal(reply.result, RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, why);
		assert_int_equal(h.rank, r);
	}
	assert_int_equal(b->group[0][0], 0);
	assert_null(fw_box_run(b, 5));
	assert_int_equal(b->fw.hw_used, 0);
	assert_int_equal(b->fw.entries, 0);
	fw_box_free(b);
}

static void wrong_successor(struct fw_ask *a, unsigned int r)
{
	if (r == 2)
		a->r.u.join.peer_ip = 0x0a000063u;
}

static void one_port(struct fw_ask *a, unsigned int r)
{
	(void)r;
	a->port = 1;
}

/* Port 1 has lanes for ranks 1 and 2 only: the host without the rule may be any of the three. */
static void three_on_a_port(struct fw_ask *a, unsigned int r)
{
	a->port = r > 0 ? 1 : 0;
}

/* Whether FAILED lists exactly these ranks. */
static bool names(uint8_t ranks)
{
	static const uint8_t none[RF_CTL_MASK_BYTES - 1];

	return reply.u.failed.missing[0] == ranks &&
	       memcmp(reply.u.failed.missing + 1, none, sizeof(none)) == 0;
}

static void two_on_a_port(struct fw_ask *a, unsigned int r)
{
	a->port = r == 2 ? 1 : r;
}

static void test_completion(void **state)
{
	struct fw_box *b = fw_ask_box();

	(void)state;
	fails(b, 4, wrong_successor, RF_CTL_R_SUCCESSOR_UNKNOWN, 2);
	b = fw_box_new();
	b->lanes = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	fails(b, 4, one_port, RF_CTL_R_NO_LANES, 2);
	assert_int_equal(reply.u.failed.index, 0);
	assert_int_equal(reply.u.failed.detail, 2);
	assert_true(names(0x0f));
	b = fw_box_new();
	b->lanes = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	fails(b, 4, three_on_a_port, RF_CTL_R_NO_LANES, 3);
	assert_int_equal(reply.u.failed.index, 1);
	assert_true(names(0x0e));
	/* one lane, and rank 2 uses the port of rank 1, as without the switch's rule */
	b = fw_box_new();
	b->lanes = 1;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	fails(b, 4, two_on_a_port, RF_CTL_R_NO_LANES, 2);
	assert_int_equal(reply.u.failed.index, 1);
	assert_true(names(0x06));
	b = fw_box_new();
	b->cfg.share_max = 1;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	fails(b, 8, NULL, RF_CTL_R_NO_PASSES, RF_CTL_NO_RANK);
	/* 16 ranks have 32 keys; 16 places cannot hold them. */
	b = fw_box_new();
	b->hash_bits = 3;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int r = 0; r < 16; r++) {
		struct fw_ask a = fw_ask_join(r, 16);

		fw_ask_result(b, &a, &reply);
	}
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_CONNECTIONS);
	assert_null(fw_box_run(b, 5));
	assert_int_equal(b->fw.entries, 0);
	fw_box_free(b);
}

/* JOINs of plain ranks need their entry as soon as their receiver has joined. */
static void test_no_connections_at_join(void **state)
{
	struct fw_box *b = fw_box_new();
	unsigned int r;

	(void)state;
	b->hash_bits = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (r = 0; r < 16; r++) {
		struct fw_ask a = fw_ask_join(r, 16);

		a.r.u.join.flags = 0;
		a.r.u.join.shift = 0;
		if (fw_ask_result(b, &a, &reply) == RF_CTL_FAILED)
			break;
	}
	assert_true(r >= 5 && r <= 9);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_CONNECTIONS);
	fw_box_free(b);
}

static void test_limits(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);

	(void)state;
	/* 512 header slots: eight groups of 64 fit, and eight is also the number of groups. */
	for (unsigned int g = 0; g < 8; g++) {
		a = fw_ask_join(0, 4);
		a.h.group = (uint16_t)(10 + g);
		a.r.u.join.qpn += 100 * g;
		a.r.u.join.peer_qpn += 100 * g;
		fw_ask_accepted(b, &a);
	}
	a = fw_ask_join(0, 4);
	a.r.u.join.qpn = 0x999;
	a.r.u.join.peer_qpn = 0x998;
	refused(b, &a, RF_CTL_R_NO_GROUPS);
	fw_box_free(b);

	b = fw_ask_box();
	a = fw_ask_join(0, 4);
	a.r.u.join.slots_log2 = 8;
	fw_ask_accepted(b, &a);
	a = fw_ask_join(0, 4);
	a.h.group = 2;
	a.r.u.join.qpn = 0x999;
	a.r.u.join.peer_qpn = 0x998;
	a.r.u.join.slots_log2 = 9;
	refused(b, &a, RF_CTL_R_NO_SLOTS);
	assert_int_equal(reply.u.failed.detail, 8);
	/* A smaller S is accepted. */
	a.r.u.join.slots_min_log2 = 4;
	fw_ask_accepted(b, &a);
	assert_int_equal(b->fw.group[1].slots_log2, 8);
	a.h.group = 3;
	a.r.u.join.qpn = 0x997;
	a.r.u.join.peer_qpn = 0x996;
	refused(b, &a, RF_CTL_R_NO_SLOTS);
	assert_int_equal(reply.u.failed.detail, 0);
	fw_box_free(b);
}

/* The largest shape: the JOIN that would begin the 65th group, and the 513th rank. */
static void test_wide_limits(void **state)
{
	struct fw_box *b = fw_box_new();
	struct fw_ask a = fw_ask_join(0, 2);

	(void)state;
	b->groups = 64;
	b->bank_log2 = 14;
	b->hdr_log2 = 10;
	b->hash_bits = 10;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	a.r.u.join.slots_log2 = 4;
	for (unsigned int g = 0; g < 64; g++) {
		a.h.group = (uint16_t)(100 + g);
		a.r.u.join.qpn = 0x100 + 2 * g;
		a.r.u.join.peer_qpn = 0x101 + 2 * g;
		fw_ask_accepted(b, &a);
	}
	a.h.group = 200;
	a.r.u.join.qpn = 0x900;
	a.r.u.join.peer_qpn = 0x901;
	refused(b, &a, RF_CTL_R_NO_GROUPS);
	assert_int_equal(reply.u.failed.detail, 64);
	fw_box_free(b);

	/* A group counts with all its ranks from its first JOIN on. */
	b = fw_box_new();
	b->bank_log2 = 14;
	b->hdr_log2 = 10;
	b->groups = 64;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int g = 0; g < 9; g++) {
		a = fw_ask_join(0, g < 8 ? 64 : 2);
		a.h.group = (uint16_t)(100 + g);
		a.r.u.join.slots_log2 = 4;
		a.r.u.join.qpn = 0x100 + 2 * g;
		a.r.u.join.peer_qpn = 0x101 + 2 * g;
		if (g < 8)
			fw_ask_accepted(b, &a);
	}
	refused(b, &a, RF_CTL_R_NO_RANKS);
	assert_int_equal(reply.u.failed.detail, 512);
	fw_box_free(b);
}

static void test_unknown(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);

	(void)state;
	a.h.verb = RF_CTL_LEAVE;
	refused(b, &a, RF_CTL_R_GROUP_UNKNOWN);
	a.h.verb = RF_CTL_ABORT;
	refused(b, &a, RF_CTL_R_GROUP_UNKNOWN);
	a.h.verb = RF_CTL_RESET;
	refused(b, &a, RF_CTL_R_NOT_OPERATOR);
	a.h.verb = RF_CTL_STATUS;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.status.page = RF_CTL_PAGE_GROUP;
	refused(b, &a, RF_CTL_R_GROUP_UNKNOWN);
	a.r.u.status.page = RF_CTL_PAGE_GROUPS;
	refused(b, &a, RF_CTL_R_NOT_OPERATOR);
	a.r.u.status.page = 77;
	refused(b, &a, RF_CTL_R_FIELD);
	a.r.u.status.page = RF_CTL_PAGE_PORT;
	a.r.u.status.index = 4;
	refused(b, &a, RF_CTL_R_FIELD);
	a.h.job = 0;
	a.h.rank = RF_CTL_NO_RANK;
	a.h.verb = RF_CTL_ABORT;
	memset(&a.r, 0, sizeof(a.r));
	refused(b, &a, RF_CTL_R_GROUP_UNKNOWN);
	fw_box_free(b);
}

static void test_keys(void **state)
{
	struct fw_box *b = fw_box_new();
	struct rf_ctl_header h;
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t frame[RF_CTL_FRAME_MAX];

	(void)state;
	b->cfg.keys = keys;
	b->cfg.nkeys = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	refused(b, &a, RF_CTL_R_TAG);
	a.key = operator_key;
	refused(b, &a, RF_CTL_R_TAG);
	a.key = job_key;
	a.h.job = 43;
	refused(b, &a, RF_CTL_R_KEY_UNKNOWN);
	a.h.job = 42;
	fw_ask_accepted(b, &a);
	/* The answer is signed with the job's key and does not claim an open lab. */
	fw_box_punt(b, 0, frame, fw_ask_frame(&a, frame));
	assert_null(fw_box_poll(b));
	assert_int_equal(b->out_count, 1);
	{
		const struct fw_box_frame *f = &b->out[b->out_head];
		struct rf_ctl_addr from;
		const uint8_t *msg;
		size_t len;

		assert_int_equal(rf_ctl_frame_get(f->data, f->len, &from, &msg, &len), 0);
		assert_int_equal(rf_ctl_header_get(msg, len, &h), 0);
		assert_true(rf_ctl_tag_ok(msg, &h, job_key));
		assert_int_equal(h.flags, RF_CTL_F_REPLY);
		assert_int_equal(h.epoch, 77);
	}
	fw_box_free(b);
}

/* Each bit of a JOIN flipped in turn: nothing changes, whatever the answer. */
static void test_every_bit(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len = fw_ask_frame(&a, frame);
	uint32_t answers = 0;

	(void)state;
	for (size_t bit = 42 * 8; bit < len * 8; bit++) {
		frame[bit / 8] = (uint8_t)(frame[bit / 8] ^ 1u << (bit & 7u));
		fw_box_punt(b, 0, frame, len);
		frame[bit / 8] = (uint8_t)(frame[bit / 8] ^ 1u << (bit & 7u));
		assert_null(fw_box_poll(b));
		assert_int_equal(b->fw.hw_used, 0);
		while (fw_box_out(b))
			answers++;
	}
	assert_int_equal(b->fw.cnt.join, 0);
	assert_int_equal(b->fw.cnt.refused[RF_CTL_R_VERSION], 8);
	assert_int_equal(b->fw.cnt.not_control, 32);
	assert_int_equal(b->fw.cnt.reply_reflected, 1);
	assert_int_equal(b->fw.cnt.refused[RF_CTL_R_TRUNCATED], 16);
	assert_int_equal(answers, (len - 42) * 8 - 33);
	fw_box_free(b);
}

/* Truncated to every length, with lower layers and length field adjusted. */
static void test_every_length(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t whole[RF_CTL_FRAME_MAX], msg[RF_CTL_MESSAGE_MAX], frame[RF_CTL_FRAME_MAX];
	size_t len = fw_ask_frame(&a, whole) - 42;
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = a.ip,
				 .dst_ip = FW_BOX_IP,
				 .src_port = 50000,
				 .dst_port = RF_CTL_UDP_PORT};

	(void)state;
	for (size_t cut = 0; cut < len; cut++) {
		for (unsigned int honest = 0; honest < 2; honest++) {
			size_t n;

			memcpy(msg, whole + 42, cut);
			if (honest && cut >= 10)
				rf_put_be16(msg + 8, (uint16_t)cut);
			n = rf_ctl_frame_put(frame, sizeof(frame), &to, msg, cut);
			fw_box_punt(b, 0, frame, n);
			assert_null(fw_box_poll(b));
			assert_int_equal(b->fw.hw_used, 0);
			while (fw_box_out(b))
				;
		}
	}
	assert_int_equal(b->fw.cnt.join, 0);
	assert_int_equal(b->fw.cnt.not_control, 8);
	assert_int_equal(b->fw.cnt.refused[RF_CTL_R_TRUNCATED] + b->fw.cnt.refused[RF_CTL_R_TAG],
			 2 * (len - 4));
	fw_box_free(b);
}

static void test_lower_layers(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len = fw_ask_frame(&a, frame);

	(void)state;
#define TRY(change, counter)                                                                       \
	do {                                                                                       \
		uint32_t was = b->fw.cnt.counter;                                                  \
		len = fw_ask_frame(&a, frame);                                                     \
		change;                                                                            \
		fw_box_punt(b, 0, frame, len);                                                     \
		assert_null(fw_box_poll(b));                                                       \
		assert_null(fw_box_out(b));                                                        \
		assert_int_equal(b->fw.cnt.counter, was + 1);                                      \
	} while (0)
	TRY(frame[24] ^= 1, bad_checksum);
	TRY(frame[39] = 200, bad_length);
	TRY(frame[6] = 1, bad_source);
	TRY((a.ip = FW_BOX_IP, len = fw_ask_frame(&a, frame)), bad_source);
	TRY((a.ip = 0xe0000001u, len = fw_ask_frame(&a, frame)), bad_source);
	TRY(frame[14] = 0x46, punt_other);
	TRY(frame[12] = 0x86, punt_other);
#undef TRY
	assert_int_equal(b->fw.cnt.join, 0);
	/* A frame longer or shorter than the hardware punts. */
	fw_box_punt(b, 0, frame, 20);
	assert_null(fw_box_poll(b));
	assert_int_equal(b->fw.cnt.punt_other, 3);
	fw_box_free(b);
}

/* Signs messages that the codec would not build. */
static void sign(uint8_t *msg, size_t len, const uint8_t *key)
{
	rf_put_le64(msg + 48, 0);
	rf_put_le64(msg + 48, rf_siphash(key, msg, len));
}

/* The box's answer to version 2: that number, and 28 bytes of FAILED. */
static void old_answer(struct fw_box *b, uint8_t version)
{
	const struct fw_box_frame *f = fw_box_out(b);
	struct rf_ctl_addr a;
	struct rf_ctl_header h;
	const uint8_t *msg;
	size_t len;

	assert_non_null(f);
	assert_int_equal(rf_ctl_frame_get(f->data, f->len, &a, &msg, &len), 0);
	assert_int_equal(rf_ctl_header_get(msg, len, &h), RF_CTL_R_VERSION);
	assert_int_equal(h.version, version);
	assert_int_equal(h.flags, RF_CTL_F_REPLY | RF_CTL_F_UNSIGNED | RF_CTL_F_OPEN_LAB);
	assert_int_equal(len, RF_CTL_HEADER + 28);
	assert_int_equal(msg[RF_CTL_HEADER], RF_CTL_FAILED);
	assert_int_equal(msg[RF_CTL_HEADER + 1], RF_CTL_R_VERSION);
	assert_int_equal(rf_get_be32(msg + RF_CTL_HEADER + 8), RF_CTL_VERSION);
}

static void test_verb_and_version(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t frame[RF_CTL_FRAME_MAX], msg[RF_CTL_MESSAGE_MAX];
	struct rf_ctl_addr to = {.vlan = RF_CTL_NO_VLAN,
				 .src_ip = a.ip,
				 .dst_ip = FW_BOX_IP,
				 .src_port = 50000,
				 .dst_port = RF_CTL_UDP_PORT};
	struct rf_ctl_header h;
	size_t len;

	(void)state;
	a.h.nonce = fw_box_nonce(a.ip);
	h = a.h;
	/* Verb 9, signed. */
	h.verb = RF_CTL_RESET;
	h.seq = 1;
	len = rf_ctl_request_put(msg, &h, &a.r, fw_ask_zero_key);
	msg[5] = 9;
	sign(msg, len, fw_ask_zero_key);
	fw_box_punt(b, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	assert_null(fw_box_poll(b));
	assert_true(fw_ask_answer(b, &h, &reply));
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_VERB);
	assert_int_equal(h.flags & RF_CTL_F_UNSIGNED, 0);
	/* JOIN with a body too short, signed. The refusal carried a new nonce. */
	a.h.nonce = h.nonce;
	h = a.h;
	len = rf_ctl_request_put(msg, &h, &a.r, fw_ask_zero_key) - 1;
	rf_put_be16(msg + 8, (uint16_t)len);
	sign(msg, len, fw_ask_zero_key);
	fw_box_punt(b, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	assert_null(fw_box_poll(b));
	assert_true(fw_ask_answer(b, &h, &reply));
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_TRUNCATED);
	assert_int_equal(h.flags & RF_CTL_F_UNSIGNED, 0);
	/*
	 * Another version: the answer is unsigned and contains our version. Versions 1 and 2 get it
	 * in a layout that they can read.
	 */
	h = a.h;
	len = rf_ctl_request_put(msg, &h, &a.r, fw_ask_zero_key);
	msg[4] = RF_CTL_VERSION_OLD;
	fw_box_punt(b, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	assert_null(fw_box_poll(b));
	old_answer(b, RF_CTL_VERSION_OLD);
	msg[4] = 1;
	fw_box_punt(b, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	assert_null(fw_box_poll(b));
	old_answer(b, 1);
	msg[4] = RF_CTL_VERSION + 1u;
	fw_box_punt(b, 0, frame, rf_ctl_frame_put(frame, sizeof(frame), &to, msg, len));
	assert_null(fw_box_poll(b));
	assert_true(fw_ask_answer(b, &h, &reply));
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_VERSION);
	assert_int_equal(reply.u.failed.detail, RF_CTL_VERSION);
	assert_int_equal(h.flags & RF_CTL_F_UNSIGNED, RF_CTL_F_UNSIGNED);
	assert_int_equal(h.token, a.h.token);
	assert_int_equal(b->fw.hw_used, 0);
	fw_box_free(b);
}

/* A request older than one already seen is counted and not answered. */
static void test_stale(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a = fw_ask_join(0, 4);
	uint8_t old[RF_CTL_FRAME_MAX];
	size_t len = fw_ask_frame(&a, old);

	(void)state;
	fw_ask_accepted(b, &a);
	fw_box_punt(b, 0, old, len);
	assert_null(fw_box_poll(b));
	assert_null(fw_box_out(b));
	assert_int_equal(b->fw.cnt.refused[RF_CTL_R_STALE], 1);
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fields),
		cmocka_unit_test(test_against_others),
		cmocka_unit_test(test_ready_group_is_closed),
		cmocka_unit_test(test_completion),
		cmocka_unit_test(test_no_connections_at_join),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_wide_limits),
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_every_bit),
		cmocka_unit_test(test_every_length),
		cmocka_unit_test(test_lower_layers),
		cmocka_unit_test(test_verb_and_version),
		cmocka_unit_test(test_stale),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
