#include "tools/perf_out.h"

#include <inttypes.h>
#include <string.h>

#include "ringfold/ringfold.h"

/* GB/s, 10^9 bytes, as in nccl-tests. */
static double algbw(const struct perf_out_row *row, const struct perf_out_times *t)
{
	return t->time > 0 ? (double)row->bytes / t->time * 1e-3 : 0;
}

static double busbw(const struct perf_out_row *row, const struct perf_out_times *t)
{
	return algbw(row, t) * row->factor;
}

/* ---- CSV: RFC 4180 ---- */

static void csv_head(FILE *f)
{
	fputs("kind,collective,by,ranks,size,count,type,redop,root,place,end_s,calls,time_us,"
	      "algbw_GBps,busbw_GBps,wrong,min_us,avg_us,p50_us,p99_us,max_us,reason\r\n",
	      f);
}

static void csv_text(FILE *f, const char *text)
{
	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, f);
		return;
	}
	fputc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', f);
		fputc(*text, f);
	}
	fputc('"', f);
}

static void csv_call(struct perf_out *out, const char *kind, const struct perf_out_row *row,
		     const char *place)
{
	fprintf(out->file, "%s,%s,%s,%u,%" PRIu64 ",%" PRIu64 ",%s,%s,%d,%s,", kind,
		row->collective, row->by, out->ranks, row->bytes, row->count, row->type, row->op,
		row->root, place);
}

static void csv_times(FILE *f, const struct perf_out_row *row, const struct perf_out_times *t,
		      const struct perf_out_side *side)
{
	fprintf(f, "%.6f,%" PRIu64 ",%.3f,%.6f,%.6f,", t->end, t->calls, t->time, algbw(row, t),
		busbw(row, t));
	if (side && side->checked)
		fprintf(f, "%" PRIu64, side->wrong);
	fprintf(f, ",%.3f,%.3f,%.3f,%.3f,%.3f,\r\n", t->min, t->avg, t->p50, t->p99, t->max);
}

static void csv_row(struct perf_out *out, const struct perf_out_row *row)
{
	if (row->reason) {
		csv_call(out, "not run", row, "");
		fputs(",,,,,,,,,,,", out->file);
		csv_text(out->file, row->reason);
		fputs("\r\n", out->file);
	}
	if (row->out.run) {
		csv_call(out, "result", row, "out");
		csv_times(out->file, row, &row->out.times, &row->out);
	}
	if (row->in.run) {
		csv_call(out, "result", row, "in");
		csv_times(out->file, row, &row->in.times, &row->in);
	}
}

/* ---- JSON ---- */

static json_t *json_times(const struct perf_out_row *row, const struct perf_out_times *t)
{
	return json_pack("{s:f, s:I, s:f, s:f, s:f, s:f, s:f, s:f, s:f, s:f}", "end_s", t->end,
			 "calls", (json_int_t)t->calls, "time_us", t->time, "algbw_GBps",
			 algbw(row, t), "busbw_GBps", busbw(row, t), "min_us", t->min, "avg_us",
			 t->avg, "p50_us", t->p50, "p99_us", t->p99, "max_us", t->max);
}

/* Takes the intervals. */
static json_t *json_side(const struct perf_out_row *row, const struct perf_out_side *side,
			 json_t **intervals)
{
	json_t *all;

	if (!side->run)
		return json_null();
	all = json_times(row, &side->times);
	json_object_set_new(all, "wrong",
			    side->checked ? json_integer((json_int_t)side->wrong) : json_null());
	if (*intervals)
		json_object_set_new(all, "intervals", *intervals);
	*intervals = NULL;
	return all;
}

static void json_row(struct perf_out *out, const struct perf_out_row *row)
{
	json_t *all =
		json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:i, s:o, s:o}", "collective",
			  row->collective, "by", row->by, "bytes", (json_int_t)row->bytes, "count",
			  (json_int_t)row->count, "type", row->type, "op", row->op, "root",
			  row->root, "out_of_place", json_side(row, &row->out, &out->intervals[0]),
			  "in_place", json_side(row, &row->in, &out->intervals[1]));

	if (row->reason)
		json_object_set_new(all, "reason", json_string(row->reason));
	json_array_append_new(out->results, all);
}

/* ---- table ---- */

/* Four significant digits or two decimals, whatever is more: simulated boxes are slow. */
static void put_rate(FILE *f, double v)
{
	fprintf(f, " %8.*f", v >= 10 ? 2 : 4, v);
}

static void put_side(struct perf_out *out, const struct perf_out_row *row,
		     const struct perf_out_side *side)
{
	const struct perf_out_times *t = &side->times;
	FILE *f = out->file;

	if (!side->run) {
		fprintf(f, " %10s %8s %8s %6s", "-", "-", "-", "-");
		for (unsigned int k = 0; out->latency && k < 4; k++)
			fprintf(f, " %9s", "-");
		return;
	}
	fprintf(f, " %10.1f", t->time);
	put_rate(f, algbw(row, t));
	put_rate(f, busbw(row, t));
	if (side->checked)
		fprintf(f, " %6" PRIu64, side->wrong);
	else
		fprintf(f, " %6s", "-");
	if (out->latency)
		fprintf(f, " %9.1f %9.1f %9.1f %9.1f", t->min, t->avg, t->p50, t->p99);
}

static void put_row(struct perf_out *out, const struct perf_out_row *row)
{
	fprintf(out->file, "%12" PRIu64 " %12" PRIu64 " %6s %5s %4d %4s", row->bytes, row->count,
		row->type, row->op, row->root, row->by);
	if (row->reason) {
		fprintf(out->file, "  not run: %s\n", row->reason);
		return;
	}
	put_side(out, row, &row->out);
	put_side(out, row, &row->in);
	fputc('\n', out->file);
}

static void put_interval(struct perf_out *out, const struct perf_out_row *row, bool in_place,
			 const struct perf_out_times *t)
{
	fprintf(out->file,
		"# %9.2f s  %s %s place: %" PRIu64 " calls  time %.1f us  algbw %.4f  busbw %.4f"
		"  min %.1f  p50 %.1f  p99 %.1f\n",
		t->end, row->by, in_place ? "in" : "out of", t->calls, t->time, algbw(row, t),
		busbw(row, t), t->min, t->p50, t->p99);
}

static void put_head(struct perf_out *out)
{
	FILE *f = out->file;
	int width = out->latency ? 35 + 40 : 35;

	fprintf(f, "#%47s %*s %*s\n", "", width, "out of place", width, "in place");
	fprintf(f, "#%11s %12s %6s %5s %4s %4s", "size", "count", "type", "redop", "root", "by");
	for (unsigned int k = 0; k < 2; k++)
		fprintf(f, " %10s %8s %8s %6s%s", "time", "algbw", "busbw", "#wrong",
			out->latency ? "       min       avg       p50       p99" : "");
	fprintf(f, "\n#%11s %12s %23s", "(B)", "(elements)", "");
	for (unsigned int k = 0; k < 2; k++)
		fprintf(f, " %10s %8s %8s%s%s", "(us)", "(GB/s)", "(GB/s)",
			out->latency || k == 0 ? "       " : "",
			out->latency ? "      (us)      (us)      (us)      (us)" : "");
	fputc('\n', f);
}

/* ---- all three ---- */

void perf_out_begin(struct perf_out *out, const char *by, unsigned int mtu, uint64_t seed,
		    const char *places)
{
	switch (out->form) {
	case PERF_OUT_CSV:
		csv_head(out->file);
		break;
	case PERF_OUT_JSON:
		out->results = json_array();
		out->head = json_pack("{s:s, s:i, s:s, s:i, s:I}", "version", rf_version(), "ranks",
				      (int)out->ranks, "by", by, "mtu", (int)mtu, "seed",
				      (json_int_t)seed);
		break;
	default:
		fprintf(out->file, "# ringfold %s  ranks %u  by %s  mtu %u  seed %" PRIu64 "\n",
			rf_version(), out->ranks, by, mtu, seed);
		if (places)
			fprintf(out->file, "# places (port.lane) %s\n", places);
		put_head(out);
	}
}

void perf_out_title(struct perf_out *out, const char *collective)
{
	if (out->form == PERF_OUT_TABLE)
		fprintf(out->file, "# %s\n", collective);
}

void perf_out_interval(struct perf_out *out, const struct perf_out_row *row, bool in_place,
		       const struct perf_out_times *times)
{
	json_t **intervals = &out->intervals[in_place];

	switch (out->form) {
	case PERF_OUT_CSV:
		csv_call(out, "interval", row, in_place ? "in" : "out");
		csv_times(out->file, row, times, NULL);
		break;
	case PERF_OUT_JSON:
		if (!*intervals)
			*intervals = json_array();
		json_array_append_new(*intervals, json_times(row, times));
		return;
	default:
		put_interval(out, row, in_place, times);
	}
	fflush(out->file);
}

static void count_mean(struct perf_out *out, const struct perf_out_row *row,
		       const struct perf_out_side *side)
{
	struct perf_out_mean *m = out->means;

	if (!side->run || row->factor <= 0)
		return;
	while (m->by && strcmp(m->by, row->by) != 0)
		if (++m == out->means + PERF_OUT_BY)
			return;
	m->by = row->by;
	m->busbw += busbw(row, &side->times);
	m->n++;
}

void perf_out_row(struct perf_out *out, const struct perf_out_row *row)
{
	count_mean(out, row, &row->out);
	count_mean(out, row, &row->in);
	if (out->form == PERF_OUT_JSON) {
		json_row(out, row);
		return;
	}
	if (out->form == PERF_OUT_CSV)
		csv_row(out, row);
	else
		put_row(out, row);
	fflush(out->file);
}

static void table_end(struct perf_out *out, uint64_t wrong, unsigned int missing)
{
	const struct perf_out_mean *m = out->means;

	for (; m < out->means + PERF_OUT_BY && m->by; m++)
		fprintf(out->file, "# average busbw, %s: %.4f GB/s\n", m->by, m->busbw / m->n);
	if (missing)
		fprintf(out->file, "# rows not run: %u\n", missing);
	fprintf(out->file, "# wrong elements: %" PRIu64 "\n", wrong);
}

void perf_out_end(struct perf_out *out, uint64_t wrong, unsigned int missing)
{
	if (out->form == PERF_OUT_TABLE)
		table_end(out, wrong, missing);
	if (out->form != PERF_OUT_JSON)
		return;
	json_object_set_new(out->head, "results", out->results);
	json_object_set_new(out->head, "not_run", json_integer(missing));
	json_object_set_new(out->head, "wrong", json_integer((json_int_t)wrong));
	json_dumpf(out->head, out->file, JSON_INDENT(2));
	fputc('\n', out->file);
	json_decref(out->head);
	out->head = out->results = NULL;
}
