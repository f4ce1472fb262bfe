/* Computes the box's sum, in the box's order: docs/reduction.md. */
#include <string.h>

#include "host/collective/arith.h"
#include "host/collective/block.h"

#define PORTS 8u
#define LANES 16u

/* Which operand sits at which place; NULL: an empty place. */
struct grid {
	const char *operand[LANES][PORTS];
};

static int fill_grid(struct grid *g, uint32_t ranks, const struct rf_place *places,
		     const void *const *operands)
{
	for (uint32_t lane = 0; lane < LANES; lane++)
		for (uint32_t port = 0; port < PORTS; port++)
			g->operand[lane][port] = NULL;
	for (uint32_t r = 0; r < ranks; r++) {
		const struct rf_place *p = &places[r];

		if (p->port >= PORTS || p->lane >= LANES || !operands[r] ||
		    g->operand[p->lane][p->port])
			return -1;
		g->operand[p->lane][p->port] = operands[r];
	}
	return 0;
}

struct job {
	enum rf_arith_type type;
	enum rf_arith_op op;
	size_t n;
};

/* A tree node: passes a single operand on unchanged and returns none if it has none. */
static union rf_block *join(const struct job *j, union rf_block *a, union rf_block *b)
{
	if (!a)
		return b;
	if (b)
		rf_block_op(j->type, j->op, a, a, b, j->n);
	return a;
}

/* The tree over the ports of one lane. The result is left in one of the blocks of `work`. */
static union rf_block *lane_tree(const struct job *j, const char *const *operand, size_t offset,
				 union rf_block work[PORTS])
{
	union rf_block *v[PORTS];

	for (uint32_t port = 0; port < PORTS; port++) {
		v[port] = operand[port] ? &work[port] : NULL;
		if (v[port])
			rf_block_load(j->type, v[port], operand[port] + offset, j->n);
	}
	for (uint32_t width = PORTS; width > 1; width /= 2)
		for (uint32_t b = 0; b < width / 2; b++)
			v[b] = join(j, v[2 * b], v[2 * b + 1]);
	return v[0];
}

int rf_order_reduce(enum rf_arith_type type, enum rf_arith_op op, uint32_t ranks,
		    const struct rf_place *places, const void *const *operands, void *out,
		    size_t count)
{
	size_t size = rf_arith_size(type);
	union rf_block work[PORTS], acc;
	struct grid grid;

	if (ranks == 0 || !rf_arith_has(type, op) || (op == RF_ARITH_COPY && ranks > 1) ||
	    fill_grid(&grid, ranks, places, operands) != 0)
		return -1;
	if (op == RF_ARITH_COPY) {
		memmove(out, operands[0], count * size);
		return 0;
	}
	for (size_t at = 0; at < count; at += RF_BLOCK) {
		struct job j = {type, op, count - at < RF_BLOCK ? count - at : RF_BLOCK};
		union rf_block *sum = NULL;

		for (uint32_t lane = 0; lane < LANES; lane++) {
			union rf_block *v = lane_tree(&j, grid.operand[lane], at * size, work);

			if (!sum && v) {
				acc = *v;
				sum = &acc;
			} else {
				sum = join(&j, sum, v);
			}
		}
		rf_block_store(type, (char *)out + at * size, sum, j.n);
	}
	return 0;
}
