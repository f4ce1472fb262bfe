/*
 * Many ranks begin in the same moment, and the box has room for a few control packets only and
 * needs a while for each. The seed is the first argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/src/control/client.h"

#define MS 1000000ull
#define BOX_IP 0x0a0000feu
#define CLIENTS 64u
#define ROOM 8u
#define SERVICE_MS 3u

static const uint8_t box_mac[6] = {2, 0x52, 0x46, 0, 0, 0x11};
static const uint8_t key[16] = {5, 5, 5};
static uint64_t seed = 1;

/* The requests that wait in the box, each with its sender. */
static struct {
	size_t client;
	struct rf_ctl_header h;
} queue[ROOM];
static unsigned int queued, sent, lost;

static uint64_t rnd(void)
{
	seed = seed * 6364136223846793005ull + 1442695040888963407ull;
	return seed >> 32 | seed << 32;
}

static void start(struct rf_client *c, size_t rank)
{
	static const struct rf_ctl_join join = {.ranks = CLIENTS,
						.mtu_log2 = 10,
						.slots_log2 = 9,
						.port = RF_CTL_NO_PORT,
						.flags = RF_CTL_J_SHIFTED,
						.qpn = 0x11,
						.peer_ip = 0x0a000004,
						.peer_qpn = 0x12,
						.shift = RF_CTL_SHIFT,
						.lease_ms = 10000,
						.deadline_ms = 3000};
	struct rf_client_cfg cfg = {.ip = 0x0a000001u + (uint32_t)rank,
				    .mac = {2, 0, 0, 0, 0, 3},
				    .box_ip = BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 42,
				    .group = 1,
				    .rank = (uint16_t)rank,
				    .token = rnd() | 1,
				    .have_box_mac = true};

	memcpy(cfg.box_mac, box_mac, sizeof(cfg.box_mac));
	memcpy(cfg.key, key, sizeof(cfg.key));
	rf_client_init(c, &cfg);
	assert_int_equal(rf_client_join(c, &join, 0), 0);
}

/* What a client sends now waits in the box, or is lost. */
static void send_from(struct rf_client *c, size_t number, uint64_t now)
{
	uint8_t frame[RF_CLIENT_FRAME_MAX];
	size_t len = rf_client_tx(c, now, frame, sizeof(frame));
	struct rf_ctl_addr a;
	const uint8_t *msg;
	size_t n;

	if (len == 0)
		return;
	sent++;
	if (queued == ROOM) {
		lost++;
		return;
	}
	assert_int_equal(rf_ctl_frame_get(frame, len, &a, &msg, &n), 0);
	assert_int_equal(rf_ctl_header_get(msg, n, &queue[queued].h), 0);
	queue[queued++].client = number;
}

/* The box answers the request that has waited longest: READY. */
static void answer(struct rf_client *clients, uint64_t now)
{
	struct rf_client *c = &clients[queue[0].client];
	struct rf_ctl_header h = queue[0].h;
	struct rf_ctl_addr a = {.vlan = RF_CTL_NO_VLAN,
				.dst_mac = {2, 0, 0, 0, 0, 3},
				.src_ip = BOX_IP,
				.dst_ip = c->cfg.ip,
				.src_port = RF_CTL_UDP_PORT,
				.dst_port = RF_CTL_UDP_PORT};
	struct rf_ctl_reply r;
	uint8_t msg[RF_CTL_MESSAGE_MAX];
	uint8_t frame[RF_CTL_FRAME_MAX];
	size_t len;

	memset(&r, 0, sizeof(r));
	r.result = RF_CTL_READY;
	r.u.ready = (struct rf_ctl_ready){
		.ranks = CLIENTS, .window = 256, .slots_log2 = 9, .lanes = 16, .lease_ms = 10000};
	h.flags = RF_CTL_F_REPLY;
	h.epoch = 9;
	memcpy(a.src_mac, box_mac, sizeof(a.src_mac));
	len = rf_ctl_reply_put(msg, &h, &r, key);
	assert_true(len > 0);
	len = rf_ctl_frame_put(frame, sizeof(frame), &a, msg, len);
	assert_int_equal(rf_client_rx(c, now, frame, len), 1);
	memmove(queue, queue + 1, --queued * sizeof(queue[0]));
}

/* All are answered soon, and nobody needs more than a few sendings. */
static void test_many_at_once(void **state)
{
	static struct rf_client c[CLIENTS];
	unsigned int ready = 0;
	uint64_t t;

	(void)state;
	for (size_t i = 0; i < CLIENTS; i++)
		start(&c[i], i);
	for (t = 0; ready < CLIENTS && t < 3000; t++) {
		for (size_t i = 0; i < CLIENTS; i++)
			send_from(&c[i], i, t * MS);
		if (t % SERVICE_MS == 0 && queued > 0)
			answer(c, t * MS);
		ready = 0;
		for (size_t i = 0; i < CLIENTS; i++)
			ready += rf_client_state(&c[i]) == RF_CLIENT_READY;
	}
	printf("%u ready after %u ms, %u requests, %u lost\n", ready, (unsigned int)t, sent, lost);
	assert_int_equal(ready, CLIENTS);
	assert_true(lost > 0);
	assert_in_range(sent, CLIENTS, 8 * CLIENTS);
	assert_true(t < 1500);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_many_at_once)};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	printf("seed %llu; to repeat: %s %llu\n", (unsigned long long)seed, argv[0],
	       (unsigned long long)seed);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
