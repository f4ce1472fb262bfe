#include "base/clock.h"
#include "host/store/store_line.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/rf_bytes.h"
#include "ringfold/ringfold.h"

int store_gone(struct rf_store *s, char *why, size_t room)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	snprintf(why, room, "%s",
		 s->rank ? "the connection to rank 0's store has ended: rank 0's process has ended"
			 : "the connection to this rank's own store has ended");
	return RF_ERR_RANK_LOST;
}

int store_flush(struct rf_store *s, char *why, size_t room)
{
	while (s->tx_len > 0) {
		ssize_t n =
			s->fd < 0 ? -1 : send(s->fd, s->tx, s->tx_len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n > 0) {
			s->tx_len -= (size_t)n;
			memmove(s->tx, s->tx + n, s->tx_len);
			continue;
		}
		if (s->fd >= 0 && n < 0 && (errno == EAGAIN || errno == EINTR))
			return RF_OK;
		s->tx_len = 0;
		return store_gone(s, why, room);
	}
	return RF_OK;
}

int store_post(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room)
{
	uint8_t *message;
	int ret = s->fd < 0 ? store_gone(s, why, room) : store_flush(s, why, room);

	if (ret)
		return ret;
	message = s->tx + s->tx_len;
	if (STORE_HEAD + len > sizeof(s->tx) - s->tx_len)
		return RF_ERR_BUSY;
	rf_put_be32(message, (uint32_t)(1 + len));
	message[4] = (uint8_t)verb;
	if (len)
		memcpy(message + STORE_HEAD, body, len);
	s->tx_len += STORE_HEAD + len;
	return store_flush(s, why, room);
}

int store_send(struct rf_store *s, enum store_verb verb, const uint8_t *body, size_t len, char *why,
	       size_t room)
{
	uint64_t by = rf_now_ms() + STORE_GRACE_MS;
	bool posted = false;

	do {
		struct pollfd p = {.fd = s->fd, .events = POLLOUT};
		int ret = posted ? store_flush(s, why, room)
				 : store_post(s, verb, body, len, why, room);

		if (ret != RF_OK && ret != RF_ERR_BUSY)
			return ret;
		posted = posted || ret == RF_OK;
		if (posted && s->tx_len == 0)
			return RF_OK;
		poll(&p, 1, 100);
	} while (rf_now_ms() < by);
	s->tx_len = 0;
	return store_gone(s, why, room);
}

/* A place behind the events that wait; NULL: there are too many. */
static struct rf_store_event *event_place(struct rf_store *s) RF_REQUIRES(store_class)
{
	size_t room = s->events_room ? 2 * s->events_room : 8;
	struct rf_store_event *more;

	if (s->first_event + s->n_events < s->events_room)
		return &s->events[s->first_event + s->n_events++];
	if (s->n_events)
		memmove(s->events, s->events + s->first_event, s->n_events * sizeof(*s->events));
	s->first_event = 0;
	if (s->n_events == s->events_room) {
		more = room <= STORE_EVENTS ? realloc(s->events, room * sizeof(*more)) : NULL;
		if (!more)
			return NULL;
		s->events = more;
		s->events_room = room;
	}
	return &s->events[s->n_events++];
}

static void store_event(struct rf_store *s, const uint8_t *p, size_t len) RF_REQUIRES(store_class)
{
	struct rf_store_event *e = len < STORE_EVENT_BODY ? NULL : event_place(s);

	if (!e)
		return;
	e->status = (int)rf_get_be32(p);
	e->rank = rf_get_be16(p + 4);
	len -= STORE_EVENT_BODY;
	if (len > sizeof(e->text) - 1)
		len = sizeof(e->text) - 1;
	memcpy(e->text, p + STORE_EVENT_BODY, len);
	e->text[len] = '\0';
}

int store_scan(struct rf_store *s, uint8_t *verb, const uint8_t **body, size_t *len)
{
	while (s->rx_len >= STORE_HEAD) {
		uint32_t n = rf_get_be32(s->rx);

		if (n < 1 || n > STORE_REPLY_MAX - 4)
			return -1;
		if (s->rx_len < 4 + n)
			return 0;
		if (s->rx[4] != STORE_EVENT) {
			*verb = s->rx[4];
			*body = s->rx + STORE_HEAD;
			*len = n - 1;
			return 1;
		}
		store_event(s, s->rx + STORE_HEAD, n - 1);
		memmove(s->rx, s->rx + 4 + n, s->rx_len - 4 - n);
		s->rx_len -= 4 + n;
	}
	return 0;
}

void store_eat(struct rf_store *s)
{
	uint32_t n = rf_get_be32(s->rx);

	memmove(s->rx, s->rx + 4 + n, s->rx_len - 4 - n);
	s->rx_len -= 4 + n;
}

bool store_fill(struct rf_store *s)
{
	ssize_t n = recv(s->fd, s->rx + s->rx_len, sizeof(s->rx) - s->rx_len, MSG_DONTWAIT);

	if (n > 0)
		s->rx_len += (size_t)n;
	return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/*
 * The deadline has passed, perhaps because this process stood still: what has arrived by then still
 * counts. As store_scan().
 */
static int store_last_read(struct rf_store *s, uint8_t *verb, const uint8_t **body, size_t *len)
	RF_REQUIRES(store_class)
{
	size_t before;
	bool alive;
	int found;

	do {
		before = s->rx_len;
		alive = store_fill(s);
		before = s->rx_len - before;
		found = store_scan(s, verb, body, len);
	} while (!found && alive && before);
	return found || alive ? found : -1;
}

/* Waits until an answer is in the buffer. Returns 0, or the reason there is none. */
static int store_wait(struct rf_store *s, uint64_t by, uint8_t *verb, const uint8_t **body,
		      size_t *len, char *why, size_t room) RF_REQUIRES(store_class)
{
	for (;;) {
		int found = store_scan(s, verb, body, len);
		struct pollfd p = {.fd = s->fd, .events = POLLIN};
		uint64_t now = rf_now_ms();

		if (!found && s->fd >= 0 && now >= by)
			found = store_last_read(s, verb, body, len);
		if (found > 0)
			return RF_OK;
		if (found < 0 || s->fd < 0)
			return store_gone(s, why, room);
		if (now >= by) {
			store_gone(s, why, room);
			return RF_ERR_TIMEOUT;
		}
		if (poll(&p, 1, (int)(by - now)) > 0 && !store_fill(s))
			return store_gone(s, why, room);
	}
}

int store_challenge(struct rf_store *s, uint64_t by, uint8_t challenge[STORE_CHALLENGE_BODY],
		    char *why, size_t room)
{
	const uint8_t *body;
	uint8_t verb;
	size_t len;
	int ret = store_wait(s, by, &verb, &body, &len, why, room);

	if (ret)
		return ret;
	if (verb == STORE_CHALLENGE && len == STORE_CHALLENGE_BODY) {
		memcpy(challenge, body, len);
		store_eat(s);
		return RF_OK;
	}
	snprintf(why, room, "the server on RF_PORT is not a ringfold store of this version");
	return RF_ERR_BOOTSTRAP;
}

void store_socket_options(int fd)
{
	int one = 1, idle = 5, interval = 2, count = 3;

	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &one, sizeof(one));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &interval, sizeof(interval));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
}

int store_answer(struct rf_store *s, uint64_t by, const uint8_t **body, size_t *len, char *why,
		 size_t room)
{
	uint8_t verb;
	int status = store_wait(s, by, &verb, body, len, why, room);

	if (status)
		return status;
	if (verb == STORE_OK)
		return RF_OK;
	if (verb != STORE_ERROR || *len < STORE_ERROR_BODY) {
		store_eat(s);
		snprintf(why, room, "the server on RF_PORT is not a ringfold store");
		return RF_ERR_BOOTSTRAP;
	}
	status = (int)rf_get_be32(*body);
	snprintf(why, room, "%.*s", (int)(*len - STORE_ERROR_BODY), *body + STORE_ERROR_BODY);
	store_eat(s);
	return status < 0 ? status : RF_ERR_BOOTSTRAP;
}
