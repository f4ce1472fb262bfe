/* The division that replaces the run-time library's on RV32, compared with the host's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Under other names, because the host has its own. */
#define __udivdi3 rf_udivdi3
#define __umoddi3 rf_umoddi3
#include "firmware/target/rv32/divide.c"

static uint64_t state = 1;

static uint64_t next(void)
{
	state = state * 6364136223846793005u + 1442695040888963407u;
	return state >> 11 ^ state << 17;
}

static void check(uint64_t n, uint64_t d)
{
	if (d == 0) {
		assert_true(rf_udivdi3(n, d) == UINT64_MAX);
		assert_true(rf_umoddi3(n, d) == n);
		return;
	}
	assert_true(rf_udivdi3(n, d) == n / d);
	assert_true(rf_umoddi3(n, d) == n % d);
}

static void test_divide(void **unused)
{
	static const uint64_t edge[] = {
		0,          1,          2,          3,          0x7fffffff,      0x80000000,
		UINT32_MAX, 1ull << 32, UINT64_MAX, 1ull << 63, (1ull << 63) - 1};
	const unsigned int n = sizeof(edge) / sizeof(edge[0]);

	(void)unused;
	for (unsigned int i = 0; i < n; i++)
		for (unsigned int k = 0; k < n; k++)
			check(edge[i], edge[k]);
	for (unsigned int i = 0; i < 100000; i++)
		check(next() >> (next() & 63), next() >> (next() & 63));
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_divide)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
