/*
 * Effect on traffic of JOINs that name connections of other jobs.
 *
 * usage: fw_stranger_test [ENGINE.so]    the reference model, or a Verilated box of 4 ports
 */
#include "tests/unit/fw_lab.h"

/* Host 3 as a rank of another job that names host 1, to which rank 0 sends, as its successor. */
static void strange_join(uint16_t flags)
{
	struct rf_client *c = &lab.host[3].client;
	struct rf_client_cfg cfg = {.ip = HOST_IP(3),
				    .box_ip = BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 9,
				    .token = 4711};
	struct rf_ctl_join j = {.ranks = 2,
				.dtype = RF_DTYPE_INT32,
				.mtu_log2 = 10,
				.slots_log2 = 4,
				.port = RF_CTL_NO_PORT,
				.flags = flags,
				.qpn = 0x777,
				.peer_ip = HOST_IP(1),
				.peer_qpn = QPN(1),
				.shift = flags ? RF_CTL_SHIFT : 0,
				.lease_ms = RF_CTL_LEASE_NONE,
				.deadline_ms = 100000};

	memcpy(cfg.mac, lab.host[3].mac, 6);
	rf_client_init(c, &cfg);
	assert_int_equal(rf_client_join(c, &j, now_ns(&lab)), 0);
	run(2000);
}

/*
 * Another job's JOIN neither interrupts a connection of hosts outside that job, nor lets unreduced
 * packets of an ended group pass.
 */
static void test_stranger(void **state)
{
	(void)state;
	start(0);
	strange_join(0);
	assert_int_equal(rf_client_state(&lab.host[3].client), RF_CLIENT_JOINING);
	for (unsigned int i = 0; i < 5; i++) {
		send_data(0, i);
		run(1000000);
	}
	assert_int_equal(lab.host[1].count, 5);
	assert_int_equal(counter(0, RF_CNT_FOREIGN), 5);
	finish();
	for (unsigned int k = 0; k < 2; k++) {
		start(0);
		join_all(false);
		reduce(0);
		leave_all(false);
		lab.host[1].count = 0;
		strange_join(k ? RF_CTL_J_SHIFTED : 0);
		rf_client_leave(&lab.host[3].client, true, now_ns(&lab));
		run(2000);
		rf_client_abort(&lab.host[3].client, RF_CTL_ABORT_USER, now_ns(&lab));
		run(2000);
		send_data(0, 100);
		run(5);
		assert_int_equal(lab.host[1].count, 0);
		assert_int_equal(counter(0, RF_CNT_TOMBSTONE), 1);
		finish();
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_stranger)};

	if (argc > 1)
		engine_file = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
