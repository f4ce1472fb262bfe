#include "ringfoldd/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/clock.h"
#include "ringfoldd/page.h"

#define CONNECTIONS 64u
#define PER_ADDRESS 8u
#define REQUEST_NS UINT64_C(5000000000) /* a request is complete this long after its connection */
#define ANSWER_NS UINT64_C(10000000000) /* and its answer has been read */
#define CACHE_NS UINT64_C(250000000)    /* an answer serves all who ask in this time */

/* A connection; NULL: free. */
struct visitor {
	struct MHD_Connection *connection;
	uint64_t since;
	bool asked; /* the request was complete */
	bool cut;
};

struct answer {
	struct MHD_Response *response; /* NULL: none yet */
	uint64_t made;
};

struct rfd_http {
	struct MHD_Daemon *daemon;
	struct rf_fw *fw;
	struct visitor visitor[CONNECTIONS];
	struct answer metrics;
	struct answer status;
};

/* Takes the text if it must be freed. Every connection serves one request. */
static struct MHD_Response *response(const char *type, const char *text,
				     enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, mode);

	if (!r) {
		if (mode == MHD_RESPMEM_MUST_FREE)
			free((void *)(uintptr_t)text);
		return NULL;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONNECTION, "close");
	return r;
}

static enum MHD_Result reply(struct MHD_Connection *c, unsigned int status, const char *type,
			     const char *text)
{
	struct MHD_Response *r = response(type, text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result reply_cached(struct rfd_http *h, struct MHD_Connection *c, struct answer *a,
				    const char *type, char *(*make)(struct rf_fw *fw))
{
	uint64_t now = rf_now_ns();

	if (!a->response || now - a->made >= CACHE_NS) {
		char *text = make(h->fw);
		struct MHD_Response *r = text ? response(type, text, MHD_RESPMEM_MUST_FREE) : NULL;

		if (!r)
			return reply(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain",
				     "no memory\n");
		if (a->response)
			MHD_destroy_response(a->response);
		a->response = r;
		a->made = now;
	}
	return MHD_queue_response(c, MHD_HTTP_OK, a->response);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **state)
{
	static int seen;
	struct rfd_http *h = arg;
	struct visitor *v;

	(void)version;
	(void)body;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply(c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "GET only\n");
	/* The first call only delivers the headers, the last one has no body. */
	if (*state != &seen || *body_len != 0) {
		*state = &seen;
		*body_len = 0;
		return MHD_YES;
	}
	v = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
	if (v)
		v->asked = true;
	if (strcmp(url, "/metrics") == 0)
		return reply_cached(h, c, &h->metrics, "text/plain; version=0.0.4; charset=utf-8",
				    rfd_metrics);
	if (strcmp(url, "/status.json") == 0)
		return reply_cached(h, c, &h->status, "application/json", rfd_status);
	if (strcmp(url, "/") == 0)
		return reply(c, MHD_HTTP_OK, "text/html; charset=utf-8", rfd_page);
	return reply(c, MHD_HTTP_NOT_FOUND, "text/plain", "/, /metrics, /status.json\n");
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct rfd_http *h = arg;
	struct visitor *v = *context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (v)
			v->connection = NULL;
		*context = NULL;
		return;
	}
	for (v = h->visitor; v < h->visitor + CONNECTIONS; v++) {
		if (v->connection)
			continue;
		*v = (struct visitor){.connection = c, .since = rf_now_ns()};
		*context = v;
		return;
	}
}

/*
 * Ends connections that take too long, whatever trickles in: libmicrohttpd's own timeout runs from
 * the last byte. Its descriptor stays open, so that libmicrohttpd closes it.
 */
static void cut_slow(struct rfd_http *h)
{
	uint64_t now = rf_now_ns();

	for (struct visitor *v = h->visitor; v < h->visitor + CONNECTIONS; v++) {
		if (!v->connection || v->cut ||
		    now - v->since < (v->asked ? ANSWER_NS : REQUEST_NS))
			continue;
		shutdown(MHD_get_connection_info(v->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd,
			 SHUT_RDWR);
		v->cut = true;
	}
}

static int parse(const char *listen, struct sockaddr_in *sa)
{
	const char *colon = strrchr(listen, ':');
	char address[64], *end;
	unsigned long port;

	if (!colon || (size_t)(colon - listen) >= sizeof(address))
		return -1;
	memcpy(address, listen, (size_t)(colon - listen));
	address[colon - listen] = '\0';
	memset(sa, 0, sizeof(*sa));
	sa->sin_family = AF_INET;
	port = strtoul(colon + 1, &end, 10);
	if (colon[1] < '0' || colon[1] > '9' || *end || port > 65535 ||
	    inet_pton(AF_INET, address, &sa->sin_addr) != 1)
		return -1;
	sa->sin_port = htons((uint16_t)port);
	return 0;
}

bool rfd_http_valid(const char *listen)
{
	struct sockaddr_in sa;

	return parse(listen, &sa) == 0;
}

int rfd_http_start(const char *listen, struct rf_fw *fw, struct rfd_http **out, char *why,
		   size_t room)
{
	struct rfd_http *h = calloc(1, sizeof(*h));
	struct sockaddr_in sa;

	if (!h || parse(listen, &sa) != 0) {
		snprintf(why, room, "[http] listen: \"%s\": expected ADDRESS:PORT", listen);
		free(h);
		return -1;
	}
	h->fw = fw;
	/* No thread: it runs between two rounds of the firmware, when the state is consistent. */
	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, h, MHD_OPTION_SOCK_ADDR, &sa,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)8192, MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_END);
	if (!h->daemon) {
		snprintf(why, room, "[http] listen: %s: %s", listen, strerror(errno));
		free(h);
		return -1;
	}
	*out = h;
	return 0;
}

int rfd_http_fd(const struct rfd_http *h)
{
	return MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

unsigned int rfd_http_port(const struct rfd_http *h)
{
	return MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_BIND_PORT)->port;
}

void rfd_http_run(struct rfd_http *h)
{
	cut_slow(h);
	MHD_run(h->daemon);
}

void rfd_http_stop(struct rfd_http *h)
{
	if (!h)
		return;
	MHD_stop_daemon(h->daemon);
	if (h->metrics.response)
		MHD_destroy_response(h->metrics.response);
	if (h->status.response)
		MHD_destroy_response(h->status.response);
	free(h);
}
