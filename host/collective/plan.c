#include "host/collective/collective_internal.h"

/*
 * Ring, N ranks, N chunks, 2 (N - 1) steps. In step s < N - 1 rank r sends chunk r - s and adds its
 * own part to chunk r - s - 1, which arrives; in the steps t = s - (N - 1) >= 0 it sends chunk r +
 * 1 - t and receives the finished chunk r - t. So the chunk sent in a step is the one received in
 * the step before.
 */

void rf_plan_start(const struct rf_coll *c, struct rf_coll_op *op)
{
	uint64_t size = rf_arith_size(c->cfg.type);
	uint64_t count = op->bytes / size;

	if (c->cfg.schedule == RF_COLL_BOX)
		op->chunk_bytes = op->bytes;
	else
		op->chunk_bytes = ((count - 1) / c->cfg.ranks + 1) * size;
}

static uint32_t chunk_of(const struct rf_coll *c, uint32_t step, bool send)
{
	uint32_t n = c->cfg.ranks;
	/* Distance of a rank after our own, modulo N. */
	uint32_t back = step < n - 1 ? step + !send : step - (n - 1) + n - send;

	return (c->cfg.rank + 2 * n - back % n) % n;
}

/* The bytes of one step. */
static void step_span(struct rf_coll *c, const struct rf_coll_op *op, uint32_t step, bool send,
		      uint64_t *offset, uint64_t *len)
{
	uint64_t at = 0;

	if (c->cfg.schedule == RF_COLL_RING)
		at = chunk_of(c, step, send) * op->chunk_bytes;
	*offset = at;
	if (at >= op->bytes)
		*len = 0;
	else
		*len = op->bytes - at < op->chunk_bytes ? op->bytes - at : op->chunk_bytes;
}

static struct rf_coll_span span_of(struct rf_coll *c, const struct rf_coll_cursor *at, bool send)
{
	struct rf_coll_span span;
	uint64_t offset, len, skip = at->msg * c->cfg.message_bytes;

	step_span(c, rf_coll_op(c, at->op), at->step, send, &offset, &len);
	span.offset = offset + skip;
	span.len =
		len - skip < c->cfg.message_bytes ? (uint32_t)(len - skip) : c->cfg.message_bytes;
	return span;
}

struct rf_coll_span rf_plan_send_span(struct rf_coll *c, const struct rf_coll_cursor *at)
{
	return span_of(c, at, true);
}

struct rf_coll_span rf_plan_recv_span(struct rf_coll *c, const struct rf_coll_cursor *at)
{
	return span_of(c, at, false);
}

static void settle(struct rf_coll *c, struct rf_coll_cursor *at, bool send)
{
	while (at->op != c->started) {
		uint64_t offset, len;

		step_span(c, rf_coll_op(c, at->op), at->step, send, &offset, &len);
		if (at->msg * c->cfg.message_bytes < len)
			return;
		at->msg = 0;
		if (++at->step == c->steps) {
			at->step = 0;
			at->op++;
		}
	}
}

void rf_plan_settle_send(struct rf_coll *c, struct rf_coll_cursor *at)
{
	settle(c, at, true);
}

void rf_plan_settle_recv(struct rf_coll *c, struct rf_coll_cursor *at)
{
	settle(c, at, false);
}

bool rf_plan_is_partial(const struct rf_coll *c, uint32_t step)
{
	return c->cfg.schedule == RF_COLL_RING && step < c->cfg.ranks - 1;
}

bool rf_plan_before(const struct rf_coll_cursor *a, const struct rf_coll_cursor *b)
{
	if (a->op != b->op)
		return (int32_t)(a->op - b->op) < 0;
	if (a->step != b->step)
		return a->step < b->step;
	return a->msg < b->msg;
}

bool rf_plan_send_allowed(struct rf_coll *c, const struct rf_coll_cursor *at)
{
	struct rf_coll_cursor needed = *at;

	/*
	 * Box: the sum of what we send arrives only after we sent it. Because its buffer is posted
	 * before that, the sum never finds no buffer.
	 */
	if (c->cfg.schedule == RF_COLL_BOX)
		return rf_plan_before(at, &c->recv_posted);
	if (at->step == 0)
		return true;
	/* Ring: the same bytes arrived, and were added, in the previous step. */
	needed.step--;
	return rf_plan_before(&needed, &c->recv_done);
}
