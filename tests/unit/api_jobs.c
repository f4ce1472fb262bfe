#include "tests/unit/api_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "host/collective/arith.h"

const char *const job_names[JOB_KINDS] = {
	"allreduce",   "reduce", "broadcast", "reduce_scatter", "reduce_scatterv", "all_gather",
	"all_gatherv", "gather", "gatherv",   "scatter",        "scatterv",        "barrier"};

const struct job_about job_about[JOB_KINDS] = {
	[JOB_ALLREDUCE] = {.reduces = true, .one = true},
	[JOB_REDUCE] = {.reduces = true, .root = true, .one = true},
	[JOB_BROADCAST] = {.root = true, .one = true},
	[JOB_REDUCE_SCATTER] = {.reduces = true, .send_all = true},
	[JOB_REDUCE_SCATTERV] = {.reduces = true, .send_all = true, .v = true},
	[JOB_ALL_GATHER] = {.recv_all = true},
	[JOB_ALL_GATHERV] = {.recv_all = true, .v = true},
	[JOB_GATHER] = {.root = true, .recv_all = true},
	[JOB_GATHERV] = {.root = true, .recv_all = true, .v = true},
	[JOB_SCATTER] = {.root = true, .send_all = true},
	[JOB_SCATTERV] = {.root = true, .send_all = true, .v = true},
	[JOB_BARRIER] = {.one = true},
};

/* ---- sizes ---- */

static unsigned int blocks_of(const struct job *j, unsigned int ranks)
{
	return job_about[j->kind].one ? 1 : ranks;
}

size_t job_total(const struct job *j, unsigned int ranks)
{
	size_t n = 0;

	for (unsigned int k = 0; k < blocks_of(j, ranks); k++)
		n += j->counts[k];
	return n;
}

size_t job_before(const struct job *j, unsigned int rank)
{
	size_t n = 0;

	for (unsigned int k = 0; k < rank && !job_about[j->kind].one; k++)
		n += j->counts[k];
	return n;
}

size_t job_own(const struct job *j, unsigned int rank)
{
	return j->counts[job_about[j->kind].one ? 0 : rank];
}

/* ---- data ---- */

/* Element k of a rank's whole vector (all blocks): mostly ordinary numbers, sometimes any bits. */
static void put_element(const struct job *j, unsigned int rank, size_t k, uint8_t *to)
{
	uint64_t r = rf_rng_mix(j->key + RF_RNG_STEP * (k + 1) + rank * UINT64_C(0x9e3779b1));
	size_t size = rf_type_size(j->type);
	float f = (float)((int)(r % 2000) - 1000) / 7.0f;
	double d = (double)((int)(r % 20000) - 10000) / 7.0;
	uint16_t h;

	if (r >> 60 == 0)
		memcpy(to, &r, size);
	else if (j->type == RF_FP32)
		memcpy(to, &f, 4);
	else if (j->type == RF_FP64)
		memcpy(to, &d, 8);
	else if (j->type == RF_BF16 || j->type == RF_FP16) {
		h = j->type == RF_BF16 ? rf_bf16_from_float(f) : rf_fp16_from_float(f);
		memcpy(to, &h, 2);
	} else {
		memcpy(to, &r, size);
	}
}

void job_put(const struct job *j, unsigned int rank, size_t from, size_t count, uint8_t *to)
{
	for (size_t k = 0; k < count; k++)
		put_element(j, rank, from + k, to + k * rf_type_size(j->type));
}

/* The average as the header defines it: divided in binary32 or binary64, and rounded. */
static void divide(enum rf_type type, uint8_t *at, size_t count, unsigned int n)
{
	for (size_t k = 0; k < count; k++) {
		uint8_t *p = at + k * rf_type_size(type);
		uint16_t h;
		double d;
		float f;

		if (type == RF_FP64) {
			memcpy(&d, p, 8);
			d /= n;
			memcpy(p, &d, 8);
			continue;
		}
		if (type == RF_FP32) {
			memcpy(&f, p, 4);
			f = (float)((double)f / n); /* rounded as by one division */
			memcpy(p, &f, 4);
			continue;
		}
		memcpy(&h, p, 2);
		f = type == RF_BF16 ? rf_bf16_to_float(h) : rf_fp16_to_float(h);
		f = (float)((double)f / n);
		h = type == RF_BF16 ? rf_bf16_from_float(f) : rf_fp16_from_float(f);
		memcpy(p, &h, 2);
	}
}

/*
 * The same without a box, in the order of docs/collective.md: a tree for a small reduce, otherwise
 * one rank after another, the root or owner last.
 */
static int reduce_hosts(const struct job *j, unsigned int ranks, unsigned int root, size_t from,
			size_t count, uint8_t *to)
{
	enum rf_arith_op op = j->op == RF_AVERAGE ? RF_ARITH_SUM : (enum rf_arith_op)j->op;
	size_t bytes = count * rf_type_size(j->type);
	bool tree = j->kind == JOB_REDUCE && bytes <= 4096 * ranks && bytes <= 32768;
	uint8_t *room = malloc(ranks * bytes + 8), *v[RANKS];

	for (unsigned int k = 0; k < ranks; k++) {
		v[k] = room + k * bytes;
		job_put(j, (root + k + !tree) % ranks, from, count, v[k]);
	}
	for (unsigned int d = 1; d < ranks; d *= 2)
		for (unsigned int k = 0; tree && k + d < ranks; k += 2 * d)
			rf_arith_reduce((enum rf_arith_type)j->type, op, v[k], v[k], v[k + d],
					count);
	for (unsigned int k = 1; !tree && k < ranks; k++)
		rf_arith_reduce((enum rf_arith_type)j->type, op, v[0], v[0], v[k], count);
	memcpy(to, v[0], bytes);
	if (j->op == RF_AVERAGE)
		divide(j->type, to, count, ranks);
	free(room);
	return RF_OK;
}

/* The result of elements [from, from + count) of all ranks' vectors, for this root or owner. */
static int reduce_elements(const struct job *j, const struct rf_order *order, unsigned int root,
			   size_t from, size_t count, uint8_t *to)
{
	size_t bytes = count * rf_type_size(j->type);
	uint8_t *room = malloc(order->ranks * bytes + 8);
	const void *inputs[RANKS];
	int ret = RF_OK;

	if (order->schedule == RF_SCHEDULE_RING && order->ranks > 1 && j->kind != JOB_ALLREDUCE) {
		free(room);
		return reduce_hosts(j, order->ranks, root, from, count, to);
	}
	for (unsigned int r = 0; r < order->ranks; r++) {
		inputs[r] = room + r * bytes;
		job_put(j, r, from, count, room + r * bytes);
	}
	if (count)
		ret = rf_order_apply(order, j->type, j->op == RF_AVERAGE ? RF_SUM : j->op, inputs,
				     to, count);
	if (j->op == RF_AVERAGE && order->ranks > 1)
		divide(j->type, to, count, order->ranks);
	free(room);
	return ret;
}

/* What this rank's receive buffer must contain; its length in bytes. */
size_t job_expected(const struct job *j, const struct rf_order *order, unsigned int rank,
		    uint8_t *to)
{
	size_t size = rf_type_size(j->type);

	switch (j->kind) {
	case JOB_REDUCE:
		if (rank != j->root)
			return 0;
		/* fall through */
	case JOB_ALLREDUCE:
		if (reduce_elements(j, order, j->root, 0, j->counts[0], to))
			abort();
		return j->counts[0] * size;
	case JOB_BROADCAST:
		job_put(j, j->root, 0, j->counts[0], to);
		return j->counts[0] * size;
	case JOB_REDUCE_SCATTER:
	case JOB_REDUCE_SCATTERV:
		if (reduce_elements(j, order, rank, job_before(j, rank), job_own(j, rank), to))
			abort();
		return job_own(j, rank) * size;
	case JOB_GATHER:
	case JOB_GATHERV:
		if (rank != j->root)
			return 0;
		/* fall through */
	case JOB_ALL_GATHER:
	case JOB_ALL_GATHERV:
		for (unsigned int r = 0; r < order->ranks; r++)
			job_put(j, r, job_before(j, r), job_own(j, r),
				to + job_before(j, r) * size);
		return job_total(j, order->ranks) * size;
	case JOB_SCATTER:
	case JOB_SCATTERV:
		job_put(j, j->root, job_before(j, rank), job_own(j, rank), to);
		return job_own(j, rank) * size;
	default:
		return 0;
	}
}
