/* Output files that could not be written whole. */
#ifndef RF_BASE_PARTIAL_H
#define RF_BASE_PARTIAL_H

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/*
 * Writes "WHAT PATH is not complete: REASON" to text[room], and gives a regular file the name
 * PATH.partial, so that no half-written file keeps its own. error: an errno.
 */
static inline void rf_partial_text(const char *what, const char *path, int error, char *text,
				   size_t room)
{
	char partial[4096];
	struct stat st;

	snprintf(partial, sizeof(partial), "%s.partial", path);
	if (stat(path, &st) != 0 || !S_ISREG(st.st_mode) || rename(path, partial) != 0)
		partial[0] = '\0';
	snprintf(text, room, "%s %s is not complete: %s%s%s", what, path, strerror(error),
		 partial[0] ? "; what was written is in " : "", partial);
}

/* The same, printed to stderr after "WHO: ". */
static inline void rf_partial(const char *who, const char *what, const char *path, int error)
{
	char text[8500];

	rf_partial_text(what, path, error, text, sizeof(text));
	fprintf(stderr, "%s: %s\n", who, text);
}

#endif
