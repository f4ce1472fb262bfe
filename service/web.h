/*
 * The HTTP interface of a box: /metrics for Prometheus, /status.json, and a page that displays it.
 * A connection serves one request, which must be complete within 5 s; an address has at most 8
 * connections. An answer serves all who ask within 250 ms.
 */
#ifndef RF_SERVICE_WEB_H
#define RF_SERVICE_WEB_H

#include <stdbool.h>
#include <stddef.h>

#include "service/view.h"

struct rf_web;

/* Whether a text is ADDRESS:PORT (IPv4, dotted). */
bool rf_web_valid(const char *listen);
/* Whether only this machine can reach a valid ADDRESS:PORT. */
bool rf_web_is_local(const char *listen);

/*
 * Listens on ADDRESS:PORT (port 0: any) and answers from *view, which is only read within
 * rf_web_run() and must live as long. Returns 0, or -1 with a reason.
 */
int rf_web_start(const char *listen, const struct rf_view *view, struct rf_web **out, char *why,
		 size_t room);
/* A descriptor that is readable when there is work; the port that it listens on. */
int rf_web_fd(const struct rf_web *w);
unsigned int rf_web_port(const struct rf_web *w);
/* Never blocks. Call it at least once a second. */
void rf_web_run(struct rf_web *w);
/* NULL is allowed. */
void rf_web_stop(struct rf_web *w);

#endif
