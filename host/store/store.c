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

/* How long the first connection may be silent; each further one twice as long. */
#define PATIENCE_MS 250u

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
		       char *why, size_t room) RF_REQUIRES(store_class)
{
	uint8_t challenge[STORE_CHALLENGE_BODY];
	uint8_t hello[STORE_HELLO_BODY];
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
		ret = store_answer(s, by, &body, &len, text, sizeof(text));
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
		if (strncmp(text, STORE_SPEAKS, strlen(STORE_SPEAKS)) == 0) {
			snprintf(why, room,
				 "rank 0 has another release of ringfold: its store speaks version "
				 "%.8s, that of rank %u version %u; use one release on all ranks",
				 text + strlen(STORE_SPEAKS), s->rank, STORE_VERSION);
			return ret;
		}
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

/*
 * Whether another try may end better. The store may be just ending, or not started yet. If nothing
 * answers, rank 0 stands still; or the connection is none: the kernel has established it just when
 * the server before this one closed its socket, and this side learns nothing of that, because the
 * server is to speak first. When rank 0 goes on, it may still have the connection that was given
 * up.
 */
static bool may_pass(int ret, bool silent)
{
	return ret == RF_ERR_RANK_MISSING || ret == RF_ERR_RANK_LOST || ret == RF_ERR_TIMEOUT ||
	       (ret == RF_ERR_RANK_TAKEN && silent);
}

/* Describes why no try has ended well. Returns the status for the caller. */
static int nobody_there(int status, const char *host, unsigned int port, unsigned int timeout_ms,
			char *why, size_t room)
{
	if (status == RF_ERR_RANK_MISSING)
		snprintf(why, room,
			 "rank 0 did not arrive: no store answers at %s:%u within %u ms; "
			 "start rank 0, and check RF_ROOT and RF_PORT",
			 host, port, timeout_ms);
	if (status != RF_ERR_TIMEOUT)
		return status;
	snprintf(why, room,
		 "the store at rank 0 does not answer: %s:%u accepts connections, but is silent "
		 "for %u ms; rank 0 stands still, or another program has RF_PORT",
		 host, port, timeout_ms > STORE_GRACE_MS ? timeout_ms : STORE_GRACE_MS);
	return RF_ERR_BOOTSTRAP;
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
	uint64_t now, patience = PATIENCE_MS;
	bool silent = false; /* a connection was given up, because nothing answered */
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
	pthread_mutex_init(&s->lock, NULL);
	rf_mutex_lock(&s->lock, store_class); /* nobody else has it yet */
	for (;;) {
		s->rx_len = 0;
		s->tx_len = 0;
		s->fd = connect_once(&address, by);
		/* the last one gets time for the answer, however late it is */
		now = rf_now_ms();
		if (now + patience >= by || patience > STORE_GRACE_MS)
			patience = STORE_GRACE_MS;
		ret = s->fd < 0 ? RF_ERR_RANK_MISSING
				: store_hello(s, job, key, now + patience, why, room);
		if (ret == RF_OK) {
			rf_mutex_unlock(&s->lock, store_class);
			*store = s;
			return RF_OK;
		}
		if (s->fd >= 0)
			close(s->fd);
		s->fd = -1;
		if (!may_pass(ret, silent) || rf_now_ms() >= by)
			break;
		silent = silent || ret == RF_ERR_TIMEOUT;
		patience *= ret == RF_ERR_TIMEOUT ? 2 : 1;
		nanosleep(&pause, NULL);
	}
	free(s->events);
	rf_mutex_unlock(&s->lock, store_class);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return nobody_there(ret, host, port, timeout_ms, why, room);
}

void rf_store_close(struct rf_store *store)
{
	struct rf_store_call *c;
	char why[128];

	if (!store)
		return;
	rf_mutex_lock(&store->lock, store_class);
	if (store->fd >= 0) {
		store_send(store, STORE_BYE, NULL, 0, why, sizeof(why));
		if (store->fd >= 0)
			close(store->fd);
	}
	while ((c = store->calls) != NULL) {
		store->calls = c->next;
		free(c->value);
		free(c);
	}
	free(store->events);
	rf_mutex_unlock(&store->lock, store_class);
	pthread_mutex_destroy(&store->lock);
	free(store);
}

int rf_store_announce(struct rf_store *store, int status, const char *text)
{
	uint8_t body[4 + RF_STORE_TEXT_MAX];
	size_t len = strlen(text);
	char why[128];
	int ret;

	if (len > RF_STORE_TEXT_MAX - 1)
		len = RF_STORE_TEXT_MAX - 1;
	rf_put_be32(body, (uint32_t)status);
	memcpy(body + 4, text, len);
	rf_mutex_lock(&store->lock, store_class);
	ret = store_post(store, STORE_ANNOUNCE, body, 4 + len, why, sizeof(why));
	rf_mutex_unlock(&store->lock, store_class);
	return ret;
}

int rf_store_poll(struct rf_store *store, struct rf_store_event *event)
{
	int ret = 0;

	rf_mutex_lock(&store->lock, store_class);
	if (store->fd >= 0)
		store_pump(store);
	if (store->n_events) {
		*event = store->events[store->first_event++];
		store->n_events--;
		ret = 1;
	} else if (store->fd < 0 && !store->end_reported) {
		store->end_reported = true;
		ret = RF_ERR_BOOTSTRAP;
	}
	rf_mutex_unlock(&store->lock, store_class);
	return ret;
}
