/*
 * A rank's connection to the store.
 */
#include "host/store/store.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/store/store_address.h"
#include "host/store/store_line.h"
#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

char *rf_store_ranks_text(const uint8_t set[16], char *buf, size_t room)
{
	unsigned int left = 0;
	unsigned int r;
	size_t at;

	for (r = 0; r < RF_RANKS_MAX; r++)
		left += set[r / 8] >> (r % 8) & 1u;
	at = (size_t)snprintf(buf, room, left == 1 ? "rank" : "ranks");
	for (r = 0; r < RF_RANKS_MAX && at < room; r++) {
		if (!(set[r / 8] >> (r % 8) & 1))
			continue;
		at += (size_t)snprintf(buf + at, room - at, " %u%s", r,
				       left > 2    ? ","
				       : left == 2 ? " and"
						   : "");
		left--;
	}
	return buf;
}

static int connect_once(const struct sockaddr_in *address, uint64_t by)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	uint64_t now = rf_now_ms();
	int error = 0;
	socklen_t size = sizeof(error);

	if (fd < 0)
		return -1;
	if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0 &&
	    errno != EINPROGRESS)
		goto fail;
	if (poll(&p, 1, now < by ? (int)(by - now) : 0) <= 0 ||
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) < 0 || error)
		goto fail;
	store_socket_options(fd);
	return fd;
fail:
	close(fd);
	return -1;
}

static int store_hello(struct rf_store *s, uint64_t *job, const uint8_t key[16], uint64_t by,
		       char *why, size_t room)
{
	uint8_t challenge[STORE_CHALLENGE_BODY];
	uint8_t hello[STORE_HELLO_BODY];
	uint8_t set[16];
	const uint8_t *body;
	char text[128];
	size_t len;
	int ret;

	ret = store_challenge(s, by, challenge, why, room);
	if (ret)
		return ret;
	rf_put_be32(hello, STORE_MAGIC);
	hello[4] = STORE_VERSION;
	rf_put_be16(hello + 5, (uint16_t)s->rank);
	rf_put_be16(hello + 7, (uint16_t)s->ranks);
	rf_put_be64(hello + 9, *job);
	rf_put_be64(hello + STORE_HELLO_TAG, store_tag(key, challenge, hello));
	ret = store_send(s, STORE_HELLO, hello, sizeof(hello), why, room);
	if (!ret)
		ret = store_answer(s, by, &body, &len, set, text, sizeof(text));
	switch (ret) {
	case RF_OK:
		if (len == 8)
			*job = rf_get_be64(body);
		store_eat(s);
		return RF_OK;
	case RF_ERR_RANK_TAKEN:
		snprintf(why, room,
			 "another process is rank %u already: give each process its own rank "
			 "(RF_RANK)",
			 s->rank);
		return ret;
	case RF_ERR_MISMATCH:
		snprintf(why, room,
			 "the store at rank 0 belongs to another job: %s; this is rank %u "
			 "of %u; give each job its own RF_PORT",
			 text, s->rank, s->ranks);
		return ret;
	case RF_ERR_RANK_LOST:
		snprintf(why, room, "rank %u was lost earlier, or rank 0 has just ended", s->rank);
		return ret;
	}
	snprintf(why, room, "%s", text);
	return ret;
}

void rf_store_set_idle(struct rf_store *store, void (*idle)(void *arg), void *arg)
{
	store->idle = idle;
	store->idle_arg = arg;
}

int rf_store_connect(const char *host, unsigned int port, unsigned int rank, unsigned int ranks,
		     uint64_t *job, const uint8_t key[16], unsigned int timeout_ms,
		     struct rf_store **store, char *why, size_t room)
{
	struct timespec pause = {.tv_nsec = 20000000};
	uint64_t by = rf_now_ms() + timeout_ms;
	struct sockaddr_in address;
	struct rf_store *s;
	int ret;

	ret = store_address(host, port, &address, why, room);
	if (ret)
		return ret;
	s = calloc(1, sizeof(*s));
	if (!s) {
		snprintf(why, room, "no memory for the connection to the store");
		return RF_ERR_NO_MEMORY;
	}
	s->rank = rank;
	s->ranks = ranks;
	for (;;) {
		s->rx_len = 0;
		s->tx_len = 0;
		s->fd = connect_once(&address, by);
		/*
		 * once a connection is accepted, the server gets time to answer, however late it is
		 */
		ret = s->fd < 0 ? RF_ERR_RANK_MISSING
				: store_hello(s, job, key, rf_now_ms() + STORE_GRACE_MS, why, room);
		if (ret == RF_OK) {
			*store = s;
			return RF_OK;
		}
		if (s->fd >= 0)
			close(s->fd);
		/* a store that is just ending, or not started yet: try again */
		if ((ret != RF_ERR_RANK_MISSING && ret != RF_ERR_RANK_LOST) || rf_now_ms() >= by)
			break;
		nanosleep(&pause, NULL);
	}
	if (ret == RF_ERR_RANK_MISSING)
		snprintf(why, room,
			 "rank 0 did not arrive: no store answers at %s:%u within %u ms; "
			 "start rank 0, and check RF_ROOT and RF_PORT",
			 host, port, timeout_ms);
	free(s);
	return ret;
}

void rf_store_close(struct rf_store *store)
{
	char why[128];

	if (!store)
		return;
	if (store->fd >= 0) {
		store_send(store, STORE_BYE, NULL, 0, why, sizeof(why));
		if (store->fd >= 0)
			close(store->fd);
	}
	free(store);
}

/* Writes a string with its length byte. Returns the bytes used, or 0 if it is too long. */
static size_t put_name(uint8_t *p, const char *name)
{
	size_t n = strlen(name);

	if (n < 1 || n > RF_STORE_KEY_MAX)
		return 0;
	p[0] = (uint8_t)n;
	memcpy(p + 1, name, n);
	return n + 1;
}

/* Converts the server's gather error into text. */
static void gather_text(int status, const char *name, const uint8_t set[16],
			unsigned int timeout_ms, char *why, size_t room)
{
	char ranks[RF_STORE_TEXT_MAX];
	char detail[RF_STORE_TEXT_MAX];

	rf_store_ranks_text(set, ranks, 200);
	switch (status) {
	case RF_ERR_RANK_MISSING:
		snprintf(why, room, "%s did not arrive at \"%s\" within %u ms", ranks, name,
			 timeout_ms);
		break;
	case RF_ERR_RANK_LOST:
		if (strncmp(why, "the conn", 8) != 0)
			snprintf(why, room, "%s has ended while the others were at \"%s\"", ranks,
				 name);
		break;
	case RF_ERR_MISMATCH:
		snprintf(detail, sizeof(detail), "%.300s", why);
		snprintf(why, room, "%s: all ranks must make the same calls in the same order",
			 detail);
		break;
	}
}

int rf_store_gather(struct rf_store *store, const char *name, const void *value, size_t len,
		    void *values, unsigned int timeout_ms, char *why, size_t room)
{
	uint8_t body[STORE_REQUEST_MAX];
	uint8_t set[16] = {0};
	size_t used = put_name(body + 4, name);
	const uint8_t *answer;
	size_t answer_len;
	int ret;

	if (!used || len > RF_STORE_VALUE_MAX) {
		snprintf(why, room, "name or value too long for the store");
		return RF_ERR_INVALID;
	}
	rf_put_be32(body, timeout_ms);
	if (len)
		memcpy(body + 4 + used, value, len);
	ret = store_send(store, STORE_GATHER, body, 4 + used + len, why, room);
	if (!ret)
		ret = store_answer(store, rf_now_ms() + timeout_ms + STORE_GRACE_MS, &answer,
				   &answer_len, set, why, room);
	if (ret) {
		gather_text(ret, name, set, timeout_ms, why, room);
		return ret;
	}
	if (answer_len == store->ranks * len && len)
		memcpy(values, answer, answer_len);
	store_eat(store);
	if (answer_len != store->ranks * len) {
		snprintf(why, room, "the store returned %zu bytes instead of %zu", answer_len,
			 store->ranks * len);
		return RF_ERR_BOOTSTRAP;
	}
	return RF_OK;
}

int rf_store_announce(struct rf_store *store, int status, const char *text)
{
	uint8_t body[4 + RF_STORE_TEXT_MAX];
	size_t len = strlen(text);
	char why[128];

	if (len > RF_STORE_TEXT_MAX - 1)
		len = RF_STORE_TEXT_MAX - 1;
	rf_put_be32(body, (uint32_t)status);
	memcpy(body + 4, text, len);
	return store_post(store, STORE_ANNOUNCE, body, 4 + len, why, sizeof(why));
}

int rf_store_poll(struct rf_store *store, struct rf_store_event *event)
{
	const uint8_t *body;
	uint8_t verb;
	size_t len;
	char why[128];

	if (store->fd >= 0) {
		bool alive = store_flush(store, why, sizeof(why)) == RF_OK && store_fill(store);

		/* an answer without a waiting call: ignore it */
		while (store_scan(store, &verb, &body, &len) > 0 && !store->waiting)
			store_eat(store);
		if (!alive && !store->waiting)
			store_gone(store, why, sizeof(why));
	}
	if (store->n_events) {
		*event = store->events[0];
		store->n_events--;
		memmove(&store->events[0], &store->events[1],
			store->n_events * sizeof(store->events[0]));
		return 1;
	}
	if (store->fd < 0 && !store->end_reported) {
		store->end_reported = true;
		return RF_ERR_BOOTSTRAP;
	}
	return 0;
}
