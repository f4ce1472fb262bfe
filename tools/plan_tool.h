/*
 * Functions that the commands of `ringfold plan` share.
 */
#ifndef RF_TOOLS_PLAN_TOOL_H
#define RF_TOOLS_PLAN_TOOL_H

#include "planner/scheme.h"
#include "planner/sim.h"

/* The commands; argv[0] is the command's name. They return an exit code of base/opt.h. */
int plan_command_make(int argc, char **argv);
int plan_command_compare(int argc, char **argv);
int plan_command_generate(int argc, char **argv);
int plan_command_check(int argc, char **argv);
int plan_command_jobs(int argc, char **argv);
int plan_command_replan(int argc, char **argv);

/* Prints a line on stderr when a step ends, once the program has run for PLAN_PROGRESS_SECONDS. */
#define PLAN_PROGRESS_SECONDS 2.0
void plan_progress(const char *name, double seconds);
/*
 * Makes schemes report their end in this way, and their progress every PLAN_PROGRESS_SECONDS;
 * nothing if quiet.
 */
void plan_show_progress(struct scheme_options *o, bool quiet);

/* `before`, then name and description of all schemes, one per line, for --help; to be freed. */
char *plan_scheme_help(const char *before);

/*
 * Writes a complete file or none: writes a temporary file beside it, then renames it. NULL or "-"
 * as path: stdout. Returns 0, or -1 with a message on stderr.
 */
int plan_write(const char *path, const char *text, size_t len);

/*
 * Checks the paths of results before anything is computed. Refuses with a message a result that
 * cannot be written, that would replace an input file, or that has the same path as another result.
 * NULL: not requested; "-": stdout. Returns 0 or -1.
 */
int plan_paths(const char *const *in, int ins, const char *const *out, int outs);

/* A plan with its measurements, or the reason why there is none. */
struct plan_row {
	const char *name;
	struct plan *plan; /* NULL: refused */
	struct plan_load load;
	char reason[TOPO_ERROR_MAX]; /* if plan is NULL */
	bool simulated;
	struct sim_result fluid, chunks;
};

/* "a>b 98%": the most loaded link or box at the plan's throughput; "-" if none is loaded. */
void plan_worst_link(const struct topology *t, const struct plan_row *row, char *to, size_t room);
void plan_worst_box(const struct topology *t, const struct plan_row *row, char *to, size_t room);

/*
 * Graphviz source: the topology with its hosts in order, and the largest trees in colours. tree:
 * draw only the tree-th largest, from 1; 0: the largest. To be freed.
 */
char *plan_dot(const struct topology *t, const struct plan *p, int tree);
/* The same as SVG, with the layout of the program `dot`; NULL with a message on stderr. */
char *plan_picture(const struct topology *t, const struct plan *p, int tree);
/*
 * A bar chart as SVG: a bar for each plan and a line at the bound, if that is finite. To be freed.
 */
char *plan_chart(const struct topology *t, const struct plan_row *row, int rows, double bound);

#endif
