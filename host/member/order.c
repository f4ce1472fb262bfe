/* The order of additions, computed on this machine: the bits that a group's results must have. */
#include <stddef.h>
#include <string.h>

#include "base/log2.h"
#include "host/collective/arith.h"
#include "host/collective/average.h"
#include "host/collective/hosts.h"
#include "ringfold/ringfold.h"

/* Elements handled at a time, so that the copies stay in the cache. */
#define BLOCK 2048u
/* The same, bytes, for each sum of a small vector. */
#define DOUBLED 2048u

static int apply_box(const struct rf_order *order, enum rf_type type, enum rf_op op,
		     const void *const *inputs, void *out, size_t count)
{
	struct rf_place places[RF_RANKS_MAX];
	unsigned int r;

	for (r = 0; r < order->ranks; r++) {
		if (order->place[r].port > 7 || order->place[r].lane > 15)
			return RF_ERR_INVALID;
		places[r].port = (uint8_t)order->place[r].port;
		places[r].lane = (uint8_t)order->place[r].lane;
	}
	return rf_order_reduce((enum rf_arith_type)type, (enum rf_arith_op)op, order->ranks, places,
			       inputs, out, count)
		       ? RF_ERR_INVALID
		       : RF_OK;
}

/*
 * The ring cuts the vector into one chunk per rank. The sum of chunk c begins at rank c and goes
 * round the ring, in the element type. Each element of chunk c is therefore ((x_c + x_c+1) + x_c+2)
 * + ...
 */
static void apply_ring_chunk(const struct rf_order *order, enum rf_type type, enum rf_op op,
			     const void *const *inputs, unsigned int chunk, size_t first,
			     size_t count, void *sum)
{
	size_t offset = first * rf_type_size(type);
	unsigned int k;

	memcpy(sum, (const char *)inputs[chunk] + offset, count * rf_type_size(type));
	for (k = 1; k < order->ranks; k++)
		rf_arith_reduce((enum rf_arith_type)type, (enum rf_arith_op)op, sum, sum,
				(const char *)inputs[(chunk + k) % order->ranks] + offset, count);
}

static int apply_ring(const struct rf_order *order, enum rf_type type, enum rf_op op,
		      const void *const *inputs, void *out, size_t count)
{
	size_t size = rf_type_size(type);
	size_t chunk = (count - 1) / order->ranks + 1; /* the last ones may be shorter or empty */
	uint64_t sum[BLOCK];                           /* elements have 8 bytes at the most */
	unsigned int c;

	for (c = 0; c < order->ranks; c++) {
		size_t first = c * chunk < count ? c * chunk : count;
		size_t end = count - first < chunk ? count : first + chunk;

		for (; first < end; first += BLOCK) {
			size_t n = end - first < BLOCK ? end - first : BLOCK;

			apply_ring_chunk(order, type, op, inputs, c, first, n, sum);
			memcpy((char *)out + first * size, sum, n * size);
		}
	}
	return RF_OK;
}

/*
 * The hosts add a small vector by doubling (docs/collective.md): pairs of sums, then pairs of
 * pairs. The sums of 2^k ranks wait at stack[k] until those of the next 2^k are there.
 */
static void double_block(const struct rf_order *order, enum rf_arith_type type, enum rf_arith_op op,
			 const void *const *inputs, size_t offset, size_t n, char *out)
{
	size_t bytes = n * rf_arith_size(type);
	unsigned int last = 1u << rf_log2(order->ranks);
	char stack[RF_HOSTS_REACH + 1][DOUBLED];

	for (unsigned int r = 0; r < last; r++) {
		unsigned int k = 0;

		memcpy(out, (const char *)inputs[r] + offset, bytes);
		if (r + last < order->ranks)
			rf_arith_reduce(type, op, out, out, (const char *)inputs[r + last] + offset,
					n);
		for (; r >> k & 1; k++)
			rf_arith_reduce(type, op, out, stack[k], out, n);
		memcpy(stack[k], out, bytes);
	}
}

static int apply_doubling(const struct rf_order *order, enum rf_type type, enum rf_op op,
			  const void *const *inputs, char *out, size_t count)
{
	size_t size = rf_type_size(type), block = DOUBLED / size;
	char sum[DOUBLED];

	for (size_t first = 0; first < count; first += block) {
		size_t n = count - first < block ? count - first : block;

		double_block(order, (enum rf_arith_type)type, (enum rf_arith_op)op, inputs,
			     first * size, n, sum);
		memcpy(out + first * size, sum, n * size);
	}
	return RF_OK;
}

/* Where the places of so many ranks end in a struct rf_order. */
static size_t places_end(unsigned int ranks)
{
	return offsetof(struct rf_order, place) + ranks * sizeof(struct rf_rank_place);
}

int rf_order_apply(const struct rf_order *order, enum rf_type type, enum rf_op op,
		   const void *const *inputs, void *out, size_t count)
{
	enum rf_op reduce = op == RF_AVERAGE ? RF_SUM : op;
	int ret;

	if (!order || !inputs || !out || !count || (unsigned int)op == RF_ARITH_COPY ||
	    !rf_arith_has((enum rf_arith_type)type, (enum rf_arith_op)reduce))
		return RF_ERR_INVALID;
	if (op == RF_AVERAGE && !rf_average_has((enum rf_arith_type)type))
		return RF_ERR_INVALID;
	if (order->size < offsetof(struct rf_order, place) || order->ranks < 1 ||
	    order->ranks > RF_RANKS_MAX || order->size < places_end(order->ranks))
		return RF_ERR_INVALID;
	if (order->ranks == 1) {
		memmove(out, inputs[0], count * rf_type_size(type));
		return RF_OK;
	}
	if (order->schedule == RF_SCHEDULE_RING &&
	    count * rf_type_size(type) <= rf_hosts_small(order->ranks))
		ret = apply_doubling(order, type, reduce, inputs, out, count);
	else if (order->schedule == RF_SCHEDULE_RING)
		ret = apply_ring(order, type, reduce, inputs, out, count);
	else
		ret = apply_box(order, type, reduce, inputs, out, count);
	if (!ret && op == RF_AVERAGE)
		rf_average((enum rf_arith_type)type, out, count, order->ranks);
	return ret;
}
