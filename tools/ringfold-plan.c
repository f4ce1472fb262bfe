/*
 * ringfold plan: decides which traffic is merged where. Makes plans, compares schemes, generates
 * topologies, checks plans.
 */
#include <stdio.h>
#include <string.h>

#include "base/near.h"
#include "base/opt.h"
#include "tools/plan_tool.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
} commands[] = {
	{"make", plan_command_make},         {"compare", plan_command_compare},
	{"generate", plan_command_generate}, {"check", plan_command_check},
	{"jobs", plan_command_jobs},         {"replan", plan_command_replan},
};

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
