/* What the results must be, computed on this machine from the inputs of all ranks. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "proto/rf_bytes.h"
#include "tools/perf.h"

/* Bytes of each rank's sum that a tree adds at a time. */
#define PIECE 256u

/*
 * Without a box: the largest vector that a reduce adds by a tree (docs/collective.md, "Among
 * hosts").
 */
static size_t tree_most(unsigned int ranks)
{
	return ranks < 8 ? (size_t)4096 * ranks : 32768;
}

/* sum = sum + b. Two ranks have only one order, and operations are commutative. */
static int add(const struct perf_call *c, uint8_t *sum, const uint8_t *b, size_t count)
{
	struct rf_order two = RF_ORDER_INIT;
	const void *inputs[2] = {sum, b};

	two.schedule = RF_SCHEDULE_RING;
	two.ranks = 2;
	return rf_order_apply(&two, c->type, c->op == RF_AVERAGE ? RF_SUM : c->op, inputs, sum,
			      count);
}

/* want = ((x[first] + x[first + 1]) + ...), ranks modulo N, of elements at `offset` bytes. */
static int chain(struct perf_data *d, const struct perf_call *c, unsigned int first, size_t offset)
{
	int ret = RF_OK;

	memcpy(d->want, d->inputs[first % d->ranks] + offset, c->count * rf_type_size(c->type));
	for (unsigned int k = 1; !ret && k < d->ranks; k++)
		ret = add(c, d->want, d->inputs[(first + k) % d->ranks] + offset, c->count);
	return ret;
}

/*
 * Numbers count from the root. v adds the sums of v + 1, v + 2, v + 4, ... as far as these are
 * below the lowest bit of v. Those are all larger than v, so the largest number comes first.
 */
static int tree_piece(struct perf_data *d, const struct perf_call *c, size_t offset, size_t count)
{
	_Alignas(8) uint8_t sums[RF_RANKS_MAX][PIECE];
	size_t bytes = count * rf_type_size(c->type);
	int ret = RF_OK;

	for (unsigned int v = d->ranks; v-- > 0;) {
		memcpy(sums[v], d->inputs[(c->root + v) % d->ranks] + offset, bytes);
		for (unsigned int k = 1; !(v & k) && v + k < d->ranks && !ret; k <<= 1)
			ret = add(c, sums[v], sums[v + k], count);
	}
	memcpy(d->want + offset, sums[0], bytes);
	return ret;
}

static int tree(struct perf_data *d, const struct perf_call *c)
{
	size_t size = rf_type_size(c->type), most = PIECE / size;
	int ret = RF_OK;

	for (size_t k = 0; !ret && k < c->count; k += most)
		ret = tree_piece(d, c, k * size, c->count - k < most ? c->count - k : most);
	return ret;
}

/* -0, which changes nothing that it is added to, in every floating type. */
static void minus_zero(uint8_t *to, size_t size, size_t count)
{
	memset(to, 0, size * count);
	for (size_t k = 1; k <= count; k++)
		to[k * size - 1] = 0x80;
}

/* Divides want by the number of ranks, as the average of want and -0 of all other ranks. */
static int divide(struct perf_data *d, const struct perf_call *c, const struct rf_order *order)
{
	const void *inputs[RF_RANKS_MAX];

	minus_zero(d->zeros, rf_type_size(c->type), c->count);
	for (unsigned int r = 0; r < d->ranks; r++)
		inputs[r] = r ? d->zeros : d->want;
	return rf_order_apply(order, c->type, RF_AVERAGE, inputs, d->want, c->count);
}

/* Elements at `offset` bytes of all ranks, in the order of the communicator's all-reduce. */
static int ordered(struct perf_data *d, const struct perf_call *c, const struct rf_order *order,
		   size_t offset)
{
	const void *inputs[RF_RANKS_MAX];

	for (unsigned int r = 0; r < d->ranks; r++)
		inputs[r] = d->inputs[r] + offset;
	return rf_order_apply(order, c->type, c->op, inputs, d->want, c->count);
}

/* A reduce or a reduce-scatter has the order of the all-reduce only with a box. */
static int reduced(struct perf_data *d, const struct perf_call *c, const struct rf_order *order)
{
	size_t bytes = c->count * rf_type_size(c->type);
	size_t offset = c->kind == PERF_REDUCE_SCATTER ? d->rank * bytes : 0;
	int ret;

	if (d->ranks == 1 || c->kind == PERF_ALL_REDUCE || order->schedule == RF_SCHEDULE_BOX)
		return ordered(d, c, order, offset);
	if (c->kind == PERF_REDUCE_SCATTER)
		ret = chain(d, c, d->rank + 1, offset);
	else if (bytes <= tree_most(d->ranks))
		ret = tree(d, c);
	else
		ret = chain(d, c, c->root + 1, 0);
	if (!ret && c->op == RF_AVERAGE)
		ret = divide(d, c, order);
	return ret;
}

int perf_want(struct perf_data *d, const struct perf_call *c, const struct rf_order *order)
{
	size_t bytes = c->count * rf_type_size(c->type);

	switch (c->kind) {
	case PERF_BARRIER:
		return RF_OK;
	case PERF_BROADCAST:
		memcpy(d->want, d->inputs[c->root], bytes);
		return RF_OK;
	case PERF_SCATTER:
		memcpy(d->want, d->inputs[c->root] + d->rank * bytes, bytes);
		return RF_OK;
	case PERF_ALL_GATHER:
	case PERF_GATHER:
		for (unsigned int r = 0; r < d->ranks; r++)
			memcpy(d->want + r * bytes, d->inputs[r], bytes);
		return RF_OK;
	default:
		return reduced(d, c, order);
	}
}

static uint64_t get(const uint8_t *from, size_t size)
{
	uint8_t bytes[8] = {0};

	memcpy(bytes, from, size);
	return rf_get_le64(bytes);
}

uint64_t perf_compare(const struct perf_data *d, const struct perf_call *c,
		      const struct perf_buffers *b)
{
	size_t size = rf_type_size(c->type);
	uint64_t wrong = 0;

	if (!b->results || memcmp(b->result, d->want, b->results * size) == 0)
		return 0;
	for (size_t k = 0; k < b->results; k++) {
		if (memcmp(b->result + k * size, d->want + k * size, size) == 0)
			continue;
		if (wrong++ == 0)
			fprintf(stderr,
				"ringfold perf: rank %u: %s: element %zu of %zu (%s) is %0*" PRIx64
				", must be %0*" PRIx64 "\n",
				d->rank, perf_about(c->kind)->name, k, b->results,
				rf_type_name(c->type), (int)(2 * size),
				get(b->result + k * size, size), (int)(2 * size),
				get(d->want + k * size, size));
	}
	return wrong;
}
