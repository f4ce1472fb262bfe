#include "sim/fabric/event.h"

#include <stdlib.h>

void rf_events_init(struct rf_events *q)
{
	*q = (struct rf_events){0};
}

void rf_events_free(struct rf_events *q)
{
	free(q->heap);
	rf_events_init(q);
}

static bool before(const struct rf_event *a, const struct rf_event *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

int rf_events_add(struct rf_events *q, uint64_t at, uint32_t kind, uint32_t who, void *what)
{
	struct rf_event e = {.at = at, .order = q->order++, .kind = kind, .who = who, .what = what};
	size_t i = q->count;

	if (q->count == q->room) {
		size_t room = q->room ? q->room * 2 : 256;
		struct rf_event *heap = realloc(q->heap, room * sizeof(*heap));

		if (!heap)
			return -1;
		q->heap = heap;
		q->room = room;
	}
	q->count++;
	while (i > 0 && before(&e, &q->heap[(i - 1) / 2])) {
		q->heap[i] = q->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	q->heap[i] = e;
	return 0;
}

uint64_t rf_events_next(const struct rf_events *q)
{
	return q->count ? q->heap[0].at : UINT64_MAX;
}

bool rf_events_take(struct rf_events *q, struct rf_event *e)
{
	struct rf_event last;
	size_t i = 0;

	if (q->count == 0)
		return false;
	*e = q->heap[0];
	last = q->heap[--q->count];
	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= q->count)
			break;
		if (child + 1 < q->count && before(&q->heap[child + 1], &q->heap[child]))
			child++;
		if (before(&last, &q->heap[child]))
			break;
		q->heap[i] = q->heap[child];
		i = child;
	}
	q->heap[i] = last;
	return true;
}
