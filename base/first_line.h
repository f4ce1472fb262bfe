/* Small files of the kernel, under /sys and /proc. */
#ifndef RF_FIRST_LINE_H
#define RF_FIRST_LINE_H

#include <stdio.h>
#include <string.h>

/* Copies the first line of a file, without its end, to `to`; "" if it cannot be read. room > 0. */
static inline void rf_first_line(char *to, size_t room, const char *path)
{
	FILE *f = fopen(path, "re");

	to[0] = '\0';
	if (!f)
		return;
	if (!fgets(to, (int)room, f))
		to[0] = '\0';
	to[strcspn(to, "\n")] = '\0';
	fclose(f);
}

#endif
