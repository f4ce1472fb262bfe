/* The two texts that programs read, and the parts of the status. */
#ifndef RF_SERVICE_TEXTS_H
#define RF_SERVICE_TEXTS_H

#include <jansson.h>

#include "service/view.h"

/* Allocated with malloc; NULL if out of memory. */
char *rf_view_metrics(const struct rf_view *v);
char *rf_view_status(const struct rf_view *v);

/* Arrays of the status; NULL if out of memory. The firmware's memory is needed for groups. */
json_t *rf_view_groups(const struct rf_view *v);
json_t *rf_view_faults(const struct rf_view *v);
json_t *rf_view_events(const struct rf_view *v);

#endif
