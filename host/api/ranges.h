/*
 * Ranges of addresses, sorted: which of them contains a buffer. They may overlap. Only adding
 * allocates. No lock of its own.
 */
#ifndef RF_API_RANGES_H
#define RF_API_RANGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* At the start of what a range describes. */
struct rf_range {
	uintptr_t at;
	size_t bytes; /* not 0; the range ends within the address space */
};

struct rf_ranges {
	struct {
		struct rf_range *range;
		uintptr_t reach; /* the last byte of this range and of all before it */
	} * list;
	size_t n, room;
};

/* Returns false if memory is exhausted. */
bool rf_ranges_add(struct rf_ranges *all, struct rf_range *range);
void rf_ranges_remove(struct rf_ranges *all, const struct rf_range *range);
/*
 * A range that contains these bytes and that suits the caller; NULL: there is none. Takes
 * log2(n) steps, and one for each range that begins after the one found.
 */
struct rf_range *rf_ranges_find(const struct rf_ranges *all, uintptr_t at, size_t bytes,
				bool (*suits)(const struct rf_range *range, const void *arg),
				const void *arg);
/* A range that shares bytes with these, and that suits the caller; NULL: there is none. */
struct rf_range *rf_ranges_touching(const struct rf_ranges *all, uintptr_t at, size_t bytes,
				    bool (*suits)(const struct rf_range *range, const void *arg),
				    const void *arg);
void rf_ranges_free(struct rf_ranges *all);

#endif
