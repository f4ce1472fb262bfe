/*
 * The store's server: one thread, one poll() loop, bounded memory.
 *
 * A connection is a stranger until its HELLO was accepted; then it is a member with a rank.
 * Strangers that send nothing, and connections that violate the protocol, are closed. Until the
 * first gather has completed, a member that disconnects counts as not arrived (its launcher may
 * restart it). After that, its end is reported to all members.
 */
#include "base/clock.h"
#include "host/store/store_server.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

#include "host/store/store_line.h"
#include "proto/rf_bytes.h"

/* Time without accepting after the descriptors ran out. */
#define ACCEPT_PAUSE_MS 100u

static bool set_has(const uint8_t *set, unsigned int rank)
{
	return set[rank / 8] >> (rank % 8) & 1;
}

static void conn_flush(struct store_conn *c)
{
	while (c->tx_len) {
		ssize_t n = send(c->fd, c->tx, c->tx_len, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n <= 0)
			return; /* buffer full or connection closed: poll() reports it */
		memmove(c->tx, c->tx + n, c->tx_len - (size_t)n);
		c->tx_len -= (size_t)n;
	}
}

/*
 * Queues a message of two parts. A message that does not fit is dropped: the reader is stuck or
 * hostile.
 */
static void conn_send(struct store_conn *c, enum store_verb verb, const uint8_t *head,
		      size_t head_len, const void *body, size_t len)
{
	uint8_t *p;

	if (!c->tx || c->tx_len + STORE_HEAD + head_len + len > STORE_TX_ROOM)
		return;
	p = c->tx + c->tx_len;
	rf_put_be32(p, (uint32_t)(1 + head_len + len));
	p[4] = (uint8_t)verb;
	if (head_len)
		memcpy(p + STORE_HEAD, head, head_len);
	if (len)
		memcpy(p + STORE_HEAD + head_len, body, len);
	c->tx_len += STORE_HEAD + head_len + len;
	conn_flush(c);
}

static void conn_error(struct store_conn *c, int status, const uint8_t *set, const char *text)
{
	uint8_t head[STORE_ERROR_BODY] = {0};

	rf_put_be32(head, (uint32_t)status);
	if (set)
		memcpy(head + 4, set, 16);
	conn_send(c, STORE_ERROR, head, sizeof(head), text, strlen(text));
}

static void server_event(struct rf_store_server *s, unsigned int rank, int status, const void *text,
			 size_t len)
{
	uint8_t head[STORE_EVENT_BODY];
	unsigned int k;

	rf_put_be32(head, (uint32_t)status);
	rf_put_be16(head + 4, (uint16_t)rank);
	for (k = 0; k < STORE_CONNS; k++)
		if (s->conns[k].fd >= 0 && s->conns[k].member && s->conns[k].rank != rank)
			conn_send(&s->conns[k], STORE_EVENT, head, sizeof(head), text, len);
}

/* Every member waiting in the gather gets this error, and the gather starts over. */
static void gather_fail(struct rf_store_server *s, int status, const uint8_t *set, const char *text)
{
	unsigned int k;

	for (k = 0; k < STORE_CONNS; k++) {
		struct store_conn *c = &s->conns[k];

		if (c->fd < 0 || !c->waiting)
			continue;
		c->waiting = false;
		conn_error(c, status, set, text);
	}
	s->came = 0;
	memset(s->came_set, 0, sizeof(s->came_set));
}

static void conn_close(struct rf_store_server *s, struct store_conn *c, bool lost)
{
	uint8_t set[16] = {0};

	if (c->fd < 0)
		return;
	close(c->fd);
	c->fd = -1;
	free(c->tx);
	c->tx = NULL;
	if (!c->member)
		return;
	c->member = false;
	s->members--;
	if (!s->assembled) {
		if (set_has(s->came_set, c->rank)) {
			s->came_set[c->rank / 8] &= (uint8_t) ~(1u << (c->rank % 8));
			s->came--;
		}
		return;
	}
	s->gone[c->rank] = true;
	if (lost)
		server_event(s, c->rank, RF_ERR_RANK_LOST, "", 0);
	set[c->rank / 8] = (uint8_t)(1u << (c->rank % 8));
	if (s->came)
		gather_fail(s, RF_ERR_RANK_LOST, set, "");
}

static void do_hello(struct rf_store_server *s, struct store_conn *c, const uint8_t *p, size_t len)
{
	unsigned int rank;
	uint64_t job;
	uint8_t reply[8];
	char text[128];
	unsigned int k;

	if (c->member || len < 5 || rf_get_be32(p) != STORE_MAGIC ||
	    (p[4] == STORE_VERSION && len != STORE_HELLO_BODY)) {
		conn_close(s, c, true);
		return;
	}
	if (!c->tx)
		c->tx = malloc(STORE_TX_ROOM);
	if (!c->tx) {
		conn_close(s, c, false);
		return;
	}
	if (p[4] != STORE_VERSION) {
		snprintf(text, sizeof(text), "it speaks version %u", STORE_VERSION);
		conn_error(c, RF_ERR_MISMATCH, NULL, text);
		return;
	}
	/* The job is told only to those that have its key. */
	if (!rf_siphash_equal(rf_get_be64(p + STORE_HELLO_TAG),
			      store_tag(s->key, c->challenge, p))) {
		conn_error(c, RF_ERR_MISMATCH, NULL, "its key (RF_KEY) is another one");
		return;
	}
	rank = rf_get_be16(p + 5);
	job = rf_get_be64(p + 9);
	if (rf_get_be16(p + 7) != s->ranks || rank >= s->ranks || (job && job != s->job)) {
		snprintf(text, sizeof(text), "it serves job %llu of %u ranks",
			 (unsigned long long)s->job, s->ranks);
		conn_error(c, RF_ERR_MISMATCH, NULL, text);
		return;
	}
	for (k = 0; k < STORE_CONNS; k++) {
		if (s->conns[k].fd < 0 || !s->conns[k].member || s->conns[k].rank != rank)
			continue;
		conn_error(c, RF_ERR_RANK_TAKEN, NULL, "");
		return;
	}
	if (s->gone[rank]) {
		conn_error(c, RF_ERR_RANK_LOST, NULL, "");
		return;
	}
	c->member = true;
	c->rank = rank;
	s->members++;
	rf_put_be64(reply, s->job);
	conn_send(c, STORE_OK, reply, sizeof(reply), NULL, 0);
}

/*
 * Reads a string of 1 .. RF_STORE_KEY_MAX bytes without zero bytes. Returns its length including
 * the length byte, or 0.
 */
static size_t read_name(const uint8_t *p, size_t len, char *name)
{
	if (len < 2 || p[0] < 1 || p[0] > RF_STORE_KEY_MAX || (size_t)p[0] + 1 > len ||
	    memchr(p + 1, 0, p[0]))
		return 0;
	memcpy(name, p + 1, p[0]);
	name[p[0]] = '\0';
	return (size_t)p[0] + 1;
}

static void gather_done(struct rf_store_server *s)
{
	unsigned int k;

	for (k = 0; k < STORE_CONNS; k++) {
		struct store_conn *c = &s->conns[k];

		if (c->fd < 0 || !c->waiting)
			continue;
		c->waiting = false;
		conn_send(c, STORE_OK, NULL, 0, s->values, s->ranks * s->value_len);
	}
	s->came = 0;
	memset(s->came_set, 0, sizeof(s->came_set));
	s->assembled = true;
}

static bool do_gather(struct rf_store_server *s, struct store_conn *c, const uint8_t *p, size_t len)
{
	char name[RF_STORE_KEY_MAX + 1];
	uint8_t set[16] = {0};
	char text[3 * RF_STORE_KEY_MAX];
	size_t used;
	unsigned int r;

	used = len < 5 ? 0 : read_name(p + 4, len - 4, name);
	if (!used || len - 4 - used > RF_STORE_VALUE_MAX)
		return false;
	p += 4 + used;
	len -= 4 + used;
	for (r = 0; r < s->ranks; r++)
		if (s->gone[r])
			set[r / 8] |= (uint8_t)(1u << (r % 8));
	c->wait_until = rf_now_ms() + rf_get_be32(p - 4 - used);
	c->waiting = true;
	for (r = 0; r < s->ranks; r++) {
		if (!s->gone[r])
			continue;
		gather_fail(s, RF_ERR_RANK_LOST, set, "");
		return true;
	}
	if (s->came && (strcmp(name, s->name) != 0 || len != s->value_len)) {
		snprintf(text, sizeof(text), "rank %u is at \"%s\", others are at \"%s\"", c->rank,
			 name, s->name);
		gather_fail(s, RF_ERR_MISMATCH, NULL, text);
		return true;
	}
	memcpy(s->name, name, sizeof(name));
	s->value_len = len;
	memcpy(s->values + c->rank * len, p, len);
	s->came_set[c->rank / 8] |= (uint8_t)(1u << (c->rank % 8));
	if (++s->came == s->ranks)
		gather_done(s);
	return true;
}

static bool do_request(struct rf_store_server *s, struct store_conn *c, uint8_t verb,
		       const uint8_t *p, size_t len)
{
	if (verb == STORE_HELLO) {
		do_hello(s, c, p, len);
		return true;
	}
	/* one call at a time, and only from members */
	if (!c->member)
		return false;
	switch (verb) {
	case STORE_ANNOUNCE:
		if (len < 4 || len - 4 > RF_STORE_TEXT_MAX - 1)
			return false;
		server_event(s, c->rank, (int)rf_get_be32(p), p + 4, len - 4);
		return true;
	case STORE_BYE:
		conn_close(s, c, false);
		return true;
	}
	if (c->waiting)
		return false;
	return verb == STORE_GATHER && do_gather(s, c, p, len);
}

static void conn_read(struct rf_store_server *s, struct store_conn *c)
{
	ssize_t n = recv(c->fd, c->rx + c->rx_len, sizeof(c->rx) - c->rx_len, MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		conn_close(s, c, true);
		return;
	}
	c->rx_len += (size_t)n;
	while (c->fd >= 0 && c->rx_len >= 4) {
		uint32_t len = rf_get_be32(c->rx);

		if (len < 1 || len > STORE_REQUEST_MAX - 4) {
			conn_close(s, c, true);
			return;
		}
		if (c->rx_len < 4 + len)
			return;
		if (!do_request(s, c, c->rx[4], c->rx + STORE_HEAD, len - 1)) {
			conn_close(s, c, true);
			return;
		}
		if (c->fd < 0)
			return;
		memmove(c->rx, c->rx + 4 + len, c->rx_len - 4 - len);
		c->rx_len -= 4 + len;
	}
}

/* A place for a stranger: a free one, or that of the oldest stranger, which is closed. */
static struct store_conn *stranger_place(struct rf_store_server *s)
{
	struct store_conn *unused = NULL, *oldest = NULL;
	unsigned int strangers = 0;

	for (unsigned int k = 0; k < STORE_CONNS; k++) {
		struct store_conn *c = &s->conns[k];

		if (c->fd < 0) {
			unused = c;
		} else if (!c->member) {
			strangers++;
			if (!oldest || c->hello_by < oldest->hello_by)
				oldest = c;
		}
	}
	if (unused && strangers < STORE_STRANGERS)
		return unused;
	if (oldest)
		conn_close(s, oldest, false);
	return oldest;
}

static void server_accept(struct rf_store_server *s)
{
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	uint8_t message[STORE_HEAD + STORE_CHALLENGE_BODY];
	struct store_conn *c;

	if (fd < 0) {
		/* poll() would report the connection that waits again and again */
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM)
			s->accept_at = rf_now_ms() + ACCEPT_PAUSE_MS;
		return;
	}
	c = stranger_place(s);
	if (!c || getrandom(message + STORE_HEAD, STORE_CHALLENGE_BODY, 0) !=
			  (ssize_t)STORE_CHALLENGE_BODY) {
		close(fd);
		return;
	}
	store_socket_options(fd);
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->hello_by = rf_now_ms() + RF_STORE_HELLO_MS;
	rf_put_be32(message, 1 + STORE_CHALLENGE_BODY);
	message[4] = STORE_CHALLENGE;
	memcpy(c->challenge, message + STORE_HEAD, STORE_CHALLENGE_BODY);
	/* a new socket has room for it */
	if (send(fd, message, sizeof(message), MSG_DONTWAIT | MSG_NOSIGNAL) !=
	    (ssize_t)sizeof(message))
		conn_close(s, c, false);
}

/* When to stop waiting for a connection, ms; UINT64_MAX: it is not waited for. */
static uint64_t conn_deadline(const struct store_conn *c)
{
	if (c->fd < 0 || (c->member && !c->waiting))
		return UINT64_MAX;
	return c->member ? c->wait_until : c->hello_by;
}

/* ms until the next deadline; 0 if one has passed. */
static int server_timeout(const struct rf_store_server *s, uint64_t now)
{
	uint64_t next = now + 1000;

	for (unsigned int k = 0; k < STORE_CONNS; k++) {
		uint64_t by = conn_deadline(&s->conns[k]);

		next = by < next ? by : next;
	}
	return next > now ? (int)(next - now) : 0;
}

/*
 * Ends waits and strangers whose deadline had passed at a time. Everything that had arrived by then
 * has been read.
 */
static void server_deadlines(struct rf_store_server *s, uint64_t now)
{
	unsigned int k, r;

	for (k = 0; k < STORE_CONNS; k++) {
		struct store_conn *c = &s->conns[k];
		uint8_t set[16] = {0};

		if (conn_deadline(c) > now)
			continue;
		if (!c->member) {
			conn_close(s, c, false);
			continue;
		}
		for (r = 0; r < s->ranks; r++)
			if (!set_has(s->came_set, r))
				set[r / 8] |= (uint8_t)(1u << (r % 8));
		gather_fail(s, RF_ERR_RANK_MISSING, set, s->name);
	}
}

/* Whether a stop was requested; *by is the deadline for it. */
static bool server_stopping(struct rf_store_server *s, uint64_t *by)
{
	bool stop;

	rf_mutex_lock(&s->lock, store_server_class);
	stop = s->stop;
	*by = s->stop_by;
	rf_mutex_unlock(&s->lock, store_server_class);
	return stop;
}

void *rf_store_server_thread(void *server)
{
	struct rf_store_server *s = server;
	struct pollfd fds[STORE_CONNS + 2];
	struct store_conn *who[STORE_CONNS + 2];
	unsigned int k, n;

	for (;;) {
		uint64_t by;
		bool stopping = server_stopping(s, &by);
		uint64_t now = rf_now_ms();
		int timeout = server_timeout(s, now);

		if (stopping && (s->members == 0 || now >= by))
			break;
		/* poll() ignores a negative descriptor */
		fds[0] = (struct pollfd){.fd = now < s->accept_at ? -1 : s->listen_fd,
					 .events = POLLIN};
		if (now < s->accept_at && timeout > (int)ACCEPT_PAUSE_MS)
			timeout = ACCEPT_PAUSE_MS;
		fds[1] = (struct pollfd){.fd = s->wake_fd, .events = POLLIN};
		n = 2;
		for (k = 0; k < STORE_CONNS; k++) {
			struct store_conn *c = &s->conns[k];

			if (c->fd < 0)
				continue;
			who[n] = c;
			fds[n].fd = c->fd;
			fds[n].revents = 0;
			fds[n++].events = (short)(POLLIN | (c->tx_len ? POLLOUT : 0));
		}
		if (stopping && timeout > 20)
			timeout = 20;
		if (poll(fds, n, timeout) < 0 && errno != EINTR)
			break;
		for (k = 2; k < n; k++) {
			if (who[k]->fd == fds[k].fd && fds[k].revents & POLLOUT)
				conn_flush(who[k]);
			if (who[k]->fd == fds[k].fd && fds[k].revents & ~POLLOUT)
				conn_read(s, who[k]);
		}
		if (fds[1].revents) {
			uint64_t count;

			if (read(s->wake_fd, &count, sizeof(count)) < 0)
				continue;
		}
		if (fds[0].revents)
			server_accept(s);
		server_deadlines(s, now);
	}
	for (k = 0; k < STORE_CONNS; k++)
		conn_close(s, &s->conns[k], false);
	return NULL;
}
