/*
 * Annotates the packets of a capture: a comment at each packet of a group, "ringfold job 7 group 0
 * rank 2 data index 1801 slot 9 repeat". Group membership is learnt from the JOIN and READY
 * messages in the capture. Use one struct rf_notes per file: whether a packet is a repeat depends
 * on where it is seen.
 */
#ifndef RF_SIM_TRACE_NOTES_H
#define RF_SIM_TRACE_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct rf_notes;

/* mac: base MAC of the box, whose ports differ in the last byte. NULL: out of memory. */
struct rf_notes *rf_notes_new(const uint8_t mac[6]);

/*
 * The comment for a frame without FCS seen at an interface of the file. Pass each frame once, in
 * order. NULL if it does not belong to a group. Valid until the next call. Forgets the oldest
 * connections, and indices that are more than 2^16 old.
 */
const char *rf_notes_of(struct rf_notes *n, unsigned interface, const uint8_t *frame, size_t len);

/* NULL is allowed. */
void rf_notes_free(struct rf_notes *n);

#endif
