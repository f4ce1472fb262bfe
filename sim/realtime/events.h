/* What an operator of `ringfold box` wants to see as it happens: one line for each event. */
#ifndef RF_SIM_REALTIME_EVENTS_H
#define RF_SIM_REALTIME_EVENTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/view.h"

struct rf_rt;
struct rf_rt_events;

/* print: on stderr. NULL: out of memory. */
struct rf_rt_events *rf_rt_events_new(bool print);

/* NULL is allowed. */
void rf_rt_events_free(struct rf_rt_events *e);

/* A frame that the box sends: answers of the firmware tell how groups begin and end. */
void rf_rt_events_frame(struct rf_rt_events *e, const uint8_t *frame, size_t len);

/* The last ones, oldest first; at most room. Returns how many. */
size_t rf_rt_events_last(const struct rf_rt_events *e, struct rf_view_event *to, size_t room);

/* Call it often: looks a hundred times in a second which hosts are connected. */
void rf_rt_events_links(struct rf_rt_events *e, const struct rf_rt *b, uint64_t now);

#endif
