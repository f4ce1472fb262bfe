/*
 * What ends a group: leases, LEAVE, ABORT, errors of the hardware, RESET; what remains afterwards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_joined.h"

static void test_lease(void **state)
{
	struct fw_net *net = fw_net_new(4);
	const struct rf_ctl_failed *f;

	(void)state;
	fw_join_all(net);
	fw_net_run(net, 5000);
	assert_state(net, 0, RF_CLIENT_READY);
	net->host[2].mute = true;
	fw_net_run(net, 900);
	assert_state(net, 0, RF_CLIENT_READY);
	fw_net_run(net, 700);
	f = fw_failure(net, 0);
	assert_int_equal(f->reason, RF_CTL_R_LEASE);
	assert_int_equal(f->rank, 2);
	assert_int_equal(fw_failure(net, 3)->rank, 2);
	assert_int_equal(net->box->fw.entries, 0);
	assert_int_equal(net->box->fw.hw_used, 0);
	fw_net_free(net);
}

/* Data sent by a rank and ACKs that it returns as a receiver are signs of life. */
static void test_lease_by_traffic(void **state)
{
	struct fw_net *net = fw_net_new(4);
	struct fw_box *b = net->box;

	(void)state;
	fw_join_all(net);
	net->host[2].mute = true;
	net->host[2].deaf = true;
	for (unsigned int i = 0; i < 20; i++) {
		if (i < 10)
			b->conn[RF_FW_CID(0, 0, 2)][RF_CONN_SEEN / 4] |= RF_CONN_SEEN_DATA_MASK;
		else /* rank 1 sends to rank 2 */
			b->conn[RF_FW_CID(0, 0, 1)][RF_CONN_SEEN / 4] |= RF_CONN_SEEN_ACK_MASK;
		fw_net_run(net, 600);
		assert_null(net->wrong);
		assert_state(net, 0, RF_CLIENT_READY);
	}
	/* ACKs of its own connection are sent by its successor. */
	for (unsigned int i = 0; i < 4; i++) {
		b->conn[RF_FW_CID(0, 0, 2)][RF_CONN_SEEN / 4] |= RF_CONN_SEEN_ACK_MASK;
		fw_net_run(net, 600);
	}
	assert_int_equal(fw_failure(net, 0)->reason, RF_CTL_R_LEASE);
	fw_net_free(net);
}

static void test_leave(void **state)
{
	struct fw_net *net = fw_net_new(3);
	struct fw_box *b = net->box;
	const struct rf_ctl_draining *d;

	(void)state;
	fw_join_all(net);
	rf_client_leave(&net->host[0].client, false, fw_net_now(net));
	fw_net_run(net, 20);
	assert_null(net->wrong);
	assert_state(net, 0, RF_CLIENT_DRAINING);
	assert_true(rf_client_left_acked(&net->host[0].client));
	/* Nothing is freed: repeats, and ACKs on behalf of the rank, continue. */
	assert_int_equal(b->group[0][0] & 1u, 1);
	assert_int_equal(b->fw.entries, 6);
	/* The others learn of it with their next keepalive. */
	fw_net_run(net, 1100);
	d = rf_client_draining(&net->host[1].client);
	assert_non_null(d);
	assert_state(net, 1, RF_CLIENT_READY);
	assert_int_equal(d->left, 1);
	assert_false(rf_ctl_mask_get(d->missing, 0));
	rf_client_leave(&net->host[1].client, false, fw_net_now(net));
	rf_client_leave(&net->host[2].client, false, fw_net_now(net));
	fw_net_run(net, 1100);
	for (unsigned int i = 0; i < 3; i++)
		assert_state(net, i, RF_CLIENT_IDLE);
	assert_int_equal(b->group[0][0] & 1u, 0);
	assert_int_equal(b->fw.entries, 0);
	assert_int_equal(b->fw.hw_used, 0);
	assert_int_equal(b->fw.cnt.groups_ended, 1);
	assert_null(net->wrong);
	fw_net_free(net);
}

static void test_leave_with_dead_rank(void **state)
{
	struct fw_net *net = fw_net_new(3);

	(void)state;
	fw_join_all(net);
	net->host[1].mute = true;
	rf_client_leave(&net->host[0].client, false, fw_net_now(net));
	rf_client_leave(&net->host[2].client, false, fw_net_now(net));
	fw_net_run(net, 500);
	assert_state(net, 0, RF_CLIENT_DRAINING);
	fw_net_run(net, 2500);
	assert_state(net, 0, RF_CLIENT_IDLE);
	assert_int_equal(net->box->fw.cnt.groups_ended, 1);
	assert_int_equal(net->box->fw.cnt.leases, 1);
	assert_null(net->wrong);
	fw_net_free(net);
}

/*
 * Plain connections: dropped once both ends have joined, tombstones after the end, free when
 * destroyed.
 */
static void test_tombstones(void **state)
{
	struct fw_net *net = fw_net_new(2);
	struct fw_box *b = net->box;
	uint32_t key = rf_fw_key(0, FW_HOST_QPN(1));

	(void)state;
	fw_plain(net);
	fw_net_start(net);
	fw_net_join(net, 0);
	fw_net_run(net, 1);
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(1), key), 0);
	fw_net_join(net, 1);
	fw_net_run(net, 1);
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(1), key) >> 16, RF_STATE_LIVE);
	fw_leave_all(net, false);
	fw_net_run(net, 1500);
	assert_state(net, 0, RF_CLIENT_IDLE);
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(1), key) >> 16, RF_STATE_TOMBSTONE);
	assert_int_equal(b->fw.tombstones, 2);
	assert_int_equal(b->fw.entries, 2);
	/* Rank 0's queue pair is destroyed; its data entry has the receiver's address. */
	assert_int_equal(rf_client_leave(&net->host[0].client, true, fw_net_now(net)), 0);
	fw_net_run(net, 100);
	assert_state(net, 0, RF_CLIENT_IDLE);
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(1), key), 0);
	assert_int_equal(b->fw.tombstones, 1);
	/* A new group takes over the other one. */
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 2);
	assert_state(net, 0, RF_CLIENT_READY);
	assert_int_equal(b->fw.tombstones, 0);
	fw_leave_all(net, true);
	fw_net_run(net, 1500);
	assert_int_equal(b->fw.entries, 0);
	assert_null(net->wrong);
	fw_net_free(net);
}

static void test_tombstone_after_failure(void **state)
{
	struct fw_net *net = fw_net_new(3);
	struct fw_box *b = net->box;

	(void)state;
	fw_plain(net);
	b->cfg.hold_ms = 0;
	b->cfg.tomb_ms = 5000;
	fw_net_start(net);
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 2500);
	assert_int_equal(fw_failure(net, 0)->reason, RF_CTL_R_MISSING_RANKS);
	assert_int_equal(b->fw.tombstones, 1);
	fw_net_run(net, 8000);
	assert_int_equal(b->fw.entries, 0);
	fw_net_free(net);
}

static void test_abort(void **state)
{
	struct fw_net *net = fw_net_new(4);
	const struct rf_ctl_failed *f;
	char text[200];

	(void)state;
	fw_join_all(net);
	assert_int_equal(
		rf_client_abort(&net->host[2].client, RF_CTL_ABORT_TRANSPORT, fw_net_now(net)), 0);
	fw_net_run(net, 1);
	f = fw_failure(net, 0);
	assert_int_equal(f->reason, RF_CTL_R_ABORTED);
	assert_int_equal(f->rank, 2);
	assert_int_equal(f->detail, RF_CTL_ABORT_TRANSPORT);
	rf_client_text(&net->host[3].client, text, sizeof(text));
	assert_string_equal(text,
			    "the group failed: rank 2 aborted it: its transport gave up (code 2)");
	assert_int_equal(net->box->group[0][0], 0);
	assert_int_equal(net->host[2].client.last_left, 0);
	fw_net_free(net);
}

static void test_abort_while_joining(void **state)
{
	struct fw_net *net = fw_net_new(4);

	(void)state;
	fw_net_start(net);
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 5);
	rf_client_leave(&net->host[1].client, false, fw_net_now(net));
	fw_net_run(net, 1);
	assert_int_equal(fw_failure(net, 0)->reason, RF_CTL_R_ABORTED);
	fw_net_free(net);
}

static void test_group_error(void **state)
{
	static const struct {
		uint32_t cause;
		enum rf_ctl_reason reason;
	} cases[] = {{RF_ERROR_DISAGREE, RF_CTL_R_DISAGREE},
		     {RF_ERROR_LENGTH, RF_CTL_R_LENGTH},
		     {RF_ERROR_ELEMENT, RF_CTL_R_ELEMENT},
		     {RF_ERROR_OPCODE, RF_CTL_R_OPCODE},
		     {RF_ERROR_NAK, RF_CTL_R_NAK},
		     {RF_ERROR_PARITY, RF_CTL_R_PARITY},
		     {14, RF_CTL_R_HARDWARE}};

	(void)state;
	for (unsigned int k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct fw_net *net = fw_net_new(6);
		struct fw_box *b = net->box;
		const struct rf_ctl_failed *f;

		fw_join_all(net);
		/* Port 1, lane 1 is rank 5. */
		b->group[0][RF_GROUP_ERROR_INDEX / 4] = 4711;
		b->group[0][RF_GROUP_ERROR / 4] = RF_GROUP_ERROR_VALID_MASK | 1u |
						  1u << RF_GROUP_ERROR_LANE_LSB |
						  cases[k].cause << RF_GROUP_ERROR_CAUSE_LSB;
		fw_net_run(net, 1);
		f = fw_failure(net, 3);
		assert_int_equal(f->reason, cases[k].reason);
		assert_int_equal(f->rank, 5);
		assert_int_equal(f->index, 4711);
		assert_int_equal(b->group[0][RF_GROUP_ERROR / 4], 0);
		fw_net_free(net);
	}
}

/*
 * An error that the hardware latches for a group that has just ended does not keep the interrupt
 * raised, and does not touch a live group.
 */
static void test_late_error(void **state)
{
	struct fw_net *net = fw_net_new(6);
	struct fw_box *b = net->box;

	(void)state;
	fw_join_all(net);
	for (unsigned int hw = 1; hw < 8; hw++)
		b->group[hw][RF_GROUP_ERROR / 4] = RF_GROUP_ERROR_VALID_MASK | RF_ERROR_DISAGREE;
	fw_net_run(net, 1);
	for (unsigned int hw = 0; hw < 8; hw++)
		assert_int_equal(b->group[hw][RF_GROUP_ERROR / 4], 0);
	assert_int_equal(rf_client_state(&net->host[3].client), RF_CLIENT_READY);
	assert_int_equal(rf_client_abort(&net->host[0].client, 5, fw_net_now(net)), 0);
	fw_net_run(net, 1);
	b->group[0][RF_GROUP_ERROR / 4] = RF_GROUP_ERROR_VALID_MASK | RF_ERROR_DISAGREE;
	fw_net_run(net, 1);
	assert_int_equal(b->group[0][RF_GROUP_ERROR / 4], 0);
	assert_int_equal(fw_failure(net, 3)->reason, RF_CTL_R_ABORTED);
	fw_net_free(net);
}

/* A restart of the box is noticed by its epoch, a RESET by its notice. */
static void test_reset(void **state)
{
	struct fw_net *net = fw_net_new(3);
	struct fw_host *op = &net->host[2];

	(void)state;
	net->host[0].join.ranks = net->host[1].join.ranks = 2;
	net->host[1].join.peer_ip = FW_HOST_IP(0);
	net->host[1].join.peer_qpn = FW_HOST_QPN(0);
	op->cfg.job = RF_CTL_JOB_OPERATOR;
	op->cfg.rank = RF_CTL_NO_RANK;
	fw_net_start(net);
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 2);
	assert_state(net, 0, RF_CLIENT_READY);
	assert_int_equal(rf_client_reset(&op->client, fw_net_now(net)), 0);
	fw_net_run(net, 1);
	assert_int_equal(rf_client_query(&op->client), RF_CLIENT_Q_DONE);
	assert_state(net, 0, RF_CLIENT_FAILED);
	assert_int_equal(rf_client_error(&net->host[0].client), RF_CLIENT_E_RESET);
	assert_int_equal(net->box->fw.epoch, 78);
	assert_int_equal(net->box->fw.entries, 0);
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 10);
	assert_state(net, 1, RF_CLIENT_READY);
	net->box->cfg.epoch = 1234;
	assert_int_equal(fw_box_start(net->box), RF_FW_OK);
	fw_net_run(net, 600);
	assert_state(net, 1, RF_CLIENT_FAILED);
	assert_int_equal(rf_client_error(&net->host[1].client), RF_CLIENT_E_RESET);
	assert_null(net->wrong);
	fw_net_free(net);
}

/*
 * Parity error in a memory of the ledger, a table or a queue: the box resets itself and reports
 * why.
 */
static void test_lost_bit(void **state)
{
	struct fw_net *net = fw_net_new(2);
	struct fw_box *b = net->box;
	const struct rf_ctl_failed *f;
	const uint32_t parity = RF_PARITY_VALID_MASK | RF_MEMORY_LEDGER << RF_PARITY_MEMORY_LSB |
				1u << RF_PARITY_PORT_LSB;

	(void)state;
	b->cfg.hold_ms = 300;
	fw_join_all(net);
	fw_net_run(net, 400);
	assert_int_equal(b->ctrl, RF_CTRL_ENABLE_MASK);
	b->parity = parity;
	fw_net_run(net, 1);
	assert_int_equal(b->parity, 0);
	assert_int_equal(b->restarts, 1);
	assert_int_equal(b->fw.cnt.parity, 1);
	f = fw_failure(net, 0);
	assert_int_equal(f->reason, RF_CTL_R_PARITY);
	assert_int_equal(f->rank, RF_CTL_NO_RANK);
	assert_int_equal(f->detail, parity);
	/* No state is left, the hold time has begun, and earlier nonces are void. */
	assert_int_equal(b->fw.entries, 0);
	assert_int_equal(b->ctrl, RF_CTRL_ENABLE_MASK | RF_CTRL_HOLD_MASK);
	assert_int_equal(b->fw.epoch, 77);
	assert_int_equal(b->fw.log[(b->fw.log_next - 1u) % RF_FW_LOG].kind, RF_CTL_EV_RESET);
	assert_int_equal(b->fw.log[(b->fw.log_next - 1u) % RF_FW_LOG].reason, RF_CTL_R_PARITY);
	fw_net_run(net, 10);
	assert_int_equal(b->restarts, 1);
	fw_net_join(net, 0);
	fw_net_join(net, 1);
	fw_net_run(net, 10);
	assert_state(net, 0, RF_CLIENT_READY);
	assert_null(net->wrong);
	fw_net_free(net);
}

static void test_hold(void **state)
{
	struct fw_net *net = fw_net_new(2);

	(void)state;
	net->box->cfg.hold_ms = 300;
	fw_net_start(net);
	assert_int_equal(net->box->ctrl, 3);
	fw_net_run(net, 299);
	assert_int_equal(net->box->ctrl, 3);
	fw_net_run(net, 2);
	assert_int_equal(net->box->ctrl, 1);
	net->box->cfg.hold_ms = 0;
	assert_int_equal(fw_box_start(net->box), RF_FW_OK);
	assert_int_equal(net->box->ctrl, 1);
	assert_int_equal(rf_fw_poll(&net->box->fw), RF_FW_NEVER);
	fw_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lease),       cmocka_unit_test(test_lease_by_traffic),
		cmocka_unit_test(test_leave),       cmocka_unit_test(test_leave_with_dead_rank),
		cmocka_unit_test(test_tombstones),  cmocka_unit_test(test_tombstone_after_failure),
		cmocka_unit_test(test_abort),       cmocka_unit_test(test_abort_while_joining),
		cmocka_unit_test(test_group_error), cmocka_unit_test(test_late_error),
		cmocka_unit_test(test_reset),       cmocka_unit_test(test_hold),
		cmocka_unit_test(test_lost_bit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
