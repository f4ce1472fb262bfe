/* Where the running program is. */
#ifndef RF_BASE_SELF_H
#define RF_BASE_SELF_H

#include <string.h>
#include <unistd.h>

/* The folder of the running program, without a slash at the end. Returns 0, or -1. */
static inline int rf_self_folder(char *to, size_t room)
{
	ssize_t n = readlink("/proc/self/exe", to, room - 1);
	char *slash;

	if (n < 0)
		return -1;
	to[n] = '\0';
	slash = strrchr(to, '/');
	if (!slash)
		return -1;
	*slash = '\0';
	return 0;
}

#endif
