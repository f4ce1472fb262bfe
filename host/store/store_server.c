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

static void conn_close(struct rf_store_server *s, struct store_conn *c, bool lost)
{
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
	if (s->assembled) {
		s->gone[c->rank] = true;
		if (lost)
			store_conn_event(s, c->rank, RF_ERR_RANK_LOST, "", 0);
	}
	store_meet_left(s, c->rank);
}

static void do_hello(struct rf_store_server *s, struct store_conn *c, const uint8_t *p, size_t len)
{
	unsigned int rank;
	uint64_t job;
	uint8_t reply[8];
	char text[128];

	if (c->member || len < 5 || rf_get_be32(p) != STORE_MAGIC ||
	    (p[4] == STORE_VERSION && len != STORE_HELLO_BODY)) {
		conn_close(s, c, true);
		return;
	}
	if (!c->tx)
		c->tx = malloc(STORE_TX_ROOM);
	c->tx_room = STORE_TX_ROOM;
	if (!c->tx) {
		conn_close(s, c, false);
		return;
	}
	if (p[4] != STORE_VERSION) {
		atomic_store(&s->other_version, p[4]);
		snprintf(text, sizeof(text), STORE_SPEAKS "%u", STORE_VERSION);
		store_conn_error(c, RF_ERR_MISMATCH, text);
		return;
	}
	/* The job is told only to those that have its key. */
	if (!rf_siphash_equal(rf_get_be64(p + STORE_HELLO_TAG),
			      store_tag(s->key, c->challenge, p))) {
		store_conn_error(c, RF_ERR_MISMATCH, "its key (RF_KEY) is another one");
		return;
	}
	rank = rf_get_be16(p + 5);
	job = rf_get_be64(p + 9);
	if (rf_get_be16(p + 7) != s->ranks || rank >= s->ranks || (job && job != s->job)) {
		snprintf(text, sizeof(text), "it serves job %llu of %u ranks",
			 (unsigned long long)s->job, s->ranks);
		store_conn_error(c, RF_ERR_MISMATCH, text);
		return;
	}
	if (store_conn_of(s, rank)) {
		store_conn_error(c, RF_ERR_RANK_TAKEN, "");
		return;
	}
	if (s->gone[rank]) {
		store_conn_error(c, RF_ERR_RANK_LOST, "");
		return;
	}
	c->member = true;
	c->rank = rank;
	s->members++;
	rf_put_be64(reply, s->job);
	store_conn_send(c, STORE_OK, reply, sizeof(reply), NULL, 0);
}

static bool do_request(struct rf_store_server *s, struct store_conn *c, uint8_t verb,
		       const uint8_t *p, size_t len)
{
	if (verb == STORE_HELLO) {
		do_hello(s, c, p, len);
		return true;
	}
	/* only from members */
	if (!c->member)
		return false;
	switch (verb) {
	case STORE_ANNOUNCE:
		if (len < 4 || len - 4 > RF_STORE_TEXT_MAX - 1)
			return false;
		store_conn_event(s, c->rank, (int)rf_get_be32(p), p + 4, len - 4);
		return true;
	case STORE_CANCEL:
		if (len != 4)
			return false;
		store_meet_cancel(s, c->rank, rf_get_be32(p));
		return true;
	case STORE_BYE:
		conn_close(s, c, false);
		return true;
	}
	return verb == STORE_GATHER && store_meet_join(s, c, p, len);
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

/* ms until the next deadline; 0 if one has passed. */
static int server_timeout(const struct rf_store_server *s, uint64_t now)
{
	uint64_t next = store_meet_next(s);

	next = next < now + 1000 ? next : now + 1000;
	for (unsigned int k = 0; k < STORE_CONNS; k++)
		if (s->conns[k].fd >= 0 && !s->conns[k].member && s->conns[k].hello_by < next)
			next = s->conns[k].hello_by;
	return next > now ? (int)(next - now) : 0;
}

/*
 * Ends waits and strangers whose deadline had passed at a time. Everything that had arrived by then
 * has been read.
 */
static void server_deadlines(struct rf_store_server *s, uint64_t now)
{
	for (unsigned int k = 0; k < STORE_CONNS; k++)
		if (s->conns[k].fd >= 0 && !s->conns[k].member && s->conns[k].hello_by <= now)
			conn_close(s, &s->conns[k], false);
	store_meet_deadlines(s, now);
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
				store_conn_flush(who[k]);
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
	store_meet_end(s);
	return NULL;
}
