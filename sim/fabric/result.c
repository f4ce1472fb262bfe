/* The results of a host's all-reduces: their check, and their memory. */
#include <stdlib.h>

#include "sim/fabric/host.h"

/*
 * Whatever an unfinished operation has received must be correct or untouched: raw data must never
 * be delivered.
 */
void rf_host_judge_unfinished(struct rf_host *h)
{
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);

	for (unsigned i = 0; i < h->pub.posted; i++) {
		struct rf_host_op *op = &h->ops[i];
		uint64_t raw;

		if (op->done || !h->places ||
		    (h->f->cfg.in_place && op->call.kind == RF_SCHEDULE_ALL_REDUCE))
			continue;
		/* a ring uses the result as its memory */
		if (i == h->resumed && h->f->cfg.fallback == RF_FALLBACK_RING)
			continue;
		if (h->f->cfg.flip_raw && op->call.count)
			((uint8_t *)op->recv)[0] ^= 0x5a;
		raw = rf_check_result(h->f->check, h->places, first, h->rank - first,
				      rf_host_op_key(h, i), &op->call, op->recv, true);
		if (raw == UINT64_MAX)
			rf_fabric_fail(h->f, "no memory for the reference");
		else
			h->pub.raw += raw;
	}
}

void rf_host_free_ops(struct rf_host *h)
{
	for (unsigned i = 0; i < h->pub.posted; i++) {
		struct rf_host_op *op = &h->ops[i];

		if (op->send != op->recv)
			free(op->send);
		free(op->recv);
		op->send = NULL;
		op->recv = NULL;
	}
}

void rf_host_op_done(struct rf_host *h, unsigned n)
{
	struct rf_host_op *op = &h->ops[n];
	unsigned first = rf_fabric_first(&h->f->cfg, h->rank);
	uint64_t gets = rf_check_gets(&h->f->cfg, &op->call, h->rank - first);
	size_t size = rf_arith_size(op->call.type);
	uint64_t wrong;

	op->done = true;
	op->done_ns = rf_host_ns(h);
	h->pub.done++;
	h->pub.last_done_ns = rf_host_ns(h);
	if (h->f->cfg.flip && h->rank == 0 && gets && !h->flipped)
		((uint8_t *)op->recv)[gets * size / 2] ^= 1;
	h->flipped |= gets > 0;
	wrong = rf_check_result(h->f->check, h->places, first, h->rank - first,
				rf_host_op_key(h, n), &op->call, op->recv, false);
	if (wrong == UINT64_MAX)
		rf_fabric_fail(h->f, "no memory for the reference");
	h->pub.checked += op->call.count;
	h->pub.wrong += wrong;
	h->pub.digest = rf_fabric_digest(h->pub.digest, op->recv, op->call.count * size);
	if (op->send != op->recv)
		free(op->send);
	free(op->recv);
	op->send = NULL;
	op->recv = NULL;
}
