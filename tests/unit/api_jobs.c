#include "tests/unit/api_jobs.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "tests/unit/api_reference.h"

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
		h = reference_half(j->type, (double)f);
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

/*
 * Without a box, in the order of docs/collective.md: all-reduce and reduce of small vectors in
 * pairs, others one rank after another, the root or owner last. Of an all-reduce this is one chunk,
 * which begins at rank `root`.
 */
static void reduce_hosts(const struct job *j, unsigned int ranks, unsigned int root, bool small,
			 size_t from, size_t count, uint8_t *to)
{
	bool all = j->kind == JOB_ALLREDUCE, tree = j->kind == JOB_REDUCE && small;
	size_t bytes = count * rf_type_size(j->type);
	uint8_t *room = malloc(ranks * bytes + 8), *v[RANKS];

	for (unsigned int k = 0; k < ranks; k++) {
		v[k] = room + k * bytes;
		job_put(j, (root + k + !(tree || all)) % ranks, from, count, v[k]);
	}
	reference_reduce(j->type, j->op,
			 tree           ? REFERENCE_TREE
			 : all && small ? REFERENCE_DOUBLING
					: REFERENCE_CHAIN,
			 ranks, v, count);
	memcpy(to, v[0], bytes);
	if (j->op == RF_AVERAGE)
		reference_divide(j->type, to, count, ranks);
	free(room);
}

/* The same for a whole call. A larger all-reduce has a chunk for each rank. */
static void among_hosts(const struct job *j, unsigned int ranks, unsigned int root, size_t from,
			size_t count, uint8_t *to)
{
	size_t size = rf_type_size(j->type), chunk = (count + ranks - 1) / ranks;
	bool small = count * size <= 4096 * ranks && count * size <= 32768;

	if (j->kind != JOB_ALLREDUCE || small) {
		reduce_hosts(j, ranks, j->kind == JOB_ALLREDUCE ? 0 : root, small, from, count, to);
		return;
	}
	for (unsigned int c = 0; c < ranks && c * chunk < count; c++) {
		size_t first = c * chunk, n = count - first < chunk ? count - first : chunk;

		reduce_hosts(j, ranks, c, false, from + first, n, to + first * size);
	}
}

/* The result of elements [from, from + count) of all ranks' vectors, for this root or owner. */
static int reduce_elements(const struct job *j, const struct rf_order *order, unsigned int root,
			   size_t from, size_t count, uint8_t *to)
{
	size_t bytes = count * rf_type_size(j->type);
	uint8_t *room = malloc(order->ranks * bytes + 8);
	const void *inputs[RANKS];
	int ret = RF_OK;

	if (order->schedule == RF_SCHEDULE_RING && order->ranks > 1) {
		free(room);
		among_hosts(j, order->ranks, root, from, count, to);
		return RF_OK;
	}
	for (unsigned int r = 0; r < order->ranks; r++) {
		inputs[r] = room + r * bytes;
		job_put(j, r, from, count, room + r * bytes);
	}
	if (count)
		ret = rf_order_apply(order, j->type, j->op == RF_AVERAGE ? RF_SUM : j->op, inputs,
				     to, count);
	if (j->op == RF_AVERAGE && order->ranks > 1)
		reference_divide(j->type, to, count, order->ranks);
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
