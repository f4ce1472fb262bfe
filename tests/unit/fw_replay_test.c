/*
 * Replays of valid requests: late, twice, out of order, from another address. None changes
 * anything; each is counted by its cause. Also: quotas of a key, the notice that a group has ended,
 * and how soon a silent rank's slots are free.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"

static const uint8_t job_key[16] = {9, 8, 7};
static const uint8_t operator_key[16] = {1};
static const struct rf_fw_key keys[] = {
	{.job = 42, .key = {9, 8, 7}, .most = {.groups = 2, .slots = 96}}, {.job = 0, .key = {1}}};

static struct rf_ctl_reply reply;

struct record {
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len;
	unsigned int port;
};

static struct fw_box *box(void)
{
	struct fw_box *b = fw_box_new();

	b->cfg.keys = keys;
	b->cfg.nkeys = 2;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	return b;
}

static struct fw_ask join(unsigned int r, unsigned int n)
{
	struct fw_ask a = fw_ask_join(r, n);

	a.key = job_key;
	return a;
}

static struct fw_ask verb(const struct fw_ask *of, unsigned int what)
{
	struct fw_ask a = *of;

	a.h.verb = (uint8_t)what;
	memset(&a.r, 0, sizeof(a.r));
	return a;
}

static struct fw_ask by_operator(unsigned int what)
{
	struct fw_ask a = fw_ask_join(0, 2);

	a = verb(&a, what);
	a.key = operator_key;
	a.h.job = 0;
	a.h.rank = RF_CTL_NO_RANK;
	a.h.token = 4711;
	a.ip = 0x0a000063u;
	a.r.u.abort.job = 42;
	a.r.u.abort.group = 1;
	return a;
}

/* Sends a request and keeps its frame. */
static unsigned int ask(struct fw_box *b, const struct fw_ask *a, struct record *rec)
{
	struct rf_ctl_header h;

	rec->len = fw_ask_frame(a, rec->frame);
	rec->port = a->port;
	fw_box_punt(b, a->port, rec->frame, rec->len);
	assert_null(fw_box_poll(b));
	memset(&reply, 0, sizeof(reply));
	assert_true(fw_ask_answer(b, &h, &reply));
	while (fw_box_out(b))
		;
	return reply.result;
}

/* Replays it. True if there was an answer, which is then in reply. */
static bool again(struct fw_box *b, const struct record *rec)
{
	struct rf_ctl_header h;
	bool answered;

	fw_box_punt(b, rec->port, rec->frame, rec->len);
	assert_null(fw_box_poll(b));
	answered = fw_ask_answer(b, &h, &reply);
	while (fw_box_out(b))
		;
	return answered;
}

/* Only counters and the lifetime of a nonce may differ. */
static void unchanged(struct rf_fw *before, const struct fw_box *b)
{
	for (unsigned int i = 0; i < RF_FW_RECORDS; i++)
		before->group[i].asked_ms = b->fw.group[i].asked_ms;
	assert_memory_equal(before->group, b->fw.group, sizeof(before->group));
	assert_memory_equal(before->member, b->fw.member, sizeof(before->member));
	assert_memory_equal(before->table, b->fw.table, sizeof(before->table));
	assert_memory_equal(&before->beats, &b->fw.beats, sizeof(before->beats));
	assert_int_equal(before->hw_used, b->fw.hw_used);
	assert_int_equal(before->epoch, b->fw.epoch);
	assert_int_equal(before->hold_until, b->fw.hold_until);
}

static void replayed(struct fw_box *b, const struct record *rec, enum rf_ctl_reason why,
		     bool answered)
{
	static struct rf_fw before;
	uint32_t count = b->fw.cnt.refused[why];

	before = b->fw;
	assert_int_equal(again(b, rec), answered);
	if (answered) {
		assert_int_equal(reply.result, RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, why);
	}
	assert_int_equal(b->fw.cnt.refused[why], count + 1);
	unchanged(&before, b);
}

static void pass(struct fw_box *b, unsigned int ms)
{
	assert_null(fw_box_run(b, ms));
	while (fw_box_out(b))
		;
}

static void test_nonce(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = join(0, 4);
	struct record r;
	uint64_t first = fw_box_nonce(a.ip);

	(void)state;
	/* No nonce, or an invented one. */
	a.h.nonce = first + 1;
	assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NONCE);
	assert_int_equal(b->fw.hw_used, 0);
	/* The previous nonce is accepted, the one before it is not. */
	pass(b, b->cfg.nonce_ms + 1);
	assert_true(fw_box_nonce(a.ip) != first);
	a.h.nonce = first;
	assert_int_equal(ask(b, &a, &r), RF_CTL_WAITING);
	pass(b, 20);
	replayed(b, &r, RF_CTL_R_STALE, false);
	pass(b, b->cfg.nonce_ms);
	replayed(b, &r, RF_CTL_R_NONCE, true);
	/* Another address has another nonce; neither is valid for the other address. */
	first = fw_box_nonce(a.ip);
	assert_true(fw_box_nonce(a.ip + 1) != first);
	a.h.nonce = fw_box_nonce(a.ip + 1);
	a.h.token++;
	assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NONCE);
	fw_box_free(b);
}

/*
 * Each bit of a nonce is checked, and 2^24 units of time later the same stamp gives another nonce.
 */
static void test_nonce_bits(void **state)
{
	struct fw_box *b = box();
	uint32_t ip = 0x0a000001u;
	uint64_t first;

	(void)state;
	pass(b, 500);
	first = fw_box_nonce(ip);
	assert_true(rf_fw_nonce_ok(&b->fw, first, 42, ip));
	for (unsigned int bit = 0; bit < 64; bit++)
		assert_false(rf_fw_nonce_ok(&b->fw, first ^ 1ull << bit, 42, ip));
	assert_false(rf_fw_nonce_ok(&b->fw, 0, 42, ip));
	pass(b, (1u << 24) / 64u);
	assert_false(rf_fw_nonce_ok(&b->fw, first, 42, ip));
	assert_true(rf_fw_nonce_ok(&b->fw, fw_box_nonce(ip), 42, ip));
	fw_box_free(b);
}

/*
 * The box restarts with the same epoch and the same time since its start, so that only the salt
 * differs: recorded requests are refused.
 */
static void test_restart(void **state)
{
	struct fw_box *b = box();
	struct fw_ask drop = by_operator(RF_CTL_ABORT), a = join(0, 4);
	struct record joined, dropped, x;
	uint64_t nonce;

	(void)state;
	assert_int_equal(ask(b, &a, &joined), RF_CTL_WAITING);
	assert_int_equal(ask(b, &drop, &dropped), RF_CTL_OK);
	nonce = fw_box_nonce(a.ip);
	b->cycle = 0;
	b->cfg.salt[5]++;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	replayed(b, &joined, RF_CTL_R_NONCE, true);
	assert_int_equal(b->fw.cnt.groups_made, 0);
	assert_false(rf_fw_nonce_ok(&b->fw, nonce, 42, a.ip));
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	replayed(b, &dropped, RF_CTL_R_NONCE, true);
	assert_int_equal(b->fw.hw_used, 1);
	fw_box_free(b);
}

/*
 * A JOIN recorded from a group that has ended does not start a group, however early the group's
 * record was reused.
 */
static void test_join(void **state)
{
	static const unsigned int linger[] = {1, 30000};

	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct fw_box *b = box();
		struct record r[2];

		b->cfg.linger_ms = linger[k];
		assert_int_equal(fw_box_start(b), RF_FW_OK);
		for (unsigned int i = 0; i < 2; i++) {
			struct fw_ask a = join(i, 2);

			ask(b, &a, &r[i]);
		}
		assert_int_equal(reply.result, RF_CTL_READY);
		/* From another port: no answer is sent there. */
		r[0].port = 3;
		replayed(b, &r[0], RF_CTL_R_STALE, false);
		for (unsigned int i = 0; i < 2; i++) {
			struct fw_ask a = join(i, 2);
			struct record l;

			a = verb(&a, RF_CTL_LEAVE);
			ask(b, &a, &l);
		}
		assert_int_equal(reply.result, RF_CTL_ENDED);
		for (unsigned int i = 0; i < 8; i++) {
			static struct rf_fw before;

			before = b->fw;
			again(b, &r[i & 1u]);
			unchanged(&before, b);
			assert_int_equal(b->fw.cnt.groups_made, 1);
			pass(b, i < 4 ? 3 : 9000);
		}
		assert_int_equal(b->fw.hw_used, 0);
		fw_box_free(b);
	}
}

/* A command of the operator is executed once, and its answer can be repeated. */
static void test_operator(void **state)
{
	struct fw_box *b = box();
	struct fw_ask drop = by_operator(RF_CTL_ABORT), reset = by_operator(RF_CTL_RESET);
	struct fw_ask a = join(0, 4);
	struct record first, second, joined, x;
	uint32_t epoch;

	(void)state;
	assert_int_equal(ask(b, &a, &joined), RF_CTL_WAITING);
	assert_int_equal(ask(b, &drop, &first), RF_CTL_OK);
	assert_int_equal(b->fw.cnt.groups_failed, 1);
	/* The answer was lost: the same bytes are answered, and a new group of that name lives on.
	 */
	pass(b, 5);
	a.h.token++;
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	assert_true(again(b, &first));
	assert_int_equal(reply.result, RF_CTL_OK);
	assert_int_equal(b->fw.cnt.groups_failed, 1);
	/* RESET makes all nonces void. */
	epoch = b->fw.epoch;
	assert_int_equal(ask(b, &reset, &second), RF_CTL_OK);
	assert_int_equal(b->fw.epoch, epoch + 1);
	pass(b, 5);
	a.h.token++;
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	assert_true(again(b, &first));
	assert_int_equal(reply.result, RF_CTL_OK);
	assert_int_equal(b->fw.cnt.groups_failed, 2);
	replayed(b, &joined, RF_CTL_R_NONCE, true);
	pass(b, 20000);
	assert_true(again(b, &second));
	assert_int_equal(reply.result, RF_CTL_OK);
	assert_int_equal(b->fw.epoch, epoch + 1);
	fw_box_free(b);
}

/* The operator's ABORT that found no group ends none that is made later, however often it is sent
 * again, and others' nonces live on. */
static void test_nothing_to_abort(void **state)
{
	struct fw_box *b = box();
	struct fw_ask drop = by_operator(RF_CTL_ABORT), a = join(0, 4), reset;
	struct record dropped, x;
	uint64_t nonce = fw_box_nonce(a.ip);

	(void)state;
	pass(b, 5);
	assert_int_equal(ask(b, &drop, &dropped), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_GROUP_UNKNOWN);
	a.h.nonce = nonce;
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	replayed(b, &dropped, RF_CTL_R_GROUP_UNKNOWN, true);
	/* Other commands have come since from another address: it is refused. */
	for (unsigned int i = 0; i < RF_FW_COMMANDS; i++) {
		reset = by_operator(RF_CTL_ABORT);
		reset.r.u.abort.group = (uint16_t)(50 + i);
		reset.ip += 1 + i;
		assert_int_equal(ask(b, &reset, &x), RF_CTL_FAILED);
	}
	replayed(b, &dropped, RF_CTL_R_NONCE, true);
	pass(b, 900);
	replayed(b, &dropped, RF_CTL_R_NONCE, true);
	assert_int_equal(b->fw.group[0].state, RF_CTL_S_JOINING);
	/* A new command with the same content is executed. */
	assert_int_equal(ask(b, &drop, &x), RF_CTL_OK);
	assert_int_equal(b->fw.group[0].reason, RF_CTL_R_OPERATOR);
	fw_box_free(b);
}

/* A key's quota: groups, and slots of all of them. */
static void test_quota(void **state)
{
	struct fw_box *b = box();
	struct record r;
	struct fw_ask a;

	(void)state;
	/* 96 slots: 64 of the wanted 128, then 32, and no third group. */
	for (unsigned int g = 0; g < 3; g++) {
		a = join(0, 2);
		a.h.group = (uint16_t)(10 + g);
		a.h.token += g;
		a.r.u.join.qpn += 16 * g;
		a.r.u.join.peer_qpn += 16 * g;
		a.r.u.join.slots_log2 = 7;
		a.r.u.join.slots_min_log2 = 5;
		if (g == 1) {
			a.r.u.join.slots_min_log2 = 6;
			assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
			assert_int_equal(reply.u.failed.reason, RF_CTL_R_QUOTA);
			assert_int_equal(reply.u.failed.detail, 5);
			a.r.u.join.slots_min_log2 = 5;
		}
		if (g < 2) {
			assert_int_equal(ask(b, &a, &r), RF_CTL_WAITING);
			assert_int_equal(b->fw.group[g].slots_log2, 6 - g);
		} else {
			assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
			assert_int_equal(reply.u.failed.reason, RF_CTL_R_QUOTA);
			assert_int_equal(reply.u.failed.detail, 0);
		}
	}
	/* Groups that have ended are not counted. */
	pass(b, 1100);
	assert_int_equal(b->fw.hw_used, 0);
	assert_int_equal(ask(b, &a, &r), RF_CTL_WAITING);
	fw_box_free(b);
}

/*
 * A JOIN refused for lack of room does not make a group when it is replayed later, however many
 * others were refused after it, and however long ago the first of them was.
 */
static void test_refused(void **state)
{
	static const unsigned int others[] = {0, 13, 14, 15, 16, 40};

	(void)state;
	for (unsigned int k = 0; k < sizeof(others) / sizeof(others[0]); k++) {
		struct fw_box *b = box();
		struct fw_ask bad = join(0, 65);
		struct record r, x;
		struct fw_ask a;

		assert_int_equal(ask(b, &bad, &x), RF_CTL_FAILED);
		pass(b, 2 * b->cfg.nonce_ms + 1);
		for (unsigned int g = 0; g < 3; g++) {
			a = join(0, 2);
			a.h.group = (uint16_t)(10 + g);
			a.h.token += g;
			a.r.u.join.qpn += 16 * g;
			a.r.u.join.peer_qpn += 16 * g;
			a.r.u.join.slots_log2 = a.r.u.join.slots_min_log2 = 5;
			assert_int_equal(ask(b, &a, &r), g < 2 ? RF_CTL_WAITING : RF_CTL_FAILED);
		}
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_QUOTA);
		for (unsigned int i = 0; i < others[k]; i++)
			assert_int_equal(ask(b, &bad, &x), RF_CTL_FAILED);
		pass(b, 1100);
		assert_int_equal(b->fw.hw_used, 0);
		replayed(b, &r, RF_CTL_R_NONCE, true);
		fw_box_free(b);
	}
}

/*
 * However many JOINs of a host are refused, from however many addresses, other hosts' nonces do not
 * become void, neither of other jobs nor of its own.
 */
static void test_refused_alone(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = join(1, 4), drop = by_operator(RF_CTL_STATUS), bad;
	uint64_t nonce = fw_box_nonce(a.ip), operators = fw_box_nonce(drop.ip);
	struct record x;

	(void)state;
	for (unsigned int i = 0; i < 100; i++) {
		bad = join(0, 65);
		assert_int_equal(ask(b, &bad, &x), RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_RANKS);
		replayed(b, &x, RF_CTL_R_NONCE, true);
		if (i % 10 == 0)
			pass(b, 1);
	}
	a.h.nonce = nonce;
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	/* From hundreds of addresses: only its own job's nonces become void. */
	for (unsigned int i = 0; i < 300; i++) {
		bad = join(0, 65);
		bad.ip = 0x0a010000u + i;
		assert_int_equal(ask(b, &bad, &x), RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_RANKS);
		replayed(b, &x, RF_CTL_R_NONCE, true);
	}
	drop.h.nonce = operators;
	drop.r.u.status.page = RF_CTL_PAGE_BOX;
	assert_int_equal(ask(b, &drop, &x), RF_CTL_PAGE);
	assert_false(rf_fw_nonce_ok(&b->fw, nonce, 42, a.ip));
	/* More jobs than marks: nonces that were void stay void. */
	for (unsigned int i = 0; i < 3 * RF_FW_VOIDS; i++) {
		uint64_t mine = fw_box_nonce(0x0a020000u + i);

		rf_fw_nonce_void(&b->fw, 1000 + i, 0x0a020000u + i);
		assert_false(rf_fw_nonce_ok(&b->fw, mine, 1000 + i, 0x0a020000u + i));
		assert_true(rf_fw_nonce_ok(&b->fw, fw_box_nonce(0x0a020000u + i), 1000 + i,
					   0x0a020000u + i));
		assert_false(rf_fw_nonce_ok(&b->fw, nonce, 42, a.ip));
		if (i < RF_FW_VOIDS - RF_FW_VOIDS_JOB - 1)
			assert_true(rf_fw_nonce_ok(&b->fw, operators, 0, drop.ip));
	}
	fw_box_free(b);
}

/* After a late request of a rank its nonces must be made void when the group is forgotten. */
static void test_forgotten(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = join(0, 2), late;
	struct record x, r;

	(void)state;
	assert_int_equal(ask(b, &a, &x), RF_CTL_WAITING);
	late = verb(&a, RF_CTL_ABORT);
	assert_int_equal(ask(b, &late, &x), RF_CTL_OK);
	pass(b, 29000);
	/* Its JOIN is repeated by a client that has received nothing. */
	assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_ABORTED);
	pass(b, 1100);
	assert_int_equal(b->fw.records, 0);
	replayed(b, &r, RF_CTL_R_NONCE, true);
	fw_box_free(b);
}

/* The rank that left first is notified of the end. */
static void test_ended(void **state)
{
	struct fw_box *b = box();
	struct record r;
	struct fw_ask a;
	unsigned int notified = 0;
	struct rf_ctl_header h;

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		a = join(i, 3);
		ask(b, &a, &r);
	}
	for (unsigned int i = 0; i < 3; i++) {
		uint8_t frame[RF_CTL_FRAME_MAX];

		a = join(i, 3);
		a = verb(&a, RF_CTL_LEAVE);
		fw_box_punt(b, a.port, frame, fw_ask_frame(&a, frame));
		assert_null(fw_box_poll(b));
		assert_true(fw_ask_answer(b, &h, &reply));
		assert_int_equal(h.rank, i);
		assert_int_equal(reply.result, i < 2 ? RF_CTL_DRAINING : RF_CTL_ENDED);
	}
	while (fw_ask_answer(b, &h, &reply)) {
		assert_int_equal(reply.result, RF_CTL_ENDED);
		assert_true(h.rank < 2);
		notified++;
	}
	assert_int_equal(notified, 2);
	fw_box_free(b);
}

/* However long its lease, the slots are free a second after its end. */
static void test_silent(void **state)
{
	struct fw_box *b = box();
	struct record r;

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct fw_ask a = join(i, 2);

		a.r.u.join.lease_ms = 40000;
		ask(b, &a, &r);
	}
	assert_int_equal(reply.result, RF_CTL_READY);
	pass(b, 39900);
	assert_int_equal(b->fw.hw_used, 1);
	pass(b, 1100);
	assert_int_equal(b->fw.cnt.leases, 1);
	assert_int_equal(b->fw.hw_used, 0);
	assert_int_equal(b->fw.entries, 0);
	fw_box_free(b);
}

/* Slots of a group that has settled are free for the next request in the same round. */
static void test_settled_first(void **state)
{
	struct fw_box *b = box();
	struct fw_ask a = join(0, 2);
	struct record r;

	(void)state;
	b->hdr_log2 = 6;
	b->cfg.nkeys = 0;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	a.key = fw_ask_zero_key;
	assert_int_equal(ask(b, &a, &r), RF_CTL_WAITING);
	a = verb(&a, RF_CTL_ABORT);
	assert_int_equal(ask(b, &a, &r), RF_CTL_OK);
	a = join(1, 2);
	a.key = fw_ask_zero_key;
	a.h.group = 2;
	assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_SLOTS);
	b->cycle += 3 * FW_BOX_KHZ;
	assert_int_equal(ask(b, &a, &r), RF_CTL_WAITING);
	fw_box_free(b);
}

static const struct rf_ctl_reply *page(struct fw_box *b, unsigned int number, unsigned int index)
{
	struct fw_ask a = by_operator(RF_CTL_STATUS);
	struct record r;

	a.r.u.status =
		(struct rf_ctl_status_req){.page = (uint8_t)number, .index = (uint16_t)index};
	assert_int_equal(ask(b, &a, &r), RF_CTL_PAGE);
	assert_int_equal(reply.page, number);
	return &reply;
}

/* The pages for the operator: every entry of the table, and the log in order. */
static void test_pages(void **state)
{
	static const uint8_t kinds[] = {RF_CTL_EV_START,   RF_CTL_EV_JOINING, RF_CTL_EV_READY,
					RF_CTL_EV_REFUSED, RF_CTL_EV_FAILED,  RF_CTL_EV_RESET};
	struct fw_box *b = box();
	struct fw_ask a, op = by_operator(RF_CTL_RESET);
	struct record r;
	unsigned int found = 0, at = 0;

	(void)state;
	b->cfg.nkeys = 0;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	op.key = fw_ask_zero_key;
	for (unsigned int i = 0; i < 30; i++) {
		a = fw_ask_join(i, 30);
		ask(b, &a, &r);
	}
	assert_int_equal(reply.result, RF_CTL_READY);
	/* Refused three times in a row: one line. */
	for (unsigned int i = 0; i < 3; i++) {
		a = fw_ask_join(5, 30);
		a.h.token = 1;
		ask(b, &a, &r);
	}
	b->cfg.keys = NULL;
	while (at != RF_CTL_NO_RANK) {
		struct fw_ask q = by_operator(RF_CTL_STATUS);

		q.key = fw_ask_zero_key;
		q.r.u.status = (struct rf_ctl_status_req){.page = RF_CTL_PAGE_CONNECTIONS,
							  .index = (uint16_t)at};
		assert_int_equal(ask(b, &q, &r), RF_CTL_PAGE);
		assert_int_equal(reply.u.connections.total, 60);
		for (unsigned int i = 0; i < reply.u.connections.count; i++) {
			const struct rf_ctl_connection *e = &reply.u.connections.entry[i];

			assert_int_equal(fw_box_lookup(b, e->ip, e->key),
					 e->cid | (uint32_t)e->state << 16);
			found++;
		}
		at = reply.u.connections.next;
	}
	assert_int_equal(found, 60);
	assert_int_equal(ask(b, &op, &r), RF_CTL_OK);
	op.h.verb = RF_CTL_STATUS;
	op.r.u.status = (struct rf_ctl_status_req){.page = RF_CTL_PAGE_LOG};
	assert_int_equal(ask(b, &op, &r), RF_CTL_PAGE);
	assert_int_equal(reply.u.log.count, sizeof(kinds));
	assert_int_equal(reply.u.log.next, sizeof(kinds));
	for (unsigned int i = 0; i < sizeof(kinds); i++)
		assert_int_equal(reply.u.log.entry[i].kind, kinds[i]);
	assert_int_equal(reply.u.log.entry[3].count, 3);
	assert_int_equal(reply.u.log.entry[3].reason, RF_CTL_R_RANK_TAKEN);
	assert_int_equal(reply.u.log.entry[4].reason, RF_CTL_R_RESET);
	op.r.u.status.index = 6;
	assert_int_equal(ask(b, &op, &r), RF_CTL_PAGE);
	assert_int_equal(reply.u.log.count, 0);
	op.r.u.status.index = 5;
	assert_int_equal(ask(b, &op, &r), RF_CTL_PAGE);
	assert_int_equal(reply.u.log.count, 1);
	fw_box_free(b);
	/* A job's key cannot read them. */
	b = box();
	a = join(0, 2);
	a = verb(&a, RF_CTL_STATUS);
	a.h.rank = RF_CTL_NO_RANK;
	for (unsigned int p = RF_CTL_PAGE_CONNECTIONS; p <= RF_CTL_PAGE_LOG; p++) {
		a.r.u.status.page = (uint8_t)p;
		assert_int_equal(ask(b, &a, &r), RF_CTL_FAILED);
		assert_int_equal(reply.u.failed.reason, RF_CTL_R_NOT_OPERATOR);
		assert_int_equal(page(b, p, 0)->page, p);
	}
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nonce),         cmocka_unit_test(test_join),
		cmocka_unit_test(test_operator),      cmocka_unit_test(test_quota),
		cmocka_unit_test(test_ended),         cmocka_unit_test(test_silent),
		cmocka_unit_test(test_settled_first), cmocka_unit_test(test_pages),
		cmocka_unit_test(test_refused),       cmocka_unit_test(test_refused_alone),
		cmocka_unit_test(test_restart),       cmocka_unit_test(test_nothing_to_abort),
		cmocka_unit_test(test_forgotten),     cmocka_unit_test(test_nonce_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
