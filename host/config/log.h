/*
 * The library's log: lines with a level, to a callback, a file or stderr (docs/api.md, "The log").
 *
 * A line has no newline and never holds a key. Nothing is logged on a path that runs once per
 * packet. Calls from several threads are allowed; lines are written whole.
 */
#ifndef RF_CONFIG_LOG_H
#define RF_CONFIG_LOG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "ringfold/ringfold.h"

#define RF_LOG_NO_RANK -1
/* Bytes of a line, without its prefix. */
#define RF_LOG_TEXT 640u

struct rf_log {
	enum rf_log_level level;
	/* receives the lines, if it is not NULL */
	void (*sink)(void *arg, enum rf_log_level level, const char *text);
	void *arg;
	int fd;          /* of the file; -1: stderr */
	atomic_int rank; /* for the prefix; RF_LOG_NO_RANK until it is known */
	char host[64];
};

/*
 * level: RF_LOG_DEFAULT for RF_DEBUG. Without a sink, lines go to the file RF_DEBUG_FILE, if it is
 * set: opened for appending; %r becomes the rank (0 if it is not known), %h the host's name and %p
 * the process's number. Returns 0, or RF_ERR_INVALID or RF_ERR_SYSTEM with a text in why[room].
 */
int rf_log_open(struct rf_log *log, enum rf_log_level level,
		void (*sink)(void *arg, enum rf_log_level level, const char *text), void *arg,
		int rank, char *why, size_t room);
/* Closes the file. */
void rf_log_close(struct rf_log *log);

/* Whether lines of this level are written: saves the work of making them. */
bool rf_log_on(const struct rf_log *log, enum rf_log_level level);
void rf_log_line(const struct rf_log *log, enum rf_log_level level, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* A warning with a ready text, for rooms below: arg is the log. */
void rf_log_warn(void *arg, const char *text);

/*
 * Replaces every %r, %h and %p of a path. Returns 0, or RF_ERR_INVALID if the result is longer than
 * room.
 */
int rf_log_path(const char *path, int rank, const char *host, char *to, size_t room);

#endif
