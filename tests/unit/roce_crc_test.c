/*
 * The two paths of the host's CRC-32, compared with each other and with the definition. With an
 * argument, the test fails unless the build uses the path of that name:
 * tests/unit/roce_portable.sh.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "host/roce/crc.h"
#include "proto/rf_crc32.h"
#include "tests/unit/roce_random.h"

#define ALIGN 64u
#define SHORT 600u /* all alignments up to here */
#define LONG 4400u /* longer than any frame */

/* The definition: one bit at a time. */
static uint32_t bitwise(uint32_t s, const uint8_t *p, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		s ^= p[i];
		for (int b = 0; b < 8; b++)
			s = s >> 1 ^ ((s & 1) ? 0xedb88320u : 0);
	}
	return s;
}

static void fill(struct roce_random *rng, uint8_t *data, size_t len)
{
	for (size_t i = 0; i < len; i++)
		data[i] = (uint8_t)roce_random(rng);
}

/* Every short length at every alignment, and every length up to LONG at one alignment. */
static void paths_agree(void **state)
{
	struct roce_random rng = roce_random_start("roce_crc_test");
	static uint8_t data[LONG + ALIGN];

	(void)state;
	fill(&rng, data, sizeof(data));
	for (size_t len = 0; len <= LONG; len++) {
		size_t first = len <= SHORT ? 0 : roce_random_below(&rng, ALIGN);
		size_t last = len <= SHORT ? ALIGN - 1 : first;

		for (size_t at = first; at <= last; at++) {
			uint32_t s = roce_random(&rng);

			assert_int_equal(roce_crc32_update(s, data + at, len),
					 rf_crc32_update(s, data + at, len));
		}
	}
}

static void paths_are_the_definition(void **state)
{
	struct roce_random rng = roce_random_start("roce_crc_test");
	uint8_t data[400];

	(void)state;
	fill(&rng, data, sizeof(data));
	for (size_t len = 0; len <= sizeof(data); len++) {
		uint32_t s = roce_random(&rng);
		uint32_t want = bitwise(s, data, len);

		assert_int_equal(roce_crc32_update(s, data, len), want);
		assert_int_equal(rf_crc32_update(s, data, len), want);
	}
	assert_int_equal(roce_crc32_update(RF_CRC32_INIT, "123456789", 9), (uint32_t)~0xcbf43926u);
}

/* One path may continue with the state of the other, and an empty piece does not change the state.
 */
static void pieces(void **state)
{
	struct roce_random rng = roce_random_start("roce_crc_test");
	uint8_t data[1100];

	(void)state;
	fill(&rng, data, sizeof(data));
	for (size_t cut = 0; cut <= sizeof(data); cut++) {
		uint32_t whole = roce_crc32_update(RF_CRC32_ICRC_INIT, data, sizeof(data));
		uint32_t fast = roce_crc32_update(RF_CRC32_ICRC_INIT, data, cut);
		uint32_t slow = rf_crc32_update(RF_CRC32_ICRC_INIT, data, cut);

		assert_int_equal(fast, slow);
		assert_int_equal(rf_crc32_update(fast, data + cut, sizeof(data) - cut), whole);
		assert_int_equal(roce_crc32_update(slow, data + cut, sizeof(data) - cut), whole);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(paths_agree),
		cmocka_unit_test(paths_are_the_definition),
		cmocka_unit_test(pieces),
	};

	printf("CRC-32: %s\n", roce_crc32_source());
	if (argc == 2 && strcmp(argv[1], roce_crc32_source()) != 0) {
		fprintf(stderr, "this build computes the CRC by %s, not by %s\n",
			roce_crc32_source(), argv[1]);
		return 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
