/*
 * Settings and the environment of launchers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "host/config/env.h"
#include "host/config/settings.h"
#include "ringfold/ringfold.h"

static int clear(void **state)
{
	static const char *const names[] = {
		"RF_RANK",
		"RF_SIZE",
		"RANK",
		"WORLD_SIZE",
		"OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_SIZE",
		"PMI_RANK",
		"PMI_SIZE",
		"SLURM_PROCID",
		"SLURM_NTASKS",
		"RF_ROOT",
		"MASTER_ADDR",
		"RF_MTU",
	};
	size_t k;

	(void)state;
	for (k = 0; k < sizeof(names) / sizeof(names[0]); k++)
		unsetenv(names[k]);
	return 0;
}

static void expect(unsigned int rank, unsigned int ranks, const char *source)
{
	struct rf_env env;
	char why[256] = "";

	assert_int_equal(rf_env_read(&env, why, sizeof(why)), RF_OK);
	assert_int_equal(env.rank, rank);
	assert_int_equal(env.ranks, ranks);
	assert_string_equal(env.source, source);
}

/* Each launcher alone, then each together with those that come after it in the order. */
static void launchers(void **state)
{
	static const char *const pairs[][2] = {
		{"SLURM_PROCID", "SLURM_NTASKS"},
		{"PMI_RANK", "PMI_SIZE"},
		{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
		{"RANK", "WORLD_SIZE"},
		{"RF_RANK", "RF_SIZE"},
	};
	unsigned int k;

	(void)state;
	expect(0, 1, "");
	for (k = 0; k < 5; k++) {
		char rank[8], size[8];

		snprintf(rank, sizeof(rank), "%u", k + 1);
		snprintf(size, sizeof(size), "%u", 10 + k);
		setenv(pairs[k][0], rank, 1);
		setenv(pairs[k][1], size, 1);
		expect(k + 1, 10 + k, pairs[k][0]);
	}
	/* an empty variable counts as unset */
	setenv("RF_RANK", "", 1);
	setenv("RF_SIZE", "", 1);
	expect(4, 13, "RANK");
	/* the size of a launcher alone says nothing: the process was not started by it */
	unsetenv("RANK");
	expect(3, 12, "OMPI_COMM_WORLD_RANK");
}

static void refuse(const char *rank, const char *size, const char *word)
{
	struct rf_env env;
	char why[256] = "";

	if (rank)
		setenv("RF_RANK", rank, 1);
	else
		unsetenv("RF_RANK");
	if (size)
		setenv("RF_SIZE", size, 1);
	else
		unsetenv("RF_SIZE");
	assert_int_equal(rf_env_read(&env, why, sizeof(why)), RF_ERR_INVALID);
	assert_non_null(strstr(why, word));
}

static void wrong_environment(void **state)
{
	(void)state;
	refuse("1", NULL, "RF_SIZE");
	refuse(NULL, "2", "RF_SIZE is set but RF_RANK is not");
	refuse("", "2", "RF_SIZE is set but RF_RANK is not");
	refuse("4", "4", "RF_RANK");
	refuse("-1", "4", "RF_RANK");
	refuse("x", "4", "RF_RANK");
	refuse("1x", "4", "RF_RANK");
	refuse("0", "0", "RF_SIZE");
	refuse("0", "129", "RF_SIZE");
	refuse("0", "99999999999999999999", "RF_SIZE");
	refuse("0", " 4", "RF_SIZE");
}

static void root(void **state)
{
	struct rf_env env;
	char why[256];

	(void)state;
	rf_env_read(&env, why, sizeof(why));
	assert_string_equal(env.root, "127.0.0.1");
	setenv("MASTER_ADDR", "10.1.2.3", 1);
	rf_env_read(&env, why, sizeof(why));
	assert_string_equal(env.root, "10.1.2.3");
	setenv("RF_ROOT", "10.1.2.4", 1);
	rf_env_read(&env, why, sizeof(why));
	assert_string_equal(env.root, "10.1.2.4");
}

static void numbers(void **state)
{
	uint64_t v = 7;
	char why[256] = "";

	(void)state;
	assert_int_equal(rf_setting_number("RF_MTU", 256, 4096, &v, why, sizeof(why)), RF_OK);
	assert_int_equal(v, 1024);
	setenv("RF_MTU", "2K", 1);
	assert_int_equal(rf_setting_number("RF_MTU", 256, 4096, &v, why, sizeof(why)), RF_OK);
	assert_int_equal(v, 2048);
	setenv("RF_MTU", "0x100", 1);
	assert_int_equal(rf_setting_number("RF_MTU", 256, 4096, &v, why, sizeof(why)), RF_OK);
	assert_int_equal(v, 256);
	setenv("RF_MTU", "8K", 1);
	assert_int_equal(rf_setting_number("RF_MTU", 256, 4096, &v, why, sizeof(why)),
			 RF_ERR_INVALID);
	assert_int_equal(v, 256);
	assert_non_null(strstr(why, "RF_MTU=8K"));
	setenv("RF_MTU", "0512", 1);
	assert_int_equal(rf_setting_number("RF_MTU", 256, 4096, &v, why, sizeof(why)), RF_OK);
	assert_int_equal(v, 512);
	setenv("RF_MTU", "-1", 1);
	assert_int_equal(rf_setting_number("RF_MTU", 0, UINT64_MAX, &v, why, sizeof(why)),
			 RF_ERR_INVALID);
	setenv("RF_REG_CACHE", "1G", 1);
	assert_int_equal(rf_setting_number("RF_REG_CACHE", 0, UINT64_MAX, &v, why, sizeof(why)),
			 RF_OK);
	assert_int_equal(v, 1u << 30);
	setenv("RF_REG_CACHE", "1T", 1);
	assert_int_equal(rf_setting_number("RF_REG_CACHE", 0, UINT64_MAX, &v, why, sizeof(why)),
			 RF_ERR_INVALID);
	assert_non_null(strstr(why, "; K, M or G may follow"));
	unsetenv("RF_REG_CACHE");
	/* 2^54 M is 2^74 */
	assert_int_equal(
		rf_number_parse("x", "18014398509481984M", 0, UINT64_MAX, &v, why, sizeof(why)),
		RF_ERR_INVALID);
}

static void addresses(void **state)
{
	static const char *const bad[] = {"",          "1.2.3",           "1.2.3.4.5", "1.2.3.256",
					  "a.b.c.d",   "1..2.3",          "0.0.0.1",   "127.0.0.1",
					  "224.0.0.1", "255.255.255.255", "1.2.3.4 ",  "1.2.3.0004",
					  "+1.2.3.4"};
	uint32_t ip = 0;
	char why[256], text[16];
	size_t k;

	(void)state;
	assert_int_equal(rf_ip_parse("ip", "10.0.3.254", &ip, why, sizeof(why)), RF_OK);
	assert_int_equal(ip, 0x0a0003fe);
	assert_string_equal(rf_ip_text(ip, text), "10.0.3.254");
	for (k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
		assert_int_equal(rf_ip_parse("ip", bad[k], &ip, why, sizeof(why)), RF_ERR_INVALID);
	assert_int_equal(ip, 0x0a0003fe);
	/* An IPv6 address is refused by name. */
	assert_int_equal(rf_ip_parse("RF_IP", "fe80::1", &ip, why, sizeof(why)), RF_ERR_INVALID);
	assert_string_equal(why,
			    "RF_IP=fe80::1: ringfold has no IPv6: expected a dotted IPv4 address");
}

static void hex(void **state)
{
	uint8_t b[4];
	char why[256];

	(void)state;
	assert_int_equal(rf_hex_parse("key", "00ffA15b", b, 4, why, sizeof(why)), RF_OK);
	assert_memory_equal(b, "\x00\xff\xa1\x5b", 4);
	assert_int_equal(rf_hex_parse("key", "00ffa15", b, 4, why, sizeof(why)), RF_ERR_INVALID);
	assert_int_equal(rf_hex_parse("key", "00ffa15b0", b, 4, why, sizeof(why)), RF_ERR_INVALID);
	assert_int_equal(rf_hex_parse("key", "00ffa15g", b, 4, why, sizeof(why)), RF_ERR_INVALID);
}

/* Every setting has its own name and a description. */
static void table(void **state)
{
	const struct rf_setting *a, *b;

	(void)state;
	for (a = rf_settings; a->name; a++) {
		assert_int_equal(strncmp(a->name, "RF_", 3), 0);
		assert_true(strlen(a->meaning) > 10);
		for (b = a + 1; b->name; b++)
			assert_string_not_equal(a->name, b->name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(launchers, clear),
		cmocka_unit_test_setup(wrong_environment, clear),
		cmocka_unit_test_setup(root, clear),
		cmocka_unit_test_setup(numbers, clear),
		cmocka_unit_test(addresses),
		cmocka_unit_test(hex),
		cmocka_unit_test(table),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
