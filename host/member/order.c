/* The order of additions, computed on this machine: the bits that a group's results must have. */
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "base/log2.h"
#include "host/collective/arith.h"
#include "host/collective/average.h"
#include "host/collective/hosts.h"
#include "host/member/order.h"
#include "ringfold/ringfold.h"

/* Elements handled at a time, so that the copies stay in the cache. */
#define BLOCK 2048u
/* The same in a tree of boxes, for the sum of each box. */
#define BLOCK_TREE 64u
/* The same, bytes, for each sum of a small vector. */
#define DOUBLED 2048u

/* The operands of one box: its ranks, and the boxes below it. */
struct operands {
	uint32_t n;
	struct rf_place place[RF_RANKS_MAX];
	const void *from[RF_RANKS_MAX];
};

static bool add_operand(struct operands *o, const struct rf_rank_place *place, const void *from)
{
	if (place->port > 7 || place->lane > 15 || o->n == RF_RANKS_MAX)
		return false;
	o->place[o->n] = (struct rf_place){(uint8_t)place->port, (uint8_t)place->lane};
	o->from[o->n++] = from;
	return true;
}

static bool is_tree(const struct rf_order *order)
{
	return order->size >= offsetof(struct rf_order, boxes) + sizeof(order->boxes) &&
	       order->boxes != 0;
}

static bool tree_is_sound(const struct rf_order *order)
{
	if (order->size < sizeof(*order) || order->boxes > RF_BOXES_MAX)
		return false;
	for (unsigned int b = 1; b < order->boxes; b++)
		if (order->above[b].parent >= b)
			return false;
	for (unsigned int r = 0; r < order->ranks; r++)
		if (order->box[r] >= order->boxes)
			return false;
	return true;
}

/* Collects what box b adds: bytes from `offset` of its ranks, and the sums of the boxes below. */
static bool tree_operands(const struct rf_order *order, unsigned int b, const void *const *inputs,
			  size_t offset, uint64_t sums[][BLOCK_TREE], struct operands *o)
{
	o->n = 0;
	for (unsigned int r = 0; r < order->ranks; r++)
		if (order->box[r] == b &&
		    !add_operand(o, &order->place[r], (const char *)inputs[r] + offset))
			return false;
	for (unsigned int c = b + 1; c < order->boxes; c++)
		if (order->above[c].parent == b && !add_operand(o, &order->above[c].place, sums[c]))
			return false;
	return true;
}

/* From the leaves to the root: a box has a higher number than its parent. */
static int apply_tree(const struct rf_order *order, enum rf_type type, enum rf_op op,
		      const void *const *inputs, char *out, size_t count)
{
	uint64_t sums[RF_BOXES_MAX][BLOCK_TREE]; /* elements have 8 bytes at the most */
	size_t size = rf_type_size(type);
	struct operands o;

	if (!tree_is_sound(order))
		return RF_ERR_INVALID;
	for (size_t at = 0; at < count; at += BLOCK_TREE) {
		size_t n = count - at < BLOCK_TREE ? count - at : BLOCK_TREE;

		for (unsigned int b = order->boxes; b-- > 0;)
			if (!tree_operands(order, b, inputs, at * size, sums, &o) ||
			    rf_order_reduce((enum rf_arith_type)type, (enum rf_arith_op)op, o.n,
					    o.place, o.from, sums[b], n))
				return RF_ERR_INVALID;
		memcpy(out + at * size, sums[0], n * size);
	}
	return RF_OK;
}

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

/* What is wrong with the arguments; NULL: nothing. */
static const char *arguments_wrong(const struct rf_order *order, enum rf_type type, enum rf_op op,
				   const void *const *inputs, const void *out, size_t count)
{
	enum rf_op reduce = op == RF_AVERAGE ? RF_SUM : op;

	if (!order)
		return "order is NULL";
	if (order->size < offsetof(struct rf_order, place) || order->ranks < 1 ||
	    order->ranks > RF_RANKS_MAX || order->size < places_end(order->ranks))
		return "order.size is not set, or has no room for the places of all ranks, or "
		       "order.ranks is not 1 to 128: fill it by rf_comm_order()";
	if (!rf_type_size(type))
		return "the type does not exist: use one of enum rf_type";
	if ((unsigned int)op == RF_ARITH_COPY ||
	    !rf_arith_has((enum rf_arith_type)type, (enum rf_arith_op)reduce) ||
	    (op == RF_AVERAGE && !rf_average_has((enum rf_arith_type)type)))
		return "this type does not have this operation";
	if (count && (!inputs || !out))
		return "inputs or out is NULL";
	for (unsigned int r = 0; count && r < order->ranks; r++)
		if (!inputs[r])
			return "one of inputs is NULL: the operand of every rank is needed";
	return NULL;
}

const char *rf_order_compute(const struct rf_order *order, enum rf_type type, enum rf_op op,
			     const void *const *inputs, void *out, size_t count)
{
	const char *wrong = arguments_wrong(order, type, op, inputs, out, count);
	enum rf_op reduce = op == RF_AVERAGE ? RF_SUM : op;
	int ret = RF_OK;

	if (wrong || !count)
		return wrong;
	if (order->ranks == 1) {
		memmove(out, inputs[0], count * rf_type_size(type));
		return NULL;
	}
	if (order->schedule == RF_SCHEDULE_RING &&
	    count * rf_type_size(type) <= rf_hosts_small(order->ranks))
		ret = apply_doubling(order, type, reduce, inputs, out, count);
	else if (order->schedule == RF_SCHEDULE_RING)
		ret = apply_ring(order, type, reduce, inputs, out, count);
	else if (is_tree(order))
		ret = apply_tree(order, type, reduce, inputs, out, count);
	else
		ret = apply_box(order, type, reduce, inputs, out, count);
	if (ret)
		return is_tree(order)
			       ? "order describes a tree with a circle, an empty box, a place "
				 "that does not exist, or two operands at one"
			       : "order has a place that does not exist, or two ranks at one";
	if (op == RF_AVERAGE)
		rf_average((enum rf_arith_type)type, out, count, order->ranks);
	return NULL;
}
