#include "ringfoldd/http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ringfoldd/page.h"

struct rfd_http {
	struct MHD_Daemon *daemon;
	struct rf_fw *fw;
};

static enum MHD_Result reply(struct MHD_Connection *c, unsigned int status, const char *type,
			     const char *text, enum MHD_ResponseMemoryMode mode)
{
	struct MHD_Response *r =
		MHD_create_response_from_buffer(strlen(text), (void *)(uintptr_t)text, mode);
	enum MHD_Result done;

	if (!r)
		return MHD_NO;
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	done = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return done;
}

static enum MHD_Result made(struct MHD_Connection *c, const char *type, char *text)
{
	if (!text)
		return reply(c, MHD_HTTP_INTERNAL_SERVER_ERROR, "text/plain", "no memory\n",
			     MHD_RESPMEM_PERSISTENT);
	return reply(c, MHD_HTTP_OK, type, text, MHD_RESPMEM_MUST_FREE);
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
				  const char *method, const char *version, const char *body,
				  size_t *body_len, void **state)
{
	static int seen;
	struct rfd_http *h = arg;

	(void)version;
	(void)body;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return reply(c, MHD_HTTP_METHOD_NOT_ALLOWED, "text/plain", "GET only\n",
			     MHD_RESPMEM_PERSISTENT);
	/* The first call only delivers the headers. */
	if (*state != &seen) {
		*state = &seen;
		return MHD_YES;
	}
	*body_len = 0;
	if (strcmp(url, "/metrics") == 0)
		return made(c, "text/plain; version=0.0.4; charset=utf-8", rfd_metrics(h->fw));
	if (strcmp(url, "/status.json") == 0)
		return made(c, "application/json", rfd_status(h->fw));
	if (strcmp(url, "/") == 0)
		return reply(c, MHD_HTTP_OK, "text/html; charset=utf-8", rfd_page,
			     MHD_RESPMEM_PERSISTENT);
	return reply(c, MHD_HTTP_NOT_FOUND, "text/plain", "/, /metrics, /status.json\n",
		     MHD_RESPMEM_PERSISTENT);
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
	h->daemon = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request, h,
				     MHD_OPTION_SOCK_ADDR, &sa, MHD_OPTION_CONNECTION_LIMIT, 32u,
				     MHD_OPTION_CONNECTION_TIMEOUT, 10u, MHD_OPTION_END);
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
	MHD_run(h->daemon);
}

void rfd_http_stop(struct rfd_http *h)
{
	if (!h)
		return;
	MHD_stop_daemon(h->daemon);
	free(h);
}
