/*
 * What a reduction among hosts gives, from the order of additions in docs/collective.md; no code of
 * the hosts is used.
 */
#include <string.h>

#include "sim/fabric/internal.h"

/* Largest vector that is not added round the ring. */
#define SMALL_PER_RANK 4096u
#define SMALL_MOST 32768u

struct hosts_sum {
	const struct rf_fabric_call *call;
	unsigned ranks;
	size_t element;
	char *const *inputs; /* of each rank; some are overwritten */
	char *out;
};

static void add(const struct hosts_sum *s, char *to, const char *other, uint64_t count)
{
	rf_arith_reduce(s->call->type, s->call->op, to, to, other, (size_t)count);
}

/* ((x_start + x_start+1) + ...), all ranks, of some elements. */
static void in_turn(const struct hosts_sum *s, unsigned start, uint64_t first, uint64_t count)
{
	size_t at = (size_t)first * s->element;

	memcpy(s->out + at, s->inputs[start] + at, (size_t)count * s->element);
	for (unsigned k = 1; k < s->ranks; k++)
		add(s, s->out + at, s->inputs[(start + k) % s->ranks] + at, count);
}

/* Parts of equal size, the last ones shorter; part p begins at rank p + `ahead`. */
static void by_parts(const struct hosts_sum *s, uint64_t count, unsigned ahead)
{
	uint64_t size = (count + s->ranks - 1) / s->ranks;

	for (unsigned p = 0; p * size < count; p++)
		in_turn(s, (p + ahead) % s->ranks, p * size,
			count - p * size < size ? count - p * size : size);
}

/* Ranks beyond the power of two join at the beginning; then neighbours, pairs of pairs, ... */
static void by_doubling(const struct hosts_sum *s, uint64_t count)
{
	unsigned n = 1;

	while (n * 2 <= s->ranks)
		n *= 2;
	for (unsigned r = n; r < s->ranks; r++)
		add(s, s->inputs[r - n], s->inputs[r], count);
	for (unsigned d = 1; d < n; d *= 2)
		for (unsigned r = 0; r < n; r += 2 * d)
			add(s, s->inputs[r], s->inputs[r + d], count);
	memcpy(s->out, s->inputs[0], (size_t)count * s->element);
}

/* Numbers counted from the root: each adds those at distance 1, 2, 4, ... */
static void by_tree(const struct hosts_sum *s, uint64_t count)
{
	for (unsigned d = 1; d < s->ranks; d *= 2)
		for (unsigned v = 0; v + d < s->ranks; v += 2 * d)
			add(s, s->inputs[(v + s->call->root) % s->ranks],
			    s->inputs[(v + d + s->call->root) % s->ranks], count);
	memcpy(s->out, s->inputs[s->call->root], (size_t)count * s->element);
}

void rf_check_hosts(const struct rf_fabric_cfg *cfg, const struct rf_fabric_call *call,
		    char *const *inputs, char *out)
{
	unsigned ranks = rf_fabric_size(cfg);
	const struct hosts_sum s = {.call = call,
				    .ranks = ranks,
				    .element = rf_arith_size(call->type),
				    .inputs = inputs,
				    .out = out};
	uint64_t count = call->count, bytes = count * s.element;
	bool small = bytes <= (uint64_t)ranks * SMALL_PER_RANK && bytes <= SMALL_MOST;

	if (call->kind == RF_SCHEDULE_REDUCE_SCATTER)
		by_parts(&s, count, 1);
	else if (call->kind == RF_SCHEDULE_REDUCE && small)
		by_tree(&s, count);
	else if (call->kind == RF_SCHEDULE_REDUCE)
		in_turn(&s, (call->root + 1) % ranks, 0, count);
	else if (small)
		by_doubling(&s, count);
	else
		by_parts(&s, count, 0);
}
