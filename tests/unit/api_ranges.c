/*
 * Ranges of addresses against a plain list: api_ranges [SEED]. Prints the seed and the command that
 * repeats a failure.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include <time.h>

#include "host/api/ranges.h"

#define MOST 60u

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (uint32_t)(seed >> 32) % below;
}

static bool any(const struct rf_range *range, const void *arg)
{
	(void)range;
	(void)arg;
	return true;
}

static bool is(const struct rf_range *range, const void *arg)
{
	return range == arg;
}

static bool contains(const struct rf_range *r, uintptr_t at, size_t bytes)
{
	return r->at <= at && r->at + (r->bytes - 1) >= at + (bytes - 1);
}

static bool touches(const struct rf_range *r, uintptr_t at, size_t bytes)
{
	return r->at <= at + (bytes - 1) && r->at + (r->bytes - 1) >= at;
}

/* Both questions, for any range and for each one, against the list. */
static void compare(const struct rf_ranges *all, struct rf_range *list, const bool *there,
		    uintptr_t at, size_t bytes)
{
	unsigned int found = 0, touching = 0;
	struct rf_range *r;

	for (unsigned int k = 0; k < MOST; k++) {
		bool c = there[k] && contains(&list[k], at, bytes);
		bool t = there[k] && touches(&list[k], at, bytes);

		found += c;
		touching += t;
		r = rf_ranges_find(all, at, bytes, is, &list[k]);
		assert_ptr_equal(r, c ? &list[k] : NULL);
		r = rf_ranges_touching(all, at, bytes, is, &list[k]);
		assert_ptr_equal(r, t ? &list[k] : NULL);
	}
	for (size_t k = 0; k < all->n; k++) {
		uintptr_t last = all->list[k].range->at + (all->list[k].range->bytes - 1);

		assert_true(k == 0 || all->list[k - 1].range->at <= all->list[k].range->at);
		assert_int_equal(all->list[k].reach, k > 0 && all->list[k - 1].reach > last
							     ? all->list[k - 1].reach
							     : last);
	}
	r = rf_ranges_find(all, at, bytes, any, NULL);
	assert_int_equal(r != NULL, found > 0);
	assert_true(!r || contains(r, at, bytes));
	r = rf_ranges_touching(all, at, bytes, any, NULL);
	assert_int_equal(r != NULL, touching > 0);
	assert_true(!r || touches(r, at, bytes));
}

static void drawn(void **state)
{
	struct rf_range list[MOST];
	bool there[MOST] = {false};
	struct rf_ranges all = {0};
	size_t n = 0;

	(void)state;
	for (unsigned int step = 0; step < 4000; step++) {
		/* now and then at the end of the address space */
		uintptr_t base = draw(8) ? 5000 : UINTPTR_MAX - 500;
		unsigned int k = draw(MOST);

		if (there[k]) {
			rf_ranges_remove(&all, &list[k]);
			rf_ranges_remove(&all, &list[k]);
			n--;
		} else {
			list[k].at = base + draw(400);
			list[k].bytes = 1 + draw(draw(4) ? 20 : 100);
			assert_true(rf_ranges_add(&all, &list[k]));
			n++;
		}
		there[k] = !there[k];
		assert_int_equal(all.n, n);
		compare(&all, list, there, base + draw(400), 1 + draw(30));
	}
	rf_ranges_free(&all);
	rf_ranges_free(&all);
	assert_null(rf_ranges_find(&all, 5000, 1, any, NULL));
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(drawn)};
	int ret;
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 0) : (uint64_t)time(NULL) * 2 + 1;

	seed = first;
	ret = cmocka_run_group_tests_name("api_ranges", tests, NULL, NULL);
	printf("seed %llu; to repeat: %s %llu\n", (unsigned long long)first, argv[0],
	       (unsigned long long)first);
	return ret;
}
