/* One GET request; the answer is JSON. */
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "tools/top.h"

#define DEFAULT_PORT "9477"
#define WAIT_MS 5000u
#define ANSWER_MAX ((size_t)4 << 20)

int rf_top_url_parse(const char *text, struct rf_top_url *to)
{
	const char *port = NULL;
	size_t len, host;

	if (strncmp(text, "http://", 7) == 0)
		text += 7;
	len = strcspn(text, "/");
	if (text[len] && strcmp(text + len, "/") != 0)
		return -1;
	host = len;
	if (text[0] == '[') { /* an IPv6 address */
		text++;
		len--;
		host = strcspn(text, "]");
		if (host >= len)
			return -1;
		if (host + 1 < len) {
			if (text[host + 1] != ':')
				return -1;
			port = text + host + 2;
		}
	} else if (memchr(text, ':', len)) {
		host = strcspn(text, ":");
		port = text + host + 1;
	}
	if (host == 0 || host >= sizeof(to->host))
		return -1;
	memcpy(to->host, text, host);
	to->host[host] = '\0';
	if (!port) {
		strcpy(to->port, DEFAULT_PORT);
		return 0;
	}
	len -= (size_t)(port - text);
	if (len == 0 || len > 5 || strspn(port, "0123456789") != len)
		return -1;
	memcpy(to->port, port, len);
	to->port[len] = '\0';
	return atoi(to->port) > 0 && atoi(to->port) <= 65535 ? 0 : -1;
}

/* Milliseconds that are left. */
static int left(uint64_t end)
{
	uint64_t now = rf_now_ms();

	return now < end ? (int)(end - now) : 0;
}

/* A connected socket, or -1 with errno. */
static int connect_to(const struct addrinfo *a, uint64_t end)
{
	int fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	socklen_t len = sizeof(int);
	int err = 0;

	if (fd < 0)
		return -1;
	if (connect(fd, a->ai_addr, a->ai_addrlen) != 0) {
		err = errno;
		if (err == EINPROGRESS) {
			if (poll(&p, 1, left(end)) <= 0)
				err = ETIMEDOUT;
			else if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len) != 0)
				err = errno;
		}
	}
	if (err) {
		close(fd);
		errno = err;
		return -1;
	}
	return fd;
}

static int open_url(const struct rf_top_url *url, uint64_t end, char *why, size_t room)
{
	const struct addrinfo hints = {.ai_socktype = SOCK_STREAM};
	struct addrinfo *all;
	int fd = -1;
	int err = getaddrinfo(url->host, url->port, &hints, &all);

	if (err) {
		snprintf(why, room, "%s: %s", url->host, gai_strerror(err));
		return -1;
	}
	for (const struct addrinfo *a = all; a && fd < 0; a = a->ai_next)
		fd = connect_to(a, end);
	err = errno;
	freeaddrinfo(all);
	if (fd < 0)
		snprintf(why, room, "%s:%s: %s%s", url->host, url->port, strerror(err),
			 err == ECONNREFUSED
				 ? "; does a box serve a page there (ringfold box --http)?"
				 : "");
	return fd;
}

/* The address of the other end: a box answers to names only if they are its own. */
static void address_of(int fd, char *name, size_t room)
{
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char text[INET6_ADDRSTRLEN] = "";
	bool v6;

	if (getpeername(fd, (struct sockaddr *)&sa, &len) != 0)
		sa.ss_family = AF_UNSPEC;
	v6 = sa.ss_family == AF_INET6;
	if (sa.ss_family == AF_UNSPEC || getnameinfo((struct sockaddr *)&sa, len, text,
						     sizeof(text), NULL, 0, NI_NUMERICHOST) != 0)
		text[0] = '\0';
	snprintf(name, room, v6 ? "[%s]" : "%s", text);
}

static bool send_all(int fd, const char *text, size_t len, uint64_t end)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	while (len > 0) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n > 0) {
			text += n;
			len -= (size_t)n;
		} else if ((errno != EAGAIN && errno != EINTR) || poll(&p, 1, left(end)) <= 0) {
			return false;
		}
	}
	return true;
}

/* Reads to the end of the connection; NULL: too long, too late, no memory or an error. */
static char *receive_all(int fd, size_t *len, uint64_t end)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	size_t room = 65536;
	char *text = malloc(room);

	*len = 0;
	while (text) {
		ssize_t n;

		if (*len + 1 == room) {
			char *more = room < ANSWER_MAX ? realloc(text, room * 2) : NULL;

			if (!more)
				break;
			text = more;
			room *= 2;
		}
		if (poll(&p, 1, left(end)) <= 0)
			break;
		n = recv(fd, text + *len, room - *len - 1, 0);
		if (n == 0) {
			text[*len] = '\0';
			return text;
		}
		if (n > 0)
			*len += (size_t)n;
		else if (errno != EAGAIN && errno != EINTR)
			break;
	}
	free(text);
	return NULL;
}

json_t *rf_top_get(const struct rf_top_url *url, char *why, size_t room)
{
	uint64_t end = rf_now_ms() + WAIT_MS;
	char request[400], address[INET6_ADDRSTRLEN + 3];
	json_t *status = NULL;
	const char *body;
	char *text = NULL;
	size_t len = 0;
	int fd = open_url(url, end, why, room);

	if (fd < 0)
		return NULL;
	/* HTTP/1.0: the answer ends with the connection, and is not in chunks. */
	address_of(fd, address, sizeof(address));
	snprintf(request, sizeof(request), "GET /status.json HTTP/1.0\r\nHost: %s\r\n\r\n",
		 address);
	if (send_all(fd, request, strlen(request), end))
		text = receive_all(fd, &len, end);
	close(fd);
	body = text ? strstr(text, "\r\n\r\n") : NULL;
	if (!text)
		snprintf(why, room, "%s:%s: no answer within %u s", url->host, url->port,
			 WAIT_MS / 1000u);
	else if (body && strncmp(text, "HTTP/1.", 7) == 0 && strncmp(text + 8, " 200 ", 5) == 0)
		status = json_loads(body + 4, 0, NULL);
	if (text && (!json_is_object(status) || !json_object_get(status, "ports"))) {
		json_decref(status);
		status = NULL;
		snprintf(why, room, "%s:%s: the answer is not the status of a box", url->host,
			 url->port);
	}
	free(text);
	return status;
}
