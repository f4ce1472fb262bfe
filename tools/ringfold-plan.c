/*
 * ringfold plan: decides which traffic is merged where. Makes plans, compares schemes, generates
 * topologies, checks plans.
 */
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/near.h"
#include "base/opt.h"
#include "tools/plan_tool.h"
#include "planner/work.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"make", plan_command_make},         {"compare", plan_command_compare},
	{"generate", plan_command_generate}, {"check", plan_command_check},
	{"jobs", plan_command_jobs},         {"replan", plan_command_replan},
};

char *plan_scheme_help(const char *before)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return NULL;
	fprintf(f, "%s\n\nschemes:", before);
	for (const struct scheme *s = scheme_list; s->name; s++)
		fprintf(f, "\n  %-20s %s", s->name, s->text);
	if (fclose(f) == 0)
		return text;
	free(text);
	return NULL;
}

/* --- files ------------------------------------------------------------------------------------ */

static bool is_stdout(const char *path)
{
	return !path || strcmp(path, "-") == 0;
}

/* The temporary name of a file, for mkstemp; to be freed. */
static char *temporary_name(const char *path)
{
	char *name = NULL;

	if (asprintf(&name, "%s.XXXXXX", path) < 0)
		return NULL;
	return name;
}

static int check_writable(const char *path)
{
	struct stat st;
	char *name;
	int fd;

	if (is_stdout(path))
		return 0;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode)) {
		fprintf(stderr, "ringfold plan: %s is not a regular file\n", path);
		return -1;
	}
	name = temporary_name(path);
	fd = name ? mkstemp(name) : -1;
	if (fd < 0) {
		fprintf(stderr, "ringfold plan: cannot write %s: %s\n", path, strerror(errno));
		free(name);
		return -1;
	}
	close(fd);
	unlink(name);
	free(name);
	return 0;
}

/* Whether two paths lead to the same file, which need not exist yet. */
static bool is_same(const char *a, const char *b)
{
	struct stat x, y;
	char *folder[2];
	bool same;

	if (is_stdout(a) || is_stdout(b))
		return is_stdout(a) && is_stdout(b);
	if (stat(a, &x) == 0 && stat(b, &y) == 0)
		return x.st_dev == y.st_dev && x.st_ino == y.st_ino;
	if (strcmp(basename(a), basename(b)) != 0)
		return false;
	folder[0] = strndup(a, (size_t)(basename(a) - a));
	folder[1] = strndup(b, (size_t)(basename(b) - b));
	same = folder[0] && folder[1] && stat(*folder[0] ? folder[0] : ".", &x) == 0 &&
	       stat(*folder[1] ? folder[1] : ".", &y) == 0 && x.st_dev == y.st_dev &&
	       x.st_ino == y.st_ino;
	free(folder[0]);
	free(folder[1]);
	return same;
}

int plan_paths(const char *const *in, int ins, const char *const *out, int outs)
{
	for (int i = 0; i < outs; i++) {
		if (!out[i])
			continue;
		for (int k = 0; k < ins; k++)
			if (in[k] && !is_stdout(out[i]) && is_same(in[k], out[i])) {
				fprintf(stderr,
					"ringfold plan: %s is an input file; choose another file "
					"for the result\n",
					out[i]);
				return -1;
			}
		for (int k = 0; k < i; k++)
			if (out[k] && is_same(out[k], out[i])) {
				fprintf(stderr,
					"ringfold plan: two results have the path %s; give each "
					"its own\n",
					out[i]);
				return -1;
			}
		if (check_writable(out[i]) != 0)
			return -1;
	}
	return 0;
}

static int write_all(int fd, const char *text, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = write(fd, text + done, len - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return -1;
		done += (size_t)n;
	}
	return 0;
}

int plan_write(const char *path, const char *text, size_t len)
{
	mode_t mask = umask(0);
	char *name;
	int fd;
	int saved;

	umask(mask);
	if (is_stdout(path)) {
		if (fwrite(text, 1, len, stdout) == len && fflush(stdout) == 0)
			return 0;
		fprintf(stderr, "ringfold plan: cannot write the result: %s\n", strerror(errno));
		return -1;
	}
	name = temporary_name(path);
	fd = name ? mkstemp(name) : -1;
	if (fd >= 0 && write_all(fd, text, len) == 0 && fchmod(fd, 0666 & ~mask) == 0 &&
	    close(fd) == 0 && rename(name, path) == 0) {
		free(name);
		return 0;
	}
	saved = errno;
	if (fd >= 0)
		unlink(name);
	fprintf(stderr, "ringfold plan: cannot write %s: %s\n", path, strerror(saved));
	free(name);
	return -1;
}

static double progress_begin = -1;
static bool progress_quiet;

void plan_progress(const char *name, double seconds)
{
	double now = clock_seconds();

	progress_begin = progress_begin < 0 ? now - seconds : progress_begin;
	if (now - progress_begin >= PROGRESS_SECONDS && !progress_quiet)
		fprintf(stderr, "%8.1f s  %s ended after %.1f s\n", now - progress_begin, name,
			seconds);
}

static void print_step(const char *doing, int round, double value, double bound)
{
	fprintf(stderr, "%8.1f s  %s, round %d", clock_seconds() - progress_begin, doing, round);
	if (value > 0)
		fprintf(stderr, ": %.6g", value);
	if (value > 0 && !isnan(bound))
		fprintf(stderr, ", bound %.6g", bound);
	fputc('\n', stderr);
}

void plan_show_progress(struct scheme_options *o, bool quiet)
{
	static struct reporter reporter = {.report = print_step, .every = PROGRESS_SECONDS};

	progress_begin = reporter.last = clock_seconds();
	progress_quiet = quiet;
	o->progress = quiet ? NULL : plan_progress;
	o->reporter = quiet ? NULL : &reporter;
}

/* --- what every table shows ------------------------------------------------------------------- */

void plan_worst_link(const struct topology *t, const struct plan_row *row, char *to, size_t room)
{
	int arc = row->load.worst_arc;

	if (arc < 0)
		snprintf(to, room, "-");
	else
		snprintf(to, room, "%s>%s %.0f%%", t->node[topo_arc_from(t, arc)].name,
			 t->node[topo_arc_to(t, arc)].name,
			 100 * row->load.arc[arc] * row->plan->throughput /
				 topo_arc_capacity(t, arc));
}

void plan_worst_box(const struct topology *t, const struct plan_row *row, char *to, size_t room)
{
	int worst = -1;

	/* Boxes without a limit have no percentage: show the one that receives most. */
	for (int i = 0; i < t->nodes; i++)
		if (t->node[i].kind == TOPO_BOX && row->load.node[i] > 0 &&
		    (worst < 0 || row->load.node[i] > row->load.node[worst]))
			worst = i;
	if (row->load.worst_node >= 0)
		worst = row->load.worst_node;
	if (worst < 0)
		snprintf(to, room, "-");
	else if (isinf(t->node[worst].processing))
		snprintf(to, room, "%s %.4g", t->node[worst].name,
			 row->load.node[worst] * row->plan->throughput);
	else
		snprintf(to, room, "%s %.0f%%", t->node[worst].name,
			 100 * row->load.node[worst] * row->plan->throughput /
				 t->node[worst].processing);
}

/* --- main ------------------------------------------------------------------------------------- */

static const struct rf_opt no_options[] = {{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL}};

static const struct rf_opt_page help = {
	.usage = "ringfold plan [make] --topology FILE --scheme NAME [options]\n"
		 "       ringfold plan compare --topology FILE [options]\n"
		 "       ringfold plan generate SHAPE [options]\n"
		 "       ringfold plan check --topology FILE --plan FILE [options]\n"
		 "       ringfold plan jobs --topology FILE --jobs FILE [options]\n"
		 "       ringfold plan replan --topology FILE --plan FILE --without-link A,B "
		 "[options]",
	.intro = "Decides which traffic is merged where. A plan is a forest of aggregation trees "
		 "over hosts and\nboxes. Before a plan is written, the load of every link and box "
		 "is recomputed from it.\n\n"
		 "commands (--help of a command lists its options):\n"
		 "  make       one plan with one scheme (the default command)\n"
		 "  compare    a table of all schemes on one topology\n"
		 "  generate   a topology: star, leaf-spine, fat-tree, rail, random or machines\n"
		 "  check      verifies a plan and runs it in both simulators\n"
		 "  jobs       plans for several jobs that share a network\n"
		 "  replan     a new plan after a link or box has failed, which keeps unaffected "
		 "trees\n\n"
		 "Topologies and plans are JSON files: see docs/planner.md.",
	.examples = "  ringfold plan generate leaf-spine --leaves 4 --hosts 8 --out t.json\n"
		    "  ringfold plan compare --topology t.json --chart chart.svg\n"
		    "  ringfold plan --topology t.json --scheme best --out plan.json --picture "
		    "plan.svg",
	.opts = no_options,
};

int main(int argc, char **argv)
{
	const char *names[sizeof(commands) / sizeof(commands[0])];
	const char *name = argc > 1 ? argv[1] : NULL;
	const char *near;

	if (!name) {
		rf_opt_help(&help);
		return RF_EXIT_USAGE;
	}
	if (rf_opt_asked(&help, name))
		return RF_EXIT_GOOD;
	if (name[0] == '-')
		return plan_command_make(argc, argv);
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
		names[i] = commands[i].name;
		if (strcmp(name, commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	}
	near = rf_near(name, names, sizeof(commands) / sizeof(commands[0]));
	fprintf(stderr, "ringfold plan: there is no command \"%s\"; ", name);
	if (near)
		fprintf(stderr, "did you mean \"%s\"?\n", near);
	else
		fprintf(stderr, "--help lists them\n");
	return RF_EXIT_USAGE;
}
