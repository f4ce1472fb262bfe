/*
 * The limits of a key, exact to the rank, entry and byte, each refusal with its own reason; which
 * addresses a key may register; which tombstones are evicted when the table is full.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"

enum { OPERATOR, A, B, C };

/* The jobs of the keys: 0, 10, 20, 30. */
static struct rf_fw_key keys[4];
static struct rf_ctl_reply reply;

static struct fw_box *box(unsigned int nkeys)
{
	struct fw_box *b = fw_box_new();

	for (unsigned int k = 0; k < 4; k++) {
		keys[k].job = 10 * k;
		keys[k].key[0] = (uint8_t)(1 + k);
	}
	b->cfg.keys = keys;
	b->cfg.nkeys = nkeys;
	return b;
}

static void start(struct fw_box *b)
{
	assert_int_equal(fw_box_start(b), RF_FW_OK);
}

static void done(struct fw_box *b)
{
	fw_box_free(b);
	memset(keys, 0, sizeof(keys));
}

/* JOIN of rank r of n plain ranks of group g of a key's job, with its own addresses and QPNs. */
static struct fw_ask join(unsigned int k, unsigned int g, unsigned int r, unsigned int n)
{
	struct fw_ask a = fw_ask_join(r, n);

	a.key = keys[k].key;
	a.h.job = keys[k].job;
	a.h.group = (uint16_t)g;
	a.h.token = 1 + r + 1000 * g + 100000 * k;
	a.ip += k << 16;
	a.r.u.join.src_ip = a.ip;
	a.r.u.join.flags = 0;
	a.r.u.join.shift = 0;
	a.r.u.join.peer_ip += k << 16;
	a.r.u.join.qpn += 0x100 * g;
	a.r.u.join.peer_qpn += 0x100 * g;
	a.r.u.join.slots_log2 = 4;
	return a;
}

static unsigned int ask(struct fw_box *b, const struct fw_ask *a)
{
	unsigned int result = fw_ask_result(b, a, &reply);

	while (fw_box_out(b))
		;
	return result;
}

static void accepted(struct fw_box *b, struct fw_ask a)
{
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
}

static void refused(struct fw_box *b, struct fw_ask a, enum rf_ctl_reason why, uint32_t detail)
{
	assert_int_equal(ask(b, &a), RF_CTL_FAILED);
	if (reply.u.failed.reason != why)
		print_error("got %s\n", rf_ctl_reason_name(reply.u.failed.reason));
	assert_int_equal(reply.u.failed.reason, why);
	assert_int_equal(reply.u.failed.detail, detail);
}

static void whole_group(struct fw_box *b, unsigned int k, unsigned int g, unsigned int n)
{
	for (unsigned int r = 0; r < n; r++) {
		struct fw_ask a = join(k, g, r, n);

		assert_int_equal(ask(b, &a), r + 1 < n ? RF_CTL_WAITING : RF_CTL_READY);
	}
}

static void verb(struct fw_box *b, struct fw_ask a, unsigned int what, uint16_t flags)
{
	a.h.verb = (uint8_t)what;
	a.h.flags = flags;
	memset(&a.r, 0, sizeof(a.r));
	ask(b, &a);
	assert_null(fw_box_run(b, 5));
	while (fw_box_out(b))
		;
}

static void abort_group(struct fw_box *b, unsigned int k, unsigned int g)
{
	verb(b, join(k, g, 0, 2), RF_CTL_ABORT, 0);
}

static void test_ranks(void **state)
{
	struct fw_box *b = box(2);

	(void)state;
	keys[A].most.ranks = 6;
	start(b);
	/* All ranks of a group are counted from its first JOIN on. */
	accepted(b, join(A, 1, 0, 4));
	refused(b, join(A, 2, 0, 3), RF_CTL_R_QUOTA_RANKS, 2);
	accepted(b, join(A, 2, 0, 2));
	refused(b, join(A, 3, 0, 2), RF_CTL_R_QUOTA_RANKS, 0);
	accepted(b, join(A, 1, 1, 4));
	abort_group(b, A, 1);
	accepted(b, join(A, 3, 0, 4));
	done(b);
}

static void test_entries(void **state)
{
	struct fw_box *b = box(2);
	struct fw_ask open = join(A, 2, 0, 4);

	(void)state;
	keys[A].most.entries = 12;
	start(b);
	whole_group(b, A, 1, 4);
	assert_int_equal(b->fw.entries, 8);
	refused(b, join(A, 2, 0, 3), RF_CTL_R_QUOTA_ENTRIES, 4);
	/* One role each. */
	open.r.u.join.flags = RF_CTL_J_OPEN_LOOP;
	accepted(b, open);
	abort_group(b, A, 2);
	/* What remains of a group is counted: four tombstones. */
	abort_group(b, A, 1);
	assert_int_equal(b->fw.tombstones, 4);
	refused(b, join(A, 4, 0, 5), RF_CTL_R_QUOTA_ENTRIES, 8);
	whole_group(b, A, 4, 4);
	refused(b, join(A, 5, 0, 2), RF_CTL_R_QUOTA_ENTRIES, 0);
	abort_group(b, A, 4);
	assert_int_equal(b->fw.tombstones, 8);
	/* They are counted until they expire. */
	refused(b, join(A, 3, 0, 4), RF_CTL_R_QUOTA_ENTRIES, 4);
	assert_null(fw_box_run(b, 2 * b->cfg.tomb_ms));
	whole_group(b, A, 3, 4);
	done(b);
}

static void test_bytes(void **state)
{
	struct fw_box *b = box(2);
	struct fw_ask a = join(A, 1, 0, 2);

	(void)state;
	keys[A].most.bytes = 100 << 10;
	keys[A].most.slots = 200;
	start(b);
	/*
	 * The largest S that fits: 64 slots of 1 KiB; then 32 of these, or 128 slots of 256 bytes.
	 */
	a.r.u.join.slots_log2 = 9;
	a.r.u.join.slots_min_log2 = 7;
	refused(b, a, RF_CTL_R_QUOTA_BYTES, 6);
	a.r.u.join.slots_min_log2 = 8;
	refused(b, a, RF_CTL_R_QUOTA, 7);
	a.r.u.join.slots_min_log2 = 4;
	accepted(b, a);
	assert_int_equal(b->fw.group[0].slots_log2, 6);
	a = join(A, 2, 0, 2);
	a.r.u.join.slots_log2 = 6;
	refused(b, a, RF_CTL_R_QUOTA_BYTES, 5);
	a.r.u.join.mtu_log2 = 8;
	a.r.u.join.slots_log2 = 7;
	a.r.u.join.slots_min_log2 = 4;
	accepted(b, a);
	assert_int_equal(b->fw.group[1].slots_log2, 7);
	refused(b, join(A, 3, 0, 2), RF_CTL_R_QUOTA, 0);
	done(b);
}

/*
 * If two jobs have keys, each may use half of the box unless its line in the key file sets other
 * limits. The operator, and a job that is the only one, may use all of it.
 */
static void test_half(void **state)
{
	for (unsigned int nkeys = 2; nkeys <= 3; nkeys++) {
		struct fw_box *b = box(nkeys);
		uint32_t all = nkeys == 2 ? UINT32_MAX : 0;
		struct rf_ctl_share s;

		(void)state;
		keys[B].most = (struct rf_ctl_share){8, 512, 128, 512, 512 << 10};
		start(b);
		rf_fw_keys_most(&b->fw, keys[A].job, &s);
		assert_int_equal(s.groups, all ? all : 4);
		assert_int_equal(s.slots, all ? all : 256);
		assert_int_equal(s.ranks, all ? all : RF_FW_MEMBERS / 2);
		assert_int_equal(s.entries, all ? all : 256);
		assert_int_equal(s.bytes, all ? all : 256 << 10);
		rf_fw_keys_most(&b->fw, keys[OPERATOR].job, &s);
		assert_int_equal(s.bytes, UINT32_MAX);
		rf_fw_keys_most(&b->fw, keys[B].job, &s);
		if (nkeys == 3)
			assert_memory_equal(&s, &keys[B].most, sizeof(s));
		done(b);
	}
}

/*
 * With ips= and ports= a key may register only these, whatever the packet's own address and port.
 */
static void test_speaks_for(void **state)
{
	struct fw_box *b = box(4);
	struct fw_ask a = join(A, 1, 0, 2);

	(void)state;
	keys[A].ips = 2;
	keys[A].ip[0] = (struct rf_fw_prefix){0x0a020000u, 16};
	keys[A].ip[1] = (struct rf_fw_prefix){0x0a030007u, 32};
	keys[A].ports = 0x0a;
	start(b);
	refused(b, a, RF_CTL_R_ADDRESS_DENIED, 0);
	a.r.u.join.src_ip = 0x0a030006u;
	refused(b, a, RF_CTL_R_ADDRESS_DENIED, 0);
	a.r.u.join.src_ip = 0x0a030007u;
	refused(b, a, RF_CTL_R_PORT_DENIED, 0);
	a.r.u.join.port = 2;
	refused(b, a, RF_CTL_R_PORT_DENIED, 0);
	a.r.u.join.port = 3;
	accepted(b, a);
	a = join(A, 2, 0, 2);
	a.r.u.join.src_ip = 0x0a02ffffu;
	a.port = 1;
	accepted(b, a);
	/* Every key may register a documentation address; the operator may register all. */
	a = join(B, 1, 0, 2);
	a.r.u.join.src_ip = 0xc6336401u;
	a.r.u.join.port = 3;
	accepted(b, a);
	/* A strict group needs a key that lists addresses, whatever the address is. */
	a = join(B, 2, 0, 2);
	a.r.u.join.flags = RF_CTL_J_STRICT;
	refused(b, a, RF_CTL_R_ADDRESS_DENIED, 0);
	a.r.u.join.src_ip = 0xc6336401u;
	refused(b, a, RF_CTL_R_ADDRESS_DENIED, 0);
	a = join(A, 3, 0, 2);
	a.r.u.join.flags = RF_CTL_J_STRICT;
	a.r.u.join.src_ip = 0xc6336401u;
	a.port = 1;
	refused(b, a, RF_CTL_R_ADDRESS_DENIED, 0);
	a.r.u.join.src_ip = 0x0a02fffeu;
	accepted(b, a);
	a = join(OPERATOR, 1, 0, 2);
	a.r.u.join.src_ip = 0x0a090909u;
	a.r.u.join.port = 3;
	accepted(b, a);
	done(b);
}

static const struct rf_ctl_jobs_page *jobs(struct fw_box *b, unsigned int k, unsigned int first)
{
	struct fw_ask a = join(k, 0, 0, 2);

	a.h.verb = RF_CTL_STATUS;
	a.h.rank = RF_CTL_NO_RANK;
	memset(&a.r, 0, sizeof(a.r));
	a.r.u.status.page = RF_CTL_PAGE_JOBS;
	a.r.u.status.index = (uint16_t)first;
	assert_int_equal(ask(b, &a), RF_CTL_PAGE);
	return &reply.u.jobs;
}

/* The page for the operator, and the part of it that a job may see. */
static void test_page(void **state)
{
	static const struct rf_ctl_share none;
	struct fw_box *b = box(4);
	const struct rf_ctl_jobs_page *p;

	(void)state;
	keys[A].most = (struct rf_ctl_share){3, 100, 10, 30, 50000};
	start(b);
	whole_group(b, A, 1, 3);
	abort_group(b, A, 1);
	accepted(b, join(A, 2, 0, 4));
	p = jobs(b, OPERATOR, 0);
	assert_int_equal(p->total, 4);
	assert_int_equal(p->count, 4);
	assert_int_equal(p->entry[OPERATOR].most.ranks, RF_CTL_NO_LIMIT);
	assert_memory_equal(&p->entry[A].most, &keys[A].most, sizeof(keys[A].most));
	assert_int_equal(p->entry[A].held.groups, 1);
	assert_int_equal(p->entry[A].held.slots, 16);
	assert_int_equal(p->entry[A].held.ranks, 4);
	assert_int_equal(p->entry[A].held.entries, 3 + 8);
	assert_int_equal(p->entry[A].held.bytes, 16 << 10);
	assert_int_equal(p->entry[A].tombstones, 3);
	assert_memory_equal(&p->entry[B].held, &none, sizeof(none));
	p = jobs(b, OPERATOR, 3);
	assert_int_equal(p->count, 1);
	assert_int_equal(p->entry[0].job, keys[C].job);
	p = jobs(b, B, 0);
	assert_int_equal(p->total, 1);
	assert_int_equal(p->entry[0].job, keys[B].job);
	assert_int_equal(p->entry[0].most.ranks, RF_FW_MEMBERS / 2);
	done(b);
}

static unsigned int state_of(const struct fw_box *b, const struct fw_ask *a)
{
	return fw_box_lookup(b, a->r.u.join.peer_ip, rf_fw_key(0, a->r.u.join.peer_qpn)) >>
	       RF_HASH_VALUE_STATE_LSB;
}

/* A full table: only the oldest tombstones of the job that holds most are evicted. */
static void test_full_table(void **state)
{
	struct fw_box *b = box(4);
	struct fw_ask first = join(A, 1, 0, 2), second = join(A, 2, 0, 2), other = join(B, 1, 0, 2);

	(void)state;
	b->hash_bits = 4;
	keys[A].most.entries = 64;
	start(b);
	whole_group(b, B, 1, 2);
	abort_group(b, B, 1);
	for (unsigned int g = 1; b->fw.entries < 32; g++) {
		assert_null(fw_box_run(b, 10));
		whole_group(b, A, g, 2);
		if (b->fw.cnt.evicted > 0)
			break;
		abort_group(b, A, g);
	}
	/*
	 * Its own oldest tombstones were evicted first; in the end new ones replace the next ones.
	 */
	assert_int_equal(b->fw.cnt.evicted > 0, state_of(b, &first) == 0);
	assert_int_equal(state_of(b, &second), RF_STATE_TOMBSTONE);
	whole_group(b, C, 1, 4);
	assert_true(b->fw.cnt.evicted > 0);
	assert_int_equal(state_of(b, &first), 0);
	assert_int_equal(state_of(b, &other), RF_STATE_TOMBSTONE);
	done(b);
}

/*
 * A job cannot evict other jobs' tombstones by filling the table; held connections are never
 * evicted after the hold time.
 */
static void test_full_of_others(void **state)
{
	struct fw_box *b = box(4);
	uint32_t others;
	unsigned int g;

	(void)state;
	b->hash_bits = 4;
	keys[A].most.entries = 64;
	keys[A].most.groups = 8;
	start(b);
	/* The hold time is over: connections that are still held stay. */
	b->fw.hold_until = RF_FW_NEVER;
	whole_group(b, B, 1, 2);
	abort_group(b, B, 1);
	others = b->fw.entries;
	for (uint32_t ip = 1; ip <= 8; ip++) {
		assert_true(rf_fw_conn_put(&b->fw, ip, rf_fw_key(0, 3),
					   rf_fw_value(0, RF_STATE_LIVE), RF_FW_NO_JOB));
		rf_fw_conn_bury(&b->fw, &(struct rf_fw_member){.peer_ip = ip, .peer_qpn = 3},
				RF_FW_NO_JOB, true);
	}
	for (g = 1; g < 8; g++) {
		struct fw_ask a = join(A, g, 0, 2);
		struct fw_ask last = join(A, g, 1, 2);

		accepted(b, a);
		if (ask(b, &last) == RF_CTL_FAILED)
			break;
	}
	assert_true(g < 8);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_NO_CONNECTIONS);
	assert_int_equal(b->fw.cnt.evicted, 0);
	assert_int_equal(rf_fw_conn_count(&b->fw, keys[B].job, true), others);
	assert_int_equal(rf_fw_conn_count(&b->fw, RF_FW_NO_JOB, true), 8);
	done(b);
}

/*
 * Two jobs hold the same number: the one that needs more room loses its own tombstones, wherever
 * they are.
 */
static void equal_shares(unsigned int base)
{
	struct fw_box *b = box(4);

	b->hash_bits = 3;
	b->cfg.linger_ms = 1;
	keys[A].most.entries = keys[B].most.entries = 64;
	start(b);
	for (unsigned int g = 1; g <= 4; g++)
		for (unsigned int k = A; k <= B; k++) {
			struct fw_ask a = join(k, base + g, 0, 2), last = join(k, base + g, 1, 2);

			/* No ACK roles: exactly two entries for each group. */
			a.r.u.join.flags = last.r.u.join.flags = RF_CTL_J_OPEN_LOOP;
			accepted(b, a);
			assert_int_equal(ask(b, &last), RF_CTL_READY);
			abort_group(b, k, base + g);
		}
	assert_int_equal(b->fw.tombstones, 16);
	whole_group(b, A, base + 9, 2);
	assert_int_equal(b->fw.cnt.evicted, 4);
	assert_int_equal(rf_fw_conn_count(&b->fw, keys[B].job, true), 8);
	abort_group(b, A, base + 9);
	whole_group(b, B, base + 9, 2);
	/* Two places were free; two more were evicted from the job that holds most. */
	assert_int_equal(rf_fw_conn_count(&b->fw, keys[B].job, true), 6);
	done(b);
}

static void test_equal_shares(void **state)
{
	(void)state;
	for (unsigned int v = 0; v < 8; v++)
		equal_shares(16 * v);
}

/*
 * A tombstone of no job can be taken over by a group, and is restored afterwards whatever the ranks
 * report.
 */
static void test_of_no_job(void **state)
{
	struct fw_box *b = box(4);
	struct fw_ask a = join(A, 1, 0, 2), last = join(A, 1, 1, 2);
	uint32_t key = rf_fw_key(0, a.r.u.join.peer_qpn);

	(void)state;
	start(b);
	for (unsigned int ended = 0; ended < 2; ended++) {
		assert_true(rf_fw_conn_put(&b->fw, a.r.u.join.peer_ip, key,
					   rf_fw_value(0, RF_STATE_LIVE), RF_FW_NO_JOB));
		rf_fw_conn_bury(
			&b->fw,
			&(struct rf_fw_member){.peer_ip = a.r.u.join.peer_ip,
					       .peer_qpn = a.r.u.join.peer_qpn & RF_FW_MASK24},
			RF_FW_NO_JOB, true);
		accepted(b, a);
		if (ended) {
			assert_int_equal(ask(b, &last), RF_CTL_READY);
			assert_int_equal(state_of(b, &a), RF_STATE_LIVE);
			verb(b, last, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED);
		}
		verb(b, a, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED);
		verb(b, a, RF_CTL_LEAVE, RF_CTL_F_QP_DESTROYED);
		assert_int_equal(b->fw.entries, 1);
		assert_int_equal(rf_fw_conn_count(&b->fw, RF_FW_NO_JOB, true), 1);
		a.h.token += 10;
		last.h.token += 10;
	}
	done(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),        cmocka_unit_test(test_entries),
		cmocka_unit_test(test_bytes),        cmocka_unit_test(test_half),
		cmocka_unit_test(test_speaks_for),   cmocka_unit_test(test_page),
		cmocka_unit_test(test_full_table),   cmocka_unit_test(test_full_of_others),
		cmocka_unit_test(test_equal_shares), cmocka_unit_test(test_of_no_job),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
