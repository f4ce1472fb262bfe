/*
 * Events ordered by time; events at the same time keep the order in which they were added. So a run
 * depends only on its inputs.
 */
#ifndef RF_SIM_FABRIC_EVENT_H
#define RF_SIM_FABRIC_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rf_event {
	uint64_t at;    /* ps */
	uint64_t order; /* set by add */
	uint32_t kind;
	uint32_t who;
	void *what;
};

struct rf_events {
	struct rf_event *heap;
	size_t count;
	size_t room;
	uint64_t order;
};

void rf_events_init(struct rf_events *q);
void rf_events_free(struct rf_events *q);

/* Returns 0, or -1 if out of memory. */
int rf_events_add(struct rf_events *q, uint64_t at, uint32_t kind, uint32_t who, void *what);

/* Time of the first event, or UINT64_MAX. */
uint64_t rf_events_next(const struct rf_events *q);

/* Removes the first event; false if there is none. */
bool rf_events_take(struct rf_events *q, struct rf_event *e);

#endif
