#include "host/api/ranges.h"

#include <stdlib.h>
#include <string.h>

#define ROOM_FIRST 16u

static uintptr_t last_of(uintptr_t at, size_t bytes)
{
	return at + (bytes - 1);
}

/* How many ranges begin at `at` or before. */
static size_t count_up_to(const struct rf_ranges *all, uintptr_t at)
{
	size_t low = 0, high = all->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (all->list[mid].range->at <= at)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* From place k on. */
static void reach_anew(struct rf_ranges *all, size_t k)
{
	for (; k < all->n; k++) {
		uintptr_t last = last_of(all->list[k].range->at, all->list[k].range->bytes);

		if (k > 0 && all->list[k - 1].reach > last)
			last = all->list[k - 1].reach;
		all->list[k].reach = last;
	}
}

bool rf_ranges_add(struct rf_ranges *all, struct rf_range *range)
{
	size_t k;

	if (all->n == all->room) {
		size_t room = all->room ? 2 * all->room : ROOM_FIRST;
		void *more = realloc(all->list, room * sizeof(all->list[0]));

		if (!more)
			return false;
		all->list = more;
		all->room = room;
	}
	k = count_up_to(all, range->at);
	memmove(all->list + k + 1, all->list + k, (all->n - k) * sizeof(all->list[0]));
	all->list[k].range = range;
	all->n++;
	reach_anew(all, k);
	return true;
}

void rf_ranges_remove(struct rf_ranges *all, const struct rf_range *range)
{
	size_t k = count_up_to(all, range->at);

	while (k > 0 && all->list[k - 1].range != range)
		k--;
	if (k == 0)
		return;
	all->n--;
	memmove(all->list + k - 1, all->list + k, (all->n - (k - 1)) * sizeof(all->list[0]));
	reach_anew(all, k - 1);
}

struct rf_range *rf_ranges_find(const struct rf_ranges *all, uintptr_t at, size_t bytes,
				bool (*suits)(const struct rf_range *range, const void *arg),
				const void *arg)
{
	uintptr_t last = last_of(at, bytes);

	for (size_t k = count_up_to(all, at); k > 0 && all->list[k - 1].reach >= last; k--) {
		struct rf_range *r = all->list[k - 1].range;

		if (last_of(r->at, r->bytes) >= last && suits(r, arg))
			return r;
	}
	return NULL;
}

struct rf_range *rf_ranges_touching(const struct rf_ranges *all, uintptr_t at, size_t bytes,
				    bool (*suits)(const struct rf_range *range, const void *arg),
				    const void *arg)
{
	size_t k = count_up_to(all, last_of(at, bytes));

	for (; k > 0 && all->list[k - 1].reach >= at; k--) {
		struct rf_range *r = all->list[k - 1].range;

		if (last_of(r->at, r->bytes) >= at && suits(r, arg))
			return r;
	}
	return NULL;
}

void rf_ranges_free(struct rf_ranges *all)
{
	free(all->list);
	*all = (struct rf_ranges){0};
}
