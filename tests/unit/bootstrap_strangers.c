/* Strangers at the store's port have no effect. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/store/store_wire.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"
#include "tests/unit/store_world.h"

static int raw_connect(unsigned int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_port = htons((uint16_t)port),
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	struct timeval tv = {.tv_sec = 3};
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	assert_true(fd >= 0);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return fd;
}

/* Whether the server closes the connection (and sends at most `room` bytes before). */
static int closed_by_server(int fd)
{
	uint8_t sink[4096];
	ssize_t n;

	while ((n = recv(fd, sink, sizeof(sink), 0)) > 0)
		;
	close(fd);
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* The HELLO of rank 1 of 2 for the challenge that this connection has received. */
static void raw_hello(int fd, const uint8_t key[16], uint8_t message[STORE_HEAD + STORE_HELLO_BODY])
{
	uint8_t first[STORE_HEAD + STORE_CHALLENGE_BODY];

	assert_int_equal(recv(fd, first, sizeof(first), MSG_WAITALL), sizeof(first));
	assert_int_equal(first[4], STORE_CHALLENGE);
	memset(message, 0, STORE_HEAD + STORE_HELLO_BODY);
	rf_put_be32(message, 1 + STORE_HELLO_BODY);
	message[4] = STORE_HELLO;
	rf_put_be32(message + 5, STORE_MAGIC);
	message[9] = STORE_VERSION;
	rf_put_be16(message + 10, 1);
	rf_put_be16(message + 12, 2);
	rf_put_be64(message + STORE_HEAD + STORE_HELLO_TAG,
		    store_tag(key, first + STORE_HEAD, message + STORE_HEAD));
}

/* The status of the server's next message, 0 for STORE_OK. */
static int raw_status(int fd)
{
	uint8_t reply[600];
	ssize_t n = recv(fd, reply, sizeof(reply), 0);

	assert_true(n >= (ssize_t)STORE_HEAD);
	if (reply[4] == STORE_OK)
		return 0;
	assert_int_equal(reply[4], STORE_ERROR);
	return (int)rf_get_be32(reply + STORE_HEAD);
}

/* A connection becomes a rank only with the job's key, and not with an answer recorded on another
 * connection. */
static void keys(void **state)
{
	static const uint8_t other[16] = {1};
	uint8_t hello[STORE_HEAD + STORE_HELLO_BODY], fresh[STORE_HEAD + STORE_HELLO_BODY];
	struct rf_store *none = NULL;
	struct world w;
	char why[512] = "";
	uint64_t job = 0;
	int first, second;

	(void)state;
	world_open(&w, 2, 1);
	assert_int_equal(
		rf_store_connect(HOST, w.port, 1, 2, &job, other, 500, &none, why, sizeof(why)),
		RF_ERR_MISMATCH);
	assert_non_null(strstr(why, "RF_KEY"));
	assert_null(strstr(why, "77"));
	first = raw_connect(w.port);
	raw_hello(first, job_key, hello);
	second = raw_connect(w.port);
	raw_hello(second, job_key, fresh);
	assert_int_equal(send(second, hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_int_equal(raw_status(second), RF_ERR_MISMATCH);
	/* each byte is significant */
	for (size_t k = STORE_HEAD + 6; k < sizeof(fresh); k++) {
		uint8_t bad[sizeof(fresh)];

		memcpy(bad, fresh, sizeof(bad));
		bad[k] ^= 1;
		assert_int_equal(send(second, bad, sizeof(bad), MSG_NOSIGNAL), sizeof(bad));
		assert_int_equal(raw_status(second), RF_ERR_MISMATCH);
	}
	assert_int_equal(send(second, fresh, sizeof(fresh), MSG_NOSIGNAL), sizeof(fresh));
	assert_int_equal(raw_status(second), 0);
	assert_int_equal(send(first, hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_int_equal(raw_status(first), RF_ERR_RANK_TAKEN);
	close(first);
	close(second);
	world_close(&w);
}

/* A process of an older release is told the version; rank 0 keeps its own for an error. */
static void older_rank(void **state)
{
	uint8_t hello[STORE_HEAD + STORE_HELLO_BODY], reply[600] = {0};
	struct world w;
	int fd;

	(void)state;
	world_open(&w, 2, 1);
	assert_int_equal(rf_store_server_other(w.server), 0);
	fd = raw_connect(w.port);
	raw_hello(fd, job_key, hello);
	hello[9] = STORE_VERSION - 1;
	assert_int_equal(send(fd, hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
	assert_true(recv(fd, reply, sizeof(reply) - 1, 0) >
		    (ssize_t)(STORE_HEAD + STORE_ERROR_BODY));
	assert_int_equal((int)rf_get_be32(reply + STORE_HEAD), RF_ERR_MISMATCH);
	assert_string_equal((char *)reply + STORE_HEAD + STORE_ERROR_BODY, "it speaks version 3");
	assert_int_equal(rf_store_server_other(w.server), STORE_VERSION - 1);
	close(fd);
	world_close(&w);
}

/* The store of an older release, as far as a younger rank gets with it. */
static void *older_server(void *arg)
{
	uint8_t message[64] = {0}, hello[STORE_HEAD + STORE_HELLO_BODY];
	int fd = accept(*(int *)arg, NULL, NULL);

	rf_put_be32(message, 1 + STORE_CHALLENGE_BODY);
	message[4] = STORE_CHALLENGE;
	if (fd < 0 || send(fd, message, STORE_HEAD + STORE_CHALLENGE_BODY, MSG_NOSIGNAL) < 0 ||
	    recv(fd, hello, sizeof(hello), MSG_WAITALL) != (ssize_t)sizeof(hello))
		return NULL;
	memset(message, 0, sizeof(message));
	rf_put_be32(message, 1 + STORE_ERROR_BODY + 19);
	message[4] = STORE_ERROR;
	rf_put_be32(message + STORE_HEAD, (uint32_t)RF_ERR_MISMATCH);
	memcpy(message + STORE_HEAD + STORE_ERROR_BODY, "it speaks version 2", 19);
	if (send(fd, message, STORE_HEAD + STORE_ERROR_BODY + 19, MSG_NOSIGNAL) < 0)
		return NULL;
	recv(fd, hello, 1, 0);
	close(fd);
	return NULL;
}

static void older_store(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct rf_store *none = NULL;
	char why[512] = "";
	pthread_t thread;
	uint64_t job = 0;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &len), 0);
	pthread_create(&thread, NULL, older_server, &fd);
	assert_int_equal(rf_store_connect(HOST, ntohs(a.sin_port), 1, 2, &job, job_key, 2000, &none,
					  why, sizeof(why)),
			 RF_ERR_MISMATCH);
	assert_non_null(strstr(why,
			       "rank 0 has another release of ringfold: its store speaks version "
			       "2, that of rank 1 version 3; use one release"));
	pthread_join(thread, NULL);
	close(fd);
}

/* Whether both ends of every connection at a port have the keepalive timer set. */
static unsigned int kept_alive(unsigned int port)
{
	FILE *f = fopen("/proc/net/tcp", "r");
	unsigned int local, remote, state, timer, seen[16], k, n = 0;
	char line[300];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		if (sscanf(line, " %*d: %*x:%x %*x:%x %x %*x:%*x %x:", &local, &remote, &state,
			   &timer) != 4 ||
		    state != 1 || (local != port && remote != port))
			continue;
		/* The kernel may list a socket twice while other sockets come and go. */
		for (k = 0; k < n && seen[k] != (local << 16 | remote);)
			k++;
		if (k < n)
			continue;
		assert_int_equal(timer, 2);
		assert_in_range(n, 0, 15);
		seen[n++] = local << 16 | remote;
	}
	fclose(f);
	return n;
}

static void keepalive(void **state)
{
	struct world w;

	(void)state;
	world_open(&w, 3, 3);
	gather_all(&w, 3);
	sleep_ms(300); /* the timers of unacknowledged data have ended */
	assert_int_equal(kept_alive(w.port), 6);
	world_close(&w);
}

/* A process without free descriptors: the store waits without using the CPU, and continues
 * afterwards. */
static void no_descriptors(void **state)
{
	struct rlimit before, few;
	struct rusage begin, end;
	struct world w;
	char why[512] = "";
	uint64_t job = 0;
	int fd, spare;
	long us;

	(void)state;
	world_open(&w, 2, 1);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	spare = dup(fd);
	close(spare);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = before;
	few.rlim_cur = (rlim_t)spare;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	{
		struct sockaddr_in a = {.sin_family = AF_INET,
					.sin_port = htons((uint16_t)w.port),
					.sin_addr.s_addr = htonl(INADDR_LOOPBACK)};

		assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	}
	getrusage(RUSAGE_SELF, &begin);
	sleep_ms(500);
	getrusage(RUSAGE_SELF, &end);
	us = (end.ru_utime.tv_sec - begin.ru_utime.tv_sec + end.ru_stime.tv_sec -
	      begin.ru_stime.tv_sec) *
		     1000000 +
	     end.ru_utime.tv_usec - begin.ru_utime.tv_usec + end.ru_stime.tv_usec -
	     begin.ru_stime.tv_usec;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_in_range(us, 0, 50000);
	assert_int_equal(rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 2000, &w.store[1], why,
					  sizeof(why)),
			 RF_OK);
	close(fd);
	world_close(&w);
}

static void hostile_bytes(void **state)
{
	uint8_t hello[STORE_HEAD + STORE_HELLO_BODY];
	static const struct {
		size_t len;
		uint8_t bytes[32];
	} bad[] = {
		{4, {0, 0, 0, 0}},                          /* no verb */
		{5, {0xff, 0xff, 0xff, 0xff, 1}},           /* far too long */
		{5, {0, 0, 0x10, 0, 1}},                    /* a little too long */
		{5, {0, 0, 0, 1, STORE_GATHER}},            /* no member */
		{5, {0, 0, 0, 1, STORE_HELLO}},             /* too short */
		{22, {0, 0, 0, 18, STORE_HELLO, 'H', 'T'}}, /* another magic */
		{16, "GET / HTTP/1.1\r\n"},
	};
	/* GATHER: 30 bytes, then the lengths and bytes of lane and name; ranks 0 and 1 take part */
	static const uint8_t member[][40] = {
		{[3] = 1, STORE_GATHER},                                 /* no head */
		{[3] = 26, STORE_GATHER, [14] = 3},                      /* no lane */
		{[3] = 27, STORE_GATHER, [14] = 3, [30] = 9},            /* lane beyond the end */
		{[3] = 27, STORE_GATHER, [14] = 3, [30] = 161},          /* lane too long */
		{[3] = 30, STORE_GATHER, [14] = 3, [30] = 1, 0, 1, 'n'}, /* zero byte in it */
		{[3] = 27, STORE_GATHER, [14] = 3, [30] = 0},            /* no name */
		{[3] = 28, STORE_GATHER, [14] = 3, [31] = 0},            /* empty name */
		{[3] = 28, STORE_GATHER, [14] = 3, [31] = 9},            /* name beyond the end */
		{[3] = 28, STORE_GATHER, [14] = 3, [31] = 65},           /* name too long */
		{[3] = 29, STORE_GATHER, [14] = 3, [31] = 1, 0},         /* zero byte in it */
		{[3] = 29, STORE_GATHER, [14] = 7, [31] = 1, 'n'},       /* rank 2 of 2 */
		{[3] = 29, STORE_GATHER, [14] = 3, [29] = 1, 0, 1, 'n'}, /* rank 120 of 2 */
		{[3] = 29, STORE_GATHER, [14] = 1, [31] = 1, 'n'},       /* without the sender */
		{[3] = 29, STORE_GATHER, [13] = 3, 3, [31] = 1, 'n'},    /* a third counter */
		{0, 0, 0, 3, STORE_ANNOUNCE, 1, 2},                      /* too short */
		{0, 0, 0, 4, STORE_CANCEL, 0, 0, 0},                     /* too short */
		{0, 0, 0, 2, 2, 1},                                      /* unknown */
		{0, 0, 0, 1, 99},                                        /* unknown */
		{0, 0, 0, 1, STORE_OK},                                  /* a server's verb */
	};
	struct gatherer g;
	struct world w;
	size_t k;
	int fd;

	(void)state;
	world_open(&w, 2, 1);
	gather_start(&g, &w, 0, "start", 30000);
	for (k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
		fd = raw_connect(w.port);
		assert_int_equal(send(fd, bad[k].bytes, bad[k].len, MSG_NOSIGNAL), bad[k].len);
		assert_true(closed_by_server(fd));
	}
	for (k = 0; k < sizeof(member) / sizeof(member[0]); k++) {
		fd = raw_connect(w.port);
		raw_hello(fd, job_key, hello);
		assert_int_equal(send(fd, hello, sizeof(hello), MSG_NOSIGNAL), sizeof(hello));
		assert_int_equal(send(fd, member[k], member[k][3] + 4u, MSG_NOSIGNAL),
				 member[k][3] + 4);
		assert_true(closed_by_server(fd));
	}
	/* many strangers that send nothing do not keep the real rank out */
	{
		int crowd[40];
		uint64_t job = 0;
		char why[512] = "";

		for (k = 0; k < 40; k++)
			crowd[k] = raw_connect(w.port);
		assert_int_equal(rf_store_connect(HOST, w.port, 1, 2, &job, job_key, 1000,
						  &w.store[1], why, sizeof(why)),
				 RF_OK);
		for (k = 0; k < 40; k++)
			close(crowd[k]);
		assert_int_equal(rf_store_gather(w.store[1], "start", g.value, 8, g.values, 5000,
						 why, sizeof(why)),
				 RF_OK);
	}
	pthread_join(g.thread, NULL);
	assert_int_equal(g.ret, RF_OK);
	world_close(&w);
}

/* Random bytes, whole and in pieces; another job continues meanwhile. */
static void random_bytes(void **state)
{
	const char *text = getenv("SEED");
	unsigned int seed = text ? (unsigned int)strtoul(text, NULL, 0) : (unsigned int)time(NULL);
	struct world w;
	unsigned int round, k;
	uint8_t back[1];
	char why[512];

	(void)state;
	printf("seed %u: SEED=%u build/tests/bootstrap_strangers\n", seed, seed);
	srand(seed);
	world_open(&w, 1, 1);
	for (round = 0; round < 200; round++) {
		uint8_t bytes[600];
		size_t len = 1 + (size_t)rand() % sizeof(bytes);
		int fd = raw_connect(w.port);

		for (k = 0; k < len; k++)
			bytes[k] = (uint8_t)rand();
		if (round & 1 && len > 5) {
			rf_put_be32(bytes, (uint32_t)(len - 4));
			bytes[4] = (uint8_t)(1 + rand() % 10);
		}
		if (send(fd, bytes, len / 2, MSG_NOSIGNAL) < 0 ||
		    send(fd, bytes + len / 2, len - len / 2, MSG_NOSIGNAL) < 0)
			k = 0;
		close(fd);
		assert_int_equal(
			rf_store_gather(w.store[0], "alive", "x", 1, back, 2000, why, sizeof(why)),
			RF_OK);
		assert_int_equal(back[0], 'x');
	}
	world_close(&w);
}

/* A server that answers with random bytes is not accepted as a store. */
static void *rubbish_server(void *arg)
{
	int fd = accept(*(int *)arg, NULL, NULL);

	if (fd >= 0 && send(fd, "HTTP/1.1 400 Bad Request\r\n\r\n", 28, MSG_NOSIGNAL) > 0)
		close(fd);
	return NULL;
}

static void rubbish_answer(void **state)
{
	struct sockaddr_in a = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t size = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	struct rf_store *s;
	pthread_t thread;
	uint64_t job = 0;
	char why[512];
	int ret;

	(void)state;
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&a, &size), 0);
	pthread_create(&thread, NULL, rubbish_server, &fd);
	ret = rf_store_connect(HOST, ntohs(a.sin_port), 1, 2, &job, job_key, 500, &s, why,
			       sizeof(why));
	assert_true(ret == RF_ERR_BOOTSTRAP || ret == RF_ERR_RANK_LOST);
	pthread_join(thread, NULL);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(keys),           cmocka_unit_test(older_rank),
		cmocka_unit_test(older_store),    cmocka_unit_test(keepalive),
		cmocka_unit_test(no_descriptors), cmocka_unit_test(hostile_bytes),
		cmocka_unit_test(random_bytes),   cmocka_unit_test(rubbish_answer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
