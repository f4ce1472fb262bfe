/*
 * Groups that an operator has registered with wrong values: four hosts on a whole box send as their
 * programs would, and no unreduced data reaches a receiver. Foreign traffic at the same ports still
 * passes.
 *
 * usage: fw_watch_test [ENGINE.so]
 */
#include "tests/unit/fw_lab.h"

/* Queue pairs of a rank's program: it sends on the first and receives on the second. */
#define SENDS(r) (0x100u + (r))
#define RECEIVES(r) (0x200u + (r))
#define OTHER 0x333u
#define STRAYS 6u

/* The operator's registration of rank r. */
struct entry {
	unsigned int send, recv;
};

static unsigned int psn[N];
/* From where the operator expects a rank's data. */
static uint8_t port_of[N] = {0, 1, 2, 3};
static uint32_t ip_of[N] = {HOST_IP(0), HOST_IP(1), HOST_IP(2), HOST_IP(3)};

static void join(unsigned int ranks, const struct entry *e, uint16_t flags)
{
	for (unsigned int r = 0; r < ranks; r++) {
		unsigned int next = (r + 1) % ranks;
		struct rf_ctl_join j = {.ranks = (uint16_t)ranks,
					.dtype = RF_DTYPE_INT32,
					.mtu_log2 = 10,
					.slots_log2 = 6,
					.port = port_of[r],
					.src_ip = ip_of[r],
					.qpn = e[r].send,
					.peer_ip = ip_of[next],
					.peer_qpn = e[next].recv,
					.start_psn = 0x1000u * r,
					.lease_ms = RF_CTL_LEASE_NONE,
					.deadline_ms = 1000,
					.flags = (uint16_t)(RF_CTL_J_STRICT | flags)};

		psn[r] = j.start_psn;
		assert_int_equal(rf_client_join(&lab.host[r].client, &j, now_ns(&lab)), 0);
	}
	run(2000);
	for (unsigned int r = 0; r < ranks; r++)
		assert_int_equal(rf_client_state(&lab.host[r].client), RF_CLIENT_READY);
	for (unsigned int r = 0; r < N; r++)
		lab.host[r].count = 0;
}

static void right(struct entry e[N])
{
	for (unsigned int r = 0; r < N; r++)
		e[r] = (struct entry){SENDS(r), RECEIVES(r)};
}

/* Host r sends a packet to queue pair `qpn` of host `to`; wrong: with a wrong ICRC. */
static void packet(unsigned int r, unsigned int to, unsigned int qpn, unsigned int at, bool wrong)
{
	uint8_t payload[4 * ELEMENTS], frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = HOST_IP(r),
				.dst_ip = HOST_IP(to),
				.udp_sport = 50000,
				.opcode = ROCE_OP_SEND_ONLY,
				.pkey = 0xffff,
				.qpn = qpn,
				.psn = at,
				.payload = payload,
				.payload_len = sizeof(payload)};
	size_t len;

	for (uint32_t k = 0; k < ELEMENTS; k++)
		rf_put_le32(payload + 4 * k, 1000 * r + k);
	memcpy(p.src_mac, lab.host[r].mac, 6);
	memcpy(p.dst_mac, lab.host[to].mac, 6);
	len = roce_build(&p, frame, sizeof(frame));
	frame[len - 1] ^= wrong;
	send(r, frame, len);
}

/*
 * The programs of `ranks` hosts: each sends a packet, and repeats it while it is not acknowledged.
 */
static void programs(unsigned int ranks)
{
	for (unsigned int n = 0; n < STRAYS; n++) {
		for (unsigned int r = 0; r < ranks; r++)
			packet(r, (r + 1) % ranks, RECEIVES((r + 1) % ranks), psn[r], false);
		run(4000);
	}
}

/*
 * Every registered rank is notified which rank sent a stray, and where to; no receiver has got
 * data.
 */
static void named(unsigned int ranks, unsigned int rank, unsigned int to)
{
	for (unsigned int r = 0; r < ranks; r++) {
		const struct rf_ctl_failed *f = rf_client_failed(&lab.host[r].client);

		assert_non_null(f);
		assert_int_equal(f->reason, RF_CTL_R_WRONG_QPN);
		assert_int_equal(f->rank, rank);
		assert_int_equal(f->index, HOST_IP(to));
		assert_int_equal(f->detail, RECEIVES(to));
	}
	for (unsigned int r = 0; r < N; r++)
		assert_int_equal(lab.host[r].count, 0);
}

/* 60 s: both in the hold time and after it. */
static const uint32_t holds[] = {0, 60000};

static void test_exchanged(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct entry e[N];

		start(holds[k]);
		lab.fw.cfg.linger_ms = 4000;
		for (unsigned int r = 0; r < N; r++)
			e[r] = (struct entry){RECEIVES(r), SENDS(r)};
		join(N, e, 0);
		programs(N);
		named(N, 0, 1);
		/* Repeats by its ranks do not pass either, even after the group is forgotten. */
		for (unsigned int n = 0; n < 10; n++) {
			run(1000000);
			programs(N);
		}
		for (unsigned int r = 0; r < N; r++)
			assert_int_equal(lab.host[r].count, 0);
		assert_int_equal(lab.fw.records, 0);
		assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), 0);
		finish();
	}
}

static void test_one_recv(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct entry e[N];

		start(holds[k]);
		right(e);
		e[2].recv ^= 0x10;
		join(N, e, 0);
		programs(N);
		named(N, 1, 2);
		finish();
	}
}

/* The programs repeat for much longer than a tombstone lives: no receiver gets data. */
static void repeat_long(unsigned int ranks)
{
	for (unsigned int n = 0; n < 5; n++) {
		run(1000000);
		programs(ranks);
		for (unsigned int r = 0; r < N; r++)
			assert_int_equal(lab.host[r].count, 0);
	}
}

/* Host 2 was not registered: host 1 sends to it, and it sends to host 0. */
static void test_two_of_three(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct entry e[N];

		start(holds[k]);
		right(e);
		join(2, e, 0);
		programs(3);
		named(2, 1, 2);
		repeat_long(3);
		finish();
	}
}

static void drop_and_repeat(unsigned int ranks)
{
	rf_client_abort(&lab.host[1].client, 0, now_ns(&lab));
	run(2000);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_ABORTED);
	repeat_long(ranks);
}

/*
 * Rank 0 was registered with another port than its data has, and its program goes on when the
 * operator has ended the group.
 */
static void test_other_port(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	port_of[0] = 2;
	join(2, e, 0);
	port_of[0] = 0;
	programs(2);
	assert_int_equal(counter(0, RF_CNT_WRONG_SOURCE), STRAYS);
	drop_and_repeat(2);
	finish();
}

/* The same with a wrong address: its predecessor then sends to one that is not registered. */
static void test_other_address(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	ip_of[0] = HOST_IP(7);
	join(2, e, 0);
	ip_of[0] = HOST_IP(0);
	programs(2);
	named(2, 1, 0);
	assert_true(counter(0, RF_CNT_WRONG_SOURCE) > 0);
	repeat_long(2);
	finish();
}

/*
 * The addresses of two ranks are exchanged: each one's data comes to the other one's port. It does
 * not pass, and one host's packets do not fail a group at another host's port.
 */
static void test_exchanged_addresses(void **state)
{
	(void)state;
	for (unsigned int k = 0; k < 2; k++) {
		struct entry e[N];

		start(holds[k]);
		right(e);
		ip_of[0] = HOST_IP(1);
		ip_of[1] = HOST_IP(0);
		join(2, e, 0);
		ip_of[0] = HOST_IP(0);
		ip_of[1] = HOST_IP(1);
		programs(2);
		assert_null(rf_client_failed(&lab.host[0].client));
		/* At that port it cannot cut connections to hosts that are not ranks. */
		for (unsigned int n = 0; n < 3 && holds[k] == 0; n++) {
			packet(0, 3, OTHER, n, false);
			run(2000);
		}
		assert_int_equal(lab.host[3].count, holds[k] == 0 ? 2 : 0);
		lab.host[3].count = 0;
		drop_and_repeat(2);
		finish();
	}
}

/* The operator drops the group after its first stray. */
static void test_dropped_early(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	e[1].recv ^= 0x10;
	join(2, e, 0);
	packet(0, 1, RECEIVES(1), psn[0], false);
	run(2000);
	drop_and_repeat(2);
	finish();
}

/* Two wrong values: the group fails for one of them before the data with the other one comes. */
static void test_two_faults(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	e[1].recv ^= 0x10;
	join(3, e, 0);
	for (unsigned int n = 0; n < 2; n++) {
		packet(1, 2, RECEIVES(2), psn[1] - 0x800 + n, false);
		run(2000);
	}
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_BEFORE_START);
	repeat_long(3);
	finish();
}

/*
 * The tombstone of a rank that has sent is kept alive by that rank's packets alone, that of a rank
 * that never sent by all packets. Also in a group that is not watched.
 */
static void test_who_keeps(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(2, e, RF_CTL_J_OTHERS);
	packet(0, 1, RECEIVES(1), psn[0], false);
	run(20000);
	rf_client_abort(&lab.host[1].client, 0, now_ns(&lab));
	run(2000);
	assert_int_equal(lab.fw.tombstones, 2);
	for (unsigned int n = 0; n < 6; n++) {
		packet(3, 1, RECEIVES(1), n, false);
		packet(3, 0, RECEIVES(0), n, false);
		run(1000000);
	}
	assert_int_equal(lab.fw.tombstones, 1);
	finish();
}

/* One wrong send=: data is summed, no unreduced data passes. */
static void test_one_send(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	e[2].send ^= 0x10;
	join(N, e, 0);
	programs(N);
	for (unsigned int r = 0; r < N; r++) {
		struct roce_packet p;

		assert_true(lab.host[r].count > 0);
		assert_int_equal(roce_parse(lab.host[r].frame, lab.host[r].len, &p), ROCE_WIRE_OK);
		assert_int_equal(rf_get_le32(p.payload), 1000 * (0 + 1 + 2 + 3));
		assert_null(rf_client_failed(&lab.host[r].client));
	}
	finish();
}

/* Correct values: after its first packet a rank's host may send anything. */
static void test_right(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(N, e, 0);
	assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), (1u << N) - 1);
	programs(N);
	run(20000);
	assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), 0);
	for (unsigned int r = 0; r < N; r++) {
		assert_null(rf_client_failed(&lab.host[r].client));
		assert_true(lab.host[r].count > 0);
		lab.host[r].count = 0;
		assert_int_equal(counter(r, RF_CNT_HOLD), 0);
	}
	packet(0, 1, OTHER, 5, false);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 1);
	finish();
}

/* One stray packet, or any number with a wrong ICRC, does not end a group. */
static void test_one_packet(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(N, e, 0);
	packet(0, 1, OTHER, 5, false);
	run(2000);
	for (unsigned int n = 0; n < STRAYS; n++) {
		packet(0, 1, OTHER, 6 + n, true);
		run(2000);
	}
	assert_int_equal(lab.fw.cnt.strays, 1);
	assert_int_equal(lab.host[1].count, 0);
	assert_null(rf_client_failed(&lab.host[0].client));
	programs(N);
	for (unsigned int r = 0; r < N; r++)
		assert_true(lab.host[r].count > 0);
	/* Four packets of different connections do. */
	finish();
	start(0);
	join(N, e, 0);
	for (unsigned int n = 0; n < 4; n++) {
		assert_null(rf_client_failed(&lab.host[0].client));
		packet(0, 1, OTHER + n, 5, false);
		run(2000);
	}
	assert_non_null(rf_client_failed(&lab.host[0].client));
	finish();
}

/* Hosts with other queue pairs, registered with that flag. */
static void test_others_pass(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(N, e, RF_CTL_J_OTHERS);
	for (unsigned int n = 0; n < STRAYS; n++)
		packet(0, 1, OTHER, n, false);
	run(2000);
	assert_int_equal(lab.host[1].count, STRAYS);
	assert_null(rf_client_failed(&lab.host[0].client));
	finish();
}

/* Hosts 2 and 3 are not ranks; another host's packets arrive at the port of a silent rank. */
static void stranger(unsigned int qpn, unsigned int at)
{
	uint8_t payload[4 * ELEMENTS] = {0}, frame[ROCE_FRAME_MAX];
	struct roce_packet p = {.ttl = 64,
				.ip_flags = 0x4000,
				.src_ip = HOST_IP(9),
				.dst_ip = HOST_IP(3),
				.udp_sport = 50000,
				.opcode = ROCE_OP_SEND_ONLY,
				.pkey = 0xffff,
				.qpn = qpn,
				.psn = at,
				.payload = payload,
				.payload_len = sizeof(payload)};

	memcpy(p.src_mac, "\x02\x00\x00\x00\x00\x0a", 6);
	memcpy(p.dst_mac, lab.host[3].mac, 6);
	send(0, frame, roce_build(&p, frame, sizeof(frame)));
}

/*
 * Foreign connections lose one packet each, also if a rank and another host share a port; their
 * entries are removed when the ranks have begun.
 */
static void test_foreign(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(2, e, 0);
	for (unsigned int n = 0; n < 5; n++)
		for (unsigned int c = 0; c < 20; c++) {
			stranger(OTHER + c, n);
			run(200);
		}
	assert_int_equal(lab.host[3].count, 4 * 20);
	assert_int_equal(lab.fw.foreigns, 20);
	assert_int_equal(counter(0, RF_CNT_HOLD), 20);
	assert_null(rf_fw_check(&lab.fw));
	programs(2);
	run(20000);
	assert_int_equal(lab.fw.foreigns, 0);
	assert_null(rf_client_failed(&lab.host[0].client));
	finish();
}

/* More foreign connections than may have entries: they pass, and the port is no longer watched. */
static void test_crowd(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(2, e, 0);
	for (unsigned int n = 0; n < 2; n++)
		for (unsigned int c = 0; c < 200; c++) {
			stranger(OTHER + c, n);
			run(50);
		}
	assert_int_equal(lab.fw.cnt.unwatched, 1);
	assert_int_equal(lab.fw.foreigns, 0);
	assert_true(lab.host[3].count >= 200);
	assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), 2);
	assert_null(rf_fw_check(&lab.fw));
	programs(2);
	run(20000);
	assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), 0);
	finish();
}

/* A connection that passed as foreign may belong to a rank that is registered later. */
static void test_foreign_then_rank(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	right(e);
	join(2, e, 0);
	for (unsigned int n = 0; n < 3; n++) {
		stranger(OTHER, n);
		run(2000);
	}
	assert_int_equal(lab.host[3].count, 2);
	assert_int_equal(lab.fw.foreigns, 1);
	for (unsigned int r = 2; r < 4; r++) {
		struct rf_ctl_join j = {.ranks = 2,
					.dtype = RF_DTYPE_INT32,
					.mtu_log2 = 10,
					.slots_log2 = 6,
					.port = r == 2 ? 0 : 3,
					.src_ip = r == 2 ? HOST_IP(9) : HOST_IP(3),
					.qpn = SENDS(r),
					.peer_ip = r == 2 ? HOST_IP(3) : HOST_IP(9),
					.peer_qpn = RECEIVES(r),
					.lease_ms = RF_CTL_LEASE_NONE,
					.deadline_ms = 1000,
					.flags = RF_CTL_J_STRICT};

		lab.host[r].client.cfg.job = 9;
		lab.host[r].client.cfg.rank = (uint16_t)(r - 2);
		assert_int_equal(rf_client_join(&lab.host[r].client, &j, now_ns(&lab)), 0);
	}
	run(2000);
	assert_int_equal(rf_client_state(&lab.host[2].client), RF_CLIENT_READY);
	lab.host[3].count = 0;
	for (unsigned int n = 0; n < 3; n++) {
		stranger(OTHER, n);
		run(2000);
	}
	assert_int_equal(lab.host[3].count, 0);
	assert_int_equal(rf_client_failed(&lab.host[2].client)->reason, RF_CTL_R_WRONG_QPN);
	finish();
}

/* The operator corrects the values of a failed group while the programs repeat their first packet.
 */
static void test_corrected(void **state)
{
	struct entry e[N];

	(void)state;
	start(0);
	for (unsigned int r = 0; r < N; r++)
		e[r] = (struct entry){RECEIVES(r), SENDS(r)};
	join(N, e, 0);
	programs(N);
	named(N, 0, 1);
	right(e);
	for (unsigned int r = 0; r < N; r++) {
		struct rf_client_cfg c = lab.host[r].client.cfg;

		c.token += 100;
		rf_client_init(&lab.host[r].client, &c);
	}
	join(N, e, 0);
	programs(N);
	for (unsigned int r = 0; r < N; r++) {
		struct roce_packet p;

		assert_true(lab.host[r].count > 0);
		assert_int_equal(roce_parse(lab.host[r].frame, lab.host[r].len, &p), ROCE_WIRE_OK);
		assert_int_equal(rf_get_le32(p.payload), 1000 * (0 + 1 + 2 + 3));
	}
	run(20000);
	assert_int_equal(lab.ops->reg_read(lab.e, RF_HOLD_PORTS), 0);
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exchanged),     cmocka_unit_test(test_one_recv),
		cmocka_unit_test(test_two_of_three),  cmocka_unit_test(test_other_port),
		cmocka_unit_test(test_other_address), cmocka_unit_test(test_exchanged_addresses),
		cmocka_unit_test(test_dropped_early), cmocka_unit_test(test_two_faults),
		cmocka_unit_test(test_who_keeps),     cmocka_unit_test(test_one_send),
		cmocka_unit_test(test_right),         cmocka_unit_test(test_one_packet),
		cmocka_unit_test(test_others_pass),   cmocka_unit_test(test_foreign),
		cmocka_unit_test(test_crowd),         cmocka_unit_test(test_foreign_then_rank),
		cmocka_unit_test(test_corrected),
	};

	if (argc > 1)
		engine_file = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
