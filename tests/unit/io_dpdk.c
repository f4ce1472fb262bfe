/*
 * Frames through DPDK: a memif pair inside this process, as an ordinary user would have it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <pthread.h>
#include <time.h>
#include <unistd.h>

#include "host/src/io/io.h"
#include "ringfold/ringfold.h"

#define FRAME_MAX 4196u

static char dir[] = "/tmp/ringfold-io-XXXXXX";
static struct rf_io *server, *client;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000u + (uint64_t)ts.tv_nsec / 1000u;
}

static void open_errors(void **state)
{
	char device[256], why[512] = "";
	struct rf_io *none = NULL;
	uint64_t start = now_us();

	(void)state;
	assert_int_equal(rf_io_dpdk_open("net_nosuch0", NULL, FRAME_MAX, &none, why, sizeof(why)),
			 RF_ERR_DEVICE);
	assert_non_null(strstr(why, "net_nosuch0"));
	printf("DPDK started in %u ms\n", (unsigned int)(now_us() - start) / 1000);
	snprintf(device, sizeof(device), "net_memif9,role=client,id=0,socket=%s/none", dir);
	assert_int_equal(rf_io_dpdk_open(device, NULL, FRAME_MAX, &none, why, sizeof(why)),
			 RF_ERR_DEVICE);
	assert_non_null(strstr(why, "socket"));
	assert_null(none);
}

static void open_pair(void **state)
{
	static const uint8_t mac1[6] = {2, 0, 0, 0, 0, 1}, mac2[6] = {2, 0, 0, 0, 0, 2};
	char device[256], why[512] = "";

	(void)state;
	snprintf(device, sizeof(device),
		 "net_memif0,role=server,id=0,socket=%s/s,mac=02:00:00:00:00:01", dir);
	assert_int_equal(rf_io_dpdk_open(device, NULL, FRAME_MAX, &server, why, sizeof(why)), 0);
	assert_int_equal(server->ops->link(server), 0);
	snprintf(device, sizeof(device),
		 "net_memif1,role=client,id=0,socket=%s/s,mac=02:00:00:00:00:02", dir);
	assert_int_equal(rf_io_dpdk_open(device, NULL, FRAME_MAX, &client, why, sizeof(why)), 0);
	assert_int_equal(client->ops->link(client), 1);
	assert_memory_equal(server->mac, mac1, 6);
	assert_memory_equal(client->mac, mac2, 6);
	assert_int_equal(server->ip, 0);
	printf("polling: %d\n", client->polling);
}

static uint8_t pattern(unsigned int n, unsigned int k)
{
	return (uint8_t)(n * 7 + k * 13 + (k >> 8));
}

/* Sends n frames of growing lengths in bursts and compares every byte at the other end. */
static void stream(struct rf_io *from, struct rf_io *to, unsigned int count)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int sent = 0, seen = 0, k, i, n;
	uint64_t until = now_us() + 10000000;

	while (seen < count && now_us() < until) {
		uint8_t *p;

		while (sent < count && sent - seen < 300 && (p = from->ops->tx_buffer(from))) {
			uint32_t len = 60 + sent * 37 % (FRAME_MAX - 59);

			for (i = 0; i < len; i++)
				p[i] = pattern(sent, i);
			from->ops->tx_commit(from, len);
			sent++;
		}
		from->ops->tx_flush(from);
		n = to->ops->rx(to, frames, RF_IO_BURST);
		for (k = 0; k < n; k++, seen++) {
			assert_int_equal(frames[k].len, 60 + seen * 37 % (FRAME_MAX - 59));
			for (i = 0; i < frames[k].len; i++)
				if (frames[k].data[i] != pattern(seen, i))
					fail_msg("frame %u byte %u", seen, i);
		}
	}
	assert_int_equal(seen, count);
	assert_int_equal(from->tx_lost, 0);
}

static void frames_both_ways(void **state)
{
	(void)state;
	stream(client, server, 5000);
	stream(server, client, 5000);
	assert_int_equal(client->tx_frames, 5000);
	assert_int_equal(client->rx_frames, 5000);
	assert_int_equal(client->rx_bytes, client->tx_bytes);
}

/* A burst that the other end does not fetch stays in order, and no buffer is lost. */
static void slow_reader(void **state)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int sent = 0, seen = 0, n, k;
	uint8_t *p;

	(void)state;
	while ((p = client->ops->tx_buffer(client)) && sent < 100000) {
		memset(p, 0, 60);
		memcpy(p, &sent, sizeof(sent));
		client->ops->tx_commit(client, 60);
		sent++;
	}
	assert_in_range(sent, 100, 99999);
	for (k = 0; k < 10000 && seen < sent; k++) {
		unsigned int j, number;

		n = server->ops->rx(server, frames, RF_IO_BURST);
		for (j = 0; j < n; j++, seen++) {
			memcpy(&number, frames[j].data, sizeof(number));
			assert_int_equal(number, seen);
		}
		client->ops->tx_flush(client);
	}
	assert_int_equal(seen, sent);
	stream(client, server, 1000);
}

static void *waker(void *arg)
{
	usleep(20000);
	client->ops->wake(client);
	return arg;
}

static void sleeping(void **state)
{
	pthread_t thread;
	uint64_t start = now_us();

	(void)state;
	client->ops->wait(client, 20000);
	assert_in_range(now_us() - start, 19000, 2000000);
	assert_int_equal(pthread_create(&thread, NULL, waker, NULL), 0);
	start = now_us();
	client->ops->wait(client, 5000000);
	assert_in_range(now_us() - start, 15000, 3000000);
	pthread_join(thread, NULL);
	/* a wake before the wait ends it at once */
	client->ops->wake(client);
	start = now_us();
	client->ops->wait(client, 5000000);
	assert_in_range(now_us() - start, 0, 1000000);
}

static int make_dir(void **state)
{
	(void)state;
	return mkdtemp(dir) ? 0 : -1;
}

static int drop_dir(void **state)
{
	char path[64];

	(void)state;
	/* DPDK leaves its sockets behind */
	snprintf(path, sizeof(path), "%s/s", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(open_errors),      cmocka_unit_test(open_pair),
		cmocka_unit_test(frames_both_ways), cmocka_unit_test(slow_reader),
		cmocka_unit_test(sleeping),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
