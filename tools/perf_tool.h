/* What the parts of `ringfold perf` share: the options, and the run. */
#ifndef RF_TOOLS_PERF_TOOL_H
#define RF_TOOLS_PERF_TOOL_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/perf.h"
#include "tools/perf_measure.h"
#include "tools/perf_out.h"

#define PERF_NAMES_MAX 16u
#define PERF_ALL_ROOTS UINT32_MAX

/* An option with a list of words: "sum,min", or "all". */
struct perf_list {
	const char *option;
	const char *text;
	const char *names[PERF_NAMES_MAX];
	unsigned int n;
	unsigned int mask; /* bit k: names[k] was given */
};

/* A communicator, and its name in the column `by`. */
struct perf_carrier {
	struct rf_comm *comm;
	const char *by;
	struct rf_order order;
};

struct perf {
	uint64_t min, max;
	unsigned int factor, slots, root;
	uint64_t seconds, total_seconds;
	const char *root_text;
	struct perf_list kinds, types, ops, schedules;
	bool json, csv, in_place, out_of_place, no_check, flip;
	bool counted; /* --iters is given */
	struct rf_context *ctx;
	struct perf_carrier carriers[PERF_OUT_BY];
	unsigned int n_carriers;
	struct perf_data data;
	struct perf_measure measure;
	struct perf_out out;
	struct perf_out_row row; /* the one that is measured */
	bool row_in_place;
	unsigned int sides, done, missing; /* rows out of place and in place; rows not run */
	uint64_t wrong;                    /* over all ranks and rows */
};

/*
 * Reads the command line and checks it. Returns 0; -1 after --help or --version; -2 on bad usage,
 * with a message on stderr.
 */
int perf_parse(struct perf *p, int argc, char **argv);

/* Whether a list has its word k. */
bool perf_wanted(const struct perf_list *l, unsigned int k);

/* For one combination of the lists. first: of a collective. Returns 0, or what ends all. */
typedef int perf_visitor(struct perf *p, struct perf_call *c, bool first);

/* All combinations that exist, one after another. Returns what ended it, or 0. */
int perf_visit(struct perf *p, perf_visitor *visit);

#endif
