/* The library's log. */
#include "host/config/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/config/settings.h"

static const char *const names[] = {"", "warn", "info", "trace"};

static int level_setting(enum rf_log_level wanted, enum rf_log_level *level, char *why, size_t room)
{
	const char *text = rf_setting_text("RF_DEBUG");

	if ((unsigned int)wanted > RF_LOG_TRACE) {
		snprintf(why, room, "log_level %u: expected a value of enum rf_log_level",
			 (unsigned int)wanted);
		return RF_ERR_INVALID;
	}
	*level = wanted;
	for (unsigned int k = RF_LOG_WARN; k <= RF_LOG_TRACE && !*level; k++)
		if (strcmp(text, names[k]) == 0)
			*level = (enum rf_log_level)k;
	if (*level)
		return RF_OK;
	snprintf(why, room, "RF_DEBUG=%.40s: expected warn, info or trace", text);
	return RF_ERR_INVALID;
}

int rf_log_path(const char *path, int rank, const char *host, char *to, size_t room)
{
	size_t at = 0;

	for (const char *p = path; *p && at < room; p++) {
		char mark = p[0] == '%' ? p[1] : '\0';
		int n;

		if (mark == 'r')
			n = snprintf(to + at, room - at, "%d", rank == RF_LOG_NO_RANK ? 0 : rank);
		else if (mark == 'h')
			n = snprintf(to + at, room - at, "%s", host);
		else if (mark == 'p')
			n = snprintf(to + at, room - at, "%ld", (long)getpid());
		else
			n = snprintf(to + at, room - at, "%c", *p);
		p += mark == 'r' || mark == 'h' || mark == 'p';
		at += (size_t)n;
	}
	if (at >= room)
		return RF_ERR_INVALID;
	to[at] = '\0';
	return RF_OK;
}

static int open_file(struct rf_log *log, int rank, char *why, size_t room)
{
	const char *name = rf_setting_text("RF_DEBUG_FILE");
	char path[PATH_MAX];
	int fd;

	if (log->sink || !*name)
		return RF_OK;
	if (rf_log_path(name, rank, log->host, path, sizeof(path))) {
		snprintf(why, room, "RF_DEBUG_FILE: the path is too long");
		return RF_ERR_INVALID;
	}
	fd = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0644);
	if (fd < 0) {
		snprintf(why, room, "cannot write %.300s (RF_DEBUG_FILE): %s", path,
			 strerror(errno));
		return RF_ERR_SYSTEM;
	}
	/* not a number that the program's output has: it may have been started with that closed */
	log->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	close(fd);
	if (log->fd >= 0)
		return RF_OK;
	snprintf(why, room, "RF_DEBUG_FILE: %s", strerror(errno));
	return RF_ERR_SYSTEM;
}

int rf_log_open(struct rf_log *log, enum rf_log_level level,
		void (*sink)(void *arg, enum rf_log_level level, const char *text), void *arg,
		int rank, char *why, size_t room)
{
	int ret;

	memset(log, 0, sizeof(*log));
	log->fd = -1;
	log->sink = sink;
	log->arg = arg;
	atomic_init(&log->rank, rank);
	if (gethostname(log->host, sizeof(log->host) - 1) != 0)
		snprintf(log->host, sizeof(log->host), "host");
	ret = level_setting(level, &log->level, why, room);
	return ret ? ret : open_file(log, rank, why, room);
}

void rf_log_close(struct rf_log *log)
{
	if (log->fd >= 0)
		close(log->fd);
	log->fd = -1;
}

bool rf_log_on(const struct rf_log *log, enum rf_log_level level)
{
	return level <= log->level;
}

/* One write for one line, so that those of several processes do not mix. */
static void write_line(const struct rf_log *log, enum rf_log_level level, const char *text)
{
	char line[RF_LOG_TEXT + 160];
	char rank[12] = "-";
	int n, known = atomic_load(&log->rank);

	if (known != RF_LOG_NO_RANK)
		snprintf(rank, sizeof(rank), "%d", known);
	n = snprintf(line, sizeof(line), "ringfold: %s:%ld [%s] %s: %s\n", log->host,
		     (long)getpid(), rank, names[level], text);
	if (log->fd < 0)
		fputs(line, stderr);
	else if (write(log->fd, line, (size_t)n) < 0)
		return; /* a full disk must not end the job */
}

void rf_log_line(const struct rf_log *log, enum rf_log_level level, const char *format, ...)
{
	char text[RF_LOG_TEXT];
	va_list args;

	if (!rf_log_on(log, level))
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	/* a text may come from another rank: it stays one line */
	for (char *p = text; *p; p++)
		if ((unsigned char)*p < ' ')
			*p = ' ';
	if (log->sink)
		log->sink(log->arg, level, text);
	else
		write_line(log, level, text);
}

void rf_log_warn(void *arg, const char *text)
{
	rf_log_line(arg, RF_LOG_WARN, "%s", text);
}
