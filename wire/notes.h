/*
 * What a capture says of its own packets: a comment at each packet of a group, "ringfold job 7
 * group 0 rank 2 data index 1801 slot 9 repeat". Who is in which group is learnt from the JOIN and
 * READY messages that pass. One struct rf_notes for each file: whether a packet is a repeat is a
 * matter of the place where it is seen.
 */
#ifndef RF_SIM_TRACE_NOTES_H
#define RF_SIM_TRACE_NOTES_H

#include <stddef.h>
#include <stdint.h>

struct rf_notes;

/* mac: base MAC of the box, whose ports differ in the last byte. NULL: out of memory. */
struct rf_notes *rf_notes_new(const uint8_t mac[6]);

/*
 * The comment for a frame without FCS that is seen at an interface of the file, each frame once, in
 * their order; NULL for one that belongs to no group. Valid until the next call. Forgets the oldest
 * connections, and what was seen of an index 2^16 indices ago.
 */
const char *rf_notes_of(struct rf_notes *n, unsigned interface, const uint8_t *frame, size_t len);

/* NULL is allowed. */
void rf_notes_free(struct rf_notes *n);

#endif
