/*
 * The hold time: a connection whose data was dropped once passes only after it has been silent for
 * hold_ms. This holds with more connections than the hardware can show, a full table, RESET, and
 * groups that take over connections. usage: fw_hold_test [SEED [RUNS]]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"

#define HOLD 1000u
#define SENDERS 120u
#define NEVER UINT32_MAX

static uint64_t seed = 1;
static unsigned int runs = 20;
static uint64_t state_of_rng;

static uint32_t rnd(uint32_t below)
{
	state_of_rng = state_of_rng * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (uint32_t)(state_of_rng >> 33) % below;
}

/* One plain queue pair that repeats until it is acknowledged, which it never is. */
struct sender {
	uint32_t ip, qpn, src, next, period, until;
	unsigned int port, burst;
	uint32_t cut; /* when its data was last dropped; NEVER: not yet */
	bool passed;
};

struct lab {
	struct fw_box *b;
	struct sender s[SENDERS];
	unsigned int n;
	uint32_t now;
	unsigned int passed, late, wrong, gone;
};

static void lab_start(struct lab *l, unsigned int hash_bits, unsigned int n)
{
	memset(l, 0, sizeof(*l));
	l->b = fw_box_new();
	l->b->hash_bits = hash_bits;
	l->b->cfg.hold_ms = HOLD;
	assert_int_equal(fw_box_start(l->b), RF_FW_OK);
	l->n = n;
	for (unsigned int i = 0; i < n; i++) {
		struct sender *s = &l->s[i];
		/* Some send as slowly as a sender may that is still held, or more slowly. */
		bool slow = rnd(8) == 0;

		s->ip = 0x0a000001u + rnd(40);
		s->qpn = 0x100 + i;
		s->src = 0x0a000001u + rnd(40);
		s->port = rnd(4);
		s->period = slow ? 900 + rnd(900) : 20 + rnd(800);
		s->burst = 1 + rnd(6);
		/* Many start at the beginning, many just before the end, some at any time. */
		s->next = rnd(2) ? rnd(40) : rnd(2) ? HOLD - 60 + rnd(3) : rnd(8 * HOLD);
		s->until = rnd(3) ? 30 * HOLD : s->next + rnd(6 * HOLD);
		s->cut = NEVER;
	}
}

/*
 * Sends one packet. It may pass only if the sender had been silent, or began after the hold time.
 */
static void send(struct lab *l, struct sender *s)
{
	if (!fw_box_data(l->b, s->port, s->src, s->ip, s->qpn)) {
		if (s->passed)
			l->gone++;
		s->cut = l->now;
		s->passed = false;
		return;
	}
	if (!s->passed && (s->cut == NEVER ? l->now + 1u < HOLD : l->now - s->cut < HOLD))
		l->wrong++;
	l->passed++;
	l->late += !s->passed && s->cut != NEVER;
	s->passed = true;
}

/* Bursts of the senders that are due are interleaved; then the firmware reads its registers. */
static void lab_run(struct lab *l, uint32_t ms)
{
	for (uint32_t end = l->now + ms; l->now < end; l->now++) {
		for (unsigned int k = 0; k < 6; k++)
			for (unsigned int i = 0; i < l->n; i++)
				if (l->s[i].next <= l->now && k < l->s[i].burst &&
				    l->now < l->s[i].until)
					send(l, &l->s[i]);
		for (unsigned int i = 0; i < l->n; i++)
			if (l->s[i].next <= l->now)
				l->s[i].next = l->now + l->s[i].period;
		assert_null(fw_box_run(l->b, 1));
	}
}

static void lab_end(struct lab *l)
{
	/* No traffic: nothing is held, and the hold time is over. */
	lab_run(l, 30 * HOLD - l->now);
	assert_null(fw_box_run(l->b, 3 * HOLD));
	assert_int_equal(l->b->fw.entries, 0);
	assert_int_equal(l->b->ctrl, RF_CTRL_ENABLE_MASK);
	fw_box_free(l->b);
}

static unsigned int rule(bool mutant_missed, bool mutant_life)
{
	unsigned int wrong = 0, late = 0, passed = 0, full = 0, kept = 0;

	for (unsigned int r = 0; r < runs; r++) {
		struct lab l;

		state_of_rng = seed + r;
		lab_start(&l, 3 + rnd(4), 1 + rnd(SENDERS));
		l.b->mutant_missed = mutant_missed;
		l.b->mutant_life = mutant_life;
		lab_run(&l, 25 * HOLD);
		wrong += l.wrong;
		late += l.late;
		passed += l.passed;
		full += l.b->fw.cnt.hold_full;
		kept += l.b->fw.cnt.held;
		assert_int_equal(l.gone, 0);
		lab_end(&l);
	}
	print_message("%u connections kept, %u times full; %u packets passed, %u connections after "
		      "silence; %u wrong\n",
		      kept, full, passed, late, wrong);
	assert_true(mutant_life || (kept > 20 * runs && full > runs && late > runs));
	return wrong;
}

static void test_rule(void **state)
{
	(void)state;
	if (rule(false, false) != 0)
		fail_msg("repeat: fw_hold_test %llu %u", (unsigned long long)seed, runs);
}

/*
 * The test detects a box that does not report missed connections, or whose tombstones see no
 * packets.
 */
static void test_rule_is_checked(void **state)
{
	(void)state;
	assert_true(rule(true, false) > 0);
	assert_true(rule(false, true) > 0);
}

/* A sender that never gives up never passes; one that begins after the hold time does. */
static void test_for_ever(void **state)
{
	struct fw_box *b = fw_ask_box();

	(void)state;
	for (unsigned int ms = 0; ms < 600000; ms += 500) {
		assert_false(fw_box_data(b, 1, 5, 9, 0x11));
		assert_null(fw_box_run(b, 500));
		if (ms < 59000)
			assert_int_equal(b->ctrl, 3);
		if (ms > 61000)
			assert_true(fw_box_data(b, 1, 5, 9, 0x12));
	}
	assert_int_equal(b->fw.tombstones, 1);
	assert_null(fw_box_run(b, 70000));
	assert_true(fw_box_data(b, 1, 5, 9, 0x11));
	fw_box_free(b);
}

static unsigned int operator(struct fw_box *b, unsigned int verb, uint32_t ip, uint32_t qpn,
			     struct rf_ctl_reply *r)
{
	struct fw_ask a = {.h = {.verb = (uint8_t)verb, .rank = RF_CTL_NO_RANK, .token = 99},
			   .key = fw_ask_zero_key,
			   .ip = 0x0a0000fd,
			   .vlan = RF_CTL_NO_VLAN};

	if (verb == RF_CTL_RELEASE)
		a.r.u.release = (struct rf_ctl_release){ip, qpn};
	else if (verb == RF_CTL_STATUS)
		a.r.u.status.page = (uint8_t)ip;
	/* Notices to ranks. */
	while (fw_box_out(b))
		;
	return fw_ask_result(b, &a, r);
}

static void test_release(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct fw_ask a;
	struct rf_ctl_reply r;

	(void)state;
	for (uint32_t q = 1; q <= 3; q++)
		assert_false(fw_box_data(b, q, 5, 9, q));
	assert_null(fw_box_run(b, 10));
	/* In the hold time a single connection cannot be released. */
	assert_int_equal(operator(b, RF_CTL_RELEASE, 9, 1, &r), RF_CTL_FAILED);
	assert_int_equal(r.u.failed.reason, RF_CTL_R_HOLD_TIME);
	for (unsigned int i = 0; i < 70; i++) {
		assert_null(fw_box_run(b, 1000));
		for (uint32_t q = 1; q <= 3; q++)
			assert_false(fw_box_data(b, q, 5, 9, q));
	}
	assert_null(fw_box_run(b, 10));
	assert_int_equal(b->ctrl, 1);
	assert_int_equal(operator(b, RF_CTL_STATUS, RF_CTL_PAGE_HELD, 0, &r), RF_CTL_PAGE);
	assert_int_equal(r.u.held.count, 3);
	assert_int_equal(r.u.held.next, RF_CTL_NO_RANK);
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(r.u.held.entry[i].ip, 9);
		assert_int_equal(r.u.held.entry[i].port, r.u.held.entry[i].qpn);
		assert_int_equal(r.u.held.entry[i].silent + r.u.held.entry[i].remaining, 60000);
		assert_true(r.u.held.entry[i].silent < 9000);
	}
	assert_int_equal(operator(b, RF_CTL_RELEASE, 9, 4, &r), RF_CTL_FAILED);
	assert_int_equal(r.u.failed.reason, RF_CTL_R_NOT_HELD);
	assert_int_equal(operator(b, RF_CTL_RELEASE, 9, 2, &r), RF_CTL_OK);
	assert_true(fw_box_data(b, 2, 5, 9, 2));
	assert_false(fw_box_data(b, 3, 5, 9, 3));
	/* Not allowed for a job. */
	a = fw_ask_join(0, 2);
	a.h.verb = RF_CTL_RELEASE;
	a.r.u.release = (struct rf_ctl_release){9, 3};
	assert_int_equal(fw_ask_result(b, &a, &r), RF_CTL_FAILED);
	assert_int_equal(r.u.failed.reason, RF_CTL_R_NOT_OPERATOR);
	assert_false(fw_box_data(b, 3, 5, 9, 3));
	assert_int_equal(operator(b, RF_CTL_RELEASE, 0, 0, &r), RF_CTL_OK);
	assert_true(fw_box_data(b, 3, 5, 9, 3));
	assert_int_equal(b->fw.entries, 0);
	fw_box_free(b);
}

/*
 * In the hold time: all are released, including frames waiting to be shown, and the hold time ends.
 */
static void test_release_all_in_hold_time(void **state)
{
	struct fw_box *b = fw_ask_box();
	struct rf_ctl_reply r;

	(void)state;
	for (uint32_t q = 1; q <= 9; q++)
		assert_false(fw_box_data(b, q & 3, 5, 9, q));
	assert_int_equal(operator(b, RF_CTL_RELEASE, 0, 0, &r), RF_CTL_OK);
	assert_null(fw_box_run(b, 10));
	assert_int_equal(b->ctrl, 1);
	assert_int_equal(b->fw.entries, 0);
	for (uint32_t q = 1; q <= 9; q++)
		assert_true(fw_box_data(b, q & 3, 5, 9, q));
	fw_box_free(b);
}

/* A full table: the box reports it and holds everything, and groups still find room. */
static void test_full(void **state)
{
	struct fw_box *b = fw_box_new();
	struct fw_ask a = fw_ask_join(0, 2), c = fw_ask_join(1, 2);
	struct rf_ctl_reply r;
	unsigned int kept;

	(void)state;
	b->hash_bits = 3;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int s = 0; s < 90; s++) {
		for (uint32_t q = 1; q <= 24; q++)
			assert_false(fw_box_data(b, q & 3, 5, 9, q));
		assert_null(fw_box_run(b, 1000));
	}
	assert_int_equal(b->ctrl, 3);
	assert_true(b->fw.entries >= 12);
	assert_int_equal(operator(b, RF_CTL_STATUS, RF_CTL_PAGE_BOX, 0, &r), RF_CTL_PAGE);
	assert_int_equal(r.u.box.hold, RF_CTL_HOLD_FULL);
	assert_true(r.u.box.hold_ms > 58000);
	assert_int_equal(operator(b, RF_CTL_STATUS, RF_CTL_PAGE_LOG, 0, &r), RF_CTL_PAGE);
	assert_int_equal(r.u.log.entry[r.u.log.count - 1].kind, RF_CTL_EV_FULL);
	kept = b->fw.tombstones;
	fw_ask_accepted(b, &a);
	assert_int_equal(fw_ask_result(b, &c, &r), RF_CTL_READY);
	assert_true(b->fw.tombstones < kept && b->fw.cnt.evicted > 0);
	/* Connections that have lost their entry are still held. */
	for (unsigned int s = 0; s < 90; s++) {
		for (uint32_t q = 1; q <= 24; q++)
			assert_false(fw_box_data(b, q & 3, 5, 9, q));
		assert_null(fw_box_run(b, 1000));
	}
	/* Silence ends it. */
	assert_null(fw_box_run(b, 70000));
	assert_int_equal(b->ctrl, 1);
	assert_int_equal(b->fw.tombstones, 0);
	assert_int_equal(operator(b, RF_CTL_STATUS, RF_CTL_PAGE_BOX, 0, &r), RF_CTL_PAGE);
	assert_int_equal(r.u.box.hold, RF_CTL_HOLD_OVER);
	fw_box_free(b);
}

/* A group that evicts a held connection near the end of the hold time prolongs it. */
static void test_evicted(void **state)
{
	struct fw_box *b = fw_box_new();
	struct fw_ask a = fw_ask_join(0, 2), c = fw_ask_join(1, 2);
	uint32_t kept[16], n = 0;
	struct rf_ctl_reply r;

	(void)state;
	b->hash_bits = 3;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (uint32_t q = 1; q < 200 && n < 16; q++) {
		assert_false(fw_box_data(b, 1, 5, 9, q));
		assert_null(fw_box_run(b, 1));
		if (b->fw.entries > n)
			kept[n++] = q;
	}
	assert_int_equal(n, 16);
	assert_null(fw_box_run(b, 59000));
	for (unsigned int i = 0; i < n; i++)
		assert_false(fw_box_data(b, 1, 5, 9, kept[i]));
	fw_ask_accepted(b, &a);
	assert_int_equal(fw_ask_result(b, &c, &r), RF_CTL_READY);
	assert_true(b->fw.cnt.evicted > 0);
	for (unsigned int s = 0; s < 100; s++) {
		assert_null(fw_box_run(b, 1000));
		for (unsigned int i = 0; i < n; i++)
			assert_false(fw_box_data(b, 1, 5, 9, kept[i]));
	}
	fw_box_free(b);
}

/* Connections that first come between the firmware's last look and the end of the hold time. */
static void crowd_at_the_end(struct fw_box *b, uint32_t value)
{
	if (value != RF_CTRL_ENABLE_MASK)
		return;
	for (uint32_t q = 1; q <= 5; q++)
		assert_false(fw_box_data(b, 1, 5, 9, q));
	b->on_ctrl = NULL;
}

/*
 * The box can show two of them: the hold time goes on for those that it missed. RELEASE of all
 * lets them pass.
 */
static void test_crowd_at_the_end(void **state)
{
	(void)state;
	for (unsigned int released = 0; released < 2; released++) {
		struct fw_box *b = fw_ask_box();
		struct rf_ctl_reply r;

		b->on_ctrl = crowd_at_the_end;
		if (released)
			assert_int_equal(operator(b, RF_CTL_RELEASE, 0, 0, &r), RF_CTL_OK);
		assert_null(fw_box_run(b, 61000));
		assert_null(b->on_ctrl);
		assert_int_equal(b->ctrl, released ? 1 : 3);
		for (unsigned int s = 0; s < 90; s++) {
			for (uint32_t q = 1; q <= 5; q++)
				assert_int_equal(fw_box_data(b, 1, 5, 9, q), released);
			assert_null(fw_box_run(b, 1000));
		}
		assert_null(fw_box_run(b, 130000));
		assert_int_equal(b->ctrl, 1);
		fw_box_free(b);
	}
}

/* RESET, with and without a hold time: data that groups and tombstones dropped is still dropped. */
static void test_reset(void **state)
{
	(void)state;
	for (uint32_t hold = 0; hold <= 60000; hold += 60000) {
		struct fw_box *b = fw_box_new();
		const struct rf_fw_member m = {.peer_ip = 9, .peer_qpn = 7, .src_ip = 5, .port = 1};
		struct rf_ctl_reply r;

		b->cfg.hold_ms = hold;
		assert_int_equal(fw_box_start(b), RF_FW_OK);
		/* The hold time of the start is over. */
		assert_null(fw_box_run(b, 61000));
		assert_int_equal(b->ctrl, 1);
		assert_true(rf_fw_conn_put(&b->fw, 9, rf_fw_key(0, 7),
					   rf_fw_value(0, RF_STATE_LIVE), 3));
		rf_fw_conn_bury(&b->fw, &m, 3, true);
		assert_false(fw_box_data(b, 1, 5, 9, 7));
		assert_int_equal(operator(b, RF_CTL_RESET, 0, 0, &r), RF_CTL_OK);
		for (unsigned int s = 0; s < 180; s++) {
			assert_false(fw_box_data(b, 1, 5, 9, 7));
			assert_null(fw_box_run(b, 1000));
		}
		assert_null(fw_box_run(b, 70000));
		assert_true(fw_box_data(b, 1, 5, 9, 7));
		fw_box_free(b);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rule),
		cmocka_unit_test(test_rule_is_checked),
		cmocka_unit_test(test_for_ever),
		cmocka_unit_test(test_release),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_release_all_in_hold_time),
		cmocka_unit_test(test_reset),
		cmocka_unit_test(test_evicted),
		cmocka_unit_test(test_crowd_at_the_end),
	};

	seed = argc > 1 ? strtoull(argv[1], NULL, 0) : seed;
	runs = argc > 2 ? (unsigned int)strtoul(argv[2], NULL, 0) : runs;
	print_message("seed %llu; repeat: fw_hold_test %llu %u\n", (unsigned long long)seed,
		      (unsigned long long)seed, runs);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
