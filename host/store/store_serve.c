/*
 * Starts and stops the store's server.
 */
#include <errno.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "host/store/store_address.h"
#include "host/store/store_server.h"

/* Listens on the address of `host`, or on all addresses if it is not one of this machine. */
static int server_listen(const char *host, unsigned int port, char *why, size_t room)
{
	struct sockaddr_in address;
	int one = 1;
	int fd, ret;

	ret = store_address(host, port, &address, why, room);
	if (ret)
		return ret;
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0) {
		snprintf(why, room, "cannot open a socket: %s", strerror(errno));
		return RF_ERR_SYSTEM;
	}
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	ret = bind(fd, (struct sockaddr *)&address, sizeof(address));
	if (ret < 0 && errno == EADDRNOTAVAIL) {
		address.sin_addr.s_addr = htonl(INADDR_ANY);
		ret = bind(fd, (struct sockaddr *)&address, sizeof(address));
	}
	if (ret == 0)
		ret = listen(fd, 128);
	if (ret < 0) {
		snprintf(why, room, "cannot listen on TCP %s:%u: %s; choose another RF_PORT", host,
			 port, strerror(errno));
		ret = errno == EADDRINUSE ? RF_ERR_BUSY : RF_ERR_BOOTSTRAP;
		close(fd);
		return ret;
	}
	return fd;
}

/* The port is in use: find out by whom. */
static int server_taken(const char *host, unsigned int port, unsigned int ranks,
			const uint8_t key[16], char *why, size_t room)
{
	struct rf_store *store;
	char other[256];
	uint64_t job = 0;
	int ret;

	ret = rf_store_connect(host, port, 0, ranks, &job, key, 1000, &store, other, sizeof(other));
	if (ret == RF_OK)
		rf_store_close(store);
	if (ret == RF_OK || ret == RF_ERR_RANK_TAKEN || ret == RF_ERR_MISMATCH) {
		snprintf(why, room,
			 "another process is rank 0 already: it owns %s:%u; give each process its "
			 "own rank, or another job another RF_PORT",
			 host, port);
		return RF_ERR_RANK_TAKEN;
	}
	return RF_ERR_BOOTSTRAP;
}

static void server_free(struct rf_store_server *s)
{
	if (s->listen_fd >= 0)
		close(s->listen_fd);
	if (s->wake_fd >= 0)
		close(s->wake_fd);
	pthread_mutex_destroy(&s->lock);
	explicit_bzero(s->key, sizeof(s->key));
	free(s);
}

int rf_store_serve(const char *host, unsigned int port, unsigned int ranks, uint64_t job,
		   const uint8_t key[16], struct rf_store_server **server, char *why, size_t room)
{
	struct rf_store_server *s = calloc(1, sizeof(*s));
	sigset_t all, old;
	unsigned int k;
	int ret;

	if (!s) {
		snprintf(why, room, "no memory for the store");
		return RF_ERR_NO_MEMORY;
	}
	pthread_mutex_init(&s->lock, NULL);
	s->listen_fd = -1;
	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	s->ranks = ranks;
	s->job = job;
	memcpy(s->key, key, sizeof(s->key));
	for (k = 0; k < STORE_CONNS; k++)
		s->conns[k].fd = -1;
	if (s->wake_fd < 0) {
		snprintf(why, room, "no memory for the store");
		server_free(s);
		return RF_ERR_NO_MEMORY;
	}
	ret = server_listen(host, port, why, room);
	if (ret < 0) {
		server_free(s);
		return ret == RF_ERR_BUSY ? server_taken(host, port, ranks, key, why, room) : ret;
	}
	s->listen_fd = ret;
	/* block all signals: the application's signals must not arrive on this thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	ret = pthread_create(&s->thread, NULL, rf_store_server_thread, s);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (ret) {
		snprintf(why, room, "cannot start the store's thread: %s", strerror(ret));
		server_free(s);
		return RF_ERR_SYSTEM;
	}
	*server = s;
	return RF_OK;
}

unsigned int rf_store_server_port(const struct rf_store_server *server)
{
	struct sockaddr_in address = {0};
	socklen_t size = sizeof(address);

	if (getsockname(server->listen_fd, (struct sockaddr *)&address, &size) != 0)
		return 0;
	return ntohs(address.sin_port);
}

unsigned int rf_store_server_other(struct rf_store_server *s)
{
	return s ? atomic_load(&s->other_version) : 0;
}

void rf_store_server_stop(struct rf_store_server *server, unsigned int timeout_ms)
{
	uint64_t one = 1;

	if (!server)
		return;
	rf_mutex_lock(&server->lock, store_server_class);
	server->stop = true;
	server->stop_by = rf_now_ms() + timeout_ms;
	rf_mutex_unlock(&server->lock, store_server_class);
	if (write(server->wake_fd, &one, sizeof(one)) < 0)
		one = 0; /* the thread checks once a second anyway */
	pthread_join(server->thread, NULL);
	server_free(server);
}
