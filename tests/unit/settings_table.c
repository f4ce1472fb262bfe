/*
 * Prints the table of settings in the form of docs/api.md, or compares it: settings_table [FILE].
 * Exit code 1 if they differ.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host/config/settings.h"

static size_t table(char *to, size_t room)
{
	const struct rf_setting *s;
	size_t n =
		(size_t)snprintf(to, room, "| name | default | meaning |\n| --- | --- | --- |\n");

	for (s = rf_settings; s->name && n < room; s++)
		n += (size_t)snprintf(to + n, room - n, "| %s | %s | %s |\n", s->name, s->value,
				      s->meaning);
	return n;
}

int main(int argc, char **argv)
{
	static char want[16384], have[1 << 20];
	FILE *file;

	table(want, sizeof(want));
	if (argc < 2) {
		fputs(want, stdout);
		return 0;
	}
	file = fopen(argv[1], "re");
	if (!file || fread(have, 1, sizeof(have) - 1, file) == 0) {
		perror(argv[1]);
		return 1;
	}
	fclose(file);
	if (strstr(have, want))
		return 0;
	fprintf(stderr, "%s: the table of settings is not that of host/config/settings.c:\n%s",
		argv[1], want);
	return 1;
}
