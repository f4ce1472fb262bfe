/*
 * What the commands of `ringfold plan` share.
 */
#ifndef RF_TOOLS_PLAN_TOOL_H
#define RF_TOOLS_PLAN_TOOL_H

#include "planner/scheme.h"
#include "planner/simulate.h"

/* The commands: argv[0] is the command's name. An exit code of base/opt.h. */
int plan_command_make(int argc, char **argv);
int plan_command_compare(int argc, char **argv);
int plan_command_generate(int argc, char **argv);
int plan_command_check(int argc, char **argv);
int plan_command_jobs(int argc, char **argv);
int plan_command_replan(int argc, char **argv);

/* A line on stderr when something ends, once the program has run for PROGRESS_SECONDS. */
#define PROGRESS_SECONDS 2.0
void plan_progress(const char *name, double seconds);
/* The same of schemes, and a line every PROGRESS_SECONDS about what goes on inside of one; none of
 * all that where quiet. */
void plan_show_progress(struct scheme_options *o, bool quiet);

/* "name - text" of all schemes, one to a line, for --help; to be freed. */
char *plan_scheme_help(const char *before);

/*
 * Writes a file as a whole or not at all: into a new file beside it, which then takes its name.
 * NULL or "-" as path: stdout. 0, or -1 with a message on stderr.
 */
int plan_write(const char *path, const char *text, size_t len);

/*
 * Refuses with a message, before anything is made, results that could not be written, that would
 * replace a file that is read, or each other. NULL: not wanted; "-": stdout. 0 or -1.
 */
int plan_paths(const char *const *in, int ins, const char *const *out, int outs);

/* One plan with what was found out about it. */
struct plan_row {
	const char *name;
	struct plan *plan; /* NULL: refused */
	struct plan_load load;
	char reason[TOPO_ERROR_MAX]; /* where there is no plan */
	bool simulated;
	struct sim_result fluid, chunks;
};

/* "a>b 98%" of the most loaded link or box at the plan's throughput; "-" where there is none. */
void plan_worst_link(const struct topology *t, const struct plan_row *row, char *to, size_t room);
void plan_worst_box(const struct topology *t, const struct plan_row *row, char *to, size_t room);

/* The text of a Graphviz file: the topology with its hosts in order, and the largest trees in
 * colours; tree: the tree-th largest alone, from 1, or 0. To be freed. */
char *plan_dot(const struct topology *t, const struct plan *p, int tree);
/* The same as SVG, laid out by the program `dot`; NULL with a message on stderr. */
char *plan_picture(const struct topology *t, const struct plan *p, int tree);
/* A bar for each plan, a line at the bound (none where it is no finite number). To be freed. */
char *plan_chart(const struct topology *t, const struct plan_row *row, int rows, double bound);

#endif
