/* Statistics, references and output of `ringfold perf`. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tools/perf.h"
#include "tools/perf_out.h"
#include "tools/perf_stats.h"

static uint64_t kept[PERF_STATS_KEPT];

static void test_no_calls(void **state)
{
	struct perf_stats s;

	(void)state;
	perf_stats_reset(&s, kept);
	perf_stats_sort(&s);
	assert_int_equal(perf_stats_percentile(&s, 50), 0);
	assert_true(perf_stats_mean(&s) == 0);
}

/* The nearest rank of the numbers 1 to n, added in a drawn order, is known. */
static void test_percentiles(void **state)
{
	static const struct {
		unsigned int n, p50, p99;
	} cases[] = {{1, 1, 1},    {2, 1, 2},     {3, 2, 3},      {4, 2, 4},
		     {99, 50, 99}, {100, 50, 99}, {101, 51, 100}, {1000, 500, 990}};

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		unsigned int n = cases[k].n, step = n == 1000 ? 7 : 1;
		struct perf_stats s;

		perf_stats_reset(&s, kept);
		for (unsigned int i = 0; i < n; i++)
			perf_stats_add(&s, n - i * step % n);
		perf_stats_sort(&s);
		assert_int_equal(perf_stats_percentile(&s, 50), cases[k].p50);
		assert_int_equal(perf_stats_percentile(&s, 99), cases[k].p99);
		assert_int_equal(perf_stats_percentile(&s, 100), n);
		assert_int_equal(perf_stats_percentile(&s, 1), (n + 99) / 100);
		assert_int_equal(s.min, 1);
		assert_int_equal(s.max, n);
		assert_true(perf_stats_mean(&s) == (n + 1) / 2.0);
	}
}

/*
 * Of more calls than are kept, a sample. The median of 65,536 draws from a uniform distribution
 * strays by 1/512 of the range (one standard deviation); a sample of the first or the last calls
 * alone would be off by a third of it.
 */
static void test_reservoir(void **state)
{
	const uint64_t n = 3 * PERF_STATS_KEPT;
	struct perf_stats s;

	(void)state;
	perf_stats_reset(&s, kept);
	for (uint64_t i = 0; i < n; i++)
		perf_stats_add(&s, 1000 + i);
	perf_stats_sort(&s);
	assert_int_equal(s.calls, n);
	assert_int_equal(s.min, 1000);
	assert_int_equal(s.max, 1000 + n - 1);
	assert_in_range(perf_stats_percentile(&s, 50), 1000 + n * 48 / 100, 1000 + n * 52 / 100);
	assert_in_range(perf_stats_percentile(&s, 99), 1000 + n * 98 / 100, 1000 + n);
}

static void test_bus(void **state)
{
	(void)state;
	assert_true(perf_bus_factor(PERF_ALL_REDUCE, 4) == 1.5);
	assert_true(perf_bus_factor(PERF_ALL_REDUCE, 1) == 0);
	assert_true(perf_bus_factor(PERF_REDUCE, 4) == 1);
	assert_true(perf_bus_factor(PERF_BROADCAST, 8) == 1);
	assert_true(perf_bus_factor(PERF_REDUCE_SCATTER, 4) == 0.75);
	assert_true(perf_bus_factor(PERF_ALL_GATHER, 4) == 0.75);
	assert_true(perf_bus_factor(PERF_GATHER, 4) == 0.75);
	assert_true(perf_bus_factor(PERF_SCATTER, 2) == 0.5);
	assert_true(perf_bus_factor(PERF_BARRIER, 4) == 0);
}

/* ---- references ---- */

#define RANKS 5u
#define COUNT 9u

static void open_data(struct perf_data *d, unsigned int rank)
{
	*d = (struct perf_data){.rank = rank, .ranks = RANKS, .seed = 3, .check = true};
	assert_int_equal(perf_data_create(d, RANKS * COUNT * 8), 0);
}

static int32_t at(const uint8_t *data, size_t k)
{
	int32_t v;

	memcpy(&v, data + 4 * k, 4);
	return v;
}

/* Integers wrap, so their sums are known without any order of additions. */
static void test_want(void **state)
{
	(void)state;
	for (unsigned int kind = 0; kind < PERF_BARRIER; kind++) {
		for (unsigned int root = 0; root < RANKS; root++) {
			struct perf_call c = {
				(enum perf_kind)kind, RF_INT32, RF_SUM, root, COUNT, false};
			struct rf_order order = RF_ORDER_INIT;
			struct perf_buffers b;
			struct perf_data d;

			order.schedule = RF_SCHEDULE_RING;
			order.ranks = RANKS;
			open_data(&d, 2);
			perf_fill(&d, &c);
			perf_buffers(&d, &c, &b);
			assert_int_equal(perf_want(&d, &c, &order), RF_OK);
			for (size_t k = 0; k < b.results; k++) {
				size_t from = k + (perf_about(c.kind)->send_blocks ? 2 * COUNT : 0);
				uint32_t sum = 0;

				for (unsigned int r = 0; r < RANKS; r++)
					sum += (uint32_t)at(d.inputs[r], from);
				if (perf_about(c.kind)->recv_blocks)
					sum = (uint32_t)at(d.inputs[k / COUNT], k % COUNT);
				else if (!perf_about(c.kind)->reduces)
					sum = (uint32_t)at(d.inputs[root], from);
				assert_int_equal((uint32_t)at(d.want, k), sum);
			}
			perf_data_free(&d);
		}
	}
}

/* Small without a box: a tree; and the average of a sum. Binary32, root 1, 5 ranks, by hand. */
static void test_want_tree(void **state)
{
	struct perf_call c = {PERF_REDUCE, RF_FP32, RF_AVERAGE, 1, 1, false};
	struct rf_order order = RF_ORDER_INIT;
	float x[RANKS], sum, want;
	struct perf_data d;

	(void)state;
	order.schedule = RF_SCHEDULE_RING;
	order.ranks = RANKS;
	open_data(&d, 1);
	for (unsigned int r = 0; r < RANKS; r++) {
		x[r] = 0.1f + 1000.0f * (float)(r * r);
		memcpy(d.inputs[(1 + r) % RANKS], &x[r], 4);
	}
	assert_int_equal(perf_want(&d, &c, &order), RF_OK);
	sum = x[2] + x[3];
	sum = (x[0] + x[1]) + sum;
	sum = sum + x[4];
	sum /= 5;
	memcpy(&want, d.want, 4);
	assert_true(want == sum);
	perf_data_free(&d);
}

static void test_compare(void **state)
{
	struct perf_call c = {PERF_ALL_GATHER, RF_UINT8, RF_SUM, 0, COUNT, true};
	struct rf_order order = RF_ORDER_INIT;
	struct perf_buffers b;
	struct perf_data d;

	(void)state;
	open_data(&d, 0);
	perf_fill(&d, &c);
	perf_buffers(&d, &c, &b);
	assert_ptr_equal(b.send, b.recv);
	assert_int_equal(perf_want(&d, &c, &order), RF_OK);
	memcpy(b.result, d.want, b.results);
	assert_int_equal(perf_compare(&d, &c, &b), 0);
	b.result[0] ^= 1;
	b.result[RANKS * COUNT - 1] ^= 0x80;
	assert_int_equal(perf_compare(&d, &c, &b), 2);
	perf_data_free(&d);
}

/* ---- output ---- */

static const struct perf_out_row sample = {
	.collective = "all-reduce",
	.by = "box",
	.type = "fp32",
	.op = "sum",
	.root = -1,
	.bytes = 4000,
	.count = 1000,
	.factor = 1.5,
	.out = {.run = true, .checked = true, .wrong = 7, .times = {0.5, 20, 8, 2, 9, 10, 30, 31}},
};

static char *print(enum perf_out_form form, const struct perf_out_row *row)
{
	struct perf_out out = {.form = form, .ranks = 4};
	char *text;
	size_t size;

	out.file = open_memstream(&text, &size);
	perf_out_begin(&out, "box", 1024, 1, NULL);
	perf_out_title(&out, row->collective);
	if (row->out.run)
		perf_out_interval(&out, row, false, &row->out.times);
	perf_out_row(&out, row);
	perf_out_end(&out, row->out.wrong, row->reason != NULL);
	fclose(out.file);
	return text;
}

static void test_csv(void **state)
{
	struct perf_out_row row = sample;
	char *text = print(PERF_OUT_CSV, &row);

	(void)state;
	assert_non_null(strstr(text, "\r\ninterval,all-reduce,box,4,4000,1000,fp32,sum,-1,out,"
				     "0.500000,20,8.000,0.500000,0.750000,,2.000,9.000,10.000,"
				     "30.000,31.000,\r\n"));
	assert_non_null(strstr(text, "\r\nresult,all-reduce,box,4,4000,1000,fp32,sum,-1,out,"
				     "0.500000,20,8.000,0.500000,0.750000,7,2.000,9.000,10.000,"
				     "30.000,31.000,\r\n"));
	free(text);
	row.out.run = false;
	row.reason = "not \"here\", today";
	text = print(PERF_OUT_CSV, &row);
	assert_non_null(strstr(text, "\r\nnot run,all-reduce,box,4,4000,1000,fp32,sum,-1,,,,,,,,,,,"
				     ",,\"not \"\"here\"\", today\"\r\n"));
	free(text);
}

static void test_json(void **state)
{
	struct perf_out_row row = sample;
	char *text = print(PERF_OUT_JSON, &row);
	json_t *all = json_loads(text, 0, NULL), *first, *side;

	(void)state;
	assert_non_null(all);
	first = json_array_get(json_object_get(all, "results"), 0);
	side = json_object_get(first, "out_of_place");
	assert_true(json_is_null(json_object_get(first, "in_place")));
	assert_int_equal(json_integer_value(json_object_get(side, "wrong")), 7);
	assert_true(json_real_value(json_object_get(side, "busbw_GBps")) == 0.75);
	assert_true(json_real_value(json_object_get(side, "p99_us")) == 30);
	assert_int_equal(json_array_size(json_object_get(side, "intervals")), 1);
	json_decref(all);
	free(text);
	row.out.run = false;
	row.reason = "not here";
	text = print(PERF_OUT_JSON, &row);
	all = json_loads(text, 0, NULL);
	first = json_array_get(json_object_get(all, "results"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "reason")), "not here");
	assert_int_equal(json_integer_value(json_object_get(all, "not_run")), 1);
	json_decref(all);
	free(text);
}

static void test_table(void **state)
{
	struct perf_out_row row = sample;
	char *text = print(PERF_OUT_TABLE, &row);

	(void)state;
	assert_non_null(strstr(text, "8.0   0.5000   0.7500      7          -        -"));
	assert_non_null(strstr(text, "\n# average busbw, box: 0.7500 GB/s\n# wrong elements: 7\n"));
	free(text);
	row.out.run = false;
	row.reason = "not here";
	text = print(PERF_OUT_TABLE, &row);
	assert_non_null(strstr(text, "  box  not run: not here\n# rows not run: 1\n"));
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_calls),  cmocka_unit_test(test_percentiles),
		cmocka_unit_test(test_reservoir), cmocka_unit_test(test_bus),
		cmocka_unit_test(test_want),      cmocka_unit_test(test_want_tree),
		cmocka_unit_test(test_compare),   cmocka_unit_test(test_csv),
		cmocka_unit_test(test_json),      cmocka_unit_test(test_table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
