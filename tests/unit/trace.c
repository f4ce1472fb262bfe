/* libpcap, and this test's own reader of the blocks, read from a file what the pcapng writer has
 * written. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/rf_bytes.h"
#include "wire/pcapng.h"
#include "wire/reader.h"

static char path[] = "/tmp/ringfold-trace-XXXXXX";

static int set_up(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	(void)state;
	return unlink(path);
}

static size_t slurp(uint8_t *to, size_t room)
{
	FILE *f = fopen(path, "rb");
	size_t n;

	assert_non_null(f);
	n = fread(to, 1, room, f);
	fclose(f);
	return n;
}

static void write_sample(void)
{
	struct rf_pcapng *w;
	uint8_t frame[256];

	assert_int_equal(rf_pcapng_open(path, "seed 7", &w), 0);
	assert_int_equal(rf_pcapng_interface(w, "box0", UINT64_C(100000000000)), 0);
	assert_int_equal(rf_pcapng_interface(w, "host-1", 0), 0);
	for (unsigned i = 0; i < 40; i++) {
		memset(frame, (int)i, sizeof(frame));
		assert_int_equal(rf_pcapng_frame(w, i % 2, UINT64_C(5000000000) * i + i, i % 3,
						 frame, 60 + i, i % 5 == 0 ? "dropped" : NULL),
				 0);
	}
	assert_int_equal(rf_pcapng_close(w), 0);
}

static void test_read_back(void **state)
{
	struct rf_reader *r;
	const uint8_t *frame;
	char why[200];
	size_t len;
	uint64_t ns;

	(void)state;
	write_sample();
	assert_int_equal(rf_reader_open(path, &r, why, sizeof(why)), 0);
	for (unsigned i = 0; i < 40; i++) {
		assert_int_equal(rf_reader_next(r, &frame, &len, &ns), 1);
		assert_int_equal(len, 60 + i);
		assert_int_equal(ns, UINT64_C(5000000000) * i + i);
		for (size_t k = 0; k < len; k++)
			assert_int_equal(frame[k], i);
	}
	assert_int_equal(rf_reader_next(r, &frame, &len, &ns), 0);
	rf_reader_close(r);
}

/* Block structure as the format requires: lengths on both sides, known types, options inside. */
static void test_blocks(void **state)
{
	static uint8_t file[65536];
	size_t n;
	size_t at = 0;
	unsigned seen[16] = {0};
	unsigned flags = 0;

	(void)state;
	write_sample();
	n = slurp(file, sizeof(file));
	while (at < n) {
		uint32_t type = rf_get_le32(file + at);
		uint32_t total = rf_get_le32(file + at + 4);

		assert_int_equal(total % 4, 0);
		assert_true(total >= 12 && at + total <= n);
		assert_int_equal(rf_get_le32(file + at + total - 4), total);
		if (type == 0x0a0d0d0a) {
			assert_int_equal(at, 0);
			assert_int_equal(rf_get_le32(file + at + 8), 0x1a2b3c4d);
			seen[0]++;
		} else {
			assert_true(type == 1 || type == 6);
			seen[type]++;
		}
		if (type == 6) {
			uint32_t len = rf_get_le32(file + at + 20);
			size_t opt = at + 28 + ((len + 3) & ~3u);

			while (opt < at + total - 4 && rf_get_le16(file + opt) != 0) {
				if (rf_get_le16(file + opt) == 2) {
					assert_int_equal(rf_get_le32(file + opt + 4),
							 (seen[6] - 1) % 3);
					flags++;
				}
				opt += 4 + ((rf_get_le16(file + opt + 2) + 3u) & ~3u);
			}
		}
		at += total;
	}
	assert_int_equal(at, n);
	assert_int_equal(seen[0], 1);
	assert_int_equal(seen[1], 2);
	assert_int_equal(seen[6], 40);
	assert_int_equal(flags, 26); /* those with a direction */
}

static void test_errors(void **state)
{
	struct rf_pcapng *w;
	struct rf_reader *r;
	const uint8_t *frame;
	uint8_t data[60] = {0};
	static uint8_t file[65536];
	char why[200];
	size_t len;
	size_t n;
	FILE *f;

	(void)state;
	assert_int_equal(rf_pcapng_open("/nonexistent/x", NULL, &w), -ENOENT);
	assert_int_equal(rf_pcapng_open(path, NULL, &w), 0);
	assert_int_equal(rf_pcapng_frame(w, 0, 0, RF_PCAPNG_IN, data, 60, NULL), -EINVAL);
	assert_int_equal(rf_pcapng_close(w), -EINVAL);
	assert_int_equal(rf_pcapng_open("/dev/full", NULL, &w), 0);
	assert_int_equal(rf_pcapng_close(w), -ENOSPC);

	assert_int_equal(rf_pcapng_open("/dev/full", NULL, &w), 0);
	assert_false(rf_pcapng_finish(&w, "trace"));
	assert_null(w);
	assert_true(rf_pcapng_finish(&w, "trace"));

	assert_int_equal(rf_reader_open("/nonexistent/x", &r, why, sizeof(why)), -1);
	assert_non_null(strstr(why, "No such file"));
	/* A file that ends in the middle of a frame is an error, not a regular end. */
	write_sample();
	n = slurp(file, sizeof(file));
	f = fopen(path, "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(file, 1, n - 10, f), n - 10);
	fclose(f);
	assert_int_equal(rf_reader_open(path, &r, why, sizeof(why)), 0);
	for (unsigned i = 0; i < 39; i++)
		assert_int_equal(rf_reader_next(r, &frame, &len, NULL), 1);
	assert_int_equal(rf_reader_next(r, &frame, &len, NULL), -1);
	assert_true(strlen(rf_reader_error(r)) > 0);
	rf_reader_close(r);
}

/* A full disk: no incomplete file gets its final name, and the partial file consists of whole
 * frames. */
static void full_disk(void **state)
{
	struct rlimit before, small = {.rlim_cur = 150000};
	struct rf_pcapng *w = NULL;
	struct rf_reader *r;
	const uint8_t *frame;
	uint8_t data[1000] = {0};
	char partial[64], why[200];
	struct stat st;
	unsigned sent = 0, read = 0;
	size_t len;

	(void)state;
	snprintf(partial, sizeof(partial), "%s.partial", path);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(rf_pcapng_open(path, NULL, &w), 0);
	assert_int_equal(rf_pcapng_interface(w, "port", 0), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0600);
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
	small.rlim_max = before.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
	while (sent < 1000 &&
	       rf_pcapng_frame(w, 0, sent, RF_PCAPNG_IN, data, sizeof(data), NULL) == 0)
		sent++;
	assert_in_range(sent, 100, 999);
	assert_int_equal(rf_pcapng_frame(w, 0, 0, RF_PCAPNG_IN, data, sizeof(data), NULL), -EFBIG);
	assert_false(rf_pcapng_finish(&w, "trace"));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(rf_reader_open(partial, &r, why, sizeof(why)), 0);
	while (rf_reader_next(r, &frame, &len, NULL) == 1) {
		assert_int_equal(len, sizeof(data));
		read++;
	}
	assert_string_equal(rf_reader_error(r), "");
	assert_in_range(read, 50, sent);
	rf_reader_close(r);
	assert_int_equal(rename(partial, path), 0);
}

/* A program that follows the file sees frames soon. */
static void followed(void **state)
{
	struct rf_pcapng *w;
	uint8_t data[60] = {0};
	struct stat before, after;

	(void)state;
	assert_int_equal(rf_pcapng_open(path, NULL, &w), 0);
	assert_int_equal(rf_pcapng_interface(w, "port", 0), 0);
	assert_int_equal(rf_pcapng_frame(w, 0, 5000, RF_PCAPNG_IN, data, 60, NULL), 0);
	assert_int_equal(stat(path, &before), 0);
	assert_int_equal(before.st_size, 0);
	assert_int_equal(rf_pcapng_frame(w, 0, 100005000, RF_PCAPNG_IN, data, 60, NULL), 0);
	assert_int_equal(stat(path, &after), 0);
	assert_in_range(after.st_size, 2 * 60, 400);
	assert_int_equal(rf_pcapng_close(w), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read_back), cmocka_unit_test(test_blocks),
		cmocka_unit_test(test_errors),    cmocka_unit_test(full_disk),
		cmocka_unit_test(followed),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
