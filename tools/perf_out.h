/*
 * What `ringfold perf` prints: a table with the columns of nccl-tests, CSV or JSON.
 *
 *	perf_out_begin(&out, ...);
 *	perf_out_title(&out, "reduce");           before the rows of a collective
 *	perf_out_interval(&out, &row, p, &t);     while a row is measured
 *	perf_out_row(&out, &row);
 *	perf_out_end(&out, ...);
 */
#ifndef RF_TOOLS_PERF_OUT_H
#define RF_TOOLS_PERF_OUT_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum perf_out_form { PERF_OUT_TABLE, PERF_OUT_CSV, PERF_OUT_JSON };

#define PERF_OUT_BY 2u /* who carries the calls: box, ring */

/* Times of some calls. All in microseconds, except the first. */
struct perf_out_times {
	double end; /* seconds since the measurement began */
	uint64_t calls;
	double time; /* duration / calls */
	double min, avg, p50, p99, max;
};

/* One row: a call, out of place and in place. */
struct perf_out_row {
	const char *collective, *by, *type, *op; /* op "none": it does not reduce */
	int root;                                /* -1: it has none */
	uint64_t bytes, count;
	double factor;      /* busbw / algbw */
	const char *reason; /* why it was not run, or NULL */
	struct perf_out_side {
		bool run, checked;
		uint64_t wrong;
		struct perf_out_times times;
	} out, in;
};

struct perf_out {
	FILE *file;
	enum perf_out_form form;
	bool latency; /* table: also min, avg, p50 and p99 */
	unsigned int ranks;
	/* the rest is its own */
	json_t *head, *results, *intervals[2]; /* out of place, in place */
	struct perf_out_mean {
		const char *by;
		double busbw;
		unsigned int n;
	} means[PERF_OUT_BY];
};

/* places: of the ranks in the box, "0:1.0 1:2.0", or NULL. by: "box", "ring" or both. */
void perf_out_begin(struct perf_out *out, const char *by, unsigned int mtu, uint64_t seed,
		    const char *places);
void perf_out_title(struct perf_out *out, const char *collective);
void perf_out_interval(struct perf_out *out, const struct perf_out_row *row, bool in_place,
		       const struct perf_out_times *times);
void perf_out_row(struct perf_out *out, const struct perf_out_row *row);
/* missing: rows that were not run. */
void perf_out_end(struct perf_out *out, uint64_t wrong, unsigned int missing);

#endif
