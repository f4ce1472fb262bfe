/*
 * What `ringfold plan make` and `ringfold plan check` do with a plan.
 */
#ifndef RF_TOOLS_PLAN_RESULT_H
#define RF_TOOLS_PLAN_RESULT_H

#include "base/opt.h"
#include "tools/plan_tool.h"

/* Where a plan comes from and where it goes; a path that is NULL is not requested. */
struct plan_output {
	const char *topology, *plan; /* input files */
	const char *out, *picture, *dot;
	bool json, simulate;
	unsigned int sim_chunks, tree; /* tree: draw only the tree-th largest; 0: the largest */
	uint64_t size;                 /* bytes of the vector in the simulators */
	bool sim_chunks_given;
};

#define PLAN_OUTPUT_DEFAULT                                                                        \
	{                                                                                          \
		.size = 100u << 20, .sim_chunks = 256                                              \
	}

/* Prints a reason on stderr. */
void plan_fail(const char *reason);
/* A number of bytes in the topology's unit times a second. An unknown unit counts as Gbps. */
double plan_amount(const struct topology *t, uint64_t bytes);
/* Verifies a plan, runs it in the simulators if requested, and writes it. Returns an exit code. */
int plan_finish(const struct topology *t, struct plan_row *row, const struct plan_output *w);
/* plan_paths for these files. */
int plan_output_paths(const struct plan_output *w);

/* Parses options; no argument may follow them. 0, or -1 with the exit code. */
int plan_options(const struct rf_opt_page *page, int argc, char **argv, int *code);
/* The most chunk classes and trees that can be requested. */
#define PLAN_CHUNKS_MOST (1u << 20)
#define PLAN_TREES_MOST (1u << 20)
/* The scheme of that name; NULL with a message. */
const struct scheme *plan_scheme(const char *name);
/* Whether the value of an option is at most `most`; false with a message. */
bool plan_in_range(unsigned int v, unsigned int most, const char *option);

#define PLAN_SIM_CHUNKS_TEXT "chunks in the chunk simulator, at most 1048576 (default 256)"
/* Takes --sim-chunks into a struct plan_output; 0, or -1 with a message. */
int plan_take_sim_chunks(void *to, const char *value);
/*
 * Whether the options --tree and --sim-chunks, if given, have an effect; false with a message.
 * simulated: the chunk simulator runs; needs: what makes it run.
 */
bool plan_output_is_used(const struct plan_output *w, bool simulated, const char *needs);

#endif
