/* Values and tables of command lines; the loader's advice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/near.h"
#include "base/opt.h"
#include "sim/cosim/load.h"

static void test_values(void **state)
{
	uint64_t v;
	unsigned u;
	double d;

	(void)state;
	assert_int_equal(rf_opt_size("16M", &v), 0);
	assert_int_equal(v, 16 << 20);
	assert_int_equal(rf_opt_size("1.5K", &v), 0);
	assert_int_equal(v, 1536);
	assert_int_equal(rf_opt_size("7", &v), 0);
	assert_int_equal(v, 7);
	assert_int_equal(rf_opt_size("4X", &v), -1);
	assert_int_equal(rf_opt_size("-4", &v), -1);
	assert_int_equal(rf_opt_size("", &v), -1);
	assert_int_equal(rf_opt_size("99999999999G", &v), -1);
	assert_int_equal(rf_opt_rate("100G", &v), 0);
	assert_int_equal(v, UINT64_C(100000000000));
	assert_int_equal(rf_opt_time("1us", &v), 0);
	assert_int_equal(v, 1000);
	assert_int_equal(rf_opt_time("2", &v), 0);
	assert_int_equal(v, 2000000000u);
	assert_int_equal(rf_opt_time("1 s", &v), -1);
	assert_int_equal(rf_opt_uint("0x10", &u), 0);
	assert_int_equal(u, 16);
	assert_int_equal(rf_opt_uint("0XfF", &u), 0);
	assert_int_equal(u, 255);
	assert_int_equal(rf_opt_uint("010", &u), 0);
	assert_int_equal(u, 10);
	assert_int_equal(rf_opt_uint("09", &u), 0);
	assert_int_equal(u, 9);
	assert_int_equal(rf_opt_uint("0x", &u), -1);
	assert_int_equal(rf_opt_uint("0xg", &u), -1);
	assert_int_equal(rf_opt_uint("1a", &u), -1);
	assert_int_equal(rf_opt_uint(" 1", &u), -1);
	assert_int_equal(rf_opt_uint("-1", &u), -1);
	assert_int_equal(rf_opt_uint("4294967296", &u), -1);
	assert_int_equal(rf_opt_u64("18446744073709551615", &v), 0);
	assert_true(v == UINT64_MAX);
	assert_int_equal(rf_opt_u64("18446744073709551616", &v), -1);
	assert_int_equal(rf_opt_fraction("1%", &d), 0);
	assert_true(d > 0.00999 && d < 0.01001);
	assert_int_equal(rf_opt_fraction("0.5", &d), 0);
	assert_int_equal(rf_opt_fraction("101%", &d), -1);
}

struct values {
	bool flag;
	unsigned n;
	uint64_t size;
	const char *word;
	unsigned calls;
};

static int called(void *to, const char *value)
{
	(*(unsigned *)to)++;
	return strcmp(value, "bad") == 0 ? -1 : 0;
}

static int parse(struct values *v, int argc, const char *const *args)
{
	const struct rf_opt table[] = {
		{RF_OPT_FLAG, "flag", 'f', &v->flag, NULL, "a flag", NULL},
		{RF_OPT_UINT, "number", 'n', &v->n, "N", "a number", NULL},
		{RF_OPT_HEADING, NULL, 0, NULL, NULL, "more:", NULL},
		{RF_OPT_SIZE, "size", 0, &v->size, "BYTES", "a size", NULL},
		{RF_OPT_CHOICE, "word", 'w', &v->word, "one|two", "a word", NULL},
		{RF_OPT_CALL, "call", 0, &v->calls, "X", "a call", called},
		{RF_OPT_END, NULL, 0, NULL, NULL, NULL, NULL},
	};
	const struct rf_opt_page page = {"test", "A test.", NULL, table};
	char copies[8][32];
	char *argv[9] = {NULL};

	for (int i = 0; i < argc; i++) {
		strncpy(copies[i], args[i], sizeof(copies[i]) - 1);
		copies[i][sizeof(copies[i]) - 1] = '\0';
		argv[i] = copies[i];
	}
	argc = rf_opt_parse(&page, argc, argv);
	v->word = v->word && strcmp(v->word, "two") == 0 ? "two" : "one"; /* outlives the copies */
	return argc;
}

static void test_table(void **state)
{
	static const char *const good[] = {"x",      "-f",  "-n7",      "--size=2K",
					   "--word", "two", "--call=a", "rest"};
	static const char *const bad[][3] = {
		{"x", "--number", "seven"}, {"x", "--word", "three"}, {"x", "--word", ""},
		{"x", "--nothing", "1"},    {"x", "--call", "bad"},   {"x", "--size", "1Z"},
		{"x", "--word", "on"},
	};
	static const char *const help[] = {"x", "--help"};
	struct values v = {.word = "one"};

	(void)state;
	assert_int_equal(parse(&v, 8, good), 7);
	assert_true(v.flag);
	assert_int_equal(v.n, 7);
	assert_int_equal(v.size, 2048);
	assert_string_equal(v.word, "two");
	assert_int_equal(v.calls, 1);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(parse(&v, 3, bad[i]), -2);
	assert_int_equal(parse(&v, 2, help), -1);
}

static void test_near(void **state)
{
	static const char *const names[] = {"size", "ranks", "rank", "schedule", "engine"};

	(void)state;
	assert_string_equal(rf_near("sise", names, 5), "size");
	assert_string_equal(rf_near("szie", names, 5), "size");
	assert_string_equal(rf_near("ranks", names, 5), "ranks");
	assert_string_equal(rf_near("ranl", names, 5), "rank");
	assert_string_equal(rf_near("shcedul", names, 5), "schedule");
	assert_string_equal(rf_near("egnine", names, 5), "engine");
	assert_null(rf_near("sizzler", names, 1));
	assert_null(rf_near("banks", names + 4, 1));
	assert_null(rf_near("xy", names, 5));
	assert_null(rf_near("", names, 5));
	assert_null(rf_near("size", names, 0));
	assert_null(rf_near(
		"a word that is longer than any option that a program has, so it cannot be one",
		names, 5));
}

static void test_loader(void **state)
{
	const struct rf_engine_ops *ops = NULL;
	char why[300];

	(void)state;
	assert_int_equal(rf_engine_by_name("rtl", 7, 13, 512, true, &ops, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "make build/vl/box-p7-l13-w512-trace.so"));
	assert_int_equal(rf_engine_by_name("glass", 4, 1, 512, false, &ops, why, sizeof(why)), -1);
	assert_int_equal(rf_engine_by_name("model", 4, 1, 512, true, &ops, why, sizeof(why)), -1);
	assert_int_equal(rf_engine_by_name("model", 4, 1, 512, false, &ops, why, sizeof(why)), 0);
	assert_string_equal(ops->name, "model");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_near),
		cmocka_unit_test(test_loader),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
