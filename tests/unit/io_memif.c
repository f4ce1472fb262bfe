/*
 * The server's end of memif with DPDK's client, and with clients that violate the protocol.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "host/io/io.h"
#include "host/io/memif.h"
#include "ringfold/ringfold.h"
#include "tests/unit/io_stream.h"

static char dir[] = "/tmp/ringfold-memif-XXXXXX";
static char path[64];

static struct rf_io *serve(uint32_t id)
{
	struct rf_io *io = NULL;
	char why[256] = "";

	if (rf_io_memif_serve(path, id, IO_FRAME_MAX, &io, why, sizeof(why)))
		fail_msg("%s", why);
	return io;
}

struct opening {
	struct rf_io *io;
	int ret;
	char device[200];
	char why[300];
	volatile int done;
};

static void *open_client(void *arg)
{
	struct opening *o = arg;

	o->ret = rf_io_dpdk_open(&(struct rf_io_dpdk_cfg){.device = o->device,
							  .args = "-m 256",
							  .frame_max = IO_FRAME_MAX},
				 &o->io, o->why, sizeof(o->why));
	o->done = 1;
	return NULL;
}

/* Connects a DPDK client while the server accepts it. NULL: a server that starts 0.3 s later. */
static struct rf_io *connect_client(struct rf_io *server, uint32_t id, const char *more)
{
	static unsigned int number;
	struct rf_io_frame frames[RF_IO_BURST];
	struct opening o = {.ret = -1};
	pthread_t thread;
	struct rf_io *late = NULL;

	snprintf(o.device, sizeof(o.device),
		 "net_memif%u,role=client,id=%u,socket=%s,socket-abstract=no%s", number++, id, path,
		 more);
	pthread_create(&thread, NULL, open_client, &o);
	if (!server) {
		usleep(300000);
		server = late = serve(id);
	}
	while (!o.done) {
		server->ops->rx(server, frames, RF_IO_BURST);
		server->ops->wait(server, 500);
	}
	pthread_join(thread, NULL);
	if (o.ret)
		fail_msg("%s", o.why);
	if (late)
		late->ops->close(late);
	return o.io;
}

/* A host may start a moment earlier than the box that serves its socket. */
static void late_server(void **state)
{
	struct rf_io *client = connect_client(NULL, 0, "");

	(void)state;
	client->ops->close(client);
}

static void both_ways(void **state)
{
	struct rf_io *server = serve(0);
	struct rf_io *client;

	(void)state;
	assert_int_equal(server->ops->link(server), 0);
	client = connect_client(server, 0, "");
	assert_int_equal(server->ops->link(server), 1);
	io_stream(client, server, 4000);
	io_stream(server, client, 4000);
	assert_int_equal(server->tx_lost, 0);
	assert_int_equal(server->rx_bytes, server->tx_bytes);
	client->ops->close(client);
	server->ops->close(server);
	assert_int_equal(access(path, F_OK), -1);
}

/* A receiver that reads nothing blocks the sender, and nothing is lost or swapped. */
static void slow_reader(void **state)
{
	struct rf_io *server = serve(0);
	struct rf_io *client = connect_client(server, 0, "");
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int sent = 0, seen = 0, n, k, round;
	uint8_t *p;

	(void)state;
	/* a client offers buffers when it polls for frames */
	assert_int_equal(client->ops->rx(client, frames, RF_IO_BURST), 0);
	while ((p = server->ops->tx_buffer(server)) && sent < 100000) {
		memset(p, 0, 60);
		memcpy(p, &sent, sizeof(sent));
		server->ops->tx_commit(server, 60);
		sent++;
	}
	assert_in_range(sent, 100, 99999);
	for (round = 0; round < 10000 && seen < sent; round++) {
		n = client->ops->rx(client, frames, RF_IO_BURST);
		for (k = 0; k < n; k++, seen++) {
			unsigned int number;

			memcpy(&number, frames[k].data, sizeof(number));
			assert_int_equal(number, seen);
		}
		server->ops->tx_flush(server);
	}
	assert_int_equal(seen, sent);
	assert_int_equal(server->tx_lost, 0);
	client->ops->close(client);
	server->ops->close(server);
}

/* Clients come and go, also while frames are in flight; two ends share the socket. */
static void come_and_go(void **state)
{
	struct rf_io *a = serve(1), *b = serve(2);
	struct rf_io_frame frames[RF_IO_BURST];
	struct rf_io *none = NULL;
	char why[256] = "";
	unsigned int round, k;

	(void)state;
	assert_int_equal(rf_io_memif_serve(path, 2, IO_FRAME_MAX, &none, why, sizeof(why)),
			 RF_ERR_INVALID);
	for (round = 0; round < 6; round++) {
		struct rf_io *ca = connect_client(a, 1, "");
		struct rf_io *cb = connect_client(b, 2, "");

		io_stream(ca, a, 200);
		io_stream(b, cb, 200);
		for (k = 0; k < 100; k++) {
			uint8_t *p = a->ops->tx_buffer(a);

			if (!p)
				break;
			memset(p, 0, 60);
			a->ops->tx_commit(a, 60);
		}
		ca->ops->close(ca);
		for (k = 0; k < 2000 && a->ops->link(a); k++) {
			a->ops->tx_flush(a);
			a->ops->rx(a, frames, RF_IO_BURST);
			usleep(1000);
		}
		assert_int_equal(a->ops->link(a), 0);
		assert_int_equal(b->ops->link(b), 1);
		io_stream(cb, b, 200);
		cb->ops->close(cb);
		for (k = 0; k < 2000 && b->ops->link(b); k++) {
			b->ops->rx(b, frames, RF_IO_BURST);
			usleep(1000);
		}
	}
	a->ops->close(a);
	b->ops->close(b);
}

/* The server ends: its client sees the link go down, and the frames that it sends are dropped and
 * counted. */
static void server_goes(void **state)
{
	struct rf_io *server = serve(0);
	struct rf_io *client = connect_client(server, 0, "");
	unsigned int k;

	(void)state;
	io_stream(client, server, 100);
	server->ops->close(server);
	for (k = 0; k < 2000 && client->ops->link(client); k++)
		usleep(1000);
	assert_int_equal(client->ops->link(client), 0);
	for (k = 0; k < 1000; k++) {
		uint8_t *p = client->ops->tx_buffer(client);

		if (!p)
			break;
		memset(p, 0, 60);
		client->ops->tx_commit(client, 60);
		client->ops->tx_flush(client);
	}
	assert_int_equal(k, 1000);
	assert_true(client->tx_lost > 0);
	client->ops->close(client);
}

/* Without a free descriptor the reason is that, and not a want of memory. */
static void no_descriptors(void **state)
{
	struct rlimit before, few;
	struct rf_io *io = NULL;
	char why[256] = "";
	int next = dup(0);

	(void)state;
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)next;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_int_equal(rf_io_memif_serve(path, 0, IO_FRAME_MAX, &io, why, sizeof(why)),
			 RF_ERR_SYSTEM);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_non_null(strstr(why, "Too many open files"));
}

static void stale_socket(void **state)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct rf_io *io, *second = NULL;
	char why[256] = "";
	int fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	FILE *file;

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	/* a server owns it, so it must not be removed */
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(rf_io_memif_serve(path, 0, IO_FRAME_MAX, &second, why, sizeof(why)),
			 RF_ERR_DEVICE);
	assert_non_null(strstr(why, path));
	assert_non_null(strstr(why, "another process already serves"));
	close(fd);
	io = serve(0);
	io->ops->close(io);
	/* a file that is not a socket is kept, and the reason names it */
	file = fopen(path, "w");
	assert_non_null(file);
	fclose(file);
	assert_int_equal(rf_io_memif_serve(path, 0, IO_FRAME_MAX, &second, why, sizeof(why)),
			 RF_ERR_DEVICE);
	assert_non_null(strstr(why, "is not a socket"));
	assert_int_equal(unlink(path), 0);
	assert_int_equal(
		rf_io_memif_serve("/tmp/none/such/dir", 0, IO_FRAME_MAX, &second, why, sizeof(why)),
		RF_ERR_DEVICE);
	assert_null(second);
}

/* ---- a client made by hand ---- */

struct hand {
	int fd;
	int memory;
	uint8_t *at;
	size_t size;
};

static void hand_say(struct hand *h, struct memif_message *m, unsigned int type, int pass)
{
	char control[CMSG_SPACE(sizeof(int))] = {0};
	struct iovec iov = {.iov_base = m->bytes, .iov_len = sizeof(m->bytes)};
	struct msghdr mh = {.msg_iov = &iov, .msg_iovlen = 1};

	memif_put16(m, MEMIF_TYPE, (uint16_t)type);
	if (pass >= 0) {
		struct cmsghdr *c;

		mh.msg_control = control;
		mh.msg_controllen = sizeof(control);
		c = CMSG_FIRSTHDR(&mh);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(c), &pass, sizeof(pass));
	}
	/* the server may already have closed the connection */
	if (sendmsg(h->fd, &mh, MSG_NOSIGNAL) < 0)
		return;
}

/* Type of the server's next message; 0 if it has closed. */
static unsigned int hand_hear(struct hand *h, struct rf_io *server)
{
	struct memif_message m;
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int k;

	for (k = 0; k < 2000; k++) {
		ssize_t n;

		server->ops->wait(server, 100);
		server->ops->rx(server, frames, RF_IO_BURST);
		n = recv(h->fd, m.bytes, sizeof(m.bytes), MSG_DONTWAIT);
		if (n == sizeof(m.bytes))
			return memif_get16(&m, MEMIF_TYPE);
		if (n == 0 || (n < 0 && errno != EAGAIN))
			return 0;
	}
	return 99;
}

static void hand_open(struct hand *h, struct rf_io *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	h->size = 1 << 20;
	h->fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	h->memory = memfd_create("memif", MFD_ALLOW_SEALING);
	assert_int_equal(ftruncate(h->memory, (off_t)h->size), 0);
	assert_int_equal(fcntl(h->memory, F_ADD_SEALS, F_SEAL_SHRINK), 0);
	h->at = mmap(NULL, h->size, PROT_READ | PROT_WRITE, MAP_SHARED, h->memory, 0);
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(h->fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(hand_hear(h, server), MEMIF_HELLO);
}

static void hand_close(struct hand *h, struct rf_io *server)
{
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int k;

	munmap(h->at, h->size);
	close(h->memory);
	close(h->fd);
	for (k = 0; k < 1000 && (k < 3 || server->ops->link(server)); k++) {
		server->ops->wait(server, 100);
		server->ops->rx(server, frames, RF_IO_BURST);
	}
	assert_int_equal(server->ops->link(server), 0);
}

static void hand_init(struct hand *h, uint16_t version, uint32_t id, uint8_t mode)
{
	struct memif_message m = {{0}};

	memif_put16(&m, MEMIF_INIT_VERSION, version);
	memcpy(m.bytes + MEMIF_INIT_ID, &id, sizeof(id));
	m.bytes[MEMIF_INIT_MODE] = mode;
	hand_say(h, &m, MEMIF_INIT, -1);
}

static void hand_region(struct hand *h, uint16_t index, uint64_t size, int pass)
{
	struct memif_message m = {{0}};

	memif_put16(&m, MEMIF_REGION_INDEX, index);
	memcpy(m.bytes + MEMIF_REGION_SIZE, &size, sizeof(size));
	hand_say(h, &m, MEMIF_ADD_REGION, pass);
}

static void hand_ring(struct hand *h, uint16_t flags, uint16_t region, uint32_t offset,
		      uint8_t log2)
{
	struct memif_message m = {{0}};
	int fd = eventfd(0, 0);

	memif_put16(&m, MEMIF_RING_FLAGS, flags);
	memif_put16(&m, MEMIF_RING_REGION, region);
	memcpy(m.bytes + MEMIF_RING_OFFSET, &offset, sizeof(offset));
	m.bytes[MEMIF_RING_LOG2] = log2;
	hand_say(h, &m, MEMIF_ADD_RING, fd);
	close(fd);
}

static void hand_cookie(struct hand *h, uint32_t offset)
{
	uint32_t cookie = MEMIF_COOKIE_VALUE;

	memcpy(h->at + offset, &cookie, sizeof(cookie));
}

#define RING_IN 0u
#define RING_OUT 65536u
#define BUFFERS 131072u

/* All steps of a correct connection: rings of 64, one region. */
static void hand_connect(struct hand *h, struct rf_io *server)
{
	struct memif_message m = {{0}};

	hand_open(h, server);
	hand_init(h, MEMIF_VERSION, 0, 0);
	assert_int_equal(hand_hear(h, server), MEMIF_ACK);
	hand_region(h, 0, h->size, h->memory);
	assert_int_equal(hand_hear(h, server), MEMIF_ACK);
	hand_cookie(h, RING_IN);
	hand_cookie(h, RING_OUT);
	hand_ring(h, MEMIF_RING_TO_SERVER, 0, RING_IN, 6);
	assert_int_equal(hand_hear(h, server), MEMIF_ACK);
	hand_ring(h, 0, 0, RING_OUT, 6);
	assert_int_equal(hand_hear(h, server), MEMIF_ACK);
	hand_say(h, &m, MEMIF_CONNECT, -1);
	assert_int_equal(hand_hear(h, server), MEMIF_CONNECTED);
	assert_int_equal(server->ops->link(server), 1);
}

/* Each wrong step of the set-up ends the connection; the next client is served. */
static void wrong_setup(void **state)
{
	struct rf_io *server = serve(0);
	struct memif_message m = {{0}};
	struct hand h;
	unsigned int step;

	(void)state;
	for (step = 0; step < 13; step++) {
		hand_open(&h, server);
		hand_init(&h, step == 0 ? 0x0100 : MEMIF_VERSION, step == 1 ? 5 : 0, step == 2);
		if (step > 2) {
			assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
			hand_region(&h, step == 3 ? 9 : 0,
				    step == 4    ? h.size + 1
				    : step == 5  ? 0
				    : step == 12 ? UINT64_MAX
						 : h.size,
				    step == 6 ? -1 : h.memory);
		}
		if (step > 6 && step < 12) {
			assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
			hand_cookie(&h, 0);
			hand_cookie(&h, RING_OUT);
			hand_ring(&h, MEMIF_RING_TO_SERVER, step == 7 ? 60000 : 0,
				  step == 8    ? (uint32_t)h.size - 64
				  : step == 11 ? 3
					       : 0,
				  step == 9 ? 20 : 6);
			if (step == 8 || step == 10) {
				assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
				/* twice the same ring, or only one of them */
				if (step == 10)
					hand_ring(&h, MEMIF_RING_TO_SERVER, 0, 0, 6);
				else
					hand_say(&h, &m, MEMIF_CONNECT, -1);
			}
		}
		assert_int_equal(hand_hear(&h, server), MEMIF_DISCONNECT);
		assert_int_equal(hand_hear(&h, server), 0);
		hand_close(&h, server);
	}
	/* out of order: a message only servers send, and one with an invalid length */
	hand_open(&h, server);
	hand_init(&h, MEMIF_VERSION, 0, 0);
	assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
	hand_say(&h, &m, MEMIF_HELLO, -1);
	assert_int_equal(hand_hear(&h, server), 0);
	hand_close(&h, server);
	hand_open(&h, server);
	assert_int_equal(send(h.fd, "hello", 5, 0), 5);
	assert_int_equal(hand_hear(&h, server), 0);
	hand_close(&h, server);
	hand_connect(&h, server);
	hand_close(&h, server);
	server->ops->close(server);
}

/* A file that its owner can truncate would end the server by SIGBUS. */
static void file_that_may_shrink(void **state)
{
	struct rf_io *server = serve(0);
	struct hand h;
	int open_file = memfd_create("memif", 0);

	(void)state;
	hand_open(&h, server);
	hand_init(&h, MEMIF_VERSION, 0, 0);
	assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
	assert_int_equal(ftruncate(open_file, (off_t)h.size), 0);
	hand_region(&h, 0, h.size, open_file);
	assert_int_equal(hand_hear(&h, server), MEMIF_DISCONNECT);
	assert_int_equal(hand_hear(&h, server), 0);
	hand_close(&h, server);
	close(open_file);
	hand_connect(&h, server);
	/* what the seal promises */
	assert_int_equal(ftruncate(h.memory, 0), -1);
	hand_close(&h, server);
	server->ops->close(server);
}

/* Connections that send nothing delay the others for at most one second. */
static void silent_connections(void **state)
{
	struct rf_io *server = serve(0);
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct memif_message m;
	struct rf_io_frame frames[RF_IO_BURST];
	struct stat st;
	struct hand h;
	uint64_t begin = io_now_us();
	bool greeted = false;
	int silent[7];

	(void)state;
	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	for (unsigned int k = 0; k < 7; k++) {
		silent[k] = socket(AF_UNIX, SOCK_SEQPACKET, 0);
		assert_int_equal(connect(silent[k], (struct sockaddr *)&address, sizeof(address)),
				 0);
	}
	h.fd = socket(AF_UNIX, SOCK_SEQPACKET, 0);
	assert_int_equal(connect(h.fd, (struct sockaddr *)&address, sizeof(address)), 0);
	while (!greeted && io_now_us() - begin < 10000000) {
		server->ops->wait(server, 1000);
		server->ops->rx(server, frames, RF_IO_BURST);
		greeted = recv(h.fd, m.bytes, sizeof(m.bytes), MSG_DONTWAIT) == sizeof(m.bytes);
	}
	assert_true(greeted);
	assert_int_equal(memif_get16(&m, MEMIF_TYPE), MEMIF_HELLO);
	assert_in_range(io_now_us() - begin, 900000, 5000000);
	hand_init(&h, MEMIF_VERSION, 0, 0);
	assert_int_equal(hand_hear(&h, server), MEMIF_ACK);
	/* the first one was accepted and is informed why it is closed */
	assert_int_equal(recv(silent[0], m.bytes, sizeof(m.bytes), 0), sizeof(m.bytes));
	assert_int_equal(memif_get16(&m, MEMIF_TYPE), MEMIF_HELLO);
	assert_int_equal(recv(silent[0], m.bytes, sizeof(m.bytes), 0), sizeof(m.bytes));
	assert_int_equal(memif_get16(&m, MEMIF_TYPE), MEMIF_DISCONNECT);
	for (unsigned int k = 0; k < 7; k++)
		close(silent[k]);
	close(h.fd);
	server->ops->close(server);
}

static void put_desc(struct hand *h, uint32_t ring, unsigned int slot, uint16_t flags,
		     uint16_t region, uint32_t length, uint32_t offset)
{
	struct memif_desc d = {
		.flags = flags, .region = region, .length = length, .offset = offset};

	memcpy(h->at + ring + MEMIF_DESCS + slot % 64 * MEMIF_DESC_BYTES, &d, sizeof(d));
}

static void put_head(struct hand *h, uint32_t ring, uint16_t head)
{
	memcpy(h->at + ring + MEMIF_HEAD, &head, sizeof(head));
}

/* Descriptors that point outside are skipped; valid ones between them arrive. */
static void wrong_descriptors(void **state)
{
	static const struct {
		uint16_t flags, region;
		uint32_t length, offset;
		uint32_t seen; /* length that must arrive; 0: none */
	} cases[] = {
		{0, 0, 100, BUFFERS, 100},
		{0, 1, 100, BUFFERS, 0},
		{0, 60000, 100, BUFFERS, 0},
		{0, 0, 100, (1 << 20) - 99, 0},
		{0, 0, 100, (1 << 20) - 100, 100},
		{0, 0, 0xffffffff, BUFFERS, 0},
		{0, 0, 100, 0xffffffff, 0},
		{0, 0, IO_FRAME_MAX + 1, BUFFERS, 0},
		{0, 0, IO_FRAME_MAX, BUFFERS, IO_FRAME_MAX},
		{0, 0, 0, BUFFERS, 0},
		{MEMIF_NEXT, 0, 4000, BUFFERS, 0}, /* together with the next: too long */
		{0, 0, 4000, BUFFERS, 0},
		/* one frame in two buffers */
		{MEMIF_NEXT, 0, 60, BUFFERS, 0},
		{0, 0, 61, BUFFERS, 121},
	};
	struct rf_io *server = serve(0);
	struct rf_io_frame frames[RF_IO_BURST];
	struct hand h;
	unsigned int k, n, at = 0;

	(void)state;
	hand_connect(&h, server);
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++)
		put_desc(&h, RING_IN, k, cases[k].flags, cases[k].region, cases[k].length,
			 cases[k].offset);
	put_head(&h, RING_IN, (uint16_t)k);
	n = server->ops->rx(server, frames, RF_IO_BURST);
	for (k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		if (!cases[k].seen)
			continue;
		assert_true(at < n);
		assert_int_equal(frames[at++].len, cases[k].seen);
	}
	assert_int_equal(at, n);
	/* a client offers invalid buffers: nothing is written outside, and the valid one is used */
	put_desc(&h, RING_OUT, 0, 0, 7, 2048, BUFFERS);
	put_desc(&h, RING_OUT, 1, 0, 0, 2048, 0xfffff000);
	put_desc(&h, RING_OUT, 2, 0, 0, 2048, BUFFERS);
	put_head(&h, RING_OUT, 3);
	for (k = 0; k < 3; k++) {
		uint8_t *p = server->ops->tx_buffer(server);

		memset(p, 0x40 + (int)k, 100);
		server->ops->tx_commit(server, 100);
	}
	server->ops->tx_flush(server);
	assert_int_equal(h.at[BUFFERS], 0x42);
	assert_int_equal(h.at[BUFFERS + 99], 0x42);
	/* a ring that claims more entries than it has: the connection ends */
	put_head(&h, RING_IN, 14 + 65);
	assert_int_equal(server->ops->rx(server, frames, RF_IO_BURST), 0);
	assert_int_equal(server->ops->link(server), 0);
	hand_close(&h, server);
	server->ops->close(server);
}

/* Random rings, descriptors and messages: the server continues in every case. */
static void random_client(void **state)
{
	const char *text = getenv("SEED");
	unsigned int seed = text ? (unsigned int)strtoul(text, NULL, 0) : (unsigned int)time(NULL);
	struct rf_io *server = serve(0);
	struct rf_io_frame frames[RF_IO_BURST];
	unsigned int round, k;
	struct hand h;

	(void)state;
	printf("seed %u: SEED=%u build/tests/io_memif\n", seed, seed);
	srand(seed);
	for (round = 0; round < 30; round++) {
		hand_connect(&h, server);
		for (k = 0; k < 3000 && server->ops->link(server); k++) {
			uint32_t at = (uint32_t)rand() % 1200 + (rand() & 1 ? RING_OUT : RING_IN);
			uint8_t *p;

			h.at[at] = (uint8_t)rand();
			if (rand() % 8 == 0)
				put_head(&h, RING_IN, (uint16_t)rand());
			server->ops->rx(server, frames, RF_IO_BURST);
			p = server->ops->tx_buffer(server);
			if (p) {
				memset(p, 0, 200);
				server->ops->tx_commit(server, 60 + (uint32_t)rand() % 140);
			}
			server->ops->tx_flush(server);
		}
		hand_close(&h, server);
	}
	hand_connect(&h, server);
	hand_close(&h, server);
	server->ops->close(server);
}

static int make_dir(void **state)
{
	(void)state;
	if (!mkdtemp(dir))
		return -1;
	snprintf(path, sizeof(path), "%s/s", dir);
	return 0;
}

static int drop_dir(void **state)
{
	(void)state;
	return rmdir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(both_ways),          cmocka_unit_test(slow_reader),
		cmocka_unit_test(come_and_go),        cmocka_unit_test(server_goes),
		cmocka_unit_test(late_server),        cmocka_unit_test(stale_socket),
		cmocka_unit_test(wrong_setup),        cmocka_unit_test(file_that_may_shrink),
		cmocka_unit_test(silent_connections), cmocka_unit_test(wrong_descriptors),
		cmocka_unit_test(random_client),      cmocka_unit_test(no_descriptors),
	};

	return cmocka_run_group_tests(tests, make_dir, drop_dir);
}
