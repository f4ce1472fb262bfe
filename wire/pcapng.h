/*
 * Writes pcapng files: one section, one interface per port, one enhanced packet block per frame,
 * nanosecond time stamps, direction flags. Source: draft-ietf-opsawg-pcapng.
 */
#ifndef RF_SIM_TRACE_PCAPNG_H
#define RF_SIM_TRACE_PCAPNG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum rf_pcapng_dir {
	RF_PCAPNG_UNKNOWN = 0,
	RF_PCAPNG_IN = 1, /* towards the device that owns this port */
	RF_PCAPNG_OUT = 2
};

struct rf_pcapng;

/*
 * Makes a folder for captures if it does not exist; its parents must exist. Returns 0 or a negative
 * errno.
 */
int rf_pcapng_folder(const char *path);

/*
 * Creates (or truncates) a file with mode 0600: frames carry the users' data. comment may be NULL;
 * it is stored in the section header and is meant for metadata such as seed and command line.
 * Returns 0 or a negative errno.
 */
int rf_pcapng_open(const char *path, const char *comment, struct rf_pcapng **out);

/*
 * Adds an Ethernet interface; interfaces are numbered from 0 in the order of these calls.
 * bits_per_second 0: unspecified.
 */
int rf_pcapng_interface(struct rf_pcapng *w, const char *name, uint64_t bits_per_second);

/*
 * Adds a frame without FCS at time ns. comment may be NULL. Returns 0 or a negative errno. The
 * first error ends the capture: it is returned by all further calls, and by close.
 */
int rf_pcapng_frame(struct rf_pcapng *w, unsigned interface, uint64_t ns, enum rf_pcapng_dir dir,
		    const uint8_t *frame, size_t len, const char *comment);

/*
 * Returns 0, or the first error of any call as a negative errno. The writer is freed in both cases;
 * NULL is allowed.
 */
int rf_pcapng_close(struct rf_pcapng *w);

/*
 * Closes *w and sets it to NULL, which is allowed before too. If the capture is not complete,
 * prints a line with who, file and reason to stderr, and gives the file (if it is a regular one)
 * the name FILE.partial; it holds whole blocks. Returns whether the capture is complete.
 */
bool rf_pcapng_finish(struct rf_pcapng **w, const char *who);
/* The same, with file and reason in text[room] instead of on stderr. */
bool rf_pcapng_end(struct rf_pcapng **w, char *text, size_t room);

#endif
