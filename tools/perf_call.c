/* Buffers of each collective, and its call. */
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "proto/rf_bytes.h"
#include "tools/perf.h"

static const struct perf_about abouts[PERF_KINDS] = {
	[PERF_ALL_REDUCE] = {.name = "all-reduce", .reduces = true},
	[PERF_REDUCE] = {.name = "reduce", .reduces = true, .rooted = true},
	[PERF_BROADCAST] = {.name = "broadcast", .rooted = true},
	[PERF_REDUCE_SCATTER] = {.name = "reduce-scatter", .reduces = true, .send_blocks = true},
	[PERF_ALL_GATHER] = {.name = "all-gather", .recv_blocks = true},
	[PERF_GATHER] = {.name = "gather", .rooted = true, .recv_blocks = true},
	[PERF_SCATTER] = {.name = "scatter", .rooted = true, .send_blocks = true},
	[PERF_BARRIER] = {.name = "barrier"},
};

const struct perf_about *perf_about(enum perf_kind kind)
{
	return &abouts[kind];
}

double perf_bus_factor(enum perf_kind kind, unsigned int ranks)
{
	double others = (double)(ranks - 1) / ranks;

	switch (kind) {
	case PERF_ALL_REDUCE:
		return 2 * others;
	case PERF_REDUCE:
	case PERF_BROADCAST:
		return 1;
	case PERF_BARRIER:
		return 0;
	default:
		return others;
	}
}

size_t perf_total(const struct perf_call *c, unsigned int ranks)
{
	const struct perf_about *a = &abouts[c->kind];

	return a->send_blocks || a->recv_blocks ? c->count * ranks : c->count;
}

int perf_data_create(struct perf_data *d, size_t room)
{
	bool good;

	d->room = (room + 63) & ~(size_t)63;
	good = (d->recv = aligned_alloc(64, d->room)) != NULL;
	if (d->check)
		good = good && (d->want = aligned_alloc(64, d->room)) &&
		       (d->zeros = aligned_alloc(64, d->room));
	for (unsigned int r = 0; good && r < d->ranks; r++)
		if (d->check || r == d->rank)
			good = (d->inputs[r] = aligned_alloc(64, d->room)) != NULL;
	return good ? 0 : -1;
}

void perf_data_free(struct perf_data *d)
{
	for (unsigned int r = 0; r < d->ranks; r++)
		free(d->inputs[r]);
	free(d->recv);
	free(d->want);
	free(d->zeros);
}

/*
 * One element. Most floats lie between 2^-8 and 2^8 with random fractions, so that every sum
 * rounds. One in 64 has a random bit pattern: infinities, NaN, subnormals.
 */
static uint64_t element(enum rf_type type, uint64_t random)
{
	bool wild = (random >> 58) == 0;
	uint64_t exponent = random >> 32 & 15;

	if (wild)
		return random;
	switch (type) {
	case RF_FP32:
		return (random & 0x807fffff) | (119 + exponent) << 23;
	case RF_BF16:
		return (random & 0x807f) | (119 + exponent) << 7;
	case RF_FP16:
		return (random & 0x83ff) | (7 + exponent) << 10;
	case RF_FP64:
		return (random & UINT64_C(0x800fffffffffffff)) | (1015 + exponent) << 52;
	default:
		return random;
	}
}

static void put(uint8_t *to, size_t size, uint64_t v)
{
	if (size == 8)
		rf_put_le64(to, v);
	else if (size == 4)
		rf_put_le32(to, (uint32_t)v);
	else if (size == 2)
		rf_put_le16(to, (uint16_t)v);
	else
		*to = (uint8_t)v;
}

void perf_fill(struct perf_data *d, const struct perf_call *c)
{
	size_t size = rf_type_size(c->type);
	size_t count = abouts[c->kind].send_blocks ? c->count * d->ranks : c->count;

	for (unsigned int r = 0; r < d->ranks; r++) {
		uint64_t start = rf_rng_mix(RF_RNG_STEP + d->seed * 131 + r) + count;

		for (size_t k = 0; d->inputs[r] && k < count; k++)
			put(d->inputs[r] + k * size, size,
			    element(c->type, rf_rng_mix(RF_RNG_STEP + start + k)));
	}
}

/* Elements of this rank's result. */
static size_t results(const struct perf_data *d, const struct perf_call *c)
{
	if (c->kind == PERF_BARRIER)
		return 0;
	if ((c->kind == PERF_REDUCE || c->kind == PERF_GATHER) && d->rank != c->root)
		return 0;
	return abouts[c->kind].recv_blocks ? c->count * d->ranks : c->count;
}

/* In place one buffer has everything; the one of a block is this rank's part of it. */
static void in_place(struct perf_data *d, const struct perf_call *c, struct perf_buffers *b)
{
	size_t block = c->count * rf_type_size(c->type);
	uint8_t *own = d->recv + d->rank * block;
	bool root = !abouts[c->kind].rooted || d->rank == c->root;

	if (abouts[c->kind].recv_blocks) {
		memcpy(own, d->inputs[d->rank], block);
		b->send = own;
		b->recv = d->recv;
	} else if (abouts[c->kind].send_blocks && root) {
		memcpy(d->recv, d->inputs[d->rank], d->ranks * block);
		b->send = d->recv;
		b->recv = own;
	} else {
		/* also a rank that only receives a block */
		memcpy(d->recv, d->inputs[d->rank], block);
		b->send = b->recv = d->recv;
	}
}

void perf_buffers(struct perf_data *d, const struct perf_call *c, struct perf_buffers *b)
{
	bool root = d->rank == c->root;

	if (c->in_place) {
		in_place(d, c, b);
	} else {
		memset(d->recv, 0xee, perf_total(c, d->ranks) * rf_type_size(c->type));
		b->send = d->inputs[d->rank];
		b->recv = d->recv;
	}
	b->result = b->recv;
	b->results = results(d, c);
	/* what a rank does not use */
	if ((c->kind == PERF_BROADCAST || c->kind == PERF_SCATTER) && !root)
		b->send = NULL;
	if ((c->kind == PERF_REDUCE || c->kind == PERF_GATHER) && !root)
		b->recv = NULL;
}

int perf_start(struct rf_comm *comm, const struct perf_call *c, const struct perf_buffers *b,
	       struct rf_request **request)
{
	switch (c->kind) {
	case PERF_ALL_REDUCE:
		return rf_iallreduce(comm, b->send, b->recv, c->count, c->type, c->op, request);
	case PERF_REDUCE:
		return rf_ireduce(comm, b->send, b->recv, c->count, c->type, c->op, c->root,
				  request);
	case PERF_BROADCAST:
		return rf_ibroadcast(comm, b->send, b->recv, c->count, c->type, c->root, request);
	case PERF_REDUCE_SCATTER:
		return rf_ireduce_scatter(comm, b->send, b->recv, c->count, c->type, c->op,
					  request);
	case PERF_ALL_GATHER:
		return rf_iall_gather(comm, b->send, b->recv, c->count, c->type, request);
	case PERF_GATHER:
		return rf_igather(comm, b->send, b->recv, c->count, c->type, c->root, request);
	case PERF_SCATTER:
		return rf_iscatter(comm, b->send, b->recv, c->count, c->type, c->root, request);
	default:
		return rf_ibarrier(comm, request);
	}
}
