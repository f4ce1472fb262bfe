/* A set of ranks in words. */
#include <stdio.h>

#include "host/store/store.h"
#include "ringfold/ringfold.h"

char *rf_store_ranks_text(const uint8_t set[16], char *buf, size_t room)
{
	unsigned int left = 0;
	unsigned int r;
	size_t at;

	for (r = 0; r < RF_RANKS_MAX; r++)
		left += set[r / 8] >> (r % 8) & 1u;
	at = (size_t)snprintf(buf, room, left == 1 ? "rank" : "ranks");
	for (r = 0; r < RF_RANKS_MAX && at < room; r++) {
		if (!(set[r / 8] >> (r % 8) & 1))
			continue;
		at += (size_t)snprintf(buf + at, room - at, " %u%s", r,
				       left > 2    ? ","
				       : left == 2 ? " and"
						   : "");
		left--;
	}
	return buf;
}
