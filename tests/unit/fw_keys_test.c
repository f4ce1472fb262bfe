/* The key file: valid contents, and each error is reported with its line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "firmware/target/linux/keys.h"

#define SECRET "f0e0d0c0b0a090807060504030201000"

static char path[] = "/tmp/ringfold-keys.XXXXXX";

static int load(const char *text, mode_t mode, struct rf_fw_key *keys, unsigned int max, char *why)
{
	FILE *f = fopen(path, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(chmod(path, mode), 0);
	why[0] = '\0';
	memset(keys, 0, max * sizeof(*keys));
	return rf_keys_load(path, keys, max, why, 300);
}

static void test_good(void **state)
{
	struct rf_fw_key k[4];
	char why[300];

	(void)state;
	assert_int_equal(load("# comment\n\n 0 " SECRET "\n42\t000102030405060708090A0b0c0d0e0f "
			      "groups=2 slots=0x200\n7 " SECRET " slots=016",
			      0600, k, 4, why),
			 3);
	assert_int_equal(k[0].job, 0);
	assert_int_equal(k[0].key[0], 0xf0);
	assert_int_equal(k[0].most.groups, 0);
	assert_int_equal(k[1].job, 42);
	assert_int_equal(k[1].key[15], 15);
	assert_int_equal(k[1].most.groups, 2);
	assert_int_equal(k[1].most.slots, 512);
	assert_int_equal(k[2].most.slots, 16);
	assert_int_equal(load("5 " SECRET " ranks=8 entries=0x40 bytes=256K ports=0,2-3\n"
			      "6 " SECRET
			      " bytes=70000 ips=10.1.0.0/16,10.2.0.7,0.0.0.0/0 ports=7\n"
			      "7 " SECRET " bytes=1G\n",
			      0600, k, 4, why),
			 3);
	assert_int_equal(k[0].most.ranks, 8);
	assert_int_equal(k[0].most.entries, 64);
	assert_int_equal(k[0].most.bytes, 256 << 10);
	assert_int_equal(k[0].ports, 0x0d);
	assert_int_equal(k[0].ips, 0);
	assert_int_equal(k[1].most.bytes, 70000);
	assert_int_equal(k[1].ports, 0x80);
	assert_int_equal(k[1].ips, 3);
	assert_int_equal(k[1].ip[0].ip, 0x0a010000u);
	assert_int_equal(k[1].ip[0].bits, 16);
	assert_int_equal(k[1].ip[1].ip, 0x0a020007u);
	assert_int_equal(k[1].ip[1].bits, 32);
	assert_int_equal(k[1].ip[2].bits, 0);
	assert_int_equal(k[2].most.bytes, 1 << 30);
}

static void test_bad(void **state)
{
	static const struct {
		const char *text, *reason;
		mode_t mode;
	} bad[] = {
		{"", "no key", 0600},
		{"# nothing\n", "no key", 0600},
		{"1\n", ":1: a job without a key", 0600},
		{"\n\n1 " SECRET "ab\n", ":3: the key does not have 32 digits", 0600},
		{"1 g0e0d0c0b0a090807060504030201000\n", ":1: the key is not hexadecimal", 0600},
		{"-1 " SECRET "\n", ":1: a number", 0600},
		{"job " SECRET "\n", ":1: a number", 0600},
		{"1 " SECRET " groups=x\n", ":1: a number", 0600},
		{"1 " SECRET " groups=0\n", ":1: a limit of 0", 0600},
		{"1 " SECRET " quota=1\n", ":1: unknown word", 0600},
		{"1 " SECRET " ranks=-1\n", ":1: a number", 0600},
		{"1 " SECRET " entries=0\n", ":1: a limit of 0", 0600},
		{"1 " SECRET " ranks=2 ranks=3\n", ":1: a limit twice", 0600},
		{"1 " SECRET " bytes=4G\n", ":1: a number", 0600},
		{"1 " SECRET " bytes=1KB\n", ":1: a number", 0600},
		{"1 " SECRET " bytes=\n", ":1: a number", 0600},
		{"1 " SECRET " ips=\n", ":1: ips=: addresses", 0600},
		{"1 " SECRET " ips=10.0.0\n", ":1: ips=: addresses", 0600},
		{"1 " SECRET " ips=10.0.0.0/33\n", ":1: ips=: addresses", 0600},
		{"1 " SECRET " ips=10.0.0.1/24\n", ":1: ips=: a prefix", 0600},
		{"1 " SECRET " ips=10.0.0.1 ips=10.0.0.2\n", ":1: a second ips=", 0600},
		{"1 " SECRET " ips=1.0.0.1,1.0.0.2,1.0.0.3,1.0.0.4,1.0.0.5,1.0.0.6,1.0.0.7,1.0.0.8,"
		 "1.0.0.9\n",
		 ":1: ips=: more than 8", 0600},
		{"1 " SECRET " ports=\n", ":1: ports=: numbers", 0600},
		{"1 " SECRET " ports=8\n", ":1: ports=: numbers", 0600},
		{"1 " SECRET " ports=3-2\n", ":1: ports=: numbers", 0600},
		{"1 " SECRET " ports=1,\n", ":1: ports=: numbers", 0600},
		{"1 " SECRET " ports=1 ports=2\n", ":1: a second ports=", 0600},
		{"1 " SECRET "\n1 " SECRET "\n", ":2: a second key", 0600},
		{"1 " SECRET "\n2 " SECRET "\n3 " SECRET "\n", ":3: more keys", 0600},
		{"1 " SECRET "\n", "all users can read", 0644},
	};
	struct rf_fw_key k[2];
	char why[300];

	(void)state;
	for (unsigned int i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(load(bad[i].text, bad[i].mode, k, 2, why), -1);
		if (!strstr(why, bad[i].reason))
			print_error("wanted \"%s\", got \"%s\"\n", bad[i].reason, why);
		assert_non_null(strstr(why, bad[i].reason));
		assert_null(strstr(why, SECRET));
	}
	unlink(path);
	assert_int_equal(rf_keys_load(path, k, 2, why, sizeof(why)), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_good), cmocka_unit_test(test_bad)};
	int fd = mkstemp(path);

	if (fd < 0)
		return 1;
	close(fd);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
