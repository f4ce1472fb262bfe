#include "tools/elements.h"

#include <string.h>

#include "proto/rf_bytes.h"

#define RANKS_MAX 128u

static const char *const type_names[ELEMENT_TYPES] = {"fp32",  "bf16",   "fp16", "int32", "uint32",
						      "int64", "uint64", "fp64", "int8",  "uint8"};
static const char *const op_names[ELEMENT_OPS] = {"sum", "min", "max", "and", "or", "xor", "copy"};

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
	return rf_arith_size((enum rf_arith_type)type);
}

bool element_allows(unsigned int type, unsigned int op)
{
	return type < ELEMENT_TYPES && op < ELEMENT_OPS &&
	       rf_arith_has((enum rf_arith_type)type, (enum rf_arith_op)op);
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
	switch (element_size(type)) {
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

void element_random(unsigned int type, uint64_t bits, uint8_t *to)
{
	uint64_t value = bits;

	if (type == RF_ARITH_FP32)
		value = random_fp32(bits);
	else if (type == RF_ARITH_BF16)
		value = random_fp32(bits) >> 16;
	else if (type == RF_ARITH_FP64)
		value = random_fp64(bits);
	put(type, to, value);
}

int element_reduce(unsigned int type, unsigned int op, unsigned int ranks,
		   const struct rf_place *places, const void *const *operands, uint8_t *out,
		   size_t bytes)
{
	const void *given[RANKS_MAX];
	struct rf_place at[RANKS_MAX];
	unsigned int givers = 0;

	if (!element_allows(type, op) || ranks > RANKS_MAX)
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
	if (bytes % element_size(type) != 0)
		return -1;
	return rf_order_reduce((enum rf_arith_type)type, (enum rf_arith_op)op, givers, at, given,
			       out, bytes / element_size(type));
}
