/*
 * The HTTP interface of ringfoldd: /metrics for Prometheus, /status.json, and a page that displays
 * it. A connection serves one request, which must be complete within 5 s; an address has at most 8
 * connections. An answer serves all who ask within 250 ms.
 */
#ifndef RF_RINGFOLDD_HTTP_H
#define RF_RINGFOLDD_HTTP_H

#include <stdbool.h>

#include "firmware/core/fw.h"

struct rfd_http;

/* Whether a text is ADDRESS:PORT. */
bool rfd_http_valid(const char *listen);

/*
 * Listens on ADDRESS:PORT (IPv4; port 0: any) and answers from *fw, which is only read within
 * rfd_http_run(). Returns 0, or -1 with a reason.
 */
int rfd_http_start(const char *listen, struct rf_fw *fw, struct rfd_http **out, char *why,
		   size_t room);
/* A descriptor that is readable when there is work; the port that it listens on. */
int rfd_http_fd(const struct rfd_http *h);
unsigned int rfd_http_port(const struct rfd_http *h);
/* Call it at least once a second. */
void rfd_http_run(struct rfd_http *h);
void rfd_http_stop(struct rfd_http *h);

/* The two texts; allocated with malloc, NULL if out of memory. */
char *rfd_metrics(struct rf_fw *fw);
char *rfd_status(struct rf_fw *fw);

#endif
