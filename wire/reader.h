/* Reads frames from capture files (pcap, pcapng: whatever libpcap reads). */
#ifndef RF_SIM_TRACE_READER_H
#define RF_SIM_TRACE_READER_H

#include <stddef.h>
#include <stdint.h>

struct rf_reader;

/* Returns 0, or -1 with a reason of at most room bytes in why. Only Ethernet files are accepted. */
int rf_reader_open(const char *path, struct rf_reader **out, char *why, size_t room);

/*
 * The next frame: returns 1 with a pointer that is valid until the next call; 0 at the end; -1 if
 * the file is damaged or the frame was truncated during capture, with the reason in
 * rf_reader_error. ns may be NULL.
 */
int rf_reader_next(struct rf_reader *r, const uint8_t **frame, size_t *len, uint64_t *ns);

const char *rf_reader_error(const struct rf_reader *r);
void rf_reader_close(struct rf_reader *r);

#endif
