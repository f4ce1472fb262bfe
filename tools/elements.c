#include "tools/elements.h"

#include <math.h>
#include <string.h>

#include "proto/rf_bytes.h"

#define RANKS_MAX 128u
#define PORTS 8u
#define LANES 16u
#define NAN64 UINT64_C(0x7ff8000000000000)

enum { UINT32 = 4, INT64, UINT64, FP64, INT8, UINT8 };
enum { AND = 3, OR, XOR };

static const char *const type_names[ELEMENT_TYPES] = {"fp32",  "bf16",   "fp16", "int32", "uint32",
						      "int64", "uint64", "fp64", "int8",  "uint8"};
static const char *const op_names[ELEMENT_OPS] = {"sum", "min", "max", "and", "or", "xor", "copy"};
static const uint8_t sizes[ELEMENT_TYPES] = {4, 2, 2, 4, 4, 8, 8, 8, 1, 1};

const char *element_type_name(unsigned int type)
{
	return type_names[type];
}

const char *element_op_name(unsigned int op)
{
	return op_names[op];
}

static int find(const char *const *names, unsigned int count, const char *name)
{
	for (unsigned int i = 0; i < count; i++)
		if (strcmp(names[i], name) == 0)
			return (int)i;
	return -1;
}

int element_type_parse(const char *name)
{
	return find(type_names, ELEMENT_TYPES, name);
}

int element_op_parse(const char *name)
{
	return find(op_names, ELEMENT_OPS, name);
}

size_t element_size(unsigned int type)
{
	return sizes[type];
}

static bool is_floating(unsigned int type)
{
	return type <= RF_ARITH_FP16 || type == FP64;
}

bool element_allows(unsigned int type, unsigned int op)
{
	return type < ELEMENT_TYPES && op < ELEMENT_OPS &&
	       (op < AND || op == ELEMENT_OP_COPY || !is_floating(type));
}

/* Values whose exponents are mostly close to each other, and sometimes a special value. */
static uint32_t random_fp32(uint64_t bits)
{
	static const uint32_t special[] = {0x00000000u, 0x80000000u, 0x00000001u, 0x807fffffu,
					   0x7f800000u, 0xff800000u, 0x7fc00000u, 0x7f7fffffu};
	uint32_t exponent = 117u + (uint32_t)(bits >> 32) % 20u;

	if ((bits >> 40) % 1024 == 0)
		return special[(bits >> 50) & 7];
	return ((uint32_t)bits & 0x807fffffu) | exponent << 23;
}

static uint64_t random_fp64(uint64_t bits)
{
	static const uint64_t special[] = {
		0x0000000000000000u, 0x8000000000000000u, 0x0000000000000001u, 0x800fffffffffffffu,
		0x7ff0000000000000u, 0xfff0000000000000u, 0x7ff0000000000001u, 0x7fefffffffffffffu};
	uint64_t exponent = 1013u + (bits >> 55) % 20u;

	if ((bits >> 40) % 1024 == 0)
		return special[(bits >> 50) & 7];
	return (bits & 0x800fffffffffffffu) | exponent << 52;
}

static void put(unsigned int type, uint8_t *to, uint64_t value)
{
	switch (sizes[type]) {
	case 1:
		*to = (uint8_t)value;
		break;
	case 2:
		rf_put_le16(to, (uint16_t)value);
		break;
	case 4:
		rf_put_le32(to, (uint32_t)value);
		break;
	default:
		rf_put_le64(to, value);
		break;
	}
}

/* Signed types are extended with their sign, so that they compare as 64-bit numbers. */
static uint64_t get(unsigned int type, const uint8_t *from)
{
	switch (type) {
	case RF_ARITH_INT32:
		return (uint64_t)(int32_t)rf_get_le32(from);
	case UINT32:
		return rf_get_le32(from);
	case INT8:
		return (uint64_t)(int8_t)*from;
	case UINT8:
		return *from;
	default:
		return rf_get_le64(from);
	}
}

void element_random(unsigned int type, uint64_t bits, uint8_t *to)
{
	uint64_t value = bits;

	if (type == RF_ARITH_FP32)
		value = random_fp32(bits);
	else if (type == RF_ARITH_BF16)
		value = random_fp32(bits) >> 16;
	else if (type == FP64)
		value = random_fp64(bits);
	put(type, to, value);
}

static uint64_t fp64_combine(unsigned int op, uint64_t a, uint64_t b)
{
	double x, y, sum;
	bool less;

	memcpy(&x, &a, sizeof(x));
	memcpy(&y, &b, sizeof(y));
	if (op == RF_ARITH_SUM) {
		sum = x + y;
		memcpy(&a, &sum, sizeof(a));
		return isnan(sum) ? NAN64 : a;
	}
	if (isnan(x) || isnan(y))
		return isnan(x) ? b : a;
	less = x < y || (!(y < x) && signbit(x));
	return less == (op == RF_ARITH_MIN) ? a : b;
}

static uint64_t combine(unsigned int type, unsigned int op, uint64_t a, uint64_t b)
{
	bool less;

	if (type == FP64)
		return fp64_combine(op, a, b);
	switch (op) {
	case RF_ARITH_SUM:
		return a + b;
	case AND:
		return a & b;
	case OR:
		return a | b;
	case XOR:
		return a ^ b;
	default:
		less = type == UINT64 ? a < b : (int64_t)a < (int64_t)b;
		return less == (op == RF_ARITH_MIN) ? a : b;
	}
}

/* One operand of a node of the tree, or none. */
struct node {
	bool here;
	uint64_t value;
};

static struct node join(unsigned int type, unsigned int op, struct node a, struct node b)
{
	if (!a.here || !b.here)
		return a.here ? a : b;
	return (struct node){true, combine(type, op, a.value, b.value)};
}

/* The order of docs/reduction.md: a tree over the ports of each lane, then lane after lane. */
static uint64_t reduce_one(unsigned int type, unsigned int op, struct node (*leaf)[PORTS])
{
	struct node all = {.here = false};
	uint64_t value;

	for (unsigned int lane = 0; lane < LANES; lane++) {
		for (unsigned int step = 1; step < PORTS; step *= 2)
			for (unsigned int p = 0; p < PORTS; p += 2 * step)
				leaf[lane][p] = join(type, op, leaf[lane][p], leaf[lane][p + step]);
		all = join(type, op, all, leaf[lane][0]);
	}
	value = all.value;
	if (type == FP64 && (value & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff0000000000000))
		value = NAN64;
	return value;
}

static void reduce_wide(unsigned int type, unsigned int op, unsigned int givers,
			const struct rf_place *places, const void *const *operands, uint8_t *out,
			size_t bytes)
{
	for (size_t at = 0; at < bytes; at += sizes[type]) {
		struct node leaf[LANES][PORTS] = {{{.here = false}}};

		for (unsigned int g = 0; g < givers; g++)
			leaf[places[g].lane][places[g].port] =
				(struct node){true, get(type, (const uint8_t *)operands[g] + at)};
		put(type, out + at, reduce_one(type, op, leaf));
	}
}

static bool places_differ(const struct rf_place *place, unsigned int count)
{
	bool taken[LANES][PORTS] = {{false}};

	for (unsigned int i = 0; i < count; i++) {
		if (place[i].lane >= LANES || place[i].port >= PORTS ||
		    taken[place[i].lane][place[i].port])
			return false;
		taken[place[i].lane][place[i].port] = true;
	}
	return true;
}

int element_reduce(unsigned int type, unsigned int op, unsigned int ranks,
		   const struct rf_place *places, const void *const *operands, uint8_t *out,
		   size_t bytes)
{
	const void *given[RANKS_MAX];
	struct rf_place at[RANKS_MAX];
	unsigned int givers = 0;

	if (!element_allows(type, op) || ranks > RANKS_MAX || !places_differ(places, ranks))
		return -1;
	for (unsigned int r = 0; r < ranks; r++) {
		if (!operands[r])
			continue;
		given[givers] = operands[r];
		at[givers++] = places[r];
	}
	if (givers == 0) {
		memset(out, 0, bytes);
		return 0;
	}
	if (op == ELEMENT_OP_COPY) {
		if (givers == 1)
			memcpy(out, given[0], bytes);
		return givers == 1 ? 0 : -1;
	}
	if (bytes % sizes[type] != 0)
		return -1;
	if (type <= RF_ARITH_INT32 && op <= RF_ARITH_MAX)
		return rf_order_reduce((enum rf_arith_type)type, (enum rf_arith_op)op, givers, at,
				       given, out, bytes / sizes[type]);
	reduce_wide(type, op, givers, at, given, out, bytes);
	return 0;
}
