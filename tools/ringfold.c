/*
 * ringfold X ARGS: executes ringfold-X from the folder that contains this program, or from
 * ../libexec/ringfold; ringfold help X is ringfold X --help.
 */
#include "base/near.h"
#include "base/opt.h"
#include "base/self.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
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
	{"info", "versions, engines, devices, and the settings in force"},
	{"top", "the page of a box on a terminal: rates, errors, groups, events"},
	{"compare", "compares two engines of the box under the same random traffic"},
	{"sim", "hosts, links, switch and box in virtual time"},
	{"plan", "which traffic merges where: plans, all schemes compared, on any topology"},
	{"replay", "simulated runs with faults, each derived from its seed"},
	{"perf", "all-reduce performance and correctness, one table"},
	{"osu", "latency of one collective, in the form of the OSU Micro-Benchmarks"},
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

/* The names of all commands, sorted; each to be freed. */
static size_t commands(const char *folder, const char *libexec, char **names)
{
	size_t count = scan(libexec, names, scan(folder, names, 0));

	qsort(names, count, sizeof(names[0]), compare);
	return count;
}

/* The introduction with the list of commands, to be freed; NULL if there is no memory. */
static char *introduction(char *const *names, size_t count)
{
	char *to = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&to, &len);

	if (!f)
		return NULL;
	fputs("In-network all-reduce: a box beside an Ethernet switch sums gradients while they "
	      "cross\nthe network.\n\ncommands (each explains itself with --help):",
	      f);
	for (size_t i = 0; i < count; i++) {
		const char *text = "";

		for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++)
			if (strcmp(known[k].name, names[i]) == 0)
				text = known[k].text;
		fprintf(f, "\n  %-10s %s", names[i], text);
	}
	if (fclose(f) == 0)
		return to;
	free(to);
	return NULL;
}

/* Answers --help, --version, nothing, or a name that is not that of a command. */
static int answer(const char *name, const char *folder, const char *libexec)
{
	static const struct rf_opt none[] = {{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL}};
	char *names[NAMES_MAX];
	size_t count = commands(folder, libexec, names);
	char *text = introduction(names, count);
	const struct rf_opt_page page = {"ringfold COMMAND [options]", text ? text : "", NULL,
					 none};
	const char *near = name ? rf_near(name, (const char *const *)names, count) : NULL;
	int code = RF_EXIT_USAGE;

	if (!name) {
		rf_opt_help(&page);
	} else if (rf_opt_asked(&page, name)) {
		code = RF_EXIT_GOOD;
	} else {
		fprintf(stderr, "ringfold: unknown command \"%s\"; ", name);
		if (near)
			fprintf(stderr, "did you mean \"%s\"?\n", near);
		else
			fprintf(stderr, "ringfold --help lists them\n");
	}
	for (size_t i = 0; i < count; i++)
		free(names[i]);
	free(text);
	return code;
}

int main(int argc, char **argv)
{
	char folder[PATH_MAX - 64];
	char libexec[PATH_MAX];
	char path[PATH_MAX + 64];
	static char help[] = "--help";
	char *asked[] = {NULL, help, NULL};
	const char *name = argc > 1 ? argv[1] : NULL;
	char **args = argv + 1;

	/* `ringfold help run` */
	if (argc > 2 && strcmp(name, "help") == 0) {
		name = argv[2];
		args = asked;
	}
	if (rf_self_folder(folder, sizeof(folder)) != 0)
		snprintf(folder, sizeof(folder), ".");
	snprintf(libexec, sizeof(libexec), "%s/../libexec/ringfold", folder);

	if (!name || name[0] == '-' || strcmp(name, "help") == 0 || strchr(name, '/') ||
	    strlen(name) > 32)
		return answer(name, folder, libexec);
	snprintf(path, sizeof(path), "%s/" PREFIX "%s", folder, name);
	args[0] = path;
	execv(path, args);
	if (errno == ENOENT) {
		snprintf(path, sizeof(path), "%s/" PREFIX "%s", libexec, name);
		execv(path, args);
	}
	if (errno == ENOENT)
		return answer(name, folder, libexec);
	fprintf(stderr, "ringfold: %s: %s\n", path, strerror(errno));
	return RF_EXIT_FAILED;
}
