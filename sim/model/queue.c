#include <stdlib.h>
#include <string.h>

#include "sim/model/internal.h"

/*
 * A binary heap, earliest first. A failing allocation ends the program: the model runs in tests and
 * simulators, which cannot continue without memory.
 */
static bool earlier(const struct model_event *a, const struct model_event *b)
{
	return a->cycle != b->cycle ? a->cycle < b->cycle : a->order < b->order;
}

void model_event_add(struct rf_engine *e, uint64_t cycle, enum model_event_kind kind,
		     unsigned int port)
{
	struct model_event ev = {cycle, e->heap_order++, (uint8_t)kind, (uint8_t)port};
	size_t k;

	if (e->heap_count == e->heap_room) {
		size_t room = e->heap_room ? 2 * e->heap_room : 256;
		struct model_event *heap = realloc(e->heap, room * sizeof(*heap));

		if (!heap)
			abort();
		e->heap = heap;
		e->heap_room = room;
	}
	for (k = e->heap_count++; k > 0; k = (k - 1) / 2) {
		size_t up = (k - 1) / 2;

		if (!earlier(&ev, &e->heap[up]))
			break;
		e->heap[k] = e->heap[up];
	}
	e->heap[k] = ev;
}

void model_schedule_soon(struct rf_engine *e, uint64_t cycle)
{
	if (e->schedule_due && e->schedule_when <= cycle)
		return;
	e->schedule_due = true;
	e->schedule_when = cycle;
	model_event_add(e, cycle, MODEL_EV_SCHEDULE, 0);
}

/* The earliest event, if its cycle is below `before`. */
bool model_event_take(struct rf_engine *e, uint64_t before, struct model_event *ev)
{
	struct model_event last;
	size_t k, down;

	if (e->heap_count == 0 || e->heap[0].cycle >= before)
		return false;
	*ev = e->heap[0];
	last = e->heap[--e->heap_count];
	for (k = 0; (down = 2 * k + 1) < e->heap_count; k = down) {
		if (down + 1 < e->heap_count && earlier(&e->heap[down + 1], &e->heap[down]))
			down++;
		if (!earlier(&e->heap[down], &last))
			break;
		e->heap[k] = e->heap[down];
	}
	e->heap[k] = last;
	return true;
}

/* A frame with capacity for more bytes than it has yet; bytes may be NULL. */
struct model_frame *model_frame_new(const uint8_t *bytes, size_t len, size_t room)
{
	struct model_frame *f = malloc(sizeof(*f) + (room > len ? room : len));

	if (!f)
		abort();
	memset(f, 0, sizeof(*f));
	f->len = len;
	if (bytes)
		memcpy(f->bytes, bytes, len);
	return f;
}

void model_queue_put(struct rf_engine *e, struct model_queue *q, struct model_frame *f)
{
	f->next = NULL;
	if (q->tail)
		q->tail->next = f;
	else
		q->head = f;
	q->tail = f;
	q->frames++;
	q->beats += model_beats(e, f->len);
}

struct model_frame *model_queue_get(struct rf_engine *e, struct model_queue *q)
{
	struct model_frame *f = q->head;

	if (!f)
		return NULL;
	q->head = f->next;
	if (!q->head)
		q->tail = NULL;
	q->frames--;
	q->beats -= model_beats(e, f->len);
	return f;
}

void model_queue_clear(struct rf_engine *e, struct model_queue *q)
{
	struct model_frame *f;

	while ((f = model_queue_get(e, q)) != NULL)
		free(f);
}
