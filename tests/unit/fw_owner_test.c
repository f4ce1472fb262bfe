/*
 * Several jobs, each with its key: no job can affect another's connections, addresses or
 * tombstones, take over traffic of an address that has not joined, or use up the whole box.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"

#define VICTIM 7u
#define STRANGER 8u
#define STRANGER_IP 0x0a000909u
#define A_DAY 86400000u

static const struct rf_fw_key keys[] = {
	{.job = 0, .key = {1}}, {.job = VICTIM, .key = {7}}, {.job = STRANGER, .key = {8}}};

static struct rf_ctl_reply reply;

static struct fw_box *box(void)
{
	struct fw_box *b = fw_box_new();

	b->cfg.keys = keys;
	b->cfg.nkeys = 3;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	return b;
}

/* JOIN of rank r of n plain ranks of the victim's job. */
static struct fw_ask plain(unsigned int r, unsigned int n)
{
	struct fw_ask a = fw_ask_join(r, n);

	a.h.job = VICTIM;
	a.key = keys[1].key;
	a.r.u.join.flags = 0;
	a.r.u.join.shift = 0;
	return a;
}

/* JOIN of the other job, from its own host: its successor is the victim's rank 1. */
static struct fw_ask stranger(uint16_t flags)
{
	struct fw_ask a = fw_ask_join(0, 2);

	a.h.job = STRANGER;
	a.h.token = 4711;
	a.key = keys[2].key;
	a.ip = a.r.u.join.src_ip = STRANGER_IP;
	a.port = 3;
	a.r.u.join.flags = flags;
	a.r.u.join.shift = flags & RF_CTL_J_SHIFTED ? RF_CTL_SHIFT : 0;
	a.r.u.join.qpn = 0x99;
	a.r.u.join.deadline_ms = A_DAY;
	a.r.u.join.lease_ms = RF_CTL_LEASE_NONE;
	return a;
}

static unsigned int ask(struct fw_box *b, const struct fw_ask *a)
{
	unsigned int result = fw_ask_result(b, a, &reply);

	while (fw_box_out(b))
		;
	return result;
}

static unsigned int verb(struct fw_box *b, const struct fw_ask *of, unsigned int what,
			 uint16_t flags)
{
	struct fw_ask a = *of;

	a.h.verb = (uint8_t)what;
	a.h.flags = flags;
	memset(&a.r, 0, sizeof(a.r));
	return ask(b, &a);
}

/* State of the entry of rank 0's data, 0: none. */
static unsigned int victims(const struct fw_box *b)
{
	return fw_box_lookup(b, 0x0a000002u, rf_fw_key(0, 0x12)) >> RF_HASH_VALUE_STATE_LSB;
}

static void refused(struct fw_box *b, const struct fw_ask *a, const char *reason)
{
	assert_int_equal(ask(b, a), RF_CTL_FAILED);
	assert_string_equal(rf_ctl_reason_name(reply.u.failed.reason), reason);
}

/* Two plain ranks formed a group, which was aborted: two tombstones. */
static struct fw_box *after_the_end(void)
{
	struct fw_box *b = box();
	struct fw_ask a = plain(0, 2), last = plain(1, 2);

	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(ask(b, &last), RF_CTL_READY);
	assert_int_equal(verb(b, &a, RF_CTL_ABORT, 0), RF_CTL_OK);
	assert_int_equal(victims(b), RF_STATE_TOMBSTONE);
	assert_null(fw_box_run(b, 5));
	return b;
}

/* The tombstone survives a JOIN of another job that names the connection, and its ABORT. */
static void test_tombstone_and_abort(void **state)
{
	struct fw_box *b = after_the_end();
	struct fw_ask a = stranger(RF_CTL_J_SHIFTED);

	(void)state;
	ask(b, &a);
	verb(b, &a, RF_CTL_ABORT, 0);
	assert_int_equal(victims(b), RF_STATE_TOMBSTONE);
	a.h.token++;
	refused(b, &a, "CONNECTION_TAKEN");
	fw_box_free(b);
}

/* It also survives the other job's report that the queue pair no longer exists. */
static void test_tombstone_and_leave(void **state)
{
	struct fw_box *b = after_the_end();
	struct fw_ask a = stranger(0);

	(void)state;
	ask(b, &a);
	verb(b, &a, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED);
	assert_int_equal(victims(b), RF_STATE_TOMBSTONE);
	a.h.token++;
	refused(b, &a, "CONNECTION_TAKEN");
	fw_box_free(b);
}

/*
 * The victim's job joins the same group again: a late LEAVE of the old membership has no effect
 * once another group has used the connection.
 */
static void test_old_membership(void **state)
{
	struct fw_box *b = after_the_end();
	struct fw_ask a = plain(0, 2), last = plain(1, 2), old = plain(0, 2);

	(void)state;
	a.h.group = last.h.group = 2;
	a.h.token += 10;
	last.h.token += 10;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(victims(b), RF_STATE_TOMBSTONE);
	assert_int_equal(ask(b, &last), RF_CTL_READY);
	assert_int_equal(victims(b), RF_STATE_LIVE);
	assert_int_equal(verb(b, &a, RF_CTL_ABORT, 0), RF_CTL_OK);
	assert_int_equal(verb(b, &old, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED), RF_CTL_FAILED);
	assert_int_equal(victims(b), RF_STATE_TOMBSTONE);
	assert_int_equal(verb(b, &a, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED), RF_CTL_FAILED);
	assert_int_equal(victims(b), 0);
	fw_box_free(b);
}

/* A connection of no group keeps passing whatever JOIN another job sends about it. */
static void test_foreign(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = stranger(0);

	(void)state;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(victims(b), 0);
	assert_null(fw_box_run(b, 60000));
	assert_int_equal(victims(b), 0);
	assert_int_equal(b->fw.entries, 0);
	verb(b, &a, RF_CTL_ABORT, 0);
	assert_int_equal(victims(b), 0);
	fw_box_free(b);
}

/*
 * Data is dropped on every data role as soon as both ends have joined, for the last ones before any
 * READY.
 */
static void test_joining(void **state)
{
	struct fw_box *b = box();

	(void)state;
	for (unsigned int r = 0; r < 4; r++) {
		struct fw_ask a = plain(r, 4);

		assert_int_equal(ask(b, &a), r < 3 ? RF_CTL_WAITING : RF_CTL_READY);
		assert_int_equal(b->fw.entries, r < 3 ? r : 8);
		if (r == 1)
			assert_int_equal(victims(b), RF_STATE_JOINING);
	}
	fw_box_free(b);
}

/* A claim on a connection whose receiver has not joined does not block other jobs. */
static void test_claim(void **state)
{
	struct fw_box *b = box();
	struct fw_ask first = stranger(0), a = plain(0, 2), last = plain(1, 2);

	(void)state;
	assert_int_equal(ask(b, &first), RF_CTL_WAITING);
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(ask(b, &last), RF_CTL_READY);
	assert_int_equal(victims(b), RF_STATE_LIVE);
	/* The victim's host also has a rank in the other job, but not with this connection. */
	last.h.job = STRANGER;
	last.key = keys[2].key;
	last.h.token = 4712;
	last.r.u.join.src_ip = last.ip;
	last.r.u.join.peer_ip = STRANGER_IP;
	last.r.u.join.peer_qpn = 0x98;
	last.r.u.join.qpn = 0x97;
	refused(b, &last, "CONNECTION_TAKEN");
	assert_int_equal(reply.u.failed.rank, 0);
	verb(b, &first, RF_CTL_ABORT, 0);
	assert_int_equal(victims(b), RF_STATE_LIVE);
	fw_box_free(b);
}

/* By default a key may register only the address and port of its own packets. */
static void test_addresses(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = plain(0, 2), last = plain(1, 2), thief = stranger(RF_CTL_J_SHIFTED);

	(void)state;
	thief.r.u.join.src_ip = a.ip;
	thief.r.u.join.qpn = a.r.u.join.qpn;
	refused(b, &thief, "ADDRESS_DENIED");
	thief.r.u.join.src_ip = thief.ip;
	thief.r.u.join.port = 0;
	refused(b, &thief, "PORT_DENIED");
	assert_int_equal(b->fw.hw_used, 0);
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(ask(b, &last), RF_CTL_READY);
	fw_box_free(b);
}

/*
 * Registration by hand, for hosts that do not support the box: in an open lab every host may do it.
 */
static void test_open_lab(void **state)
{
	struct fw_box *b = fw_ask_box();

	(void)state;
	for (unsigned int r = 0; r < 4; r++) {
		struct fw_ask a = plain(r, 4);

		a.key = fw_ask_zero_key;
		a.r.u.join.src_ip = a.ip;
		a.r.u.join.port = (uint8_t)a.port;
		a.ip = STRANGER_IP;
		a.port = 0;
		assert_int_equal(ask(b, &a), r < 3 ? RF_CTL_WAITING : RF_CTL_READY);
	}
	fw_box_free(b);
}

static void victim_gets_in(struct fw_box *b)
{
	struct fw_ask a = plain(0, 2), last = plain(1, 2);

	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(ask(b, &last), RF_CTL_READY);
	fw_box_free(b);
}

/* One of many ranks of the other job, each with its own address and QPNs. */
static struct fw_ask one_of(unsigned int r, unsigned int n, unsigned int round)
{
	struct fw_ask a = plain(r, n);

	a.h.job = STRANGER;
	a.key = keys[2].key;
	a.h.group = (uint16_t)round;
	a.h.token += 1000 * round;
	a.ip += 0x10000u;
	a.r.u.join.src_ip = a.ip;
	a.r.u.join.peer_ip += 0x10000u;
	a.r.u.join.qpn += 0x1000 * (round + 1);
	a.r.u.join.peer_qpn += 0x1000 * (round + 1);
	a.r.u.join.slots_log2 = 4;
	return a;
}

/*
 * All ranks except the last of a group of 64 join, then the group is aborted; this repeats with
 * other queue pairs each time. The remaining tombstones leave room for other jobs.
 */
static void test_many_tombstones(void **state)
{
	struct fw_box *b = box();

	(void)state;
	for (unsigned int round = 0; round < 40; round++) {
		struct fw_ask a;

		for (unsigned int r = 0; r < 63; r++) {
			a = one_of(r, 64, round);
			if (ask(b, &a) == RF_CTL_FAILED)
				break;
		}
		verb(b, &a, RF_CTL_ABORT, 0);
		assert_null(fw_box_run(b, 5));
	}
	assert_true(b->fw.tombstones > 100);
	assert_true(b->fw.tombstones <= 1u << b->hash_bits);
	victim_gets_in(b);
}

/* Two groups of 64 ranks, each with one rank missing. */
static void test_many_ranks(void **state)
{
	struct fw_box *b = box();

	(void)state;
	for (unsigned int g = 0; g < 2; g++) {
		for (unsigned int r = 0; r < 64; r++) {
			struct fw_ask a = one_of(r, 64, g);

			a.r.u.join.flags = RF_CTL_J_SHIFTED;
			a.r.u.join.shift = RF_CTL_SHIFT;
			if (ask(b, &a) == RF_CTL_FAILED)
				break;
		}
	}
	victim_gets_in(b);
}

/* Few slots, each as large as possible. */
static void test_large_slots(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = one_of(0, 2, 0);

	(void)state;
	a.r.u.join.mtu_log2 = 12;
	a.r.u.join.slots_log2 = 7;
	a.r.u.join.slots_min_log2 = 4;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	a = one_of(0, 2, 1);
	a.r.u.join.slots_log2 = 9;
	a.r.u.join.slots_min_log2 = 4;
	ask(b, &a);
	victim_gets_in(b);
}

/* Eight groups. */
static void test_many_groups(void **state)
{
	struct fw_box *b = box();

	(void)state;
	for (unsigned int g = 0; g < 8; g++) {
		struct fw_ask a = one_of(0, 2, g);

		ask(b, &a);
	}
	victim_gets_in(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_tombstone_and_abort),
		cmocka_unit_test(test_tombstone_and_leave),
		cmocka_unit_test(test_old_membership),
		cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_joining),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_open_lab),
		cmocka_unit_test(test_many_tombstones),
		cmocka_unit_test(test_many_ranks),
		cmocka_unit_test(test_large_slots),
		cmocka_unit_test(test_many_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
