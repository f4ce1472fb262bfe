/* JOIN to READY: placement, orders, deadline, loss, the next group. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "firmware/core/internal.h"
#include "tests/unit/fw_joined.h"

/* Heap's algorithm without recursion: calls back with every permutation of n. */
static void orders(unsigned int n, void (*each)(const unsigned int *order, void *arg), void *arg)
{
	unsigned int order[8], c[8] = {0};
	unsigned int i = 1;

	for (unsigned int k = 0; k < n; k++)
		order[k] = k;
	each(order, arg);
	while (i < n) {
		if (c[i] < i) {
			unsigned int j = i & 1u ? c[i] : 0u;
			unsigned int t = order[j];

			order[j] = order[i];
			order[i] = t;
			each(order, arg);
			c[i]++;
			i = 1;
		} else {
			c[i++] = 0;
		}
	}
}

/*
 * One JOIN directly to the firmware, without a client, so that 40,320 permutations take a few
 * seconds.
 */
static void raw_join(struct fw_net *net, unsigned int i)
{
	const struct fw_host *h = &net->host[i];
	struct rf_ctl_header hd = {.verb = RF_CTL_JOIN,
				   .group = 1,
				   .job = 42,
				   .rank = (uint16_t)i,
				   .seq = 1,
				   .token = 5 + i,
				   .nonce = fw_box_nonce(h->cfg.ip)};
	struct rf_ctl_request r = {.u.join = h->join};
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.src_ip = h->cfg.ip,
				.dst_ip = FW_BOX_IP,
				.src_port = 50000,
				.dst_port = RF_CTL_UDP_PORT};
	static const uint8_t key[16];
	uint8_t msg[RF_CTL_MESSAGE_MAX], frame[RF_CTL_FRAME_MAX];
	size_t len;

	r.u.join.src_ip = h->cfg.ip;
	len = rf_ctl_request_put(msg, &hd, &r, key);
	memcpy(a.src_mac, h->cfg.mac, 6);
	len = rf_ctl_frame_put(frame, sizeof(frame), &a, msg, len);
	fw_box_punt(net->box, h->port, frame, len);
	rf_fw_poll(&net->box->fw);
}

struct orders_state {
	struct fw_net *net;
	unsigned int count;
	struct rf_ctl_ready first;
	uint32_t conn[4][2][6], group[8];
};

static void one_order(const unsigned int *order, void *arg)
{
	struct orders_state *s = arg;
	struct fw_box *b = s->net->box;
	struct rf_ctl_header h;
	struct rf_ctl_reply r;
	struct rf_ctl_addr a;
	const struct fw_box_frame *f;
	const uint8_t *msg;
	size_t len;
	unsigned int ready = 0;

	assert_int_equal(fw_box_start(b), RF_FW_OK);
	for (unsigned int k = 0; k < 8; k++)
		raw_join(s->net, order[k]);
	assert_null(b->fault);
	while ((f = fw_box_out(b)) != NULL) {
		assert_int_equal(rf_ctl_frame_get(f->data, f->len, &a, &msg, &len), 0);
		assert_int_equal(rf_ctl_header_get(msg, len, &h), 0);
		assert_int_equal(rf_ctl_reply_get(msg, &h, &r), 0);
		if (r.result != RF_CTL_READY)
			continue;
		ready++;
		if (s->count == 0)
			s->first = r.u.ready;
		assert_memory_equal(&s->first, &r.u.ready, sizeof(s->first));
	}
	assert_int_equal(ready, 8);
	for (unsigned int p = 0; p < 4; p++)
		for (unsigned int l = 0; l < 2; l++) {
			uint32_t *now = b->conn[RF_FW_CID(0, l, p)];

			if (s->count == 0)
				memcpy(s->conn[p][l], now, sizeof(s->conn[p][l]));
			assert_memory_equal(s->conn[p][l], now, sizeof(s->conn[p][l]));
		}
	if (s->count == 0)
		memcpy(s->group, b->group[0], sizeof(s->group));
	assert_memory_equal(s->group, b->group[0], sizeof(s->group));
	s->count++;
}

static void test_all_orders(void **state)
{
	struct orders_state s = {.net = fw_net_new(8)};

	(void)state;
	/* A small table, because emptying it is most of the work. */
	s.net->box->hash_bits = 5;
	orders(8, one_order, &s);
	assert_int_equal(s.count, 40320);
	for (unsigned int r = 0; r < 8; r++) {
		assert_int_equal(s.first.place[r].port, r % 4);
		assert_int_equal(s.first.place[r].lane, r / 4);
	}
	assert_int_equal(s.first.window, 32);
	assert_int_equal(s.first.lanes, 2);
	assert_int_equal(s.first.level, 2);
	fw_net_free(s.net);
}

/* The clients' view of one permutation, with the registers checked one by one. */
static void test_registers(void **state)
{
	struct fw_net *net = fw_net_new(3);
	struct fw_box *b = net->box;
	const uint32_t *c;

	(void)state;
	net->host[0].port = 2;
	net->host[1].port = 3;
	net->host[2].port = 2;
	for (unsigned int i = 0; i < 3; i++) {
		net->host[i].join.dtype = RF_DTYPE_BF16;
		net->host[i].join.op = RF_OP_MAX;
		net->host[i].join.flags |= RF_CTL_J_TRANSPARENT;
	}
	fw_join_all(net);
	/* Ranks 0 and 2 in lanes 0 and 1 of port 2, rank 1 in lane 0 of port 3; block {2, 3}. */
	assert_int_equal(b->group[0][RF_GROUP_CFG / 4],
			 RF_GROUP_CFG_LIVE_MASK | RF_GROUP_CFG_TRANSPARENT_MASK |
				 RF_DTYPE_BF16 << RF_GROUP_CFG_DTYPE_LSB |
				 RF_OP_MAX << RF_GROUP_CFG_OP_LSB |
				 10u << RF_GROUP_CFG_MTU_LOG2_LSB | 1u << RF_GROUP_CFG_LEVEL_LSB |
				 2u << RF_GROUP_CFG_BASE_PORT_LSB | 2u << RF_GROUP_CFG_LANES_LSB |
				 6u << RF_GROUP_CFG_S_LOG2_LSB);
	assert_int_equal(b->group[0][RF_GROUP_MEMBERS0 / 4], 0x040cu);
	assert_int_equal(b->group[0][RF_GROUP_DBASE / 4], 0);
	c = b->conn[RF_FW_CID(0, 1, 2)];
	assert_int_equal(c[RF_CONN_START / 4], 0x2000);
	assert_int_equal(c[RF_CONN_SHIFT / 4], RF_CTL_SHIFT);
	assert_int_equal(c[RF_CONN_SRC_IP / 4], FW_HOST_IP(2));
	assert_int_equal(c[RF_CONN_PEER_IP / 4], FW_HOST_IP(0));
	assert_int_equal(c[RF_CONN_PEER_PORT / 4], 2);
	assert_int_equal(c[RF_CONN_QPN / 4], FW_HOST_QPN(2));
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(0), rf_fw_key(0, FW_HOST_QPN(0))),
			 RF_FW_CID(0, 1, 2) | RF_STATE_LIVE << 16);
	assert_int_equal(fw_box_lookup(b, FW_HOST_IP(2), rf_fw_key(1, FW_HOST_QPN(2))),
			 RF_FW_CID(0, 1, 2) | RF_STATE_LIVE << 16);
	assert_int_equal(b->ctrl, 3);
	assert_int_equal(b->ip, FW_BOX_IP);
	fw_net_free(net);
}

static void test_waiting_names_ranks(void **state)
{
	struct fw_net *net = fw_net_new(6);
	const struct rf_ctl_waiting *w;
	char text[200];

	(void)state;
	fw_net_start(net);
	fw_net_join(net, 1);
	fw_net_join(net, 4);
	fw_net_run(net, 50);
	assert_null(net->wrong);
	assert_state(net, 1, RF_CLIENT_JOINING);
	w = rf_client_waiting(&net->host[1].client);
	assert_non_null(w);
	assert_int_equal(w->joined, 2);
	rf_client_text(&net->host[1].client, text, sizeof(text));
	assert_string_equal(text, "waiting for ranks 0, 2, 3, 5 (2 of 6 have joined)");
	fw_net_free(net);
}

static void test_deadline(void **state)
{
	struct fw_net *net = fw_net_new(4);
	const struct rf_ctl_failed *f;
	char text[200];

	(void)state;
	fw_net_start(net);
	for (unsigned int i = 0; i < 3; i++)
		fw_net_join(net, i);
	fw_net_run(net, 1900);
	assert_state(net, 0, RF_CLIENT_JOINING);
	fw_net_run(net, 200);
	f = fw_failure(net, 0);
	assert_int_equal(f->reason, RF_CTL_R_MISSING_RANKS);
	assert_int_equal(f->rank, 3);
	rf_client_text(&net->host[2].client, text, sizeof(text));
	assert_string_equal(text, "the group failed: rank 3 did not join within 2000 ms; "
				  "start them, or allow more time");
	/* Everything is free again, and the same ranks may join again. */
	for (unsigned int i = 0; i < 4; i++)
		fw_net_join(net, i);
	fw_net_run(net, 10);
	for (unsigned int i = 0; i < 4; i++)
		assert_state(net, i, RF_CLIENT_READY);
	fw_net_free(net);
}

/* Heavy loss: any JOIN, READY or keepalive may be lost, yet the group forms and stays alive. */
static void test_loss(void **state)
{
	(void)state;
	for (unsigned int run = 0; run < 20; run++) {
		struct fw_net *net = fw_net_new(8);

		net->loss = 64;
		net->seed = run;
		for (unsigned int i = 0; i < 8; i++)
			net->host[i].join.deadline_ms = 20000;
		for (unsigned int i = 0; i < 8; i++) {
			net->host[i].join.lease_ms = 4000;
			net->host[i].cfg.retry_max_ns = 250000000;
		}
		fw_net_start(net);
		for (unsigned int i = 0; i < 8; i++)
			fw_net_join(net, i);
		fw_net_run(net, 6000);
		assert_null(net->wrong);
		for (unsigned int i = 0; i < 8; i++)
			assert_state(net, i, RF_CLIENT_READY);
		fw_net_free(net);
	}
}

/*
 * A new membership while the old group drains or has failed; late requests of the old one are
 * rejected.
 */
static void test_next_group(void **state)
{
	struct fw_net *net = fw_net_new(2);
	struct rf_client old;
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len;

	(void)state;
	fw_join_all(net);
	old = net->host[0].client;
	old.state = RF_CLIENT_JOINING;
	rf_client_abort(&net->host[1].client, RF_CTL_ABORT_USER, fw_net_now(net));
	fw_net_run(net, 1);
	fw_net_join(net, 1);
	fw_net_run(net, 1);
	/* A JOIN of the old membership of rank 0, late. */
	old.req.due = 0;
	len = rf_client_tx(&old, fw_net_now(net), frame, sizeof(frame));
	assert_true(len > 0);
	fw_box_punt(net->box, 0, frame, len);
	assert_null(fw_box_poll(net->box));
	fw_net_run(net, 1);
	assert_state(net, 1, RF_CLIENT_JOINING);
	fw_net_join(net, 0);
	fw_net_run(net, 2);
	assert_state(net, 0, RF_CLIENT_READY);
	assert_state(net, 1, RF_CLIENT_READY);
	assert_null(net->wrong);
	fw_net_free(net);
}

/* 64 ranks with data and ACK entries, 16 lanes on 4 ports. */
static void test_64_ranks(void **state)
{
	struct fw_net *net = fw_net_new(64);
	const struct rf_ctl_ready *r;

	(void)state;
	fw_join_all(net);
	r = rf_client_ready(&net->host[63].client);
	assert_int_equal(r->lanes, 16);
	assert_int_equal(r->place[63].port, 3);
	assert_int_equal(r->place[63].lane, 15);
	assert_int_equal(net->box->fw.entries, 128);
	fw_net_free(net);
}

static void test_open_loop(void **state)
{
	struct fw_net *net = fw_net_new(2);

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rf_ctl_join *j = &net->host[i].join;

		/* One tool names both ranks, their ports and addresses. */
		j->flags = RF_CTL_J_OPEN_LOOP;
		j->shift = 0;
		j->src_ip = 0x0b000001u + i;
		j->peer_ip = 0x0b000001u + 1 - i;
		j->port = (uint8_t)(3 - i);
		j->qpn = 0;
		j->lease_ms = RF_CTL_LEASE_NONE;
		memcpy(net->host[i].cfg.mac, net->host[0].cfg.mac, 6);
		net->host[i].cfg.ip = net->host[0].cfg.ip;
		net->host[i].port = 0;
	}
	fw_join_all(net);
	assert_int_equal(rf_client_ready(&net->host[0].client)->place[0].port, 3);
	assert_int_equal(net->box->group[0][0] & RF_GROUP_CFG_OPEN_LOOP_MASK,
			 RF_GROUP_CFG_OPEN_LOOP_MASK);
	assert_int_equal(net->box->fw.entries, 2);
	/* The tool exits; without a lease the group stays. */
	net->hosts = 0;
	fw_net_run(net, 100000);
	assert_int_equal(net->box->group[0][0] & 1u, 1);
	assert_null(net->wrong);
	fw_net_free(net);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),  cmocka_unit_test(test_waiting_names_ranks),
		cmocka_unit_test(test_deadline),   cmocka_unit_test(test_loss),
		cmocka_unit_test(test_next_group), cmocka_unit_test(test_64_ranks),
		cmocka_unit_test(test_open_loop),  cmocka_unit_test(test_all_orders),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
