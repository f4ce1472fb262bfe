#include "tools/gen_folder.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tools/traffic.h"

static bool is_own(const char *name)
{
	static const char *const fixed[] = {"foreign.pcap", "expected.bin", "traffic.json"};

	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
		if (strcmp(name, fixed[i]) == 0)
			return true;
	return strncmp(name, "port", 4) == 0 && name[4] >= '0' &&
	       (unsigned int)(name[4] - '0') < TRAFFIC_PORTS_MAX && strcmp(name + 5, ".pcap") == 0;
}

/* Counts our files and other files. */
static int look(const char *dir, unsigned int *own, unsigned int *others)
{
	DIR *d = opendir(dir);
	const struct dirent *e;

	*own = *others = 0;
	if (!d)
		return -1;
	while ((e = readdir(d)) != NULL) {
		if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
			continue;
		++*(is_own(e->d_name) ? own : others);
	}
	closedir(d);
	return 0;
}

static int take_away(const char *dir, const char *name)
{
	const char *path = traffic_path(dir, name);

	if (path && (unlink(path) == 0 || errno == ENOENT))
		return 0;
	fprintf(stderr, "ringfold gen: cannot remove %s/%s of an earlier run: %s\n", dir, name,
		strerror(errno));
	return -1;
}

static int clear(const char *dir)
{
	char name[16];

	for (unsigned int p = 0; p < TRAFFIC_PORTS_MAX; p++) {
		snprintf(name, sizeof(name), "port%u.pcap", p);
		if (take_away(dir, name) != 0)
			return -1;
	}
	if (take_away(dir, "foreign.pcap") != 0 || take_away(dir, "expected.bin") != 0)
		return -1;
	return take_away(dir, "traffic.json");
}

int gen_folder_ready(const char *dir)
{
	unsigned int own, others;

	if (mkdir(dir, 0777) == 0)
		return 0;
	if (errno != EEXIST || look(dir, &own, &others) != 0) {
		fprintf(stderr, "ringfold gen: cannot create the folder %s: %s\n", dir,
			strerror(errno));
		return -1;
	}
	if (own == 0 && others != 0) {
		fprintf(stderr,
			"ringfold gen: %s contains files that ringfold gen did not write: choose a "
			"new "
			"folder or an empty one\n",
			dir);
		return -1;
	}
	return clear(dir);
}
