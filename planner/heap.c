/*
 * A heap of nodes.
 */
#include "planner/heap.h"

#include "planner/mem.h"

void heap_push(struct heap *h, double key, int node)
{
	int i = h->count++;

	if (h->count > h->room) {
		h->room = h->room ? 2 * h->room : 64;
		h->entry = mem_more(h->entry, (size_t)h->room, sizeof(*h->entry));
	}
	while (i > 0 && h->entry[(i - 1) / 2].key > key) {
		h->entry[i] = h->entry[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	h->entry[i] = (struct heap_entry){key, node};
}

struct heap_entry heap_pop(struct heap *h)
{
	struct heap_entry least = h->entry[0];
	struct heap_entry last = h->entry[--h->count];
	int i = 0;

	for (;;) {
		int child = 2 * i + 1;

		if (child >= h->count)
			break;
		if (child + 1 < h->count && h->entry[child + 1].key < h->entry[child].key)
			child++;
		if (h->entry[child].key >= last.key)
			break;
		h->entry[i] = h->entry[child];
		i = child;
	}
	h->entry[i] = last;
	return least;
}
