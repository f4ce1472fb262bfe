/*
 * The firmware on a whole box: four hosts resolve, join and reduce; the end of a group; effects of
 * hold time and tombstones on traffic.
 *
 * usage: fw_model_test [ENGINE.so]    the reference model, or a Verilated box of 4 ports
 */
#include "tests/unit/fw_lab.h"

static void test_sum(void **state)
{
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_RANKS};
	const struct rf_ctl_reply *a;

	(void)state;
	start(60000);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	assert_int_equal(rf_client_status(&lab.host[0].client, &ask, now_ns(&lab)), 0);
	run(200);
	a = rf_client_answer(&lab.host[0].client);
	assert_non_null(a);
	for (unsigned int r = 0; r < N; r++) {
		assert_int_equal(a->u.ranks.rank[r].port, r);
		assert_int_equal(a->u.ranks.rank[r].next, 100);
		assert_int_equal(a->u.ranks.rank[r].sent, 100);
		assert_int_equal(a->u.ranks.rank[r].una, 100);
	}
	leave_all(false);
	/* A second group of the same ranks on the same queue pairs: its indexes begin again. */
	join_all(true);
	reduce(RF_CTL_SHIFT);
	finish();
}

/*
 * Traffic alone keeps a rank alive; then its lease expires and the others learn which rank it was.
 */
static void test_lease(void **state)
{
	(void)state;
	start(60000);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	/* Rank 2's process is gone: its client is never asked for a frame again. */
	lab.host[2].client.state = RF_CLIENT_IDLE;
	run(1000000);
	assert_int_equal(rf_client_state(&lab.host[0].client), RF_CLIENT_READY);
	run(600000);
	assert_int_equal(rf_client_state(&lab.host[0].client), RF_CLIENT_FAILED);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_LEASE);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->rank, 2);
	/* Unreduced data still sent is held during the hold time, then passes, 2^22 ahead. */
	lab.host[1].count = 0;
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 0);
	assert_int_equal(counter(0, RF_CNT_HOLD), 1);
	finish();
}

/* Ranks that disagree: the group fails with rank and index. */
static void test_disagree(void **state)
{
	(void)state;
	start(0);
	join_all(true);
	reduce(RF_CTL_SHIFT);
	for (unsigned int r = 0; r < N; r++) {
		uint8_t payload[64] = {0}, frame[ROCE_FRAME_MAX];
		struct roce_packet p = {.ttl = 64,
					.src_ip = HOST_IP(r),
					.dst_ip = HOST_IP((r + 1) % N),
					.udp_sport = 50000,
					.opcode = ROCE_OP_SEND_ONLY,
					.pkey = 0xffff,
					.qpn = QPN((r + 1) % N),
					.psn = lab.psn + 0x1000u * r + 100,
					.payload = payload,
					.payload_len = r == 3 ? 32 : 64};

		memcpy(p.src_mac, lab.host[r].mac, 6);
		memcpy(p.dst_mac, lab.host[(r + 1) % N].mac, 6);
		send(r, frame, roce_build(&p, frame, sizeof(frame)));
	}
	run(100);
	for (unsigned int r = 0; r < N; r++) {
		const struct rf_ctl_failed *f = rf_client_failed(&lab.host[r].client);

		assert_non_null(f);
		assert_int_equal(f->reason, RF_CTL_R_DISAGREE);
		assert_int_equal(f->rank, 3);
		assert_int_equal(f->index, 100);
	}
	assert_false(lab.ops->irq(lab.e));
	finish();
}

/* Packets and ACKs that rank r's old queue pair still sends while the new group works. */
static void send_late(unsigned int qpn, unsigned int psn, unsigned int index)
{
	unsigned int new_qpn = lab.qpn, new_psn = lab.psn;

	lab.qpn = qpn;
	lab.psn = psn;
	for (unsigned int r = 0; r < N; r++) {
		send_data(r, index);
		/* The host itself handles an old ACK for a queue pair that no longer exists. */
		if (qpn == new_qpn)
			send_ack(r, index, RF_CTL_SHIFT);
	}
	lab.qpn = new_qpn;
	lab.psn = new_psn;
}

/*
 * A group is aborted with packets in flight, and the same job creates the next one at once: on
 * other queue pairs, and on the same ones with other PSNs. None of the late packets is accepted.
 */
static void late(unsigned int qpn, unsigned int psn)
{
	unsigned int old_qpn, old_psn;
	uint32_t accepted = 0;

	start(60000);
	old_qpn = lab.qpn;
	old_psn = lab.psn;
	join_all(true);
	reduce(RF_CTL_SHIFT);
	rf_client_abort(&lab.host[1].client, RF_CTL_ABORT_EXIT, now_ns(&lab));
	run(200);
	for (unsigned int r = 0; r < N; r++) {
		struct rf_client_cfg c = lab.host[r].client.cfg;

		c.token += 1000;
		rf_client_init(&lab.host[r].client, &c);
	}
	lab.qpn = qpn;
	lab.psn = psn;
	join_all(true);
	/* At once: the old group's slots are still settling or just free. */
	for (unsigned int index = 0; index < 100; index++) {
		for (unsigned int r = 0; r < N; r++)
			lab.host[r].count = 0;
		send_late(old_qpn, old_psn, 100 + index % 50);
		run(2);
		/* An ACK of an earlier PSN is forwarded; it carries no new information. */
		for (unsigned int r = 0; r < N; r++) {
			struct roce_packet p = {.opcode = ROCE_OP_ACK};

			if (lab.host[r].count > 0)
				roce_parse(lab.host[r].frame, lab.host[r].len, &p);
			assert_int_equal(p.opcode, ROCE_OP_ACK);
		}
		reduce_one(index, RF_CTL_SHIFT);
	}
	for (unsigned int r = 0; r < N; r++)
		accepted += counter(r, RF_CNT_ACCEPTED);
	assert_int_equal(accepted, 2 * 100 * N);
	finish();
}

static void test_late(void **state)
{
	(void)state;
	late(0x500, 0x800000); /* other queue pairs */
	late(0x11, 0x900000);  /* the same ones: the old packets are before the start */
	late(0x11, 0x700000);  /* or far ahead of it */
}

/*
 * Plain connections: no unreduced packet passes while joining, as a tombstone, or in the hold time.
 */
static void test_plain(void **state)
{
	(void)state;
	start(3000);
	send_data(0, 0);
	run(5);
	assert_int_equal(counter(0, RF_CNT_HOLD), 1);
	/* Since then it has its own entry, until it has been silent for the same time. */
	run(2700000);
	send_data(0, 0);
	run(600000);
	send_data(0, 0);
	run(5);
	assert_int_equal(counter(0, RF_CNT_HOLD), 1);
	assert_int_equal(counter(0, RF_CNT_TOMBSTONE), 2);
	assert_int_equal(lab.host[1].count, 0);
	run(3900000);
	send_data(0, 0);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 1);
	join_all(false);
	reduce(0);
	leave_all(false);
	lab.host[1].count = 0;
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 0);
	assert_int_equal(counter(0, RF_CNT_TOMBSTONE), 3);
	/* Its own queue pair is destroyed: packets to it are foreign again. */
	rf_client_leave(&lab.host[0].client, true, now_ns(&lab));
	run(2000);
	send_data(0, 100);
	send_data(1, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(1, RF_CNT_TOMBSTONE), 1);
	run(7000000);
	assert_int_equal(lab.fw.entries, 0);
	finish();
}

/*
 * A plain group fails on a box without hold time: its endpoints' data is dropped until they have
 * been silent for the lifetime of a tombstone; then it is foreign.
 */
static void test_plain_failure(void **state)
{
	(void)state;
	start(0);
	join_all(false);
	reduce(0);
	lab.host[2].client.state = RF_CLIENT_IDLE;
	run(1600000);
	assert_int_equal(rf_client_failed(&lab.host[0].client)->reason, RF_CTL_R_LEASE);
	assert_int_equal(lab.fw.tombstones, N);
	for (unsigned int r = 0; r < N; r++)
		lab.host[r].count = 0;
	/* Each resends for longer than a tombstone lives without a packet. */
	for (unsigned int i = 0; i < 10; i++) {
		for (unsigned int r = 0; r < N; r++)
			send_data(r, 100);
		run(500000);
	}
	for (unsigned int r = 0; r < N; r++) {
		assert_int_equal(lab.host[r].count, 0);
		assert_int_equal(counter(r, RF_CNT_TOMBSTONE), 10);
		assert_int_equal(counter(r, RF_CNT_FOREIGN), 0);
	}
	run(7000000);
	assert_int_equal(lab.fw.entries, 0);
	send_data(0, 100);
	run(5);
	assert_int_equal(lab.host[1].count, 1);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 1);
	finish();
}

/*
 * Registered with a first PSN that is one message too high: the group fails with that reason, no
 * sum is sent.
 */
static void test_first_psn_too_high(void **state)
{
	(void)state;
	for (unsigned int strict = 0; strict < 2; strict++) {
		start(0);
		lab.strict = strict != 0;
		lab.high = 16;
		join_all(false);
		for (unsigned int r = 0; r < N; r++)
			lab.host[r].count = 0;
		for (unsigned int i = 0; i < 2; i++)
			for (unsigned int r = 0; r < N; r++)
				send_data(r, i);
		run(2000);
		assert_int_equal(counter(2, RF_CNT_BEFORE_START), 2);
		for (unsigned int r = 0; r < N; r++) {
			const struct rf_ctl_failed *f = rf_client_failed(&lab.host[r].client);

			assert_int_equal(lab.host[r].count, 0);
			if (!strict) {
				assert_null(f);
				continue;
			}
			assert_non_null(f);
			assert_int_equal(f->reason, RF_CTL_R_BEFORE_START);
			assert_int_equal(f->rank, 2);
			assert_int_equal(f->index, 0xfffff1);
			assert_int_equal(f->detail, (lab.psn + 0x2001) & 0xffffff);
		}
		finish();
	}
}

/* Rank 2 comes 20 us after the others at every index: the hardware's samples show it. */
static void test_lag(void **state)
{
	const struct rf_fw_group *g = &lab.fw.group[0];
	uint32_t times = 0;

	(void)state;
	start(0);
	join_all(true);
	for (unsigned int index = 0; index < 1000; index++) {
		for (unsigned int r = 0; r < N; r++)
			if (r != 2)
				send_data(r, index);
		run(20);
		send_data(2, index);
		run(3);
		for (unsigned int r = 0; r < N; r++)
			send_ack(r, index, RF_CTL_SHIFT);
		run(2);
	}
	for (uint16_t m = g->first; m != RF_FW_NO_MEMBER; m = lab.fw.member[m].next) {
		const struct rf_fw_member *member = &lab.fw.member[m];

		if (member->rank == 2)
			times = member->lag.times;
		else
			assert_int_equal(member->lag.times, 0);
		/* The Verilated box does not count skipped clock cycles. */
		if (member->rank == 2 && !engine_file)
			assert_in_range(member->lag.most_us, 19, 21);
	}
	print_message("%u samples\n", times);
	assert_true(times >= 5);
	if (!engine_file)
		assert_int_equal(g->lag[5], times); /* 16 us to 32 us */
	finish();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sum),           cmocka_unit_test(test_lease),
		cmocka_unit_test(test_disagree),      cmocka_unit_test(test_late),
		cmocka_unit_test(test_plain),         cmocka_unit_test(test_first_psn_too_high),
		cmocka_unit_test(test_plain_failure), cmocka_unit_test(test_lag),
	};

	if (argc > 1)
		engine_file = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
