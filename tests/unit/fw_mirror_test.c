/*
 * Mirror ranks and directed groups on a fake box: the two steps of a JOIN, which port a rank gets,
 * whose connections are taken, registers and entries, changed Ethernet addresses, errors of
 * directed groups. Addresses of the ports themselves: fw_address_test.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_ask.h"
#include "tests/unit/fw_mirror.h"

static struct rf_ctl_reply reply;

static unsigned int ask(struct fw_box *b, const struct fw_ask *a)
{
	unsigned int result = fw_ask_result(b, a, &reply);

	while (fw_box_out(b))
		;
	return result;
}

static void refused(struct fw_box *b, const struct fw_ask *a, enum rf_ctl_reason why)
{
	static struct rf_fw before;

	before = b->fw;
	assert_int_equal(ask(b, a), RF_CTL_FAILED);
	if (reply.u.failed.reason != why)
		print_error("refused with %s instead of %s\n",
			    rf_ctl_reason_name(reply.u.failed.reason), rf_ctl_reason_name(why));
	assert_int_equal(reply.u.failed.reason, why);
	assert_memory_equal(before.group, b->fw.group, sizeof(before.group));
	assert_memory_equal(before.member, b->fw.member, sizeof(before.member));
	assert_memory_equal(before.table, b->fw.table, sizeof(before.table));
}

/* Both steps: asks at the box's address, then sends the same JOIN to the address that it got. */
static unsigned int join(struct fw_box *b, struct fw_ask *a)
{
	assert_int_equal(ask(b, a), RF_CTL_WAITING);
	fw_mirror_at(a, reply.u.waiting.port_ip);
	return ask(b, a);
}

static uint32_t conn_reg(const struct fw_box *b, unsigned int cid, uint32_t reg)
{
	return b->conn[cid][reg / 4];
}

static void expect_mirror(const struct fw_box *b, const struct fw_ask *a, unsigned int port,
			  unsigned int lane)
{
	const struct rf_ctl_join *j = &a->r.u.join;
	uint32_t cid = RF_FW_CID(0, lane, port);

	assert_int_equal(fw_box_lookup(b, j->src_ip, rf_fw_key(RF_FW_ROLE_MIRROR, j->qpn)),
			 rf_fw_value(cid, RF_STATE_LIVE));
	assert_int_equal(fw_box_lookup(b, j->src_ip, rf_fw_key(RF_FW_ROLE_DATA, j->qpn)), 0);
	assert_int_equal(fw_box_lookup(b, j->src_ip, rf_fw_key(RF_FW_ROLE_ACK, j->qpn)), 0);
	assert_int_equal(conn_reg(b, cid, RF_CONN_START), j->start_psn);
	assert_int_equal(conn_reg(b, cid, RF_CONN_SHIFT), 0);
	assert_int_equal(conn_reg(b, cid, RF_CONN_SRC_IP), j->src_ip);
	assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_IP), j->src_ip);
	assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_PORT), port);
	assert_int_equal(conn_reg(b, cid, RF_CONN_QPN), j->qpn);
	assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_MAC_HI),
			 RF_CONN_PEER_MAC_HI_MIRROR_MASK | 0x0200u);
	assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_MAC_LO), 0x0900u | a->mac);
}

/* A JOIN that names the MAC of its host has joined with its first JOIN, which may come anywhere. */
static void test_named_mac(void **state)
{
	static const struct {
		uint32_t high, low, offset;
	} wrong[] = {
		{0x01000900, 0x0001, 20},  /* a group address */
		{0x02000900, 0x10000, 24}, /* more than two bytes */
		{0x02524600, 0x0010, 24},  /* the box itself */
		{0x02524600, 0x0013, 24},  {0, 0, 0},
	};
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a[2];

	(void)state;
	for (unsigned int r = 0; r < 2; r++) {
		a[r] = fw_mirror_join(r, 2);
		a[r].mac = 0x77; /* the operator's */
		a[r].r.u.join.port = (uint8_t)(2 + r);
		a[r].r.u.join.peer_ip = 0x02000000;
		a[r].r.u.join.peer_qpn = 0x0900u + r + 1;
	}
	for (unsigned int k = 0; wrong[k].offset; k++) {
		struct fw_ask bad = a[0];

		bad.r.u.join.peer_ip = wrong[k].high;
		bad.r.u.join.peer_qpn = wrong[k].low;
		refused(b, &bad, RF_CTL_R_FIELD);
		assert_int_equal(reply.u.failed.detail, wrong[k].offset);
	}
	assert_int_equal(ask(b, &a[0]), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.joined, 1);
	assert_int_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(2));
	assert_int_equal(ask(b, &a[1]), RF_CTL_READY);
	for (unsigned int r = 0; r < 2; r++) {
		a[r].mac = (uint8_t)(r + 1); /* where its results go */
		expect_mirror(b, &a[r], 2 + r, 0);
	}
	/* The operator's later requests to the box change nothing. */
	a[1].mac = 0x77;
	assert_int_equal(ask(b, &a[1]), RF_CTL_READY);
	assert_int_equal(b->fw.cnt.mac_changed, 0);
	/* The rank's own host may still move it. */
	a[1].mac = 0x55;
	fw_mirror_at(&a[1], FW_MIRROR_IP(3));
	assert_int_equal(ask(b, &a[1]), RF_CTL_READY);
	assert_int_equal(b->fw.cnt.mac_changed, 1);
	expect_mirror(b, &a[1], 3, 0);
	fw_box_free(b);
}

/*
 * A rank that asks is missing until the same JOIN has come to the address of its port. The box
 * spreads the ranks over the ports. Each has one entry of the table.
 */
static void test_two_steps(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a[8];
	unsigned int seen = 0;

	(void)state;
	for (unsigned int r = 0; r < 8; r++) {
		a[r] = fw_mirror_join(r, 8);
		assert_int_equal(ask(b, &a[r]), RF_CTL_WAITING);
		assert_int_equal(reply.u.waiting.joined, r);
		assert_true(rf_ctl_mask_get(reply.u.waiting.missing, r));
		/* Asked again on another port: the same address, and no refusal. */
		a[r].port = (a[r].port + 1) % 4;
		assert_int_equal(ask(b, &a[r]), RF_CTL_WAITING);
		assert_int_equal(reply.u.waiting.joined, r);
		seen |= 1u << (4 * (r / 4) + reply.u.waiting.port_ip - FW_MIRROR_IP(0));
		fw_mirror_at(&a[r], reply.u.waiting.port_ip);
		if (r == 7)
			break;
		assert_int_equal(ask(b, &a[r]), RF_CTL_WAITING);
		assert_int_equal(reply.u.waiting.joined, r + 1);
		assert_false(rf_ctl_mask_get(reply.u.waiting.missing, r));
	}
	/* Each port has one of the first four and one of the others. */
	assert_int_equal(seen, 0xff);
	assert_int_equal(ask(b, &a[7]), RF_CTL_READY);
	assert_int_equal(reply.u.ready.port_ip, a[7].to_ip);
	assert_int_equal(b->fw.entries, 8);
	for (unsigned int r = 0; r < 8; r++)
		expect_mirror(b, &a[r], a[r].port, r / 4);
	/* LEAVE of all: nothing remains in the table. */
	for (unsigned int r = 0; r < 8; r++) {
		a[r].h.verb = RF_CTL_LEAVE;
		assert_int_equal(ask(b, &a[r]), r < 7 ? RF_CTL_DRAINING : RF_CTL_ENDED);
	}
	assert_int_equal(b->fw.entries, 0);
	fw_box_free(b);
}

/* A rank that names a port, and one whose first JOIN comes to the right address. */
static void test_wish(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a = fw_mirror_join(0, 4), other;

	(void)state;
	a.r.u.join.port = 3;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(3));
	assert_int_equal(reply.u.waiting.joined, 0);
	other = a;
	other.r.u.join.port = 2;
	refused(b, &other, RF_CTL_R_OTHER_PORT);
	assert_int_equal(reply.u.failed.detail, 3);
	a = fw_mirror_join(1, 4);
	a.r.u.join.port = 3;
	fw_mirror_at(&a, FW_MIRROR_IP(3));
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.joined, 1);
	/* The address of another port does not count. */
	a = fw_mirror_join(2, 4);
	a.r.u.join.port = 1;
	fw_mirror_at(&a, FW_MIRROR_IP(0));
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.port_ip, FW_MIRROR_IP(1));
	assert_int_equal(reply.u.waiting.joined, 1);
	/* Nor does the address of the right port if it comes in elsewhere: the box ignores it. */
	a.to_ip = FW_MIRROR_IP(1);
	a.port = 0;
	fw_mirror_send(b, &a);
	assert_null(fw_box_out(b));
	assert_int_equal(b->fw.cnt.punt_other, 1);
	a.port = 1;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.joined, 2);
	fw_box_free(b);
}

/* A rank that asks and never comes is named. */
static void test_missing(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a = fw_mirror_join(0, 2), m = fw_mirror_join(1, 2);

	(void)state;
	a.r.u.join.lease_ms = m.r.u.join.lease_ms = 5000;
	join(b, &a);
	assert_int_equal(ask(b, &m), RF_CTL_WAITING);
	assert_null(fw_box_run(b, 1100));
	while (fw_box_out(b))
		;
	assert_int_equal(ask(b, &a), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_MISSING_RANKS);
	assert_int_equal(reply.u.failed.rank, 1);
	assert_false(rf_ctl_mask_get(reply.u.failed.missing, 0));
	assert_true(rf_ctl_mask_get(reply.u.failed.missing, 1));
	fw_box_free(b);
}

/* Several ranks on one address, with different queue pairs; the same one is taken. */
static void test_one_address(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a = fw_mirror_join(0, 2), m = fw_mirror_join(1, 2);

	(void)state;
	m.ip = m.r.u.join.src_ip = a.ip;
	join(b, &a);
	m.r.u.join.qpn = a.r.u.join.qpn;
	refused(b, &m, RF_CTL_R_CONNECTION_TAKEN);
	m.r.u.join.qpn++;
	assert_int_equal(join(b, &m), RF_CTL_READY);
	/* Live: its entry speaks for it, also against another job. */
	a = fw_mirror_join(0, 2);
	a.h.job = 77;
	refused(b, &a, RF_CTL_R_CONNECTION_TAKEN);
	fw_box_free(b);
}

/* Ring and mirror ranks never share an address and queue pair, in whichever order they come. */
static void test_taken(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask ring = fw_ask_join(0, 4), m = fw_mirror_join(0, 2);

	(void)state;
	m.h.group = 2;
	m.ip = m.r.u.join.src_ip = ring.r.u.join.peer_ip;
	m.r.u.join.qpn = ring.r.u.join.peer_qpn;
	fw_ask_accepted(b, &ring);
	/* The queue pair to which a ring rank of the same job sends. */
	refused(b, &m, RF_CTL_R_CONNECTION_TAKEN);
	/* Of another job: only once the receiver has joined. */
	m.h.job = 77;
	assert_int_equal(ask(b, &m), RF_CTL_WAITING);
	/* Now it is the other way round: rank 1 would complete rank 0's claim. */
	ring = fw_ask_join(1, 4);
	ring.r.u.join.qpn = 0x55;
	refused(b, &ring, RF_CTL_R_CONNECTION_TAKEN);
	assert_int_equal(reply.u.failed.rank, 0);
	/* A ring rank's own queue pair, and one that names a mirror rank's. */
	ring = fw_ask_join(1, 4);
	refused(b, &ring, RF_CTL_R_CONNECTION_TAKEN);
	ring = fw_ask_join(3, 4);
	ring.r.u.join.peer_ip = m.ip;
	ring.r.u.join.peer_qpn = m.r.u.join.qpn;
	refused(b, &ring, RF_CTL_R_CONNECTION_TAKEN);
	/* The own queue pair of a ring rank. */
	m = fw_mirror_join(1, 2);
	m.h.job = 78;
	m.ip = m.r.u.join.src_ip = 0x0a000001;
	m.r.u.join.qpn = 0x11;
	refused(b, &m, RF_CTL_R_CONNECTION_TAKEN);
	fw_box_free(b);
}

/* A tombstone, of whichever job, and a connection that the hold time has cut. */
static void test_tombstones(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask m = fw_mirror_join(0, 2);

	(void)state;
	fw_box_data(b, 1, 0x0a000007, m.ip, m.r.u.join.qpn);
	assert_null(fw_box_poll(b));
	assert_int_equal(b->fw.tombstones, 1);
	refused(b, &m, RF_CTL_R_CONNECTION_TAKEN);
	assert_null(fw_box_run(b, 140000));
	assert_int_equal(b->fw.tombstones, 0);
	assert_int_equal(ask(b, &m), RF_CTL_WAITING);
	fw_box_free(b);
}

/* Two ring ranks and two mirror ranks in one group. */
static void test_mixed(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask ring[2], m[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		ring[i] = fw_ask_join(2 * i, 4);
		ring[i].port = 2 * i;
		ring[i].r.u.join.peer_ip = 0x0a000001u + 2 * (1 - i);
		ring[i].r.u.join.peer_qpn = 0x11 + 2 * (1 - i);
		m[i] = fw_mirror_join(2 * i + 1, 4);
	}
	join(b, &m[0]);
	fw_ask_accepted(b, &ring[0]);
	/* The ring ranks agree about the shift; mirror ranks have none. */
	ring[1].r.u.join.flags = 0;
	ring[1].r.u.join.shift = 0;
	refused(b, &ring[1], RF_CTL_R_SETTINGS_DIFFER);
	ring[1].r.u.join.flags = RF_CTL_J_SHIFTED;
	ring[1].r.u.join.shift = RF_CTL_SHIFT;
	fw_ask_accepted(b, &ring[1]);
	assert_int_equal(join(b, &m[1]), RF_CTL_READY);
	assert_int_equal(b->fw.entries, 6);
	for (unsigned int i = 0; i < 2; i++) {
		uint32_t cid = RF_FW_CID(0, 0, 2 * i);

		expect_mirror(b, &m[i], 1 + 2 * i, 0);
		assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_IP), ring[i].r.u.join.peer_ip);
		assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_PORT), 2 - 2 * i);
		assert_int_equal(conn_reg(b, cid, RF_CONN_PEER_MAC_HI), 0);
		assert_int_equal(fw_box_lookup(b, ring[i].ip, rf_fw_key(1, 0x11 + 2 * i)),
				 rf_fw_value(cid, RF_STATE_LIVE));
	}
	fw_box_free(b);
}

/* A ring rank's successor must be a ring rank; the next ring rank is preferred. */
static void test_successor(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask ring[2], m = fw_mirror_join(1, 3);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		ring[i] = fw_ask_join(2 * i, 3);
		ring[i].r.u.join.peer_ip = 0x0a000001u + 2 * (1 - i);
		ring[i].r.u.join.peer_qpn = 0x11 + 2 * (1 - i);
	}
	/* Rank 0 names the address of rank 1, which is a mirror rank. */
	ring[0].r.u.join.peer_ip = m.ip;
	ring[0].r.u.join.peer_qpn = 0x77;
	fw_ask_accepted(b, &ring[0]);
	fw_ask_accepted(b, &ring[1]);
	assert_int_equal(join(b, &m), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.reason, RF_CTL_R_SUCCESSOR_UNKNOWN);
	assert_int_equal(reply.u.failed.rank, 0);
	fw_box_free(b);
}

static void test_fields(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a;

	(void)state;
#define BAD(member, value, why, at)                                                                \
	do {                                                                                       \
		a = fw_mirror_join(0, 4);                                                          \
		a.member = (value);                                                                \
		refused(b, &a, why);                                                               \
		assert_int_equal(reply.u.failed.detail, at);                                       \
	} while (0)
	BAD(r.u.join.ranks, 1, RF_CTL_R_RANKS, RF_FW_RANKS_MAX);
	/* Both together would be a MAC. */
	BAD(r.u.join.peer_ip, 0x0d000002, RF_CTL_R_FIELD, 20);
	BAD(r.u.join.peer_qpn, 0x10000, RF_CTL_R_FIELD, 24);
	BAD(r.u.join.shift, 1, RF_CTL_R_FIELD, 32);
	BAD(r.u.join.port, 4, RF_CTL_R_FIELD, 7);
	BAD(r.u.join.family, 6, RF_CTL_R_IPV6, 0);
	BAD(r.u.join.family, 1, RF_CTL_R_FIELD, 10);
	BAD(r.u.join.src_ip, FW_MIRROR_IP(1), RF_CTL_R_FIELD, 12);
	BAD(r.u.join.flags, RF_CTL_J_MIRROR | RF_CTL_J_SHIFTED, RF_CTL_R_FIELD, 8);
	BAD(r.u.join.flags, RF_CTL_J_MIRROR | RF_CTL_J_STRICT, RF_CTL_R_FIELD, 8);
	BAD(r.u.join.flags, RF_CTL_J_MIRROR | RF_CTL_J_OTHERS, RF_CTL_R_FIELD, 8);
	for (unsigned int bit = 0; bit < 6; bit++)
		if (bit != 2 && bit != 3)
			BAD(r.u.join.flags,
			    (uint16_t)(RF_CTL_J_MIRROR | RF_CTL_J_DIRECTED | 1u << bit),
			    RF_CTL_R_FIELD, 8);
	BAD(r.u.join.flags, RF_CTL_J_MIRROR | 0x8000u, RF_CTL_R_FIELD, 8);
	BAD(r.u.join.op, 6, RF_CTL_R_FIELD, 3);
	for (unsigned int op = 3; op < 6; op++) {
		BAD(r.u.join.op, (uint8_t)op, RF_CTL_R_FIELD, 3);
		for (unsigned int t = 0; t < 10; t++) {
			static const bool floats[10] = {
				[0] = true, [1] = true, [2] = true, [7] = true};

			a = fw_mirror_join(0, 4);
			a.h.group = (uint16_t)(10 * op + t);
			a.r.u.join.op = (uint8_t)op;
			a.r.u.join.dtype = (uint8_t)t;
			if (floats[t]) {
				refused(b, &a, RF_CTL_R_FIELD);
				continue;
			}
			assert_int_equal(ask(b, &a), RF_CTL_WAITING);
			a.h.verb = RF_CTL_LEAVE;
			ask(b, &a);
			assert_null(fw_box_run(b, 10));
		}
	}
	BAD(r.u.join.op, 7, RF_CTL_R_FIELD, 3);
	BAD(r.u.join.dtype, 10, RF_CTL_R_FIELD, 2);
	fw_box_free(b);
	/* A copy is an operation of directed groups, and allowed with each type. */
	b = fw_mirror_box();
	a = fw_mirror_join(0, 4);
	a.r.u.join.op = 6;
	a.r.u.join.flags |= RF_CTL_J_DIRECTED;
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	fw_box_free(b);
	/* What a build lacks. */
	b = fw_box_new();
	b->directed = true;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	a = fw_mirror_join(0, 4);
	refused(b, &a, RF_CTL_R_MIRROR_UNSUPPORTED);
	a.r.u.join.dtype = 9;
	refused(b, &a, RF_CTL_R_TYPE_UNSUPPORTED);
	assert_int_equal(reply.u.failed.detail, 9);
	a = fw_ask_join(0, 4);
	a.r.u.join.flags |= RF_CTL_J_DIRECTED;
	fw_ask_accepted(b, &a);
	fw_box_free(b);
	b = fw_box_new();
	b->mirror = true;
	b->cfg.probe_ms = 0;
	assert_int_equal(fw_box_start(b), RF_FW_OK);
	refused(b, &a, RF_CTL_R_DIRECTED_UNSUPPORTED);
	a = fw_mirror_join(0, 4);
	assert_int_equal(ask(b, &a), RF_CTL_WAITING);
	assert_int_equal(reply.u.waiting.port_ip, FW_BOX_IP + 1);
#undef BAD
	fw_box_free(b);
}

/* A request to the port's address renews the MAC, any other does not. */
static void test_mac(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a[2];
	struct fw_ask s;

	(void)state;
	for (unsigned int r = 0; r < 2; r++) {
		a[r] = fw_mirror_join(r, 2);
		join(b, &a[r]);
	}
	expect_mirror(b, &a[0], a[0].port, 0);
	s = a[0];
	s.h.verb = RF_CTL_STATUS;
	memset(&s.r, 0, sizeof(s.r));
	s.r.u.status.page = RF_CTL_PAGE_GROUP;
	s.mac = 0x77;
	s.to_ip = 0;
	assert_int_equal(ask(b, &s), RF_CTL_PAGE);
	expect_mirror(b, &a[0], a[0].port, 0);
	assert_int_equal(b->fw.cnt.mac_changed, 0);
	s.to_ip = a[0].to_ip;
	assert_int_equal(ask(b, &s), RF_CTL_PAGE);
	a[0].mac = 0x77;
	expect_mirror(b, &a[0], a[0].port, 0);
	assert_int_equal(b->fw.cnt.mac_changed, 1);
	/* Unsigned or old requests change nothing. */
	s.mac = 0x78;
	s.h.nonce = 1;
	assert_int_equal(ask(b, &s), RF_CTL_FAILED);
	expect_mirror(b, &a[0], a[0].port, 0);
	fw_box_free(b);
}

/* What page RANKS and CONNECTIONS show. */
static void test_pages(void **state)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a[2], s;
	static const uint8_t mac[6] = {2, 0, 0, 0, 9, 1};

	(void)state;
	for (unsigned int r = 0; r < 2; r++) {
		a[r] = fw_mirror_join(r, 2);
		a[r].r.u.join.flags |= RF_CTL_J_DIRECTED;
		join(b, &a[r]);
	}
	b->conn[RF_FW_CID(0, 0, a[1].port)][RF_CONN_SILENT / 4] = 1;
	s = a[0];
	s.h.verb = RF_CTL_STATUS;
	memset(&s.r, 0, sizeof(s.r));
	s.r.u.status.page = RF_CTL_PAGE_RANKS;
	assert_int_equal(ask(b, &s), RF_CTL_PAGE);
	assert_int_equal(reply.u.ranks.rank[0].flags, RF_CTL_RANK_JOINED | RF_CTL_RANK_MIRROR);
	assert_int_equal(reply.u.ranks.rank[1].flags,
			 RF_CTL_RANK_JOINED | RF_CTL_RANK_MIRROR | RF_CTL_RANK_SILENT);
	assert_int_equal(reply.u.ranks.rank[0].port_ip, a[0].to_ip);
	assert_memory_equal(reply.u.ranks.rank[0].mac, mac, 6);
	s = fw_ask_join(0, 2);
	s.h.job = 0;
	s.h.rank = RF_CTL_NO_RANK;
	s.h.verb = RF_CTL_STATUS;
	memset(&s.r, 0, sizeof(s.r));
	s.r.u.status.page = RF_CTL_PAGE_CONNECTIONS;
	assert_int_equal(ask(b, &s), RF_CTL_PAGE);
	assert_int_equal(reply.u.connections.count, 2);
	assert_int_equal(reply.u.connections.entry[0].key >> 24, RF_FW_ROLE_MIRROR);
	s.r.u.status.page = RF_CTL_PAGE_BOX;
	assert_int_equal(ask(b, &s), RF_CTL_PAGE);
	assert_int_equal(reply.u.box.ip, FW_BOX_IP);
	assert_int_equal(reply.u.box.prefix, 16);
	assert_int_equal(reply.u.box.claimed, 0);
	assert_int_equal(reply.u.box.features, RF_CTL_FEATURE_MIRROR | RF_CTL_FEATURE_DIRECTED |
						       RF_CTL_FEATURE_SELECTIVE);
	assert_int_equal(reply.u.box.types, 0x3ff);
	for (unsigned int p = 0; p < 8; p++)
		assert_int_equal(reply.u.box.port_ip[p], p < 4 ? FW_MIRROR_IP(p) : 0);
	fw_box_free(b);
}

/* Two ranks of a directed group; the hardware latches an error. */
static void directed_error(uint32_t cause, uint32_t what, uint32_t got, uint32_t want,
			   uint16_t flags)
{
	struct fw_box *b = fw_mirror_box();
	struct fw_ask a[2];

	for (unsigned int r = 0; r < 2; r++) {
		a[r] = fw_mirror_join(r, 2);
		a[r].r.u.join.flags |= flags;
		join(b, &a[r]);
	}
	assert_int_equal(reply.result, RF_CTL_READY);
	assert_int_equal(b->group[0][0] & RF_GROUP_CFG_DIRECTED_MASK,
			 flags ? RF_GROUP_CFG_DIRECTED_MASK : 0);
	b->group[0][RF_GROUP_ERROR / 4] = RF_GROUP_ERROR_VALID_MASK |
					  cause << RF_GROUP_ERROR_CAUSE_LSB |
					  what << RF_GROUP_ERROR_WHAT_LSB | a[1].port;
	b->group[0][RF_GROUP_ERROR_INDEX / 4] = 9;
	b->group[0][RF_GROUP_ERROR_GOT / 4] = got;
	b->group[0][RF_GROUP_ERROR_WANT / 4] = want;
	assert_int_equal(ask(b, &a[0]), RF_CTL_FAILED);
	assert_int_equal(reply.u.failed.rank, 1);
	assert_int_equal(reply.u.failed.index, 9);
	fw_box_free(b);
}

static void test_errors(void **state)
{
	const struct rf_ctl_failed *f = &reply.u.failed;

	(void)state;
	/* Other types: certainly compared with the first member of the pass. */
	directed_error(RF_ERROR_DISAGREE, RF_WHAT_TAG, 0x1000c011, 0x1000c031, RF_CTL_J_DIRECTED);
	assert_int_equal(f->reason, RF_CTL_R_DISAGREE);
	assert_int_equal(f->detail, 0x1000c011);
	assert_int_equal(f->other.box_ip, 0);
	assert_int_equal(f->other.rank, 0);
	assert_int_equal(f->other.what, RF_CTL_WHAT_TAG);
	assert_int_equal(f->other.value, 0x1000c031);
	/* Other calls: with the first one that has an immediate. */
	directed_error(RF_ERROR_DISAGREE, RF_WHAT_TAG, 0x1400c011, 0x1000c011, RF_CTL_J_DIRECTED);
	assert_int_equal(f->other.rank, RF_CTL_NO_RANK);
	assert_int_equal(f->other.value, 0x1000c011);
	directed_error(RF_ERROR_DISAGREE, RF_WHAT_LENGTH, 64, 128, RF_CTL_J_DIRECTED);
	assert_int_equal(f->detail, 64);
	assert_int_equal(f->other.rank, RF_CTL_NO_RANK);
	assert_int_equal(f->other.what, RF_CTL_WHAT_LENGTH);
	assert_int_equal(f->other.value, 128);
	directed_error(RF_ERROR_DISAGREE, RF_WHAT_COPIES, 1, 2, RF_CTL_J_DIRECTED);
	assert_int_equal(f->other.what, RF_CTL_WHAT_COPIES);
	directed_error(RF_ERROR_IMMEDIATE, 0, 0xf0, 0, RF_CTL_J_DIRECTED);
	assert_int_equal(f->reason, RF_CTL_R_IMMEDIATE);
	assert_int_equal(f->detail, 0xf0);
	assert_int_equal(f->other.rank, RF_CTL_NO_RANK);
	directed_error(RF_ERROR_ORDER, 0, 0x1000c01f, 0, RF_CTL_J_DIRECTED);
	assert_int_equal(f->reason, RF_CTL_R_ORDER);
	assert_int_equal(f->detail, 0x1000c01f);
	/* A group that is not directed: no values, and the first member. */
	directed_error(RF_ERROR_DISAGREE, 0, 5, 6, 0);
	assert_int_equal(f->reason, RF_CTL_R_DISAGREE);
	assert_int_equal(f->detail, 0);
	assert_int_equal(f->other.rank, 0);
	assert_int_equal(f->other.value, 0);
}

/*
 * A mirror rank counts as one entry of a quota. Ranks that have not asked count like the first
 * rank.
 */
static void test_quota(void **state)
{
	static struct rf_fw_key key[2] = {{.job = 42, .key = {0}}, {.job = 0, .key = {1}}};
	struct fw_box *b = fw_mirror_box_keys(key, 2);
	struct fw_ask a[4];

	(void)state;
	key[0].most.entries = 4;
	for (unsigned int r = 0; r < 4; r++)
		a[r] = fw_mirror_join(r, 4);
	/* Four ring ranks need eight. */
	a[0] = fw_ask_join(0, 4);
	refused(b, &a[0], RF_CTL_R_QUOTA_ENTRIES);
	assert_int_equal(reply.u.failed.detail, 4);
	a[0] = fw_mirror_join(0, 4);
	join(b, &a[0]);
	/* A ring rank in the same group needs one more than the four that are left. */
	a[1] = fw_ask_join(1, 4);
	refused(b, &a[1], RF_CTL_R_QUOTA_ENTRIES);
	assert_int_equal(reply.u.failed.detail, 0);
	key[0].most.entries = 5;
	fw_ask_accepted(b, &a[1]);
	a[2] = fw_ask_join(2, 4);
	refused(b, &a[2], RF_CTL_R_QUOTA_ENTRIES);
	fw_box_free(b);
	/* The ring rank first: eight, and seven when a mirror rank has asked. */
	key[0].most.entries = 8;
	b = fw_mirror_box_keys(key, 2);
	a[0] = fw_ask_join(0, 4);
	fw_ask_accepted(b, &a[0]);
	assert_int_equal(b->fw.group[0].doubles, 4);
	join(b, &a[3]);
	assert_int_equal(b->fw.group[0].doubles, 3);
	fw_box_free(b);
}

/* A key with ports: only their addresses. */
static void test_ports_of_key(void **state)
{
	static struct rf_fw_key key[2] = {{.job = 42, .ports = 1u << 2 | 1u << 3},
					  {.job = 0, .key = {1}}};
	struct fw_box *b = fw_mirror_box_keys(key, 2);
	struct fw_ask a;

	(void)state;
	for (unsigned int r = 0; r < 4; r++) {
		a = fw_mirror_join(r, 5);
		assert_int_equal(ask(b, &a), RF_CTL_WAITING);
		assert_in_range(reply.u.waiting.port_ip, FW_MIRROR_IP(2), FW_MIRROR_IP(3));
	}
	a = fw_mirror_join(4, 5);
	a.r.u.join.port = 1;
	refused(b, &a, RF_CTL_R_PORT_DENIED);
	/* And its own address, like any rank. */
	a = fw_mirror_join(4, 5);
	a.r.u.join.src_ip++;
	refused(b, &a, RF_CTL_R_ADDRESS_DENIED);
	fw_box_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_two_steps), cmocka_unit_test(test_wish),
		cmocka_unit_test(test_missing),   cmocka_unit_test(test_one_address),
		cmocka_unit_test(test_taken),     cmocka_unit_test(test_tombstones),
		cmocka_unit_test(test_mixed),     cmocka_unit_test(test_successor),
		cmocka_unit_test(test_fields),    cmocka_unit_test(test_mac),
		cmocka_unit_test(test_pages),     cmocka_unit_test(test_errors),
		cmocka_unit_test(test_quota),     cmocka_unit_test(test_ports_of_key),
		cmocka_unit_test(test_named_mac),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
