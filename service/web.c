#include "service/web.h"

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "service/address.h"
#include "service/page.h"
#include "service/texts.h"

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

struct rf_web {
	struct MHD_Daemon *daemon;
	unsigned port;
	const struct rf_view *view;
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
	/* The page is one file: nothing else is loaded, whatever a name from the network contains.
	 */
	MHD_add_response_header(r, "Content-Security-Policy",
				"default-src 'none'; style-src 'unsafe-inline'; "
				"script-src 'unsafe-inline'; img-src data:; connect-src 'self'");
	MHD_add_response_header(r, "X-Content-Type-Options", "nosniff");
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

static enum MHD_Result reply_cached(struct rf_web *w, struct MHD_Connection *c, struct answer *a,
				    const char *type, char *(*make)(const struct rf_view *v))
{
	uint64_t now = rf_now_ns();

	if (!a->response || now - a->made >= CACHE_NS) {
		char *text = make(w->view);
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

static const char wrong_host[] =
	"The Host of this request is not an address, localhost or the name of this machine. Open "
	"the "
	"page\nby its address, so that no other site's page can read it under a name of its own.\n";

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **state)
{
	static int seen;
	struct rf_web *w = arg;
	const char *host;
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
	/* Programs may leave it out, browsers send it. */
	host = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST);
	if (host && !rf_web_host_ok(host))
		return reply(c, MHD_HTTP_FORBIDDEN, "text/plain", wrong_host);
	if (strcmp(url, "/metrics") == 0)
		return reply_cached(w, c, &w->metrics, "text/plain; version=0.0.4; charset=utf-8",
				    rf_view_metrics);
	if (strcmp(url, "/status.json") == 0)
		return reply_cached(w, c, &w->status, "application/json", rf_view_status);
	if (strcmp(url, "/") == 0)
		return reply(c, MHD_HTTP_OK, "text/html; charset=utf-8", rf_web_page);
	return reply(c, MHD_HTTP_NOT_FOUND, "text/plain", "/, /metrics, /status.json\n");
}

static void on_connection(void *arg, struct MHD_Connection *c, void **context,
			  enum MHD_ConnectionNotificationCode code)
{
	struct rf_web *w = arg;
	struct visitor *v = *context;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (v)
			v->connection = NULL;
		*context = NULL;
		return;
	}
	for (v = w->visitor; v < w->visitor + CONNECTIONS; v++) {
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
static void cut_slow(struct rf_web *w)
{
	uint64_t now = rf_now_ns();

	for (struct visitor *v = w->visitor; v < w->visitor + CONNECTIONS; v++) {
		if (!v->connection || v->cut ||
		    now - v->since < (v->asked ? ANSWER_NS : REQUEST_NS))
			continue;
		shutdown(MHD_get_connection_info(v->connection, MHD_CONNECTION_INFO_CONNECTION_FD)
				 ->connect_fd,
			 SHUT_RDWR);
		v->cut = true;
	}
}

/* Returns a listening socket, or -1 with errno. */
static int listen_at(const struct sockaddr_in *sa, unsigned *port)
{
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int on = 1;
	struct sockaddr_in own;
	socklen_t len = sizeof(own);
	int err;

	if (fd < 0)
		return -1;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
	    bind(fd, (const struct sockaddr *)sa, sizeof(*sa)) == 0 && listen(fd, 128) == 0 &&
	    getsockname(fd, (struct sockaddr *)&own, &len) == 0) {
		*port = ntohs(own.sin_port);
		return fd;
	}
	err = errno;
	close(fd);
	errno = err;
	return -1;
}

static const char *remedy(int err)
{
	if (err == EADDRINUSE)
		return ": another program uses this port; choose another one, or 0 for any";
	if (err == EADDRNOTAVAIL)
		return ": this machine does not have this address";
	if (err == EACCES)
		return ": ports below 1024 need root";
	return "";
}

int rf_web_start(const char *listen, const struct rf_view *view, struct rf_web **out, char *why,
		 size_t room)
{
	struct rf_web *w;
	struct sockaddr_in sa;
	unsigned port;
	int fd;

	if (rf_web_parse(listen, &sa) != 0) {
		snprintf(why, room, "\"%s\": expected ADDRESS:PORT", listen);
		return -1;
	}
	fd = listen_at(&sa, &port);
	if (fd < 0) {
		snprintf(why, room, "%s: %s%s", listen, strerror(errno), remedy(errno));
		return -1;
	}
	w = calloc(1, sizeof(*w));
	if (!w) {
		snprintf(why, room, "out of memory");
		close(fd);
		return -1;
	}
	w->view = view;
	w->port = port;
	/* No thread: it runs between two rounds of the box, when the state is consistent. */
	w->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, on_request, w, MHD_OPTION_LISTEN_SOCKET, fd,
		MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS, MHD_OPTION_PER_IP_CONNECTION_LIMIT,
		PER_ADDRESS, MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)8192, MHD_OPTION_NOTIFY_CONNECTION, on_connection, w, MHD_OPTION_END);
	if (!w->daemon) {
		snprintf(why, room, "%s: cannot start libmicrohttpd: %s", listen, strerror(errno));
		close(fd);
		free(w);
		return -1;
	}
	*out = w;
	return 0;
}

int rf_web_fd(const struct rf_web *w)
{
	return MHD_get_daemon_info(w->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

unsigned int rf_web_port(const struct rf_web *w)
{
	return w->port;
}

void rf_web_run(struct rf_web *w)
{
	cut_slow(w);
	MHD_run(w->daemon);
}

void rf_web_stop(struct rf_web *w)
{
	if (!w)
		return;
	MHD_stop_daemon(w->daemon);
	if (w->metrics.response)
		MHD_destroy_response(w->metrics.response);
	if (w->status.response)
		MHD_destroy_response(w->status.response);
	free(w);
}
