/*
 * A store that accepts connections and does not answer, for a while or for ever: its process stands
 * still, or another program has the port.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/store/store_line.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"
#include "tests/unit/free_port.h"
#include "tests/unit/store_world.h"

/* A rank that connects in a thread of its own. */
struct joiner {
	pthread_t thread;
	unsigned int port, timeout;
	int ret;
	char why[512];
};

static void *join_thread(void *arg)
{
	struct joiner *j = arg;
	struct rf_store *store = NULL;
	uint64_t job = 0;

	j->ret = rf_store_connect(HOST, j->port, 1, 2, &job, job_key, j->timeout, &store, j->why,
				  sizeof(j->why));
	rf_store_close(store);
	return NULL;
}

static void join_start(struct joiner *j, unsigned int port, unsigned int timeout)
{
	memset(j, 0, sizeof(*j));
	j->port = port;
	j->timeout = timeout;
	assert_int_equal(pthread_create(&j->thread, NULL, join_thread, j), 0);
}

static int listener(unsigned int port)
{
	struct sockaddr_in a = {.sin_family = AF_INET,
				.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
				.sin_port = htons((uint16_t)port)};
	struct timeval most = {.tv_sec = 10}; /* for accept(): if nobody tries again */
	int fd = socket(AF_INET, SOCK_STREAM, 0);

	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
	assert_int_equal(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(fd, 16), 0);
	return fd;
}

/* The process of rank 0, which serves the store until it is killed. */
static pid_t serving_process(unsigned int port)
{
	struct rf_store_server *server;
	char why[512], byte = 0;
	int ready[2];
	pid_t p;

	assert_int_equal(pipe(ready), 0);
	p = fork();
	if (p == 0) {
		if (rf_store_serve(HOST, port, 2, 77, job_key, &server, why, sizeof(why)) ||
		    write(ready[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_true(p > 0);
	close(ready[1]);
	assert_int_equal(read(ready[0], &byte, 1), 1);
	close(ready[0]);
	return p;
}

/*
 * Rank 0's process stands still for longer than any connection waits: the others join when it goes
 * on.
 */
static void stands_still(void **state)
{
	unsigned int port = free_port();
	pid_t p = serving_process(port);
	struct joiner j;

	(void)state;
	assert_int_equal(kill(p, SIGSTOP), 0);
	join_start(&j, port, 30000);
	sleep_ms(STORE_GRACE_MS + 400);
	assert_int_equal(kill(p, SIGCONT), 0);
	pthread_join(j.thread, NULL);
	if (j.ret)
		print_error("%s\n", j.why);
	kill(p, SIGKILL);
	waitpid(p, NULL, 0);
	assert_int_equal(j.ret, RF_OK);
}

static int next_try(int l)
{
	int fd = accept(l, NULL, NULL);

	assert_true(fd >= 0);
	return fd;
}

static void send_all(int fd, const uint8_t *p, size_t n)
{
	assert_int_equal(send(fd, p, n, MSG_NOSIGNAL), (ssize_t)n);
}

static void challenge(int fd)
{
	uint8_t m[STORE_HEAD + STORE_CHALLENGE_BODY] = {0};

	rf_put_be32(m, 1 + STORE_CHALLENGE_BODY);
	m[4] = STORE_CHALLENGE;
	send_all(fd, m, sizeof(m));
}

/* Reads until HELLO is there. */
static void hello(int fd)
{
	uint8_t m[STORE_HEAD + STORE_HELLO_BODY];

	assert_int_equal(recv(fd, m, sizeof(m), MSG_WAITALL), (ssize_t)sizeof(m));
	assert_int_equal(m[4], STORE_HELLO);
}

static void refuse(int fd, int status)
{
	uint8_t m[STORE_HEAD + STORE_ERROR_BODY] = {0};

	rf_put_be32(m, 1 + STORE_ERROR_BODY);
	m[4] = STORE_ERROR;
	rf_put_be32(m + STORE_HEAD, (uint32_t)status);
	send_all(fd, m, sizeof(m));
}

/*
 * A connection that is silent is soon given up, since the server may know nothing of it. If rank 0
 * stood still before it answered HELLO, it takes that connection for the rank, and refuses the next
 * until it has seen that the first has ended. A rank that is taken from the start is refused at
 * once.
 */
static void given_up(void **state)
{
	uint8_t ok[STORE_HEAD + 8] = {0};
	unsigned int port = free_port();
	int first, fd, l = listener(port);
	uint64_t begin = rf_now_ms();
	struct joiner j;

	(void)state;
	join_start(&j, port, 30000);
	first = next_try(l);
	challenge(first);
	hello(first);
	fd = next_try(l);
	assert_true(rf_now_ms() - begin < STORE_GRACE_MS);
	challenge(fd);
	hello(fd);
	refuse(fd, RF_ERR_RANK_TAKEN);
	close(fd);
	fd = next_try(l);
	challenge(fd);
	hello(fd);
	rf_put_be32(ok, 1 + 8);
	ok[4] = STORE_OK;
	send_all(fd, ok, sizeof(ok));
	pthread_join(j.thread, NULL);
	assert_int_equal(j.ret, RF_OK);
	close(fd);
	close(first);

	join_start(&j, port, 30000);
	fd = next_try(l);
	challenge(fd);
	hello(fd);
	refuse(fd, RF_ERR_RANK_TAKEN);
	pthread_join(j.thread, NULL);
	assert_int_equal(j.ret, RF_ERR_RANK_TAKEN);
	close(fd);
	close(l);
}

/* Nothing ever answers: an error at the deadline, which names the place and both causes. */
static void silent(void **state)
{
	uint64_t begin = rf_now_ms();
	unsigned int port = free_port();
	int l = listener(port);
	struct joiner j;

	(void)state;
	join_start(&j, port, 100);
	pthread_join(j.thread, NULL);
	close(l);
	assert_int_equal(j.ret, RF_ERR_BOOTSTRAP);
	assert_non_null(strstr(j.why, "the store at rank 0 does not answer"));
	assert_non_null(strstr(j.why, HOST));
	assert_non_null(strstr(j.why, "another program has RF_PORT"));
	assert_true(rf_now_ms() - begin >= STORE_GRACE_MS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stands_still),
		cmocka_unit_test(given_up),
		cmocka_unit_test(silent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
