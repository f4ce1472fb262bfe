/* Interfaces between the parts of the control client. */
#ifndef RF_CLIENT_INTERNAL_H
#define RF_CLIENT_INTERNAL_H

#include "host/control/client.h"

/* Number of consecutive unsigned refusals after which they are believed. */
#define RF_CLIENT_REFUSALS 3u
/* How often the last request of a failed membership is sent if it is not confirmed. */
#define RF_CLIENT_LAST_WORDS 3u

/* Ends the membership with an error. */
void rf_client_fail(struct rf_client *c, enum rf_client_error error);
/* A new request: due at once, answered within cfg.answer_ns. */
void rf_client_start(const struct rf_client *c, struct rf_client_timer *t, uint64_t now);
/* The box's MAC is known: leaves RESOLVING. */
void rf_client_resolved(struct rf_client *c, uint64_t now);
/* Whether requests go to the address of the port that the box has named. */
bool rf_client_goes_there(const struct rf_client *c);
/* The address whose MAC is asked for next. */
uint32_t rf_client_next_hop(const struct rf_client *c);
/* READY: time between signs of life in ns. */
uint64_t rf_client_keepalive(const struct rf_client *c);

#endif
