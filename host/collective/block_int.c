/* Integers in blocks: sums wrap, min and max by the sign of the type, bits. */
#include "host/collective/block.h"

/* out = a op b, element by element: `member` of the blocks, in the order of its type. */
#define EACH(member, expression)                                                                   \
	do {                                                                                       \
		for (size_t k = 0; k < n; k++)                                                     \
			out->member[k] = expression;                                               \
	} while (0)
#define LESS(member) (a->member[k] < b->member[k] ? a->member[k] : b->member[k])
#define MORE(member) (a->member[k] > b->member[k] ? a->member[k] : b->member[k])

static void wide_op(bool is_signed, enum rf_arith_op op, union rf_block *out,
		    const union rf_block *a, const union rf_block *b, size_t n)
{
	if (op == RF_ARITH_SUM)
		EACH(u64, a->u64[k] + b->u64[k]);
	else if (op == RF_ARITH_AND)
		EACH(u64, a->u64[k] & b->u64[k]);
	else if (op == RF_ARITH_OR)
		EACH(u64, a->u64[k] | b->u64[k]);
	else if (op == RF_ARITH_XOR)
		EACH(u64, a->u64[k] ^ b->u64[k]);
	else if (op == RF_ARITH_MIN && is_signed)
		EACH(i64, LESS(i64));
	else if (op == RF_ARITH_MIN)
		EACH(u64, LESS(u64));
	else if (is_signed)
		EACH(i64, MORE(i64));
	else
		EACH(u64, MORE(u64));
}

static void narrow_op(bool is_signed, enum rf_arith_op op, union rf_block *out,
		      const union rf_block *a, const union rf_block *b, size_t n)
{
	if (op == RF_ARITH_SUM)
		EACH(u, a->u[k] + b->u[k]);
	else if (op == RF_ARITH_AND)
		EACH(u, a->u[k] & b->u[k]);
	else if (op == RF_ARITH_OR)
		EACH(u, a->u[k] | b->u[k]);
	else if (op == RF_ARITH_XOR)
		EACH(u, a->u[k] ^ b->u[k]);
	else if (op == RF_ARITH_MIN && is_signed)
		EACH(i, LESS(i));
	else if (op == RF_ARITH_MIN)
		EACH(u, LESS(u));
	else if (is_signed)
		EACH(i, MORE(i));
	else
		EACH(u, MORE(u));
}

void rf_block_int(enum rf_arith_type type, enum rf_arith_op op, union rf_block *out,
		  const union rf_block *a, const union rf_block *b, size_t n)
{
	bool is_signed = type == RF_ARITH_INT32 || type == RF_ARITH_INT64 || type == RF_ARITH_INT8;

	if (type == RF_ARITH_INT64 || type == RF_ARITH_UINT64)
		wide_op(is_signed, op, out, a, b, n);
	else
		narrow_op(is_signed, op, out, a, b, n);
}
