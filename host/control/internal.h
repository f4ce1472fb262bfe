/* What the parts of the control client know of each other. */
#ifndef RF_CLIENT_INTERNAL_H
#define RF_CLIENT_INTERNAL_H

#include "host/control/client.h"

/* Unsigned refusals in a row that are believed. */
#define RF_CLIENT_REFUSALS 3u
/* Times that the last word of a failed membership is sent when nobody confirms it. */
#define RF_CLIENT_LAST_WORDS 3u

/* Ends the membership with an error. */
void rf_client_fail(struct rf_client *c, enum rf_client_error error);
/* A new request: due at once, answered within cfg.answer_ns. */
void rf_client_start(const struct rf_client *c, struct rf_client_timer *t, uint64_t now);
/* The box's MAC is known: what follows RESOLVING. */
void rf_client_resolved(struct rf_client *c, uint64_t now);
/* READY: time between signs of life in ns. */
uint64_t rf_client_keepalive(const struct rf_client *c);

#endif
