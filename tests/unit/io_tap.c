/*
 * DPDK devices with an MTU that they enforce: net_tap and net_af_packet on a veth pair, against a
 * raw socket at the other side, in a network namespace of the test. Needs root and iproute2.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/io/io.h"
#include "host/roce/wire.h"
#include "ringfold/ringfold.h"
#include "tests/unit/io_stream.h"

#define ETHERTYPE 0x88b5u /* for experiments (IEEE 802) */
#define SKIPPED 77

struct tap {
	struct rf_io *io;
	int fd; /* the other side: a raw socket on the interface */
};

static int interface_mtu(const char *name)
{
	struct ifreq req = {0};
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	int ret;

	snprintf(req.ifr_name, sizeof(req.ifr_name), "%s", name);
	ret = ioctl(fd, SIOCGIFMTU, &req);
	close(fd);
	return ret == 0 ? req.ifr_mtu : -1;
}

static int open_device(const char *device, uint32_t mtu, struct rf_io **io, char *why, size_t room)
{
	return rf_io_dpdk_open(
		&(struct rf_io_dpdk_cfg){
			.device = device, .args = "-m 256", .frame_max = IO_FRAME_MAX, .mtu = mtu},
		io, why, room);
}

static int raw_socket(const char *name)
{
	struct sockaddr_ll a = {.sll_family = AF_PACKET, .sll_protocol = htons(ETHERTYPE)};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETHERTYPE));

	a.sll_ifindex = (int)if_nametoindex(name);
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

static struct tap tap_open(unsigned int number)
{
	struct tap t = {0};
	char device[64], name[IFNAMSIZ], why[512] = "";

	snprintf(name, sizeof(name), "rftap%u", number);
	snprintf(device, sizeof(device), "net_tap%u,iface=%s", number, name);
	if (open_device(device, 1500, &t.io, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(interface_mtu(name), 1500);
	t.fd = raw_socket(name);
	return t;
}

static void tap_close(struct tap *t)
{
	close(t->fd);
	t->io->ops->close(t->io);
}

static void fill(uint8_t *frame, uint32_t len, uint8_t number)
{
	memset(frame, 0xff, 6);
	memset(frame + 6, 2, 6);
	frame[12] = ETHERTYPE >> 8;
	frame[13] = ETHERTYPE & 0xff;
	memset(frame + 14, number, len - 14);
}

static void commit(struct tap *t, uint32_t len, uint8_t number)
{
	uint8_t *p = t->io->ops->tx_buffer(t->io);

	assert_non_null(p);
	fill(p, len, number);
	t->io->ops->tx_commit(t->io, len);
}

/* The length of the next frame at the other side, or 0 if none comes within a second. */
static uint32_t next_there(const struct tap *t, uint8_t number)
{
	uint8_t frame[8192];
	struct pollfd p = {.fd = t->fd, .events = POLLIN};
	struct sockaddr_ll from;
	socklen_t room = sizeof(from);
	ssize_t n;

	while (poll(&p, 1, 1000) > 0) {
		n = recvfrom(t->fd, frame, sizeof(frame), 0, (struct sockaddr *)&from, &room);
		assert_true(n > 14);
		if (from.sll_pkttype == PACKET_OUTGOING)
			continue;
		assert_int_equal(frame[14], number);
		return (uint32_t)n;
	}
	return 0;
}

/* Frame bytes of a path MTU, without a tag. */
static uint32_t frame_of_mtu(unsigned int mtu)
{
	return ROCE_HEADERS_MAX - 4 + mtu + 4;
}

/* Frames of a path MTU pass in both directions, although the interface's MTU is 1500 at first. */
static void path_mtu(void **state)
{
	static const unsigned int mtu[] = {1024, 2048, 4096};

	(void)state;
	assert_int_equal(system("ip link add rfh type veth peer name rfs && "
				"ip link set rfh up && ip link set rfs mtu 9000 up"),
			 0);
	for (unsigned int i = 0; i < 3; i++) {
		uint32_t len = frame_of_mtu(mtu[i]);
		struct tap t = {0};
		struct rf_io_frame frames[RF_IO_BURST];
		char device[64], why[512] = "";
		uint8_t back[8192];
		uint64_t begin = io_now_us();
		unsigned int got = 0;

		snprintf(device, sizeof(device), "net_af_packet%u,iface=rfh", i);
		if (open_device(device, len - 14, &t.io, why, sizeof(why)) != 0)
			fail_msg("%s", why);
		assert_in_range(interface_mtu("rfh"), mtu[i], 65535);
		t.fd = raw_socket("rfs");
		commit(&t, len, 1);
		t.io->ops->tx_flush(t.io);
		assert_int_equal(next_there(&t, 1), len);
		assert_int_equal(t.io->tx_lost, 0);
		fill(back, len, 7);
		assert_int_equal(send(t.fd, back, len, 0), len);
		while (got == 0 && io_now_us() - begin < 5000000) {
			t.io->ops->wait(t.io, 1000);
			got = t.io->ops->rx(t.io, frames, RF_IO_BURST);
			/* the kernel's own frames for a new interface */
			if (got > 0 && frames[got - 1].len != len)
				got = 0;
		}
		assert_true(got > 0);
		assert_memory_equal(frames[got - 1].data, back, len);
		tap_close(&t);
	}
	/* a larger MTU is kept */
	assert_in_range(interface_mtu("rfh"), 4096, 65535);
}

/* DPDK's net_tap does not exceed 1500: it is refused when it is opened, with the remedy. */
static void path_mtu_refused(void **state)
{
	static const unsigned int mtu[] = {2048, 4096};

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct rf_io *io = NULL;
		char device[64], why[512] = "";

		snprintf(device, sizeof(device), "net_tap%u,iface=rfno%u", 20 + i, i);
		assert_int_equal(
			open_device(device, frame_of_mtu(mtu[i]) - 14, &io, why, sizeof(why)),
			RF_ERR_DEVICE);
		assert_null(io);
		assert_non_null(strstr(why, "its MTU is 1500 and cannot be set to"));
		assert_non_null(strstr(why, "RF_MTU"));
	}
}

/* A frame that the device does not take is dropped and counted; those after it are sent at once. */
static void refused(void **state)
{
	struct tap t = tap_open(9);
	uint64_t begin = io_now_us();

	(void)state;
	assert_int_equal(interface_mtu("rftap9"), 1500);
	commit(&t, 100, 1);
	commit(&t, 3000, 2);
	commit(&t, 200, 3);
	commit(&t, 3000, 4);
	for (unsigned int k = 0; k < 3; k++)
		t.io->ops->tx_flush(t.io);
	assert_int_equal(next_there(&t, 1), 100);
	assert_int_equal(next_there(&t, 3), 200);
	assert_in_range(io_now_us() - begin, 0, 900000);
	assert_int_equal(t.io->tx_lost, 2);
	commit(&t, 300, 5);
	t.io->ops->tx_flush(t.io);
	assert_int_equal(next_there(&t, 5), 300);
	tap_close(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(path_mtu),
		cmocka_unit_test(path_mtu_refused),
		cmocka_unit_test(refused),
	};

	if (geteuid() != 0 || access("/dev/net/tun", R_OK | W_OK) != 0) {
		printf("needs root and /dev/net/tun\n");
		return SKIPPED;
	}
	if (system("ip -V > /dev/null 2>&1") != 0) {
		printf("iproute2 is missing (mk/deps.sh test)\n");
		return 1;
	}
	if (unshare(CLONE_NEWNET) != 0) {
		printf("no network namespaces here\n");
		return SKIPPED;
	}
	return cmocka_run_group_tests_name("io_tap", tests, NULL, NULL);
}
