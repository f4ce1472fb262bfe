/*
 * ringfold X ARGS: executes ringfold-X from the folder that contains this program, or from
 * ../libexec/ringfold.
 */
#include "base/opt.h"
#include "base/self.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <ringfold/ringfold.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PREFIX "ringfold-"
#define NAMES_MAX 64

static const struct {
	const char *name;
	const char *text;
} known[] = {
	{"box", "Ethernet switch and box in real time, Verilog or reference model"},
	{"run", "starts a box and the ranks of a program on this machine"},
	{"compare", "compares two engines of the box under the same random traffic"},
	{"sim", "hosts, links, switch and box in virtual time"},
	{"plan", "which traffic merges where: plans, all schemes compared, on any topology"},
	{"replay", "simulated runs with faults, each derived from its seed"},
	{"perf", "all-reduce performance and correctness, one table"},
	{"doctor",
	 "checks the box and the switch's rule: reports the first failure and the remedy"},
	{"ctl", "control messages by hand: join generated traffic, status, drop, reset"},
	{"gen", "traffic for packet generators: one pcap for each port and the expected result"},
	{"check", "compares received traffic with what ringfold gen expected"},
	{"train", "one host of the demo"},
	{"rv32", "the processor of a simulated box: started by box and sim with --firmware rv32"},
};

static int compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Adds the names of the ringfold-* programs in a folder. */
static size_t scan(const char *folder, char **names, size_t count)
{
	DIR *d = opendir(folder);
	struct dirent *e;

	if (!d)
		return count;
	while ((e = readdir(d)) != NULL && count < NAMES_MAX) {
		char path[PATH_MAX];
		bool have = false;

		if (strncmp(e->d_name, PREFIX, strlen(PREFIX)) != 0)
			continue;
		if (snprintf(path, sizeof(path), "%s/%s", folder, e->d_name) >= (int)sizeof(path) ||
		    access(path, X_OK) != 0)
			continue;
		for (size_t i = 0; i < count; i++)
			have = have || strcmp(names[i], e->d_name + strlen(PREFIX)) == 0;
		if (have)
			continue;
		names[count] = strdup(e->d_name + strlen(PREFIX));
		if (!names[count])
			break;
		count++;
	}
	closedir(d);
	return count;
}

static void help(const char *folder, const char *libexec)
{
	char *names[NAMES_MAX];
	size_t count = 0;

	printf("usage: ringfold COMMAND [options]\n\n"
	       "In-network all-reduce: a box beside an Ethernet switch sums gradients while they "
	       "cross\nthe network.\n\n"
	       "commands (each explains itself with --help):\n");
	count = scan(folder, names, count);
	count = scan(libexec, names, count);
	qsort(names, count, sizeof(names[0]), compare);
	for (size_t i = 0; i < count; i++) {
		const char *text = "";

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (strcmp(known[k].name, names[i]) == 0)
				text = known[k].text;
		printf("  %-10s %s\n", names[i], text);
		free(names[i]);
	}
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX - 64];
	char libexec[PATH_MAX];
	char path[PATH_MAX + 64];
	const char *name = argc > 1 ? argv[1] : NULL;

	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	snprintf(libexec, sizeof(libexec), "%s/../libexec/ringfold", folder);

	if (!name || strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0 ||
	    strcmp(name, "help") == 0) {
		help(folder, libexec);
		return name ? RF_EXIT_GOOD : RF_EXIT_USAGE;
	}
	if (strcmp(name, "--version") == 0) {
		printf("ringfold %d.%d.%d\n", RF_VERSION_MAJOR, RF_VERSION_MINOR, RF_VERSION_PATCH);
		return RF_EXIT_GOOD;
	}
	if (name[0] == '-' || strchr(name, '/') || strlen(name) > 32) {
		fprintf(stderr, "ringfold: \"%s\" is not a command; ringfold --help lists them\n",
			name);
		return RF_EXIT_USAGE;
	}
	snprintf(path, sizeof(path), "%s/" PREFIX "%s", folder, name);
	argv[1] = path;
	execv(path, argv + 1);
	if (errno == ENOENT) {
		snprintf(path, sizeof(path), "%s/" PREFIX "%s", libexec, name);
		execv(path, argv + 1);
	}
	if (errno == ENOENT)
		fprintf(stderr, "ringfold: unknown command \"%s\"; ringfold --help lists them\n",
			name);
	else
		fprintf(stderr, "ringfold: %s: %s\n", path, strerror(errno));
	return errno == ENOENT ? RF_EXIT_USAGE : RF_EXIT_FAILED;
}
