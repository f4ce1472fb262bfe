/* Which rank is last, which is awaited, and which is gone while a group drains. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_joined.h"

/* Sets the positions of the ranks of the only group: next and una of each. */
static void stand(struct fw_net *net, unsigned int i, uint32_t next, uint32_t una)
{
	uint32_t *conn = net->box->conn[RF_FW_CID(0, 0, i)];

	conn[RF_CONN_NEXT / 4] = next;
	conn[RF_CONN_SENT / 4] = next;
	conn[RF_CONN_UNA / 4] = una;
}

/*
 * Rank 0 has everything and has left, then rank 1 dies. Rank 3 sends to rank 0, has everything, and
 * is not disturbed; the ranks that still wait for rank 1 learn that it is gone.
 */
static void lost_peer(uint32_t next, uint32_t una, uint32_t own_next, uint32_t own_una)
{
	const unsigned int rank = 2;
	struct fw_net *net = fw_net_new(4);

	fw_join_all(net);
	for (unsigned int i = 0; i < 4; i++)
		stand(net, i, 100, 100);
	stand(net, 1, next, una);
	stand(net, rank, own_next, own_una);
	rf_client_leave(&net->host[0].client, false, fw_net_now(net));
	fw_net_run(net, 1100);
	net->host[1].mute = true;
	fw_net_run(net, 900);
	assert_state(net, rank, RF_CLIENT_READY);
	fw_net_run(net, 1300);
	assert_int_equal(fw_failure(net, rank)->reason, RF_CTL_R_LEASE);
	assert_int_equal(fw_failure(net, rank)->rank, 1);
	/* If rank 1 owes operands it owes them to all. */
	assert_state(net, 3, next == 100 ? RF_CLIENT_READY : RF_CLIENT_FAILED);
	assert_state(net, 0, RF_CLIENT_DRAINING);
	/* The group is still draining. */
	assert_int_equal(net->box->group[0][0] & 1u, 1);
	assert_int_equal(net->box->fw.cnt.groups_failed, 0);
	rf_client_leave(&net->host[2].client, true, fw_net_now(net));
	rf_client_leave(&net->host[3].client, true, fw_net_now(net));
	fw_net_run(net, 1100);
	assert_int_equal(net->box->fw.hw_used, 0);
	assert_null(net->wrong);
	fw_net_free(net);
}

static void test_lost_peer(void **state)
{
	(void)state;
	lost_peer(100, 90, 100, 100); /* results that rank 1 would have to ask for */
	lost_peer(80, 80, 100, 100);  /* operands that rank 1 has not sent */
	lost_peer(0x10, 0x10, 0x20, 0x10);
	lost_peer(0xfffff0, 0xfffff0, 0x20, 0x20);
}

/* A rank that waits for ACKs of a rank that has died, or has left and died. */
static void lost_receiver(bool left)
{
	struct fw_net *net = fw_net_new(3);

	fw_join_all(net);
	for (unsigned int i = 0; i < 3; i++)
		stand(net, i, 100, 100);
	stand(net, 0, 100, 99); /* it sends to rank 1 */
	if (left)
		rf_client_leave(&net->host[1].client, false, fw_net_now(net));
	rf_client_leave(&net->host[2].client, false, fw_net_now(net));
	fw_net_run(net, 1100);
	net->host[1].mute = true;
	net->host[1].deaf = true;
	fw_net_run(net, 800);
	assert_state(net, 0, RF_CLIENT_READY);
	fw_net_run(net, 1300);
	assert_int_equal(fw_failure(net, 0)->reason, RF_CTL_R_LEASE);
	assert_int_equal(fw_failure(net, 0)->rank, 1);
	assert_state(net, 2, RF_CLIENT_DRAINING);
	fw_net_free(net);
}

/* A rank that has everything is not failed. */
static void test_lost_receiver(void **state)
{
	struct fw_net *net = fw_net_new(3);

	(void)state;
	lost_receiver(false);
	lost_receiver(true);
	fw_join_all(net);
	for (unsigned int i = 0; i < 3; i++)
		stand(net, i, 100, 100);
	rf_client_leave(&net->host[2].client, false, fw_net_now(net));
	fw_net_run(net, 1100);
	net->host[1].mute = true;
	fw_net_run(net, 5000);
	assert_state(net, 0, RF_CLIENT_READY);
	assert_null(net->wrong);
	fw_net_free(net);
}

static const struct rf_ctl_lag_page *lag_page(struct fw_net *net, unsigned int i)
{
	struct rf_ctl_status_req ask = {.page = RF_CTL_PAGE_LAG};
	const struct rf_ctl_reply *a;

	assert_int_equal(rf_client_status(&net->host[i].client, &ask, fw_net_now(net)), 0);
	fw_net_run(net, 1);
	a = rf_client_answer(&net->host[i].client);
	assert_non_null(a);
	assert_int_equal(a->page, RF_CTL_PAGE_LAG);
	assert_int_equal(a->u.lag.ranks, net->hosts);
	assert_int_equal(a->u.lag.count, net->hosts);
	assert_int_equal(a->u.lag.bins, RF_CTL_LAG_BINS);
	return &a->u.lag;
}

/* Each sample of the hardware is counted in the right bin and for the right rank. */
static void test_lag_samples(void **state)
{
	static const struct {
		uint32_t us;
		unsigned int bin;
	} cases[] = {{0, 0},    {1, 1},     {2, 2},     {3, 2},       {4, 3},
		     {999, 10}, {1024, 11}, {8191, 13}, {999999, 20}, {1000000, 99}};
	struct fw_net *net = fw_net_new(4);
	struct fw_box *b = net->box;
	const struct rf_ctl_lag_page *p;
	uint64_t sum = 0;

	(void)state;
	fw_join_all(net);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unsigned int arms = b->lag_arms;
		uint32_t before =
			cases[i].bin < RF_CTL_LAG_BINS ? b->fw.group[0].lag[cases[i].bin] : 0;

		b->lag_cycles = cases[i].us * (FW_BOX_KHZ / 1000u);
		b->lag_status = RF_LAG_STATUS_VALID_MASK | 2u; /* port 2: rank 2 */
		fw_net_run(net, 3);
		assert_int_equal(b->lag_arms, arms + 1);
		if (cases[i].bin < RF_CTL_LAG_BINS) {
			assert_int_equal(b->fw.group[0].lag[cases[i].bin], before + 1);
			sum += cases[i].us;
		}
	}
	p = lag_page(net, 1);
	assert_int_equal(p->rank[2].times, 9);
	assert_int_equal(p->rank[2].most_us, 999999);
	assert_int_equal(p->rank[0].times + p->rank[1].times + p->rank[3].times, 0);
	assert_int_equal(p->sum_us, sum);
	assert_int_equal(p->bin[2], 2);
	assert_int_equal(p->awaited, RF_CTL_NO_RANK);
	/* A clock rate at which the cycles give more microseconds than fit. */
	b->fw.khz = 1;
	b->lag_cycles = UINT32_MAX;
	b->lag_status = RF_LAG_STATUS_VALID_MASK | 2u;
	rf_fw_poll(&b->fw);
	assert_null(rf_fw_check(&b->fw));
	fw_net_free(net);
}

/*
 * A rank that makes the others wait for 20 s is reported while they wait, and counted once it
 * arrives.
 */
static void test_lag_straggler(void **state)
{
	struct fw_net *net = fw_net_new(4);
	struct fw_box *b = net->box;
	const struct rf_ctl_lag_page *p;

	(void)state;
	fw_join_all(net);
	fw_net_run(net, 3000);
	assert_int_equal(lag_page(net, 0)->awaited, RF_CTL_NO_RANK);
	for (unsigned int i = 0; i < 4; i++)
		stand(net, i, i == 3 ? 0 : 5, 0);
	fw_net_run(net, 20000);
	p = lag_page(net, 0);
	assert_int_equal(p->awaited, 3);
	assert_in_range(p->awaited_ms, 19800, 20300);
	assert_int_equal(p->rank[3].times, 0);
	stand(net, 3, 5, 0);
	b->group[0][RF_GROUP_HEAD / 4] = 5;
	fw_net_run(net, 200);
	p = lag_page(net, 0);
	assert_int_equal(p->awaited, RF_CTL_NO_RANK);
	assert_int_equal(p->rank[3].times, 1);
	assert_in_range(p->rank[3].most_us, 19800000, 20500000);
	assert_int_equal(p->bin[25], 1); /* 16.8 s to 33.6 s */
	/* The measurement of the only group was not given up meanwhile. */
	assert_int_equal(b->lag_arms, 1);
	assert_null(net->wrong);
	fw_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lost_peer),
		cmocka_unit_test(test_lost_receiver),
		cmocka_unit_test(test_lag_samples),
		cmocka_unit_test(test_lag_straggler),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
