/*
 * A timeline of a run for Perfetto or chrome://tracing: every frame on every link as a slice from
 * its first bit to its last, and every all-reduce of every rank. Source: "Trace Event Format"
 * (Google), complete events ("X"), times in microseconds.
 */
#ifndef RF_SIM_FABRIC_TIMELINE_H
#define RF_SIM_FABRIC_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct rf_timeline;

/* ranks and ports: numbers of tracks; ports is 0 if there is no box. Returns 0 or a negative errno.
 */
int rf_timeline_open(const char *path, unsigned ranks, unsigned ports, struct rf_timeline **out);
/*
 * A frame on the link of a host or of a box port, from begin to end (ps); up: towards the switch.
 * NULL is allowed.
 */
void rf_timeline_frame(struct rf_timeline *t, bool box, unsigned port, bool up, uint64_t begin,
		       uint64_t end, const uint8_t *frame, size_t len, bool lost);
/* All-reduce number `op` of a rank, from its call to its completion (ns). NULL is allowed. */
void rf_timeline_call(struct rf_timeline *t, unsigned rank, unsigned op, uint64_t begin,
		      uint64_t end);
/*
 * Closes *t and sets it to NULL, which is allowed before too. If the file is not complete, prints
 * who, file and reason to stderr and gives a regular file the name FILE.partial. Returns whether it
 * is complete.
 */
bool rf_timeline_finish(struct rf_timeline **t, const char *who);

#endif
