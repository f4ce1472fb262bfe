/* Calls of the public interface by their description. */
#include "tests/unit/api_job_calls.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GUARD 0xc5

/* ---- drawn ---- */

const enum rf_op job_ops[JOB_OPS] = {RF_SUM, RF_MIN, RF_MAX, RF_AND, RF_OR, RF_XOR, RF_AVERAGE};

bool job_has(enum rf_type type, enum rf_op op)
{
	bool floating = type == RF_FP32 || type == RF_BF16 || type == RF_FP16 || type == RF_FP64;

	if (op == RF_AVERAGE)
		return floating;
	return op <= RF_MAX || (op <= RF_XOR && !floating);
}

void job_draw_counts(struct job *j, unsigned int ranks, struct rf_rng *rng, size_t most)
{
	size_t equal = (size_t)rf_rng_below(rng, most + 1);

	for (unsigned int k = 0; k < ranks; k++)
		j->counts[k] = job_about[j->kind].v ? (size_t)rf_rng_below(rng, most + 1) : equal;
	/* a block without elements now and then */
	if (job_about[j->kind].v && rf_rng_below(rng, 4) == 0)
		j->counts[rf_rng_below(rng, ranks)] = 0;
}

/* ---- one call ---- */

int job_call(struct rf_comm *c, const struct job *j, const void *send, void *recv,
	     struct rf_request **q)
{
	const size_t *counts = j->counts;
	enum rf_type t = j->type;
	unsigned int rank = rf_comm_rank(c);
	size_t n = counts[0], mine = job_own(j, rank);

	if (rank != j->root && (j->kind == JOB_GATHERV || j->kind == JOB_SCATTERV))
		counts = NULL;
	switch (j->kind) {
	case JOB_ALLREDUCE:
		return q ? rf_iallreduce(c, send, recv, n, t, j->op, q)
			 : rf_allreduce(c, send, recv, n, t, j->op);
	case JOB_REDUCE:
		return q ? rf_ireduce(c, send, recv, n, t, j->op, j->root, q)
			 : rf_reduce(c, send, recv, n, t, j->op, j->root);
	case JOB_BROADCAST:
		return q ? rf_ibroadcast(c, send, recv, n, t, j->root, q)
			 : rf_broadcast(c, send, recv, n, t, j->root);
	case JOB_REDUCE_SCATTER:
		return q ? rf_ireduce_scatter(c, send, recv, n, t, j->op, q)
			 : rf_reduce_scatter(c, send, recv, n, t, j->op);
	case JOB_REDUCE_SCATTERV:
		return q ? rf_ireduce_scatterv(c, send, recv, counts, t, j->op, q)
			 : rf_reduce_scatterv(c, send, recv, counts, t, j->op);
	case JOB_ALL_GATHER:
		return q ? rf_iall_gather(c, send, recv, n, t, q)
			 : rf_all_gather(c, send, recv, n, t);
	case JOB_ALL_GATHERV:
		return q ? rf_iall_gatherv(c, send, recv, counts, t, q)
			 : rf_all_gatherv(c, send, recv, counts, t);
	case JOB_GATHER:
		return q ? rf_igather(c, send, recv, n, t, j->root, q)
			 : rf_gather(c, send, recv, n, t, j->root);
	case JOB_GATHERV:
		return q ? rf_igatherv(c, send, mine, recv, counts, t, j->root, q)
			 : rf_gatherv(c, send, mine, recv, counts, t, j->root);
	case JOB_SCATTER:
		return q ? rf_iscatter(c, send, recv, n, t, j->root, q)
			 : rf_scatter(c, send, recv, n, t, j->root);
	case JOB_SCATTERV:
		return q ? rf_iscatterv(c, send, counts, recv, mine, t, j->root, q)
			 : rf_scatterv(c, send, counts, recv, mine, t, j->root);
	default:
		return q ? rf_ibarrier(c, q) : rf_barrier(c);
	}
}

void job_prepare(const struct job *j, const struct rf_order *order, unsigned int rank,
		 struct job_buffers *b)
{
	size_t size = rf_type_size(j->type), all = job_total(j, order->ranks) * size;
	size_t lead = job_before(j, rank) * size;
	size_t send_all = job_about[j->kind].send_all, recv_all = job_about[j->kind].recv_all;
	uint8_t *at;

	b->room_bytes = 2 * (all + 192);
	b->room = aligned_alloc(64, (2 * b->room_bytes + 127) & ~(size_t)63);
	memset(b->room, GUARD, 2 * b->room_bytes);
	b->want = b->room + b->room_bytes;
	b->recv_bytes = job_expected(j, order, rank, b->want);
	b->send_bytes = job_own(j, rank) * size;
	if (send_all)
		b->send_bytes = all;
	if (j->kind == JOB_BROADCAST || j->kind == JOB_SCATTER || j->kind == JOB_SCATTERV)
		b->send_bytes = rank == j->root ? b->send_bytes : 0;
	if (j->kind == JOB_BARRIER)
		b->send_bytes = 0;
	b->recv = b->room + 64;
	at = b->room + 64 + ((all + 127) & ~(size_t)63);
	b->send = at;
	if (j->in_place && b->recv_bytes && b->send_bytes) {
		/* the smaller buffer is this rank's block of the larger one */
		b->send = recv_all ? b->recv + lead : b->recv;
		if (send_all) {
			b->send = at;
			b->recv = at + lead;
		}
	}
	job_put(j, rank, send_all ? 0 : job_before(j, rank), b->send_bytes / size, b->send);
	b->sent = malloc(b->send_bytes + 1);
	memcpy(b->sent, b->send, b->send_bytes);
}

size_t job_compare(struct job_buffers *b)
{
	size_t wrong = 0, at;

	for (at = 0; at < b->recv_bytes; at++)
		wrong += b->recv[at] != b->want[at];
	/* all other bytes are as before */
	for (at = 0; at < b->room_bytes; at++) {
		const uint8_t *p = b->room + at;
		uint8_t was = GUARD;

		if (p >= b->recv && p < b->recv + b->recv_bytes)
			continue;
		if (p >= b->send && p < b->send + b->send_bytes)
			was = b->sent[p - b->send];
		wrong += *p != was;
	}
	free(b->room);
	free(b->sent);
	return wrong;
}

void job_text(const struct job *j, unsigned int ranks, char *text, size_t room)
{
	snprintf(text, room, "%s of %s %s, root %u, %zu elements%s, %u ranks", job_names[j->kind],
		 rf_type_name(j->type), rf_op_name(j->op), j->root, job_total(j, ranks),
		 j->in_place ? " in place" : "", ranks);
}
