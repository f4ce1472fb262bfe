/*
 * The real-time switch and box with capture files at its ports: frames of known hosts come back,
 * others do not.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/realtime/box.h"
#include "wire/pcapng.h"
#include "wire/reader.h"

#define SAMPLE "tests/data/rxe-sample.pcap"

static char folder[] = "/tmp/ringfold-realtime-XXXXXX";
static char paths[4][64];
static char specs[4][200];

static int set_up(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		unlink(paths[i]);
	return rmdir(folder);
}

static void write_frames(const char *path, const uint8_t *frame, size_t len, unsigned copies)
{
	struct rf_pcapng *w;

	assert_int_equal(rf_pcapng_open(path, NULL, &w), 0);
	assert_int_equal(rf_pcapng_interface(w, "x", 0), 0);
	for (unsigned i = 0; i < copies; i++)
		assert_int_equal(rf_pcapng_frame(w, 0, i, RF_PCAPNG_UNKNOWN, frame, len, NULL), 0);
	assert_int_equal(rf_pcapng_close(w), 0);
}

static struct rf_rt_cfg cfg(unsigned hosts)
{
	static const char *const names[] = {"a", "b", "c", "d"};
	struct rf_rt_cfg c;

	rf_rt_cfg_init(&c);
	c.engine = rf_model_engine();
	c.hosts = hosts;
	c.hold_ns = 0; /* there was no earlier box */
	for (unsigned h = 0; h < hosts; h++)
		c.host[h] = (struct rf_rt_attach){
			.name = names[h], .spec = specs[h], .box = h, .rule = true};
	return c;
}

static void run(const struct rf_rt_cfg *c)
{
	volatile sig_atomic_t stop = 0;
	struct rf_rt *b;
	char why[300];

	if (rf_rt_create(c, &b, why, sizeof(why)) != 0)
		fail_msg("%s", why);
	assert_int_equal(rf_rt_run(b, &stop), 0);
	rf_rt_destroy(b);
}

static unsigned count(const char *path)
{
	struct rf_reader *r;
	const uint8_t *frame;
	size_t len;
	unsigned n = 0;
	char why[200];

	assert_int_equal(rf_reader_open(path, &r, why, sizeof(why)), 0);
	while (rf_reader_next(r, &frame, &len, NULL) == 1)
		n++;
	rf_reader_close(r);
	return n;
}

/* Packets of endpoints without ringfold pass the box unchanged except for the source MAC. */
static void test_sample(void **state)
{
	static const uint8_t box_mac[5] = {0x02, 0x52, 0x46, 0x00, 0x00};
	struct rf_rt_cfg c;
	struct rf_reader *in;
	struct rf_reader *back;
	const uint8_t *x;
	const uint8_t *y;
	size_t lx;
	size_t ly;
	unsigned n = 0;
	char why[200];

	(void)state;
	snprintf(paths[0], sizeof(paths[0]), "%s/a", folder);
	snprintf(paths[1], sizeof(paths[1]), "%s/b", folder);
	snprintf(paths[2], sizeof(paths[2]), "%s/empty", folder);
	write_frames(paths[2], NULL, 0, 0);
	snprintf(specs[0], sizeof(specs[0]), "pcap:" SAMPLE ",out=%s", paths[0]);
	snprintf(specs[1], sizeof(specs[1]), "pcap:%s,out=%s", paths[2], paths[1]);
	c = cfg(2);
	/*
	 * Both hosts of the sample are at the first port of this switch, so only its rule matters.
	 */
	run(&c);
	assert_int_equal(rf_reader_open(SAMPLE, &in, why, sizeof(why)), 0);
	assert_int_equal(rf_reader_open(paths[0], &back, why, sizeof(why)), 0);
	while (rf_reader_next(in, &x, &lx, NULL) == 1) {
		assert_int_equal(rf_reader_next(back, &y, &ly, NULL), 1);
		assert_int_equal(lx, ly);
		assert_memory_equal(x, y, 6);
		assert_memory_equal(box_mac, y + 6, 5);
		assert_memory_equal(x + 12, y + 12, lx - 12);
		n++;
	}
	assert_int_equal(rf_reader_next(back, &y, &ly, NULL), 0);
	assert_int_equal(n, 123);
	rf_reader_close(in);
	rf_reader_close(back);
}

/*
 * One broadcast with four box ports at the switch: each other host receives it once, and then
 * nothing more.
 */
static void test_broadcast(void **state)
{
	uint8_t frame[60] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02,
			     0,    0,    0,    0,    0x01, 0x08, 0x06};
	struct rf_rt_cfg c;

	(void)state;
	snprintf(paths[0], sizeof(paths[0]), "%s/in", folder);
	snprintf(paths[1], sizeof(paths[1]), "%s/b", folder);
	snprintf(paths[2], sizeof(paths[2]), "%s/empty", folder);
	snprintf(paths[3], sizeof(paths[3]), "%s/a", folder);
	write_frames(paths[0], frame, sizeof(frame), 1);
	write_frames(paths[2], NULL, 0, 0);
	snprintf(specs[0], sizeof(specs[0]), "pcap:%s,out=%s", paths[0], paths[3]);
	snprintf(specs[1], sizeof(specs[1]), "pcap:%s,out=%s", paths[2], paths[1]);
	c = cfg(2);
	run(&c);
	assert_int_equal(count(paths[1]), 1);
	assert_int_equal(count(paths[3]), 0);
}

static void expect_error(const char *spec, int code, const char *says)
{
	struct rf_rt_cfg c;
	struct rf_rt *b;
	char why[300] = "";

	snprintf(specs[0], sizeof(specs[0]), "%s", spec);
	c = cfg(1);
	assert_int_equal(rf_rt_create(&c, &b, why, sizeof(why)), code);
	if (!strstr(why, says))
		fail_msg("\"%s\" does not contain \"%s\"", why, says);
}

static void test_errors(void **state)
{
	(void)state;
	expect_error("pcap:/nonexistent", -1, "No such file");
	expect_error("pcap:" SAMPLE ",out=/nonexistent/x", -1, "No such file");
	expect_error("carrier pigeon", -EINVAL, "expected memif");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_broadcast),
		cmocka_unit_test(test_errors),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
