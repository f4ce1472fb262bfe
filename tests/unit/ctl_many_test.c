/*
 * Many ranks start at the same moment, and the box has room for only a few control packets and
 * takes some time for each. The seed is the first argument.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/unit/ctl_script.h"

#define CLIENTS 64u
#define ROOM 8u
#define SERVICE_MS 3u

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
	struct rf_ctl_join join = script_join;
	struct rf_client_cfg cfg = {.ip = 0x0a000001u + (uint32_t)rank,
				    .box_ip = SCRIPT_BOX_IP,
				    .vlan = RF_CTL_NO_VLAN,
				    .job = 42,
				    .group = 1,
				    .rank = (uint16_t)rank,
				    .token = rnd() | 1,
				    .have_box_mac = true};

	join.ranks = CLIENTS;
	memcpy(cfg.mac, script_own_mac, sizeof(cfg.mac));
	memcpy(cfg.box_mac, script_box_mac, sizeof(cfg.box_mac));
	memcpy(cfg.key, script_key, sizeof(cfg.key));
	rf_client_init(c, &cfg);
	assert_int_equal(rf_client_join(c, &join, 0), 0);
}

/* Frames that a client sends now are queued in the box, or lost. */
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

/* The box answers the oldest request with READY. */
static void answer(struct rf_client *clients, uint64_t now)
{
	struct rf_client *c = &clients[queue[0].client];
	struct rf_ctl_reply r = script_ready();

	r.u.ready.ranks = CLIENTS;
	r.u.ready.lanes = 16;
	assert_int_equal(script_reply(c, now, &queue[0].h, &r, script_key, 9), 1);
	memmove(queue, queue + 1, --queued * sizeof(queue[0]));
}

/* All are answered soon, and no client needs more than a few transmissions. */
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
