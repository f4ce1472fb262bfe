/*
 * Frames through DPDK: a memif pair inside this process, as an ordinary user has it.
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "host/io/device_why.h"
#include "host/io/io.h"
#include "ringfold/ringfold.h"
#include "tests/unit/io_stream.h"

static char dir[] = "/tmp/ringfold-io-XXXXXX";
static struct rf_io *server, *client;

static int open_device(const char *device, struct rf_io **io, char *why, size_t room)
{
	return rf_io_dpdk_open(
		&(struct rf_io_dpdk_cfg){.device = device, .frame_max = IO_FRAME_MAX, .mtu = 4160},
		io, why, room);
}

/* Before DPDK has started, and without a line of DPDK on stderr, which nobody could place. */
static void no_hugepages(void **state)
{
	char why[512] = "", line[200] = "";
	struct rf_io *none = NULL;
	FILE *seen = tmpfile();
	int before = dup(STDERR_FILENO), ret;

	(void)state;
	if (rf_hugepages()) {
		printf("not run: this machine has hugepages\n");
		fclose(seen);
		close(before);
		return;
	}
	dup2(fileno(seen), STDERR_FILENO);
	ret = open_device("eth9", &none, why, sizeof(why));
	dup2(before, STDERR_FILENO);
	close(before);
	rewind(seen);
	assert_null(fgets(line, sizeof(line), seen));
	fclose(seen);
	assert_int_equal(ret, RF_ERR_DEVICE);
	assert_non_null(strstr(why, "device eth9 is taken for a NIC's address"));
	assert_non_null(strstr(why, "hugepages"));
	assert_null(none);
}

/* A child of a process that has started DPDK is told so. */
static void child_of_dpdk(void **state)
{
	char device[256], why[512] = "";
	struct rf_io *none = NULL;
	int status = -1;
	pid_t pid;

	(void)state;
	snprintf(device, sizeof(device), "net_memif8,role=server,id=0,socket=%s/child", dir);
	pid = fork();
	if (pid == 0)
		_exit(open_device(device, &none, why, sizeof(why)) == RF_ERR_DEVICE &&
				      strstr(why, "made by fork(), has started DPDK")
			      ? 0
			      : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}

static void open_errors(void **state)
{
	char device[256], why[512] = "";
	struct rf_io *none = NULL;
	uint64_t start = io_now_us();

	(void)state;
	assert_int_equal(open_device("net_nosuch0", &none, why, sizeof(why)), RF_ERR_DEVICE);
	assert_non_null(strstr(why, "net_nosuch0"));
	printf("DPDK started in %u ms\n", (unsigned int)(io_now_us() - start) / 1000);
	snprintf(device, sizeof(device), "net_memif9,role=client,id=0,socket=%s/none", dir);
	assert_int_equal(open_device(device, &none, why, sizeof(why)), RF_ERR_DEVICE);
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
	assert_int_equal(open_device(device, &server, why, sizeof(why)), 0);
	assert_int_equal(server->ops->link(server), 0);
	snprintf(device, sizeof(device),
		 "net_memif1,role=client,id=0,socket=%s/s,mac=02:00:00:00:00:02", dir);
	assert_int_equal(open_device(device, &client, why, sizeof(why)), 0);
	assert_int_equal(client->ops->link(client), 1);
	assert_memory_equal(server->mac, mac1, 6);
	assert_memory_equal(client->mac, mac2, 6);
	assert_int_equal(server->ip, 0);
	printf("polling: %d\n", client->polling);
}

static void frames_both_ways(void **state)
{
	(void)state;
	io_stream(client, server, 5000);
	io_stream(server, client, 5000);
	assert_int_equal(client->tx_lost, 0);
	assert_int_equal(server->tx_lost, 0);
	assert_int_equal(client->tx_frames, 5000);
	assert_int_equal(client->rx_frames, 5000);
	assert_int_equal(client->rx_bytes, client->tx_bytes);
}

/*
 * A burst that the other end does not fetch stays in order, and no buffer is lost. Its frames are
 * longer than the MTU of 1500 that DPDK states for devices without one.
 */
#define LONG_FRAME 4000u

static void slow_reader(void **state)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int sent = 0, seen = 0, n, k;
	uint8_t *p;

	(void)state;
	while ((p = client->ops->tx_buffer(client)) && sent < 100000) {
		memset(p, 0, LONG_FRAME);
		memcpy(p, &sent, sizeof(sent));
		client->ops->tx_commit(client, LONG_FRAME);
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
	assert_int_equal(client->tx_lost, 0);
	io_stream(client, server, 1000);
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
	uint64_t start = io_now_us();

	(void)state;
	client->ops->wait(client, 20000);
	assert_in_range(io_now_us() - start, 19000, 2000000);
	assert_int_equal(pthread_create(&thread, NULL, waker, NULL), 0);
	start = io_now_us();
	client->ops->wait(client, 5000000);
	assert_in_range(io_now_us() - start, 15000, 3000000);
	pthread_join(thread, NULL);
	/* a wake before the wait ends it at once */
	client->ops->wake(client);
	start = io_now_us();
	client->ops->wait(client, 5000000);
	assert_in_range(io_now_us() - start, 0, 1000000);
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
	/* DPDK does not remove its sockets */
	snprintf(path, sizeof(path), "%s/s", dir);
	unlink(path);
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_hugepages),     cmocka_unit_test(open_errors),
		cmocka_unit_test(child_of_dpdk),    cmocka_unit_test(open_pair),
		cmocka_unit_test(frames_both_ways), cmocka_unit_test(slow_reader),
		cmocka_unit_test(sleeping),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
